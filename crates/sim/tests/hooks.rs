// SPDX-License-Identifier: GPL-2.0-or-later
//! Hook filters in whole runs.

use crate::common::{config, fixed_speed, machine, on, periodic, profile, with_policy, workload};
use pelton_core::Policy;
use pelton_model::workload::{SchedPolicy, Workload};
use pelton_model::{Machine, RunConfig};
use pelton_schema::{HookSite, NullSink};
use pelton_sim::Report;

fn board() -> Machine {
    machine(&[(2, 400), (2, 1024)])
}

/// Fair tasks that sleep, share CPUs and move, beside a real-time and a deadline task.
fn mixed() -> Workload {
    let fifo = with_policy(periodic("fifo", 500, 20_000), SchedPolicy::Fifo { priority: 10 });
    let deadline = SchedPolicy::Deadline { runtime_ns: 2_000_000, deadline_ns: 20_000_000, period_ns: 20_000_000 };
    let fair = (0..6).map(|i| periodic(&format!("fair{i}"), 700 + 900 * i, 7_000 + 3_000 * i));
    let resident = on(periodic("resident", 300, 2_300), 1);
    workload(fair.chain([resident, fifo, with_policy(periodic("deadline", 1_000, 20_000), deadline)]).collect())
}

fn policy(name: &str, settings: &[(&str, &str)]) -> Policy {
    let mut policy = profile(name);
    for (switch, value) in settings {
        policy.set(switch, value).expect("a switch of the table");
    }
    policy.check().expect("switches that go together");
    policy
}

fn run(policy: &Policy) -> Report {
    pelton_sim::run(&board(), &mixed(), policy, &config(500), NullSink).expect("runs")
}

fn calls(report: &Report) -> u64 {
    report.cpus.iter().flat_map(|c| c.hook_calls).sum()
}

fn calls_at(report: &Report, site: HookSite) -> u64 {
    report.cpus.iter().map(|c| c.hook_calls[site as usize]).sum()
}

fn offered(report: &Report) -> u64 {
    report.cpus.iter().map(|c| c.hooks_offered).sum()
}

/// Report of the run without the number of calls that the kernel of the profile would have made.
fn as_run(report: &Report) -> Report {
    let mut report = report.clone();
    report.cpus.iter_mut().for_each(|c| c.hooks_offered = 0);
    report
}

#[test]
fn watching_changes_nothing() {
    for settings in [&[][..], &[("hook_filter", "h4"), ("gate", "r1_asym")]] {
        let policy = policy("7.2", settings);
        let unseen = run(&policy);
        let watched = RunConfig { demand: true, ..config(500) };
        let mut seen = pelton_sim::run(&board(), &mixed(), &policy, &watched, NullSink).expect("runs");
        let clocks = std::mem::take(&mut seen.demand);
        assert_eq!(clocks.len(), seen.domains.len(), "a clock each");
        for (domain, demand) in seen.domains.iter().zip(clocks) {
            let time_ns: u64 = domain.time_in_state_ns.iter().sum();
            assert!(demand.over_ns + demand.short_ns <= time_ns, "{demand:?}");
            assert!(demand.short_ns >= demand.reaction_ns.summary().sum, "{demand:?}");
        }
        assert_eq!(seen, unseen, "{settings:?}");
    }
}

#[test]
fn domains_that_share_a_clock_are_watched_together() {
    let mut m = machine(&[(1, 1024), (1, 1024)]);
    m.clusters.truncate(1);
    m.clusters[0].cpus = vec![0, 1];
    m.cpus.iter_mut().for_each(|cpu| cpu.cluster = 0);
    let steps = [periodic("large", 6_000, 20_000), periodic("small", 300, 5_000)];
    let w = workload(steps.into_iter().enumerate().map(|(c, task)| on(task, c as u32)).collect());
    let watched = RunConfig { demand: true, ..config(1000) };
    let mut clocks = |one_clock| {
        m.one_clock = one_clock;
        pelton_sim::run(&m, &w, &policy("7.2", &[]), &watched, NullSink).expect("runs").demand
    };
    let (each, one) = (clocks(false), clocks(true));
    assert_eq!((each.len(), one.len()), (2, 1));
    assert!(one[0].steps > 0 && one[0].steps <= each[0].steps + each[1].steps, "{one:?} {each:?}");
    assert!(one[0].over_ns + one[0].short_ns <= 1_000_000_000, "a clock has one time line: {one:?}");
}

