// SPDX-License-Identifier: GPL-2.0-or-later
//! Queues of the classes where a term decides that most tests do not meet: lag, weights, searches of other classes.

use pelton_core::fair::{
    FairRq, FairSe, FairTunables, calc_delta, entity_eligible, place_entity, reweight_entity_fair,
};
use pelton_core::{
    Avg, ClassCpu, ClassCurr, ClassSearch, ClassTask, Ctx, DlEntity, NO_DEADLINE, Policy, Rq, blocked_due,
};

const MS: u64 = 1_000_000;
/// Weight of nice 0.
const NICE_0: u64 = 1024 << 10;

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

/// 7.2 vruntime_eligible() multiplies in 128 bits: (2^40 - 0) * 2^27 = 2^67, more than 5, though its lower 64 bits are
/// 0; -2^67 is less.
#[test]
fn a_product_beyond_64_bits_makes_nothing_eligible() {
    let rq = FairRq { sum_w_vruntime: 5, sum_weight: 1 << 27, nr_queued: 1, ..FairRq::default() };
    for (vruntime, eligible) in [(1 << 40, 0), (-(1 << 40), 1), (0, 1), (1, 0)] {
        let se = FairSe { vruntime, weight: NICE_0, ..FairSe::default() };
        assert_eq!(entity_eligible(&policy("7.2"), &rq, None, &se), eligible, "{vruntime}");
    }
}

/// 7.2 place_entity(): `if (weight > load) update_zero_vruntime(cfs_rq, -lag)`, with the lag that joining needs: 100 *
/// (W + w) / W.
#[test]
fn the_reference_of_a_queue_follows_an_entity_heavier_than_it() {
    for (weight, lag, zero) in [(2 * NICE_0, 300, -300), (NICE_0, 200, 0), (NICE_0 / 2, 150, 0)] {
        let tunables = FairTunables { base_slice_ns: 3 * MS, tick_ns: 4 * MS, ..FairTunables::default() };
        let mut rq = FairRq { sum_weight: NICE_0 as i64, load_weight: NICE_0, nr_queued: 1, ..FairRq::default() };
        let mut se = FairSe { weight, vlag: 100, ..FairSe::default() };
        place_entity(&policy("7.2"), &tunables, &mut rq, None, &mut se, 0);
        assert_eq!((se.vruntime, rq.zero_vruntime), (-lag, zero), "{weight}");
        // The one that waits at 0 is as far from the reference as before.
        assert_eq!(rq.sum_w_vruntime, -zero * NICE_0 as i64, "{weight}");
    }
}

/// 6.18.17 reweight_entity(): `if (curr && protect_slice(se)) rel_vprot = true`: what is left of 50 is 25 at twice the
/// weight. A protection that is over stays where it was.
#[test]
fn a_protection_that_is_over_is_not_scaled() {
    let mut pol = policy("6.18");
    pol.set("fair_reweight", "anew_protected").expect("a form");
    for (vprot, then) in [(150, 125), (50, 50)] {
        let tunables = FairTunables { base_slice_ns: 3 * MS, tick_ns: 4 * MS, ..FairTunables::default() };
        let mut rq = FairRq { load_weight: NICE_0, nr_queued: 1, ..FairRq::default() };
        let mut se = FairSe { weight: NICE_0, vruntime: 100, deadline: 1000, vprot, on_rq: 1, ..FairSe::default() };
        reweight_entity_fair(&pol, &tunables, &mut rq, None, &mut se, true, (2 * NICE_0, 0));
        assert_eq!((se.vruntime, se.vprot), (100, then), "until {vprot}");
    }
}

/// __calc_delta() to 6.12, a queue of the least weight, 2: fact = 0x18001 * 0x7fffffff = 0xc000_7ffe_7fff, fls(0xc000)
/// is 16: (fact >> 16) = 0xc000_7ffe, then delta * that >> 16.
#[test]
fn a_factor_keeps_its_upper_32_bits() {
    let delta = |ns| calc_delta(&policy("6.12"), ns, 0x18001 << 10, 2 << 10, 0);
    assert_eq!([1 << 15, 1 << 16].map(delta), [0x6000_3fff, 0xc000_7ffe]);
    // Bits that are shifted out are lost: of 0x3fff_ffff_8000 14, and so on to 0x1_ffff_7ffc_0001.
    for (weight, bits) in [(0x8000u64, 14), (0xffff, 15), (0x10000, 15), (0x20000, 16), (0x3ffff, 17)] {
        let fact = (weight * 0x7fff_ffff) >> bits;
        let got = calc_delta(&policy("6.12"), 1000, weight << 10, 2 << 10, 0);
        assert_eq!(got, (1000 * fact) >> (32 - bits), "{weight:#x}");
    }
}

/// __calc_delta() with the inverse of SCHED_IDLE's weight of 3, 0x5555_5555: fact = 3 * 0x18001 * 0x5555_5555 =
/// 0x1_8000_fffe_7fff, fls(0x18000) is 17. (fact >> 17) = 0xc000_7fff; delta * that >> 15.
#[test]
fn of_a_factor_of_17_upper_bits_17_are_lost() {
    for (profile, known) in [("5.10", 0), ("5.10", 0x5555_5555), ("6.12", 0), ("6.12", 0x5555_5555)] {
        let delta = |ns| calc_delta(&policy(profile), ns, (3 * 0x18001) << 10, 3 << 10, known);
        assert_eq!([1, 1 << 15, 1 << 16].map(delta), [0x18000, 0xc000_7fff, 0x1_8000_fffe], "{profile}, {known:#x}");
    }
}

