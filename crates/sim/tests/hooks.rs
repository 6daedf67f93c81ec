// SPDX-License-Identifier: GPL-2.0-only
//! Hook filters in whole runs.

mod common;

use common::{config, machine, on, periodic, profile, with_policy, workload};
use pelton_core::Policy;
use pelton_schema::{HookSite, NullSink};
use pelton_sim::workload::{SchedPolicy, Workload};
use pelton_sim::{Machine, Report};

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

#[test]
fn h1_is_the_update_hooks_proposal() {
    for name in ["4.12", "4.16", "6.12", "7.2"] {
        let named = run(&policy(name, &[("hook_filter", "h1")]));
        let spelled = [("hook_decay", "off"), ("hook_tick", "on"), ("hook_blocked", "off")];
        assert_eq!(named, run(&policy(name, &spelled)), "{name}");
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
