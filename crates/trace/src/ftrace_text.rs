// SPDX-License-Identifier: GPL-2.0-or-later
//! Text as tracefs has it: what ftrace's readers take, LISA and trace-cmd's users among them.
//!
//! Fields are those of the kernel's print formats. Load tracking stands in the names of LISA's module
//! (`sched_pelt_cfs`, `sched_pelt_se`, `sched_util_est_se`); what no such event says is left out and counted.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pelton_schema::{
    CPU_UNKNOWN, Event, EventInfo, STATE_DEAD, STATE_RUNNABLE, STATE_SLEEPING, STATE_UNINTERRUPTIBLE, Sink,
};

use crate::header::RunHeader;
use crate::output::Output;
use crate::perfetto::TaskIds;
use crate::shown::one_line;

/// Writes a run or a recording as ftrace text. Times have nanoseconds, task ids are those of its Perfetto trace.
///
/// ```
/// use pelton_schema::{Event, Sink};
/// let mut text = Vec::new();
/// let mut trace = pelton_trace::FtraceText::new(&mut text, &pelton_trace::RunHeader::default());
/// trace.event(1_500, &Event::CpuFrequency { cpu: 2, freq_khz: 600_000 });
/// trace.finish().unwrap();
/// let text = String::from_utf8(text).unwrap();
/// assert!(text.ends_with("<idle>-0       [002] ..... 0.000001500: cpu_frequency: state=600000 cpu_id=2\n"));
/// ```
pub struct FtraceText<W: Write> {
    output: Output<W>,
    ids: TaskIds,
    names: BTreeMap<u32, String>,
    /// Task that executes on each CPU.
    current: BTreeMap<u32, u32>,
    left_out: BTreeMap<u8, u64>,
}

impl<W: Write> FtraceText<W> {
    /// Starts the text of a run.
    pub fn new(out: W, run: &RunHeader) -> Self {
        FtraceText::start(out, run, TaskIds::Run)
    }

    /// Starts the text of a recording, whose task ids are the kernel's.
    pub fn recorded(out: W, run: &RunHeader) -> Self {
        FtraceText::start(out, run, TaskIds::Kernel)
    }

    fn start(out: W, run: &RunHeader, ids: TaskIds) -> Self {
        let mut output = Output::new(out);
        output.append(|text| writeln!(text, "# tracer: nop\n#\n# {}\n#", one_line(&run.platform)));
        let names = (0..).zip(run.tasks.iter().map(|name| comm(name))).collect();
        let mut made = FtraceText { output, ids, names, current: BTreeMap::new(), left_out: BTreeMap::new() };
        let named: Vec<u32> = made.names.keys().copied().filter(|&tid| tid != 0).collect();
        named.into_iter().for_each(|tid| made.rename(0, tid));
        made
    }

    /// From here on the task has this name.
    pub fn name_task(&mut self, time_ns: u64, tid: u32, name: &str) {
        self.names.insert(tid, comm(name));
        self.rename(time_ns, tid);
    }

    /// Events so far that the text cannot hold, by name.
    pub fn left_out(&self) -> BTreeMap<&'static str, u64> {
        self.left_out.iter().filter_map(|(&code, &n)| Some((EventInfo::of_code(code)?.name, n))).collect()
    }

    /// Writes what is buffered; returns the length of the text or the first error.
    pub fn finish(self) -> io::Result<u64> {
        self.output.finish()
    }

    fn rename(&mut self, time_ns: u64, tid: u32) {
        let (pid, name) = (self.ids.pid_of(tid), self.name(tid).to_owned());
        let text = format!("task_rename: pid={pid} oldcomm={name} newcomm={name} oom_score_adj=0");
        self.line(time_ns, 0, &text);
    }

    fn name(&self, tid: u32) -> &str {
        self.names.get(&tid).map_or(if tid == 0 { "swapper" } else { "<...>" }, String::as_str)
    }

    /// `comm=... pid=...` of a task, with something in front of both words.
    fn task(&self, before: &str, tid: u32) -> String {
        format!("{before}comm={} {before}pid={}", self.name(tid), self.ids.pid_of(tid))
    }

    fn line(&mut self, time_ns: u64, cpu: u32, event: &str) {
        let tid = self.current.get(&cpu).copied().unwrap_or(0);
        let name = if tid == 0 { "<idle>" } else { self.name(tid) };
        let who = format!("{name:>16}-{:<7}", self.ids.pid_of(tid));
        let (s, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        self.output.append(|text| writeln!(text, "{who} [{cpu:03}] ..... {s}.{ns:09}: {event}"));
    }

    /// The CPU that an event happened on, and its text; `None`: it has none.
    fn text(&self, event: &Event, known: u64) -> Option<(u32, String)> {
        scheduler(self, event).or_else(|| signals(self, event, known)).or_else(|| machine(event))
    }
}

