// SPDX-License-Identifier: GPL-2.0-only
//! A known workload is simulated, its events are read back as a workload, and that is simulated again: the method is
//! right when the second run is the first. The tolerances are those of `pelton replay --check`.

use pelton_core::Policy;
use pelton_replay::workload::{
    Habits, Recorder, Recording, Row, Side, Subject, SynthesisOptions, Totals, WriteOptions, check, compare,
    synthesise, write_rtapp,
};
use pelton_scenario::platform::{PlatformOptions, load};
use pelton_scenario::rtapp::{self, RtAppOptions};
use pelton_scenario::{SourceFile, workload};
use pelton_schema::{Sink, TeeSink};
use pelton_sim::machine::Costs;
use pelton_sim::{Machine, RunConfig, Workload};

const DURATION_NS: u64 = 2_000_000_000;

fn machine(name: &str) -> Machine {
    let built = load(name).expect("built in").build(&PlatformOptions::default()).expect("complete");
    Machine { costs: Costs::default(), ..built.machine }
}

fn simulate(machine: &Machine, workload: &Workload, profile: &str, sink: impl Sink) {
    let config = RunConfig { seed: 1, duration_ns: DURATION_NS, ..RunConfig::default() };
    let policy = Policy::profile(profile).expect("known");
    pelton_sim::run(machine, workload, &policy, &config, sink).expect("it runs");
}

fn names(machine: &Machine, workload: &Workload, recording: &Recording) -> Vec<String> {
    let workers = machine.domains.iter().filter(|d| !d.fast_switch).map(|d| format!("sugov:{}", d.cpus[0]));
    let all: Vec<String> = workload.tasks.iter().map(|t| t.name.clone()).chain(workers).collect();
    recording.tasks.iter().map(|t| all[t.tid as usize - 1].clone()).collect()
}

/// The recorded run and the totals of its replay.
struct Trip {
    machine: Machine,
    recorded: Totals,
    recording: Recording,
    names: Vec<String>,
}

impl Trip {
    fn record(platform: &str, spec: &str, profile: &str) -> Trip {
        let machine = machine(platform);
        let workload = workload::load(spec, &machine).expect("a workload");
        let mut recorder = Recorder::new(Some(&machine), 0);
        let mut recorded = Totals::new(0, u64::MAX);
        simulate(&machine, &workload, profile, TeeSink(&mut recorder, &mut recorded));
        recorded.finish(DURATION_NS);
        let recording = recorder.finish(DURATION_NS);
        let names = names(&machine, &workload, &recording);
        Trip { machine, recorded, recording, names }
    }

    fn rows(&self, replayed: &Workload, sources: &[usize], profile: &str) -> Vec<Row> {
        let mut totals = Totals::new(0, u64::MAX);
        simulate(&self.machine, replayed, profile, &mut totals);
        totals.finish(DURATION_NS);
        let subject = Subject {
            machine: &self.machine,
            recorded_machine: &self.machine,
            tasks: sources.iter().map(|&i| self.names[i].clone()).collect(),
        };
        let left =
            Side { totals: &self.recorded, tids: sources.iter().map(|&i| self.recording.tasks[i].tid).collect() };
        let right = Side { totals: &totals, tids: (1..=sources.len() as u32).collect() };
        compare(&subject, &left, &[vec![right]])
    }

    fn assert_comes_back(&self, what: &str, options: &SynthesisOptions, profile: &str) {
        let habits = Habits::of(&self.recording);
        let made = synthesise(&self.recording, &habits, &self.names, &self.machine, options);
        let rows = self.rows(&made.workload, &made.sources, profile);
        for verdict in check(&rows) {
            assert!(verdict.holds(), "{what}: {verdict:#?}");
        }
    }
}

/// What comes back whole; what does not is in `docs/fidelity.md`, F-040 to F-042.
const WORKLOADS: [(&str, &str, &str); 2] = [
    ("one periodic task", "juno-r0", "periodic:run_us=3000,period_us=16000"),
    (
        "big and little, preemption",
        "sdm845-db845c",
        "periodic:threads=3,run_us=9000,period_us=20000 + periodic:threads=6,run_us=500,period_us=7000",
    ),
];

#[test]
fn the_recorded_policy_gives_the_recorded_run_back() {
    for (what, platform, spec) in WORKLOADS {
        Trip::record(platform, spec, "7.2").assert_comes_back(what, &SynthesisOptions::default(), "7.2");
    }
}

#[test]
fn the_rt_app_file_runs_as_the_trace_did() {
    let trip = Trip::record("juno-r0", WORKLOADS[0].2, "7.2");
    let habits = Habits::of(&trip.recording);
    let made = synthesise(&trip.recording, &habits, &trip.names, &trip.machine, &SynthesisOptions::default());
    for model in [false, true] {
        let text = write_rtapp(&made.workload, &trip.machine, WriteOptions { model }).expect("small");
        let file = SourceFile::new("out.json", text.clone());
        let loaded = rtapp::load(&file, &RtAppOptions { cpus: Some(6), ..RtAppOptions::default() });
        let loaded = loaded.unwrap_or_else(|d| panic!("{d}\n{text}"));
        let rows = trip.rows(&loaded, &made.sources, "7.2");
        let busy = rows.iter().find(|r| r.scope == "run" && r.quantity == "busy").expect("always there");
        let recorded = busy.recorded.expect("known");
        assert!((busy.simulated[0] - recorded).abs() <= recorded / 100.0, "model {model}: {busy:?}");
    }
}
