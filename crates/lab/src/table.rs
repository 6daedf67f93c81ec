// SPDX-License-Identifier: GPL-2.0-only
//! A published table with our numbers beside the printed ones: the machine-readable result of `reproduce`.

use serde::{Deserialize, Serialize};

/// One reproduced table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableResult {
    /// Name of the experiment.
    pub table: String,
    /// Every row of the posting.
    pub rows: Vec<RowResult>,
    /// What the posting says the numbers mean, checked against ours.
    pub claims: Vec<ClaimResult>,
    /// Numbers that claims look at and the posting does not print.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeResult>,
    /// What the posting does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<BeyondResult>,
    /// Simulations behind this table.
    pub runs: u64,
    /// Wall-clock time they took, s.
    pub seconds: f64,
}

/// One number of the posting beside ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowResult {
    /// Unique in its table.
    pub id: String,
    /// Which side of the comparison.
    pub variant: String,
    /// What was counted.
    pub quantity: String,
    /// Unit of both numbers.
    pub unit: String,
    /// The printed number.
    pub published: f64,
    /// Ours: mean over the seeds; `None` (null) when the model cannot produce the row.
    pub simulated: Option<f64>,
    /// 95 % confidence of our mean over the seeds; `None` below six seeds.
    pub ci95: Option<(f64, f64)>,
    /// Whether the printed number was used to find an input.
    pub role: Role,
    /// How the two compare.
    pub verdict: Verdict,
}

/// A number that claims look at.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BeyondResult {
    /// Name of the comparison.
    pub id: String,
    /// What is to be seen.
    pub why: String,
    /// Workload.
    pub workload: String,
    /// One line per variant.
    pub rows: Vec<BeyondRow>,
}

/// One variant's numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BeyondRow {
    /// Variant.
    pub variant: String,
    /// One number per quantity.
    pub values: Vec<BeyondValue>,
}

/// One number beyond the posting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BeyondValue {
    /// What was counted.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// Mean over the seeds.
    pub mean: f64,
    /// 95 % confidence of the mean; `None` below six seeds.
    pub ci95: Option<(f64, f64)>,
    /// 95 % confidence of the change from the first variant, percent, runs paired by seed; `None` for that variant.
    pub change_ci95: Option<(f64, f64)>,
}

/// Whether a printed number was used to find an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// An input of the experiment was inferred from this row: agreement proves little.
    Calibrated,
    /// No input depends on this row.
    Predicted,
}

/// How our number compares with the printed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimResult {
    /// Unique in its table.
    pub id: String,
    /// The statement.
    pub text: String,
    /// True when our numbers bear it out.
    pub holds: bool,
    /// What the statement is about, from our rows.
    pub value: Option<f64>,
    /// Unit of `value`.
    pub unit: String,
}

impl TableResult {
    /// True when every claim holds.
    pub fn claims_hold(&self) -> bool {
        self.claims.iter().all(|c| c.holds)
    }
}
