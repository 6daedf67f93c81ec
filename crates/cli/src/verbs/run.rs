// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton run`: one simulation, its numbers, and its events as files.

use super::common::{
    Screen, failure, input, input_files, notes, policy_file, policy_spec, print, print_json, print_plain, section,
};
use crate::args::{Format, Global, RunArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{self, Pending, create};
use crate::picture;
use crate::rtapp_log::RtAppLogs;
use crate::sheet::{self, Sheet};
use pelton_lab::kernel::decided::Decided;
use pelton_lab::measure::quantity;
use pelton_lab::measure::summary::{RunSummary, Scope};
use pelton_lab::measure::waits::{WaitRow, Waits};
use pelton_lab::number::number;
use pelton_lab::plan::Prepared;
use pelton_lab::run::LabError;
use pelton_lab::verbs::run::{RunRequest, run_into, summary_of, trace_header};
use pelton_model::Plan;
use pelton_report::chart::{ran::Ran, timeline::Timeline};
use pelton_schema::{Event, NullSink, Sink, TeeSink};
use pelton_sim::Report;
use pelton_trace::{PeltonLog, PerfettoTrace};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Runs the verb.
pub fn run(args: &RunArgs, global: &Global) -> Result<Exit, Failure> {
    let watch = Screen::new(global);
    let (seed, random_phase) = (args.seed, !args.same_phase);
    let request = RunRequest { input: input(&args.input), policy: policy_spec(&args.policy)?, seed, random_phase };
    let prepared = request.prepare(&watch).map_err(failure)?;
    if args.like_original {
        check_like_original(&prepared, global)?;
    }
    if args.waits && global.format == Format::Csv {
        let hint = Some("`--format json` has `waits`");
        return Err(Failure::new(Exit::BadInput, "--waits: the numbers of a run as CSV have no waits", hint));
    }
    let plan = &prepared.plan;
    args.plot.as_deref().map_or(Ok(()), picture::check)?;
    spare_inputs(args, plan)?;
    let mut outputs = Outputs::create(args.trace.as_deref(), args.log.as_deref(), &prepared)?;
    let draws = args.charts || args.plot.is_some();
    outputs.timeline = draws.then(|| Timeline::new(&plan.machine, plan.config.duration_ns));
    outputs.waits = args.waits.then(Waits::new);
    outputs.rtapp = args.rt_app_log.as_deref().map(|folder| RtAppLogs::create(folder, plan)).transpose()?;
    let (report, mut outputs) = simulate(&prepared, args.seed, outputs, &watch).map_err(failure)?;
    outputs.rtapp.take().map_or(Ok(()), |logs| logs.finish(report.duration_ns))?;
    let (timeline, waits) = (outputs.timeline.take(), outputs.waits.take());
    let warmth = timeline.as_ref().map_or_else(Vec::new, Timeline::warmth);
    let tracks = timeline.map_or_else(Vec::new, Timeline::finish);
    outputs.finish()?;
    if args.like_original {
        let printed: Vec<String> = prepared.originals.iter().map(|o| o.print(&report)).collect();
        print_plain(&printed.join("\n"))?;
        return Ok(Exit::Good);
    }
    let mut summary = summary_of(&prepared, &report);
    summary.waits = waits.map(|mut waits| {
        waits.finish(report.duration_ns);
        waits.rows(&trace_header(&prepared).tasks)
    });
    if let Some(shown) = args.show {
        summary.kernel = Decided::of(&prepared, &report, shown as usize);
    }
    let ran = draws.then(|| Ran::new(&summary, &report, (tracks, warmth)));
    if let (Some(path), Some(ran)) = (&args.plot, &ran) {
        picture::save(path, &ran.picture())?;
    }
    show(&summary, ran.filter(|_| args.charts).as_ref(), global)?;
    Ok(Exit::Good)
}

/// No output may be a file that the run is made from, or another output.
fn spare_inputs(args: &RunArgs, plan: &Plan) -> Result<(), Failure> {
    let outputs: Vec<PathBuf> = [&args.trace, &args.log, &args.plot].into_iter().flatten().cloned().collect();
    let inputs: Vec<PathBuf> = input_files(&args.input).into_iter().chain(policy_file(&args.policy)).collect();
    output::spare(&outputs, &inputs)?;
    // Their own names differ; there may be ten thousand of them.
    args.rt_app_log.iter().flat_map(|folder| RtAppLogs::paths(folder, plan)).try_for_each(|path| {
        output::spare(std::slice::from_ref(&path), &inputs)?;
        output::spare(&[std::slice::from_ref(&path), &outputs].concat(), &[] as &[&Path])
    })
}

/// Refused before the run, which may take long.
fn check_like_original(prepared: &Prepared, global: &Global) -> Result<(), Failure> {
    if global.format != Format::Table {
        return Err(Failure::new(Exit::BadInput, "--like-original prints text", Some("leave --format away")));
    }
    if prepared.originals.is_empty() {
        let reason = "--like-original: nothing in this workload has an output of its own";
        return Err(Failure::new(Exit::BadInput, reason, Some("docs/guide/workloads.md says which models have one")));
    }
    Ok(())
}

/// The files of a run.
pub(super) struct Outputs {
    trace: Option<PerfettoTrace<File>>,
    log: Option<PeltonLog<File>>,
    rtapp: Option<RtAppLogs>,
    timeline: Option<Timeline>,
    waits: Option<Waits>,
    /// Files that take their places when everything is written.
    pending: Vec<Pending>,
}

/// Events go into the files alone.
impl Sink for Outputs {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.trace.event(time_ns, event);
        self.log.event(time_ns, event);
    }
}

