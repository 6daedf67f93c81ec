// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of decay, sums and averages (docs/rules/load-tracking.md).

use super::{Golden, NO_GOLDEN, Table, newest};
use crate::pelt::{Avg, Input, MIN_DIVIDER, Scale, accumulate, decay, publish};
use crate::rules::{Divisor, Invariance, Rules};

const BUSY: Input = Input { load: 1, runnable: 1, running: 1 };
const FULL: Scale = Scale { cap_orig: 1024, freq: 1024 };
/// 32 periods in units.
const HALF_LIFE_UNITS: u64 = 32 * 1024;

/// Updates and publishes with weight 1.
fn step(rules: &Rules, avg: &mut Avg, now: u64, input: Input, scale: Scale) -> u64 {
    let periods = accumulate(rules, avg, now, input, scale);
    if periods > 0 {
        publish(rules, avg, 1);
    }
    periods
}

/// A record that ran from 0, updated every `step_ns`.
fn ramp(step_ns: u64, updates: u64) -> Avg {
    let mut avg = Avg::default();
    for i in 1..=updates {
        step(&newest(), &mut avg, i * step_ns, BUSY, FULL);
    }
    avg
}

fn decay_cases() -> Vec<Vec<u64>> {
    let values = [0, 1, 2, 1023, 1024, 46718, 47741, 47742, 48_887_808, 1 << 32, 1 << 62, u64::MAX];
    let periods = [1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 2015, 2016, 2017, u64::MAX];
    values.iter().flat_map(|&value| periods.map(|n| vec![value, n])).collect()
}

const DECAY_GOLDEN: Golden = Golden {
    source: "docs/rules/load-tracking.md#golden-values",
    rows: &[
        &[47742, 1, 46718],
        &[47742, 2, 45717],
        &[47742, 31, 24393],
        &[47742, 32, 23870],
        &[47742, 33, 23359],
        &[47742, 63, 12196],
        &[47742, 64, 11934],
        &[47742, 100, 5471],
        &[47742, 1000, 0],
        &[47742, 2017, 0],
    ],
};

fn one_update(inputs: &[u64]) -> Vec<u64> {
    let avg = ramp(inputs[0] * 1024, 1);
    vec![avg.util_avg, avg.util_sum, avg.period_contrib]
}

const ONE_UPDATE_GOLDEN: Golden = Golden {
    source: "docs/rules/load-tracking.md#golden-values",
    rows: &[
        &[500, 0, 512_000, 500],
        &[1023, 0, 1_047_552, 1023],
        &[1024, 21, 1_026_048, 0],
        &[1025, 21, 1_027_072, 1],
        &[2048, 43, 2_028_544, 0],
        &[3000, 63, 3_003_392, 952],
        &[32768, 512, 23_919_616, 0],
        &[100_000, 900, 42_676_224, 672],
        &[1_000_000, 1024, 48_429_056, 576],
    ],
};

fn one_update_cases() -> Vec<Vec<u64>> {
    let half_lives = [1, 2, 63].map(|n| n * HALF_LIFE_UNITS);
    let around = half_lives.iter().flat_map(|&units| [units - 1024, units - 1, units, units + 1, units + 1024]);
    let edges = [0, 1, 2, 2047, 2049, 1 << 32, (1 << 53) - 1];
    edges.into_iter().chain(around).map(|units| vec![units]).collect()
}

const RAMP_MS_GOLDEN: Golden = Golden {
    source: "docs/rules/load-tracking.md#golden-values",
    rows: &[
        &[1, 0],
        &[2, 41],
        &[4, 81],
        &[8, 156],
        &[10, 191],
        &[16, 288],
        &[20, 346],
        &[32, 495],
        &[40, 576],
        &[64, 751],
        &[80, 828],
        &[100, 894],
        &[128, 951],
        &[160, 986],
        &[200, 1008],
        &[240, 1017],
        &[300, 1022],
        &[400, 1024],
    ],
};

const RAMP_STATE_GOLDEN: Golden = Golden {
    source: "docs/rules/load-tracking.md#golden-values",
    rows: &[
        &[4_000_000, 10, 575, 26_988_913, 150],
        &[4_000_000, 100, 1023, 48_319_604, 481],
        &[10_000_000, 1, 191, 9_035_776, 549],
        &[10_000_000, 10, 894, 42_112_797, 376],
        &[1_048_576, 2, 43, 2_030_109, 0],
    ],
};

fn ramp_state(inputs: &[u64]) -> Vec<u64> {
    let avg = ramp(inputs[0], inputs[1]);
    vec![avg.util_avg, avg.util_sum, avg.period_contrib]
}

fn ramp_state_cases() -> Vec<Vec<u64>> {
    let steps = [1023, 1024, 1025, 1_000_000, 1_048_575, 1_048_576, 1_048_577, 3_333_333, 4_000_000, 10_000_000];
    steps.iter().flat_map(|&step_ns| [1, 2, 33, 400].map(|updates| vec![step_ns, updates])).collect()
}

