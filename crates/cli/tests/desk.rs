// SPDX-License-Identifier: GPL-2.0-or-later
//! Complaints of users at the desk: answers that did not say what they leave out, options that were not where they were
//! looked for, messages without a place.

use crate::support::{Outcome, command, file, good, pelton};
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

const WORLD: [&str; 6] = ["--platform", "juno-r0", "--workload", "busy", "--duration", "200ms"];

fn asked(verb: &[&str], rest: &[&str]) -> Outcome {
    pelton(&[verb, &WORLD, rest].concat())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The program with something on its standard input.
fn fed(arguments: &[&str], input: &str) -> Outcome {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it is read");
    child.wait_with_output().expect("it ends").into()
}

#[test]
fn one_run_takes_a_policy_as_a_comparison_does() {
    for verb in [&["run"][..], &["explain"]] {
        let outcome = asked(verb, &["--policy", "7.2,rate_limit_us=5000", "--format", "json"]);
        assert_eq!(outcome.code, 0, "{verb:?}\n{}", outcome.stderr);
        assert_eq!(json(&outcome.stdout)["run"]["rate_limit_us"], 5000, "{verb:?}");
    }
    assert!(good(&["policy", "show", "--policy", "4.16,rt_signal=on"]).contains("on (set)"));
    let two = asked(&["run"], &["--policy", "4.16", "--profile", "7.2"]);
    assert!(two.code == 2 && two.stderr.contains("two profiles"), "{}", two.stderr);
    let wrong = asked(&["run"], &["--policy", "7.2,rt_signl=on"]);
    assert!(wrong.code == 3 && wrong.stderr.contains("--policy:1:5"), "{}", wrong.stderr);
}

#[test]
fn a_policy_comes_from_standard_input_too() {
    let outcome = fed(&[&["run"], &WORLD[..], &["--policy", "-"]].concat(), "profile = \"6.6\"\n");
    assert!(outcome.code == 0 && outcome.stdout.contains("policy 6.6"), "{}{}", outcome.stdout, outcome.stderr);
}

/// schedutil has a frequency that it needs; what another governor would have needed is not worked out.
#[test]
fn lateness_under_another_governor_is_not_known_and_not_0() {
    for governor in ["performance", "ondemand", "powersave"] {
        let set = format!("governor={governor}");
        let run = asked(&["run"], &["--set", &set, "--format", "json", "-q"]);
        let rows = json(&run.stdout)["rows"].clone();
        let row = |name: &str| {
            let found = rows.as_array().and_then(|rows| rows.iter().find(|row| row["quantity"] == name));
            found.cloned().unwrap_or_default()
        };
        for name in ["short_ms", "over_ms", "frequency_error_mhz_s", "step_latency_ms_avg", "step_latency_ms_max"] {
            assert!(row(name)["value"].is_null(), "{governor}: {name}: {}", row(name));
            assert!(row(name)["note"].as_str().is_some_and(|note| note.contains("governor=schedutil")), "{governor}");
        }
    }
    let limits = ["--policy", "7.2", "--policy", "7.2,governor=performance", "--seeds", "6", "-q", "--summary"];
    let table = asked(&["compare"], &limits).stdout;
    let lines: Vec<&str> = table.lines().skip_while(|line| !line.contains("step_latency_ms_avg")).take(2).collect();
    assert!(lines[1].contains("[2]") && lines[1].contains(" - "), "{table}");
    assert!(table.contains("step_latency_ms_avg: not known"), "{table}");
}

#[test]
fn a_task_of_another_policy_is_not_taken_for_the_one_at_its_place() {
    let two = ["--policy", "7.2", "--policy", "7.2,governor=ondemand", "--seeds", "2", "-q", "--format", "csv"];
    let csv = asked(&["compare"], &two).stdout;
    let of_worker = csv.lines().filter(|line| line.contains("task,sugov:0,run_ms"));
    let medians: Vec<&str> = of_worker.filter_map(|line| line.split("ms,ms,").nth(1)?.split(',').next()).collect();
    assert!(medians.len() == 2 && !medians[0].is_empty() && medians[1].is_empty(), "{medians:?}");
}

#[test]
fn a_front_says_what_its_energies_leave_out() {
    let policies = ["--policy", "7.2", "--policy", "6.6", "--seeds", "2", "-q"];
    // Nothing is behind its power, so that nothing is said of idle CPUs.
    let world = ["front", "--platform", "qemu-arm64-big-little", "--workload", "busy", "--duration", "200ms"];
    let front = |format: &str| pelton(&[&world[..], &policies[..], &["--format", format]].concat()).stdout;
    let note = "active power only";
    assert!(front("table").contains(&format!("energy: {note}")), "{}", front("table"));
    assert!(front("csv").lines().skip(1).all(|line| line.contains(note)));
    let other = asked(&["front"], &["--policy", "7.2", "--policy", "7.2,governor=ondemand", "--seeds", "2"]);
    assert!(other.code == 3 && other.stderr.contains("another governor than schedutil"), "{}", other.stderr);
    assert!(json(&front("json"))["pairs"][0]["energy_note"].as_str().is_some_and(|said| said.starts_with(note)));
}

#[test]
fn a_picture_says_which_number_is_not_known() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "a.svg");
    let world = ["--platform", "sc7280-herobrine", "--workload", "busy", "--duration", "100ms", "--plot", &name, "-q"];
    good(&[&["compare"], &world[..], &["--policy", "7.2", "--policy", "6.6", "--seeds", "2", "--summary"]].concat());
    let drawn = std::fs::read_to_string(path).expect("a picture");
    assert!(drawn.contains("energy_mj: not known"), "{drawn}");
}

