// SPDX-License-Identifier: GPL-2.0-or-later
//! Behaviour files: claims fail in worlds that are wrong, and a recording is judged as the run that it is of.

use pelton_lab::behaviour::result::{Checked, Holds};
use pelton_lab::behaviour::simulate::TAIL_NS;
use pelton_lab::plan::PolicySpec;
use pelton_lab::verbs::check::{CheckRequest, check, rtapp};
use pelton_lab::verbs::export::{ExportForm, ExportRequest, export};
use pelton_lab::verbs::inputs::InputRequest;
use pelton_lab::verbs::run::{RunRequest, run_into, trace_header};
use pelton_lab::watch::Unwatched;
use pelton_scenario::behaviour;
use pelton_trace::PeltonLog;
use std::fs::File;
use std::path::{Path, PathBuf};

const BOARDS: [&str; 3] = ["juno-r0", "salvator-xs-r8a77951", "chromebook-kukui-mt8183"];

fn request(name: &str, boards: &[&str]) -> CheckRequest {
    let boards = boards.iter().map(|board| (*board).to_owned()).collect();
    CheckRequest { behaviour: name.to_owned(), boards, seeds: Some(1), ..CheckRequest::default() }
}

fn checked(request: &CheckRequest) -> Checked {
    check(request, &Unwatched).unwrap_or_else(|error| panic!("{}: {error}", request.behaviour))
}

#[test]
fn the_main_claim_of_every_behaviour_fails_in_a_wrong_world() {
    for name in behaviour::names() {
        let result = checked(&CheckRequest { wrong_worlds: true, ..request(name, &BOARDS) });
        let main = result.claims[0].id.as_str();
        assert!(
            result.boards.iter().all(|board| board.verdicts[0].verdict != Holds::Fails),
            "{name}: {main} does not hold: {:?}",
            result.boards
        );
        let noticed = result.wrong_worlds.iter().any(|world| world.claims.iter().any(|id| id == main));
        assert!(noticed, "{name}: no wrong world fails {main}: {:?}", result.wrong_worlds);
        for world in &result.wrong_worlds {
            assert!(!world.rejected_on.is_empty(), "{name}: no claim notices {}", world.name);
        }
    }
}

/// The log of the run with seed 1 of a behaviour on a board.
fn logged(name: &str, board: &str, folder: &Path) -> PathBuf {
    let (_, sized) = rtapp(&behaviour::load(name).expect("built in"), board).expect("it fits");
    let duration_ms = behaviour::load(name).expect("built in").duration_ms;
    let input = InputRequest {
        platform: board.to_owned(),
        workload: format!("{name}.json"),
        workload_text: Some(sized.rtapp),
        duration_ns: Some(u64::from(duration_ms) * 1_000_000 + TAIL_NS),
        ..InputRequest::default()
    };
    let request = RunRequest { input, policy: PolicySpec::parse("7.2"), seed: 1, random_phase: true };
    let prepared = request.prepare(&Unwatched).expect("good inputs");
    let path = folder.join(format!("{name}.plog"));
    let mut log = PeltonLog::new(File::create(&path).expect("a file"), &trace_header(&prepared));
    run_into(&prepared, 1, &mut log, &Unwatched).expect("it runs");
    log.finish().expect("a disk");
    path
}

fn exported(log: &Path, to: ExportForm, name: &str) -> PathBuf {
    let path = log.with_extension(name);
    let request = ExportRequest { trace: log.to_owned(), to, ..ExportRequest::default() };
    export(&request, File::create(&path).expect("a file"), &Unwatched).expect("it is written");
    path
}

/// A number of a recording is that of the run, but for what the time stamps round away.
fn assert_alike(run: &Checked, recording: &Checked, name: &str) {
    let pairs = run.boards[0].verdicts.iter().zip(&recording.boards[0].verdicts);
    for (of_run, of_recording) in pairs {
        let id = &of_run.id;
        assert_eq!(of_run.verdict, of_recording.verdict, "{name}: {id}: {of_run:?} {of_recording:?}");
        let (Some(a), Some(b)) = (of_run.value, of_recording.value) else { continue };
        assert!((a - b).abs() < 0.2, "{name}: {id}: {a} {b}");
    }
    assert!(recording.remarks.is_empty(), "{name}: {:?}", recording.remarks);
}

#[test]
fn a_recording_is_judged_as_the_run_that_it_is_of() {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    for (name, board) in behaviour::names().zip(BOARDS.into_iter().cycle()) {
        let run = checked(&request(name, &[board]));
        let log = logged(name, board, folder.path());
        let forms = [(ExportForm::Ftrace, "txt"), (ExportForm::Perfetto, "pftrace")];
        let traces = forms.into_iter().map(|(form, ending)| exported(&log, form, ending));
        for trace in traces.chain([log.clone()]).collect::<Vec<_>>() {
            let asked = CheckRequest { seeds: None, trace: Some(trace.clone()), ..request(name, &[board]) };
            assert_alike(&run, &checked(&asked), &trace.display().to_string());
        }
    }
}

