// SPDX-License-Identifier: GPL-2.0-or-later
//! Requirements of a set of proofs: a proof for every cell, each about the release it speaks of.

use super::names::{is_operation, is_test};
use super::{FOLDER, Facts, How, Proof};
use crate::repo::File;

/// A word that means that the source was not read.
const UNREAD: &str = "recollection";
/// Files in which nothing may rest on memory.
const READ_FILES: &[&str] = &["core/include/pelton/policy.h", "docs/rules/"];

/// Every defect.
pub fn findings(facts: &Facts, files: &[File]) -> Vec<String> {
    let proofs = facts.proofs.iter().flat_map(|proof| defects(facts, files, proof));
    releases(facts).into_iter().chain(proofs).chain(missing(facts)).chain(unread(files)).collect()
}

/// Profiles of which nothing was read.
fn releases(facts: &Facts) -> Vec<String> {
    let unknown = facts.profiles.iter().filter(|profile| facts.releases.of(profile).is_none());
    unknown.map(|profile| format!("{FOLDER}releases.toml: no release for profile {profile}")).collect()
}

/// Defects of one proof.
fn defects(facts: &Facts, files: &[File], proof: &Proof) -> Vec<String> {
    let mut found = Vec::new();
    let known = facts.switches.iter().any(|switch| switch.name == proof.switch);
    if !known {
        found.push("there is no such switch".to_owned());
    }
    for profile in proof.profiles.iter().filter(|name| !facts.profiles.contains(&name.as_str())) {
        found.push(format!("there is no profile {profile}"));
    }
    if proof.profiles.is_empty() || proof.read.is_empty() || proof.says.trim().is_empty() {
        found.push("profiles, read and says must not be empty".to_owned());
    }
    match proof.how {
        How::Proposal => found.extend(not_off(facts, proof)),
        _ => found.extend(foreign(facts, proof)),
    }
    found.extend(unknown_test(files, proof));
    let (file, switch, how) = (&proof.file, &proof.switch, proof.how.word());
    found.into_iter().map(|text| format!("{file}: {switch} ({how}): {text}")).collect()
}

/// A proposal is in no kernel.
fn not_off(facts: &Facts, proof: &Proof) -> Vec<String> {
    let Some(switch) = facts.switches.iter().find(|switch| switch.name == proof.switch) else { return Vec::new() };
    let on = |(profile, value): &(&&str, &u32)| **value != 0 && proof.profiles.iter().any(|name| name == **profile);
    let values = facts.profiles.iter().zip(&switch.defaults);
    values.filter(on).map(|(profile, _)| format!("a proposal, but profile {profile} has it")).collect()
}

/// Releases that say nothing about a profile the proof speaks of.
fn foreign(facts: &Facts, proof: &Proof) -> Vec<String> {
    let versions: Vec<&str> = proof.read.iter().map(|place| version(place)).collect();
    let own =
        |profile: &str| facts.releases.of(profile).is_some_and(|r| versions.iter().any(|v| r.serves(proof.how, v)));
    let without = proof.profiles.iter().filter(|profile| !own(profile));
    let without = without.map(|profile| format!("no {} of profile {profile} is named in `read`", proof.how.word()));
    let known = |version: &&&str| facts.releases.knows(version) || facts.releases.is_between(version);
    let unknown = versions.iter().filter(|version| !known(version));
    let bare = proof.read.iter().filter(|place| !place.contains(' '));
    without
        .chain(unknown.map(|version| format!("`{version}` is no release of releases.toml")))
        .chain(bare.map(|place| format!("`{place}` names no function")))
        .collect()
}

/// First word of `5.4 kernel/sched/fair.c util_est_dequeue`; the first release of a number may be written `5.4.0`.
pub fn version(place: &str) -> &str {
    let word = place.split_whitespace().next().unwrap_or("");
    let number = word.strip_suffix(".0").filter(|number| number.contains('.'));
    number.unwrap_or(word)
}

