// SPDX-License-Identifier: GPL-2.0-or-later
//! Perfetto traces as a source: our own, those of Perfetto's own messages, damaged ones.

use crate::synthetic;
use std::path::{Path, PathBuf};
use std::process::Command;

use pelton_schema::{Event, Sink};
use pelton_trace::import::{Format, OpenOptions, TraceInfo, open};
use pelton_trace::{FtraceText, PerfettoTrace};

fn read(path: &Path) -> Option<(Vec<(u64, Event)>, TraceInfo)> {
    let mut source = open(path, &OpenOptions::default()).ok()?;
    let mut events = Vec::new();
    while let Some(timed) = source.next().expect("no fault of the system") {
        assert!(events.last().is_none_or(|&(time, _)| time <= timed.time_ns), "time runs backwards");
        events.push((timed.time_ns, timed.event));
    }
    Some((events, source.info().clone()))
}

fn exported(count: usize) -> (Vec<(u64, Event)>, Vec<u8>) {
    let events: Vec<_> = synthetic::Synthetic::new(1).take(count).collect();
    let mut file = Vec::new();
    let mut trace = PerfettoTrace::new(&mut file, &synthetic::header());
    events.iter().for_each(|(time_ns, event)| trace.event(*time_ns, event));
    trace.finish().expect("a vector takes everything");
    (events, file)
}

fn is_ftrace(event: &Event) -> bool {
    use Event::{CpuFrequency, CpuIdle, IrqEntry, IrqExit, SchedMigrateTask, SchedSwitch, SchedWakeup, SchedWaking};
    matches!(
        event,
        SchedSwitch { .. }
            | SchedWaking { .. }
            | SchedWakeup { .. }
            | SchedMigrateTask { .. }
            | CpuFrequency { .. }
            | CpuIdle { .. }
            | IrqEntry { .. }
            | IrqExit { .. }
    )
}

/// Events of one instant have no order among CPUs.
fn sorted(events: &[(u64, Event)]) -> Vec<(u64, String)> {
    let mut events: Vec<_> = events
        .iter()
        .filter(|(_, event)| is_ftrace(event))
        .map(|(time_ns, event)| (*time_ns, format!("{event:?}")))
        .collect();
    events.sort();
    events
}

#[test]
fn our_own_traces_come_back() {
    let (written, file) = exported(60_000);
    let path = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(path.path(), &file).expect("room");
    let (found, info) = read(path.path()).expect("opens");
    assert!(sorted(&written) == sorted(&found), "{} and {} events", written.len(), found.len());
    assert_eq!((info.format, info.is_complete()), (Format::Perfetto, true), "{:?}", info.damage);
    assert!(info.events.contains_key("pelt_se") && info.events.contains_key("pelt_cfs"), "{:?}", info.events);
    assert_eq!(info.task_name(1), synthetic::header().tasks[1]);
    for (event, columns) in
        [("pelt_se", ["tid", "util_avg"]), ("pelt_cfs", ["cpu", "util_avg"]), ("pelt_rt", ["cpu", "util_avg"])]
    {
        assert!(columns.iter().all(|column| info.carries(event, column)), "{event}");
    }
    assert!(!info.carries("pelt_se", "cpu") && !info.carries("pelt_se", "load_avg"), "no track has them");
}

