// SPDX-License-Identifier: GPL-2.0-or-later
//! The CPU of a fair task in releases up to 5.4, worked out by hand on machines of equal CPUs, all idle, unless a test
//! says otherwise.

use pelton_core::{
    NO_CPU, NO_DOMAIN, NO_IDLE_STATE, PlaceCpu, Placed, Placement, Policy, SchedDomain, SdLevel, sd, wf,
};

const OLD: [&str; 4] = ["4.12", "4.16", "4.19", "5.4"];

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

fn domain(span: u64, flags: u32, imbalance_pct: u32, group_capacity: u32) -> SchedDomain {
    let flags = flags | sd::BALANCE_EXEC | sd::BALANCE_FORK | sd::WAKE_AFFINE;
    SchedDomain { span, flags, imbalance_pct, group_capacity, ..SchedDomain::default() }
}

/// `n` CPUs of one cache; a task wakes that has run on CPU 0, where the waker runs.
fn machine(n: u32) -> Placement {
    let mut m = Placement { nr_cpus: n, flags: wf::TTWU, avg_idle_ns: 1_000_000, ..Placement::default() };
    for (at, cpu) in m.cpus[..n as usize].iter_mut().enumerate() {
        *cpu = PlaceCpu {
            capacity: 1024,
            threads: 1 << at,
            curr_idle: 1,
            exit_latency_ns: NO_IDLE_STATE,
            llc_size: n,
            asym_domain: NO_DOMAIN,
            nr_domains: 1,
            ..PlaceCpu::default()
        };
        (cpu.state.cap_orig, cpu.state.uclamp_max) = (1024, 1024);
        cpu.domains[0] = domain((1 << n) - 1, sd::SHARE_LLC, 117, 1024);
    }
    (m.task.allowed, m.task.uclamp_max, m.task.numa_cpu) = ((1 << n) - 1, 1024, NO_CPU);
    (m.task.se.avg.last_update_time_ns, m.task.queue_update_ns, m.task.se.weight) = (1 << 20, 1 << 20, 1024);
    m
}

/// Two packages of two CPUs, each with its cache; `flags`: of the domain of both. A task starts on CPU 0.
fn packages(flags: u32) -> Placement {
    let mut m = Placement { flags: wf::FORK, ..machine(4) };
    for (at, cpu) in m.cpus[..4].iter_mut().enumerate() {
        (cpu.llc, cpu.llc_size, cpu.nr_domains) = (at as u32 / 2 * 2, 2, 2);
        cpu.domains[0] = domain(0b11 << cpu.llc, sd::SHARE_LLC, 117, 1024);
        cpu.domains[1] = domain(0b1111, flags, 125, 2048);
        cpu.idle_stamp_ns = 1 + at as u64;
    }
    // Of CPUs without any load the other one is taken again and again: 100 * 0 is not below k * 0.
    m.cpus[2].load_avg = 10;
    m
}

fn busy(m: &mut Placement, cpus: impl IntoIterator<Item = usize>) {
    for at in cpus {
        let cpu = &mut m.cpus[at];
        (cpu.curr_idle, cpu.nr_running, cpu.h_nr_queued, cpu.h_nr_runnable) = (0, 1, 1, 1);
        // As much as the task's neighbours would bring: the task is not drawn there.
        cpu.load = 1024;
    }
}

fn chosen(profile: &str, m: &Placement) -> (u32, &'static str) {
    let mut placed = Placed::default();
    (m.select(&policy(profile), &mut placed), placed.how())
}

/// One little CPU of capacity `little`, on which the task ran, and a big one, on which its waker runs.
fn unequal(little: u32, util: u64, est: u32) -> Placement {
    let mut m = machine(2);
    (m.asymmetric, m.this_cpu) = (1, 1);
    (m.cpus[0].state.cap_orig, m.cpus[0].capacity) = (little, little);
    (m.task.se.avg.util_avg, m.task.se.avg.util_est_enqueued) = (util, est);
    m
}

