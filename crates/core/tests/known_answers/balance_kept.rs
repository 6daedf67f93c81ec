// SPDX-License-Identifier: GPL-2.0-or-later
//! Sums and ranks that balances of more than 64 CPUs keep of groups (`balance_kept.h`), each by its own reasoning.

use super::balance_groups::policy;
use pelton_core::{
    Form, Held, Lb, LbEnv, LbPart, NO_CPU, PlaceCpu, Policy, Record, SchedDomain, Snapshot, balance_idle,
};

/// The CPUs of a machine of `cpus` which are `of` something, as words.
fn words(cpus: u32, of: impl Fn(u32) -> bool) -> Vec<u64> {
    let mut words = vec![0; cpus.div_ceil(64) as usize];
    (0..cpus).filter(|&cpu| of(cpu)).for_each(|cpu| words[cpu as usize / 64] |= 1 << (cpu % 64));
    words
}

/// Idle CPUs of capacity 1024 below one domain of all, each in the group that `group` numbers.
fn machine(pol: &Policy, cpus: u32, group: impl Fn(u32) -> u32) -> Record {
    let mut m = Record::new(cpus as usize).expect("below the bound");
    let all = m.span_of(&words(cpus, |_| true));
    for cpu in 0..cpus {
        let own = m.span_of(&words(cpus, |other| group(other) == group(cpu)));
        let mut row =
            PlaceCpu { threads: m.span_alone(cpu), capacity: 1024, curr_idle: 1, nr_domains: 2, ..PlaceCpu::default() };
        (row.state.cap_orig, row.state.uclamp_max) = (1024, 1024);
        for (level, span) in [own, all].into_iter().enumerate() {
            row.domains[level] = SchedDomain { span, imbalance_pct: 117, ..SchedDomain::default() };
        }
        row.domains[0].group_capacity = 1024;
        m.rows_mut()[cpu as usize] = row;
        m.group_mut(own, cpu, 1).group_capacity = 1024 * m.span_weight(own);
    }
    m.group_mut(all, 0, 0).group_capacity = 1024 * cpus;
    m.seal();
    (0..cpus).for_each(|cpu| m.follow(pol, cpu));
    m
}

/// 128 CPUs in groups of four.
fn fours(pol: &Policy) -> Record {
    machine(pol, 128, |cpu| cpu / 4)
}

/// Puts `n` fair tasks on a CPU, which load and utilize it so much.
fn tasks(m: &mut Record, pol: &Policy, cpu: u32, n: u32, (load, util): (u64, u32)) {
    let row = &mut m.rows_mut()[cpu as usize];
    (row.nr_running, row.h_nr_queued, row.h_nr_runnable, row.curr_idle) = (n, n, n, u32::from(n == 0));
    (row.load, row.state.util_cfs, row.state.runnable_cfs) = (load, util, util);
    m.follow(pol, cpu);
}

fn search(m: &Record, pol: &Policy, env: &LbEnv) -> Lb {
    let mut lb = Lb::default();
    env.find_src_group(pol, m, &mut lb);
    lb
}

/// One field of a CPU's row, and what it does to the sums that the CPU is in.
type Step = (fn(&mut PlaceCpu), fn(&mut LbPart));

/// Steps from an idle CPU to a lone task on a CPU that others took capacity of. `check_cpu_capacity()`: 600 * 117 <
/// 1024 * 100. A second task of another class leaves the fair one alone, and makes the CPU crowded.
const STEPS: [Step; 8] = [
    (|row| row.load = 700, |sum| sum.load += 700),
    (|row| row.state.util_cfs = 300, |sum| sum.util += 300),
    (|row| row.state.runnable_cfs = 400, |sum| sum.runnable += 400),
    (|row| row.curr_idle = 0, |sum| sum.idle_cpus -= 1),
    (|row| row.nr_running = 1, |sum| sum.nr_running += 1),
    (|row| (row.h_nr_queued, row.h_nr_runnable) = (1, 1), |sum| sum.h_nr_running += 1),
    (|row| row.capacity = 600, |sum| sum.reduced += 1),
    (|row| row.nr_running = 2, |sum| (sum.nr_running, sum.crowded) = (sum.nr_running + 1, sum.crowded + 1)),
];

