// SPDX-License-Identifier: GPL-2.0-or-later
//! Lists and descriptions that verbs print.

use crate::behaviour::simulate::boards;
use crate::measure::quantity;
use crate::plan::{self, PolicySpec};
use crate::run::LabError;
use pelton_core::{Policy, parameters, profiles, switches};
use pelton_replay::workload::QUANTITIES as REPLAYED;
use pelton_scenario::behaviour;
use pelton_scenario::bench::{MODELS, Model, unit, work_note};
use pelton_scenario::platform::{self, Summary};
use pelton_scenario::policy::BUILT_IN;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Published tables.
#[derive(Serialize, JsonSchema)]
pub struct Tables {
    /// Names to give to `pelton reproduce`.
    pub tables: Vec<&'static str>,
}

/// Built-in behaviours.
#[derive(Serialize, JsonSchema)]
pub struct Behaviours {
    /// In the order of their names.
    pub behaviours: Vec<BehaviourLine>,
}

/// A behaviour in a line.
#[derive(Serialize, JsonSchema)]
pub struct BehaviourLine {
    /// Name to give to `pelton check`.
    pub behaviour: String,
    /// Its question.
    pub question: String,
    /// Number of claims.
    pub claims: usize,
    /// Number of boards.
    pub boards: usize,
}

impl Behaviours {
    /// All of them.
    ///
    /// # Errors
    /// None: the built-in files are good.
    pub fn all() -> Result<Behaviours, LabError> {
        let line = |name: &str| {
            let behaviour = behaviour::load(name)?;
            Ok::<_, LabError>(BehaviourLine {
                claims: behaviour.claims.len(),
                boards: boards(&behaviour).len(),
                question: behaviour.question,
                behaviour: behaviour.name,
            })
        };
        Ok(Behaviours { behaviours: behaviour::names().map(line).collect::<Result<_, LabError>>()? })
    }
}

/// Built-in platforms.
#[derive(Serialize, JsonSchema)]
pub struct Platforms {
    /// In the order of their names.
    pub platforms: Vec<Summary>,
}

impl Platforms {
    /// All of them.
    pub fn all() -> Platforms {
        Platforms { platforms: platform::list() }
    }
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

impl Workloads {
    /// All of them.
    pub fn all() -> Workloads {
        Workloads { models: MODELS.iter().map(WorkloadModel::from).collect() }
    }
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

impl Policies {
    /// Columns of the table: the profiles, then the policies that are known by name.
    pub fn columns() -> Vec<&'static str> {
        profiles().into_iter().chain(BUILT_IN.iter().map(|(name, _)| *name)).collect()
    }

    /// Every switch and number, with its value in every column.
    ///
    /// # Errors
    /// None that is known: built-in policies are good.
    pub fn all() -> Result<Policies, LabError> {
        let values = |name: &'static str| -> Result<(&str, Vec<u32>), LabError> {
            if let Ok(profile) = Policy::profile(name) {
                return Ok((name, profile.values()));
            }
            let spec = PolicySpec { file: Some(PathBuf::from(name)), ..PolicySpec::default() };
            Ok((name, plan::policy(&spec)?.policy.values()))
        };
        let columns = Policies::columns().into_iter().map(values).collect::<Result<Vec<_>, _>>()?;
        let by_name = |at: usize, words: &dyn Fn(u32) -> String| {
            columns.iter().map(|(name, values)| ((*name).to_owned(), words(values[at]))).collect()
        };
        let (switches, parameters) = (switches(), parameters());
        let rows = switches.iter().enumerate().map(|(at, switch)| SwitchRow {
            switch: switch.name,
            values: switch.values.clone(),
            defaults: by_name(at, &|value| switch.values.get(value as usize).copied().unwrap_or("?").to_owned()),
            why: switch.why,
        });
        let numbers = parameters.iter().enumerate().map(|(at, parameter)| NumberRow {
            number: parameter.name,
            allowed: parameter.allowed(),
            defaults: by_name(switches.len() + at, &|value| parameter.text(value)),
            why: parameter.why,
        });
        Ok(Policies { switches: rows.collect(), numbers: numbers.collect() })
    }
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

impl Quantities {
    /// All of them.
    pub fn all() -> Quantities {
        let row = |e: quantity::Entry| QuantityRow {
            printed_by: vec!["run", "compare", "reproduce"],
            scope: e.scope,
            quantity: e.name,
            unit: e.unit,
            what: e.doc,
        };
        let replayed = REPLAYED.iter().map(|q| QuantityRow {
            printed_by: vec!["replay"],
            scope: q.scope,
            quantity: q.name,
            unit: q.unit,
            what: q.doc,
        });
        Quantities { quantities: quantity::entries().map(row).chain(replayed).collect() }
    }
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
