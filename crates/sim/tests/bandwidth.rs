// SPDX-License-Identifier: GPL-2.0-or-later
//! Quotas of task groups: what they let run, what `cpu.stat` says, and what stands still meanwhile.

use crate::common::*;
use pelton_core::Policy;
use pelton_model::workload::{Bandwidth, GroupChange, GroupSpec, Op, TaskSpec, Workload};
use pelton_model::{Machine, RunConfig};
use pelton_schema::{Event, NullSink};
use pelton_sim::Report;
use pelton_sim::report::QuotaReport;

const PROFILES: [&str; 12] =
    ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];
/// Length of a tick of the test machines, which is how late a CPU may notice that nothing is left.
const TICK_MS: u64 = 4;
/// Runtime that a queue takes at once, and may carry into the next period.
const SLICE_MS: u64 = 5;

fn in_group(path: &str, task: TaskSpec) -> TaskSpec {
    TaskSpec { taskgroup: path.into(), ..task }
}

fn busy_in(path: &str, n: usize) -> Vec<TaskSpec> {
    (0..n).map(|i| in_group(path, busy(&format!("{path}-{i}")))).collect()
}

/// `limits`: path, quota, period, burst, ms.
fn limited(tasks: Vec<TaskSpec>, limits: &[(&str, u64, u64, u64)]) -> Workload {
    let group = |&(path, quota, period, burst): &(&str, u64, u64, u64)| GroupSpec {
        path: path.into(),
        bandwidth: Some(Bandwidth { quota_ns: quota * MS, period_ns: period * MS, burst_ns: burst * MS }),
        ..GroupSpec::default()
    };
    Workload { groups: limits.iter().map(group).collect(), ..workload(tasks) }
}

fn run_ns(r: &Report, prefix: &str) -> u64 {
    r.tasks.iter().filter(|t| t.name.starts_with(prefix)).map(|t| t.run_ns).sum()
}

fn quota<'a>(r: &'a Report, path: &str) -> &'a QuotaReport {
    r.quotas.iter().find(|group| group.path == path).expect("the group has a quota")
}

/// Half a CPU for a task that wants all of one: in each period it runs for the quota, is throttled once, and pays for
/// the part of a tick by which that was noticed too late.
#[test]
fn a_busy_task_gets_its_quota_and_is_throttled_in_every_period() {
    for p in PROFILES {
        let r = run_on(&fixed_speed(&[(1, 1024)]), &limited(busy_in("/a", 1), &[("/a", 50, 100, 0)]), p, 10_000);
        let stat = quota(&r, "/a");
        assert!(near(run_ns(&r, "/a"), 5000 * MS, 55 * MS), "{p}: {}", run_ns(&r, "/a"));
        assert_eq!(stat.usage_ns, run_ns(&r, "/a"), "{p}");
        assert!((99..=100).contains(&stat.nr_periods) && stat.nr_throttled >= 98, "{p}: {stat:?}");
        assert!(near(stat.throttled_ns, 5000 * MS, 60 * MS), "{p}: {stat:?}");
        let idle: u64 = r.cpus[0].idle_ns.iter().sum();
        assert!(near(idle, 5000 * MS, 60 * MS), "{p}: the CPU idles meanwhile, {idle}");
    }
}

#[test]
fn without_its_quota_a_group_runs_as_if_it_had_none() {
    for p in ["4.19", "5.10", "6.12", "7.2"] {
        let m = machine(&[(2, 1024)]);
        let tasks = || [busy_in("/a", 2), busy_in("/b", 1), vec![in_group("/a", periodic("p", 2000, 10_000))]].concat();
        let mut off = profile(p);
        off.set("bandwidth", "off").expect("a switch");
        let of = |w: &Workload, policy: &Policy| {
            let mut keep = Keep::default();
            pelton_sim::run(&m, w, policy, &config(1000), &mut keep).expect("runs");
            keep.0
        };
        let plain = of(&workload(tasks()), &off);
        let limits = [("/a", 20, 100, 0), ("/b", 10, 100, 0)];
        assert!(plain == of(&limited(tasks(), &limits), &off), "{p}: bandwidth=off");
        assert!(plain == of(&workload(tasks()), &profile(p)), "{p}: no quotas");
        let wide = of(&limited(tasks(), &[("/a", 16_000, 100, 0)]), &profile(p));
        let throttled = wide.iter().filter(|(_, e)| matches!(e, Event::CfsThrottle { .. })).count();
        assert_eq!(throttled, 0, "{p}: a quota beyond what there is");
    }
}

