// SPDX-License-Identifier: GPL-2.0-or-later
//! Traces as text.

mod ftrace;
mod head;
mod keys;
pub(crate) mod lines;
pub(crate) mod number;
mod page;
mod positional;
pub(crate) mod reorder;
pub mod sniff;
pub(crate) mod source;

pub use ftrace::TextSource;
pub use sniff::sniff_text;
