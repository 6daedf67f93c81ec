// SPDX-License-Identifier: GPL-2.0-only
//! `pelton replay`: the recorded workload under another policy, profile or platform.

use super::common::{bad_input, policy_files, print, print_as_json, say_warnings, section, watched};
use super::recorded::{self, Platform};
use super::run::Outputs;
use crate::args::{Format, Frequencies, Global, ReplayArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::results;
use crate::sheet::Sheet;
use crate::units::number;
use pelton_lab::about::{About, AboutPolicy};
use pelton_lab::plan::{self, Inputs, PolicySpec, Prepared};
use pelton_lab::run::{Control, LabError, run_one};
use pelton_model::Plan;
use pelton_model::{GivenFrequency, Machine, RunConfig};
use pelton_replay::workload::{
    self, First, Habit, Habits, Pin, Recorded, Row, Side, Subject, Synthesis, SynthesisOptions, Totals, Verdict,
};
use pelton_scenario::Diagnostics;
use pelton_scenario::platform::Built;
use pelton_scenario::policy::PolicyChoice;
use pelton_scenario::rtapp::Loaded;
use pelton_schema::TeeSink;
use pelton_sim::Report;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Tasks shown without `-v`.
const TASKS_SHOWN: usize = 8;

/// Does what was asked.
pub fn replay(args: &ReplayArgs, global: &Global) -> Result<Exit, Failure> {
    let outputs: Vec<&Path> = [&args.trace, &args.log].into_iter().flatten().map(PathBuf::as_path).collect();
    let named = args.traces.iter().cloned().chain(policy_files(&args.policies)).chain(args.part.platform_files());
    output::spare(&outputs, &named.collect::<Vec<PathBuf>>())?;
    let mut results = Vec::new();
    for (i, path) in args.traces.iter().enumerate() {
        let result = one(args, path, i == 0, global)?;
        if global.format == Format::Table {
            print(&text(&result, global.verbose > 0))?;
        }
        results.push(result);
    }
    match global.format {
        Format::Table | Format::Toml => {}
        Format::Json => print_as_json(&results.iter().map(results::described).collect::<Vec<_>>())?,
        Format::Csv => print(&csv(&results).csv())?,
    }
    let holds = results.iter().flat_map(|r| r.check.iter().flatten()).all(Verdict::holds);
    Ok(if holds { Exit::Good } else { Exit::ClaimFails })
}

/// One trace replayed.
#[derive(Serialize, JsonSchema)]
pub struct Replayed {
    /// The file.
    trace: String,
    /// What was run.
    run: About,
    /// What each policy is, in order.
    plans: Vec<AboutPolicy>,
    /// Seeds every policy ran with.
    seeds: Vec<u64>,
    /// Platform of the replay.
    platform: String,
    /// Platform of the recording.
    recorded_on: String,
    /// Policies in words, in order.
    policies: Vec<String>,
    /// The trace sets the frequencies, not the governor.
    frequencies_given: bool,
    /// Length of the window that is compared, s.
    seconds: f64,
    /// What the trace did not tell.
    gaps: recorded::Gaps,
    /// What was decided where the trace leaves a choice.
    notes: Vec<String>,
    /// How the sleeps of each task end.
    tasks: Vec<TaskHabit>,
    /// One row per number: recorded, and under each policy.
    rows: Vec<Row>,
    /// Verdicts of the self-check; null when it was not asked for.
    check: Option<Vec<Verdict>>,
}

/// How a task's sleeps end.
#[derive(Serialize, JsonSchema)]
struct TaskHabit {
    /// Name.
    name: String,
    /// Number in the trace.
    tid: u32,
    /// `timer`, `pause` or `events`.
    habit: &'static str,
    /// Period or length, ms; null for `events`.
    every_ms: Option<f64>,
    /// How much it varies, ms.
    jitter_ms: Option<f64>,
}

fn one(args: &ReplayArgs, path: &Path, first: bool, global: &Global) -> Result<Replayed, Failure> {
    let read = recorded::read(&args.part, path, settle_ns(args), global)?;
    let (recorded, recorded_on) = (&read.recorded, read.platform.clone());
    let platform = args.part.platform.as_deref().map_or_else(|| recorded_on.clone(), Platform::named);
    let inputs = inputs(args, &platform, read.hz);
    let chosen = policies(args).iter().map(plan::policy).collect::<Result<Vec<_>, _>>().map_err(|d| bad_input(&d))?;
    let on_same = platform == recorded_on
        || recorded::machine(&platform)?.machine.name == recorded::machine(&recorded_on)?.machine.name;
    let machines = chosen.iter().map(|policy| machine(&inputs, &policy.profile, &read, on_same));
    let machines = machines.collect::<Result<Vec<_>, _>>()?;
    let habits = Habits::of(&recorded.recording);
    let frequencies_given = args.frequencies == Frequencies::Trace;
    if frequencies_given && !on_same {
        return Err(Failure::new(
            Exit::Usage,
            format!("the trace's frequencies are those of {}, not of {}", recorded_on.name, platform.name),
            Some("leave out --frequencies trace, or replay on the platform the trace was recorded on"),
        ));
    }
    let pin = if args.part.pin { Pin::Asleep } else { Pin::Free };
    let options = SynthesisOptions { only: args.part.tasks.clone(), pin, frequencies_given };
    let made = workload::synthesise(&recorded.recording, &habits, &recorded.names, &machines[0].machine, &options);
    if made.workload.tasks.is_empty() {
        return Err(Failure::input(format!(
            "{}: no task is left to replay: see --task, --from and --to",
            path.display()
        )));
    }
    let mut notes = made.notes.clone();
    notes.extend(recorded::notes(&read));
    let given = if frequencies_given { recorded.recording.given_frequencies() } else { Vec::new() };
    let sides = chosen.into_iter().zip(machines);
    let prepared: Vec<Prepared> =
        sides.map(|(policy, built)| prepared(&inputs, policy, built, &made, &given)).collect();
    if !global.quiet {
        notes.iter().chain(&prepared[0].notes).for_each(|note| crate::say(&format!("note: {note}")));
        prepared.iter().for_each(|prepared| say_warnings(&prepared.policy.warnings));
    }
    let rows = run_all(args, first, global, &prepared, recorded, &made, &recorded_on)?;
    // What is given cannot be off, so it is not judged.
    let judged: Vec<Row> = rows.iter().filter(|r| !(frequencies_given && r.scope == "domain")).cloned().collect();
    let check = args.check.then(|| workload::check(&judged));
    Ok(Replayed {
        trace: path.display().to_string(),
        run: About::of(&prepared[0], prepared[0].plan.config.duration_ns),
        plans: prepared.iter().map(AboutPolicy::of).collect(),
        seeds: (args.seed..args.seed.saturating_add(args.seeds)).collect(),
        platform: platform.name,
        recorded_on: recorded_on.name,
        policies: prepared.iter().map(Prepared::policy_in_words).collect(),
        frequencies_given,
        seconds: pelton_lab::round(recorded.totals.window_ns() as f64 / 1e9),
        gaps: recorded::gaps(recorded),
        notes,
        tasks: task_habits(recorded, &habits, &made),
        rows,
        check,
    })
}

fn inputs(args: &ReplayArgs, platform: &Platform, recorded_hz: Option<u32>) -> Inputs {
    Inputs {
        seed: args.seed,
        // A rate that no simulated kernel has is not taken over.
        hz: args.hz.or(recorded_hz.filter(|hz| [100, 250, 300, 1000].contains(hz))),
        rate_limit_us: args.rate_limit_us,
        random_phase: args.seeds > 1,
        ..platform.inputs()
    }
}

fn settle_ns(args: &ReplayArgs) -> u64 {
    args.settle.unwrap_or(0)
}

/// The machine as one policy's kernel sees it, with what the recording says about it.
fn machine(inputs: &Inputs, profile: &str, read: &recorded::Read, same: bool) -> Result<Built, Failure> {
    let mut built = plan::machine(inputs, profile).map_err(|d| bad_input(&d))?;
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

fn policies(args: &ReplayArgs) -> Vec<PolicySpec> {
    if args.policies.is_empty() {
        return vec![PolicySpec { file: None, profile: args.profile.clone(), sets: args.sets.clone(), typed: None }];
    }
    let spec = |text: &String| {
        let mut spec = PolicySpec::parse(text);
        spec.sets.extend(args.sets.iter().cloned());
        spec
    };
    args.policies.iter().map(spec).collect()
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
    };
    let mut prepared = plan::assemble(inputs, built, policy, loaded);
    let config = RunConfig { frequencies: given.to_vec(), ..prepared.plan.config.clone() };
    prepared.plan = prepared.plan.with_config(config);
    prepared
}

/// Runs every policy with every seed and puts the totals beside the recorded ones.
fn run_all(
    args: &ReplayArgs,
    first: bool,
    global: &Global,
    prepared: &[Prepared],
    recorded: &Recorded,
    made: &Synthesis,
    recorded_on: &Platform,
) -> Result<Vec<Row>, Failure> {
    let settle_ns = settle_ns(args);
    let total_ns = prepared[0].plan.config.duration_ns.saturating_mul(prepared.len() as u64 * args.seeds);
    let empty = empty_totals(settle_ns, recorded, made);
    let simulated: Vec<Vec<Replay>> = watched(global, total_ns, "replay", |control| {
        let mut all = Vec::new();
        for (i, prepared) in prepared.iter().enumerate() {
            let seeds = args.seed..args.seed.saturating_add(args.seeds);
            let run = |seed| {
                let files = first && i == 0 && seed == args.seed;
                let (trace, log) = if files { (args.trace.as_deref(), args.log.as_deref()) } else { (None, None) };
                simulate(prepared, seed, empty.clone(), trace, log, control)
            };
            all.push(seeds.map(run).collect::<Result<Vec<_>, _>>()?);
        }
        Ok(all)
    })?
    .into_iter()
    .map(|runs| runs.into_iter().collect::<Result<Vec<_>, _>>())
    .collect::<Result<_, Failure>>()?;
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
    Ok(workload::compare(&subject, &left, &right))
}

/// Nothing added up yet; what the trace does not tell will not be compared.
fn empty_totals(settle_ns: u64, recorded: &Recorded, made: &Synthesis) -> Totals {
    let from_ns = recorded.recording.from_ns;
    // A frequency that the trace never tells is compared with nothing: the simulated one counts from the start.
    let since_begin = |told_ns: u64| if told_ns == u64::MAX { 0 } else { told_ns.saturating_sub(from_ns) };
    let told: Vec<u64> = recorded.totals.frequencies_told_ns().into_iter().map(since_begin).collect();
    let was_there = |&(_, &i): &(u32, &usize)| !matches!(recorded.recording.tasks[i].first, First::Created(_));
    let there = (1..).zip(&made.sources).filter(was_there).map(|(tid, _)| tid);
    Totals::new(settle_ns, u64::MAX).with_frequencies_from(&told).without_births(there)
}

/// One run. The outer error stops everything; the inner one is a file that cannot be written.
fn simulate(
    prepared: &Prepared,
    seed: u64,
    mut totals: Totals,
    trace: Option<&Path>,
    log: Option<&Path>,
    control: Control<'_>,
) -> Result<Result<Replay, Failure>, LabError> {
    let mut outputs = match Outputs::create(trace, log, prepared) {
        Ok(outputs) => outputs,
        Err(failure) => return Ok(Err(failure)),
    };
    let report = if trace.is_none() && log.is_none() {
        run_one(&prepared.plan, seed, &mut totals, control)?
    } else {
        let files = TeeSink(&mut outputs.trace, &mut outputs.log);
        match run_one(&prepared.plan, seed, TeeSink(&mut totals, files), control) {
            Ok(report) => report,
            Err(stopped) => {
                outputs.abandon();
                return Err(stopped);
            }
        }
    };
    totals.finish(report.duration_ns.max(prepared.plan.config.duration_ns));
    let undone_ns = undone_ns(&prepared.plan, &report);
    Ok(outputs.finish().map(|()| Replay { totals, undone_ns }))
}

/// A run that replays.
struct Replay {
    totals: Totals,
    undone_ns: u64,
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

fn csv(results: &[Replayed]) -> Sheet {
    let mut sheet = Sheet::new(&["<trace", "<policy", "<scope", "<of", "<quantity", "<unit", "recorded", "simulated"]);
    for result in results {
        for row in &result.rows {
            for (policy, simulated) in result.policies.iter().zip(&row.simulated) {
                let recorded = row.recorded.map(number).unwrap_or_default();
                let words = [&result.trace, policy, row.scope, &row.of, row.quantity, row.unit];
                let mut cells: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
                cells.extend([recorded, simulated.map(number).unwrap_or_default()]);
                sheet.row(cells);
            }
        }
    }
    sheet
}

fn text(result: &Replayed, all: bool) -> String {
    let mut out = format!(
        "{}: {} s, {} tasks, recorded on {}, replayed on {}\n",
        result.trace,
        number(result.seconds),
        result.tasks.len(),
        result.recorded_on,
        result.platform
    );
    for (i, policy) in result.policies.iter().enumerate() {
        out += &format!("  [{}] {policy}\n", i + 1);
    }
    let busiest = busiest(result, all);
    for scope in ["run", "domain", "cpu", "task"] {
        let shown = |row: &&Row| row.scope == scope && (scope != "task" || busiest.contains(&row.of.as_str()));
        out += &section(scope, &sheet(result, result.rows.iter().filter(shown)));
    }
    if !all && result.tasks.len() > TASKS_SHOWN {
        out += &format!("\nthe {TASKS_SHOWN} busiest of {} tasks; -v shows all\n", result.tasks.len());
    }
    if all {
        out += &section("how sleeps end", &habit_sheet(result));
    }
    if let Some(check) = &result.check {
        out += &section("self-check", &check_sheet(check, result.frequencies_given));
    }
    out
}

/// Names of the tasks that are shown.
fn busiest(result: &Replayed, all: bool) -> Vec<&str> {
    let mut tasks: Vec<(&str, f64)> = result
        .rows
        .iter()
        .filter(|r| r.scope == "task" && r.quantity == "run_ms")
        .map(|r| (r.of.as_str(), r.recorded.unwrap_or(0.0)))
        .collect();
    tasks.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = if all { tasks.len() } else { TASKS_SHOWN };
    tasks.into_iter().take(most).map(|(name, _)| name).collect()
}

fn sheet<'a>(result: &Replayed, rows: impl Iterator<Item = &'a Row>) -> Sheet {
    let columns: Vec<String> = (1..=result.policies.len()).map(|i| format!("[{i}]")).collect();
    let mut header = vec!["<of", "<quantity", "<unit", "recorded"];
    header.extend(columns.iter().flat_map(|c| [c.as_str(), "change"]));
    let mut sheet = Sheet::new(&header);
    let mut before = String::new();
    for row in rows {
        let of = if row.of == before { String::new() } else { row.of.clone() };
        before.clone_from(&row.of);
        let recorded = row.recorded.map_or_else(|| "-".to_owned(), number);
        let mut cells = vec![of, row.quantity.to_owned(), row.unit.to_owned(), recorded];
        for &simulated in &row.simulated {
            let both = row.recorded.filter(|r| *r != 0.0).zip(simulated);
            let change = both.map(|(recorded, simulated)| (simulated - recorded) / recorded * 100.0);
            cells.extend([
                simulated.map_or_else(|| "-".to_owned(), number),
                change.map(|c| format!("{c:+.1} %")).unwrap_or_default(),
            ]);
        }
        sheet.row(cells);
    }
    sheet
}

fn habit_sheet(result: &Replayed) -> Sheet {
    let mut sheet = Sheet::new(&["<task", "<sleeps end by", "every ms", "jitter ms"]);
    for task in &result.tasks {
        let ms = |v: Option<f64>| v.map(number).unwrap_or_default();
        sheet.row(vec![task.name.clone(), task.habit.to_owned(), ms(task.every_ms), ms(task.jitter_ms)]);
    }
    sheet
}

fn check_sheet(check: &[Verdict], frequencies_given: bool) -> Sheet {
    let mut sheet =
        Sheet::new(&["<of", "<quantity", "<allowed", "within", "<worst", "recorded", "simulated", "<verdict"]);
    for verdict in check {
        let t = verdict.tolerance;
        let allowed = format!("{} % or {}", number(t.relative_pct), number(t.absolute));
        let within = format!("{}/{}", verdict.within, verdict.rows);
        let (of, recorded, simulated) = match &verdict.worst {
            Some(w) => (w.of.clone(), number(w.recorded), number(w.simulated)),
            None => Default::default(),
        };
        let word = match (verdict.rows, verdict.holds()) {
            (0, _) if frequencies_given && t.scope == "domain" => "given",
            (0, _) => "not told",
            (_, true) => "holds",
            _ => "differs",
        };
        let cells =
            vec![t.scope.to_owned(), t.quantity.to_owned(), allowed, within, of, recorded, simulated, word.to_owned()];
        sheet.row(cells);
    }
    sheet
}
