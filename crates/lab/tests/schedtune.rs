// SPDX-License-Identifier: GPL-2.0-or-later
//! The mechanism behind the table `schedtune`, with one seed and short runs.

use pelton_lab::experiment::reproduce::{Options, Seeds, reproduce};
use pelton_lab::experiment::{self, Experiment};
use pelton_lab::plan::{Inputs, PolicySpec, build};
use pelton_lab::run::run_one;
use pelton_schema::NullSink;

fn table() -> Experiment {
    experiment::load("schedtune").expect("embedded")
}

/// The operating point, from the lowest, at which the domain spent most of its time.
fn main_opp(experiment: &Experiment, test: &str, variant: &str) -> usize {
    let with = experiment.variant[variant].with.as_deref().expect("a group");
    let inputs = Inputs {
        platform: experiment.platform.clone(),
        workload: format!("{} + {with}", experiment.workload[test].spec),
        seed: 1,
        duration_ns: Some(500_000_000),
        hz: Some(experiment.hz),
        // A thread that is taken off the CPU it began on leaves its first vote there (F-391).
        random_phase: false,
        ..Inputs::default()
    };
    let sets = experiment.set.iter().map(|(switch, value)| format!("{switch}={value}")).collect();
    let policy = PolicySpec { profile: Some(experiment.profile.clone()), sets, ..PolicySpec::default() };
    let plan = build(&inputs, &policy).expect("good inputs").plan;
    let report = run_one(&plan, 1, NullSink, Default::default()).expect("runs");
    let at = &report.domains[0].time_in_state_ns;
    (0..at.len()).max_by_key(|&opp| at[opp]).expect("operating points")
}

/// 450, 575, 700, 775, 850 MHz; by hand in `known_answers::governors::operating_points_of_the_published_threads`.
#[test]
fn all_28_cases_run_at_the_operating_point_that_the_rules_give() {
    let experiment = table();
    let expected = [
        ("t43", [0, 0, 0, 0, 4]),
        ("t44", [0, 0, 0, 0, 4]),
        ("t45", [0, 0, 0, 1, 4]),
        ("t46", [0, 0, 0, 1, 4]),
        ("t47", [0, 0, 0, 1, 4]),
        ("t48", [0, 0, 1, 2, 4]),
        ("t49", [1, 1, 1, 2, 4]),
    ];
    for (test, points) in expected {
        for (boost, point) in [0, 5, 10, 30, 80].into_iter().zip(points) {
            let variant = format!("boost{boost}");
            assert_eq!(main_opp(&experiment, test, &variant), point, "{test} at {boost} %");
        }
    }
}

/// Half a second of three tests, six seeds (F-391): more boost is more energy and more speed, and test 48 gains most
/// from 10 %.
#[test]
fn energy_and_performance_grow_with_boost() {
    let mut experiment = table();
    experiment.row.retain(|r| ["t45", "t48", "t49"].iter().any(|test| r.id.contains(test)));
    experiment.claim.clear();
    experiment.duration_s = 0.5;
    let options = Options { seeds: Seeds::Count(6), jobs: 2 };
    let table = reproduce(&experiment, None, options, Default::default()).expect("runs");
    let of =
        |id: String| table.rows.iter().find(|r| r.id == id).and_then(|r| r.simulated).expect("a row with a number");
    for kind in ["energy", "perf"] {
        for test in ["t45", "t48"] {
            let [low, middle, high] = [10, 30, 80].map(|boost| of(format!("{kind}.{test}.b{boost}")));
            assert!(low < middle && middle < high, "{kind} {test}: {low} {middle} {high}");
        }
        let [more, less] = ["t48", "t49"].map(|test| of(format!("{kind}.{test}.b10")));
        assert!(more > less + 3.0, "{kind}: {more} {less}");
    }
}

#[test]
fn a_row_may_be_a_change_from_another_variant() {
    let experiment = table();
    let row = experiment.row.iter().find(|r| r.id == "energy.t48.b30").expect("a row");
    assert_eq!((row.against.as_deref(), row.published), (Some("boost0"), 14.75));
}
