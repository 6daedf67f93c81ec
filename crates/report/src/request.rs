// SPDX-License-Identifier: GPL-2.0-or-later
//! A comparison as a page: its numbers over all seeds, and one run of each side over time.

use crate::columns::{Columns, Panel, Series};
use crate::costly::Costly;
use crate::page;
use pelton_lab::explain::MomentsSink;
use pelton_lab::explain::frequency::{self, Context, Explanation};
use pelton_lab::plan::Prepared;
use pelton_lab::plan::gate::gate_times;
use pelton_lab::run::LabError;
use pelton_lab::verbs::compare::{CompareRequest, compare_planned, planned};
use pelton_lab::verbs::difference::{Base, Difference};
use pelton_lab::verbs::run::run_into;
use pelton_lab::watch::Watch;
use pelton_schema::TeeSink;
use serde::{Deserialize, Serialize};

/// Runs of a page that are drawn over time; numbers of the others are in its tables.
const RUNS: usize = 8;
/// Decisions of each run that a page explains when nothing else is asked for.
pub const DECISIONS_DEFAULT: usize = 100;

/// Request: a comparison, and what of it a page shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportRequest {
    /// Policies, workloads and seeds; with one policy and one seed it is one run. Every number is on the page.
    pub compare: CompareRequest,
    /// Decisions of each run to explain: those that moved most.
    pub decisions: usize,
}

impl Default for ReportRequest {
    fn default() -> Self {
        ReportRequest { compare: CompareRequest::default(), decisions: DECISIONS_DEFAULT }
    }
}

/// A run of the first seed, over time.
#[derive(Debug)]
pub(crate) struct Followed {
    /// Lines that share an axis.
    pub panels: Vec<Panel>,
    /// All lines.
    pub series: Vec<Series>,
    /// Decisions that moved most, in the order of the run.
    pub decisions: Vec<Explanation>,
    /// Names of tasks by number; 0 is idle.
    pub tasks: Vec<String>,
    /// Length, ns.
    pub duration_ns: u64,
    /// Unit of times in the series, ns.
    pub tick_ns: u64,
}

/// Makes the page: a whole HTML file. Equal requests give equal bytes.
///
/// # Errors
/// When an input is wrong, inputs do not go together, or the runs were stopped.
pub fn report(request: &ReportRequest, watch: &dyn Watch) -> Result<String, LabError> {
    let planned = planned(&request.compare, watch)?;
    let comparison = compare_planned(&request.compare, &planned, watch)?;
    let drawn = &planned.plans[..planned.plans.len().min(RUNS)];
    let runs = drawn.iter().map(|plan| follow(plan, request, drawn.len(), watch)).collect::<Result<_, _>>()?;
    let parted = parted(drawn, &request.compare, watch)?;
    let powers = planned.plans.first().map(|first| first.power.clone()).unwrap_or_default();
    Ok(page::html(&page::Content { comparison: &comparison, runs, parted, powers, request }))
}

/// First decisions in which the runs of other policies differ from that of the first one, each with the place of its
/// side. Runs of other workloads have nothing to be compared with.
fn parted(
    plans: &[Prepared],
    compare: &CompareRequest,
    watch: &dyn Watch,
) -> Result<Vec<(usize, Difference)>, LabError> {
    let seed = compare.first_seed;
    let others = 1..plans.len().min(compare.policies.len());
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let base = Base::of(&plans[0], seed, watch)?;
    others.map(|at| Ok((at, base.against(&plans[at], seed, watch)?))).collect()
}

/// Runs twice: once for the columns and for what moved most, once more to that, to keep what it was made of. A run is a
/// value: both are the same.
fn follow(prepared: &Prepared, request: &ReportRequest, of: usize, watch: &dyn Watch) -> Result<Followed, LabError> {
    let (plan, seed) = (&prepared.plan, request.compare.first_seed);
    let (cpus, domains) = (plan.machine.cpus.len(), plan.machine.domains.len());
    let mut sinks = TeeSink(Columns::of(plan, of), Costly::of(&plan.machine, request.decisions));
    let report = run_into(prepared, seed, &mut sinks, watch)?;
    let TeeSink(columns, costly) = sinks;
    let mut moments = MomentsSink::new(costly.finish(report.duration_ns), cpus, domains);
    run_into(prepared, seed, &mut moments, watch)?;
    let explained = moments.finish().into_iter().map(|moment| {
        let times = gate_times(plan, moment.decision.domain);
        frequency::explain(&moment, Context { plan, times })
    });
    let decisions = explained.collect();
    let has_power = report.energy_uj().is_some();
    let tick_ns = columns.tick_ns;
    let (panels, series) = columns.finish(has_power, report.duration_ns);
    let tasks = pelton_lab::verbs::run::trace_header(prepared).tasks;
    Ok(Followed { panels, series, decisions, tasks, duration_ns: report.duration_ns, tick_ns })
}