/// 4.12, 4.16.13 and 4.19 wake_cap: cap * 1024 < util * 1280; 5.4 task_fits_capacity: max(util, est) * 1280 < cap *
/// 1024 fits. 5.10 and later do not ask.
#[test]
fn wake_cap_to_4_19_reads_utilization_and_in_5_4_the_estimate() {
    let small = |profile: &str, little, util, est| {
        let mut placed = Placed::default();
        unequal(little, util, est).select(&policy(profile), &mut placed);
        placed.small != 0
    };
    for profile in OLD {
        // 446 * 1024 = 456,704; 356 * 1280 = 455,680, 357 * 1280 = 456,960.
        assert!(!small(profile, 446, 356, 0) && small(profile, 446, 357, 0), "{profile}");
        // 445 * 1024 = 356 * 1280.
        assert_eq!(small(profile, 445, 356, 0), profile == "5.4", "{profile}");
        assert_eq!(small(profile, 446, 100, 400), profile == "5.4", "{profile}: its estimate is 400");
        // 1024 - 897 = 127 is below an eighth of 1024.
        assert!(!small(profile, 897, 1000, 0) && small(profile, 896, 1000, 0), "{profile}");
    }
    for profile in ["5.10", "5.15", "6.6", "6.18", "7.2"] {
        assert!(!small(profile, 446, 1000, 0), "{profile}");
    }
}

/// 5.4 sd_init gives SD_BALANCE_WAKE to domains of unequal CPUs: from there find_idlest_cpu goes to the group with
/// most room. Up to 4.19 no domain has it, and the task is looked after near its last CPU.
#[test]
fn a_task_too_big_for_its_cpus_is_placed_like_a_new_one_in_5_4() {
    for (profile, expected) in [
        ("4.12", (0, "target is idle")),
        ("4.16", (0, "target is idle")),
        ("4.19", (0, "target is idle")),
        ("5.4", (1, "too big for its CPUs")),
    ] {
        let mut m = Placement { this_cpu: 0, ..unequal(446, 600, 0) };
        let level = SdLevel { shared: sd::SHARE_LLC, weight: 2, classes: 2, distance: 0 };
        for cpu in &mut m.cpus[..2] {
            cpu.domains[0] = SchedDomain { group_capacity: cpu.capacity, ..level.domain(&policy(profile), 0b11, 2) };
        }
        assert_eq!(chosen(profile, &m), expected, "{profile}");
    }
}

/// 4.12 select_idle_cpu has no SIS_PROP, and select_idle_sibling no recent_used_cpu; from 4.13 on 4 CPUs less one are
/// looked at when there is no idle time.
#[test]
fn idle_search_of_4_12_looks_at_all_and_not_at_the_cpu_before_the_last() {
    let mut last_is_idle = Placement { avg_idle_ns: 0, ..machine(8) };
    busy(&mut last_is_idle, 0..7);
    let mut two_are_idle = machine(8);
    busy(&mut two_are_idle, [0, 1, 2, 4, 6, 7]);
    two_are_idle.task.recent_cpu = 5;
    assert_eq!(chosen("4.12", &last_is_idle), (7, "cache scan"));
    assert_eq!(chosen("4.12", &two_are_idle), (3, "cache scan"));
    for profile in ["4.16", "4.19", "5.4", "5.10"] {
        assert_eq!(chosen(profile, &last_is_idle), (0, "nothing idle"), "{profile}");
        assert_eq!(chosen(profile, &two_are_idle), (5, "recent CPU is idle"), "{profile}");
    }
}

/// 4.16.13, 4.19 and 5.4 select_idle_cpu: the number falls before cpus_allowed is asked; 5.10 goes through allowed
/// CPUs.
#[test]
fn idle_search_of_4_16_counts_cpus_that_the_task_may_not_use() {
    // CPUs 0, 1 and 2 are looked at, or 0 and 3.
    let mut m = Placement { avg_idle_ns: 0, ..machine(8) };
    m.task.allowed = 0b1_1001;
    busy(&mut m, [0]);
    for profile in ["4.16", "4.19", "5.4"] {
        assert_eq!(chosen(profile, &m), (0, "nothing idle"), "{profile}");
    }
    for profile in ["4.12", "5.10"] {
        assert_eq!(chosen(profile, &m), (3, "cache scan"), "{profile}");
    }
}

