// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton trace`: what it writes, and what it does not write over.

use crate::support;
use crate::support::{file, good, pelton};
use pelton_trace::{PeltonLog, RunHeader};
use serde_json::Value;

const RUN: [&str; 6] =
    ["run", "--platform", "hikey-6220", "--workload", "periodic:run_us=3000,period_us=10000", "--log"];

fn recorded(folder: &tempfile::TempDir) -> String {
    let (_, log) = file(folder, "run.plog");
    good(&[&RUN[..], &[&log, "--duration", "200ms"]].concat());
    log
}

fn switches(trace: &str) -> Option<u64> {
    let info: Value = serde_json::from_str(&good(&["trace", "info", trace, "--format", "json"])).expect("JSON");
    info["events"]["sched_switch"].as_u64()
}

#[test]
fn every_form_that_is_a_trace_keeps_the_switches() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let all = switches(&log);
    assert!(all > Some(20), "{all:?}");
    for form in ["log", "perfetto"] {
        let (_, other) = file(&folder, form);
        good(&["trace", "export", "-q", &log, "--to", form, "-o", &other]);
        assert_eq!(switches(&other), all, "{form}");
    }
    let (path, csv) = file(&folder, "switches.csv");
    good(&["trace", "export", &log, "--to", "csv", "--event", "sched_switch", "-o", &csv]);
    let lines = std::fs::read_to_string(path).expect("text");
    let rows = lines.lines().filter(|line| !line.starts_with('#')).count() as u64;
    assert_eq!(Some(rows - 1), all, "one line per event below the names of the columns");
}

#[test]
fn a_trace_is_not_written_over() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let before = std::fs::read(&log).expect("the log");
    let writers: [&[&str]; 3] = [
        &["trace", "export", &log, "--to", "text", "-o", &log],
        &["workload", "from-trace", &log, "-o", &log],
        &["replay", &log, "--log", &log],
    ];
    for arguments in writers {
        let refused = pelton(arguments);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("is read by this command"), "{}", refused.stderr);
    }
    assert_eq!(std::fs::read(&log).expect("still there"), before);
}

#[test]
fn what_is_no_trace_is_bad_input() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, other) = file(&folder, "other");
    for content in [&b""[..], b"\xff\xd8\xff\xe0 picture", b"one line of prose\n"] {
        std::fs::write(&path, content).expect("room");
        let refused = pelton(&["trace", "info", &other]);
        assert_eq!(refused.code, 3, "{content:?}: {}", refused.stdout);
        assert!(refused.stderr.starts_with("error: ") && refused.stderr.contains(&other), "{}", refused.stderr);
    }
}

#[test]
fn validate_reads_a_trace_as_the_kind_that_is_named() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, text) = file(&folder, "t.txt");
    std::fs::write(path, "a-7 [001] d..1 1.000001: cpu_idle: state=1 cpu_id=1\n").expect("written");
    let right = pelton(&["validate", "--input-format", "ftrace-text", &text]);
    assert_eq!(right.code, 5, "nothing checked is no pass: {}", right.stdout);
    assert!(right.stdout.contains("nothing in this trace can be checked"), "{}", right.stdout);
    for signal in ["load tracking", "run-queue clock", "decisions of schedutil", "energies", "frequency changes"] {
        assert!(right.stdout.contains(&format!("not measured: {signal}")), "{signal}: {}", right.stdout);
    }
    let wrong = pelton(&["validate", "--input-format", "perfetto", &text]);
    assert_eq!(wrong.code, 3);
    assert!(wrong.stderr.contains("leave --input-format out"), "{}", wrong.stderr);
}

#[test]
fn a_log_made_from_a_damaged_one_says_that_it_is_not_whole() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(whole, whole_text), (cut, cut_text), (_, again)] = ["a.plog", "cut.plog", "b.plog"].map(|n| file(&folder, n));
    good(&["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "1s", "--log", &whole_text]);
    let bytes = std::fs::read(whole).expect("written");
    std::fs::write(cut, &bytes[..bytes.len() / 2]).expect("room");
    good(&["trace", "export", "-q", &cut_text, "--to", "log", "-o", &again]);
    for (name, complete) in [(&whole_text, true), (&cut_text, false), (&again, false)] {
        let info = good(&["trace", "info", name]);
        assert_eq!(info.contains("ends early"), !complete, "{info}");
    }
}

#[test]
fn an_output_is_never_an_input() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(path, policy), (_, log), (linked, link)] = ["p.toml", "a.plog", "link"].map(|n| file(&folder, n));
    let text = "schema = 1\nwhy = \"a test\"\n[set]\nrt_signal = \"on\"\n";
    std::fs::write(&path, text).expect("room");
    std::fs::hard_link(&path, linked).expect("links");
    let run = ["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "10ms", "--policy", &policy];
    for outputs in [["--log", &policy], ["--trace", &policy], ["--log", &link]] {
        let refused = pelton(&[&run[..], &outputs].concat());
        assert!(refused.code == 2 && refused.stderr.contains("is read by this command"), "{}", refused.stderr);
    }
    let twice = pelton(&[&run[..], &["--log", &log, "--trace", &log]].concat());
    assert!(twice.code == 2 && twice.stderr.contains("two outputs go to"), "{}", twice.stderr);
    assert_eq!(std::fs::read_to_string(path).expect("still there"), text);
}

