// SPDX-License-Identifier: GPL-2.0-or-later
//! The worked examples of docs/rules are computed, not typed: each page holds the table this file renders.
//! `PELTON_UPDATE_DOCS=1 cargo test --test core_tests worked_examples::` writes them.

use std::path::Path;

use pelton_core::{CpuState, Policy, Rq, Se, SugovCpu, SugovPolicy, dequeue, runs};

const MS: u64 = 1_000_000;
const END: &str = "<!-- end of worked example -->";

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("profile exists")
}

/// A Markdown table.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|h| (*h).to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}{body}", line(&head))
}

fn check_page(page: &str, example: &str, rendered: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules").join(page);
    let begin = format!("<!-- worked example: {example}, computed by crates/core/tests/worked_examples.rs -->\n");
    let text = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = text.split_once(&begin).expect("the page has the worked example");
    let (inside, after) = rest.split_once(END).expect("the worked example ends");
    if std::env::var_os("PELTON_UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{begin}{rendered}{END}{after}")).expect("page is writable");
        return;
    }
    assert_eq!(inside, rendered, "{example} in docs/rules/{page} is out of date; see the head of this test");
}

/// Two tasks on one CPU: A runs, then B, then neither.
struct Pair {
    pol: Policy,
    rq: Rq,
    a: Se,
    b: Se,
}

impl Pair {
    fn new(pol: Policy, cap: u32) -> Self {
        Self { rq: Rq::new(&pol, 0, cap, 1024), a: Se::new(1024), b: Se::new(1024), pol }
    }

    /// One round: both wake at `start`, A runs for `run_ns`, then B does. `see` is called after each step.
    fn round(&mut self, start: u64, run_ns: u64, mut see: impl FnMut(&str, u64, &Self)) {
        let (half, full) = (start + run_ns, start + 2 * run_ns);
        self.rq.enqueue_task(&self.pol, &mut self.a, start, 0, true);
        self.rq.enqueue_task(&self.pol, &mut self.b, start, 0, true);
        see("both wake", start, self);
        self.rq.switch_fair(&self.pol, None, Some(&mut self.a), start, 0, true);
        self.rq.dequeue_task(&self.pol, &mut self.a, half, 0, false, dequeue::SLEEP);
        see("A sleeps", half, self);
        self.rq.switch_fair(&self.pol, Some(&mut self.a), Some(&mut self.b), half, 0, false);
        self.rq.dequeue_task(&self.pol, &mut self.b, full, 0, false, dequeue::SLEEP);
        see("B sleeps", full, self);
        self.rq.switch_idle(&self.pol, Some(&mut self.b), full, 0, false);
        see("idle", full, self);
    }
}

#[test]
fn pelt() {
    let mut pair = Pair::new(policy("7.2"), 1024);
    let mut rows = Vec::new();
    for i in 1..=64u64 {
        pair.round(i * 16 * MS, 4 * MS, |what, now, p| {
            if i == 64 && what != "idle" {
                let ms = (now - 64 * 16 * MS) / MS;
                let (a, b, root) = (&p.a.avg, &p.b.avg, &p.rq.cfs.avg);
                let row = [a.util_avg, b.util_avg, root.util_avg, a.runnable_avg, b.runnable_avg, root.runnable_avg];
                let mut cells = vec![format!("{ms} ms"), what.to_owned()];
                cells.extend(row.iter().map(ToString::to_string));
                rows.push(cells);
            }
        });
    }
    let head = ["time", "event", "A util", "B util", "queue util", "A runnable", "B runnable", "queue runnable"];
    check_page("load-tracking.md", "load", &table(&head, &rows));
}

#[test]
fn clock() {
    let mut rows = Vec::new();
    for (profile, cap, run_ms) in [("7.2", 1024, 4), ("7.2", 512, 8), ("4.16", 1024, 4), ("4.16", 512, 8)] {
        let mut pair = Pair::new(policy(profile), cap);
        let mut peaks = [0; 3];
        let mut clocks = Vec::new();
        for i in 1..=40u64 {
            pair.round(i * 32 * MS, run_ms * MS, |what, _, p| {
                if i == 40 {
                    peaks[0] = peaks[0].max(p.a.avg.util_avg);
                    peaks[1] = peaks[1].max(p.b.avg.util_avg);
                    peaks[2] = peaks[2].max(p.rq.cfs.avg.util_avg);
                    clocks.push((what.to_owned(), p.rq.clock_pelt(&p.pol)));
                }
            });
        }
        let passed = |from: usize, to: usize| format!("{:.1} ms", (clocks[to].1 - clocks[from].1) as f64 / 1e6);
        let mut cells = vec![profile.to_owned(), cap.to_string(), format!("{run_ms} + {run_ms} ms")];
        cells.extend([passed(0, 2), passed(2, 3)]);
        cells.extend(peaks.iter().map(ToString::to_string));
        rows.push(cells);
    }
    let head =
        ["profile", "capacity", "A + B run", "clock while busy", "jump at idle", "A peak", "B peak", "queue peak"];
    check_page("clock.md", "clock", &table(&head, &rows));
}

