// SPDX-License-Identifier: GPL-2.0-or-later
//! Perfetto traces hold what the run emitted.

use crate::synthetic;
use std::collections::BTreeMap;

use crate::kept::kept;
use pelton_schema::{Event, PRIO_DEADLINE, Sink, pack_name};
use pelton_trace::perfetto::read::{PerfettoError, PerfettoReader, Record};
use pelton_trace::{PerfettoTrace, RunHeader};
use proptest::prelude::*;

type Timed = (u64, Event);

fn written(run: &RunHeader, events: &[Timed]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut trace = PerfettoTrace::new(&mut file, run);
    events.iter().for_each(|(time_ns, event)| trace.event(*time_ns, event));
    let summary = trace.finish().expect("a vector takes everything");
    assert_eq!(summary.bytes, file.len() as u64);
    file
}

fn records(file: &[u8]) -> Vec<Record> {
    PerfettoReader::new(file).collect::<Result<_, _>>().expect("a good trace")
}

/// Names from the root to the track of each id.
fn paths(records: &[Record]) -> BTreeMap<u64, String> {
    let mut paths: BTreeMap<u64, String> = BTreeMap::new();
    for record in records {
        if let Record::Track { uuid, parent_uuid, name, .. } = record {
            let parent = paths.get(parent_uuid).map(|path| format!("{path}/")).unwrap_or_default();
            assert_eq!(*parent_uuid == 0, parent.is_empty(), "parents are declared before their children");
            assert_eq!(paths.insert(*uuid, format!("{parent}{name}")), None, "an id is declared once");
        }
    }
    paths
}

type Counters = BTreeMap<String, Vec<(u64, i64)>>;

fn counters_of_trace(records: &[Record]) -> Counters {
    let paths = paths(records);
    let mut counters = Counters::new();
    for record in records {
        if let Record::Counter { time_ns, uuid, value } = record {
            counters.entry(paths[uuid].clone()).or_default().push((*time_ns, *value));
        }
    }
    counters
}

/// Counter values of the event, by path.
fn counter_values(run: &RunHeader, event: &Event) -> Vec<(String, i64)> {
    let cpu_path = |cpu: u32, name: &str| format!("CPU utilization/CPU {cpu}/{name}");
    let task_path = |tid: u32, name: &str| format!("Task utilization/{} {}/{name}", run.task_name(tid), 1000 + tid);
    let domain_path = |domain: u32, name: &str| format!("Frequency domains/{}/{name}", run.domain_name(domain));
    match *event {
        Event::PeltSe { tid, util_avg, util_est, .. } => {
            vec![(task_path(tid, "util_avg"), util_avg.into()), (task_path(tid, "util_est"), util_est.into())]
        }
        Event::PeltCfs { cpu, util_avg, runnable_avg, util_est, .. } => vec![
            (cpu_path(cpu, "util_avg"), util_avg.into()),
            (cpu_path(cpu, "util_est"), util_est.into()),
            (cpu_path(cpu, "runnable_avg"), runnable_avg.into()),
        ],
        Event::PeltRt { cpu, util_avg } => vec![(cpu_path(cpu, "rt util_avg"), util_avg.into())],
        Event::PeltDl { cpu, util_avg } => vec![(cpu_path(cpu, "dl util_avg"), util_avg.into())],
        Event::PeltIrq { cpu, util_avg } => vec![(cpu_path(cpu, "irq util_avg"), util_avg.into())],
        Event::PeltHw { cpu, load_avg } => vec![(cpu_path(cpu, "hw load_avg"), load_avg.cast_signed())],
        Event::FreqDecision { gate: 0, domain, perf, raw_khz, resolved_khz, .. } => vec![
            (domain_path(domain, "performance target"), perf.into()),
            (domain_path(domain, "requested frequency"), raw_khz.into()),
            (domain_path(domain, "resolved frequency"), resolved_khz.into()),
        ],
        Event::DomainPower { domain, power_uw } => vec![(domain_path(domain, "power"), power_uw.cast_signed())],
        _ => Vec::new(),
    }
}

fn counters_of_run(run: &RunHeader, events: &[Timed]) -> Counters {
    let mut counters = Counters::new();
    for (time_ns, event) in events {
        for (path, value) in counter_values(run, event) {
            let values = counters.entry(path).or_default();
            if values.last().is_none_or(|&(_, last)| last != value) {
                values.push((*time_ns, value));
            }
        }
    }
    counters
}

