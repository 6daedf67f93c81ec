// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of queues, clocks and estimates (docs/rules/load-tracking.md).

use super::{NO_GOLDEN, Table, newest};
use crate::clock::{Clock, Rq, SATURATED_SUM, clock_enter_idle, clock_update};
use crate::event::{post_init, se_init};
use crate::group::{TaskGroup, group_shares, propagate};
use crate::pelt::{Avg, MIN_DIVIDER, Scale};
use crate::pressure::capacity_of;
use crate::rq::{CfsRq, Ctx, Removed, Se, attach, update_cfs_rq};
use crate::rules::{Rules, UtilEst};
use crate::util_est::{UNCHANGED, sample};

const FULL: Scale = Scale { cap_orig: 1024, freq: 1024 };
/// Update time of the queues in these tables.
const START_NS: u64 = 1 << 40;

/// A queue whose three averages and sums are equal, at a position in the period.
fn queue(avg: u64, sum: u64, position: u64) -> CfsRq {
    let avg = Avg {
        last_update_time_ns: START_NS,
        period_contrib: position,
        load_sum: sum,
        runnable_sum: sum,
        util_sum: sum,
        load_avg: avg,
        runnable_avg: avg,
        util_avg: avg,
        ..Avg::default()
    };
    CfsRq { avg, ..CfsRq::default() }
}

fn sums_and_averages(avg: &Avg) -> Vec<u64> {
    vec![avg.load_avg, avg.runnable_avg, avg.util_avg, avg.load_sum, avg.runnable_sum, avg.util_sum]
}

fn removed(inputs: &[u64]) -> Vec<u64> {
    let profile = crate::rules::PROFILES[inputs[0] as usize];
    let rules = Rules::profile(profile).expect("the index is in range");
    let mut cfs = queue(inputs[1], inputs[2], inputs[3]);
    cfs.removed = Removed { load: inputs[4], util: inputs[4], runnable: inputs[4], nr: 1 };
    update_cfs_rq(&Ctx { rules: &rules, now: START_NS, scale: FULL }, &mut cfs);
    [sums_and_averages(&cfs.avg), vec![cfs.prop_runnable_sum as u64]].concat()
}

const REMOVED: Table = Table {
    name: "removed",
    comment: "A queue with three equal averages and sums loses the same amount from each at one moment. Removing more than \
              there is stops at 0; with sum_floor a sum stays at least average * 46718. The last column is signed. profile \
              0 is 4.12, 9 is 7.2.",
    rule: "docs/rules/load-tracking.md#what-leaves-a-queue-sum_floor",
    inputs: &["profile", "avg", "sum", "period_contrib", "removed"],
    outputs: &["load_avg", "runnable_avg", "util_avg", "load_sum", "runnable_sum", "util_sum", "prop_runnable_sum"],
    golden: NO_GOLDEN,
    cases: || {
        let shapes = [[1024, 1024 * MIN_DIVIDER, 0], [700, 700 * 47_000, 1023], [1, MIN_DIVIDER, 512]];
        let removed = [0, 1, 511, 700, 1024, 1025];
        let both = [0, 9].iter().flat_map(|&profile| shapes.iter().map(move |shape| (profile, shape)));
        both.flat_map(|(profile, s)| removed.map(|r| vec![profile, s[0], s[1], s[2], r])).collect()
    },
    run: removed,
};

fn attached(inputs: &[u64]) -> Vec<u64> {
    let mut cfs = queue(100, 100 * MIN_DIVIDER, inputs[0]);
    let mut se = Se { full_weight: inputs[1] * 1024, ..Se::default() };
    (se.avg.load_avg, se.avg.runnable_avg, se.avg.util_avg) = (inputs[2], inputs[3], inputs[4]);
    attach(&newest(), &mut cfs, &mut se);
    let entity = vec![se.avg.load_sum, se.avg.runnable_sum, se.avg.util_sum, se.avg.period_contrib];
    [entity, sums_and_averages(&cfs.avg)].concat()
}

