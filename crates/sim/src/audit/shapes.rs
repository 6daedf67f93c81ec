// SPDX-License-Identifier: GPL-2.0-or-later
//! Shapes of the engine: what is left out of one never happens in a run that has it.

use std::ops::ControlFlow;

use pelton_core::Policy;
use pelton_model::workload::BoostSpec;
use pelton_model::{Machine, RunConfig, Workload};

use crate::common::random::{Dice, random_groups, random_machine, random_quotas, random_workload};
use crate::common::{Keep, MS, config, profile, run_ms, task, workload};
use crate::shape::{Plain, Run};
use crate::told::{Inputs, Shape, Told};

/// Random runs of each kind.
const SEEDS: u64 = 60;

fn shape_of(m: &Machine, w: &Workload, policy: &Policy) -> Shape {
    Inputs { machine: m, workload: w, policy, config: &RunConfig::default(), code: None }.shape()
}

/// Totals and events of a run in the shape of the sink that `wrap` makes.
fn outcome<'a, S: Run>(m: &Machine, w: &Workload, keep: &'a mut Keep, wrap: fn(Told<'a, false>) -> S) -> String {
    let (policy, config) = (Policy::newest(), config(60));
    let inputs = Inputs { machine: m, workload: w, policy, config: &config, code: None };
    format!("{:?}", inputs.run(wrap(Told(keep)), &mut |_| ControlFlow::Continue(())).expect("runs"))
}

/// Asserts that the general engine and that of the run's own shape do the same.
fn assert_same(m: &Machine, w: &Workload, about: &str) {
    let (mut general, mut own) = (Keep::default(), Keep::default());
    let reports = [
        outcome(m, w, &mut general, |told| told),
        match shape_of(m, w, Policy::newest()) {
            Shape::Plain => outcome(m, w, &mut own, Plain::<_, false>),
            Shape::Grouped => outcome(m, w, &mut own, Plain::<_, true>),
            Shape::General => panic!("{about}: a general run"),
        },
    ];
    assert!(!own.0.is_empty() && general.0 == own.0, "{about}: other events");
    assert_eq!(reports[0], reports[1], "{about}");
}

#[test]
fn every_shape_gives_the_runs_of_the_general_one() {
    for seed in 0..SEEDS {
        let mut dice = Dice(seed);
        let m = random_machine(&mut dice);
        let mut w = random_workload(&mut dice, m.cpus.len() as u32);
        assert_same(&m, &w, &format!("seed {seed}"));
        random_groups(&mut dice, &mut w);
        assert_same(&m, &w, &format!("seed {seed}, groups"));
    }
}

#[test]
fn a_run_has_the_narrowest_shape_that_its_inputs_allow() {
    let mut dice = Dice(1);
    let m = random_machine(&mut dice);
    let of = |w: &Workload| shape_of(&m, w, Policy::newest());
    let plain = workload(vec![task("t", None, vec![run_ms(1)])]);
    assert_eq!(of(&plain), Shape::Plain);
    assert_eq!(shape_of(&m, &plain, &profile("6.12")), Shape::General, "another policy");
    assert_eq!(shape_of(&m, &plain, &profile("7.2")), Shape::General, "not at the address that the core knows");

    let mut grouped = plain.clone();
    grouped.tasks[0].taskgroup = "/a".into();
    assert_eq!(of(&grouped), Shape::Grouped);
    let mut quota = Workload { duration_ns: Some(MS), ..grouped.clone() };
    random_groups(&mut dice, &mut quota);
    random_quotas(&mut dice, &mut quota, false);
    assert!(quota.sets_quotas());
    assert_eq!(of(&quota), Shape::General, "a quota");

    let mut clamped = plain.clone();
    clamped.tasks[0].phases[0].uclamp = Some((0, 512));
    assert_eq!(of(&clamped), Shape::General, "a clamp that is asked for later");
    let mut boosted = plain;
    boosted.boosts = vec![BoostSpec::default()];
    assert_eq!(of(&boosted), Shape::General, "a boost");
}
