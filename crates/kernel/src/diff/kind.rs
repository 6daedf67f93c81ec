// SPDX-License-Identifier: GPL-2.0-or-later
//! Kinds of decision that operations belong to.

/// Kind of decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Frequency that a governor asks for.
    Frequency,
    /// CPU that a task goes to.
    Placement,
    /// CPUs that a task fits on.
    Fits,
    /// Averages and estimates of load.
    Load,
    /// Clamps of utilization.
    Clamps,
    /// Depth of sleep.
    Idle,
    /// Balance between CPUs.
    Balance,
    /// Order of fair tasks on a CPU.
    Order,
    /// Quotas of groups.
    Quotas,
    /// Shares and weights of groups.
    Groups,
    /// Reservations, and the other classes of tasks.
    Deadline,
    /// Energy model.
    Energy,
    /// Clocks of a run queue.
    Clocks,
    /// Anything else.
    Other,
}

use Kind::{Balance, Clamps, Clocks, Deadline, Energy, Fits, Frequency, Groups, Idle, Load, Order, Placement, Quotas};

/// Beginnings of functions' names; the first that fits decides.
const NAMES: &[(&str, Kind)] = &[
    ("sugov_", Frequency),
    ("get_next_freq", Frequency),
    ("cpufreq_", Frequency),
    ("cpu_util_cfs", Frequency),
    ("effective_cpu_util", Frequency),
    ("cpu_bw_dl", Frequency),
    ("dbs_", Frequency),
    ("od_dbs", Frequency),
    ("cs_dbs", Frequency),
    ("select_task_rq_rt", Deadline),
    ("select_task_rq_dl", Deadline),
    ("select_task_rq_fair", Placement),
    ("find_energy_efficient", Placement),
    ("wake_", Placement),
    ("account_mm_sched", Placement),
    ("task_cache_work", Placement),
    ("util_fits_cpu", Fits),
    ("update_misfit", Fits),
    ("uclamp_", Clamps),
    ("menu_", Idle),
    ("teo_", Idle),
    ("should_we_balance", Balance),
    ("need_active", Balance),
    ("can_migrate", Balance),
    ("get_sd_balance", Balance),
    ("sched_balance", Balance),
    ("update_newidle", Balance),
    ("scale_rt_capacity", Balance),
    ("calc_delta_fair", Order),
    ("sched_slice", Order),
    ("place_entity", Order),
    ("wakeup_preempt", Order),
    ("check_preempt", Order),
    ("update_min_vruntime", Order),
    ("pick_", Order),
    ("avg_vruntime", Order),
    ("update_deadline", Order),
    ("update_entity_lag", Order),
    ("reweight_entity (EEVDF)", Order),
    ("requeue_delayed", Order),
    ("yield_task_fair", Order),
    ("update_curr_dl", Deadline),
    ("update_curr", Order),
    ("set_protect", Order),
    ("enqueue_task_fair", Order),
    ("dequeue_task_fair", Order),
    ("dl_", Deadline),
    ("__dl_", Deadline),
    ("__setparam_dl", Deadline),
    ("update_dl_entity", Deadline),
    ("update_dl_rq", Load),
    ("replenish_dl", Deadline),
    ("start_dl", Deadline),
    ("enqueue_task_dl", Deadline),
    ("task_non_contending", Deadline),
    ("inactive_task_timer", Deadline),
    ("to_ratio", Deadline),
    ("__refill_cfs", Quotas),
    ("__assign_cfs", Quotas),
    ("__account_cfs", Quotas),
    ("check_enqueue_throttle", Quotas),
    ("throttle_cfs", Quotas),
    ("unthrottle_cfs", Quotas),
    ("__return_cfs", Quotas),
    ("do_sched_cfs", Quotas),
    ("sched_cfs_period", Quotas),
    ("tg_throttle", Quotas),
    ("tg_unthrottle", Quotas),
    ("calc_group", Groups),
    ("reweight_entity", Groups),
    ("update_cfs_group", Groups),
    ("update_tg_load", Groups),
    ("sched_group", Groups),
    ("task_h_load", Groups),
    ("em_", Energy),
    ("update_rq_clock", Clocks),
    ("update_idle_rq_clock", Clocks),
    ("cfs_rq_clock", Clocks),
    ("__update_", Load),
    ("update_", Load),
    ("attach_", Load),
    ("detach_", Load),
    ("post_init_", Load),
    ("remove_entity", Load),
    ("migrate_task", Load),
    ("propagate_", Load),
    ("cfs_rq_is_decayed", Load),
    ("util_est", Load),
    ("lives of", Load),
];

impl Kind {
    /// Kind of an operation.
    pub fn of(operation: &str) -> Kind {
        NAMES.iter().find(|(begin, _)| operation.starts_with(begin)).map_or(Kind::Other, |&(_, kind)| kind)
    }

    /// Decisions in words, as the subject of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Frequency => "frequencies",
            Placement => "placements",
            Fits => "the CPUs that a task fits on",
            Load => "load tracking",
            Clamps => "the counting of clamps",
            Idle => "idle states",
            Balance => "balance between CPUs",
            Order => "the order of fair tasks",
            Quotas => "quotas of groups",
            Groups => "shares of groups",
            Deadline => "reservations and other classes",
            Energy => "the energy model",
            Clocks => "clocks of run queues",
            Kind::Other => "something else",
        }
    }
}

/// Kinds of operations, each once, in their order.
pub fn all_of<'a>(operations: impl Iterator<Item = &'a str>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = operations.map(Kind::of).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_in_their_order_and_once() {
        let moved = ["select_task_rq_fair", "sugov_get_util", "get_next_freq", "update_load_avg"];
        assert_eq!(all_of(moved.into_iter()), [Frequency, Placement, Load]);
        assert_eq!((Kind::of("update_curr_dl, x"), Kind::of("update_dl_rq_load_avg")), (Deadline, Load));
        assert_eq!((Kind::of("reweight_entity (EEVDF)"), Kind::of("reweight_entity")), (Order, Groups));
        assert_eq!(Kind::of("something new"), Kind::Other);
    }

    #[test]
    fn every_operation_of_the_tables_has_a_kind() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle/host");
        let files = std::fs::read_dir(folder).expect("the oracle").map(|entry| entry.expect("a file").path());
        let tables = files.filter(|path| path.to_string_lossy().contains("/ops_"));
        let text: String = tables.map(|path| std::fs::read_to_string(path).expect("a table")).collect();
        let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("\t{ \"")?.split('"').next()).collect();
        let unknown: Vec<&&str> = names.iter().filter(|name| Kind::of(name) == Kind::Other).collect();
        assert!(names.len() > 100 && unknown.is_empty(), "{unknown:?}");
    }
}
