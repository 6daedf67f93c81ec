// SPDX-License-Identifier: GPL-2.0-or-later
//! Workloads that rt-app files become: one small file per rule.

use pelton_model::Workload;
use pelton_model::workload::{CpuSet, Op, SchedPolicy, Start, TimerId, TimerMode};
use pelton_scenario::SourceFile;
use pelton_scenario::rtapp::{self, RtAppOptions, SuspendRule};

fn options() -> RtAppOptions {
    RtAppOptions { cpus: Some(4), ..RtAppOptions::default() }
}

fn load_with(tasks: &str, options: &RtAppOptions) -> Workload {
    let file = SourceFile::new("t.json", format!("{{ \"tasks\": {{ {tasks} }} }}"));
    rtapp::load(&file, options).unwrap_or_else(|e| panic!("{e}"))
}

fn load(tasks: &str) -> Workload {
    load_with(tasks, &options())
}

fn ops(workload: &Workload, task: usize) -> Vec<Op> {
    workload.tasks[task].phases.iter().flat_map(|p| p.ops.clone()).collect()
}

#[test]
fn copies_are_numbered_over_all_threads_and_the_only_phase_takes_the_loop() {
    let w = load(r#""a": { "instance": 2, "loop": 7, "run": 10, "sleep": 5 }, "b": { "run": 1, "delay": 3 }"#);
    let names: Vec<&str> = w.tasks.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["a-0", "a-1", "b-2"]);
    assert_eq!((w.tasks[0].loops, w.tasks[0].phases[0].loops), (Some(1), Some(7)));
    assert_eq!((w.tasks[2].loops, w.tasks[2].phases[0].loops), (None, Some(1)));
    assert_eq!(w.tasks[2].start, Start::After(3_000));
    assert_eq!(ops(&w, 0), [Op::Run { work_ns: 10_000 }, Op::Sleep { ns: 5_000 }, Op::EndActivation]);
}

