// SPDX-License-Identifier: GPL-2.0-or-later
//! Licences of everything in the lock file against `deny.toml`, on machines without cargo-deny too.

use std::collections::BTreeSet;
use std::process::Command;

use serde::Deserialize;

use super::Finding;
use crate::repo::{self, File};

const PATH: &str = "deny.toml";

#[derive(Debug, Deserialize)]
struct Deny {
    licenses: Licences,
}

#[derive(Debug, Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// A crate that may have other licences too.
#[derive(Debug, Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

/// A crate that is built into something.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    licence: String,
}

/// Crates whose licence is not allowed.
pub fn check(files: &[File]) -> Result<Vec<Finding>, String> {
    let file = files.iter().find(|file| file.path == PATH).ok_or_else(|| format!("{PATH} is missing"))?;
    let deny: Deny = toml::from_str(&file.text).map_err(|error| format!("{PATH}: {error}"))?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let args = ["tree", "--workspace", "--target", "all", "--prefix", "none", "--format", "{p}|{l}"];
    let tree = repo::run(Command::new(cargo).current_dir(repo::root()).args(args))?;
    Ok(packages(&tree).iter().filter_map(|package| deny.licenses.defect(package)).collect())
}

/// Crates of `cargo tree`'s lines `name v1.0 (path)|licence`, each once.
fn packages(tree: &str) -> BTreeSet<Package> {
    let split = |line: &str| {
        let (package, licence) = line.trim_end_matches(" (*)").split_once('|')?;
        let name = package.split_whitespace().next()?.to_owned();
        Some(Package { name, licence: licence.to_owned() })
    };
    tree.lines().filter_map(split).collect()
}

impl Licences {
    fn defect(&self, package: &Package) -> Option<Finding> {
        let licence = package.licence.as_str();
        let exceptions = self.exceptions.iter().filter(|exception| exception.name == package.name);
        let more: Vec<&String> = exceptions.flat_map(|exception| &exception.allow).collect();
        let is_allowed = |name: &str| self.allow.iter().chain(more.iter().copied()).any(|allowed| allowed == name);
        (!satisfied(licence, &is_allowed)).then(|| Finding {
            rule: "licences",
            path: PATH.to_owned(),
            line: 0,
            text: format!("`{}` is under `{licence}`, which is not in the list", package.name),
        })
    }
}

/// Evaluates a licence expression: `OR` (old form `/`), `AND`, parentheses, `X WITH Y` as one name.
fn satisfied(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "+WITH+");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut at = 0;
    alternatives(&words, &mut at, is_allowed) && at == words.len()
}

fn alternatives(words: &[&str], at: &mut usize, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut result = conjunction(words, at, is_allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        result |= conjunction(words, at, is_allowed);
    }
    result
}

fn conjunction(words: &[&str], at: &mut usize, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut result = name(words, at, is_allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        result &= name(words, at, is_allowed);
    }
    result
}

fn name(words: &[&str], at: &mut usize, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let word = words.get(*at).copied().unwrap_or("");
    *at += 1;
    if word != "(" {
        return is_allowed(&word.replace("+WITH+", " WITH "));
    }
    let result = alternatives(words, at, is_allowed);
    let closed = words.get(*at) == Some(&")");
    *at += 1;
    result && closed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mit_and_unicode(expression: &str) -> bool {
        satisfied(expression, &|name| matches!(name, "MIT" | "Unicode-3.0"))
    }

    #[test]
    fn one_allowed_alternative_is_enough() {
        let good = ["MIT", "MIT OR Apache-2.0", "MIT/Apache-2.0", "Apache-2.0 WITH LLVM-exception OR MIT"];
        assert!(good.into_iter().all(mit_and_unicode));
        assert!(mit_and_unicode("(MIT OR Apache-2.0) AND Unicode-3.0"));
    }

    #[test]
    fn a_part_that_is_not_allowed_fails() {
        let bad = ["Apache-2.0", "none", "", "MIT AND Apache-2.0", "(MIT OR ISC) AND OpenSSL", "(MIT", "MIT MIT"];
        assert!(!bad.into_iter().any(mit_and_unicode));
    }

    #[test]
    fn crates_are_read_once_each() {
        let found = packages("a v1.0.0 (/x/a)|MIT\n\nb v2.0.0|MIT OR ISC\nb v2.0.0|MIT OR ISC (*)\nc v1.0.0|\n");
        let found: Vec<_> = found.iter().map(|package| (package.name.as_str(), package.licence.as_str())).collect();
        assert_eq!(found, [("a", "MIT"), ("b", "MIT OR ISC"), ("c", "")]);
    }

    #[test]
    fn an_exception_holds_for_its_crate_only() {
        let exception = Exception { name: "a".to_owned(), allow: vec!["Apache-2.0".to_owned()] };
        let list = Licences { allow: vec!["MIT".to_owned()], exceptions: vec![exception] };
        let package = |name: &str| Package { name: name.to_owned(), licence: "Apache-2.0".to_owned() };
        assert!(list.defect(&package("a")).is_none());
        assert!(list.defect(&package("b")).is_some());
    }
}
