// SPDX-License-Identifier: GPL-2.0-or-later
//! The tables of docs/guide/energy.md come from these figures and runs.
//! `PELTON_UPDATE_DOCS=1 cargo test --test lab_tests energy_guide::` writes them.

use crate::guide;
use pelton_lab::experiment;
use pelton_lab::measure::quantity;
use pelton_lab::plan::{Inputs, PolicySpec, build};
use pelton_lab::run::run_one;
use pelton_model::Machine;
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_schema::NullSink;
use std::fmt::Write as _;

const BEGIN: &str = "<!-- computed by crates/lab/tests/energy_guide.rs -->\n";
const PLATFORM: &str = "pixel6-gs101";
const DOMAINS: [&str; 3] = ["little", "mid", "big"];
/// Nominal voltage of the battery that currents of the power profile are of, mV.
const BATTERY_MV: f64 = 3850.0;
/// mW by cluster that the posting of uclamp-sum prints for Jankbench, little, mid and big: the largest clamp, and sums.
const PRINTED: [(&str, &str, [f64; 3]); 2] =
    [("largest clamp", "max", [91.7, 19.2, 55.1]), ("sums", "sum", [86.7, 21.6, 52.9])];
const SECONDS: u64 = 60;
const SEEDS: u64 = 12;

fn machine() -> Machine {
    platform::load(PLATFORM).expect("built in").machine(&PlatformOptions::new("6.12")).expect("a machine")
}

/// A column of a table of the platform's file, by domain and frequency.
fn published(table: &str, column: &str) -> Vec<(String, u32, f64)> {
    let text = platform::load(PLATFORM).expect("built in").source.text().to_owned();
    let (_, rest) = text.split_once(&format!("name = \"{table}\"")).expect("the table");
    let (rows, _) = rest.split_once("\n]\n").expect("its end");
    let cell = |line: &str, key: &str| {
        let (_, value) = line.split_once(&format!(" {key} = "))?;
        Some(value.split([',', ' ']).next()?.trim_matches('"').to_owned())
    };
    let row = |line: &str| {
        let number = |key| cell(line, key)?.parse::<f64>().ok();
        Some((cell(line, "domain")?, number("khz")? as u32, number(column)?))
    };
    rows.lines().filter_map(row).collect()
}

/// One busy CPU of a domain whose others sleep, at each operating point, mW: what it draws with what it shares, and the
/// kernel's figure.
fn alone(m: &Machine, d: usize) -> Vec<(u32, f64, f64)> {
    let (domain, draws) = (&m.domains[d], m.drawn(d));
    let rail = &draws.rails[draws.quiet_rail() as usize];
    let at = |(i, opp): (usize, &pelton_model::machine::Opp)| {
        let drawn = rail.busy_uw[i] + rail.shared_uw.get(i).copied().unwrap_or(0);
        (opp.khz, drawn as f64 / 1e3, opp.power_uw as f64 / 1e3)
    };
    domain.opps.iter().enumerate().map(at).collect()
}

fn of_percent(figure: f64, of: f64) -> String {
    format!("{figure:.0} ({:+.0} %)", 100.0 * (figure / of - 1.0))
}

fn points() -> String {
    let m = machine();
    let (freqbench, profile) =
        (published("measured-freqbench-gs101", "power_mw"), published("aosp-power-profile-oriole", "current_ma"));
    let find = |table: &[(String, u32, f64)], domain: &str, khz: u32| {
        table.iter().find(|(of, at, _)| of == domain && *at == khz).map(|(.., value)| *value)
    };
    let mut out =
        "| domain | MHz | drawn, mW | freqbench | power profile | kernel's model |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let mut errors = Vec::new();
    for (d, domain) in DOMAINS.into_iter().enumerate() {
        let all = alone(&m, d);
        let last = all.len() - 1;
        for (i, (khz, drawn, model)) in all.into_iter().enumerate() {
            let freqbench_mw = find(&freqbench, domain, khz).expect("freqbench has every point");
            errors.push((domain, 100.0 * (drawn / freqbench_mw - 1.0), 100.0 * (model / freqbench_mw - 1.0)));
            if i % 4 != 0 && i != last {
                continue;
            }
            let profile_mw = find(&profile, domain, khz).expect("the profile has every point") * BATTERY_MV / 1e3;
            let others = [freqbench_mw, profile_mw, model].map(|other| of_percent(other, drawn));
            let _ = writeln!(out, "| {domain} | {} | {drawn:.0} | {} |", khz / 1000, others.join(" | "));
        }
    }
    out += "\n| domain | drawn beside freqbench | kernel's model beside freqbench |\n|---|---|---|\n";
    for domain in DOMAINS {
        let of = |pick: fn(&(&str, f64, f64)) -> f64| {
            let mut all: Vec<f64> = errors.iter().filter(|e| e.0 == domain).map(pick).collect();
            all.sort_by(f64::total_cmp);
            format!("{:+.0} % ({:+.0} to {:+.0})", all[all.len() / 2], all[0], all[all.len() - 1])
        };
        let _ = writeln!(out, "| {domain} | {} | {} |", of(|e| e.1), of(|e| e.2));
    }
    out
}

