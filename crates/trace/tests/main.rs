// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of reading and writing traces, one program.
#![allow(missing_docs, reason = "tests")]

mod common;
mod import_csv;
mod import_damage;
mod import_dat;
mod import_perfetto;
mod import_text;
mod invented_dat;
#[path = "../../../tests/shared/kept.rs"]
mod kept;
mod log;
mod perfetto;
mod perfetto_python;
#[path = "../../../tests/shared/processor_time.rs"]
#[allow(dead_code, reason = "every test program uses a part of it")]
mod processor_time;
mod synthetic;
mod text;