#[test]
fn a_quota_inside_a_quota_holds_both() {
    for p in PROFILES {
        let tasks = [busy_in("/a", 1), busy_in("/a/b/c", 2)].concat();
        let w = limited(tasks, &[("/a", 60, 100, 0), ("/a/b", 20, 100, 0)]);
        let r = run_on(&fixed_speed(&[(2, 1024)]), &w, p, 4000);
        let (inner, all) = (run_ns(&r, "/a/b"), run_ns(&r, "/a"));
        // 40 periods and the pool at their start; a slice and a tick per CPU.
        let most = |quota: u64| (41 * quota + 2 * (SLICE_MS + TICK_MS)) * MS;
        assert!(inner <= most(20) && inner >= 39 * 20 * MS - most(0), "{p}: the inner group ran {inner}");
        assert!(all <= most(60) && all >= 39 * 60 * MS - most(0), "{p}: the outer group ran {all}");
        assert_eq!((quota(&r, "/a").usage_ns, quota(&r, "/a/b").usage_ns), (all, inner), "{p}");
    }
}

/// Time for which tasks `1..=tasks` of the workload ran in each stretch of `stretch_ns`.
fn used_by_stretch(events: &[(u64, Event)], tasks: std::ops::RangeInclusive<u32>, stretch_ns: u64) -> Vec<u64> {
    let (mut since, mut used) = ([None; 4], Vec::new());
    for (now, event) in events {
        let Event::SchedSwitch { cpu, next_tid, .. } = event else { continue };
        let next = tasks.contains(next_tid).then_some(*now);
        let Some(mut from) = std::mem::replace(&mut since[*cpu as usize], next) else { continue };
        while from < *now {
            let (at, to) = ((from / stretch_ns) as usize, (from / stretch_ns + 1) * stretch_ns);
            used.resize(used.len().max(at + 1), 0);
            used[at] += to.min(*now) - from;
            from = to;
        }
    }
    used
}

/// Four CPUs, a quota inside a quota: in no stretch of so many periods does either group run for more than the periods
/// that the stretch touches give it, and what each CPU had taken before and noticed too late.
#[test]
fn nested_quotas_hold_in_every_stretch_of_time() {
    const PERIOD_MS: u64 = 100;
    for p in PROFILES {
        let tasks = [busy_in("/a/b/c", 4), busy_in("/a", 3)].concat();
        // Beside three tasks of its weight the inner group may have a quarter of what the outer one has.
        let w = limited(tasks, &[("/a", 300, PERIOD_MS, 0), ("/a/b", 60, PERIOD_MS, 0)]);
        let (_, events) = events_of(&fixed_speed(&[(4, 1024)]), &w, p, &config(4000));
        for (what, tids, quota_ms) in [("inner", 1..=4, 60), ("outer", 1..=7, 300)] {
            let used = used_by_stretch(&events, tids, PERIOD_MS * MS);
            assert!(used.iter().sum::<u64>() > 35 * quota_ms * MS, "{p}: the {what} group ran {used:?}");
            for periods in [1, 2, 10, 39] {
                let most = ((periods as u64 + 1) * quota_ms + 4 * (SLICE_MS + TICK_MS)) * MS;
                let longest = used.windows(periods).map(|part| part.iter().sum::<u64>()).max().expect("a stretch");
                assert!(longest <= most, "{p}: the {what} group ran {longest} ns in {periods} periods, {most} at most");
            }
        }
    }
}

#[test]
fn a_quota_is_for_all_cpus_together() {
    for p in PROFILES {
        let w = limited([busy_in("/a", 4), busy_in("", 1)].concat(), &[("/a", 100, 100, 0)]);
        let r = run_on(&fixed_speed(&[(4, 1024)]), &w, p, 4000);
        let used = run_ns(&r, "/a");
        let most = (4100 + 4 * (SLICE_MS + TICK_MS)) * MS;
        assert!((3800 * MS..=most).contains(&used), "{p}: {used}");
        assert!(run_ns(&r, "-0") >= 3400 * MS, "{p}: a task of the root got {}", run_ns(&r, "-0"));
    }
}

/// A core that wakes up lowers the limit of all others. Where no CPU runs at the limit that changes nothing: a running
/// task's time, above all, is charged to its group's quota at no other moment.
#[test]
fn a_turbo_limit_that_is_not_reached_changes_nothing() {
    for p in PROFILES {
        let tasks = [on(busy_in("/a", 1).remove(0), 0), on(periodic("beside", 100, 1_000), 1)];
        let w = limited(tasks.to_vec(), &[("/a", 7, 20, 0)]);
        let mut m = fixed_speed(&[(2, 1024)]);
        let without = events_of(&m, &w, p, &config(500));
        m.domains[0].turbo_khz = vec![4_000_000, 3_000_000];
        assert!(events_of(&m, &w, p, &config(500)) == without, "{p}");
        m.domains[0].turbo_khz = vec![2_000_000, 1_900_000];
        assert!(events_of(&m, &w, p, &config(500)) != without, "{p}: a limit that is reached");
    }
}

