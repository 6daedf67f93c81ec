// SPDX-License-Identifier: GPL-2.0-or-later
//! Licences of others whose code is in a program: most of them ask that their text goes with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::parts::{DRAWING, Parts};
use crate::repo;

/// Beginnings of names of files that hold a licence or a notice.
const NAMES: &[&str] = &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// List of the parts, then every text once, with the parts that carry it.
pub fn of(parts: &Parts) -> String {
    let mut out = "Code of others in this program, and its licences.\n\n".to_owned();
    let mut carriers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |name: &str, version: &str, licence: &str, folder: &Path| {
        let _ = writeln!(out, "{name} {version}: {licence}");
        for text in texts(folder) {
            carriers.entry(text).or_default().push(name.to_owned());
        }
    };
    for package in parts.others.iter().filter(|package| package.source.is_some()) {
        let folder = package.manifest_path.parent().unwrap_or(Path::new("."));
        add(&package.name, &package.version, &package.licence(), folder);
    }
    if !parts.rust.is_empty() {
        add("rust-std", &parts.rust, "MIT OR Apache-2.0", Path::new("nothing of its own"));
    }
    if let Some(npm) = &parts.drawing {
        add(&npm.name, &npm.version, &npm.license, &repo::root().join(DRAWING));
    }
    let mut sorted: Vec<(Vec<String>, String)> = carriers.into_iter().map(|(text, names)| (names, text)).collect();
    sorted.sort();
    for (names, text) in sorted {
        let _ = write!(out, "\n{}\n{}\n\n{}\n", "-".repeat(72), names.join(", "), text.trim_end());
    }
    out
}

/// Texts of licences of a part and of libraries of C that it brings along, each in a folder of its own.
fn texts(folder: &Path) -> Vec<String> {
    let own = inside(folder);
    let brought = own.iter().filter(|path| path.is_dir()).flat_map(|path| inside(path));
    let is_licence = |path: &&PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
        NAMES.iter().any(|begin| name.starts_with(begin))
    };
    let all: Vec<PathBuf> = own.iter().cloned().chain(brought).collect();
    all.iter().filter(is_licence).filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// Entries of a folder, in order.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::super::parts;
    use super::*;

    #[test]
    fn a_text_that_two_parts_carry_stands_once() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut parts = parts::example();
        let mut other = parts.others[0].clone();
        other.name = "twin".to_owned();
        parts.others.push(other);
        for (package, name) in parts.others.iter_mut().zip(["LICENSE-MIT", "COPYING"]) {
            let own = folder.path().join(&package.name);
            std::fs::create_dir(&own).expect("room");
            std::fs::write(own.join(name), "Permission is granted.\n").expect("room");
            package.manifest_path = own.join("Cargo.toml");
        }
        let text = of(&parts);
        assert!(text.contains("lib-sys 1.0.0+v2.1: MIT OR ISC\ntwin "), "{text}");
        assert!(text.contains("\nlib-sys, twin\n") && text.matches("Permission").count() == 1, "{text}");
    }
}
