// SPDX-License-Identifier: GPL-2.0-or-later
//! The fair class: kernel/sched/fair.c of 4.12.0, 4.16.13, 4.19.0, 5.4.0, 5.10.262, 6.1.192, 6.6.0, 6.12.117,
//! 6.18.2, 7.2.12.

use pelton_core::fair::{self, FairRq, FairSe, FairTunables};
use pelton_core::{Policy, value};

const TICK_NS: u64 = 4_000_000;
const CFS: [&str; 7] = ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1"];
const EEVDF: [&str; 5] = ["6.6", "6.8", "6.12", "6.18", "7.2"];

fn policy(release: &str) -> Policy {
    Policy::profile(release).expect("the profile exists")
}

fn tunables(p: &Policy, cpus: u32) -> FairTunables {
    let mut t = FairTunables::default();
    fair::fair_tunables_init(p, &mut t, cpus, TICK_NS);
    t
}

/// A queued entity of nice 0.
fn entity(vruntime: i64) -> FairSe {
    FairSe { weight: 1024 << 10, inv_weight: 4_194_304, vruntime, on_rq: 1, slice_ns: 3_000_000, ..FairSe::default() }
}

fn of_level(level: u32, vruntime: i64) -> FairSe {
    let (weight, inv_weight) = (u64::from(fair::task_weight(level)) << 10, fair::task_inv_weight(level));
    FairSe { weight, inv_weight, ..entity(vruntime) }
}

/// A queue that the entities wait on.
fn queue(p: &Policy, waiting: &[FairSe]) -> FairRq {
    let mut q = FairRq { min_slice_ns: u64::MAX, ..FairRq::default() };
    for se in waiting {
        fair::avg_vruntime_add(p, &mut q, se);
        q.nr_queued += 1;
        q.load_weight += se.weight;
        q.min_slice_ns = q.min_slice_ns.min(se.slice_ns);
        q.max_slice_ns = q.max_slice_ns.max(se.slice_ns);
    }
    q
}

/// __calc_delta: to 6.18, 10 ms of nice 1 (820): factor 1024 * 5237765 = 5363471360, one bit more than 32:
/// 2681735680 >> 31.
/// 10000000 * 2681735680 >> 31 = 12487804. 7.2 on 64 bits: 10000000 * 1048576 / 839680 = 12487804. At nice 19 (15):
/// to 6.18
/// 1024 * 286331153 = 293203100672, seven bits: 2290649224 >> 25; 1000001 * 2290649224 >> 25 = 68266734; 7.2:
/// 1000001 * 1024 / 15 = 68266734 (.9). At nice 12 (70): 61356676 * 1024 = 62829236224, four bits: 3926827264 >> 28;
/// 999999999 * 3926827264 >> 28 = 14628571495; 7.2: 999999999 * 1024 / 70 = 14628571413.
#[test]
fn virtual_time_is_multiplied_to_6_18_and_divided_in_7_2() {
    for release in CFS.iter().chain(&EEVDF) {
        let p = policy(release);
        assert_eq!(fair::vtime(&p, 10_000_000, &of_level(21, 0)), 12_487_804, "{release}");
        let want = if p.virtual_time == value::VIRTUAL_TIME_DIVIDE { 14_628_571_413 } else { 14_628_571_495 };
        assert_eq!(fair::vtime(&p, 999_999_999, &of_level(32, 0)), want, "{release}");
        assert_eq!(fair::vtime(&p, 999_999_999, &entity(0)), 999_999_999, "{release}");
        assert_eq!(*release == "7.2", p.virtual_time == value::VIRTUAL_TIME_DIVIDE);
    }
}

/// sysctl_sched_base_slice: 750000 in 6.6.0, 700000 from 6.12.117; get_update_sysctl_factor: 1 + ilog2(min(cpus, 8)).
/// sysctl_sched_latency 6000000, min_granularity 750000, wakeup_granularity 1000000 in 4.12.0 to 6.1.192.
#[test]
fn the_base_slice_grows_with_the_cpus() {
    for (release, base) in [("6.6", 750_000), ("6.8", 750_000), ("6.12", 700_000), ("6.18", 700_000), ("7.2", 700_000)]
    {
        let slices = [1, 2, 4, 7, 8, 64].map(|cpus| tunables(&policy(release), cpus).base_slice_ns / base);
        assert_eq!(slices, [1, 2, 3, 3, 4, 4], "{release}");
    }
    for release in CFS {
        let t = tunables(&policy(release), 4);
        assert_eq!((t.latency_ns, t.min_granularity_ns, t.wakeup_granularity_ns), (18_000_000, 2_250_000, 3_000_000));
    }
}

