// SPDX-License-Identifier: GPL-2.0-or-later
//! Placement of fair tasks where a term decides that most boards do not have: ranks of idle CPUs, clamps, equal groups.

use super::select::{board, busy, equal, policy, searched, told};
use pelton_core::{
    DST_WHY, NO_CPU, NO_DOMAIN, NO_GROUP, NO_IDLE_STATE, PLACE_STATES_MAX, PerfDomain, PlaceCpu, PlaceEnergy, Placed,
    Placement, Policy, Record, SchedDomain, profiles, sd, value, wf,
};

/// UTIL_AVG_UNCHANGED of util_est.
const MARK: u32 = 0x8000_0000;
const FROM_6_1: [&str; 6] = ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

/// A waker that asks for its own CPU (WF_CURRENT_CPU) gets it, from 6.6 on and before energy is asked.
#[test]
fn a_waker_that_asks_for_its_own_cpu_gets_it() {
    for profile in ["6.6", "6.8", "6.12", "6.18", "7.2"] {
        let mut board = board(profile, [0; 6], 100, 0);
        (board.flags, board.this_cpu) = (wf::TTWU | wf::CURRENT_CPU, 3);
        let mut placed = Placed::default();
        assert_eq!(board.select(&policy(profile), &mut placed), 3, "{profile}");
        assert_eq!((placed.cpu, placed.how()), (3, "waker's CPU was asked for"), "{profile}");
        board.task.allowed = 0b11_0111;
        board.select(&policy(profile), &mut placed);
        assert_eq!(placed.how(), "energy", "{profile}: it may not use that one");
    }
}

/// sched_compute_energy_tp: busy_time without the task, and with it; the board of the test of all comparisons.
#[test]
fn the_time_that_is_priced_is_kept_with_each_comparison() {
    let mut placed = Placed::default();
    board("7.2", [300, 300, 300, 300, 200, 150], 40, 0).select(&policy("7.2"), &mut placed);
    let busy: Vec<_> = placed.energies().iter().map(|e| e.busy).collect();
    assert_eq!(busy, [350, 390, 1200, 1240]);
}

/// em_cpu_energy(): `if (!sum_util) return 0`.
#[test]
fn cpus_without_utilization_need_no_energy() {
    for profile in ["5.10", "5.15"] {
        let mut placed = Placed::default();
        board(profile, [0; 6], 100, 4).select(&policy(profile), &mut placed);
        let idle: Vec<_> = placed.energies().iter().filter(|e| e.busy == 0).map(|e| e.energy).collect();
        assert!(!idle.is_empty() && idle.iter().all(|&energy| energy == 0), "{profile}: {idle:?}");
    }
}

/// find_energy_efficient_cpu(): `util_min = max(rq_util_min, p_util_min)`: beside tasks with a floor of 600 the task's
/// own floor of 0 does not count, and a little CPU of 446 does not keep it.
#[test]
fn a_floor_of_other_tasks_is_a_floor_for_the_cpu() {
    for profile in ["6.12", "6.18", "7.2"] {
        for (floor, cpu) in [(0, 0), (350, 0), (600, 4)] {
            let mut board = board(profile, [0; 6], 100, 4);
            board.uclamp_used = 1;
            board.cpus[..4].iter_mut().for_each(|cpu| cpu.state.uclamp_min = floor);
            assert_eq!(board.select(&policy(profile), &mut Placed::default()), cpu, "{profile}: {floor}");
        }
    }
}

/// A task of 300 that is capped to 100, where clamps add up.
fn capped(uclamp: u32, on_rq: u32) -> (Policy, Placement, Placed) {
    let policy = Policy { uclamp, ..policy("6.12") };
    let mut board = board("6.12", [0; 6], 0, 0);
    (board.uclamp_used, board.task.uclamp_max, board.task.on_rq) = (1, 100, on_rq);
    (board.task.se.avg.util_avg, board.task.se.avg.util_est_enqueued) = (300, 0);
    let placed = Placed { se: board.task.se, ..Placed::default() };
    (policy, board, placed)
}

