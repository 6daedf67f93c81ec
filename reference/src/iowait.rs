// SPDX-License-Identifier: GPL-2.0-or-later
//! Boost of CPUs whose tasks wait for I/O (docs/rules/governor.md#the-request-of-one-cpu).

use crate::SCALE;
use crate::rules::{HookFilter, IowaitBoost, Rules};
use crate::schedutil::{SugovCpu, SugovPolicy, hook_flag};

/// Smallest boost of the capacity form.
pub const BOOST_MIN: u64 = SCALE / 8;

fn silent_for_a_tick(sc: &SugovCpu, now: u64, tick_ns: u64) -> bool {
    now.wrapping_sub(sc.last_update_ns) as i64 > tick_ns as i64
}

fn restart(sc: &mut SugovCpu, boost: u64, pending: u64) {
    sc.iowait_boost = boost;
    sc.iowait_pending = pending;
}

/// A hook call arrived: start, double or drop the boost.
pub fn request(rules: &Rules, sp: &SugovPolicy, sc: &mut SugovCpu, now: u64, tick_ns: u64, flags: u64) {
    let asked = flags & hook_flag::IOWAIT != 0;
    let silent = sc.iowait_boost != 0 && silent_for_a_tick(sc, now, tick_ns);
    match rules.iowait_boost {
        IowaitBoost::Off => {}
        IowaitBoost::Jump if asked => sc.iowait_boost = sp.hardware_max_khz(),
        IowaitBoost::Jump if silent => restart(sc, 0, 0),
        IowaitBoost::Frequency => in_frequency(sp, sc, asked, silent),
        // 4.14-4.16 look for the flag where only the shared path puts it.
        IowaitBoost::FrequencyShared => in_frequency(sp, sc, asked && sp.nr_cpus != 1, silent),
        IowaitBoost::FrequencyReset => with_reset(sc, asked, silent, sp.min_khz, sp.hardware_max_khz()),
        IowaitBoost::Capacity => with_reset(sc, asked, silent, BOOST_MIN, SCALE),
        IowaitBoost::Jump => {}
    }
}

/// To 4.18: a request doubles whatever is there; silence counts at other calls only.
fn in_frequency(sp: &SugovPolicy, sc: &mut SugovCpu, asked: bool, silent: bool) {
    match (asked, silent) {
        (true, _) => double(sc, sp.min_khz, sp.hardware_max_khz()),
        (false, true) => restart(sc, 0, 0),
        (false, false) => {}
    }
}

/// From 4.19: silence starts everything over.
fn with_reset(sc: &mut SugovCpu, asked: bool, silent: bool, first: u64, most: u64) {
    match (silent, asked) {
        (true, _) => restart(sc, if asked { first } else { 0 }, asked.into()),
        (false, true) => double(sc, first, most),
        (false, false) => {}
    }
}

/// One doubling between two applications.
fn double(sc: &mut SugovCpu, first: u64, most: u64) {
    if sc.iowait_pending != 0 {
        return;
    }
    sc.iowait_pending = 1;
    sc.iowait_boost = if sc.iowait_boost == 0 { first } else { (2 * sc.iowait_boost).min(most) };
}

/// Is the boost a frequency?
pub fn in_khz(rules: &Rules) -> bool {
    !matches!(rules.iowait_boost, IowaitBoost::Off | IowaitBoost::Capacity)
}

/// An evaluation uses the boost: its value in its own unit, after ageing.
pub fn apply(rules: &Rules, sp: &SugovPolicy, sc: &mut SugovCpu, now: u64, tick_ns: u64) -> u64 {
    if sc.iowait_boost == 0 {
        return 0;
    }
    let boost = sc.iowait_boost;
    match rules.iowait_boost {
        IowaitBoost::Off => 0,
        IowaitBoost::Jump => {
            sc.iowait_boost = boost / 2;
            boost
        }
        IowaitBoost::FrequencyReset | IowaitBoost::Capacity if silent_for_a_tick(sc, now, tick_ns) => {
            restart(sc, 0, 0);
            0
        }
        IowaitBoost::Frequency | IowaitBoost::FrequencyShared | IowaitBoost::FrequencyReset => {
            age(rules, sc, sp.min_khz, now)
        }
        IowaitBoost::Capacity => age(rules, sc, BOOST_MIN, now),
    }
}

/// A boost in capacity units.
pub fn capacity(rules: &Rules, sp: &SugovPolicy, boost: u64, cap_orig: u64) -> u64 {
    match (boost, in_khz(rules)) {
        (0, _) => 0,
        (_, true) => boost * cap_orig / sp.hardware_max_khz(),
        (_, false) => boost * cap_orig / SCALE,
    }
}

/// Halves a boost that was not renewed; below `least` it ends. With consolidated calls not twice within a ms.
fn age(rules: &Rules, sc: &mut SugovCpu, least: u64, now: u64) -> u64 {
    let too_soon = (now.wrapping_sub(sc.iowait_faded_ns) as i64) < 1_000_000;
    if sc.iowait_pending == 0 && !(rules.hook_filter == HookFilter::H3 && too_soon) {
        sc.iowait_faded_ns = now;
        sc.iowait_boost /= 2;
        if sc.iowait_boost < least {
            sc.iowait_boost = 0;
        }
    }
    sc.iowait_pending = 0;
    sc.iowait_boost
}
