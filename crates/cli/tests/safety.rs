// SPDX-License-Identifier: GPL-2.0-or-later
//! Files that another user put there, and machines that cannot do what is asked for.

#![cfg(unix)]

use crate::support::{Outcome, command, file, good, pelton};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::Duration;

/// More processor time than a refusal takes.
const SOON: Duration = Duration::from_secs(20);

/// Outcome of the program, soon and in little memory.
fn soon(arguments: &[&str]) -> Outcome {
    let limited = "ulimit -v 2000000; exec \"$0\" \"$@\"";
    let program = std::env::var_os("PELTON_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_pelton").into());
    let mut shell = Command::new("sh");
    shell.args(["-c", limited]).arg(program).args(arguments).env("NO_COLOR", "1");
    let (outcome, spent) = crate::support::timed(shell);
    assert!(spent < SOON, "{arguments:?}: {spent:?}");
    outcome
}

fn fifo(path: &str) {
    assert!(Command::new("mkfifo").arg(path).status().expect("a standard command").success());
}

#[test]
fn no_output_is_written_through_a_link_that_lies_in_its_way() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(_, log), (victim, _), (part, part_text)] =
        ["o.plog", "victim", "o.plog.pelton-part"].map(|n| file(&folder, n));
    std::fs::write(&victim, "kept").expect("room");
    let run = ["run", "--platform", "juno-r0", "--workload", "busy", "--duration", "10ms", "-q", "--log", &log];
    for way in ["link", "fifo"] {
        match way {
            "link" => symlink(&victim, &part).expect("links"),
            _ => fifo(&part_text),
        }
        let refused = soon(&run);
        assert!(refused.code == 4 && refused.stderr.contains("is in the way"), "{way}: {}", refused.stderr);
        assert_eq!(std::fs::read_to_string(&victim).expect("still there"), "kept");
        std::fs::remove_file(&part).expect("still there");
    }
    // Names that the program makes in a folder replace a link, and do not follow it.
    let (logs, logs_text) = file(&folder, "logs");
    std::fs::create_dir(&logs).expect("room");
    symlink(&victim, logs.join("rt-app-busy-0-0.log")).expect("links");
    good(&[
        "run",
        "--platform",
        "juno-r0",
        "--workload",
        "periodic:run_us=100,period_us=1000,name=busy",
        "--duration",
        "10ms",
        "-q",
        "--rt-app-log",
        &logs_text,
    ]);
    assert_eq!(std::fs::read_to_string(&victim).expect("still there"), "kept");
}

