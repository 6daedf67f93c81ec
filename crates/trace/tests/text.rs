// SPDX-License-Identifier: GPL-2.0-or-later
//! The text dump, and the recorded logs of old versions.

use pelton_schema::{Event, HookSite, IDLE_EXIT, PRIO_DEADLINE, Sink};
use pelton_trace::{CpuLayout, DomainLayout, LogReader, PeltonLog, RunHeader, TextDump};

/// A run one can follow by eye: a task wakes, runs, raises the frequency and sleeps.
fn tiny_run() -> (RunHeader, Vec<(u64, Event)>) {
    let header = RunHeader {
        tool_version: "0.1.0".to_owned(),
        scenario_hash: 0xabc,
        core_hash: 0xdef,
        seed: 1,
        duration_ns: 20_000_000,
        platform: "one-cpu".to_owned(),
        workload: "tiny".to_owned(),
        profile: "7.2".to_owned(),
        policy: "profile = \"7.2\"".to_owned(),
        tasks: vec!["idle".to_owned(), "ui".to_owned()],
        cpus: vec![CpuLayout { capacity: 1024, domain: 0 }],
        domains: vec![DomainLayout { name: "cpu0".to_owned(), opps_khz: vec![500_000, 1_000_000] }],
        ..RunHeader::default()
    };
    let wake = (1, 120, 0);
    let decision = Event::FreqDecision {
        cpu: 0,
        executing_cpu: 0,
        domain: 0,
        site: HookSite::Attach as u32,
        gate: 0,
        max_cpu: 0,
        cfs: 512,
        rt: 0,
        dl: 0,
        irq: 3,
        effective: 514,
        iowait: 0,
        min: 0,
        max: 1024,
        perf: 642,
        forced_max: 0,
        cap_orig: 1024,
        raw_khz: 626_953,
        resolved_khz: 1_000_000,
        prev_khz: 500_000,
        request_khz: 1_000_000,
        changed: 1,
        error: 0,
        peak_khz: 0,
        until_ns: 0,
        next_allowed_ns: 0,
        flags: 0,
    };
    let (tid, prio, target_cpu) = wake;
    let events = vec![
        (1_000_000, Event::IrqEntry { cpu: 0, irq: 0 }),
        (1_000_000, Event::SchedWaking { cpu: 0, tid, prio, target_cpu }),
        (1_000_500, Event::CpuIdle { cpu: 0, state: IDLE_EXIT }),
        (1_001_000, Event::SchedWakeup { cpu: 0, tid, prio, target_cpu }),
        (1_001_000, decision),
        (1_001_000, Event::IrqExit { cpu: 0, irq: 0 }),
        (1_002_000, Event::CpuFrequency { cpu: 0, freq_khz: 1_000_000 }),
        (1_002_000, Event::DomainPower { domain: 0, power_uw: 350_000 }),
        (1_003_000, switch(0, 120, 0, 1, 120)),
        (5_000_000, Event::PeltSe { cpu: 0, tid, util_avg: 80, runnable_avg: 81, load_avg: 79, util_est: 512 }),
        (5_000_000, Event::PeltCfs { cpu: 0, util_avg: 80, runnable_avg: 81, load_avg: 79, util_est: 512 }),
        (5_000_000, Event::PeltRt { cpu: 0, util_avg: 1 }),
        (5_000_000, Event::PeltDl { cpu: 0, util_avg: 2 }),
        (5_000_000, Event::PeltIrq { cpu: 0, util_avg: 3 }),
        (5_000_000, Event::PeltHw { cpu: 0, load_avg: 4 }),
        (6_000_000, Event::SchedMigrateTask { cpu: 0, tid: 2, prio: PRIO_DEADLINE, orig_cpu: 1, dest_cpu: 0 }),
        (18_000_000, activation()),
        (18_000_000, switch(1, 120, 1, 0, 120)),
        (18_000_100, Event::CpuIdle { cpu: 0, state: 1 }),
    ];
    (header, events)
}

