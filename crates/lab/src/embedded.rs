// SPDX-License-Identifier: GPL-2.0-only
//! Files of `scenarios/` that are part of the program.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The embedded workload called `name` (with or without `.json`): its file name and text.
pub fn workload(name: &str) -> Option<(&'static str, &'static str)> {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    WORKLOAD_FILES.iter().copied().find(|(file, _)| file.strip_suffix(".json") == Some(stem))
}