#[test]
fn kernels_that_call_on_the_cpu_itself_lose_remote_calls() {
    let calls = |settings: &[(&str, &str)]| calls(&run(&policy("4.12", settings)));
    let (own, all) = (calls(&[]), calls(&[("remote", "all")]));
    assert!(0 < own && own < all, "{own} of {all}");
}

#[test]
fn mainline_calls_for_every_offered_event() {
    for name in ["4.12", "4.16", "6.12", "7.2"] {
        let report = run(&policy(name, &[]));
        assert_eq!(offered(&report), calls(&report), "{name}");
    }
}

#[test]
fn a_hook_takes_the_time_that_is_reported() {
    let mut machine = fixed_speed(&[(1, 1024)]);
    machine.costs.hook_ns = 1_000;
    machine.domains[0].switch_time_ns = 0;
    let tasks = workload(vec![on(periodic("task", 500, 10_000), 0)]);
    let report = pelton_sim::run(&machine, &tasks, &profile("7.2"), &config(200), NullSink).expect("runs");
    assert_eq!(report.cpus[0].hook_ns, calls(&report) * 1_000);
}

#[test]
fn h1_is_the_update_hooks_proposal() {
    for name in ["4.12", "4.16", "6.12", "7.2"] {
        let named = run(&policy(name, &[("hook_filter", "h1")]));
        let spelled = run(&policy(name, &[("hook_decay", "off"), ("hook_tick", "on"), ("hook_blocked", "off")]));
        assert!(offered(&spelled) <= offered(&named), "{name}");
        assert_eq!(as_run(&named), as_run(&spelled), "{name}");
        assert_eq!(calls_at(&named, HookSite::Decay) + calls_at(&named, HookSite::Blocked), 0, "{name}");
        assert!(calls_at(&named, HookSite::Tick) > 0 && calls_at(&named, HookSite::Attach) > 0, "{name}");
    }
}

#[test]
fn filters_that_only_drop_call_no_more_often_than_mainline() {
    for name in ["4.12", "7.2"] {
        let mainline = calls(&run(&policy(name, &[])));
        for filter in ["h2", "h4", "composite"] {
            let filtered = calls(&run(&policy(name, &[("hook_filter", filter)])));
            assert!(0 < filtered && filtered <= mainline, "{name} {filter}: {filtered} of {mainline}");
        }
    }
}

#[test]
fn an_epsilon_of_nothing_drops_nothing() {
    let mainline = run(&policy("7.2", &[]));
    for filter in ["h2", "composite"] {
        assert_eq!(run(&policy("7.2", &[("hook_filter", filter), ("hook_epsilon", "0")])), mainline, "{filter}");
    }
}

#[test]
fn h3_calls_at_switches_and_never_in_the_class_code() {
    let report = run(&policy("7.2", &[("hook_filter", "h3")]));
    for site in [HookSite::Decay, HookSite::Attach, HookSite::Rt, HookSite::Dl] {
        assert_eq!(calls_at(&report, site), 0, "{}", site.name());
    }
    let switches: u64 = report.cpus.iter().map(|c| c.switches).sum();
    let called = calls_at(&report, HookSite::Switch);
    assert!(called > 0 && called <= switches, "{called} calls at {switches} switches");
}

#[test]
fn h4_calls_at_ticks_alone() {
    let report = run(&policy("7.2", &[("hook_filter", "h4")]));
    assert_eq!(calls(&report), calls_at(&report, HookSite::Tick));
    assert!(calls(&report) <= report.cpus.iter().map(|c| c.ticks).sum());
}
