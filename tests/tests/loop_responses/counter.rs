// SPDX-License-Identifier: GPL-2.0-or-later
//! The counter-cases of the discussion of 2017: load patterns that a way of limiting the rate of changes answers badly.

use pelton_model::Machine;
use pelton_model::workload::{CpuSet, Op, Phase, Start, TaskSpec, TimerId, TimerMode};
use pelton_scenario::policy;

use super::chart::Layout;
use super::record::Quantity;
use super::response::{Response, Run, Setup};
use super::setup::{MS, US, busy, fast, fifo, machine, periodic, phase, setup, task};

/// Window of every gate, and the longest waiting time: a little less than the 10 ms grid of the tasks.
const WINDOW_US: u64 = 9_500;
/// Nominal cost of a change, as a hundredth of it.
const COST: &str = "gate_cost_ns=95000";
/// The project's own policy.
const COMPOSITE: &str = "composite";
const TOP_MHZ: u64 = 1_200;

/// Every gate, with bypass and peak; the project's own policy is added to them.
const GATES: &[(&str, &[&str])] = &[
    ("r0a", &["gate=r0a"]),
    ("r0b", &["gate=r0b"]),
    ("r1_trailing", &["gate=r1_trailing", COST]),
    ("r1_sliding", &["gate=r1_sliding", COST]),
    ("r1_asym", &["gate=r1_asym", COST]),
    ("r2_linear", &["gate=r2_linear", COST]),
    ("r2_hyperbolic", &["gate=r2_hyperbolic", COST]),
    ("up_down", &["gate=up_down", "up_rate_limit_us=500"]),
    ("r0b r3a", &["gate=r0b", "gate_bypass=r3a"]),
    ("r0b r3b", &["gate=r0b", "gate_bypass=r3b"]),
    ("r2 r3b peak", &["hook_filter=composite", "gate=r2_linear", "gate_bypass=r3b", "gate_peak=on", COST]),
];

/// Every gate on this machine with these tasks.
fn run_all(response: &mut Response, machine: &Machine, tasks: &[TaskSpec]) {
    let mut run = |label, switches: &[&str]| {
        let limited = setup(label, machine.clone(), "7.2", switches, tasks.to_vec());
        response.run(&Setup { rate_limit_us: Some(WINDOW_US), ..limited });
    };
    for (label, switches) in GATES {
        run(label, switches);
    }
    let composite = policy::choose(None, &["composite"], &[""; 0]).expect("a policy known by name");
    let switches: Vec<String> = composite.set.iter().map(|(switch, value)| format!("{switch}={value}")).collect();
    run(COMPOSITE, &switches.iter().map(String::as_str).collect::<Vec<_>>());
}

fn run_of(response: &Response, label: &str) -> usize {
    response.runs.iter().position(|run| run.label == label).expect("a run of the response")
}

/// Time at the highest frequency inside the window: while the first task runs, and while it does not.
fn time_at_top(response: &Response, label: &str) -> (u64, u64) {
    let run = run_of(response, label);
    let (from, to) = response.window_ns;
    let (freq, runs) = (response.series(run, "freq"), response.series(run, "runs"));
    let mut moments: Vec<u64> =
        freq.0.iter().chain(&runs.0).map(|&(t, _)| t).filter(|t| (from..to).contains(t)).collect();
    moments.extend([from, to]);
    moments.sort_unstable();
    let (mut useful_ns, mut wasted_ns) = (0, 0);
    for pair in moments.windows(2) {
        if freq.at(pair[0]) == Some(TOP_MHZ) {
            let total = if runs.at(pair[0]) == Some(1) { &mut useful_ns } else { &mut wasted_ns };
            *total += pair[1] - pair[0];
        }
    }
    (useful_ns, wasted_ns)
}