#[test]
fn no_verb_writes_over_a_platform_a_policy_or_a_workload() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let names = ["p.toml", "policy.toml", "w.svg", "rt-app-a-0-0.log"];
    let [(board, b), (policy, p), (drawn, d), (thread, t)] = names.map(|name| file(&folder, name));
    std::fs::write(&board, good(&["platform", "show", "hikey-6220", "--format", "toml"])).expect("room");
    std::fs::write(&policy, "schema = 1\nwhy = \"a test\"\n[set]\nrt_signal = \"on\"\n").expect("room");
    let task = "{\"run\": 1000, \"timer\": {\"ref\": \"x\", \"period\": 10000}}";
    let load = format!("{{\"tasks\": {{\"a\": {task}}}, \"global\": {{\"calibration\": 1, \"duration\": 1}}}}");
    [&drawn, &thread].into_iter().for_each(|path| std::fs::write(path, &load).expect("room"));
    let read = || [&board, &policy, &drawn, &thread].map(|path| std::fs::read(path).expect("still there"));
    let (before, here) = (read(), folder.path().to_str().expect("a plain name"));
    let on = ["--platform", "hikey-6220", "--duration", "10ms", "--workload"];
    let writers: [Vec<&str>; 6] = [
        vec!["replay", &log, "--platform", &b, "--log", &b],
        vec!["replay", &log, "--recorded-on", &b, "--trace", &b],
        vec!["replay", &log, "--policy", &p, "--log", &p],
        vec!["workload", "from-trace", &log, "--platform", &b, "-o", &b],
        [&["compare"], &on[..], &[&d, "--policy", "7.2", "--seeds", "1", "--plot", &d]].concat(),
        [&["run"], &on[..], &[&t, "--rt-app-log", here]].concat(),
    ];
    for words in &writers {
        let refused = pelton(words);
        let why = "is read by this command";
        assert!(refused.code == 2 && refused.stderr.contains(why), "{words:?}: {}{}", refused.code, refused.stderr);
    }
    assert_eq!(read(), before);
    let own = [&["run"], &on[..], &[&d, "--rt-app-log", here, "--log", &t]].concat();
    let refused = pelton(&own);
    assert!(refused.code == 2 && refused.stderr.contains("two outputs go to"), "{}", refused.stderr);
    assert_eq!(read(), before);
}

#[test]
fn standard_input_and_output_are_not_one_file() {
    use std::io::Write;
    let words = ["trace", "export", "-", "--to", "csv", "-o", "-", "-q"];
    let mut child = support::command(&words)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"# tracer: nop\na-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n").expect("it reads");
    drop(stdin);
    let outcome: support::Outcome = child.wait_with_output().expect("child").into();
    assert!(outcome.code == 0 && outcome.stdout.contains("cpu_idle,state,1"), "{}", outcome.stdout);
}

/// `pelton trace export TRACE --to csv -o - | head`.
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    for form in ["csv", "json", "text", "log", "perfetto"] {
        let mut child = support::command(&["trace", "export", &log, "--to", form, "-o", "-", "-q"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let outcome: support::Outcome = child.wait_with_output().expect("child").into();
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{form}");
    }
}

/// `trace.json` says what the folder holds: it must not be there before the tables are.
#[test]
fn a_folder_of_tables_is_not_called_whole_before_it_is() {
    use std::io::Write;
    let folder = tempfile::tempdir().expect("temporary folder");
    let log = recorded(&folder);
    let (path, out) = file(&folder, "tables");
    let words = ["trace", "export", "-", "--to", "csv", "-o", &out];
    let mut child = support::command(&words)
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::fs::create_dir(&path).expect("room");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"# tracer: nop\n").expect("it reads");
    let mut n = 0;
    while !path.join("cpu_idle.csv.pelton-part").exists() {
        n += 1;
        writeln!(stdin, "a-7 [001] {n}.000001: cpu_idle: state=1 cpu_id=1").expect("it reads");
    }
    let second = pelton(&["trace", "export", &log, "--to", "csv", "-o", &out]);
    assert!(second.code == 2 && second.stderr.contains("is not empty"), "{}", second.stderr);
    // A table that cannot take its place.
    std::fs::create_dir(path.join("cpu_idle.csv")).expect("room");
    drop(stdin);
    let outcome: support::Outcome = child.wait_with_output().expect("child").into();
    assert_eq!(outcome.code, 4, "{}", outcome.stderr);
    let left: Vec<_> = std::fs::read_dir(&path).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert!(!left.iter().any(|name| name == "trace.json"), "{left:?}");
}