#[test]
fn a_policy_that_does_not_fit_the_workload_is_shown_where_it_was_typed() {
    let run = |workload: &str, rest: &[&str]| {
        pelton(&[&["run", "--platform", "juno-r0", "--duration", "10ms", "--workload", workload], rest].concat())
    };
    for (workload, rest, words) in [
        ("busy + boostpulse:at_ms=3", &[][..], &["--workload:1:8", "governor=interactive", "profile 7.2"][..]),
        (
            "busy + boost:of=busy,prefer_idle=1",
            &["--profile", "4.12"],
            &["--workload:1:22", "boost_form=later", "profile 4.12"],
        ),
        (
            "busy + boost:of=busy,percent=-5",
            &["--policy", "7.2,boost_form=hold"],
            &["--workload:1:22", "--policy 7.2,boost_form=hold"],
        ),
    ] {
        let outcome = run(workload, rest);
        assert_eq!(outcome.code, 3, "{workload}\n{}", outcome.stderr);
        for word in words.iter().chain(&["allowed:"]) {
            assert!(outcome.stderr.contains(word), "{workload}: {word}\n{}", outcome.stderr);
        }
    }
    let absent = run("busy + boost:of=bsy,percent=5", &[]);
    assert!(absent.code == 0 && absent.stderr.contains("`bsy` has no effect"), "{}", absent.stderr);
}

#[test]
fn what_is_no_workload_says_what_it_may_be() {
    let folder = tempfile::tempdir().expect("temporary folder");
    std::fs::write(folder.path().join("load"), "{}").expect("room");
    for (workload, words) in [
        ("nofile:x", "unknown workload `nofile`"),
        ("./no.jsn", "no such file"),
        ("load", "write ./load"),
        ("periodc:run_us=3", "did you mean `periodic`?"),
    ] {
        let outcome =
            command(&["run", "--platform", "juno-r0", "--workload", workload]).current_dir(folder.path()).output();
        let outcome = Outcome::from(outcome.expect("the program starts"));
        assert!(outcome.code == 3 && outcome.stderr.contains(words), "{workload}\n{}", outcome.stderr);
    }
}

