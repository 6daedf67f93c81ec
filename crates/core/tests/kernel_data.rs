// SPDX-License-Identifier: GPL-2.0-or-later
//! Every average update, clock step and frequency decision recorded inside a real 7.2 kernel, recomputed from its
//! before-state: all fields of the after-state must be equal.
//!
//! The recordings are not part of the repository; without them the tests say so and pass.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use pelton_core::{Avg, CfsRq, Ctx, Policy, Rq, Se, SugovPolicy, perf_clamped};

fn recording(name: &str) -> Option<String> {
    let root = std::env::var_os("PELTON_SHARED_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let path = root.join("kernel-pelt/7.2-arm64").join(name);
    let unpacked = Command::new("gzip").arg("-dc").arg(&path).output().ok().filter(|out| out.status.success());
    if unpacked.is_none() {
        println!("not measured: {} cannot be read", path.display());
    }
    String::from_utf8(unpacked?.stdout).ok()
}

/// One row, by column name; an empty cell is 0.
struct Row<'a> {
    columns: &'a BTreeMap<&'a str, usize>,
    cells: Vec<&'a str>,
}

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        self.columns.get(column).and_then(|i| self.cells.get(*i)).copied().unwrap_or("")
    }

    fn number(&self, column: &str) -> u64 {
        self.text(column).parse().unwrap_or(0)
    }

    fn small(&self, column: &str) -> u32 {
        u32::try_from(self.number(column)).unwrap_or(u32::MAX)
    }

    /// The averages of the record, before (`p_`) or after the call.
    fn avg(&self, prefix: &str) -> Avg {
        let n = |column: &str| self.number(&format!("{prefix}{column}"));
        let s = |column: &str| self.small(&format!("{prefix}{column}"));
        Avg {
            last_update_time_ns: n("lut"),
            load_sum: n("load_sum"),
            runnable_sum: n("runnable_sum"),
            util_sum: s("util_sum"),
            period_contrib: s("pc"),
            load_avg: n("load_avg"),
            runnable_avg: n("runnable_avg"),
            util_avg: n("util_avg"),
            ..Avg::default()
        }
    }
}

fn for_each_row(text: &str, mut check: impl FnMut(&Row<'_>)) {
    let mut lines = text.lines();
    let header: BTreeMap<&str, usize> =
        lines.next().unwrap_or("").split(',').enumerate().map(|(i, n)| (n, i)).collect();
    for line in lines {
        check(&Row { columns: &header, cells: line.split(',').collect() });
    }
}

fn recompute(pol: &Policy, row: &Row<'_>) -> Option<Avg> {
    let ctx = Ctx { pol, now: row.number("now"), cap_orig: 1024, freq_scale: 1024 };
    let before = row.avg("p_");
    let weight = row.number("weight") >> 10;
    let mut se = Se { avg: before, weight, ..Se::default() };
    match row.text("type") {
        "SE" => {
            se.on_rq = row.small("on_rq");
            se.running = row.small("running");
            se.nr_runnable = row.small("runnable");
            se.update(&ctx);
            Some(se.avg)
        }
        "SEB" => {
            se.update_blocked(&ctx);
            Some(se.avg)
        }
        "CFS" => {
            let mut cfs = CfsRq { avg: before, load_weight: weight, ..CfsRq::default() };
            cfs.h_nr_runnable = row.small("runnable");
            cfs.has_curr = row.small("running");
            cfs.update(&ctx);
            Some(cfs.avg)
        }
        "RT" | "DL" => {
            let mut avg = before;
            avg.update(&ctx, row.small("running"));
            Some(avg)
        }
        _ => None,
    }
}

#[test]
fn every_average_update_of_a_real_kernel_is_recomputed_bit_for_bit() {
    let pol = Policy::profile("7.2").expect("profile exists");
    let mut checked = 0;
    for name in ["1-single-cfs.csv.gz", "2-cfs-rt.csv.gz", "3-ten-tasks.csv.gz", "5-clock-chain.csv.gz"] {
        let Some(text) = recording(name) else { return };
        for_each_row(&text, |row| {
            if let Some(ours) = recompute(&pol, row) {
                assert_eq!(ours, row.avg(""), "{name} seq {}", row.text("seq"));
                checked += 1;
            }
        });
    }
    assert!(checked > 150_000, "only {checked} updates found");
}

#[test]
fn every_clock_step_of_a_real_kernel_is_recomputed() {
    let pol = Policy::profile("7.2").expect("profile exists");
    let Some(text) = recording("5-clock-chain.csv.gz") else { return };
    let mut checked = 0;
    for_each_row(&text, |row| {
        if row.text("type") != "CLK" {
            return;
        }
        let mut rq = Rq { cap_orig: row.small("runnable"), freq_scale: row.small("weight"), ..Rq::default() };
        rq.clock.clock_ns = row.number("p_lut");
        rq.clock.clock_task_ns = row.number("p_load_sum");
        rq.clock.clock_pelt_ns = row.number("p_runnable_sum");
        let irq = (row.number("clock") - rq.clock.clock_ns) - (row.number("clock_task") - rq.clock.clock_task_ns);
        rq.clock_update(&pol, row.number("clock"), irq, row.number("running") == 0);
        let want = (row.number("clock_task"), row.number("clock_pelt"));
        assert_eq!((rq.clock.clock_task_ns, rq.clock.clock_pelt_ns), want, "seq {}", row.text("seq"));
        checked += 1;
    });
    assert!(checked > 8000, "only {checked} steps found");
}

#[test]
fn every_performance_target_and_frequency_of_a_real_kernel_is_recomputed() {
    let pol = Policy::profile("7.2").expect("profile exists");
    let Some(rows) = recording("6-decisions.csv.gz") else { return };
    let text = format!("ts,kind,cpu,pid,comm,a0,a1,a2,a3,a4,a5,a6\n{rows}");
    let (mut targets, mut frequencies) = (0, 0);
    let mut seen: Vec<(u32, u32, u32)> = Vec::new();
    for_each_row(&text, |row| match row.text("kind") {
        "eff_perf" => {
            let want = row.small("a4");
            assert_eq!(perf_clamped(row.small("a1"), row.small("a2"), row.small("a3")), want, "at {}", row.text("ts"));
            targets += 1;
        }
        "next_freq" => {
            let sp = SugovPolicy { freq_invariant: 1, ref_khz: row.small("a5"), ..SugovPolicy::default() };
            seen.push((row.small("a0"), sp.raw_freq(&pol, row.small("a1"), row.small("a2"), false), row.small("a3")));
            frequencies += 1;
        }
        _ => {}
    });
    for (cpu, raw, resolved) in &seen {
        let mut table: Vec<u32> = seen.iter().filter(|(c, ..)| c == cpu).map(|(.., khz)| *khz).collect();
        table.sort_unstable();
        table.dedup();
        let sp = SugovPolicy { min_khz: table[0], max_khz: table[table.len() - 1], ..SugovPolicy::default() };
        assert_eq!(sp.resolve(&table, *raw), *resolved, "cpu {cpu} raw {raw}");
    }
    assert!(targets > 13_000 && frequencies > 4900, "{targets} targets, {frequencies} frequencies");
}
