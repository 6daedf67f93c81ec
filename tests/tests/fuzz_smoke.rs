// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes may arrive where files are read; none of them may panic. See `fuzz/README.md` for the long runs.

use pelton_schema::Sink;
use pelton_tests::fuzz::Target;
use pelton_tests::fuzz_targets;
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
    if let Err(failure) = target.smoke(inputs()) {
        panic!("{}", failure.report(target.name));
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
        seeds: vec![small_trace_dat()],
        words: &["7\0", "options  \0", "flyrecord\0", "field:", "offset:"],
    });
}

/// A trace.dat of version 6 with one CPU, one page and one record.
fn small_trace_dat() -> Vec<u8> {
    let format = "name: cpu_idle\nID: 9\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                  \tfield:u32 state;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:u32 cpu_id;\toffset:12;\tsize:4;\tsigned:0;\n";
    let mut file = b"\x17\x08\x44tracing6\0\0\x08".to_vec();
    file.extend(256u32.to_le_bytes());
    for name in ["header_page\0", "header_event\0"] {
        file.extend(name.as_bytes());
        file.extend(0u64.to_le_bytes());
    }
    file.extend(1u32.to_le_bytes());
    file.extend((format.len() as u64).to_le_bytes());
    file.extend(format.as_bytes());
    file.extend([0; 4 + 4 + 4 + 8]);
    file.extend(1u32.to_le_bytes());
    file.extend(b"options  \0\0\0flyrecord\0");
    let page = (file.len() as u64 + 16).next_multiple_of(256);
    file.extend(page.to_le_bytes());
    file.extend(256u64.to_le_bytes());
    file.resize(page as usize, 0);
    file.extend(77u64.to_le_bytes());
    file.extend(20u64.to_le_bytes());
    file.extend((4u32 | 5 << 5).to_le_bytes());
    file.extend([9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    file.resize(page as usize + 256, 0);
    file
}
