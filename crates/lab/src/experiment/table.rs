// SPDX-License-Identifier: GPL-2.0-or-later
//! A published table with our numbers beside the printed ones: the machine-readable result of `reproduce`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One reproduced table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableResult {
    /// Name of the experiment.
    pub table: String,
    /// Inputs of the runs.
    pub run: AboutTable,
    /// Every row of the posting.
    pub rows: Vec<RowResult>,
    /// Conclusions that the posting draws from its numbers, checked against ours.
    pub claims: Vec<ClaimResult>,
    /// Numbers that claims look at and the posting does not print.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeResult>,
    /// Numbers that the posting does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<BeyondResult>,
    /// Variants with equal results for every workload of the table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Number of rows and claims that are borne out, and of those that would be without any effect.
    pub score: Score,
    /// Simulations behind this table.
    pub runs: u64,
    /// Wall-clock time they took, s.
    pub seconds: f64,
}

/// Inputs of the runs of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AboutTable {
    /// Platform.
    pub platform: String,
    /// Kernel profile, where a variant has none of its own.
    pub profile: String,
    /// Switches set in every variant.
    pub set: BTreeMap<String, String>,
    /// Variants, by name.
    pub variants: BTreeMap<String, AboutVariant>,
    /// Workloads, by name, as after `--workload`.
    pub workloads: BTreeMap<String, String>,
    /// Platforms of the workloads that have one of their own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub platforms: BTreeMap<String, String>,
    /// Workload beside all of them.
    pub background: Option<String>,
    /// Timer interrupts per second.
    pub hz: u32,
    /// Simulated time of one run, s, where a workload has none of its own.
    pub duration_s: f64,
    /// Most seeds of a run, from 1.
    pub seeds: u64,
    /// Runs that one printed number stands for; `None` (null) where the source does not say it.
    pub printed_runs: Option<u64>,
    /// The one assumption that was changed, by name; `None` = as the file says.
    pub changed: Option<String>,
}

/// One side of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AboutVariant {
    /// Meaning of the variant.
    pub why: String,
    /// Kernel profile.
    pub profile: String,
    /// Switches set on top of the table's.
    pub set: BTreeMap<String, String>,
    /// Task group that holds everything; `None` = the root.
    pub group: Option<String>,
    /// Models added to every workload.
    pub with: Option<String>,
}

/// One number of the posting beside ours.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowResult {
    /// Unique in its table.
    pub id: String,
    /// Side of the comparison.
    pub variant: String,
    /// Quantity that was counted.
    pub quantity: String,
    /// Unit of both numbers.
    pub unit: String,
    /// The printed number.
    pub published: f64,
    /// Ours: mean over the seeds; `None` (null) when the model cannot produce the row.
    pub simulated: Option<f64>,
    /// 95 % confidence of our mean over the seeds; `None` below six seeds.
    pub ci95: Option<(f64, f64)>,
    /// Runs of each side that the mean is of.
    pub seeds: u64,
    /// True when more seeds would hardly change the verdict: the mean is farther from the edge of the tolerance than
    /// one and a half times its 95 % confidence, or there is no number. False below six seeds.
    pub stands: bool,
    /// Use of the printed number: to find an input, or not.
    pub role: Role,
    /// Largest distance from the printed number that counts as a match, in the row's unit.
    pub tolerance: f64,
    /// Tolerance in percent of the printed number, where the experiment file gives it so.
    pub tolerance_pct: Option<f64>,
    /// Result of comparing our number with the printed one.
    pub verdict: Verdict,
    /// Value of a world without any effect of the change: 0 where the source prints a change, else the number that it
    /// prints of the variant without the change; `None` (null) for that variant itself, or where the source does not
    /// print it.
    pub no_effect: Option<f64>,
    /// Result of comparing that value with the printed number.
    pub no_effect_verdict: Option<Verdict>,
    /// Groups of as many simulated runs as the printed number stands for, percent, that lie at least as far from our
    /// mean as the printed number does; `None` (null) where the experiment does not say how many those are, or has too
    /// few seeds.
    pub chance_pct: Option<f64>,
}

