// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of the policy core through its foreign functions, one program.
#![allow(missing_docs, reason = "tests")]

mod boost_groups;
mod builds;
mod gates;
mod golden;
mod idle;
#[path = "../../../tests/shared/kept.rs"]
mod kept;
mod kernel_answers;
mod kernel_data;
mod known_answers;
mod large_records;
mod lazy_decay;
mod lifecycle;
mod live_governors;
mod pelt_table;
mod place;
mod placement_search;
mod profiles;
mod properties;
mod schedutil;
mod worked_examples;
