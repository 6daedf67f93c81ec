// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes may arrive where files are read; none of them may panic. See `fuzz/README.md` for the long runs.

use pelton_schema::{Event, Sink};
use pelton_tests::fuzz::Target;
use pelton_tests::{fuzz, fuzz_targets, made_events};
use pelton_trace::import::Source;
use pelton_trace::{LogReader, PerfettoTrace};

/// Inputs per target; `PELTON_FUZZ_INPUTS` overrides it for a longer run.
const INPUTS: u64 = 20_000;

fn inputs() -> u64 {
    std::env::var("PELTON_FUZZ_INPUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(INPUTS)
}

fn canary() -> Target<'static> {
    let run = |input: &[u8]| assert!(!input.windows(4).any(|piece| piece == b"bang"), "the canary sang");
    Target { name: "canary", run, seeds: vec![b"{\"run\": 10}".to_vec()], words: &["bang"] }
}

#[test]
fn a_panic_is_found_and_reported_with_its_input() {
    let failure = canary().smoke(INPUTS).expect_err("the canary must be found");
    assert!(failure.number > 0, "mutation, not a seed, finds it");
    assert_eq!(canary().input(failure.number), failure.input, "the number makes the input again");
    let report = failure.report("canary");
    assert!(report.contains("the canary sang") && report.contains("bang"), "{report}");
}

#[test]
fn seeds_are_tried_as_they_are() {
    assert_eq!(canary().input(0), b"{\"run\": 10}");
}

/// Every file with this ending in a folder of the repository.
fn seeds(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let entries = std::fs::read_dir(&path).expect("the folder is in the repository");
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(ending));
    paths.sort();
    assert!(!paths.is_empty(), "no seeds in {folder}");
    paths.iter().map(|path| std::fs::read(path).expect("readable")).collect()
}

fn smoke(target: &Target<'_>) {
    if let Some(folder) = std::env::var_os("PELTON_FUZZ_SEEDS") {
        return write_seeds(target, std::path::Path::new(&folder));
    }
    if let Err(failure) = target.smoke(inputs()) {
        panic!("{}", failure.report(target.name));
    }
}

/// Writes the seeds down for a long run instead.
fn write_seeds(target: &Target<'_>, folder: &std::path::Path) {
    let folder = folder.join(target.name);
    std::fs::create_dir_all(&folder).expect("a writable folder");
    for (number, seed) in target.seeds.iter().enumerate() {
        std::fs::write(folder.join(number.to_string()), seed).expect("a writable folder");
    }
}

const JSON_WORDS: &str = r#""run" "loop" "timer" "phases" { } [ ] , : /* */ // "\u12 "a" -1 é"#;
const TOML_WORDS: &str =
    "= [ ]] [[perf_domain]] opps=[{khz=1}] capacity=1024 cpus=[0,1023] {} \"\" ''' 1e999 nan # [set] é";

fn words(text: &str) -> Vec<&str> {
    text.split(' ').chain(["\n"]).collect()
}

#[test]
fn rtapp_files_never_panic() {
    let seeds = seeds("scenarios/workloads/rt-app", ".json");
    smoke(&Target { name: "rtapp_json", run: fuzz_targets::rtapp_json, seeds, words: &words(JSON_WORDS) });
}

#[test]
fn platform_files_never_panic() {
    let seeds = seeds("scenarios/platforms", ".toml");
    smoke(&Target { name: "platform_toml", run: fuzz_targets::platform_toml, seeds, words: &words(TOML_WORDS) });
}

#[test]
fn policy_files_never_panic() {
    let seeds = vec![b"profile = \"6.6\"\n[set]\nutil_est = \"off\"\nrt_in_sum = 1\n".to_vec()];
    smoke(&Target { name: "policy_toml", run: fuzz_targets::policy_toml, seeds, words: &words(TOML_WORDS) });
}

/// The Perfetto trace of a recorded log.
fn as_perfetto(log: &[u8]) -> Vec<u8> {
    let events = LogReader::open(log).expect("a recorded log");
    let mut file = Vec::new();
    let mut trace = PerfettoTrace::new(&mut file, events.header());
    for event in events {
        let (time_ns, event) = event.expect("undamaged");
        trace.event(time_ns, &event);
    }
    trace.finish().expect("a vector takes everything");
    file
}

#[test]
fn trace_files_never_panic() {
    let logs = seeds("crates/trace/tests/fixtures", ".plog");
    let traces: Vec<_> = logs.iter().map(|log| as_perfetto(log)).collect();
    smoke(&Target {
        name: "trace_files",
        run: fuzz_targets::trace_files,
        seeds: [logs, traces].concat(),
        words: &["PELTONLG", "E", "F", "\u{80}"],
    });
}

#[test]
fn traces_as_sources_never_panic() {
    let logs = seeds("crates/trace/tests/fixtures", ".plog");
    let traces: Vec<_> = logs.iter().map(|log| as_perfetto(log)).collect();
    smoke(&Target { name: "trace_log", run: fuzz_targets::trace_log, seeds: logs, words: &["PELTONLG", "E", "F"] });
    smoke(&Target {
        name: "trace_perfetto",
        run: fuzz_targets::trace_perfetto,
        seeds: traces,
        words: &["\n", "\u{80}", "\u{8}"],
    });
    smoke(&Target {
        name: "trace_dat",
        run: fuzz_targets::trace_dat,
        seeds: vec![fuzz::small_trace_dat()],
        words: &["7\0", "options  \0", "flyrecord\0", "field:", "offset:"],
    });
}

