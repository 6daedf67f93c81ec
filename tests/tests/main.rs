// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of several crates together, one program.
#![allow(missing_docs, reason = "tests")]

mod bench_smoke;
mod benchmarks;
mod blocked_guide;
mod boost_guide;
mod cache_aware;
mod clamp_guide;
mod conformance;
mod energy;
mod fuzz_smoke;
mod group_throttle;
#[path = "../../crates/lab/tests/guide/mod.rs"]
mod guide;
mod invariants;
#[path = "../shared/kept.rs"]
mod kept;
mod kernel_images;
mod limits;
#[path = "loop_responses/main.rs"]
mod loop_responses;
mod place;
mod printed_numbers;
mod published_core;
mod rtapp_runs;
mod scx_balance;
mod select_class;
mod steps;
mod thermal;
mod trace_of_a_run;
mod trees;
mod uclamp_sum;
mod vectors;
mod wake_ups;
