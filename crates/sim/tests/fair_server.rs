// SPDX-License-Identifier: GPL-2.0-or-later
//! The deadline server of the fair class: the times at which starved tasks run, its bandwidth in requests, and the
//! governor that it calls.

use crate::common::*;
use pelton_core::Policy;
use pelton_model::machine::{Machine, Opp};
use pelton_model::workload::{Op, SchedPolicy, Start, TaskSpec, Workload};
use pelton_schema::{Event, HookSite, NullSink};
use pelton_sim::{Report, SimError};

/// Releases of each form of the server.
const WITH: [&str; 5] = ["6.12", "6.18", "6.18.9", "6.18.35", "7.2"];
const WITHOUT: [&str; 3] = ["4.16", "5.10", "6.6"];

fn hog() -> TaskSpec {
    with_policy(busy("hog"), SchedPolicy::Fifo { priority: 10 })
}

fn starts(mut task: TaskSpec, after_ms: u64) -> TaskSpec {
    task.start = Start::After(after_ms * MS);
    task
}

/// A ladder of operating points from a fiftieth of the highest on.
fn ladder() -> Machine {
    let mut m = machine(&[(1, 1024)]);
    m.domains[0].opps = (1..=50).map(|i| Opp { khz: 20_000 * i, uv: 0, power_uw: u64::from(1_000 * i) }).collect();
    m.domains[0].ref_khz = 1_000_000;
    m.clusters[0].active_power_uw = vec![10_000; 50];
    m
}

fn policy(release: &str, settings: &[(&str, &str)]) -> Policy {
    let mut policy = profile(release);
    for (name, value) in settings {
        policy.set(name, value).expect("a switch of the table");
    }
    policy
}

/// Pieces of time in ms in which the task of number `tid` ran on a CPU.
fn pieces(events: &[(u64, Event)], tid: u32) -> Vec<(u64, u64)> {
    let mut pieces = Vec::new();
    let mut since = None;
    for &(at, event) in events {
        let Event::SchedSwitch { prev_tid, next_tid, .. } = event else { continue };
        if prev_tid == tid {
            let from: u64 = since.take().expect("it was switched to");
            pieces.push((from / MS, at / MS));
        }
        if next_tid == tid {
            since = Some(at);
        }
    }
    pieces
}

fn calls_of_dl(report: &Report) -> u64 {
    report.cpus.iter().map(|c| c.hook_calls[HookSite::Dl as usize]).sum()
}

/// dl_server_start at 0: the timer at 1000 - 50 ms finds nothing used, and begins a period there (replenish_dl_entity);
/// from then on the server runs at the begin of each. The tick, every 4 ms, notices that the runtime is used up, and
/// what was too much is missing the next time: 48, 52, 48 or 52 ms.
#[test]
fn a_starved_task_gets_its_twentieth_in_one_piece_a_second() {
    let m = fixed_speed(&[(1, 1024)]);
    for release in WITH {
        let (report, events) = events_of(&m, &workload(vec![hog(), busy("fair")]), release, &config(5000));
        let pieces = pieces(&events, 2);
        assert_eq!(pieces.len(), 5, "{release}: {pieces:?}");
        for (second, &(from, to)) in pieces.iter().enumerate() {
            assert_eq!(from, 950 + 1000 * second as u64, "{release}: {pieces:?}");
            assert!((46..=54).contains(&(to - from)), "{release}: {pieces:?}");
        }
        assert!(near(report.tasks[1].run_ns, 250 * MS, 4 * MS), "{release}: {}", report.tasks[1].run_ns);
    }
}

/// The second is that of the server: 950 ms from when the first fair task is queued.
#[test]
fn the_last_moment_is_counted_from_the_first_fair_task() {
    let m = fixed_speed(&[(1, 1024)]);
    for release in WITH {
        let w = workload(vec![hog(), starts(busy("fair"), 300)]);
        let (_, events) = events_of(&m, &w, release, &config(3000));
        let from: Vec<u64> = pieces(&events, 2).iter().map(|p| p.0).collect();
        assert_eq!(from, [1250, 2250], "{release}");
    }
}

/// A task that sleeps while it is served stops the server; when it wakes before the deadline the releases differ
/// (update_dl_entity). 40 ms are left and 790 ms ahead when it wakes: it goes on at once with what fits (6.12, 6.18.24,
/// 7.2), or with a new runtime (6.18.2), or it waits for another second (6.18.9).
#[test]
fn a_served_task_that_sleeps_comes_back_as_its_release_says() {
    let m = fixed_speed(&[(1, 1024)]);
    let second_piece = |release: &str| {
        let sleeper = task("fair", None, vec![run_ms(10), Op::Sleep { ns: 200 * MS }]);
        let (_, events) = events_of(&m, &workload(vec![hog(), sleeper]), release, &config(4000));
        pieces(&events, 2)[1]
    };
    for release in ["6.12", "6.18", "6.18.24", "7.2"] {
        let (from, _) = second_piece(release);
        assert_eq!(from, 1160, "{release}");
    }
    assert_eq!(second_piece("6.18.9").0, 2110, "950 ms after it woke");
}

#[test]
fn fair_tasks_that_are_not_starved_are_never_put_before_real_time_tasks() {
    let m = fixed_speed(&[(1, 1024)]);
    for release in WITH {
        let rt = with_policy(periodic("rt", 600, 1_000), SchedPolicy::Fifo { priority: 10 });
        let report = run_on(&m, &workload(vec![rt, busy("fair")]), release, 5000);
        assert_eq!(report.tasks[0].wakeup_latency_ns.max, 0, "{release}");
    }
}

