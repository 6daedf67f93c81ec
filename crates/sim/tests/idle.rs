// SPDX-License-Identifier: GPL-2.0-or-later
//! The idle governors inside the engine: what they choose under loads of three kinds, and within a latency limit.

use std::fmt::Write;

use crate::common::*;
use pelton_core::Policy;
use pelton_model::workload::{IrqSpec, Op, Phase, TaskSpec, Workload};
use pelton_model::{Machine, RunConfig};
use pelton_schema::{Event, IDLE_EXIT, NullSink};
use pelton_sim::Report;

const GOVERNORS: [&str; 3] = ["menu", "teo", "next_timer"];

/// One CPU with the states of a desktop x86: polling, C1, C1E, C3, C6, C7s, C8.
fn desktop() -> Machine {
    const STATES: [(&str, u64, u64, u64); 7] = [
        ("POLL", 0, 0, 0),
        ("C1", 2, 2, 500_000),
        ("C1E", 10, 20, 350_000),
        ("C3", 70, 100, 200_000),
        ("C6", 85, 200, 100_000),
        ("C7s", 124, 800, 60_000),
        ("C8", 200, 800, 30_000),
    ];
    let mut m = fixed_speed(&[(1, 1024)]);
    m.domains[0].idle_states = STATES.iter().map(|&(name, exit, stay, uw)| idle(name, exit, stay, uw)).collect();
    m.domains[0].polling = true;
    m.clusters[0].idle_power_uw = vec![0; STATES.len()];
    m
}

fn governed(name: &str) -> Policy {
    let mut policy = profile("7.2");
    policy.set("idle_governor", name).expect("a switch of the table");
    policy
}

fn run(w: &Workload, governor: &str, ms: u64) -> Report {
    let config = RunConfig { seed: 7, ..config(ms) };
    pelton_sim::run(&desktop(), w, &governed(governor), &config, NullSink).expect("runs")
}

/// Nothing for half a second, then a burst of short runs.
fn step() -> Workload {
    let mut t = task("step", Some(1), vec![Op::Sleep { ns: 500 * MS }]);
    let ops = vec![Op::Run { work_ns: 200_000 }, Op::Sleep { ns: 300_000 }];
    t.phases.push(Phase { loops: None, ops, ..Phase::default() });
    workload(vec![t])
}

/// A timer that the governors see coming.
fn regular() -> Workload {
    workload(vec![periodic("periodic", 300, 2_000)])
}

/// Interrupts that no timer announces, and sleeps of any length.
fn random() -> Workload {
    let ops = vec![Op::Run { work_ns: 50_000 }, Op::SleepUniform { min_ns: 10_000, max_ns: 3 * MS }];
    let irq = IrqSpec { cpu: 0, period_ns: 20_000, duration_ns: 5_000, jitter_ns: 900_000 };
    Workload { irqs: vec![irq], ..workload(vec![task("random", None, ops)]) }
}

/// One line per governor.
fn table(w: &Workload) -> String {
    let mut text = String::new();
    for governor in GOVERNORS {
        let cpu = &run(w, governor, 1000).cpus[0];
        let (entries, deep, shallow) = (&cpu.idle_entries, &cpu.idle_too_deep, &cpu.idle_too_shallow);
        writeln!(
            text,
            "{governor}: {entries:?}, too deep {deep:?}, too shallow {shallow:?}, {} uJ",
            cpu.energy_idle_uj
        )
        .expect("a string takes everything");
    }
    text
}

#[test]
fn a_step_finds_each_governor_in_its_habit() {
    assert_eq!(table(&step()), STEP);
}

#[test]
fn a_periodic_timer_is_known_to_all() {
    assert_eq!(table(&regular()), PERIODIC);
}

#[test]
fn random_interrupts_are_not() {
    assert_eq!(table(&random()), RANDOM);
}

const STEP: &str = "\
menu: [0, 11, 55, 66, 808, 0, 2], too deep [0, 0, 0, 0, 0, 0, 1], too shallow [0, 0, 0, 0, 0, 0, 0], 83349 uJ
teo: [3, 11, 56, 66, 808, 0, 1], too deep [0, 0, 0, 0, 0, 0, 0], too shallow [2, 0, 0, 0, 0, 0, 0], 83336 uJ
next_timer: [0, 0, 0, 0, 854, 0, 2], too deep [0, 0, 0, 0, 0, 0, 1], too shallow [0, 0, 0, 0, 0, 0, 0], 81387 uJ
";
const PERIODIC: &str = "\
menu: [0, 0, 0, 0, 0, 0, 501], too deep [0, 0, 0, 0, 0, 0, 1], too shallow [0, 0, 0, 0, 0, 0, 0], 73095 uJ
teo: [3, 0, 0, 0, 0, 0, 500], too deep [0, 0, 0, 0, 0, 0, 0], too shallow [2, 0, 0, 0, 0, 0, 0], 73038 uJ
next_timer: [0, 0, 0, 0, 0, 0, 501], too deep [0, 0, 0, 0, 0, 0, 1], too shallow [0, 0, 0, 0, 0, 0, 0], 73095 uJ
";
const RANDOM: &str = "\
menu: [4, 56, 242, 297, 1889, 0, 18], too deep [0, 0, 4, 11, 339, 0, 16], too shallow [0, 0, 74, 138, 42, 0, 0], 191154 uJ
teo: [11, 44, 177, 422, 1833, 0, 3], too deep [0, 0, 1, 23, 327, 0, 2], too shallow [3, 0, 17, 154, 39, 0, 0], 194392 uJ
next_timer: [3, 36, 109, 127, 708, 0, 1150], too deep [0, 0, 2, 3, 105, 0, 936], too shallow [0, 0, 0, 0, 0, 0, 0], 195113 uJ
";

