// SPDX-License-Identifier: GPL-2.0-or-later
//! Hand-written mirrors of `core/include/pelton/types.h`; `tests/layout.rs` compares them with the C side.

use crate::fair::{FairRq, FairSe, FairTunables};
use crate::idle_records::{IdleChoice, IdleLast, IdleNow, IdleState, IdleTable, Menu, Teo};

macro_rules! mirror {
    ($(#[$doc:meta])* large $name:ident = $c:literal { $($fields:tt)* }) => {
        mirror!(@record ($(#[$doc])* #[derive(Clone, Copy, Debug, PartialEq, Eq)]) $name = $c { $($fields)* });
    };
    ($(#[$doc:meta])* $name:ident = $c:literal { $($fields:tt)* }) => {
        mirror!(@record ($(#[$doc])* #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]) $name = $c { $($fields)* });
    };
    (@record ($(#[$meta:meta])*) $name:ident = $c:literal { $($(#[$fdoc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty,)* }

        impl $name {
            /// Name, offset and size of the record and its fields, as C should see them.
            pub(crate) fn layout(rows: &mut Vec<LayoutRow>) {
                rows.push(LayoutRow { name: $c.to_owned(), offset: 0, size: size_of::<Self>() });
                $(rows.push(LayoutRow {
                    name: concat!($c, ".", stringify!($field)).replace("r#", ""),
                    offset: std::mem::offset_of!(Self, $field),
                    size: size_of::<$ty>(),
                });)*
            }
        }

        impl $crate::records::Numbers for $name {
            fn numbers(&self, _name: &'static str, to: &mut dyn FnMut(&'static str, $crate::records::Number)) {
                $($crate::records::Numbers::numbers(&self.$field, stringify!($field), to);)*
            }
        }
    };
}
pub(crate) use mirror;

/// A number of a record, as wide as C has it. Signed ones as their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// 64 bits.
    Word(u64),
    /// 32 bits.
    Half(u32),
}

/// What consists of numbers: a record, a part of it, or one number.
pub trait Numbers {
    /// Tells `to` every number in the order of the C structure, each with the name of its field; `name` is that of the
    /// field that this is.
    fn numbers(&self, name: &'static str, to: &mut dyn FnMut(&'static str, Number));
}

macro_rules! numbers {
    ($($ty:ty => $of:expr;)*) => {
        $(impl Numbers for $ty {
            fn numbers(&self, name: &'static str, to: &mut dyn FnMut(&'static str, Number)) {
                to(name, $of(*self));
            }
        })*
    };
}

numbers! {
    u64 => Number::Word;
    u32 => Number::Half;
    i64 => |number: i64| Number::Word(number.cast_unsigned());
    i32 => |number: i32| Number::Half(number.cast_unsigned());
}

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    fn numbers(&self, name: &'static str, to: &mut dyn FnMut(&'static str, Number)) {
        self.iter().for_each(|part| part.numbers(name, to));
    }
}

/// One row of the layout comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutRow {
    /// `record` or `record.field`, C names.
    pub name: String,
    /// Offset in the record, bytes.
    pub offset: usize,
    /// Size, bytes.
    pub size: usize,
}

mirror! {
    /// One load-tracking record.
    Avg = "pelton_avg" {
        /// Advanced in whole units of 1024 ns; 0 = not attached.
        last_update_time_ns: u64,
        /// Decayed sum of load.
        load_sum: u64,
        /// Decayed sum of runnable tasks, << 10.
        runnable_sum: u64,
        /// Decayed sum of running time, << 10.
        util_sum: u32,
        /// Position in the open period, 0..1023 units.
        period_contrib: u32,
        /// Load average, weight.
        load_avg: u64,
        /// Runnable average, 1024 per task.
        runnable_avg: u64,
        /// Utilization, 0..1024.
        util_avg: u64,
        /// U3/U4: the single estimate; the top bit is the "unchanged" mark.
        util_est_enqueued: u32,
        /// U1/U2 only.
        util_est_ewma: u32,
    }
}

mirror! {
    /// A schedulable entity of the fair class: a task, or a group on one CPU.
    Se = "pelton_se" {
        /// Load-tracking record.
        avg: Avg,
        /// Scaled-down: nice 0 = 1024.
        weight: u64,
        /// Queued (including delayed dequeue).
        on_rq: u32,
        /// Current entity at its level.
        running: u32,
        /// Task: 1 unless delayed; group: runnable tasks below, as of its last enqueue or dequeue.
        nr_runnable: u32,
        /// 1 while a delayed dequeue is pending.
        delayed: u32,
        /// Of a group: what a 64-bit kernel stores beyond the weight's units.
        weight_rest: i32,
        /// To 5.4: the part of the weight that is runnable, as a 64-bit kernel stores it.
        runnable_weight: u32,
    }
}

mirror! {
    /// A fair run queue.
    CfsRq = "pelton_cfs_rq" {
        /// Load-tracking record.
        avg: Avg,
        /// Sum of weights of queued entities, scaled down.
        load_weight: u64,
        /// Runnable tasks, hierarchical.
        h_nr_runnable: u32,
        /// Entities queued here.
        nr_queued: u32,
        /// An entity of this level is running.
        has_curr: u32,
        /// Something changed that the parent level must learn.
        propagate: u32,
        /// Load sum to hand to the parent level.
        prop_runnable_sum: i64,
        /// Load of tasks that left in their sleep.
        removed_load: u64,
        /// Utilization of tasks that left in their sleep.
        removed_util: u64,
        /// Runnable average of tasks that left in their sleep.
        removed_runnable: u64,
        /// How many left in their sleep.
        removed_nr: u32,
        /// Root only: sum of the queued tasks' estimates.
        util_est: u32,
        /// This queue's part of the group total.
        tg_load_avg_contrib: u64,
        /// Total PELT time spent throttled.
        throttled_clock_pelt_ns: u64,
        /// PELT clock at which the present throttling began.
        throttled_at_ns: u64,
        /// When the group total was last refreshed from here.
        tg_update_ns: u64,
        /// To 5.4: sum of the queued entities' runnable weights, as stored.
        runnable_weight: u64,
        /// > 0: this queue or an ancestor is throttled, its clock stands still.
        throttle_count: u32,
        /// What a 64-bit kernel stores beyond `load_weight`'s units.
        weight_rest: i32,
    }
}

mirror! {
    /// What all CPUs' queues of one task group share.
    TaskGroup = "pelton_tg" {
        /// Sum of the contributions.
        load_avg: u64,
        /// Scaled-down: default 1024.
        shares: u64,
    }
}

mirror! {
    /// The clocks of one CPU.
    Clock = "pelton_clock" {
        /// Wall clock.
        clock_ns: u64,
        /// Clock without interrupt time.
        clock_task_ns: u64,
        /// Scaled clock.
        clock_pelt_ns: u64,
        /// Idle time owed by saturation.
        lost_idle_ns: u64,
        /// Clock when the CPU last ran idle.
        clock_idle_ns: u64,
        /// Published PELT clock at that moment.
        clock_pelt_idle_ns: u64,
    }
}

mirror! {
    /// Up to 4.16: time that real-time, deadline and interrupts took, times speed; halved every half second.
    RtShare = "pelton_rt_share" {
        /// Time times speed.
        sum: u64,
        /// Up to when halvings were made.
        age_stamp_ns: u64,
        /// Task clock up to which the run of the present task is in the sum.
        counted_to_ns: u64,
    }
}

mirror! {
    /// All signals of one CPU.
    Rq = "pelton_rq" {
        /// Clocks.
        clock: Clock,
        /// Fair queue of the top level.
        cfs: CfsRq,
        /// Real-time record.
        rt: Avg,
        /// Deadline record.
        dl: Avg,
        /// Interrupt record.
        irq: Avg,
        /// Hardware-pressure record.
        hw: Avg,
        /// What the other classes took, up to 4.16.
        rt_share: RtShare,
        /// 0..1024.
        cap_orig: u32,
        /// 0..1024 = current / reference frequency.
        freq_scale: u32,
    }
}

mirror! {
    /// Inputs of one CPU for one frequency evaluation.
    CpuState = "pelton_cpu_state" {
        /// Number of idle entries so far.
        idle_calls: u64,
        /// Capacity, 0..1024.
        cap_orig: u32,
        /// Util cfs.
        util_cfs: u32,
        /// Runnable cfs.
        runnable_cfs: u32,
        /// Util est.
        util_est: u32,
        /// Util rt.
        util_rt: u32,
        /// Util dl.
        util_dl: u32,
        /// Util irq.
        util_irq: u32,
        /// Reserved DL bandwidth, 0..1024.
        bw_dl: u32,
        /// Rt nr running.
        rt_nr_running: u32,
        /// Uclamp used.
        uclamp_used: u32,
        /// Uclamp min.
        uclamp_min: u32,
        /// Uclamp max.
        uclamp_max: u32,
        /// Runnable fair tasks at all levels.
        cfs_nr_running: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// Every term of one CPU's performance request.
    PerfTerms = "pelton_perf_terms" {
        /// Fair utilization after boost by runnable and util_est.
        cfs: u32,
        /// RT utilization that was added.
        rt: u32,
        /// DL utilization or bandwidth that was added.
        dl: u32,
        /// Interrupt record.
        irq: u32,
        /// After summation, clamps of old kernels and IRQ scaling.
        effective: u32,
        /// Iowait boost value, capacity units.
        iowait: u32,
        /// Min.
        min: u32,
        /// Max.
        max: u32,
        /// What the 25 % margin added on the utilization side (0 when it is on the frequency side).
        headroom: u32,
        /// The performance target handed to the frequency mapping.
        perf: u32,
        /// 1: the rule for RT/DL asked for the maximum whatever the sum.
        forced_max: u32,
        /// 1: skipped, its last hook is older than a tick (<= 4.16).
        stale: u32,
        /// With `scale`: the share of the highest frequency that is asked for, exactly.
        request: u32,
        /// Capacity of the CPU, or the highest frequency for a boost in kHz (to 5.0).
        scale: u32,
    }
}

mirror! {
    /// The gate of one frequency domain.
    Gate = "pelton_gate" {
        /// R1: window of the maximum; R2: longest spacing; up/down: limit of increases.
        window_ns: u64,
        /// R1 asym: spacing of increases; R2: shortest spacing; up/down: limit of decreases.
        spacing_ns: u64,
        /// When the filling half of the window began.
        half_ns: u64,
        /// When the correction that is held may pass; 0 = none is held.
        until_ns: u64,
        /// Largest wanted frequency of the filling half and of the two before it.
        peak_khz: [u32; 3],
        /// M: largest of them, at the last evaluation.
        maximum_khz: u32,
        /// Distance of need and request at the last evaluation, capacity.
        error: u32,
        /// Of the hook call being evaluated.
        flags: u32,
        /// Of the last evaluation.
        verdict: u32,
        /// Length of half a window.
        half_length_ns: u32,
    }
}

mirror! {
    /// schedutil, per frequency domain.
    SugovPolicy = "pelton_sugov_policy" {
        /// Last accepted change (R0b) or evaluation (R0a).
        last_ns: u64,
        /// Rate limit ns.
        rate_limit_ns: u64,
        /// Frequency requested last; [`crate::KHZ_NONE`] when there is none, or it was forgotten (to 4.17).
        next_freq_khz: u32,
        /// Cached raw khz.
        cached_raw_khz: u32,
        /// Work in progress.
        work_in_progress: u32,
        /// Limits changed.
        limits_changed: u32,
        /// Need update.
        need_update: u32,
        /// Nr cpus.
        nr_cpus: u32,
        /// Min khz.
        min_khz: u32,
        /// Max khz.
        max_khz: u32,
        /// Frequency at which cap_orig holds.
        ref_khz: u32,
        /// Cur khz.
        cur_khz: u32,
        /// Fast switch.
        fast_switch: u32,
        /// Driver can be programmed from any CPU.
        remote_ok: u32,
        /// Freq invariant.
        freq_invariant: u32,
        /// What the hardware can do (cpuinfo.max); 0 = same as ref_khz.
        hw_max_khz: u32,
        /// Driver wants a call for every change of limits.
        need_update_limits: u32,
        /// What signals are scaled to, where the architecture tells the governor; 0 = it does not.
        scale_khz: u32,
        /// The gate.
        gate: Gate,
    }
}

mirror! {
    /// schedutil, per CPU.
    SugovCpu = "pelton_sugov_cpu" {
        /// Last update ns.
        last_update_ns: u64,
        /// Saved idle calls.
        saved_idle_calls: u64,
        /// When the boost was last halved (`hook_filter=h3`).
        iowait_faded_ns: u64,
        /// Iowait boost.
        iowait_boost: u32,
        /// Iowait pending.
        iowait_pending: u32,
        /// Util.
        util: u32,
        /// DL floor (or bandwidth) at the last evaluation.
        bw_min: u32,
        /// Request flags of the last hook call.
        flags: u32,
        /// What happened since the last hook call.
        marks: u32,
        /// Fair utilization at the last evaluation.
        util_evaluated: u32,
        /// Frequency at that moment.
        khz_evaluated: u32,
        /// Fair utilization as of the last hook call (to 4.16).
        kept_cfs: u32,
        /// RT utilization, likewise.
        kept_rt: u32,
        /// Running DL bandwidth, likewise.
        kept_bw: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// What one evaluation of the governor came to.
    Decision = "pelton_decision" {
        /// Largest request of the domain.
        perf: u32,
        /// Index of the CPU that made it.
        cpu: u32,
        /// 1: the rule for RT/DL asked for the maximum.
        forced_max: u32,
        /// Frequency before limits and table.
        raw_khz: u32,
        /// Frequency after them.
        resolved_khz: u32,
        /// A value of [`crate::commit`].
        commit: u32,
        /// The request as a share of the highest frequency.
        request: u32,
        /// See [`PerfTerms`].
        scale: u32,
    }
}

mirror! {
    /// A wake-up of a fair task: the loads and the idleness of the waking CPU (`this`) and of the task's last one.
    Wake = "pelton_wake" {
        /// Load of the waking CPU.
        this_load: u64,
        /// Load of the task's last CPU.
        prev_load: u64,
        /// Load of the task.
        task_load: u64,
        /// Load of the task that wakes it.
        waker_load: u64,
        /// Capacity of the waking CPU.
        this_capacity: u32,
        /// Capacity of the task's last CPU.
        prev_capacity: u32,
        /// Both CPUs are threads of one core.
        siblings: u32,
        /// The waker is about to sleep.
        sync: u32,
        /// The waking CPU is idle and shares its cache with the last one.
        this_idle: u32,
        /// The last CPU is idle.
        prev_idle: u32,
        /// Runnable tasks of the waking CPU.
        this_running: u32,
        /// The two CPUs share no cache.
        far: u32,
    }
}

mirror! {
    /// A CPU's share of the limit of the real-time class.
    RtLimit = "pelton_rt_limit" {
        /// Time its real-time tasks ran.
        time_ns: u64,
        /// Time they may run in a period.
        runtime_ns: u64,
        /// They may not run now.
        throttled: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// A task's deadline reservation and what is left of it.
    DlEntity = "pelton_dl_entity" {
        /// Runtime left; below 0 after an overrun.
        runtime_ns: i64,
        /// Absolute deadline.
        deadline_ns: u64,
        /// Runtime of each period.
        dl_runtime_ns: u64,
        /// Deadline, from the begin of a period.
        dl_deadline_ns: u64,
        /// Period.
        dl_period_ns: u64,
        /// Runtime over period, Q20.
        dl_bw: u64,
        /// Runtime over deadline, Q20.
        dl_density: u64,
        /// It waits for its next budget.
        dl_throttled: u32,
        /// It gave the rest of its budget away.
        dl_yielded: u32,
    }
}

mirror! {
    /// What a CPU knows of its idle times and of its searches for a task.
    Newidle = "pelton_newidle" {
        /// Mean idle time.
        avg_idle_ns: u64,
        /// Longest search.
        max_cost_ns: u64,
        /// Longest search of the domain.
        domain_cost_ns: u64,
        /// When costs last faded.
        decayed_at_ns: u64,
    }
}

mirror! {
    /// Is a walk over idle CPUs due?
    IdleWalk = "pelton_idle_walk" {
        /// Ticks since the start.
        now_ticks: u64,
        /// When the next walk for load is due.
        next_blocked_ticks: u64,
        /// When the next balance of idle CPUs is due.
        next_balance_ticks: u64,
        /// An idle CPU without tick may have blocked load.
        has_blocked: u32,
        /// Tasks of the CPU that ticks.
        running: u32,
        /// Busy CPUs of its cache group.
        busy_cpus: u32,
        /// Capacities differ.
        asymmetric: u32,
        /// Its running task would have more elsewhere.
        wants: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// One frequency of a domain's energy model, slowest first.
    EmState = "pelton_em_state" {
        /// Power of one busy CPU.
        power_uw: u64,
        /// Capacity at this frequency.
        performance: u64,
        /// Ten times the power per unit of performance.
        cost: u64,
        /// Frequency.
        freq_khz: u32,
        /// 1: some faster state costs no more.
        inefficient: u32,
    }
}

/// The Rust side of the layout comparison.
pub(crate) fn rust_layout() -> Vec<LayoutRow> {
    let mut rows = Vec::new();
    Avg::layout(&mut rows);
    Se::layout(&mut rows);
    CfsRq::layout(&mut rows);
    TaskGroup::layout(&mut rows);
    Clock::layout(&mut rows);
    RtShare::layout(&mut rows);
    Rq::layout(&mut rows);
    CpuState::layout(&mut rows);
    PerfTerms::layout(&mut rows);
    Gate::layout(&mut rows);
    SugovPolicy::layout(&mut rows);
    SugovCpu::layout(&mut rows);
    Decision::layout(&mut rows);
    crate::settled::layout(&mut rows);
    IdleState::layout(&mut rows);
    IdleTable::layout(&mut rows);
    IdleNow::layout(&mut rows);
    Wake::layout(&mut rows);
    RtLimit::layout(&mut rows);
    crate::cfs_bandwidth::layout(&mut rows);
    crate::select_class::layout(&mut rows);
    DlEntity::layout(&mut rows);
    crate::dl_server::layout(&mut rows);
    Newidle::layout(&mut rows);
    IdleWalk::layout(&mut rows);
    IdleLast::layout(&mut rows);
    IdleChoice::layout(&mut rows);
    Menu::layout(&mut rows);
    Teo::layout(&mut rows);
    EmState::layout(&mut rows);
    FairSe::layout(&mut rows);
    FairRq::layout(&mut rows);
    FairTunables::layout(&mut rows);
    crate::placement_records::layout(&mut rows);
    crate::uclamp::layout(&mut rows);
    crate::uclamp_sum::layout(&mut rows);
    crate::group_throttle::layout(&mut rows);
    crate::boost::layout(&mut rows);
    crate::governors::layout(&mut rows);
    crate::prefer_idle::layout(&mut rows);
    crate::interactive::layout(&mut rows);
    crate::thermal::layout(&mut rows);
    rows
}
