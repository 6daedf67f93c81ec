// SPDX-License-Identifier: GPL-2.0-or-later
//! Pages that code, tests, data and messages name (`docs/rules/x.md#heading`) exist, with their headings; the index of
//! the rules lists each page of rules. A section of a document that is not here is named nowhere.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::repo::File;

const RULE: &str = "citations";
/// Folder of the rules, and its index.
const SPEC: &str = "docs/rules/";
const INDEX: &str = "docs/rules/README.md";

/// Citations that lead nowhere, and pages of rules that the index does not list.
pub fn check(files: &[File]) -> Vec<Finding> {
    let pages: BTreeMap<&str, BTreeSet<String>> = files
        .iter()
        .filter(|file| file.extension() == "md")
        .map(|file| (file.path.as_str(), headings(&file.text)))
        .collect();
    // Pages are checked by the rule about links; examples of these tools name pages that are none.
    let citing = files.iter().filter(|file| file.extension() != "md" && !file.is_under(&["xtask/"]));
    citing.flat_map(|file| broken(file, &pages).into_iter().chain(elsewhere(file))).chain(unlisted(files)).collect()
}

/// Sections of a document that is not part of the project: a reader of the project cannot follow them.
fn elsewhere(file: &File) -> Vec<Finding> {
    let names_one = |line: &str| {
        let of_section = |letter: char, after: char| match letter {
            'A'..='Z' => !after.is_alphabetic(),
            _ => letter.is_ascii_digit() && after == '.',
        };
        line.ends_with("(SPEC")
            || line.match_indices("SPEC ").any(|(at, word)| {
                let section: Vec<char> = line[at + word.len()..].chars().take(2).collect();
                matches!(section[..], [letter, after] if of_section(letter, after))
            })
    };
    let lines = file.text.lines().enumerate().filter(|(_, line)| names_one(line));
    let text = "names a section of a document that is not here; name a page (docs/rules/x.md#heading)";
    lines.map(|(at, _)| finding(&file.path, at + 1, text.to_owned())).collect()
}

fn finding(path: &str, line: usize, text: String) -> Finding {
    Finding { rule: RULE, path: path.to_owned(), line, text }
}

fn broken(file: &File, pages: &BTreeMap<&str, BTreeSet<String>>) -> Vec<Finding> {
    let lines = file.text.lines().enumerate();
    let cited = lines.flat_map(|(at, line)| citations(line).into_iter().map(move |cited| (at + 1, cited)));
    let wrong = cited.filter(|(_, (page, heading))| {
        pages.get(page).is_none_or(|known| heading.is_some_and(|heading| !known.contains(heading)))
    });
    wrong
        .map(|(line, (page, heading))| {
            let place = heading.map_or(String::new(), |heading| format!("#{heading}"));
            finding(&file.path, line, format!("`{page}{place}` is no page or heading"))
        })
        .collect()
}

/// Page and heading of each `docs/...md#heading` of a line.
fn citations(line: &str) -> Vec<(&str, Option<&str>)> {
    line.match_indices("docs/").filter_map(|(at, _)| citation(line, at)).collect()
}

fn citation(line: &str, at: usize) -> Option<(&str, Option<&str>)> {
    let before = line[..at].chars().next_back();
    if before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_')) {
        return None;
    }
    let end =
        line[at..].find(|c: char| !(c.is_ascii_alphanumeric() || "/._-#".contains(c))).map_or(line.len(), |n| at + n);
    let word = line[at..end].trim_end_matches(['.', '-']);
    let (page, heading) = word.split_once('#').map_or((word, None), |(page, heading)| (page, Some(heading)));
    page.ends_with(".md").then_some((page, heading.filter(|heading| !heading.is_empty())))
}

/// Anchors of a page: its headings in lower case, without punctuation, with dashes for spaces.
fn headings(text: &str) -> BTreeSet<String> {
    let titles = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    titles.map(anchor).collect()
}

fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn unlisted(files: &[File]) -> Vec<Finding> {
    let index = files.iter().find(|file| file.path == INDEX).map_or("", |file| file.text.as_str());
    let rest = |file: &File| file.path.strip_prefix(SPEC).map(str::to_owned);
    let pages = files.iter().filter(|file| file.extension() == "md" && file.path != INDEX).filter_map(rest);
    let missing = pages.filter(|page| !index.contains(&format!("]({page})")));
    missing.map(|page| finding(INDEX, 0, format!("`{page}` is not listed"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let files = [
            File::example(path, text),
            File::example("docs/rules/README.md", "[load tracking](load-tracking.md)"),
            File::example("docs/rules/load-tracking.md", "# Load tracking\n## The floor of sums (6.1, 6.12)\n"),
        ];
        check(&files).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn pages_and_headings_that_exist_pass() {
        let text = "see docs/rules/load-tracking.md, (docs/rules/load-tracking.md#the-floor-of-sums-61-612). docs/rules/load-tracking.md.\n\
                    https://example.org/docs/gone.md target/docs/gone.md docs/rules/\n";
        assert_eq!(found("core/a.h", text), Vec::<String>::new());
    }

    #[test]
    fn a_page_or_heading_that_does_not_exist_is_a_finding() {
        assert_eq!(found("crates/a.rs", "docs/rules/gone.md"), ["`docs/rules/gone.md` is no page or heading"]);
        assert_eq!(found("a.rs", "docs/rules/load-tracking.md#the").len(), 1);
    }

    #[test]
    fn a_section_of_a_document_that_is_not_here_is_a_finding() {
        assert_eq!(found("core/a.h", "the update (SPEC A.4)\nSPEC E with corrections\n").len(), 2);
        assert_eq!(found("core/a.h", "full scale (SPEC 0.2)\na server (SPEC\n").len(), 2);
        assert_eq!(found("core/a.h", "SPEC CPU, a benchmark; const SPEC: u32; SPEC"), Vec::<String>::new());
    }

    #[test]
    fn a_page_of_rules_that_the_index_does_not_list_is_a_finding() {
        assert_eq!(found("docs/rules/fair.md", "# Fair"), ["`fair.md` is not listed"]);
    }
}
