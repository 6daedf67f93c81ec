// SPDX-License-Identifier: GPL-2.0-or-later
//! Charts: drawn once as shapes, written as SVG or PNG, or as blocks in the terminal.

mod blocks;
mod canvas;
pub mod compared;
mod png;
pub mod ran;
mod svg;
pub mod timeline;
pub mod why;

pub use canvas::{Anchor, Canvas, Colour, GRID, INK, PALE, SERIES};
pub use png::bytes as png;
pub use svg::text as svg;
