// SPDX-License-Identifier: GPL-2.0-or-later
//! The recorded workload under another policy, profile or platform.

use super::inputs::policy_spec;
use super::recorded::{self, PartRequest, Platform};
use super::validate::{profile_of, sets_of};
use crate::about::{About, AboutPolicy};
use crate::plan::{self, Inputs, PolicySpec, Prepared};
use crate::run::{Control, Fault, LabError, run_one};
use crate::watch::{Watch, watched};
use pelton_model::{GivenFrequency, Machine, Plan, RunConfig};
use pelton_replay::workload::{
    self, First, Habit, Habits, Pin, Recorded, Row, Side, Subject, Synthesis, SynthesisOptions, Totals, Verdict,
};
use pelton_scenario::Diagnostics;
use pelton_scenario::platform::Built;
use pelton_scenario::policy::PolicyChoice;
use pelton_scenario::rtapp::Loaded;
use pelton_schema::{NullSink, Sink, TeeSink};
use pelton_sim::Report;
use pelton_trace::import::TraceInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Least part of the busy time, one in so many, from which work left undone is remarked on.
const UNDONE_PART: u64 = 100;

/// Request: trace, part of it, and policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReplayRequest {
    /// The trace.
    pub trace: PathBuf,
    /// Part of the trace, and the machine it is replayed on.
    pub part: PartRequest,
    /// Policy files, or profiles with switches, one column each; none = `profile`.
    pub policies: Vec<String>,
    /// Kernel whose rules are used where no policies are named; none = 7.2, for a self-check that of the recording.
    pub profile: Option<String>,
    /// Switches set in every policy.
    pub sets: Vec<String>,
    /// First seed.
    pub seed: u64,
    /// Medians over this many seeds.
    pub seeds: u64,
    /// Also compare with tolerances.
    pub check: bool,
    /// The trace sets the frequencies, not the governor.
    pub frequencies_given: bool,
    /// Replay this much of the beginning without comparing it, ns.
    pub settle_ns: u64,
    /// Timer interrupts per second; none = the recorded ones, else 250.
    pub hz: Option<u32>,
    /// schedutil's `rate_limit_us`; none = the profile's rule.
    pub rate_limit_us: Option<u64>,
}

impl Default for ReplayRequest {
    fn default() -> Self {
        ReplayRequest {
            trace: PathBuf::new(),
            part: PartRequest::default(),
            policies: Vec::new(),
            profile: None,
            sets: Vec::new(),
            seed: 1,
            seeds: 1,
            check: false,
            frequencies_given: false,
            settle_ns: 0,
            hz: None,
            rate_limit_us: None,
        }
    }
}

/// Takes the events of a run.
pub trait Files {
    /// Sink of the run's events.
    type Sink: Sink;

    /// Before the run; `None` = the events are not wanted.
    ///
    /// # Errors
    /// When they cannot be taken.
    fn open(&mut self, prepared: &Prepared) -> Result<Option<Self::Sink>, LabError>;

    /// After the run, which may have been stopped before its end.
    ///
    /// # Errors
    /// When they could not be taken.
    fn close(&mut self, sink: Self::Sink, whole: bool) -> Result<(), LabError>;
}

/// No caller wants the events.
struct NoFiles;

impl Files for NoFiles {
    type Sink = NullSink;

    fn open(&mut self, _: &Prepared) -> Result<Option<NullSink>, LabError> {
        Ok(None)
    }

    fn close(&mut self, _: NullSink, _: bool) -> Result<(), LabError> {
        Ok(())
    }
}

/// One trace replayed.
#[derive(Serialize, JsonSchema)]
pub struct Replayed {
    /// The file.
    pub trace: String,
    /// Inputs of the runs.
    pub run: About,
    /// Each policy and its plan, in order.
    pub plans: Vec<AboutPolicy>,
    /// Seeds every policy ran with.
    pub seeds: Vec<u64>,
    /// Platform of the replay.
    pub platform: String,
    /// Platform of the recording.
    pub recorded_on: String,
    /// Policies in words, in order.
    pub policies: Vec<String>,
    /// The trace sets the frequencies, not the governor.
    pub frequencies_given: bool,
    /// Length of the window that is compared, s.
    pub seconds: f64,
    /// Gaps of the trace: facts that it does not record.
    pub gaps: recorded::Gaps,
    /// Decisions that were made where the trace leaves a choice.
    pub notes: Vec<String>,
    /// Cause that ends the sleeps of each task.
    pub tasks: Vec<TaskHabit>,
    /// One row per number: recorded, and under each policy.
    pub rows: Vec<Row>,
    /// Verdicts of the self-check; null when it was not asked for.
    pub check: Option<Vec<Verdict>>,
}

