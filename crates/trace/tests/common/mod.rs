// SPDX-License-Identifier: GPL-2.0-or-later
//! Common helpers of the import tests.
#![allow(dead_code, reason = "every test program uses its part")]

use std::path::{Path, PathBuf};
use std::process::Command;

use pelton_trace::import::{ImportError, Source, Timed};

/// A file of the data that is not in the repository: of `$PELTON_SHARED_DATA`, or beside the repository.
pub fn shared(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("PELTON_SHARED_DATA").map_or_else(beside, PathBuf::from);
    Some(folder.join(name)).filter(|path| path.exists())
}

/// Says what was left out.
pub fn missing(name: &str) {
    println!("not measured: {name} (no $PELTON_SHARED_DATA)");
}

/// The content of a gzip file.
pub fn gunzip(path: &Path) -> Vec<u8> {
    let output = Command::new("gzip").arg("-dc").arg(path).output().expect("gzip runs");
    assert!(output.status.success(), "{}", path.display());
    output.stdout
}

/// Every event; times are checked.
pub fn read_all(source: &mut dyn Source) -> Result<Vec<Timed>, ImportError> {
    let mut events: Vec<Timed> = Vec::new();
    while let Some(timed) = source.next()? {
        assert!(events.last().is_none_or(|last| last.time_ns <= timed.time_ns), "times go backwards");
        events.push(timed);
    }
    assert!(source.next().is_ok_and(|after| after.is_none()), "the end is the end");
    Ok(events)
}
