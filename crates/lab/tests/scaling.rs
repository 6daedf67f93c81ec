// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of an activation: it does not grow with tasks that sleep, with task groups that are idle, nor with CPUs that
//! are. Counted in instructions (callgrind): the longer run of a world less the shorter one, so that its start falls
//! out. Tasks that sleep for longer than others, but do wake, in a thousand groups on 384 CPUs, do not make it grow
//! either: that world fits its memory.
//!
//! The program runs itself under valgrind. Without valgrind nothing but memory is measured, and it says so.

#[path = "../benches/worlds/mod.rs"]
mod worlds;

use std::process::Command;

use pelton_core::Policy;
use pelton_model::{Machine, RunConfig, Workload};
use pelton_schema::NullSink;
use worlds::{machine, rt_app, side_by_side};

/// Simulated time of the shorter and of the longer run, ms: a group is idle, and not walked, once its load has decayed,
/// which takes 16 half-lives of 32 ms.
const SIMULATED_MS: [u64; 2] = [1_200, 1_450];
/// Lengths of both runs where sleepers wake, ms: they begin after the period in which each sleeper starts, which is
/// dear.
const AFTER_FIRST_MS: [u64; 2] = [100, 300];
/// Memory of a run of 384 CPUs, 1,000 groups and 10,000 tasks that mostly sleep, at its peak, KiB.
const MEMORY_KIB_MAX: u64 = 256 * 1024;
/// Simulated time of that run, in which each sleeper wakes twice, ms.
const MEMORY_MS: u64 = 11_000;
/// Largest growth that is allowed for the larger world, percent.
const GROWTH_PCT: u64 = 10;

/// A world that is simulated.
#[derive(Clone, Copy)]
struct World {
    /// CPUs in copies of eight.
    copies: u64,
    /// Tasks that sleep.
    sleepers: u64,
    /// Groups that the sleepers are spread over; 0 = none.
    groups: u64,
    /// Time between two wake-ups of each of them, us; 0 = none within the measured time.
    period_us: u64,
}

impl World {
    const fn of(copies: u64, sleepers: u64, groups: u64, period_us: u64) -> World {
        World { copies, sleepers, groups, period_us }
    }

    fn simulated_ms(self) -> [u64; 2] {
        if self.period_us == 0 { SIMULATED_MS } else { AFTER_FIRST_MS.map(|ms| self.period_us / 1000 + ms) }
    }

    fn words(self) -> [String; 4] {
        [self.copies, self.sleepers, self.groups, self.period_us].map(|number| number.to_string())
    }
}

