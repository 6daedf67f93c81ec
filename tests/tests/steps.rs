// SPDX-License-Identifier: GPL-2.0-or-later
//! Step responses of the core alone, as text. The same tests draw charts: `PELTON_STEP_CHARTS=DIR`.
//!
//! Every table shows the CPU after a tick: signals, and what the profile would ask of a domain of 300 to 2802 MHz.

use pelton_core::{Policy, SugovPolicy};
use pelton_reference::vectors::governor::TABLE_KHZ;
use pelton_tests::signals::{Cpu, Series};

const TICK_NS: u64 = 4_000_000;
const MS: u64 = 1_000_000;

/// MHz the policy asks for with these inputs, on the table of the vectors.
fn request_mhz(policy: &Policy, cpu: &Cpu) -> u64 {
    let table: Vec<u32> = TABLE_KHZ.iter().map(|&khz| khz as u32).collect();
    let (min_khz, max_khz) = (table[0], table[table.len() - 1]);
    let sp = SugovPolicy { min_khz, max_khz, ref_khz: max_khz, freq_invariant: 1, ..SugovPolicy::default() };
    let terms = cpu.state().perf_eval(policy, 0);
    let raw = sp.raw_freq(policy, terms.perf, cpu.rq.cap_orig, false);
    u64::from(sp.resolve(&table, raw) / 1000)
}

fn row(cpu: &Cpu) -> Vec<u64> {
    let avg = &cpu.rq.cfs.avg;
    let (util, runnable, rt) = (avg.util_avg, avg.runnable_util(&cpu.policy).into(), cpu.rq.rt.util_avg);
    let est = u64::from(cpu.rq.cfs.util_est);
    vec![cpu.now_ns / MS, util, runnable, est, rt, request_mhz(&cpu.policy, cpu)]
}

const COLUMNS: &[&str] = &["ms", "util", "runnable", "util_est", "rt", "MHz"];

/// An idle CPU gets one task that never sleeps, and loses it after 200 ms.
fn idle_to_busy(profile: &str) -> Series {
    let mut cpu = Cpu::new(profile, 1, TICK_NS, TICK_NS);
    let mut series = Series::new(COLUMNS);
    cpu.wake(0);
    cpu.run(0);
    cpu.pass(200 * MS, |cpu| series.push(row(cpu)));
    cpu.sleep();
    cpu.pass(100 * MS, |cpu| series.push(row(cpu)));
    series
}

/// A task that runs 1 ms of every 10 ms, then 9 ms of every 10 ms.
fn ten_then_ninety_percent(profile: &str) -> Series {
    let mut cpu = Cpu::new(profile, 1, TICK_NS, TICK_NS);
    let mut series = Series::new(COLUMNS);
    for period in 0..30 {
        let run_ns = if period < 15 { MS } else { 9 * MS };
        cpu.wake(0);
        cpu.run(0);
        cpu.pass(run_ns, |_| {});
        series.push(row(&cpu));
        cpu.sleep();
        cpu.pass(10 * MS - run_ns, |_| {});
    }
    series
}

/// A task that never sleeps, and a real-time burst of 40 ms in its way.
fn rt_burst(profile: &str) -> Series {
    let mut cpu = Cpu::new(profile, 1, TICK_NS, TICK_NS);
    let mut series = Series::new(COLUMNS);
    cpu.wake(0);
    cpu.run(0);
    cpu.pass(400 * MS, |_| {});
    cpu.pass(8 * MS, |cpu| series.push(row(cpu)));
    cpu.run_rt();
    cpu.pass(40 * MS, |cpu| series.push(row(cpu)));
    cpu.run(0);
    cpu.pass(60 * MS, |cpu| series.push(row(cpu)));
    series
}

fn check(name: &str, series: &Series) {
    series.chart(name);
    insta::assert_snapshot!(name, series.text());
}

#[test]
fn utilization_rises_and_falls_with_a_half_life_of_32_ms() {
    check("idle-to-busy-7.2", &idle_to_busy("7.2"));
}

#[test]
fn before_6_5_waiting_is_no_demand() {
    check("idle-to-busy-6.1", &idle_to_busy("6.1"));
}

#[test]
fn a_duty_cycle_of_ten_percent_becomes_ninety() {
    check("ten-then-ninety-percent-7.2", &ten_then_ninety_percent("7.2"));
}

#[test]
fn real_time_bursts_keep_the_sum_in_7_2() {
    check("rt-burst-7.2", &rt_burst("7.2"));
}

#[test]
fn real_time_bursts_lower_the_request_in_4_16() {
    check("rt-burst-4.16", &rt_burst("4.16"));
}
