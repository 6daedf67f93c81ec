// SPDX-License-Identifier: GPL-2.0-only
//! The events of a run. Task ids are dense (0 = idle task); names are given once in the run header.

use crate::declare::{Column, EventInfo, Stored, Unit, declare_events};

declare_events! {
    /// A CPU switches from one task to another.
    SchedSwitch = 1, "sched_switch" {
        /// CPU that switches.
        cpu: u32 [Id],
        /// Task that stops running (0 = idle).
        prev_tid: u32 [Id],
        /// Its kernel priority: 0..99 RT, 100..139 fair, 4294967295 (-1) deadline, 120 idle.
        prev_prio: u32 [Code],
        /// Its state: 0 runnable (preempted), 1 sleeping, 2 uninterruptible, 16 dead.
        prev_state: u32 [Code],
        /// Task that starts running (0 = idle).
        next_tid: u32 [Id],
        /// Its kernel priority.
        next_prio: u32 [Code],
    }
    /// A wake-up was requested; the target CPU is not chosen yet.
    SchedWaking = 2, "sched_waking" {
        /// CPU that executes the wake-up.
        cpu: u32 [Id],
        /// Task being woken.
        tid: u32 [Id],
        /// Its kernel priority.
        prio: u32 [Code],
        /// CPU it will be enqueued on.
        target_cpu: u32 [Id],
    }
    /// A woken task is on a runqueue.
    SchedWakeup = 3, "sched_wakeup" {
        /// CPU that executes the wake-up.
        cpu: u32 [Id],
        /// Task being woken.
        tid: u32 [Id],
        /// Its kernel priority.
        prio: u32 [Code],
        /// CPU it was enqueued on.
        target_cpu: u32 [Id],
    }
    /// A task changes CPU.
    SchedMigrateTask = 4, "sched_migrate_task" {
        /// CPU that executes the migration.
        cpu: u32 [Id],
        /// Task that moves.
        tid: u32 [Id],
        /// Its kernel priority.
        prio: u32 [Code],
        /// CPU it leaves.
        orig_cpu: u32 [Id],
        /// CPU it goes to.
        dest_cpu: u32 [Id],
    }
    /// The frequency of a CPU changes (one event per CPU of the domain).
    CpuFrequency = 5, "cpu_frequency" {
        /// CPU.
        cpu: u32 [Id],
        /// New frequency.
        freq_khz: u32 [Khz],
    }
    /// A CPU enters or leaves an idle state.
    CpuIdle = 6, "cpu_idle" {
        /// CPU.
        cpu: u32 [Id],
        /// Idle state entered, or 4294967295 when leaving idle.
        state: u32 [Code],
    }
    /// A CPU starts handling an interrupt.
    IrqEntry = 7, "irq_handler_entry" {
        /// CPU.
        cpu: u32 [Id],
        /// Interrupt source.
        irq: u32 [Id],
    }
    /// A CPU ends handling an interrupt.
    IrqExit = 8, "irq_handler_exit" {
        /// CPU.
        cpu: u32 [Id],
        /// Interrupt source.
        irq: u32 [Id],
    }
    /// A task's load-tracking averages were published.
    PeltSe = 9, "pelt_se" {
        /// CPU whose runqueue holds the task.
        cpu: u32 [Id],
        /// Task.
        tid: u32 [Id],
        /// Share of time executing.
        util_avg: u32 [Capacity],
        /// Share of time on the runqueue.
        runnable_avg: u32 [Capacity],
        /// Weighted share of time on the runqueue.
        load_avg: u64 [Capacity],
        /// Estimated utilization of the task.
        util_est: u32 [Capacity],
    }
    /// The fair class's averages of a CPU were published.
    PeltCfs = 10, "pelt_cfs" {
        /// CPU.
        cpu: u32 [Id],
        /// Utilization of the fair class.
        util_avg: u32 [Capacity],
        /// Average number of runnable fair tasks times 1024.
        runnable_avg: u32 [Capacity],
        /// Load of the fair class.
        load_avg: u64 [Capacity],
        /// Sum of the queued tasks' estimates.
        util_est: u32 [Capacity],
    }
    /// The RT class's utilization of a CPU was published.
    PeltRt = 11, "pelt_rt" {
        /// CPU.
        cpu: u32 [Id],
        /// Utilization of the RT class.
        util_avg: u32 [Capacity],
    }
    /// The deadline class's utilization of a CPU was published.
    PeltDl = 12, "pelt_dl" {
        /// CPU.
        cpu: u32 [Id],
        /// Utilization of the deadline class.
        util_avg: u32 [Capacity],
    }
    /// The interrupt utilization of a CPU was published.
    PeltIrq = 13, "pelt_irq" {
        /// CPU.
        cpu: u32 [Id],
        /// Utilization by interrupts.
        util_avg: u32 [Capacity],
    }
    /// The hardware pressure of a CPU was published.
    PeltHw = 14, "pelt_hw" {
        /// CPU.
        cpu: u32 [Id],
        /// Average lost capacity.
        load_avg: u64 [Capacity],
    }
    /// The governor was called for a CPU: who asked, what was computed, and what became of it.
    FreqDecision = 15, "freq_decision" {
        /// CPU whose signal changed.
        cpu: u32 [Id],
        /// CPU that executes the call.
        executing_cpu: u32 [Id],
        /// Frequency domain.
        domain: u32 [Id],
        /// Hook site: see `HookSite`.
        site: u32 [Code],
        /// 0 evaluated, 1 inside the rate-limit window, 2 slow path pending, 3 not allowed from this CPU.
        gate: u32 [Code],
        /// CPU of the domain with the largest request.
        max_cpu: u32 [Id],
        /// Fair utilization of that CPU after util_est and runnable boost.
        cfs: u32 [Capacity],
        /// RT utilization added.
        rt: u32 [Capacity],
        /// DL utilization or bandwidth added.
        dl: u32 [Capacity],
        /// IRQ utilization.
        irq: u32 [Capacity],
        /// Effective utilization after summation and IRQ scaling.
        effective: u32 [Capacity],
        /// iowait boost.
        iowait: u32 [Capacity],
        /// Lower clamp in force.
        min: u32 [Capacity],
        /// Upper clamp in force.
        max: u32 [Capacity],
        /// Performance target after headroom and clamps.
        perf: u32 [Capacity],
        /// 1 when the RT/DL rule forced the maximum.
        forced_max: u32 [Code],
        /// Capacity of the CPU the request refers to.
        cap_orig: u32 [Capacity],
        /// Frequency before the table.
        raw_khz: u32 [Khz],
        /// Frequency in the table that serves it.
        resolved_khz: u32 [Khz],
        /// Frequency requested before this call.
        prev_khz: u32 [Khz],
        /// 1 when the request changed.
        changed: u32 [Code],
    }
    /// Power of a frequency domain changed.
    DomainPower = 16, "domain_power" {
        /// Frequency domain.
        domain: u32 [Id],
        /// Power of all its CPUs and of the cluster.
        power_uw: u64 [Uw],
    }
    /// A task completed one activation (one timer period, or one work item).
    TaskActivation = 17, "task_activation" {
        /// Task.
        tid: u32 [Id],
        /// Running number of the activation, from 0.
        index: u64 [Count],
        /// When the activation was due or started.
        start_ns: u64 [Ns],
        /// From the wake-up to the first instruction.
        wakeup_latency_ns: u64 [Ns],
        /// Time executing.
        run_ns: u64 [Ns],
        /// From start to completion.
        duration_ns: u64 [Ns],
        /// Time left to the next timer expiry; negative: overrun.
        slack_ns: i64 [Ns],
        /// Period of the timer that ended the activation, 0 when none.
        period_ns: u64 [Ns],
    }
}

