// SPDX-License-Identifier: GPL-2.0-or-later
//! Tasks that move between CPUs, and tasks that share one.

use pelton_model::workload::{CpuSet, Phase, Start};

use super::chart::Layout;
use super::record::Quantity;
use super::response::Response;
use super::setup::{MS, QUIET_NS, US, busy, fast, machine, quiet, setup, task};

fn busy_on(cpu: u32, wall_ns: u64) -> Phase {
    Phase { cpus: Some(CpuSet::of([cpu])), ..busy(wall_ns) }
}

#[test]
fn a_busy_task_moves_between_domains() {
    let mut response = Response {
        name: "migration-between-domains",
        about: "A busy task moves from a little CPU (capacity 160) to a big one (1024) at 0 ms and to a mid one (498) at 60 ms.",
        columns: vec![
            ("util", Quantity::TaskUtil(1)),
            ("cfs 0", Quantity::Cfs(0)),
            ("cfs 4", Quantity::Cfs(4)),
            ("cfs 6", Quantity::Cfs(6)),
            ("freq 0", Quantity::Freq(0)),
            ("freq 4", Quantity::Freq(4)),
            ("freq 6", Quantity::Freq(6)),
        ],
        marked: &["freq 0", "freq 4", "freq 6"],
        step_ns: 8 * MS,
        window_ns: (QUIET_NS + 292 * MS, QUIET_NS + 400 * MS),
        zero_ns: QUIET_NS + 300 * MS,
        runs: Vec::new(),
    };
    let mut mover = task("mover", 0, vec![quiet(), busy_on(0, 300 * MS), busy_on(6, 60 * MS), busy_on(4, 60 * MS)]);
    mover.phases[0].cpus = Some(CpuSet::of([0]));
    response.run(&setup("7.2", fast(machine("pixel6-gs101", "7.2")), "7.2", &[], vec![mover]));
    response.check(Layout::Stacked);
}

#[test]
fn two_busy_tasks_share_a_cpu() {
    let zero_ns = 1_000 * MS;
    let mut response = Response {
        name: "two-tasks-share-a-cpu",
        about: "A second busy task joins the first on CPU 0 at 0.7 ms and leaves after 100 ms of its own time.",
        columns: vec![
            ("runs", Quantity::Runs(0)),
            ("first", Quantity::TaskUtil(1)),
            ("second", Quantity::TaskUtil(2)),
            ("cfs", Quantity::Cfs(0)),
            ("runnable", Quantity::Runnable(0)),
            ("perf", Quantity::Perf(0)),
            ("freq", Quantity::Freq(0)),
        ],
        marked: &["freq"],
        step_ns: 10 * MS,
        window_ns: (zero_ns - 10 * MS, zero_ns + 300 * MS),
        zero_ns,
        runs: Vec::new(),
    };
    let mut second = task("second", 0, vec![busy(100 * MS)]);
    // Off the tick: on it, both would start their requests at the same virtual time.
    second.start = Start::After(zero_ns + 700 * US);
    let tasks = vec![task("first", 0, vec![busy(3_000 * MS)]), second];
    response.run(&setup("7.2", fast(machine("hikey-6220", "7.2")), "7.2", &[], tasks));
    response.check(Layout::Stacked);
}
