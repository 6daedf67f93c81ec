// SPDX-License-Identifier: GPL-2.0-only
//! `pelton record --balances`: how the running kernel balances tasks between CPUs, counted, and as a table.

use super::lines::{Lines, take};
use super::{Work, cannot};
use crate::args::{Format, Global, RecordArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::sheet::Sheet;
use crate::units::number;
use crate::verbs::common::{print, print_json, section};
use pelton_lab::results::balances::{BalanceCounts, BalanceKind, BalancesRecorded, LoadFigures};
use pelton_live::loads::{Load, Results};
use pelton_live::{BalanceSession, BalanceSummary, KINDS};
use std::path::Path;

/// How long a load has run before counting begins, ns: its tasks have spread over the CPUs by then.
pub(super) const SETTLES_NS: u64 = 500_000_000;
/// Shares of a load's figures that are told, of 1000.
const QUANTILES: [usize; 5] = [500, 750, 900, 950, 990];

/// Does what was asked; `-`: no table.
pub fn record(table: &Path, load: Option<Load>, args: &RecordArgs, global: &Global) -> Result<Exit, Failure> {
    let named = (table.as_os_str() != "-").then(|| (table, pelton_replay::placements::beside(table)));
    if let Some((table, beside)) = &named {
        output::spare(&[*table, beside.as_path()], &[] as &[&Path])?;
    }
    args.command.first().map_or(Ok(()), |program| super::can_start(program))?;
    let mut session = BalanceSession::start(named.is_some()).map_err(|e| cannot(&e))?;
    let mut lines = named.as_ref().map(|(table, _)| Lines::create(table)).transpose()?;
    lines.iter_mut().for_each(|lines| lines.put(&session.header()));
    let mut work = Work::start(args, load)?;
    work.say(global);
    let settles_ns = if work.load.is_some() { SETTLES_NS } else { 0 };
    let until_ns = work.until_ns(args).saturating_add(settles_ns);
    let mut counts = false;
    take(&mut lines, &mut work, until_ns, global, "searches", |put, elapsed_ns| {
        if !counts && elapsed_ns >= settles_ns {
            session.begin().map_err(|e| cannot(&e))?;
            counts = true;
        }
        Ok(session.poll(put))
    })?;
    let mut put = |line: &str| lines.iter_mut().for_each(|lines| lines.put(line));
    let summary = session.finish(&mut put).map_err(|e| cannot(&e))?;
    lines.map_or(Ok(()), Lines::finish)?;
    if let Some((_, beside)) = &named {
        output::write(beside, &summary.machine)?;
    }
    let files = named.iter().flat_map(|(table, beside)| [*table, beside.as_path()]);
    let files = files.map(|path| path.display().to_string()).collect();
    work.load.iter_mut().for_each(pelton_live::loads::Running::stop);
    let report = report(files, &summary, &work, args);
    match global.format {
        Format::Json => print_json(&report)?,
        _ => print(&text(&report))?,
    }
    Ok(work.end())
}

fn report(files: Vec<String>, summary: &BalanceSummary, work: &Work, args: &RecordArgs) -> BalancesRecorded {
    let command = args.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let mut notes: Vec<String> = work.load.iter().flat_map(|load| load.notes.clone()).collect();
    let results = work.load.as_ref().map(pelton_live::loads::Running::results).unwrap_or_default();
    notes.extend(results.notes());
    BalancesRecorded {
        files,
        workload: args.load.clone().unwrap_or(command),
        cpus: summary.cpus,
        decisions: summary.decisions,
        lost: summary.lost,
        counts: counts(summary),
        load: figures(&results),
        notes,
    }
}

fn counts(summary: &BalanceSummary) -> BalanceCounts {
    let counts = &summary.counts;
    let kinds = KINDS.iter().zip(&counts.kinds).map(|(name, kind)| BalanceKind {
        kind: name,
        balances: kind.balances,
        pulls: kind.pulls,
        detached: kind.detached,
        spent_ns: kind.spent_ns,
    });
    let runnable_ns: Vec<Vec<u64>> = counts.runnable_ns.iter().map(|times| times.to_vec()).collect();
    BalanceCounts::new(summary.seconds, kinds.collect(), counts.asked, &runnable_ns)
}

fn figures(results: &Results) -> Vec<LoadFigures> {
    let one = |(name, all): (&'static str, Vec<f64>)| LoadFigures {
        name,
        count: all.len() as u64,
        quantiles: QUANTILES.iter().map(|share| all[(all.len() * share / 1000).min(all.len() - 1)]).collect(),
        max: all[all.len() - 1],
    };
    results.sorted().into_iter().filter(|(_, all)| !all.is_empty()).map(one).collect()
}

fn text(report: &BalancesRecorded) -> String {
    let seconds = report.counts.seconds;
    let mut sheet = Sheet::new(&["<kind", "balances/s", "pulls/s", "tasks moved/s", "us each"]);
    for kind in &report.counts.kinds {
        let per_s = |n: u64| number(n as f64 / seconds);
        let each_us =
            if kind.balances > 0 { number(kind.spent_ns as f64 / 1e3 / kind.balances as f64) } else { "-".into() };
        sheet.row(vec![kind.kind.to_owned(), per_s(kind.balances), per_s(kind.pulls), per_s(kind.detached), each_us]);
    }
    let mut out = format!("balances of {} CPUs in {} s\n", report.cpus, number(seconds));
    report.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    out += &section("balances", &sheet);
    let mut sheet = Sheet::new(&["runnable tasks", "% of the time of all CPUs"]);
    for (tasks, percent) in report.counts.runnable_percent.iter().enumerate().filter(|(_, percent)| **percent > 0.0) {
        sheet.row(vec![tasks.to_string(), number(*percent)]);
    }
    out + &section("runnable tasks", &sheet)
}
