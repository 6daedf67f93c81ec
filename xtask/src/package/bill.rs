// SPDX-License-Identifier: GPL-2.0-or-later
//! Bill of materials as CycloneDX 1.6 has it, in JSON.
//!
//! Written here because tools for it stop at 1.5, leave out the checksums of the lock file, and do not know what is in
//! a program beside crates: the libraries of C that crates bring along or that are linked in, and that of pages.

use serde_json::{Value, json};

use super::parts::{Package, Parts};

/// Facts that cargo does not know.
#[derive(Debug, Default)]
pub struct Extra {
    /// Time of the commit, as ISO 8601 has it.
    pub at: Option<String>,
    /// Packages of Debian that were linked in, `NAME@VERSION`.
    pub linked: Vec<String>,
}

/// Licences of Debian's packages that a static program is linked with.
const LINKED: &[(&str, &str)] = &[
    ("libc6-dev", "LGPL-2.1-or-later"),
    ("libelf-dev", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    ("zlib1g-dev", "Zlib"),
];

/// The whole, with libraries under Apache-2.0 alone in it (docs/decisions/0001-licence.md).
const BINARY_LICENCE: &str = "GPL-3.0-or-later";

/// The bill.
pub fn of(parts: &Parts, extra: &Extra) -> Result<Value, String> {
    let mut program = component(parts, &parts.root);
    program["type"] = json!("application");
    program["licenses"] = json!([{ "expression": BINARY_LICENCE }]);
    let mut components: Vec<Value> = parts.others.iter().map(|package| component(parts, package)).collect();
    if !parts.rust.is_empty() {
        components.push(library("generic", "rust-std", &parts.rust, "MIT OR Apache-2.0"));
    }
    if let Some(npm) = &parts.drawing {
        components.push(library("npm", &npm.name, &npm.version, &npm.license));
    }
    for linked in &extra.linked {
        let (name, version) = linked.split_once('@').ok_or_else(|| format!("sbom: {linked}: NAME@VERSION"))?;
        let licence = LINKED.iter().find(|(known, _)| *known == name).map(|(_, licence)| *licence);
        let licence = licence.ok_or_else(|| format!("sbom: the licence of {name} is not known here"))?;
        components.push(library("deb/debian", name, version, licence));
    }
    let mut about = json!({
        "tools": { "components": [{ "type": "application", "name": "xtask", "version": env!("CARGO_PKG_VERSION") }] },
        "component": program,
    });
    if let Some(time) = &extra.at {
        about["timestamp"] = json!(time);
    }
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": about,
        "components": components,
        "dependencies": dependencies(parts),
    }))
}

/// Address of a package: the version's `+` would be read as a blank.
fn purl(kind: &str, name: &str, version: &str) -> String {
    format!("pkg:{kind}/{name}@{}", version.replace('+', "%2B"))
}

fn library(kind: &str, name: &str, version: &str, licence: &str) -> Value {
    let purl = purl(kind, name, version);
    let licences = json!([{ "expression": licence }]);
    json!({ "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "licenses": licences })
}

fn component(parts: &Parts, package: &Package) -> Value {
    let mut value = library("cargo", &package.name, &package.version, &package.licence());
    if let Some(sum) = parts.sums.get(&(package.name.clone(), package.version.clone())) {
        value["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    if let Some(library) = brought(package) {
        value["components"] = json!([library]);
    }
    value
}

/// Library of C whose source a crate brings along: `zstd-sys 2.1.2+zstd.1.5.7` has zstd 1.5.7.
fn brought(package: &Package) -> Option<Value> {
    let (_, version) = package.version.split_once('+')?;
    let name = package.name.strip_suffix("-sys")?;
    let version = version.trim_start_matches(|c: char| !c.is_ascii_digit());
    let purl = purl("generic", name, version);
    Some(json!({ "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl }))
}

fn dependencies(parts: &Parts) -> Vec<Value> {
    let all: Vec<&Package> = parts.others.iter().chain([&parts.root]).collect();
    let reference = |package: &Package| purl("cargo", &package.name, &package.version);
    let below = |package: &Package| {
        let ids = parts.below.get(&package.id);
        let is_below = |other: &&&Package| ids.is_some_and(|ids| ids.contains(&other.id));
        all.iter().filter(is_below).map(|other| reference(other)).collect::<Vec<_>>()
    };
    all.iter().map(|package| json!({ "ref": reference(package), "dependsOn": below(package) })).collect()
}

#[cfg(test)]
mod tests {
    use super::super::parts;
    use super::*;
    use std::collections::BTreeSet;

    fn text<'a>(value: &'a Value, key: &str) -> &'a str {
        value[key].as_str().unwrap_or_else(|| panic!("{key} of {value}"))
    }

    #[test]
    fn a_part_has_its_address_its_licence_its_checksum_and_what_it_brings_along() {
        let extra = Extra { at: Some("2026-01-02T03:04:05Z".to_owned()), linked: vec!["zlib1g-dev@1:1.2".to_owned()] };
        let bill = of(&parts::example(), &extra).expect("whole");
        assert_eq!(text(&bill["metadata"], "timestamp"), "2026-01-02T03:04:05Z");
        let [part, linked] = bill["components"].as_array().expect("a list").as_slice() else { panic!("{bill}") };
        assert_eq!(text(part, "purl"), "pkg:cargo/lib-sys@1.0.0%2Bv2.1");
        assert_eq!(text(&part["licenses"][0], "expression"), "MIT OR ISC");
        assert_eq!(text(&part["hashes"][0], "content"), "abc");
        assert_eq!(text(&part["components"][0], "purl"), "pkg:generic/lib@2.1");
        assert_eq!(text(linked, "purl"), "pkg:deb/debian/zlib1g-dev@1:1.2");
        let unknown = Extra { at: None, linked: vec!["libx@1".to_owned()] };
        assert!(of(&parts::example(), &unknown).expect_err("no licence").contains("libx"));
    }

    /// Fields that the schema of CycloneDX asks for, and what its readers rely on.
    #[test]
    fn the_program_s_bill_is_whole() {
        let parts = parts::load("pelton-cli").expect("cargo resolves it");
        let bill = of(&parts, &Extra::default()).expect("whole");
        assert_eq!([text(&bill, "bomFormat"), text(&bill, "specVersion")], ["CycloneDX", "1.6"]);
        assert_eq!(text(&bill["metadata"]["component"], "version"), env!("CARGO_PKG_VERSION"));
        let components = bill["components"].as_array().expect("a list");
        let mut known = BTreeSet::from([text(&bill["metadata"]["component"], "bom-ref")]);
        for component in components {
            assert_eq!(text(component, "type"), "library");
            assert!(!text(component, "name").is_empty() && !text(component, "version").is_empty());
            assert!(!text(&component["licenses"][0], "expression").is_empty(), "{component}");
            assert!(known.insert(text(component, "bom-ref")), "twice: {component}");
            let is_ours = text(component, "name").starts_with("pelton-") || !text(component, "purl").contains("cargo");
            assert!(is_ours || text(&component["hashes"][0], "content").len() == 64, "{component}");
        }
        let names: Vec<&str> = components.iter().map(|component| text(component, "name")).collect();
        assert!(
            names.contains(&"clap") && names.contains(&"pelton-core") && !names.contains(&"jsonschema"),
            "{names:?}"
        );
        for dependency in bill["dependencies"].as_array().expect("a list") {
            assert!(known.contains(text(dependency, "ref")), "{dependency}");
            let below = dependency["dependsOn"].as_array().expect("a list");
            assert!(below.iter().all(|below| known.contains(below.as_str().expect("text"))), "{dependency}");
        }
    }
}
