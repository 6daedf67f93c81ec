// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors other than schedutil: sched-DVFS in its two forms, ondemand, conservative, and those that set one
//! frequency.

use pelton_core::{
    Dbs, DbsCpu, DbsTimes, Policy, SchedDvfs, Vote, boosted, dbs_sampling_us, governor_samples, governor_votes,
    sched_dvfs_request, sched_dvfs_window_ns, vote,
};

const MS: u64 = 1_000_000;
/// Juno's LITTLE cluster.
const KHZ: [u32; 5] = [450_000, 575_000, 700_000, 775_000, 850_000];

fn policy(sets: &[(&str, &str)]) -> Policy {
    let mut policy = Policy::profile("4.12").expect("a profile");
    sets.iter().for_each(|(name, value)| policy.set(name, value).expect("a setting"));
    policy
}

fn domain(nr_cpus: u32) -> SchedDvfs {
    let window_ns = 50 * MS;
    SchedDvfs { window_ns, cur_khz: 450_000, min_khz: 450_000, max_khz: 850_000, nr_cpus, ..SchedDvfs::default() }
}

/// One vote on an idle domain at 450 MHz: the request in kHz and the operating point that the worker sets.
fn one_vote(capacity: u32) -> (u32, u32) {
    let mut sd = domain(1);
    assert_eq!(sd.set_cap(&mut [Vote::default()], 0, capacity, 1024, 0), vote::DRIVE);
    (sd.requested_khz, sd.resolve(&KHZ, sd.requested_khz) / 1000)
}

/// 394 * 1280 >> 10 = 492; 492 * 850000 / 1024 = 408398 kHz, below the lowest operating point.
#[test]
fn sched_dvfs_asks_for_a_quarter_more_than_is_used() {
    let rfc = policy(&[]);
    let expected = [
        ((394, 0), 492, (408_398, 450)),
        ((394, 5), 531, (440_771, 450)),
        ((394, 10), 571, (473_974, 575)),
        ((456, 0), 570, (473_144, 575)),
        ((456, 10), 640, (531_250, 575)),
        ((61, 80), 1038, (861_621, 850)),
    ];
    for ((usage, boost), capacity, request) in expected {
        let cap = sched_dvfs_request(boosted(&rfc, 1024, usage, boost));
        assert_eq!((cap, one_vote(cap)), (capacity, request), "{usage} at {boost} %");
    }
}

/// At 450 MHz the CPU has 542 of 1024 (450 / 850 in steps of a 1024th): 434 * 1280 = 555520 > 542 * 1024 = 555008.
#[test]
fn a_tick_jumps_to_the_maximum_from_80_percent_on() {
    for (khz, last, first) in [(450, 433, 434), (575, 553, 554), (700, 674, 675), (775, 746, 747)] {
        let sd = SchedDvfs { cur_khz: khz * 1000, ..domain(1) };
        assert_eq!((sd.tick(1024, last), sd.tick(1024, first)), (None, Some(1024)), "{khz} MHz");
    }
    assert_eq!(SchedDvfs { cur_khz: 850_000, ..domain(1) }.tick(1024, 1024), None, "there is no more");
}

/// Two CPUs, instant driver: (ms, CPU, vote, what becomes of it).
#[test]
fn the_window_of_e5_begins_although_nothing_changes() {
    let story = [
        (0, 0, 492, vote::DRIVE),
        (10, 1, 700, vote::THROTTLED),
        (20, 1, 300, vote::THROTTLED),
        (55, 0, 400, vote::DRIVE),
        (60, 1, 800, vote::THROTTLED),
        (130, 1, 200, vote::OTHER),
        (140, 0, 350, vote::DRIVE),
    ];
    let (mut sd, mut votes) = (domain(2), [Vote::default(); 2]);
    for (ms, cpu, cap, said) in story {
        assert_eq!(sd.set_cap(&mut votes, cpu, cap, 1024, ms * MS), said, "{ms} ms");
        if said == vote::DRIVE {
            let khz = sd.resolve(&KHZ, sd.requested_khz);
            sd.done(khz, ms * MS);
        }
        assert_eq!(sd.cur_khz, 450_000, "{ms} ms");
    }
    assert_eq!(votes.map(|v| v.total), [350, 200]);
}