/// Posting of clamps that add up, v2, util_cfs with the bias of what wakes: a sleeper counts as it is, 300 of 400,
/// until it wakes here, 100 of 200; a queued one is counted clamped already. Other CPUs have none of it.
#[test]
fn a_sleeper_is_clamped_on_the_cpu_where_it_sleeps() {
    let (policy, mut board, placed) = capped(value::UCLAMP_BIAS, 0);
    (board.cpus[0].util_clamped, board.cpus[1].util_clamped) = (400, 50);
    let util = |board: &Placement, cpu, dst| board.util_clamped(&policy, &placed, cpu, dst, false);
    assert_eq!([0, NO_CPU].map(|dst| util(&board, 0, dst)), [200, 100]);
    assert_eq!([1, NO_CPU].map(|dst| util(&board, 1, dst)), [150, 50]);
    let (_, mut queued, _) = capped(value::UCLAMP_BIAS, 1);
    (queued.cpus[0].util_clamped, queued.cpus[1].util_clamped) = (400, 50);
    assert_eq!([0, NO_CPU].map(|dst| util(&queued, 0, dst)), [400, 300]);
}

/// Limited groups count in the same way: 500 less 200 of a queued task.
#[test]
fn a_limited_estimate_loses_a_queued_task_only() {
    for (on_rq, left) in [(0, 500), (1, 300)] {
        let (policy, mut board, _) = capped(value::UCLAMP_GROUP_THROTTLE, on_rq);
        (board.groups_limited, board.task.throttle, board.task.uclamp_max) = (1, NO_GROUP, 1024);
        (board.task.se.avg.util_avg, board.task.se.avg.util_est_enqueued) = (0, 200 | MARK);
        let placed = Placed { se: board.task.se, ..Placed::default() };
        board.cpus[4].est_clamped = 500;
        board.cpus[5].est_clamped = 500;
        board.task.cpu = 4;
        board.cpus[4].curr_is_task = 0;
        let util = |cpu, dst| board.util_with_task_on(&policy, &placed, cpu, dst, false);
        assert_eq!((util(4, 5), util(4, NO_CPU), util(5, 5)), (left, left, 700), "queued {on_rq}");
    }
}

/// cpu_util_uclamp(): waiting tasks raise what is clamped as they raise what is not: with the task 150 of 100 and 480
/// of 400, as in the test without clamps, and a quarter more.
#[test]
fn waiting_tasks_raise_clamped_utilization_where_energy_is_asked() {
    let (policy, _, _) = capped(value::UCLAMP_BIAS, 0);
    let mut board = board("6.12", [0, 0, 0, 0, 100, 0], 50, 0);
    board.cpus[4].state.runnable_cfs = 400;
    (board.uclamp_used, board.task.allowed, board.task.se.avg.runnable_avg) = (1, 0b01_0001, 80);
    board.cpus[..6].iter_mut().for_each(|cpu| cpu.util_clamped = cpu.state.util_cfs);
    let mut placed = Placed::default();
    board.select(&policy, &mut placed);
    let asks = placed.energies().iter().find(|e| e.cpu == 4).map(|e| e.max_util);
    assert_eq!(asks, Some(480 * 5 / 4));
}

/// 4.12 wake_affine() of a waker that sleeps: its effective_load() on the previous CPU is -500 of groups: (3000 - 500)
/// * 108 * 446; here (1000 - 200 + 500) * 100 * 446.
#[test]
fn what_a_sleeping_waker_changes_on_the_previous_cpu_counts_in_4_12() {
    let loads = |shift_there| {
        let placed = told("4.12", |board| {
            equal(board);
            board.cpus[..6].iter_mut().for_each(|c| busy(c, 0));
            (board.this_cpu, board.flags) = (1, wf::TTWU | wf::SYNC);
            (board.cpus[1].load, board.cpus[3].load) = (1000, 3000);
            (board.task.se.avg.load_avg, board.waker.load, board.waker.shift_there) = (500, 200, shift_there);
        });
        placed.effective_loads()
    };
    assert_eq!(loads(0), Some([57_980_000, 144_504_000]));
    assert_eq!(loads(-500), Some([57_980_000, 120_420_000]));
}

/// task_h_load(): load_avg * h_load / (cfs_rq_load_avg + 1): 1000 * 1024 / 1024 = 1000 of the waker, 500 of the task:
/// (3000 - 1000 + 500) * 100 * 446.
#[test]
fn a_part_of_a_queue_is_taken_of_one_more_than_its_load() {
    for profile in FROM_6_1 {
        let placed = told(profile, |board| {
            equal(board);
            board.cpus[..6].iter_mut().for_each(|c| busy(c, 0));
            (board.this_cpu, board.flags) = (1, wf::TTWU | wf::SYNC);
            (board.cpus[1].load, board.cpus[3].load, board.cpus[1].nr_running) = (3000, 3000, 2);
            (board.cpus[1].h_nr_queued, board.cpus[1].h_nr_runnable) = (2, 2);
            board.task.se.avg.load_avg = 500;
            (board.task.queue_load, board.task.queue_h_load) = (1023, 1024);
            (board.waker.load, board.waker.queue_load, board.waker.queue_h_load) = (1000, 1023, 1024);
        });
        assert_eq!(placed.effective_loads().map(|loads| loads[0]), Some(111_500_000), "{profile}");
    }
}