/// sched_slice: nine entities of nice 0 on one CPU: 9 * 0.75 = 6.75 ms, a ninth of it: inverse of 9216 is 466033,
/// factor 1024 * 466033, 6750000 * it >> 32 = 749998. 5.10.262 and 6.1.192 (BASE_SLICE): not below 750000.
/// Two entities, and 16 tasks in groups beside them: to 5.4 the period is 6 ms and a half of it is 6000000 * 1024 *
/// 2097151 >> 32 =
/// 2999998; with ALT_PERIOD 16 * 0.75 = 12 ms, a half of it 5999997.
#[test]
fn cfs_slices_are_floored_and_count_all_tasks_from_5_10() {
    for release in CFS {
        let p = policy(release);
        let t = tunables(&p, 1);
        let floored = matches!(release, "5.10" | "5.15" | "6.1");
        let slice = |waiting: &[FairSe], all| {
            let q = queue(&p, waiting);
            let period = fair::slice_period(&p, &t, &q, &waiting[0], all);
            fair::slice_floor(&p, &t, &waiting[0], 0, fair::slice_share(&p, &q, &waiting[0], period))
        };
        assert_eq!(slice(&[entity(0); 9], 9), if floored { 750_000 } else { 749_998 }, "{release}");
        assert_eq!(slice(&[entity(0); 2], 16), if floored { 5_999_997 } else { 2_999_998 }, "{release}");
    }
}

/// place_entity of 4.12.0 to 6.1.192: a sleeper gets half of 6 ms (GENTLE_FAIR_SLEEPERS) but never less than it had;
/// a new
/// entity starts one slice behind (START_DEBIT).
#[test]
fn cfs_places_sleepers_with_credit_and_new_entities_with_debit() {
    for release in CFS {
        let p = policy(release);
        let t = tunables(&p, 1);
        let q = FairRq { zero_vruntime: 100_000_000, ..FairRq::default() };
        let place = |vruntime, initial| {
            let mut se = entity(vruntime);
            fair::place_entity_cfs(&p, &t, &q, &mut se, initial, 2_000_000, 0);
            se.vruntime
        };
        assert_eq!((place(0, 0), place(99_000_000, 0)), (97_000_000, 99_000_000), "{release}");
        assert_eq!((place(0, 1), place(103_000_000, 1)), (102_000_000, 103_000_000), "{release}");
    }
}

/// entity_is_long_sleeper of 5.10.262 and 6.1.192: more than 2^63 / 1024 ns asleep. The entity's own place, which is
/// ahead, is
/// not looked at.
#[test]
fn a_long_sleeper_is_placed_anew_from_5_10() {
    for release in CFS {
        let p = policy(release);
        let mut se = entity(500);
        let q = FairRq::default();
        fair::place_entity_cfs(&p, &tunables(&p, 1), &q, &mut se, 0, 0, (1 << 53) + 1);
        assert_eq!(se.vruntime, if matches!(release, "5.10" | "5.15" | "6.1") { -3_000_000 } else { 500 }, "{release}");
    }
}

/// place_entity and sched_slice of 6.1.192: se_is_idle() entities get min_granularity / 2, and 0.75 ms as shortest
/// slice.
#[test]
fn sched_idle_gets_less_credit_in_6_1() {
    for release in CFS {
        let p = policy(release);
        let t = tunables(&p, 8);
        let mut se = FairSe { idle_policy: 1, ..of_level(40, -1_000_000_000) };
        fair::place_entity_cfs(&p, &t, &FairRq::default(), &mut se, 0, 0, 0);
        assert_eq!(se.vruntime, if release == "6.1" { -1_500_000 } else { -12_000_000 }, "{release}");
        let floor = fair::slice_floor(&p, &t, &se, 0, 1000);
        let want = match release {
            "6.1" => 750_000,
            "5.10" | "5.15" => 3_000_000,
            _ => 1000,
        };
        assert_eq!(floor, want, "{release}");
    }
}

