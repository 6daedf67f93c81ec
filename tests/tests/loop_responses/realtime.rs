// SPDX-License-Identifier: GPL-2.0-or-later
//! A real-time task takes a third of a CPU from a busy fair task (the situation of the RT utilization series of 2018).

use pelton_model::workload::TaskSpec;

use super::chart::Layout;
use super::record::Quantity;
use super::response::Response;
use super::setup::{MS, US, busy, fifo, machine, periodic, setup, task};

const PERIOD_NS: u64 = 24_390 * US;
const PERIODS_BEFORE: u64 = 80;

fn tasks() -> Vec<TaskSpec> {
    vec![task("fair", 0, vec![busy(60_000 * MS)]), fifo(task("burst", 0, vec![periodic(None, 9 * MS, PERIOD_NS)]))]
}

#[test]
fn rt_burst_over_a_busy_fair_task() {
    let zero_ns = PERIODS_BEFORE * PERIOD_NS;
    let mut response = Response {
        name: "rt-burst",
        about: "A FIFO task works 9 of every 24.39 ms on the CPU of a fair task that never sleeps; 3 periods on a HiKey.",
        columns: vec![
            ("runs", Quantity::Runs(0)),
            ("cfs", Quantity::Cfs(0)),
            ("rt", Quantity::Rt(0)),
            ("perf", Quantity::Perf(0)),
            ("request", Quantity::Request(0)),
            ("freq", Quantity::Freq(0)),
        ],
        marked: &["runs", "request", "freq"],
        step_ns: 10 * MS,
        window_ns: (zero_ns, zero_ns + 3 * PERIOD_NS),
        zero_ns,
        runs: Vec::new(),
    };
    let with_rt = ["rt_signal=on", "rt_in_sum=on"];
    for (label, switches) in [("without RT utilization", &[][..]), ("with RT utilization", &with_rt)] {
        response.run(&setup(label, machine("hikey-6220", "4.16"), "4.16", switches, tasks()));
    }
    response.check(Layout::Stacked);
    let transitions: Vec<u64> = response.runs.iter().map(|run| run.report.transitions()).collect();
    // At least one fall and one rise per period without, the start-up transient only with.
    assert!(transitions[0] >= 2 * PERIODS_BEFORE && transitions[1] < 30, "{transitions:?}");
}
