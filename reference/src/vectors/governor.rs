// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of performance requests and the governor (docs/rules/governor.md).

use super::{Golden, NO_GOLDEN, Table, newest};
use crate::iowait;
use crate::perf::{CpuState, evaluate, raw_freq_khz};
use crate::rules::{PROFILES, Rules};
use crate::schedutil::{SugovCpu, SugovPolicy, default_rate_limit_us, resolve};

/// Frequency table of the decisions, kHz.
pub const TABLE_KHZ: [u64; 8] = [300_000, 574_000, 930_000, 1_197_000, 1_401_000, 1_803_000, 2_252_000, 2_802_000];
const TICK_NS: u64 = 4_000_000;

fn rules_at(index: u64) -> Rules {
    Rules::profile(PROFILES[index as usize]).expect("the index is in range")
}

/// A CPU with fair utilization only, no clamps.
fn fair(util: u64) -> CpuState {
    CpuState { cap_orig: 1024, util_cfs: util, uclamp_max: 1024, ..CpuState::default() }
}

const IRQ_SCALING: Table = Table {
    name: "irq-scaling",
    comment: "Utilization of a full-size CPU in the time that interrupts leave, plus the interrupts (profile 7.2).",
    rule: "docs/rules/governor.md#the-request-of-one-cpu",
    inputs: &["util_cfs", "util_irq"],
    outputs: &["effective"],
    golden: Golden {
        source: "docs/rules/load-tracking.md#golden-values",
        rows: &[&[512, 100, 562], &[900, 200, 924], &[1000, 24, 1000]],
    },
    cases: || {
        let irqs = [0, 1, 512, 1023, 1024];
        [0, 1, 512, 1023, 1024].iter().flat_map(|&util| irqs.map(|irq| vec![util, irq])).collect()
    },
    run: |i| vec![evaluate(&newest(), &CpuState { util_irq: i[1], ..fair(i[0]) }, 0).effective],
};

const PERF_TARGET: Table = Table {
    name: "perf-target",
    comment: "Headroom, then the clamps of a full-size CPU (profile 7.2): a floor passes without headroom, a cap is exact, the \
              floor wins over the cap.",
    rule: "docs/rules/governor.md#the-request-of-one-cpu",
    inputs: &["util_cfs", "uclamp_min", "uclamp_max"],
    outputs: &["perf"],
    golden: Golden {
        source: "docs/rules/load-tracking.md#golden-values",
        rows: &[
            &[900, 0, 1024, 1024],
            &[300, 400, 1024, 400],
            &[900, 0, 512, 512],
            &[600, 700, 500, 700],
            &[512, 0, 1024, 640],
        ],
    },
    cases: || {
        let clamps = [[0, 0], [0, 1024], [1024, 1024], [1024, 0], [512, 640], [640, 512]];
        [0, 1, 511, 512, 819, 820].iter().flat_map(|&util| clamps.map(|c| vec![util, c[0], c[1]])).collect()
    },
    run: |i| {
        let state = CpuState { uclamp_used: 1, uclamp_min: i[1], uclamp_max: i[2], ..fair(i[0]) };
        vec![evaluate(&newest(), &state, 0).perf]
    },
};

fn request(inputs: &[u64]) -> Vec<u64> {
    let state = CpuState {
        cap_orig: inputs[1],
        util_cfs: inputs[2],
        runnable_cfs: inputs[3],
        util_est: inputs[4],
        util_rt: inputs[5],
        util_dl: inputs[6],
        util_irq: inputs[7],
        bw_dl: inputs[8],
        rt_nr_running: inputs[9],
        uclamp_used: inputs[10],
        uclamp_min: inputs[11],
        uclamp_max: inputs[12],
        cfs_nr_running: 1,
        idle_calls: 0,
    };
    let terms = evaluate(&rules_at(inputs[0]), &state, inputs[13]);
    vec![terms.cfs, terms.effective, terms.iowait, terms.min, terms.max, terms.perf]
}

const REQUEST_STATES: [[u64; 13]; 9] = [
    [1024, 300, 350, 400, 0, 0, 0, 0, 0, 0, 0, 1024, 0],
    [1024, 300, 350, 0, 200, 100, 50, 80, 0, 0, 0, 1024, 0],
    [1024, 300, 350, 0, 200, 100, 50, 80, 1, 0, 0, 1024, 0],
    [1024, 300, 350, 0, 200, 100, 50, 80, 1, 1, 100, 400, 0],
    [446, 300, 600, 0, 100, 40, 20, 30, 0, 1, 350, 300, 256],
    [446, 400, 0, 0, 60, 0, 446, 0, 0, 0, 0, 1024, 0],
    [446, 400, 0, 0, 60, 0, 445, 0, 0, 0, 0, 1024, 512],
    [1024, 0, 0, 0, 0, 0, 0, 300, 0, 0, 0, 1024, 128],
    [160, 100, 120, 90, 20, 30, 9, 10, 0, 1, 0, 64, 0],
];