#[test]
fn what_a_trace_does_not_have_is_not_measured() {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let log = logged("boosted-task", "juno-r0", folder.path());
    let narrow = |events: &[&str], to_ns| {
        let path = folder.path().join("narrow.plog");
        let events = events.iter().map(|event| (*event).to_owned()).collect();
        let request = ExportRequest { trace: log.clone(), events, to_ns, ..ExportRequest::default() };
        export(&request, File::create(&path).expect("a file"), &Unwatched).expect("it is written");
        checked(&CheckRequest { seeds: None, trace: Some(path), ..request_of("boosted-task") }).boards.remove(0)
    };
    let reasons = |board: &pelton_lab::behaviour::result::BoardVerdicts| {
        board.verdicts.iter().map(|v| v.reason.clone().unwrap_or_default()).collect::<Vec<_>>().join("; ")
    };
    let without = narrow(&["sched_switch"], None);
    assert!(reasons(&without).contains("the trace has no cpu_frequency"), "{without:?}");
    assert_eq!(without.verdicts[1].verdict, Holds::Holds, "residency needs switches alone");
    let without = narrow(&["cpu_frequency"], None);
    assert!(reasons(&without).contains("no thread of these tasks was seen"), "{without:?}");
    let cut = narrow(&[], Some(1_000_000_000));
    assert!(reasons(&cut).contains("the trace ends"), "{cut:?}");
    assert!(cut.verdicts.iter().all(|v| v.verdict == Holds::NotMeasured));
}

/// A behaviour of one task, which a recording of 40 ms is judged by.
const SHORT: &str = r#"
schema = 1
name = "short"
question = "Where does it run?"
boards = ["juno-r0"]
duration_ms = 40
[[task]]
name = "mine"
util_pct = 20
period_ms = 16
[[claim]]
id = "small"
text = "it runs on the smallest CPUs"
measure = "residency_pct"
on = "smallest"
min = 60
max = 70
[[claim]]
id = "put"
text = "half of the wake-ups put it there"
measure = "placed_pct"
on = "smallest"
min = 50
max = 50
[[claim]]
id = "in-time"
text = "activations end within their period"
measure = "late_pct"
max = 1
[[claim]]
id = "fast"
text = "it runs at the highest frequency"
measure = "capacity_pct"
min = 90
[[wrong_world]]
name = "none"
why = "tasks are placed without a look at energy"
[wrong_world.set]
energy_aware = "off"
"#;

/// 4 ms on CPU 0, a small one, 2 ms on CPU 1, a large one; more than a second later another thread runs.
fn short_recording() -> String {
    let line = |cpu: u32, time: &str, event: &str| format!("   <...>-1 [00{cpu}] {time}: {event}\n");
    let wakeup =
        |cpu, time| line(cpu, time, &format!("sched_wakeup: comm=mine-0 pid=100 prio=120 success=1 target_cpu={cpu}"));
    let switch = |cpu, time, (prev, prev_tid, state): (&str, u32, u32), (next, next_tid): (&str, u32)| {
        let prev = format!("prev_comm={prev} prev_pid={prev_tid} prev_prio=120 prev_state={state}");
        line(cpu, time, &format!("sched_switch: {prev} next_comm={next} next_pid={next_tid} next_prio=120"))
    };
    let runs = |cpu, from, name, tid| switch(cpu, from, ("swapper", 0, 0), (name, tid));
    let sleeps = |cpu, at, name, tid| switch(cpu, at, (name, tid, 1), ("swapper", 0));
    [
        "cpus=6\n".to_owned(),
        wakeup(0, "1.000000"),
        runs(0, "1.000010", "mine-0", 100),
        sleeps(0, "1.004010", "mine-0", 100),
        wakeup(1, "1.016000"),
        runs(1, "1.016010", "mine-0", 100),
        sleeps(1, "1.018010", "mine-0", 100),
        runs(2, "2.500000", "sh", 7),
        sleeps(2, "2.500100", "sh", 7),
    ]
    .concat()
}

#[test]
fn a_recording_that_goes_on_is_judged_as_far_as_the_behaviour_goes() {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, short_recording()).expect("a disk");
    let asked = CheckRequest {
        behaviour_text: Some(SHORT.to_owned()),
        seeds: None,
        trace: Some(path),
        ..request("short.toml", &["juno-r0"])
    };
    let judged = checked(&asked).boards.remove(0).verdicts;
    let values: Vec<_> = judged.iter().map(|v| (v.verdict, v.value.map(|value| (value * 10.0).round()))).collect();
    let holds = |value| (Holds::Holds, Some(value));
    assert_eq!(values, [holds(667.0), holds(500.0), holds(0.0), (Holds::NotMeasured, None)], "{judged:?}");
    let reason = judged[3].reason.as_deref().unwrap_or_default();
    assert!(reason.contains("no cpu_frequency"), "{reason}");
}

fn request_of(name: &str) -> CheckRequest {
    CheckRequest { seeds: None, ..request(name, &["juno-r0"]) }
}

#[test]
fn boards_of_equal_cpus_have_no_classes() {
    let result = checked(&request("ramp", &["intel-i7-6700"]));
    let residency = &result.boards[0].verdicts[0];
    assert_eq!(residency.verdict, Holds::NotMeasured);
    assert!(residency.reason.as_ref().is_some_and(|why| why.contains("no CPU of this board")), "{residency:?}");
}

#[test]
fn a_wrong_policy_is_shown_where_it_stands() {
    let refused = |policy: &str| {
        let text = include_str!("../../../scenarios/behaviours/small-tasks.toml");
        let text = text.replace("duration_ms = 3000", &format!("policy = \"{policy}\"\nduration_ms = 3000"));
        let asked = CheckRequest { behaviour_text: Some(text), ..request("mine.toml", &["juno-r0"]) };
        check(&asked, &Unwatched).expect_err("it is wrong").to_string()
    };
    assert!(refused("7.3").contains("mine.toml:"), "{}", refused("7.3"));
    assert!(refused("7.2,gate=r1").contains("gate"), "{}", refused("7.2,gate=r1"));
}