fn ftrace_cpu(event: &Event) -> Option<u32> {
    match *event {
        Event::SchedSwitch { cpu, .. }
        | Event::SchedWaking { cpu, .. }
        | Event::SchedWakeup { cpu, .. }
        | Event::SchedMigrateTask { cpu, .. }
        | Event::CpuFrequency { cpu, .. }
        | Event::CpuIdle { cpu, .. }
        | Event::IrqEntry { cpu, .. }
        | Event::IrqExit { cpu, .. } => Some(cpu),
        _ => None,
    }
}

/// Events per CPU, in order, with the thread that ran there.
fn ftrace_of_run(events: &[Timed]) -> BTreeMap<u32, Vec<(u64, u32, Event)>> {
    let mut cpus: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    let mut running: BTreeMap<u32, u32> = BTreeMap::new();
    for &(time_ns, event) in events {
        let Some(cpu) = ftrace_cpu(&event) else { continue };
        let pid = running.get(&cpu).map_or(0, |&tid| if tid == 0 { 0 } else { 1000u32.wrapping_add(tid) });
        cpus.entry(cpu).or_default().push((time_ns, pid, event));
        if let Event::SchedSwitch { next_tid, .. } = event {
            running.insert(cpu, next_tid);
        }
    }
    cpus
}

fn ftrace_of_trace(records: &[Record]) -> BTreeMap<u32, Vec<(u64, u32, Event)>> {
    let mut cpus: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for record in records {
        if let Record::Ftrace { time_ns, pid, event } = *record {
            let cpu = ftrace_cpu(&event).expect("only these are ftrace events");
            cpus.entry(cpu).or_default().push((time_ns, pid, event));
        }
    }
    cpus
}

#[test]
fn a_long_run_comes_back() {
    let run = synthetic::header();
    let events: Vec<Timed> = synthetic::Synthetic::new(5).take(60_000).collect();
    let records = records(&written(&run, &events));
    assert!(ftrace_of_trace(&records) == ftrace_of_run(&events), "ftrace events differ");
    let (found, expected) = (counters_of_trace(&records), counters_of_run(&run, &events));
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(found == expected, "counter values differ");
}

#[test]
fn threads_are_named_also_those_forked_later() {
    let run = synthetic::header();
    let forked = Event::SchedWakeup { cpu: 0, tid: 70, prio: 120, target_cpu: 0 };
    let records = records(&written(&run, &[(1, forked), (2, forked)]));
    let threads: Vec<_> = records.iter().filter(|r| matches!(r, Record::Thread { .. })).cloned().collect();
    assert_eq!(threads.len(), run.tasks.len(), "all but the idle task, and the forked one once");
    assert_eq!(threads[0], Record::Thread { tid: 1, name: "worker-1".to_owned() });
    assert_eq!(threads.last(), Some(&Record::Thread { tid: 70, name: "task-70".to_owned() }));
}

#[test]
fn a_name_told_by_an_event_holds_from_there_on() {
    let named = |name| {
        let (name_0, name_8) = pack_name(name);
        Event::TaskName { tid: 70, name_0, name_8 }
    };
    let switch =
        Event::SchedSwitch { cpu: 0, prev_tid: 70, prev_prio: 120, prev_state: 1, next_tid: 0, next_prio: 120 };
    let util = Event::PeltSe { cpu: 0, tid: 70, util_avg: 5, runnable_avg: 5, load_avg: 5, util_est: 5 };
    let events = [(1, named("sh")), (2, util), (3, switch), (4, named("make")), (5, switch)];
    let file = written(&synthetic::header(), &events);
    let records = records(&file);
    let threads: Vec<_> = records.iter().filter(|r| matches!(r, Record::Thread { tid: 70, .. })).cloned().collect();
    assert_eq!(threads, ["sh", "make"].map(|name| Record::Thread { tid: 70, name: name.to_owned() }));
    assert!(paths(&records).values().any(|path| path.contains("sh 1070")), "{:?}", paths(&records));
    let times = |name: &[u8]| file.windows(name.len()).filter(|bytes| *bytes == name).count();
    assert_eq!((times(b"\x0a\x02sh"), times(b"\x0a\x04make")), (1, 1), "the name of the task in each switch");
}

