// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors beside schedutil, and boosts: the events that each reacts to, the frequencies that follow, and what never
//! happens.

use crate::common::*;
use pelton_core::Policy;
use pelton_model::workload::{BoostSpec, TaskSpec};
use pelton_model::{Machine, Workload};
use pelton_schema::NullSink;
use pelton_sim::{Report, SimError};

fn policy(sets: &[(&str, &str)]) -> Policy {
    let mut policy = profile("4.12");
    sets.iter().for_each(|(name, value)| policy.set(name, value).expect("a setting"));
    policy
}

fn run(m: &Machine, w: &Workload, policy: &Policy, ms: u64) -> Report {
    pelton_sim::run(m, w, policy, &config(ms), NullSink).expect("runs")
}

/// Four LITTLE CPUs of the published board: 450 .. 850 MHz, a driver that sleeps for 100 us.
fn juno() -> Machine {
    juno_of(4)
}

fn juno_of(cpus: u32) -> Machine {
    let mut m = machine(&[(cpus, 1024)]);
    m.clusters[0].active_power_uw = vec![10_000; 5];
    let domain = &mut m.domains[0];
    let opp = |khz| pelton_model::machine::Opp { khz, uv: 0, power_uw: u64::from(khz) };
    domain.opps = [450_000, 575_000, 700_000, 775_000, 850_000].map(opp).to_vec();
    domain.ref_khz = 850_000;
    (domain.fast_switch, domain.driver_sleeps) = (false, true);
    (domain.transition_latency_ns, domain.switch_time_ns) = (1_200_000, 100_000);
    m
}

/// Time at each operating point of the first domain, ms.
fn at_opps(r: &Report) -> Vec<u64> {
    r.domains[0].time_in_state_ns.iter().map(|ns| ns / MS).collect()
}

/// The operating point with most time.
fn main_opp(r: &Report) -> usize {
    let at = at_opps(r);
    (0..at.len()).max_by_key(|&i| at[i]).expect("there are some")
}

/// Members of a boost group, and from when on, ms, it has which boost.
type Group<'a> = (&'a [&'a str], &'a [(u64, i32)]);

fn boosted(tasks: Vec<TaskSpec>, boosts: &[Group<'_>]) -> Workload {
    let spec = |(members, boosts): &Group<'_>| BoostSpec {
        members: members.iter().map(|m| (*m).to_owned()).collect(),
        boosts: boosts.iter().map(|&(ms, boost)| (ms * MS, boost)).collect(),
        prefer_idle: false,
    };
    Workload { boosts: boosts.iter().map(spec).collect(), ..workload(tasks) }
}

/// The operating points that usage and boost ask for by hand (known_answers::governors).
#[test]
fn sched_dvfs_runs_the_published_threads_where_the_arithmetic_says() {
    let expected = [(120, [0, 0, 0, 4]), (500, [0, 0, 1, 4]), (760, [0, 1, 2, 4]), (880, [1, 1, 2, 4])];
    for (run_us, points) in expected {
        for (boost, opp) in [0, 10, 30, 80].into_iter().zip(points) {
            let threads = (0..4).map(|i| periodic(&format!("t-{i}"), run_us, 2000)).collect();
            let global = policy(&[("governor", "sched_dvfs"), ("boost", &boost.to_string())]);
            let r = run(&juno(), &workload(threads), &global, 500);
            assert_eq!(main_opp(&r), opp, "{run_us} us at {boost} %: {:?}", at_opps(&r));
        }
    }
}

#[test]
fn a_group_is_boosted_as_all_are_when_it_is_alone() {
    let threads = || (0..4).map(|i| periodic(&format!("t-{i}"), 760, 2000)).collect::<Vec<_>>();
    let votes = policy(&[("governor", "sched_dvfs")]);
    for (boost, opp) in [(10, 1), (30, 2), (80, 4)] {
        let r = run(&juno(), &boosted(threads(), &[(&["t"], &[(0, boost)])]), &votes, 500);
        assert_eq!(main_opp(&r), opp, "{boost} %: {:?}", at_opps(&r));
    }
}

#[test]
fn a_boost_changes_with_time() {
    let w = boosted(vec![on(periodic("ui", 700, 2000), 0)], &[(&["ui"], &[(0, 0), (400, 80), (800, 0)])]);
    let r = run(&juno(), &w, &policy(&[("governor", "sched_dvfs")]), 1000);
    let at = at_opps(&r);
    assert!(at[0] > 500 && (350..=450).contains(&at[4]), "{at:?}");
}