#[test]
fn ctrl_c_leaves_a_whole_file_and_says_what_the_part_is_called() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (log, log_text) = file(&folder, "o.plog");
    let (part, part_text) = file(&folder, "o.plog.pelton-part");
    let run = ["run", "--platform", "hikey-6220", "--workload", "busy", "--log", &log_text, "--duration"];
    good(&[&run[..], &["10ms", "-q"]].concat());
    let whole = std::fs::read(&log).expect("a log");
    let mut child = command(&[&run[..], &["720h"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    while std::fs::metadata(&part).map_or(0, |m| m.len()) == 0 {
        assert_eq!(child.try_wait().expect("child"), None);
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("a standard command");
    assert!(killed.success());
    let outcome: Outcome = child.wait_with_output().expect("child").into();
    assert_eq!((outcome.code, std::fs::read(&log).expect("still there")), (130, whole));
    assert!(outcome.stderr.contains(&format!("{part_text} is partial")), "{}", outcome.stderr);
    assert!(good(&["trace", "info", &part_text]).contains("ends early"));
    // Without files no file is called partial.
    let mut child = command(&["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "720h"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    crate::support::until_it_listens(&child);
    assert_eq!(child.try_wait().expect("child"), None);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let outcome: Outcome = child.wait_with_output().expect("child").into();
    assert!(outcome.code == 130 && !outcome.stderr.contains("partial"), "{}", outcome.stderr);
}

#[test]
fn an_export_that_was_killed_is_done_again_by_the_same_call() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, out) = file(&folder, "tables");
    let export = ["trace", "export", "-", "--to", "csv", "-o", &(out + "/")].map(str::to_owned);
    let words: Vec<&str> = export.iter().map(String::as_str).collect();
    let mut child = command(&words).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"# tracer: nop\n").expect("it reads");
    let mut n = 0;
    while !path.join("cpu_idle.csv.pelton-part").exists() {
        n += 1;
        writeln!(stdin, "a-7 [001] {n}.000001: cpu_idle: state=1 cpu_id=1").expect("it reads");
    }
    child.kill().expect("it runs");
    child.wait().expect("child");
    assert!(path.join("trace.json.pelton-part").exists());
    let again = |code: i32| {
        let mut child =
            command(&words).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let text = b"# tracer: nop\na-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n";
        // A call that refuses reads nothing.
        let _ = child.stdin.take().expect("a pipe").write_all(text);
        let outcome: Outcome = child.wait_with_output().expect("child").into();
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
    };
    std::fs::write(path.join("of the user"), "kept").expect("room");
    again(2);
    std::fs::remove_file(path.join("of the user")).expect("still there");
    again(0);
    let left = std::fs::read_dir(&path).expect("a folder").flatten();
    let mut left: Vec<_> = left.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    left.sort();
    assert_eq!(left, ["cpu_idle.csv", "tasks.csv", "trace.json"]);
    again(2);
}

#[test]
fn what_has_no_end_is_not_read() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (table, table_text) = file(&folder, "t.csv");
    let (topology, topology_text) = file(&folder, "t.topo.json");
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/trace/kernel-placement/arm64-mixed.csv.gz");
    let packed = std::fs::File::open(recorded).expect("part of the repository");
    std::io::copy(&mut flate2::read::MultiGzDecoder::new(packed), &mut std::fs::File::create(table).expect("room"))
        .expect("gzip");
    symlink("/dev/zero", &topology).expect("links");
    let refused = soon(&["validate", &table_text]);
    assert!(refused.code == 3 && refused.stderr.contains("is not a regular file"), "{}", refused.stderr);
    std::fs::remove_file(&topology).expect("there");
    fifo(&topology_text);
    assert_eq!(soon(&["validate", &table_text]).code, 3);
    // A copy of /sys whose values are links.
    let (cpu, sys) = file(&folder, "sys");
    for n in 0..2 {
        let cpu = cpu.join(format!("devices/system/cpu/cpu{n}"));
        std::fs::create_dir_all(&cpu).expect("room");
        symlink("/dev/zero", cpu.join("cpu_capacity")).expect("links");
        std::fs::create_dir_all(cpu.join("cpufreq")).expect("room");
        fifo(cpu.join("cpufreq/scaling_available_frequencies").to_str().expect("plain"));
    }
    let told = soon(&["platform", "import", &sys]);
    assert!([0, 3].contains(&told.code), "{}", told.stderr);
}

#[test]
fn a_file_names_nothing_outside_its_folder() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (inner, _) = file(&folder, "inner");
    std::fs::create_dir(&inner).expect("room");
    std::fs::write(folder.path().join("secret.dtsi"), "TOKEN hidden\n").expect("room");
    let tree = inner.join("x.dts");
    let lines = "/include/ \"/etc/passwd\"\n#include \"../secret.dtsi\"\n#include \"../../../../etc/passwd\"\n/ { cpus { }; };\n";
    std::fs::write(&tree, format!("/dts-v1/;\n{lines}")).expect("room");
    let told = pelton(&["platform", "import", tree.to_str().expect("plain")]);
    assert!(!told.stderr.contains("TOKEN") && !told.stderr.contains("root:"), "{}", told.stderr);
    assert_eq!(told.code, 3, "it has no CPUs: {}", told.stderr);

    let own = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/published/schedtune.toml"));
    let own = own.expect("part of the repository");
    let line = own.lines().find(|line| line.starts_with("platform = ")).expect("every table has one").to_owned();
    let table = inner.join("own.toml");
    for path in ["/proc/self/environ", "../secret.dtsi", "-"] {
        let given = if path.starts_with("..") { format!("{}/{path}", inner.display()) } else { path.to_owned() };
        std::fs::write(&table, own.replace(&line, &format!("platform = \"{given}\""))).expect("room");
        let mut command = command(&["reproduce", table.to_str().expect("plain"), "--seeds", "1"]);
        let refused: Outcome = command.env("TOKEN", "hidden").output().expect("the program starts").into();
        assert!(refused.code == 3 && refused.stderr.contains("out of the folder"), "{path}: {}", refused.stderr);
        assert!(!refused.stderr.contains("hidden"), "{path}: {}", refused.stderr);
    }
}