/// Fields of a CPU that change one at a time, whichever it is, and all of them back at once. Only the group is one of
/// a domain, so only its sum counts CPUs whose capacity is reduced.
#[test]
fn sums_of_a_set_follow_each_field_of_each_of_its_cpus() {
    let pol = policy("7.2");
    let mut m = fours(&pol);
    let [own, all] = [0, 1].map(|level| m.rows()[5].domains[level].span);
    let idle = m.rows()[5];
    let empty = [4, 128].map(|idle_cpus| LbPart { idle_cpus, ..LbPart::default() });
    let mut sums = empty;
    for cpu in [5, 7, 4] {
        for (at, (step, adds)) in STEPS.into_iter().enumerate() {
            step(&mut m.rows_mut()[cpu as usize]);
            m.follow(&pol, cpu);
            sums.iter_mut().for_each(adds);
            sums[1].reduced = 0;
            assert_eq!([own, all].map(|span| m.kept(span)), sums.map(Some), "CPU {cpu} after step {at}");
        }
    }
    for cpu in [4, 5, 7] {
        let row = &mut m.rows_mut()[cpu as usize];
        *row = PlaceCpu { threads: row.threads, ..idle };
        m.follow(&pol, cpu);
    }
    assert_eq!([own, all].map(|span| m.kept(span)), empty.map(Some), "idle again");
}

/// The ranks that a record keeps, of the group of each CPU in its domain `level`, and which are to be made anew.
fn ranks(m: &Record, cpu: u32, level: usize) -> (u64, bool) {
    let Form::Wide(place) = m.form() else { panic!("more than 64 CPUs") };
    let at = place.kept.rank_of[cpu as usize][level] as usize;
    (place.kept.ranks[at], place.kept.stale[at / 64] >> (at % 64) & 1 == 1)
}

/// The table of the header: `(type + 1) << 57 | measure`, types in the order of `enum group_type`. 0: no fair task.
/// Overloaded: 8192 * 1024 / 4096 = 2048, for 4096 * 100 < 4096 * 117. Fully busy: so as well, with a CPU for each
/// task. Spare: (2^20 - 1 - idle CPUs) << 32 | tasks.
#[test]
fn ranks_are_what_their_table_says() {
    let pol = policy("7.2");
    let mut m = fours(&pol);
    (8..12).for_each(|cpu| tasks(&mut m, &pol, cpu, 1, (1024, 1024)));
    (12..16).for_each(|cpu| tasks(&mut m, &pol, cpu, 2, (2048, 1024)));
    m.rows_mut()[23].capacity = 600;
    [4, 17, 23, 26, 27].into_iter().for_each(|cpu| tasks(&mut m, &pol, cpu, 1 + u32::from(cpu == 27), (700, 100)));
    let pinned = m.rows()[16].domains[0].span;
    m.group_mut(pinned, 16, 1).group_imbalance = 1;
    m.rank_groups(&pol, 0, 1);
    let spare = |idle: u64, tasks: u64| 1 << 57 | ((1 << 20) - 1 - idle) << 32 | tasks;
    let expected = [0, spare(3, 1), 2 << 57, 7 << 57 | 2048, 5 << 57, 3 << 57 | 700, spare(2, 3), 0];
    let found: Vec<u64> = (0..32).step_by(4).map(|cpu| ranks(&m, cpu, 1).0).collect();
    assert_eq!(found, expected);
}

