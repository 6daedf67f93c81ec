// SPDX-License-Identifier: GPL-2.0-or-later
//! A writer of invented text traces in every layout. For benches and tests only: it writes what the layouts look like,
//! and shares no code with the reader.

#![allow(dead_code, reason = "each test uses a part")]

use std::io::{self, Write};

use pelton_schema::Event;

/// Layout of the lines of a text trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Tracefs `trace`, with the column of flags.
    Tracefs,
    /// Tracefs `trace` with the column of thread groups, as Android writes it.
    Systrace,
    /// `trace-cmd report`.
    TraceCmd,
    /// `perf script`.
    PerfScript,
}

impl Layout {
    pub const ALL: [Layout; 4] = [Layout::Tracefs, Layout::Systrace, Layout::TraceCmd, Layout::PerfScript];

    /// Text before the first line.
    pub fn head(self) -> &'static str {
        match self {
            Layout::Tracefs => "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:8\n#\n",
            Layout::Systrace => {
                "<!DOCTYPE html>\n<html>\n<script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n"
            }
            Layout::TraceCmd => "cpus=8\n",
            Layout::PerfScript => "",
        }
    }

    /// Text behind the last line.
    pub fn tail(self) -> &'static str {
        if self == Layout::Systrace { "</script>\n</html>\n" } else { "" }
    }

    /// Writes one event by the task `tid`; events that are no ftrace events are passed over.
    pub fn line(self, out: &mut impl Write, time_ns: u64, tid: u32, event: &Event) -> io::Result<()> {
        let Some((cpu, name, fields)) = fields(event) else { return Ok(()) };
        let (s, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        let us = ns / 1000;
        match self {
            Layout::Tracefs => {
                writeln!(out, "{:>16}-{tid:<7} [{cpu:03}] d..2. {s:5}.{us:06}: {name}: {fields}", comm(tid))
            }
            Layout::Systrace => {
                writeln!(out, "{:>16}-{tid:<5} ({tid:5}) [{cpu:03}] d..3 {s:5}.{us:06}: {name}: {fields}", comm(tid))
            }
            Layout::TraceCmd => {
                writeln!(
                    out,
                    "{:>16}-{tid:<5} [{cpu:03}] {s:5}.{ns:09}: {name:20} {fields}",
                    comm(tid),
                    name = format!("{name}:")
                )
            }
            Layout::PerfScript => {
                let name = format!("{}:{name}", if name.starts_with("cpu") { "power" } else { "sched" });
                writeln!(out, "{:>16} {tid:5} [{cpu:03}] {s:5}.{us:06}: {name:>26}: {fields}", comm(tid))
            }
        }
    }
}

/// The name of a task.
fn comm(tid: u32) -> String {
    if tid == 0 { "<idle>".to_owned() } else { format!("worker {}", tid % 97) }
}

/// CPU, name and fields of an event that text has.
fn fields(event: &Event) -> Option<(u32, &'static str, String)> {
    Some(match *event {
        Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio } => {
            let (prev, next, state) = (swapper(cpu, prev_tid), swapper(cpu, next_tid), state(prev_state));
            let fields = format!(
                "prev_comm={prev} prev_pid={prev_tid} prev_prio={} prev_state={state} ==> next_comm={next} next_pid={next_tid} next_prio={}",
                prev_prio.cast_signed(),
                next_prio.cast_signed()
            );
            (cpu, "sched_switch", fields)
        }
        Event::SchedWaking { cpu, tid, prio, target_cpu } => (cpu, "sched_waking", wake(tid, prio, target_cpu)),
        Event::SchedWakeup { cpu, tid, prio, target_cpu } => (cpu, "sched_wakeup", wake(tid, prio, target_cpu)),
        Event::SchedMigrateTask { cpu, tid, prio, orig_cpu, dest_cpu } => {
            let (name, prio) = (comm(tid), prio.cast_signed());
            let fields = format!("comm={name} pid={tid} prio={prio} orig_cpu={orig_cpu} dest_cpu={dest_cpu}");
            (cpu, "sched_migrate_task", fields)
        }
        Event::CpuFrequency { cpu, freq_khz } => (cpu, "cpu_frequency", format!("state={freq_khz} cpu_id={cpu}")),
        Event::CpuIdle { cpu, state } => (cpu, "cpu_idle", format!("state={state} cpu_id={cpu}")),
        _ => return None,
    })
}

fn swapper(cpu: u32, tid: u32) -> String {
    if tid == 0 { format!("swapper/{cpu}") } else { comm(tid) }
}

fn state(code: u32) -> &'static str {
    match code {
        0 => "R+",
        1 => "S",
        2 => "D",
        _ => "X",
    }
}

fn wake(tid: u32, prio: u32, target_cpu: u32) -> String {
    format!("comm={} pid={tid} prio={} target_cpu={target_cpu:03}", comm(tid), prio.cast_signed())
}