/// The inputs of the test before as totals under v7: lowering works from any CPU, and the worker waits for the end of
/// the window.
#[test]
fn the_window_of_v7_delays_and_the_newest_request_wins() {
    let v7 = policy(&[("governor", "sched_dvfs_v7")]);
    let (mut sd, mut votes) = (SchedDvfs { requested_khz: 450_000, ..domain(2) }, [Vote::default(); 2]);
    let mut due_ns = None;
    let mut said = Vec::new();
    let carry_out = |sd: &mut SchedDvfs, due: &mut Option<u64>, now: u64| {
        if let Some(at) = due.take_if(|at| *at <= now) {
            sd.done(sd.requested_khz, at);
        }
    };
    for (ms, cpu, total) in
        [(0, 0, 492), (10, 1, 700), (20, 1, 300), (55, 0, 400), (60, 1, 800), (130, 1, 200), (140, 0, 350)]
    {
        carry_out(&mut sd, &mut due_ns, ms * MS);
        // A request for deadline tasks comes without margin.
        votes[cpu].dl = total;
        if sd.update(&mut votes, cpu as u32, true, &KHZ) == vote::DRIVE {
            due_ns.get_or_insert(sd.due_ns(&v7, ms * MS));
            carry_out(&mut sd, &mut due_ns, ms * MS);
        }
        said.push((ms, sd.requested_khz / 1000, sd.cur_khz / 1000, due_ns.map(|at| at / MS)));
    }
    carry_out(&mut sd, &mut due_ns, 200 * MS);
    let story = [
        (0, 450, 450, None),
        (10, 700, 700, None),
        (20, 450, 700, Some(60)),
        (55, 450, 700, Some(60)),
        (60, 700, 450, Some(110)),
        (130, 450, 700, Some(160)),
        (140, 450, 700, Some(160)),
    ];
    assert_eq!(said, story);
    assert_eq!((sd.cur_khz, sd.throttle_ns), (450_000, 210 * MS));
}

/// The margin is on the fair and the real-time class together, not on reservations: (300 + 100) * 1.25 + 50 = 550.
#[test]
fn v7_sums_the_classes() {
    let (mut sd, mut votes) = (domain(1), [Vote { cfs: 300, rt: 100, dl: 50, total: 0 }]);
    assert_eq!(sd.update(&mut votes, 0, false, &KHZ), vote::SAME, "kept, no new request");
    assert_eq!(votes[0].total, 550);
    votes[0].cfs = 301;
    assert_eq!(sd.update(&mut votes, 0, true, &KHZ), vote::DRIVE);
    assert_eq!((votes[0].total, sd.requested_khz), (551, 575_000));
}

/// Usage at the end of a run of 6, 13, .. 44 % of 2 ms at the maximum, boosts 0, 5, 10, 30, 80: the published pattern.
#[test]
fn operating_points_of_the_published_threads() {
    let rfc = policy(&[]);
    let expected = [
        (61, [450, 450, 450, 450, 850]),
        (133, [450, 450, 450, 450, 850]),
        (195, [450, 450, 450, 575, 850]),
        (256, [450, 450, 450, 575, 850]),
        (318, [450, 450, 450, 575, 850]),
        (394, [450, 450, 575, 700, 850]),
        (456, [575, 575, 575, 700, 850]),
    ];
    for (usage, points) in expected {
        let of = |boost| one_vote(sched_dvfs_request(boosted(&rfc, 1024, usage, boost))).1;
        assert_eq!([0, 5, 10, 30, 80].map(of), points, "{usage}");
    }
}

/// With capacity 447 of 1024, as on the whole board, the margin (relative to 1024) would give what was not published.
#[test]
fn the_published_board_has_its_little_cluster_at_1024() {
    let rfc = policy(&[]);
    let of = |usage: u32, boost| {
        let mut sd = domain(1);
        let cap = sched_dvfs_request(boosted(&rfc, 1024, usage * 447 / 1024, boost));
        sd.set_cap(&mut [Vote::default()], 0, cap, 447, 0);
        sd.resolve(&KHZ, sd.requested_khz) / 1000
    };
    assert_eq!([0, 5, 10, 30, 80].map(|boost| of(61, boost)), [450, 450, 450, 775, 850]);
    assert_eq!([30, 80].map(|boost| of(133, boost)), [850, 850]);
}