/// Smallest number of one-period updates after which a record that ran from 0 has at least this utilization.
pub(super) fn periods_to(util: u64) -> u64 {
    let mut avg = Avg::default();
    let mut periods = 0;
    while avg.util_avg < util {
        periods += 1;
        step(&newest(), &mut avg, periods << 20, BUSY, FULL);
    }
    periods
}

const PERIODS_GOLDEN: Golden = Golden {
    source: "docs/rules/load-tracking.md#golden-values",
    rows: &[
        &[100, 5],
        &[200, 11],
        &[256, 14],
        &[300, 16],
        &[400, 23],
        &[450, 27],
        &[512, 32],
        &[600, 41],
        &[700, 54],
        &[800, 71],
        &[819, 75],
        &[900, 98],
        &[1000, 172],
        &[1015, 214],
        &[1023, 290],
        &[1024, 323],
    ],
};

/// A record at full utilization, then idle for a number of one-period updates.
fn decayed_from_full(inputs: &[u64]) -> Vec<u64> {
    let mut avg = Avg { util_avg: 1024, util_sum: MIN_DIVIDER * 1024, ..Avg::default() };
    for i in 1..=inputs[0] {
        step(&newest(), &mut avg, i << 20, Input::default(), FULL);
    }
    vec![avg.util_avg]
}

const DECAYED_GOLDEN: Golden = Golden {
    source: "docs/rules/load-tracking.md#golden-values",
    rows: &[
        &[1, 1002],
        &[2, 980],
        &[4, 939],
        &[8, 861],
        &[16, 724],
        &[32, 511],
        &[64, 255],
        &[96, 127],
        &[128, 63],
        &[160, 31],
        &[256, 3],
        &[320, 0],
    ],
};

/// Utilization after running `units` more from `util` at the start of a period.
pub(super) fn ramp_from(inputs: &[u64]) -> Vec<u64> {
    let (util, units) = (inputs[0], inputs[1]);
    let mut avg = Avg { util_avg: util, util_sum: util * MIN_DIVIDER, ..Avg::default() };
    accumulate(&newest(), &mut avg, units * 1024, BUSY, FULL);
    vec![avg.util_sum / (MIN_DIVIDER + avg.period_contrib)]
}

const RAMP_FROM_GOLDEN: Golden = Golden {
    source: "docs/rules/load-tracking.md#golden-values",
    rows: &[
        &[0, 500, 10],
        &[0, 1000, 21],
        &[0, 2000, 42],
        &[0, 4000, 83],
        &[0, 10_000, 195],
        &[512, 4000, 553],
        &[800, 4000, 818],
        &[1000, 4000, 1001],
    ],
};

/// One update from an arbitrary record: signs of time, position in the period, weights.
fn any_update(inputs: &[u64]) -> Vec<u64> {
    let rules = match inputs[0] {
        0 => newest(),
        1 => Rules { invariance: Invariance::Contribution, ..newest() },
        _ => Rules { invariance: Invariance::Contribution, divisor: Divisor::Constant, ..newest() },
    };
    let mut avg = Avg {
        last_update_time_ns: inputs[1],
        period_contrib: inputs[2],
        load_sum: inputs[3],
        runnable_sum: inputs[3] * 1024,
        util_sum: inputs[3] * 1024,
        ..Avg::default()
    };
    let input = Input { load: inputs[5], runnable: inputs[6], running: inputs[7] };
    let scale = Scale { cap_orig: inputs[8], freq: inputs[9] };
    let periods = step(&rules, &mut avg, inputs[4], input, scale);
    vec![
        periods,
        avg.last_update_time_ns,
        avg.period_contrib,
        avg.load_sum,
        avg.runnable_sum,
        avg.util_sum,
        avg.load_avg,
        avg.runnable_avg,
        avg.util_avg,
    ]
}

fn any_update_cases() -> Vec<Vec<u64>> {
    let start = 1u64 << 40;
    let nows = [start - 1, start, start + 1023, start + 1024, start + 1_047_552, start + 1_048_576, start + (33 << 20)];
    let inputs = [[0, 0, 0], [0, 1, 1], [1, 1, 0], [1, 1, 1], [88_761, 3, 1], [2, 0, 1]];
    let speeds = [[1024, 1024], [446, 512], [0, 1024], [1023, 1]];
    let mut cases = Vec::new();
    for (i, &now) in nows.iter().enumerate() {
        for (j, input) in inputs.iter().enumerate() {
            let variant = ((i + j) % 3) as u64;
            let position = [0, 1, 512, 1023][(i + 2 * j) % 4];
            let record = [variant, start, position, 23_000 + position, now];
            cases.push([&record[..], input, &speeds[(i * 2 + j) % 4]].concat());
        }
    }
    cases
}