/// Loads of an earlier decision are not those of one that compares none.
#[test]
fn loads_that_were_not_compared_are_zero() {
    let mut board = board("7.2", [0; 6], 100, 0);
    equal(&mut board);
    let mut placed = Placed { this_eff: 7, prev_eff: 8, weighed: 1, ..Placed::default() };
    board.select(&policy("7.2"), &mut placed);
    assert_eq!((placed.this_eff, placed.prev_eff, placed.weighed), (0, 0, 0));
}

/// Cores of two threads, (0, 1), (2, 3) and (4, 5).
fn threads(board: &mut Placement) {
    board.smt = 1;
    board.cpus[..6].iter_mut().enumerate().for_each(|(at, cpu)| cpu.threads = 0b11 << (at / 2 * 2));
}

/// asym_fits_cpu(): in 7.2 also `is_core_idle()`; to 6.18 an idle thread whose CPU is large enough will do.
#[test]
fn an_idle_thread_of_a_busy_core_is_taken_to_6_18() {
    for profile in ["6.1", "6.6", "6.12", "6.18"] {
        let beside = |board: &mut Placement| {
            threads(board);
            busy(&mut board.cpus[1], 0);
        };
        assert_eq!(searched(profile, beside), (0, "target is idle"), "{profile}");
        let (_, how) = searched("7.2", beside);
        assert_ne!(how, "target is idle");
    }
}

/// 7.2 select_idle_capacity(), util 900 fits no CPU: with an idle core known (`prefers_idle_core`) a CPU of an idle
/// core comes before a larger one whose core is busy, and the scan looks at all of them.
#[test]
fn where_nothing_fits_a_whole_core_comes_before_a_larger_cpu() {
    for target in [0, 4] {
        let placed = told("7.2", |board| {
            threads(board);
            busy(&mut board.cpus[5], 0);
            board.cpus[..6].iter_mut().for_each(|cpu| cpu.has_idle_cores = 1);
            (board.this_cpu, board.prev_cpu, board.task.cpu, board.task.recent_cpu) = (target, target, target, target);
            board.task.se.avg.util_avg = 900;
        });
        assert_eq!((placed.cpu, placed.how(), placed.scan_seen), (0, "capacity scan", 6), "from {target}");
    }
}

/// 7.2 select_idle_capacity() without a known idle core: the first CPU that fits, whatever its other thread does.
#[test]
fn without_an_idle_core_the_first_cpu_that_fits_is_taken() {
    let placed = told("7.2", |board| {
        threads(board);
        [0, 1, 3].into_iter().for_each(|at| busy(&mut board.cpus[at], 0));
    });
    assert_eq!((placed.cpu, placed.how(), placed.scan_seen), (2, "capacity scan", 3));
}

/// select_idle_cpu(): to 6.18 a task that may use none of target's cache still notes that no core is idle
/// (set_idle_cores(target, false)); 7.2 ends before.
#[test]
fn a_search_among_no_cpus_notes_that_no_core_is_idle_to_6_18() {
    for profile in FROM_6_1 {
        let placed = told(profile, |board| {
            equal(board);
            threads(board);
            for at in 0..6 {
                board.cpus[at].domains[1].span = if at < 4 { 0b1111 } else { 0b11_0000 };
                (board.cpus[at].has_idle_cores, board.cpus[at].llc) = (1, if at < 4 { 0 } else { 4 });
            }
            busy(&mut board.cpus[2], 0);
            board.task.allowed = 0b11_0000;
        });
        let noted = if profile == "7.2" { NO_CPU } else { 3 };
        assert_eq!((placed.cpu, placed.no_idle_core), (3, noted), "{profile}");
    }
}

