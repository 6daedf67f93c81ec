// SPDX-License-Identifier: GPL-2.0-or-later
//! Messages about input: file, line, caret, what is allowed, what to do.

mod excerpt;
mod list;
mod message;
mod source;
mod suggest;

pub use list::{Diagnostics, render};
pub(crate) use message::hides;
pub use message::{Diagnostic, Severity};
pub use source::{INPUT_BYTES_MAX, SourceFile};
pub use suggest::{did_you_mean, hint_for, short};
