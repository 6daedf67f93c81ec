// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton replay`: the recorded workload under another policy, profile or platform.

use super::common::{Screen, failure, part, policy_files, print, print_as_json, section};
use super::run::Outputs;
use crate::args::{Format, Frequencies, Global, ReplayArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::sheet::Sheet;
use pelton_lab::number::number;
use pelton_lab::plan::Prepared;
use pelton_lab::results;
use pelton_lab::run::LabError;
use pelton_lab::verbs::replay::{Files, ReplayRequest, Replayed, replay_into};
use pelton_replay::workload::{Row, Verdict};
use std::path::{Path, PathBuf};

/// Tasks shown without `-v`.
const TASKS_SHOWN: usize = 8;

/// Runs the verb.
pub fn replay(args: &ReplayArgs, global: &Global) -> Result<Exit, Failure> {
    let outputs: Vec<&Path> = [&args.trace, &args.log].into_iter().flatten().map(PathBuf::as_path).collect();
    let named = args.traces.iter().cloned().chain(policy_files(&args.policies)).chain(args.part.platform_files());
    output::spare(&outputs, &named.collect::<Vec<PathBuf>>())?;
    let mut results = Vec::new();
    let mut files = Taken { args, done: false, failure: None };
    let watch = Screen::new(global);
    for path in &args.traces {
        let result = replay_into(&request(args, path), &mut files, &watch);
        let result = result.map_err(|error| files.failure.take().unwrap_or_else(|| failure(error)))?;
        if global.format == Format::Table {
            print(&text(&result, global))?;
        }
        results.push(result);
    }
    match global.format {
        Format::Table | Format::Markdown | Format::Toml => {}
        Format::Json => print_as_json(&results.iter().map(results::described).collect::<Vec<_>>())?,
        Format::Csv => print(&csv(&results).csv())?,
    }
    let holds = results.iter().flat_map(|r| r.check.iter().flatten()).all(Verdict::holds);
    Ok(if holds { Exit::Good } else { Exit::ClaimFails })
}

fn request(args: &ReplayArgs, trace: &Path) -> ReplayRequest {
    ReplayRequest {
        trace: trace.to_owned(),
        part: part(&args.part),
        policies: args.policies.clone(),
        profile: args.profile.clone(),
        sets: args.sets.clone(),
        seed: args.seed,
        seeds: args.seeds,
        check: args.check,
        frequencies_given: args.frequencies == Frequencies::Trace,
        settle_ns: args.settle.unwrap_or(0),
        hz: args.hz,
        rate_limit_us: args.rate_limit_us,
    }
}

/// The files that were asked for: of the first trace's first run.
struct Taken<'a> {
    args: &'a ReplayArgs,
    /// The files are open, or written.
    done: bool,
    /// Reason why the files could not be written.
    failure: Option<Failure>,
}

impl Taken<'_> {
    fn failed(&mut self, failure: Failure) -> LabError {
        self.failure = Some(failure);
        LabError::Caller
    }
}

impl Files for Taken<'_> {
    type Sink = Outputs;

    fn open(&mut self, prepared: &Prepared) -> Result<Option<Outputs>, LabError> {
        if self.done || self.args.trace.is_none() && self.args.log.is_none() {
            return Ok(None);
        }
        self.done = true;
        let (trace, log) = (self.args.trace.as_deref(), self.args.log.as_deref());
        Outputs::create(trace, log, prepared).map(Some).map_err(|failure| self.failed(failure))
    }

    fn close(&mut self, sink: Outputs, whole: bool) -> Result<(), LabError> {
        if whole {
            return sink.finish().map_err(|failure| self.failed(failure));
        }
        sink.abandon();
        Ok(())
    }
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

fn text(result: &Replayed, global: &Global) -> String {
    let all = global.verbose > 0;
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
    if global.quiet {
        // What was assumed is part of the result: elsewhere it stands on stderr.
        result.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
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
        out += &check_line(check);
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
    let mut header = vec!["<name", "<quantity", "<unit", "recorded"];
    header.extend(columns.iter().flat_map(|c| [c.as_str(), "change"]));
    let mut sheet = Sheet::new(&header).with_keys(2);
    let mut before = String::new();
    let is_known = |row: &&Row| row.recorded.is_some() || row.simulated.iter().any(Option::is_some);
    // Numbers of the whole run are shown where they are not known too: one looks for them.
    for row in rows.filter(|row| row.scope == "run" || is_known(row)) {
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
    sheet.without_empty_columns()
}

fn habit_sheet(result: &Replayed) -> Sheet {
    let mut sheet = Sheet::new(&["<task", "<sleeps end by", "every ms", "jitter ms"]);
    for task in &result.tasks {
        let ms = |v: Option<f64>| v.map(number).unwrap_or_default();
        sheet.row(vec![task.name.clone(), task.habit.to_owned(), ms(task.every_ms), ms(task.jitter_ms)]);
    }
    sheet
}

/// The verdict of the self-check, and what each quantity that differs depends on.
fn check_line(check: &[Verdict]) -> String {
    let judged = check.iter().filter(|verdict| verdict.rows > 0).count();
    let differs: Vec<&Verdict> = check.iter().filter(|verdict| !verdict.holds()).collect();
    let name = |verdict: &Verdict| format!("{} {}", verdict.tolerance.scope, verdict.tolerance.quantity);
    let mut out = String::new();
    for verdict in &differs {
        out += &format!("{}: {}\n", name(verdict), verdict.depends_on());
    }
    let word = if differs.is_empty() { "holds" } else { "differs" };
    out + &format!("{word}: {} of {judged} quantities within what is allowed\n", judged - differs.len())
}

fn check_sheet(check: &[Verdict], frequencies_given: bool) -> Sheet {
    let mut sheet =
        Sheet::new(&["<scope", "<quantity", "<allowed", "within", "<worst", "recorded", "simulated", "<verdict"]);
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
