// SPDX-License-Identifier: GPL-2.0-or-later
//! Energies, frequencies from signals, and averages: against real kernels, against the simulator, and with a fault put
//! in.
//!
//! The recordings are not part of the repository; without them the tests say so and pass.

use std::path::PathBuf;

use pelton_core::{CpuState, Policy};
use pelton_model::{Machine, RunConfig};
use pelton_replay::validate::{
    Comparison, Merged, Options, Report, Verdict, compare_again, predict_distorted, validate,
};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_scenario::workload;
use pelton_schema::{EVENTS, Event, STATE_DEAD, STATE_SLEEPING, Sink};
use pelton_trace::import::{Format, ImportError, OpenOptions, Source, Timed, TraceInfo, open};

fn data(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("PELTON_SHARED_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let path = root.join(name);
    if !path.is_file() {
        println!("not measured: {} is not there", path.display());
        return None;
    }
    Some(path)
}

fn machine(name: &str) -> Machine {
    let file = platform::load(name).unwrap_or_else(|_| panic!("platform {name} is there"));
    file.machine(&PlatformOptions::new("7.2")).unwrap_or_else(|_| panic!("platform {name} is complete"))
}

fn options(profile: &str, machine: Option<Machine>) -> Options {
    Options { policy: Policy::profile(profile).expect("profile exists"), machine }
}

fn opened(paths: &[PathBuf]) -> Box<dyn Source> {
    let sources = paths.iter().map(|p| open(p, &OpenOptions::default()).expect("a readable trace")).collect();
    Box::new(Merged::new(sources).expect("at least one file"))
}

/// Both readings of a trace.
fn compared(paths: &[PathBuf], options: &Options) -> Report {
    let mut first = opened(paths);
    let mut report = validate(&mut *first, options.clone(), &mut |_| true).expect("a readable trace");
    compare_again(&mut *opened(paths), first.info(), options, &mut report).expect("a readable trace");
    report
}

#[test]
fn every_energy_a_7_2_kernel_computed_is_recomputed() {
    let Some(path) = data("kernel-pelt/7.2-arm64/6-decisions.csv.gz") else { return };
    let mut guest = machine("qemu-virt-bl");
    let energy = |machine: Machine| {
        let report = compared(std::slice::from_ref(&path), &options("7.2", Some(machine)));
        (report.signals["energy"].exact, report.signals["energy"].divergent)
    };
    assert_eq!(energy(guest.clone()), (4509, 0));
    guest.domains[0].opps[1].power_uw += 1_000;
    let (exact, divergent) = energy(guest);
    assert!(exact > 0 && divergent > 500, "a power that is 1 mW off: {divergent}");
}

#[test]
fn frequency_changes_follow_from_recorded_signals_and_wrong_signals_or_rules_do_not_pass() {
    for (file, recorded) in [("1-single-cfs", 33), ("2-cfs-rt", 2014), ("3-ten-tasks", 153), ("5-clock-chain", 966)] {
        let Some(path) = data(&format!("kernel-pelt/7.2-arm64/{file}.csv.gz")) else { return };
        let right = options("7.2", Some(machine("qemu-virt-bl")));
        let report = compared(std::slice::from_ref(&path), &right);
        let (score, from) = report.prediction.expect("frequencies and signals are there");
        assert_eq!((score.recorded, from), (recorded, "recorded states"), "{file}");
        assert!(score.ok() && report.verdict() == Verdict::Holds, "{file}: {score:?}");
        let again = |options: &Options, distort| {
            let mut source = opened(std::slice::from_ref(&path));
            let mut first = opened(std::slice::from_ref(&path));
            while first.next().expect("readable").is_some() {}
            predict_distorted(&mut *source, first.info(), options, &report.survey, distort)
                .expect("readable")
                .expect("there is something to predict")
        };
        let higher = |s: CpuState| {
            let [util_cfs, runnable_cfs, util_est, util_rt] =
                [s.util_cfs, s.runnable_cfs, s.util_est, s.util_rt].map(|util| util * 5 / 4);
            CpuState { util_cfs, runnable_cfs, util_est, util_rt, ..s }
        };
        let score = again(&right, higher);
        assert!(!score.ok(), "{file}: another margin is not noticed: {score:?}");
        let score = again(&options("4.12", right.machine.clone()), |s| s);
        assert!(!score.ok(), "{file}: rules of 4.12 are not noticed: {score:?}");
    }
}

#[test]
fn frequencies_follow_from_the_sums_the_governor_was_given() {
    let Some(path) = data("kernel-pelt/7.2-arm64/6-decisions.csv.gz") else { return };
    let report = compared(&[path], &options("7.2", Some(machine("qemu-virt-bl"))));
    let (score, from) = report.prediction.expect("frequencies and sums are there");
    assert_eq!((score.recorded, from), (298, "recorded sums of utilization"));
    assert!(score.ok(), "{score:?}");
}

#[test]
fn curves_of_juno_r2_follow_from_their_frequencies_and_not_by_the_rules_of_4_19() {
    for run in ["20240419", "20240430", "20240715"] {
        let folder = format!("traces/arm-uclamp-juno-r2-max-{run}/s2_frequency_spike__");
        let files = ["util_avg.csv", "cpu_frequency.csv"].map(|name| data(&format!("{folder}{name}")));
        let [Some(util), Some(frequency)] = files else { return };
        let paths = [util, frequency];
        let report = compared(&paths, &options("7.2", None));
        let [curve] = &report.comparisons[..] else { panic!("{run}: {:?}", report.comparisons) };
        assert!(curve.ok && curve.n > 4_700 && curve.max <= 20 && curve.mean_milli < 200, "{run}: {curve:?}");
        let report = compared(&paths, &options("4.19", None));
        assert!(!report.comparisons[0].ok, "{run}: contribution scaling passes for clock scaling");
    }
}

/// Events of a simulated run as a trace.
struct Simulated {
    events: std::vec::IntoIter<Timed>,
    info: TraceInfo,
}

impl Source for Simulated {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        Ok(self.events.next())
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }
}