/// Ranks that were made are not made again until a CPU of their group changes; those of other domains wait for a search
/// there.
#[test]
fn only_ranks_of_changed_groups_of_the_domain_are_made_anew() {
    let pol = policy("7.2");
    let mut m = fours(&pol);
    let stale = |m: &Record| {
        let marked = |level| (0..128).filter(|&cpu| ranks(m, cpu, level).1).collect::<Vec<u32>>();
        [marked(0), marked(1)]
    };
    let all = || (0..128).collect::<Vec<u32>>();
    assert_eq!(stale(&m), [all(), all()], "nothing is known yet");
    m.rank_groups(&pol, 0, 1);
    assert_eq!(stale(&m), [all(), vec![]], "groups of the largest domain");
    (0..128).step_by(4).for_each(|cpu| m.rank_groups(&pol, cpu, 0));
    assert_eq!(stale(&m), [vec![], vec![]], "and single CPUs of the others");
    tasks(&mut m, &pol, 70, 1, (1024, 100));
    assert_eq!(stale(&m), [vec![70], (68..72).collect()], "CPU 70 got a task");
}

/// Search of CPU 0, which idles, among groups of which that of CPU 20 is the busiest: its load.
fn load_of_busiest(m: &Record, pol: &Policy) -> u64 {
    let cpus = m.rows()[0].domains[1].span;
    let env = LbEnv { cpus, level: 1, idle: balance_idle::IDLE, src_cpu: NO_CPU, ..LbEnv::default() };
    let lb = search(m, pol, &env);
    assert_eq!(lb.busiest.cpus, m.rows()[20].domains[0].span);
    lb.busiest.load
}

/// Reads of a search, shown by a row that nothing followed: no CPU, but for those of groups with tasks that prefer
/// the cache of CPU 0, as CPU 9 has them in another group, and then CPU 22 in this one.
#[test]
fn groups_are_read_only_where_tasks_prefer_the_cache() {
    let pol = policy("7.2");
    let mut m = fours(&pol);
    (20..24).for_each(|cpu| tasks(&mut m, &pol, cpu, 2, (2048, 1024)));
    m.rank_groups(&pol, 0, 1);
    m.rows_mut()[20].load = 5000;
    for (prefers, load) in [(None, 4 * 2048), (Some(9), 4 * 2048), (Some(22), 5000 + 3 * 2048)] {
        m.set_preferring(0, &words(128, |cpu| Some(cpu) == prefers));
        assert_eq!(load_of_busiest(&m, &pol), load, "{prefers:?}");
    }
}

/// update_sg_lb_stats() looks at CPUs of the group that are considered: CPUs that are left out add nothing, and no
/// other counts twice. The largest record, whose nodes have CPUs in turn: one is 0, 2, .. 1022. CPU c has load c * c
/// + 1.
#[test]
fn each_cpu_that_is_considered_is_added_up_once() {
    let load = |cpu: u32| u64::from(cpu * cpu + 1);
    for profile in ["5.10", "6.12", "7.2"] {
        let pol = policy(profile);
        let mut m = machine(&pol, 1024, |cpu| cpu % 2);
        (0..1024).for_each(|cpu| tasks(&mut m, &pol, cpu, 1, (load(cpu), 100)));
        let total = |m: &Record, cpus| {
            let env = LbEnv { cpus, dst_cpu: 1, level: 1, src_cpu: NO_CPU, ..LbEnv::default() };
            assert_eq!(env.idle, balance_idle::NOT_IDLE, "which reads all");
            search(m, &pol, &env).total_load
        };
        let all = m.rows()[1].domains[1].span;
        assert_eq!(total(&m, all), (0..1024).map(load).sum::<u64>(), "{profile}: all");
        for cpu in [0, 1, 62, 63, 64, 127, 128, 1007, 1008, 1021, 1022, 1023] {
            assert_eq!(total(&m, m.span_alone(cpu)), load(cpu), "{profile}: CPU {cpu} alone");
            let rest = m.hold(Held::Considered, &words(1024, |other| other >= cpu));
            assert_eq!(total(&m, rest), (cpu..1024).map(load).sum::<u64>(), "{profile}: from {cpu} on");
        }
    }
}