impl Outputs {
    pub(super) fn create(trace: Option<&Path>, log: Option<&Path>, prepared: &Prepared) -> Result<Outputs, Failure> {
        if [trace, log].into_iter().flatten().any(|path| path.as_os_str() == "-") {
            let hint = "write them to a file, or to /dev/fd/3 and redirect that";
            return Err(Failure::new(
                Exit::BadInput,
                "events cannot go to standard output, where results go",
                Some(hint),
            ));
        }
        let header = trace_header(prepared);
        let mut pending = Vec::new();
        let mut open = |path: &Path| {
            let file = create(path, true)?;
            let writer = file.writer()?;
            pending.push(file);
            Ok::<_, Failure>(writer)
        };
        let trace = trace.map(&mut open).transpose()?.map(|file| PerfettoTrace::new(file, &header));
        let log = log.map(&mut open).transpose()?.map(|file| PeltonLog::new(file, &header));
        Ok(Outputs { trace, log, rtapp: None, timeline: None, waits: None, pending })
    }

    /// Ends the files of a run that was stopped: what happened before stays readable, and readers say that it is not
    /// all.
    pub(super) fn abandon(self) {
        interrupt::notice();
        // A failing disk is the smaller news here.
        let _ = self.trace.map(|t| t.abandon());
        let _ = self.log.map(|l| l.abandon());
        self.pending.into_iter().filter_map(Pending::keep_part).for_each(|part| {
            crate::say(&format!("{} is partial: it holds what was written so far, and says so", part.display()));
        });
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        let trace = self.trace.map_or(Ok(()), |t| t.finish().map(drop));
        let log = self.log.map_or(Ok(()), |l| l.finish().map(drop));
        trace.and(log).map_err(|e| Failure::cannot(format!("cannot write the events: {e}"), "is the disk full?"))?;
        self.pending.into_iter().try_for_each(Pending::keep)
    }
}

/// Runs without sinks at all when no file is wanted: then events are not even built.
fn simulate(
    prepared: &Prepared,
    seed: u64,
    mut outputs: Outputs,
    watch: &Screen<'_>,
) -> Result<(Report, Outputs), LabError> {
    let files = outputs.trace.is_some() || outputs.log.is_some();
    let looked_at = outputs.rtapp.is_some() || outputs.timeline.is_some() || outputs.waits.is_some();
    let both = TeeSink(&mut outputs.rtapp, TeeSink(&mut outputs.timeline, &mut outputs.waits));
    let report = match (files, looked_at) {
        (false, false) => run_into(prepared, seed, NullSink, watch),
        (false, true) => run_into(prepared, seed, both, watch),
        (true, _) => {
            let files = TeeSink(&mut outputs.trace, &mut outputs.log);
            run_into(prepared, seed, TeeSink(files, both), watch)
        }
    };
    match report {
        Ok(report) => Ok((report, outputs)),
        Err(error) => {
            outputs.abandon();
            Err(error)
        }
    }
}