/// Why the frequency hook was called (SPEC B.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum HookSite {
    /// Averages of the root cfs_rq changed.
    Decay = 0,
    /// An entity was attached.
    Attach = 1,
    /// An entity was detached.
    Detach = 2,
    /// A fair task that waited for I/O was enqueued.
    Iowait = 3,
    /// Explicit call at the tick.
    Tick = 4,
    /// The RT class.
    Rt = 5,
    /// The deadline class.
    Dl = 6,
    /// End of a blocked-averages walk.
    Blocked = 7,
    /// Policy limits changed.
    Limits = 8,
}

impl HookSite {
    /// Names in code order.
    pub const NAMES: [&'static str; 9] =
        ["decay", "attach", "detach", "iowait", "tick", "rt", "dl", "blocked", "limits"];

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// `CpuIdle::state` when a CPU leaves idle.
pub const IDLE_EXIT: u32 = u32::MAX;
/// `SchedSwitch` priority of a deadline task (-1).
pub const PRIO_DEADLINE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_unique_and_found() {
        for (index, info) in EVENTS.iter().enumerate() {
            assert_eq!(EventInfo::of_code(info.code).map(|found| found.name), Some(info.name));
            assert!(EVENTS[..index].iter().all(|other| other.name != info.name && other.code < info.code));
        }
    }

    #[test]
    fn every_event_survives_its_stored_values() {
        for info in EVENTS {
            let stored: Vec<u64> = (1..=info.columns.len() as u64).collect();
            let event = Event::from_values(info.code, &stored).expect("small numbers fit every column");
            let mut values = Vec::new();
            event.values(&mut values);
            assert_eq!(values, stored, "{}", info.name);
            assert_eq!(event.code(), info.code);
            assert_eq!(Event::from_values(info.code, &stored[1..]), None, "{} with a column missing", info.name);
        }
    }

    #[test]
    fn a_negative_slack_is_stored_in_twos_complement() {
        let slack = EVENTS.iter().find(|info| info.name == "task_activation").and_then(|info| info.column("slack_ns"));
        let mut stored = [0; 8];
        stored[slack.expect("declared")] = u64::MAX;
        let event = Event::from_values(17, &stored);
        assert!(matches!(event, Some(Event::TaskActivation { slack_ns: -1, .. })), "{event:?}");
    }
}