/// The tiny run as a recording of a real machine would have it.
fn tiny_recording() -> (RunHeader, Vec<(u64, Event)>) {
    let (run, events) = tiny_run();
    let remarks = vec!["clock: CLOCK_MONOTONIC".to_owned()];
    (
        RunHeader { kernel: "6.18.44".to_owned(), remarks, groups: vec!["/".to_owned(), "/build".to_owned()], ..run },
        events,
    )
}

fn switch(prev_tid: u32, prev_prio: u32, prev_state: u32, next_tid: u32, next_prio: u32) -> Event {
    Event::SchedSwitch { cpu: 0, prev_tid, prev_prio, prev_state, next_tid, next_prio }
}

fn activation() -> Event {
    Event::TaskActivation {
        tid: 1,
        index: 0,
        start_ns: 1_000_000,
        wakeup_latency_ns: 3_000,
        run_ns: 16_997_000,
        duration_ns: 17_000_000,
        slack_ns: -1_000_000,
        period_ns: 16_000_000,
    }
}

fn dump(run: &RunHeader, events: impl IntoIterator<Item = (u64, Event)>) -> String {
    let mut text = Vec::new();
    let mut dump = TextDump::with_header(&mut text, run);
    events.into_iter().for_each(|(time_ns, event)| dump.event(time_ns, &event));
    dump.finish().expect("a vector takes everything");
    String::from_utf8(text).expect("names and numbers")
}

fn dump_of_log(file: &[u8]) -> String {
    let mut reader = LogReader::open(file).expect("a good log");
    let run = reader.header().clone();
    let events: Vec<_> = reader.by_ref().collect::<Result<_, _>>().expect("undamaged");
    assert!(reader.is_complete());
    dump(&run, events)
}

#[test]
fn a_tiny_run_reads_like_this() {
    let (run, events) = tiny_run();
    let found = dump(&run, events);
    if std::env::var_os("PELTON_UPDATE_SNAPSHOTS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/tiny_run.txt");
        std::fs::write(path, &found).expect("the source tree is writable");
    }
    assert_eq!(found, include_str!("snapshots/tiny_run.txt"), "update with PELTON_UPDATE_SNAPSHOTS=1");
}

#[test]
fn the_dump_of_a_log_is_the_dump_of_the_run() {
    let (run, events) = tiny_run();
    let mut file = Vec::new();
    let mut log = PeltonLog::new(&mut file, &run);
    events.iter().for_each(|(time_ns, event)| log.event(*time_ns, event));
    log.finish().expect("a vector takes everything");
    assert_eq!(dump_of_log(&file), dump(&run, events));
}

/// Each file was recorded when its version was the newest, with its dump beside it. A later schema may add columns and
/// a later dump may show them, and the kernel that a remark names; nothing the old dump says may be lost.
#[test]
fn old_versions_stay_readable() {
    let recorded = [
        (&include_bytes!("fixtures/v1.plog")[..], include_str!("fixtures/v1.txt")),
        (include_bytes!("fixtures/v2.plog"), include_str!("fixtures/v2.txt")),
        (include_bytes!("fixtures/v3.plog"), include_str!("fixtures/v3.txt")),
    ];
    for (version, (file, expected)) in (1..).zip(recorded) {
        assert_eq!(file[8..10], [version, 0]);
        let found = dump_of_log(file);
        let added = |line: &&str| line.starts_with("# kernel ") && version == 2;
        let shown: Vec<_> = found.lines().filter(|line| !added(line)).collect();
        assert_eq!(shown.len(), expected.lines().count());
        for (found, expected) in shown.into_iter().zip(expected.lines()) {
            let words: Vec<_> = found.split(' ').collect();
            assert!(expected.split(' ').all(|word| words.contains(&word)), "was: {expected}\nnow: {found}");
        }
    }
}

#[test]
fn remarks_and_groups_are_lines_of_the_header() {
    let (run, _) = tiny_recording();
    let text = dump(&run, []);
    assert!(
        text.ends_with("# kernel 6.18.44\n# remark clock: CLOCK_MONOTONIC\n# group 0 /\n# group 1 /build\n"),
        "{text}"
    );
}
