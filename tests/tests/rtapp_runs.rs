// SPDX-License-Identifier: GPL-2.0-or-later
//! Every rt-app file of the repository that can be lowered also runs, and the models keep their promises.

use std::path::{Path, PathBuf};

use pelton_model::{Machine, RunConfig};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_scenario::rtapp::RtAppOptions;
use pelton_scenario::workload;
use pelton_schema::NullSink;
use pelton_sim::Report;

fn machine() -> Machine {
    let file = platform::load("juno-r0").expect("a built-in platform");
    file.machine(&PlatformOptions::new("7.2")).expect("a complete platform")
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/workloads/rt-app");
    let entries = std::fs::read_dir(folder).expect("the folder is part of the repository");
    let mut files: Vec<PathBuf> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "json"));
    files.sort();
    files
}

fn run(machine: &Machine, workload: &pelton_model::Workload) -> Report {
    let policy = pelton_core::Policy::profile("7.2").expect("the default profile");
    let config = RunConfig { seed: 1, duration_ns: 3_000_000_000, ..RunConfig::default() };
    pelton_sim::run(machine, workload, &policy, &config, NullSink).unwrap_or_else(|e| panic!("{}: {e}", workload.name))
}

#[test]
fn every_file_that_is_accepted_runs() {
    let machine = machine();
    let mut runs = 0;
    for path in files() {
        let spec = path.to_str().expect("readable names");
        let Ok(loaded) = workload::load_full(spec, &machine, &RtAppOptions::default()) else { continue };
        let report = run(&machine, &loaded.workload);
        let busy = report.tasks.iter().filter(|t| t.run_ns > 0).count();
        assert!(busy > 0, "{spec}: nothing ran");
        runs += 1;
    }
    assert!(runs >= 15, "only {runs} files ran");
}

#[test]
fn a_periodic_thread_runs_once_per_period_and_meets_it() {
    let machine = machine();
    let w = workload::load("periodic:run_us=1000,period_us=10000,phase_us=random,threads=3", &machine).expect("good");
    for task in &run(&machine, &w).tasks[..w.tasks.len()] {
        assert!((299..=300).contains(&task.timed_activations), "{} {}", task.name, task.timed_activations);
        assert_eq!(task.overruns, 0, "{}", task.name);
    }
}

#[test]
fn sysbench_on_one_cpu_at_the_highest_speed_has_the_event_time_as_latency() {
    let machine = machine();
    let big = machine.cpus.iter().position(|c| c.capacity == 1024).expect("a big CPU");
    let w = workload::load(&format!("sysbench-cpu:event_us=1000,cpus={big}"), &machine).expect("good");
    let report = run(&machine, &w);
    let latencies = &report.tasks[0].activation_ns;
    let least = latencies.summary().min;
    assert!((1_000_000..1_010_000).contains(&least), "{least}");
    assert!(latencies.len() > 2500, "{}", latencies.len());
}