/// 5.4 select_idle_cpu: si_cpu is what is returned when the number is used up, and only then.
#[test]
fn idle_search_of_5_4_takes_a_sched_idle_cpu_when_time_is_up() {
    let mut m = machine(8);
    busy(&mut m, [0, 1, 3, 4, 5, 6, 7]);
    m.cpus[1].h_nr_idle = 1;
    assert_eq!([chosen("5.4", &m).0, chosen("5.10", &m).0], [2, 1], "an idle one first, or either");
    busy(&mut m, [2]);
    assert_eq!([chosen("5.4", &m).0, chosen("5.10", &m).0], [0, 1], "all were looked at: it is forgotten");
    m.avg_idle_ns = 0;
    assert_eq!([chosen("5.4", &m).0, chosen("4.19", &m).0], [1, 0], "time was up");
}

/// select_idle_core of all of them: a core whose threads are all idle before an idle thread; select_idle_smt last.
#[test]
fn a_whole_core_comes_before_an_idle_thread() {
    let mut m = machine(8);
    m.smt = 1;
    for (at, cpu) in m.cpus[..8].iter_mut().enumerate() {
        (cpu.threads, cpu.has_idle_cores) = (0b11 << (at / 2 * 2), 1);
    }
    busy(&mut m, [0, 2, 4]);
    for profile in OLD {
        assert_eq!(chosen(profile, &m), (6, "cache scan"), "{profile}");
    }
    m.cpus.iter_mut().for_each(|cpu| cpu.has_idle_cores = 0);
    for profile in OLD {
        assert_eq!(chosen(profile, &m), (1, "cache scan"), "{profile}: no core is known to be idle");
    }
}

/// A CPU that is alone in its cache has no sd_llc: select_idle_cpu returns at once when it executes the search (all
/// releases up to 5.10.262).
#[test]
fn a_waker_without_a_cache_domain_scans_nothing() {
    let mut m = machine(4);
    busy(&mut m, [0, 3]);
    (m.this_cpu, m.cpus[3].llc, m.cpus[3].llc_domain) = (3, 3, NO_DOMAIN);
    m.task.allowed = 0b111;
    for profile in ["4.12", "4.16", "4.19", "5.4", "5.10"] {
        assert_eq!(chosen(profile, &m), (0, "nothing idle"), "{profile}");
    }
    assert_eq!(chosen("6.1", &Placement { cpus: m.cpus.map(|c| PlaceCpu { nr_idle_scan_llc: 4, ..c }), ..m }).0, 1);
}

/// find_idlest_group: R and L are sums * 1024 / 2048 here; m = 1024 * 25 / 100 = 256, k = 100 + 25 / 2 = 112.
#[test]
fn dst_group_to_5_4_compares_loads_of_groups() {
    for profile in OLD {
        let mut m = packages(0);
        m.cpus[0].load = 400;
        // R here 200 is below 0 + 256, and 100 * 200 is not below 112 * 5: the other group is idler.
        m.cpus[0].load_avg = 400;
        assert_eq!(chosen(profile, &m), (3, "new task"), "{profile}: it went idle last");
        // What sleeps there counts: 100 * 200 < 112 * 200. Down in its own group it goes to CPU 1.
        m.cpus[2].load_avg = 400;
        assert_eq!(chosen(profile, &m).0, 1, "{profile}");
        // 1500 * 1024 / 2048 = 750 is not below 256.
        m.cpus[0].load = 1500;
        assert_eq!(chosen(profile, &m).0, 3, "{profile}");
    }
    // Its own group is none that it may use: 4.12 begins with 0 there, and 0 < 100 + 256, 0 < 112 * 100. Later ones
    // begin with the largest number, which is not below.
    let mut m = packages(0);
    (m.task.allowed, m.cpus[2].load, m.cpus[2].load_avg) = (0b1100, 200, 200);
    assert_eq!(OLD.map(|profile| chosen(profile, &m).0), [0, 3, 3, 3]);
    // A program goes where most room is: of 1024 in 4.12, later of the 300 that others leave of its own package's CPUs.
    let mut m = Placement { flags: wf::EXEC, ..packages(0) };
    m.task.se.avg.util_avg = 100;
    m.cpus[..2].iter_mut().for_each(|cpu| cpu.capacity = 300);
    busy(&mut m, [0]);
    assert_eq!(OLD.map(|profile| chosen(profile, &m).0), [0, 3, 3, 3]);
}