/// CPUs of 1024, each a group of one domain, whose tasks have these loads and utilizations.
fn row(cpus: &[(u64, u32)]) -> Placement {
    let mut m = Placement { nr_cpus: cpus.len() as u32, flags: wf::FORK, ..Placement::default() };
    (m.task.allowed, m.task.numa_cpu, m.task.uclamp_max) = (u64::MAX, NO_CPU, 1024);
    for (at, &(load, util)) in cpus.iter().enumerate() {
        let mut cpu = PlaceCpu { threads: 1 << at, capacity: 1024, load, load_avg: load, ..PlaceCpu::default() };
        (cpu.exit_latency_ns, cpu.asym_domain, cpu.llc_domain) = (NO_IDLE_STATE, NO_DOMAIN, 0);
        cpu.domains[0] = SchedDomain {
            span: u64::MAX >> (64 - cpus.len()),
            flags: sd::BALANCE_FORK | sd::BALANCE_EXEC,
            imbalance_pct: 117,
            group_capacity: 1024,
            group_max_capacity: 1024,
            ..SchedDomain::default()
        };
        cpu.nr_domains = 1;
        busy(&mut cpu, 0);
        (cpu.state.cap_orig, cpu.state.uclamp_max) = (1024, 1024);
        (cpu.state.util_cfs, cpu.state.runnable_cfs) = (util, util);
        m.cpus[at] = cpu;
    }
    m
}

fn new_task(profile: &str, m: &Placement) -> Placed {
    let mut placed = Placed::default();
    m.select(&policy(profile), &mut placed);
    placed
}

/// find_idlest_group() to 5.4: `min_runnable_load > (this_runnable_load + imbalance)` stays, else `100 * this_avg_load
/// < imbalance_scale * min_avg_load` does: of 100 there 108 are needed here, with runnable loads within 174.
#[test]
fn a_new_task_leaves_from_108_percent_on_to_5_4() {
    for profile in ["4.16", "4.19", "5.4"] {
        for (here, cpu) in [(107, 0), (108, 1)] {
            let mut m = row(&[(0, 0), (0, 0)]);
            (m.cpus[0].load_avg, m.cpus[1].load_avg) = (here, 100);
            assert_eq!(new_task(profile, &m).cpu, cpu, "{profile}: {here}");
        }
    }
}

/// find_idlest_group() to 5.4: `min_runnable_load > (runnable_load + imbalance)`: one that is lower by exactly the
/// margin of 1024 * 17 / 100 = 174 is no idler group, and with more load it is not as good either.
#[test]
fn a_group_is_idler_beyond_the_margin_only_to_5_4() {
    for profile in ["4.16", "4.19", "5.4"] {
        for (first, idlest) in [(174, 1), (175, 2)] {
            let mut m = row(&[(1000, 0), (first, 0), (0, 0)]);
            (m.cpus[1].load_avg, m.cpus[2].load_avg) = (0, 900);
            assert_eq!(new_task(profile, &m).idlest.cpus, 1 << idlest, "{profile}: {first}");
        }
    }
}

/// update_pick_idlest() from 5.10, group_fully_busy: `idlest_sgs->avg_load <= sgs->avg_load` is passed over, so that of
/// equals the first is the idlest; the task leaves for its load: 100 * 2000 is above 117 * 1000.
#[test]
fn of_groups_with_equal_loads_the_first_is_the_idlest() {
    for profile in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let placed = new_task(profile, &row(&[(2000, 1024), (1000, 1024), (1000, 1024)]));
        assert_eq!((placed.cpu, placed.idlest.cpus), (1, 0b10), "{profile}");
        assert_eq!(DST_WHY[placed.dst_why as usize], "load", "{profile}");
        let placed = new_task(profile, &row(&[(2000, 1024), (1000, 1024), (999, 1024)]));
        assert_eq!(placed.cpu, 2, "{profile}");
    }
}

/// update_pick_idlest(), group_imbalanced: `return false`: the first of them stays the best.
#[test]
fn of_imbalanced_groups_the_first_is_the_idlest() {
    for profile in ["5.10", "6.1", "6.12", "7.2"] {
        let mut m = row(&[(2000, 300), (1000, 200), (500, 100)]);
        m.cpus[1..3].iter_mut().for_each(|cpu| cpu.domains[0].group_imbalance = 1);
        // Their own domain says it of the group: that of the level below, which is the CPU alone.
        assert_eq!(new_task(profile, &m).idlest.cpus, 0b10, "{profile}");
    }
}

/// cpu_runnable_without(): the task's own runnable average, 100 of 200, is left out on the CPU where it was, alone.
#[test]
fn runnable_averages_are_those_without_the_task() {
    for profile in ["5.10", "6.1", "6.6", "6.12", "6.18", "7.2"] {
        let mut m = row(&[(0, 200), (0, 130)]);
        m.flags = wf::EXEC;
        m.task.queue_update_ns = 1 << 20;
        (m.task.se.avg.last_update_time_ns, m.task.se.avg.runnable_avg) = (1 << 20, 100);
        let placed = new_task(profile, &m);
        assert_eq!((placed.local.runnable, placed.idlest.runnable), (100, 130), "{profile}");
    }
}

