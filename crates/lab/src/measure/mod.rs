// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers of runs: quantities that reports have, statistics over repetitions, one run as a summary.

pub mod balances;
mod benchmark;
pub(crate) mod demand;
pub mod latencies;
pub mod quantity;
pub mod remarks;
pub mod stats;
pub mod summary;
pub mod waits;
