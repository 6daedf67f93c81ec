// SPDX-License-Identifier: GPL-2.0-or-later
//! Text traces of others.

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use crate::common::{gunzip, missing, read_all, shared};
use crate::kept::kept;
use pelton_schema::Event;
use pelton_trace::import::text::{TextSource, sniff_text};
use pelton_trace::import::{Format, Source, Timed};
use proptest::prelude::*;

fn text(bytes: &[u8]) -> TextSource {
    let format = sniff_text(bytes).unwrap_or(Format::FtraceText);
    TextSource::new(Cursor::new(bytes.to_vec()), Path::new("t.txt"), format)
}

fn events(trace: &str) -> Vec<Timed> {
    read_all(&mut text(trace.as_bytes())).expect("a trace")
}

/// Summary of what was read and what was not, as lines.
fn summary(source: &TextSource) -> String {
    let info = source.info();
    let counts: Vec<String> = info.events.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let skipped: Vec<String> = info.skipped.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let (cpus, step, damaged) = (info.cpus, info.resolution_ns, info.damaged);
    format!("cpus {cpus}, {step} ns, damaged {damaged}\n{}\nskipped: {}\n", counts.join("\n"), skipped.join(", "))
}

const FIXTURES: [&str; 6] = [
    "openharmony.txt",
    "ftrace-event-samples.txt",
    "cpu_frequency_limits.systrace.txt",
    "pixel2.txt",
    "juno-sched-load.txt",
    "juno-trace-cmd.txt",
];

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ftrace");
    std::fs::read(folder.join(name)).expect("a file of the repository")
}

