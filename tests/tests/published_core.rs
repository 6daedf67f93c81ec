// SPDX-License-Identifier: GPL-2.0-or-later
//! Published facts that the core alone must produce. No published number is an input: the tests read the facts only to
//! compare.

use std::path::Path;

use pelton_core::{Avg, Policy, Rq, Se};
use pelton_tests::signals::Cpu;

const MS: u64 = 1_000_000;

fn facts(name: &str) -> toml::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/published/facts").join(name);
    let text = std::fs::read_to_string(&path).expect("the facts are in scenarios/published/facts");
    toml::from_str::<toml::Table>(&text).expect("the facts are TOML").into()
}

fn number(value: &toml::Value) -> f64 {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64)).expect("a number")
}

/// A task that runs from utilization 0 on a full-size CPU at its highest frequency, one update per tick of 1 ms.
/// `phase`: position in the open period at the start, in units, and time until the first tick.
fn ramp(policy: &Policy, phase: (u32, u64), ticks: usize) -> Vec<(u64, u64)> {
    let start = 1 << 40;
    let mut rq = Rq::new(policy, start, 1024, 1024);
    rq.cfs.avg.period_contrib = phase.0;
    let mut se = Se { avg: Avg::default(), ..Se::new(1024) };
    rq.enqueue_task(policy, &mut se, start, 0, true);
    rq.switch_fair(policy, None, Some(&mut se), start, 0, true);
    let mut steps = vec![(0, 0)];
    for tick in 0..ticks as u64 {
        let now = phase.1 + tick * MS;
        rq.tick_fair(policy, &mut se, start + now, 0);
        if se.avg.util_avg != steps[steps.len() - 1].1 {
            steps.push((now, se.avg.util_avg));
        }
    }
    steps
}

/// Does the ramp show exactly these values, each for its number of whole milliseconds? The first value lasts until the
/// first tick that publishes and is left out: its length also contains the time from wake-up to running.
fn reproduces(steps: &[(u64, u64)], published: &[(u64, f64)]) -> bool {
    let value_agrees = |i: usize| steps[i].1 == published[i].0;
    let length_agrees = |i: usize| (steps[i + 1].0 - steps[i].0) as f64 / MS as f64 == published[i].1;
    (0..published.len()).all(value_agrees) && (1..published.len()).all(length_agrees)
}

fn reached(steps: &[(u64, u64)], util: u64) -> f64 {
    let step = steps.iter().find(|step| step.1 >= util).expect("the ramp is long enough");
    step.0 as f64 / MS as f64
}

#[test]
fn ramp_on_an_m1_is_reproduced_value_by_value() {
    let file = facts("qais-2024-rampup-m1.toml");
    let run = &file["run"][0];
    assert_eq!(run["id"].as_str(), Some("max_performance"));
    let pair = |row: &toml::Value| (number(&row[0]) as u64, number(&row[1]));
    let published: Vec<(u64, f64)> = run["util_residency"].as_array().expect("a list").iter().map(pair).collect();
    let policy = Policy::profile("6.6").expect("the profile exists");
    let phases = (0..1024).flat_map(|pc| (1..977u64).map(move |unit| (pc, unit * 1024)));
    let exact: Vec<(u32, u64)> =
        phases.filter(|&phase| reproduces(&ramp(&policy, phase, published.len() + 4), &published)).collect();
    let steps = ramp(&policy, *exact.last().expect("some phase reproduces the list"), 400);
    let mut text = format!(
        "{} of 999424 phases (1024 positions x 976 tick offsets) reproduce all {} values and lengths\n",
        exact.len(),
        published.len()
    );
    text += &format!("first value lasts {:.3} ms, published {}\n", reached(&steps, 1), published[0].1);
    for util in [450, 1000, 1015] {
        let theirs = number(&run[format!("ms_to_{util}").as_str()]);
        let ours = reached(&steps, util);
        text += &format!("{util} after {ours:.1} ms, published {theirs} ({:+.1} %)\n", 100.0 * (ours / theirs - 1.0));
    }
    insta::assert_snapshot!("ramp-on-an-m1", text);
}