/// wakeup_preempt_entity, wakeup_gran: the granularity is the wakee's virtual time; 1 ms at nice 5 (335) is 3056716 ns:
/// factor 1024 * 12820798 = 13128497152, two bits: 3282124288 >> 30; 1000000 * it >> 30 = 3056716.
#[test]
fn cfs_preempts_beyond_the_granularity_of_the_wakee() {
    for release in CFS {
        let p = policy(release);
        let compare = |ahead| fair::wakeup_preempt_entity(&p, &tunables(&p, 1), &entity(ahead), &of_level(25, 0));
        assert_eq!([0, 1, 3_056_716, 3_056_717].map(compare), [-1, 0, 0, 1], "{release}");
    }
}

/// Place of the first entity of an empty queue: min_vruntime in 6.6.0 and 6.18.2, the last average in 6.12.117 and
/// 7.2.12. The sums are relative to it: an entity at 10 and one at 20 leave, the average having been 15.
#[test]
fn an_empty_queue_remembers_its_minimum_or_its_average() {
    for release in EEVDF {
        let p = policy(release);
        let entities = [entity(10), entity(20)];
        let mut q = queue(&p, &entities);
        fair::update_min_vruntime(&p, &mut q, None, Some(&entities[0]));
        assert_eq!(fair::avg_vruntime(&p, &mut q, None), 15, "{release}");
        for se in &entities {
            fair::avg_vruntime_sub(&p, &mut q, se);
        }
        let average = matches!(release, "6.12" | "7.2");
        assert_eq!(fair::avg_vruntime(&p, &mut q, None), if average { 15 } else { 10 }, "{release}");
    }
}

/// A group of weight 3.5 units beside one of 1: floor of the average of 0 and 9. To 6.18 scale_load_down() leaves 3 and
/// 2 (the least): 9 * 2 / 5 = 3; 7.2 counts the fraction: 9 * 1024 / 4608 = 2.
#[test]
fn fractions_of_weights_count_in_7_2() {
    for release in EEVDF {
        let p = policy(release);
        let group = |weight, vruntime| FairSe { weight, inv_weight: 0, ..entity(vruntime) };
        let mut q = queue(&p, &[group(3584, 0), group(1024, 9)]);
        assert_eq!(fair::avg_vruntime(&p, &mut q, None), if release == "7.2" { 2 } else { 3 }, "{release}");
    }
}

/// update_entity_lag: two entities of 1 ms and 20 ms; the average is 50 ms ahead of one of them. 6.6.0 to 6.18.2: limit
/// max(2 * 1 ms, 4 ms tick) = 4 ms. 7.2.12: the longest slice 20 ms and a tick = 24 ms.
#[test]
fn lag_is_limited_by_the_own_slice_or_the_longest() {
    for release in EEVDF {
        let p = policy(release);
        let mut se = FairSe { slice_ns: 1_000_000, ..entity(0) };
        let other = FairSe { slice_ns: 20_000_000, ..entity(100_000_000) };
        let mut q = queue(&p, &[se, other]);
        fair::leave_entity(&p, &tunables(&p, 1), &mut q, None, &mut se, 1);
        assert_eq!(se.vlag, if release == "7.2" { 24_000_000 } else { 4_000_000 }, "{release}");
    }
}

/// place_entity: lag 1 ms, another of the same weight there: 1 * (1024 + 1024) / 1024 = 2 ms before the average, 10
/// ms. New:
/// half a slice in 6.12.117 and later (ENQUEUE_INITIAL in wake_up_new_task()); 6.6.0 passes no flag there.
#[test]
fn joining_keeps_the_lag_and_a_new_task_gets_half_a_slice_from_6_12() {
    for release in EEVDF {
        let p = policy(release);
        let t = tunables(&p, 1);
        let mut q = queue(&p, &[entity(10_000_000)]);
        let mut se = FairSe { vlag: 1_000_000, on_rq: 0, ..entity(0) };
        fair::place_entity(&p, &t, &mut q, None, &mut se, 0);
        assert_eq!(se.vruntime, 8_000_000, "{release}");
        assert_eq!(se.deadline - se.vruntime, t.base_slice_ns as i64, "{release}");
        let mut new = FairSe { on_rq: 0, ..entity(0) };
        fair::place_entity(&p, &t, &mut queue(&p, &[entity(10_000_000)]), None, &mut new, 1);
        let part = if matches!(release, "6.6" | "6.8") { 1 } else { 2 };
        assert_eq!(new.deadline - new.vruntime, t.base_slice_ns as i64 / part, "{release}");
    }
}

