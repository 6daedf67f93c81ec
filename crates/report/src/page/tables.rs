// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of a comparison.

use maud::{Markup, html};
use pelton_lab::about::AboutPolicy;
use pelton_lab::compare::{CompareCell, CompareRow, Comparison, is_answer};
use pelton_lab::measure::quantity;
use pelton_lab::measure::summary::Scope;
use pelton_lab::number::number;

/// Parts of a result, in order, and the words above their tables.
const SCOPES: [(Scope, &str); 7] = [
    (Scope::Run, "the whole run"),
    (Scope::Domain, "frequency domains"),
    (Scope::Zone, "thermal zones"),
    (Scope::Task, "tasks"),
    (Scope::Group, "groups with a quota"),
    (Scope::Frequency, "time at frequency (medians of shares: they need not add up to 100 %)"),
    (Scope::Idle, "time in idle states (medians of shares: they need not add up to 100 %)"),
];

/// Rows of a part: a run may have ten thousand tasks.
const ROWS: usize = 2_000;

/// Numbers that most questions are about.
pub fn answers(comparison: &Comparison) -> Markup {
    let rows: Vec<&CompareRow> = comparison.rows.iter().filter(|row| is_answer(row)).collect();
    table(comparison, &rows, "Answers", true)
}

/// Every number, by what it is about.
pub fn all(comparison: &Comparison) -> Markup {
    let of = |scope: Scope| comparison.rows.iter().filter(|row| row.scope == scope).collect::<Vec<_>>();
    let parts: Vec<_> = SCOPES.iter().map(|(scope, heading)| (heading, of(*scope))).collect();
    html! {
        section aria-labelledby="numbers" {
            h2 id="numbers" { "All numbers" }
            @for (heading, rows) in parts.iter().filter(|(_, rows)| !rows.is_empty()) {
                details {
                    summary { (heading) " (" (rows.len()) ")" }
                    @if rows.len() > ROWS {
                        p.note { "The first " (ROWS) "; all are in what pelton compare --format csv prints." }
                    }
                    (table(comparison, &rows[..rows.len().min(ROWS)], heading, false))
                }
            }
        }
    }
}

fn table(comparison: &Comparison, rows: &[&CompareRow], about: &str, explains: bool) -> Markup {
    let sides: Vec<String> = comparison.sides().collect();
    let has_names = rows.iter().any(|row| !row.of.is_empty());
    let has_change = |at: usize| rows.iter().any(|row| row.cells[at].change_pct.is_some());
    html! {
        div.wide tabindex="0" role="region" aria-label=(format!("Table: {about}")) {
            table {
                thead { tr {
                    @if has_names { th scope="col" { "of" } }
                    th scope="col" { "quantity" }
                    th scope="col" { "unit" }
                    @for (at, side) in sides.iter().enumerate() {
                        th scope="col" { "[" (at + 1) "] " (side) }
                        @if has_change(at) { th scope="col" { "change, 95 %" } }
                    }
                } }
                tbody { @for row in rows { (line(row, has_names, explains, &has_change)) } }
            }
        }
    }
}

fn line(row: &CompareRow, has_names: bool, explains: bool, has_change: &dyn Fn(usize) -> bool) -> Markup {
    let doc = quantity::find(row.quantity).filter(|_| explains).map(|quantity| quantity.doc);
    html! {
        tr {
            @if has_names { th scope="row" { (row.of) } td { (row.quantity) } }
            @else { th scope="row" { (row.quantity) @if let Some(doc) = doc { small { (doc) } } } }
            td { (row.unit) }
            @for (at, cell) in row.cells.iter().enumerate() {
                td.n { (median(cell)) @if let Some(note) = row.note.filter(|_| explains) { small { (note) } } }
                @if has_change(at) { td.n { (change(cell)) } }
            }
        }
    }
}

fn median(cell: &CompareCell) -> Markup {
    let range = cell.range.filter(|(low, high)| low < high);
    html! {
        (cell.median.map_or_else(|| "not known".to_owned(), number))
        @if let Some((low, high)) = range { small { (number(low)) " to " (number(high)) } }
    }
}

fn change(cell: &CompareCell) -> Markup {
    let is_beyond = cell.is_significant();
    html! {
        @if let Some(pct) = cell.change_pct {
            span.beyond[is_beyond] { (format!("{pct:+.1} %")) @if is_beyond { " *" } }
        }
        @if let Some((low, high)) = cell.change_ci95_pct { small { (format!("{low:+.1} to {high:+.1}")) } }
    }
}

/// The policies, and what differs.
pub fn policies(comparison: &Comparison, plans: &[AboutPolicy]) -> Markup {
    let set = |plan: &AboutPolicy| {
        let words: Vec<String> = plan.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
    };
    html! {
        div.wide tabindex="0" role="region" aria-label="Table: policies" {
            table {
                thead { tr {
                    @for heading in ["side", "rules of kernel", "set beside them", "plan"] { th scope="col" { (heading) } }
                } }
                tbody { @for (at, (side, plan)) in comparison.sides().zip(plans).enumerate() {
                    tr {
                        th scope="row" { "[" (at + 1) "] " (side) }
                        td { (plan.profile) }
                        td { (set(plan)) }
                        td { code { (plan.plan_hash) } }
                    }
                } }
            }
        }
    }
}
