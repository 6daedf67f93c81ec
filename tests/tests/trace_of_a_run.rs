// SPDX-License-Identifier: GPL-2.0-or-later
//! A simulated run, recorded in every format at once: all say the same, and a second run says it byte for byte.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use pelton_schema::{EVENTS, Event, EventInfo, Sink, TeeSink};
use pelton_tests::runs::BusyRun;
use pelton_trace::perfetto::read::{PerfettoReader, Record};
use pelton_trace::{EventSelection, JsonLines, LogReader, PeltonLog, PerfettoTrace};

const DURATION_NS: u64 = 500_000_000;

#[derive(Default)]
struct Kept(Vec<(u64, Event)>);

impl Sink for Kept {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.0.push((time_ns, *event));
    }
}

struct Recorded {
    events: Vec<(u64, Event)>,
    log: Vec<u8>,
    trace: Vec<u8>,
    json: Vec<u8>,
}

fn record() -> Recorded {
    let run = BusyRun::of_length(DURATION_NS);
    let header = run.header();
    let (mut kept, mut log, mut trace, mut json) = (Kept::default(), Vec::new(), Vec::new(), Vec::new());
    let mut log_sink = PeltonLog::new(&mut log, &header);
    let mut trace_sink = PerfettoTrace::new(&mut trace, &header);
    let mut json_sink = JsonLines::new(&mut json, EventSelection::all());
    let files = TeeSink(&mut log_sink, TeeSink(&mut trace_sink, &mut json_sink));
    run.simulate(TeeSink(&mut kept, files));
    log_sink.finish().expect("a vector takes everything");
    trace_sink.finish().expect("a vector takes everything");
    json_sink.finish().expect("a vector takes everything");
    Recorded { events: kept.0, log, trace, json }
}

#[test]
fn log_and_trace_say_what_the_run_said() {
    let run = record();
    let kinds = |code| run.events.iter().filter(|(_, event)| event.code() == code).count();
    // Only recordings of real kernels have the others.
    let simulated = |info: &&EventInfo| info.code <= 18 || info.name == "task_attributes";
    let missing: Vec<_> =
        EVENTS.iter().filter(simulated).filter(|info| kinds(info.code) == 0).map(|info| info.name).collect();
    assert!(missing.is_empty(), "the run should show every kind of event, and lacks {missing:?}");

    let mut reader = LogReader::open(&run.log[..]).expect("a good log");
    let back: Vec<_> = reader.by_ref().collect::<Result<_, _>>().expect("undamaged");
    assert!(reader.is_complete() && back == run.events, "the log differs from the run");

    let records: Vec<_> = PerfettoReader::new(&run.trace[..]).collect::<Result<_, _>>().expect("a good trace");
    let ftrace = records.iter().filter_map(|record| match record {
        Record::Ftrace { time_ns, event, .. } => Some((*time_ns, *event)),
        _ => None,
    });
    let mut found: Vec<_> = ftrace.map(|(time_ns, event)| format!("{time_ns} {event:?}")).collect();
    let is_ftrace = |event: &Event| event.code() <= 8;
    let expected = run.events.iter().filter(|(_, event)| is_ftrace(event));
    let mut expected: Vec<_> = expected.map(|(time_ns, event)| format!("{time_ns} {event:?}")).collect();
    found.sort_unstable();
    expected.sort_unstable();
    let has = |text: &str| run.trace.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(has("placements") && has("previous_cpu"), "the trace says why tasks went where they went");
    assert!(found == expected, "{} ftrace events in the trace, {} in the run", found.len(), expected.len());
}

#[test]
fn a_second_run_writes_the_same_bytes() {
    let (first, second) = (record(), record());
    assert!(first.log == second.log, "logs differ");
    assert!(first.trace == second.trace, "traces differ");
    assert!(first.json == second.json, "JSON lines differ");
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn save(path: &Path, bytes: &[u8]) {
    std::io::Write::write_all(&mut File::create(path).expect("a writable folder"), bytes).expect("written");
}

#[test]
fn perfettos_own_protobufs_agree_with_the_run() {
    let run = record();
    let (trace, events) = (temporary("simulated.pftrace"), temporary("simulated.jsonl"));
    save(&trace, &run.trace);
    save(&events, &run.json);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let installed = root.join(".venv/bin/python");
    let python = if installed.exists() { installed } else { PathBuf::from("python3") };
    let script = root.join("tests/trace/check_perfetto.py");
    match Command::new(python).arg(script).args([&trace, &events]).output() {
        Ok(output) => {
            print!("{}", String::from_utf8_lossy(&output.stdout));
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(_) => println!("not measured: Perfetto traces against Perfetto's own protobufs (no python3)"),
    }
}