/// `sched/fair_server/cpu*/runtime` and `period`; 0 turns it off, and nothing else limits the class.
#[test]
fn runtime_and_period_are_what_is_set() {
    let m = fixed_speed(&[(1, 1024)]);
    let ran_ms = |runtime: &str, period: &str| {
        let settings = [("fair_server_runtime_us", runtime), ("fair_server_period_us", period)];
        let w = workload(vec![hog(), busy("fair")]);
        let policy = policy("7.2", &settings);
        pelton_sim::run(&m, &w, &policy, &config(4000), NullSink).expect("runs").tasks[1].run_ns / MS
    };
    assert_eq!(ran_ms("0", "1000000"), 0);
    assert!(near(ran_ms("100000", "1000000"), 400, 5));
    assert!(near(ran_ms("25000", "250000"), 400, 25));
}

/// cpu_bw_dl: 52428 * 1024 >> 20 = 51, which headroom is not added to; 51 * 1 GHz / 1024 = 49.8 MHz, so 60 MHz.
#[test]
fn requests_have_a_lower_limit_of_51() {
    let lowest = |release: &str| {
        let w = workload(vec![periodic("small", 40, 50_000)]);
        let (_, events) = events_of(&ladder(), &w, release, &config(2000));
        let requests = events.iter().filter_map(|(at, event)| match *event {
            Event::FreqDecision { perf, resolved_khz, .. } if *at > 1000 * MS => Some((perf, resolved_khz)),
            _ => None,
        });
        requests.min().expect("some")
    };
    for release in WITHOUT {
        assert!(lowest(release).1 == 20_000, "{release}: {:?}", lowest(release));
    }
    for release in WITH {
        assert_eq!(lowest(release), (51, 60_000), "{release}");
    }
}

/// One burst of 5 ms. __add_running_bw() calls when the server starts. When its time has come it finds no fair task:
/// `task_non_contending` takes the bandwidth off at its 0-lag time, and __sub_running_bw() calls.
#[test]
fn hooks_are_called_when_a_server_starts_and_when_its_bandwidth_goes() {
    let burst = || workload(vec![task("burst", Some(1), vec![run_ms(5)]), starts(busy("other"), 6000)]);
    for release in WITHOUT {
        assert_eq!(calls_of_dl(&run_on(&ladder(), &burst(), release, 5000)), 0, "{release}");
    }
    for release in WITH {
        assert_eq!(calls_of_dl(&run_on(&ladder(), &burst(), release, 900)), 1, "{release}");
        assert_eq!(calls_of_dl(&run_on(&ladder(), &burst(), release, 5000)), 2, "{release}");
    }
}

/// The request of an idle CPU falls with its server: about a second after its last task.
#[test]
fn an_idle_cpu_asks_for_its_server_until_that_stops() {
    for release in WITH {
        let small = task("small", Some(20), vec![Op::Run { work_ns: 40_000 }, timer_ms(50)]);
        let w = workload(vec![small, starts(busy("other"), 6000)]);
        let (_, events) = events_of(&ladder(), &w, release, &config(5000));
        let dl = |event: &Event| match *event {
            Event::FreqDecision { site, resolved_khz, .. } if site == HookSite::Dl as u32 => Some(resolved_khz),
            _ => None,
        };
        let calls: Vec<(u64, u32)> = events.iter().filter_map(|(at, e)| dl(e).map(|khz| (at / MS, khz))).collect();
        let (at, khz) = *calls.last().expect("it stops");
        assert!((1850..2100).contains(&at) && khz == 20_000, "{release}: {calls:?}");
    }
}

/// ignore_dl_rate_limit: more bandwidth than at the last evaluation is no matter of the rate limit. That evaluation was
/// when the server stopped, about 1900 ms; the task that comes at 2500 ms is refused, its server is not.
#[test]
fn a_server_that_starts_passes_the_rate_limit() {
    let mut m = ladder();
    m.domains[0].rate_limit_us = Some(900_000);
    for release in WITH {
        let small = task("small", Some(20), vec![Op::Run { work_ns: 40_000 }, timer_ms(50)]);
        let tasks = vec![small, starts(busy("late"), 2500)];
        let (_, events) = events_of(&m, &workload(tasks), release, &config(2503));
        let verdict = |&(at, event): &(u64, Event)| match event {
            Event::FreqDecision { site, gate, .. } if at >= 2500 * MS => Some((site == HookSite::Dl as u32, gate == 0)),
            _ => None,
        };
        let verdicts: Vec<_> = events.iter().filter_map(verdict).collect();
        let server = verdicts.iter().position(|&(of_dl, _)| of_dl).expect("it starts");
        assert!(verdicts[server].1, "{release}: {verdicts:?}");
        assert!(server > 0 && verdicts[..server].iter().all(|v| !v.1), "{release}: {verdicts:?}");
    }
}

/// __dl_server_attach_root: 5 % of each CPU are taken before any task comes.
#[test]
fn reservations_share_95_percent_with_the_servers() {
    let admitted = |release: &str| {
        let dl = SchedPolicy::Deadline { runtime_ns: 92 * MS, deadline_ns: 100 * MS, period_ns: 100 * MS };
        let w: Workload = workload(vec![with_policy(busy("dl"), dl)]);
        match pelton_sim::run(&fixed_speed(&[(1, 1024)]), &w, &profile(release), &config(10), NullSink) {
            Ok(_) => true,
            Err(SimError::Misfit(_)) => false,
            Err(other) => panic!("{other}"),
        }
    };
    for release in WITHOUT {
        assert!(admitted(release), "{release}");
    }
    for release in WITH {
        assert!(!admitted(release), "{release}");
    }
}
