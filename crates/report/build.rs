// SPDX-License-Identifier: GPL-2.0-or-later
//! The library that draws time lines, where `web/` has it installed: pages carry it, so that they need no network.
//! Without it pages have their tables and pictures, and say why there is no more.

use std::path::PathBuf;

/// Files of the package, and their names in this build.
const FILES: [(&str, &str); 3] =
    [("dist/uPlot.iife.min.js", "lines.js"), ("dist/uPlot.min.css", "lines.css"), ("LICENSE", "lines.txt")];

fn main() {
    // Asked when it runs: another checkout may have built this script into the same target folder.
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let web = here.join("../../web");
    let package = web.join("node_modules/uplot");
    println!("cargo:rerun-if-changed=build.rs");
    // Cargo looks at a folder again when something in it is new; a file that is not there it would look for each time.
    println!("cargo:rerun-if-changed={}", if package.exists() { &package } else { &web }.display());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    let texts = FILES.map(|(name, _)| std::fs::read_to_string(package.join(name)).unwrap_or_default());
    let is_whole = texts.iter().all(|text| !text.is_empty());
    for ((_, name), text) in FILES.iter().zip(&texts) {
        std::fs::write(out.join(name), if is_whole { text } else { "" }).expect("cargo's own folder");
    }
}
