// SPDX-License-Identifier: GPL-2.0-only
//! `pelton front`: policies on three axes, and what a schedule that knows the future would need.

use super::common::{inputs, prepare, prepare_again, print, print_json, section, watched};
use crate::args::{Format, FrontArgs, Global, InputArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use crate::units::number;
use pelton_lab::about::{About, AboutPolicy};
use pelton_lab::clairvoyant;
use pelton_lab::front::{self, EXTRA_RUNS, Fronts, Pair, Point, Question};
use pelton_lab::plan::{PolicySpec, Prepared};
use pelton_lab::run::Control;

/// What is looked at when nothing is named: mainline, then each filter and gate alone, the composite, and limits per direction.
const POLICIES_DEFAULT: [&str; 19] = [
    "7.2",
    "7.2,hook_filter=h1",
    "7.2,hook_filter=h2",
    "7.2,hook_filter=h3",
    "7.2,hook_filter=h4",
    "7.2,hook_filter=composite",
    "7.2,gate=r0a",
    "7.2,gate=r1_trailing",
    "7.2,gate=r1_sliding",
    "7.2,gate=r1_asym",
    "7.2,gate=r2_linear",
    "7.2,gate=r2_hyperbolic",
    "7.2,gate=up_down,down_rate_limit_us=4000",
    "7.2,gate=up_down,down_rate_limit_us=8000",
    "7.2,gate=up_down,up_rate_limit_us=0,down_rate_limit_us=2000",
    "7.2,gate=up_down,up_rate_limit_us=0,down_rate_limit_us=4000",
    "7.2,gate=up_down,up_rate_limit_us=0,down_rate_limit_us=8000",
    "composite,down_rate_limit_us=4000,gate_window_min_us=4000,gate_window_max_us=4000",
    "composite",
];

/// Does what was asked.
pub fn front(args: &FrontArgs, global: &Global) -> Result<Exit, Failure> {
    let default = || POLICIES_DEFAULT.map(str::to_owned).to_vec();
    let policies = if args.policies.is_empty() { default() } else { args.policies.clone() };
    let pairs = args.platforms.iter().flat_map(|p| args.workloads.iter().map(move |w| (p, w)));
    let questions =
        pairs.map(|(p, w)| question(args, p, w, &policies, global)).collect::<Result<Vec<Question>, Failure>>()?;
    let seeds: Vec<u64> = (0..args.seeds).map(|i| args.first_seed.wrapping_add(i)).collect();
    let runs = (policies.len() as u64 + EXTRA_RUNS) * args.seeds;
    let total_ns =
        questions.iter().map(|q| q.open.config.duration_ns.saturating_mul(runs)).fold(0, u64::saturating_add);
    let jobs = usize::from(global.jobs);
    let run = |control: Control<'_>| front::fronts(&policies, &questions, &seeds, args.energy_margin, jobs, control);
    let fronts = watched(global, total_ns, "front", run)?;
    show(&fronts, global)?;
    Ok(Exit::Good)
}

fn question(
    args: &FrontArgs,
    platform: &str,
    workload: &str,
    policies: &[String],
    global: &Global,
) -> Result<Question, Failure> {
    let input = InputArgs {
        platform: platform.to_owned(),
        workload: workload.to_owned(),
        duration: args.duration,
        hz: None,
        rate_limit_us: None,
        group: None,
        defines: Vec::new(),
    };
    let inputs = inputs(&input, 1, true);
    let mut first = true;
    let mut plan = |text: &str, sets: &[&str]| -> Result<Prepared, Failure> {
        let make = if std::mem::take(&mut first) { prepare } else { prepare_again };
        let mut spec = PolicySpec::parse(text);
        spec.sets.extend(sets.iter().map(|&set| set.to_owned()));
        make(&inputs, &spec, global)
    };
    let prepared = policies.iter().map(|text| plan(text, &[])).collect::<Result<Vec<Prepared>, Failure>>()?;
    let open = plan(&policies[0], &clairvoyant::OPEN)?.plan;
    let about = About::of(&prepared[0], open.config.duration_ns);
    let abouts = prepared.iter().map(AboutPolicy::of).collect();
    let plans = prepared.into_iter().map(|prepared| prepared.plan).collect();
    if !clairvoyant::knows_power(&open) {
        let error = format!("platform {platform} does not know the power of all its operating points");
        return Err(Failure::new(
            Exit::BadInput,
            error,
            Some("energy is one of the axes: `pelton compare` does without; `pelton platform list` shows others"),
        ));
    }
    Ok(Question { platform: platform.to_owned(), workload: workload.to_owned(), about, policies: abouts, plans, open })
}

fn show(fronts: &Fronts, global: &Global) -> Result<(), Failure> {
    match global.format {
        Format::Json => print_json(fronts),
        Format::Csv => print(&long_sheet(fronts).csv()),
        Format::Table | Format::Toml => print(&text(fronts)),
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
    ]);
    for pair in &fronts.pairs {
        for (policy, point) in fronts.policies.iter().zip(&pair.points) {
            let mut cells = vec![pair.platform.clone(), pair.workload.clone(), policy.clone()];
            cells.extend([point.step_latency_ms_avg, point.driver_calls, point.energy_mj].map(number));
            cells.extend(point.change_pct.map(|pct| pct.map(number).unwrap_or_default()));
            cells.extend([point.on_front, point.wins].map(|yes| yes.to_string()));
            sheet.row(cells);
        }
        for seen in &pair.foreseen {
            let name = format!("foreseen, {} mJ a change", number(seen.price_mj));
            let mut cells = vec![pair.platform.clone(), pair.workload.clone(), name];
            cells.extend([number(0.0), number(seen.changes), number(seen.energy_mj), String::new(), String::new()]);
            cells.extend([seen.energy_change_pct.map(number).unwrap_or_default(), String::new(), String::new()]);
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
    }
    out += &section("pairs on which a policy wins", &tally(fronts));
    out + &format!(
        "\nwins: at most {margin} % more energy than the base, fewer driver calls and a smaller step latency\n\
        front: no policy is at least as good on all three and better on one\n\
        foreseen: never late; chosen with knowledge of the whole run for the price of a change that is given\n"
    )
}

fn pair_sheet(policies: &[String], pair: &Pair) -> Sheet {
    let mut sheet = Sheet::new(&["<policy", "latency_ms", "", "calls", "", "energy_mJ", "", "<"]);
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
