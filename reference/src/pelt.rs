// SPDX-License-Identifier: GPL-2.0-or-later
//! The load-tracking record: decay, sums and averages (docs/rules/load-tracking.md#record).

use crate::rules::{Divisor, Invariance, Rules};
use crate::{SCALE, cap_scale, runnable_load};

/// Units of 1024 ns in one period.
pub const PERIOD_UNITS: u64 = 1024;
/// Largest value a sum of weight 1 reaches: LOAD_AVG_MAX.
pub const LOAD_AVG_MAX: u64 = load_avg_max();
/// Smallest divisor, at the start of a period.
pub const MIN_DIVIDER: u64 = LOAD_AVG_MAX - PERIOD_UNITS;

const FRACTION_BITS: u32 = 62;

/// `y = 2^(-1/32)` with 62 fractional bits: five square roots of one half.
const fn y_fixed() -> u128 {
    let mut y = 1u128 << (FRACTION_BITS - 1);
    let mut roots = 0;
    while roots < 5 {
        y = (y << FRACTION_BITS).isqrt();
        roots += 1;
    }
    y
}

/// `INV[i] = floor((2^32 - 1) * y^i)` for one half-life (docs/rules/load-tracking.md#formula).
pub const INV: [u64; 32] = {
    let mut table = [0u64; 32];
    let mut power = 1u128 << FRACTION_BITS;
    let mut i = 0;
    while i < 32 {
        table[i] = ((0xffff_ffff * power) >> FRACTION_BITS) as u64;
        power = (power * y_fixed()) >> FRACTION_BITS;
        i += 1;
    }
    table
};

const fn load_avg_max() -> u64 {
    let mut sum = PERIOD_UNITS;
    loop {
        let next = ((sum * INV[1]) >> 32) + PERIOD_UNITS;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

/// One load-tracking record (docs/rules/load-tracking.md#record): a task, a group entity, a queue, or a CPU's RT, DL,
/// IRQ, hardware signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Avg {
    /// Time of the last update in whole units of 1024 ns; 0 = not attached.
    pub last_update_time_ns: u64,
    /// Decayed sum of load times units.
    pub load_sum: u64,
    /// Decayed sum of runnable times units, times 1024; without the factor where it is load.
    pub runnable_sum: u64,
    /// Decayed sum of running units, times 1024 (or times the CPU's capacity under contribution scaling).
    pub util_sum: u64,
    /// Position inside the open period, 0..1023.
    pub period_contrib: u64,
    /// Average of load.
    pub load_avg: u64,
    /// Average number of runnable tasks, times 1024; up to 5.4 load of what is queued.
    pub runnable_avg: u64,
    /// Average share of time executing, 0..1024.
    pub util_avg: u64,
    /// U1, U2: last sample; U3, U4: the estimate. The top bit is the "unchanged" mark.
    pub util_est_enqueued: u64,
    /// U1, U2: smoothed samples.
    pub util_est_ewma: u64,
}

/// Inputs that held during the whole interval since the last update (docs/rules/load-tracking.md#record).
#[derive(Clone, Copy, Debug, Default)]
pub struct Input {
    /// Weight or number that counts into the load sum.
    pub load: u64,
    /// Number that counts into the runnable sum.
    pub runnable: u64,
    /// Not 0 while executing.
    pub running: u64,
}

/// Scales that contribution scaling multiplies in; ignored by the clock model (docs/rules/clock.md#formula).
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Capacity of the CPU at its highest frequency.
    pub cap_orig: u64,
    /// Current frequency relative to the highest.
    pub freq: u64,
}

/// Decays `value` by `periods` (docs/rules/load-tracking.md#formula).
pub fn decay(value: u64, periods: u64) -> u64 {
    if periods > 63 * 32 {
        return 0;
    }
    let halved = value >> (periods / 32);
    ((u128::from(halved) * u128::from(INV[(periods % 32) as usize])) >> 32) as u64
}