#[test]
fn excerpts_of_real_traces_give_the_expected_events() {
    let mut shown = String::new();
    for name in FIXTURES {
        let mut source = text(&fixture(name));
        let events = read_all(&mut source).expect("a trace");
        shown += &format!("== {name}: {}", summary(&source));
        for timed in events.iter().take(12) {
            let mut line = Vec::new();
            pelton_trace::write_event_line(&mut line, timed.time_ns, &timed.event).expect("memory takes it");
            shown += &String::from_utf8_lossy(&line);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/import_text.txt");
    if std::env::var_os("PELTON_SNAPSHOTS").is_some_and(|mode| mode == "write") {
        std::fs::write(&path, &shown).expect("writable");
    }
    assert_eq!(shown, std::fs::read_to_string(&path).unwrap_or_default(), "PELTON_SNAPSHOTS=write rewrites it");
}

#[test]
fn call_chains_are_no_damage() {
    let switch = "a-10 [001] d..2. 1.000000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> \
                  next_comm=b next_pid=11 next_prio=120\n";
    let ftrace = "a-10 [001] d..2. 1.000000: <stack trace>\n => __schedule\n => schedule <ffffffff81a3b2c4>\n\
                  a-10 [001] d..2. 1.000001: <user stack trace>\n =>  <00007f1c2d3e4f50>\n";
    let trace_cmd =
        "a-10 [001] d..2. 1.000000: kernel_stack:         <stack trace >\n=> __schedule (ffffffff81a3b2c4)\n";
    let perf = "\tffffffff81a3b2c4 __schedule+0x2c4 ([kernel.kallsyms])\n\t    7f1c2d3e4f50 [unknown] (/usr/bin/a)\n\n";
    for (chain, counted) in [(ftrace, "functions of call chains 3"), (trace_cmd, "chains 1"), (perf, "chains 2")] {
        let mut source = text([switch, chain, switch].concat().as_bytes());
        assert_eq!(read_all(&mut source).expect("a trace").len(), 2, "{chain}");
        let told = summary(&source);
        assert!(told.contains("damaged 0") && told.contains(counted), "{told}");
    }
    let mut source = text([switch, "   not a frame\n"].concat().as_bytes());
    read_all(&mut source).expect("a trace");
    assert!(summary(&source).contains("damaged 1"));
}

#[test]
fn a_frequency_that_a_program_wrote_down_is_a_frequency() {
    let of = |line: &str| events(line).iter().map(|t| t.event).collect::<Vec<_>>();
    let told = [Event::CpuFrequency { cpu: 1, freq_khz: 1_200_000 }];
    let print =
        "  shutils-1703  [001]  76.5: print:  0xffff00000819ff24s: cpu_frequency_devlib:   state=1200000 cpu_id=1\n";
    assert_eq!(of(print), told);
    let mark = "  shutils-1703  [001] ...1  76.5: tracing_mark_write: cpu_frequency_devlib: state=1200000 cpu_id=1\n";
    assert_eq!(of(mark), told);
    for other in ["state=1200000", "state=x cpu_id=1", "cpu_id=1"] {
        assert_eq!(of(&mark.replace("state=1200000 cpu_id=1", other)), []);
    }
    assert_eq!(of(&mark.replace("cpu_frequency_devlib: ", "")), []);
}

#[test]
fn switches_of_all_spellings_are_the_same() {
    let same = Event::SchedSwitch { cpu: 1, prev_tid: 7, prev_prio: 120, prev_state: 1, next_tid: 8, next_prio: 97 };
    for line in [
        "a-7 [001] 1.000001: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=8 next_prio=97",
        "a-7 (    7) [001] d..2 1.000001: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=1 next_comm=b next_pid=8 next_prio=97",
        "a-7 [001] 1.000001: sched_switch: next_prio=97 next_pid=8 prev_prio=120 prev_state=S prev_pid=7",
        "a-7 [001] 1.000001: sched_switch: a:7 [120] S ==> b:8 [97]",
        "a     7 [001] 1.000001: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=8 next_prio=97",
        "a     7 [001] 1.000001: sched:sched_switch: a:7 [120] S ==> b:8 [97]",
    ] {
        assert_eq!(events(&format!("{line}\n")), [Timed { time_ns: 1_000_001_000, event: same }], "{line}");
    }
}

#[test]
fn groups_lost_events_and_executed_files_are_told() {
    let trace = "cpus=4\n\
        a-7 [001] 1.000001: lisa__sched_pelt_se: cpu=2 path=/g comm=(null) pid=-1 load=5 runnable=6 util=7\n\
        CPU:3 [12 EVENTS DROPPED]\nCPU:2 [LOST 3 EVENTS]\nCPU:1 [EVENTS DROPPED]\n\
        a-7 [001] 1.000002: sched_process_exec: filename=/bin/ls pid=7 old_pid=7\n\
        a-7 [001] 1.000003: thermal_power_cpu_get_power: cpus=00000005 freq=1100000 load={1 2} dynamic_power=3\n\
        a-7 [001] 1.000004: thermal_power_cpu_get_power: cpus=00000000,00000004 freq=1100000 load={1} dynamic_power=3\n";
    let mut source = text(trace.as_bytes());
    let names: Vec<&str> = read_all(&mut source)
        .expect("a trace")
        .iter()
        .map(|timed| match timed.event {
            Event::PeltGroup { cpu: 2, group: 1, entity: 1, util_avg: 7, runnable_avg: 6, load_avg: 5 } => "group",
            Event::LostEvents { cpu: 3, count: 12 } | Event::LostEvents { cpu: 2, count: 3 } => "lost",
            Event::LostEvents { cpu: 1, count: 0 } => "unknown",
            Event::TaskName { tid: 7, name_0, .. } if name_0 == u64::from_le_bytes(*b"ls\0\0\0\0\0\0") => "name",
            Event::CpuFrequency { cpu: 0 | 2, freq_khz: 1_100_000 } => "freq",
            _ => "other",
        })
        .collect();
    assert_eq!(names, ["group", "lost", "lost", "unknown", "name", "freq", "freq", "freq"]);
    let info = source.info();
    assert_eq!(info.damaged, 0, "{:?}", info.damage);
    assert_eq!((info.lost, info.lost_unknown, info.groups.as_slice()), (15, 1, &["/".to_owned(), "/g".to_owned()][..]));
}

#[test]
fn the_trace_is_found_in_both_kinds_of_pages() {
    let script = "<!DOCTYPE html>\n<html>\n<script>var x = 'a-1 [000] 9.1: e: f';</script>\n\
        <script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n#\n\
        a-7 [001] d..1 1.000001: cpu_idle: state=1 cpu_id=1\n</script>\n</html>\n";
    let string = "<html>\n<script>\n  var linuxPerfData = \"\\\n# tracer: nop\\n\\\n\
        a-7 [001] d..1 1.000001: cpu_idle: state=1 cpu_id=1\\n\\\n\\n\";\n</script>\n</html>\n";
    // A copy of such a page that lost the ends of its lines.
    let plain = string.replace("\\n\\\n", "\n");
    for page in [script, string, &plain] {
        assert_eq!(sniff_text(page.as_bytes()), Some(Format::SystraceHtml));
        let event = Event::CpuIdle { cpu: 1, state: 1 };
        assert_eq!(events(page), [Timed { time_ns: 1_000_001_000, event }], "{page}");
    }
}

#[test]
fn system_calls_and_traced_functions_are_events_without_a_meaning_here() {
    let trace = "a-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n\
        a-7 [001] d..1 1.000002: sys_write(fd: 1, buf: 7f, count: 3)\n\
        a-7 [001] d..1 1.000003: sys_write -> 0x3\n\
        a-7 [001] d..1 1.000004: sys_getpid()\n\
        a-7 [001] d..1 1.000005: schedule <-worker_thread\n";
    let mut source = text(trace.as_bytes());
    assert_eq!(read_all(&mut source).expect("a trace").len(), 1);
    let info = source.info();
    assert_eq!(info.damaged, 0, "{:?}", info.damage);
    let skipped: Vec<_> = info.skipped.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(skipped, [("function", 1), ("sys_getpid", 1), ("sys_write", 2)]);
}

#[test]
fn what_is_no_trace_is_refused_with_line_and_caret() {
    let shown = text(b"hello\nworld\n").next().expect_err("no trace").to_string();
    let expected = "t.txt:1:1: no line of it is understood: is no event line\n 1 | hello\n   | ^\n  help: give the text of tracefs `trace`, \
                    the output of `trace-cmd report` or of `perf script`";
    assert_eq!(shown, expected);
    assert!(text(b"").next().is_err());
    let no_cpu = b"perf  1394 36129.083166:   sched:sched_switch: prev_comm=a prev_pid=1 ==> next_comm=b next_pid=2\n";
    assert_eq!(sniff_text(no_cpu), Some(Format::PerfScript));
    let shown = text(no_cpu).next().expect_err("no CPU").to_string();
    assert!(shown.starts_with("t.txt:1:12: no line of it is understood: no CPU before the time"), "{shown}");
}

#[test]
fn damage_is_counted_and_the_reader_goes_on() {
    let good = "a-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n";
    let long = "x".repeat(10 << 20);
    let trace = format!(
        "{good}a-7 [001] 1.0: cpu_idle: state=1\na-7 [4294967295] 1.0: e: f\n{long}\n\0\0\u{fffd}\n{good}a-7 [001] 1.00"
    );
    let mut source = text(trace.as_bytes());
    assert_eq!(read_all(&mut source).expect("a trace").len(), 2);
    let lines: Vec<u64> = source.info().damage.iter().map(|damage| damage.position).collect();
    assert_eq!(lines, [2, 3, 4, 5, 7]);
}

#[test]
fn a_cut_trace_gives_a_prefix_of_its_events() {
    for name in FIXTURES {
        let whole = fixture(name);
        let all = read_all(&mut text(&whole)).expect("a trace");
        for cut in (0..whole.len()).step_by(37) {
            let mut source = TextSource::new(Cursor::new(whole[..cut].to_vec()), Path::new("t"), Format::FtraceText);
            if let Ok(some) = read_all(&mut source) {
                assert!(all.starts_with(&some), "{name} cut at {cut}");
            }
        }
    }
}

/// A long trace that is made while it is read.
struct Endless {
    left: u64,
    time_us: u64,
    line: Vec<u8>,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() {
            if self.left == 0 {
                return Ok(0);
            }
            self.time_us += 3;
            let (s, us, tid) = (self.time_us / 1_000_000, self.time_us % 1_000_000, self.time_us % 100_000);
            self.line = format!(
                "  worker-{tid}  [003] d..2 {s:5}.{us:06}: sched_wakeup: comm=task {tid} pid={tid} prio=120 target_cpu=002\n"
            )
            .into_bytes();
            self.left = self.left.saturating_sub(self.line.len() as u64);
        }
        let length = out.len().min(self.line.len());
        out[..length].copy_from_slice(&self.line[..length]);
        self.line.drain(..length);
        Ok(length)
    }
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let endless = Endless { left: 16 << 20, time_us: 0, line: Vec::new() };
    let mut source = TextSource::new(BufReader::new(endless), Path::new("t"), Format::FtraceText);
    let (mut most, mut count) = (0, 0);
    while source.next().expect("a trace").is_some() {
        most = most.max(source.buffered_bytes());
        count += 1;
    }
    assert!(count > 150_000 && most < 1 << 20, "{count} events, {most} bytes");
    assert!(source.info().is_complete() && source.info().names.len() > 30_000);
}

#[test]
fn full_traces_have_the_events_their_readme_lists() {
    let expected: &[(&str, &[(&str, u64)])] = &[
        (
            "lisa-juno-r0-trace_txt",
            &[("sched_switch", 1856), ("sched_wakeup", 1068), ("sched_overutilized", 3), ("cpu_frequency", 12)],
        ),
        (
            "lisa-juno-r0-sched_load",
            // Six more of the frequencies are marks that devlib wrote.
            &[("cpu_idle", 474), ("sched_switch", 399), ("sched_migrate_task", 28), ("cpu_frequency", 16 + 6)],
        ),
        ("exynos8-hmp-pelt1-a", &[("sched_switch", 427), ("sched_wakeup", 221)]),
        ("exynos8-hmp-pelt1-b", &[("sched_switch", 617), ("sched_wakeup", 314)]),
        ("exynos5422-thermal-power-a", &[("cpu_frequency", 114 * 4)]),
        (
            "pixel2-systrace-sched-freq-idle",
            &[("sched_switch", 715), ("cpu_idle", 621), ("sched_wakeup", 421), ("cpu_frequency", 104)],
        ),
        (
            "samsung-s20-sm8250-perfetto",
            &[("sched_switch", 15267), ("cpu_idle", 11687), ("sched_wakeup", 8743), ("cpu_frequency", 168)],
        ),
    ];
    for &(name, counts) in expected {
        let Some(file) = shared(&format!("traces/{name}/trace.txt.gz")) else {
            missing(name);
            continue;
        };
        let mut source = text(&gunzip(&file));
        read_all(&mut source).expect("a trace");
        let info = source.info();
        for (event, count) in counts {
            assert_eq!(info.events.get(event), Some(count), "{name}: {event}");
        }
        assert!(info.is_complete(), "{name}: {:?}", info.damage);
        if name == "lisa-juno-r0-sched_load" {
            let signals = ["pelt_se", "pelt_cfs", "pelt_group"].map(|event| info.events[event]);
            assert_eq!(signals.iter().sum::<u64>(), 2437 + 364, "{signals:?}");
        }
        println!("{name}: {}", summary(&source));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: kept(), ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read_all(&mut text(&bytes));
    }

    #[test]
    fn flipped_bits_are_survived(which in 0..FIXTURES.len(), flips in proptest::collection::vec((any::<usize>(), 0u8..8), 1..200)) {
        let mut bytes = fixture(FIXTURES[which]);
        let length = bytes.len();
        flips.iter().for_each(|&(at, bit)| bytes[at % length] ^= 1 << bit);
        for format in [Format::FtraceText, Format::SystraceHtml] {
            let mut source = TextSource::new(Cursor::new(bytes.clone()), Path::new("t"), format);
            let _ = read_all(&mut source);
        }
    }
}

#[test]
fn the_recorded_kernel_is_a_field() {
    let line = "    ui-77 [001] 12.000001: sched_waking: comm=x pid=5 prio=120 target_cpu=001\n";
    let kernel = |head: &str| {
        let mut source = text(format!("{head}{line}").as_bytes());
        assert_eq!(read_all(&mut source).expect("a trace").len(), 1, "{head}");
        source.info().kernel.clone()
    };
    assert_eq!(
        kernel("# hostname : box\n# os release : 6.12.48-amd64\n# arch : x86_64\n").as_deref(),
        Some("6.12.48-amd64")
    );
    assert_eq!(kernel("# tracer: nop\n"), None);
}
