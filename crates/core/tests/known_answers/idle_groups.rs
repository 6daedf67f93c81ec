// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle groups (`cpu.idle`), worked out by hand from sched_group_set_idle, enqueue_task_fair and check_preempt_wakeup
//! of 5.10.262, 6.1.192, 6.6.150, 6.12.118, 6.18.2 and 7.2.12.

use pelton_core::fair::{idle_unprotected, preempt_by_policy};
use pelton_core::{
    Policy, h_nr_idle_above, has_idle_groups, lb_at_once, sched_idle_rq, set_idle_delta, shares_when_idle,
    shares_writable,
};

const NO: u32 = 0;
const YES: u32 = 1;
const COMPARE: u32 = 2;
const PROFILES: [&str; 12] =
    ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

/// The file came with 5.15.
#[test]
fn there_are_idle_groups_from_6_1_on() {
    let with: Vec<&str> = PROFILES.into_iter().filter(|p| has_idle_groups(&policy(p))).collect();
    assert_eq!(with, ["5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"]);
}

/// WEIGHT_IDLEPRIO; NICE_0_LOAD afterwards, and EINVAL for a weight meanwhile.
#[test]
fn an_idle_group_weighs_3_and_afterwards_what_a_new_one_does() {
    assert_eq!((shares_when_idle(true), shares_when_idle(false)), (3, 1024));
    assert!(!shares_writable(true) && shares_writable(false));
}

#[test]
fn who_preempts_whom_is_decided_by_tasks_or_by_what_meets() {
    // Of SCHED_IDLE: the running task and the wakee; what meets is idle: on either side; the answers to 6.6, from 6.12.
    const NONE: [bool; 2] = [false, false];
    const RUNS: [bool; 2] = [true, false];
    const WAKES: [bool; 2] = [false, true];
    const BOTH: [bool; 2] = [true, true];
    let cases = [
        (NONE, NONE, COMPARE, COMPARE),
        (RUNS, RUNS, YES, YES),
        (WAKES, WAKES, NO, NO),
        (BOTH, BOTH, NO, NO),
        // Tasks of SCHED_IDLE in groups that are not idle.
        (RUNS, NONE, YES, COMPARE),
        (WAKES, NONE, NO, NO),
        (BOTH, NONE, NO, NO),
        // Other tasks in idle groups.
        (NONE, RUNS, YES, YES),
        (NONE, WAKES, NO, NO),
        (NONE, BOTH, COMPARE, COMPARE),
        // Both: the running task is of SCHED_IDLE, the wakee is in an idle group, and the reverse.
        (RUNS, WAKES, YES, NO),
        (WAKES, RUNS, NO, YES),
    ];
    for p in PROFILES {
        let (policy, levels) = (policy(p), matches!(p, "6.12" | "6.18" | "7.2"));
        for (tasks, meeting, before, since) in cases {
            let got = preempt_by_policy(&policy, tasks, meeting, false);
            assert_eq!(got, if levels { since } else { before }, "{p}: {tasks:?} {meeting:?}");
        }
        // A batch task preempts what is idle, and nothing else; up to 6.6 no idle group either.
        assert_eq!(preempt_by_policy(&policy, NONE, NONE, true), NO, "{p}");
        assert_eq!(preempt_by_policy(&policy, NONE, RUNS, true), if levels { YES } else { NO }, "{p}");
        assert_eq!(idle_unprotected(&policy), levels, "{p}");
    }
}

/// Two tasks in an idle group below an ordinary one: one of SCHED_IDLE, one not.
#[test]
fn all_tasks_of_an_idle_group_are_idle_ones_above() {
    let (own, above) = (1, h_nr_idle_above(1, 2, 1));
    assert_eq!((own, above, h_nr_idle_above(0, 2, above)), (1, 2, 2));
    assert!(sched_idle_rq(2, 2) && !sched_idle_rq(3, 2) && !sched_idle_rq(0, 0));
    // It ceases to be idle with both there: one idle task less above; nothing changes above an idle group.
    assert_eq!((set_idle_delta(false, 2, 1), set_idle_delta(true, 2, 1)), (-1, 1));
    assert_eq!((h_nr_idle_above(0, 0, -1), h_nr_idle_above(1, 0, -1)), (-1, 0));
}

/// dequeue_task_fair: `rq->next_balance = jiffies`; 5.4 has it not.
#[test]
fn a_cpu_that_is_left_to_idle_tasks_balances_at_once_from_5_10() {
    for p in PROFILES {
        let since = !matches!(p, "4.12" | "4.16" | "4.19" | "5.4");
        assert_eq!(lb_at_once(&policy(p), false, true), since, "{p}");
        assert!(!lb_at_once(&policy(p), true, true) && !lb_at_once(&policy(p), false, false));
    }
}
