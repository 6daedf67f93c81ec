// SPDX-License-Identifier: GPL-2.0-or-later
//! Random platforms, workloads and policies: invariants hold, and two runs are one.

use crate::common::random::{Dice, random_machine, random_workload};
use crate::common::*;
use pelton_model::workload::{CpuSet, Op, SchedPolicy, TaskSpec, Workload};
use pelton_model::{Machine, RunConfig};
use pelton_schema::{Event, HookSite};
use pelton_sim::Report;
use pelton_sim::report::TaskReport;

/// Seeds tried here; the number of CI. `PELTON_SWARM_SEED` begins elsewhere, `PELTON_SWARM_COUNT` tries more.
const SEEDS: u64 = 150;

fn seeds() -> std::ops::Range<u64> {
    let asked = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a whole number"));
    let first = asked("PELTON_SWARM_SEED").unwrap_or(0);
    first..first + asked("PELTON_SWARM_COUNT").unwrap_or(SEEDS)
}

fn hash(events: &[(u64, Event)]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    for entry in events {
        for b in format!("{entry:?}").bytes() {
            h = (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
        }
    }
    h
}

fn check(seed: u64, m: &Machine, r: &Report, events: &[(u64, Event)]) {
    assert!(events.windows(2).all(|w| w[0].0 <= w[1].0), "seed {seed}: time runs backwards");
    for c in &r.cpus {
        let total = c.busy_ns + c.irq_ns + c.overhead_ns + c.idle_ns.iter().sum::<u64>();
        assert_eq!(total, r.duration_ns, "seed {seed}: every ns of a CPU is accounted once");
    }
    let busy: u64 = r.cpus.iter().map(|c| c.busy_ns).sum();
    let ran: u64 = r.tasks.iter().map(|t| t.run_ns).sum();
    assert_eq!(busy, ran, "seed {seed}: CPU time is task time");
    for t in &r.tasks {
        assert_eq!(t.domain_run_ns.iter().sum::<u64>(), t.run_ns, "seed {seed}: {} by domain", t.name);
        check_means(seed, t);
    }
    let parts: u64 = r.cpus.iter().map(|c| c.energy_active_uj + c.energy_idle_uj).sum();
    assert!(
        near(parts, r.domains.iter().filter_map(|d| d.energy_uj).sum(), 2 * r.cpus.len() as u64),
        "seed {seed}: energy"
    );
    for (at, d) in r.domains.iter().enumerate() {
        assert_eq!(d.time_in_state_ns.iter().sum::<u64>(), r.duration_ns, "seed {seed}: {}", d.name);
        let ran: u64 = r.tasks.iter().filter_map(|t| t.domain_run_ns.get(at)).sum();
        assert_eq!(ran, d.busy_ns, "seed {seed}: tasks on {}", d.name);
    }
    for (t, e) in events {
        check_event(seed, *t, e, m);
    }
    check_switches(seed, events, m.cpus.len());
}

/// Every mean lies between its extremes, and what is counted is what was summed.
fn check_means(seed: u64, t: &TaskReport) {
    let latency = &t.wakeup_latency_ns;
    for s in [latency, t.activation_ns.summary(), t.laps.summary(), &t.timer_latency] {
        let mean = s.sum as f64 / s.count.max(1) as f64;
        assert!(s.count == 0 || (s.min as f64 <= mean && mean <= s.max as f64), "seed {seed}: {} {s:?}", t.name);
    }
    assert!(latency.count <= t.wakeups + 1, "seed {seed}: {} ran more often than it was woken", t.name);
    assert!(latency.count <= t.switches, "seed {seed}: {} ran without a switch", t.name);
}

fn check_event(seed: u64, t: u64, e: &Event, m: &Machine) {
    match *e {
        Event::PeltSe { util_avg, .. } => assert!(util_avg <= 1025, "seed {seed} at {t}: {e:?}"),
        Event::PeltRt { util_avg, .. } | Event::PeltDl { util_avg, .. } => {
            assert!(util_avg <= 1024, "seed {seed} at {t}: {e:?}")
        }
        Event::FreqDecision { gate: 0, domain, resolved_khz, .. } => {
            assert!(m.domains[domain as usize].opps.iter().any(|o| o.khz == resolved_khz), "seed {seed} at {t}: {e:?}");
        }
        _ => {}
    }
}

/// Changes of a domain are at least its rate limit apart; growing deadline bandwidth may come sooner, that of a fair
/// server as well.
fn check_spacing(seed: u64, m: &Machine, w: &Workload, events: &[(u64, Event)]) {
    let policies = |t: &TaskSpec| t.phases.iter().filter_map(|p| p.policy).chain([t.policy]).collect::<Vec<_>>();
    if w.tasks.iter().flat_map(policies).any(|p| matches!(p, SchedPolicy::Deadline { .. })) {
        return;
    }
    let mut last: Vec<Option<u64>> = vec![None; m.domains.len()];
    for &(t, e) in events {
        if let Event::FreqDecision { domain, site, changed: 1, .. } = e {
            let limit_ns = m.domains[domain as usize].rate_limit_us.unwrap_or(0) * 1000;
            if let Some(before) = last[domain as usize].replace(t)
                && site != HookSite::Dl as u32
            {
                assert!(t - before >= limit_ns, "seed {seed}: changes at {before} and {t}, limit {limit_ns} ns");
            }
        }
    }
}

/// Each switch leaves the task the previous one started, and a task runs on one CPU at a time.
fn check_switches(seed: u64, events: &[(u64, Event)], cpus: usize) {
    let mut running = vec![0u32; cpus];
    for (t, e) in events {
        if let Event::SchedSwitch { cpu, prev_tid, next_tid, .. } = *e {
            assert_eq!(running[cpu as usize], prev_tid, "seed {seed} at {t}");
            assert!(next_tid == 0 || !running.contains(&next_tid), "seed {seed} at {t}: task {next_tid} runs twice");
            running[cpu as usize] = next_tid;
        }
    }
}

#[test]
fn invariants_hold_and_two_runs_are_one() {
    const PROFILES: [&str; 10] = ["4.12", "4.16", "4.19", "5.4", "5.10", "6.1", "6.6", "6.12", "6.18", "7.2"];
    for seed in seeds() {
        let mut d = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let m = random_machine(&mut d);
        let w = random_workload(&mut d, m.cpus.len() as u32);
        let drawn = PROFILES[d.below(10) as usize];
        let p = [(31, "5.15"), (63, "6.8")].into_iter().find(|(at, _)| seed % 64 == *at).map_or(drawn, |own| own.1);
        let cfg = RunConfig { seed, start_phase_random: d.below(2) == 0, ..config(400) };
        let (r, events) = events_of(&m, &w, p, &cfg);
        check(seed, &m, &r, &events);
        check_spacing(seed, &m, &w, &events);
        let (again, same) = events_of(&m, &w, p, &cfg);
        assert_eq!(r, again, "seed {seed}");
        assert_eq!(hash(&events), hash(&same), "seed {seed}");
    }
}

/// Reservations of more tasks than there are CPUs, many with equal deadlines, on sets of CPUs that overlap in part.
fn random_reservations(d: &mut Dice, m: &Machine) -> Workload {
    let cpus = m.cpus.len() as u32;
    let capacity: u64 = m.cpus.iter().map(|c| u64::from(c.capacity)).sum();
    let more = 1 + d.below(3 * u64::from(cpus));
    let task_of = |d: &mut Dice, i: u64| {
        let deadline_ns = [5, 10, 20][d.below(3) as usize] * MS;
        // Two thirds of all capacity are reserved; some tasks want more than they have.
        let runtime_ns = deadline_ns * capacity * 2 / (3 * 1024 * more.max(u64::from(cpus)));
        let rests = if d.below(2) == 0 { Op::Sleep { ns: d.below(3 * MS) } } else { timer_ms(1 + d.below(10)) };
        let run = Op::Run { work_ns: 1 + d.below(2 * runtime_ns) };
        let mut t = task(&format!("dl{i}"), None, vec![run, rests]);
        t.policy = SchedPolicy::Deadline { runtime_ns, deadline_ns, period_ns: deadline_ns };
        if d.below(2) == 0 {
            let one = d.below(u64::from(cpus)) as u32;
            t.cpus = Some(CpuSet::of((0..cpus).filter(|&c| c == one || d.below(2) == 0)));
        }
        t
    };
    let mut w = random_workload(d, cpus);
    w.tasks.retain(|t| !matches!(t.policy, SchedPolicy::Deadline { .. }));
    w.tasks.extend((0..more).map(|i| task_of(d, i)));
    w
}

/// `push_dl_task()` takes a CPU only for an earlier deadline and asks it to reschedule: no task goes back and forth.
#[test]
fn more_reservations_than_cpus_end_like_any_other_workload() {
    const PROFILES: [&str; 4] = ["4.12", "5.4", "6.1", "7.2"];
    for seed in seeds() {
        let mut d = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 3);
        let m = random_machine(&mut d);
        let w = random_reservations(&mut d, &m);
        let p = PROFILES[d.below(4) as usize];
        let (r, events) = events_of(&m, &w, p, &RunConfig { seed, ..config(100) });
        check(seed, &m, &r, &events);
    }
}