/// Events that tracefs' text can say come back from it.
#[test]
fn our_own_ftrace_text_comes_back() {
    use Event::{PeltCfs, PeltDl, PeltIrq, PeltRt, PeltSe};
    let events: Vec<_> = synthetic::Synthetic::new(1).take(20_000).collect();
    let path = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut trace = FtraceText::new(path.reopen().expect("opens"), &synthetic::header());
    events.iter().for_each(|(time_ns, event)| trace.event(*time_ns, event));
    let left_out = trace.left_out();
    trace.finish().expect("room");
    let (found, info) = read(path.path()).expect("opens");
    assert_eq!((info.format, info.is_complete()), (Format::FtraceText, true), "{:?}", info.damage);
    let is_signal = |event: &Event| {
        matches!(event, PeltSe { .. } | PeltCfs { .. } | PeltRt { .. } | PeltDl { .. } | PeltIrq { .. })
    };
    // Its task ids are shifted, and an estimate is an event of its own there.
    let same = |(time_ns, event): &(u64, Event), shift: u32| {
        let shifted = |tid: u32| if tid == 0 { 0 } else { tid + shift };
        let mut event = *event;
        match &mut event {
            Event::SchedSwitch { prev_tid, next_tid, .. } => {
                (*prev_tid, *next_tid) = (shifted(*prev_tid), shifted(*next_tid));
            }
            Event::SchedWaking { tid, .. } | Event::SchedWakeup { tid, .. } | Event::SchedMigrateTask { tid, .. } => {
                *tid = shifted(*tid);
            }
            PeltSe { tid, util_est, .. } => (*tid, *util_est) = (shifted(*tid), 0),
            PeltCfs { util_est, .. } => *util_est = 0,
            _ => {}
        }
        format!("{time_ns} {event:?}")
    };
    let kept = |event: &Event| is_ftrace(event) || is_signal(event);
    let mut written: Vec<_> = events.iter().filter(|(_, event)| kept(event)).map(|event| same(event, 1000)).collect();
    let mut found: Vec<_> = found.iter().filter(|(_, event)| kept(event)).map(|event| same(event, 0)).collect();
    written.sort();
    found.sort();
    assert!(written == found, "{} and {} events", written.len(), found.len());
    assert!(left_out.contains_key("freq_decision") && !left_out.contains_key("sched_switch"), "{left_out:?}");
    assert!(info.task_name(1001).starts_with("task") || !info.task_name(1001).is_empty());
}

#[test]
fn every_cut_and_flip_ends_with_events_or_an_error() {
    let (_, file) = exported(3_000);
    let path = tempfile::NamedTempFile::new().expect("a temporary file");
    for step in 1..200usize {
        let mut bytes = file[..file.len() * step / 200].to_vec();
        std::fs::write(path.path(), &bytes).expect("room");
        read(path.path());
        let at = step.wrapping_mul(7_919) % bytes.len();
        bytes[at] ^= 1 << (step % 8);
        std::fs::write(path.path(), &bytes).expect("room");
        read(path.path());
    }
}

/// Perfetto's own messages write a trace, packed and in columns, and say what is in it.
#[test]
fn columns_and_packed_packets_are_what_perfetto_says() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join(".venv/bin/python");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("compact.pftrace");
    let script = root.join("tests/trace/make_perfetto.py");
    let Ok(output) = Command::new(&python).arg(&script).arg(&path).output() else {
        return eprintln!("not measured: no {}", python.display());
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    let (events, info) = read(&path).expect("opens");
    let found: Vec<String> = events
        .iter()
        .map(|(time_ns, event)| match *event {
            Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio } => {
                format!("{time_ns} switch {cpu} {prev_tid} {prev_prio} {prev_state} {next_tid} {next_prio}")
            }
            Event::SchedWaking { cpu, tid, prio, target_cpu } => {
                format!("{time_ns} waking {cpu} {tid} {prio} {target_cpu}")
            }
            Event::LostEvents { cpu, .. } => format!("{time_ns} lost {cpu}"),
            Event::PeltCfs { cpu, util_avg, .. } => format!("{time_ns} cfs {cpu} {util_avg}"),
            Event::PeltSe { tid, util_avg, .. } => format!("{time_ns} se {tid} {util_avg}"),
            other => format!("{time_ns} {other:?}"),
        })
        .collect();
    assert_eq!(found, expected);
    assert_eq!((info.task_name(101), info.lost_unknown), ("task-b".to_owned(), 1));
    assert_eq!((info.skipped.get("kprobe_event"), info.skipped.get("track other")), (Some(&1), Some(&1)));
}