fn show(summary: &RunSummary, charts: Option<&Ran>, global: &Global) -> Result<(), Failure> {
    match global.format {
        Format::Json => print_json(summary),
        Format::Csv => print(&long_sheet(summary).csv()),
        Format::Table | Format::Markdown | Format::Toml => print(
            &(text(summary, global) + &charts.map(|ran| ran.blocks(sheet::page_width().into())).unwrap_or_default()),
        ),
    }
}

/// Every number in its own line.
fn long_sheet(summary: &RunSummary) -> Sheet {
    let mut sheet = Sheet::new(&["<scope", "<of", "<quantity", "value", "<unit", "<note"]);
    for r in &summary.rows {
        let (scope, of) = (r.scope.name().to_owned(), r.of.clone());
        let value = r.value.map(number).unwrap_or_default();
        let note = r.note.unwrap_or_default().to_owned();
        sheet.row(vec![scope, of, r.quantity.to_owned(), value, r.unit.to_owned(), note]);
    }
    let mut share = |scope: &str, of: &str, ms: f64, pct: f64| {
        for (entry, value) in quantity::shares(scope).zip([ms, pct]) {
            let words = [scope, of, entry.name, &number(value), entry.unit, ""];
            sheet.row(words.map(str::to_owned).to_vec());
        }
    };
    for r in summary.residency.iter().filter(|r| r.ms > 0.0) {
        share("frequency", &format!("{} {} kHz", r.domain, r.khz), r.ms, r.pct);
    }
    for r in summary.idle_residency.iter().filter(|r| r.entries > 0) {
        share("idle", &format!("cpu{} {}", r.cpu, r.state), r.ms, r.pct);
    }
    for r in summary.placement.iter().filter(|r| r.ms > 0.0) {
        share("placement", &format!("{} {}", r.task, r.domain), r.ms, r.pct);
    }
    sheet
}

/// Start of tasks and ticks, for a head line.
pub fn phases(random: bool) -> &'static str {
    if random { "random phases" } else { "one phase" }
}

fn text(summary: &RunSummary, global: &Global) -> String {
    let run = &summary.run;
    let mut out = format!(
        "{} on {}, policy {}, {} s at {} Hz ticks, seed {}, {}\n",
        run.about.workload,
        run.about.platform,
        run.policy.policy,
        number(run.about.duration_s),
        run.about.hz,
        run.seed,
        phases(run.about.random_phase)
    );
    if global.verbose > 0 {
        out += &section("all numbers", &long_sheet(summary).renamed("of", "name"));
    } else {
        out += &section("measured by the workload", &measured(summary));
        out += &section("domains", &domains(summary));
        out += &section("thermal zones", &zones(summary));
        out += &section("cooled domains", &cooled(summary));
        out += &section("tasks", &tasks(summary));
        out += &section("where tasks executed, %", &placement(summary));
        out += &section("groups with a quota", &groups(summary));
    }
    out += &both_energies(summary);
    for (about, note) in notes(summary.rows.iter().map(|row| (row.quantity, row.note))) {
        out += &format!("\n{about}: {note}\n");
    }
    summary.remarks.iter().for_each(|remark| out += &format!("\nnote: {remark}\n"));
    out += &section("time at frequency", &residency(summary));
    out += &summary.kernel.as_ref().map_or_else(String::new, decided);
    out += &summary.waits.as_deref().map_or_else(String::new, |rows| waits(rows, global.verbose > 0));
    if !summary.stuck_tasks.is_empty() {
        out += &format!("\nwaiting for each other for ever: {}\n", summary.stuck_tasks.join(", "));
    }
    out
}

/// Kinds of waits that a table has without `-v`.
const WAITS_SHOWN: usize = 15;

