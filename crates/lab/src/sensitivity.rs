// SPDX-License-Identifier: GPL-2.0-or-later
//! A table under one changed assumption.

use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::experiment::{Experiment, Workloads};
use crate::plan::MachineChanges;

/// One changed assumption.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensitivity {
    /// Name: appended to the table's name.
    pub name: String,
    /// Change, and why it matters.
    pub why: String,
    /// Other tick rate.
    pub hz: Option<u32>,
    /// Other rate limit.
    pub rate_limit_us: Option<u64>,
    /// Other properties of the machine.
    #[serde(default)]
    pub machine: MachineChanges,
    /// Everything runs in this task group.
    pub group: Option<String>,
    /// Every task starts at once.
    #[serde(default)]
    pub no_delay: bool,
    /// Other switches, in every variant.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Options of workloads: the text they have in the table, and the text they get.
    #[serde(default)]
    pub option: BTreeMap<String, String>,
    /// Rows over several workloads take the first alone.
    #[serde(default)]
    pub first_workload: bool,
    /// Only rows whose id contains one of these, and claims about them; empty = the whole table.
    #[serde(default)]
    pub only: Vec<String>,
}

impl Sensitivity {
    /// The rows and claims that are looked at again. What goes beyond the posting is not repeated.
    #[must_use]
    pub fn narrow(&self, experiment: &Experiment) -> Experiment {
        let mut narrow = experiment.clone();
        narrow.beyond.clear();
        if !self.only.is_empty() {
            narrow.keep_rows(&self.only);
        }
        if self.first_workload {
            for row in &mut narrow.row {
                row.workload = Workloads::One(row.workload.names()[0].clone());
            }
        }
        narrow
    }

    /// A workload's text with the changed options.
    #[must_use]
    pub fn spec<'a>(&self, spec: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(spec);
        for (from, to) in &self.option {
            if text.contains(from.as_str()) {
                text = Cow::Owned(text.replace(from.as_str(), to));
            }
        }
        text
    }

    /// An option that no workload has, or a part that no row's id has.
    pub(crate) fn unused<'a>(&'a self, experiment: &Experiment) -> Option<&'a str> {
        let of_background = experiment.background.iter().map(|background| format!(" + {background}"));
        let specs: Vec<String> = experiment.workload.values().map(|w| w.spec.clone()).chain(of_background).collect();
        let in_specs = |from: &str| specs.iter().any(|spec| spec.contains(from));
        let in_ids = |part: &str| experiment.row.iter().any(|row| row.id.contains(part));
        let option = self.option.keys().map(String::as_str).find(|from| !in_specs(from));
        option.or_else(|| self.only.iter().map(String::as_str).find(|part| !in_ids(part)))
    }
}
