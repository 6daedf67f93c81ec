// SPDX-License-Identifier: GPL-2.0-or-later
//! Common parts of tests across crates. The tests themselves live in `tests/tests/`.

pub mod axes;
pub mod conformance;
pub mod fuzz;
pub mod fuzz_targets;
pub mod made_events;
pub mod random_runs;
pub mod readers;
pub mod runs;
pub mod seeds;
pub mod signals;
pub mod trees;
