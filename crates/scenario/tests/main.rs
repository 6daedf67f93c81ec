// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of the files that people write, one program.
#![allow(missing_docs, reason = "tests")]

mod behaviours;
mod fuzz;
mod import;
mod import_sysfs;
#[path = "../../../tests/shared/kept.rs"]
mod kept;
mod platforms;
mod policies;
#[path = "../../../tests/shared/processor_time.rs"]
#[allow(dead_code, reason = "every test program uses a part of it")]
mod processor_time;
mod rtapp_bad;
mod rtapp_files;
mod rtapp_hostile;
mod rtapp_lower;
mod workload_specs;