const ATTACH: Table = Table {
    name: "attach",
    comment: "An entity with given averages joins a queue whose averages are 100 and whose sums are 100 * 46718. A weight \
              that is not below load_avg * divisor gives load_sum 1.",
    rule: "docs/rules/load-tracking.md#attach-detach-and-removal",
    inputs: &["period_contrib", "weight", "load_avg", "runnable_avg", "util_avg"],
    outputs: &[
        "se.load_sum",
        "se.runnable_sum",
        "se.util_sum",
        "se.period_contrib",
        "load_avg",
        "runnable_avg",
        "util_avg",
        "load_sum",
        "runnable_sum",
        "util_sum",
    ],
    golden: NO_GOLDEN,
    cases: || {
        let averages = [[1024, 1024, 1024], [0, 0, 0], [1, 700, 300], [88_761, 5, 1]];
        let weights = [2, 15, 1024, 88_761];
        let all = averages.iter().flat_map(|a| weights.map(|weight| (a, weight)));
        all.enumerate().map(|(i, (a, weight))| vec![[0, 1, 1023][i % 3], weight, a[0], a[1], a[2]]).collect()
    },
    run: attached,
};

fn propagated(inputs: &[u64]) -> Vec<u64> {
    let (mut cfs, mut owned) = (queue(500, 500 * MIN_DIVIDER, inputs[0]), queue(inputs[1], inputs[1] * MIN_DIVIDER, 7));
    let mut se = Se { full_weight: 512 * 1024, avg: queue(300, 300 * MIN_DIVIDER, inputs[0]).avg, ..Se::default() };
    se.avg.load_sum = 20_000;
    (owned.propagate, owned.full_load) = (1, inputs[2] * 1024);
    owned.prop_runnable_sum = inputs[3] as i64;
    let rules = newest();
    propagate(&Ctx { rules: &rules, now: START_NS, scale: FULL }, &mut cfs, &mut se, &mut owned);
    [sums_and_averages(&se.avg), sums_and_averages(&cfs.avg)].concat()
}

const PROPAGATE: Table = Table {
    name: "propagate",
    comment: "A group's queue with pending changes hands them to its entity (weight 512, averages 300, load_sum 20000) and to \
              the queue above (averages 500). prop_runnable_sum is signed.",
    rule: "docs/rules/load-tracking.md#what-is-carried-up-propagation",
    inputs: &["period_contrib", "group_avg", "group_load_weight", "prop_runnable_sum"],
    outputs: &[
        "se.load_avg",
        "se.runnable_avg",
        "se.util_avg",
        "se.load_sum",
        "se.runnable_sum",
        "se.util_sum",
        "load_avg",
        "runnable_avg",
        "util_avg",
        "load_sum",
        "runnable_sum",
        "util_sum",
    ],
    golden: NO_GOLDEN,
    cases: || {
        let props = [0i64, 1, 30_000, 48_000, -1, -30_000];
        let groups = [[0, 0], [300, 1024], [1024, 88_761]];
        let all = groups.iter().flat_map(|group| props.map(|prop| (group, prop)));
        all.enumerate().map(|(i, (g, prop))| vec![[0, 512, 1023][i % 3], g[0], g[1], prop as u64]).collect()
    },
    run: propagated,
};

const SHARES: Table = Table {
    name: "shares",
    comment: "Weight of a group's entity as a 64-bit kernel stores it (1024 << 10 at nice 0): its share of tg_shares by \
              load, at least 2. tg_load includes this queue's contribution. An empty queue keeps the present weight, 77.",
    rule: "docs/rules/groups.md#signals",
    inputs: &["load_weight", "load_avg", "contribution", "tg_load", "tg_shares"],
    outputs: &["weight"],
    golden: NO_GOLDEN,
    cases: || {
        let rows = [
            [0, 0, 0, 0, 1024],
            [1024, 0, 0, 0, 1024],
            [1024, 1024, 1024, 2048, 1024],
            [1024, 10, 10, 100_000, 1024],
            [2, 1, 0, 262_144, 2],
            [88_761, 88_761, 0, 1, 262_144],
            [1024, 2048, 2048, 4096, 1024],
            [3, 3, 900, 100, 1024],
            [1024, 1024, 1024, 2048, 3],
            [1024, 1024, 0, 68_719_476_736, 262_144],
        ];
        rows.map(Vec::from).into()
    },
    run: |i| {
        let mut owned = CfsRq { full_load: i[0] * 1024, tg_load_avg_contrib: i[2], ..CfsRq::default() };
        owned.avg.load_avg = i[1];
        vec![group_shares(&newest(), &owned, &TaskGroup { load_avg: i[3], shares: i[4] }, 77)]
    },
};

