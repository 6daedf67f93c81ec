// SPDX-License-Identifier: GPL-2.0-or-later
//! The interactive governor, worked out by hand from `cpufreq_interactive.c` of Android's 4.4.

use pelton_core::{
    DbsTimes, Interactive, InteractiveCpu, Limits, Policy, interactive_delay_us, interactive_target_load,
};

/// Juno's LITTLE cluster.
const KHZ: [u32; 5] = [450_000, 575_000, 700_000, 775_000, 850_000];
const LIMITS: Limits = Limits { min_khz: 450_000, max_khz: 850_000 };
const START_US: u64 = 1_000_000;

fn policy(sets: &[(&str, &str)]) -> Policy {
    let mut policy = Policy::profile("4.12").expect("a profile");
    policy.set("governor", "interactive").expect("a governor");
    sets.iter().for_each(|(name, value)| policy.set(name, value).expect("a setting"));
    policy
}

/// A domain with one CPU, and its times.
struct World {
    policy: Policy,
    domain: Interactive,
    cpu: InteractiveCpu,
    times: DbsTimes,
}

impl World {
    fn new(sets: &[(&str, &str)], cur: u32) -> World {
        let policy = policy(sets);
        let domain = Interactive::start(&policy, LIMITS, cur);
        let times = DbsTimes { wall_us: START_US, ..DbsTimes::default() };
        let cpu = InteractiveCpu::join(&policy, &domain, &times);
        World { policy, domain, cpu, times }
    }

    /// 20 ms pass of which the CPU is busy for so many; its timer, and the thread if it is woken. The frequency in MHz.
    fn after(&mut self, busy_ms: u64) -> u32 {
        self.times.wall_us += 20_000;
        self.times.idle_us += (20 - busy_ms) * 1000;
        if self.domain.timer(&self.policy, &mut self.cpu, &self.times, &KHZ) {
            let next = self.domain.adjust(std::slice::from_mut(&mut self.cpu), &KHZ);
            self.domain.cur_khz = next.unwrap_or(self.domain.cur_khz);
        }
        self.cpu.rearm(&self.policy, &self.times);
        self.domain.cur_khz / 1000
    }
}

/// Load in kHz times percent; at a target of 90: 40500 is enough at 450 MHz, one more asks for the next.
#[test]
fn the_lowest_frequency_that_meets_the_target_load() {
    let pol = policy(&[]);
    let domain = Interactive::start(&pol, LIMITS, 450_000);
    for (load, khz) in [(0, 450), (40_500_000, 450), (40_500_090, 575), (51_750_000, 575), (63_000_000, 700)] {
        assert_eq!(domain.choose(&pol, &KHZ, load), khz * 1000, "{load}");
    }
    assert_eq!(domain.choose(&pol, &KHZ, 85_000_000), 850_000, "more than there is");
}

/// 90 % below 700 MHz and 50 % from there: 45000 asks for 500, so 575 from below and for 900 from above. 700 is too
/// little and 575 enough when they are found in this order, and the other way round the search ends at 575, too.
#[test]
fn targets_that_fall_with_the_frequency() {
    let pol = policy(&[("target_load_2_from_khz", "700000"), ("target_load_2", "50")]);
    assert_eq!([450_000, 699_999, 700_000].map(|khz| interactive_target_load(&pol, khz)), [90, 90, 50]);
    let from = |cur| Interactive { cur_khz: cur, ..Interactive::start(&pol, LIMITS, 450_000) };
    assert_eq!(from(450_000).choose(&pol, &KHZ, 45_000_000), 575_000);
    assert_eq!(from(850_000).choose(&pol, &KHZ, 45_000_000), 850_000, "50 % of 850 is more than it can have");
    assert_eq!(from(850_000).choose(&pol, &KHZ, 36_000_000), 775_000, "from above 720 is wanted");
}

