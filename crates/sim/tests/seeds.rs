// SPDX-License-Identifier: GPL-2.0-or-later
//! A seed is a run: different seeds give different runs, the same seed the same one.

use crate::common::*;
use pelton_model::RunConfig;
use pelton_model::workload::{Start, Workload};
use pelton_schema::Event;
use std::collections::BTreeSet;

fn three_tasks() -> Workload {
    let tasks = [(3_000, 17_000), (1_000, 5_000), (700, 11_000)];
    let mut w = workload(tasks.iter().map(|&(run_us, period_us)| periodic("t", run_us, period_us)).collect());
    w.tasks.iter_mut().for_each(|t| t.start = Start::Within(5 * MS));
    w
}

fn run_of(seed: u64) -> Vec<(u64, Event)> {
    let cfg = RunConfig { seed, start_phase_random: true, ..config(40) };
    events_of(&machine(&[(2, 1024)]), &three_tasks(), "7.2", &cfg).1
}

#[test]
fn neighbouring_seeds_are_different_runs() {
    for seed in [0, 1, 2, 3, 6, 10, 998, 4096, u64::MAX - 1] {
        assert!(run_of(seed) == run_of(seed), "seed {seed} is one run");
        assert!(run_of(seed) != run_of(seed + 1), "seeds {seed} and {} are the same run", seed + 1);
    }
}

#[test]
fn a_thousand_seeds_are_a_thousand_runs() {
    // The times at which tasks are first created separate runs; the whole stream would only take longer.
    let runs: BTreeSet<Vec<u64>> = (0..1000)
        .map(|seed| {
            let cfg = RunConfig { seed, start_phase_random: true, ..config(8) };
            let events = events_of(&machine(&[(2, 1024)]), &three_tasks(), "7.2", &cfg).1;
            events.iter().map(|(t, _)| *t).collect()
        })
        .collect();
    assert_eq!(runs.len(), 1000);
}
