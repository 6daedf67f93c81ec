// SPDX-License-Identifier: GPL-2.0-or-later
//! Crates that end up in a program, as cargo resolves them for this machine, and their checksums in the lock file.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde::Deserialize;

use crate::repo;

/// Program and all that is built into it.
pub struct Parts {
    /// Crate of the program.
    pub root: Package,
    /// All others, by name and version.
    pub others: Vec<Package>,
    /// Parts of a part, by cargo's id.
    pub below: BTreeMap<String, BTreeSet<String>>,
    /// SHA-256 of the archives that crates came from, by name and version.
    pub sums: BTreeMap<(String, String), String>,
    /// Library of drawings in report pages, where it is installed.
    pub drawing: Option<Npm>,
    /// Release of the compiler, whose library is in every program.
    pub rust: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    pub id: String,
    pub name: String,
    pub version: String,
    pub license: Option<String>,
    /// `None` for crates of this workspace.
    pub source: Option<String>,
    pub manifest_path: PathBuf,
}

/// A package of npm.
#[derive(Clone, Debug, Deserialize)]
pub struct Npm {
    pub name: String,
    pub version: String,
    pub license: String,
}

#[derive(Debug, Deserialize)]
pub struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Debug, Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// Folder of the library that report pages draw with, below the root.
pub const DRAWING: &str = "web/node_modules/uplot";

/// Parts of a crate of this workspace.
pub fn load(name: &str) -> Result<Parts, String> {
    let compiler = repo::run(Command::new("rustc").arg("-vV"))?;
    let field = |key: &str| compiler.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().to_owned();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.current_dir(repo::root()).args(["metadata", "--format-version", "1", "--locked", "--filter-platform"]);
    let metadata =
        serde_json::from_str(&repo::run(command.arg(field("host: ")))?).map_err(|error| error.to_string())?;
    let lock = std::fs::read_to_string(repo::root().join("Cargo.lock")).map_err(|error| error.to_string())?;
    let drawing = std::fs::read_to_string(repo::root().join(DRAWING).join("package.json")).ok();
    Ok(Parts {
        drawing: drawing.and_then(|text| serde_json::from_str(&text).ok()),
        rust: field("release: "),
        ..resolved(metadata, &lock, name)?
    })
}

/// Parts that can be reached from the crate without what only builds or tests are made with.
pub fn resolved(metadata: Metadata, lock: &str, name: &str) -> Result<Parts, String> {
    let lock: Lock = toml::from_str(lock).map_err(|error| format!("Cargo.lock: {error}"))?;
    let is_root = |package: &&Package| package.name == name && package.source.is_none();
    let root = metadata.packages.iter().find(is_root).ok_or_else(|| format!("no crate `{name}`"))?.clone();
    let is_built_in = |dependency: &&Dependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
    let ids = |node: &Node| node.deps.iter().filter(is_built_in).map(|dependency| dependency.pkg.clone()).collect();
    let all: BTreeMap<String, BTreeSet<String>> =
        metadata.resolve.nodes.iter().map(|node| (node.id.clone(), ids(node))).collect();
    let mut below = BTreeMap::new();
    let mut next = vec![root.id.clone()];
    while let Some(id) = next.pop() {
        if let Entry::Vacant(vacant) = below.entry(id) {
            let parts = all.get(vacant.key()).cloned().unwrap_or_default();
            next.extend(vacant.insert(parts).iter().cloned());
        }
    }
    let is_other = |package: &Package| package.id != root.id && below.contains_key(&package.id);
    let mut others: Vec<Package> = metadata.packages.into_iter().filter(is_other).collect();
    others.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    let sum = |locked: Locked| Some(((locked.name, locked.version), locked.checksum?));
    let sums = lock.package.into_iter().filter_map(sum).collect();
    Ok(Parts { root, others, below, sums, drawing: None, rust: String::new() })
}

impl Package {
    /// Licence as an expression of SPDX; older crates part alternatives by a slash.
    pub fn licence(&self) -> String {
        self.license.as_deref().unwrap_or_default().replace('/', " OR ").replace("  ", " ")
    }
}

/// A program of one library, a macro's helper of the build, and a test's.
#[cfg(test)]
pub fn example() -> Parts {
    let package = |name: &str, source: &str| {
        format!(
            r#"{{"id": "{name}", "name": "{name}", "version": "1.0.0+v2.1", "license": "MIT/ISC",
                "source": {source}, "manifest_path": "/nowhere/{name}/Cargo.toml"}}"#
        )
    };
    let packages = [package("program", "null"), package("lib-sys", r#""registry""#), package("made", r#""registry""#)];
    let nodes = r#"[{"id": "program", "deps": [
            {"pkg": "lib-sys", "dep_kinds": [{"kind": null}, {"kind": "dev"}]},
            {"pkg": "made", "dep_kinds": [{"kind": "build"}, {"kind": "dev"}]}]},
        {"id": "lib-sys", "deps": []}, {"id": "made", "deps": []}]"#;
    let text = format!(r#"{{"packages": [{}], "resolve": {{"nodes": {nodes}}}}}"#, packages.join(","));
    let lock = "[[package]]\nname = \"lib-sys\"\nversion = \"1.0.0+v2.1\"\nchecksum = \"abc\"\n";
    resolved(serde_json::from_str(&text).expect("well-formed"), lock, "program").expect("it is there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_builds_or_tests_are_made_with_is_no_part() {
        let parts = example();
        assert_eq!(parts.others.iter().map(|package| package.name.as_str()).collect::<Vec<_>>(), ["lib-sys"]);
        assert_eq!(parts.others[0].licence(), "MIT OR ISC");
        assert_eq!(parts.below["program"].len(), 1);
    }

    #[test]
    fn an_unknown_crate_is_named() {
        assert_eq!(load("pelton-nothing").err().as_deref(), Some("no crate `pelton-nothing`"));
    }
}
