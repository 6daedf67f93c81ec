// SPDX-License-Identifier: GPL-2.0-or-later
//! Switches that mean nothing where a kernel's own code decides: those that its operations notice in the core, and
//! numbers and boosts that they read.

/// Switches that an operation of a kernel image would notice (`tests/oracle/own.tsv`), ascending.
const NOTICED: &[&str] = &[
    "balance",
    "balance_capacity",
    "cache_aware",
    "capacity_left",
    "capacity_search",
    "cfs_if_queued",
    "divisor",
    "dl_bypass",
    "dl_rule",
    "dst_group",
    "dst_group_cpus",
    "energy_aware",
    "energy_full_cpu",
    "energy_model",
    "energy_runnable",
    "energy_zero",
    "gate",
    "headroom",
    "hold",
    "idle_search",
    "iowait_boost",
    "limits_update",
    "margins",
    "menu_form",
    "misfit",
    "overutilized",
    "perf_form",
    "ref_freq",
    "remote",
    "rt_in_sum",
    "rt_rule",
    "runnable_boost",
    "runnable_signal",
    "sched_idle_cpu",
    "stale_cpu",
    "teo_form",
    "uclamp",
    "uclamp_iowait",
    "util_est",
    "util_fits",
    "wake_affine",
    "wake_cap",
    "while_busy",
];

/// Switches and numbers that only the core knows: gates, boosts, parts of its formulas.
const OWN: &[&str] = &[
    "boost",
    "boost_form",
    "capacity_margin",
    "down_rate_limit_us",
    "gate_asymmetry",
    "gate_bypass",
    "gate_peak",
    "headroom_pct",
    "up_rate_limit_us",
];

/// Does a kernel's own code decide what this switch or number decides in the core?
pub(crate) fn is_overruled(name: &str) -> bool {
    NOTICED.contains(&name) || OWN.contains(&name) || name.starts_with("gate_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Functions of the kernel that an image decides, as the oracle's operations name them.
    const DECIDED: &[&str] = &[
        "sugov_update_single_freq, sugov_update_shared",
        "sugov_get_util",
        "sugov_effective_cpu_perf",
        "get_next_freq",
        "sugov_iowait_apply",
        "sugov_iowait_boost",
        "sugov_limits",
        "sugov_work",
        "select_task_rq_fair",
        "find_energy_efficient_cpu, compute_energy",
        "util_fits_cpu, cpu_overutilized",
        "update_misfit_status",
        "menu_select",
        "teo_select",
        "util_est_update",
        "effective_cpu_util",
        "cpu_util_cfs, cpu_util_cfs_boost",
        "cpufreq_this_cpu_can_update",
        "task_h_load",
        "wake_affine",
        "wake_wide",
        "em_cpu_energy",
        "should_we_balance, find_busiest_group, find_busiest_queue",
        "need_active_balance",
        "can_migrate_task, task_hot",
    ];

    #[test]
    fn what_a_kernel_decides_cannot_be_set() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/oracle/own.tsv");
        let text = std::fs::read_to_string(path).expect("the oracle's numbers are here");
        let mut found = BTreeSet::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split('\t').collect();
            if let [_, operation, setting, _] = words[..]
                && let Some((switch, _)) = setting.split_once('=').filter(|_| DECIDED.contains(&operation))
            {
                found.insert(switch);
            }
        }
        assert_eq!(found.into_iter().collect::<Vec<_>>(), NOTICED, "switches that operations of an image notice");
        assert!(is_overruled("gate_kappa") && !is_overruled("newidle") && !is_overruled("idle_governor"));
    }
}