/// replenish_dl_entity(): `if (dl_se->dl_deadline == 0)` takes deadline and runtime from its parameters at once; what
/// it had is gone.
#[test]
fn an_entity_without_a_deadline_of_its_own_starts_anew() {
    let mut dl = DlEntity { dl_runtime_ns: 10, dl_period_ns: 20, ..DlEntity::default() };
    (dl.deadline_ns, dl.runtime_ns) = (100, 5);
    dl.replenish(50);
    assert_eq!((dl.deadline_ns, dl.runtime_ns), (50, 10));
}

/// ___update_load_sum(): `if ((s64)delta < 0)` takes the time and returns 0: nothing is published.
#[test]
fn a_clock_that_goes_back_changes_no_average() {
    let pol = policy("7.2");
    let rq = Rq::new(&pol, 1000 * MS, 1024, 1024);
    let ctx: Ctx<'_> = rq.ctx(&pol, &rq.cfs);
    let mut avg = Avg { last_update_time_ns: 9000 * MS, util_avg: 500, load_avg: 600, ..Avg::default() };
    assert_eq!(avg.accumulate(&ctx, 1, 1, 1), 0);
    assert_eq!((avg.util_avg, avg.load_avg, avg.util_sum), (500, 600, 0));
    assert!(avg.last_update_time_ns < 9000 * MS, "{}", avg.last_update_time_ns);
}

/// 4.16 sched_rt_avg_update() adds delta_exec, the time since the task began: of a CPU that begins at 5 s with a
/// real-time task 10 ms later.
#[test]
fn a_new_cpu_owes_no_time_to_real_time_tasks() {
    let pol = policy("4.16");
    let mut rq = Rq::new(&pol, 5000 * MS, 1024, 1024);
    rq.event_rt(&pol, 5010 * MS, 0, false, true);
    assert_eq!(rq.rt_share.sum, 10 * MS * 1024);
}

fn class_task(prio: u32) -> ClassTask {
    ClassTask { prio, nr_cpus_allowed: 2, nr_cpus: 2, uclamp_max: 1024, ..ClassTask::default() }
}

/// 5.10 dl_task_fits_capacity(): cap_scale(dl_deadline, cap) >= dl_runtime: 1 ms * 512 / 1024 is less than 500.4 us.
/// From 5.15 cap >= dl_density >> 10: (500,400 << 20) / 1,000,000 >> 10 = 512.
#[test]
fn a_reservation_fits_by_its_runtime_in_5_10_and_by_its_density_later() {
    let idle = ClassCurr { deadline_ns: NO_DEADLINE, prio: 0, nr_cpus_allowed: 2 };
    let (dl_runtime_ns, dl_deadline_ns) = (500_400, 1_000_000);
    let dl_density = (dl_runtime_ns << 20) / dl_deadline_ns;
    let task = ClassTask { dl_runtime_ns, dl_deadline_ns, dl_density, asymmetric: 1, ..class_task(0) };
    for (profile, least) in [("5.4", 0), ("5.10", 513), ("5.15", 512), ("6.1", 512), ("6.12", 512), ("7.2", 512)] {
        let looks = |capacity| task.dl_looks(&policy(profile), &idle, capacity);
        assert!(!looks(least), "{profile}");
        assert!(least == 0 || looks(least - 1), "{profile}");
    }
}

/// find_lock_lowest_rq(): `if (lowest_rq->rt.highest_prio.curr <= task->prio)`, asked of the CPU that was found, whose
/// tasks may have changed since.
#[test]
fn a_cpu_that_became_as_strong_is_not_taken() {
    let task = class_task(20);
    let cpus = (0..2).map(|cpu| ClassCpu {
        deadline_ns: NO_DEADLINE,
        cpu,
        allowed: 1,
        prio: 10,
        capacity: 1024,
        ..ClassCpu::default()
    });
    let mut search = ClassSearch::lowest(&policy("7.2"), &task, cpus);
    assert_eq!(search.lowest_rq(&task), Some(0));
    for (prio, found) in [(19, Some(0)), (20, None), (21, None)] {
        (search.fits.at.prio, search.any.at.prio) = (prio, prio);
        assert_eq!(search.lowest_rq(&task), found, "{prio}");
    }
}

/// select_task_rq_rt(): `curr->nr_cpus_allowed < 2 || curr->prio <= p->prio`: a weaker one that may move makes room.
#[test]
fn a_weaker_task_that_may_use_two_cpus_makes_room() {
    for (prio, nr_cpus_allowed, looks) in [(10, 2, false), (10, 1, true), (20, 2, true), (19, 3, false)] {
        let curr = ClassCurr { deadline_ns: NO_DEADLINE, prio, nr_cpus_allowed };
        assert_eq!(class_task(20).rt_looks(&policy("7.2"), &curr, 1024), looks, "{prio} {nr_cpus_allowed}");
    }
}

/// A second between two refreshes is 1000 ticks of 1 ms: time_after(jiffies, last + 1000).
#[test]
fn blocked_load_waits_its_whole_interval() {
    let mut pol = policy("6.12");
    pol.set("blocked_update", "interval").expect("a form");
    pol.set("blocked_update_us", "1000000").expect("a time");
    let due = [999, 1000, 1001].map(|now| blocked_due(&pol, 7 + now, 7, MS, false));
    assert_eq!(due, [false, false, true]);
}
