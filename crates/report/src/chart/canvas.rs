// SPDX-License-Identifier: GPL-2.0-or-later
//! A picture as a list of shapes, in pixels from the upper left.

/// Red, green, blue.
pub type Colour = [u8; 3];

/// Ink of text and lines.
pub const INK: Colour = [0x22, 0x22, 0x22];
/// Text that explains.
pub const PALE: Colour = [0x66, 0x66, 0x66];
/// Lines of a grid.
pub const GRID: Colour = [0xdd, 0xdd, 0xdd];

/// Colours that stay apart for most eyes (Okabe and Ito).
pub const SERIES: [Colour; 7] = [
    [0x00, 0x72, 0xb2],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0x56, 0xb4, 0xe9],
    [0xd5, 0x5e, 0x00],
    [0x80, 0x80, 0x80],
];

/// End of a text that its place stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Left.
    Start,
    /// Right.
    End,
}

/// A shape.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A filled rectangle.
    Rect {
        /// Left, top, width, height.
        at: [f64; 4],
        /// Fill.
        colour: Colour,
    },
    /// A line through points.
    Line {
        /// Points.
        points: Vec<(f64, f64)>,
        /// Ink.
        colour: Colour,
        /// Pixels across.
        width: u32,
    },
    /// A line of text.
    Text {
        /// End (by `anchor`) of its base line.
        at: (f64, f64),
        /// Content.
        text: String,
        /// Ink.
        colour: Colour,
        /// End of the text that `at` is.
        anchor: Anchor,
        /// A heading.
        large: bool,
    },
}

/// A picture.
#[derive(Clone, Debug, Default)]
pub struct Canvas {
    /// Width and height.
    pub size: (u32, u32),
    /// Shapes, first drawn first.
    pub shapes: Vec<Shape>,
}

impl Canvas {
    /// An empty picture of this width; it grows downwards.
    pub fn new(width: u32) -> Canvas {
        Canvas { size: (width, 0), shapes: Vec::new() }
    }

    /// A filled rectangle.
    pub fn rect(&mut self, at: [f64; 4], colour: Colour) {
        self.shapes.push(Shape::Rect { at, colour });
    }

    /// A line of one pixel.
    pub fn line(&mut self, points: Vec<(f64, f64)>, colour: Colour) {
        self.stroke(points, colour, 1);
    }

    /// A line of so many pixels across.
    pub fn stroke(&mut self, points: Vec<(f64, f64)>, colour: Colour, width: u32) {
        self.shapes.push(Shape::Line { points, colour, width });
    }

    /// A text.
    pub fn text(&mut self, at: (f64, f64), text: impl Into<String>, colour: Colour, anchor: Anchor) {
        let text = pelton_trace::one_line(&text.into()).into_owned();
        self.shapes.push(Shape::Text { at, text, colour, anchor, large: false });
    }

    /// A heading.
    pub fn heading(&mut self, at: (f64, f64), text: impl Into<String>) {
        let text = pelton_trace::one_line(&text.into()).into_owned();
        self.shapes.push(Shape::Text { at, text, colour: INK, anchor: Anchor::Start, large: true });
    }
}

/// A text of at most so many letters.
pub fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters.saturating_sub(1)).chain(['~']).collect()
}
