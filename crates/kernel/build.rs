// SPDX-License-Identifier: GPL-2.0-or-later
//! Lists the files that an image is made with as `FILES: &[(path, bytes)]`, so that the program carries them with it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Folders and files, below the root of the source.
const PARTS: &[&str] = &[
    "core/include",
    "crates/core/src/kernel_ops.h",
    "crates/kernel/image",
    "scripts/archive.sh",
    "scripts/oracle",
    "tests/oracle/host",
    "tests/oracle/kernel",
    "tests/oracle/state.h",
];

fn main() {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the root of the source exists");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    for part in PARTS {
        collect(&root.join(part), &mut files);
    }
    files.sort();
    let mut out = String::from("static FILES: &[(&str, &[u8])] = &[\n");
    for path in files {
        let name = path.strip_prefix(&root).expect("a file below the root");
        let _ =
            writeln!(out, "    ({:?}, include_bytes!({:?})),", name.display().to_string(), path.display().to_string());
    }
    out.push_str("];\n");
    let target = Path::new(&std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("files.rs");
    std::fs::write(target, out).expect("OUT_DIR is writable");
    compile_guard(&root);
}

/// Calls into images, on the machines that have them.
fn compile_guard(root: &Path) {
    println!("cargo::rerun-if-changed=src/guard.c");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("ARCH") == "x86_64" && target("OS") == "linux" {
        let mut guard = cc::Build::new();
        guard.include(root.join("core/include")).include(root.join("crates/core/src")).std("gnu11").opt_level(2);
        guard.warnings(true).extra_warnings(true).file("src/guard.c").compile("pelton_guard");
    }
}

/// Adds a file, or all that are below a folder.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", path.display());
    if path.is_file() {
        files.push(path.to_owned());
    } else if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a folder of the source is readable") {
            let path = entry.expect("an entry is readable").path();
            let is_noise = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
            if !is_noise {
                collect(&path, files);
            }
        }
    }
}
