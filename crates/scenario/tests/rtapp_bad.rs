// SPDX-License-Identifier: GPL-2.0-or-later
//! Messages about rt-app files that are wrong: every file of `tests/bad/rtapp` with its rendered messages.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::processor_time::Moment;
use pelton_scenario::rtapp::{self, RtAppOptions};
use pelton_scenario::{SourceFile, render};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/bad/rtapp");
/// No input may take longer than this.
const TIME_MAX: Duration = Duration::from_secs(1);

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(FOLDER).expect("the folder is part of the repository");
    let mut files: Vec<PathBuf> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "json"));
    files.sort();
    files
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|s| s.to_str()).expect("readable names")
}

fn options() -> RtAppOptions {
    RtAppOptions { cpus: Some(4), ..RtAppOptions::default() }
}

/// The messages about a file, and whether it was accepted.
fn messages(path: &Path) -> (String, bool) {
    let text = std::fs::read_to_string(path).expect("text");
    let file = SourceFile::new(format!("{}.json", stem(path)), text);
    match rtapp::load_full(&file, &options()) {
        Ok(loaded) => (render(&loaded.warnings, 100, false), true),
        Err(messages) => (render(&messages, 100, false), false),
    }
}

#[test]
fn every_bad_file_is_explained() {
    let files = files();
    assert!(files.len() >= 35, "the folder lost files: {}", files.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("{FOLDER}/rendered"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for path in files.iter().filter(|p| stem(p) != "good") {
        let start = Moment::now();
        let (text, accepted) = messages(path);
        assert!(start.elapsed() < TIME_MAX, "{} took {:?}", path.display(), start.elapsed());
        assert_eq!(accepted, stem(path).starts_with("warn-"), "{}\n{text}", path.display());
        assert!(!text.is_empty(), "{} is not explained", path.display());
        settings.bind(|| insta::assert_snapshot!(stem(path), text));
    }
}

#[test]
fn the_good_file_passes_without_a_word() {
    let (text, accepted) = messages(&Path::new(FOLDER).join("good.json"));
    assert!(accepted && text.is_empty(), "{text}");
}