#[test]
fn texts_never_panic() {
    smoke(&Target {
        name: "trace_text",
        run: fuzz_targets::trace_text,
        seeds: seeds("crates/trace/tests/fixtures/ftrace", ".txt"),
        words: &[
            " [001] ",
            ": sched_switch: ",
            "prev_pid=",
            " ==> ",
            "cpu_id=",
            "pid=-1",
            "<script class=\"trace-data\">",
            "\n",
        ],
    });
}

/// A few rows of every kind of table.
const TABLES: [&str; 4] = [
    "seq,ts,cpu,type,why,pid,prio,comm,obj,cfs,depth,on_rq,running,weight,runnable,now,clock_pelt,lut,util_sum,pc,util_avg,a0,a1\n\
     4,100,4,CFS,,0,0,,3,3,0,1,1,1048576,1,81,92,80,53,54,57,5,1\n5,200,4,SE,,229,120,w,2,3,0,1,1,1048576,1,81,92,80,53,54,57,,\n\
     6,210,1,switch,,229,120,a,b,,,,,,,,,,,,,1,\n7,220,4,ue_se,,229,120,w,2,3,0,1,1,1048576,1,81,92,80,53,54,57,,\n",
    "ts,kind,cpu,pid,comm,a0,a1,a2,a3,a4,a5,a6\n9,next_freq,0,7,w,1,300,1024,900000,600000,1200000,0\n9,select,0,7,w,1,8,2,3,4,0,1024\n",
    "# cpu=5 signal=cpu_frequency unit=GHz\ntime_s,value\n0.1,1.2\n0.2,0.6\n",
    "start_s,duration_s,cpu,pid,comm,duty_cycle\n0.5,0.25,1,7,w,0.5\n0.8,0.1,1,8,\"a,b\",0.5\n",
];

#[test]
fn tables_never_panic() {
    let seeds = TABLES.iter().map(|table| table.as_bytes().to_vec()).collect();
    let words = [",", "\"", "SE", "CLK", "tp_rt", "st_se", "# cpu=1 signal=rt_util_avg", "18446744073", "-1", "\n"];
    smoke(&Target { name: "trace_csv", run: fuzz_targets::trace_csv, seeds, words: &words });
}

/// The events of the recorded logs, and of a simulated machine that recorded calls.
fn event_seeds() -> Vec<Vec<u8>> {
    let logs = seeds("crates/trace/tests/fixtures", ".plog");
    let of = |log: &Vec<u8>| {
        let events = LogReader::open(&log[..]).expect("a recorded log");
        made_events::bytes_of(events.map(|event| event.expect("undamaged")))
    };
    let calls = pelton_trace::import::csv::PeltCsv::new(std::io::Cursor::new(TABLES[0]), std::path::Path::new("calls"));
    logs.iter().map(of).chain([made_events::bytes_of(all_of(calls))]).collect()
}

fn all_of(mut source: impl Source) -> Vec<(u64, Event)> {
    std::iter::from_fn(|| source.next().expect("memory does not fail"))
        .map(|timed| (timed.time_ns, timed.event))
        .collect()
}

#[test]
fn any_events_can_be_validated() {
    let run = fuzz_targets::validate;
    smoke(&Target { name: "validate", run, seeds: event_seeds(), words: &["\u{1}", "\u{7f}"] });
}

#[test]
fn any_events_can_become_a_workload() {
    let run = fuzz_targets::workload_from_trace;
    smoke(&Target { name: "workload_from_trace", run, seeds: event_seeds(), words: &["\u{1}", "\u{7f}"] });
}

#[test]
fn any_events_can_be_replayed() {
    let run = fuzz_targets::read_then_simulate;
    fewer(&Target { name: "read_then_simulate", run, seeds: event_seeds(), words: &["\u{1}", "\u{7f}"] }, 8);
}

#[test]
fn rtapp_files_that_are_accepted_run() {
    let (seeds, run) = (seeds("scenarios/workloads/rt-app", ".json"), fuzz_targets::rtapp_then_simulate);
    fewer(&Target { name: "rtapp_then_simulate", run, seeds, words: &words(JSON_WORDS) }, 8);
}

#[test]
fn experiment_files_never_panic() {
    let (seeds, run) = (vec![fuzz::EXPERIMENT.as_bytes().to_vec()], fuzz_targets::experiment_toml);
    fewer(&Target { name: "experiment_toml", run, seeds, words: &words(TOML_WORDS) }, 4);
}

#[test]
fn packed_files_never_panic() {
    let text = b"# tracer: nop\na-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n";
    let log = seeds("crates/trace/tests/fixtures", ".plog").remove(0);
    let by = |how: u8, contents: &[u8]| [&[how, 0, 0][..], contents].concat();
    let seeds = (1..4).flat_map(|how| [by(how, text), by(how, &log), by(how, TABLES[3].as_bytes())]);
    let run = fuzz_targets::packed_trace;
    fewer(&Target { name: "packed_trace", run, seeds: seeds.collect(), words: &["\u{1f}\u{8b}", "\n", "[001]"] }, 4);
}

/// For targets that take longer: so many times fewer inputs.
fn fewer(target: &Target<'_>, times: u64) {
    if std::env::var_os("PELTON_FUZZ_SEEDS").is_some() {
        return smoke(target);
    }
    if let Err(failure) = target.smoke((inputs() / times).max(1)) {
        panic!("{}", failure.report(target.name));
    }
}
