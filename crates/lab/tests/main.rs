// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of experiments, comparisons and the pages that they compute, one program.
#![allow(missing_docs, reason = "tests")]

mod balances;
mod behaviours;
mod clamp_boards;
#[path = "../../sim/tests/common/mod.rs"]
mod common;
mod decisions;
mod energy_guide;
mod front_guide;
mod guests;
mod guide;
mod live;
mod log_hashes;
mod many;
mod one_answer;
mod ramps;
mod recorded_behaviours;
mod residency;
mod schedtune;
mod update_hooks;
mod why_guide;
#[path = "../benches/worlds/mod.rs"]
mod worlds;
