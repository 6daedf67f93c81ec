// SPDX-License-Identifier: GPL-2.0-or-later
//! Lists and descriptions that verbs print.

use pelton_scenario::bench::{Model, unit, work_note};
use pelton_scenario::platform::Summary;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Published tables.
#[derive(Serialize, JsonSchema)]
pub struct Tables {
    /// Names to give to `pelton reproduce`.
    pub tables: Vec<&'static str>,
}

/// Built-in platforms.
#[derive(Serialize, JsonSchema)]
pub struct Platforms {
    /// In the order of their names.
    pub platforms: Vec<Summary>,
}

/// A platform file from which a machine can be built.
#[derive(Serialize, JsonSchema)]
pub struct Checked {
    /// The file.
    pub file: String,
    /// Number of CPUs.
    pub cpus: usize,
    /// Number of frequency domains.
    pub domains: usize,
    /// Operating points whose power no CPU of their kind has; the file is good when there are none.
    pub implausible_powers: usize,
    /// Facts that the file leaves open, and the values taken instead.
    pub assumed: Vec<String>,
}

/// Benchmark models.
#[derive(Serialize, JsonSchema)]
pub struct Workloads {
    /// Models that `--workload` takes by name, beside rt-app files.
    pub models: Vec<WorkloadModel>,
}

/// A benchmark model.
#[derive(Serialize, JsonSchema)]
pub struct WorkloadModel {
    /// Name to give to `--workload`.
    pub model: &'static str,
    /// Description of the tasks that it runs.
    pub what: &'static str,
    /// Options, `name:option=value,option=value`.
    pub options: Vec<WorkloadOption>,
    /// Meaning of a unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// An option of a model.
#[derive(Serialize, JsonSchema)]
pub struct WorkloadOption {
    /// Name, unit last.
    pub option: &'static str,
    /// Default where it is left out, or the words that can be given; null: nothing, or it has to be given.
    pub default: Option<&'static str>,
    /// Unit; null for words and lists.
    pub unit: Option<&'static str>,
}

impl From<&Model> for WorkloadModel {
    fn from(model: &Model) -> Self {
        let options = model.options().map(|(option, default)| WorkloadOption { option, default, unit: unit(option) });
        WorkloadModel { model: model.name, what: model.about, options: options.collect(), note: work_note(model) }
    }
}

/// Every switch and number of the policies.
#[derive(Serialize, JsonSchema)]
pub struct Policies {
    /// Switches.
    pub switches: Vec<SwitchRow>,
    /// Numbers.
    pub numbers: Vec<NumberRow>,
}

/// A switch in every profile.
#[derive(Serialize, JsonSchema)]
pub struct SwitchRow {
    /// Name.
    pub switch: &'static str,
    /// Values it can have.
    pub values: Vec<&'static str>,
    /// By profile, and by built-in policy.
    pub defaults: BTreeMap<String, String>,
    /// Meaning of the switch.
    pub why: &'static str,
}

/// A number in every profile.
#[derive(Serialize, JsonSchema)]
pub struct NumberRow {
    /// Name, unit last.
    pub number: &'static str,
    /// Allowed values, in words.
    pub allowed: String,
    /// By profile, and by built-in policy.
    pub defaults: BTreeMap<String, String>,
    /// Meaning of the number.
    pub why: &'static str,
}

/// One policy.
#[derive(Serialize, JsonSchema)]
pub struct PolicyShown {
    /// Kernel profile.
    pub profile: String,
    /// Switches and numbers in table order.
    pub switches: Vec<PolicyValue>,
}

/// A switch or a number of one policy.
#[derive(Serialize, JsonSchema)]
pub struct PolicyValue {
    /// Name, when it is a switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<&'static str>,
    /// Name, when it is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<&'static str>,
    /// Its value here.
    pub value: String,
    /// The profile's.
    pub default: String,
    /// Meaning of the value.
    pub why: &'static str,
}

/// Every number that results have.
#[derive(Serialize, JsonSchema)]
pub struct Quantities {
    /// In table order.
    pub quantities: Vec<QuantityRow>,
}

/// A number that results have.
#[derive(Serialize, JsonSchema)]
pub struct QuantityRow {
    /// Verbs that print it.
    pub printed_by: Vec<&'static str>,
    /// Subject of the quantity.
    pub scope: &'static str,
    /// Name, with its unit.
    pub quantity: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Meaning of the quantity.
    pub what: &'static str,
}

/// Every kind of result.
#[derive(Serialize, JsonSchema)]
pub struct Kinds {
    /// Kinds.
    pub kinds: Vec<KindRow>,
}

/// A kind of result.
#[derive(Serialize, JsonSchema)]
pub struct KindRow {
    /// Name of its schema.
    pub kind: &'static str,
    /// Command that prints it.
    pub printed_by: &'static str,
}
