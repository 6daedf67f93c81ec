// SPDX-License-Identifier: GPL-2.0-or-later
//! The page of proofs: releases, counts, one letter per cell, and what each proof says.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::check::version;
use super::{Facts, How, Proof};
use pelton_core::Switch;

/// The whole page.
pub fn render(facts: &Facts) -> String {
    let sections: String = facts.switches.iter().map(|switch| section(facts, switch)).collect();
    format!(
        "# Where the value of each switch comes from\n\nEvery switch of [policy.h](../../core/include/pelton/policy.h) has one \
         value per profile. This page says, for each value, what shows that the kernel of that name does so. It is generated \
         from [docs/rules/proofs](../rules/proofs/) and checked: each named test, operation and load exists, and each \
         release belongs to the profile it speaks for.\n\n{}\n{}\n{}\n{sections}",
        releases(facts),
        legend(facts),
        matrix(facts)
    )
}

/// What each profile is held against.
fn releases(facts: &Facts) -> String {
    let mut out = "## Profiles and releases\n\nA profile names a set of rules; what it is held against is a release. Packages of a \
                   distribution carry back-ports, so a profile is what its package does, and not what the first release of \
                   that number did.\n\n| profile | text read | package compiled by `make test-oracle` | recorded by `pelton record` |\n\
                   |---|---|---|---|\n"
        .to_owned();
    for release in &facts.releases.all {
        let compiled = if release.compiled.is_empty() { "-" } else { &release.compiled };
        let recorded = if release.recorded.is_empty() { "-".to_owned() } else { release.recorded.join(", ") };
        let _ = writeln!(out, "| {} | {} | {compiled} | {recorded} |", release.profile, release.read);
    }
    out
}

/// What the letters mean, and how many cells have which.
fn legend(facts: &Facts) -> String {
    let mut cells: BTreeMap<Vec<How>, usize> = BTreeMap::new();
    for switch in &facts.switches {
        for profile in &facts.profiles {
            *cells.entry(facts.ways(switch.name, profile)).or_default() += 1;
        }
    }
    let total = facts.switches.len() * facts.profiles.len();
    let mut out = format!(
        "## How\n\n{total} cells, {} switches by {} profiles. A cell with one letter rests on that kind of proof \
         alone.\n\n| letter | proof | cells | of these, nothing else |\n|---|---|---|---|\n",
        facts.switches.len(),
        facts.profiles.len()
    );
    for how in How::ALL {
        let with: usize = cells.iter().filter(|(ways, _)| ways.contains(&how)).map(|(_, count)| count).sum();
        let alone = cells.get(&vec![how]).copied().unwrap_or(0);
        let _ = writeln!(out, "| `{}` | {} | {with} | {alone} |", how.letter(), meaning(how));
    }
    if let Some(none) = cells.get(&Vec::new()) {
        let _ = writeln!(out, "| `-` | nothing yet | {none} | {none} |");
    }
    out
}

fn meaning(how: How) -> &'static str {
    match how {
        How::Oracle => {
            "oracle: the kernel's function, compiled, and the core give the same integers in `make test-oracle`"
        }
        How::Recording => "recording: the integers that kernel recorded are reproduced, `make test-live`",
        How::Source => "source: the release was read; a test holds an answer that was worked out by hand from its text",
        How::Proposal => "proposal: no kernel does it, the value is off; the posting is named",
    }
}

/// One letter per kind of proof in each cell.
fn matrix(facts: &Facts) -> String {
    let mut out = format!(
        "## Cells\n\n| switch | {} |\n|---|{}\n",
        facts.profiles.join(" | "),
        "---|".repeat(facts.profiles.len())
    );
    for switch in &facts.switches {
        let cells: Vec<String> = facts.profiles.iter().map(|profile| cell(facts, switch.name, profile)).collect();
        let _ = writeln!(out, "| [`{0}`](#{0}) | {1} |", switch.name, cells.join(" | "));
    }
    out
}

