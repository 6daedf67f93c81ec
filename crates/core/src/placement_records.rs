// SPDX-License-Identifier: GPL-2.0-or-later
//! Hand-written mirrors of the records of `core/include/pelton/placement.h`.

use crate::placement::{NO_CPU, NO_DOMAIN, NO_LIMIT};
use crate::records::{CpuState, EmState, LayoutRow, Se, mirror};

/// Most CPUs of a placement.
pub const PLACE_CPUS_MAX: usize = 64;
/// Most scheduling domains of a CPU.
pub const DOMAINS_MAX: usize = 6;
/// Most performance domains.
pub const PERF_DOMAINS_MAX: usize = 16;
/// Most states of all performance domains together.
pub const PLACE_STATES_MAX: usize = 512;
/// Most comparisons of energy that are kept.
pub const PLACE_ENERGIES_MAX: usize = 3 * PERF_DOMAINS_MAX;

mirror! {
    /// A scheduling domain as one CPU sees it, and the sums of that CPU's group in it.
    SchedDomain = "pelton_sched_domain" {
        /// CPUs, one bit each.
        span: u64,
        /// Bits of [`crate::sd`] in a domain, of [`crate::wf`] in a placement.
        flags: u32,
        /// Difference that is no reason to move, percent above 100.
        imbalance_pct: u32,
        /// Tasks that may differ between nodes.
        imb_numa_nr: u32,
        /// Keeps the number of CPUs to scan.
        has_shared: u32,
        /// Sum over this CPU's group, as last computed.
        group_capacity: u32,
        /// Of a CPU of the group.
        group_max_capacity: u32,
        /// Pinned tasks kept a balance below from succeeding.
        group_imbalance: u32,
        /// Of the smallest CPU of the group.
        group_min_capacity: u32,
    }
}

mirror! {
    /// A level of a machine, of which a scheduling domain is made.
    SdLevel = "pelton_sd_level" {
        /// What its CPUs share, bits of [`crate::sd`].
        shared: u32,
        /// Number of CPUs.
        weight: u32,
        /// Capacities among them.
        classes: u32,
        /// To the farthest node; 0 = of one node.
        distance: u32,
    }
}

mirror! {
    /// A CPU: its domains smallest first, its signals, what runs there.
    PlaceCpu = "pelton_place_cpu" {
        /// Scheduling domains, smallest first.
        domains: [SchedDomain; DOMAINS_MAX],
        /// Signals.
        state: CpuState,
        /// Load average, weight.
        load: u64,
        /// When it went idle.
        idle_stamp_ns: u64,
        /// CPUs of its core.
        threads: u64,
        /// Left for the fair class, 0..1024.
        capacity: u32,
        /// Capacity that the hardware takes away, average.
        hw_pressure: u32,
        /// Capacity that frequency limits take away.
        cpufreq_pressure: u32,
        /// Runnable tasks of all classes, delayed ones included.
        nr_running: u32,
        /// Fair tasks.
        h_nr_queued: u32,
        /// Fair tasks that are not delayed.
        h_nr_runnable: u32,
        /// Tasks of SCHED_IDLE.
        h_nr_idle: u32,
        /// A task is on its way.
        ttwu_pending: u32,
        /// Runs its idle task.
        curr_idle: u32,
        /// Runs the task that is placed.
        curr_is_task: u32,
        /// Its clamps are left over from before it went idle.
        uclamp_idle: u32,
        /// Of its idle state; [`crate::NO_IDLE_STATE`].
        exit_latency_ns: u32,
        /// CPUs that a scan of the cache group may look at; [`crate::NO_LIMIT`].
        nr_idle_scan_llc: u32,
        /// The same for the smallest domain of unequal CPUs.
        nr_idle_scan_asym: u32,
        /// Its cache group may have an idle core.
        has_idle_cores: u32,
        /// CPUs with the same number share a cache.
        llc: u32,
        /// The same for the nearest shared resource.
        cluster: u32,
        /// CPUs of its cache group.
        llc_size: u32,
        /// Position among its domains; [`crate::NO_DOMAIN`].
        llc_domain: u32,
        /// Position of the smallest domain of unequal CPUs; [`crate::NO_DOMAIN`].
        asym_domain: u32,
        /// Domains in use.
        nr_domains: u32,
        /// Where clamps add up or groups are limited: utilization of the root queue with that.
        util_clamped: u32,
        /// The same: estimates of the queued tasks.
        est_clamped: u32,
        /// Of its running task, when that waits for a bigger CPU; weight.
        misfit_load: u32,
        /// Where groups are limited: utilization of the placed task's group here ...
        group_util: u32,
        /// ... and what is left of this CPU's without it.
        group_rest: i32,
        /// To 4.19: loads that fade over ticks, index 0 to 3 of [`crate::CpuLoad`].
        cpu_load: [u64; 4],
        /// To 5.4, where load is that of runnable tasks: with those that sleep, weight.
        load_avg: u64,
        /// 7.2, in a balance: of its tasks, those that prefer the cache of the balancing CPU.
        nr_pref_dst_llc: u32,
        /// 7.2: of its runnable tasks, those that prefer its cache.
        nr_pref_llc_running: u32,
        /// 7.2: utilization of its cache, as a balance last summed it up.
        llc_util: u32,
        /// The same of capacity; 0 = never.
        llc_capacity: u32,
    }
}

