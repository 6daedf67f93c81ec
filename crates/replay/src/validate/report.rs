// SPDX-License-Identifier: GPL-2.0-or-later
//! Findings of a validation: counts per signal, and every field of the first divergence.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pelton_core::Avg;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::governor::Score;
use super::survey::Survey;

/// Divergences that are kept whole.
const SAMPLES_MAX: usize = 64;

/// A class that explains more of the changed states than this has decided nothing, thousandths.
pub const UNDECIDED_PERMILLE: u64 = 50;

/// One column of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Field {
    /// Kernel name.
    #[serde(rename = "field")]
    pub name: &'static str,
    /// Value that the kernel recorded.
    pub kernel: u64,
    /// Value that the core computes.
    pub ours: u64,
}

/// A record that is not reproduced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Divergent")]
pub struct Divergence {
    /// Number of the event, from 0.
    pub event: u64,
    /// Time, ns on the trace's clock.
    pub time_ns: u64,
    /// CPU.
    pub cpu: u32,
    /// Signal.
    pub signal: &'static str,
    /// Action of the kernel, as far as the trace shows it.
    pub what: &'static str,
    /// Number of the kernel object; 0 = none.
    pub object: u32,
    /// Time at which the state was recorded that it is held against.
    #[serde(skip)]
    pub since_ns: u64,
    /// Task, 0 for none.
    #[serde(skip)]
    pub tid: u32,
    /// State before, as far as known.
    #[serde(skip)]
    pub before: Vec<(&'static str, u64)>,
    /// The result, kernel beside ours.
    #[serde(skip)]
    pub fields: Vec<Field>,
}

/// Counts of one signal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records held against the core.
    pub checked: u64,
    /// Equal in every integer.
    pub exact: u64,
    /// Seen again as it was; proves nothing and is not counted as checked.
    pub unchanged: u64,
    /// Looks that were older than what was known when they were read; they prove nothing and are not counted as
    /// checked.
    pub earlier: u64,
    /// Equal in every integer under an assumption that is named here, by name.
    pub classes: BTreeMap<&'static str, u64>,
    /// Not reproduced.
    pub divergent: u64,
}

/// A class asked about states that never were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// States of the trace that were changed.
    pub states: u64,
    /// Changed versions.
    pub asked: u64,
    /// Changed versions that the search explained all the same.
    pub explained: u64,
}

impl Challenge {
    /// Share that was explained, thousandths.
    pub fn permille(&self) -> u64 {
        (self.explained * 1000).checked_div(self.asked).unwrap_or(0)
    }

    /// True when the class would have noticed an error.
    pub fn decides(&self) -> bool {
        self.permille() <= UNDECIDED_PERMILLE
    }
}

/// A rebuilt average beside the recorded one; differences of 1024.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Average")]
pub struct Comparison {
    /// Name of the average.
    pub what: String,
    /// Looks compared.
    pub n: u64,
    /// Mean difference.
    #[serde(rename = "mean", serialize_with = "thousandths")]
    #[schemars(with = "f64")]
    pub mean_milli: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
    /// Within what is allowed.
    #[serde(rename = "inside")]
    pub ok: bool,
}

fn thousandths<S: Serializer>(milli: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(*milli as f64 / 1000.0)
}

/// A record whose numbers no kernel can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Number of the event in the trace, from 0.
    pub event: u64,
    /// Time on the trace's clock, ns.
    pub time_ns: u64,
    /// Column.
    pub column: &'static str,
    /// Its value.
    pub value: u64,
    /// Largest value it can have.
    pub limit: u64,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records held against the core.
    pub updates: u64,
    /// Records that it does not reproduce.
    pub divergent: u64,
    /// The first of them.
    pub first: Option<Divergence>,
    /// The first few, as they were found.
    pub samples: Vec<Divergence>,
    /// By signal.
    pub signals: BTreeMap<&'static str, Tally>,
    /// Comparisons with a tolerance.
    pub comparisons: Vec<Comparison>,
    /// Frequency changes predicted from signals, and where those came from.
    pub prediction: Option<(Score, &'static str)>,
    /// Outcome of altered states, by class.
    pub challenges: BTreeMap<&'static str, Challenge>,
    /// Records whose numbers no kernel can have; they were not used.
    pub damaged: u64,
    /// The first of them.
    pub first_damaged: Option<Damaged>,
    /// Parts of the trace that were not checked, and the reasons.
    pub not_measured: BTreeMap<String, Cow<'static, str>>,
    /// Switches that contradict the one before: events of that CPU are missing.
    pub holes: u64,
    /// Divergences over a stretch with a hole on any CPU; they prove nothing and are not counted.
    pub in_holes: u64,
    /// Objects whose state was forgotten at a hole or a loss and learned again.
    pub resynchronised: u64,
    /// Events read.
    pub events: u64,
    /// Contents of the trace.
    pub survey: Survey,
    /// Facts that limit what the numbers above mean.
    pub remarks: Vec<String>,
}

impl Report {
    /// Records of a signal that only a class explains which would have let errors pass.
    pub fn undecided(&self, tally: &Tally) -> u64 {
        let vague = |class: &&str| self.challenges.get(*class).is_some_and(|c| !c.decides());
        tally.classes.iter().filter(|(class, _)| vague(class)).map(|(_, count)| count).sum()
    }

    /// The counts of a signal.
    pub(super) fn tally(&mut self, signal: &'static str) -> &mut Tally {
        self.signals.entry(signal).or_default()
    }

    /// A record is reproduced: outright (`""`), or under the assumption of a class.
    pub(super) fn agree(&mut self, signal: &'static str, class: &'static str) {
        self.updates += 1;
        let tally = self.tally(signal);
        tally.checked += 1;
        if class.is_empty() {
            tally.exact += 1;
        } else {
            *tally.classes.entry(class).or_default() += 1;
        }
    }

    /// A record is not reproduced.
    pub(super) fn differ(&mut self, divergence: Divergence) {
        self.updates += 1;
        self.divergent += 1;
        let tally = self.tally(divergence.signal);
        tally.checked += 1;
        tally.divergent += 1;
        if self.samples.len() < SAMPLES_MAX {
            self.samples.push(divergence.clone());
        }
        if self.first.as_ref().is_none_or(|first| divergence.event < first.event) {
            self.first = Some(divergence);
        }
    }

    /// Something the trace has is not checked.
    pub(super) fn skip(&mut self, what: &str, why: &'static str) {
        if !self.not_measured.contains_key(what) {
            self.not_measured.insert(what.to_owned(), Cow::Borrowed(why));
        }
    }
}

/// The fields of two states, kernel first.
pub fn fields(kernel: &Avg, ours: &Avg) -> Vec<Field> {
    let row = |name, kernel, ours| Field { name, kernel, ours };
    vec![
        row("last_update_time", kernel.last_update_time_ns, ours.last_update_time_ns),
        row("load_sum", kernel.load_sum, ours.load_sum),
        row("runnable_sum", kernel.runnable_sum, ours.runnable_sum),
        row("util_sum", u64::from(kernel.util_sum), u64::from(ours.util_sum)),
        row("period_contrib", u64::from(kernel.period_contrib), u64::from(ours.period_contrib)),
        row("load_avg", kernel.load_avg, ours.load_avg),
        row("runnable_avg", kernel.runnable_avg, ours.runnable_avg),
        row("util_avg", kernel.util_avg, ours.util_avg),
    ]
}
