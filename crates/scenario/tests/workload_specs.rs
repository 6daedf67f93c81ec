// SPDX-License-Identifier: GPL-2.0-or-later
//! Workloads as people name them.

use pelton_model::Workload;
use pelton_model::machine::{Cpu, FreqDomain, Machine, Opp};
use pelton_model::workload::{Bandwidth, CpuSet, GroupChange, LimitChange, LimitSource, Op, SchedPolicy, Start};
use pelton_scenario::workload;

fn machine() -> Machine {
    let opps = [500_000, 1_000_000, 2_000_000].map(|khz| Opp { khz, ..Opp::default() }).to_vec();
    let domains = vec![FreqDomain { cpus: (0..4).collect(), opps, ..FreqDomain::default() }];
    Machine { cpus: vec![Cpu::default(); 4], domains, ..Machine::default() }
}

fn load(spec: &str) -> Workload {
    workload::load(spec, &machine()).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(spec: &str) -> String {
    workload::load(spec, &machine()).expect_err("refused").to_string()
}

#[test]
fn the_real_time_task_and_sysbench_of_2018_in_one_line() {
    let w = load(
        "periodic:run_us=9000,period_us=24390,policy=fifo,priority=10,cpus=0 + sysbench-cpu:event_us=1230,cpus=0,duration_s=15",
    );
    assert_eq!(w.duration_ns, Some(15_000_000_000));
    let names: Vec<&str> = w.tasks.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["periodic-0", "sysbench-0"]);
    assert_eq!(w.tasks[0].policy, SchedPolicy::Fifo { priority: 10 });
    assert!(w.tasks.iter().all(|t| t.cpus == Some(CpuSet::of([0]))));
    assert_eq!(w.tasks[0].phases[0].ops[0], Op::Run { work_ns: 9_000_000 });
    assert_eq!(w.tasks[1].phases[0].ops, [Op::Run { work_ns: 1_230_000 }, Op::EndActivation]);
}

#[test]
fn the_first_period_may_begin_later_or_anywhere() {
    let w = load("periodic:run_us=1,period_us=10,phase_us=7");
    assert_eq!((w.tasks[0].start, w.tasks[0].phases.len()), (Start::After(7_000), 1));
    let w = load("periodic:run_us=1,period_us=10,phase_us=random,threads=3,name=x");
    assert_eq!(w.tasks[2].start, Start::Within(9_999));
    assert_eq!(w.tasks[2].name, "x-2");
}

#[test]
fn each_cpu_gets_copies_of_its_own() {
    let w = load("busy:threads=2,cpus=each,name=watchdog");
    let cpus: Vec<_> = w.tasks.iter().map(|t| t.cpus.clone()).collect();
    assert_eq!(cpus, [0, 0, 1, 1, 2, 2, 3, 3].map(|cpu| Some(CpuSet::of([cpu]))));
    assert_eq!((w.tasks[0].name.as_str(), w.tasks[7].name.as_str()), ("watchdog-0", "watchdog-7"));
    assert!(refused("sched-pipe:cpus=each").contains("names no CPUs"));
}

#[test]
fn every_model_may_be_background() {
    let w = load("sched-pipe:loops=9 + busy:threads=2,background=yes + cyclictest:background=no");
    let (beside, measured): (Vec<_>, Vec<_>) = w.tasks.iter().partition(|task| task.background);
    assert_eq!(beside.iter().map(|task| task.name.as_str()).collect::<Vec<_>>(), ["busy-0", "busy-1"]);
    assert!(measured.len() > 2);
    assert!(refused("busy:background=1").contains("unknown `background`"));
}

#[test]
fn quotas_of_groups_are_written_as_in_cpu_max() {
    let of = |text: &str| load(&format!("group:path=/a,{text}")).groups[0].bandwidth;
    let limit = |quota_us, period_us, burst_us| {
        let [quota_ns, period_ns, burst_ns] = [quota_us, period_us, burst_us].map(|us: u64| us * 1000);
        Some(Bandwidth { quota_ns, period_ns, burst_ns })
    };
    assert_eq!(of("cpu.max=20000 100000"), limit(20_000, 100_000, 0));
    assert_eq!(of("cpu.max=150000,cpu.max.burst=30000"), limit(150_000, 100_000, 30_000));
    assert_eq!((of("cpu.max=max"), of("cpu.max=max 50000"), of("cpu.weight=100")), (None, None, None));
    for wrong in ["cpu.max=999", "cpu.max=20000 1000001", "cpu.max=20000 100 3", "cpu.max=2e4", "cpu.max=-1"] {
        let said = refused(&format!("group:path=/a,{wrong}"));
        assert!(said.contains("not a quota and a period") && said.contains("1000..=1000000 us"), "{wrong}: {said}");
    }
    assert!(refused("group:path=/a,cpu.max=20000,cpu.max.burst=20001").contains("0..=20000 us"));
    assert!(refused("group:path=/a,cpu.max.burst=1").contains("0..=0 us"), "no quota to save from");
}