/// 98 of 100 asks for what 90 gives, 99 jumps to hispeed; above it a rise waits for 20 ms since the last one.
#[test]
fn a_burst_goes_to_hispeed_and_then_waits() {
    let mut world = World::new(&[("hispeed_khz", "700000"), ("above_hispeed_delay_us", "30000")], 450_000);
    assert_eq!(world.after(20), 700, "all of 20 ms");
    assert_eq!(world.after(20), 700, "20 ms after the rise");
    assert_eq!(world.after(20), 850, "40 ms: 70000 / 90 = 777");
    assert_eq!(interactive_delay_us(&world.policy, 850_000), 30_000);
}

/// A load that is no burst goes no further than hispeed from below it: 19 of 20 ms at 450 ask for 475.
#[test]
fn without_a_burst_hispeed_is_the_most() {
    let mut world = World::new(&[("hispeed_khz", "500000")], 450_000);
    assert_eq!(world.after(19), 575, "500 MHz is no operating point, the next above it is");
    let mut world = World::new(&[("hispeed_khz", "575000"), ("target_load", "50")], 450_000);
    assert_eq!(world.after(19), 575, "42750 / 50 = 855 is beyond it");
}

/// The floor holds for 80 ms since it was last confirmed: by the timer that raised it.
#[test]
fn a_fall_waits_for_the_minimum_sample_time() {
    let mut world = World::new(&[], 450_000);
    assert_eq!(world.after(20), 850, "hispeed is the upper limit");
    assert_eq!([0, 0, 0].map(|busy| world.after(busy)), [850; 3], "20, 40 and 60 ms");
    assert_eq!(world.after(0), 450, "80 ms");
    assert_eq!(world.cpu.floor_khz, 450_000);
}

/// A pulse of 30 ms: hispeed at once, and no floor, so that it falls with the first timer after it.
#[test]
fn a_boost_falls_as_soon_as_it_is_over() {
    let mut world = World::new(&[("hispeed_khz", "700000"), ("boostpulse_duration_us", "30000")], 450_000);
    assert!(world.domain.pulse(&world.policy, START_US) && world.cpu.boost(&world.domain, START_US));
    assert!(!world.domain.pulse(&world.policy, START_US), "there is one already");
    world.domain.cur_khz = world.domain.adjust(std::slice::from_mut(&mut world.cpu), &KHZ).expect("it rises");
    assert_eq!((world.domain.cur_khz, world.cpu.pol_hispeed_us), (700_000, START_US));
    assert_eq!([2, 2].map(|busy| world.after(busy)), [700, 450], "within it and after it");
    world.policy.set("boost_val", "1").expect("on");
    assert_eq!([2, 2].map(|busy| world.after(busy)), [700, 700], "always");
}

/// Load follows the frequencies that the time had: 10 ms at 450 and 10 at 850 are 650 busy.
#[test]
fn a_change_of_frequency_splits_the_load() {
    let mut world = World::new(&[("target_load", "100")], 450_000);
    world.times.wall_us += 10_000;
    world.cpu.account(&world.policy, &world.domain, &world.times);
    world.domain.cur_khz = 850_000;
    world.times.wall_us += 10_000;
    assert!(world.domain.timer(&world.policy, &mut world.cpu, &world.times, &KHZ));
    assert_eq!((world.cpu.load, world.cpu.target_khz), (76, 700_000), "65000 / 850 and / 100");
}

/// Two CPUs: the larger counts; its moment too, and the latest floor holds for both.
#[test]
fn the_largest_of_the_domain_counts() {
    let pol = policy(&[]);
    let domain = Interactive::start(&pol, LIMITS, 450_000);
    let cpu = |target_khz, loc_hispeed_us, loc_floor_us| InteractiveCpu {
        target_khz,
        loc_hispeed_us,
        loc_floor_us,
        ..InteractiveCpu::default()
    };
    let mut cpus = [cpu(450_000, 9, 7), cpu(700_000, 5, 3), cpu(700_000, 4, 2)];
    assert_eq!(domain.adjust(&mut cpus, &KHZ), Some(700_000));
    assert!(cpus.iter().all(|c| (c.pol_hispeed_us, c.pol_floor_us) == (4, 7)));
    let same = Interactive { cur_khz: 700_000, ..domain };
    cpus[2].loc_hispeed_us = 1;
    assert_eq!((same.adjust(&mut cpus, &KHZ), cpus[0].pol_hispeed_us), (None, 4), "nothing changes, nothing is noted");
}

