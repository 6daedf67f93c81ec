// SPDX-License-Identifier: GPL-2.0-or-later
//! The page of proofs: releases, counts, and one letter per cell. What each proof says stays in its file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Facts, How};

/// The whole page.
pub fn render(facts: &Facts) -> String {
    format!(
        "# Where the value of each switch comes from\n\nEvery switch of [policy.h](../../core/include/pelton/policy.h) has one \
         value per profile ([which](../reference/switches.md)). A letter says what shows that the kernel of that name does so. \
         What was read, and the test, stands in [docs/rules/proofs](../rules/proofs/) under the switch's name.\n\n{}\n{}\n{}",
        releases(facts),
        legend(facts),
        matrix(facts)
    )
}

/// Table of the release that each profile is held against.
fn releases(facts: &Facts) -> String {
    let mut out = "## Profiles and releases\n\nWhat a profile is held against. Packages of a distribution carry back-ports, so \
                   a profile is what its package does.\n\n| profile | text read | package compiled by `make test-oracle` | recorded by `pelton record` |\n\
                   |---|---|---|---|\n"
        .to_owned();
    for release in &facts.releases.all {
        let compiled = if release.compiled.is_empty() { "-" } else { &release.compiled };
        let recorded = if release.recorded.is_empty() { "-".to_owned() } else { release.recorded.join(", ") };
        let _ = writeln!(out, "| {} | {} | {compiled} | {recorded} |", release.profile, release.read);
    }
    out
}

/// Meaning of the letters, and the number of cells with each.
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
        How::Source => "source: the release was read; a test holds an answer that was worked out by hand from its text",
        How::Proposal => "proposal: no kernel does it, the value is off; the posting is named",
    }
}

/// One letter per kind of proof in each cell; a row for all switches with the same ones.
fn matrix(facts: &Facts) -> String {
    let mut out = format!(
        "## Cells\n\n| {} | switches |\n|{}\n",
        facts.profiles.join(" | "),
        "---|".repeat(facts.profiles.len() + 1)
    );
    for (cells, switches) in rows(facts) {
        let _ = writeln!(out, "| {} | {} |", cells.join(" | "), switches.join(", "));
    }
    out
}

/// Rows of cells with the switches that have them, in the order of the first one's declaration.
fn rows(facts: &Facts) -> Vec<(Vec<String>, Vec<String>)> {
    let mut rows: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for switch in &facts.switches {
        let cells: Vec<String> = facts.profiles.iter().map(|profile| cell(facts, switch.name, profile)).collect();
        let name = format!("`{}`", switch.name);
        match rows.iter_mut().find(|(other, _)| *other == cells) {
            Some((_, switches)) => switches.push(name),
            None => rows.push((cells, vec![name])),
        }
    }
    rows
}

fn cell(facts: &Facts, switch: &str, profile: &str) -> String {
    let letters: String = facts.ways(switch, profile).into_iter().map(How::letter).collect();
    if letters.is_empty() { "-".to_owned() } else { letters }
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
        assert!(page.contains("| - | S | `a` |\n| - | - | `b` |\n"), "{page}");
        assert!(page.contains("| `-` | nothing yet | 3 | 3 |"), "{page}");
    }

    #[test]
    fn switches_with_the_same_cells_share_a_row() {
        let page = render(&example(&format!("{ONE}{}", ONE.replace("'a'", "'b'"))));
        assert!(page.contains("| - | S | `a`, `b` |\n"), "{page}");
    }

    #[test]
    fn a_cell_with_two_kinds_of_proof_rests_on_neither_alone() {
        let two = format!("{ONE}{}", ONE.replace("'source'", "'oracle'"));
        let page = render(&example(&two));
        assert!(page.contains("| - | OS | `a` |"), "{page}");
        assert!(page.contains("in `make test-oracle` | 1 | 0 |"), "{page}");
    }
}
