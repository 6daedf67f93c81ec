// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of others, read as traces.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use crate::common::{gunzip, missing, read_all, shared};
use pelton_schema::{CPU_UNKNOWN, Event, PELT_ROOT, PELT_RUNNING, PeltSignal, PeltSource};
use pelton_trace::import::csv::{ActivationCsv, DecisionCsv, PeltCsv, SeriesCsv};
use pelton_trace::import::{Source, Timed};

const HEADER: &str = "seq,ts,cpu,type,why,pid,pid2,prio,comm,obj,cfs,depth,on_rq,running,delayed,weight,runnable,ret,now,clock,clock_task,\
    clock_pelt,lost_idle,lut,load_sum,runnable_sum,util_sum,pc,load_avg,runnable_avg,util_avg,util_est,p_lut,p_load_sum,p_runnable_sum,\
    p_util_sum,p_pc,p_load_avg,p_runnable_avg,p_util_avg,a0,a1\n";

fn pelt(rows: &str) -> PeltCsv {
    PeltCsv::new(Cursor::new(format!("{HEADER}{rows}").into_bytes()), Path::new("t.csv"))
}

#[test]
fn a_call_hands_out_clocks_state_before_and_state() {
    let mut table = pelt(
        "4,100,4,CFS,,0,0,0,,3,3,0,1,1,,1048576,1,1,81,90,91,92,7,80,51,52,53,54,55,56,57,0,70,61,62,63,64,65,66,67,5,1\n\
         5,200,4,SE,,229,0,120,peltrec,2,3,0,1,1,0,1048576,1,1,81,90,91,92,7,80,51,52,53,54,55,56,57,8,70,61,62,63,64,65,66,67,,\n",
    );
    let events = read_all(&mut table).expect("a good table");
    let clock = Event::RqClock { cpu: 5, clock_ns: 90, clock_task_ns: 91, clock_pelt_ns: 92, lost_idle_ns: 7 };
    let before = Event::PeltBefore {
        cpu: 5,
        last_update_time_ns: 70,
        load_sum: 61,
        runnable_sum: 62,
        util_sum: 63,
        period_contrib: 64,
        load_avg: 65,
        runnable_avg: 66,
        util_avg: 67,
    };
    let state = Event::PeltState {
        cpu: 5,
        signal: PeltSignal::Entity as u32,
        source: PeltSource::Call as u32,
        object: 2,
        queue: 3,
        tid: 229,
        flags: 1 | PELT_RUNNING | PELT_ROOT | 16,
        runnable: 1,
        weight: 1_048_576,
        now_ns: 81,
        last_update_time_ns: 80,
        load_sum: 51,
        runnable_sum: 52,
        util_sum: 53,
        period_contrib: 54,
        load_avg: 55,
        runnable_avg: 56,
        util_avg: 57,
        util_est: 8,
    };
    let timed = |event| Timed { time_ns: 200, event };
    assert_eq!(events[3..], [timed(clock), timed(before), timed(state)]);
    assert_eq!(table.info().task_name(229), "peltrec");
    assert!(table.info().carries("pelt_state", "now_ns") && !table.info().carries("sched_switch", "prev_prio"));
}

#[test]
fn an_entity_on_a_queue_of_no_known_cpu_says_so() {
    let mut table =
        pelt("1,200,4,tp_se,,229,0,120,w,2,3,0,1,1,0,1048576,1,1,,,,,,80,51,52,53,54,55,56,57,8,,,,,,,,,,\n");
    let events = read_all(&mut table).expect("a good table");
    assert!(matches!(events[..], [Timed { event: Event::PeltState { cpu: CPU_UNKNOWN, .. }, .. }]), "{events:?}");
}

#[test]
fn rows_are_sorted_by_time_and_one_too_late_is_damage() {
    let rows = |times: &[u64]| -> String {
        times.iter().map(|time| format!("0,{time},1,freq{}0,{time}\n", ",".repeat(37))).collect()
    };
    let times = |table: &mut PeltCsv| -> Vec<u64> {
        read_all(table).expect("a good table").iter().map(|timed| timed.time_ns).collect()
    };
    assert_eq!(times(&mut pelt(&rows(&[5, 9, 7, 6, 9]))), [5, 6, 7, 9, 9]);
    let mut late: Vec<u64> = (1000..6000).collect();
    late.push(1);
    let mut table = pelt(&rows(&late));
    assert_eq!(times(&mut table).len(), 5000);
    assert_eq!((table.info().damaged, table.info().damage[0].position), (1, 5002));
}