/// A group that is idle for some periods and then needs twice its quota in one.
fn bursty() -> TaskSpec {
    let timer = Op::Timer {
        timer: pelton_model::workload::TimerId::Own(0),
        period_ns: 500 * MS,
        mode: pelton_model::workload::TimerMode::Absolute,
    };
    in_group("/a", task("bursty", None, vec![run_ms(36), timer]))
}

#[test]
fn a_burst_is_paid_from_what_was_not_used() {
    for p in ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let run = |burst| {
            let w = limited(vec![bursty()], &[("/a", 20, 100, burst)]);
            run_on(&fixed_speed(&[(1, 1024)]), &w, p, 5000)
        };
        let (plain, burst) = (run(0), run(20));
        assert!(quota(&plain, "/a").nr_throttled >= 9, "{p}: {:?}", quota(&plain, "/a"));
        assert_eq!(quota(&plain, "/a").nr_bursts, 0, "{p}");
        let stat = quota(&burst, "/a");
        assert!(stat.nr_throttled <= 1 && stat.nr_bursts >= 6, "{p}: {stat:?}");
        assert!(stat.burst_ns >= 6 * 12 * MS && stat.burst_ns <= 10 * 20 * MS, "{p}: {stat:?}");
    }
}

#[test]
fn bursts_need_a_kernel_that_has_them() {
    let w = limited(busy_in("/a", 1), &[("/a", 20, 100, 20)]);
    let run = |p| pelton_sim::run(&fixed_speed(&[(1, 1024)]), &w, &profile(p), &config(10), NullSink);
    assert!(run("5.10").is_err_and(|e| e.to_string().contains("before 5.14")));
    assert!(run("6.1").is_ok());
}

#[test]
fn impossible_quotas_are_refused() {
    for (quota, period, burst) in [(0, 100, 0), (20, 0, 0), (20, 1001, 0), (20, 100, 21), (1 << 30, 100, 0)] {
        let w = limited(busy_in("/a", 1), &[("/a", quota, period, burst)]);
        let run = pelton_sim::run(&fixed_speed(&[(1, 1024)]), &w, &profile("7.2"), &config(10), NullSink);
        assert!(run.is_err_and(|e| e.to_string().contains("'/a'")), "{quota} {period} {burst}");
    }
}

/// Averages of a group do not fade while all of it is throttled: 80 ms would leave a fifth of them. Before and after a
/// gap there may be a tick that was not accounted yet.
#[test]
fn averages_of_a_throttled_group_stand_still() {
    for p in ["5.10", "5.15", "6.1", "6.12", "7.2"] {
        let w = limited(busy_in("/a", 1), &[("/a", 20, 100, 0)]);
        let (_, events) = events_of(&fixed_speed(&[(1, 1024)]), &w, p, &config(2000));
        let (mut before, mut last, mut gaps) = (None, 0, 0);
        for (_, event) in &events {
            match *event {
                Event::PeltGroup { entity: 0, util_avg, .. } => {
                    if let Some(before) = before.take() {
                        let after = u64::from(util_avg);
                        assert!(after + 24 >= before && after <= before + 90, "{p}: {before}, then {after}");
                        gaps += 1;
                    }
                    last = u64::from(util_avg);
                }
                Event::CfsThrottle { throttled: 0, .. } => before = Some(last),
                _ => {}
            }
        }
        assert!(gaps >= 18 && last > 800, "{p}: {gaps} gaps, {last} at last: as a task that is always busy");
    }
}

/// 1 s of half a CPU, 1 s of 80 %, 1 s without limit, 1 s of a fifth, all written while the group runs or is throttled.
#[test]
fn quotas_change_while_the_group_runs() {
    for p in PROFILES {
        let mut w = limited([busy_in("/a/b", 1), busy_in("/a", 1)].concat(), &[("/a", 50, 100, 0)]);
        let limit = |quota: u64| Bandwidth { quota_ns: quota * MS, period_ns: 100 * MS, burst_ns: 0 };
        let at = |at_ms: u64, bandwidth| GroupChange {
            at_ns: at_ms * MS,
            path: "/a".into(),
            bandwidth: Some(bandwidth),
            ..GroupChange::default()
        };
        w.group_changes = vec![at(1077, Some(limit(80))), at(2077, None), at(3077, Some(limit(20)))];
        let (_, events) = events_of(&fixed_speed(&[(1, 1024)]), &w, p, &config(4077));
        let spent = |window: usize| used_between(&events, window as u64 * 1000 * MS + 77 * MS);
        // A window may begin with a full pool of the quota before it, or after it.
        for (window, (least, most)) in [(420, 560), (760, 900), (1000, 1000), (160, 240)].into_iter().enumerate() {
            let ran = spent(window) / MS;
            assert!((least..=most).contains(&ran), "{p}: second {window} ran {ran} ms");
        }
    }
}

