// SPDX-License-Identifier: GPL-2.0-or-later
//! Experiments: run a plan, compare plans over seeds, reproduce published tables; replay, validate and convert traces.
//!
//! [`verbs`] has one request and one result for each verb of the command line: a request is a value that serde reads
//! and writes, a result says what it is ([`results`]).
//!
//! Results depend on plans and seeds alone: they are ordered by input, and the number of jobs changes only how long
//! they take.

pub mod about;
pub mod behaviour;
pub mod compare;
pub mod experiment;
pub mod explain;
pub mod kernel;
pub mod measure;
pub mod number;
pub mod plan;
pub mod results;
pub mod run;
pub mod time;
pub mod verbs;
pub mod watch;
pub mod why;

/// Rounds to six significant decimals, so that printed and stored numbers do not show the last bits of a float.
pub fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
