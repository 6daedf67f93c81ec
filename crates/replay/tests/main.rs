// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of what is done with recordings, one program.
#![allow(missing_docs, reason = "tests")]

mod causes;
mod comparisons;
mod decisions;
mod kernel_traces;
mod placements;
mod reading;
mod recorded_balances;
mod round_trip;
mod verdicts;
