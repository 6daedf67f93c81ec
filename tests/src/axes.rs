// SPDX-License-Identifier: GPL-2.0-or-later
//! Lines between two axes, on the canvas of the program's own pictures.

use pelton_report::chart::{Anchor, Canvas, Colour, GRID, INK, PALE};

/// Numbers along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Scale<'a> {
    /// The first.
    pub from: f64,
    /// The last.
    pub to: f64,
    /// Words beside the axis.
    pub words: &'a str,
    /// Most numbers that are written; 0: neither numbers nor words.
    pub numbers: usize,
}

impl Scale<'_> {
    /// Round numbers along it, and how they are written.
    fn marks(&self) -> Vec<(f64, String)> {
        if self.numbers == 0 {
            return Vec::new();
        }
        let rough = (self.to - self.from) / self.numbers as f64;
        let power = rough.log10().floor() as i32;
        let step = [1.0, 2.0, 5.0, 10.0].map(|of| of * 10f64.powi(power));
        let step = step.into_iter().find(|&step| step >= rough).unwrap_or(rough);
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let (first, last) = ((self.from / step).ceil() as i64, (self.to / step).floor() as i64);
        (first..=last).map(|n| n as f64 * step).map(|value| (value, format!("{value:.digits$}"))).collect()
    }

    fn share(&self, value: f64) -> f64 {
        (value - self.from) / (self.to - self.from)
    }
}

/// A pair of axes.
#[derive(Clone, Copy, Debug)]
pub struct Axes<'a> {
    /// Left, top, right, bottom, pixels of the canvas.
    pub at: [f64; 4],
    /// The horizontal one.
    pub x: Scale<'a>,
    /// The vertical one; its words stand above.
    pub y: Scale<'a>,
}

impl Axes<'_> {
    /// Draws the axes, their numbers and a grid.
    pub fn draw(&self, canvas: &mut Canvas) {
        let [left, top, right, bottom] = self.at;
        for (value, number) in self.y.marks() {
            let (_, y) = self.place((self.x.from, value));
            canvas.line(vec![(left, y), (right, y)], GRID);
            canvas.text((left - 6.0, y + 4.0), number, PALE, Anchor::End);
        }
        for (value, number) in self.x.marks() {
            let (x, _) = self.place((value, self.y.from));
            canvas.line(vec![(x, bottom), (x, bottom + 4.0)], INK);
            canvas.text((x - 3.0 * number.len() as f64, bottom + 16.0), number, PALE, Anchor::Start);
        }
        canvas.line(vec![(left, top), (left, bottom), (right, bottom)], INK);
        if self.x.numbers > 0 {
            canvas.text((right, bottom + 30.0), self.x.words, INK, Anchor::End);
        }
        if self.y.numbers > 0 {
            canvas.text((left, top - 6.0), self.y.words, INK, Anchor::Start);
        }
    }

    /// Place of a pair of numbers.
    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let [left, top, right, bottom] = self.at;
        (left + self.x.share(x) * (right - left), bottom - self.y.share(y) * (bottom - top))
    }

    /// A line through pairs of numbers.
    pub fn line(&self, canvas: &mut Canvas, points: &[(f64, f64)], colour: Colour, width: u32) {
        canvas.stroke(points.iter().map(|&point| self.place(point)).collect(), colour, width);
    }

    /// A mark at each pair of numbers.
    pub fn marks(&self, canvas: &mut Canvas, points: &[(f64, f64)], colour: Colour) {
        for &point in points {
            let (x, y) = self.place(point);
            canvas.rect([x - 3.5, y - 3.5, 7.0, 7.0], colour);
        }
    }

    /// A filled part of the horizontal axis.
    pub fn band(&self, canvas: &mut Canvas, (from, to): (f64, f64), colour: Colour) {
        let ((left, bottom), (right, top)) = (self.place((from, self.y.from)), self.place((to, self.y.to)));
        canvas.rect([left, top, right - left, bottom - top], colour);
    }
}

/// Names of lines below each other, each behind a piece of its line.
pub fn legend<'a>(canvas: &mut Canvas, (x, y): (f64, f64), lines: impl IntoIterator<Item = (&'a str, Colour, u32)>) {
    for (at, (name, colour, width)) in lines.into_iter().enumerate() {
        let y = y + 18.0 * at as f64;
        canvas.stroke(vec![(x, y), (x + 20.0, y)], colour, width);
        canvas.text((x + 26.0, y + 4.0), name, INK, Anchor::Start);
    }
}

/// Lines of a guide's chart: name, pairs of numbers, colour, width.
pub type Line = (String, Vec<(f64, f64)>, Colour, u32);

/// A chart of a guide as SVG: lines with marks, their names beside them. `head`: the comment in front, and the caption.
pub fn chart((comment, caption): (&str, &str), x: Scale<'_>, y: Scale<'_>, lines: &[Line]) -> String {
    let mut canvas = Canvas::new(900);
    canvas.size.1 = 480;
    canvas.heading((16.0, 28.0), caption);
    let axes = Axes { at: [60.0, 60.0, 720.0, 430.0], x, y };
    axes.draw(&mut canvas);
    for (_, points, colour, width) in lines {
        axes.line(&mut canvas, points, *colour, *width);
        axes.marks(&mut canvas, points, *colour);
    }
    legend(&mut canvas, (736.0, 70.0), lines.iter().map(|(name, _, colour, width)| (name.as_str(), *colour, *width)));
    format!("<!-- {comment} -->\n{}", pelton_report::chart::svg(&canvas))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_numbers_within_the_scale() {
        let texts = |from, to, numbers| {
            let marks = Scale { from, to, words: "", numbers }.marks();
            marks.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(texts(0.0, 1050.0, 6), ["0", "200", "400", "600", "800", "1000"]);
        assert_eq!(texts(-0.3, 0.7, 5), ["-0.2", "0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(texts(41.0, 52.0, 3), ["45", "50"]);
        assert!(texts(0.0, 1.0, 0).is_empty());
    }

    #[test]
    fn places_go_right_and_up() {
        let scale = Scale { from: 10.0, to: 20.0, words: "", numbers: 0 };
        let axes = Axes { at: [100.0, 50.0, 300.0, 150.0], x: scale, y: scale };
        assert_eq!([(10.0, 10.0), (20.0, 15.0)].map(|point| axes.place(point)), [(100.0, 150.0), (300.0, 100.0)]);
    }
}