#[test]
fn a_platform_named_in_a_trace_is_no_path() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(secret, secret_text), (path, evil)] = ["secret.toml", "evil.plog"].map(|n| file(&folder, n));
    std::fs::write(secret, "TOKEN = hidden\n").expect("room");
    let header = RunHeader { platform: secret_text, ..RunHeader::default() };
    let log = PeltonLog::new(std::fs::File::create(path).expect("room"), &header);
    log.finish().expect("room");
    for verb in [&["replay", &evil][..], &["workload", "from-trace", &evil]] {
        let refused = pelton(verb);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(!refused.stderr.contains("TOKEN") && refused.stderr.contains("--recorded-on"), "{}", refused.stderr);
    }
}

#[test]
fn names_out_of_a_file_drive_no_terminal() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(path, workload), (_, log), (ftrace, ftrace_text)] = ["w.json", "h.plog", "f.txt"].map(|n| file(&folder, n));
    let task = "{\"run\": 1000, \"timer\": {\"ref\": \"x\", \"period\": 10000}}";
    let names = ["\\u001b]0;title\\u0007", "=cmd|x!A0", "r\\u202eo\\u000anew"];
    let tasks: Vec<String> = names.iter().map(|name| format!("\"{name}\": {task}")).collect();
    let text = format!("{{\"tasks\": {{{}}}, \"global\": {{\"calibration\": 1, \"duration\": 1}}}}", tasks.join(","));
    std::fs::write(path, text).expect("room");
    std::fs::write(ftrace, "a-7 [001] 1.0: cpu_idle: state=1 cpu_id=1\na-7 [001] 1.1: sched_\u{1b}[32mfoo: x=1\n")
        .expect("room");
    let run = ["run", "--platform", "juno-r0", "--workload", &workload];
    let verbs: [Vec<&str>; 8] = [
        [&run[..], &["--log", &log]].concat(),
        [&run[..], &["--format", "csv"]].concat(),
        [&run[..], &["-v"]].concat(),
        vec!["compare", "--platform", "juno-r0", "--workload", &workload, "--policy", "7.2", "--seeds", "1"],
        vec!["trace", "info", &log],
        vec!["trace", "info", &ftrace_text],
        vec!["replay", &log],
        vec!["trace", "info", &log, "--format", "json"],
    ];
    for verb in verbs {
        let outcome = pelton(&verb);
        assert_eq!(outcome.code, 0, "{verb:?}: {}", outcome.stderr);
        let all = outcome.stdout.clone() + &outcome.stderr;
        let drives = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!all.contains(drives) && all.contains("\\u001b"), "{verb:?}: {all:?}");
        let formula = outcome.stdout.lines().flat_map(|line| line.split(',')).any(|cell| cell.starts_with('='));
        assert!(!verb.contains(&"csv") || !formula, "{}", outcome.stdout);
    }
}

#[test]
fn events_and_results_do_not_share_standard_output() {
    for output in ["--log", "--trace"] {
        let run = ["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "1ms", output, "-"];
        let refused = pelton(&run);
        assert!(refused.code == 3 && refused.stdout.is_empty(), "{}", refused.stdout);
        assert!(refused.stderr.contains("cannot go to standard output"), "{}", refused.stderr);
    }
}

/// Logs of our runs contain the policy and the machine: both are used without being requested.
#[test]
fn a_run_of_ours_is_validated_on_its_own_machine() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (_, log) = file(&folder, "own.plog");
    let cases = [
        ("juno-r0", "busy:cpus=0", "7.2", ""),
        ("hikey-6220", "periodic:run_us=3000,period_us=16000", "7.2", "headroom=frequency"),
        ("intel-i7-6700", "periodic:run_us=300,period_us=2000,threads=6", "5.4", ""),
        ("sc7180-trogdor", "periodic:run_us=300,period_us=2000,threads=6", "7.2", ""),
    ];
    for (platform, workload, profile, set) in cases {
        let run =
            ["run", "--platform", platform, "--workload", workload, "--profile", profile, "--duration", "1s", "-q"];
        let sets: &[&str] = if set.is_empty() { &[] } else { &["--set", set] };
        good(&[&run[..], &["--log", &log], sets].concat());
        let own = pelton(&["validate", &log]);
        assert_eq!(own.code, 0, "{platform} {workload}: {}", own.stdout);
        assert!(own.stdout.contains("cpu_frequency") && own.stdout.contains(" 0 divergent"), "{}", own.stdout);
    }
    // Headroom is put on another number there: a rule that is not the run's is noticed.
    let other = pelton(&["validate", &log, "--profile", "5.10"]);
    assert!(other.code == 1 && other.stdout.contains("raw_freq"), "{}", other.stdout);
}