fn cell(facts: &Facts, switch: &str, profile: &str) -> String {
    let letters: String = facts.ways(switch, profile).into_iter().map(How::letter).collect();
    if letters.is_empty() { "-".to_owned() } else { letters }
}

/// What is said about one switch.
fn section(facts: &Facts, switch: &Switch) -> String {
    let mut out = format!("\n## {}\n\nValues: {}.\n\n", switch.name, values(facts, switch));
    let mut proofs: Vec<&Proof> = facts.of(switch.name).collect();
    let first = |proof: &Proof| facts.profiles.iter().position(|name| proof.profiles.iter().any(|p| p == name));
    proofs.sort_by_key(|proof| (first(proof), proof.how));
    for proof in &proofs {
        out.push_str(&item(facts, proof));
    }
    let bare: Vec<&str> =
        facts.profiles.iter().copied().filter(|profile| facts.ways(switch.name, profile).is_empty()).collect();
    if !bare.is_empty() {
        let _ = writeln!(out, "- {}: nothing yet.", bare.join(", "));
    }
    out
}

/// `off` 4.12 to 4.16, `u1` 4.19: runs of profiles with one value.
fn values(facts: &Facts, switch: &Switch) -> String {
    let mut runs: Vec<(u32, &str, &str)> = Vec::new();
    for (profile, value) in facts.profiles.iter().zip(&switch.defaults) {
        match runs.last_mut() {
            Some((last, _, end)) if last == value => *end = profile,
            _ => runs.push((*value, profile, profile)),
        }
    }
    let name = |value: u32| switch.values.get(value as usize).copied().unwrap_or("?");
    let words = runs.iter().map(|(value, first, end)| {
        let range = if first == end { (*first).to_owned() } else { format!("{first} to {end}") };
        format!("`{}` {range}", name(*value))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn item(facts: &Facts, proof: &Proof) -> String {
    let mut out = format!("- {}, {}: {}", proof.profiles.join(", "), proof.how.word(), proof.says.trim());
    if !out.ends_with('.') {
        out.push('.');
    }
    let read: Vec<String> = proof.read.iter().map(|place| place_text(facts, proof, place)).collect();
    let _ = write!(out, " {}: {}.", if proof.how == How::Proposal { "Posting" } else { "Read" }, read.join(", "));
    if !proof.test.is_empty() {
        let what = match proof.how {
            How::Oracle => "Operation",
            How::Recording => "Load or test",
            How::Source | How::Proposal => "Test",
        };
        let _ = write!(out, " {what}: `{}`.", proof.test);
    }
    out + "\n"
}

/// A place with its version written out.
fn place_text(facts: &Facts, proof: &Proof, place: &str) -> String {
    if proof.how == How::Proposal {
        return place.to_owned();
    }
    let names = place.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    format!("{} {names}", facts.releases.full(version(place)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proofs::example;

    const ONE: &str = "[[proof]]\nswitch = 'a'\nprofiles = ['6.12']\nhow = 'source'\nread = ['6.12 kernel/x.c f']\n\
                       test = 'known_answers::fair::here'\nsays = 'It does'\n";

    #[test]
    fn a_cell_says_how_it_is_proved_and_an_open_one_that_it_is_not() {
        let page = render(&example(ONE));
        assert!(page.contains("| [`a`](#a) | - | S |"), "{page}");
        assert!(page.contains("| `-` | nothing yet | 3 | 3 |"), "{page}");
        assert!(page.contains("Values: `off` 5.4, `on` 6.12."), "{page}");
    }

    #[test]
    fn versions_are_written_whole() {
        let page = render(&example(ONE));
        assert!(page.contains("It does. Read: 6.12.117 kernel/x.c f. Test: `known_answers::fair::here`.\n"), "{page}");
    }

    #[test]
    fn a_cell_with_two_kinds_of_proof_rests_on_neither_alone() {
        let two = format!("{ONE}{}", ONE.replace("'source'", "'oracle'"));
        let page = render(&example(&two));
        assert!(page.contains("| [`a`](#a) | - | OS |"), "{page}");
        assert!(page.contains("in `make test-oracle` | 1 | 0 |"), "{page}");
    }
}
