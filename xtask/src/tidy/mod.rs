// SPDX-License-Identifier: GPL-2.0-or-later
//! House rules that a machine can check. Each rule carries an example that breaks it and one that keeps it.

mod banned;
pub mod c;
mod citations;
mod doc_first;
mod edges;
mod exempt;
mod functions;
mod licences;
mod links;
pub mod names;
mod programs;
mod prose;
mod readers;
mod rooms;
mod text;
mod tokens;
mod walks;

use crate::repo::{self, File};

/// One broken rule at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Rule.
    pub rule: &'static str,
    /// File.
    pub path: String,
    /// Line from 1; 0 = the whole file.
    pub line: usize,
    /// Defect and remedy.
    pub text: String,
}

/// A rule that looks at one file at a time.
pub struct Rule {
    /// Name, as exemptions and messages use it.
    pub name: &'static str,
    /// Line and text of every place that breaks it.
    pub check: fn(&File) -> Vec<(usize, String)>,
    /// A file that breaks it.
    pub bad: fn() -> File,
    /// A file that comes close and keeps it.
    pub good: fn() -> File,
}

/// Every rule about single files.
fn rules() -> impl Iterator<Item = &'static Rule> {
    [text::RULES, prose::RULES, doc_first::RULES, functions::RULES, banned::RULES].into_iter().flatten()
}

/// Checks one file against every rule.
fn check_file(file: &File) -> Vec<Finding> {
    let finding = |rule: &'static str, (line, text)| Finding { rule, path: file.path.clone(), line, text };
    rules().flat_map(|rule| (rule.check)(file).into_iter().map(move |at| finding(rule.name, at))).collect()
}

/// A rule that does not notice its own bad example, or complains about its good one, checks nothing.
fn check_rules() -> Result<(), String> {
    for rule in rules() {
        if (rule.check)(&(rule.bad)()).is_empty() {
            return Err(format!("tidy: rule `{}` does not notice its bad example", rule.name));
        }
        if let Some((line, text)) = (rule.check)(&(rule.good)()).first() {
            return Err(format!("tidy: rule `{}` complains about its good example, line {line}: {text}", rule.name));
        }
    }
    Ok(())
}

/// Rules that look at the whole tree.
const TREE_RULES: &[&str] = &[
    "citations",
    "edges",
    "function-median",
    "licences",
    "links",
    "names",
    "readers",
    "rooms",
    "test-programs",
    "walks",
];

/// Every rule is a row of STYLE.md.
fn check_style_page(files: &[File]) -> Vec<Finding> {
    let page = files.iter().find(|file| file.path == "STYLE.md").map_or("", |file| file.text.as_str());
    let names = rules().map(|rule| rule.name).chain(TREE_RULES.iter().copied());
    let missing = names.filter(|name| !page.contains(&format!("`{name}`")));
    let finding = |name: &'static str| Finding {
        rule: name,
        path: "STYLE.md".to_owned(),
        line: 0,
        text: format!("rule `{name}` is checked but not written down"),
    };
    missing.map(finding).collect()
}

/// Checks the tree; the error lists every finding.
pub fn run() -> Result<(), String> {
    check_rules()?;
    let files = repo::files()?;
    let found: Vec<Finding> = files.iter().flat_map(check_file).collect();
    let exemptions = exempt::load(&files)?;
    let mut found = exempt::apply(&exemptions, &found);
    found.extend(edges::check(&files)?);
    found.extend(licences::check(&files)?);
    found.extend(links::check(&files));
    found.extend(citations::check(&files));
    found.extend(names::check(&files)?);
    found.extend(programs::check(&files));
    found.extend(readers::check(&files));
    found.extend(rooms::check(&files)?);
    found.extend(walks::check(&files));
    found.extend(check_style_page(&files));
    let lengths = functions::Lengths::of(&files);
    found.extend(lengths.check());
    println!("tidy: {} files, {} exemptions; {lengths}", files.len(), exemptions.len());
    report(&found)
}

fn report(found: &[Finding]) -> Result<(), String> {
    if found.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = found.iter().map(|f| format!("{}:{}: {} [{}]", f.path, f.line, f.text, f.rule)).collect();
    Err(format!("{}\ntidy: {} finding(s)", lines.join("\n"), found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_keeps_its_examples_apart() {
        check_rules().expect("rules work");
    }

    #[test]
    fn a_rule_that_is_not_written_down_is_a_finding() {
        let page = |text| check_style_page(&[File::example("STYLE.md", text)]);
        let found = page("tidy `spdx`");
        assert!(found.iter().any(|finding| finding.rule == "edges"));
        assert!(found.iter().all(|finding| finding.rule != "spdx"));
    }

    #[test]
    fn a_finding_makes_the_report_fail() {
        let canary = check_file(&File::example("crates/sim/src/canary.rs", "fn f() { std::fs::read(\"x\"); }\n"));
        let error = report(&canary).expect_err("the canary must be reported");
        assert!(error.contains("crates/sim/src/canary.rs:1:"), "{error}");
        assert!(report(&[]).is_ok());
    }
}