/// CPU 0's last task sleeps: its vote is gone, the frequency stays until CPU 1 votes. e5 lowers only from the largest.
#[test]
fn a_sleep_takes_the_vote_and_leaves_the_frequency() {
    let at_700 = SchedDvfs { cur_khz: 700_000, ..domain(2) };
    let votes = [700, 500].map(|cap| Vote { cfs: cap, total: cap, ..Vote::default() });
    let (mut sd, mut left) = (at_700, votes);
    left[0].reset();
    assert_eq!((left.map(|v| v.total), sd.cur_khz), ([0, 500], 700_000));
    assert_eq!(sd.set_cap(&mut left, 1, 500, 1024, 0), vote::DRIVE);
    assert_eq!((sd.requested_khz, sd.resolve(&KHZ, sd.requested_khz)), (415_039, 450_000));
    let (mut sd, mut left) = (at_700, votes);
    assert_eq!(sd.set_cap(&mut left, 0, 300, 1024, 0), vote::OTHER);
    let (mut sd, mut left) =
        (SchedDvfs { requested_khz: 700_000, ..at_700 }, votes.map(|v| Vote { cfs: 0, dl: v.total, ..v }));
    left[0].dl = 300;
    assert_eq!(sd.update(&mut left, 0, true, &KHZ), vote::DRIVE);
    assert_eq!(sd.requested_khz, 450_000);
}

/// The driver's latency, else 50 ms, unless it is configured.
#[test]
fn length_of_the_window() {
    assert_eq!(sched_dvfs_window_ns(&policy(&[]), 1_200_000), 1_200_000);
    assert_eq!(sched_dvfs_window_ns(&policy(&[]), 0), 50 * MS);
    assert_eq!(sched_dvfs_window_ns(&policy(&[("sched_dvfs_throttle_us", "20000")]), 7), 20 * MS);
}

fn sampler() -> Dbs {
    let (min_khz, max_khz) = (450_000, 850_000);
    let limits = Dbs { min_khz, max_khz, hw_min_khz: min_khz, hw_max_khz: max_khz, ..Dbs::default() };
    Dbs {
        sampling_us: 10_000,
        delay_us: 10_000,
        cur_khz: min_khz,
        rate_mult: 1,
        idle_periods: u32::MAX,
        requested_khz: min_khz,
        ..limits
    }
}

/// The frequency after a sample that found this load.
fn at(dbs: &mut Dbs, policy: &Policy, load: u32) -> u32 {
    (dbs.load, dbs.sample_load) = (load, load);
    dbs.sampled(policy, &KHZ)
}

fn times(wall_us: u64, idle_us: u64) -> DbsTimes {
    DbsTimes { wall_us, idle_us, ..DbsTimes::default() }
}

/// 450 + 46 * (850 - 450) / 100 = 634 MHz: 575 is nearer than 700. 637.5 would be as near to both.
#[test]
fn ondemand_is_proportional_below_its_threshold() {
    let ondemand = policy(&[("governor", "ondemand")]);
    let expected = [(15, 450), (16, 575), (30, 575), (46, 575), (47, 700), (71, 700), (72, 775), (90, 775), (91, 850)];
    for (load, mhz) in expected.into_iter().chain([(95, 850), (96, 850)]) {
        assert_eq!(at(&mut sampler(), &ondemand, load), mhz * 1000, "{load} %");
    }
    let mut limited = Dbs { max_khz: 775_000, ..sampler() };
    assert_eq!(at(&mut limited, &ondemand, 95), 775_000, "830 MHz is beyond the limit");
    assert_eq!(at(&mut limited, &ondemand, 96), 775_000);
}

/// 450 + 50 * 4 = 650 MHz is as near to 600 as to 700: the first of the driver's table is taken.
#[test]
fn of_two_operating_points_as_near_the_driver_s_first() {
    let ondemand = policy(&[("governor", "ondemand")]);
    for (descends, khz) in [(0, 600_000), (1, 700_000)] {
        let mut dbs = Dbs { descends, load: 50, ..sampler() };
        assert_eq!(dbs.sampled(&ondemand, &[450_000, 600_000, 700_000, 850_000]), khz);
    }
}

