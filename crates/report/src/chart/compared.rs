// SPDX-License-Identifier: GPL-2.0-or-later
//! Charts of a comparison: the answers beside one another, and where the time went.

use super::blocks::bar;
use super::canvas::{Anchor, Canvas, Colour, INK, PALE, SERIES, cut};
use pelton_lab::compare::{CompareRow, Comparison};
use pelton_lab::measure::summary::Scope;
use pelton_lab::number::number;
use std::fmt::Write as _;

/// Letters of a bar in the terminal.
const BAR: usize = 24;
/// Columns of what stands beside a bar: policy, value, change.
const NUMBERS: usize = 30;
/// Width of a picture; where its bars begin and how long they are.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 60.0;
const LONG: f64 = 560.0;
/// Note below bars of shares.
const SHARES_NOTE: &str = "below: medians of shares, each over the seeds: the parts of a bar need not add up to 100 %";
/// Height of a bar and its gap.
const BAR_HEIGHT: f64 = 14.0;
const STEP: f64 = 18.0;

/// Rows that are drawn: those of the whole run that the caller chose and that have numbers.
fn drawn(comparison: &Comparison, is_answer: fn(&CompareRow) -> bool) -> Vec<&CompareRow> {
    let has_number = |row: &&CompareRow| row.cells.iter().any(|cell| cell.range.is_some_and(|(_, max)| max > 0.0));
    comparison.rows.iter().filter(|row| is_answer(row)).filter(has_number).collect()
}

/// The largest number of a row, its ranges included.
fn most(row: &CompareRow) -> f64 {
    row.cells.iter().filter_map(|cell| Some(cell.range?.1)).fold(0.0, f64::max)
}

fn change(cell: &pelton_lab::compare::CompareCell) -> String {
    let star = if cell.is_significant() { " *" } else { "" };
    cell.change_pct.map(|pct| format!("  {pct:+.1} %{star}")).unwrap_or_default()
}

/// For a terminal of this many columns.
pub fn blocks(comparison: &Comparison, is_answer: fn(&CompareRow) -> bool, width: usize) -> String {
    let mut out = String::new();
    let long = BAR.min(width.saturating_sub(NUMBERS));
    for row in drawn(comparison, is_answer) {
        // One blank line before all of them: table and charts are one screen.
        let before = if out.is_empty() { "\n" } else { "" };
        let _ = writeln!(out, "{before}{}", row.quantity);
        for (at, cell) in row.cells.iter().enumerate() {
            let value = cell.median.map_or_else(|| "-".to_owned(), number);
            let length = cell.median.map_or(0.0, |median| median / most(row));
            let _ = writeln!(out, " [{}] {:<long$} {value}{}", at + 1, bar(length, long), change(cell));
        }
    }
    out
}

/// As a picture.
pub fn picture(comparison: &Comparison, is_answer: fn(&CompareRow) -> bool) -> Canvas {
    let mut canvas = Canvas::new(WIDTH as u32);
    let about = &comparison.run;
    canvas.heading((16.0, 28.0), cut(&format!("{} on {}", about.workload, about.platform), 92));
    let seeds = comparison.seeds.len();
    let length = number(about.duration_s);
    let what = format!(
        "medians of {seeds} seeds of {length} s; thin lines: smallest to largest; * more than the seeds explain"
    );
    canvas.text((16.0, 46.0), what, PALE, Anchor::Start);
    let mut y = 66.0;
    let warned = comparison.chance.in_words().into_iter().chain(comparison.remarks.iter().cloned());
    let unknown =
        comparison.rows.iter().filter(|row| is_answer(row) && row.cells.iter().any(|cell| cell.median.is_none()));
    let unknown = unknown.filter_map(|row| Some(format!("{}: {}", row.quantity, row.note?)));
    for line in warned.chain(unknown).flat_map(|words| wrapped(&words, WORDS)) {
        canvas.text((16.0, y - 2.0), line, PALE, Anchor::Start);
        y += STEP;
    }
    for (at, side) in comparison.sides().enumerate() {
        canvas.rect([16.0, y - 9.0, 10.0, 10.0], SERIES[at % SERIES.len()]);
        canvas.text((32.0, y), format!("[{}] {}", at + 1, cut(&side, 120)), INK, Anchor::Start);
        y += STEP;
    }
    for row in drawn(comparison, is_answer) {
        y = answer(&mut canvas, row, y + 14.0);
    }
    if comparison.seeds.len() > 1 && comparison.rows.iter().any(|row| row.scope == Scope::Frequency) {
        y += 18.0;
        canvas.text((16.0, y), SHARES_NOTE, PALE, Anchor::Start);
    }
    for (scope, heading) in
        [(Scope::Frequency, "time at frequency, MHz"), (Scope::Idle, "time in idle states (the rest: running)")]
    {
        y = shares(&mut canvas, comparison, (scope, heading), y);
    }
    canvas.size.1 = (y + 16.0) as u32;
    canvas
}