/// Sixteen tasks of 4 to 19 ms on CPUs 0 to 7, and tasks that sleep.
fn busy_beside(World { sleepers, groups, period_us, .. }: World) -> Workload {
    let busy = (0..16).map(|i| {
        let period = 4_000 + 1_000 * i;
        let run = period / 4;
        format!(
            r#""t{i}": {{"loop": -1, "cpus": [0,1,2,3,4,5,6,7], "run": {run}, "timer": {{"ref": "r{i}", "period": {period}}}}}"#
        )
    });
    let sleeping = (0..sleepers).map(|i| {
        let group = if groups > 0 { format!(r#""taskgroup": "/g{}", "#, i % groups) } else { String::new() };
        if period_us == 0 {
            return format!(r#""s{i}": {{{group}"loop": -1, "sleep": 2000000000, "run": 100}}"#);
        }
        let delay = 1 + i * period_us / sleepers;
        let timer = format!(r#""timer": {{"ref": "s{i}", "period": {period_us}}}"#);
        format!(r#""s{i}": {{{group}"delay": {delay}, "loop": -1, "run": 100, {timer}}}"#)
    });
    rt_app(&busy.chain(sleeping).collect::<Vec<_>>())
}

/// Two worlds of which the second has five to ten times as much of one thing.
const PAIRS: [(&str, World, World); 4] = [
    ("sleeping tasks", World::of(1, 300, 0, 0), World::of(1, 3_000, 0, 0)),
    ("idle groups", World::of(1, 100, 100, 0), World::of(1, 1_000, 1_000, 0)),
    ("idle CPUs", World::of(9, 0, 0, 0), World::of(48, 0, 0, 0)),
    // As many wake per second, and all sleep until their load has decayed, which takes most of a second: walks come to
    // as many queues.
    ("sleeping tasks that wake", World::of(48, 2_000, 1_000, 1_000_000), SLEEPERS),
];
/// 384 CPUs, 1,000 groups, 10,000 tasks with the busy ones.
const SLEEPERS: World = World::of(48, 9_984, 1_000, 5_000_000);

fn simulate(world: World, simulated_ms: u64) -> u64 {
    let m: Machine = side_by_side(&machine("hikey-6220"), world.copies as u32);
    let policy = Policy::profile("7.2").expect("the newest profile");
    let config = RunConfig { seed: 1, duration_ns: simulated_ms * 1_000_000, ..RunConfig::default() };
    let report = pelton_sim::run(&m, &busy_beside(world), &policy, &config, NullSink).expect("runs");
    report.tasks.iter().map(|task| task.activation_ns.len()).sum()
}

/// Instructions and activations.
fn count(world: World, simulated_ms: u64) -> Option<(u64, u64)> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(std::env::current_exe().ok()?);
    let output = valgrind.arg("--run").args(world.words()).arg(simulated_ms.to_string()).output().ok()?;
    let collected = String::from_utf8_lossy(&output.stderr).into_owned();
    let instructions = collected.split("Collected :").nth(1)?.split_whitespace().next()?.parse().ok()?;
    Some((instructions, String::from_utf8_lossy(&output.stdout).split_whitespace().next()?.parse().ok()?))
}

/// Instructions of an activation.
fn cost(world: World) -> Option<u64> {
    let [shorter, longer] = std::thread::scope(|scope| {
        let runs = world.simulated_ms().map(|ms| scope.spawn(move || count(world, ms)));
        runs.map(|run| run.join().expect("counts"))
    });
    let (shorter, longer) = (shorter?, longer?);
    (longer.1 > shorter.1).then(|| (longer.0 - shorter.0) / (longer.1 - shorter.1))
}

/// Most memory that this process ever had, KiB; 0 where the system does not say.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.split_whitespace().next()).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

/// Activations and peak memory, KiB, of a run in a process of its own.
fn memory(world: World, simulated_ms: u64) -> (u64, u64) {
    let own = std::env::current_exe().expect("this program");
    let output = Command::new(own).arg("--run").args(world.words()).arg(simulated_ms.to_string()).output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("numbers");
    let mut numbers = text.split_whitespace().map(|word| word.parse().expect("a number"));
    (numbers.next().expect("activations"), numbers.next().expect("KiB"))
}

/// Each sleeper wakes twice; false when that takes too much memory.
fn memory_fits() -> bool {
    let (activations, kib) = memory(SLEEPERS, MEMORY_MS);
    let least = (MEMORY_MS * 1000 / SLEEPERS.period_us - 1) * SLEEPERS.sleepers;
    assert!(activations > least, "{activations} activations: the sleepers did not wake");
    if kib == 0 {
        println!("not measured: memory (the system does not say)");
    }
    println!("memory: {} MiB, {} are allowed", kib / 1024, MEMORY_KIB_MAX / 1024);
    kib <= MEMORY_KIB_MAX
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [run, copies, sleepers, groups, period_us, ms] = words.as_slice()
        && run == "--run"
    {
        let number = |word: &str| word.parse::<u64>().expect("a number");
        let world = World::of(number(copies), number(sleepers), number(groups), number(period_us));
        let activations = simulate(world, number(ms));
        return println!("{activations} {}", peak_kib());
    }
    if words.iter().any(|word| word == "--list") {
        return println!("scaling: test");
    }
    let mut failed = !memory_fits();
    for (what, few, many) in PAIRS {
        let (Some(few), Some(many)) = (cost(few), cost(many)) else {
            println!("not measured: what {what} cost (valgrind did not run)");
            continue;
        };
        let good = many <= few + few * GROWTH_PCT / 100;
        println!(
            "{what}: {few} instructions for an activation, {many} with five to ten times as many: {}",
            if good { "ok" } else { "FAILED" }
        );
        failed |= !good;
    }
    assert!(!failed, "an activation, or memory, costs more than it may");
}
