// SPDX-License-Identifier: GPL-2.0-or-later
//! Lists scenarios/platforms/*.toml as `PLATFORMS: &[(name, text)]` and scenarios/behaviours/*.toml as `BEHAVIOURS`, so
//! that the program carries them with it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    list("platforms", "PLATFORMS");
    list("behaviours", "BEHAVIOURS");
}

/// Writes the files of a folder as a table of this name.
fn list(of: &str, table: &str) {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("scenarios").join(of);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    let mut out = format!("static {table}: &[(&str, &str)] = &[\n");
    for path in files {
        let path = path.canonicalize().expect("a listed file exists");
        let name = path.file_stem().and_then(|s| s.to_str()).expect("names are ASCII").to_owned();
        let _ = writeln!(out, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    out.push_str("];\n");
    let target = Path::new(&std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join(format!("{of}.rs"));
    std::fs::write(target, out).expect("OUT_DIR is writable");
}
