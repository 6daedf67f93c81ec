// SPDX-License-Identifier: GPL-2.0-or-later
//! The CPU of a fair task, worked out by hand: a board of four little CPUs (capacity 446) and two big ones, all idle,
//! with the energy model of its device tree.

use pelton_core::{
    DST_WHY, EmState, NO_CPU, NO_DOMAIN, NO_IDLE_STATE, NO_LIMIT, PerfDomain, PlaceCpu, Placed, Placement, Policy,
    Record, SCAN, SchedDomain, WEIGHED, sd, update_scan_cost, wf,
};

const LITTLE: [(u64, u64); 4] = [(159, 2515), (254, 2952), (350, 3714), (446, 4708)];
const BIG: [(u64, u64); 4] = [(341, 4398), (568, 5633), (796, 7537), (1024, 10742)];
/// States of the little CPUs by frequency: kHz, and cost in highest frequency * mW / frequency.
const LITTLE_MW: [(u32, u64); 4] = [(500_000, 112), (800_000, 131), (1_100_000, 165), (1_400_000, 210)];
const BIG_MW: [(u32, u64); 4] = [(600_000, 450), (1_000_000, 576), (1_400_000, 771), (1_800_000, 1100)];

pub(super) fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

fn domain(span: u64, flags: u32, capacity: u32) -> SchedDomain {
    let common = sd::BALANCE_EXEC | sd::BALANCE_FORK | sd::WAKE_AFFINE;
    SchedDomain {
        span,
        flags: flags | common,
        imbalance_pct: 117,
        has_shared: 1,
        group_capacity: capacity,
        group_max_capacity: capacity,
        ..SchedDomain::default()
    }
}

fn cpu(number: u32) -> PlaceCpu {
    let (cap_orig, cluster, first) = if number < 4 { (446, 0b1111, 0) } else { (1024, 0b11_0000, 4) };
    let mut cpu = PlaceCpu {
        capacity: cap_orig,
        threads: 1 << number,
        curr_idle: 1,
        exit_latency_ns: NO_IDLE_STATE,
        nr_idle_scan_llc: NO_LIMIT,
        nr_idle_scan_asym: NO_LIMIT,
        cluster: first,
        llc_size: 6,
        llc_domain: 1,
        asym_domain: 1,
        nr_domains: 2,
        ..PlaceCpu::default()
    };
    cpu.state.cap_orig = cap_orig;
    cpu.state.uclamp_max = 1024;
    cpu.domains[0] = domain(cluster, sd::CLUSTER, cap_orig);
    cpu.domains[1] = domain(0b11_1111, sd::ASYM_CPUCAPACITY, if number < 4 { 4 * 446 } else { 2048 });
    cpu.domains[1].group_max_capacity = cap_orig;
    cpu
}

/// The board; the task has run on `prev`, is in its utilization and in no queue.
pub(super) fn board(profile: &str, util: [u32; 6], task_util: u64, prev: u32) -> Placement {
    let mut board = Placement {
        nr_cpus: 6,
        flags: wf::TTWU,
        prev_cpu: prev,
        energy_aware: 1,
        asymmetric: 1,
        nr_perf_domains: 2,
        ..Placement::default()
    };
    for number in 0..6 {
        board.cpus[number as usize] = cpu(number);
        let state = &mut board.cpus[number as usize].state;
        state.util_cfs = util[number as usize] + if number == prev { task_util as u32 } else { 0 };
        state.runnable_cfs = state.util_cfs;
    }
    let of = |cpus, first_state| PerfDomain { cpus, first_state, nr_states: 4, min_state: 0, max_state: 3 };
    board.perf_domains[..2].copy_from_slice(&[of(0b11_0000, 0), of(0b1111, 4)]);
    for at in 0..4 {
        board.states[at] = EmState { performance: BIG[at].0, cost: BIG[at].1, ..EmState::default() };
        board.states[4 + at] = EmState { performance: LITTLE[at].0, cost: LITTLE[at].1, ..EmState::default() };
        if ["5.4", "5.10", "5.15"].contains(&profile) {
            (board.states[at].freq_khz, board.states[at].cost) = BIG_MW[at];
            (board.states[4 + at].freq_khz, board.states[4 + at].cost) = LITTLE_MW[at];
        }
    }
    let task = &mut board.task;
    (task.cpu, task.recent_cpu, task.allowed) = (prev, prev, 0b11_1111);
    (task.uclamp_max, task.numa_cpu) = (1024, NO_CPU);
    task.se.avg.last_update_time_ns = 1 << 20;
    task.queue_update_ns = 1 << 20;
    (task.se.avg.util_avg, task.se.avg.runnable_avg) = (task_util, task_util);
    task.se.weight = 1024;
    board
}