fn response(name: &'static str, about: &'static str, zero_ns: u64, length_ns: u64) -> Response {
    Response {
        name,
        about,
        columns: vec![("runs", Quantity::Runs(0)), ("freq", Quantity::Freq(0))],
        marked: &["freq"],
        step_ns: 0,
        window_ns: (zero_ns - MS, zero_ns + length_ns),
        zero_ns,
        runs: Vec::new(),
    }
}

fn every(name: &str, cpu: u32, after_ns: u64, work_ns: u64, period_ns: u64) -> TaskSpec {
    TaskSpec { start: Start::After(after_ns), ..task(name, cpu, vec![periodic(None, work_ns, period_ns)]) }
}

#[test]
fn cc1_a_short_burst_right_after_a_change() {
    let (period_ns, zero_ns) = (40 * MS, 50 * 40 * MS);
    let about = "Every 40 ms a fair task raises the request at 0 ms; a FIFO task works 1 ms from 0.5 ms on; a tiny task lowers it.";
    let mut cc1 = response("cc1-burst-after-a-change", about, zero_ns, period_ns);
    let burst = fifo(every("burst", 0, 500 * US, MS, period_ns));
    let tasks = [burst, every("fair", 0, 0, 5 * MS, period_ns), every("tiny", 0, 27 * MS, 20 * US, period_ns)];
    run_all(&mut cc1, &fast(machine("hikey-6220", "7.2")), &tasks);
    cc1.check(Layout::Rows);
    for window in ["r0a", "r0b"] {
        assert_eq!(time_at_top(&cc1, window), (0, 0), "{window} never serves the burst");
    }
    let (useful_ns, wasted_ns) = time_at_top(&cc1, "r1_trailing");
    assert!(useful_ns == 0 && wasted_ns > 0, "served when it is over: {useful_ns} {wasted_ns}");
    for class in ["r0b r3a", "r0b r3b", "r2 r3b peak", COMPOSITE] {
        assert!(time_at_top(&cc1, class).0 >= 900 * US, "{class}: {:?}", time_at_top(&cc1, class));
    }
}

/// The moment that CC-2 and CC-3 call 0.
const ZERO_NS: u64 = 100 * 20 * MS;

/// The tasks of CC-2: T computes for `work_ns` from 1 ms after every other window on; calls come just before that.
fn every_other_window(work_ns: u64) -> Vec<TaskSpec> {
    let timer = Op::Timer { timer: TimerId::Own(0), period_ns: 20 * MS, mode: TimerMode::Absolute };
    let computes = vec![phase(None, vec![Op::Runtime { wall_ns: work_ns }, timer])];
    let t = fifo(TaskSpec { start: Start::After(300 * US), ..task("T", 0, computes) });
    vec![t, every("caller", 1, 0, 20 * US, 5 * MS)]
}

#[test]
fn cc2_a_task_in_every_other_window() {
    let about = "A FIFO task computes 2 ms in every other window of 10 ms; a tiny task on CPU 1 calls every 5 ms.";
    let mut cc2 = response("cc2-every-other-window", about, ZERO_NS, 40 * MS);
    run_all(&mut cc2, &fast(machine("hikey-6220", "7.2")), &every_other_window(2 * MS));
    cc2.check(Layout::Rows);
    let (useful_ns, wasted_ns) = time_at_top(&cc2, "r1_trailing");
    assert_eq!(useful_ns, 0);
    let two_windows = 2 * 10 * MS;
    assert!(wasted_ns.abs_diff(two_windows) <= MS, "one window of two is wasted: {wasted_ns}");
    for early in ["r1_asym", "r2_linear", "r2_hyperbolic", "r2 r3b peak", COMPOSITE] {
        assert_eq!(time_at_top(&cc2, early).0, 2 * 2 * MS, "{early} serves T from its start");
    }
}