#[test]
fn a_billion_laughs_take_no_memory() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, bomb) = file(&folder, "bomb.yml");
    let mut text = "a: &a [lol,lol,lol,lol,lol,lol,lol,lol,lol]\n".to_owned();
    for (before, name) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        text += &format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(","));
    }
    std::fs::write(path, text).expect("room");
    let refused = soon(&["platform", "import", &bomb]);
    assert!(refused.code == 3 && refused.stderr.contains("aliases"), "{}", refused.stderr);
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for words in [&["--help"][..], &["run", "--help"], &["--version"], &["platform", "list"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let outcome: Outcome = command(words).stdout(full).output().expect("the program starts").into();
        assert_eq!(outcome.code, 4, "{words:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("cannot write to standard output"), "{words:?}: {}", outcome.stderr);
    }
}

#[test]
fn messages_about_the_command_line_stay_short() {
    let long = "x".repeat(100_000);
    let option = format!("--{long}");
    let lines = "word\n".repeat(10_000);
    for words in [
        &["run", &option][..],
        &[&long],
        &["run", "--platform", "juno-r0", &long],
        &["run", "--hz", &long],
        &["run", "--format", &lines],
    ] {
        let refused = pelton(words);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.len() < 4000, "{} bytes: {:.500}", refused.stderr.len(), refused.stderr);
    }
}

#[test]
fn a_table_is_the_same_twice_but_for_the_time_it_took() {
    let once = || {
        let text = good(&["reproduce", "rt-utilization", "--seeds", "1", "--format", "json", "-q"]);
        let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        forget_times(&mut value);
        value
    };
    assert_eq!(once(), once());
}

/// Removes what is measured on the clock of this machine.
fn forget_times(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|key, _| key != "seconds");
            map.values_mut().for_each(forget_times);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(forget_times),
        _ => {}
    }
}

/// Runs to the end with so much address space.
fn in_kib(kib: u64, words: &[&str]) -> Outcome {
    let program = std::env::var_os("PELTON_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_pelton").into());
    let limited = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).arg(program).args(words).env("NO_COLOR", "1");
    // A signal, an abort for one, has no exit code: that fails here.
    shell.output().expect("a standard shell").into()
}

/// Address space that is enough to begin with: docs/robustness.md.
fn enough_kib(jobs: u64) -> u64 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    (64 << 10) + (3 << 10) * cpus.max(jobs)
}

#[test]
fn a_machine_without_memory_ends_the_program_with_a_sentence() {
    let words = ["run", "--platform", "juno-r0", "--workload", "hackbench:groups=250,fds=20,loops=1", "-q"];
    let outcome = in_kib(enough_kib(0), &words);
    assert_eq!(outcome.code, 4, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("not enough memory"), "{}", outcome.stderr);
}

