// SPDX-License-Identifier: GPL-2.0-or-later
//! Speed of CPUs that is not their own request alone.

use crate::common::{
    MS, busy, config, events_of, machine, near, on, periodic, profile, run_ms, task, with_policy, workload,
};
use pelton_model::machine::Opp;
use pelton_model::workload::{Op, SchedPolicy};
use pelton_model::{GivenFrequency, Machine, RunConfig};
use pelton_schema::{Event, NullSink, Sink};

/// Two CPUs, each with a frequency domain of its own.
fn two_domains() -> Machine {
    machine(&[(1, 1024), (1, 1024)])
}

/// Time that a light fair task of CPU 1 executes beside a FIFO task of CPU 0 that asks for the maximum.
fn light_run_ns(machine: &Machine) -> u64 {
    let busy = with_policy(
        on(task("busy", None, vec![Op::Run { work_ns: 1_000_000 }]), 0),
        SchedPolicy::Fifo { priority: 10 },
    );
    let tasks = workload(vec![busy, on(periodic("light", 300, 20_000), 1)]);
    let report = pelton_sim::run(machine, &tasks, &profile("7.2"), &config(500), NullSink).expect("runs");
    report.tasks[1].run_ns
}

#[test]
fn a_core_runs_at_the_highest_request_of_its_threads() {
    let alone = two_domains();
    let mut threads = two_domains();
    for cpu in &mut threads.cpus {
        cpu.smt = vec![0, 1];
        cpu.cluster = 0;
    }
    threads.clusters.truncate(1);
    threads.clusters[0].cpus = vec![0, 1];
    // 25 activations of 0.3 ms; the lowest frequency is a quarter of the highest.
    let (slow_ns, fast_ns) = (light_run_ns(&alone), light_run_ns(&threads));
    assert!(slow_ns > 25 * 300_000 * 3, "{slow_ns}");
    assert!(fast_ns < 25 * 300_000 * 11 / 10, "{fast_ns}");
}

/// Frequencies of CPU 0, MHz, in order.
#[derive(Default)]
struct Climb(Vec<u32>);

impl Sink for &mut Climb {
    fn event(&mut self, _: u64, event: &Event) {
        if let Event::CpuFrequency { cpu: 0, freq_khz } = *event {
            self.0.push(freq_khz / 1000);
        }
    }
}

/// From 400 to 2000 MHz in steps of 200: a quarter of the present frequency more leads over 600, 800, 1000, 1400, 1800
/// when utilization is at its maximum, and over every step when it is just enough for the next one.
#[test]
fn a_request_without_invariance_climbs_by_a_quarter_at_most() {
    let mut machine = machine(&[(1, 1024)]);
    machine.domains[0].freq_invariant = false;
    machine.domains[0].opps = (2..=10).map(|i| Opp { khz: 200_000 * i, uv: 0, power_uw: 1_000 }).collect();
    machine.clusters[0].active_power_uw = vec![1_000; 9];
    let busy = workload(vec![task("busy", None, vec![Op::Run { work_ns: 1_000_000 }])]);
    let mut climb = Climb::default();
    pelton_sim::run(&machine, &busy, &profile("7.2"), &config(1_000), &mut climb).expect("runs");
    let mut all = vec![400];
    all.extend(climb.0.into_iter().skip_while(|&mhz| mhz == 400));
    assert_eq!(all.last(), Some(&2_000), "{all:?}");
    for pair in all.windows(2) {
        assert!(pair[1] > pair[0] && pair[1] <= (pair[0] * 5 / 4).next_multiple_of(200), "{all:?}");
    }
    assert!((6..=8).contains(&(all.len() - 1)), "{all:?}");
}

#[test]
fn a_given_frequency_holds_and_nobody_is_asked() {
    // 700 MHz is between two operating points of the 2 GHz CPU; the other domain keeps its governor.
    let given = [(0, 1_000_000), (20 * MS, 700_000), (40 * MS, 2_000_000)];
    let given = given.map(|(at_ns, khz)| GivenFrequency { at_ns, khz }).to_vec();
    let cfg = RunConfig { frequencies: vec![given], ..config(60) };
    let tasks = workload(vec![on(task("a", Some(1), vec![run_ms(1000)]), 0), on(periodic("b", 3_000, 10_000), 1)]);
    let (report, events) = events_of(&two_domains(), &tasks, "7.2", &cfg);
    let changes: Vec<(u64, u32)> = events
        .iter()
        .filter_map(
            |(at, e)| if let Event::CpuFrequency { cpu: 0, freq_khz } = *e { Some((*at, freq_khz)) } else { None },
        )
        .collect();
    assert_eq!(changes, [(0, 500_000), (0, 1_000_000), (20 * MS, 700_000), (40 * MS, 2_000_000)]);
    let work_ns = report.tasks[0].work_ns;
    assert!(near(work_ns, 10 * MS + 7 * MS + 20 * MS, 1_000), "half, 35 % and all of the speed: {work_ns}");
    let calls = |cpu: usize| report.cpus[cpu].hook_calls.iter().sum::<u64>();
    assert!(calls(0) == 0 && calls(1) > 0 && report.domains[1].transitions > 0, "only CPU 1 has a governor");
}

/// One clock follows the fastest request: what a domain's time at a frequency counts is that clock, not the request.
#[test]
fn the_time_at_a_frequency_is_that_of_a_clock_which_neighbours_raise() {
    let mut m = two_domains();
    m.clusters.truncate(1);
    m.clusters[0].cpus = vec![0, 1];
    m.cpus.iter_mut().for_each(|cpu| cpu.cluster = 0);
    let w = workload(vec![on(busy("busy"), 0), on(periodic("light", 100, 10_000), 1)]);
    let mut times = |one_clock| {
        m.one_clock = one_clock;
        let r = pelton_sim::run(&m, &w, &profile("7.2"), &config(500), NullSink).expect("runs");
        let of = |d: usize| r.domains[d].time_in_state_ns.clone();
        (of(0), of(1))
    };
    let (fast, light) = times(true);
    assert_eq!(fast, light);
    let (fast, light) = times(false);
    assert!(fast.last() > light.last(), "{fast:?} {light:?}");
}