/// Waits of tasks.
fn waits(rows: &[WaitRow], all: bool) -> String {
    let shown = if all { rows.len() } else { rows.len().min(WAITS_SHOWN) };
    let mut sheet =
        Sheet::new(&["<task", "<waits since", "<behind", "<task there", "times", "ms", "mean us", "longest us"]);
    for row in &rows[..shown] {
        let words = [&row.task, row.since.name(), row.behind.name(), row.holder.as_deref().unwrap_or("-")];
        let numbers = [number(row.total_ms), number(row.mean_us), number(row.max_us)];
        sheet.row(words.map(str::to_owned).into_iter().chain([row.count.to_string()]).chain(numbers).collect());
    }
    let rest: f64 = rows[shown..].iter().map(|row| row.total_ms).sum();
    let more = rows.len() - shown;
    let more = if more > 0 { format!("{more} more kinds, {} ms in all (-v)\n", number(rest)) } else { String::new() };
    section("waits", &sheet) + &more
}

/// Part of the run that a kernel's own code decided.
fn decided(kernel: &Decided) -> String {
    let mut sheet = Sheet::new(&["<function", "<decided by", "decisions", "core differs"]);
    for one in &kernel.operations {
        let by = if one.calls > 0 { format!("kernel:{}", kernel.name) } else { "-".to_owned() };
        let differ = one.differ.map_or_else(|| "-".to_owned(), |differ| differ.to_string());
        sheet.row(vec![one.function.to_owned(), by, one.calls.to_string(), differ]);
    }
    let title =
        format!("kernel code of Linux {}; the rest is the core's, by profile {}", kernel.release, kernel.profile);
    let mut out = section(&title, &sheet);
    let mut sheet = Sheet::new(&["time s", "<operation", "<about", "<kernel", "<core"]);
    for one in &kernel.differences {
        let time = format!("{:.6}", one.at_ns as f64 / 1e9);
        let words = [one.operation, &one.about, &one.kernel, &one.core].map(str::to_owned);
        sheet.row(std::iter::once(time).chain(words).collect());
    }
    out += &section("first decisions that the core takes otherwise", &sheet);
    let mut sheet = Sheet::new(&["<warning at", "<operation", "first s", "times"]);
    for one in &kernel.warnings {
        let first = format!("{:.6}", one.first_ns as f64 / 1e9);
        sheet.row(vec![one.place.clone(), one.operation.to_owned(), first, one.count.to_string()]);
    }
    out + &section("warnings of the kernel code", &sheet)
}

/// Energy that is drawn beside the energy that the kernel believes, where they differ.
fn both_energies(summary: &RunSummary) -> String {
    let value = |name: &str| {
        let row = summary.rows.iter().find(|row| row.scope == Scope::Run && row.quantity == name);
        row.and_then(|row| row.value)
    };
    let all = (value("energy_mj"), value("energy_model_mj"), value("energy_model_diff_pct"));
    let (Some(drawn), Some(model), Some(diff_pct)) = all else { return String::new() };
    if diff_pct == 0.0 {
        return String::new();
    }
    let (drawn, model, diff_pct) = (number(drawn), number(model), number(diff_pct));
    format!("\nenergy: {drawn} mJ drawn; {model} mJ by the kernel's model, which places tasks ({diff_pct} %)\n")
}

/// One line per name of this scope, under the word for what it is: the columns are quantities.
fn wide_sheet(summary: &RunSummary, scope: Scope, of: &str, quantities: &[&str]) -> Sheet {
    let heading = |name: &&str| quantity::find(name).map_or("", |quantity| quantity.heading);
    let header: Vec<&str> = std::iter::once(of).chain(quantities.iter().map(heading)).collect();
    let mut sheet = Sheet::new(&header);
    let of_quantity = |name: &&str| {
        let rows = summary.rows.iter().filter(|r| r.scope == scope && r.quantity == *name);
        rows.map(|r| (&*r.of, r.value)).collect::<Vec<_>>()
    };
    let of_first = of_quantity(&quantities[0]);
    let columns: Vec<_> = quantities.iter().map(|name| in_order_of(&of_first, of_quantity(name))).collect();
    for (at, (of, _)) in of_first.iter().enumerate() {
        let values: Vec<Option<f64>> = columns.iter().map(|column| column[at]).collect();
        if scope == Scope::Task && !values.iter().flatten().any(|&value| value != 0.0) {
            continue;
        }
        let shown = values.into_iter().map(|value| value.map_or_else(|| "-".to_owned(), number));
        sheet.row(std::iter::once((*of).to_owned()).chain(shown).collect());
    }
    sheet
}