#[test]
fn every_verb_begins_with_the_stated_address_space_and_refuses_less() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(_, log), (_, tables)] = ["l.plog", "tables/"].map(|name| file(&folder, name));
    let of = ["--platform", "juno-r0", "--workload", "periodic:run_us=300,period_us=2000", "--duration", "20ms", "-q"];
    let with = |verb: &[&'static str], more: &[&'static str]| [verb, &of, more].concat();
    good(&[&with(&["run"], &["--log"])[..], &[&log]].concat());
    let calls: [(u64, Vec<&str>); 9] = [
        (0, vec!["platform", "list"]),
        (0, with(&["run"], &[])),
        (0, with(&["explain"], &[])),
        (0, with(&["front"], &["--seeds", "2"])),
        (40, with(&["compare"], &["--policy", "7.2", "--policy", "6.6", "--seeds", "20", "--jobs", "40"])),
        (0, vec!["reproduce", "rt-utilization", "--seeds", "1", "-q"]),
        (0, vec!["validate", &log]),
        (0, vec!["replay", &log]),
        (0, vec!["trace", "export", &log, "--to", "parquet", "-o", &tables]),
    ];
    for (jobs, words) in &calls {
        let enough = enough_kib(*jobs);
        for kib in [50_000, 60_000, enough - 1] {
            let refused = in_kib(kib, words);
            assert_eq!(refused.code, 4, "{kib} KiB: {words:?}: {}", refused.stderr);
            assert!(refused.stderr.contains("not enough memory: the address space"), "{words:?}: {}", refused.stderr);
        }
        let began = in_kib(enough, words);
        assert!([0, 1, 5].contains(&began.code), "{enough} KiB: {words:?}: {} {}", began.code, began.stderr);
    }
    // Where it ends in the middle of the work of many threads.
    for more in (0..10).map(|step| step * 7000) {
        let heavy = "hackbench:groups=100,fds=20,loops=1";
        let words = ["compare", "--platform", "juno-r0", "--workload", heavy, "--duration", "20ms", "--policy", "7.2"];
        let words = [&words[..], &["--policy", "6.6", "--seeds", "2", "--jobs", "4", "-q"]].concat();
        let outcome = in_kib(enough_kib(4) + more, &words);
        assert!([0, 4].contains(&outcome.code), "{more} KiB more: {} {}", outcome.code, outcome.stderr);
    }
}

#[test]
fn titles_and_names_of_sources_are_text_wherever_they_are_shown() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let evil = "a\\e]0;t\\a\\u202e\\n[x]|<img src=x>[l](http://x)";
    let info = format!(
        "name: \"{evil}\"\nabi: \"arm64\"\ncpus-count: 2\ncpu-capacities: {{0: 512, 1: 1024}}\n\
         freq-domains: [[0],[1]]\nfreqs: {{0: [100000, 200000], 1: [100000, 300000]}}\n"
    );
    let (source, source_text) = file(&folder, "p\n[evil]\u{1b}[2J<b>.yml");
    std::fs::write(source, info.replace("\\\\", "\\")).expect("room");
    let imported = pelton(&["platform", "import", &source_text]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    let (platform, platform_text) = file(&folder, "imported.toml");
    std::fs::write(platform, &imported.stdout).expect("room");
    let task = r#"{"tasks": {"<img src=x>[l](http://x)|\u001b[2J&": {"loop": -1, "run": 500, "sleep": 500}}}"#;
    let [(tasks, tasks_text), (picture, picture_text)] = ["t.json", "p.svg"].map(|name| file(&folder, name));
    std::fs::write(tasks, task).expect("room");
    let run = ["run", "--platform", "juno-r0", "--workload", &tasks_text, "--duration", "20ms"];
    let shown = [
        imported.stdout,
        imported.stderr,
        good(&["platform", "show", &platform_text]),
        good(&["platform", "show", &platform_text, "--format", "json"]),
        good(&["platform", "check", &platform_text]),
        pelton(&run).stdout,
        pelton(&[&run[..], &["--format", "csv"]].concat()).stdout,
    ];
    for text in &shown {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{text}");
    }
    let page = pelton(&[&run[..], &["--format", "markdown", "--plot", &picture_text]].concat());
    assert!(page.code == 0 && page.stdout.contains("&lt;img src=x>[l]\\(http://x)\\|\\\\u001b"), "{}", page.stdout);
    assert!(!page.stdout.contains("<img") && !page.stdout.contains("]("), "{}", page.stdout);
    let drawn = std::fs::read_to_string(picture).expect("a picture");
    assert!(!drawn.contains("<img") && !drawn.contains('\u{1b}'), "{drawn:.2000}");
}