/// Time of tasks on CPU 0 in the second that begins at `from_ns`.
fn used_between(events: &[(u64, Event)], from_ns: u64) -> u64 {
    let to_ns = from_ns + 1000 * MS;
    let (mut used, mut since) = (0, None);
    for (now, event) in events {
        if let Event::SchedSwitch { next_tid, .. } = *event {
            if let Some(began) = since.take() {
                used += (*now).clamp(from_ns, to_ns) - u64::clamp(began, from_ns, to_ns);
            }
            since = (next_tid == 1 || next_tid == 2).then_some(*now);
        }
    }
    used + since.map_or(0, |began| to_ns - u64::clamp(began, from_ns, to_ns))
}

/// Time of the group's tasks in each window of `window_ns`, from the switches of all CPUs.
fn used_in_windows(events: &[(u64, Event)], tids: u32, cpus: usize, window_ns: u64, end_ns: u64) -> Vec<u64> {
    let mut used = vec![0; (end_ns / window_ns) as usize + 1];
    let mut since = vec![None; cpus];
    let mut add = |from: u64, to: u64| {
        let mut at = from;
        while at < to {
            let next = (at - at % window_ns + window_ns).min(to);
            used[(at / window_ns) as usize] += next - at;
            at = next;
        }
    };
    for (now, event) in events {
        if let Event::SchedSwitch { cpu, next_tid, .. } = *event {
            if let Some(from) = since[cpu as usize].take() {
                add(from, *now);
            }
            since[cpu as usize] = (1..=tids).contains(&next_tid).then_some(*now);
        }
    }
    since.into_iter().flatten().for_each(|from| add(from, end_ns));
    used.pop();
    used
}

/// In `k` periods a group gets `k` quotas. Beside them it may use what was in the pool when they began (a quota and the
/// burst), what its queues had taken before (a slice each), and by how much they overran (a tick each).
#[test]
fn no_k_periods_use_more_than_the_rules_allow() {
    let mut tried = 0;
    for (i, p) in PROFILES.iter().cycle().take(60).enumerate() {
        let mut d = random::Dice(i as u64 * 77 + 5);
        let (cpus, period) = ([1, 2, 4][d.below(3) as usize], [20, 50, 100][d.below(3) as usize]);
        let quota_ms = (period * (5 + d.below(90 * cpus)) / 100).max(1);
        let bursts = !["4.12", "4.16", "4.19", "5.4", "5.10"].contains(p);
        let burst = if bursts && d.below(2) == 0 { d.below(quota_ms + 1) } else { 0 };
        let mut tasks = busy_in("/a", 1 + d.below(5) as usize);
        tasks.extend((0..d.below(6)).map(|i| in_group("/a", periodic(&format!("p{i}"), 700 + 900 * i, 9000))));
        let own = tasks.len() as u32;
        tasks.push(busy("other"));
        let w = limited(tasks, &[("/a", quota_ms, period, burst)]);
        let m: Machine = fixed_speed(&[(cpus as u32, 1024)]);
        let cfg = RunConfig { seed: i as u64, start_phase_random: true, ..config(2000) };
        let (r, events) = events_of(&m, &w, p, &cfg);
        let used = used_in_windows(&events, own, cpus as usize, period * MS, 2000 * MS);
        for k in [1, 2, 5, 10] {
            let most = used.windows(k).map(|w| w.iter().sum::<u64>()).max().unwrap_or(0);
            let bound = ((k as u64 + 1) * quota_ms + burst + cpus * (SLICE_MS + TICK_MS)) * MS;
            assert!(
                most <= bound,
                "{p}, {cpus} CPUs, {quota_ms}/{period} ms, burst {burst}: {k} periods {most} > {bound}"
            );
        }
        let stat = quota(&r, "/a");
        let all = u64::from(stat.nr_periods + 1) * quota_ms + burst + cpus * (SLICE_MS + TICK_MS);
        assert!(stat.usage_ns <= all * MS, "{p}: {stat:?} in all, {all} ms");
        tried += u32::from(stat.nr_throttled > 0);
    }
    assert!(tried >= 30, "only {tried} of 60 groups were ever throttled");
}
