// SPDX-License-Identifier: GPL-2.0-only
//! Real rt-app files of users.

use std::path::{Path, PathBuf};

use pelton_scenario::{SourceFile, rtapp};

/// Real files that cannot all be distributed with this repository.
fn shared_files() -> Vec<PathBuf> {
    let root = std::env::var_os("PELTON_SHARED_DATA").map_or_else(|| "../../../shared/data".into(), PathBuf::from);
    let mut files = json_files(&root.join("rt-app"));
    files.sort();
    if files.is_empty() {
        println!("not measured: no rt-app files in {}", root.display());
    }
    files
}

fn json_files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|e| e.path());
    paths.flat_map(|p| if p.is_dir() { json_files(&p) } else { vec![p] }).filter(|p| is_json(p)).collect()
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "json")
}

fn source(path: &Path) -> SourceFile {
    let name = path.file_name().and_then(|n| n.to_str()).expect("readable names");
    SourceFile::new(name, std::fs::read_to_string(path).expect("readable files"))
}

#[test]
fn every_real_file_follows_the_grammar() {
    for path in shared_files() {
        if let Err(e) = rtapp::parse(&source(&path)) {
            panic!("{}\n{e}", path.display());
        }
    }
}
