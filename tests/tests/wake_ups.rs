// SPDX-License-Identifier: GPL-2.0-or-later
//! A wake-up that another CPU carries out (`ttwu_queue_wakelist`): when the task is enqueued, and what that does to its
//! estimate.

use pelton_model::{Machine, RunConfig};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_scenario::workload;
use pelton_schema::{Event, IDLE_EXIT, Sink};

#[derive(Default)]
struct Keep(Vec<(u64, Event)>);

impl Sink for Keep {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.0.push((time_ns, *event));
    }
}

/// A built-in board; none where its file states too little to be simulated.
fn board(name: &str, profile: &str) -> Option<Machine> {
    platform::load(name).expect("a built-in platform").machine(&PlatformOptions::new(profile)).ok()
}

fn events(machine: &Machine, spec: &str, profile: &str, seed: u64, duration_ms: u64) -> Vec<(u64, Event)> {
    let policy = pelton_core::Policy::profile(profile).expect("a profile");
    let w = workload::load(spec, machine).expect("good");
    let duration_ns = duration_ms * 1_000_000;
    let config = RunConfig { seed, duration_ns, start_phase_random: seed > 0, ..RunConfig::default() };
    let mut keep = Keep::default();
    pelton_sim::run(machine, &w, &policy, &config, &mut keep).expect("runs");
    keep.0
}

/// The last estimate of task 1 and the largest utilization since then that it could be of.
fn last_estimate(events: &[(u64, Event)]) -> (u32, u32) {
    let of = |e: &(u64, Event)| match e.1 {
        Event::PeltSe { tid: 1, util_est, util_avg, .. } => Some((util_est, util_avg)),
        _ => None,
    };
    let seen: Vec<(u32, u32)> = events.iter().filter_map(of).collect();
    let half = &seen[seen.len() / 2..];
    (half.last().map_or(0, |s| s.0), half.iter().map(|s| s.1).max().unwrap_or(0))
}

/// A task that is alone on its machine never waits, on no board and in no profile and at no phase: its estimate follows
/// its utilization down although the task starts with more.
#[test]
fn the_estimate_of_a_light_task_follows_its_utilization_on_every_board_in_every_profile() {
    let profiles = ["4.19", "5.10", "6.1", "6.12", "6.18", "7.2"];
    let mut seen = 0;
    for (at, name) in platform::names().enumerate() {
        for (i, profile) in profiles.iter().enumerate() {
            let Some(machine) = board(name, profile) else { continue };
            let spec = "periodic:run_us=300,period_us=16000,phase_us=random";
            let (estimate, highest) = last_estimate(&events(&machine, spec, profile, (at + i) as u64, 3000));
            assert!(estimate <= highest + 12, "{name}, {profile}: estimate {estimate} of at most {highest}");
            seen += usize::from(highest > 0);
        }
    }
    assert!(seen > 50, "{seen} runs had a utilization to follow");
}

/// The woken task is enqueued when its CPU has left its idle state, and not before.
#[test]
fn a_handed_over_task_is_enqueued_after_the_exit_of_its_cpu() {
    let machine = board("hikey960", "7.2").expect("a complete platform");
    let all = events(&machine, "schbench", "7.2", 1, 200);
    let (mut exited, mut remote) = (vec![0; machine.cpus.len()], 0);
    let mut waking = std::collections::BTreeMap::new();
    for (t, e) in all {
        match e {
            Event::CpuIdle { cpu, state: IDLE_EXIT } => exited[cpu as usize] = t,
            Event::CpuIdle { cpu, .. } => exited[cpu as usize] = u64::MAX,
            Event::SchedWaking { tid, cpu, target_cpu, .. } => {
                waking.insert(tid, (cpu, exited[target_cpu as usize] == u64::MAX));
            }
            Event::SchedWakeup { tid, cpu, target_cpu, .. } => {
                let Some((from, idle)) = waking.remove(&tid) else { continue };
                if from != target_cpu && idle {
                    assert_eq!(cpu, target_cpu, "the CPU that gets the task enqueues it");
                    assert!(exited[target_cpu as usize] <= t, "CPU {cpu} was idle at {t}");
                    remote += 1;
                }
            }
            _ => {}
        }
    }
    assert!(remote > 10, "{remote} wake-ups were handed to an idle CPU");
}