impl<W: Write> Sink for FtraceText<W> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.event_known(time_ns, event, u64::MAX);
    }

    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        if let Event::TaskName { tid, name_0, name_8 } = *event {
            return self.name_task(time_ns, tid, &pelton_schema::unpack_name(name_0, name_8));
        }
        let is_whole = EventInfo::of_code(event.code()).is_some_and(|info| {
            let all = u64::MAX >> (64 - info.columns.len());
            known & all == all || matches!(event, Event::PeltSe { .. } | Event::PeltCfs { .. })
        });
        let Some((cpu, text)) = self.text(event, known).filter(|_| is_whole) else {
            *self.left_out.entry(event.code()).or_insert(0) += 1;
            return;
        };
        self.line(time_ns, cpu, &text);
        match *event {
            Event::SchedSwitch { cpu, next_tid, .. } => drop(self.current.insert(cpu, next_tid)),
            Event::PeltSe { cpu, tid, util_avg, util_est, .. } if has(event, known, "util_est") => {
                let task = self.task("", tid);
                let text =
                    format!("sched_util_est_se: cpu={cpu} path=(null) {task} enqueued={util_est} util={util_avg}");
                self.line(time_ns, cpu, &text);
            }
            Event::PeltCfs { cpu, util_avg, util_est, .. } if has(event, known, "util_est") => {
                let text = format!("sched_util_est_cfs: cpu={cpu} path=/ enqueued={util_est} util={util_avg}");
                self.line(time_ns, cpu, &text);
            }
            _ => {}
        }
    }
}

/// A name as the kernel keeps it: 15 bytes.
fn comm(name: &str) -> String {
    let plain = one_line(name);
    let end = plain.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|&end| end <= 15).last().unwrap_or(0);
    plain[..end].to_owned()
}

/// True when a column is known.
fn has(event: &Event, known: u64, column: &str) -> bool {
    let column = EventInfo::of_code(event.code()).and_then(|info| info.column(column));
    column.is_some_and(|at| known >> at & 1 == 1)
}

/// Averages that are known, each with a space in front.
fn averages(event: &Event, known: u64, load: u64, runnable: u32, util: u32) -> String {
    let all = [("load", load), ("runnable", runnable.into()), ("util", util.into())];
    let known = all.iter().filter(|(name, _)| has(event, known, &format!("{name}_avg")));
    known.map(|(name, value)| format!(" {name}={value}")).collect()
}

/// A state as the kernel prints it; `None`: one that events of ours do not have.
fn state(state: u32) -> Option<&'static str> {
    Some(match state {
        STATE_RUNNABLE => "R",
        STATE_SLEEPING => "S",
        STATE_UNINTERRUPTIBLE => "D",
        STATE_DEAD => "X",
        _ => return None,
    })
}

