// SPDX-License-Identifier: GPL-2.0-or-later
//! One run as numbers: the same rows for the table, JSON and CSV.

use super::quantity::{QUANTITIES, Read, cooled, task_labels};
use super::remarks;
use super::waits::WaitRow;
use crate::about::{About, AboutPolicy};
use crate::kernel::decided::Decided;
use crate::plan::Prepared;
use crate::round;
use pelton_model::Machine;
use pelton_sim::Report;
use schemars::JsonSchema;
use serde::Serialize;

/// Inputs of a run, kept beside its numbers so that they can be made again.
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
    /// Inputs of the run.
    pub run: RunHeader,
    /// Every number the report has.
    pub rows: Vec<RunRow>,
    /// Time at each operating point.
    pub residency: Vec<ResidencyRow>,
    /// Time in each idle state.
    pub idle_residency: Vec<IdleRow>,
    /// Domains in which tasks executed, on a machine of several frequency domains.
    pub placement: Vec<PlacementRow>,
    /// Tasks that wait for each other for ever.
    pub stuck_tasks: Vec<String>,
    /// Facts that have to be known before the numbers are believed.
    pub remarks: Vec<String>,
    /// Part that a kernel's own code decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Decided>,
    /// Waits of tasks, the most time first, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Vec<WaitRow>>,
}

/// One number.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunRow {
    /// Subject of the number.
    pub scope: Scope,
    /// Domain or task; empty for the whole run.
    pub of: String,
    /// Name of the quantity.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The number; `None` when it is not known.
    pub value: Option<f64>,
    /// Part that the number leaves out, or the reason why it is not known.
    pub note: Option<&'static str>,
}

/// Subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The whole run.
    Run,
    /// One frequency domain.
    Domain,
    /// One task.
    Task,
    /// One task group with a quota.
    Group,
    /// One thermal zone.
    Zone,
    /// Time of a domain at one operating point.
    Frequency,
    /// Time of a domain's CPUs in one idle state.
    Idle,
}

impl Scope {
    /// The word used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Run => "run",
            Scope::Domain => "domain",
            Scope::Task => "task",
            Scope::Group => "group",
            Scope::Zone => "zone",
            Scope::Frequency => "frequency",
            Scope::Idle => "idle",
        }
    }
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
    /// Number of times that it was entered.
    pub entries: u64,
}

/// Time of one task on the CPUs of one frequency domain.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlacementRow {
    /// Task.
    pub task: String,
    /// Frequency domain.
    pub domain: String,
    /// Time executing there, ms.
    pub ms: f64,
    /// Share of the time that the task executed, percent.
    pub pct: f64,
}

/// Description of a run, from its plan.
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
        placement: placement(&labels, report),
        stuck_tasks: report.stuck_tasks.clone(),
        remarks: remarks::outgrown(report).into_iter().collect(),
        kernel: None,
        waits: None,
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

fn placement(labels: &[String], report: &Report) -> Vec<PlacementRow> {
    if report.domains.len() < 2 {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for (name, task) in labels.iter().zip(&report.tasks).filter(|(_, task)| task.run_ns > 0) {
        for (domain, &ns) in report.domains.iter().zip(task.domain_run_ns.iter().chain(std::iter::repeat(&0))) {
            let pct = 100.0 * ns as f64 / task.run_ns as f64;
            let (task, domain) = (name.clone(), domain.name.clone());
            rows.push(PlacementRow { task, domain, ms: round(ns as f64 / 1e6), pct: round(pct) });
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
    use pelton_sim::report::{DomainReport, TaskReport};

    #[test]
    fn every_domain_has_its_part_of_a_task_that_ran() {
        let named = |name: &str| DomainReport { name: name.into(), ..Default::default() };
        let ran = |run_ns, on: &[u64]| TaskReport { run_ns, domain_run_ns: on.to_vec(), ..Default::default() };
        let tasks = vec![ran(4_000_000, &[1_000_000, 3_000_000]), ran(0, &[]), ran(2_000_000, &[2_000_000])];
        let report = |domains| Report { domains, tasks: tasks.clone(), ..Default::default() };
        let summary = |domains| summarise(RunHeader::default(), &Machine::default(), &report(domains));
        let shares = summary(vec![named("little"), named("big")]).placement;
        let seen: Vec<_> = shares.iter().map(|r| (r.domain.as_str(), r.ms, r.pct)).collect();
        assert_eq!(seen, [("little", 1.0, 25.0), ("big", 3.0, 75.0), ("little", 2.0, 100.0), ("big", 0.0, 0.0)]);
        assert_eq!(summary(vec![named("cpu")]).placement, []);
    }

    #[test]
    fn residency_adds_up() {
        let opps = vec![Opp { khz: 208_000, ..Default::default() }, Opp { khz: 1_200_000, ..Default::default() }];
        let machine = Machine { domains: vec![FreqDomain { opps, ..Default::default() }], ..Default::default() };
        let domain = DomainReport { name: "cpu".into(), time_in_state_ns: vec![250, 750], ..Default::default() };
        let report = Report { domains: vec![domain], ..Default::default() };
        let summary = summarise(RunHeader::default(), &machine, &report);
        assert_eq!(summary.residency.iter().map(|r| r.pct).collect::<Vec<_>>(), [25.0, 75.0]);
        assert_eq!(summary.value(Scope::Domain, "cpu", "domain_transitions"), Some(0.0));
        assert_eq!(summary.value(Scope::Task, "absent", "events"), None);
        let energy = summary.rows.iter().find(|r| r.quantity == "domain_energy_mj").expect("a row without a value");
        assert!(energy.value.is_none() && energy.note.is_some_and(|note| note.starts_with("not known")));
    }
}