/// 7.2 cpu_overutilized(): a CPU's floor does not count, in 6.12 it does. Nothing runs on a little CPU whose
/// frequency limits leave nothing, so that each floor above 0 is lost; by the rule of 5.10 what loses its floor does
/// not fit.
#[test]
fn a_cpu_is_overutilized_by_no_floor_where_only_its_upper_clamp_counts() {
    for (form, over) in [("clamps_energy", [false, true, true]), ("maximum_energy", [false; 3])] {
        let mut policy = policy("7.2");
        for (name, value) in [("overutilized", form), ("util_fits", "floor")] {
            policy.set(name, value).expect("a value");
        }
        let found = [0, 1, 600].map(|floor| {
            let mut board = board("7.2", [0; 6], 0, 4);
            board.uclamp_used = 1;
            (board.cpus[0].state.uclamp_min, board.cpus[0].cpufreq_pressure) = (floor, 446);
            board.cpu_overutilized(&policy, 0)
        });
        assert_eq!(found, over, "{form}");
    }
}

/// Functions stay inside the record: of a performance domain without states the one row that is sure to be there is
/// that where they would begin, for it may be the last of all. Releases that go by frequencies give the same row.
#[test]
fn a_domain_without_states_is_priced_by_the_row_where_they_would_begin() {
    for profile in profiles() {
        for first in [0, 3, PLACE_STATES_MAX as u32 - 1] {
            let mut board = board(profile, [0; 6], 100, 4);
            (0..).zip(&mut board.states).for_each(|(row, state)| state.cost = 100 + row);
            board.perf_domains[0] = PerfDomain { first_state: first, nr_states: 0, ..board.perf_domains[0] };
            let compared = PlaceEnergy { cpu: 4, max_util: 125, busy: 100, ..PlaceEnergy::default() };
            let priced = Record::Narrow(Box::new(board)).priced(&policy(profile), &compared);
            assert_eq!(priced.cost, 100 + u64::from(first), "{profile}: row {first}");
        }
    }
}

/// find_idlest_cpu(), later sched_balance_find_dst_cpu(): groups of a domain without the flag of the event are not
/// compared. A task that wakes on CPU 3 stays in its cluster, for CPUs 4 and 5 are as good as full, and goes to the
/// idle CPU 2 only where the cluster balances wake-ups, too.
#[test]
fn groups_of_a_domain_without_the_flag_are_not_compared() {
    for profile in profiles() {
        for (flag, cpu) in [(0, 3), (sd::BALANCE_WAKE, 2)] {
            let placed = told(profile, |board| {
                equal(board);
                for (at, util) in [300, 300, 0, 300, 1000, 1000].into_iter().enumerate() {
                    let c = &mut board.cpus[at];
                    (c.state.util_cfs, c.state.runnable_cfs) = (util, util);
                    (c.domains[0].flags, c.domains[1].flags) = (sd::CLUSTER | flag, sd::BALANCE_WAKE);
                }
                board.cpus[4..6].iter_mut().for_each(|c| busy(c, 0));
            });
            assert_eq!((placed.cpu, placed.dst_level), (cpu, 1), "{profile}: {flag:#x}");
        }
    }
}

/// find_energy_efficient_cpu() of 5.4 to 5.15: `prev_delta == ULONG_MAX` moves the task at once: any CPU is better
/// than a previous one that it does not fit, whatever the sixteenth of all would be. 400 * 1280 is more than 446 *
/// 1024. Energy has 64 bits: 2^64 - 1 is 15 more than a multiple of 400.
#[test]
fn a_task_leaves_a_cpu_that_it_does_not_fit_for_the_dearest_one() {
    for profile in ["5.4", "5.10", "5.15"] {
        let mut pol = policy(profile);
        pol.set("energy_model", "performance").expect("a model without a divisor");
        for cost in [1, u64::MAX / 400] {
            let mut board = board("7.2", [0; 6], 400, 0);
            board.states.iter_mut().for_each(|state| state.cost = cost);
            let mut placed = Placed::default();
            board.select(&pol, &mut placed);
            let added: Vec<_> = placed.energies().iter().filter(|e| e.cpu == 4).map(|e| e.energy).collect();
            assert_eq!((placed.cpu, placed.how()), (4, "energy"), "{profile}: {cost}");
            assert_eq!(added, [if cost == 1 { 400 } else { u64::MAX - 15 }], "{profile}");
        }
    }
}