#[test]
fn a_program_is_loaded_where_the_file_says() {
    let w = load(r#""a": { "loop": 1, "run": 1, "execve": "sh", "run1": 2, "execve1": "make" }"#);
    let run = |us: u64| Op::Run { work_ns: us * 1000 };
    assert_eq!(ops(&w, 0), [run(1), Op::Exec, run(2), Op::Exec, Op::EndActivation]);
    // The key `exec` is that of the oldest grammar: a time, and no program.
    let old = load(r#""a": { "exec": 5, "period": 10, "deadline": 10 }"#);
    assert!(!ops(&old, 0).contains(&Op::Exec));
}

#[test]
fn equal_keys_stay_in_order() {
    let w = load(r#""a": { "loop": 1, "run": 1, "sleep": 2, "run": 3, "run7": 4, "sleep": 5 }"#);
    let kinds: Vec<u64> = ops(&w, 0)
        .iter()
        .filter_map(|op| match op {
            Op::Run { work_ns } => Some(work_ns / 1000),
            Op::Sleep { ns } => Some(ns / 1000),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, [1, 2, 3, 4, 5]);
}

#[test]
fn unique_timers_are_private_others_are_shared_and_one_absolute_use_makes_the_timer_absolute() {
    let w = load(
        r#""a": { "phases": {
            "p": { "run": 1, "timer": { "ref": "unique", "period": 10 } },
            "q": { "run": 1, "timer": { "ref": "uniqueB", "period": 20 }, "timer1": { "ref": "tick", "period": 30 } },
            "r": { "run": 1, "timer": { "ref": "unique", "period": 40, "mode": "absolute" } } } }"#,
    );
    let timers: Vec<(TimerId, u64, TimerMode)> = ops(&w, 0)
        .iter()
        .filter_map(|op| match *op {
            Op::Timer { timer, period_ns, mode } => Some((timer, period_ns / 1000, mode)),
            _ => None,
        })
        .collect();
    let expected = [
        (TimerId::Own(0), 10, TimerMode::Absolute),
        (TimerId::Own(1), 20, TimerMode::Relative),
        (TimerId::Shared(0), 30, TimerMode::Relative),
        (TimerId::Own(0), 40, TimerMode::Absolute),
    ];
    assert_eq!(timers, expected);
    assert_eq!((w.tasks[0].own_timers, w.shared_timers), (2, 1));
    assert!(!ops(&w, 0).contains(&Op::EndActivation), "a timer ends an activation by itself");
}

#[test]
fn phases_without_cpus_go_back_to_those_of_the_task() {
    let w = load(r#""a": { "cpus": [3], "phases": { "p": { "cpus": [0,1], "run": 1 }, "q": { "run": 1 } } }"#);
    let phases = &w.tasks[0].phases;
    assert_eq!(phases[0].cpus, Some(CpuSet::of([0, 1])));
    assert_eq!(phases[1].cpus, Some(CpuSet::of([3])));
    let w = load(r#""a": { "phases": { "p": { "cpus": [0], "run": 1 }, "q": { "run": 1 } } }"#);
    assert_eq!(w.tasks[0].phases[1].cpus, Some(CpuSet::first(4)));
}

#[test]
fn policies_have_the_defaults_of_rt_app() {
    let w = load(
        r#""a": { "policy": "SCHED_FIFO", "run": 1 }, "b": { "priority": -19, "run": 1, "dl-runtime": 500 },
           "c": { "policy": "SCHED_DEADLINE", "dl-runtime": 10, "dl-period": 100, "run": 1, "sleep": 1 },
           "d": { "policy": "SCHED_RR", "phases": { "p": { "run": 1 }, "q": { "priority": 20, "run": 1 } } }"#,
    );
    assert_eq!(w.tasks[0].policy, SchedPolicy::Fifo { priority: 10 });
    assert_eq!(w.tasks[1].policy, SchedPolicy::Normal { nice: -19, slice_ns: 500_000 });
    assert_eq!(
        w.tasks[2].policy,
        SchedPolicy::Deadline { runtime_ns: 10_000, deadline_ns: 100_000, period_ns: 100_000 }
    );
    assert_eq!(w.tasks[3].policy, SchedPolicy::RoundRobin { priority: 10 });
    assert_eq!(w.tasks[3].phases[0].policy, None);
    assert_eq!(w.tasks[3].phases[1].policy, Some(SchedPolicy::RoundRobin { priority: 20 }));
}

#[test]
fn clamps_that_are_not_written_stay_as_they_were() {
    let w = load(
        r#""a": { "loop": 1, "util_max": 300, "phases": { "p": { "run": 1 }, "q": { "util_min": 100, "run": 1 },
           "r": { "util_min": -1, "util_max": 512, "run": 1 } } }"#,
    );
    assert_eq!(w.tasks[0].uclamp, Some((0, 300)));
    let phases: Vec<_> = w.tasks[0].phases.iter().map(|p| p.uclamp).collect();
    assert_eq!(phases, [None, Some((100, 300)), Some((100, 512))]);
}

#[test]
fn suspend_waits_under_the_written_name_or_under_the_own_name() {
    let tasks = r#""a": { "suspend": "x", "run": 1 }, "b": { "suspend", "run": 1 }, "c": { "resume": "x", "resume1": "b", "run": 1 }"#;
    let w = load(tasks);
    assert_eq!((&ops(&w, 0)[0], &ops(&w, 1)[0]), (&Op::Suspend(0), &Op::Suspend(1)));
    assert_eq!(ops(&w, 2)[..2], [Op::Resume(0), Op::Resume(1)]);
    let w = load_with(tasks, &RtAppOptions { suspend: SuspendRule::OwnName, ..options() });
    assert_eq!(w.resource_names[0].2, "a");
}

#[test]
fn a_name_used_by_suspend_and_by_signal_is_one_condition_with_its_mutex() {
    let w = load(
        r#""a": { "suspend": "n", "run": 1 }, "b": { "lock": "m", "signal": "n", "unlock": "m", "run": 1, "resume": "n" }"#,
    );
    assert_eq!(ops(&w, 0)[..3], [Op::Lock(0), Op::Wait { cond: 0, mutex: 0 }, Op::Unlock(0)]);
    let tail = [Op::Lock(0), Op::Broadcast(0), Op::Unlock(0), Op::EndActivation];
    assert_eq!(ops(&w, 1)[4..], tail);
}

#[test]
fn barriers_count_copies_and_forks_get_a_template() {
    let w = load(
        r#""a": { "instance": 3, "barrier": "B", "run": 1 }, "b": { "barrier": "B", "run": 1 },
           "c": { "instance": 0, "loop": 1, "run": 5 }, "d": { "loop": 1, "fork": "c", "run": 1 }"#,
    );
    assert_eq!(w.barriers, [4]);
    assert_eq!(w.tasks.len(), 6);
    assert_eq!(w.tasks[5].start, Start::OnFork);
    assert_eq!(ops(&w, 4)[0], Op::Fork { task: 5 });
}

#[test]
fn run_is_exact_unless_quantisation_is_wanted() {
    let file = SourceFile::new(
        "t.json",
        r#"{ "tasks": { "a": { "loop": 1, "run": 2000003 } }, "global": { "calibration": 355 } }"#,
    );
    let exact = rtapp::load(&file, &options()).expect("good");
    assert_eq!(ops(&exact, 0)[0], Op::Run { work_ns: 2_000_003_000 });
    let loops = rtapp::load(&file, &RtAppOptions { quantise: true, ..options() }).expect("good");
    // Two whole seconds of 2816901 loops each, then the 8 whole loops of 3 us.
    assert_eq!(ops(&loops, 0)[0], Op::Run { work_ns: (2 * 2_816_901 + 8) * 355 });
}

/// A file that writes memory and a device; `global` has what is given.
fn writing(event: &str, global: &str) -> SourceFile {
    let text = format!(r#"{{ "tasks": {{ "a": {{ "loop": 1, {event} }} }}, "global": {{ {global} }} }}"#);
    SourceFile::new("t.json", text)
}

fn defined(defines: &[(&str, &str)]) -> RtAppOptions {
    let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    RtAppOptions { defines: defines.collect(), ..options() }
}

#[test]
fn written_bytes_take_the_time_that_was_defined_and_without_one_they_are_refused() {
    let mem = defined(&[("MEM_NS_PER_KIB", "62.5")]);
    let loaded = rtapp::load_full(&writing(r#""mem": 4100"#, ""), &mem).expect("good");
    // 4100 / 1024 x 62.5 ns.
    assert_eq!(ops(&loaded.workload, 0), [Op::Run { work_ns: 250 }, Op::EndActivation]);
    assert!(loaded.notes.iter().any(|note| note.contains("62.5 ns per 1024 bytes")), "{:?}", loaded.notes);
    // As `run`: 160 of 1024 of the work where CPU 0 is the one that is measured.
    let little = RtAppOptions { capacities: vec![160, 1024], ..mem.clone() };
    let work =
        rtapp::load(&writing(r#""mem": 4194304, "run": 256"#, r#""calibration": "CPU0""#), &little).expect("good");
    assert_eq!(ops(&work, 0)[..2], [Op::Run { work_ns: 40_000 }, Op::Run { work_ns: 40_000 }]);
    // Three writes of 100 bytes at most; 4 MiB where the file says nothing.
    let io = defined(&[("IO_CALL_NS", "400")]);
    let work_of =
        |event: &str, global: &str| ops(&rtapp::load(&writing(event, global), &io).expect("good"), 0)[0].clone();
    assert_eq!(work_of(r#""iorun": 201"#, r#""mem_buffer_size": 100"#), Op::Run { work_ns: 1200 });
    assert_eq!(work_of(r#""iorun": 4194304"#, r#""io_device": "/dev/null""#), Op::Run { work_ns: 400 });
    for (event, global, options, expected) in [
        (r#""mem": 1"#, "", &io, "--define MEM_NS_PER_KIB=NS"),
        (r#""iorun": 1"#, "", &mem, "--define IO_CALL_NS=NS"),
        (r#""iorun": 1"#, r#""io_device": "/dev/sda""#, &io, "how long `/dev/sda` takes"),
        (r#""iorun": 1"#, r#""mem_buffer_size": 0"#, &io, "mem_buffer_size"),
        (r#""mem": 1"#, "", &defined(&[("MEM_NS_PER_KIB", "0")]), "`MEM_NS_PER_KIB=0` is no time"),
        (r#""mem": 1"#, "", &defined(&[("MEM_NS_PER_KIB", "inf")]), "is no time"),
    ] {
        let told = rtapp::load(&writing(event, global), options).expect_err(expected).to_string();
        assert!(told.contains(expected), "{expected}: {told}");
    }
}

#[test]
fn the_oldest_grammar_takes_the_chain_first_and_computes_what_is_left() {
    let text = r#"{ "resources": 4, "tasks": { "t": { "exec": 50000, "period": 100000, "lock_order": [0, 3],
        "resources": { "0": { "duration": 1000, "access": [2] }, "2": { "access": [1] }, "1": { "access": [3] },
                       "3": { "duration": 500 } } } } }"#;
    let w = rtapp::load(&SourceFile::new("t.json", text), &options()).unwrap_or_else(|e| panic!("{e}"));
    let number = |name: &str| w.resource_names.iter().find(|(_, _, n)| n == name).expect("declared").1;
    let chain = ["2", "1", "3", "0"].map(number);
    let mut expected: Vec<Op> = chain.iter().map(|&m| Op::Lock(m)).collect();
    expected.push(Op::Run { work_ns: 1_000_000 });
    expected.extend(chain.iter().rev().map(|&m| Op::Unlock(m)));
    expected.extend([Op::Lock(number("3")), Op::Run { work_ns: 500_000 }, Op::Unlock(number("3"))]);
    expected.push(Op::Run { work_ns: 48_500_000 });
    expected.push(Op::Timer { timer: TimerId::Own(0), period_ns: 100_000_000, mode: TimerMode::Absolute });
    assert_eq!(ops(&w, 0), expected);
}

#[test]
fn notes_name_what_has_no_effect() {
    let text =
        r#"{ "tasks": { "a": { "run": 1 } }, "global": { "logdir": "./", "calibration": "CPU0", "duration": 2 } }"#;
    let loaded = rtapp::load_full(&SourceFile::new("dir/demo.json", text), &options()).expect("good");
    assert_eq!(loaded.workload.name, "demo");
    assert_eq!(loaded.workload.duration_ns, Some(2_000_000_000));
    assert_eq!(loaded.notes[0], "no effect in a simulation: logdir (line 1)");
    assert_eq!(loaded.notes.len(), 1, "the biggest CPU was calibrated: {:?}", loaded.notes);
}

/// rt-app, parse_global and calibrate_cpu_cycles: the time of a loop is measured on the CPU that `calibration` names,
/// CPU 0 without one.
#[test]
fn run_counts_on_the_cpu_that_was_calibrated() {
    let loaded = |global: &str| {
        let text =
            format!("{{ \"tasks\": {{ \"a\": {{ \"loop\": 1, \"run\": 6400 }} }}, \"global\": {{ {global} }} }}");
        let options = RtAppOptions { cpus: Some(2), capacities: vec![160, 1024], ..RtAppOptions::default() };
        rtapp::load_full(&SourceFile::new("t.json", text), &options).map_err(|e| e.to_string())
    };
    let work_of = |global: &str| {
        let loaded = loaded(global).expect("good");
        let Op::Run { work_ns } = loaded.workload.tasks[0].phases[0].ops[0] else { panic!("a run") };
        (work_ns, loaded.notes)
    };
    let on_little = 6_400_000 * 160 / 1024;
    let (work_ns, notes) = work_of("\"calibration\": \"CPU0\"");
    assert_eq!(work_ns, on_little);
    assert_eq!(notes, ["`run` counts microseconds on CPU0 at its highest frequency, capacity 160 of 1024"]);
    assert_eq!(work_of("\"calibration\": \"CPU1\""), (6_400_000, Vec::new()));
    assert_eq!(work_of("\"calibration\": 355").0, 6_400_000, "the time of a loop is that of the biggest CPU");
    let (work_ns, notes) = work_of("\"duration\": 1");
    assert_eq!(work_ns, on_little);
    assert!(notes[0].starts_with("no `calibration`, so that rt-app takes CPU0"), "{notes:?}");
    let missing = loaded("\"calibration\": \"CPU2\"").expect_err("two CPUs");
    assert!(missing.contains("CPU0 to CPU1"), "{missing}");
}

#[test]
fn clamps_are_those_that_are_written() {
    let clamps = |task: &str| {
        let file =
            SourceFile::new("t.json", format!("{{ \"tasks\": {{\n \"a\": {{ \"loop\": 1, {task}, \"run\": 1 }} }} }}"));
        rtapp::load(&file, &RtAppOptions::default()).map(|w| w.tasks[0].uclamp).map_err(|e| e.to_string())
    };
    assert_eq!(clamps("\"util_max\": 300"), Ok(Some((0, 300))));
    assert_eq!(clamps("\"util_max\": 1024, \"util_min\": -1, \"taskgroup\": \"/\""), Ok(Some((0, 1024))));
    assert_eq!(clamps("\"util_min\": -1"), Ok(None));
}

#[test]
fn groups_are_joined_at_the_start_and_by_phases() {
    let text = r#"{ "tasks": { "a": { "taskgroup": "/top", "phases": {
        "p0": { "run": 1, "taskgroup": "/tg1/tg11/" }, "p1": { "run": 1 }, "p2": { "run": 1, "taskgroup": "/" } } },
        "b": { "taskgroup": "/tg2", "loop": 1, "run": 1 } } }"#;
    let w = rtapp::load(&SourceFile::new("t.json", text), &options()).unwrap_or_else(|e| panic!("{e}"));
    let joined =
        |task: usize| -> Vec<Option<&str>> { w.tasks[task].phases.iter().map(|p| p.taskgroup.as_deref()).collect() };
    assert_eq!((w.tasks[0].taskgroup.as_str(), w.tasks[1].taskgroup.as_str()), ("/tg1/tg11", "/tg2"));
    assert_eq!(joined(0), [Some("/tg1/tg11"), None, Some("")]);
    assert_eq!(joined(1), [None], "named by the task, not by a phase");
}

#[test]
fn groups_are_for_the_fair_class_and_not_endlessly_deep() {
    let of = |task: String| {
        let file =
            SourceFile::new("t.json", format!("{{ \"tasks\": {{\n \"a\": {{ \"loop\": 1, {task}, \"run\": 1 }} }} }}"));
        rtapp::load(&file, &RtAppOptions::default()).map(|_| ()).map_err(|e| e.to_string())
    };
    let fifo = of("\"policy\": \"SCHED_FIFO\", \"taskgroup\": \"/a\"".into());
    assert!(fifo.unwrap_err().contains("a task group with SCHED_FIFO"));
    assert_eq!(of("\"policy\": \"SCHED_FIFO\", \"taskgroup\": \"/\"".into()), Ok(()));
    assert!(of(format!("\"taskgroup\": \"{}\"", "/a".repeat(33))).unwrap_err().contains("so deep down"));
    assert_eq!(of(format!("\"taskgroup\": \"{}\"", "/a".repeat(32))), Ok(()));
}

fn loaded(text: &str) -> rtapp::Loaded {
    rtapp::load_full(&SourceFile::new("t.json", text), &options()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_negative_run_is_longer_than_any_run() {
    let w = load(r#""a": { "cpus": [2], "loop": -1, "run": -1 }, "b": { "run": -200, "sleep": 5, "delay": -3 }"#);
    let hundred_days_ns = 100 * 86_400 * 1_000_000_000;
    assert_eq!(ops(&w, 0), [Op::Run { work_ns: hundred_days_ns }, Op::EndActivation]);
    assert_eq!(ops(&w, 1)[0], Op::Run { work_ns: hundred_days_ns });
    assert_eq!(w.tasks[1].start, Start::AtStart, "rt-app waits for what is above 0 only");
    assert_eq!(w.tasks[0].phases[0].loops, None);
}

#[test]
fn negative_loops_and_lengths_are_those_without_end() {
    let w = loaded(
        r#"{ "tasks": { "a": { "loop": -7, "phases": { "p": { "loop": -2, "run": 1, "sleep": 1 } } } },
                        "global": { "duration": -5 } }"#,
    );
    assert_eq!((w.workload.tasks[0].loops, w.workload.tasks[0].phases[0].loops), (None, None));
    assert_eq!(w.workload.duration_ns, None);
}

#[test]
fn keys_that_rt_app_does_not_read_are_passed_over_with_a_note() {
    let file = loaded(
        "{ \"comment\": \"x\", \"tasks\": { \"a\": { \"run\": 10, \"_why\": [1], \"sleep\": 5,\n\
           \"timer\": { \"ref\": \"unique\", \"period\": 100, \"unit\": \"us\" } } }, \"global\": { \"author\": 1 } }",
    );
    let ops = ops(&file.workload, 0);
    assert!(matches!(ops[..], [Op::Run { .. }, Op::Sleep { .. }, Op::Timer { .. }]), "{ops:?}");
    let note = file.notes.iter().find(|note| note.contains("passed over")).expect("a note");
    for place in ["comment (t.json:1)", "_why (t.json:1)", "unit (t.json:2)", "author (t.json:2)"] {
        assert!(note.contains(place), "{note}");
    }
    let many: String = (0..1000).map(|i| format!("\"{i:041}\": 1, ")).collect();
    let file = loaded(&format!("{{ \"tasks\": {{ \"a\": {{ {many} \"run\": 10 }} }} }}"));
    let note = file.notes.iter().find(|note| note.contains("passed over")).expect("a note");
    assert!(note.contains("and 990 more") && note.len() < 1000, "{note}");
}

#[test]
fn the_last_of_equal_keys_counts_as_in_rt_app() {
    let w = load(r#""a": { "priority": 3, "run": 1, "priority": 5 }, "b": { "run": 2 }, "a": { "run": 3, "nice": 0 }"#);
    assert_eq!(w.tasks.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["a-0", "b-1"]);
    assert_eq!(ops(&w, 0)[0], Op::Run { work_ns: 3_000 });
    let w = load(r#""a": { "priority": 3, "run": 1, "priority": 5 }"#);
    assert_eq!(w.tasks[0].policy, SchedPolicy::Normal { nice: 5, slice_ns: 0 });
}

fn reserved(task: &str) -> (u64, u64, u64) {
    match load(&format!("\"a\": {{ \"policy\": \"SCHED_DEADLINE\", {task} }}")).tasks[0].policy {
        SchedPolicy::Deadline { runtime_ns, deadline_ns, period_ns } => (runtime_ns, deadline_ns, period_ns),
        other => panic!("{other:?}"),
    }
}

#[test]
fn older_names_of_deadline_parameters_are_read() {
    // parse_sched_data(): the older names where the newer ones came to 0.
    assert_eq!(reserved(r#""runtime": 5000, "period": 20000, "deadline": 10000"#), (5_000_000, 10_000_000, 20_000_000));
    assert_eq!(reserved(r#""runtime": 5000, "sleep": 10"#), (5_000_000, 5_000_000, 5_000_000));
    // A budget by its newer name is the period as well: `period` is not looked at.
    assert_eq!(reserved(r#""dl-runtime": 5000, "period": 20000, "run": 1"#), (5_000_000, 5_000_000, 5_000_000));
    let phases = r#""phases": { "p": { "run": 10, "sleep": 5 } }"#;
    assert_eq!(reserved(&format!(r#""runtime": 3000, "period": 9000, {phases}"#)), (3_000_000, 9_000_000, 9_000_000));
    // Nanoseconds until June 2017.
    let ns = format!(r#""runtime": 3000000, "period": 90000000, {phases}"#);
    assert_eq!(reserved(&ns), (3_000_000, 90_000_000, 90_000_000));
}

#[test]
fn the_oldest_grammar_reserves_five_percent_more_than_it_computes() {
    assert_eq!(reserved(r#""exec": 5000, "period": 20000, "deadline": 15000"#), (5_250_000, 15_000_000, 20_000_000));
    assert_eq!(reserved(r#""exec": 5000, "runtime": 6000, "period": 20000"#), (6_000_000, 20_000_000, 20_000_000));
}

#[test]
fn what_linux_does_anyway_is_no_reason_to_refuse() {
    let w = load(r#""a": { "exec": 5, "period": 10, "hard_rsv": true, "exec jitter": 0, "period jitter": 0 }"#);
    assert_eq!(w.tasks.len(), 1);
}