/// Estimate of two tasks after each of their activations: A always runs 8 ms, B runs 24 ms once and then 2 ms.
#[test]
fn util_est() {
    let names = ["4.19", "5.10", "6.12", "7.2"];
    let mut columns = Vec::new();
    for name in names {
        let pol = policy(name);
        let mut world = (Rq::new(&pol, 0, 1024, 1024), Se::new(1024), Se::new(1024));
        let mut seen = Vec::new();
        for i in 0..8u64 {
            let start = (i + 1) * 100 * MS;
            let long = if i == 3 { 24 } else { 2 };
            for (se, at, run_ms) in [(&mut world.1, start, 8), (&mut world.2, start + 40 * MS, long)] {
                world.0.enqueue_task(&pol, se, at, 0, true);
                world.0.switch_fair(&pol, None, Some(se), at, 0, true);
                for tick in (4..run_ms).step_by(4) {
                    world.0.tick_fair(&pol, se, at + tick * MS, 0);
                }
                world.0.dequeue_task(&pol, se, at + run_ms * MS, 0, false, dequeue::SLEEP);
                world.0.switch_idle(&pol, Some(se), at + run_ms * MS, 0, false);
            }
            seen.push((world.1.util_est(&pol), world.2.avg.util_avg, world.2.util_est(&pol)));
        }
        columns.push(seen);
    }
    let mut rows = Vec::new();
    for i in 0..8 {
        let mut cells = vec![(i + 1).to_string(), columns[3][i].1.to_string()];
        cells.extend(columns.iter().map(|c| c[i].2.to_string()));
        cells.extend(columns.iter().map(|c| c[i].0.to_string()));
        rows.push(cells);
    }
    let head =
        ["round", "B util", "B u1 (4.19)", "B u2 (5.10)", "B u3 (6.12)", "B u4 (7.2)", "A u1", "A u2", "A u3", "A u4"];
    check_page("load-tracking.md", "estimate", &table(&head, &rows));
}

/// A fair task that always wants to run, and a real-time task that takes 9.0 ms of every 24.39 ms from it.
#[test]
fn pressure() {
    let mut rows = Vec::new();
    let cases: [(&str, &[(&str, &str)]); 3] = [("4.16", &[]), ("4.16", &[("rt_signal", "on")]), ("7.2", &[])];
    for (profile, sets) in cases {
        let mut pol = policy(profile);
        for (switch, value) in sets {
            pol.set(switch, value).expect("switch exists");
        }
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        let mut fair = Se::new(1024);
        rq.enqueue_task(&pol, &mut fair, 0, 0, true);
        rq.switch_fair(&pol, None, Some(&mut fair), 0, 0, true);
        let mut ends = Vec::new();
        for i in 1..=60u64 {
            let start = i * 24_390_000;
            rq.switch_fair(&pol, Some(&mut fair), None, start, 0, false);
            rq.event_rt(&pol, start, 0, false, false);
            ends.push((rq.cfs.avg.util_avg, rq.rt.util_avg));
            rq.event_rt(&pol, start + 9 * MS, 0, false, true);
            rq.switch_fair(&pol, None, Some(&mut fair), start + 9 * MS, 0, false);
            ends.push((rq.cfs.avg.util_avg, rq.rt.util_avg));
        }
        rq.update_blocked(&pol, 60 * 24_390_000 + 9 * MS, 0, runs::FAIR, 0);
        let (before, after) = (ends[ends.len() - 2], ends[ends.len() - 1]);
        let name = if sets.is_empty() { profile.to_owned() } else { format!("{profile} + rt_signal=on") };
        let mut cells = vec![name];
        for (cfs, rt) in [before, after] {
            cells.extend([cfs.to_string(), rt.to_string(), (cfs + rt).to_string()]);
        }
        cells.push(rq.capacity_of(&pol, 0, 0).to_string());
        rows.push(cells);
    }
    let head =
        ["rules", "cfs before", "rt before", "sum before", "cfs after", "rt after", "sum after", "capacity left"];
    check_page("limits-and-pressure.md", "pressure", &table(&head, &rows));
}

/// Two tasks on the two CPUs of a shared domain: one fair task each, a real-time task just ran beside the second.
#[test]
fn schedutil() {
    let khz = [208_000, 432_000, 729_000, 960_000, 1_200_000];
    let states = [
        CpuState {
            cap_orig: 1024,
            util_cfs: 300,
            runnable_cfs: 300,
            util_est: 350,
            uclamp_max: 1024,
            ..CpuState::default()
        },
        CpuState {
            cap_orig: 1024,
            util_cfs: 380,
            runnable_cfs: 460,
            util_rt: 150,
            bw_dl: 51,
            uclamp_max: 1024,
            ..CpuState::default()
        },
    ];
    let mut rows = Vec::new();
    for profile in ["4.16", "4.19", "5.10", "6.1", "7.2"] {
        let pol = policy(profile);
        let mut sp = SugovPolicy {
            nr_cpus: 2,
            min_khz: khz[0],
            max_khz: khz[4],
            ref_khz: khz[4],
            cur_khz: khz[4],
            fast_switch: 1,
            remote_ok: 1,
            freq_invariant: 1,
            ..SugovPolicy::default()
        };
        sp.init(&pol, pelton_core::default_rate_limit_us(&pol, 500_000, 0));
        let (mut sc, mut terms) = ([SugovCpu::default(); 2], [Default::default(); 2]);
        for (cpu, state) in sc.iter_mut().zip(&states) {
            cpu.keep_util(&pol, state);
            sp.begin(&pol, cpu, 0, 100 * MS, 4 * MS, 0, true);
        }
        let d = sp.evaluate(&pol, 0, &mut sc, &states, 100 * MS, 4 * MS, &khz, &mut terms);
        let mut cells = vec![profile.to_owned(), format!("{} us", sp.rate_limit_ns / 1000)];
        cells.extend(terms.iter().map(|t| format!("{} -> {}", t.effective, t.perf)));
        cells.extend([format!("CPU {}", d.cpu), d.raw_khz.to_string(), d.resolved_khz.to_string()]);
        rows.push(cells);
    }
    let head = [
        "profile",
        "rate limit",
        "CPU 0: effective -> perf",
        "CPU 1: effective -> perf",
        "decides",
        "raw kHz",
        "chosen kHz",
    ];
    check_page("governor.md", "governor", &table(&head, &rows));
}