/// A test or operation that does not exist.
fn unknown_test(files: &[File], proof: &Proof) -> Option<String> {
    let name = proof.test.as_str();
    let (exists, what) = match proof.how {
        How::Oracle => (is_operation(files, name), "operation of the oracle"),
        How::Source => (is_test(files, name), "test"),
        How::Proposal => (name.is_empty() || is_test(files, name), "test"),
    };
    (!exists).then(|| format!("`{name}` is no {what}"))
}

/// Cells that nothing proves.
fn missing(facts: &Facts) -> Vec<String> {
    let bare = |switch: &str| -> Vec<&str> {
        facts.profiles.iter().copied().filter(|profile| facts.ways(switch, profile).is_empty()).collect()
    };
    let rows = facts.switches.iter().map(|switch| (switch.name, bare(switch.name)));
    let rows = rows.filter(|(_, profiles)| !profiles.is_empty());
    rows.map(|(name, profiles)| format!("{FOLDER}: {name}: no proof for {}", profiles.join(", "))).collect()
}

/// Places that admit that the source was not read.
fn unread(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.is_under(READ_FILES)) {
        let lines = file.text.lines().enumerate().filter(|(_, line)| line.to_ascii_lowercase().contains(UNREAD));
        found
            .extend(lines.map(|(at, _)| format!("{}:{}: {UNREAD}: read the release and say which", file.path, at + 1)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proofs::example;

    const WHOLE: &str = "[[proof]]\nswitch = 'a'\nprofiles = ['5.4', '6.12']\nhow = 'source'\n\
        read = ['5.4 kernel/x.c f', '6.12.117 kernel/x.c f', '6.8 kernel/x.c f']\ntest = 'known_answers::fair::here'\nsays = 'Does.'\n\
        [[proof]]\nswitch = 'b'\nprofiles = ['5.4', '6.12']\nhow = 'proposal'\nread = ['linux-pm, 2017']\nsays = 'No release does.'\n";

    fn found(text: &str) -> Vec<String> {
        let files = [File::example("crates/core/tests/known_answers/fair.rs", "#[test]\nfn here() {}\n")];
        findings(&example(text), &files)
    }

    #[test]
    fn a_whole_set_has_no_findings() {
        assert_eq!(found(WHOLE), Vec::<String>::new());
    }

    #[test]
    fn each_defect_is_a_finding() {
        let cases = [
            ("switch = 'a'", "switch = 'c'", "there is no such switch"),
            ("'a'\nprofiles = ['5.4', '6.12']", "'a'\nprofiles = ['5.4']", "no proof for 6.12"),
            ("'a'\nprofiles = ['5.4', '6.12']", "'a'\nprofiles = ['5.4', '6.12', '9.9']", "there is no profile 9.9"),
            ("'6.12.117 kernel", "'6.12.1 kernel", "`6.12.1` is no release"),
            ("'6.12.117 kernel/x.c f', ", "", "no source of profile 6.12 is named"),
            ("'5.4 kernel/x.c f'", "'5.4'", "`5.4` names no function"),
            ("fair::here", "fair::gone", "`known_answers::fair::gone` is no test"),
            ("how = 'source'", "how = 'oracle'", "is no operation of the oracle"),
            ("switch = 'b'", "switch = 'a'", "a proposal, but profile 6.12 has it"),
            ("says = 'Does.'", "says = ''", "must not be empty"),
        ];
        for (old, new, text) in cases {
            assert!(WHOLE.contains(old), "{old}");
            let found = found(&WHOLE.replacen(old, new, 1));
            assert!(found.iter().any(|line| line.contains(text)), "{new}: {found:?}");
        }
    }

    #[test]
    fn the_first_release_of_a_number_may_be_written_whole() {
        assert_eq!(["5.4.0 f", "5.10 f", "6.0 f", "6.12.117 f"].map(version), ["5.4", "5.10", "6.0", "6.12.117"]);
    }

    #[test]
    fn memory_is_a_finding_where_everything_was_read() {
        let file = |path| File::example(path, "as released (Recollection)\n");
        assert_eq!(unread(&[file("core/include/pelton/policy.h"), file("docs/rules/load-tracking.md")]).len(), 2);
        assert!(unread(&[file("docs/gaps.md")]).is_empty());
    }
}
