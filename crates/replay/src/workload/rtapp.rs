// SPDX-License-Identifier: GPL-2.0-or-later
//! A workload as an rt-app file. Only what recordings are made of: run, sleep, timer, semaphores, policies, affinity.
//!
//! rt-app counts whole microseconds. What is cut off one burst is added to the next, so that sums stay true to 1 us per
//! task and timers to 1 us of their recorded time.

use std::fmt::Write;

use pelton_model::workload::{CpuSet, Op, Phase, SchedPolicy, Start, TaskSpec};
use pelton_model::{Machine, Workload};

use super::model;
use super::speed::WORK_SHIFT;

/// Largest file that is written, bytes: what the reader accepts.
const BYTES_MAX: usize = 16 << 20;
/// Longest time rt-app can hold, us.
const US_MAX: u64 = i32::MAX as u64;

/// Options for writing the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Repeated activations become loops with mean amounts.
    pub model: bool,
}

/// The file's text.
///
/// # Errors
/// When it would be larger than 16 MiB, or uses an operation recordings have not.
pub fn write(workload: &Workload, machine: &Machine, options: WriteOptions) -> Result<String, String> {
    let biggest =
        machine.cpus.iter().enumerate().max_by_key(|(i, c)| (c.capacity, usize::MAX - i)).map_or(0, |(i, _)| i);
    let seconds = workload.duration_ns.unwrap_or(0).div_ceil(1_000_000_000).max(1);
    let mut out = String::from("{\n  \"tasks\": {");
    for (i, task) in workload.tasks.iter().enumerate() {
        let folded = options.model.then(|| model::fold(task));
        out += if i == 0 { "\n" } else { ",\n" };
        write_task(&mut out, folded.as_ref().unwrap_or(task), &workload.tasks)?;
        if out.len() > BYTES_MAX {
            return Err(format!(
                "the file would be larger than {} MiB: fold repetitions with --model, or take a part with --from, --to and \
                 --task",
                BYTES_MAX >> 20
            ));
        }
    }
    // Work is us at capacity 1024, so `run` has to be calibrated on a CPU of that capacity at its highest frequency.
    let _ = write!(
        out,
        "\n  }},\n  \"global\": {{\n    \"duration\": {seconds},\n    \"default_policy\": \"SCHED_OTHER\",\n    \
         \"calibration\": \"CPU{biggest}\"\n  }}\n}}\n"
    );
    Ok(out)
}

/// Whole microseconds with the remainder carried on.
#[derive(Default)]
struct Carry(u64);

/// Of a task's work, and of its sleeps and timers.
#[derive(Default)]
struct Carries {
    work: Carry,
    clock: Carry,
}

impl Carry {
    fn us(&mut self, ns: u64) -> u64 {
        let sum = ns.saturating_add(self.0);
        self.0 = sum % 1000;
        sum / 1000
    }
}

fn write_task(out: &mut String, task: &TaskSpec, all: &[TaskSpec]) -> Result<(), String> {
    let instances = u32::from(task.start != Start::OnFork);
    let _ = write!(out, "    {}: {{ \"instance\": {instances}, \"loop\": 1", quoted(&task.name));
    // A task that sleeps at the beginning sleeps where it starts.
    if let Start::After(ns @ 1..) = task.start {
        let _ = write!(out, ", \"delay\": {}", (ns / 1000).min(US_MAX));
    }
    policy(out, task.policy);
    if let Some((min, max)) = task.uclamp {
        let _ = write!(out, ", \"util_min\": {min}, \"util_max\": {max}");
    }
    if let Some(set) = &task.cpus {
        cpus(out, set);
    }
    *out += ",\n      \"phases\": {";
    let mut carries = Carries::default();
    let mut standing = Standing::of(task);
    for (i, phase) in task.phases.iter().enumerate() {
        *out += if i == 0 { "\n" } else { ",\n" };
        let _ = write!(out, "        \"p{i}\": {{ \"loop\": {}", phase.loops.unwrap_or(1));
        standing.enter(out, phase);
        write_phase(out, task, phase, all, &mut carries)?;
        *out += " }";
    }
    *out += " } }";
    Ok(())
}

/// Policy and group of a task from phase to phase. A group in a file holds until another one is named, the one of the
/// first phase from the beginning; rt-app refuses groups of tasks that are not in the fair class.
struct Standing<'a> {
    policy: SchedPolicy,
    group: &'a str,
    written: &'a str,
}

