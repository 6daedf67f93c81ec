// SPDX-License-Identifier: GPL-2.0-only
//! Traces as text.

mod events;
mod ftrace;
mod head;
pub(crate) mod lines;
pub(crate) mod number;
mod page;
mod positional;
pub(crate) mod reorder;
pub mod sniff;
pub(crate) mod source;
pub mod state;

pub use ftrace::TextSource;
pub use sniff::sniff_text;
