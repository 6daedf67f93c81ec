// SPDX-License-Identifier: GPL-2.0-or-later
//! One task on a HiKey: from idle to busy, and a tenth of the time.

use pelton_model::workload::TaskSpec;

use super::chart::Layout;
use super::record::Quantity;
use super::response::Response;
use super::setup::{MS, QUIET_NS, busy, fast, machine, periodic, quiet, setup, sleep, task};

const COLUMNS: [(&str, Quantity); 6] = [
    ("util", Quantity::TaskUtil(1)),
    ("est", Quantity::TaskEst(1)),
    ("cfs", Quantity::Cfs(0)),
    ("perf", Quantity::Perf(0)),
    ("request", Quantity::Request(0)),
    ("freq", Quantity::Freq(0)),
];

fn step_up(busy_ns: u64) -> Vec<TaskSpec> {
    vec![task("step", 0, vec![quiet(), busy(busy_ns), sleep(100 * MS)])]
}

/// Time at which the domain first runs at its highest frequency after the step, ms.
fn at_the_top_ms(response: &Response, run: usize) -> f64 {
    let freq = response.series(run, "freq");
    let top = freq.0.iter().find(|&&(t, mhz)| t >= QUIET_NS && mhz == 1200);
    response.ms_since_zero(top.expect("a busy task gets everything in the end").0)
}

/// Periods of full-speed time from 0 to the utilization that asks for more than `f` of 1200 MHz are
/// `32 log2(1024 / (1024 - 0.8 * 1024 * f / 1200))`; at `f` they take `1200 / f` times as long where the clock is
/// scaled. Without any delay that makes 41 + 26 + 25 + 20 ms; rate limit, tick and driver come on top.
#[test]
fn idle_to_busy() {
    let mut response = Response {
        name: "idle-to-busy",
        about: "A task that hardly ran for a second computes from 0 to 400 ms, then sleeps: five kernels on a HiKey.",
        columns: COLUMNS.to_vec(),
        marked: &["request", "freq"],
        step_ns: 100 * MS,
        window_ns: (QUIET_NS - 20 * MS, QUIET_NS + 420 * MS),
        zero_ns: QUIET_NS,
        runs: Vec::new(),
    };
    for profile in ["4.12", "4.16", "5.4", "6.6", "7.2"] {
        response.run(&setup(profile, machine("hikey-6220", profile), profile, &[], step_up(400 * MS)));
    }
    response.check(Layout::Overlay(&["util", "freq"]));
    // From 6.12 on a HiKey's 208 MHz are passed over: one step less.
    for (run, range) in [(2, 112.0..140.0), (3, 112.0..140.0), (4, 88.0..116.0)] {
        let ms = at_the_top_ms(&response, run);
        assert!(range.contains(&ms), "{}: {ms}", response.runs[run].label);
    }
    assert!(at_the_top_ms(&response, 1) > 200.0, "signals that follow the frequency climb more slowly");
}

#[test]
fn idle_to_busy_with_the_rate_limit_of_4_12() {
    let mut response = Response {
        name: "idle-to-busy-4.12",
        about: "The same step in 4.12: the default rate limit is a thousand latencies, 500 ms on a HiKey.",
        columns: COLUMNS.to_vec(),
        marked: &["request", "freq"],
        step_ns: 100 * MS,
        window_ns: (QUIET_NS - 100 * MS, QUIET_NS + 2_400 * MS),
        zero_ns: QUIET_NS,
        runs: Vec::new(),
    };
    response.run(&setup("4.12", machine("hikey-6220", "4.12"), "4.12", &[], step_up(2_500 * MS)));
    response.check(Layout::Stacked);
    assert!(at_the_top_ms(&response, 0) > 1000.0, "at least two windows lie between three steps");
}

#[test]
fn a_tenth_of_the_time() {
    let period_ns = 100 * MS;
    let mut response = Response {
        name: "periodic-10-90",
        about: "A task works 10 ms (at full speed) of every 100 ms; period 20 is shown.",
        columns: COLUMNS.to_vec(),
        marked: &["request", "freq"],
        step_ns: 12 * MS,
        window_ns: (20 * period_ns, 21 * period_ns),
        zero_ns: 20 * period_ns,
        runs: Vec::new(),
    };
    for profile in ["4.16", "5.4", "7.2"] {
        let tasks = vec![task("tenth", 0, vec![periodic(None, 10 * MS, period_ns)])];
        response.run(&setup(profile, fast(machine("hikey-6220", profile)), profile, &[], tasks));
    }
    response.check(Layout::Overlay(&["util", "perf", "freq"]));
}
