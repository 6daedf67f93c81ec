// SPDX-License-Identifier: GPL-2.0-or-later
//! The releases that were read, compiled or recorded, by profile.

use serde::Deserialize;

use super::{How, RELEASES};

/// Release that a profile is held against.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Profile.
    pub profile: String,
    /// Version whose text was read.
    pub read: String,
    /// Package and version that the oracle compiles; empty for none.
    #[serde(default)]
    pub compiled: String,
    /// Versions that were recorded; the page shows them.
    #[serde(default)]
    pub recorded: Vec<String>,
}

/// A text that belongs to no profile.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Between {
    read: String,
}

/// All of them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Releases {
    #[serde(default, rename = "release")]
    pub all: Vec<Release>,
    #[serde(default)]
    between: Vec<Between>,
}

impl Releases {
    pub fn parse(text: &str) -> Result<Releases, String> {
        toml::from_str(text).map_err(|error| format!("{RELEASES}: {error}"))
    }

    pub fn of(&self, profile: &str) -> Option<&Release> {
        self.all.iter().find(|release| release.profile == profile)
    }

    /// True when `version` is a text that says nothing about a profile by itself.
    pub fn is_between(&self, version: &str) -> bool {
        self.between.iter().any(|text| text.read == version)
    }

    /// True when some profile is held against this version.
    pub fn knows(&self, version: &str) -> bool {
        self.all.iter().any(|release| How::ALL.iter().any(|how| release.serves(*how, version)))
    }

    /// Name of the tree of a version: the profile it is the text of, or the version.
    pub fn tree<'a>(&'a self, version: &'a str) -> &'a str {
        self.all.iter().find(|release| release.read == version).map_or(version, |release| release.profile.as_str())
    }
}

impl Release {
    /// True when a proof of this kind about `version` is one about the profile.
    pub fn serves(&self, how: How, version: &str) -> bool {
        match how {
            How::Oracle => self.compiled_version() == Some(version) || (self.compiles() && version == self.profile),
            How::Source => version == self.read || version == self.profile,
            How::Proposal => false,
        }
    }

    fn compiles(&self) -> bool {
        !self.compiled.is_empty()
    }

    /// `6.12.117` of `linux-source-6.12 6.12.117-1`.
    fn compiled_version(&self) -> Option<&str> {
        self.compiled.split_whitespace().nth(1)?.split('-').next()
    }
}

#[cfg(test)]
mod tests {
    use crate::proofs::{How, example};

    #[test]
    fn a_release_serves_its_own_profile_only() {
        let releases = example("").releases;
        let old = releases.of("5.4").expect("there");
        let new = releases.of("6.12").expect("there");
        assert!(old.serves(How::Source, "5.4") && !old.serves(How::Source, "6.12.117"));
        assert!(new.serves(How::Oracle, "6.12.117") && !old.serves(How::Oracle, "5.4"));
    }
}
