// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the files that people write, one program.
#![allow(missing_docs, reason = "tests")]

mod fuzz;
mod import;
mod import_sysfs;
mod platforms;
mod policies;
mod rtapp_bad;
mod rtapp_files;
mod rtapp_hostile;
mod rtapp_lower;
mod workload_specs;
