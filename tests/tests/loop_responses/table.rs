// SPDX-License-Identifier: GPL-2.0-or-later
//! A response as aligned text: the form that is reviewed and compared.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::record::FORCED;
use super::response::{Response, Run};

/// A response is read by people: more lines than this are cut into several responses.
const ROWS_MAX: usize = 60;

/// The whole response.
pub fn print(response: &Response) -> String {
    let mut text = format!("{}\n{}\n", response.name, response.about);
    let rows: usize = response.runs.iter().map(|run| times(response, run).len()).sum();
    assert!(rows <= ROWS_MAX, "{}: {rows} rows, at most {ROWS_MAX} are readable", response.name);
    for run in &response.runs {
        print_run(&mut text, response, run);
    }
    text
}

fn print_run(text: &mut String, response: &Response, run: &Run) {
    let _ = writeln!(text, "\n{}: {}", run.label, run.setting);
    let mut head = format!("{:>9}", "time_ms");
    for (name, _) in &response.columns {
        let _ = write!(head, " {name:>8}");
    }
    let _ = writeln!(text, "{head}");
    for time_ns in times(response, run) {
        let _ = writeln!(text, "{}", row(response, run, time_ns));
    }
    let _ = writeln!(text, "whole run: {}", run.totals);
}

fn row(response: &Response, run: &Run, time_ns: u64) -> String {
    let mut line = format!("{:>9.3}", response.ms_since_zero(time_ns));
    for series in &run.series {
        let value = match series.at(time_ns) {
            None => "-".to_owned(),
            Some(FORCED) => "max".to_owned(),
            Some(value) => value.to_string(),
        };
        let _ = write!(line, " {value:>8}");
    }
    line
}

/// Moments that get a row: every step, and every change of a marked column.
fn times(response: &Response, run: &Run) -> BTreeSet<u64> {
    let (from, to) = response.window_ns;
    let mut times = BTreeSet::from([from]);
    if response.step_ns > 0 {
        times.extend((from..to).step_by(response.step_ns as usize));
    }
    for (series, (name, _)) in run.series.iter().zip(&response.columns) {
        if response.marked.contains(name) {
            times.extend(series.0.iter().map(|&(t, _)| t).filter(|t| (from..to).contains(t)));
        }
    }
    times
}