/// 4.19 find_idlest_group: between nodes the least R + m >= R here keeps the task; 4.16.13 does not ask.
#[test]
fn dst_group_of_4_19_leaves_a_node_for_more_than_the_margin() {
    let on = |load| {
        let mut m = packages(sd::NUMA);
        busy(&mut m, [0]);
        (m.cpus[0].load, m.cpus[0].load_avg) = (load, 10_000);
        OLD.map(|profile| chosen(profile, &m).0)
    };
    // R here 250, then 300.
    assert_eq!(on(500), [3, 3, 1, 1]);
    assert_eq!(on(600), [3; 4]);
}

/// find_idlest_group of 5.10.262 stays on a node with an idle CPU; allow_numa_imbalance of 5.15.215 wants a quarter of
/// its CPUs to be more than what runs there, which a node of so few never is.
#[test]
fn dst_group_of_5_15_leaves_a_small_node_that_has_fewer_idle_cpus() {
    let mut m = packages(sd::NUMA);
    busy(&mut m, [0]);
    assert_eq!(["5.10", "5.15"].map(|profile| chosen(profile, &m).0), [1, 3]);
}

/// 5.4 cpu_util_without takes the estimate of a queued task off its CPU, 4.19 cpu_util_wake does not.
#[test]
fn dst_group_of_5_4_takes_the_estimate_of_a_queued_task_off() {
    // Room: 1024 - 600 on its own CPU or all of it, 1024 - 300 on the other one.
    let mut m = Placement { flags: wf::EXEC, ..machine(2) };
    busy(&mut m, [0]);
    (m.task.on_rq, m.cpus[0].curr_is_task) = (1, 1);
    (m.task.se.avg.util_est_enqueued, m.cpus[0].state.util_est, m.cpus[1].state.util_cfs) = (600, 600, 300);
    assert_eq!(["4.19", "5.4"].map(|profile| chosen(profile, &m).0), [1, 0]);
}

/// 4.12 wake_affine: loads alone, equal ones go to the waker; its groups shift them. Later an idle waking CPU comes
/// first.
#[test]
fn wake_affine_of_4_12_takes_what_groups_make_of_loads() {
    let mut m = machine(3);
    m.this_cpu = 2;
    busy(&mut m, 0..3);
    m.task.se.avg.load_avg = 100;
    // 100 * (1000 + 100) against 108 * 1024.
    (m.cpus[2].load, m.cpus[0].load) = (1000, 1024);
    assert_eq!(chosen("4.12", &m).0, 2, "110,000 <= 110,592");
    m.task.shift_here = 6;
    assert_eq!(chosen("4.12", &m).0, 0, "110,600");
    m.task.shift_there = 1;
    assert_eq!(chosen("4.12", &m).0, 2, "110,700");
    // A waker of 1000 that sleeps leaves nothing: capacities alone decide.
    (m.flags, m.waker.load, m.cpus[0].load) = (wf::TTWU | wf::SYNC, 1000, 0);
    assert_eq!(chosen("4.12", &m).0, 2);
    m.waker.shift_here = 50;
    assert_eq!(chosen("4.12", &m).0, 0, "its group leaves 50: 100 * 156 against 108 * 1");
}

/// 4.16.13 takes a waker that ends for one that sleeps, 4.19 (PF_EXITING) does not.
#[test]
fn a_waker_that_ends_does_not_sleep_from_4_17_on() {
    let mut m = machine(3);
    (m.this_cpu, m.flags, m.waker.exiting) = (2, wf::TTWU | wf::SYNC, 1);
    busy(&mut m, 0..3);
    (m.cpus[2].load, m.waker.load) = (2000, 2000);
    assert_eq!(OLD.map(|profile| chosen(profile, &m).0), [2, 2, 0, 0]);
}
