// SPDX-License-Identifier: GPL-2.0-or-later
//! Existence of the tests and operations of the oracle that proofs name.

use crate::repo::File;

/// Files of the oracle's tables of operations; a row begins with a brace and the operation's name.
const OPERATIONS: &str = "tests/oracle/host/ops_";

/// True when a file that `name`'s modules lead to has a test of its last part.
///
/// `known_answers::signals::x` is `fn x` in a file `known_answers/signals.rs` below any folder of tests or of source.
pub fn is_test(files: &[File], name: &str) -> bool {
    let parts: Vec<&str> = name.split("::").filter(|part| *part != "tests").collect();
    let Some((function, modules)) = parts.split_last() else { return false };
    let modules: Vec<&str> = modules.iter().map(|part| part.strip_prefix("pelton_").unwrap_or(part)).collect();
    let named = |file: &&File| file.extension() == "rs" && leads_to(&modules, &file.path);
    !modules.is_empty() && files.iter().filter(named).any(|file| has_test(&file.text, function))
}

/// True when the path ends with the modules, folders without meaning for them left out.
fn leads_to(modules: &[&str], path: &str) -> bool {
    let path = path.trim_end_matches(".rs");
    let segments: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "src" | "tests" | "mod")).collect();
    segments.ends_with(modules)
}

/// True when the text has a function of this name right below a `#[test]`.
fn has_test(text: &str, function: &str) -> bool {
    let head = format!("fn {function}(");
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[test]") {
            marked = true;
        } else if marked && line.contains(&head) {
            return true;
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            marked = false;
        }
    }
    false
}

/// True when the oracle has an operation of this name.
pub fn is_operation(files: &[File], name: &str) -> bool {
    let row = format!("{{ \"{name}\",");
    let mut tables = files.iter().filter(|file| file.path.starts_with(OPERATIONS));
    !name.is_empty() && tables.any(|file| file.text.lines().any(|line| line.trim_start().starts_with(&row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<File> {
        vec![
            File::example("crates/core/tests/known_answers/fair.rs", "#[test]\nfn here() {}\nfn helper() {}\n"),
            File::example("crates/sim/tests/groups.rs", "#[test]\n#[expect(x)]\n// why\nfn there() {}\n"),
            File::example("tests/oracle/host/ops_place.c", "\t{ \"wake_affine\", \"pelton_wake_affine\", 0 },"),
        ]
    }

    #[test]
    fn a_test_is_found_by_its_modules() {
        for name in ["known_answers::fair::here", "core::known_answers::fair::here", "pelton_sim::groups::there"] {
            assert!(is_test(&files(), name), "{name}");
        }
    }

    #[test]
    fn other_functions_other_files_and_bare_names_are_no_tests() {
        for name in ["known_answers::fair::helper", "known_answers::signals::here", "groups::here", "here", ""] {
            assert!(!is_test(&files(), name), "{name}");
        }
    }

    #[test]
    fn operations_are_looked_up_in_their_tables() {
        assert!(is_operation(&files(), "wake_affine") && !is_operation(&files(), "pelton_wake_affine"));
    }
}
