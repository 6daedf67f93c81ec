// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers that claims look at and no source prints: what the mechanism must show if it is the one that was published.

use super::file::Probe;
use crate::measure::{demand, quantity};
use crate::run::{Control, ExperimentError, LabError, run_one};
use pelton_model::Plan;
use pelton_schema::{Event, NullSink, Sink};
use pelton_sim::Report;
use pelton_sim::report::TaskReport;
use std::collections::BTreeMap;

/// Numbers that only the events of a run contain: name, unit, meaning.
pub const WATCHED: &[(&str, &str, &str)] = &[
    ("change_gap_ms_min", "ms", "Least time between two changes of one CPU's frequency."),
    ("util_min", "1/1024", "Least utilization of a task in the second half of the run."),
    ("highest_pct", "%", "Share of the time at the highest operating point, all domains."),
    ("util_max", "1/1024", "Largest utilization of a task in the second half of the run."),
    ("task_domain_pct", "%", "Part of its time that each thread of a name spent on a domain; `of` is TASK/DOMAIN."),
];

/// Unit of a probe's quantity; `None` when there is no such quantity.
pub fn unit(name: &str) -> Option<&'static str> {
    let watched = WATCHED.iter().find(|(known, ..)| *known == name).map(|&(_, unit, _)| unit);
    watched.or_else(|| quantity::find(name).map(|q| q.unit))
}

/// Numbers of every probe, by seed: one, or one for each thread.
pub type Samples = BTreeMap<String, Vec<Vec<f64>>>;

/// Numbers that are in events and in no report.
const IN_EVENTS: [&str; 3] = ["change_gap_ms_min", "util_min", "util_max"];

/// Runs a side of a table once: its report, and the numbers of each of its probes.
pub(super) fn run(
    probes: &[&Probe],
    plan: &Plan,
    seed: u64,
    control: Control<'_>,
) -> Result<(Report, Vec<Vec<f64>>), LabError> {
    let mut watch = Watch { from_ns: plan.config.duration_ns / 2, ..Watch::default() };
    let watches = probes.iter().any(|probe| IN_EVENTS.contains(&probe.quantity.as_str()));
    let report = match watches {
        true => run_one(plan, seed, &mut watch, control),
        false => run_one(plan, seed, NullSink, control),
    }?;
    let numbers = |probe: &&Probe| {
        let read = match probe.quantity.as_str() {
            "task_domain_pct" => placement_pct(&report, probe.of.as_deref().unwrap_or_default()),
            _ => read(probe, plan, &report, &watch).map(|number| vec![number]),
        };
        read.ok_or_else(|| ExperimentError(format!("probe `{}`: the run has no `{}`", probe.id, probe.quantity)))
    };
    let read = probes.iter().map(numbers).collect::<Result<_, _>>()?;
    Ok((report, read))
}

fn read(probe: &Probe, plan: &Plan, report: &Report, watch: &Watch) -> Option<f64> {
    let util = || {
        let named = |name: &str| {
            probe.of.as_deref() == Some(name) || probe.of.as_deref() == Some(quantity::instance_base(name))
        };
        let index = plan.workload.tasks.iter().position(|task| named(&task.name))?;
        watch.util.get(&(index as u32 + 1)).copied()
    };
    match probe.quantity.as_str() {
        // Without two changes they are as far apart as the run is long.
        "change_gap_ms_min" => Some(watch.gap_ns_min.unwrap_or(plan.config.duration_ns) as f64 / 1e6),
        "highest_pct" => demand::highest_pct(report),
        "util_min" => util().map(|(min, _)| f64::from(min)),
        "util_max" => util().map(|(_, max)| f64::from(max)),
        name => quantity::find(name)?.read(report, probe.of.as_deref()),
    }
}

/// Of every thread of the name that ran; `None` when there is none, or no such domain.
fn placement_pct(report: &Report, of: &str) -> Option<Vec<f64>> {
    let (name, domain) = of.split_once('/')?;
    let at = report.domains.iter().position(|d| d.name == domain)?;
    let of_name = report.tasks.iter().filter(|t| t.name == name || quantity::instance_base(&t.name) == name);
    let share = |t: &TaskReport| 100.0 * t.domain_run_ns.get(at).copied().unwrap_or(0) as f64 / t.run_ns as f64;
    let all: Vec<f64> = of_name.filter(|t| t.run_ns > 0).map(share).collect();
    (!all.is_empty()).then_some(all)
}

/// Keeps what the probes ask for.
#[derive(Default)]
struct Watch {
    /// Since when utilization counts.
    from_ns: u64,
    /// Latest change by CPU.
    changed_ns: BTreeMap<u32, u64>,
    gap_ns_min: Option<u64>,
    /// Least and largest utilization by thread.
    util: BTreeMap<u32, (u32, u32)>,
}

impl Sink for Watch {
    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            // The event at the start says where the frequency was.
            Event::CpuFrequency { cpu, .. } if time_ns > 0 => {
                if let Some(before_ns) = self.changed_ns.insert(cpu, time_ns) {
                    let gap_ns = time_ns - before_ns;
                    self.gap_ns_min = Some(self.gap_ns_min.map_or(gap_ns, |least_ns| least_ns.min(gap_ns)));
                }
            }
            // What a task had at half-time it still has when no event follows about it.
            Event::PeltSe { tid, util_avg, .. } if time_ns < self.from_ns => {
                self.util.insert(tid, (util_avg, util_avg));
            }
            Event::PeltSe { tid, util_avg, .. } => {
                let (min, max) = self.util.entry(tid).or_insert((util_avg, util_avg));
                (*min, *max) = ((*min).min(util_avg), (*max).max(util_avg));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_sim::report::DomainReport;

    #[test]
    fn each_thread_of_a_name_has_its_place() {
        let task = |name: &str, on: &[u64]| TaskReport {
            name: name.into(),
            run_ns: on.iter().sum(),
            domain_run_ns: on.to_vec(),
            ..TaskReport::default()
        };
        let tasks = vec![task("hog-0", &[30, 10]), task("hog-1", &[5]), task("hog-2", &[]), task("other", &[0, 1])];
        let domain = |name: &str| DomainReport { name: name.into(), ..DomainReport::default() };
        let report = Report { tasks, domains: vec![domain("little"), domain("big")], ..Report::default() };
        assert_eq!(placement_pct(&report, "hog/big"), Some(vec![25.0, 0.0]));
        assert_eq!(placement_pct(&report, "other/big"), Some(vec![100.0]));
        assert_eq!((placement_pct(&report, "absent/big"), placement_pct(&report, "hog/huge")), (None, None));
    }

    #[test]
    fn gaps_are_between_changes_of_one_cpu() {
        let mut watch = Watch::default();
        for (time_ns, cpu) in [(0, 0), (10, 0), (11, 1), (30, 0), (26, 1), (60, 0)] {
            watch.event(time_ns, &Event::CpuFrequency { cpu, freq_khz: 1 });
        }
        assert_eq!(watch.gap_ns_min, Some(15));
    }

    #[test]
    fn every_watched_number_has_a_unit_and_no_quantity_s_name() {
        for (name, ..) in WATCHED {
            assert!(unit(name).is_some() && quantity::find(name).is_none(), "{name}");
        }
        assert_eq!(unit("transitions"), Some("count"));
        assert_eq!(unit("transition"), None);
    }
}