/// Cause that ends a task's sleeps.
#[derive(Serialize, JsonSchema)]
pub struct TaskHabit {
    /// Name.
    pub name: String,
    /// Number in the trace.
    pub tid: u32,
    /// `timer`, `pause` or `events`.
    pub habit: &'static str,
    /// Period or length, ms; null for `events`.
    pub every_ms: Option<f64>,
    /// Variation of that time, ms.
    pub jitter_ms: Option<f64>,
}

/// Replays a trace.
///
/// # Errors
/// When the trace cannot be read or has nothing to replay, when an input is wrong, or the work was stopped.
pub fn replay(request: &ReplayRequest, watch: &dyn Watch) -> Result<Replayed, LabError> {
    replay_into(request, &mut NoFiles, watch)
}

/// Replays a trace; the events of the first policy's first seed go to what `files` opens.
///
/// # Errors
/// As [`replay`], and when the events cannot be taken.
pub fn replay_into<F: Files>(request: &ReplayRequest, files: &mut F, watch: &dyn Watch) -> Result<Replayed, LabError> {
    let path = request.trace.as_path();
    let read = recorded::read(&request.part, path, request.settle_ns, watch)?;
    let (recorded, recorded_on) = (&read.recorded, read.platform.clone());
    let platform = request.part.platform.as_deref().map_or_else(|| recorded_on.clone(), Platform::named);
    let inputs = inputs(request, &platform, read.hz);
    let (chosen, why) = policies(request, &recorded.info)?;
    let on_same = platform == recorded_on
        || recorded::machine(&platform)?.machine.name == recorded::machine(&recorded_on)?.machine.name;
    let machines = chosen.iter().map(|policy| machine(&inputs, &policy.profile, &read, on_same));
    let machines = machines.collect::<Result<Vec<_>, _>>()?;
    let habits = Habits::of(&recorded.recording);
    let frequencies_given = request.frequencies_given;
    if frequencies_given && !on_same {
        return Err(LabError::refused(
            Fault::Request,
            format!("the trace's frequencies are those of {}, not of {}", recorded_on.name, platform.name),
            "leave out --frequencies trace, or replay on the platform the trace was recorded on",
        ));
    }
    let pin = if request.part.pin { Pin::Asleep } else { Pin::Free };
    let options = SynthesisOptions { only: request.part.tasks.clone(), pin, frequencies_given };
    let made = workload::synthesise(&recorded.recording, &habits, &recorded.names, &machines[0].machine, &options);
    if made.workload.tasks.is_empty() {
        return Err(LabError::input(format!(
            "{}: no task is left to replay: see --task, --from and --to",
            path.display()
        )));
    }
    let mut notes: Vec<String> = why.into_iter().chain(made.notes.iter().cloned()).collect();
    notes.extend(recorded::notes(&read));
    notes.extend(workload::energy_gaps(&recorded::machine(&recorded_on)?.machine, &recorded.totals));
    let given = if frequencies_given { recorded.recording.given_frequencies() } else { Vec::new() };
    let sides = chosen.into_iter().zip(machines);
    let prepared: Vec<Prepared> =
        sides.map(|(policy, built)| prepared(&inputs, policy, built, &made, &given)).collect();
    notes.iter().chain(&prepared[0].notes).for_each(|note| watch.note(note));
    prepared.iter().for_each(|prepared| watch.warn(&prepared.policy.warnings));
    let (rows, remarks) = run_all(request, files, watch, &prepared, recorded, &made, &recorded_on)?;
    remarks.iter().for_each(|remark| watch.note(remark));
    notes.extend(remarks);
    // What is given cannot be off, so it is not judged.
    let judged: Vec<Row> = rows.iter().filter(|r| !(frequencies_given && r.scope == "domain")).cloned().collect();
    let check = request.check.then(|| workload::check(&judged));
    Ok(Replayed {
        trace: path.display().to_string(),
        run: About::of(&prepared[0], prepared[0].plan.config.duration_ns),
        plans: prepared.iter().map(AboutPolicy::of).collect(),
        seeds: (request.seed..request.seed.saturating_add(request.seeds)).collect(),
        platform: platform.name,
        recorded_on: recorded_on.name,
        policies: prepared.iter().map(Prepared::policy_in_words).collect(),
        frequencies_given,
        seconds: crate::round(recorded.totals.window_ns() as f64 / 1e9),
        gaps: recorded::gaps(recorded),
        notes,
        tasks: task_habits(recorded, &habits, &made),
        rows,
        check,
    })
}

