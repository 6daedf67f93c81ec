// SPDX-License-Identifier: GPL-2.0-or-later
//! Tasks that wait for a device: the boost they get, what idle CPUs and sampling governors make of them, and the order
//! in which a device serves them.

use crate::common::*;
use pelton_core::Policy;
use pelton_model::workload::{DeviceSpec, Op, TaskSpec};
use pelton_model::{Machine, Workload};
use pelton_schema::{Event, HookSite, NullSink, STATE_UNINTERRUPTIBLE};
use pelton_sim::Report;

const DISK: DeviceSpec = DeviceSpec { service_ns: 150_000, jitter_ns: 0, depth: 1, irq_ns: 0 };

/// 50 us of work, then the device.
fn reader(name: &str) -> TaskSpec {
    task(name, None, vec![Op::Run { work_ns: 50_000 }, Op::Io { device: 0 }])
}

/// 50 us of work, then a timer of the device's length.
fn sleeper(name: &str) -> TaskSpec {
    task(name, None, vec![Op::Run { work_ns: 50_000 }, Op::Sleep { ns: DISK.service_ns }])
}

fn with_disk(disk: DeviceSpec, tasks: Vec<TaskSpec>) -> Workload {
    Workload { devices: vec![disk], ..workload(tasks) }
}

fn top_share(r: &Report) -> f64 {
    let at = &r.domains[0].time_in_state_ns;
    at[at.len() - 1] as f64 / at.iter().sum::<u64>() as f64
}

fn run_with(policy: &Policy, m: &Machine, w: &Workload) -> Report {
    pelton_sim::run(m, w, policy, &config(2000), NullSink).expect("runs")
}

#[test]
fn who_waits_for_io_again_and_again_gets_speed_before_its_utilization_shows_it() {
    // Two CPUs: 4.16 never sees the request of a CPU that has its frequency for itself.
    let m = machine(&[(2, 1024)]);
    for name in ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let reads = with_disk(DISK, vec![on(reader("r"), 0)]);
        let waits = top_share(&run_on(&m, &reads, name, 2000));
        let sleeps = top_share(&run_on(&m, &workload(vec![on(sleeper("s"), 0)]), name, 2000));
        assert!(waits > 0.95 && sleeps < 0.05, "{name}: {waits:.2} and {sleeps:.2} of the time at the top");
        let mut off = profile(name);
        off.set("iowait_boost", "off").expect("a value");
        let waits = top_share(&run_with(&off, &m, &reads));
        assert!(waits < 0.05, "{name}: {waits:.2} without the boost");
    }
}

#[test]
fn in_4_16_a_domain_of_one_cpu_does_not_see_who_waits_for_io() {
    let seen = |name: &str| top_share(&run_on(&machine(&[(1, 1024)]), &with_disk(DISK, vec![reader("r")]), name, 2000));
    assert!(seen("4.16") < 0.05 && seen("4.19") > 0.95);
}

#[test]
fn a_wait_that_is_longer_than_a_tick_starts_over() {
    let (m, slow) = (machine(&[(1, 1024)]), DeviceSpec { service_ns: 12 * MS, ..DISK });
    let r = run_on(&m, &with_disk(slow, vec![reader("r")]), "7.2", 2000);
    assert!(top_share(&r) < 0.05, "{:.2}", top_share(&r));
}

/// Requests that a device has done in two seconds, all tasks together.
fn served(disk: DeviceSpec, tasks: usize) -> u64 {
    let all = (0..tasks).map(|i| reader(&format!("r{i}"))).collect();
    let (_, events) = events_of(&fixed_speed(&[(8, 1024)]), &with_disk(disk, all), "7.2", &config(2000));
    let ended = events.iter().filter(|(_, event)| matches!(event, Event::IrqExit { .. })).count();
    let waits = |e: &Event| matches!(e, Event::SchedSwitch { prev_state: STATE_UNINTERRUPTIBLE, .. });
    let waited = events.iter().filter(|(_, event)| waits(event)).count();
    assert!(waited.abs_diff(ended) <= tasks, "{waited} waits, {ended} interrupts");
    ended as u64
}