/// The slices of all tracks: begin, end and one of their numbers.
fn slices(records: &[Record], number: &str) -> Vec<(u64, u64, i64)> {
    let mut open = BTreeMap::new();
    let mut slices = Vec::new();
    for record in records {
        match record {
            Record::SliceBegin { time_ns, uuid, values } => {
                let value = values.iter().find(|(name, _)| name == number).map_or(0, |(_, value)| *value);
                assert_eq!(open.insert(*uuid, (*time_ns, value)), None, "slices of a track overlap");
            }
            Record::SliceEnd { time_ns, uuid } => {
                let (begin_ns, value) = open.remove(uuid).expect("an end has its begin");
                slices.push((begin_ns, *time_ns, value));
            }
            _ => {}
        }
    }
    slices
}

#[test]
fn late_activations_are_drawn_one_after_the_other() {
    let activation = |index, start_ns, slack_ns| Event::TaskActivation {
        tid: 1,
        index,
        start_ns,
        wakeup_latency_ns: 0,
        run_ns: 1,
        duration_ns: 1,
        slack_ns,
        period_ns: 100,
    };
    let events = [(50, activation(0, 0, 50)), (250, activation(1, 100, -50)), (280, activation(2, 200, 20))];
    let records = records(&written(&synthetic::header(), &events));
    assert_eq!(slices(&records, "slack_ns"), [(0, 50, 50), (100, 250, -50), (250, 280, 20)]);
}

#[test]
fn equal_runs_give_equal_bytes() {
    let file = |seed| written(&synthetic::header(), &synthetic::Synthetic::new(seed).take(20_000).collect::<Vec<_>>());
    assert_eq!(file(1), file(1));
    assert_ne!(file(1), file(2));
}

#[test]
fn the_largest_numbers_and_longest_names_fit() {
    let most = u32::MAX;
    let mut run = RunHeader {
        tasks: vec!["idle".to_owned(), "näme-längër-thän-the-kernel-takes".to_owned()],
        ..synthetic::header()
    };
    run.domains[0].name = "d".repeat(300);
    let switch = Event::SchedSwitch {
        cpu: most,
        prev_tid: 1,
        prev_prio: PRIO_DEADLINE,
        prev_state: most,
        next_tid: most,
        next_prio: PRIO_DEADLINE,
    };
    let activation = Event::TaskActivation {
        tid: most,
        index: u64::MAX,
        start_ns: u64::MAX,
        wakeup_latency_ns: u64::MAX,
        run_ns: u64::MAX,
        duration_ns: u64::MAX,
        slack_ns: i64::MIN,
        period_ns: u64::MAX,
    };
    let events = [
        switch,
        Event::SchedMigrateTask { cpu: most, tid: 1, prio: most, orig_cpu: most, dest_cpu: most },
        Event::SchedWaking { cpu: most, tid: 1, prio: most, target_cpu: most },
        Event::IrqEntry { cpu: most, irq: most },
        Event::CpuFrequency { cpu: most, freq_khz: most },
        Event::PeltHw { cpu: most, load_avg: u64::MAX },
        Event::DomainPower { domain: 0, power_uw: u64::MAX },
        activation,
    ];
    let events = events.map(|event| (u64::MAX, event));
    let records = records(&written(&run, &events));
    assert_eq!(ftrace_of_trace(&records), ftrace_of_run(&events));
    assert_eq!(counters_of_trace(&records), counters_of_run(&run, &events));
    assert_eq!(slices(&records, "slack_ns"), [(u64::MAX, u64::MAX, i64::MIN)]);
}

#[test]
fn a_cut_trace_says_so() {
    let events: Vec<Timed> = synthetic::Synthetic::new(5).take(50).collect();
    let file = written(&synthetic::header(), &events);
    let last = PerfettoReader::new(&file[..file.len() - 1]).last();
    assert!(matches!(last, Some(Err(PerfettoError::Truncated))), "{last:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: kept(), ..ProptestConfig::default() })]

    #[test]
    fn damaged_traces_never_panic(place: prop::sample::Index, byte: u8, noise: Vec<u8>) {
        let mut file = written(&synthetic::header(), &synthetic::Synthetic::new(5).take(300).collect::<Vec<_>>());
        let at = place.index(file.len());
        file[at] = byte;
        PerfettoReader::new(&file[..]).for_each(drop);
        PerfettoReader::new(&noise[..]).for_each(drop);
    }
}
