// SPDX-License-Identifier: GPL-2.0-or-later
//! The tables of three axes in docs/guide/compare.md. `PELTON_UPDATE_DOCS=1 cargo test -p pelton-lab --test
//! front_guide` writes them (some minutes); without it one row is made again.

use crate::guide;
use pelton_lab::compare::front::{Fronts, Pair, Point};
use pelton_lab::verbs::front::{FrontRequest, front};
use pelton_lab::watch::Unwatched;
use std::fmt::Write as _;

const PAGE: &str = "compare.md";
const BEGIN: &str = "<!-- computed by crates/lab/tests/front_guide.rs -->\n";
const PLATFORMS: [&str; 5] = ["intel-i7-6700", "hikey-6220", "juno-r2", "pixel6-gs101", "sdm845-db845c"];
/// Name in the table, and files; the last one's rows are those on which no setting was tried.
const WORKLOADS: [(&str, &[&str]); 3] = [
    ("music, browser, video", &["mp3-short", "browser-long", "video-long"]),
    ("camera", &["wa_camera-long"]),
    ("taskset", &["eas_v5_taskset"]),
];
const BASE: &str = "7.2";
/// Head of a column, and policy; without a head it counts wins only.
const POLICIES: [(Option<&str>, &str); 16] = [
    (None, BASE),
    (None, "7.2,hook_filter=h1"),
    (None, "7.2,hook_filter=h3"),
    (None, "7.2,hook_filter=h4"),
    (None, "7.2,gate=r0a"),
    (None, "7.2,gate=r1_trailing"),
    (None, "7.2,gate=r1_sliding"),
    (None, "7.2,gate=r1_asym"),
    (Some("r2_linear"), "7.2,gate=r2_linear"),
    (None, "7.2,gate=r2_hyperbolic"),
    (Some("up at once, down 4 ms"), "7.2,gate=up_down,up_rate_limit_us=0,down_rate_limit_us=4000"),
    (None, "7.2,gate=up_down,down_rate_limit_us=8000"),
    (Some("composite"), "composite"),
    (
        Some("falls, 6 ms"),
        "7.2,gate=r2_linear,gate_asymmetry=falls,gate_spacing_min_us=0,gate_error_high=256,gate_spacing_max_us=6000",
    ),
    (
        None,
        "7.2,gate=r2_linear,gate_asymmetry=falls,gate_spacing_min_us=0,gate_error_high=256,gate_spacing_max_us=10000",
    ),
    (
        None,
        concat!(
            "7.2,gate=r2_linear,gate_asymmetry=falls,gate_spacing_min_us=0,gate_error_high=256,",
            "gate_spacing_max_us=10000,hook_filter=composite"
        ),
    ),
];
/// A price at which the schedule that knows the future is shown, mJ a change.
const PRICE_MJ: f64 = 0.1;

fn workload(files: &[&str]) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/workloads/rt-app");
    files.iter().map(|file| format!("{root}/{file}.json")).collect::<Vec<_>>().join(" + ")
}

/// Ten seeds of 10 s; the seeds are none of those with which settings were chosen.
fn fronts(platform: &str, files: &[&str], policies: Vec<&str>) -> Fronts {
    let request = FrontRequest {
        platforms: vec![platform.to_owned()],
        workloads: vec![workload(files)],
        policies: policies.into_iter().map(str::to_owned).collect(),
        duration_ns: Some(10_000_000_000),
        seeds: 10,
        first_seed: 201,
        ..FrontRequest::default()
    };
    front(&request, &Unwatched).expect("runs")
}

fn cell(point: &Point) -> String {
    let change = |axis: usize| point.change_pct[axis].map_or("-".to_owned(), |pct| format!("{pct:+.1}"));
    let text = [change(0), change(1), change(2)].join(" / ");
    if point.wins { format!("**{text}**") } else { text }
}

fn foreseen(pair: &Pair) -> String {
    let at = pair.foreseen.iter().find(|point| point.price_mj == PRICE_MJ).expect("a price that is run");
    let energy = at.energy_change_pct.map_or("-".to_owned(), |pct| format!("{pct:+.1} %"));
    format!("{}, {energy}", at.changes)
}

/// The row of a pair: the policies that have a column, in their order.
fn row(platform: &str, name: &str, pair: &Pair, shown: &[usize]) -> String {
    let cells: Vec<String> = shown.iter().map(|&i| cell(&pair.points[i])).collect();
    format!("| {platform} | {name} | {} | {} |\n", cells.join(" | "), foreseen(pair))
}

fn head() -> String {
    let heads: Vec<&str> = POLICIES.iter().filter_map(|(head, _)| *head).collect();
    format!(
        "| platform | workload | {} | foreseen, {PRICE_MJ} mJ a change |\n|{}\n",
        heads.join(" | "),
        "---|".repeat(heads.len() + 3)
    )
}

fn tables() -> String {
    let shown: Vec<usize> = (0..POLICIES.len()).filter(|&i| POLICIES[i].0.is_some()).collect();
    let (mut rows, mut wins) = (head(), vec![[0, 0]; POLICIES.len()]);
    for (name, files) in WORKLOADS {
        for platform in PLATFORMS {
            let fronts = fronts(platform, files, POLICIES.iter().map(|(_, policy)| *policy).collect());
            rows += &row(platform, name, &fronts.pairs[0], &shown);
            for (all, won) in wins.iter_mut().zip(&fronts.wins) {
                all[usize::from(name == "taskset")] += won;
            }
        }
    }
    rows += "\n| policy | wins of ten | wins of five (taskset) |\n|---|---|---|\n";
    for ((_, policy), [ten, five]) in POLICIES.iter().zip(&wins).skip(1) {
        let _ = writeln!(rows, "| `{policy}` | {ten} | {five} |");
    }
    rows
}

#[test]
fn the_guide_shows_three_axes() {
    if std::env::var_os("PELTON_UPDATE_DOCS").is_some() {
        return guide::keep_part(PAGE, BEGIN, &tables());
    }
    let shown: Vec<&str> = POLICIES.iter().filter(|(head, _)| head.is_some()).map(|(_, policy)| *policy).collect();
    let (name, files) = WORKLOADS[1];
    let policies = [&[BASE], &shown[..]].concat();
    let fronts = fronts(PLATFORMS[2], files, policies);
    let row = row(PLATFORMS[2], name, &fronts.pairs[0], &(1..=shown.len()).collect::<Vec<_>>());
    let [_, kept, _] = guide::part(PAGE, BEGIN);
    assert!(kept.contains(&row), "{PAGE} is out of date; see the head of this test:\n{row}");
}
