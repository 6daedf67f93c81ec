// SPDX-License-Identifier: GPL-2.0-only
//! One run as numbers: the same rows for the table, JSON and CSV.

use crate::about::{About, AboutPolicy};
use crate::compare::Scope;
use crate::plan::Prepared;
use crate::quantity::{QUANTITIES, Read, cooled, task_labels};
use crate::{remarks, round};
use pelton_model::Machine;
use pelton_sim::Report;
use schemars::JsonSchema;
use serde::Serialize;

/// What a run was; kept beside its numbers so that they can be made again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunHeader {
    /// Everything but the policy.
    #[serde(flatten)]
    pub about: About,
    /// The policy.
    #[serde(flatten)]
    pub policy: AboutPolicy,
    /// Seed.
    pub seed: u64,
}

/// One run as numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// What was run.
    pub run: RunHeader,
    /// Every number the report has.
    pub rows: Vec<RunRow>,
    /// Time at each operating point.
    pub residency: Vec<ResidencyRow>,
    /// Time in each idle state.
    pub idle_residency: Vec<IdleRow>,
    /// Tasks that wait for each other for ever.
    pub stuck_tasks: Vec<String>,
    /// What has to be known before the numbers are believed.
    pub remarks: Vec<String>,
}

/// One number.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunRow {
    /// What the number is about.
    pub scope: Scope,
    /// Domain or task; empty for the whole run.
    pub of: String,
    /// Name of the quantity.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The number; `None` when it is not known.
    pub value: Option<f64>,
    /// What the number leaves out, or why it is not known.
    pub note: Option<&'static str>,
}

/// Time at one operating point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ResidencyRow {
    /// Frequency domain.
    pub domain: String,
    /// Frequency, kHz.
    pub khz: u32,
    /// Time, ms.
    pub ms: f64,
    /// Share of the run, percent.
    pub pct: f64,
}

/// Time of one CPU in one idle state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IdleRow {
    /// CPU.
    pub cpu: usize,
    /// Idle state.
    pub state: String,
    /// Time, ms.
    pub ms: f64,
    /// Share of the run, percent.
    pub pct: f64,
    /// How often it was entered.
    pub entries: u64,
}

/// What a run was, from its plan.
pub fn header(prepared: &Prepared, duration_ns: u64) -> RunHeader {
    let about = About::of(prepared, duration_ns);
    RunHeader { about, policy: AboutPolicy::of(prepared), seed: prepared.plan.config.seed }
}

/// Reads everything a report has.
pub fn summarise(header: RunHeader, machine: &Machine, report: &Report) -> RunSummary {
    let mut rows = Vec::new();
    let labels = task_labels(report);
    for q in QUANTITIES {
        let mut push = |scope, of: &str, value: Option<f64>| {
            let note = q.note(report);
            if value.is_some() || note.is_some() {
                let value = value.map(round);
                rows.push(RunRow { scope, of: of.to_owned(), quantity: q.name, unit: q.unit, value, note });
            }
        };
        match q.read {
            Read::Run(read) => push(Scope::Run, "", read(report)),
            Read::Domain(read) => report.domains.iter().for_each(|d| push(Scope::Domain, &d.name, read(d))),
            Read::Share(read) => report.domains.iter().for_each(|d| push(Scope::Domain, &d.name, read(report, d))),
            Read::Group(read) => report.quotas.iter().for_each(|g| push(Scope::Group, &g.path, read(g))),
            Read::Zone(read) => report.zones.iter().for_each(|z| push(Scope::Zone, &z.name, read(report, z))),
            Read::Cooled(read) => cooled(report).for_each(|c| push(Scope::Domain, &c.name, read(report, c))),
            Read::Task(read) => {
                labels.iter().zip(&report.tasks).for_each(|(name, t)| push(Scope::Task, name, read(t)));
            }
        }
    }
    RunSummary {
        run: header,
        rows,
        residency: residency(machine, report),
        idle_residency: idle_residency(machine, report),
        stuck_tasks: report.stuck_tasks.clone(),
        remarks: remarks::outgrown(report).into_iter().collect(),
    }
}

fn residency(machine: &Machine, report: &Report) -> Vec<ResidencyRow> {
    let mut rows = Vec::new();
    for (domain, totals) in machine.domains.iter().zip(&report.domains) {
        let total_ns: u64 = totals.time_in_state_ns.iter().sum();
        for (opp, &ns) in domain.opps.iter().zip(&totals.time_in_state_ns) {
            let pct = if total_ns == 0 { 0.0 } else { ns as f64 / total_ns as f64 * 100.0 };
            let (ms, pct) = (round(ns as f64 / 1e6), round(pct));
            rows.push(ResidencyRow { domain: totals.name.clone(), khz: opp.khz, ms, pct });
        }
    }
    rows
}

fn idle_residency(machine: &Machine, report: &Report) -> Vec<IdleRow> {
    let mut rows = Vec::new();
    for (cpu, (spec, totals)) in machine.cpus.iter().zip(&report.cpus).enumerate() {
        let states = machine.domains.get(spec.domain as usize).map_or(&[][..], |domain| &domain.idle_states);
        for (at, (&ns, &entries)) in totals.idle_ns.iter().zip(&totals.idle_entries).enumerate() {
            let state = states.get(at).map_or_else(|| format!("state{at}"), |state| state.name.clone());
            let pct = if report.duration_ns == 0 { 0.0 } else { ns as f64 / report.duration_ns as f64 * 100.0 };
            rows.push(IdleRow { cpu, state, ms: round(ns as f64 / 1e6), pct: round(pct), entries });
        }
    }
    rows
}

impl RunSummary {
    /// The value of one row.
    pub fn value(&self, scope: Scope, of: &str, quantity: &str) -> Option<f64> {
        self.rows.iter().find(|r| r.scope == scope && r.of == of && r.quantity == quantity)?.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::machine::{FreqDomain, Opp};
    use pelton_sim::report::DomainReport;

    #[test]
    fn residency_adds_up() {
        let opps = vec![Opp { khz: 208_000, ..Default::default() }, Opp { khz: 1_200_000, ..Default::default() }];
        let machine = Machine { domains: vec![FreqDomain { opps, ..Default::default() }], ..Default::default() };
        let domain = DomainReport { name: "cpu".into(), time_in_state_ns: vec![250, 750], ..Default::default() };
        let report = Report { domains: vec![domain], ..Default::default() };
        let summary = summarise(RunHeader::default(), &machine, &report);
        assert_eq!(summary.residency.iter().map(|r| r.pct).collect::<Vec<_>>(), [25.0, 75.0]);
        assert_eq!(summary.value(Scope::Domain, "cpu", "domain_transitions"), Some(0.0));
        assert_eq!(summary.value(Scope::Task, "nobody", "events"), None);
        let energy = summary.rows.iter().find(|r| r.quantity == "domain_energy_mj").expect("a row without a value");
        assert!(energy.value.is_none() && energy.note.is_some_and(|note| note.starts_with("not known")));
    }
}
