// SPDX-License-Identifier: GPL-2.0-or-later
//! `run` and `compare` answer the same question: a run's numbers are those of the same seed of a comparison.

use pelton_lab::measure::summary::Scope;
use pelton_lab::verbs::compare::{CompareRequest, compare};
use pelton_lab::verbs::inputs::InputRequest;
use pelton_lab::verbs::run::{RunRequest, run};
use pelton_lab::watch::Unwatched;
use pelton_scenario::platform::{self, PlatformOptions};

const SEEDS: u64 = 3;
const POLICY: &str = "7.2";
const WORKLOADS: [&str; 3] = [
    "../../scenarios/workloads/rt-app/browser-long.json",
    "../../scenarios/workloads/rt-app/mp3-short.json",
    "periodic:run_us=2000,period_us=16000,threads=3",
];

fn input(platform: &str, workload: &str) -> InputRequest {
    let duration_ns = Some(1_000_000_000);
    InputRequest {
        platform: platform.to_owned(),
        workload: workload.to_owned(),
        duration_ns,
        ..InputRequest::default()
    }
}

/// Busy time, energy where it is known, and switches of each seed, by `run`.
fn alone(platform: &str, workload: &str, quantity: &str) -> Vec<f64> {
    let value = |seed| {
        let request = RunRequest { input: input(platform, workload), seed, ..RunRequest::default() };
        let rows = run(&request, &Unwatched).expect("runs").rows;
        let row = rows.into_iter().find(|r| r.scope == Scope::Run && r.quantity == quantity).expect("a number of runs");
        row.value
    };
    (1..=SEEDS).filter_map(value).collect()
}

#[test]
fn a_run_is_one_of_the_runs_of_a_comparison_on_every_board() {
    let simulated = |name: &&str| {
        let options = PlatformOptions::new(POLICY);
        platform::load(name).is_ok_and(|file| file.machine(&options).is_ok_and(|m| m.cpus.len() <= 32))
    };
    let mut compared = 0;
    for (at, name) in platform::names().filter(simulated).enumerate() {
        let workload = WORKLOADS[at % WORKLOADS.len()];
        let policies = vec![POLICY.to_owned()];
        let request = CompareRequest {
            input: input(name, workload),
            policies,
            seeds: SEEDS,
            values: true,
            ..CompareRequest::default()
        };
        let comparison = compare(&request, &Unwatched).expect("runs");
        for quantity in ["energy_mj", "busy_ms", "switches"] {
            let row =
                comparison.rows.iter().find(|r| r.scope == Scope::Run && r.quantity == quantity).expect("compared");
            assert_eq!(row.cells[0].values, alone(name, workload, quantity), "{name}, {workload}, {quantity}");
            compared += row.cells[0].values.len();
        }
    }
    assert!(compared > 100, "{compared} values");
}