/// The second timer: only above the least, and not where it is switched off.
#[test]
fn an_idle_cpu_is_woken_only_for_something() {
    let mut world = World::new(&[], 450_000);
    assert!(!world.cpu.watches(&world.policy, &world.domain));
    world.cpu.target_khz = 575_000;
    assert!(world.cpu.watches(&world.policy, &world.domain));
    world.policy.set("timer_slack_us", "100000000").expect("never");
    assert!(!world.cpu.watches(&world.policy, &world.domain));
}

/// store_boostpulse(): `boosted = true`, as store_boost() sets it; only the first has an end.
#[test]
fn a_pulse_is_the_boost_that_is_always_on_with_an_end() {
    let with = |boost_val| policy(&[("boost_val", boost_val), ("boostpulse_duration_us", "30000")]);
    let mut pulsed = Interactive::start(&with("0"), LIMITS, 450_000);
    assert!(pulsed.pulse(&with("0"), START_US));
    let always = Interactive::start(&with("1"), LIMITS, 450_000);
    assert_eq!(pulsed, Interactive { pulse_end_us: START_US + 30_000, ..always });
}

/// get_cpu_idle_time(): idle time, and unless io_is_busy the time of I/O wait. 20 ms with 4 idle and 1 of I/O wait,
/// after 3 before: 16 busy, or 15. Where the setting changes in between, all 4 of them are idle time, or 3 less.
#[test]
fn idle_time_is_without_io_wait_when_that_is_busy() {
    let at = |wall_us, idle_us, iowait_us| DbsTimes { wall_us, idle_us, iowait_us, ..DbsTimes::default() };
    let (first, second) = (at(START_US, 700, 3000), at(START_US + 20_000, 4700, 4000));
    for (before, after, idle_us, busy_us) in [
        ("1", "1", [700, 4700], 16_000),
        ("0", "0", [3700, 8700], 15_000),
        ("1", "0", [700, 8700], 12_000),
        ("0", "1", [3700, 4700], 19_000),
    ] {
        let [before, after] = [before, after].map(|io| policy(&[("io_is_busy", io)]));
        let domain = Interactive::start(&before, LIMITS, 450_000);
        let mut cpu = InteractiveCpu::join(&before, &domain, &first);
        assert_eq!(cpu.idle_us, idle_us[0]);
        cpu.account(&after, &domain, &second);
        assert_eq!((cpu.idle_us, cpu.busy_khz_us), (idle_us[1], busy_us * 450_000));
        cpu.rearm(&after, &second);
        assert_eq!((cpu.idle_us, cpu.busy_khz_us), (idle_us[1], 0));
    }
}

/// choose_freq() begins at the frequency of the domain, which may be none of its table: at 300 MHz, where 50 % is the
/// target, 30,000,000 wants 600 MHz, so 850; there, at 100 %, 300, so 450; there 600 again. 450 is too little and 850
/// enough: three looks at two operating points.
#[test]
fn a_search_from_between_operating_points_looks_at_each_of_them() {
    let pol = policy(&[("target_load", "50"), ("target_load_2_from_khz", "850000"), ("target_load_2", "100")]);
    let domain = Interactive::start(&pol, LIMITS, 300_000);
    assert_eq!(domain.choose(&pol, &[450_000, 850_000], 30_000_000), 850_000);
}

/// A search excludes an operating point with each look. Where a domain has none it does not get nearer to an end, and
/// is cut off after its second look: from 300 MHz at 50 % 600 is wanted, from there at 100 % 300, which is below the
/// lower limit of 450.
#[test]
fn a_search_without_operating_points_ends_with_its_second_look() {
    let pol = policy(&[("target_load", "50"), ("target_load_2_from_khz", "500000"), ("target_load_2", "100")]);
    let domain = Interactive::start(&pol, LIMITS, 300_000);
    assert_eq!(domain.choose(&pol, &[], 30_000_000), 450_000);
}
