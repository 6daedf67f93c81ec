// SPDX-License-Identifier: GPL-2.0-only
//! Utilization clamps: which release looks at what the runnable tasks of a CPU are clamped to.

use pelton_core::{CpuState, Policy};

/// A fair CPU of capacity 1024 at 600, its tasks clamped to this range.
fn clamped(min: u32, max: u32) -> CpuState {
    let range = CpuState { uclamp_used: 1, uclamp_min: min, uclamp_max: max, ..CpuState::default() };
    CpuState { cap_orig: 1024, util_cfs: 600, ..range }
}

fn perf(profile: &str, state: &CpuState) -> u32 {
    state.perf_eval(&Policy::profile(profile).expect("a profile"), 0).perf
}

/// 4.12, 4.16 and 4.19 have no uclamp in kernel/sched: 600 as it is. 5.4 (schedutil_cpu_util, uclamp_util_with) and
/// 5.10 (uclamp_rq_util_with): min(600, 100) = 100, and max(600, 800) = 800. 6.1 and 6.6 the same, then a quarter
/// (map_util_perf): 100 + 25 = 125, 800 + 200 = 1000. From 6.12 (effective_cpu_util, sugov_effective_cpu_perf) the
/// quarter is inside: min(600 + 150, 100) = 100, max(600 + 150, 800) = 800.
#[test]
fn the_clamps_of_a_queue_count_from_5_4() {
    for (profiles, capped, boosted) in [
        (&["4.12", "4.16", "4.19"][..], 600, 600),
        (&["5.4", "5.10"], 100, 800),
        (&["6.1", "6.6"], 125, 1000),
        (&["6.12", "6.18", "7.2"], 100, 800),
    ] {
        for profile in profiles {
            assert_eq!(perf(profile, &clamped(0, 100)), capped, "{profile}, at most 100");
            assert_eq!(perf(profile, &clamped(800, 1024)), boosted, "{profile}, at least 800");
        }
    }
}
