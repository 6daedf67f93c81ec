// SPDX-License-Identifier: GPL-2.0-or-later
//! Signals, frequency and energy as the engine drives them.

use crate::common::*;
use pelton_model::RunConfig;
use pelton_model::workload::SchedPolicy;
use pelton_schema::{Event, HookSite};

fn last_util(events: &[(u64, Event)], wanted: u32) -> u32 {
    let util = |e: &Event| match *e {
        Event::PeltSe { tid, util_avg, .. } if tid == wanted => Some(util_avg),
        _ => None,
    };
    events.iter().rev().find_map(|(_, e)| util(e)).expect("task was tracked")
}

#[test]
fn a_busy_task_converges_to_1024_and_asks_for_the_maximum() {
    let (r, events) = events_of(&machine(&[(1, 1024)]), &workload(vec![busy("t")]), "7.2", &config(2000));
    assert!(last_util(&events, 1) >= 1022);
    let states = &r.domains[0].time_in_state_ns;
    assert!(states[2] > 1500 * MS, "{states:?}");
    assert_eq!(states.iter().sum::<u64>(), 2000 * MS);
}

#[test]
fn contribution_scaling_limits_the_signal_to_the_speed() {
    let mut m = machine(&[(1, 1024)]);
    m.domains[0].opps.truncate(2);
    let (_, events) = events_of(&m, &workload(vec![busy("t")]), "4.16", &config(2000));
    let util = last_util(&events, 1);
    assert!(near(u64::from(util), 512, 4), "half speed, half signal: {util}");
}

#[test]
fn a_small_periodic_task_keeps_the_lowest_frequency() {
    let r = run_on(&machine(&[(1, 1024)]), &workload(vec![periodic("t", 500, 10_000)]), "7.2", 2000);
    assert!(r.domains[0].time_in_state_ns[0] >= 1900 * MS, "{:?}", r.domains[0].time_in_state_ns);
}

#[test]
fn rate_limit_spaces_the_changes() {
    let cfg = RunConfig { rate_limit_us: Some(20_000), ..config(3000) };
    let w = workload(vec![
        on(busy("t"), 0),
        on(with_policy(periodic("rt", 11_000, 17_000), SchedPolicy::Fifo { priority: 1 }), 0),
    ]);
    let (_, events) = events_of(&machine(&[(2, 1024)]), &w, "4.16", &cfg);
    let changes: Vec<u64> = events
        .iter()
        .filter(|(t, e)| *t > 0 && matches!(e, Event::CpuFrequency { cpu: 0, .. }))
        .map(|(t, _)| *t)
        .collect();
    assert!(changes.len() > 20, "{changes:?}");
    assert!(changes.windows(2).all(|w| w[1] - w[0] >= 20 * MS), "{changes:?}");
}

#[test]
fn slow_switch_runs_a_worker_thread() {
    let mut m = machine(&[(2, 1024)]);
    m.domains[0].fast_switch = false;
    m.domains[0].switch_time_ns = 300_000;
    let r = run_on(&m, &workload(vec![busy("t")]), "7.2", 1000);
    let worker = r.tasks.last().expect("worker");
    assert_eq!(worker.name, "sugov:0");
    assert_eq!(worker.run_ns, r.domains[0].driver_calls * 300_000);
    assert!(r.domains[0].transitions >= 1);
}

#[test]
fn energy_is_the_sum_of_its_parts() {
    let w = workload(vec![
        periodic("a", 3000, 10_000),
        periodic("b", 700, 7_000),
        with_policy(periodic("c", 900, 5_000), SchedPolicy::Fifo { priority: 3 }),
    ]);
    let r = run_on(&machine(&[(2, 512), (2, 1024)]), &w, "7.2", 2000);
    let cpus: u64 = r.cpus.iter().map(|c| c.energy_active_uj + c.energy_idle_uj).sum();
    let domains: u64 = r.domains.iter().filter_map(|d| d.energy_uj).sum();
    assert!(near(cpus, domains, 8), "{cpus} {domains}");
    let active: u64 = r.cpus.iter().map(|c| c.energy_active_uj).sum();
    let tasks: u64 = r.tasks.iter().filter_map(|t| t.energy_uj).sum();
    assert!(near(active, tasks, 8), "with free scheduler paths all active energy belongs to tasks: {active} {tasks}");
    assert!(r.cluster_energy_uj.iter().sum::<u64>() > 0);
}

#[test]
fn energy_without_power_figures_is_not_known() {
    let w = workload(vec![periodic("a", 3_000, 10_000)]);
    let mut m = machine(&[(2, 512), (2, 1024)]);
    assert_eq!(run_on(&m, &w, "7.2", 100).energy_basis.gap(), None);
    m.domains[1].idle_states[0].power_uw = None;
    m.clusters[0].active_power_uw.clear();
    let partly = run_on(&m, &w, "7.2", 100);
    assert!(partly.energy_basis.gap().is_some_and(|gap| gap.starts_with("active power only")));
    assert!(partly.energy_uj().is_some());
    m.domains[1].opps.iter_mut().for_each(|opp| opp.power_uw = 0);
    let r = run_on(&m, &w, "7.2", 100);
    assert_eq!((r.energy_uj(), r.tasks[0].energy_uj, r.domains[1].energy_uj), (None, None, None));
    assert!(r.domains[0].energy_uj.is_some(), "the other domain's power is known");
    assert!(r.energy_basis.gap().is_some_and(|gap| gap.starts_with("not known")));
}