#[test]
fn groups_change_during_a_run() {
    let w = load(
        "group:path=/a,cpu.weight=50 + group:path=/a,cpu.weight=200,from_ms=500 + group:path=/a,cpu.max=max,from_ms=700",
    );
    assert_eq!((w.groups.len(), w.groups[0].shares), (1, 512));
    let at = |at_ms: u64| GroupChange { at_ns: at_ms * 1_000_000, path: "/a".into(), ..GroupChange::default() };
    let change = |at_ms: u64, shares, bandwidth| GroupChange { shares, bandwidth, ..at(at_ms) };
    assert_eq!(w.group_changes, [change(500, Some(2048), None), change(700, None, Some(None))]);
    let w = load(
        "group:path=/a,cpu.uclamp.max=50,from_ms=3 + group:path=/a,cpu.uclamp.min=10,from_ms=4 \
         + group:path=/a,cpu.idle=1,from_ms=5 + group:path=/a,group_throttle=9,from_ms=6",
    );
    let wanted = [
        GroupChange { clamp_max: Some(512), ..at(3) },
        GroupChange { clamp_min: Some(102), ..at(4) },
        GroupChange { idle: Some(true), ..at(5) },
        GroupChange { throttle: Some(9), ..at(6) },
    ];
    assert_eq!((w.groups.len(), w.group_changes.as_slice()), (0, wanted.as_slice()));
    for wrong in ["from_ms=5", "from_ms=5,cpu.max.burst=0", "from_ms=86400001,cpu.weight=1"] {
        let said = refused(&format!("group:path=/a,{wrong}"));
        assert!(said.contains("nothing that changes") || said.contains("0..=86400000"), "{wrong}: {said}");
    }
}

#[test]
fn a_group_is_idle_in_place_of_a_weight() {
    let w = load("group:path=/a,cpu.idle=1 + group:path=/b,cpu.idle=0,cpu.weight=50");
    assert_eq!((w.groups[0].idle, w.groups[1].idle, w.groups[1].shares), (true, false, 512));
    for (wrong, why) in [
        ("cpu.idle=1,cpu.weight=50", "an idle group has no weight of its own"),
        ("cpu.shares=50,cpu.idle=1,from_ms=7", "refuses a weight"),
        ("cpu.idle=2", "0..=1"),
        ("cpu.idle=-1", "0..=1"),
    ] {
        let said = refused(&format!("group:path=/a,{wrong}"));
        assert!(said.contains(why), "{wrong}: {said}");
    }
}

#[test]
fn a_group_counts_for_a_part_of_each_cpu() {
    let of = |options: &str| load(&format!("group:path=/a,{options}")).groups[0].throttle;
    assert_eq!((of("group_throttle=0"), of("group_throttle=300"), of("cpu.weight=100")), (0, 300, 1024));
    for wrong in ["group_throttle=1025", "group_throttle=-1", "group_throttle=50%", "group_throttle="] {
        let said = refused(&format!("group:path=/a,{wrong}"));
        assert!(said.contains("`group_throttle` is not a number in its range") && said.contains("0..=1024"), "{said}");
    }
    let later = load("group:path=/a,from_ms=5,cpu.weight=1,group_throttle=3").group_changes;
    assert_eq!((later[0].shares, later[0].throttle), (Some(10), Some(3)));
    assert!(refused("group:path=/a,throttle=3").contains("unknown option `throttle`"));
}