mirror! {
    /// CPUs of one energy model, and where its states are.
    PerfDomain = "pelton_perf_domain" {
        /// CPUs, one bit each.
        cpus: u64,
        /// Position of its slowest state.
        first_state: u32,
        /// Number of states.
        nr_states: u32,
        /// Lowest that limits allow.
        min_state: u32,
        /// Highest that limits allow.
        max_state: u32,
    }
}

mirror! {
    /// The task that is placed.
    PlaceTask = "pelton_place_task" {
        /// Signals.
        se: Se,
        /// CPUs that it may use, one bit each.
        allowed: u64,
        /// Last update of the queue it belongs to.
        queue_update_ns: u64,
        /// Load average of that queue.
        queue_load: u64,
        /// What that queue counts for at the root, as it stands in this tick.
        queue_h_load: u64,
        /// 4.12: what groups make of its coming to the executing CPU, beyond its load; weight.
        shift_here: i64,
        /// The same of its coming, on its previous CPU.
        shift_there: i64,
        /// CPU.
        cpu: u32,
        /// Queued.
        on_rq: u32,
        /// CPU before the previous one.
        recent_cpu: u32,
        /// Changes of partner.
        wakee_flips: u32,
        /// Of SCHED_IDLE.
        sched_idle: u32,
        /// Clamp in force.
        uclamp_min: u32,
        /// Clamp in force.
        uclamp_max: u32,
        /// Any CPU of its preferred node; [`crate::NO_CPU`].
        numa_cpu: u32,
        /// Where clamps add up: what its CPU counts, or what sleep left of that.
        uclamp_value: u32,
        /// Where groups are limited: of its group, 0..1024, or [`crate::NO_GROUP`].
        throttle: u32,
    }
}

