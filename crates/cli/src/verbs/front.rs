// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton front`: policies on three axes, and what a schedule that knows the future would need.

use super::common::{Screen, failure, print, print_json, section};
use crate::args::{Format, FrontArgs, Global};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::compare::front::{Fronts, Pair, Point};
use pelton_lab::number::number;
use pelton_lab::verbs::{self, front::FrontRequest};

/// Runs the verb.
pub fn front(args: &FrontArgs, global: &Global) -> Result<Exit, Failure> {
    let request = FrontRequest {
        platforms: args.platforms.clone(),
        workloads: args.workloads.clone(),
        defines: args.defines.iter().cloned().collect(),
        sets: args.sets.clone(),
        policies: args.policies.clone(),
        duration_ns: args.duration,
        seeds: args.seeds,
        first_seed: args.first_seed,
        energy_margin_pct: args.energy_margin,
        jobs: usize::from(global.jobs),
    };
    let fronts = verbs::front::front(&request, &Screen::new(global)).map_err(failure)?;
    show(&fronts, global)?;
    Ok(Exit::Good)
}

fn show(fronts: &Fronts, global: &Global) -> Result<(), Failure> {
    match global.format {
        Format::Json => print_json(fronts),
        Format::Csv => print(&long_sheet(fronts).csv()),
        Format::Table | Format::Markdown | Format::Toml => print(&text(fronts)),
    }
}

fn long_sheet(fronts: &Fronts) -> Sheet {
    let mut sheet = Sheet::new(&[
        "<platform",
        "<workload",
        "<policy",
        "step_latency_ms_avg",
        "driver_calls",
        "energy_mj",
        "step_latency_change_pct",
        "driver_calls_change_pct",
        "energy_change_pct",
        "on_front",
        "wins",
        "<energy_note",
    ]);
    for pair in &fronts.pairs {
        for (policy, point) in fronts.policies.iter().zip(&pair.points) {
            let mut cells = vec![pair.platform.clone(), pair.workload.clone(), policy.clone()];
            cells.extend([point.step_latency_ms_avg, point.driver_calls, point.energy_mj].map(number));
            cells.extend(point.change_pct.map(|pct| pct.map(number).unwrap_or_default()));
            cells.extend([point.on_front, point.wins].map(|yes| yes.to_string()));
            cells.push(pair.energy_note.unwrap_or_default().to_owned());
            sheet.row(cells);
        }
        for seen in &pair.foreseen {
            let name = format!("foreseen, {} mJ a change", number(seen.price_mj));
            let mut cells = vec![pair.platform.clone(), pair.workload.clone(), name];
            cells.extend([number(0.0), number(seen.changes), number(seen.energy_mj), String::new(), String::new()]);
            cells.extend([seen.energy_change_pct.map(number).unwrap_or_default(), String::new(), String::new()]);
            cells.push(pair.energy_note.unwrap_or_default().to_owned());
            sheet.row(cells);
        }
    }
    sheet
}

fn text(fronts: &Fronts) -> String {
    let margin = number(fronts.energy_margin_pct);
    let mut out = format!("medians of {} seeds; changes against {}\n", fronts.seeds.len(), fronts.policies[0]);
    for pair in &fronts.pairs {
        out += &section(&format!("{}: {}", pair.platform, pair.workload), &pair_sheet(&fronts.policies, pair));
        pair.remarks.iter().for_each(|remark| out += &format!("note: {remark}\n"));
        out += &pair.energy_note.map(|note| format!("energy: {note}\n")).unwrap_or_default();
    }
    out += &section("pairs on which a policy wins", &tally(fronts));
    out + &format!(
        "\nwins: at most {margin} % more energy than the base, fewer driver calls and a smaller step latency\n\
        front: no policy is at least as good on all three and better on one\n\
        foreseen: never late; chosen with knowledge of the whole run for the price of a change that is given\n"
    )
}

fn pair_sheet(policies: &[String], pair: &Pair) -> Sheet {
    let mut sheet = Sheet::new(&["<policy", "step_latency_ms_avg", "", "driver_calls", "", "energy_mj", "", "<"]);
    for (policy, point) in policies.iter().zip(&pair.points) {
        let [latency, calls, energy] = point.change_pct.map(percent);
        sheet.row(vec![
            policy.clone(),
            number(point.step_latency_ms_avg),
            latency,
            number(point.driver_calls),
            calls,
            number(point.energy_mj),
            energy,
            verdict(point).to_owned(),
        ]);
    }
    for seen in &pair.foreseen {
        let name = format!("foreseen, {} mJ a change", number(seen.price_mj));
        let energy = percent(seen.energy_change_pct);
        let none = String::new;
        sheet.row(vec![
            name,
            number(0.0),
            none(),
            number(seen.changes),
            none(),
            number(seen.energy_mj),
            energy,
            none(),
        ]);
    }
    sheet
}

fn verdict(point: &Point) -> &'static str {
    match (point.wins, point.on_front) {
        (true, true) => "wins, front",
        (true, false) => "wins",
        (false, true) => "front",
        (false, false) => "",
    }
}

fn percent(change: Option<f64>) -> String {
    change.map(|pct| format!("{pct:+.1} %")).unwrap_or_default()
}

fn tally(fronts: &Fronts) -> Sheet {
    let mut sheet = Sheet::new(&["<policy", "wins", "pairs"]);
    for (policy, wins) in fronts.policies.iter().zip(&fronts.wins).skip(1) {
        sheet.row(vec![policy.clone(), wins.to_string(), fronts.pairs.len().to_string()]);
    }
    sheet
}
