// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton check`: verdicts and exit codes, the rt-app file and the steps for hardware.

use crate::support::{file, good, pelton};

#[test]
fn verdicts_decide_the_exit_code() {
    let board = ["check", "capped-task", "--board", "juno-r0", "--seeds", "2"];
    let holds = pelton(&board);
    assert_eq!(holds.code, 0, "{}", holds.stderr);
    assert!(holds.stdout.contains("of 2 verdicts 2 hold, 0 fail, 0 not measured; no claim fails"), "{}", holds.stdout);
    let fails = pelton(&[&board[..], &["--policy", "6.6"]].concat());
    assert_eq!(fails.code, 1, "{}", fails.stderr);
    assert!(
        fails.stdout.contains("FAILS") && fails.stdout.contains("at-its-clamp fails on 1 of 1 boards (juno-r0)"),
        "{}",
        fails.stdout
    );
    let open = pelton(&["check", "ramp", "--board", "intel-i7-6700", "--seeds", "1"]);
    assert_eq!(open.code, 5, "{}", open.stdout);
    assert!(open.stdout.contains("not measured: no CPU of this board"), "{}", open.stdout);
}

#[test]
fn each_verdict_is_a_line_of_csv() {
    let csv = good(&["check", "capped-task", "--board", "juno-r0", "--seeds", "1", "--format", "csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "behaviour,board,claim,measure,on,unit,value,min,max,verdict,reason");
    assert_eq!(lines[1], "capped-task,juno-r0,at-its-clamp,above_clamp_pct,,%,0,,5,holds,");
    assert_eq!(lines.len(), 3, "{csv}");
}

#[test]
fn the_tasks_and_the_steps_for_hardware_are_written() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (_, tasks) = file(&folder, "tasks.json");
    good(&["check", "boosted-task", "--rt-app", "juno-r0", "-o", &tasks]);
    let text = std::fs::read_to_string(&tasks).expect("it was written");
    assert!(text.contains("\"util_min\": 717") && text.contains("\"calibration\": \"CPU1\""), "{text}");
    let (_, log) = file(&folder, "run.plog");
    good(&["run", "--platform", "juno-r0", "--workload", &tasks, "--duration", "3300ms", "--log", &log, "--quiet"]);
    let judged = good(&["check", "boosted-task", "--trace", &log]);
    assert!(judged.contains("of 2 verdicts 2 hold"), "{judged}");
    let steps = good(&["check", "boosted-task", "--board", "juno-r0", "--instructions"]);
    for part in ["--rt-app juno-r0", "schedutil", "-e sched_switch", "-e cpu_frequency", "--trace boosted-task.dat"] {
        assert!(steps.contains(part), "{part}\n{steps}");
    }
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, name) = file(&folder, "mine.toml");
    std::fs::write(path, "schema = 1\nname = \"mine\"\nboards = [\"juno-r3\"]\nduration_ms = 0\n").expect("written");
    let refused = pelton(&["check", &name]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("mine.toml:4:15"), "{}", refused.stderr);
    for (words, code, part) in [
        (&["check", "capped"][..], 3, "did you mean `capped-task`"),
        (&["check", "capped-task", "--board", "juno"], 3, "--board:1:1"),
        (&["check", "capped-task", "--trace", "x.dat", "--seeds", "2"], 2, "cannot be used with"),
        (&["check", "capped-task", "--rt-app", "juno-r0"], 2, "--output"),
        (&["check", "--seeds", "2"], 2, "required"),
        (&["check", "capped-task", "--trace", "no-such.dat"], 3, "no-such.dat"),
    ] {
        let refused = pelton(words);
        assert_eq!(refused.code, code, "{words:?}\n{}", refused.stderr);
        assert!(refused.stderr.contains(part), "{words:?}\n{}", refused.stderr);
    }
}
