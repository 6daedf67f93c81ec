// SPDX-License-Identifier: GPL-2.0-only
//! Governors beside schedutil, and boosts: who is heard when, what it makes of the frequency, and what never happens.

mod common;

use common::*;
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
    let mut m = machine(&[(4, 1024)]);
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
    let mut draw = 7u64;
    let mut below = |n: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % n
    };
    for round in 0..24 {
        let tasks: Vec<TaskSpec> = (0..4)
            .map(|i| {
                let period_us = 2000 + below(20_000);
                on(periodic(&format!("g{i}"), 100 + below(period_us / 2), period_us), u32::from(i != 0))
            })
            .collect();
        let boost = 1 + below(100) as i32;
        let forms = [("rfc", "sched_dvfs"), ("later", "sched_dvfs_v7"), ("rfc", "schedutil")];
        let (form, governor) = forms[round % 3];
        let p = policy(&[("governor", governor), ("boost_form", form)]);
        let khz_time = |w: &Workload| run(&m, w, &p, 300).domains[1].time_in_state_ns.clone();
        let with = khz_time(&boosted(tasks.clone(), &[(&["g0"], &[(0, boost)])]));
        let without = khz_time(&boosted(tasks, &[(&["g0"], &[(0, 0)])]));
        assert_eq!(with, without, "round {round}: {form} {governor} at {boost} %");
    }
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
        let one = |name: &String| BoostSpec { members: vec![name.clone()], boosts: vec![(0, boost)] };
        Workload { boosts: names.iter().map(one).collect(), ..workload(vec![busy("g0")]) }
    };
    let refused = |w: &Workload, p: &Policy| match pelton_sim::run(&juno(), w, p, &config(1), NullSink) {
        Err(SimError::Plan(text)) => text,
        other => panic!("{other:?}"),
    };
    let (rfc, later) = (policy(&[]), policy(&[("boost_form", "later")]));
    assert!(refused(&w(4, 10), &rfc).contains("3 beside the root"));
    assert!(refused(&w(5, 10), &later).contains("4 beside the root"));
    assert!(refused(&w(1, -10), &rfc).contains("boost_form=later"));
    run(&juno(), &w(3, 10), &rfc, 1);
    run(&juno(), &w(4, -10), &later, 1);
}

/// A task that works for 20 ms in every 500: while all CPUs idle nobody looks, so there are far fewer samples than periods.
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

/// The last task sleeps: its vote goes, the frequency stays until somebody votes again.
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
