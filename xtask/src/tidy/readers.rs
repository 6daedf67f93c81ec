// SPDX-License-Identifier: GPL-2.0-or-later
//! Every argument that takes text or a path says which readers it leads to, and every reader is attacked: what is typed
//! (`crates/cli/src/args*`) against what is declared (`tests/src/readers.rs`).

use super::Finding;
use super::tokens::{Source, Token};
use crate::generate::fuzz;
use crate::readers::{ARGUMENTS, READERS, Takes};
use crate::repo::File;

const RULE: &str = "readers";
const DECLARED: &str = "tests/src/readers.rs";
const PAGE: &str = "fuzz/README.md";
/// Files that declare arguments.
const ARGS: &[&str] = &["crates/cli/src/args.rs", "crates/cli/src/args/"];
/// Types that may name a file.
const TEXTS: &[&str] = &["PathBuf", "String", "OsString"];

/// Arguments without readers, readers without arguments, and targets of no reader.
pub fn check(files: &[File]) -> Vec<Finding> {
    let typed = files.iter().filter(|file| file.is_under(ARGS)).flat_map(|file| {
        let fields = fields(&file.path, &file.text);
        fields.into_iter().map(|(name, line)| (name, file.path.clone(), line))
    });
    let typed: Vec<(String, String, usize)> = typed.collect();
    let names: Vec<&str> = fuzz::targets().collect();
    let mut found = undeclared(&typed);
    found.extend(unattacked(files, &names));
    found
}

fn finding(path: &str, line: usize, text: String) -> Finding {
    Finding { rule: RULE, path: path.to_owned(), line, text }
}

/// Differences between what can be typed and what is declared.
fn undeclared(typed: &[(String, String, usize)]) -> Vec<Finding> {
    let is_declared = |name: &str| ARGUMENTS.iter().any(|(declared, _)| *declared == name);
    let missing = typed.iter().filter(|(name, ..)| !is_declared(name)).map(|(name, path, line)| {
        finding(path, *line, format!("`{name}` is not in {DECLARED}: which reader does it lead to?"))
    });
    let is_typed = |name: &str| typed.iter().any(|(typed, ..)| typed == name);
    let stale = ARGUMENTS.iter().filter(|(name, _)| !is_typed(name));
    let stale = stale.map(|(name, _)| finding(DECLARED, 0, format!("`{name}` is no argument any more")));
    missing.chain(stale).collect()
}

/// Readers that no argument leads to or that the page leaves out, and targets that are not declared.
fn unattacked(files: &[File], targets: &[&str]) -> Vec<Finding> {
    let reached = |name: &str| {
        let leads = |takes: &Takes| matches!(takes, Takes::Files(names) if names.contains(&name));
        ARGUMENTS.iter().any(|(_, takes)| leads(takes))
    };
    let idle = READERS.iter().filter(|reader| !reached(reader.name) || reader.verbs.is_empty());
    let idle = idle.map(|reader| finding(DECLARED, 0, format!("no argument or no call leads to `{}`", reader.name)));
    let page = files.iter().find(|file| file.path == PAGE).map_or("", |file| file.text.as_str());
    let untold = targets.iter().filter(|name| !page.contains(&format!("`{name}`")));
    let untold = untold.map(|name| finding(PAGE, 0, format!("the target `{name}` is not on this page")));
    let known: Vec<String> = targets.iter().map(|name| fuzz::path(name)).collect();
    let foreign = files.iter().filter(|file| file.is_under(&["fuzz/fuzz_targets/"]) && !known.contains(&file.path));
    let foreign = foreign.map(|file| finding(&file.path, 0, format!("the target is not declared in {DECLARED}")));
    idle.chain(untold).chain(foreign).collect()
}

/// Fields of structures and of variants whose type is text, as `Type.field`, with their lines.
fn fields(path: &str, text: &str) -> Vec<(String, usize)> {
    let tokens = Source::parse(path, text).unwrap_or_default().tokens;
    let mut found = Vec::new();
    // Names of the braces that are open: of a type, of a variant in it, of anything else.
    let mut open: Vec<Option<String>> = Vec::new();
    for at in 0..tokens.len() {
        match tokens[at].text.as_str() {
            "{" => open.push(owner(&tokens[..at], open.last().and_then(|name| name.as_deref()))),
            "}" => drop(open.pop()),
            _ => {
                let owner = open.last().and_then(|name| name.as_deref());
                found.extend(owner.and_then(|owner| field(&tokens, at, owner)));
            }
        }
    }
    found
}

/// Owner of a brace behind these tokens: a type, or a variant of the enumeration around it.
fn owner(before: &[Token], outer: Option<&str>) -> Option<String> {
    let [.., keyword, name] = before else { return None };
    match (keyword.text.as_str(), outer) {
        ("struct" | "enum", _) => Some(name.text.clone()),
        ("," | "{", Some(outer)) => Some(format!("{outer}::{}", name.text)),
        _ => None,
    }
}

/// `name: TYPE,` at a place, when the type is text.
fn field(tokens: &[Token], at: usize, owner: &str) -> Option<(String, usize)> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let begins = at > 0 && matches!(text(at - 1), "{" | "," | "pub" | ")");
    if !begins || text(at + 1) != ":" || text(at + 2) == ":" {
        return None;
    }
    let ends = |at: usize| text(at) == "," || text(at) == "}" || text(at).is_empty();
    let is_text = (at + 2..).take_while(|&at| !ends(at)).any(|at| TEXTS.contains(&text(at)));
    is_text.then(|| (format!("{owner}.{}", text(at)), tokens[at].line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_text_are_found_wherever_they_are() {
        let text = "use std::path::PathBuf;\npub struct A {\n    #[arg(long)]\n    pub a: Option<PathBuf>,\n    pub n: u32,\n}\n\
                    impl A { fn f() { let x: String = B { b: 1 }; } }\n\
                    enum C { D, E { g: std::ffi::OsString }, F(A) }\n";
        let found = fields("crates/cli/src/args.rs", text);
        assert_eq!(found, [("A.a".to_owned(), 4), ("C::E.g".to_owned(), 8)]);
    }

    #[test]
    fn an_argument_and_a_reader_that_nobody_declared_are_found() {
        let files = [
            File::example("crates/cli/src/args.rs", "struct NewArgs { file: PathBuf }\n"),
            File::example("fuzz/fuzz_targets/lost.rs", ""),
        ];
        let found: Vec<String> = check(&files).into_iter().map(|finding| finding.text).collect();
        let says = |words: &str| assert!(found.iter().any(|text| text.contains(words)), "{words}: {found:?}");
        says("`NewArgs.file` is not in");
        says("`ImportArgs.source` is no argument any more");
        says("the target `import_dts` is not on this page");
        says("the target is not declared");
    }
}
