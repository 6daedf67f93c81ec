// SPDX-License-Identifier: GPL-2.0-or-later
//! The smallest domain of a CPU where a count of tasks says that nothing is to be taken: a search comes to the same.

use super::balance_groups::{Group, machine, policy, tasks};
use super::draw::Draw;
use pelton_core::{Lb, LbEnv, Placement, Policy, balance_idle, lb_can_be_calm, profiles, sd};

const KINDS: [u32; 3] = [balance_idle::NOT_IDLE, balance_idle::IDLE, balance_idle::NEWLY_IDLE];

/// Is it up to CPU 0 to balance its smallest domain, and does it find something there? And a CPU with two tasks.
fn search(pol: &Policy, m: &Placement, idle: u32) -> (bool, bool, bool) {
    let (env, mut lb) = (LbEnv { cpus: m.cpus[0].domains[0].span, idle, ..LbEnv::default() }, Lb::default());
    let own = env.should_we_balance(pol, m);
    (own, env.find_src_group(pol, m, &mut lb) != 0, lb.overloaded != 0)
}

/// Four equal CPUs below one cache, and four more beside them.
fn board() -> Placement {
    let of = |flags| Group { cpus: 4, capacity: 1024, flags };
    machine(&[of(sd::SHARE_LLC), of(sd::SHARE_LLC)], 0)
}

/// group_classify of a group of one CPU: `nr_running <= group_weight` is not overloaded; what is left has something to
/// spare or is fully busy, and sched_balance_find_src_group ends at `busiest->sum_h_nr_running == 1` or before.
#[test]
fn single_tasks_are_balanced_whatever_they_load() {
    let mut draw = Draw(3);
    for pol in profiles().into_iter().map(policy).filter(|pol| lb_can_be_calm(pol, sd::SHARE_LLC, false)) {
        for _ in 0..500 {
            let mut m = board();
            // A CPU that becomes idle has none any more; a row of two tasks elsewhere is of no account.
            (1..4).for_each(|c| tasks(&mut m, c, draw.small(2), draw.small(1024)));
            (4..8).for_each(|c| tasks(&mut m, c, draw.small(4), draw.small(1024)));
            for idle in KINDS {
                assert_eq!(search(&pol, &m, idle), (true, false, false), "{idle}");
            }
            let (one, util) = (draw.small(2), draw.small(1024));
            tasks(&mut m, 0, one, util);
            for idle in [balance_idle::NOT_IDLE, balance_idle::IDLE] {
                assert_eq!(search(&pol, &m, idle), (true, false, false), "{idle}");
            }
        }
    }
}

/// Reasons for which a domain must be searched: two tasks, and from 6.1 on a lone one whose CPU lost capacity.
#[test]
fn two_tasks_or_a_reduced_cpu_are_found() {
    for profile in ["5.10", "6.1", "6.12", "7.2"] {
        let (pol, mut m) = (policy(profile), board());
        tasks(&mut m, 2, 2, 900);
        assert!(search(&pol, &m, balance_idle::IDLE).1, "{profile}: two tasks");
        tasks(&mut m, 2, 1, 500);
        m.cpus[2].capacity = 600;
        m.cpus[2].domains[0].group_capacity = 600;
        assert_eq!(
            search(&pol, &m, balance_idle::IDLE).1,
            profile != "5.10",
            "{profile}: a lone task of a reduced CPU"
        );
    }
}

#[test]
fn unequal_cpus_energy_and_caches_need_a_search() {
    let can = |profile: &str, flags| lb_can_be_calm(&policy(profile), flags, false);
    assert!(can("7.2", sd::SHARE_LLC) && can("5.10", sd::SHARE_LLC) && can("5.10", 0));
    assert!(!can("5.4", sd::SHARE_LLC), "loads are compared");
    assert!(!can("7.2", sd::SHARE_LLC | sd::ASYM_CPUCAPACITY));
    assert!(!lb_can_be_calm(&policy("7.2"), sd::SHARE_LLC, true));
    let mut caches = policy("7.2");
    // Threads of a core and clusters that share no cache, as far as flags say: it is SHARE_LLC alone that counts.
    let other = sd::SHARE_CPUCAPACITY | sd::CLUSTER | sd::PREFER_SIBLING | sd::NUMA | sd::WAKE_AFFINE;
    let cases = [("on", 0, false), ("on", other, false), ("on", other | sd::SHARE_LLC, true), ("off", other, true)];
    for (on, flags, calm) in cases.into_iter().chain([("on", sd::SHARE_LLC, true), ("off", 0, true)]) {
        caches.set("cache_aware", on).expect("a switch and its value");
        assert_eq!(lb_can_be_calm(&caches, flags, false), calm, "{on} {flags}");
    }
}