impl<'a> Standing<'a> {
    fn of(task: &'a TaskSpec) -> Standing<'a> {
        Standing { policy: task.policy, group: &task.taskgroup, written: "" }
    }

    /// Writes the group that a phase runs in, where it is another one than before.
    fn enter(&mut self, out: &mut String, phase: &'a Phase) {
        self.policy = phase.policy.unwrap_or(self.policy);
        self.group = phase.taskgroup.as_deref().unwrap_or(self.group);
        let is_fair = match self.policy {
            SchedPolicy::Normal { .. } | SchedPolicy::Batch { .. } | SchedPolicy::Idle => true,
            SchedPolicy::RoundRobin { .. } | SchedPolicy::Fifo { .. } | SchedPolicy::Deadline { .. } => false,
        };
        if is_fair && self.group != self.written {
            let path = if self.group.is_empty() { "/" } else { self.group };
            let _ = write!(out, ", \"taskgroup\": {}", quoted(path));
            self.written = self.group;
        }
    }
}

fn write_phase(
    out: &mut String,
    task: &TaskSpec,
    phase: &Phase,
    all: &[TaskSpec],
    carries: &mut Carries,
) -> Result<(), String> {
    if let Some(set) = &phase.cpus {
        cpus(out, set);
    }
    if let Some(set) = phase.policy {
        policy(out, set);
    }
    let mut any = false;
    for (i, op) in phase.ops.iter().enumerate().filter(|(_, op)| !matches!(op, Op::MoveAsleep { .. })) {
        any |= write_op(out, i, op, all, carries)
            .ok_or_else(|| format!("task '{}' has an operation that recordings have not: {op:?}", task.name))?;
    }
    if !any {
        // rt-app refuses a phase without events.
        *out += ", \"run0\": 0";
    }
    Ok(())
}

/// One event; `None` for operations that recordings have not.
fn write_op(out: &mut String, i: usize, op: &Op, all: &[TaskSpec], carries: &mut Carries) -> Option<bool> {
    let Carries { work, clock } = carries;
    match *op {
        Op::RunParts { parts } => {
            let _ = write!(out, ", \"run{i}\": {}", work.us(parts >> WORK_SHIFT).min(US_MAX));
        }
        Op::Sleep { ns } => {
            let _ = write!(out, ", \"sleep{i}\": {}", clock.us(ns).clamp(1, US_MAX));
        }
        Op::Timer { period_ns, .. } => {
            let us = clock.us(period_ns).clamp(1, US_MAX);
            let _ = write!(out, ", \"timer{i}\": {{ \"ref\": \"unique0\", \"period\": {us}, \"mode\": \"absolute\" }}");
        }
        Op::SemPost(s) => {
            let _ = write!(out, ", \"sem_post{i}\": \"s{s}\"");
        }
        Op::SemWait(s) => {
            let _ = write!(out, ", \"sem_wait{i}\": \"s{s}\"");
        }
        // rt-app has no pipes: that the writer is about to sleep is lost.
        Op::Write { channel, .. } => {
            let _ = write!(out, ", \"sem_post{i}\": \"p{channel}\"");
        }
        Op::Read { channel, .. } => {
            let _ = write!(out, ", \"sem_wait{i}\": \"p{channel}\"");
        }
        Op::Spawn { task } => {
            let _ = write!(out, ", \"fork{i}\": {}", quoted(&all.get(task as usize)?.name));
        }
        _ => return None,
    }
    Some(true)
}

fn cpus(out: &mut String, set: &CpuSet) {
    let list: Vec<String> = set.iter().map(|c| c.to_string()).collect();
    let _ = write!(out, ", \"cpus\": [{}]", list.join(", "));
}

fn policy(out: &mut String, policy: SchedPolicy) {
    let (name, priority) = match policy {
        SchedPolicy::Normal { nice, .. } => ("SCHED_OTHER", i32::from(nice)),
        SchedPolicy::Batch { nice } => ("SCHED_BATCH", i32::from(nice)),
        SchedPolicy::Idle => ("SCHED_IDLE", 0),
        SchedPolicy::RoundRobin { priority } => ("SCHED_RR", i32::from(priority)),
        SchedPolicy::Fifo { priority } => ("SCHED_FIFO", i32::from(priority)),
        // Recordings have none; the strongest real-time priority comes nearest.
        SchedPolicy::Deadline { .. } => ("SCHED_FIFO", 99),
    };
    let _ = write!(out, ", \"policy\": \"{name}\", \"priority\": {priority}");
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