fn chosen(profile: &str, util: [u32; 6], task_util: u64, prev: u32) -> u32 {
    board(profile, util, task_util, prev).select(&policy(profile), &mut Placed::default())
}

/// 7.2 find_energy_efficient_cpu, find_energy of 6.12 and 6.18 alike: the smallest addition, the previous CPU wins
/// ties.
#[test]
fn energy_aware_from_6_1_takes_the_smallest_addition() {
    let idle = [0; 6];
    for profile in ["6.12", "6.18", "7.2"] {
        // Big: 100 * 5/4 = 125 asks for 341: 4398 * 100; little 125 -> 159: 2515 * 100.
        assert_eq!(chosen(profile, idle, 100, 4), 0, "{profile}");
        // CPU 1 has 346 to spare, not more than the previous CPU.
        assert_eq!(chosen(profile, idle, 100, 0), 0, "{profile}");
        // Big 4398 * (390 - 350) = 175,920; little 300 * 5/4 = 375 -> 446: 4708 * (1240 - 1200) = 188,320.
        assert_eq!(chosen(profile, [340 - 40, 300, 300, 300, 200, 150], 40, 0), 5, "{profile}");
        // 400 * 1280 = 512,000 >= 446 * 1024 = 456,704: no little CPU is large enough.
        assert_eq!(chosen(profile, idle, 400, 4), 4, "{profile}");
        assert_eq!(chosen(profile, idle, 370, 0), 4, "{profile}: 473,600 does not fit either");
        // Both little places add 2515 * 20 = 50,300, big 87,960.
        assert_eq!(chosen(profile, [100, 100, 100, 20, 0, 0], 20, 0), 0, "{profile}");
    }
}

/// Little CPUs that look full, all capped to 120 as the task is: it fits them. 6.6 find_energy_efficient_cpu begins
/// with a most spare capacity of 0, which none of them exceeds; from 6.7 (and 6.1.192) with -1: no energy is added
/// there.
#[test]
fn a_full_cpu_is_a_candidate_from_6_7() {
    for (profile, cpu) in [("6.1", 0), ("6.6", 4), ("6.8", 0), ("6.12", 0), ("6.18", 0), ("7.2", 0)] {
        let mut board = board(profile, [446, 446, 446, 446, 0, 0], 100, 4);
        (board.uclamp_used, board.task.uclamp_max) = (1, 120);
        board.cpus.iter_mut().for_each(|cpu| cpu.state.uclamp_max = 120);
        assert_eq!(board.select(&policy(profile), &mut Placed::default()), cpu, "{profile}");
    }
}

/// Utilization 100 on an idle board, an upper clamp of 0. 6.6 find_energy_efficient_cpu: uclamp_task_util() is 0, the
/// previous CPU it is. 6.1.192, 6.12.117, 6.18 and 7.2 ask for the real utilization and compare: all CPUs run at their
/// lowest states, big 4398 * 100, little 2515 * 100 (6.1 and 6.8 go by frequencies, which this board does not have).
/// 5.10.262 likewise with its margin: 450 * 100 / 1024 = 43 and 112 * 100 / 446 = 25, as without clamps.
#[test]
fn a_task_capped_to_0_stays_in_6_6_only() {
    for (profile, cpu) in
        [("5.10", 0), ("5.15", 0), ("6.1", 4), ("6.6", 4), ("6.8", 4), ("6.12", 0), ("6.18", 0), ("7.2", 0)]
    {
        let mut board = board(profile, [0; 6], 100, 4);
        (board.uclamp_used, board.task.uclamp_max) = (1, 0);
        let mut placed = Placed::default();
        assert_eq!(board.select(&policy(profile), &mut placed), cpu, "{profile}");
        assert_eq!(placed.energies().is_empty(), profile == "6.6", "{profile}");
    }
}

/// No utilization, a lower clamp of 100. 5.4 asks for utilization only; 6.6 for utilization within the clamps, the
/// others for either. (No estimate: up to 5.10 the mark in its lowest bit makes it 1 at least.)
#[test]
fn a_task_without_utilization_stays_unless_it_has_a_floor() {
    for profile in ["5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let (mut policy, mut placed) = (policy(profile), Placed::default());
        policy.set("util_est", "off").expect("a value");
        for (floor, stays) in [(0, true), (100, profile == "5.4")] {
            let mut board = board(profile, [0; 6], 0, 4);
            (board.uclamp_used, board.task.uclamp_min) = (1, floor);
            board.select(&policy, &mut placed);
            assert_eq!(placed.energies().is_empty(), stays, "{profile}, {floor}");
        }
    }
}

