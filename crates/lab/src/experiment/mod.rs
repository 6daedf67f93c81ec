// SPDX-License-Identifier: GPL-2.0-or-later
//! Published tables: files that describe experiments, their runs, and verdicts on rows and claims.

mod beyond;
mod chance;
mod check;
pub mod file;
mod judge;
mod looks;
mod missing;
mod no_effect;
mod numbers;
mod place;
pub mod probe;
pub mod read;
pub mod reproduce;
pub mod table;
#[cfg(test)]
mod tests;
pub mod worlds;

pub use file::Experiment;
pub use read::{from_bytes, load, names, parse, read};
