// SPDX-License-Identifier: GPL-2.0-or-later
//! The table of docs/guide/why.md. `PELTON_UPDATE_DOCS=1 cargo test --test lab_tests why_guide::` writes it (some
//! minutes); without it, a switch of one board is taken alone and left out again.

use crate::guide;
use pelton_lab::verbs::inputs::InputRequest;
use pelton_lab::verbs::why::{WhyRequest, why};
use pelton_lab::watch::Unwatched;
use pelton_lab::why::{Moved, Why};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const PAGE: &str = "why.md";
const BEGIN: &str = "<!-- computed by crates/lab/tests/why_guide.rs -->\n";
const PLATFORMS: [&str; 3] = ["pixel6-gs101", "hikey-6220", "sdm845-db845c"];
const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/workloads/rt-app/wa_camera-long.json");
const ENDS: [&str; 2] = ["5.10", "6.12"];
/// Share of the change from which a switch has a line, percent.
const SHOWN_PCT: f64 = 15.0;
/// The switch that is tried again, with its values in both kernels.
const AGAIN: [&str; 3] = ["runnable_boost", "off", "on"];

fn asked(platform: &str, [from, to]: [&str; 2]) -> Why {
    let input = InputRequest {
        platform: platform.to_owned(),
        workload: WORKLOAD.to_owned(),
        duration_ns: Some(1_000_000_000),
        ..InputRequest::default()
    };
    let request = WhyRequest { input, from: from.into(), to: to.into(), seeds: 6, ..WhyRequest::default() };
    why(&request, None, &Unwatched).expect("runs")
}

/// The line of a board.
fn line(platform: &str, found: &Moved) -> String {
    let pct = found.change_pct.expect("an energy is not 0");
    let (low, high) = pct.ci95.expect("six seeds");
    let [from, to] = [found.from, found.to].map(|mj| format!("{mj:.1}"));
    format!("| {platform} | {from} | {to} | {:+.1} [{low:+.1}, {high:+.1}] |", pct.mean)
}

/// Cells of a switch on a board: alone, left out, share.
fn cell(found: &Moved, player: &str) -> String {
    let Some(share) = found.shares.iter().find(|share| share.player == player) else { return "-".to_owned() };
    let star = if share.is_significant() { " *" } else { "" };
    let drawn = share.orders_ci95_half.map(|half| format!(" ± {half:.0}")).unwrap_or_default();
    format!("{:+.0} / {:+.0} / **{:+.0}**{drawn}{star}", share.alone.mean, share.left_out.mean, share.share.mean)
}

fn text() -> String {
    let all: Vec<Why> = PLATFORMS.iter().map(|platform| asked(platform, ENDS)).collect();
    let found: Vec<&Moved> = all.iter().map(|why| why.answer().expect("an energy")).collect();
    let mut out = format!("\n| board | {}, mJ | {}, mJ | change, % |\n|---|---|---|---|\n", ENDS[0], ENDS[1]);
    for (platform, found) in PLATFORMS.iter().zip(&found) {
        out += &line(platform, found);
        out.push('\n');
    }
    let _ = writeln!(out, "\n| switch | {} |\n|---|---|---|---|", PLATFORMS.join(" | "));
    let mut shown = BTreeSet::new();
    for share in found.iter().flat_map(|found| found.sorted()) {
        let is_large = share.of_change_pct.is_some_and(|pct| pct.abs() >= SHOWN_PCT) && share.is_significant();
        if is_large && shown.insert(&share.player) {
            let cells: Vec<String> = found.iter().map(|found| cell(found, &share.player)).collect();
            let _ = writeln!(out, "| `{}` | {} |", share.player, cells.join(" | "));
        }
    }
    out + "\n"
}

#[test]
fn the_page_is_what_the_runs_give() {
    if std::env::var_os("PELTON_UPDATE_DOCS").is_some() {
        guide::keep_part(PAGE, BEGIN, &text());
        return;
    }
    let [_, kept, _] = guide::part(PAGE, BEGIN);
    let platform = PLATFORMS[0];
    let [switch, before, after] = AGAIN;
    let mean = |ends: [&str; 2]| asked(platform, ends).answer().expect("an energy").clone();
    let alone = mean([ENDS[0], &format!("{},{switch}={after}", ENDS[0])]);
    let left_out = mean([&format!("{},{switch}={before}", ENDS[1]), ENDS[1]]);
    let begins = format!("| {platform} | {:.1} | {:.1} |", alone.from, left_out.to);
    assert!(kept.contains(&begins), "{begins} is out of date; see the head of this test");
    let begins = format!("| `{switch}` | {:+.0} / {:+.0} / ", alone.change.mean, left_out.change.mean);
    assert!(kept.contains(&begins), "{begins} is out of date; see the head of this test");
}