/// The energies of the second case above, as sched_compute_energy_tp would report them.
#[test]
fn every_comparison_of_energy_is_kept() {
    let mut placed = Placed::default();
    board("7.2", [300, 300, 300, 300, 200, 150], 40, 0).select(&policy("7.2"), &mut placed);
    let kept: Vec<_> = placed.energies().iter().map(|e| (e.perf_domain, e.cpu as i32, e.energy, e.max_util)).collect();
    assert_eq!(
        kept,
        [(0, -1, 4398 * 350, 250), (0, 5, 4398 * 390, 250), (1, -1, 4708 * 1200, 375), (1, 0, 4708 * 1240, 425),]
    );
}

/// 5.4 and 5.10.262 find_energy_efficient_cpu: a sixteenth of all must be saved. Costs of 5.4, whose power is in mW.
#[test]
fn energy_aware_of_5_4_keeps_the_previous_cpu_for_less_than_a_sixteenth() {
    for profile in ["5.4", "5.10", "5.15"] {
        // (1800000 * 5/4) * 200 / 1024 = 439,453 -> 450: 450 * 350 / 1024 = 153, with the task 171: 18. Little 210 *
        // 1200 / 446 = 565, with it 583: 18. Nothing is saved.
        assert_eq!(chosen(profile, [300, 300, 300, 300, 200, 150], 40, 0), 0, "{profile}");
        // Saved are 56 - 47 = 9, needed more than (56 + 281 + 141) / 16 = 29.
        assert_eq!(chosen(profile, [300, 0, 0, 0, 300, 300 - 100], 100, 5), 5, "{profile}");
        // All idle: big 450 * 100 / 1024 = 43, little 112 * 100 / 446 = 25: 18 of 43 are saved.
        assert_eq!(chosen(profile, [0; 6], 100, 4), 0, "{profile}");
    }
    assert_eq!(chosen("7.2", [300, 0, 0, 0, 300, 300 - 100], 100, 5), 1, "7.2 takes every saving");
}

/// compute_energy of 5.15.215: cooling leaves the big CPUs 300, and the previous one is full with 400 or 500: 450 * 300
/// / 1024 = 131 both times, so that staying costs nothing. 5.10.262 counts on: 771 * 500 / 1024 - 576 * 400 / 1024 =
/// 151, against 112 * 100 / 446 = 25 on a little CPU.
#[test]
fn energy_is_that_of_the_capacity_that_cooling_leaves_in_5_15() {
    let goes_to = |profile: &str| {
        let mut board = board(profile, [0, 0, 0, 0, 400, 0], 100, 4);
        board.cpus[4].cpufreq_pressure = 724;
        board.cpus[5].cpufreq_pressure = 724;
        board.select(&policy(profile), &mut Placed::default())
    };
    assert_eq!(["5.10", "5.15"].map(goes_to), [0, 4]);
}

/// 4.12, 4.16 and 4.19 have no find_energy_efficient_cpu.
#[test]
fn energy_aware_is_off_to_4_19() {
    for profile in ["4.12", "4.16", "4.19"] {
        assert_eq!(policy(profile).energy_aware, 0, "{profile}");
        let mut placed = Placed::default();
        board(profile, [0; 6], 100, 4).select(&policy(profile), &mut placed);
        assert!(placed.energies().is_empty(), "{profile}");
    }
}

/// 7.2 cpu_util: with the task, the waiting tasks are those with it; 6.6 and 6.18 take the larger before the task
/// comes.
#[test]
fn energy_runnable_counts_waiting_tasks_from_6_6() {
    let asks = |profile: &str| {
        let mut board = board(profile, [0, 0, 0, 0, 100, 0], 50, 0);
        board.cpus[4].state.runnable_cfs = 400;
        board.task.allowed = 0b01_0001;
        board.task.se.avg.runnable_avg = 80;
        let mut placed = Placed::default();
        board.select(&policy(profile), &mut placed);
        placed.energies().iter().find(|e| e.cpu == 4).map(|e| e.max_util)
    };
    // 100 + 50 = 150 of 6.1; 400 + 50 before the task, 400 + 80 with it; from 6.8 a quarter more.
    assert_eq!(asks("5.15"), Some(150));
    assert_eq!(asks("6.1"), Some(150));
    assert_eq!(asks("6.6"), Some(450));
    assert_eq!(asks("6.8"), Some(450 * 5 / 4));
    assert_eq!(asks("6.12"), Some(480 * 5 / 4));
    assert_eq!(asks("6.18"), Some(450 * 5 / 4));
    assert_eq!(asks("7.2"), Some(480 * 5 / 4));
}