#[test]
fn a_damaged_row_is_counted_and_passed_over() {
    let good = format!("0,5,1,freq{}0,1000\n", ",".repeat(37));
    let mut table = pelt(&format!("{good}0,x,1\n{good}0,5,4294967295,freq{}0,1000\n{good}", ",".repeat(37)));
    assert_eq!(read_all(&mut table).expect("a table").len(), 3);
    let shown: Vec<String> = table.info().damage.iter().map(|d| format!("{}: {}", d.position, d.what)).collect();
    assert_eq!(shown, ["3: column 6: 3 fields instead of 42", "5: column 5: `cpu` is no CPU number (0..65535)"]);
}

#[test]
fn a_table_of_something_else_is_refused_with_line_and_caret() {
    let mut table = PeltCsv::new(Cursor::new(b"ts,cpu\n1,2\n".to_vec()), Path::new("t.csv"));
    let shown = table.next().expect_err("no such table").to_string();
    let expected = "t.csv:1:1: no line of it is understood: no column `type`\n 1 | ts,cpu\n   | ^\n  help: a table of load-tracking calls has a \
                    first line with at least the columns ts, cpu and type";
    assert_eq!(shown, expected);
}

#[test]
fn decisions_need_no_header_and_names_may_hold_commas() {
    let rows = "10,next_freq,4,0,,4,1024,1024,1800000,1800000,1800000,0\n\
                11,energy,3,15,a,b,18446744073709551615,7787950,906,725,0,0,0\n\
                12,dance,3,15,ab,1,1,1,1,1,1,1\n";
    let mut table = DecisionCsv::new(Cursor::new(rows), Path::new("d.csv"));
    let events = read_all(&mut table).expect("a good table");
    assert_eq!(
        events[1].event,
        Event::ComputeEnergy {
            cpu: 3,
            tid: 15,
            dst_cpu: CPU_UNKNOWN,
            energy: 7_787_950,
            max_util: 906,
            busy_time: 725
        }
    );
    assert_eq!((table.info().task_name(15), table.info().skipped["dance"]), ("a,b".to_owned(), 1));
    assert!(table.info().carries("sugov_next_freq", "resolved_khz"));
}

#[test]
fn a_series_has_the_unit_of_its_comment() {
    let text =
        "# cpu=5 signal=cpu_frequency unit=MHz; time in seconds (trace clock)\ntime_s,value\n916.967746000,600\n";
    let mut series = SeriesCsv::new(Cursor::new(text), Path::new("s.csv"));
    let event = Event::CpuFrequency { cpu: 5, freq_khz: 600_000 };
    assert_eq!(read_all(&mut series).expect("a series"), [Timed { time_ns: 916_967_746_000, event }]);
    assert_eq!(series.info().resolution_ns, 1);
    let mut unnamed = SeriesCsv::new(Cursor::new("time_s,value\n1,2\n"), Path::new("s.csv"));
    assert!(unnamed.next().expect_err("names nothing").to_string().contains("# cpu=5 signal=util_avg"));
}

