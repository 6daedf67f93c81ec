// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests of a crate are one program: every file of its folder of tests is a module of `main.rs`, or a program that the
//! manifest names. A file that is neither would never run, and nothing else would say so.

use super::Finding;
use crate::repo::File;

const RULE: &str = "test-programs";

/// Files of tests that no program has, and crates whose programs cargo would guess.
pub fn check(files: &[File]) -> Vec<Finding> {
    files.iter().filter_map(|file| folder_of(&file.path).and_then(|folder| wrong(file, folder, files))).collect()
}

/// The crate's folder, of `crates/sim/tests/idle.rs` or `tests/tests/idle.rs`.
fn folder_of(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/')?;
    (name.ends_with(".rs") && name != "main.rs").then_some(())?;
    folder.strip_suffix("/tests")
}

fn wrong(file: &File, folder: &str, files: &[File]) -> Option<Finding> {
    let text = |name: &str| files.iter().find(|file| file.path == format!("{folder}/{name}")).map(|file| &*file.text);
    let manifest = text("Cargo.toml").unwrap_or("");
    let stem = file.path.rsplit_once('/')?.1.strip_suffix(".rs")?;
    let is_module = text("tests/main.rs").unwrap_or("").lines().any(|line| line == format!("mod {stem};"));
    let is_program = manifest.contains(&format!("path = \"tests/{stem}.rs\""));
    let text = if !manifest.contains("autotests = false") {
        format!("{folder}/Cargo.toml: `autotests = false` and one program, tests/main.rs")
    } else if !is_module && !is_program {
        format!("no program has these tests: `mod {stem};` in {folder}/tests/main.rs")
    } else {
        return None;
    };
    Some(Finding { rule: RULE, path: file.path.clone(), line: 0, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(manifest: &str, main: &str) -> usize {
        let files = [
            File::example("crates/a/Cargo.toml", manifest),
            File::example("crates/a/tests/main.rs", main),
            File::example("crates/a/tests/idle.rs", ""),
        ];
        check(&files).len()
    }

    #[test]
    fn a_file_of_tests_that_no_program_has_is_found() {
        assert_eq!(found("autotests = false\n", "mod idle;\n"), 0);
        assert_eq!(found("autotests = false\npath = \"tests/idle.rs\"\n", ""), 0);
        assert_eq!(found("autotests = false\n", "mod idles;\n"), 1);
        assert_eq!(found("", "mod idle;\n"), 1);
    }
}