/// 7.2 util_fits_cpu; 5.10.262 the same without -1; 5.4 task_fits_capacity knows no clamps.
#[test]
fn util_fits_knows_clamps_from_5_10_and_ranks_them_from_6_1() {
    let fits = |profile: &str, util, min, max, cpu| {
        let mut board = board(profile, [0; 6], 0, 0);
        board.uclamp_used = 1;
        board.util_fits_cpu(&policy(profile), util, min, max, cpu)
    };
    for profile in ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let got = [(300, 0, 1024, 0), (400, 0, 1024, 0), (400, 0, 200, 0), (100, 600, 1024, 0), (900, 0, 1024, 4)]
            .map(|(util, min, max, cpu)| fits(profile, util, min, max, cpu));
        assert_eq!(got, [1, 0, 1, -1, 0], "{profile}");
    }
    for profile in ["5.10", "5.15"] {
        assert_eq!([fits(profile, 400, 0, 200, 0), fits(profile, 100, 600, 1024, 0)], [1, 0], "{profile}");
    }
    assert_eq!([fits("5.4", 400, 0, 200, 0), fits("5.4", 100, 600, 1024, 0)], [0, 1]);
}

/// 7.2 cpu_overutilized leaves the lower clamp out and is false without placement by energy; 6.6 and older do not ask.
#[test]
fn overutilized_is_a_matter_of_energy_from_6_12() {
    let over = |profile: &str, energy_aware, util| {
        let board = Placement { energy_aware, ..board(profile, [util, 0, 0, 0, 0, 0], 0, 5) };
        board.cpu_overutilized(&policy(profile), 0)
    };
    for profile in ["5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        assert!(over(profile, 1, 357) && !over(profile, 1, 356), "{profile}: 357 * 1280 = 456,960, 356: 455,680");
        assert_eq!(over(profile, 0, 400), ["5.4", "5.10", "6.6", "6.8"].contains(&profile), "{profile}");
    }
}

/// 6.12 update_misfit_status asks for max_allowed_capacity, 5.10.262 for one allowed CPU, 5.4 for neither.
#[test]
fn misfit_spares_pinned_tasks_from_5_10_and_those_on_the_biggest_from_6_12() {
    let rows = [
        ("4.19", 0),
        ("5.4", 1),
        ("5.10", 2),
        ("5.15", 2),
        ("6.1", 2),
        ("6.6", 2),
        ("6.8", 2),
        ("6.12", 3),
        ("6.18", 3),
        ("7.2", 3),
    ];
    for (profile, form) in rows {
        assert_eq!(policy(profile).misfit, form, "{profile}");
    }
}

pub(super) fn searched(profile: &str, change: impl Fn(&mut Placement)) -> (u32, &'static str) {
    let mut board = board(profile, [0; 6], 100, 0);
    board.overutilized = 1;
    change(&mut board);
    let mut placed = Placed::default();
    (board.select(&policy(profile), &mut placed), placed.how())
}

pub(super) fn busy(cpu: &mut PlaceCpu, idle_tasks: u32) {
    (cpu.curr_idle, cpu.nr_running, cpu.h_nr_queued, cpu.h_nr_runnable) = (0, 1, 1, 1);
    cpu.h_nr_idle = idle_tasks;
}

/// 7.2 choose_sched_idle_rq: a task of SCHED_IDLE does not push others of its kind aside; 5.10 to 6.18 sched_idle_cpu.
#[test]
fn sched_idle_cpu_is_idle_for_others_and_in_7_2_not_for_its_own_kind() {
    for (profile, at_once) in [
        ("5.10", true),
        ("5.15", true),
        ("6.1", true),
        ("6.6", true),
        ("6.8", true),
        ("6.12", true),
        ("6.18", true),
        ("7.2", false),
    ] {
        let (cpu, how) = searched(profile, |board| {
            board.task.sched_idle = 1;
            busy(&mut board.cpus[0], 1);
        });
        assert_eq!((cpu == 0, how == "target is idle"), (at_once, at_once), "{profile}");
        let normal = searched(profile, |board| busy(&mut board.cpus[0], 1));
        assert_eq!(normal, (0, "target is idle"), "{profile}");
    }
}