/// Weighted length of an interval that closed `periods` periods: tail, complete periods, head
/// (docs/rules/load-tracking.md#formula).
fn segments(periods: u64, tail: u64, head: u64) -> u64 {
    let complete = LOAD_AVG_MAX - decay(LOAD_AVG_MAX, periods) - PERIOD_UNITS;
    decay(tail, periods) + complete + head
}

/// Divisor of a sum (docs/rules/load-tracking.md#formula).
pub fn divider(rules: &Rules, avg: &Avg) -> u64 {
    match rules.divisor {
        Divisor::Constant => LOAD_AVG_MAX,
        Divisor::Moving => MIN_DIVIDER + avg.period_contrib,
    }
}

/// Brings the sums to `now` (docs/rules/load-tracking.md#formula). Returns the number of period boundaries crossed.
pub fn accumulate(rules: &Rules, avg: &mut Avg, now: u64, input: Input, scale: Scale) -> u64 {
    let elapsed = now.wrapping_sub(avg.last_update_time_ns) as i64;
    if elapsed < 0 {
        avg.last_update_time_ns = now;
        return 0;
    }
    let units = elapsed as u64 / 1024;
    if units == 0 {
        return 0;
    }
    avg.last_update_time_ns = avg.last_update_time_ns.wrapping_add(units * 1024);

    let position = units + avg.period_contrib;
    let periods = position / PERIOD_UNITS;
    let mut contribution = units;
    if periods > 0 {
        avg.load_sum = decay(avg.load_sum, periods);
        avg.runnable_sum = decay(avg.runnable_sum, periods);
        avg.util_sum = decay(avg.util_sum, periods);
        contribution = segments(periods, PERIOD_UNITS - avg.period_contrib, position % PERIOD_UNITS);
    }
    avg.period_contrib = position % PERIOD_UNITS;
    if input.load != 0 {
        add_contribution(rules, avg, contribution, input, scale);
    }
    periods
}

/// docs/rules/load-tracking.md#formula, and where the contribution carries the speed instead of the clock.
fn add_contribution(rules: &Rules, avg: &mut Avg, contribution: u64, input: Input, scale: Scale) {
    let (contribution, util_factor) = match rules.invariance {
        Invariance::Contribution => (cap_scale(contribution, scale.freq), scale.cap_orig),
        Invariance::Clock => (contribution, SCALE),
    };
    avg.load_sum += input.load * contribution;
    avg.runnable_sum += input.runnable * contribution * if runnable_load::is_kept(rules) { 1 } else { SCALE };
    if input.running != 0 {
        avg.util_sum += contribution * util_factor;
    }
}

/// Turns the sums into averages (docs/rules/load-tracking.md#formula); `weight` is the entity's weight, or 1.
pub fn publish(rules: &Rules, avg: &mut Avg, weight: u64) {
    publish_parts(rules, avg, weight, 1);
}

/// Publishes the averages with a factor of the runnable average, too.
pub fn publish_parts(rules: &Rules, avg: &mut Avg, weight: u64, runnable: u64) {
    let div = u128::from(divider(rules, avg));
    avg.load_avg = (u128::from(weight) * u128::from(avg.load_sum) / div) as u64;
    avg.runnable_avg = (u128::from(runnable) * u128::from(avg.runnable_sum) / div) as u64;
    avg.util_avg = (u128::from(avg.util_sum) / div) as u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_equals_the_published_constants() {
        assert_eq!((INV[0], INV[1], INV[16], INV[31]), (0xffff_ffff, 0xfa83_b2da, 0xb504_f333, 0x82cd_8698));
        for (i, &inverse) in INV.iter().enumerate() {
            let double = (f64::from(u32::MAX) * 2f64.powf(-(i as f64) / 32.0)) as u64;
            assert_eq!(inverse, double, "INV[{i}]");
        }
        assert_eq!((LOAD_AVG_MAX, MIN_DIVIDER), (47742, 46718));
    }

    #[test]
    fn decay_by_a_whole_half_life_still_multiplies() {
        assert_eq!(decay(47742, 32), 23870);
        assert_eq!(decay(u64::MAX, 2017), 0);
    }
}