fn scheduler<W: Write>(trace: &FtraceText<W>, event: &Event) -> Option<(u32, String)> {
    let wakeup = |name: &str, tid, prio: u32, target_cpu: u32| {
        let task = trace.task("", tid);
        format!("{name}: {task} prio={} target_cpu={target_cpu:03}", prio.cast_signed())
    };
    Some(match *event {
        Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio } => {
            let (prev, next) = (trace.task("prev_", prev_tid), trace.task("next_", next_tid));
            let (prev_prio, next_prio) = (prev_prio.cast_signed(), next_prio.cast_signed());
            let state = state(prev_state)?;
            let text = format!(
                "sched_switch: {prev} prev_prio={prev_prio} prev_state={state} ==> {next} next_prio={next_prio}"
            );
            (cpu, text)
        }
        Event::SchedWaking { cpu, tid, prio, target_cpu } => (cpu, wakeup("sched_waking", tid, prio, target_cpu)),
        Event::SchedWakeup { cpu, tid, prio, target_cpu } => (cpu, wakeup("sched_wakeup", tid, prio, target_cpu)),
        Event::SchedWakeupNew { cpu, tid, prio, target_cpu } => {
            (cpu, wakeup("sched_wakeup_new", tid, prio, target_cpu))
        }
        Event::SchedMigrateTask { cpu, tid, prio, orig_cpu, dest_cpu } => {
            let (task, prio) = (trace.task("", tid), prio.cast_signed());
            (cpu, format!("sched_migrate_task: {task} prio={prio} orig_cpu={orig_cpu} dest_cpu={dest_cpu}"))
        }
        Event::SchedProcessFork { cpu, parent_tid, child_tid } => {
            let (parent, child) = (trace.task("", parent_tid), trace.task("child_", child_tid));
            (cpu, format!("sched_process_fork: {parent} {child}"))
        }
        Event::SchedProcessExit { cpu, tid, prio } => {
            (cpu, format!("sched_process_exit: {} prio={}", trace.task("", tid), prio.cast_signed()))
        }
        _ => return None,
    })
}

fn signals<W: Write>(trace: &FtraceText<W>, event: &Event, known: u64) -> Option<(u32, String)> {
    let class = |name: &str, cpu: u32, util: u32| (cpu, format!("{name}: cpu={cpu} util={util}"));
    Some(match *event {
        Event::PeltSe { cpu, tid, util_avg, runnable_avg, load_avg, .. } if cpu != CPU_UNKNOWN => {
            let (task, averages) = (trace.task("", tid), averages(event, known, load_avg, runnable_avg, util_avg));
            (cpu, format!("sched_pelt_se: cpu={cpu} path=(null) {task}{averages}"))
        }
        Event::PeltCfs { cpu, util_avg, runnable_avg, load_avg, .. } => {
            let averages = averages(event, known, load_avg, runnable_avg, util_avg);
            (cpu, format!("sched_pelt_cfs: cpu={cpu} path=/{averages}"))
        }
        Event::PeltRt { cpu, util_avg } => class("sched_pelt_rt", cpu, util_avg),
        Event::PeltDl { cpu, util_avg } => class("sched_pelt_dl", cpu, util_avg),
        Event::PeltIrq { cpu, util_avg } => class("sched_pelt_irq", cpu, util_avg),
        _ => return None,
    })
}

fn machine(event: &Event) -> Option<(u32, String)> {
    Some(match *event {
        Event::CpuFrequency { cpu, freq_khz } => (cpu, format!("cpu_frequency: state={freq_khz} cpu_id={cpu}")),
        Event::CpuIdle { cpu, state } => (cpu, format!("cpu_idle: state={state} cpu_id={cpu}")),
        Event::CpuFrequencyLimits { cpu, min_khz, max_khz, .. } => {
            (cpu, format!("cpu_frequency_limits: min={min_khz} max={max_khz} cpu_id={cpu}"))
        }
        Event::IrqEntry { cpu, irq } => (cpu, format!("irq_handler_entry: irq={irq} name=irq{irq}")),
        Event::IrqExit { cpu, irq } => (cpu, format!("irq_handler_exit: irq={irq} ret=handled")),
        Event::CpuCapacity { cpu, capacity } => (cpu, format!("sched_cpu_capacity: cpu={cpu} capacity={capacity}")),
        Event::SchedOverutilized { overutilized } => (0, format!("sched_overutilized: overutilized={overutilized}")),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_fifteen_bytes() {
        assert_eq!(comm("surfaceflinger-main"), "surfaceflinger-");
        assert!(comm("Chrome IO") == "Chrome IO" && !comm("a b\nc").contains('\n'));
        assert!(comm(&"é".repeat(20)).len() <= 15);
    }
}