/// sampling_down_factor counts from the jump to the maximum until the load falls below the threshold.
#[test]
fn ondemand_stays_at_the_maximum_for_some_periods() {
    let ondemand = policy(&[("governor", "ondemand"), ("sampling_down_factor", "4")]);
    let mut dbs = sampler();
    dbs.cur_khz = at(&mut dbs, &ondemand, 100);
    assert_eq!((dbs.cur_khz, dbs.period_us()), (850_000, 40_000));
    assert_eq!((at(&mut dbs, &ondemand, 100), dbs.period_us()), (850_000, 40_000));
    assert_eq!((at(&mut dbs, &ondemand, 10), dbs.period_us()), (450_000, 10_000));
}

/// A driver with 1 ms makes 4.5 sample once a second; 6.12 takes the driver's delay, two ticks at least.
#[test]
fn period_between_samples() {
    let old = policy(&[("governor", "ondemand"), ("sampling_form", "4_5")]);
    assert_eq!(dbs_sampling_us(&old, 1_000_000, 0, 4 * MS), 1_000_000);
    assert_eq!(dbs_sampling_us(&old, 10_000, 0, 4 * MS), 10_000);
    assert_eq!(dbs_sampling_us(&old, 0, 0, 4 * MS), 10_000);
    let mut new = Policy::profile("6.12").expect("a profile");
    assert_eq!(dbs_sampling_us(&new, 1_000_000, 0, 4 * MS), 8_000);
    assert_eq!(dbs_sampling_us(&new, 20_000_000, 0, 4 * MS), 30_000);
    new.set("sampling_rate_us", "777").expect("in range");
    assert_eq!(dbs_sampling_us(&new, 1_000_000, 0, 4 * MS), 777);
}

/// Load 60, then 25 ms without a sample in which 2 ms were busy: 60 counts once more, then 8.
#[test]
fn after_a_long_time_the_load_before_it_counts_once() {
    let old = policy(&[("governor", "ondemand"), ("sampling_form", "4_5")]);
    let (mut dbs, mut cpu) = (sampler(), DbsCpu { prev_load: 60, ..DbsCpu::default() });
    assert_eq!(dbs.load(&old, &mut cpu, &times(25_000, 23_000)), 60);
    assert_eq!((at(&mut dbs, &old, 60), cpu.prev_load), (700_000, 0));
    assert_eq!(dbs.load(&old, &mut cpu, &times(50_000, 46_000)), 8);
    assert_eq!(at(&mut dbs, &old, 8), 450_000);
}

/// 25 ms of which 5 were idle is long for 4.5 alone; 6.12 asks for idle time.
#[test]
fn a_busy_time_is_never_long_for_6_12() {
    for (form, load) in [("4_5", 60), ("6_12", 80)] {
        let policy = policy(&[("governor", "ondemand"), ("sampling_form", form)]);
        let (mut dbs, mut cpu) = (sampler(), DbsCpu { prev_load: 60, ..DbsCpu::default() });
        assert_eq!(dbs.load(&policy, &mut cpu, &times(25_000, 5_000)), load, "{form}");
    }
}

/// No time since the last sample: 4.5 leaves the CPU out, 6.12 takes the load it knows.
#[test]
fn a_sample_without_time() {
    for (form, load) in [("4_5", 0), ("6_12", 60)] {
        let policy = policy(&[("governor", "ondemand"), ("sampling_form", form)]);
        let mut cpu = DbsCpu { prev_load: 60, ..DbsCpu::default() };
        assert_eq!(sampler().load(&policy, &mut cpu, &times(0, 0)), load, "{form}");
        assert_eq!(cpu.prev_load, 60, "{form}");
    }
}

/// A shared domain leaves out a sample that comes less than half a period after the last.
#[test]
fn samples_of_two_cpus_at_once_are_one() {
    let mut dbs = sampler();
    dbs.begin(100 * MS);
    assert!(!dbs.is_due(105 * MS - 1) && dbs.is_due(105 * MS));
}