const DECAY: Table = Table {
    name: "decay",
    comment: "Value decayed by whole periods. Boundaries: nothing, one, the constants of the series, 32 and 64 \
              bits; one period, 32 periods and 63*32 periods, each +-1.",
    rule: "docs/rules/load-tracking.md#formula",
    inputs: &["value", "periods"],
    outputs: &["decayed"],
    golden: DECAY_GOLDEN,
    cases: decay_cases,
    run: |i| vec![decay(i[0], i[1])],
};

const ONE_UPDATE: Table = Table {
    name: "one-update",
    comment: "A zero record, one update after so many units of 1024 ns with load = runnable = running = 1. \
              Boundaries: part of a period, one period +-1, 32 periods +-1, 63*32 periods +-1, very long.",
    rule: "docs/rules/load-tracking.md#formula",
    inputs: &["units"],
    outputs: &["util_avg", "util_sum", "period_contrib"],
    golden: ONE_UPDATE_GOLDEN,
    cases: one_update_cases,
    run: one_update,
};

const ANY_UPDATE: Table = Table {
    name: "any-update",
    comment: "One update of a record that is not zero. variant 0: clock scaling; 1: contribution scaling; 2: the \
              same with the constant divisor. runnable_sum and util_sum start at 1024 * load_sum. Time runs \
              backwards, stands still, stays inside a unit, reaches a period, crosses many.",
    rule: "docs/rules/load-tracking.md#formula",
    inputs: &[
        "variant",
        "last_update_time_ns",
        "period_contrib",
        "load_sum",
        "now_ns",
        "load",
        "runnable",
        "running",
        "cap_orig",
        "freq_scale",
    ],
    outputs: &[
        "periods",
        "last_update_time_ns",
        "period_contrib",
        "load_sum",
        "runnable_sum",
        "util_sum",
        "load_avg",
        "runnable_avg",
        "util_avg",
    ],
    golden: NO_GOLDEN,
    cases: any_update_cases,
    run: any_update,
};

const RAMP_MS: Table = Table {
    name: "ramp-ms",
    comment: "Always running from 0, one update every 1 000 000 ns: utilization at so many milliseconds.",
    rule: "docs/rules/load-tracking.md#formula",
    inputs: &["milliseconds"],
    outputs: &["util_avg"],
    golden: RAMP_MS_GOLDEN,
    cases: || (0..40).map(|ms| vec![ms]).collect(),
    run: |i| vec![ramp(1_000_000, i[0]).util_avg],
};

const RAMP_STATE: Table = Table {
    name: "ramp-state",
    comment: "Always running from 0, so many updates of step_ns each: the state afterwards. The result depends on \
              the step: every update truncates.",
    rule: "docs/rules/load-tracking.md#formula",
    inputs: &["step_ns", "updates"],
    outputs: &["util_avg", "util_sum", "period_contrib"],
    golden: RAMP_STATE_GOLDEN,
    cases: ramp_state_cases,
    run: ramp_state,
};

const PERIODS_TO_UTIL: Table = Table {
    name: "periods-to-util",
    comment: "Always running from 0, one update per period: first number of periods at which utilization is \
              reached.",
    rule: "docs/rules/load-tracking.md#formula",
    inputs: &["util_avg"],
    outputs: &["periods"],
    golden: PERIODS_GOLDEN,
    cases: || [0, 1, 21, 22, 128, 384, 704].iter().map(|&util| vec![util]).collect(),
    run: |i| vec![periods_to(i[0])],
};

const DECAY_FROM_FULL: Table = Table {
    name: "decay-from-full",
    comment: "A record at full utilization at the start of a period, then idle with one update per period.",
    rule: "docs/rules/load-tracking.md#formula",
    inputs: &["periods"],
    outputs: &["util_avg"],
    golden: DECAYED_GOLDEN,
    cases: || [0, 31, 33, 63, 65, 319, 321].iter().map(|&n| vec![n]).collect(),
    run: decayed_from_full,
};

const RAMP_FROM: Table = Table {
    name: "ramp-from",
    comment: "Utilization after running so many units more, from a utilization at the start of a period; one update.",
    rule: "docs/rules/load-tracking.md#formula",
    inputs: &["util_avg", "units"],
    outputs: &["util_avg_after"],
    golden: RAMP_FROM_GOLDEN,
    cases: || [[200, 4000], [400, 4000], [600, 4000], [200, 1000], [800, 1000], [1024, 1]].map(Vec::from).into(),
    run: ramp_from,
};

/// Tables of this file.
pub(super) fn tables() -> Vec<Table> {
    vec![DECAY, ONE_UPDATE, ANY_UPDATE, RAMP_MS, RAMP_STATE, PERIODS_TO_UTIL, DECAY_FROM_FULL, RAMP_FROM]
}