mirror! {
    /// The running task of the CPU that executes the placement.
    PlaceWaker = "pelton_place_waker" {
        /// Load average, weight.
        load: u64,
        /// Load average of that queue.
        queue_load: u64,
        /// What that queue counts for at the root, as it stands in this tick.
        queue_h_load: u64,
        /// 4.12: what groups make of its sleep, beyond its load; weight.
        shift_here: i64,
        /// The same on the previous CPU of the wakee.
        shift_there: i64,
        /// Changes of partner.
        wakee_flips: u32,
        /// A second went by since they were halved.
        flips_expired: u32,
        /// Its last wake-up was of this task.
        same_wakee: u32,
        /// It ends.
        exiting: u32,
        /// A kernel thread of this CPU alone, in task context.
        pinned_kthread: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// Everything that a placement reads, at one moment. `Placement::default()` has no CPU.
    large Placement = "pelton_placement" {
        /// The task.
        task: PlaceTask,
        /// The waker.
        waker: PlaceWaker,
        /// CPU that executes the placement.
        this_cpu: u32,
        /// CPU it was on.
        prev_cpu: u32,
        /// Bits of [`crate::sd`] in a domain, of [`crate::wf`] in a placement.
        flags: u32,
        /// CPUs.
        nr_cpus: u32,
        /// The kernel places by energy.
        energy_aware: u32,
        /// Some CPU has more to do than it can.
        overutilized: u32,
        /// Some CPUs have less capacity.
        asymmetric: u32,
        /// There are domains below the cache's.
        clusters: u32,
        /// Some cores have more than one thread.
        smt: u32,
        /// A clamp was set.
        uclamp_used: u32,
        /// Performance domains in use.
        nr_perf_domains: u32,
        /// Some group is limited to a part of each CPU.
        groups_limited: u32,
        /// Some cache of several CPUs has others beside it, so that tasks may prefer one.
        cache_aware: u32,
        /// Most threads of a core; 0 counts as 1.
        smt_threads: u32,
        /// Mean idle time of the executing CPU.
        avg_idle_ns: u64,
        /// Mean time that a scan of its cache group takes.
        avg_scan_cost_ns: u64,
        /// In the order in which the kernel visits them.
        perf_domains: [PerfDomain; PERF_DOMAINS_MAX],
        /// States of all performance domains.
        states: [EmState; PLACE_STATES_MAX],
        /// CPUs.
        cpus: [PlaceCpu; PLACE_CPUS_MAX],
    }
}

mirror! {
    /// One comparison of the energy-aware choice.
    PlaceEnergy = "pelton_place_energy" {
        /// Of the domain, cost times capacity.
        energy: u64,
        /// CPU.
        cpu: u32,
        /// Performance domain.
        perf_domain: u32,
        /// What its busiest CPU asks for.
        max_util: u32,
        /// Utilization of all its CPUs.
        busy: u32,
    }
}

mirror! {
    /// Sums of a group of CPUs, without the task.
    GroupSums = "pelton_group_sums" {
        /// CPUs, one bit each.
        cpus: u64,
        /// Load average, weight.
        load: u64,
        /// Utilization.
        util: u64,
        /// Runnable average.
        runnable: u64,
        /// Load relative to capacity.
        avg_load: u64,
        /// To 5.4: room of the CPU with most; load and runnable are relative to the capacity there.
        max_spare: u64,
        /// Left for the fair class, 0..1024.
        capacity: u32,
        /// Of a CPU.
        max_capacity: u32,
        /// Number of CPUs.
        weight: u32,
        /// Runnable tasks of all classes, delayed ones included.
        nr_running: u32,
        /// Idle CPUs.
        idle_cpus: u32,
        /// Type.
        r#type: u32,
    }
}

mirror! {
    /// Where the way down through groups has come to.
    DstWalk = "pelton_dst_walk" {
        /// CPU whose domains are gone through.
        cpu: u32,
        /// Its domain that is next; [`crate::NO_DOMAIN`]: the way ends.
        level: u32,
        /// What was found.
        result: u32,
        /// The last step compared the groups of its domain.
        compared: u32,
        /// CPUs of that domain, a set of the record.
        stepped: u64,
        /// CPUs of the group that it went to; 0: it stayed.
        group: u64,
    }
}

mirror! {
    /// The answer and how it came about.
    large Placed = "pelton_placed" {
        /// Signals.
        se: Se,
        /// CPU.
        cpu: u32,
        /// Which rule decided, see [`crate::HOW`].
        how: u32,
        /// How the starting point of the search was chosen, see [`crate::AFFINE`].
        affine: u32,
        /// Waker and wakee talk to too many to be pulled together.
        wide: u32,
        /// To 5.4: the waker's CPU or the previous one is too small for the task.
        small: u32,
        /// CPU that a wake-up starts from; [`crate::NO_CPU`]: there was none, or energy decided.
        target: u32,
        /// CPU before the previous one.
        recent_cpu: u32,
        /// To be remembered.
        waker_flips: u32,
        /// The cache group of this CPU has no idle core; [`crate::NO_CPU`]: nothing new.
        no_idle_core: u32,
        /// 4.16 to 5.10: the waker remembers the executing CPU as its recent one.
        waker_recent: u32,
        /// The task's, updated with its signals.
        uclamp_value: u32,
        /// Comparisons made.
        nr_energies: u32,
        /// What `wake_affine` made of the executing CPU's load, a signed number.
        this_eff: u64,
        /// The same of the previous CPU's.
        prev_eff: u64,
        /// What the loads of both said, see [`crate::WEIGHED`].
        weighed: u32,
        /// What limits the search for an idle CPU, see [`crate::SCAN`].
        scan_rule: u32,
        /// CPUs that it could look at; [`crate::NO_LIMIT`]: any number.
        scan_limit: u32,
        /// CPUs that it looked at, and cores of several.
        scan_seen: u32,
        /// To 5.10: those whose time counts for the next search; [`crate::NO_LIMIT`]: none does.
        scan_timed: u32,
        /// What decided in the last comparison of groups, see [`crate::DST_WHY`].
        dst_why: u32,
        /// Domain of the executing CPU in which groups were compared first; [`crate::NO_DOMAIN`]: none.
        dst_level: u32,
        /// Unused.
        reserved: u32,
        /// Comparisons.
        energies: [PlaceEnergy; PLACE_ENERGIES_MAX],
        /// Own group of the last step of a slow search.
        local: GroupSums,
        /// The best other one.
        idlest: GroupSums,
        /// The one looked at last.
        group: GroupSums,
    }
}

impl Default for Placement {
    fn default() -> Self {
        Self {
            task: PlaceTask::default(),
            waker: PlaceWaker::default(),
            this_cpu: 0,
            prev_cpu: 0,
            flags: 0,
            nr_cpus: 0,
            energy_aware: 0,
            overutilized: 0,
            asymmetric: 0,
            clusters: 0,
            smt: 0,
            uclamp_used: 0,
            nr_perf_domains: 0,
            groups_limited: 0,
            cache_aware: 0,
            smt_threads: 0,
            avg_idle_ns: 0,
            avg_scan_cost_ns: 0,
            perf_domains: [PerfDomain::default(); PERF_DOMAINS_MAX],
            states: [EmState::default(); PLACE_STATES_MAX],
            cpus: [PlaceCpu::default(); PLACE_CPUS_MAX],
        }
    }
}

impl Default for Placed {
    fn default() -> Self {
        Self {
            se: Se::default(),
            cpu: 0,
            how: 0,
            affine: 0,
            wide: 0,
            small: 0,
            target: NO_CPU,
            recent_cpu: 0,
            waker_flips: 0,
            no_idle_core: NO_CPU,
            waker_recent: 0,
            uclamp_value: 0,
            nr_energies: 0,
            this_eff: 0,
            prev_eff: 0,
            weighed: 0,
            scan_rule: 0,
            scan_limit: NO_LIMIT,
            scan_seen: 0,
            scan_timed: NO_LIMIT,
            dst_why: 0,
            dst_level: NO_DOMAIN,
            reserved: 0,
            energies: [PlaceEnergy::default(); PLACE_ENERGIES_MAX],
            local: GroupSums::default(),
            idlest: GroupSums::default(),
            group: GroupSums::default(),
        }
    }
}

/// The Rust side of the layout comparison.
pub(crate) fn layout(rows: &mut Vec<LayoutRow>) {
    SchedDomain::layout(rows);
    SdLevel::layout(rows);
    PlaceCpu::layout(rows);
    PerfDomain::layout(rows);
    PlaceTask::layout(rows);
    PlaceWaker::layout(rows);
    Placement::layout(rows);
    PlaceEnergy::layout(rows);
    crate::balance::layout(rows);
    GroupSums::layout(rows);
    DstWalk::layout(rows);
    Placed::layout(rows);
}
