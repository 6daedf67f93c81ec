// SPDX-License-Identifier: GPL-2.0-or-later
//! Edges between crates: `cargo metadata` against the table in ARCHITECTURE.md.

use std::collections::BTreeMap;
use std::process::Command;

use serde::Deserialize;

use super::Finding;
use crate::repo::{self, File};

const PAGE: &str = "ARCHITECTURE.md";
/// First line of the table.
const TABLE_HEAD: &str = "| crate | may use |";

/// Crates that must not use anything from a registry, except to build.
const PLAIN_CRATES: &[&str] = &["pelton-core", "pelton-reference"];

/// Crate to the crates it may use.
type Table = BTreeMap<String, Vec<String>>;

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// None for an ordinary dependency, otherwise "dev" or "build".
    kind: Option<String>,
    /// Set when the crate is part of this repository.
    path: Option<String>,
}

/// Compares the workspace with the table.
pub fn check(files: &[File]) -> Result<Vec<Finding>, String> {
    let page = files.iter().find(|file| file.path == PAGE).ok_or_else(|| format!("{PAGE} is missing"))?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let args = ["metadata", "--no-deps", "--format-version", "1"];
    let json = repo::run(Command::new(cargo).current_dir(repo::root()).args(args))?;
    let metadata: Metadata = serde_json::from_str(&json).map_err(|error| format!("cargo metadata: {error}"))?;
    Ok(compare(&table(&page.text), &metadata.packages))
}

/// The table's rows.
fn table(page: &str) -> Table {
    let rows = page.lines().skip_while(|line| line.trim() != TABLE_HEAD).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.filter_map(row).collect()
}

fn row(line: &str) -> Option<(String, Vec<String>)> {
    let mut cells = line.trim_matches('|').split('|').map(str::trim);
    let name = cells.next()?.to_owned();
    Some((name, cells.next()?.split_whitespace().map(str::to_owned).collect()))
}

fn compare(table: &Table, packages: &[Package]) -> Vec<Finding> {
    let finding = |text: String| Finding { rule: "edges", path: PAGE.to_owned(), line: 0, text };
    let mut texts: Vec<String> = packages.iter().flat_map(|package| package_defects(table, package)).collect();
    let known = |name: &str| packages.iter().any(|package| package.name == name);
    texts.extend(table.keys().filter(|name| !known(name)).map(|name| format!("`{name}` is not in the workspace")));
    texts.extend(table.keys().filter(|name| reaches(table, name, name)).map(|name| format!("`{name}` uses itself")));
    texts.into_iter().map(finding).collect()
}

fn package_defects(table: &Table, package: &Package) -> Vec<String> {
    let name = &package.name;
    let Some(allowed) = table.get(name) else {
        return vec![format!("`{name}` has no row in the table")];
    };
    let mut defects = Vec::new();
    for dependency in &package.dependencies {
        let uses = &dependency.name;
        let is_ours = dependency.path.is_some();
        if is_ours && !allowed.contains(uses) {
            defects.push(format!("`{name}` may not use `{uses}`"));
        }
        if !is_ours && dependency.kind.is_none() && PLAIN_CRATES.contains(&name.as_str()) {
            defects.push(format!("`{name}` has no dependencies, not even `{uses}`"));
        }
    }
    defects
}

/// True when `from` can reach `to` by one or more edges of the table.
fn reaches(table: &Table, from: &str, to: &str) -> bool {
    let mut todo: Vec<&str> = vec![from];
    let mut seen: Vec<&str> = Vec::new();
    while let Some(name) = todo.pop() {
        for next in table.get(name).into_iter().flatten() {
            if next == to {
                return true;
            }
            if !seen.contains(&next.as_str()) {
                seen.push(next);
                todo.push(next);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE_TEXT: &str =
        "text\n\n| crate | may use |\n|---|---|\n| pelton-core | |\n| sim | pelton-core |\n\nmore | text |\n";

    fn package(name: &str, uses: &[(&str, bool)]) -> Package {
        let dependency = |(name, ours): &(&str, bool)| Dependency {
            name: (*name).to_owned(),
            kind: None,
            path: ours.then(|| "crates/x".to_owned()),
        };
        Package { name: name.to_owned(), dependencies: uses.iter().map(dependency).collect() }
    }

    fn defects(page: &str, packages: &[Package]) -> Vec<String> {
        compare(&table(page), packages).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn edges_of_the_table_pass() {
        let packages = [package("pelton-core", &[]), package("sim", &[("pelton-core", true), ("rand_pcg", false)])];
        assert!(defects(PAGE_TEXT, &packages).is_empty());
    }

    #[test]
    fn an_edge_outside_the_table_fails() {
        let packages = [package("pelton-core", &[("sim", true)]), package("sim", &[])];
        assert_eq!(defects(PAGE_TEXT, &packages), ["`pelton-core` may not use `sim`"]);
    }

    #[test]
    fn the_core_uses_nothing_from_a_registry() {
        let packages = [package("pelton-core", &[("libc", false)]), package("sim", &[])];
        assert_eq!(defects(PAGE_TEXT, &packages).len(), 1);
    }

    #[test]
    fn rows_and_crates_must_agree() {
        let packages = [package("pelton-core", &[]), package("lab", &[])];
        assert_eq!(defects(PAGE_TEXT, &packages), ["`lab` has no row in the table", "`sim` is not in the workspace"]);
    }

    #[test]
    fn a_cycle_fails() {
        let page = PAGE_TEXT.replace("| pelton-core | |", "| pelton-core | sim |");
        let packages = [package("pelton-core", &[]), package("sim", &[])];
        assert_eq!(defects(&page, &packages).len(), 2);
    }
}