/// The number of a task that ended comes again, for one of the same name.
#[test]
fn tasks_of_one_name_and_number_make_a_workload() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [(path, trace), (_, made)] = ["trace.txt", "made.json"].map(|name| file(&folder, name));
    let mut text = "# tracer: nop\n#\n".to_owned();
    let mut line = |at: &str, what: &str| text += &format!("          <idle>-0     [000] d... {at}: {what}\n");
    let switch = |from: &str, state: &str, to: &str| {
        let task = |side: &str, who: &str| {
            let (name, tid) = who.rsplit_once('-').expect("name-tid");
            format!("{side}_comm={name} {side}_pid={tid} {side}_prio=120")
        };
        format!("sched_switch: {} prev_state={state} ==> {}", task("prev", from), task("next", to))
    };
    for (start, other) in [(1, "a-6"), (2, "b-7")] {
        line(&format!("{start}.000000"), "sched_process_fork: comm=init pid=1 child_comm=a child_pid=5");
        line(&format!("{start}.000100"), &switch("swapper/0-0", "R", "a-5"));
        line(&format!("{start}.010000"), &switch("a-5", "S", other));
        line(&format!("{start}.020000"), &switch(other, "S", "a-5"));
        line(&format!("{start}.030000"), &switch("a-5", "X", "swapper/0-0"));
        line(&format!("{start}.040000"), "sched_process_exit: comm=a pid=5 prio=120");
    }
    std::fs::write(path, text).expect("room");
    let from = ["workload", "from-trace", &trace, "--recorded-on", "juno-r0", "-o", &made, "-q"];
    assert_eq!(pelton(&from).code, 0);
    let ran = pelton(&["run", "--platform", "juno-r0", "--workload", &made, "-q", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_calibration_by_number_says_on_which_cpu_it_counts() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "t.json");
    let text = r#"{"tasks": {"a": {"run": 1000, "loop": 3}}, "global": {"calibration": 116, "duration": 1}}"#;
    std::fs::write(path, text).expect("room");
    let run = |platform: &str| pelton(&["run", "--platform", platform, "--workload", &name]).stderr;
    assert!(run("pixel6-gs101").contains("as if 116 ns per loop"), "{}", run("pixel6-gs101"));
    assert_eq!(run("hikey-6220"), "", "all its CPUs are of one size");
}

#[test]
fn help_is_found_wherever_it_is_looked_for() {
    assert_eq!(good(&["help", "--help"]), good(&["help"]));
    assert_eq!(good(&["help", "compare", "-h"]), good(&["help", "compare"]));
    assert!(good(&["run", "-V"]).starts_with("pelton"));
    for page in [&["policy", "list"][..], &["platform", "list"], &["platform", "import"], &["front"]] {
        assert!(good(&[page, &["--help"]].concat()).contains("Example"), "{page:?}");
    }
}

/// Own figures of benchmarks come first in a run's result; lists of workloads show benchmarks and their options.
#[test]
fn a_benchmark_is_found_and_its_figure_comes_first() {
    let models = good(&["workload", "list"]);
    assert!(models.contains(" ui-frames ") && models.contains(" schbench "), "{models}");
    let shown = good(&["workload", "show", "periodic"]);
    assert!(shown.contains(" run_us ") && shown.contains(" budget_us ") && shown.contains(" threads "), "{shown}");
    for (workload, figure) in [("ui-frames", "jank_pct"), ("sections:threads=2", "laps_per_s")] {
        let ran = good(&["run", "--platform", "pixel6-gs101", "--workload", workload, "--duration", "2s"]);
        let first = ran.lines().skip(2).take(4).collect::<Vec<_>>().join("\n");
        assert!(first.starts_with("measured by the workload") && ran.contains(figure), "{ran}");
        assert!(ran.find(figure) < ran.find("\ndomains\n"), "{ran}");
    }
    let frames =
        ["compare", "--platform", "pixel6-gs101", "--policy", "7.2", "--policy", "6.1", "--workload", "ui-frames"];
    let compared = good(&[&frames[..], &["--duration", "300ms", "--seeds", "2", "--summary"]].concat());
    assert!(compared.find(" jank_pct ") < compared.find(" energy_mj "), "{compared}");
    let plain = good(&["run", "--platform", "hikey-6220", "--workload", "busy", "--duration", "100ms"]);
    assert!(!plain.contains("measured by"), "nothing to measure: {plain}");
}

#[test]
fn a_board_without_titles_is_shown_without_gaps() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "board.toml");
    let board = "schema = 1\nname = \"mine\"\n[[perf_domain]]\nid = \"a\"\ncpus = [0]\ncapacity = 1024\nopps = [{ khz = 500000 }]\n";
    std::fs::write(path, board).expect("room");
    let shown = good(&["platform", "show", &name]);
    assert!(shown.starts_with("mine\n") && !shown.contains("\n, \n"), "{shown}");
    assert!(shown.contains("domain a: core not stated on CPUs 0"), "{shown}");
}