/// Without unequal CPUs: 5.10 select_idle_cpu starts at the target and stops by time, 6.1 after it and by utilization,
/// 6.12 looks at the cluster first.
#[test]
fn idle_search_starts_after_the_target_from_6_1_and_in_its_cluster_from_6_12() {
    let symmetric = |board: &mut Placement| {
        (board.asymmetric, board.energy_aware, board.clusters) = (0, 0, 1);
        board.cpus[..6].iter_mut().for_each(|c| c.asym_domain = NO_DOMAIN);
        board.avg_idle_ns = 1_000_000;
        // The waker's CPU, the previous one and all of the little cluster but CPU 2 are busy.
        [0, 1, 3].into_iter().for_each(|at| busy(&mut board.cpus[at], 0));
        (board.this_cpu, board.prev_cpu, board.task.cpu, board.task.recent_cpu) = (3, 3, 3, 3);
    };
    assert_eq!(searched("5.10", symmetric), (4, "cache scan"));
    assert_eq!(searched("5.15", symmetric), (4, "cache scan"));
    assert_eq!(searched("6.1", symmetric), (4, "cache scan"));
    assert_eq!(searched("6.6", symmetric), (4, "cache scan"));
    for profile in ["6.8", "6.12", "6.18", "7.2"] {
        assert_eq!(searched(profile, symmetric), (2, "cache scan"), "{profile}");
    }
    let limited = |board: &mut Placement| {
        symmetric(board);
        board.cpus[3].nr_idle_scan_llc = 0;
        board.avg_idle_ns = 0;
    };
    // 5.10 looks at 4 - 1 CPUs from the target: 3, 4, 5. Later ones look at none.
    assert_eq!(searched("5.10", limited), (4, "cache scan"));
    assert_eq!(searched("6.1", limited), (3, "nothing idle"));
    assert_eq!(searched("7.2", limited), (3, "nothing idle"));
}

/// Equal CPUs, of which all but 2, 4 and 5 are busy; the task wakes on CPU 3, where it was.
pub(super) fn equal(board: &mut Placement) {
    (board.asymmetric, board.energy_aware, board.clusters) = (0, 0, 0);
    board.cpus[..6].iter_mut().for_each(|c| c.asym_domain = NO_DOMAIN);
    [0, 1, 3].into_iter().for_each(|at| busy(&mut board.cpus[at], 0));
    (board.this_cpu, board.prev_cpu, board.task.cpu, board.task.recent_cpu) = (3, 3, 3, 3);
}

pub(super) fn told(profile: &str, change: impl Fn(&mut Placement)) -> Placed {
    let mut board = board(profile, [0; 6], 100, 0);
    board.overutilized = 1;
    change(&mut board);
    // Values that an earlier decision left behind are not taken for this one's.
    let mut placed = Placed { weighed: 1, scan_rule: 1, scan_seen: 99, dst_why: 5, dst_level: 1, ..Placed::default() };
    board.select(&policy(profile), &mut placed);
    placed
}

/// From 6.1 on the search looks at as many CPUs as utilization leaves, behind the target; in 7.2 at none of them twice.
#[test]
fn a_search_that_utilization_limits_says_how_far_it_went() {
    let seen = |profile: &str, limit: u32| {
        let placed = told(profile, |board| {
            equal(board);
            board.cpus[4..6].iter_mut().for_each(|c| busy(c, 0));
            board.cpus[3].nr_idle_scan_llc = limit;
        });
        assert!(placed.has_scanned() && !placed.scans_in_proportion() && placed.target == 3, "{profile}");
        assert_eq!(placed.nr_idle_scan(&PlaceCpu { nr_idle_scan_llc: 7, ..PlaceCpu::default() }), Some(7), "{profile}");
        assert_eq!((placed.scan_timed, placed.effective_loads()), (NO_LIMIT, None), "{profile}");
        (SCAN[placed.scan_rule as usize], placed.scan_limit(), placed.scan_seen, placed.cpu)
    };
    let by_util = "SIS_UTIL";
    for profile in ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        // Behind CPU 3 are 4, 5, 0, 1 and 2, of which the last one is idle.
        assert_eq!(seen(profile, 5), (by_util, Some(5), 5, 2), "{profile}");
        assert_eq!(seen(profile, 4), (by_util, Some(4), 4, 3), "{profile}");
        assert_eq!(seen(profile, 0), (by_util, Some(0), 0, 3), "{profile}");
    }
    let none = told("7.2", |board| {
        equal(board);
        board.cpus[3].nr_idle_scan_llc = NO_LIMIT;
    });
    assert_eq!((SCAN[none.scan_rule as usize], none.scan_limit(), none.scan_seen), ("no limit", None, 1));
}

/// 4.16 to 5.10 look at W * idle / 512 / (cost + 1) - 1 CPUs, the target among them, and at 3 when that is less than 4.
/// A pass that is cut short does not count for the mean cost of searches; 4.12 looks at all.
#[test]
fn a_search_that_time_limits_says_how_far_it_went() {
    let seen = |profile: &str, idle_ns: u64, cost_ns: u64| {
        let placed = told(profile, |board| {
            equal(board);
            board.cpus[4..6].iter_mut().for_each(|c| busy(c, 0));
            (board.avg_idle_ns, board.avg_scan_cost_ns) = (idle_ns, cost_ns);
        });
        assert_eq!(placed.scans_in_proportion(), profile != "4.12", "{profile}");
        (placed.scan_limit(), placed.scan_seen, placed.scan_timed, placed.cpu)
    };
    for profile in ["4.16", "4.19", "5.4", "5.10"] {
        // 6 * (512,000 / 512) / (999 + 1) = 6: the sixth CPU from 3 on, which is idle, is not looked at.
        assert_eq!(seen(profile, 512_000, 999), (Some(5), 5, NO_LIMIT, 3), "{profile}");
        // 6 * 2,000 / 1,000 = 12.
        assert_eq!(seen(profile, 1_024_000, 999), (Some(11), 6, 6, 2), "{profile}");
        assert_eq!(seen(profile, 512, 999), (Some(3), 3, NO_LIMIT, 3), "{profile}");
    }
    assert_eq!(seen("4.12", 512, 999), (None, 6, 6, 2));
}

