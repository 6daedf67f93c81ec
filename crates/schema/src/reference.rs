// SPDX-License-Identifier: GPL-2.0-or-later
//! The reference page of the events, derived from their declaration.

use std::fmt::Write;

use crate::{Column, EVENTS, EventInfo, GateVerdict, HookSite, PeltSignal, PeltSource, Unit};

/// The page `docs/reference/events.md` without its banner: every event, every column, unit and sentence.
///
/// ```
/// assert!(pelton_schema::render_reference().contains("## `cpu_frequency` (5)"));
/// ```
pub fn render_reference() -> String {
    let mut out = String::from(
        "# Events\n\nEverything a run, a recording or a replay can report. Times are ns since its start. The number \
         behind a name is the event's code in our own log, a column without a unit an id or a code.\n",
    );
    EVENTS.iter().for_each(|event| section(&mut out, event));
    codes(&mut out, "Hook sites", "`site` in `freq_decision`", HookSite::NAMES);
    codes(&mut out, "Gate verdicts", "`gate` in `freq_decision`", GateVerdict::NAMES);
    codes(&mut out, "Load-tracking records", "`signal` in `pelt_state` and `util_est`", PeltSignal::NAMES);
    codes(&mut out, "Moments of reading", "`source` in `pelt_state`", PeltSource::NAMES);
    out
}

fn section(out: &mut String, event: &EventInfo) {
    line(out, format_args!("\n## `{}` ({})\n\n{}\n", event.name, event.code, event.doc.trim()));
    for column in event.columns {
        line(out, format_args!("{}", row(column)));
    }
}

/// `- name (unit): what it is`
fn row(column: &Column) -> String {
    let unit = match column.unit {
        Unit::Id | Unit::Code => String::new(),
        unit => format!(" ({})", unit.name()),
    };
    format!("- `{}`{unit}: {}", column.name, column.doc.trim())
}

fn codes(out: &mut String, title: &str, column: &str, names: &[&str]) {
    let names: Vec<String> = names.iter().enumerate().map(|(value, name)| format!("{value} {name}")).collect();
    line(out, format_args!("\n## {title}\n\nValues of {column}: {}.", names.join(", ")));
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_row() {
        let page = render_reference();
        let rows = EVENTS.iter().flat_map(|event| event.columns);
        for column in rows {
            assert!(page.contains(&format!("\n{}\n", row(column))), "{}", column.name);
        }
    }
}