/// se->custom_slice and se->rel_deadline: 6.12.117 and later; 6.6.0 has neither field.
#[test]
fn slices_of_ones_own_and_what_is_left_of_a_request_are_of_6_12() {
    for release in EEVDF {
        let p = policy(release);
        let t = tunables(&p, 1);
        let mut se = FairSe { custom_slice: 1, slice_ns: 100_000, deadline: 130_000, ..entity(100_000) };
        let mut q = queue(&p, &[se]);
        fair::leave_entity(&p, &t, &mut q, None, &mut se, 0);
        se.on_rq = 0;
        fair::place_entity(&p, &t, &mut FairRq { zero_vruntime: 7, ..FairRq::default() }, None, &mut se, 0);
        let left = if matches!(release, "6.6" | "6.8") { 750_000 } else { 30_000 };
        assert_eq!((se.vruntime, se.deadline), (7, 7 + left), "{release}");
        se.vruntime = se.deadline;
        assert_eq!(fair::update_deadline(&p, &t, &mut q, None, &mut se), 1, "{release}");
        assert_eq!(
            se.deadline - se.vruntime,
            if matches!(release, "6.6" | "6.8") { 750_000 } else { 100_000 },
            "{release}"
        );
    }
}

/// update_curr() is its steps in a row, with the policy as it is and where it is compiled in.
#[test]
fn accounting_of_time_is_its_three_steps() {
    let mut gave_way = 0;
    for (release, ran_us) in EEVDF.into_iter().flat_map(|release| (0..40).map(move |i| (release, i * 97))) {
        for (p, others) in [(policy(release), 0), (policy(release), 1), (policy(release), 3)] {
            let (p, t) = (p.prepared(), tunables(&p, 1));
            let mut se = FairSe { deadline: 1_500_000, vprot: 700_000, ..entity(0) };
            let waiting: Vec<FairSe> = (0..others).map(|i| entity(i * 200_000)).collect();
            let mut q = queue(p, &waiting);
            q.nr_queued += 1;
            let (mut apart_se, mut apart_q) = (se, q);
            fair::update_curr(p, &mut apart_se, ran_us * 1_000);
            let curr = apart_se;
            let renewed = fair::update_deadline(p, &t, &mut apart_q, Some(&curr), &mut apart_se);
            let apart = fair::curr_gives_way(p, &apart_q, &apart_se, renewed) != 0;
            let gives_way = fair::update_curr_eevdf(p, &t, &mut q, &mut se, ran_us * 1_000);
            assert_eq!((gives_way, se, q), (apart, apart_se, apart_q), "{release}, {ran_us} us, {others} others");
            gave_way += u32::from(gives_way);
        }
    }
    assert!(gave_way > 100, "some give way");
}

/// yield_task_fair: 6.6.0 adds a request to the deadline, eligible or not. 6.12.117 to 7.2.12: vruntime moves to the
/// deadline
/// when eligible; nothing happens otherwise.
#[test]
fn yield_gives_up_the_request_or_the_time() {
    for release in EEVDF {
        let p = policy(release);
        let t = tunables(&p, 1);
        let give = |other: i64| {
            let mut curr = FairSe { deadline: 60, slice_ns: t.base_slice_ns, ..entity(50) };
            let mut q = queue(&p, &[entity(other)]);
            fair::yield_entity(&p, &t, &mut q, &mut curr);
            (curr.vruntime, curr.deadline)
        };
        let request = t.base_slice_ns as i64;
        if matches!(release, "6.6" | "6.8") {
            assert_eq!((give(80), give(20)), ((50, 60 + request), (50, 60 + request)));
        } else {
            assert_eq!((give(80), give(20)), ((60, 60 + request), (50, 60)), "{release}");
        }
    }
}