/// 4.12 to 5.4 divide the signed difference by 8, 5.10 update_avg the same: towards 0, where a shift would go below.
#[test]
fn the_mean_cost_of_searches_takes_over_an_eighth() {
    let cases = [(0, 1600, 200), (200, 1600, 375), (200, 0, 175), (8, 0, 7), (7, 0, 7), (1, 9, 2), (1, 8, 1)];
    for (mean, ns, then) in cases {
        assert_eq!(update_scan_cost(mean, ns), then, "{ns} ns after a mean of {mean}");
    }
}

/// Loads of 1000 here and 3000 on the previous CPU, 500 of the task, 446 of capacity, a margin of 108 %.
#[test]
fn wake_affine_keeps_the_loads_that_it_compared() {
    let loads = |profile: &str, sync: u32, waker: u64| {
        let placed = told(profile, |board| {
            equal(board);
            board.cpus[..6].iter_mut().for_each(|c| busy(c, 0));
            (board.this_cpu, board.flags) = (1, wf::TTWU | sync);
            (board.cpus[1].load, board.cpus[3].load, board.cpus[1].nr_running) = (1000, 3000, 2);
            (board.cpus[1].h_nr_queued, board.cpus[1].h_nr_runnable) = (2, 2);
            board.task.se.avg.load_avg = 500;
            (board.task.queue_load, board.task.queue_h_load) = (1023, 1024);
            (board.waker.load, board.waker.queue_load, board.waker.queue_h_load) = (waker, 1023, 1024);
        });
        assert_eq!((placed.affine_by(), placed.target), (Some("wake_affine_weight"), 1), "{profile}");
        (WEIGHED[placed.weighed as usize], placed.effective_loads())
    };
    for profile in ["4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        // 1500 * 100 * 446 and 2500 * 108 * 446, one more where what is even goes to this CPU.
        let even = i64::from(profile == "4.16");
        assert_eq!(loads(profile, 0, 200), ("loads", Some([66_900_000, 120_420_000 + even])), "{profile}");
        // Less the waker, which is about to sleep.
        assert_eq!(loads(profile, wf::SYNC, 200), ("loads", Some([57_980_000, 120_420_001])), "{profile}");
        assert_eq!(loads(profile, wf::SYNC, 1001), ("the waker's load goes with it", None), "{profile}");
    }
    // 4.12 does not take the task off the previous CPU: 3000 * 108 * 446.
    assert_eq!(loads("4.12", 0, 200), ("loads", Some([66_900_000, 144_504_000])));
    let idle = told("7.2", |board| {
        equal(board);
        board.this_cpu = 4;
    });
    assert_eq!((idle.affine_by(), idle.effective_loads(), idle.target), (Some("wake_affine_idle"), None, 4));
    let same = told("7.2", equal);
    assert_eq!((same.affine_by(), same.effective_loads(), same.target), (None, None, 3));
}