/// Mean power of each domain with what its CPUs share, drawn, and of its busy CPUs by the kernel's model, mW.
fn jankbench(clamps: &str) -> ([f64; 3], [f64; 3]) {
    let table = experiment::load("uclamp-sum").expect("embedded");
    let ui = table.variant[&format!("jank_{clamps}")].with.as_deref().expect("a user interface");
    let inputs = Inputs {
        platform: PLATFORM.into(),
        workload: format!("{} + {ui}", table.workload["jankbench"].spec),
        duration_ns: Some(SECONDS * 1_000_000_000),
        hz: Some(table.hz),
        random_phase: true,
        ..Inputs::default()
    };
    let sets: Vec<String> = table.set.iter().map(|(switch, value)| format!(",{switch}={value}")).collect();
    let policy = PolicySpec::parse(&format!("6.1,uclamp={clamps}{}", sets.concat()));
    let plan = build(&inputs, &policy).expect("good inputs").plan;
    let (mut drawn, mut model) = ([0.0; 3], [0.0; 3]);
    for seed in 1..=SEEDS {
        let report = run_one(&plan, seed, NullSink, Default::default()).expect("runs");
        let read = |name, of| quantity::find(name).and_then(|q| q.read(&report, Some(of))).expect("a number");
        for (d, domain) in DOMAINS.into_iter().enumerate() {
            // Clusters are the domains of this phone.
            let shared_mj = report.cluster_energy_uj[d] as f64 / 1e3;
            drawn[d] += read("domain_energy_mj", domain) + shared_mj;
            model[d] += read("domain_energy_model_mj", domain);
        }
    }
    let mw = |mj: f64| mj / (SECONDS * SEEDS) as f64;
    (drawn.map(mw), model.map(mw))
}

fn split() -> String {
    let mut out = "| clamps | | little | mid | big | all |\n|---|---|---|---|---|---|\n".to_owned();
    let mut all = Vec::new();
    for (name, clamps, printed) in PRINTED {
        let (drawn, model) = jankbench(clamps);
        let sum = |of: [f64; 3]| of.iter().sum::<f64>();
        let line = |what: &str, of: [f64; 3]| {
            let cells: Vec<String> = of.iter().zip(printed).map(|(of, printed)| of_percent(*of, printed)).collect();
            format!("| {name} | {what} | {} | {} |\n", cells.join(" | "), of_percent(sum(of), sum(printed)))
        };
        let cells = printed.map(|mw| format!("{mw}")).join(" | ");
        let _ = writeln!(out, "| {name} | printed, mW | {cells} | {:.1} |", sum(printed));
        out += &line("drawn", drawn);
        out += &line("kernel's model", model);
        all.push([sum(printed), sum(drawn), sum(model)]);
    }
    let change = |i: usize| 100.0 * (all[1][i] / all[0][i] - 1.0);
    let _ = writeln!(
        out,
        "\nSums against the largest clamp: printed {:+.1} %, drawn {:+.1} %, by the kernel's model {:+.1} %.",
        change(0),
        change(1),
        change(2)
    );
    out
}

#[test]
fn the_page_shows_power_beside_published_figures() {
    guide::keep_part("energy.md", BEGIN, &format!("\n{}\n{}\n", points(), split()));
}
