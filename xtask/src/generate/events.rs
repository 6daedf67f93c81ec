// SPDX-License-Identifier: GPL-2.0-only
//! Reference page of the events a run can report.

use std::fmt::Write;

use pelton_schema::{EVENTS, EventInfo, Unit};

/// The page.
pub fn page() -> String {
    let mut out = super::markdown_banner("`crates/schema/src/events.rs`");
    out.push_str("\n# Events\n\nEverything a run, a recording or a replay can report. Times are ns since its start.\n");
    EVENTS.iter().for_each(|event| section(&mut out, event));
    out
}

fn section(out: &mut String, event: &EventInfo) {
    let rows = event.columns.iter().map(|c| format!("| `{}` | {} | {} |\n", c.name, unit(c.unit), c.doc.trim()));
    let rows: String = rows.collect();
    writeln!(
        out,
        "\n## `{}` ({})\n\n{}\n\n| column | unit | meaning |\n|---|---|---|",
        event.name,
        event.code,
        event.doc.trim()
    )
    .expect("writing to a String cannot fail");
    out.push_str(&rows);
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Id => "id",
        Unit::Count => "count",
        Unit::Capacity => "0..1024",
        Unit::Khz => "kHz",
        Unit::Ns => "ns",
        Unit::Uw => "µW",
        Unit::Code => "code",
    }
}