struct Keep(Vec<Timed>);

impl Sink for Keep {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.0.push(Timed { time_ns, event: *event });
    }
}

fn simulated(machine: &Machine, spec: &str, profile: &str) -> Vec<Timed> {
    let workload = workload::load(spec, machine).expect("a workload");
    let config = RunConfig { seed: 1, duration_ns: 2_000_000_000, ..RunConfig::default() };
    let policy = Policy::profile(profile).expect("profile exists");
    let mut kept = Keep(Vec::new());
    pelton_sim::run(machine, &workload, &policy, &config, &mut kept).expect("it runs");
    kept.0
}

fn source(events: &[Timed]) -> Simulated {
    let mut info = TraceInfo::new(Format::PeltonLog);
    EVENTS.iter().for_each(|event| info.has_all_columns(event));
    let events: Vec<Timed> = events.to_vec();
    Simulated { events: events.into_iter(), info }
}

/// Comparisons of the averages of a trace in memory.
fn averages(events: &[Timed], options: &Options) -> Vec<Comparison> {
    let mut report = validate(&mut source(events), options.clone(), &mut |_| true).expect("events in memory");
    compare_again(&mut source(events), &source(events).info, options, &mut report).expect("events in memory");
    report.comparisons
}

#[test]
fn averages_of_queues_hold_where_tasks_are_made_move_and_end() {
    let machine = machine("juno-r0");
    let spec = "periodic:run_us=3000,period_us=10000 + periodic:run_us=1500,period_us=7000 + hackbench + \
                periodic:threads=3,run_us=9000,period_us=20000";
    for profile in ["4.19", "7.2"] {
        let events = simulated(&machine, spec, profile);
        let right = options(profile, Some(machine.clone()));
        let found = averages(&events, &right);
        let inside = |c: &Comparison| c.ok;
        let many = found.iter().filter(|c| c.n > 1000).count();
        assert!(many >= 2 && found.iter().all(inside), "{profile}: {found:?}");
        let outside = |events: &[Timed]| averages(events, &right).iter().any(|c| !inside(c));
        let mut nobody_dies = events.clone();
        nobody_dies.iter_mut().for_each(|timed| {
            if let Event::SchedSwitch { prev_state: state @ STATE_DEAD, .. } = &mut timed.event {
                *state = STATE_SLEEPING;
            }
        });
        assert!(outside(&nobody_dies), "{profile}: that tasks end does not matter");
        let still: Vec<Timed> =
            events.iter().filter(|t| !matches!(t.event, Event::SchedMigrateTask { .. })).copied().collect();
        assert!(outside(&still), "{profile}: that tasks move does not matter");
    }
    let events = simulated(&machine, spec, "7.2");
    let found = averages(&events, &options("4.19", Some(machine.clone())));
    assert!(found.iter().any(|c| !c.ok), "rules of 4.19 pass for 7.2");
}

#[test]
fn averages_of_a_simulated_run_follow_from_its_schedule_and_not_from_a_wrong_one() {
    let machine = machine("hikey-6220");
    let spec = "periodic:run_us=3000,period_us=10000 + periodic:run_us=1500,period_us=7000 + \
                periodic:run_us=300,period_us=16000,policy=fifo,priority=10";
    let events = simulated(&machine, spec, "7.2");
    let right = options("7.2", Some(machine.clone()));
    let compared = |events: &[Timed]| averages(events, &right);
    let found = compared(&events);
    assert!(found.len() >= 3 && found.iter().all(|c| c.ok && c.n > 100), "{found:?}");
    let without_frequencies: Vec<Timed> =
        events.iter().filter(|t| !matches!(t.event, Event::CpuFrequency { .. })).copied().collect();
    assert!(compared(&without_frequencies).iter().any(|c| !c.ok), "frequencies do not matter");
    let other_task = |t: &Timed| match t.event {
        Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio } => {
            let swap = |tid| {
                if tid == 1 {
                    2
                } else if tid == 2 {
                    1
                } else {
                    tid
                }
            };
            let (prev_tid, next_tid) = (swap(prev_tid), swap(next_tid));
            Timed { event: Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio }, ..*t }
        }
        _ => *t,
    };
    let swapped: Vec<Timed> = events.iter().map(other_task).collect();
    assert!(compared(&swapped).iter().any(|c| !c.ok), "who runs does not matter");
}