#[test]
fn a_governor_that_knows_only_timers_goes_too_deep_more_often_than_those_that_learn() {
    let deep = |governor| run(&random(), governor, 1000).cpus[0].idle_too_deep.iter().sum::<u64>();
    let [menu, teo, blind] = GOVERNORS.map(deep);
    assert!(menu < blind && teo < blind, "menu {menu}, teo {teo}, next_timer {blind}");
}

fn limited(us: Option<u32>, governor: &str) -> (Report, usize) {
    let report = run(&Workload { cpu_dma_latency_us: us, ..regular() }, governor, 300);
    let deepest = report.cpus[0].idle_entries.iter().rposition(|&n| n > 0).expect("it is idle at times");
    (report, deepest)
}

#[test]
fn nobody_goes_deeper_than_the_latency_limit_allows() {
    for governor in GOVERNORS {
        for (us, state) in [(0, 0), (1, 0), (9, 1), (10, 2), (84, 3), (85, 4), (130, 5)] {
            let (_, deepest) = limited(Some(us), governor);
            assert!(deepest <= state, "{governor} within {us} us: state {deepest}");
        }
        let (_, deepest) = limited(None, governor);
        assert_eq!(deepest, 6, "{governor} without a limit");
    }
}

#[test]
fn a_limit_of_0_polls_and_wakes_at_once() {
    for governor in GOVERNORS {
        let (report, deepest) = limited(Some(0), governor);
        assert_eq!(deepest, 0, "{governor}");
        let cpu = &report.cpus[0];
        assert_eq!(cpu.idle_ns[0] + cpu.busy_ns, report.duration_ns, "{governor}: polling or running");
        // Polling draws the power of running.
        let uj = cpu.energy_active_uj + cpu.energy_idle_uj;
        assert!(near(uj, report.duration_ns / 1_000_000 * 1000, 2), "{governor}: {uj} uJ at 1 W");
    }
}

#[test]
fn timers_are_late_by_what_the_limit_allows() {
    let timed = |us| {
        let timer = pelton_model::workload::TimerId::Own(0);
        let wait = Op::Timer { timer, period_ns: 10 * MS, mode: pelton_model::workload::TimerMode::Skip };
        let t: TaskSpec = task("t", None, vec![wait, Op::TimerLatency(timer), Op::Run { work_ns: 1000 }]);
        let w = Workload { cpu_dma_latency_us: us, ..workload(vec![t]) };
        run(&w, "next_timer", 300).tasks[0].timer_latency.max
    };
    assert_eq!([timed(None), timed(Some(130)), timed(Some(20)), timed(Some(0))], [200_000, 124_000, 10_000, 0]);
}

#[test]
fn leaving_an_idle_state_takes_longer_for_a_higher_frequency() {
    let exit_ns = |khz: u32| {
        let mut m = fixed_speed(&[(1, 1024)]);
        m.domains[0].opps[0].khz = khz;
        m.domains[0].idle_states.truncate(1);
        (m.domains[0].idle_states[0].exit_latency_ns, m.domains[0].idle_states[0].exit_ns_per_ghz) = (20_000, 12_000);
        let w = workload(vec![periodic("t", 100, 10_000)]);
        let (_, events) = events_of(&m, &w, "7.2", &config(95));
        let woke = events.iter().filter(|(t, e)| *t > 20 * MS && matches!(e, Event::CpuIdle { state: IDLE_EXIT, .. }));
        woke.map(|(t, _)| *t % (2 * MS)).collect::<Vec<u64>>()
    };
    // Its timer expires at multiples of 10 ms, as does no other but the tick's, at multiples of 4 ms.
    for (khz, expected_ns) in [(1_000_000, 32_000), (2_000_000, 44_000), (500_000, 26_000)] {
        let all_ns = exit_ns(khz);
        assert!(all_ns.len() >= 6 && all_ns.iter().all(|&ns| ns == expected_ns), "{khz} kHz: {all_ns:?}");
    }
}