const POST_INIT: Table = Table {
    name: "first-placement",
    comment: "Utilization of a new task: half of what its CPU has left, or its weight's share of the queue's utilization if \
              that is less. profile 0 is 4.12 (half of 1024), 9 is 7.2.",
    rule: "docs/rules/load-tracking.md#attach-detach-and-removal",
    inputs: &["profile", "cap_orig", "queue_util_avg", "queue_load_avg", "weight"],
    outputs: &["util_avg", "runnable_avg"],
    golden: NO_GOLDEN,
    cases: || {
        let queues = [[0, 0], [1, 1], [100, 1024], [445, 1024], [446, 0], [1023, 2048], [2000, 5000]];
        let all = [0, 9].iter().flat_map(|&profile| queues.map(|q| (profile, q)));
        all.flat_map(|(profile, q)| [446, 1024].map(|cap| vec![profile, cap, q[0], q[1], 1024])).collect()
    },
    run: |i| {
        let rules = Rules::profile(crate::rules::PROFILES[i[0] as usize]).expect("the index is in range");
        let mut cfs = CfsRq::default();
        (cfs.avg.util_avg, cfs.avg.load_avg) = (i[2], i[3]);
        let mut se = se_init(i[4]);
        post_init(&rules, &cfs, &mut se, i[1]);
        vec![se.avg.util_avg, se.avg.runnable_avg]
    },
};

fn sampled(inputs: &[u64]) -> Vec<u64> {
    let variants = [UtilEst::Off, UtilEst::U1, UtilEst::U2, UtilEst::U3, UtilEst::U4];
    let rules = Rules { util_est: variants[inputs[0] as usize], ..newest() };
    let mut avg = Avg { util_avg: inputs[3], runnable_avg: inputs[4], ..Avg::default() };
    (avg.util_est_enqueued, avg.util_est_ewma) = (inputs[1], inputs[2]);
    sample(&rules, &mut avg, inputs[5]);
    vec![avg.util_est_enqueued, avg.util_est_ewma]
}

const UTIL_EST: Table = Table {
    name: "util-est",
    comment: "One sample of a task that sleeps; variant 1..4 is U1..U4. 2147483648, and in variant 1 bit 0, is the mark of a \
              value that was not published since. Boundaries: the margin of 10 on both sides, the CPU's capacity, a task kept waiting.",
    rule: "docs/rules/load-tracking.md#estimate",
    inputs: &["variant", "enqueued", "ewma", "util_avg", "runnable_avg", "cap_orig"],
    outputs: &["enqueued_after", "ewma_after"],
    golden: NO_GOLDEN,
    cases: || {
        let samples = [
            [400, 400, 400],
            [391, 391, 1024],
            [390, 390, 1024],
            [389, 399, 1024],
            [389, 400, 1024],
            [409, 409, 1024],
            [410, 410, 1024],
            [0, 0, 1024],
            [1024, 1024, 1024],
            [300, 300, 299],
            [300, 300, 300],
        ];
        let all = (1..=4).flat_map(|variant| samples.map(|s| (variant, s)));
        let row = |(variant, s): (u64, [u64; 3])| {
            let ewma = if variant <= 2 { 400 } else { 0 };
            vec![variant, 400, ewma, s[0], s[1], s[2]]
        };
        let marked = (1..=4).map(|variant| vec![variant, 400 | UNCHANGED, 0, 900, 900, 1024]);
        all.map(row).chain(marked).collect()
    },
    run: sampled,
};

/// A CPU whose clocks stand at one second, the pelt clock half a second behind.
fn running_cpu(cap_orig: u64, freq_scale: u64) -> Rq {
    let clock =
        Clock { clock_ns: 1_000_000_000, clock_task_ns: 900_000_000, clock_pelt_ns: 400_000_000, ..Clock::default() };
    Rq { clock, cap_orig, freq_scale, ..Rq::default() }
}

fn clocks(rq: &Rq) -> Vec<u64> {
    let c = &rq.clock;
    vec![c.clock_ns, c.clock_task_ns, c.clock_pelt_ns, c.lost_idle_ns, c.clock_idle_ns, c.clock_pelt_idle_ns]
}

