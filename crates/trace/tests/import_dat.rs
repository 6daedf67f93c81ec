// SPDX-License-Identifier: GPL-2.0-or-later
//! The recorded `trace.dat` against the text trace-cmd made of it, event by event.

use crate::common;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use pelton_schema::Event;
use pelton_trace::import::{Format, OpenOptions, Source, TraceInfo, open};

fn shared(path: &str) -> Option<PathBuf> {
    let name = format!("traces/{path}");
    let found = common::shared(&name);
    if found.is_none() {
        common::missing(&name);
    }
    found
}

/// Everything a trace holds: time, event.
fn read(path: &Path) -> (Vec<(u64, Event)>, TraceInfo) {
    let mut source: Box<dyn Source> = open(path, &OpenOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut events = Vec::new();
    while let Some(timed) = source.next().expect("reads on") {
        assert!(events.last().is_none_or(|&(time, _)| time <= timed.time_ns), "time runs backwards");
        events.push((timed.time_ns, timed.event));
    }
    (events, source.info().clone())
}

/// Lines of the text of `trace-cmd report -t`, one at a time: time, CPU, name, and the rest.
fn report(path: &Path) -> Vec<(u64, u32, String, String)> {
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("the text is there");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("text");
    text.lines().filter_map(report_line).collect()
}

fn report_line(line: &str) -> Option<(u64, u32, String, String)> {
    let (head, rest) = line.split_once("] ")?;
    let cpu = head.rsplit('[').next()?.parse().ok()?;
    let (time, rest) = rest.trim_start().split_once(": ")?;
    let (seconds, fraction) = time.split_once('.')?;
    let time_ns = seconds.parse::<u64>().ok()? * 1_000_000_000 + fraction.parse::<u64>().ok()?;
    let (name, rest) = rest.trim_start().split_once(':')?;
    Some((time_ns, cpu, name.to_owned(), rest.trim().to_owned()))
}

fn value(rest: &str, key: &str) -> Option<i64> {
    let found = rest.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    found.and_then(|number| number.parse().ok())
}

/// `comm:pid [prio] S ==> comm:pid [prio]`
fn switch(cpu: u32, rest: &str) -> Event {
    let (prev, next) = rest.split_once(" ==> ").expect("an arrow");
    let side = |text: &str| -> (u32, u32) {
        let (task, prio) = text.rsplit_once(" [").expect("a priority");
        let prio = prio.split(']').next().and_then(|prio| prio.parse().ok()).expect("a priority");
        (task.rsplit(':').next().and_then(|pid| pid.parse().ok()).expect("a task"), prio)
    };
    let ((prev_tid, prev_prio), (next_tid, next_prio)) = (side(prev), side(next));
    let prev_state = match prev.rsplit(' ').next() {
        Some("S") => 1,
        Some("D") => 2,
        Some("x" | "X" | "Z") => 16,
        _ => 0,
    };
    Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio }
}

/// The event a line of the report means; `None` for a kind the reader passes over.
fn expected(cpu: u32, name: &str, rest: &str, groups: &[String]) -> Option<Event> {
    let number = |key: &str| value(rest, key).unwrap_or_else(|| panic!("{key} in {rest}")) as u32;
    let path = rest.split_whitespace().find_map(|word| word.strip_prefix("path=")).unwrap_or("");
    let group = || groups.iter().position(|known| known == path).expect("a known group") as u32;
    let load = || value(rest, "load").expect("a load") as u64;
    Some(match name {
        "sched_switch" => switch(cpu, rest),
        "cpu_idle" => Event::CpuIdle { cpu: number("cpu_id"), state: number("state") },
        // A program of the experiment writes what the frequencies are when it begins.
        "print" if rest.contains("cpu_frequency_devlib:") => {
            Event::CpuFrequency { cpu: number("cpu_id"), freq_khz: number("state") }
        }
        "cpu_frequency" => Event::CpuFrequency { cpu: number("cpu_id"), freq_khz: number("state") },
        "sched_migrate_task" => Event::SchedMigrateTask {
            cpu,
            tid: number("pid"),
            prio: number("prio"),
            orig_cpu: number("orig_cpu"),
            dest_cpu: number("dest_cpu"),
        },
        "sched_load_cfs_rq" if path == "/" => Event::PeltCfs {
            cpu: number("cpu"),
            util_avg: number("util"),
            runnable_avg: 0,
            load_avg: load(),
            util_est: 0,
        },
        "sched_load_se" if value(rest, "pid") != Some(-1) => Event::PeltSe {
            cpu: number("cpu"),
            tid: number("pid"),
            util_avg: number("util"),
            runnable_avg: 0,
            load_avg: load(),
            util_est: 0,
        },
        "sched_load_cfs_rq" | "sched_load_se" => Event::PeltGroup {
            cpu: number("cpu"),
            group: group(),
            entity: u32::from(name == "sched_load_se"),
            util_avg: number("util"),
            runnable_avg: 0,
            load_avg: load(),
        },
        _ => return None,
    })
}