/// Two domains of one CPU. A boosted task on CPU 0 must not speed up CPU 1, whoever governs.
#[test]
fn a_boosted_group_never_speeds_up_a_cpu_without_its_tasks() {
    let m = machine(&[(1, 1024), (1, 1024)]);
    let mut told_apart = 0;
    let mut draw = 7u64;
    let mut below = |n: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % n
    };
    for round in 0..24 {
        let tasks: Vec<TaskSpec> = (0..4)
            .map(|i| {
                let period_us = 2000 + below(20_000);
                // So little that CPU 1 is not saturated: a boost adds to what lacks.
                on(periodic(&format!("g{i}"), 100 + below(period_us / 10), period_us), u32::from(i != 0))
            })
            .collect();
        let boost = 1 + below(100) as i32;
        let forms = [("rfc", "sched_dvfs"), ("later", "sched_dvfs_v7"), ("rfc", "schedutil")];
        let (form, governor) = forms[round % 3];
        let p = policy(&[("governor", governor), ("boost_form", form)]);
        let khz_time = |w: &Workload| run(&m, w, &p, 300).domains[1].time_in_state_ns.clone();
        // Four groups with the root: g0, g1, g2 and, as the root's, g3.
        let of = |boosts: [i32; 2]| {
            let groups = [(&["g0"][..], [(0, boosts[0])]), (&["g1"], [(0, boosts[1])]), (&["g2"], [(0, 0)])];
            boosted(tasks.clone(), &groups.each_ref().map(|(members, boosts)| (*members, &boosts[..])))
        };
        let [elsewhere, here, none] = [[boost, 0], [0, boost], [0, 0]].map(|boosts| khz_time(&of(boosts)));
        assert_eq!(elsewhere, none, "round {round}: {form} {governor} at {boost} %");
        told_apart += usize::from(here != none);
    }
    assert!(told_apart >= 12, "a boost of a group that runs there speeds it up: {told_apart} of 24 rounds");
}

#[test]
fn schedutil_follows_boosted_utilization() {
    let w = workload(vec![on(periodic("p", 800, 4000), 0)]);
    let mut before = 0;
    for boost in ["0", "20", "50", "90"] {
        let mut p = profile("7.2");
        p.set("boost", boost).expect("a setting");
        let at = at_opps(&run(&juno(), &w, &p, 500));
        let mean: u64 = at.iter().zip([450, 575, 700, 775, 850]).map(|(ms, mhz)| ms * mhz).sum();
        assert!(mean >= before, "{boost} %: {at:?}");
        before = mean;
    }
    assert!(before > 800 * 450, "the largest boost is far from the lowest operating point");
}