#[test]
fn limits_are_a_schedule_of_each_source() {
    let w = load("busy + limits:cpus=0,max_khz=1000000,from_ms=500 + limits:by=cooling,from_ms=700");
    let change =
        |at_ms: u64, cpus, max_khz, by| LimitChange { at_ns: at_ms * 1_000_000, cpus, min_khz: 0, max_khz, by };
    let all = CpuSet::first(machine().cpus.len() as u32);
    let expected =
        [change(500, CpuSet::of([0]), 1_000_000, LimitSource::User), change(700, all, u32::MAX, LimitSource::Cooling)];
    assert_eq!(w.limits, expected);
    for (wrong, says) in [
        ("max_khz=1", "allowed: 500000..=2000000"),
        ("min_khz=1GHz", "`min_khz` is not a number in its range"),
        ("min_khz=1500000,max_khz=1000000", "the lower limit is above the upper one"),
        ("by=cooling,min_khz=1000000", "a cooling device asks for no lower limit"),
        ("by=firmware", "unknown `by`: `firmware`"),
        ("cpus=99", "names no CPUs of the machine"),
        ("from_ms=86400001", "0..=86400000"),
        ("max_mhz=1000", "unknown option `max_mhz`"),
        ("max_khz=1000000,max_khz=500000", "`max_khz` is given twice"),
    ] {
        let said = refused(&format!("limits:{wrong}"));
        assert!(said.contains(says) && said.contains('╭'), "{wrong}: {said}");
    }
}

#[test]
fn busy_threads_and_clamps() {
    let w = load("busy:threads=2,cpus=1/3,util_max=100,nice=5");
    assert_eq!(w.tasks[1].uclamp, Some((0, 100)));
    assert_eq!(w.tasks[1].cpus, Some(CpuSet::of([1, 3])));
    assert_eq!(w.tasks[1].policy, SchedPolicy::Normal { nice: 5, slice_ns: 0 });
    assert_eq!(load("busy").tasks[0].uclamp, None);
}

#[test]
fn rt_app_files_and_models_run_together() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/workloads/rt-app/tutorial_example1.json");
    let w = load(&format!("{file}+busy"));
    assert_eq!((w.tasks.len(), w.name.as_str()), (2, "tutorial_example1 + busy"));
}

#[test]
fn wrong_specifications_are_pointed_at() {
    for (name, spec) in [
        ("unknown-model", "busy+sysbensh-cpu:threads=1"),
        ("unknown-option", "sysbench-cpu:thread=1"),
        ("option-without-value", "sysbench-cpu:threads=1,event_us"),
        ("cpu-beyond-machine", "busy:cpus=0-4"),
        ("missing-option", "periodic:run_us=10"),
        ("priority-of-a-fair-task", "busy:priority=5"),
        ("time-out-of-range", "periodic:run_us=0,period_us=1e6"),
        ("empty-part", "busy++busy"),
        ("given-twice", "busy:nice=1,nice=2"),
        ("deadline-order", "periodic:run_us=20,period_us=10,policy=deadline"),
        ("no-such-mode", "sched-pipe:mode=thread"),
        ("too-many-tasks", "hackbench:groups=1000,fds=100"),
        ("not-a-share", "ebizzy:memory_share=1.5"),
        ("priority-too-high", "cyclictest:threads=2,priority=100"),
        ("no-such-file", "no-such-file.json"),
    ] {
        insta::assert_snapshot!(format!("workload-spec-{name}"), refused(spec));
    }
}

#[test]
fn any_text_is_a_workload_or_a_message() {
    let pieces =
        ["busy", ":", "=", ",", "+", "cpus", "0-3", "9999999999999999999", "é", "\u{0}", " ", ".json", "phase_us"];
    for a in pieces {
        for b in pieces {
            for c in pieces {
                for spec in [format!("{a}{b}{c}"), format!("periodic:run_us=1,{a}{b}{c}")] {
                    if let Err(e) = workload::load(&spec, &machine()) {
                        assert!(!e.to_string().is_empty());
                    }
                }
            }
        }
    }
}

#[test]
fn sections_are_shared_by_their_threads_and_timed_without_the_pauses() {
    let alone = load("sections:run_us=6400,pieces=64");
    assert_eq!((alone.tasks.len(), alone.tasks[0].phases[0].ops.len()), (1, 64 + 3));
    assert_eq!(alone.tasks[0].phases[0].ops[..2], [Op::Lap { ops: 0 }, Op::Run { work_ns: 100_000 }]);
    let shared = load("sections:threads=4,run_us=6400,pieces=64,util_max=300");
    assert_eq!((shared.tasks.len(), shared.semaphores.len()), (5, 2));
    assert_eq!(shared.tasks[0].phases[0].ops.iter().filter(|op| **op == Op::SemPost(0)).count(), 64);
    assert_eq!(shared.tasks[4].phases[0].ops, [Op::SemWait(0), Op::Run { work_ns: 100_000 }, Op::SemPost(1)]);
    assert!(shared.tasks.iter().all(|t| t.uclamp == Some((0, 300))));
}

