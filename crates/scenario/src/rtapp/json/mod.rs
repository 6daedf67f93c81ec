// SPDX-License-Identifier: GPL-2.0-or-later
//! Text to tree. Every value knows its place in the text; members keep their order and their duplicates.
//!
//! Why not a library: the dialect needs three things together that no JSON crate offers. Members with the same key are
//! all kept, in order, because their order is the programme of a task; a key may stand alone without a value
//! (`"suspend",`); and every key and value has a byte range for messages. Comments, trailing commas and template words
//! (`__LOGDIR__`) come on top.

mod cursor;
mod define;
mod parser;
mod tree;

pub(super) use define::substitute;
pub(super) use parser::parse;
pub use tree::{Member, Node, Span, Value};