/// M's memory of the last window ends at a call. Where that is shortly before T starts, the fall opens a window of its
/// own, and T waits for the rest of it and then for a call: 3 ms, where W / 4 is 2.5. It never waits for a whole
/// window.
#[test]
fn cc2_however_long_the_task_works_it_waits_a_quarter_of_a_window_at_most() {
    let mut waits = Vec::new();
    for work_ms in 1..=9 {
        let mut cc2 = response("cc2", "", ZERO_NS, 40 * MS);
        run_all(&mut cc2, &fast(machine("hikey-6220", "7.2")), &every_other_window(work_ms * MS));
        for early in ["r1_asym", "r2_linear", "r2_hyperbolic", "r2 r3b peak", COMPOSITE] {
            let missed_ns = 2 * work_ms * MS - time_at_top(&cc2, early).0;
            assert!(missed_ns <= 2 * 3 * MS, "{early}, {work_ms} ms: {missed_ns}");
            if missed_ns > 0 {
                waits.push((early, work_ms));
            }
        }
        let trailing = time_at_top(&cc2, "r1_trailing");
        assert!(trailing.0 == 0 && trailing.1 > 0, "{work_ms} ms: {trailing:?}");
    }
    waits.sort_unstable();
    let asym = (4..=9).map(|ms| ("r1_asym", ms));
    let by_error = ["r2_hyperbolic", "r2_linear"].into_iter().map(|gate| (gate, 6));
    assert_eq!(waits, asym.chain(by_error).collect::<Vec<_>>(), "as docs/guide/step-responses.md says");
}

fn on(cpu: u32) -> Phase {
    Phase { cpus: Some(CpuSet::of([cpu])), ..busy(10 * MS) }
}

#[test]
fn cc3_a_task_that_moves_in_every_window() {
    let about = "A task that never sleeps moves between two CPUs with a frequency of their own, every 10 ms.";
    let mut cc3 = response("cc3-moves-in-every-window", about, ZERO_NS, 24 * MS);
    cc3.columns.push(("freq 1", Quantity::Freq(1)));
    cc3.columns.push(("mover on", Quantity::CpuOf(1)));
    cc3.columns.push(("wanted", Quantity::Wanted(0)));
    cc3.marked = &["freq", "mover on"];
    let mover = TaskSpec { loops: None, ..task("mover", 0, vec![on(0), on(1)]) };
    let callers = [0, 1].map(|cpu| every("caller", cpu, 300 * US, 20 * US, 2 * MS));
    let machine = fast(two_domains(machine("hikey-6220", "7.2")));
    run_all(&mut cc3, &machine, &[vec![mover], callers.to_vec()].concat());
    cc3.check(Layout::Rows);
    for (run, Run { label, .. }) in cc3.runs.iter().enumerate() {
        assert_eq!(raised_while_away(&cc3, run), Vec::<u64>::new(), "{label}");
    }
}

/// The first two CPUs, each with its own frequency.
fn two_domains(mut machine: Machine) -> Machine {
    let mut second = machine.domains[0].clone();
    machine.domains[0].cpus = vec![0];
    second.name = format!("{} 1", second.name);
    second.cpus = (1..machine.cpus.len() as u32).collect();
    machine.domains.push(second);
    for cpu in &mut machine.cpus[1..] {
        cpu.domain = 1;
    }
    machine
}

/// Times at which CPU 0 became faster than it needed although the mover was elsewhere, ns.
fn raised_while_away(response: &Response, run: usize) -> Vec<u64> {
    let (from, to) = (500 * MS, response.window_ns.1);
    let [freq, on, wanted] = ["freq", "mover on", "wanted"].map(|column| response.series(run, column));
    assert!(on.0.len() > 100, "the mover moves");
    let rises = freq.0.windows(2).filter(|pair| pair[1].1 > pair[0].1).map(|pair| pair[1]);
    let history = |&(t, mhz): &(u64, u64)| on.at(t) == Some(1) && Some(mhz) > wanted.at(t);
    rises.filter(|(t, _)| (from..to).contains(t)).filter(history).map(|(t, _)| t).collect()
}
