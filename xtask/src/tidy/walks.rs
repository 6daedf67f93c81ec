// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions that pages lead to exist: those of ARCHITECTURE.md and of the stranger's test.

use std::collections::BTreeSet;

use super::Finding;
use crate::repo::File;

const PAGES: [&str; 2] = ["ARCHITECTURE.md", "docs/decisions/0006-a-strangers-test.md"];
/// Functions of the kernel that a page may name beside ours.
const KERNEL: &str = "docs/rules/names.toml";

/// Functions in backticks, `name()` or `Type::name()`, that neither the code nor the list of the kernel's has.
pub fn check(files: &[File]) -> Vec<Finding> {
    let known = known(files);
    let pages = files.iter().filter(|file| PAGES.contains(&file.path.as_str()));
    pages.flat_map(|page| page_findings(page, &known)).collect()
}

fn known(files: &[File]) -> BTreeSet<&str> {
    let mut known = BTreeSet::new();
    for file in files {
        match file.extension() {
            "rs" => known.extend(file.text.split("fn ").skip(1).map(|rest| &rest[..word(rest)])),
            "h" => known.extend(file.text.match_indices('(').filter_map(|(at, _)| last_word(&file.text[..at]))),
            _ if file.path == KERNEL => known.extend(file.text.split(|c| !is_of_name(c))),
            _ => {}
        }
    }
    known
}

fn is_of_name(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// Length of the name that a text begins with.
fn word(text: &str) -> usize {
    text.find(|c| !is_of_name(c)).unwrap_or(text.len())
}

/// The name that a text ends with.
fn last_word(text: &str) -> Option<&str> {
    let begin = text.rfind(|c| !is_of_name(c)).map_or(0, |at| at + 1);
    Some(&text[begin..]).filter(|name| !name.is_empty())
}

fn page_findings(page: &File, known: &BTreeSet<&str>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, line) in page.text.lines().enumerate() {
        let calls = line.split('`').skip(1).step_by(2).filter_map(|code| code.strip_suffix("()"));
        for name in calls.filter_map(last_word).filter(|name| !known.contains(name)) {
            let text = format!("no function is called `{name}`");
            found.push(Finding { rule: "walks", path: page.path.clone(), line: at + 1, text });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_is_gone_is_found_and_others_are_not() {
        let page = "1. `run()`, `Type::step()` and `pelton_f()` of `f.h` are `try_to_wake_up()`; then `gone()`.\n";
        let files = [
            File::example("ARCHITECTURE.md", page),
            File::example("crates/a.rs", "pub fn run() {}\nimpl Type { fn step(&self) {} }\n"),
            File::example("core/include/pelton/f.h", "PELTON_INLINE u32 pelton_f(u32 a)\n"),
            File::example(KERNEL, "name = \"try_to_wake_up\"\n"),
        ];
        let texts: Vec<String> = check(&files).into_iter().map(|finding| finding.text).collect();
        assert_eq!(texts, ["no function is called `gone`"]);
    }
}
