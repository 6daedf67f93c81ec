// SPDX-License-Identifier: GPL-2.0-or-later
//! Sources of the value of each policy switch in each profile: read from `docs/rules/proofs/`, checked, rendered.

mod check;
mod names;
mod page;
pub mod places;
mod releases;

use serde::Deserialize;

use crate::repo::File;
use pelton_core::{Switch, profiles, switches};
use releases::Releases;

/// Folder of the proofs: one file per area, and the releases.
const FOLDER: &str = "docs/rules/proofs/";
/// Table of the release that was read, compiled or recorded for each profile.
const RELEASES: &str = "docs/rules/proofs/releases.toml";
/// The generated page.
pub const PAGE: &str = "docs/fidelity/sources.md";

/// Kind of proof of a switch's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum How {
    /// The kernel's own compiled function and the core agree in `make test-oracle`.
    Oracle,
    /// The release's text was read, and a test computes an example of it by hand.
    Source,
    /// No kernel has the rule: it is off, and the posting is named.
    Proposal,
}

impl How {
    const ALL: [How; 3] = [How::Oracle, How::Source, How::Proposal];

    /// One letter for a cell of the table.
    fn letter(self) -> char {
        match self {
            How::Oracle => 'O',
            How::Source => 'S',
            How::Proposal => 'P',
        }
    }

    fn word(self) -> &'static str {
        match self {
            How::Oracle => "oracle",
            How::Source => "source",
            How::Proposal => "proposal",
        }
    }
}

/// Proof of the value of a switch in some profiles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Proof {
    switch: String,
    profiles: Vec<String>,
    how: How,
    /// `RELEASE file function`, one per place that was read; of a proposal, the posting.
    read: Vec<String>,
    /// Test, or operation of the oracle.
    #[serde(default)]
    test: String,
    /// Behaviour of the release.
    says: String,
    /// File the proof is written in.
    #[serde(skip)]
    file: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    proof: Vec<Proof>,
}

/// Everything a proof is checked against.
struct Facts {
    switches: Vec<Switch>,
    profiles: Vec<&'static str>,
    releases: Releases,
    proofs: Vec<Proof>,
}

/// The page, and what is wrong with the proofs.
pub struct Sources {
    /// The page; cells without proof are marked in it.
    pub text: String,
    /// Every defect, one line each.
    pub findings: Vec<String>,
}

/// Reads and checks the proofs of the tree.
///
/// # Errors
/// When a file is not what a file of proofs looks like.
pub fn sources(files: &[File]) -> Result<Sources, String> {
    let facts = facts(files)?;
    Ok(Sources { text: page::render(&facts), findings: check::findings(&facts, files) })
}

fn facts(files: &[File]) -> Result<Facts, String> {
    let mut proofs = Vec::new();
    for file in files.iter().filter(|file| is_list(&file.path)) {
        proofs.extend(parse(file)?);
    }
    let releases = files.iter().find(|file| file.path == RELEASES);
    let releases = releases.map_or(Ok(Releases::default()), |file| Releases::parse(&file.text))?;
    Ok(Facts { switches: switches(), profiles: profiles(), releases, proofs })
}

fn is_list(path: &str) -> bool {
    path.starts_with(FOLDER) && path.ends_with(".toml") && path != RELEASES
}

fn parse(file: &File) -> Result<Vec<Proof>, String> {
    let list: List = toml::from_str(&file.text).map_err(|error| format!("{}: {error}", file.path))?;
    let named = |proof| Proof { file: file.path.clone(), ..proof };
    Ok(list.proof.into_iter().map(named).collect())
}

impl Facts {
    /// The ways in which a cell is proved, strongest first.
    fn ways(&self, switch: &str, profile: &str) -> Vec<How> {
        let has = |how: &How| self.of(switch).any(|p| p.how == *how && p.profiles.iter().any(|name| name == profile));
        How::ALL.into_iter().filter(has).collect()
    }

    fn of<'a>(&'a self, switch: &'a str) -> impl Iterator<Item = &'a Proof> {
        self.proofs.iter().filter(move |proof| proof.switch == switch)
    }
}

#[cfg(test)]
fn example(text: &str) -> Facts {
    let switch =
        |name, defaults: &[u32]| Switch { name, values: vec!["off", "on"], defaults: defaults.to_vec(), why: "" };
    let releases = "[[release]]\nprofile = '5.4'\nread = '5.4'\n[[release]]\nprofile = '6.12'\nread = '6.12.117'\n\
                    compiled = 'linux-source-6.12 6.12.117-1'\nrecorded = ['6.12.117']\n[[between]]\nread = '6.8'\n";
    Facts {
        switches: vec![switch("a", &[0, 1]), switch("b", &[0, 0])],
        profiles: vec!["5.4", "6.12"],
        releases: Releases::parse(releases).expect("an example"),
        proofs: parse(&File::example("docs/rules/proofs/x.toml", text)).expect("an example"),
    }
}