#[test]
fn activations_that_touch_become_one_switch() {
    let text = "# note\nstart_s,duration_s,cpu,pid,comm,duty_cycle\n1.0,0.5,2,7,a,0.1\n1.5,0.1,2,8,b,0.1\n1.55,1,2,9,c,0.1\n2,0,2,9,c,0\n";
    let mut table = ActivationCsv::new(Cursor::new(text), Path::new("a.csv"));
    let switches: Vec<(u64, u32, u32)> = read_all(&mut table)
        .expect("a good table")
        .iter()
        .map(|timed| match timed.event {
            Event::SchedSwitch { prev_tid, next_tid, .. } => (timed.time_ns / 1_000_000, prev_tid, next_tid),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(switches, [(1000, 0, 7), (1500, 7, 8), (1600, 8, 0), (2000, 0, 9), (2000, 9, 0)]);
    assert_eq!(table.info().damaged, 1, "a row that overlaps");
    assert!(!table.info().carries("sched_switch", "prev_state"));
}

/// Name, calls by signal, clock steps.
type Recorded = (&'static str, &'static [(PeltSignal, u64)], u64);
/// From the readme of the recordings.
const RECORDED: &[Recorded] = {
    use PeltSignal::{BlockedEntity, Dl, Entity, Queue, Rt};
    &[
        ("7.2-arm64/1-single-cfs", &[(Entity, 3106), (BlockedEntity, 133), (Queue, 4740), (Rt, 1636), (Dl, 1636)], 0),
        ("7.2-arm64/2-cfs-rt", &[(Entity, 3124), (BlockedEntity, 138), (Queue, 5044), (Rt, 4418), (Dl, 1915)], 0),
        ("7.2-arm64/3-ten-tasks", &[(Entity, 41494), (BlockedEntity, 9870), (Queue, 51625), (Rt, 9827), (Dl, 9827)], 0),
        (
            "7.2-arm64/5-clock-chain",
            &[(Entity, 3859), (BlockedEntity, 104), (Queue, 5337), (Rt, 2462), (Dl, 1459)],
            8391,
        ),
    ]
};

#[test]
fn recordings_of_a_kernel_are_read_whole() {
    for &(name, calls, steps) in RECORDED {
        let Some(file) = shared(&format!("kernel-pelt/{name}.csv.gz")) else {
            missing(name);
            continue;
        };
        let mut table = PeltCsv::new(Cursor::new(gunzip(&file)), &file);
        let mut seen: BTreeMap<PeltSignal, u64> = BTreeMap::new();
        let (mut last_ns, mut unknown_cpu, mut group) = (0, 0u64, Vec::new());
        while let Some(Timed { time_ns, event }) = table.next().expect("a recording") {
            assert!(time_ns >= last_ns);
            last_ns = time_ns;
            group.push(event.code());
            if let Event::PeltState { signal, source, cpu, .. } = event {
                let signal = PeltSignal::of_code(signal).expect("declared");
                unknown_cpu += u64::from(cpu == CPU_UNKNOWN);
                if source == PeltSource::Call as u32 {
                    *seen.entry(signal).or_default() += 1;
                    assert!(group.ends_with(&[23, 24, 25]), "{name}: clocks and state before come first");
                }
            }
        }
        assert_eq!(seen, calls.iter().copied().collect(), "{name}");
        let info = table.info();
        assert_eq!(info.events.get("rq_clock_step").copied().unwrap_or(0), steps, "{name}");
        assert!(info.is_complete(), "{name}: {:?}", info.damage);
        println!("{name}: {} states of unknown CPU, skipped {:?}", unknown_cpu, info.skipped);
    }
}

#[test]
fn recordings_of_tracepoints_and_decisions_are_read_whole() {
    let counts = |name: &str, expected: &[(&str, u64)]| {
        let Some(file) = shared(&format!("kernel-pelt/{name}.csv.gz")) else { return missing(name) };
        let reader = Cursor::new(gunzip(&file));
        let mut source: Box<dyn Source> = match name.ends_with("decisions") {
            true => Box::new(DecisionCsv::new(reader, &file)),
            false => Box::new(PeltCsv::new(reader, &file)),
        };
        read_all(&mut *source).expect("a recording");
        let info = source.info();
        assert!(info.is_complete(), "{name}: {:?}", info.damage);
        for (event, count) in expected {
            assert_eq!(info.events.get(event), Some(count), "{name}: {event}");
        }
    };
    counts(
        "7.2-arm64/6-decisions",
        &[
            ("sugov_next_freq", 4947),
            ("sugov_effective_cpu_perf", 13204),
            ("effective_cpu_util", 27344),
            ("sched_compute_energy", 4509),
            ("select_task_rq", 1219),
            ("cpu_frequency", 1098),
            ("sched_overutilized", 638),
        ],
    );
    counts(
        "6.18-x86/3-ten-tasks",
        &[
            ("sched_switch", 19861),
            ("sched_waking", 9577),
            ("sched_wakeup", 9579),
            ("sched_migrate_task", 1014),
            ("sched_wakeup_new", 11),
            ("sched_process_exit", 11),
            ("sched_update_nr_running", 20225),
            ("util_est", 20229 + 9422),
            ("sched_cpu_capacity", 1333),
        ],
    );
}

#[test]
fn series_and_activations_of_notebooks_are_read_whole() {
    let Some(folder) = shared("traces") else { return missing("notebook tables") };
    let mut read = 0;
    let folders = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    for path in folders.filter(|path| path.is_dir()).flat_map(|path| std::fs::read_dir(path).expect("a folder")) {
        let path = path.expect("readable").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        if !name.ends_with(".csv") || name.contains("residency") {
            continue;
        }
        let text = std::fs::read(&path).expect("readable");
        let rows = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count() as u64 - 2;
        let activations = name.contains("activations");
        let mut source: Box<dyn Source> = match activations {
            true => Box::new(ActivationCsv::new(Cursor::new(text), &path)),
            false => Box::new(SeriesCsv::new(Cursor::new(text), &path)),
        };
        read_all(&mut *source).expect("a table");
        let info = source.info();
        let events = info.events.values().sum::<u64>() + info.skipped.values().sum::<u64>();
        assert_eq!((info.damaged, events >= rows), (0, true), "{name}: {:?}", info.damage);
        assert!(activations || events == rows, "{name}");
        read += 1;
    }
    assert!(read >= 40, "{read}");
}
