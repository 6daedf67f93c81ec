// SPDX-License-Identifier: GPL-2.0-or-later
//! TOML with declared keys: one table says which keys exist, their type, unit and range; checks, messages and the
//! reference page all come from it.

mod check;
mod page;
mod parse;
mod read;
mod spec;

pub use check::check;
pub use page::reference;
pub use parse::{Document, parse};
pub use read::{At, Reader};
pub use spec::{Key, Kind, Spec};
