// SPDX-License-Identifier: GPL-2.0-or-later
//! Compiles the C core behind what gives its functions symbols, and hashes the headers, so that a log can say which
//! arithmetic produced it.

use std::path::{Path, PathBuf};

/// The core and those with a constant that is wrong on purpose, by their number in `canary.h`, and where that is.
const CANARIES: [&str; 3] = ["0", "1", "3"];
const CANARY_HEADER: &str = "../../tests/conformance";

/// 64-bit FNV-1a over names and contents, in name order.
fn hash_headers(files: &[PathBuf]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for file in files {
        let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read(file).unwrap_or_default();
        for byte in name.bytes().chain(text) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// Every header of the core, sorted.
fn headers(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|x| x == "h")).collect();
    files.sort();
    files
}

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let include = root.join("../../core/include");
    let files = headers(&include.join("pelton"));
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    for own in ["sys.h", "sys.c", "sys_wide.c", "kernel.c", "arithmetic.c"] {
        println!("cargo:rerun-if-changed=src/{own}");
    }
    println!("cargo:rerun-if-changed={}", root.join(CANARY_HEADER).join("canary.h").display());
    println!("cargo:rustc-env=PELTON_CORE_HASH={:016x}", hash_headers(&files));
    let include = faulty(&root).unwrap_or(include);
    compiled(&include).files(["src/sys.c", "src/sys_wide.c", "src/kernel.c"]).compile("pelton_core");
    for number in CANARIES {
        let mut table = compiled(&include);
        table.include(root.join(CANARY_HEADER)).include(include.join("pelton")).define("PELTON_CANARY", number);
        table.file("src/arithmetic.c").compile(&format!("pelton_arithmetic_{number}"));
    }
}

/// Headers with faults that are chosen at run time, which `cargo xtask mutants` writes: the feature `mutants` alone.
fn faulty(root: &Path) -> Option<PathBuf> {
    std::env::var_os("CARGO_FEATURE_MUTANTS")?;
    let include = root.join("../../target/mutants/include");
    println!("cargo:rerun-if-changed={}", include.display());
    let mut chosen = cc::Build::new();
    chosen.file(include.join("chosen.c")).compile("pelton_mutant");
    Some(include)
}

fn compiled(include: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    // Half the time to compile, where programs only test; lines are enough to read a backtrace.
    let is_release = std::env::var_os("PROFILE").is_some_and(|profile| profile == "release");
    build
        .include(include)
        .opt_level(if is_release { 2 } else { 1 })
        .debug(false)
        .flag_if_supported("-g1")
        .std("gnu11")
        .force_frame_pointer(false)
        .warnings(true)
        .extra_warnings(true)
        .flag_if_supported("-Wconversion");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        // A page is sent over networks.
        build.opt_level_str("s").define("PELTON_SMALL", None);
    }
    if std::env::var_os("CARGO_FEATURE_MUTANTS").is_some() {
        // Of clang a variable that is used before it has a value does not begin at 0; gcc lets it have any.
        build.compiler("clang").flag("-ftrivial-auto-var-init=pattern");
    }
    build
}