const CLOCK_OUTPUTS: &[&str] = &["clock", "clock_task", "clock_pelt", "lost_idle", "clock_idle", "clock_pelt_idle"];

const CLOCK: Table = Table {
    name: "clock",
    comment: "One clock update of a CPU whose clocks stand at 1 s, 0.9 s (task) and 0.4 s (load tracking). Interrupt time is \
              at most the time that passed; time that runs backwards is ignored; capacity is applied before frequency.",
    rule: "docs/rules/clock.md",
    inputs: &["cap_orig", "freq_scale", "now_ns", "irq_ns", "is_idle"],
    outputs: CLOCK_OUTPUTS,
    golden: NO_GOLDEN,
    cases: || {
        let speeds = [[1024, 1024], [446, 512], [1023, 1023], [1, 1]];
        let times = [[999_999_999, 0, 0], [1_000_000_000, 5, 0], [1_000_000_001, 0, 0], [1_004_000_000, 1_000_000, 0]];
        let more = [[1_004_000_000, 5_000_000, 0], [1_004_000_000, 1_000, 1]];
        let all = speeds.iter().flat_map(|speed| times.iter().chain(&more).map(move |time| (speed, time)));
        all.map(|(speed, time)| [&speed[..], &time[..]].concat()).collect()
    },
    run: |i| {
        let mut rq = running_cpu(i[0], i[1]);
        clock_update(&newest(), &mut rq, i[2], i[3], i[4] != 0);
        clocks(&rq)
    },
};

const LOST_IDLE: Table = Table {
    name: "lost-idle",
    comment: "The same CPU switches to idle with given utilization sums. From 47791490 in total on it was saturated, and the \
              0.5 s by which its clock lags are lost, not idle.",
    rule: "docs/rules/clock.md",
    inputs: &["cfs_util_sum", "rt_util_sum", "dl_util_sum"],
    outputs: CLOCK_OUTPUTS,
    golden: NO_GOLDEN,
    cases: || {
        let limit = SATURATED_SUM;
        let sums =
            [[0, 0, 0], [limit - 1, 0, 0], [limit, 0, 0], [limit + 1, 0, 0], [limit - 2, 1, 0], [1, 1, limit - 2]];
        sums.map(Vec::from).into()
    },
    run: |i| {
        let mut rq = running_cpu(1024, 1024);
        (rq.cfs.avg.util_sum, rq.rt.util_sum, rq.dl.util_sum) = (i[0], i[1], i[2]);
        clock_enter_idle(&newest(), &mut rq);
        clocks(&rq)
    },
};

const CAPACITY: Table = Table {
    name: "capacity-of",
    comment: "Capacity left for the fair class; the larger of both pressures counts, the result is at least 1.",
    rule: "docs/rules/limits-and-pressure.md#pressure",
    inputs: &["cap_orig", "hw", "cpufreq_pressure", "rt", "dl", "irq"],
    outputs: &["capacity"],
    golden: NO_GOLDEN,
    cases: || {
        let rows = [
            [1024, 0, 0, 0, 0, 0],
            [1024, 100, 200, 0, 0, 0],
            [1024, 200, 100, 50, 50, 100],
            [446, 446, 0, 0, 0, 0],
            [446, 0, 500, 0, 0, 0],
            [1024, 0, 0, 1024, 0, 0],
            [1024, 0, 0, 512, 511, 0],
            [1024, 0, 0, 0, 0, 1023],
            [1024, 0, 0, 0, 0, 1024],
            [160, 0, 30, 20, 0, 7],
            [1024, 0, 0, 1023, 0, 1023],
        ];
        rows.map(Vec::from).into()
    },
    run: |i| {
        let mut rq = Rq { cap_orig: i[0], ..Rq::default() };
        (rq.rt.util_avg, rq.dl.util_avg, rq.irq.util_avg) = (i[3], i[4], i[5]);
        vec![capacity_of(&newest(), &rq, i[1], i[2])]
    },
};

/// Tables of this file.
pub(super) fn tables() -> Vec<Table> {
    vec![REMOVED, ATTACH, PROPAGATE, SHARES, POST_INIT, UTIL_EST, CLOCK, LOST_IDLE, CAPACITY]
}
