// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of the program `pelton`, as it is called, one program.
#![allow(missing_docs, reason = "tests")]

mod book;
mod check;
mod clamps;
mod desk;
mod examples;
mod explain;
#[path = "../../../tests/src/fuzz.rs"]
#[allow(dead_code, reason = "the targets that run inside the test process use the rest of it")]
mod fuzz;
mod hostile;
mod interrupt;
mod kills;
mod live;
mod live_verb;
mod own_runs;
mod pages;
mod placements;
#[path = "../../../tests/src/random_runs.rs"]
mod random_runs;
#[path = "../../../tests/src/readers.rs"]
#[allow(dead_code, reason = "what else is declared there is compared with the arguments by `cargo xtask tidy`")]
mod readers;
mod record;
mod reference;
mod replay;
mod requests;
mod results;
mod safety;
mod schemas;
#[path = "../../../tests/src/seeds.rs"]
mod seeds;
mod support;
mod surface;
mod tables;
mod thermal;
mod trace;
mod validate;
mod why;