const REQUEST: Table = Table {
    name: "perf-request",
    comment: "One CPU's request in every profile (0 is 4.12, 9 is 7.2): utilization below and above capacity, RT runnable with \
              and without clamps in use, crossed clamps, interrupts at the limit, DL bandwidth, I/O-wait boost.",
    rule: "docs/rules/governor.md#the-request-of-one-cpu",
    inputs: &[
        "profile",
        "cap_orig",
        "util_cfs",
        "runnable_cfs",
        "util_est",
        "util_rt",
        "util_dl",
        "util_irq",
        "bw_dl",
        "rt_nr_running",
        "uclamp_used",
        "uclamp_min",
        "uclamp_max",
        "iowait",
    ],
    outputs: &["cfs", "effective", "iowait_used", "min", "max", "perf"],
    golden: NO_GOLDEN,
    cases: || {
        let profiles = 0..PROFILES.len() as u64;
        profiles.flat_map(|p| REQUEST_STATES.map(|state| [&[p], &state[..]].concat())).collect()
    },
    run: request,
};

fn decide(inputs: &[u64]) -> Vec<u64> {
    let rules = rules_at(inputs[0]);
    let top = TABLE_KHZ[7];
    let sp = SugovPolicy { min_khz: TABLE_KHZ[0], max_khz: top, ref_khz: top, ..SugovPolicy::default() };
    let perf = evaluate(&rules, &fair(inputs[1]), 0).perf;
    let raw = raw_freq_khz(&rules, top, perf, 1024);
    vec![perf, raw, resolve(&sp, &TABLE_KHZ, raw)]
}

const FREQUENCY: Table = Table {
    name: "frequency",
    comment: "From fair utilization to frequency on a full-size CPU with the table 300, 574, 930, 1197, 1401, 1803, 2252, 2802 \
              MHz, in every profile. Boundaries: around each frequency's 80 %, and 0, 1, 1023, 1024.",
    rule: "docs/rules/governor.md#the-request-of-one-cpu",
    inputs: &["profile", "util_cfs"],
    outputs: &["perf", "raw_khz", "resolved_khz"],
    golden: NO_GOLDEN,
    cases: || {
        let edges =
            TABLE_KHZ.iter().flat_map(|khz| [-1i64, 0, 1].map(|d| (khz * 1024 * 4 / 5 / TABLE_KHZ[7]) as i64 + d));
        let utils: Vec<u64> = edges.map(|util| util as u64).chain([0, 1, 1023, 1024]).collect();
        (0..PROFILES.len() as u64).flat_map(|p| utils.iter().map(move |&util| vec![p, util])).collect()
    },
    run: decide,
};

/// Steps of an I/O-wait story, one digit of base 4 each, the lowest first.
fn io_story(inputs: &[u64]) -> Vec<u64> {
    let rules = rules_at(inputs[0]);
    let sp = SugovPolicy { nr_cpus: 2, min_khz: TABLE_KHZ[0], max_khz: TABLE_KHZ[7], ..SugovPolicy::default() };
    let mut sc = SugovCpu::default();
    let (mut now, mut value) = (1u64 << 40, 0);
    for step in 0..8 {
        let kind = inputs[1] >> (2 * step) & 3;
        now += if kind == 3 { TICK_NS + 1 } else { TICK_NS / 2 };
        iowait::request(&rules, &sp, &mut sc, now, TICK_NS, u64::from(kind == 1 || kind == 2));
        sc.last_update_ns = now;
        if kind != 2 {
            let boost = iowait::apply(&rules, &sp, &mut sc, now, TICK_NS);
            value = iowait::capacity(&rules, &sp, boost, 512);
        }
    }
    vec![value, sc.iowait_boost, sc.iowait_pending]
}

const IO_WAIT: Table = Table {
    name: "iowait",
    comment: "Eight hook calls of a CPU of capacity 512, half a tick of 4 ms apart, one digit of base 4 each, the lowest first: \
              0 = evaluation, 1 = request and evaluation, 2 = request that the gate refuses, 3 = evaluation after more than a \
              tick of silence. Last value in capacity units, boost and pending mark afterwards.",
    rule: "docs/rules/governor.md#the-request-of-one-cpu",
    inputs: &["profile", "steps"],
    outputs: &["value", "boost", "pending"],
    golden: NO_GOLDEN,
    cases: || {
        let stories =
            [0x0001, 0x0005, 0x0015, 0x0055, 0x5555, 0x0002, 0x000a, 0x002a, 0x00c1, 0x01c5, 0x0305, 0x1555, 0x5541];
        (0..PROFILES.len() as u64).flat_map(|p| stories.map(|steps| vec![p, steps])).collect()
    },
    run: io_story,
};

const RATE_LIMIT: Table = Table {
    name: "rate-limit",
    comment: "Default rate limit from the driver's latency, or its own wish where it has one.",
    rule: "docs/rules/governor.md#when-an-evaluation-is-allowed",
    inputs: &["profile", "latency_ns", "transition_delay_us"],
    outputs: &["rate_limit_us"],
    golden: Golden {
        source: "docs/rules/load-tracking.md#golden-values",
        rows: &[&[5, 500_000, 0, 10_000], &[9, 500_000, 0, 750], &[5, 40_000, 0, 10_000], &[9, 40_000, 0, 60]],
    },
    cases: || {
        let drivers = [[0, 0], [999, 0], [1000, 0], [1001, 0], [9_999, 0], [20_000, 500], [20_000, 0], [500_000, 0]];
        (0..PROFILES.len() as u64).flat_map(|p| drivers.map(|d| vec![p, d[0], d[1]])).collect()
    },
    run: |i| vec![default_rate_limit_us(&rules_at(i[0]), i[1], i[2])],
};

/// Tables of this file.
pub(super) fn tables() -> Vec<Table> {
    vec![IRQ_SCALING, PERF_TARGET, REQUEST, FREQUENCY, IO_WAIT, RATE_LIMIT]
}
