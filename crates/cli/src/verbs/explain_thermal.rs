// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton explain --thermal`: one reading of a thermal zone, and what its governor made of it.

use super::common::{Screen, failure, print, print_json, section};
use crate::args::{Format, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::explain::upkeep::ThermalExplanation;
use pelton_lab::number::number;
use pelton_lab::time::seconds;
use pelton_lab::verbs::explain::{self, ExplainRequest, ExplainedThermal};
use std::fmt::Write as _;

/// Explains a reading of a thermal zone.
pub fn explain(request: &ExplainRequest, global: &Global) -> Result<Exit, Failure> {
    let explained = explain::thermal(request, &Screen::new(global)).map_err(failure)?;
    match global.format {
        Format::Json => print_json(&explained)?,
        Format::Csv => print(&domains(&explained.explanation).csv())?,
        Format::Table | Format::Markdown | Format::Toml => print(&text(&explained))?,
    }
    Ok(Exit::Good)
}

fn text(ExplainedThermal { run, groups_changed, explanation: e }: &ExplainedThermal) -> String {
    let mut out =
        format!("{} s, thermal zone {}, {}, {}\n", seconds(e.time_ns), e.zone, e.governor, run.about.platform);
    let _ = writeln!(
        out,
        "{} C after {} C: {} (number {} of those that fit)",
        number(e.temperature_c),
        number(e.before_c),
        e.trend,
        e.number
    );
    for trip in &e.trips {
        let reached = if trip.reached { "reached" } else { "not reached" };
        let _ = writeln!(out, "trip at {} C, hysteresis {} C: {reached}", number(trip.c), number(trip.hysteresis_c));
    }
    if let Some(p) = &e.power {
        let _ = writeln!(
            out,
            "the domains take {} mW and could take {} mW; the controller allows {} mW (errors summed: {} C), granted: {} mW",
            p.requested_mw,
            p.max_mw,
            p.budget_mw,
            number(p.error_sum_c),
            p.granted_mw
        );
    }
    match e.next_ms {
        Some(ms) => {
            let _ = writeln!(out, "the next reading is in {ms} ms");
        }
        None => out += "the next reading is when the sensor interrupts\n",
    }
    out + &section("limits", &domains(e)) + &super::explain::written(groups_changed)
}

fn domains(e: &ThermalExplanation) -> Sheet {
    let mut sheet = Sheet::new(&["<domain", "state before", "state", "limit MHz"]);
    for d in &e.domains {
        let cells = [d.state_before.to_string(), d.state.to_string(), number(f64::from(d.max_khz) / 1e3)];
        sheet.row(std::iter::once(d.domain.clone()).chain(cells).collect());
    }
    sheet
}
