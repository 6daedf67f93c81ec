// SPDX-License-Identifier: GPL-2.0-or-later
//! Columns of a table of load-tracking calls, and the columns of each event that they give.

use super::columns::columns_enum;

columns_enum! {
    Col, NAMES {
        Ts "ts", Cpu "cpu", Type "type", Why "why", Pid "pid", Pid2 "pid2", Prio "prio", Comm "comm", Obj "obj", Cfs "cfs",
        Depth "depth", OnRq "on_rq", Running "running", Delayed "delayed", Weight "weight", Runnable "runnable", Ret "ret",
        Now "now", Clock "clock", ClockTask "clock_task", ClockPelt "clock_pelt", LostIdle "lost_idle", Lut "lut",
        LoadSum "load_sum", RunnableSum "runnable_sum", UtilSum "util_sum", Pc "pc", LoadAvg "load_avg",
        RunnableAvg "runnable_avg", UtilAvg "util_avg", UtilEst "util_est", PLut "p_lut", PLoadSum "p_load_sum",
        PRunnableSum "p_runnable_sum", PUtilSum "p_util_sum", PPc "p_pc", PLoadAvg "p_load_avg",
        PRunnableAvg "p_runnable_avg", PUtilAvg "p_util_avg", A0 "a0", A1 "a1",
    }
}

/// Column of the table that each column of an event comes from.
pub(super) const CARRIED: &[(&str, &[(&str, Col)])] = &[
    (
        "pelt_state",
        &[
            ("cpu", Col::Cpu),
            ("signal", Col::Type),
            ("source", Col::Type),
            ("object", Col::Obj),
            ("queue", Col::Cfs),
            ("tid", Col::Pid),
            ("flags", Col::OnRq),
            ("runnable", Col::Runnable),
            ("weight", Col::Weight),
            ("now_ns", Col::Now),
            ("last_update_time_ns", Col::Lut),
            ("load_sum", Col::LoadSum),
            ("runnable_sum", Col::RunnableSum),
            ("util_sum", Col::UtilSum),
            ("period_contrib", Col::Pc),
            ("load_avg", Col::LoadAvg),
            ("runnable_avg", Col::RunnableAvg),
            ("util_avg", Col::UtilAvg),
            ("util_est", Col::UtilEst),
        ],
    ),
    (
        "pelt_before",
        &[
            ("cpu", Col::Cpu),
            ("last_update_time_ns", Col::PLut),
            ("load_sum", Col::PLoadSum),
            ("runnable_sum", Col::PRunnableSum),
            ("util_sum", Col::PUtilSum),
            ("period_contrib", Col::PPc),
            ("load_avg", Col::PLoadAvg),
            ("runnable_avg", Col::PRunnableAvg),
            ("util_avg", Col::PUtilAvg),
        ],
    ),
    (
        "rq_clock",
        &[
            ("cpu", Col::Cpu),
            ("clock_ns", Col::Clock),
            ("clock_task_ns", Col::ClockTask),
            ("clock_pelt_ns", Col::ClockPelt),
            ("lost_idle_ns", Col::LostIdle),
        ],
    ),
    (
        "rq_clock_step",
        &[
            ("cpu", Col::A0),
            ("idle", Col::Running),
            ("cap_scale", Col::Runnable),
            ("freq_scale", Col::Weight),
            ("clock_before_ns", Col::PLut),
            ("clock_task_before_ns", Col::PLoadSum),
            ("clock_pelt_before_ns", Col::PRunnableSum),
            ("clock_ns", Col::Clock),
            ("clock_task_ns", Col::ClockTask),
            ("clock_pelt_ns", Col::ClockPelt),
            ("lost_idle_ns", Col::LostIdle),
        ],
    ),
    (
        "util_est",
        &[
            ("cpu", Col::Cpu),
            ("signal", Col::Type),
            ("object", Col::Obj),
            ("tid", Col::Pid),
            ("enqueued", Col::UtilEst),
            ("util_avg", Col::UtilAvg),
        ],
    ),
    (
        "sched_switch",
        &[
            ("cpu", Col::Cpu),
            ("prev_tid", Col::Pid),
            ("prev_state", Col::A0),
            ("next_tid", Col::Pid2),
            ("next_prio", Col::Prio),
        ],
    ),
    ("sched_waking", &[("cpu", Col::Cpu), ("tid", Col::Pid), ("prio", Col::Prio), ("target_cpu", Col::A0)]),
    ("sched_wakeup", &[("cpu", Col::Cpu), ("tid", Col::Pid), ("prio", Col::Prio), ("target_cpu", Col::A0)]),
    ("sched_wakeup_new", &[("cpu", Col::Cpu), ("tid", Col::Pid), ("prio", Col::Prio), ("target_cpu", Col::A0)]),
    (
        "sched_migrate_task",
        &[("cpu", Col::Cpu), ("tid", Col::Pid), ("prio", Col::Prio), ("orig_cpu", Col::A0), ("dest_cpu", Col::A1)],
    ),
    ("sched_process_exit", &[("cpu", Col::Cpu), ("tid", Col::Pid)]),
    ("sched_cpu_capacity", &[("cpu", Col::A0), ("capacity", Col::A1)]),
    ("sched_overutilized", &[("overutilized", Col::A0)]),
    ("sched_update_nr_running", &[("cpu", Col::A0), ("nr_running", Col::A1), ("change", Col::Ret)]),
    ("cpu_frequency", &[("cpu", Col::A0), ("freq_khz", Col::A1)]),
];