fn inputs(request: &ReplayRequest, platform: &Platform, recorded_hz: Option<u32>) -> Inputs {
    Inputs {
        seed: request.seed,
        // A rate that no simulated kernel has is not taken over.
        hz: request.hz.or(recorded_hz.filter(|hz| [100, 250, 300, 1000].contains(hz))),
        rate_limit_us: request.rate_limit_us,
        random_phase: true,
        ..platform.inputs()
    }
}

/// The machine as one policy's kernel sees it, with what the recording says about it.
fn machine(inputs: &Inputs, profile: &str, read: &recorded::Read, same: bool) -> Result<Built, LabError> {
    let mut built = plan::machine(inputs, profile)?;
    prepare_machine(&mut built.machine, &read.recorded, same);
    if let Some(measured) = read.idle_states.as_ref().filter(|_| same) {
        measured.apply(&mut built.machine);
    }
    Ok(built)
}

/// Frequencies begin where they were.
fn prepare_machine(machine: &mut Machine, recorded: &Recorded, same: bool) {
    for domain in machine.domains.iter_mut().filter(|_| same) {
        let known = domain.cpus.iter().find_map(|cpu| recorded.recording.initial_khz.get(cpu));
        if let Some(&khz) = known.filter(|khz| domain.opps.iter().any(|o| o.khz == **khz)) {
            domain.initial_khz = khz;
        }
    }
}

/// The policies asked for. A self-check without one is made under that of the recording; the second value says which.
fn policies(request: &ReplayRequest, info: &TraceInfo) -> Result<(Vec<PolicyChoice>, Option<String>), LabError> {
    let plain = |profile: &Option<String>, sets: Vec<String>| {
        let profile = profile.clone();
        PolicySpec { profile, sets, ..PolicySpec::default() }
    };
    if !request.policies.is_empty() {
        let chosen = request.policies.iter().map(|text| plan::policy(&policy_spec(text, &request.sets)));
        return Ok((chosen.collect::<Result<_, _>>()?, None));
    }
    if request.profile.is_some() || !request.check {
        return Ok((vec![plan::policy(&plain(&request.profile, request.sets.clone()))?], None));
    }
    let (profile, why) = profile_of(info);
    let sets = [sets_of(&profile, info), request.sets.clone()].concat();
    let profile = Some(profile);
    // A header may hold anything: that is no reason to stop.
    let recorded = plan::policy(&plain(&profile, sets));
    let chosen = recorded.or_else(|_| plan::policy(&plain(&profile, request.sets.clone())))?;
    Ok((vec![chosen], Some(why)))
}

fn prepared(
    inputs: &Inputs,
    policy: PolicyChoice,
    built: Built,
    made: &Synthesis,
    given: &[Vec<GivenFrequency>],
) -> Prepared {
    let loaded = Loaded {
        workload: made.workload.clone(),
        warnings: Diagnostics::new(),
        notes: Vec::new(),
        originals: Vec::new(),
        start: None,
    };
    let mut prepared = plan::assemble(inputs, built, policy, loaded);
    let config = RunConfig { frequencies: given.to_vec(), ..prepared.plan.config.clone() };
    prepared.plan = prepared.plan.with_config(config);
    prepared
}

/// Runs every policy with every seed and puts the totals beside the recorded ones.
fn run_all<F: Files>(
    request: &ReplayRequest,
    files: &mut F,
    watch: &dyn Watch,
    prepared: &[Prepared],
    recorded: &Recorded,
    made: &Synthesis,
    recorded_on: &Platform,
) -> Result<(Vec<Row>, Vec<String>), LabError> {
    let total_ns = prepared[0].plan.config.duration_ns.saturating_mul(prepared.len() as u64 * request.seeds);
    let empty = empty_totals(request.settle_ns, recorded, made);
    let simulated: Vec<Vec<Replay>> = watched(watch, total_ns, "replay", |control| {
        let mut all = Vec::new();
        for (i, prepared) in prepared.iter().enumerate() {
            let mut runs = Vec::new();
            for seed in request.seed..request.seed.saturating_add(request.seeds) {
                let sink = if i == 0 && seed == request.seed { files.open(prepared)? } else { None };
                runs.push(simulate(prepared, seed, empty.clone(), files, sink, control)?);
            }
            all.push(runs);
        }
        Ok(all)
    })?;
    let recorded_machine = recorded::machine(recorded_on)?.machine;
    let subject = Subject {
        machine: &prepared[0].plan.machine,
        recorded_machine: &recorded_machine,
        tasks: made.workload.tasks.iter().map(|t| t.name.clone()).collect(),
    };
    let tids = made.sources.iter().map(|&i| recorded.recording.tasks[i].tid).collect();
    let left = Side { totals: &recorded.totals, tids, undone_ns: None };
    let ours: Vec<u32> = (1..=made.sources.len() as u32).collect();
    let right: Vec<Vec<Side<'_>>> =
        simulated.iter().map(|runs| runs.iter().map(|run| run.side(&ours)).collect()).collect();
    Ok((workload::compare(&subject, &left, &right), remarks(&simulated)))
}

