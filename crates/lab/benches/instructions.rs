// SPDX-License-Identifier: GPL-2.0-or-later
//! Instructions per activation: callgrind's count of a longer run less that of a shorter one, so that reading, start
//! and report fall out. A count does not depend on what else the machine does.
//!
//! The program runs itself under valgrind; without valgrind nothing is measured, and it says so. Under `cargo test`
//! every case runs once and short, uncounted. Cases differ by one thing: what that costs is a difference of two rows.

mod worlds;

use std::process::Command;

use pelton_core::{
    NO_CPU, NO_DOMAIN, NO_IDLE_STATE, NO_LIMIT, PlaceCpu, Placed, Placement, Policy, SchedDomain, sd, wf,
};
use pelton_model::{Machine, RunConfig, Workload};
use pelton_schema::NullSink;
use worlds::{machine, rt_app, side_by_side};

const NS_PER_MS: u64 = 1_000_000;

/// One case.
struct Case {
    name: &'static str,
    machine: fn() -> Machine,
    workload: fn() -> Workload,
    /// Simulated time of the shorter and of the longer run.
    simulated_ms: [u64; 2],
    /// The need is watched beside the frequency, as in every run of the lab.
    watched: bool,
}

/// Run time and period, us: 32 tasks that together ask for 4 of 8 CPUs, 2,903 activations a second.
const LOAD32: [(u32, u32); 32] = [
    (312, 4000),
    (635, 5000),
    (793, 8000),
    (1366, 10000),
    (1681, 12000),
    (807, 16000),
    (842, 20000),
    (4349, 25000),
    (2689, 33000),
    (3099, 40000),
    (9965, 50000),
    (11524, 100000),
    (695, 4000),
    (581, 5000),
    (1138, 8000),
    (640, 10000),
    (1698, 12000),
    (2862, 16000),
    (2474, 20000),
    (3965, 25000),
    (4865, 33000),
    (2009, 40000),
    (8065, 50000),
    (13457, 100000),
    (352, 4000),
    (224, 5000),
    (1427, 8000),
    (1156, 10000),
    (1860, 12000),
    (2889, 16000),
    (3085, 20000),
    (4684, 25000),
];