/// A charted run has what the issue asks for: residency, latency, frequency and utilization, and says over which time.
#[test]
fn charts_show_utilization_and_how_long_the_run_was() {
    let charts = asked(&["run"], &["--charts", "-q"]).stdout;
    for words in ["over time: 0 to 200 ms", "frequency", "utilization", "time in idle states", "time at frequency"] {
        assert!(charts.contains(words), "{words}\n{charts}");
    }
}

#[test]
fn a_part_of_a_trace_is_exported() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (_, log) = file(&folder, "run.plog");
    let load =
        "periodic:run_us=1000,period_us=10000,name=a,cpus=0 + periodic:run_us=1000,period_us=10000,name=b,cpus=1";
    good(&["run", "--platform", "juno-r0", "--workload", load, "--duration", "200ms", "--log", &log]);
    let rows = |rest: &[&str]| {
        let all = ["trace", "export", &log, "--to", "csv", "--event", "sched_switch", "-o", "-"];
        good(&[&all, rest].concat()).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let (all, mine) = (rows(&[]), rows(&["--task", "a-0"]));
    assert!(!mine.is_empty() && mine.len() < all.len(), "{} of {}", mine.len(), all.len());
    let (begin, on_cpu) = (rows(&["--to-time", "50ms"]), rows(&["--cpu", "1"]));
    assert!(
        !begin.is_empty() && begin.iter().all(|row| row.split(',').next().is_some_and(|ns| ns.len() <= 8)),
        "{begin:?}"
    );
    assert!(!on_cpu.is_empty() && on_cpu.iter().all(|row| row.split(',').nth(1) == Some("1")), "{on_cpu:?}");
}

/// An rt-app file made of a log says which group each task is in, and what it has no words for is reported.
#[test]
fn an_rt_app_file_of_a_run_with_groups_names_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name).display().to_string();
    let (log, made, again) = (file("log"), file("made.json"), file("again"));
    let load = "periodic:run_us=2000,period_us=10000,threads=2,group=/a + busy:group=/a/b + busy + \
                group:path=/a,cpu.weight=300 + group:path=/a/b,cpu.max=20000 50000";
    let about = ["--platform", "juno-r2", "--profile", "6.12", "-q", "--duration", "200ms"];
    assert_eq!(pelton(&[&["run", "--workload", load, "--log", &log], &about[..]].concat()).code, 0);
    let from = pelton(&["workload", "from-trace", &log, "-o", &made]);
    assert!(
        from.code == 0 && from.stderr.contains("quotas and clamps of task groups: those of /a, /a/b"),
        "{}",
        from.stderr
    );
    let text = std::fs::read_to_string(&made).expect("written");
    assert_eq!([r#""taskgroup": "/a""#, r#""taskgroup": "/a/b""#].map(|group| text.matches(group).count()), [2, 1]);
    assert_eq!(pelton(&[&["run", "--workload", &made, "--log", &again], &about[..]].concat()).code, 0);
    assert_eq!(pelton(&["validate", &again]).code, 0);
}

/// A trace of one moment: no part of it is left, wherever it begins.
#[test]
fn a_trace_of_one_moment_cannot_be_replayed_and_that_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("trace.txt").display().to_string();
    let line = "  <idle>-0  [000] d..2.  1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 \
                prev_state=R ==> next_comm=a next_pid=5 next_prio=120\n";
    std::fs::write(&trace, line).expect("written");
    let said = pelton(&["replay", &trace, "--platform", "juno-r2"]);
    assert!(said.code == 3 && said.stderr.contains("no time between its first event and the last"), "{}", said.stderr);
    assert!(!said.stderr.contains("--from"), "{}", said.stderr);
    let two = format!("{line}{}", line.replace("1.000000", "1.500000").replace("[000]", "[001]"));
    std::fs::write(&trace, two).expect("written");
    let late = pelton(&["replay", &trace, "--platform", "juno-r2", "--from", "5s"]);
    assert!(late.code == 3 && late.stderr.contains("choose an earlier --from"), "{}", late.stderr);
}
