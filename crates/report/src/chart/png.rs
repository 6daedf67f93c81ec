// SPDX-License-Identifier: GPL-2.0-or-later
//! A picture as PNG. Letters come from a font of dots, so that no font file is needed.

use super::canvas::{Anchor, Canvas, Colour, Shape};
use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::iso_8859_1::{FONT_6X12, FONT_9X15_BOLD};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::{Polyline, PrimitiveStyle, Rectangle};
use embedded_graphics::text::{Alignment, Text};
use std::convert::Infallible;

struct Dots {
    size: (u32, u32),
    rgb: Vec<u8>,
}

impl OriginDimensions for Dots {
    fn size(&self) -> Size {
        Size::new(self.size.0, self.size.1)
    }
}

impl DrawTarget for Dots {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, dots: I) -> Result<(), Infallible> {
        for Pixel(Point { x, y }, colour) in dots {
            let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { continue };
            if x < self.size.0 && y < self.size.1 {
                let at = (y as usize * self.size.0 as usize + x as usize) * 3;
                self.rgb[at..at + 3].copy_from_slice(&[colour.r(), colour.g(), colour.b()]);
            }
        }
        Ok(())
    }
}

/// The whole file.
pub fn bytes(canvas: &Canvas) -> Vec<u8> {
    let (width, height) = canvas.size;
    let mut dots = Dots { size: canvas.size, rgb: vec![0xff; width as usize * height as usize * 3] };
    for shape in &canvas.shapes {
        let Ok(()) = draw(shape, &mut dots);
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&dots.rgb));
    written.expect("the size is that of the dots, and memory takes everything");
    file
}

fn draw(shape: &Shape, dots: &mut Dots) -> Result<(), Infallible> {
    match shape {
        Shape::Rect { at: [x, y, w, h], colour } => {
            let (corner, far) = (point((*x, *y)), point((x + w, y + h)));
            // What is there is to be seen.
            let size = Size::new((far.x - corner.x).max(1) as u32, (far.y - corner.y).max(1) as u32);
            Rectangle::new(corner, size).into_styled(PrimitiveStyle::with_fill(rgb(*colour))).draw(dots)
        }
        Shape::Line { points, colour, width } => {
            let points: Vec<Point> = points.iter().copied().map(point).collect();
            Polyline::new(&points).into_styled(PrimitiveStyle::with_stroke(rgb(*colour), *width)).draw(dots)
        }
        Shape::Text { at, text, colour, anchor, large } => {
            let font = if *large { &FONT_9X15_BOLD } else { &FONT_6X12 };
            let side = if *anchor == Anchor::Start { Alignment::Left } else { Alignment::Right };
            let style = MonoTextStyle::new(font, rgb(*colour));
            Text::with_alignment(text, point(*at), style, side).draw(dots).map(drop)
        }
    }
}

fn point((x, y): (f64, f64)) -> Point {
    Point::new(x.round() as i32, y.round() as i32)
}

fn rgb([r, g, b]: Colour) -> Rgb888 {
    Rgb888::new(r, g, b)
}