/// The tasks of [`LOAD32`], each with more words of the file.
fn load32(words: impl Fn(usize) -> String) -> Vec<String> {
    let task = |(i, &(run, period)): (usize, &(u32, u32))| {
        let words = words(i);
        format!(r#""t{i}": {{"loop": -1, {words}"run": {run}, "timer": {{"ref": "r{i}", "period": {period}}}}}"#)
    };
    LOAD32.iter().enumerate().map(task).collect()
}

/// Tasks that sleep for the whole run, each with more words of the file.
fn sleepers(count: usize, words: impl Fn(usize) -> String) -> impl Iterator<Item = String> {
    (0..count).map(move |i| format!(r#""s{i}": {{{}"loop": -1, "sleep": 2000000000, "run": 100}}"#, words(i)))
}

fn plain() -> Workload {
    rt_app(&load32(|_| String::new()))
}

fn in_group(path: &'static str) -> Workload {
    rt_app(&load32(|_| format!(r#""taskgroup": "{path}", "#)))
}

fn beside(others: impl Iterator<Item = String>) -> Workload {
    rt_app(&load32(|_| String::new()).into_iter().chain(others).collect::<Vec<_>>())
}

/// Two tasks of 4 to 35 ms on each CPU.
fn two_each(cpus: usize) -> Workload {
    let task = |i: usize| {
        let period = 4_000 + 1_000 * (i % 32);
        let run = period / 5 + 10 * (i % 7);
        format!(r#""t{i}": {{"loop": -1, "run": {run}, "timer": {{"ref": "r{i}", "period": {period}}}}}"#)
    };
    rt_app(&(0..2 * cpus).map(task).collect::<Vec<_>>())
}

/// Sixteen tasks of 4 to 19 ms on CPUs 0 to 7: the world of `crates/lab/tests/scaling.rs`.
fn beside_idle() -> Workload {
    let task = |i: usize| {
        let (period, run) = (4_000 + 1_000 * i, 1_000 + 250 * i);
        format!(
            r#""t{i}": {{"loop": -1, "cpus": [0,1,2,3,4,5,6,7], "run": {run}, "timer": {{"ref": "r{i}", "period": {period}}}}}"#
        )
    };
    rt_app(&(0..16).map(task).collect::<Vec<_>>())
}

fn hikey() -> Machine {
    machine("hikey-6220")
}

fn copies(times: u32) -> Machine {
    side_by_side(&hikey(), times)
}

fn cases() -> Vec<Case> {
    let case = |name, machine, workload, simulated_ms| Case { name, machine, workload, simulated_ms, watched: true };
    let long = [4_000, 12_000];
    let mut all = vec![
        case("load32", hikey as fn() -> Machine, plain as fn() -> Workload, long),
        case("load32-i7-6700", || machine("intel-i7-6700"), plain, long),
        case("load32-one-group", hikey, || in_group("/a"), long),
        case("load32-depth-6", hikey, || in_group("/a/b/c/d/e/f"), long),
        case("load32-9900-sleepers", hikey, || beside(sleepers(9_900, |_| String::new())), long),
        case(
            "load32-1000-idle-groups",
            hikey,
            || beside(sleepers(1_000, |i| format!(r#""taskgroup": "/g{i}", "#))),
            long,
        ),
        case("8-cpus-two-tasks-each", hikey, || two_each(8), [1_000, 3_000]),
        case("384-cpus-two-tasks-each", || copies(48), || two_each(384), [100, 200]),
        case("1024-cpus-two-tasks-each", || copies(128), || two_each(1_024), [100, 200]),
        case("16-tasks-beside-64-idle-cpus", || copies(9), beside_idle, [1_200, 1_700]),
        case("16-tasks-beside-376-idle-cpus", || copies(48), beside_idle, [1_200, 1_700]),
    ];
    all.push(Case { watched: false, ..case("load32-unwatched", hikey, plain, long) });
    all
}

/// Runs a case; how many activations it had.
fn simulate(case: &Case, simulated_ms: u64) -> u64 {
    let policy = Policy::profile("7.2").expect("the newest profile");
    let config =
        RunConfig { seed: 1, duration_ns: simulated_ms * NS_PER_MS, demand: case.watched, ..RunConfig::default() };
    let report = pelton_sim::run(&(case.machine)(), &(case.workload)(), &policy, &config, NullSink);
    report.expect("a run that can end").tasks.iter().map(|task| task.activation_ns.len()).sum()
}

/// CPUs of a cache in the placements that are counted.
const LLC: u32 = 8;

/// A symmetric machine of `cpus` CPUs, 8 to a cache, all but the last of each cache busy: a wake-up looks for that one.
fn symmetric(cpus: u32) -> Placement {
    let mask = |first: u32, n: u32| if n == 64 { u64::MAX } else { ((1 << n) - 1) << first };
    let mut board = Placement { nr_cpus: cpus, flags: wf::TTWU, prev_cpu: 1, ..Placement::default() };
    for number in 0..cpus {
        let idle = number % LLC == LLC - 1;
        let mut cpu = PlaceCpu {
            capacity: 1024,
            threads: 1 << number,
            curr_idle: idle.into(),
            nr_running: (!idle).into(),
            h_nr_runnable: (!idle).into(),
            h_nr_queued: (!idle).into(),
            exit_latency_ns: NO_IDLE_STATE,
            nr_idle_scan_llc: NO_LIMIT,
            nr_idle_scan_asym: NO_LIMIT,
            llc: number / LLC,
            cluster: number / LLC,
            llc_size: LLC,
            llc_domain: 0,
            asym_domain: NO_DOMAIN,
            nr_domains: if cpus > LLC { 2 } else { 1 },
            ..PlaceCpu::default()
        };
        (cpu.state.cap_orig, cpu.state.uclamp_max) = (1024, 1024);
        (cpu.state.util_cfs, cpu.load) = if idle { (0, 0) } else { (400, 1024) };
        let flags = sd::WAKE_AFFINE | sd::BALANCE_FORK | sd::BALANCE_EXEC;
        let domain = |span, flags| SchedDomain { span, flags, imbalance_pct: 117, ..SchedDomain::default() };
        cpu.domains[0] = domain(mask(number / LLC * LLC, LLC), flags | sd::SHARE_LLC);
        cpu.domains[1] = domain(mask(0, cpus), flags);
        board.cpus[number as usize] = cpu;
    }
    let task = &mut board.task;
    (task.cpu, task.recent_cpu, task.allowed) = (1, 2, mask(0, cpus));
    (task.uclamp_max, task.numa_cpu) = (1024, NO_CPU);
    (task.se.avg.util_avg, task.se.weight) = (100, 1024);
    board
}

/// Places a task that wakes `times` times; the sum of its CPUs.
fn place(cpus: u32, times: u64) -> u64 {
    let policy = Policy::profile("7.2").expect("the newest profile");
    let mut board = symmetric(cpus);
    let mut placed = Placed::default();
    let mut chosen = 0;
    for i in 0..times {
        // The waker stands in each cache in turn.
        board.this_cpu = (i as u32 * LLC) % cpus;
        chosen += u64::from(board.select(&policy, &mut placed));
    }
    chosen
}

/// Machines whose placements are counted: those of the form for 64 CPUs.
const PLACED_CPUS: [u32; 2] = [8, 64];

fn measure_placement(cpus: u32) {
    let name = format!("placement-{cpus}-cpus");
    let counts = [1_000, 11_000].map(|times| callgrind(&name, times).map(|(instructions, _)| instructions));
    let [Some(shorter), Some(longer)] = counts else {
        return println!("not measured: instructions of {name} (valgrind did not run)");
    };
    let per_op = (longer - shorter) / 10_000;
    println!(r#"{{"bench":"instructions/{name}","ops":10000,"ns":0,"instructions_per_op":{per_op},"hash":""}}"#);
}

/// Instructions and activations of one run.
fn count(case: &Case, simulated_ms: u64) -> Option<(u64, u64)> {
    callgrind(case.name, simulated_ms)
}

fn callgrind(name: &str, amount: u64) -> Option<(u64, u64)> {
    let program = std::env::current_exe().ok()?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    let output = valgrind.args(["--run", name, &amount.to_string()]).output().ok()?;
    let collected = String::from_utf8_lossy(&output.stderr).into_owned();
    let instructions = collected.split("Collected :").nth(1)?.split_whitespace().next()?.parse().ok()?;
    Some((instructions, String::from_utf8_lossy(&output.stdout).trim().parse().ok()?))
}

fn measure(case: &Case) {
    let [shorter, longer] = case.simulated_ms.map(|ms| count(case, ms));
    let (Some(shorter), Some(longer)) = (shorter, longer) else {
        return println!("not measured: instructions of {} (valgrind did not run)", case.name);
    };
    let activations = longer.1 - shorter.1;
    let per_op = (longer.0 - shorter.0) / activations.max(1);
    println!(
        r#"{{"bench":"instructions/{}","ops":{activations},"ns":0,"instructions_per_op":{per_op},"hash":""}}"#,
        case.name
    );
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let named = |name: &str| cases().into_iter().find(|case| case.name == name);
    if let [run, name, ms] = args.as_slice()
        && run == "--run"
    {
        let amount = ms.parse().expect("a number");
        if let Some(cpus) = PLACED_CPUS.iter().find(|cpus| *name == format!("placement-{cpus}-cpus")) {
            return println!("{}", place(*cpus, amount));
        }
        let case = named(name).expect("a case");
        return println!("{}", simulate(&case, amount));
    }
    let full = args.iter().any(|arg| arg == "--bench");
    let only = args.iter().find(|arg| !arg.starts_with("--"));
    for cpus in PLACED_CPUS {
        if !full {
            assert_eq!(place(cpus, 1), 7, "the idle CPU of the cache of the last one");
        } else if only.is_none_or(|name| *name == format!("placement-{cpus}-cpus")) {
            measure_placement(cpus);
        }
    }
    for case in cases().iter().filter(|case| only.is_none_or(|name| name == case.name)) {
        if full {
            measure(case);
        } else {
            assert!(simulate(case, 50) > 0, "{}: nothing ran", case.name);
        }
    }
}