/// Two groups of the board: four little CPUs with three tasks, two idle big ones.
#[test]
fn a_search_through_groups_is_told_step_by_step() {
    let steps = |profile: &str, flags: u32| {
        let mut board = board(profile, [300, 300, 300, 0, 0, 0], 0, 0);
        (board.flags, board.task.allowed) = (flags, 0b11_1111);
        board.cpus[..6].iter_mut().for_each(|c| c.idle_stamp_ns = 1);
        for c in &mut board.cpus[..3] {
            busy(c, 0);
            (c.load, c.load_avg) = (1024, 1024);
        }
        let (policy, record) = (policy(profile), Record::Narrow(Box::new(board)));
        let mut placed = Placed::default();
        record.select(&policy, &mut placed);
        let mut steps = Vec::new();
        record.search_again(&policy, &placed, |at, walk, again| {
            let groups = record.groups_compared(&policy, again, at);
            // The groups are those that the decision kept: its last step's are the last of these.
            assert_eq!(groups.iter().find(|g| g.cpus == again.local.cpus), Some(&again.local), "{profile}");
            let shown = groups.iter().map(|g| (g.cpus, g.idle_cpus, g.r#type)).collect::<Vec<_>>();
            steps.push((at, walk.group, DST_WHY[again.dst_why as usize], shown, walk.result));
        });
        assert_eq!(steps.last().map(|step| step.4), Some(placed.cpu), "{profile}: the same search");
        steps
    };
    for profile in ["5.10", "5.15", "6.1", "6.12", "7.2"] {
        for flags in [wf::FORK, wf::EXEC] {
            let told = steps(profile, flags);
            let (at, group, why, groups, _) = &told[0];
            assert_eq!((*at, *group, *why), ((0, 1), 0b11_0000, "idle CPUs"), "{profile}");
            assert_eq!(*groups, [(0b1111, 1, 0), (0b11_0000, 2, 0)], "{profile}: has spare");
            assert_eq!(
                (told[1].1, told[1].2),
                (0, "idle CPUs"),
                "{profile}: it stays on the CPU in the smaller domain"
            );
        }
    }
    // To 5.4 the load of those that run decides: 3072 * 1024 / 1784 against nothing.
    let told = steps("4.19", wf::FORK);
    assert_eq!((told[0].1, told[0].2), (0b11_0000, "load"));
    // With a program that is to be loaded, room: 446 here, 1024 there.
    assert_eq!((steps("4.19", wf::EXEC)[0].1, steps("4.19", wf::EXEC)[0].2), (0b11_0000, "room"));
    // No search, no steps.
    let (policy, mut none) = (policy("7.2"), 0);
    let record = Record::Narrow(Box::new(board("7.2", [0; 6], 100, 0)));
    let mut placed = Placed::default();
    record.select(&policy, &mut placed);
    record.search_again(&policy, &placed, |_, _, _| none += 1);
    assert_eq!((none, placed.has_compared()), (0, false));
}

/// 6.12 select_idle_capacity on CPUs of (446, 446), (446, 440), (1024, 700): 5.10 the first that fits, else the
/// biggest.
#[test]
fn capacity_search_ranks_a_lost_floor_before_no_fit_from_6_1() {
    let three = |util: u64, min: u32, actual: [u32; 3]| {
        move |board: &mut Placement| {
            board.task.se.avg.util_avg = util;
            board.task.allowed = 0b1_0011;
            (board.uclamp_used, board.task.uclamp_min) = (1, min);
            board.cpus[1].capacity = 440;
            board.cpus[4].capacity = 700;
            for (at, actual) in [0, 1, 4].into_iter().zip(actual) {
                let lost = board.cpus[at].state.cap_orig - actual;
                (board.cpus[at].hw_pressure, board.cpus[at].cpufreq_pressure) = (lost, lost);
            }
        }
    };
    for profile in ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        // 650 * 1280 = 832,000 fits none, 700 * 1024 = 716,800: the largest capacity.
        assert_eq!(searched(profile, three(650, 0, [446, 446, 1024])), (4, "capacity scan"), "{profile}");
        // A floor of 800 is lost on all: the largest actual capacity.
        assert_eq!(searched(profile, three(100, 800, [446, 400, 760])), (4, "capacity scan"), "{profile}");
    }
    // 5.10 on the biggest CPU does not ask for the floor (capacity_orig == 1024).
    assert_eq!(searched("5.10", three(100, 800, [446, 400, 760])).0, 4);
    assert_eq!(searched("5.15", three(100, 800, [446, 400, 760])).0, 4);
    // 7.2 looks at no CPU when the utilization leaves none.
    let none = |board: &mut Placement| {
        busy(&mut board.cpus[0], 0);
        board.cpus[0].nr_idle_scan_asym = 0;
    };
    assert_eq!(searched("7.2", none), (0, "capacity scan found none"));
    assert_eq!(searched("6.18", none), (1, "capacity scan"));
}

/// 7.2 group_classify gets no over-utilized CPUs here, so no group is overloaded while energy decides (and only then);
/// 5.10.262 to 6.18 group_is_overloaded.
#[test]
fn dst_group_of_7_2_is_never_overloaded_while_energy_decides() {
    // Little: 10 tasks on 4 CPUs, capacity 1784 * 100 < 1600 * 117. Big: 3 on 2, full but below: 2048 * 100 > 1740 *
    // 117.
    let loaded = |profile: &str, energy_aware| {
        let mut board = board(profile, [400, 400, 400, 400, 870, 870], 0, 0);
        board.flags = wf::FORK;
        board.energy_aware = energy_aware;
        for (at, c) in board.cpus[..6].iter_mut().enumerate() {
            busy(c, 0);
            c.nr_running = if at < 4 { 3 } else { 2 };
            (c.h_nr_queued, c.h_nr_runnable, c.load) = (c.nr_running, c.nr_running, 10_000);
            c.state.runnable_cfs = c.state.util_cfs;
        }
        board.cpus[5].load = 1;
        board.select(&policy(profile), &mut Placed::default())
    };
    for profile in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18"] {
        assert_eq!(loaded(profile, 1), 5, "{profile}");
    }
    assert_eq!(loaded("7.2", 0), 5);
    let mut placed = Placed::default();
    let mut seen = board("7.2", [400, 400, 400, 400, 870, 870], 0, 0);
    seen.flags = wf::FORK;
    seen.cpus[..6].iter_mut().for_each(|c| {
        busy(c, 0);
        (c.nr_running, c.load) = (3, 10_000);
    });
    seen.select(&policy("7.2"), &mut placed);
    // Types: 1 fully busy, 4 overloaded.
    assert_ne!(placed.local.r#type, 4);
}

/// 7.2, stable 5.10, 6.1 and 6.12 update_sg_wakeup_stats: only CPUs that the task may use; 6.6 and 6.18 all of the
/// group.
#[test]
fn dst_group_cpus_are_those_the_task_may_use_in_7_2() {
    // Of all CPUs one of the little and two of the big ones are idle, of those it may use one of each: it stays.
    let placed = |profile: &str| {
        let mut board = board(profile, [0; 6], 0, 0);
        (board.flags, board.task.allowed) = (wf::FORK, 0b01_0001);
        board.cpus[1..4].iter_mut().for_each(|c| busy(c, 0));
        board.cpus[4].idle_stamp_ns = 1;
        board.select(&policy(profile), &mut Placed::default())
    };
    for (profile, cpu) in
        [("5.10", 0), ("5.15", 0), ("6.1", 0), ("6.6", 4), ("6.8", 4), ("6.12", 0), ("6.18", 4), ("7.2", 0)]
    {
        assert_eq!(placed(profile), cpu, "{profile}");
    }
}

/// 5.4 em_create_pd: highest frequency * mW / frequency; 5.10.262 em_scale_power: times 1000; 6.1.192 the power is in
/// uW.
#[test]
fn energy_model_of_older_releases_chooses_by_frequency() {
    // See crates/core/src/energy.rs: 210 mW at 1.4 GHz, 40 mW at 500 MHz.
    let cost = |profile: &str| {
        let opps = [(500_000, 40_000), (1_400_000, 210_000)];
        pelton_core::EnergyModel::of_release(&policy(profile), &opps, 446).states()[0].cost
    };
    assert_eq!(
        [cost("5.4"), cost("5.10"), cost("5.15"), cost("6.1"), cost("6.6"), cost("6.8")],
        [112, 112_000, 112_000, 112_000, 112_000, 112_000]
    );
    // 446 * 500 / 1400 = 159; 10 * 40,000 / 159 = 2515.
    assert_eq!([cost("6.12"), cost("6.18"), cost("7.2")], [2515, 2515, 2515]);
}

/// em_cpu_energy: 6.6 adds the quarter to max_util (map_util_perf) and looks for a state; in 6.8 eenv_pd_max_util has
/// it already (sugov_effective_cpu_perf), and the same state is found.
#[test]
fn the_quarter_is_added_once_where_energy_is_estimated() {
    let energies = |profile: &str| {
        let mut board = board(profile, [0, 0, 0, 0, 100, 0], 150, 0);
        board.task.allowed = 0b01_0001;
        for at in 0..4 {
            (board.states[at].freq_khz, board.states[at].cost) = BIG_MW[at];
            (board.states[4 + at].freq_khz, board.states[4 + at].cost) = LITTLE_MW[at];
        }
        let mut placed = Placed::default();
        board.select(&policy(profile), &mut placed);
        placed.energies().iter().map(|e| (e.cpu, e.max_util, e.energy)).collect::<Vec<_>>()
    };
    let (old, new) = (energies("6.6"), energies("6.8"));
    assert!(!old.is_empty() && old.len() == new.len());
    for (old, new) in old.into_iter().zip(new) {
        assert_eq!((old.0, old.1 + old.1 / 4, old.2), new);
    }
}

/// 7.2 update_idle_cpu_scan: 8 CPUs of 117 %: x = 256: 256^2 * 117^2 / 10,240,000 = 87, (1024 - 87) * 8 / 1024 = 7.
#[test]
fn a_scan_shrinks_as_utilization_grows() {
    let eight = [0, 2048, 4096, 6144, 7000].map(|sum| pelton_core::nr_idle_scan(sum, 8, 117));
    assert_eq!(eight, [8, 7, 5, 1, 0]);
    let others = [(13_000, 16, 117), (600, 4, 117), (1000, 2, 110)];
    assert_eq!(others.map(|(sum, weight, pct)| pelton_core::nr_idle_scan(sum, weight, pct)), [2, 3, 1]);
}