/// Counts of what is borne out. A row says something about the model where it matches and no effect would not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Score {
    /// Rows that the model can produce.
    pub rows: u64,
    /// Those of them that match.
    pub matches: u64,
    /// Rows from which no input was inferred.
    pub predicted: u64,
    /// Those of them that match.
    pub predicted_matches: u64,
    /// Rows of which can be said what no effect would have.
    pub no_effect_rows: u64,
    /// Those of them that no effect would match.
    pub no_effect_matches: u64,
    /// Those of them that match and that no effect would miss.
    pub effects: u64,
    /// Rows that the model cannot produce.
    pub not_modelled: u64,
    /// Rows whose verdict more seeds could change.
    pub open_rows: u64,
    /// Claims.
    pub claims: u64,
    /// Those of them that hold.
    pub claims_hold: u64,
    /// Those of them that would hold without any effect.
    pub no_effect_claims: u64,
    /// Claims that more seeds could change.
    pub open_claims: u64,
}

/// A number that claims look at.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProbeResult {
    /// Unique in its table.
    pub id: String,
    /// Unit.
    pub unit: String,
    /// Mean over the seeds.
    pub mean: f64,
    /// Smallest and largest of the seeds.
    pub range: (f64, f64),
}

/// Numbers beyond the posting for one workload.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BeyondResult {
    /// Name of the comparison.
    pub id: String,
    /// Purpose of the comparison.
    pub why: String,
    /// Workload.
    pub workload: String,
    /// One line per variant.
    pub rows: Vec<BeyondRow>,
}

/// One variant's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BeyondRow {
    /// Variant.
    pub variant: String,
    /// One number per quantity.
    pub values: Vec<BeyondValue>,
}

/// One number beyond the posting.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BeyondValue {
    /// Quantity that was counted.
    pub quantity: String,
    /// Frequency domain that it is about; `None` (null) = the whole run.
    pub of: Option<String>,
    /// Its unit.
    pub unit: String,
    /// Mean over the seeds.
    pub mean: f64,
    /// 95 % confidence of the mean; `None` below six seeds.
    pub ci95: Option<(f64, f64)>,
    /// 95 % confidence of the change from the first variant, percent, runs paired by seed; `None` for that variant.
    pub change_ci95: Option<(f64, f64)>,
}

/// Use of a printed number: to find an input, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// An input of the experiment was inferred from this row: agreement proves little.
    Calibrated,
    /// No input depends on this row.
    Predicted,
}

/// Result of comparing our number with the printed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Inside the tolerance of the experiment file.
    Match,
    /// Outside it.
    Differs,
    /// The model cannot produce this row; the experiment file says why.
    NotModelled,
}

impl Verdict {
    /// The word used in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Match => "match",
            Verdict::Differs => "differs",
            Verdict::NotModelled => "not-modelled",
        }
    }
}

impl Role {
    /// The word used in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Role::Calibrated => "calibrated",
            Role::Predicted => "predicted",
        }
    }
}

/// A statement of the posting, checked against our numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClaimResult {
    /// Unique in its table.
    pub id: String,
    /// The statement.
    pub text: String,
    /// True when our numbers bear it out.
    pub holds: bool,
    /// Number that the statement is about, from our rows.
    pub value: Option<f64>,
    /// Unit of `value`.
    pub unit: String,
    /// True when more seeds would hardly change `holds`, as of a row.
    pub stands: bool,
    /// True where the statement would hold without any effect of the change; `None` (null) where that cannot be said.
    pub no_effect_holds: Option<bool>,
    /// Pairs of groups of as many simulated runs as a printed number stands for, percent, that bear it out.
    pub chance_pct: Option<f64>,
    /// Pairs, percent, that bear it out when both sides are drawn of runs without the change.
    pub no_effect_chance_pct: Option<f64>,
}

impl TableResult {
    /// True when every claim holds.
    pub fn claims_hold(&self) -> bool {
        self.claims.iter().all(|c| c.holds)
    }
}
