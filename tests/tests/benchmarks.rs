// SPDX-License-Identifier: GPL-2.0-or-later
//! Benchmark models on machines whose costs are known: what they measure follows by hand.

use pelton_core::Policy;
use pelton_model::machine::{Costs, Opp};
use pelton_model::{Machine, RunConfig};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_scenario::workload;
use pelton_schema::NullSink;
use pelton_sim::Report;

/// The i7-6700 at one frequency, with costs and idle states that are easy to add up.
fn machine() -> Machine {
    let built = platform::load("intel-i7-6700").and_then(|p| p.build(&PlatformOptions::new("4.12")));
    let mut m = built.unwrap_or_else(|e| panic!("{e}")).machine;
    m.costs = Costs { context_switch_ns: 1000, wakeup_ns: 500, ..Costs::default() };
    for domain in &mut m.domains {
        domain.opps = vec![Opp { khz: domain.ref_khz, uv: 0, power_uw: 1000 }];
        domain.turbo_khz.clear();
        domain.idle_states.truncate(1);
        domain.idle_states[0].exit_latency_ns = 2000;
    }
    for (c, cpu) in m.cpus.iter_mut().enumerate() {
        cpu.smt = vec![c as u32];
    }
    m
}

fn run(m: &Machine, spec: &str) -> (Report, String) {
    let loaded = workload::load_full(spec, m, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    let policy = Policy::profile("4.12").expect("a profile");
    let config = RunConfig { seed: 1, ..RunConfig::default() };
    let report = pelton_sim::run(m, &loaded.workload, &policy, &config, NullSink).expect("runs");
    let printed = loaded.originals.iter().map(|o| o.print(&report)).collect();
    (report, printed)
}

#[test]
fn sched_pipe_takes_the_sum_of_its_parts() {
    let m = machine();
    let (one_cpu, printed) = run(&m, "sched-pipe:loops=2000,cpus=0,write_ns=300,read_ns=200,fork_us=0.001");
    let round_trip_us = one_cpu.tasks[0].laps.summary().sum as f64 / 2000.0 / 1000.0;
    // Twice: write, wake, switch, read.
    assert!((round_trip_us - 4.0).abs() < 0.02, "{round_trip_us}");
    assert!(printed.starts_with("# Running 'sched/pipe' benchmark:\n# Executed 2000 pipe operations"), "{printed}");
    let (two_cpus, _) = run(&m, "sched-pipe:loops=2000,write_ns=300,read_ns=200,fork_us=0.001");
    let round_trip_us = two_cpus.tasks[0].laps.summary().sum as f64 / 2000.0 / 1000.0;
    // Twice: write, wake-up, exit latency of the other CPU, switch, read.
    assert!((round_trip_us - 8.0).abs() < 0.05, "{round_trip_us}");
}

#[test]
fn hackbench_delivers_every_message() {
    for spec in [
        "hackbench:groups=2,fds=5,loops=40,runs=2",
        "sched-messaging:groups=2,fds=5,loops=40,runs=2,channel=pipes,mode=threads",
    ] {
        let (r, printed) = run(&machine(), spec);
        assert!(r.stuck_tasks.is_empty(), "{:?}", r.stuck_tasks);
        assert_eq!((r.tasks[0].laps.len(), r.tasks[0].lap_ops), (2, 2 * 2 * 5 * 5 * 40));
        let exit_ns = if spec.contains("threads") { 10_000 } else { 60_000 };
        for (name, call) in [("sender", 300), ("receiver", 300)] {
            let done: Vec<u64> =
                r.tasks.iter().filter(|t| t.name.starts_with(name) && t.work_ns > 0).map(|t| t.work_ns).collect();
            assert_eq!(done.len(), 2 * 2 * 5, "{name}");
            // One call for each message and one to report; work is kept in whole ns per piece.
            let expected = 200 * call + 300 + exit_ns;
            assert!(done.iter().all(|&ns| ns <= expected && ns + 500 > expected), "{name}: {done:?}, {expected}");
        }
        assert!(printed.contains("20 "), "{printed}");
    }
}

#[test]
fn ebizzy_gets_slower_by_the_part_that_frequency_changes() {
    let mut m = machine();
    let spec = "ebizzy:threads=4,seconds=1,record_us=20,memory_share=0.25,batch=10";
    let rate = |m: &Machine| run(m, spec).0.tasks.iter().map(|t| t.records).sum::<u64>();
    let full = rate(&m);
    assert!((199_000..=200_000).contains(&full), "{full}");
    for domain in &mut m.domains {
        domain.opps[0].khz = domain.ref_khz / 2;
    }
    // 15 us of work take 30, 5 us of waiting stay 5.
    let half = rate(&m);
    assert!((113_200..=114_300).contains(&half), "{half}");
    assert!(run(&m, spec).1.ends_with("user  4.00 s\nsys   0.00 s\n"), "{}", run(&m, spec).1);
}

#[test]
fn cyclictest_is_late_by_exit_latency_wake_up_and_switch() {
    let (r, printed) = run(&machine(), "cyclictest:threads=2,interval_us=1000,duration_s=1,cpus=2/3,latency_us=2");
    let late = r.tasks[0].timer_latency;
    assert_eq!((late.min, r.tasks[1].timer_latency.min), (3500, 3500));
    assert!(late.count >= 998, "{}", late.count);
    let first = printed.lines().next().unwrap_or_default();
    assert!(first.starts_with("T: 0 (    1) P: 0 I:1000 C:    9") && first.contains("Min:      3 "), "{printed}");
    assert_eq!(printed.lines().count(), 2);
}

#[test]
fn defaults_are_those_of_the_programs() {
    let m = machine();
    let load = |spec: &str| workload::load(spec, &m).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(load("ebizzy").tasks.len(), 16, "two threads per CPU");
    assert_eq!(load("ebizzy").duration_ns, Some(10_000_000_000));
    assert_eq!(load("cyclictest").cpu_dma_latency_us, Some(0));
    let hackbench = load("hackbench");
    assert_eq!(hackbench.tasks.len(), 1 + 10 * 21);
    assert_eq!(hackbench.channels.len(), 2 + 200);
}
