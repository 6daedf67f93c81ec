// SPDX-License-Identifier: GPL-2.0-only
//! Tests of reading and writing traces, one program.
#![allow(missing_docs, reason = "tests")]

mod common;
mod import_csv;
mod import_damage;
mod import_dat;
mod import_perfetto;
mod import_text;
mod invented_dat;
mod log;
mod perfetto;
mod perfetto_python;
mod synthetic;
mod text;