/// Values of one quantity for the names of another one. Mostly both have the same names; where not, they are looked up:
/// a run may have ten thousand tasks.
fn in_order_of(names: &[(&str, Option<f64>)], column: Vec<(&str, Option<f64>)>) -> Vec<Option<f64>> {
    if names.iter().map(|(name, _)| name).eq(column.iter().map(|(name, _)| name)) {
        return column.into_iter().map(|(_, value)| value).collect();
    }
    let values: BTreeMap<&str, Option<f64>> = column.into_iter().collect();
    names.iter().map(|(name, _)| values.get(name).copied().flatten()).collect()
}

/// Numbers that the workload's own programs would print.
fn measured(summary: &RunSummary) -> Sheet {
    let mut sheet = Sheet::new(&["<quantity", "value", "<unit", "<what"]);
    for quantity in quantity::MEASURED.iter().filter_map(|name| quantity::find(name)) {
        let row = summary.rows.iter().find(|row| row.scope == Scope::Run && row.quantity == quantity.name);
        if let Some(value) = row.and_then(|row| row.value) {
            let words = [quantity.name, &number(value), quantity.unit, quantity.doc];
            sheet.row(words.map(str::to_owned).to_vec());
        }
    }
    sheet
}

fn domains(summary: &RunSummary) -> Sheet {
    let quantities = [
        "domain_transitions",
        "domain_evaluations",
        "domain_gated",
        "domain_busy_pct",
        "domain_mhz_avg",
        "domain_energy_mj",
    ];
    wide_sheet(summary, Scope::Domain, "<domain", &quantities)
}

fn zones(summary: &RunSummary) -> Sheet {
    let quantities = ["temperature_c_avg", "temperature_c_max", "temperature_c_end", "hot_pct", "zone_reads"];
    wide_sheet(summary, Scope::Zone, "<zone", &quantities)
}

fn cooled(summary: &RunSummary) -> Sheet {
    let quantities = ["throttled_pct", "cooling_limit_mhz_avg", "cooling_state_max", "cooling_changes"];
    wide_sheet(summary, Scope::Domain, "<domain", &quantities)
}

fn tasks(summary: &RunSummary) -> Sheet {
    let quantities = [
        "run_ms",
        "wait_ms",
        "events",
        "latency_ms_avg",
        "latency_ms_max",
        "wakeup_latency_us_avg",
        "wakeup_latency_us_p95",
        "wakeup_latency_us_p99",
        "wakeup_latency_us_max",
        "overruns",
        "task_energy_mj",
    ];
    wide_sheet(summary, Scope::Task, "<task", &quantities)
}

/// A column per domain, where there are few enough for a line.
fn placement(summary: &RunSummary) -> Sheet {
    const DOMAINS_MAX: usize = 6;
    let first = summary.placement.first().map(|r| &r.task);
    let domains: Vec<&str> =
        summary.placement.iter().take_while(|r| Some(&r.task) == first).map(|r| r.domain.as_str()).collect();
    let mut sheet = Sheet::new(&[&["<task"], &domains[..]].concat());
    if (1..=DOMAINS_MAX).contains(&domains.len()) {
        for of_task in summary.placement.chunks(domains.len()) {
            let shares = of_task.iter().map(|r| format!("{:.1}", r.pct));
            sheet.row(std::iter::once(of_task[0].task.clone()).chain(shares).collect());
        }
    }
    sheet
}

fn groups(summary: &RunSummary) -> Sheet {
    let quantities = ["group_usage_ms", "nr_periods", "nr_throttled", "throttled_ms", "nr_bursts", "burst_ms"];
    wide_sheet(summary, Scope::Group, "<group", &quantities)
}

fn residency(summary: &RunSummary) -> Sheet {
    let mut sheet = Sheet::new(&["<domain", "MHz", "ms", "%"]);
    for r in summary.residency.iter().filter(|r| r.ms > 0.0) {
        sheet.row(vec![r.domain.clone(), number(f64::from(r.khz) / 1e3), number(r.ms), format!("{:.1}", r.pct)]);
    }
    sheet
}
