// SPDX-License-Identifier: GPL-2.0-or-later
//! Files of the guide that tests compute.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};

/// The folder of the guide.
pub fn folder() -> PathBuf {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("docs/guide"));
    above.find(|folder| folder.is_dir()).expect("a crate of this repository")
}

/// End of the part of a page that is computed.
pub const END: &str = "<!-- end of what is computed -->";

/// The part of a page behind `begin`, and what stands before and behind it.
pub fn part(name: &str, begin: &str) -> [String; 3] {
    let page = std::fs::read_to_string(folder().join(name)).expect("the page is there");
    let (before, rest) = page.split_once(begin).expect("a place for what is computed");
    let (part, after) = rest.split_once(END).expect("its end");
    [before, part, after].map(str::to_owned)
}

/// Keeps the part of a page behind `begin`, as [`keep`] does a file.
pub fn keep_part(name: &str, begin: &str, text: &str) {
    let [before, _, after] = part(name, begin);
    keep(name, &format!("{before}{begin}{text}{END}{after}"));
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