#[test]
fn idle_cpus_do_not_tick_and_time_adds_up() {
    let r = run_on(&machine(&[(4, 1024)]), &workload(vec![on(busy("t"), 0)]), "7.2", 1000);
    assert!(near(r.cpus[0].ticks, 250, 1));
    assert_eq!(r.cpus[1].ticks, 0);
    for c in &r.cpus {
        let total = c.busy_ns + c.irq_ns + c.overhead_ns + c.idle_ns.iter().sum::<u64>();
        assert_eq!(total, 1000 * MS);
    }
}

/// Moments of the ticks of four busy CPUs within a tick of 4 ms, ns, by CPU.
fn phases(skew_tick: &str) -> Vec<Vec<u64>> {
    let mut policy = profile("7.2");
    for (switch, value) in [("hook_filter", "h4"), ("skew_tick", skew_tick)] {
        policy.set(switch, value).expect("a switch of the table");
    }
    let tasks = (0..4).map(|cpu| on(busy(&format!("t{cpu}")), cpu)).collect();
    let mut keep = Keep::default();
    pelton_sim::run(&machine(&[(4, 1024)]), &workload(tasks), &policy, &config(200), &mut keep).expect("runs");
    let mut out = vec![Vec::new(); 4];
    for (time_ns, event) in keep.0 {
        match event {
            Event::FreqDecision { executing_cpu, site, .. } if site == HookSite::Tick as u32 => {
                out[executing_cpu as usize].push(time_ns % (4 * MS));
            }
            _ => {}
        }
    }
    out.iter_mut().for_each(|phases| phases.dedup());
    out
}

/// `tick_setup_sched_timer()`: with skew_tick=1 a CPU ticks half a tick divided by the number of CPUs after the one
/// before.
#[test]
fn skewed_cpus_tick_one_after_another() {
    assert_eq!(phases("off"), vec![vec![0]; 4]);
    assert_eq!(phases("on"), [0, 500_000, 1_000_000, 1_500_000].map(|ns| vec![ns]));
}

#[test]
fn exit_latency_delays_the_wake_up() {
    let mut m = machine(&[(1, 1024)]);
    m.domains[0].idle_states = vec![idle("wfi", 1, 1, 0), idle("off", 700, 2700, 0)];
    let r = run_on(&m, &workload(vec![periodic("t", 1000, 10_000)]), "7.2", 1000);
    // The timer's interrupt itself waits for the exit: the wake-up happens after it.
    assert!(r.cpus[0].idle_entries[1] > 90);
    assert!(r.tasks[0].slack_ns_sum < (10_000 - 1000 - 600) * 1000 * 100);
}

#[test]
fn idle_cpus_load_fades_while_another_cpu_ticks() {
    let mut burst = on(task("burst", Some(1), vec![run_ms(300)]), 1);
    burst.loops = Some(1);
    let (_, events) = events_of(&machine(&[(2, 1024)]), &workload(vec![on(busy("t"), 0), burst]), "7.2", &config(2000));
    let util = |e: &Event| match *e {
        Event::PeltCfs { cpu: 1, util_avg, .. } => Some(util_avg),
        _ => None,
    };
    let last = events.iter().rev().find_map(|(_, e)| util(e)).expect("CPU 1 was tracked");
    assert_eq!(last, 0);
}

/// Bursts shorter than a tick on one CPU, nothing else: no tick runs, and still the other CPU's load must fade.
#[test]
fn idle_cpus_load_fades_while_another_cpu_only_has_short_bursts() {
    let mut burst = on(task("burst", Some(1), vec![run_ms(300)]), 1);
    burst.loops = Some(1);
    let w = workload(vec![on(periodic("short", 1000, 16_000), 0), burst]);
    for (profile_name, fades) in [("4.19", true), ("7.2", true)] {
        let (r, events) = events_of(&machine(&[(2, 1024)]), &w, profile_name, &config(3000));
        let util = |e: &Event| match *e {
            Event::PeltCfs { cpu: 1, util_avg, .. } => Some(util_avg),
            _ => None,
        };
        let last = events.iter().rev().find_map(|(_, e)| util(e)).expect("CPU 1 was tracked");
        assert_eq!(last == 0, fades, "{profile_name}: {last}");
        assert!(r.domains[0].time_in_state_ns[0] > 1500 * MS, "{profile_name}: {:?}", r.domains[0].time_in_state_ns);
    }
}

#[test]
fn signals_of_a_wrong_world_halve_in_its_own_time() {
    let util_after = |half_life_ms: Option<u32>| {
        let half_life_ms = half_life_ms.and_then(std::num::NonZeroU32::new);
        let mut t = task("t", Some(1), vec![run_ms(400)]);
        t.phases.push(pelton_model::workload::Phase {
            loops: None,
            ops: vec![run_ms(1), timer_ms(1000)],
            ..Default::default()
        });
        // Asleep from 401 ms on: blocked utilization of the queue falls until the tick at 465 ms or so looks.
        let (_, events) = events_of(
            &fixed_speed(&[(1, 1024)]),
            &workload(vec![t]),
            "4.16",
            &RunConfig { half_life_ms, ..config(1500) },
        );
        let woke = events.iter().find_map(|(ns, e)| match *e {
            Event::PeltSe { tid: 1, util_avg, .. } if *ns >= 1000 * MS => Some(util_avg),
            _ => None,
        });
        woke.expect("it woke again")
    };
    // About 600 ms asleep: nothing is left after 19 half-lives of 32 ms; 1024 / 2^(600 / 320) of 320 ms.
    let (right, slow) = (util_after(None), util_after(Some(320)));
    assert_eq!(right, util_after(Some(32)));
    assert!(right < 40 && (150..400).contains(&slow), "{right} {slow}");
}