#[test]
fn a_device_works_on_as_many_requests_as_it_is_deep() {
    let slow = DeviceSpec { service_ns: MS, ..DISK };
    assert!(near(served(slow, 6), 2000, 5));
    assert!(near(served(DeviceSpec { depth: 4, ..slow }, 6), 8000, 20));
    let alone = served(DeviceSpec { depth: 4, ..slow }, 1);
    assert!((1800..1910).contains(&alone), "{alone}: 1 ms of the device and 50 us of work each");
}

/// A CPU that searches with interrupts off for long does not hold up the device, which serves others meanwhile.
#[test]
fn a_device_does_not_wait_for_the_cpu_that_asked() {
    let mut m = fixed_speed(&[(8, 1024)]);
    m.costs.balance_cpu_ns = 100_000;
    let disk = DeviceSpec { service_ns: 300_000, ..DISK };
    let mut all: Vec<TaskSpec> = (0..6).map(|i| reader(&format!("r{i}"))).collect();
    all.extend((0..9).map(|i| task(&format!("b{i}"), None, vec![run_ms(1), Op::Sleep { ns: 200_000 }])));
    let (_, events) = events_of(&m, &with_disk(disk, all), "7.2", &config(2000));
    let served = events.iter().filter(|(_, event)| matches!(event, Event::IrqEntry { .. })).count();
    // Six tasks for one device: it always has the next request when it is done with one.
    assert!(served as u64 + 2 >= 2_000 * MS / disk.service_ns, "{served}");
}

#[test]
fn the_handler_takes_time_of_the_cpu_that_asked() {
    let m = fixed_speed(&[(2, 1024)]);
    let disk = DeviceSpec { irq_ns: 100_000, ..DISK };
    let w = with_disk(disk, vec![on(reader("r"), 0), on(busy("b"), 0)]);
    let (report, events) = events_of(&m, &w, "7.2", &config(1000));
    let handlers = events.iter().filter(|(_, event)| matches!(event, Event::IrqExit { cpu: 0, .. })).count() as u64;
    assert!(handlers > 200, "{handlers}");
    let worked: u64 = report.tasks.iter().map(|t| t.run_ns).sum();
    assert!(worked <= 1000 * MS - handlers * disk.irq_ns, "{handlers} handlers, {worked} ns of work");
}

/// From 6.12 on a task whose dequeue is delayed is still queued when it wakes: its I/O is not reported to the governor.
#[test]
fn who_is_still_queued_asks_for_no_boost() {
    let m = machine(&[(1, 1024)]);
    let quick = DeviceSpec { service_ns: 1_000, ..DISK };
    let hungry = task("r", None, vec![Op::Run { work_ns: 5_300_000 }, Op::Io { device: 0 }]);
    let untold = |name: &str| {
        let (_, events) = events_of(&m, &with_disk(quick, vec![hungry.clone(), busy("b")]), name, &config(4000));
        let by_io = |e: &Event| matches!(e, Event::FreqDecision { site, .. } if *site == HookSite::Iowait as u32);
        let told = events.iter().filter(|(_, event)| by_io(event)).count();
        events.iter().filter(|(_, event)| matches!(event, Event::SchedWaking { .. })).count() - told
    };
    assert_eq!(untold("6.6"), 0);
    for name in ["6.12", "6.18", "7.2"] {
        assert!(untold(name) > 20, "{name}: {} of its wake-ups are told as I/O no longer", untold(name));
    }
}

#[test]
fn ondemand_counts_waits_as_work_where_it_is_told_to() {
    let m = machine(&[(1, 1024)]);
    let share = |busy: &str| {
        let mut policy = profile("4.12");
        for (name, value) in [("governor", "ondemand"), ("io_is_busy", busy)] {
            policy.set(name, value).expect("a setting");
        }
        top_share(&run_with(&policy, &m, &with_disk(DISK, vec![reader("r")])))
    };
    let (told, not) = (share("1"), share("0"));
    assert!(told > 0.9 && not < 0.1, "{told:.2} and {not:.2}");
}
