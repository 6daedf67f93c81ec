// SPDX-License-Identifier: GPL-2.0-only
//! Traces as text.

pub(crate) mod lines;
pub(crate) mod number;
pub(crate) mod reorder;
pub(crate) mod source;
pub mod state;

pub mod sniff;

pub use sniff::sniff_text;