/// A step is 5 % of 850 MHz = 42.5 MHz: up from 450 to 492.5, 535, 577.5, where 575 is the first operating point
/// reached.
#[test]
fn conservative_goes_step_by_step() {
    let policy = policy(&[("governor", "conservative"), ("conservative_form", "stops")]);
    let mut dbs = sampler();
    let set = |dbs: &mut Dbs, load| {
        dbs.cur_khz = at(dbs, &policy, load);
        (dbs.requested_khz, dbs.cur_khz / 1000)
    };
    assert_eq!([81, 81, 81].map(|load| set(&mut dbs, load)), [(492_500, 450), (535_000, 450), (577_500, 575)]);
    assert_eq!([80, 20].map(|load| set(&mut dbs, load)), [(577_500, 575); 2], "between the thresholds");
    assert_eq!(set(&mut dbs, 19), (535_000, 575), "down to the lowest that suffices");
    // Three periods without a sample are three steps down.
    dbs.idle_periods = 3;
    assert_eq!(set(&mut dbs, 81), (492_500, 450));
}

/// One unseen period at 720 MHz of at least 700, then a step up: 5.4 begins at the limit, 4.12 and 4.16 a step below
/// it. A position that was outside of the limits is kept by them, so that each sample begins at the present frequency.
#[test]
fn unseen_periods_lead_below_the_limit_up_to_4_16() {
    let forms = ["4.12", "4.16", "4.19", "5.4"].map(|kernel| {
        let mut policy = Policy::profile(kernel).expect("a profile");
        policy.set("governor", "conservative").expect("a governor");
        let limited = Dbs { min_khz: 700_000, cur_khz: 775_000, requested_khz: 720_000, ..sampler() };
        let mut unseen = Dbs { idle_periods: 1, ..limited };
        at(&mut unseen, &policy, 81);
        let mut outside = Dbs { requested_khz: 450_000, ..limited };
        at(&mut outside, &policy, 50);
        (unseen.requested_khz, outside.requested_khz)
    });
    let (old, new) = ((720_000, 450_000), (742_500, 775_000));
    assert_eq!(forms, [old, old, new, new]);
}

/// At 720 MHz of at least 700 a step down leads below the limit where nothing holds it: 677.5 MHz, and from there the
/// steps begin anew at the present frequency.
#[test]
fn a_step_of_conservative_and_the_lower_limit() {
    for (form, requested) in
        [("stops", 677_500), ("stops_below", 677_500), ("steps", 700_000), ("steps_if_idle", 700_000)]
    {
        let policy = policy(&[("governor", "conservative"), ("conservative_form", form)]);
        let mut dbs = Dbs { min_khz: 700_000, cur_khz: 775_000, requested_khz: 720_000, ..sampler() };
        assert_eq!((at(&mut dbs, &policy, 10), dbs.requested_khz), (700_000, requested), "{form}");
    }
}

/// 40 idle periods with a load of 50 in this sample: two steps less and none up, or no step at all.
#[test]
fn steps_for_periods_nobody_looked_at() {
    for (form, requested) in [("steps", 450_000), ("steps_if_idle", 850_000)] {
        let policy = policy(&[("governor", "conservative"), ("conservative_form", form), ("up_threshold", "49")]);
        let mut dbs = Dbs { idle_periods: 40, requested_khz: 840_000, cur_khz: 775_000, ..sampler() };
        at(&mut dbs, &policy, 50);
        assert_eq!(dbs.requested_khz, if form == "steps" { requested + 42_500 } else { requested }, "{form}");
    }
}

/// cs_dbs_update() of 4.16: `if (policy_dbs->idle_periods < UINT_MAX)` steps down; steps_if_idle only when this sample
/// is below down_threshold as well: 840 - 3 * 42.5 and a step of its own is 670 MHz, without them 797.5.
#[test]
fn idle_periods_count_beside_an_idle_sample() {
    for (form, load, requested) in [
        ("steps", 10, 670_000),
        ("steps_if_idle", 10, 670_000),
        ("steps_if_idle", 19, 670_000),
        ("steps_if_idle", 20, 840_000),
    ] {
        let policy = policy(&[("governor", "conservative"), ("conservative_form", form)]);
        let mut dbs = Dbs { idle_periods: 3, requested_khz: 840_000, cur_khz: 850_000, ..sampler() };
        at(&mut dbs, &policy, load);
        assert_eq!(dbs.requested_khz, requested, "{form}, {load} %");
    }
}