#[test]
fn too_many_groups_and_negative_boosts_are_refused() {
    let w = |n: usize, boost: i32| {
        let names: Vec<String> = (0..n).map(|i| format!("g{i}")).collect();
        let one =
            |name: &String| BoostSpec { members: vec![name.clone()], boosts: vec![(0, boost)], prefer_idle: false };
        Workload { boosts: names.iter().map(one).collect(), ..workload(vec![busy("g0")]) }
    };
    let refused = |w: &Workload, p: &Policy| match pelton_sim::run(&juno(), w, p, &config(1), NullSink) {
        Err(error @ SimError::Misfit(_)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let (rfc, later) = (policy(&[]), policy(&[("boost_form", "later")]));
    assert!(refused(&w(4, 10), &rfc).contains("3 beside the root"));
    assert!(refused(&w(5, 10), &later).contains("4 beside the root"));
    assert!(refused(&w(1, -10), &rfc).contains("boost_form=later"));
    run(&juno(), &w(3, 10), &rfc, 1);
    run(&juno(), &w(4, -10), &later, 1);
}

/// A task that works for 20 ms in every 500: while all CPUs idle there is no sample, so there are far fewer samples
/// than periods.
#[test]
fn ondemand_takes_no_samples_while_idle() {
    let p = policy(&[("governor", "ondemand"), ("sampling_rate_us", "10000")]);
    let samples = |w: &Workload| run(&juno(), w, &p, 2000).domains[0].evaluations;
    let (mostly_idle, always_busy) =
        (samples(&workload(vec![periodic("p", 20_000, 500_000)])), samples(&workload(vec![busy("b")])));
    assert!((130..=201).contains(&always_busy), "{always_busy}");
    assert!((4..60).contains(&mostly_idle), "{mostly_idle}");
}

#[test]
fn sampling_governors_reach_the_maximum_under_load_and_leave_it_after() {
    for governor in ["ondemand", "conservative"] {
        let p = policy(&[("governor", governor), ("sampling_rate_us", "10000")]);
        let full = at_opps(&run(&juno(), &workload(vec![busy("b")]), &p, 2000));
        assert!(full[4] > 1500, "{governor}: {full:?}");
        let light = at_opps(&run(&juno(), &workload(vec![periodic("p", 100, 4000)]), &p, 2000));
        assert!(light[0] > 1900, "{governor}: {light:?}");
    }
}

#[test]
fn some_governors_set_one_frequency() {
    let w = workload(vec![periodic("p", 500, 4000)]);
    for (sets, opp) in [
        (&[("governor", "performance")][..], 4),
        (&[("governor", "powersave")], 0),
        (&[("governor", "userspace"), ("userspace_khz", "600000")], 2),
    ] {
        let r = run(&juno(), &w, &policy(sets), 200);
        assert_eq!(at_opps(&r)[opp], 200, "{sets:?}");
        assert_eq!((r.domains[0].evaluations, r.domains[0].transitions), (0, 0), "{sets:?}");
    }
}

/// The last task sleeps: its vote goes, the frequency stays until a task votes again.
#[test]
fn a_domain_that_goes_idle_keeps_its_frequency_under_sched_dvfs() {
    let once = task("once", Some(1), vec![run_ms(40)]);
    let late = task("late", None, vec![pelton_model::workload::Op::Sleep { ns: 900 * MS }]);
    let r = run(&juno(), &workload(vec![on(once, 0), on(late, 1)]), &policy(&[("governor", "sched_dvfs")]), 800);
    assert!(at_opps(&r)[4] > 600, "{:?}", at_opps(&r));
}

/// Bookkeeping of groups takes time where the platform gives it a cost, and only then.
#[test]
fn counting_tasks_in_groups_costs_what_the_platform_says() {
    let overhead = |boost_ns, boosts: &[Group<'_>]| {
        let mut m = juno();
        m.costs.boost_ns = boost_ns;
        let w = boosted(vec![on(periodic("p", 500, 2000), 0)], boosts);
        run(&m, &w, &policy(&[("governor", "performance")]), 1000).cpus[0].overhead_ns
    };
    let group: &[Group<'_>] = &[(&["p"], &[(0, 10)])];
    assert_eq!(overhead(1000, &[]), overhead(0, group));
    let more = overhead(1000, group) - overhead(0, group);
    assert!(near(more, 2 * 500 * 1000, 4000), "500 enqueues and dequeues: {more}");
}

/// 200 ms of work on CPU 0 at the start; CPU 1 wakes once, at the end of a second.
fn once_and_late() -> Workload {
    let once = task("once", Some(1), vec![run_ms(200)]);
    let late = task("late", Some(1), vec![pelton_model::workload::Op::Sleep { ns: 990 * MS }]);
    workload(vec![on(once, 0), on(late, 1)])
}

fn interactive(sets: &[(&str, &str)]) -> Policy {
    policy(&[&[("governor", "interactive"), ("hispeed_khz", "700000")], sets].concat())
}

/// All busy: 700 MHz with the first timer, the maximum with the second; then idle, and the least after min_sample_time.
#[test]
fn interactive_jumps_to_hispeed_and_falls_when_the_floor_is_old() {
    let r = run(&juno(), &once_and_late(), &interactive(&[]), 1000);
    let at = at_opps(&r);
    assert!(near(at[2], 20, 5), "a timer's time at 700 MHz: {at:?}");
    assert!((100..350).contains(&at[4]) && at[0] > 600, "{at:?}");
    let loaded = at_opps(&run(&juno(), &workload(vec![busy("b")]), &interactive(&[]), 2000));
    assert!(loaded[4] > 1900, "{loaded:?}");
}

/// Idle CPUs are woken after the timer's slack and let the frequency fall; without slack it stays.
#[test]
fn idle_cpus_are_woken_to_let_the_frequency_fall() {
    let never = at_opps(&run(&juno(), &once_and_late(), &interactive(&[("timer_slack_us", "100000000")]), 1000));
    let usual = at_opps(&run(&juno(), &once_and_late(), &interactive(&[]), 1000));
    assert!(never[4] > 900 && usual[4] < 400, "{never:?}, {usual:?}");
}

/// A light task stays at the least; a pulse takes it to 700 MHz for its duration and the time until the next timer.
#[test]
fn a_pulse_holds_hispeed_for_a_while() {
    let w = Workload { pulses: vec![200 * MS], ..workload(vec![periodic("p", 100, 4000)]) };
    let r = run(&juno_of(1), &w, &interactive(&[]), 1000);
    let at = at_opps(&r);
    assert!((80..=140).contains(&at[2]) && at[3] + at[4] == 0, "80 ms and the timers after it: {at:?}");
    let always =
        at_opps(&run(&juno(), &workload(vec![periodic("p", 100, 4000)]), &interactive(&[("boost_val", "1")]), 1000));
    assert!(always[2] > 980, "{always:?}");
    let idle = at_opps(&run(&juno(), &w, &interactive(&[]), 1000));
    assert!(idle[2] > 780, "three CPUs that sleep on keep asking: {idle:?}");
    match pelton_sim::run(&juno(), &w, &policy(&[]), &config(1), NullSink) {
        Err(error) => assert!(error.to_string().contains("governor=interactive"), "{error}"),
        other => panic!("{other:?}"),
    }
}

/// Requests of its CPUs follow new limits: 700 MHz at most, and the maximum again when they end.
#[test]
fn interactive_keeps_limits() {
    use pelton_model::workload::{CpuSet, LimitChange, LimitSource};
    let change = |ms: u64, max_khz| LimitChange {
        at_ns: ms * MS,
        cpus: CpuSet::first(4),
        min_khz: 0,
        max_khz,
        by: LimitSource::User,
    };
    let limits = vec![change(0, 700_000), change(500, u32::MAX)];
    let w = Workload { limits, ..workload(vec![busy("b")]) };
    let at = at_opps(&run(&juno(), &w, &interactive(&[]), 1000));
    assert!(at[2] > 470 && at[4] > 440, "{at:?}");
}

/// Tasks on four CPUs: up to three hogs, which may stay anywhere, and one task whose group prefers idle CPUs.
fn with_hogs(hogs: u32, prefer_idle: bool, period_us: u64) -> Workload {
    let mut tasks: Vec<TaskSpec> = (0..hogs).map(|i| on(busy(&format!("hog-{i}")), i)).collect();
    tasks.push(periodic("ui", period_us / 10, period_us));
    let ui = BoostSpec { members: vec!["ui".into()], boosts: vec![(0, 0)], prefer_idle };
    Workload { boosts: vec![ui], ..workload(tasks) }
}

/// One CPU of four is idle, and the task always goes there: it never waits for a hog.
#[test]
fn a_task_that_prefers_idle_cpus_never_waits_while_there_is_one() {
    for kernel in ["4.12", "7.2"] {
        for (hogs, period_us) in [(1, 4000), (2, 7000), (3, 3000), (3, 11_000), (3, 20_000)] {
            let mut p = profile(kernel);
            p.set("boost_form", "later").expect("a form");
            let r = run(&machine(&[(4, 1024)]), &with_hogs(hogs, true, period_us), &p, 400);
            let ui = r.tasks.iter().find(|t| t.name.starts_with("ui")).expect("there is one");
            assert!(
                ui.wakeup_latency_ns.max < MS / 10,
                "{kernel}, {hogs} hogs, {period_us} us: {:?}",
                ui.wakeup_latency_ns
            );
        }
    }
}

#[test]
fn the_posting_has_no_prefer_idle() {
    match pelton_sim::run(&juno(), &with_hogs(1, true, 4000), &policy(&[]), &config(1), NullSink) {
        Err(error) => assert!(error.to_string().contains("boost_form=later or hold"), "{error}"),
        other => panic!("{other:?}"),
    }
}

/// Idle LITTLE and big CPUs: without a boost the task goes to a LITTLE one, with a boost to a big one.
#[test]
fn a_boosted_task_prefers_a_big_idle_cpu() {
    let busy_ms = |boost, prefer_idle| {
        let mut p = profile("7.2");
        p.set("boost_form", "later").expect("a form");
        let ui = BoostSpec { members: vec!["ui".into()], boosts: vec![(0, boost)], prefer_idle };
        let w = Workload { boosts: vec![ui], ..workload(vec![periodic("ui", 400, 8000)]) };
        let r = run(&machine(&[(2, 446), (2, 1024)]), &w, &p, 400);
        let busy = |c: usize| 400 - r.cpus[c].idle_ns.iter().sum::<u64>() / MS;
        (busy(0) + busy(1), busy(2) + busy(3))
    };
    let (plain, big, usual) = (busy_ms(0, true), busy_ms(10, true), busy_ms(10, false));
    assert!(plain.0 > 10 * plain.1.max(1), "{plain:?}");
    assert!(big.1 > 10 * big.0.max(1), "{big:?}");
    assert!(usual.1 > usual.0, "left alone it stays on a big one, boost or not: {usual:?}");
}
