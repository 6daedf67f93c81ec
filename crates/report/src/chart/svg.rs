// SPDX-License-Identifier: GPL-2.0-or-later
//! A picture as SVG.

use super::canvas::{Anchor, Canvas, Colour, Shape};
use std::fmt::Write as _;

/// The whole file.
pub fn text(canvas: &Canvas) -> String {
    let (width, height) = canvas.size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    canvas.shapes.iter().for_each(|shape| one(shape, &mut out));
    out + "</svg>\n"
}

fn one(shape: &Shape, out: &mut String) {
    match shape {
        Shape::Rect { at: [x, y, w, h], colour } => {
            let fill = hex(*colour);
            let _ =
                writeln!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" fill=\"{fill}\"/>");
        }
        Shape::Line { points, colour, width } => {
            let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let (points, ink) = (points.join(" "), hex(*colour));
            let width = if *width == 1 { String::new() } else { format!(" stroke-width=\"{width}\"") };
            let _ = writeln!(out, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{ink}\"{width}/>");
        }
        Shape::Text { at: (x, y), text, colour, anchor, large } => {
            let anchor = if *anchor == Anchor::Start { "start" } else { "end" };
            let size = if *large { " font-size=\"15\" font-weight=\"bold\"" } else { "" };
            let (ink, text) = (hex(*colour), escaped(text));
            let place = format!("x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{size}");
            let _ = writeln!(out, "<text {place} fill=\"{ink}\">{text}</text>");
        }
    }
}

fn hex([r, g, b]: Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    // Two characters that no XML file may hold, however they are written.
    let text = text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