/// dbs_update(): `if (idle_time > 2 * sampling_rate)` counts its periods of 10 ms; 4.5 counts none.
#[test]
fn idle_time_of_more_than_two_periods_is_counted() {
    for (form, idle_us, periods) in
        [("6_12", 20_000, u32::MAX), ("6_12", 20_001, 2), ("6_12", 39_999, 3), ("4_5", 39_999, u32::MAX)]
    {
        let policy = policy(&[("governor", "conservative"), ("sampling_form", form)]);
        let mut dbs = sampler();
        dbs.load(&policy, &mut DbsCpu::default(), &times(50_000, idle_us));
        assert_eq!(dbs.idle_periods, periods, "{form}, {idle_us} us");
    }
}

/// More idle than there was time, after a long sleep: the load before it counts all the same.
#[test]
fn idle_beyond_the_time_is_a_long_sleep_too() {
    let ondemand = policy(&[("governor", "ondemand")]);
    let mut cpu = DbsCpu { prev_load: 60, ..DbsCpu::default() };
    assert_eq!(sampler().load(&ondemand, &mut cpu, &times(25_000, 25_001)), 60);
    assert_eq!(cpu.prev_load, 0);
}

/// 10 ms: 4 idle, 2 of them with a task waiting for I/O, 3 of a task with nice 10.
#[test]
fn what_counts_as_idle() {
    let expected = [(0, 0, 60), (0, 1, 80), (1, 0, 30), (1, 1, 50)];
    for (nice, io, load) in expected {
        let (nice, io) = (nice.to_string(), io.to_string());
        let policy = policy(&[("governor", "ondemand"), ("ignore_nice_load", &nice), ("io_is_busy", &io)]);
        let times = DbsTimes { iowait_us: 2_000, nice_ns: 3 * MS, ..times(10_000, 2_000) };
        assert_eq!(sampler().load(&policy, &mut DbsCpu::default(), &times), load, "{nice} {io}");
    }
}

/// 575 - 57.5 = 517.5 MHz of 450 and 575: 67.5 / 125 of 10 ms at 575, then 4.6 ms at 450, then a look at the load.
#[test]
fn a_bias_shares_the_period_between_two_frequencies() {
    let biased = policy(&[("governor", "ondemand"), ("powersave_bias", "100")]);
    let mut dbs = sampler();
    assert_eq!((at(&mut dbs, &biased, 31), dbs.delay_us, dbs.measures()), (575_000, 5_400, false));
    assert_eq!((dbs.sampled(&biased, &KHZ), dbs.delay_us, dbs.measures()), (450_000, 4_600, true));
}

/// The limits and what was configured.
#[test]
fn governors_that_set_one_frequency() {
    let khz = |sets: &[(&str, &str)]| sampler().start_khz(&policy(sets), &KHZ);
    assert_eq!(khz(&[("governor", "performance")]), Some(850_000));
    assert_eq!(khz(&[("governor", "powersave")]), Some(450_000));
    assert_eq!(khz(&[("governor", "userspace"), ("userspace_khz", "600000")]), Some(700_000));
    assert_eq!((khz(&[("governor", "userspace")]), khz(&[]), khz(&[("governor", "ondemand")])), (None, None, None));
}

/// Governors that take samples, and governors that take votes.
#[test]
fn governors_sample_or_vote() {
    let of = |name| policy(&[("governor", name)]);
    let (samples, votes) = (["ondemand", "conservative"], ["sched_dvfs", "sched_dvfs_v7"]);
    for name in ["schedutil", "performance", "powersave", "userspace"].iter().chain(&samples).chain(&votes) {
        assert_eq!(governor_samples(&of(name)), samples.contains(name), "{name}");
        assert_eq!(governor_votes(&of(name)), votes.contains(name), "{name}");
    }
}

/// No kernel of the profiles has them by itself.
#[test]
fn every_profile_has_schedutil_without_a_boost() {
    for profile in pelton_core::profiles() {
        let policy = Policy::profile(profile).expect("a profile");
        assert_eq!((policy.governor, policy.boost, policy.boost_form, policy.sampling_form), (0, 0, 0, 0), "{profile}");
    }
}