/// The running entity, its deadline at 3 ms and 1 ms run, and an eligible wakee of 0.5 ms slice whose deadline is
/// earlier.
/// 6.6.0: protected while its deadline is that of the pick. 6.12.117 (do_preempt_short): the wakee passes; a later
/// deadline
/// does not while the running one is eligible. 6.18.2 and 7.2.12: a shorter slice passes.
#[test]
fn a_shorter_slice_passes_the_protection_from_6_12() {
    for release in EEVDF {
        let p = policy(release);
        let mut curr = FairSe { deadline: 3_000_000, ..entity(0) };
        let mut q = queue(&p, &[]);
        fair::set_protect_slice(&p, &q, &mut curr);
        assert_ne!(fair::protect_slice(&p, &curr), 0, "{release}");
        let mut passes = |deadline| {
            let wakee = FairSe { slice_ns: 500_000, deadline, ..entity(0) };
            q = queue(&p, &[wakee]);
            q.nr_queued += 1;
            fair::preempt_short(&p, &q, &curr, &wakee)
        };
        let want = match release {
            "6.6" | "6.8" => (0, 0),
            "6.12" => (1, 0),
            _ => (1, 1),
        };
        assert_eq!((passes(500_000), passes(4_000_000)), want, "{release}");
    }
}

/// set_protect_slice: 6.18.2 and 7.2.12 protect for the shortest slice of the others, here 1 of 3 ms; before, for
/// the request.
/// update_protect_slice after a wake-up that is not obeyed, of an entity of 2 ms: 7.2.12 looks again (nothing
/// shorter than the
/// queue's 0.5 ms), 6.18.2 only after one of shorter slice.
#[test]
fn protection_lasts_for_the_shortest_slice_from_6_18() {
    for release in EEVDF {
        let p = policy(release);
        let mut curr = FairSe { deadline: 3_000_000, ..entity(0) };
        let mut q = FairRq { min_slice_ns: 1_000_000, nr_queued: 2, ..FairRq::default() };
        fair::set_protect_slice(&p, &q, &mut curr);
        let slices = matches!(release, "6.18" | "7.2");
        assert_eq!(curr.vprot, if slices { 1_000_000 } else { 3_000_000 }, "{release}");
        q.min_slice_ns = 500_000;
        fair::wakee_waits(&p, &q, &mut curr, 0);
        let want = match release {
            "7.2" => 500_000,
            "6.18" => 1_000_000,
            _ => 3_000_000,
        };
        assert_eq!(curr.vprot, want, "{release}");
    }
}

/// wakeup_preempt_fair of 7.2.12 returns for WF_FORK and for sched_delayed unless the slice is shorter; earlier ones
/// look.
#[test]
fn a_new_task_does_not_preempt_in_7_2() {
    for release in EEVDF {
        let p = policy(release);
        let look = |passes, is_new| fair::wakee_may_preempt(&p, &entity(0), passes, is_new);
        assert_eq!([look(0, 1), look(1, 1), look(0, 0)], [u32::from(release != "7.2"), 1, 1], "{release}");
    }
}

/// Delayed at lag -1 ms; others joined meanwhile, and it is 3 ms behind the average now, or 5 ms ahead of it.
/// 6.12.117 and
/// 6.18.2: the lag is what it is, at most 0. 7.2.12: nor below what it was.
#[test]
fn a_delayed_entity_loses_no_lag_in_7_2() {
    for release in ["6.12", "6.18", "7.2"] {
        let p = policy(release);
        let lag = |other: i64| {
            let mut se = FairSe { vlag: -1_000_000, delayed: 1, ..entity(0) };
            let mut q = queue(&p, &[se, entity(other)]);
            fair::leave_entity(&p, &tunables(&p, 1), &mut q, None, &mut se, 1);
            fair::finish_delayed_dequeue(&mut se);
            se.vlag
        };
        assert_eq!(lag(6_000_000), 0, "{release}");
        assert_eq!(lag(-10_000_000), if release == "7.2" { -1_000_000 } else { -5_000_000 }, "{release}");
    }
}

/// dequeue_entity: from 6.12.117 (DELAY_DEQUEUE) an entity that is not eligible stays.
#[test]
fn a_dequeue_is_delayed_from_6_12_where_it_is_not_eligible() {
    for release in EEVDF {
        let p = policy(release);
        let delays = |other: i64| {
            let mut se = entity(100);
            let mut q = queue(&p, &[se, entity(other)]);
            fair::delay_dequeue(&p, &tunables(&p, 1), &mut q, None, &mut se)
        };
        assert_eq!((delays(50), delays(150)), (u32::from(!matches!(release, "6.6" | "6.8")), 0), "{release}");
    }
}

