// SPDX-License-Identifier: GPL-2.0-or-later
//! The core as a scheduler of sched_ext (`host=live`): what moves between CPUs, and what becomes of frequencies.

use crate::common::{MS, busy, config, machine, near, on, periodic, profile, run_ms, task, workload};
use pelton_core::Policy;
use pelton_model::Machine;
use pelton_model::workload::{Op, TaskSpec, Workload};
use pelton_schema::NullSink;
use pelton_sim::Report;

fn policy(settings: &[(&str, &str)]) -> Policy {
    let mut policy = profile("7.2");
    for (switch, value) in [("delayed_dequeue", "off"), ("host", "live")].iter().chain(settings) {
        policy.set(switch, value).expect("a switch of the table");
    }
    policy.check().expect("switches that go together");
    policy
}

fn run(m: &Machine, w: &Workload, policy: &Policy, ms: u64) -> Report {
    pelton_sim::run(m, w, policy, &config(ms), NullSink).expect("runs")
}

fn busy_ms(report: &Report) -> Vec<u64> {
    report.cpus.iter().map(|cpu| cpu.busy_ns / 1_000_000).collect()
}

/// A busy task that may go anywhere.
fn hog(i: u32) -> TaskSpec {
    busy(&format!("hog{i}"))
}

#[test]
fn cpus_without_tasks_take_those_that_wait() {
    let m = machine(&[(4, 1024)]);
    let report = run(&m, &workload((0..4).map(hog).collect()), &policy(&[]), 1_000);
    assert!(busy_ms(&report).iter().all(|&ms| ms > 900), "{:?}", busy_ms(&report));
    // They wait for each other where they may not go elsewhere.
    let report = run(&m, &workload((0..2).map(|i| on(hog(i), 1)).collect()), &policy(&[]), 500);
    let own: Vec<u64> = report.tasks.iter().map(|task| task.run_ns / 1_000_000).collect();
    assert!(own.iter().all(|&ms| near(ms, 250, 10)), "{own:?}");
}

#[test]
fn a_task_that_outgrows_a_small_cpu_is_sent_on() {
    let m = machine(&[(2, 400), (1, 1024)]);
    let report = run(&m, &workload(vec![hog(0)]), &policy(&[]), 1_000);
    assert!(busy_ms(&report)[2] > 950, "{:?}", busy_ms(&report));
}

/// The kernel's schedutil makes a frequency of the target: as fast as where it asks the queues itself.
#[test]
fn frequencies_follow_targets() {
    let m = machine(&[(2, 1024)]);
    let w = workload(vec![on(periodic("half", 5_000, 10_000), 0), on(periodic("some", 1_000, 10_000), 1)]);
    let mut kernel = policy(&[]);
    kernel.set("host", "kernel").expect("a switch");
    let mean = |report: &Report| {
        let of = &report.domains[0];
        let sum: u128 =
            of.khz.iter().zip(&of.time_in_state_ns).map(|(&khz, &ns)| u128::from(khz) * u128::from(ns)).sum();
        (sum / of.time_in_state_ns.iter().map(|&ns| u128::from(ns)).sum::<u128>()) as u64
    };
    let (live, kernel) = (run(&m, &w, &policy(&[]), 2_000), run(&m, &w, &kernel, 2_000));
    assert!(near(mean(&live), mean(&kernel), mean(&kernel) / 10), "{} {}", mean(&live), mean(&kernel));
    assert!(live.domains[0].evaluations > 0 && live.domains[0].transitions > 0);
    // A gate of the core's own saves calls of the kernel's governor.
    let waves = workload(vec![on(task("waves", None, vec![run_ms(8), Op::Sleep { ns: 12 * MS }]), 0)]);
    let changes = |own: &[(&str, &str)]| run(&m, &waves, &policy(own), 2_000).domains[0].transitions;
    let seldom = [("gate", "r2_hyperbolic"), ("gate_spacing_max_us", "50000"), ("gate_spacing_min_us", "500")];
    let (plain, seldom) = (changes(&[]), changes(&seldom));
    assert!(plain > 20 && seldom * 2 < plain, "{seldom} {plain}");
}

/// Utilization that a task left behind on a CPU fades, although nothing happens there.
#[test]
fn idle_cpus_ask_for_less_and_less() {
    let m = machine(&[(1, 1024)]);
    let report = run(&m, &workload(vec![periodic("once", 50_000, 1_000_000)]), &policy(&[]), 1_000);
    let of = &report.domains[0];
    assert!(of.time_in_state_ns[0] > 600_000_000, "{:?}", of.time_in_state_ns);
}

#[test]
fn runs_are_values() {
    let m = machine(&[(2, 400), (2, 1024)]);
    let w = workload((0..6).map(|i| periodic(&format!("task{i}"), 700 + 900 * i, 7_000 + 3_000 * i)).collect());
    assert_eq!(run(&m, &w, &policy(&[]), 500), run(&m, &w, &policy(&[]), 500));
}
