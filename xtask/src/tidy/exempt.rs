// SPDX-License-Identifier: GPL-2.0-or-later
//! Exceptions to rules: one file, a reason for each, and none that is not needed any more.

use serde::Deserialize;

use super::{Finding, rules};
use crate::repo::File;

/// Table of the exceptions.
const PATH: &str = "xtask/tidy.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    exempt: Vec<Exemption>,
}

/// One file, or all files below a folder (path ends with `/`), that need not keep a rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exemption {
    rule: String,
    path: String,
    reason: String,
}

impl Exemption {
    fn covers(&self, finding: &Finding) -> bool {
        let in_folder = self.path.ends_with('/') && finding.path.starts_with(&self.path);
        self.rule == finding.rule && (in_folder || self.path == finding.path)
    }

    fn finding(&self, text: &str) -> Finding {
        let text = format!("exemption of `{}` from `{}` {text}", self.path, self.rule);
        Finding { rule: "exemptions", path: PATH.to_owned(), line: 0, text }
    }

    /// Defect of the entry itself.
    fn defect(&self) -> Option<Finding> {
        if !rules().any(|rule| rule.name == self.rule) {
            return Some(self.finding("names no rule"));
        }
        self.reason.trim().is_empty().then(|| self.finding("gives no reason"))
    }
}

/// Reads the list.
pub fn load(files: &[File]) -> Result<Vec<Exemption>, String> {
    let file = files.iter().find(|file| file.path == PATH).ok_or_else(|| format!("{PATH} is missing"))?;
    parse(&file.text)
}

fn parse(text: &str) -> Result<Vec<Exemption>, String> {
    toml::from_str::<List>(text).map(|list| list.exempt).map_err(|error| format!("{PATH}: {error}"))
}

/// Findings that remain, and one for each exemption that is wrong or unused.
pub fn apply(exemptions: &[Exemption], found: &[Finding]) -> Vec<Finding> {
    let unused = exemptions.iter().filter(|exemption| !found.iter().any(|finding| exemption.covers(finding)));
    let unused: Vec<Finding> = unused.map(|exemption| exemption.finding("is not needed; remove it")).collect();
    let defects = exemptions.iter().filter_map(Exemption::defect);
    let remain = found.iter().filter(|finding| !exemptions.iter().any(|exemption| exemption.covers(finding))).cloned();
    remain.chain(defects).chain(unused).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "[[exempt]]\nrule = \"file-length\"\npath = \"vectors/\"\nreason = \"tables\"\n";

    fn finding(path: &str) -> Finding {
        Finding { rule: "file-length", path: path.to_owned(), line: 0, text: String::new() }
    }

    #[test]
    fn a_folder_covers_the_files_below_it_only() {
        let list = parse(LIST).expect("valid");
        let left = apply(&list, &[finding("vectors/a.rs"), finding("vectors.rs")]);
        assert_eq!(left, [finding("vectors.rs")]);
    }

    #[test]
    fn an_unused_exemption_is_a_finding() {
        let left = apply(&parse(LIST).expect("valid"), &[]);
        assert!(left.len() == 1 && left[0].text.contains("not needed"), "{left:?}");
    }

    #[test]
    fn an_exemption_needs_a_rule_and_a_reason() {
        let list = parse(&LIST.replace("tables", " ")).expect("valid");
        assert!(apply(&list, &[finding("vectors/a.rs")])[0].text.contains("gives no reason"));
        let list = parse(&LIST.replace("file-length", "file-size")).expect("valid");
        assert!(apply(&list, &[])[0].text.contains("names no rule"));
        assert!(parse("[[exempt]]\nrule = \"spdx\"\n").is_err());
    }
}