#[test]
fn frames_are_light_heavy_or_rare() {
    let work_us = |options: &str| -> Vec<u64> {
        let w = load(&format!("ui-frames:ui_us=1000,{options}"));
        let ops = w.tasks[0].phases[0].ops.iter();
        ops.filter_map(|op| if let Op::Run { work_ns } = op { Some(work_ns / 1000) } else { None }).collect()
    };
    let frames = work_us("heavy_every=20,heavy_percent=200,rare_every=100,rare_percent=1000");
    let between = |low, high| frames.iter().filter(|us| (low..=high).contains(*us)).count();
    let (light, heavy, rare) = (between(800, 1200), between(1600, 2400), between(8000, 12000));
    assert_eq!(light + heavy + rare, 600);
    assert!((15..=50).contains(&heavy) && (1..=15).contains(&rare), "{heavy} heavy, {rare} rare");
    // Without rare ones the sequence is what it was before there were any.
    assert_eq!(work_us("heavy_percent=200"), work_us("heavy_percent=200,rare_percent=5000"));
    assert!(refused("ui-frames:rare_every=601").contains("rare_every"));
}

#[test]
fn a_user_interface_has_rates_feedback_and_recorded_frames() {
    let vsync_ns = |w: &Workload| match w.tasks[0].phases[0].ops[3] {
        Op::Timer { period_ns, .. } => period_ns,
        ref other => panic!("{other:?}"),
    };
    for (rate_hz, period_ns, budget_ns) in
        [(60, 16_666_666, 16_000_000), (90, 11_111_111, 11_000_000), (120, 8_333_333, 8_000_000)]
    {
        let w = load(&format!("ui-frames:rate_hz={rate_hz},late_util_min=512,late_frames=30"));
        assert_eq!((vsync_ns(&w), w.tasks[0].frame_ns), (period_ns, budget_ns));
        assert_eq!(w.tasks[0].frame_floor.map(|f| (f.min, f.frames, f.following)), Some((512, 30, 1)));
        assert!(w.sets_clamps());
    }
    assert!(refused("ui-frames:late_frames=30").contains("late_util_min"));
    assert!(refused("ui-frames:loads=no/such/file.json").contains("no/such/file.json"));
    let folder = tempfile::tempdir().expect("a place");
    let file = folder.path().join("frames.json");
    let text = r#"{"quantumSec":0.001,"windowQuantum":10,"frameQuantum":16,"coreNum":1,
                   "renderLoad":[[16,50],[48,100]],"windowedLoad":[[80,80,0],[80,80,0],[10,10,0]]}"#;
    std::fs::write(&file, text).expect("written");
    let w = load(&format!("ui-frames:loads={},loads_percent=50", file.display()));
    assert_eq!(w.tasks.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["ui", "ui-render", "ui-other-0"]);
    // Half of a frame of 16 ms, half of that by the option, two fifths of it in the first thread; the next one comes
    // two vsyncs later.
    assert_eq!(w.tasks[0].phases[0].ops[0], Op::Run { work_ns: 1_600_000 });
    assert_eq!(w.tasks[1].phases[0].ops[1], Op::Run { work_ns: 2_400_000 });
    assert_eq!(vsync_ns(&w), 2 * 16_666_666);
}

/// The load series beside the project are read as they are.
#[test]
fn recorded_load_series_are_workloads() {
    let folder =
        std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/traces/sdm660-ui-load-10ms"));
    let Ok(entries) = std::fs::read_dir(folder) else {
        println!("not measured: no load series in {}", folder.display());
        return;
    };
    let place = tempfile::tempdir().expect("a place");
    let mut frames = 0;
    for path in entries.filter_map(Result::ok).map(|e| e.path()) {
        let packed = std::fs::File::open(&path).expect("there");
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed), &mut text).expect("text");
        let file = place.path().join("series.json");
        std::fs::write(&file, text).expect("written");
        let w = load(&format!("ui-frames:loads={}", file.display()));
        assert_eq!(w.tasks.len(), 6, "{}", path.display());
        frames += w.tasks[1].phases[0].ops.len() / 3;
    }
    println!("{frames} frames");
    assert!(frames > 5000);
}

#[test]
fn a_boost_is_switched_during_a_run_and_a_preference_is_not() {
    let w = load("busy:name=ui + boost:of=ui,percent=80,from_ms=100 + boost:of=ui,percent=0,from_ms=300");
    let boosts: Vec<_> = w.boosts.iter().flat_map(|group| group.boosts.clone()).collect();
    assert_eq!(boosts, [(100_000_000, 80), (300_000_000, 0)]);
    let said = refused("boost:of=ui,percent=10,prefer_idle=1,from_ms=100");
    assert!(said.contains("`prefer_idle` cannot be switched during a run"), "{said}");
}
