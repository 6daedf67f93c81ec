// SPDX-License-Identifier: GPL-2.0-or-later
//! The CPU of a fair task in releases up to 5.4: the answers of the kernels' own code (`data/select-old.csv`) on
//! machines that are made here from the number of a case, as they were made for that code: `select_task_rq_fair()` of
//! 4.12, 4.16.13, 4.19 and 5.4 with all that it calls, compiled outside of the project.

use pelton_core::{NO_CPU, Placed, Policy};

use super::select_old_cases::case;

const RELEASES: [&str; 4] = ["4.12", "4.16", "4.19", "5.4"];

/// CPU, recent CPU of the task and of the waker (-1: as before), CPUs whose cache may have an idle core afterwards.
fn answer(n: u64, policy: &Policy) -> [i64; 4] {
    let m = case(n, policy);
    let mut placed = Placed::default();
    let cpu = m.select(policy, &mut placed);
    let waker = if placed.waker_recent != 0 { i64::from(m.this_cpu) } else { -1 };
    let may = |at: u32| {
        let c = &m.cpus[at as usize];
        c.llc_domain < c.nr_domains && c.has_idle_cores != 0 && placed.no_idle_core != at
    };
    let cores = (0..m.nr_cpus).filter(|&at| may(at)).map(|at| 1 << at).sum();
    debug_assert_ne!(cpu, NO_CPU);
    [cpu.into(), placed.recent_cpu.into(), waker, cores]
}

fn recorded() -> Vec<(&'static str, u64, [i64; 4])> {
    let rows = include_str!("data/select-old.csv").lines().skip(1);
    let row = |line: &'static str| {
        let mut cells = line.split(',');
        let release = cells.next().expect("a release");
        let numbers: Vec<i64> = cells.map(|cell| cell.parse().expect("a number")).collect();
        (release, numbers[0] as u64, [numbers[1], numbers[2], numbers[3], numbers[4]])
    };
    rows.map(row).collect()
}

#[test]
fn wake_ups_and_starts_are_those_of_the_compiled_kernels() {
    for release in RELEASES {
        let policy = Policy::profile(release).expect("exists");
        let of: Vec<_> = recorded().into_iter().filter(|row| row.0 == release).collect();
        assert_eq!(of.len(), 250, "{release}");
        for (_, n, told) in of {
            assert_eq!(answer(n, &policy), told, "{release}, case {n}");
        }
    }
}

/// Each rule is distinguished from another one.
#[test]
fn another_rule_has_other_answers() {
    let rules: [(&str, &[&str]); 4] = [
        ("wake_affine", &["runnable_load", "runnable_even", "runnable_less"]),
        ("wake_cap", &["util", "est", "off"]),
        ("idle_search", &["all", "counted", "second", "passes"]),
        ("dst_group", &["load_orig", "load", "load_nodes", "load_est", "types_near"]),
    ];
    for release in RELEASES {
        let policy = Policy::profile(release).expect("exists");
        let of: Vec<_> = recorded().into_iter().filter(|row| row.0 == release).collect();
        for (rule, values) in rules {
            let differ = |value: &&str| {
                let mut other = policy;
                other.set(rule, value).expect("a value");
                of.iter().filter(|(_, n, told)| answer(*n, &other) != *told).count()
            };
            let found: Vec<usize> = values.iter().map(differ).collect();
            assert!(found.iter().any(|&n| n > 0) && found.contains(&0), "{release} {rule}: {found:?}");
        }
    }
}
