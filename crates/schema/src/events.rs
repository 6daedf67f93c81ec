// SPDX-License-Identifier: GPL-2.0-or-later
//! The events of a run. Task ids are dense (0 = idle task); names are given once in the run header.

use crate::declare::{Column, EventInfo, Stored, Unit, declare_events};

declare_events! {
    /// A CPU switches from one task to another.
    SchedSwitch = 1, "sched_switch" {
        /// CPU that switches.
        cpu: u32 [Id],
        /// Task that stops running (0 = idle).
        prev_tid: u32 [Id],
        /// Its priority: 0..99 RT, 100..139 fair, 4294967295 (-1) deadline, 120 idle.
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
        /// CPU of the task's runqueue.
        cpu: u32 [Id],
        /// Task.
        tid: u32 [Id],
        /// Share of time executing.
        util_avg: u32 [Capacity],
        /// Share of time on the runqueue.
        runnable_avg: u32 [Capacity],
        /// Weighted share of time on the runqueue.
        load_avg: u64 [Load],
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
        runnable_avg: u32 [Runnable],
        /// Load of the fair class.
        load_avg: u64 [Load],
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
    /// The governor was called for a CPU.
    FreqDecision = 15, "freq_decision" {
        /// CPU whose signal changed.
        cpu: u32 [Id],
        /// CPU that executes the call.
        executing_cpu: u32 [Id],
        /// Frequency domain.
        domain: u32 [Id],
        /// Hook site: see `HookSite`.
        site: u32 [Code],
        /// Outcome of the call: see `GateVerdict`.
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
        /// Frequency in the table.
        resolved_khz: u32 [Khz],
        /// Frequency requested before this call.
        prev_khz: u32 [Khz],
        /// Frequency requested after it.
        request_khz: u32 [Khz],
        /// 1 when the request changed.
        changed: u32 [Code],
        /// Distance between need and request.
        error: u32 [Capacity],
        /// Largest frequency wanted in the window of the gate; 0: none.
        peak_khz: u32 [Khz],
        /// Time from which a held correction may pass; 0: none.
        until_ns: u64 [Ns],
        /// From when some change may pass.
        next_allowed_ns: u64 [Ns],
        /// Flags of the call: 1 I/O wait, 2 RT runs, 4 deadline runs, 8 forced, 16 RT or deadline demand, 32
        /// utilization left.
        flags: u32 [Code],
    }
    /// Power of a frequency domain changed.
    DomainPower = 16, "domain_power" {
        /// Frequency domain.
        domain: u32 [Id],
        /// Power of all its CPUs now, without the cluster's own; emitted when the frequency changes, not when a CPU
        /// goes idle.
        power_uw: u64 [Uw],
    }
    /// A task completed one activation.
    TaskActivation = 17, "task_activation" {
        /// Task.
        tid: u32 [Id],
        /// Running number of the activation, from 0.
        index: u64 [Count],
        /// Time at which the activation was due or started.
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
    /// A new task is on a runqueue for the first time.
    SchedWakeupNew = 18, "sched_wakeup_new" {
        /// CPU that executes the wake-up.
        cpu: u32 [Id],
        /// New task.
        tid: u32 [Id],
        /// Its kernel priority.
        prio: u32 [Code],
        /// CPU it was enqueued on.
        target_cpu: u32 [Id],
    }
    /// A task created another.
    SchedProcessFork = 19, "sched_process_fork" {
        /// CPU.
        cpu: u32 [Id],
        /// Creator.
        parent_tid: u32 [Id],
        /// New task.
        child_tid: u32 [Id],
    }
    /// A task ends.
    SchedProcessExit = 20, "sched_process_exit" {
        /// CPU.
        cpu: u32 [Id],
        /// Task.
        tid: u32 [Id],
        /// Its kernel priority.
        prio: u32 [Code],
    }
    /// The name of a task, valid from here on.
    TaskName = 21, "task_name" {
        /// Task.
        tid: u32 [Id],
        /// Bytes 0..8 of the name, the first in the lowest bits.
        name_0: u64 [Code],
        /// Bytes 8..16 of the name.
        name_8: u64 [Code],
    }
    /// The recorder lost events here.
    LostEvents = 22, "lost_events" {
        /// CPU, or 4294967295 when unknown.
        cpu: u32 [Id],
        /// Number of them; 0 when unknown.
        count: u64 [Count],
    }
    /// The clocks of a CPU at its next signal event.
    RqClock = 23, "rq_clock" {
        /// CPU whose clocks these are.
        cpu: u32 [Id],
        /// Wall clock of the runqueue.
        clock_ns: u64 [Ns],
        /// Clock without interrupt and stolen time.
        clock_task_ns: u64 [Ns],
        /// Clock without interrupt and stolen time, scaled by capacity and frequency.
        clock_pelt_ns: u64 [Ns],
        /// Time the scaled clock skipped at idle.
        lost_idle_ns: u64 [Ns],
    }
    /// Signal before the call of this CPU's next `pelt_state`.
    PeltBefore = 24, "pelt_before" {
        /// CPU of the `pelt_state`.
        cpu: u32 [Id],
        /// Up to when it was updated.
        last_update_time_ns: u64 [Ns],
        /// Sum of weighted time on the queue.
        load_sum: u64 [Count],
        /// Sum of time on the queue.
        runnable_sum: u64 [Count],
        /// Sum of running time.
        util_sum: u32 [Count],
        /// Position in the open period.
        period_contrib: u32 [Count],
        /// Average of `load_sum`.
        load_avg: u64 [Load],
        /// Average of `runnable_sum`.
        runnable_avg: u64 [Runnable],
        /// Average of `util_sum`.
        util_avg: u32 [Capacity],
    }
    /// The complete integer state of a load-tracking record inside a kernel.
    PeltState = 25, "pelt_state" {
        /// CPU whose runqueue holds the signal.
        cpu: u32 [Id],
        /// Signal: see `PeltSignal`.
        signal: u32 [Code],
        /// Moment of reading: see `PeltSource`.
        source: u32 [Code],
        /// Number of the kernel object, from 1, per trace.
        object: u32 [Id],
        /// Number of its queue; 0 when unknown.
        queue: u32 [Id],
        /// Task, or 0 for a group entity or a queue.
        tid: u32 [Id],
        /// Bits: 1 on the queue, 2 running, 4 delayed dequeue, 8 root queue or entity on it, 16 the call returned 1
        /// (decayed).
        flags: u32 [Code],
        /// Runnable tasks of the entity or queue.
        runnable: u32 [Count],
        /// Load weight: nice 0 = 1048576 on 64 bits.
        weight: u64 [Count],
        /// `now` of a full call; 0 when unknown.
        now_ns: u64 [Ns],
        /// Up to when it is updated.
        last_update_time_ns: u64 [Ns],
        /// Sum of weighted time on the queue.
        load_sum: u64 [Count],
        /// Sum of time on the queue.
        runnable_sum: u64 [Count],
        /// Sum of running time.
        util_sum: u32 [Count],
        /// Position in the open period.
        period_contrib: u32 [Count],
        /// Average of `load_sum`.
        load_avg: u64 [Load],
        /// Average of `runnable_sum`.
        runnable_avg: u64 [Runnable],
        /// Average of `util_sum`.
        util_avg: u32 [Capacity],
        /// Stored estimate, with the kernel's mark bit.
        util_est: u32 [Code],
    }
    /// One step of a runqueue's clocks inside a kernel, before and after.
    RqClockStep = 26, "rq_clock_step" {
        /// CPU.
        cpu: u32 [Id],
        /// 1 when the idle task is current.
        idle: u32 [Code],
        /// Capacity the scaled clock runs at.
        cap_scale: u32 [Capacity],
        /// Frequency scale.
        freq_scale: u32 [Capacity],
        /// Wall clock before.
        clock_before_ns: u64 [Ns],
        /// Task clock before.
        clock_task_before_ns: u64 [Ns],
        /// Scaled clock before.
        clock_pelt_before_ns: u64 [Ns],
        /// Wall clock after.
        clock_ns: u64 [Ns],
        /// Task clock after.
        clock_task_ns: u64 [Ns],
        /// Scaled clock after.
        clock_pelt_ns: u64 [Ns],
        /// Time the scaled clock skipped at idle, after.
        lost_idle_ns: u64 [Ns],
    }
    /// An estimate of utilization was published.
    UtilEst = 27, "util_est" {
        /// CPU.
        cpu: u32 [Id],
        /// Record: see `PeltSignal` (an entity or a queue).
        signal: u32 [Code],
        /// Object number as in `pelt_state`.
        object: u32 [Id],
        /// Task, or 0.
        tid: u32 [Id],
        /// Stored estimate, with the kernel's mark bit.
        enqueued: u32 [Code],
        /// Filtered estimate of older kernels; 4294967295: not known.
        ewma: u32 [Capacity],
        /// Utilization it was taken from; 4294967295: not known.
        util_avg: u32 [Capacity],
    }
    /// Capacity left for the fair class.
    CpuCapacity = 28, "sched_cpu_capacity" {
        /// CPU.
        cpu: u32 [Id],
        /// Capacity.
        capacity: u32 [Capacity],
    }
    /// The root domain's over-utilized flag changes.
    SchedOverutilized = 29, "sched_overutilized" {
        /// 1 = over-utilized.
        overutilized: u32 [Code],
    }
    /// The number of runnable tasks of a CPU changes.
    NrRunning = 30, "sched_update_nr_running" {
        /// CPU.
        cpu: u32 [Id],
        /// Runnable tasks now.
        nr_running: u32 [Count],
        /// Difference.
        change: i64 [Count],
    }
    /// schedutil mapped a performance target to a frequency.
    NextFreq = 31, "sugov_next_freq" {
        /// First CPU of the frequency domain.
        cpu: u32 [Id],
        /// Performance target; without headroom in 5.11 to 6.7.
        util: u32 [Capacity],
        /// Capacity it refers to.
        max: u32 [Capacity],
        /// Frequency in the table.
        resolved_khz: u32 [Khz],
        /// Frequency before.
        cur_khz: u32 [Khz],
        /// Highest frequency of the domain.
        max_khz: u32 [Khz],
        /// Frequency before limits and table; 0: not known.
        raw_khz: u32 [Khz],
        /// Frequency last requested from the driver.
        next_khz: u32 [Khz],
        /// 1 = limits or a deadline task asked for a new evaluation.
        forced: u32 [Code],
        /// CPUs of the domain; 0: not known.
        domain_cpus: u32 [Count],
        /// Times that the CPU has gone idle; 0: not known.
        idle_calls: u64 [Count],
    }
    /// schedutil turned an effective utilization into a performance target.
    EffectivePerf = 32, "sugov_effective_cpu_perf" {
        /// CPU.
        cpu: u32 [Id],
        /// Effective utilization.
        actual: u32 [Capacity],
        /// Lower limit.
        min: u32 [Capacity],
        /// Upper limit.
        max: u32 [Capacity],
        /// Performance target.
        perf: u32 [Capacity],
    }
    /// The utilization of all classes was added up.
    EffectiveUtil = 33, "effective_cpu_util" {
        /// CPU.
        cpu: u32 [Id],
        /// Utilization of the fair class.
        util_cfs: u32 [Capacity],
        /// Lower limit that came out.
        min: u32 [Capacity],
        /// Upper limit that came out.
        max: u32 [Capacity],
        /// Sum.
        util: u32 [Capacity],
    }
    /// The energy of one placement was computed.
    ComputeEnergy = 34, "sched_compute_energy" {
        /// CPU that computes.
        cpu: u32 [Id],
        /// Task to be placed.
        tid: u32 [Id],
        /// CPU it would be placed on; 4294967295: without it.
        dst_cpu: u32 [Id],
        /// Energy in the kernel's abstract unit.
        energy: u64 [Count],
        /// Largest utilization of the domain.
        max_util: u64 [Capacity],
        /// Sum of the domain's utilization.
        busy_time: u64 [Capacity],
    }
    /// The fair class chose a CPU for a task.
    SelectTaskRq = 35, "select_task_rq" {
        /// CPU that executes the wake-up.
        cpu: u32 [Id],
        /// Task.
        tid: u32 [Id],
        /// CPU it ran on before.
        prev_cpu: u32 [Id],
        /// Kernel wake flags.
        wake_flags: u32 [Code],
        /// CPU chosen.
        chosen_cpu: u32 [Id],
        /// Utilization of the task.
        util_avg: u32 [Capacity],
        /// Its estimate.
        util_est: u32 [Capacity],
        /// Its lower clamp.
        uclamp_min: u32 [Capacity],
        /// Its upper clamp.
        uclamp_max: u32 [Capacity],
    }
    /// The averages of a task group's queue on one CPU were published.
    PeltGroup = 36, "pelt_group" {
        /// CPU.
        cpu: u32 [Id],
        /// Group: a number the trace's reader has the path of.
        group: u32 [Id],
        /// 0 the group's queue, 1 its entity.
        entity: u32 [Code],
        /// Utilization.
        util_avg: u32 [Capacity],
        /// Share of time on the queue.
        runnable_avg: u32 [Runnable],
        /// Load.
        load_avg: u64 [Load],
    }
    /// The clamps of a task were published.
    TaskUclamp = 37, "uclamp_util_se" {
        /// CPU.
        cpu: u32 [Id],
        /// Task.
        tid: u32 [Id],
        /// Its utilization.
        util_avg: u32 [Capacity],
        /// Lower clamp in force.
        uclamp_min: u32 [Capacity],
        /// Upper clamp in force.
        uclamp_max: u32 [Capacity],
    }
    /// Attributes of a task, when they change.
    TaskAttributes = 38, "task_attributes" {
        /// Task.
        tid: u32 [Id],
        /// Kernel scheduling policy: 0 normal, 1 FIFO, 2 RR, 3 batch, 5 idle, 6 deadline, 7 ext.
        policy: u32 [Code],
        /// Kernel priority.
        prio: u32 [Code],
        /// Allowed CPUs 0..63 as bits.
        cpus_allowed: u64 [Code],
        /// Requested lower clamp.
        uclamp_min: u32 [Capacity],
        /// Requested upper clamp.
        uclamp_max: u32 [Capacity],
        /// Number of its task group, 0 = root.
        group: u32 [Id],
    }
    /// The limits of a frequency domain change.
    CpuFrequencyLimits = 39, "cpu_frequency_limits" {
        /// First CPU of the domain.
        cpu: u32 [Id],
        /// Lowest frequency allowed.
        min_khz: u32 [Khz],
        /// Highest frequency allowed.
        max_khz: u32 [Khz],
    }
    /// A CPU starts handling a soft interrupt.
    SoftirqEntry = 40, "softirq_entry" {
        /// CPU.
        cpu: u32 [Id],
        /// Vector.
        vec: u32 [Id],
    }
    /// A CPU ends handling a soft interrupt.
    SoftirqExit = 41, "softirq_exit" {
        /// CPU.
        cpu: u32 [Id],
        /// Vector.
        vec: u32 [Id],
    }
    /// Sums that a fair queue has still to take out or to propagate; right before its state.
    PeltPending = 42, "pelt_pending" {
        /// CPU of the queue.
        cpu: u32 [Id],
        /// Object number of the queue.
        object: u32 [Id],
        /// Object number of its entity, 0 for a root queue.
        entity: u32 [Id],
        /// Tasks that left in their sleep.
        removed_nr: u32 [Count],
        /// Their load.
        removed_load: u64 [Capacity],
        /// Their runnable averages.
        removed_runnable: u64 [Capacity],
        /// Their utilization.
        removed_util: u64 [Capacity],
        /// 1 when the level above has to follow.
        propagate: u32 [Code],
        /// Change of the load sum that the level above has to follow.
        prop_runnable_sum: i64 [Count],
    }
    /// A task group's queue on one CPU is throttled, or no longer.
    CfsThrottle = 43, "cfs_throttle" {
        /// CPU.
        cpu: u32 [Id],
        /// Group: a number the trace's reader has the path of.
        group: u32 [Id],
        /// 1 throttled, 0 no longer.
        throttled: u32 [Code],
    }
    /// A thermal zone is read.
    ThermalTemperature = 44, "thermal_temperature" {
        /// Zone.
        zone: u32 [Id],
        /// Temperature.
        temp_mc: i64 [MilliC],
        /// The reading before.
        last_mc: i64 [MilliC],
        /// Trips that are reached.
        trips_reached: u32 [Count],
        /// 1 when it is read at the passive rate from now on.
        passive: u32 [Code],
    }
    /// The controller of a thermal zone divides its power (power_allocator).
    ThermalPower = 45, "thermal_power_allocator" {
        /// Zone.
        zone: u32 [Id],
        /// Power that its domains take now.
        requested_mw: u32 [Mw],
        /// Power that they are granted.
        granted_mw: u32 [Mw],
        /// Power that the controller allows.
        budget_mw: u32 [Mw],
        /// Power that they could take.
        max_mw: u32 [Mw],
        /// Sum of errors, 22.10 fixed point.
        err_integral: i64 [Count],
    }
    /// The cooling state of a frequency domain changes.
    CdevUpdate = 46, "cdev_update" {
        /// Frequency domain.
        domain: u32 [Id],
        /// Cooling state, 0 = no limit.
        state: u32 [Count],
        /// The upper limit that it stands for.
        max_khz: u32 [Khz],
    }
    /// Values of a task group's files, when a run begins and when they change.
    TaskGroup = 47, "task_group" {
        /// Group: a number the trace's reader has the path of.
        group: u32 [Id],
        /// 1 when it is idle (`cpu.idle`), where the kernel has such groups.
        idle: u32 [Code],
        /// Shares: 1024 is `cpu.weight` 100, 3 an idle group.
        shares: u64 [Count],
        /// Lower clamp asked for (`cpu.uclamp.min`).
        uclamp_min: u32 [Capacity],
        /// Upper clamp asked for (`cpu.uclamp.max`).
        uclamp_max: u32 [Capacity],
        /// Part of each CPU that it counts for at most (`group_throttle`).
        throttle: u32 [Capacity],
        /// Quota of each period (`cpu.max`), where the policy keeps quotas; 0 = none.
        quota_ns: u64 [Ns],
        /// The period; 0 when there never was a quota.
        period_ns: u64 [Ns],
        /// Run time that may be kept (`cpu.max.burst`).
        burst_ns: u64 [Ns],
    }
}

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
