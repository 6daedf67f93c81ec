// SPDX-License-Identifier: GPL-2.0-or-later
//! The deadline server of the fair class, from the sources of each release. 50 ms of every second.

use pelton_core::{DlServer, Policy, ServerBw, profiles};

const MS: u64 = 1_000_000;

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("exists")
}

/// One that starved tasks, served them from 952 ms on for 10 ms, and stopped when they were done.
fn served(policy: &Policy) -> DlServer {
    let mut s = DlServer::new(policy);
    assert_eq!(s.start(policy, 2 * MS), ServerBw::Added);
    // dl_server_start: d = 2 + 1000 ms; start_dl_timer: d - left.
    assert_eq!((s.dl.deadline_ns, s.timer_ns, s.on_dl_rq), (1002 * MS, 952 * MS, 0));
    s.expire(policy);
    assert_eq!(s.timer(952 * MS), ServerBw::Stays);
    // replenish_dl_entity: 50 ms in 50 ms is too dense, so a new period begins.
    assert_eq!((s.dl.deadline_ns, s.dl.runtime_ns, s.on_dl_rq), (1952 * MS, 50 * MS as i64, 1));
    s.ran(policy, 962 * MS, 10 * MS, false);
    assert_eq!(s.stop(962 * MS), ServerBw::Stays);
    // task_non_contending: 1952 - 40 * 20 ms.
    assert_eq!(s.inactive_ns, 1152 * MS);
    s
}

/// 4.12 to 6.6: rt.c throttles the class; rq has no fair_server.
#[test]
fn there_is_a_server_from_6_12() {
    for profile in profiles() {
        let has = ["6.12", "6.18", "7.2"].contains(&profile);
        let mut s = DlServer::new(&policy(profile));
        assert_eq!(s.dl.dl_bw, if has { 52_428 } else { 0 }, "{profile}");
        let started = s.start(&policy(profile), MS) == ServerBw::Added;
        assert_eq!((started, s.timer_ns > 0), (has, has), "{profile}");
    }
}

/// update_dl_entity at 1452 ms: 40 ms of 500 are more than 5 %. 52428 * 500 ms >> 20 = 24999618 ns.
#[test]
fn server_restart_of_each_release() {
    let revised = (1952 * MS, 24_999_618, 1);
    let anew = (2452 * MS, 50 * MS as i64, 0);
    for (release, expected) in [
        ("6.12", revised),
        ("6.18", (2452 * MS, 50 * MS as i64, 1)),
        ("6.18.8", (2452 * MS, 50 * MS as i64, 1)),
        ("6.18.9", anew),
        ("6.18.23", anew),
        ("6.18.24", revised),
        ("7.2", revised),
    ] {
        let policy = policy(release);
        let mut s = served(&policy);
        assert_eq!(s.inactive(), ServerBw::Taken);
        assert_eq!(s.start(&policy, 1452 * MS), ServerBw::Added, "{release}");
        assert_eq!((s.dl.deadline_ns, s.dl.runtime_ns, s.on_dl_rq), expected, "{release}");
        let timer_ns = if s.on_dl_rq == 0 { 2402 * MS } else { 0 };
        assert_eq!(s.timer_ns, timer_ns, "{release}");
    }
}

/// A server starts again that no task needed: only 6.18.24 and later releases of 6.18 go on with its deadline, and then
/// at once.
#[test]
fn server_restart_of_one_that_did_not_run() {
    for (release, runs) in [("6.12", false), ("6.18", false), ("6.18.9", false), ("6.18.24", true), ("7.2", false)] {
        let policy = policy(release);
        let mut s = DlServer::new(&policy);
        s.start(&policy, 2 * MS);
        s.stop(3 * MS);
        s.start(&policy, 502 * MS);
        assert_eq!((s.on_dl_rq, s.dl_defer_running), (runs.into(), 0), "{release}");
        assert_eq!(s.dl.deadline_ns, if runs { 1002 * MS } else { 1502 * MS }, "{release}");
    }
}

/// A server that stops before its 0-lag time and starts before that keeps its bandwidth in the sum (task_contending).
#[test]
fn a_start_before_the_zero_lag_time_changes_no_bandwidth() {
    let policy = policy("7.2");
    let mut s = served(&policy);
    assert_eq!(s.start(&policy, 1000 * MS), ServerBw::Stays);
    assert_eq!((s.inactive_ns, s.dl_non_contending), (0, 0));
    assert_eq!(s.inactive(), ServerBw::Stays, "a timer that could not be cancelled");
}

/// dl_server_update_idle_time (6.12, 6.18) takes idle time down to nothing, and the next fair time renews the period.
/// 7.2 (update_curr_dl_se with idle) renews it at once, and a timer that finds the CPU idle stops the server.
#[test]
fn server_idle_waits_in_7_2() {
    for release in ["6.12", "6.18", "7.2"] {
        let policy = policy(release);
        let mut s = DlServer::new(&policy);
        s.start(&policy, 2 * MS);
        let accounts = s.expire(&policy);
        assert_eq!(accounts, release == "7.2");
        if accounts {
            s.ran(&policy, 952 * MS, 940 * MS, true);
            assert_eq!((s.dl_defer_idle, s.timer_ns), (1, 1902 * MS));
            assert_eq!(s.timer(952 * MS), ServerBw::Stays);
            assert_eq!((s.dl_server_active, s.inactive_ns), (0, 952 * MS));
            assert_eq!(s.timer_ns, 1902 * MS, "its own handler does not cancel it");
        } else {
            s.idled(940 * MS);
            assert_eq!((s.dl.runtime_ns, s.timer_ns), (0, 0));
            assert_eq!(s.timer(952 * MS), ServerBw::Stays);
            // Nothing is left until 1002 ms: the timer moves there (dl_server_min_res).
            assert_eq!((s.on_dl_rq, s.timer_ns), (0, 1002 * MS));
        }
    }
}

/// update_curr_dl_se: the runtime of a server that ran is used up when its next period has begun long ago.
#[test]
fn server_late_waits_from_6_18() {
    for (release, waits) in [("6.12", false), ("6.18", true), ("7.2", true)] {
        let policy = policy(release);
        let mut s = DlServer::new(&policy);
        s.start(&policy, 2 * MS);
        s.expire(&policy);
        s.timer(952 * MS);
        s.ran(&policy, 4000 * MS, 50 * MS, false);
        assert_eq!((s.on_dl_rq, s.dl.deadline_ns), (u32::from(!waits), 5000 * MS), "{release}");
        assert_eq!(s.timer_ns, if waits { 5000 * MS } else { 0 }, "{release}");
    }
}

/// While fair tasks get what they need the timer moves away before it comes: a new period each 50 ms.
#[test]
fn fair_time_puts_the_server_off() {
    for release in ["6.12", "6.18", "7.2"] {
        let policy = policy(release);
        let mut s = DlServer::new(&policy);
        s.start(&policy, 0);
        for at_ms in 1..=100 {
            s.ran(&policy, at_ms * MS, MS, false);
        }
        assert_eq!((s.dl.deadline_ns, s.timer_ns), (1100 * MS, 1050 * MS), "{release}");
    }
}
