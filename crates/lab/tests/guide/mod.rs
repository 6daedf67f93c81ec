// SPDX-License-Identifier: GPL-2.0-only
//! Files of the guide that tests compute.

use std::path::PathBuf;

/// The folder of the guide.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide"))
}

/// Compares a file with what was computed; with `PELTON_UPDATE_DOCS` writes it instead.
pub fn keep(name: &str, text: &str) {
    let path = folder().join(name);
    if std::env::var_os("PELTON_UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).expect("the page is writable");
        return;
    }
    let kept = std::fs::read_to_string(&path).expect("the file is there");
    assert!(kept == text, "{} is out of date; see the head of this test", path.display());
}