/// An entity at 0, another of the same weight at 2000000; average 1000000, deadline 3000000; the weight doubles.
/// 6.6.0: deadline 1500000, vruntime stays. 6.8.0: it left before the average is taken, which is the other's 2000000:
/// lag 2000000 / 2, so vruntime 1000000, deadline 2000000 + 1000000 / 2.
/// 6.12.117: lag 1000000 / 2: vruntime 500000, deadline 1000000 + 2000000 / 2.
/// 6.18.2: lag 500000 and rest 1500000, placed on a queue of 1024 at 2000000: 500000 * 3072 / 1024 = 1500000 before
/// it, so
/// vruntime 500000 and deadline 2000000. 7.2.12: as 6.12.117.
#[test]
fn reweighting_changes_what_each_release_says() {
    for release in EEVDF {
        let p = policy(release);
        let mut se = FairSe { deadline: 3_000_000, slice_ns: 3_000_000, ..entity(0) };
        let mut q = queue(&p, &[se, entity(2_000_000)]);
        fair::reweight_entity_fair(&p, &tunables(&p, 1), &mut q, None, &mut se, false, (2048 << 10, 0));
        let want = match release {
            "6.6" => (0, 1_500_000),
            "6.8" => (1_000_000, 2_500_000),
            _ => (500_000, 2_000_000),
        };
        assert_eq!((se.vruntime, se.deadline, q.load_weight), (want.0, want.1, 3072 << 10), "{release}");
    }
}

/// The running entity at 1000000 is protected up to 2000000, and its weight doubles. reweight_entity of 6.18.2 leaves
/// vprot; that of 6.18.17 puts it (2000000 - 1000000) / 2 behind the new vruntime.
#[test]
fn reweighting_keeps_the_rest_of_the_protection_from_6_18_17() {
    for (release, rest) in [("6.18", None), ("6.18.16", None), ("6.18.17", Some(500_000))] {
        let p = policy(release);
        let mut se = FairSe { deadline: 4_000_000, vprot: 2_000_000, slice_ns: 3_000_000, ..entity(1_000_000) };
        let mut q = queue(&p, &[entity(1_400_000)]);
        (q.nr_queued, q.load_weight) = (2, 2048 << 10);
        let curr = se;
        fair::reweight_entity_fair(&p, &tunables(&p, 1), &mut q, Some(&curr), &mut se, true, (2048 << 10, 0));
        let protected = rest.map_or(2_000_000, |rest| se.vruntime + rest);
        assert_eq!(se.vprot, protected, "{release}");
    }
}

/// features.h HRTICK: false to 6.18, true in 7.2 where the programming of timers is deferred. hrtick_start_fair:
/// `weight * (deadline - vruntime) / NICE_0_LOAD`, longer by what interrupts take; hrtick_start: at least 10 us;
/// hrtick_needs_rearm: a change of 5 us.
#[test]
fn a_timer_ends_requests_since_7_2() {
    for release in CFS.iter().chain(&EEVDF) {
        assert_eq!(policy(release).hrtick == 1, *release == "7.2", "{release}");
    }
    let se = FairSe { deadline: 3_000_000, ..entity(1_000_000) };
    assert_eq!(fair::hrtick_start_fair(&se, 0), Some(2_000_000));
    assert_eq!(fair::hrtick_start_fair(&FairSe { weight: 2048 << 10, ..se }, 0), Some(4_000_000));
    // 1024 * 1024 / (1024 - 256) = 1365; 1365 * 2000000 / 1024 = 2666015.
    assert_eq!(fair::hrtick_start_fair(&se, 256), Some(2_666_015));
    assert_eq!(fair::hrtick_start_fair(&FairSe { deadline: 1_000_000, ..se }, 0), Some(10_000));
    assert_eq!(fair::hrtick_start_fair(&FairSe { deadline: 999_999, ..se }, 0), None);
    assert!(fair::hrtick_stays(100_000, 105_000) && !fair::hrtick_stays(105_001, 100_000));
}
