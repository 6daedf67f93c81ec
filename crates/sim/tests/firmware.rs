// SPDX-License-Identifier: GPL-2.0-or-later
//! Firmware that looks for frequencies now and then: the kernel believes in a frequency at once, the clock follows. And
//! tasks that are busy by the clock.

use crate::common::*;
use pelton_model::Machine;
use pelton_model::workload::Op;
use pelton_schema::Event;

/// One CPU of 500, 1000 and 2000 MHz whose driver writes a request into memory.
fn polled(poll_ms: u64) -> Machine {
    let mut m = machine(&[(1, 1024)]);
    let domain = &mut m.domains[0];
    (domain.fast_switch, domain.switch_time_ns, domain.firmware_poll_ns) = (true, 0, poll_ms * MS);
    m
}

/// Changes of frequency as they are traced, and the work that was done, us.
fn traced(m: &Machine, ms: u64) -> (Vec<(u64, u32)>, u64) {
    let mut events = Keep::default();
    let w = workload(vec![on(busy("b"), 0)]);
    let r = pelton_sim::run(m, &w, &profile("6.12"), &config(ms), &mut events).expect("runs");
    let change = |(at, event): &(u64, Event)| match *event {
        Event::CpuFrequency { freq_khz, .. } => Some((*at, freq_khz)),
        _ => None,
    };
    (events.0.iter().filter_map(change).collect(), r.tasks[0].work_ns / 1000)
}

#[test]
fn the_clock_follows_when_firmware_looks_and_the_trace_does_not_wait() {
    let mut late = polled(40);
    late.domains[0].firmware_after_tick_ns = Some(39 * MS);
    let (at_once, fast) = traced(&polled(0), 30);
    let (told, slow) = traced(&late, 30);
    assert_eq!(told, at_once, "the kernel does not know");
    assert_eq!(told.last().map(|change| change.1), Some(2_000_000), "{told:?}");
    assert!(slow.abs_diff(30_000 / 4) < 50, "{slow} us at 500 MHz until firmware looks");
    assert!(fast > 12_000, "{fast} us without firmware");
    let (_, later) = traced(&late, 80);
    assert!(later.abs_diff(39_000 / 4 + 41_000) < 100, "{later} us: at 500 MHz, and from 39 ms on at 2000");
}

#[test]
fn firmware_finds_the_last_request() {
    // It looks every 2 ms: what was asked between two looks is never seen.
    let (changes, work) = traced(&polled(2), 30);
    let at = |ns: u64| changes.iter().rfind(|change| change.0 <= ns).map_or(0, |change| u64::from(change.1));
    let expected: u64 = (0..15).map(|look| at(look * 2 * MS) * 2 / 2000).sum();
    assert!(work.abs_diff(expected) < 50, "{work} us, {expected} us by what each look found");
}

#[test]
fn a_rise_waits_for_the_voltage_and_a_fall_does_not() {
    let slow = |raise_ms: u64| {
        let mut m = polled(10);
        m.domains[0].firmware_after_tick_ns = Some(9 * MS);
        m.domains[0].firmware_raise_ns = raise_ms * MS;
        traced(&m, 40).1
    };
    // From 9 ms on at 2000 MHz instead of 500, or 4 ms later.
    assert!((slow(0) - slow(4)).abs_diff(3_000) < 100, "{} {}", slow(0), slow(4));
    let mut m = polled(10);
    (m.domains[0].initial_khz, m.domains[0].firmware_raise_ns) = (2_000_000, 4 * MS);
    m.domains[0].firmware_after_tick_ns = Some(9 * MS);
    let work = |m: &Machine| {
        let w = workload(vec![on(periodic("p", 100, 10_000), 0)]);
        let r = pelton_sim::run(m, &w, &profile("6.12"), &config(100), pelton_schema::NullSink).expect("runs");
        r.cpus[0].busy_ns
    };
    let with_rise = work(&m);
    m.domains[0].firmware_raise_ns = 0;
    assert_eq!(with_rise, work(&m), "a light task only brings it down");
}

#[test]
fn firmware_that_polls_is_refused_where_neighbours_decide_about_speed() {
    let mut m = polled(4);
    m.domains[0].turbo_khz = vec![2_000_000];
    let w = workload(vec![busy("b")]);
    let refused = pelton_sim::run(&m, &w, &profile("6.12"), &config(10), pelton_schema::NullSink);
    assert!(refused.is_err_and(|e| e.to_string().contains("firmware that polls")));
}

#[test]
fn a_spin_is_over_by_the_clock_whoever_ran() {
    let run = |op: Op| {
        let spins = |name| on(task(name, Some(1), vec![op.clone()]), 0);
        let r = run_on(&polled(0), &workload(vec![spins("a"), spins("b")]), "7.2", 500);
        (r.tasks[0].run_ns / MS, r.tasks[1].run_ns / MS)
    };
    let (a, b) = run(Op::Spin { wall_ns: 100 * MS });
    assert!((40..=60).contains(&a) && (40..=65).contains(&b), "{a} and {b} ms of a CPU that both had");
    assert_eq!(run(Op::Runtime { wall_ns: 100 * MS }), (100, 100), "time of a CPU of their own");
}