/// Remarks on the runs, by policy; of several seeds the first that has one.
fn remarks(simulated: &[Vec<Replay>]) -> Vec<String> {
    let of = |(at, runs): (usize, &Vec<Replay>)| {
        let outgrown = runs.iter().find_map(|run| run.outgrown.clone());
        let undone_ns = runs.iter().map(|run| run.undone_ns).max().unwrap_or(0);
        let busy_ns = runs.iter().map(|run| run.busy_ns).max().unwrap_or(0);
        // Less is a task that was in the middle of something.
        let undone = (undone_ns > busy_ns / UNDONE_PART).then(|| {
            let ms = crate::round(undone_ns as f64 / 1e6);
            format!("{ms} ms of the recorded work (on a CPU of capacity 1024) were still to do at the end")
        });
        let all = outgrown.into_iter().chain(undone);
        all.map(move |said| format!("[{}] {said}", at + 1)).collect::<Vec<_>>()
    };
    simulated.iter().enumerate().flat_map(of).collect()
}

/// Empty totals; quantities that the trace does not contain will not be compared.
fn empty_totals(settle_ns: u64, recorded: &Recorded, made: &Synthesis) -> Totals {
    let from_ns = recorded.recording.from_ns;
    // A frequency that is not in the trace is compared with nothing: the simulated one counts from the start.
    let since_begin = |told_ns: u64| if told_ns == u64::MAX { 0 } else { told_ns.saturating_sub(from_ns) };
    let told: Vec<u64> = recorded.totals.frequencies_told_ns().into_iter().map(since_begin).collect();
    let was_there = |&(_, &i): &(u32, &usize)| !matches!(recorded.recording.tasks[i].first, First::Created(_));
    let there = (1..).zip(&made.sources).filter(was_there).map(|(tid, _)| tid);
    Totals::new(settle_ns, u64::MAX).with_frequencies_from(&told).without_births(there)
}

/// One run.
fn simulate<F: Files>(
    prepared: &Prepared,
    seed: u64,
    mut totals: Totals,
    files: &mut F,
    sink: Option<F::Sink>,
    control: Control<'_>,
) -> Result<Replay, LabError> {
    let report = match sink {
        None => run_one(&prepared.plan, seed, &mut totals, control)?,
        Some(mut sink) => {
            let report = run_one(&prepared.plan, seed, TeeSink(&mut totals, &mut sink), control);
            files.close(sink, report.is_ok())?;
            report?
        }
    };
    totals.finish(report.duration_ns.max(prepared.plan.config.duration_ns));
    let undone_ns = undone_ns(&prepared.plan, &report);
    let outgrown = crate::measure::remarks::outgrown(&report);
    let busy_ns = report.cpus.iter().map(|cpu| cpu.busy_ns).sum();
    Ok(Replay { totals, undone_ns, busy_ns, outgrown })
}

/// A run that replays.
struct Replay {
    totals: Totals,
    undone_ns: u64,
    busy_ns: u64,
    outgrown: Option<String>,
}

impl Replay {
    fn side(&self, tids: &[u32]) -> Side<'_> {
        Side { totals: &self.totals, tids: tids.to_vec(), undone_ns: Some(self.undone_ns) }
    }
}

/// Work of the recording that was still to do at the end, ns at capacity 1024.
fn undone_ns(plan: &Plan, report: &Report) -> u64 {
    let tasks = plan.workload.tasks.iter().zip(&report.tasks);
    tasks.map(|(spec, did)| spec.work_ns().map_or(0, |work_ns| work_ns.saturating_sub(did.work_ns))).sum()
}

fn task_habits(recorded: &Recorded, habits: &Habits, made: &Synthesis) -> Vec<TaskHabit> {
    let one = |(&i, spec): (&usize, &pelton_model::workload::TaskSpec)| {
        let (habit, every, jitter) = match habits.habits[i] {
            Habit::Events => ("events", None, None),
            Habit::Periodic { period_ns, jitter_ns } => ("timer", Some(period_ns), Some(jitter_ns)),
            Habit::Pause { length_ns, jitter_ns } => ("pause", Some(length_ns), Some(jitter_ns)),
        };
        let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
        let tid = recorded.recording.tasks[i].tid;
        TaskHabit { name: spec.name.clone(), tid, habit, every_ms: ms(every), jitter_ms: ms(jitter) }
    };
    made.sources.iter().zip(&made.workload.tasks).map(one).collect()
}
