// SPDX-License-Identifier: GPL-2.0-or-later
//! The governor's own dynamics: rate limit, driver time, and CPUs that share a frequency.

use pelton_model::Machine;
use pelton_model::workload::{Start, TaskSpec};

use super::chart::Layout;
use super::record::Quantity;
use super::response::Response;
use super::setup::{MS, QUIET_NS, US, busy, fast, fifo, machine, periodic, quiet, setup, sleep, task};

const RATE_LIMITS: [(&str, u64); 3] = [("0 us", 0), ("750 us", 750), ("10000 us", 10_000)];

/// Averages change at most every 1.05 ms of a CPU's time, so 750 us and no limit at all are the same here.
#[test]
fn rate_limits_at_the_edge_of_an_operating_point() {
    let zero_ns = 2_000 * MS;
    let mut response = Response {
        name: "opp-edge",
        about: "Utilization swings around 295, the edge between 432 and 729 MHz of a HiKey; three rate limits.",
        columns: vec![
            ("util", Quantity::TaskUtil(1)),
            ("perf", Quantity::Perf(0)),
            ("request", Quantity::Request(0)),
            ("freq", Quantity::Freq(0)),
        ],
        marked: &["freq"],
        step_ns: 8 * MS,
        window_ns: (zero_ns, zero_ns + 48 * MS),
        zero_ns,
        runs: Vec::new(),
    };
    let machine = fast(machine("hikey-6220", "7.2"));
    let tasks = vec![task("edge", 0, vec![periodic(None, 2_300 * US, 8 * MS)])];
    for (label, us) in RATE_LIMITS {
        let mut setup = setup(label, machine.clone(), "7.2", &["util_est=off"], tasks.clone());
        setup.rate_limit_us = Some(us);
        response.run(&setup);
    }
    response.check(Layout::Overlay(&["util", "freq"]));
    assert_eq!(response.series(0, "freq").0, response.series(1, "freq").0);
    let transitions: Vec<u64> = response.runs.iter().map(|run| run.report.transitions()).collect();
    assert!(transitions[2] < transitions[1], "{transitions:?}");
}

#[test]
fn rate_limits_and_a_short_rt_burst() {
    let zero_ns = 2_000 * MS;
    let mut response = Response {
        name: "short-rt-burst",
        about: "Every 20 ms a fair task works 4 ms and, 10 ms later, a FIFO task 0.4 ms; three rate limits on a HiKey.",
        columns: vec![
            ("runs", Quantity::Runs(0)),
            ("cfs", Quantity::Cfs(0)),
            ("rt", Quantity::Rt(0)),
            ("perf", Quantity::Perf(0)),
            ("freq", Quantity::Freq(0)),
        ],
        marked: &["freq"],
        step_ns: 0,
        window_ns: (zero_ns, zero_ns + 50 * MS),
        zero_ns,
        runs: Vec::new(),
    };
    let fair = task("fair", 0, vec![periodic(None, 4 * MS, 20 * MS)]);
    let mut burst = fifo(task("burst", 0, vec![periodic(None, 400 * US, 20 * MS)]));
    burst.start = Start::After(10 * MS);
    for (label, us) in RATE_LIMITS {
        let mut setup = setup(label, fast(machine("hikey-6220", "7.2")), "7.2", &[], vec![fair.clone(), burst.clone()]);
        setup.rate_limit_us = Some(us);
        response.run(&setup);
    }
    response.check(Layout::Overlay(&["perf", "freq"]));
}

fn with_driver(sleeps: bool, switch_time_ns: u64) -> Machine {
    let mut machine = machine("hikey-6220", "7.2");
    for domain in &mut machine.domains {
        domain.driver_sleeps = sleeps;
        domain.switch_time_ns = switch_time_ns;
    }
    machine
}

#[test]
fn slow_path_and_fast_switch() {
    let mut response = Response {
        name: "slow-path-and-fast-switch",
        about: "A quiet task becomes busy at 0 ms; the driver answers at once, after 0.5 ms of work, after 4 ms of sleep.",
        columns: vec![
            ("runs", Quantity::Runs(0)),
            ("util", Quantity::TaskUtil(1)),
            ("perf", Quantity::Perf(0)),
            ("request", Quantity::Request(0)),
            ("freq", Quantity::Freq(0)),
        ],
        marked: &["request", "freq"],
        step_ns: 0,
        window_ns: (QUIET_NS, QUIET_NS + 300 * MS),
        zero_ns: QUIET_NS,
        runs: Vec::new(),
    };
    let tasks = vec![task("step", 0, vec![quiet(), busy(400 * MS)])];
    for (label, machine) in [
        ("fast", fast(machine("hikey-6220", "7.2"))),
        ("works 0.5 ms", with_driver(false, 500 * US)),
        ("sleeps 4 ms", with_driver(true, 4 * MS)),
    ] {
        response.run(&setup(label, machine, "7.2", &[], tasks.clone()));
    }
    response.check(Layout::Overlay(&["request", "freq"]));
}

/// Time at which CPU 1 goes idle: it left its deepest idle state 0.7 ms after the start and was busy for 600 ms.
const IDLE_NS: u64 = 600_700 * US;

/// CPU 1 is busy for a while and then sleeps; CPU 0 does some work in every 20 ms, or none.
fn neighbours(work_ns: u64) -> Vec<TaskSpec> {
    let mut tasks = vec![task("heavy", 1, vec![busy(600 * MS), sleep(2_000 * MS)])];
    if work_ns > 0 {
        tasks.push(task("light", 0, vec![periodic(None, work_ns, 20 * MS)]));
    }
    tasks
}

#[test]
fn a_cpu_goes_idle_in_a_shared_domain() {
    let mut response = Response {
        name: "idle-in-a-shared-domain",
        about: "CPU 1 goes idle at 0 ms after being busy; CPU 0, in the same domain, works some ms of every 20.",
        columns: vec![
            ("cfs 1", Quantity::Cfs(1)),
            ("cfs 0", Quantity::Cfs(0)),
            ("perf", Quantity::Perf(0)),
            ("request", Quantity::Request(0)),
            ("freq", Quantity::Freq(0)),
        ],
        marked: &["cfs 1", "request"],
        step_ns: 0,
        window_ns: (IDLE_NS, IDLE_NS + 250 * MS),
        zero_ns: IDLE_NS,
        runs: Vec::new(),
    };
    for (label, profile, work_ns) in [
        ("4.16, works 6 ms", "4.16", 6 * MS),
        ("7.2, works 6 ms", "7.2", 6 * MS),
        ("7.2, works 3 ms", "7.2", 3 * MS),
        ("7.2, sleeps", "7.2", 0),
    ] {
        response.run(&setup(label, fast(machine("hikey-6220", profile)), profile, &[], neighbours(work_ns)));
    }
    response.check(Layout::Overlay(&["cfs 1", "freq"]));
}