/// Letters of a line of words.
const WORDS: usize = 120;

/// Words in lines of so many letters.
pub fn wrapped(words: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > letters {
            lines.push(word.to_owned());
        } else {
            *line = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        }
    }
    lines
}

/// One bar per policy, with the range over the seeds.
fn answer(canvas: &mut Canvas, row: &CompareRow, top: f64) -> f64 {
    let mut y = top;
    let note = row.note.map(|note| format!(" ({})", cut(note, 90))).unwrap_or_default();
    canvas.text((16.0, y), format!("{}{note}", row.quantity), INK, Anchor::Start);
    let scale = LONG / most(row);
    for (at, cell) in row.cells.iter().enumerate() {
        y += STEP;
        canvas.text((LEFT - 8.0, y), format!("[{}]", at + 1), PALE, Anchor::End);
        let Some((median, (min, max))) = cell.median.zip(cell.range) else { continue };
        canvas.rect([LEFT, y - 11.0, (median * scale).max(1.0), BAR_HEIGHT], SERIES[at % SERIES.len()]);
        let middle = y - 11.0 + BAR_HEIGHT / 2.0;
        canvas.line(vec![(LEFT + min * scale, middle), (LEFT + max * scale, middle)], INK);
        canvas.text((LEFT + max * scale + 8.0, y), number(median) + &change(cell), INK, Anchor::Start);
    }
    y + 8.0
}

/// One stacked bar per domain and policy: from the lowest frequency, or the lightest state, on.
fn shares(canvas: &mut Canvas, comparison: &Comparison, (scope, heading): (Scope, &str), top: f64) -> f64 {
    let rows: Vec<&CompareRow> = comparison.rows.iter().filter(|row| row.scope == scope).collect();
    let domain = |row: &CompareRow| row.of.split(' ').next().unwrap_or("").to_owned();
    let mut y = top;
    for group in rows.chunk_by(|a, b| domain(a) == domain(b)) {
        y += 18.0;
        canvas.text((16.0, y), format!("{heading}: {}", domain(group[0])), INK, Anchor::Start);
        for at in 0..comparison.policies.len() {
            y += STEP;
            canvas.text((LEFT - 8.0, y), format!("[{}]", at + 1), PALE, Anchor::End);
            let mut x = LEFT;
            for (part, row) in group.iter().enumerate() {
                let share = row.cells[at].median.unwrap_or(0.0) / 100.0;
                canvas.rect([x, y - 11.0, share * LONG, BAR_HEIGHT], shade(part, group.len()));
                x += share * LONG;
            }
        }
        y += STEP;
        let mut x = LEFT;
        for (part, row) in group.iter().enumerate() {
            let label = row.of.split_once(' ').map_or("", |(_, rest)| rest);
            let label = label
                .strip_suffix(" kHz")
                .and_then(|khz| khz.parse::<f64>().ok())
                .map_or_else(|| cut(label, 14), |khz| number(khz / 1e3));
            if x + 16.0 + label.len() as f64 * 7.0 > WIDTH - 16.0 {
                (x, y) = (LEFT, y + STEP);
            }
            canvas.rect([x, y - 9.0, 9.0, 9.0], shade(part, group.len()));
            canvas.text((x + 12.0, y), &label, PALE, Anchor::Start);
            x += 24.0 + label.len() as f64 * 7.0;
        }
        y += 4.0;
    }
    y
}

/// From pale to dark.
fn shade(part: usize, of: usize) -> Colour {
    let depth = if of > 1 { part as f64 / (of - 1) as f64 } else { 1.0 };
    let between = |light: f64, dark: f64| (light + (dark - light) * depth) as u8;
    [between(222.0, 8.0), between(235.0, 48.0), between(247.0, 107.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_lab::compare::summarise;
    use pelton_sim::Report;

    #[test]
    fn every_operating_point_has_its_legend_and_shares_say_that_they_are_medians() {
        let names = ["7.2".to_owned()];
        let report = Report::default();
        let mut comparison = summarise(&names, &[1, 2], &[vec![report.clone(), report]]);
        let cell = pelton_lab::compare::CompareCell {
            policy: names[0].clone(),
            workload: None,
            median: Some(4.0),
            range: Some((4.0, 4.0)),
            change_pct: None,
            change_ci95_pct: None,
            values: Vec::new(),
        };
        comparison.rows = (0..24)
            .map(|at| CompareRow {
                scope: Scope::Frequency,
                of: format!("core0 {} kHz", 800_000 + at * 133_000),
                quantity: "residency_pct",
                unit: "%",
                note: None,
                cells: vec![cell.clone()],
            })
            .collect();
        let svg = crate::chart::svg::text(&picture(&comparison, |_| false));
        assert!(
            (0..24).all(|at| svg.contains(&format!(">{}<", number(f64::from(800_000 + at * 133_000) / 1e3)))),
            "{svg}"
        );
        assert!(svg.contains(SHARES_NOTE), "{svg}");
    }
}
