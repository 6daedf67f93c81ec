// SPDX-License-Identifier: GPL-2.0-or-later
//! Papers that go with a package: a bill of materials, and the licences of others.

mod bill;
mod notices;
mod parts;

/// Prints the bill of a crate: `sbom CRATE [--at TIME] [--linked NAME@VERSION]...`.
pub fn sbom(words: &[&str]) -> Result<(), String> {
    let [name, rest @ ..] = words else { return Err("sbom: of which crate?".to_owned()) };
    let mut extra = bill::Extra::default();
    for pair in rest.chunks(2) {
        match *pair {
            ["--at", time] => extra.at = Some(time.to_owned()),
            ["--linked", library] => extra.linked.push(library.to_owned()),
            _ => return Err(format!("sbom: {pair:?}: --at TIME or --linked NAME@VERSION")),
        }
    }
    let text = serde_json::to_string_pretty(&bill::of(&parts::load(name)?, &extra)?);
    println!("{}", text.map_err(|error| error.to_string())?);
    Ok(())
}

/// Prints the licences of what a crate is built from: `notices CRATE`.
pub fn notices(name: &str) -> Result<(), String> {
    print!("{}", notices::of(&parts::load(name)?));
    Ok(())
}

#[cfg(test)]
mod tests {
    /// A citation has the number that the program prints.
    #[test]
    fn the_citation_has_the_version_of_the_workspace() {
        let text = std::fs::read_to_string(crate::repo::root().join("CITATION.cff")).expect("part of the source");
        assert!(text.lines().any(|line| line == concat!("version: ", env!("CARGO_PKG_VERSION"))), "{text}");
    }
}