/// Tasks that work 1000 us and sleep 100 us on one CPU, in turns of 500 us.
struct Sharing {
    cpu: Cpu,
    left_ns: [u64; 2],
    wakes_at_ns: [u64; 2],
    is_awake: [bool; 2],
    turn: usize,
}

const WORK_NS: u64 = MS;
const SLEEP_NS: u64 = 100_000;
const SLICE_NS: u64 = 500_000;
/// Time at which the second task begins, ns.
const SECOND_FROM_NS: u64 = 1_000 * MS;

impl Sharing {
    fn new(profile: &str) -> Self {
        let cpu = Cpu::new(profile, 2, 4 * MS, 4 * MS);
        Self { cpu, left_ns: [WORK_NS; 2], wakes_at_ns: [0, SECOND_FROM_NS], is_awake: [false; 2], turn: 0 }
    }

    fn wake_who_is_due(&mut self) {
        for task in 0..2 {
            if !self.is_awake[task] && self.wakes_at_ns[task] <= self.cpu.now_ns {
                self.cpu.wake(task);
                self.is_awake[task] = true;
            }
        }
    }

    /// One slice of whoever is next, or some idle time. Returns the task that went to sleep after it.
    fn step(&mut self) -> Option<usize> {
        self.wake_who_is_due();
        self.turn += 1;
        let Some(task) = [self.turn % 2, (self.turn + 1) % 2].into_iter().find(|&task| self.is_awake[task]) else {
            self.cpu.pass(10_000, |_| {});
            return None;
        };
        self.cpu.run(task);
        let slice = self.left_ns[task].min(SLICE_NS);
        self.cpu.pass(slice, |_| {});
        self.left_ns[task] -= slice;
        if self.left_ns[task] > 0 {
            return None;
        }
        self.cpu.sleep();
        (self.left_ns[task], self.is_awake[task]) = (WORK_NS, false);
        self.wakes_at_ns[task] = self.cpu.now_ns + SLEEP_NS;
        Some(task)
    }

    /// Largest utilization and last estimate of the first task over the 100 ms before `end_ns`.
    fn first_task_at(&mut self, end_ns: u64) -> (u64, u32) {
        let mut peak = 0;
        while self.cpu.now_ns < end_ns {
            let slept = self.step();
            if slept == Some(0) && self.cpu.now_ns + 100 * MS > end_ns {
                peak = peak.max(self.cpu.tasks[0].avg.util_avg);
            }
        }
        (peak, self.cpu.tasks[0].util_est(&self.cpu.policy))
    }
}

#[test]
fn an_estimate_is_not_lowered_by_a_shared_cpu_from_6_8_on() {
    let fact = &facts("kernel-commit-facts.toml")["util_est_shared_cpu"];
    assert_eq!(fact["task"]["run_us"].as_integer(), Some(1000));
    let stated = fact["alone"]["util_max"].as_integer().expect("a number");
    let mut text = format!("published: alone {stated} (\"around\"), shared about 512\n");
    text += "profile  alone: util estimate  shared: util estimate\n";
    for profile in ["6.1", "6.6", "6.8", "6.12", "7.2"] {
        let mut sharing = Sharing::new(profile);
        let alone = sharing.first_task_at(SECOND_FROM_NS);
        let shared = sharing.first_task_at(2 * SECOND_FROM_NS);
        text += &format!("{profile:<8} {:>11} {:>8} {:>13} {:>8}\n", alone.0, alone.1, shared.0, shared.1);
    }
    insta::assert_snapshot!("util-est-shared-cpu", text);
}

#[test]
fn capacities_of_the_pixel_6_are_the_published_ones() {
    let fact = &facts("kernel-commit-facts.toml")["pixel6_opp_capacity"];
    for (cluster, capacity_max) in [("little", 160), ("mid", 498), ("big", 1024)] {
        let list = |key: &str| -> Vec<u64> {
            let values = fact[cluster][key].as_array().expect("a list");
            values.iter().map(|value| number(value) as u64).collect()
        };
        let khz = list("khz");
        let top = khz[khz.len() - 1];
        let ours: Vec<u64> =
            khz.iter().map(|&khz| pelton_reference::perf::opp_capacity(capacity_max, khz, top)).collect();
        assert_eq!(ours, list("capacity"), "{cluster}");
    }
}