#[test]
fn a_recorded_trace_is_what_trace_cmd_says_it_is() {
    let Some(path) = shared("lisa-juno-r0-sched_load/trace.dat.xz") else { return };
    let (events, info) = read(&path);
    let lines = report(&path.with_file_name("trace.txt.gz"));
    let mut counts = BTreeMap::<&str, u64>::new();
    lines.iter().for_each(|(_, _, name, _)| *counts.entry(name).or_default() += 1);
    let of = |name: &str| counts.get(name).copied().unwrap_or(0);
    assert_eq!(
        (of("sched_load_cfs_rq"), of("cpu_idle"), of("sched_switch"), of("sched_load_se")),
        (2437, 474, 399, 364)
    );
    assert_eq!((of("sched_migrate_task"), of("cpu_frequency")), (28, 16));
    let wanted: Vec<_> = lines
        .iter()
        .filter_map(|(time, cpu, name, rest)| Some((*time, expected(*cpu, name, rest, &info.groups)?)))
        .collect();
    assert_eq!(events.len(), wanted.len());
    // Records of one instant on several CPUs have no order of their own.
    for (index, (found, wanted)) in events.iter().zip(&wanted).enumerate() {
        assert_eq!(found, wanted, "event {index}");
    }
    assert_eq!((info.format, info.cpus, info.is_complete()), (Format::TraceDat, 6, true), "{:?}", info.damage);
    assert_eq!(info.events.values().sum::<u64>(), events.len() as u64);
    assert_eq!(info.task_name(2923), "kworker/2:1");
    assert!(info.carries("pelt_se", "load_avg") && !info.carries("pelt_se", "util_est"));
}

#[test]
fn every_cut_of_a_recorded_trace_is_an_error_or_says_so() {
    let Some(path) = shared("lisa-juno-r0-sched_load/trace.dat.xz") else { return };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&path).expect("the file is there");
    liblzma::read::XzDecoder::new(file).read_to_end(&mut bytes).expect("unpacks");
    let cut = tempfile::NamedTempFile::new().expect("a temporary file");
    let (whole, _) = read(&path);
    for length in (bytes.len() - 40 * 4096..bytes.len()).step_by(4096).chain((11..4096).step_by(97)) {
        std::fs::write(cut.path(), &bytes[..length]).expect("room");
        let Ok(mut source) = open(cut.path(), &OpenOptions::default()) else { continue };
        let mut events = 0;
        while source.next().expect("no fault of the system").is_some() {
            events += 1;
        }
        assert!(!source.info().is_complete() && events <= whole.len(), "cut at {length}: {events} events");
    }
}

/// trace-cmd itself turns the recorded file (version 6) into version 7, packed and not; both say the same.
#[test]
fn version_7_says_what_version_6_says() {
    let Some(path) = shared("lisa-juno-r0-sched_load/trace.dat.xz") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (old, new) = (folder.path().join("6.dat"), folder.path().join("7.dat"));
    let mut file = std::fs::File::create(&old).expect("room");
    let mut packed = liblzma::read::XzDecoder::new(std::fs::File::open(&path).expect("the file is there"));
    std::io::copy(&mut packed, &mut file).expect("unpacks");
    for packing in ["none", "zstd"] {
        let mut command = std::process::Command::new("trace-cmd");
        command.args(["convert", "--compression", packing, "-i"]).arg(&old).arg("-o").arg(&new);
        match command.output() {
            Ok(output) if output.status.success() => {}
            _ => return eprintln!("not measured: trace-cmd cannot convert here"),
        }
        let ((before, _), (after, info)) = (read(&old), read(&new));
        assert!(before == after && info.is_complete(), "packed with {packing}: {} events", after.len());
        assert!(info.remarks.iter().any(|remark| remark.contains("version 7")), "{:?}", info.remarks);
    }
}
