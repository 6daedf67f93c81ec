// SPDX-License-Identifier: GPL-2.0-only
//! Boost of CPUs whose tasks wait for I/O (SPEC B.7).

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
        IowaitBoost::Frequency if asked => double(sc, sp.min_khz, sp.hardware_max_khz()),
        IowaitBoost::Frequency if silent => restart(sc, 0, 0),
        IowaitBoost::Capacity if silent => restart(sc, if asked { BOOST_MIN } else { 0 }, asked.into()),
        IowaitBoost::Capacity if asked => double(sc, BOOST_MIN, SCALE),
        _ => {}
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

/// An evaluation uses the boost: its value in capacity units, after ageing.
pub fn apply(rules: &Rules, sp: &SugovPolicy, sc: &mut SugovCpu, cap_orig: u64, now: u64, tick_ns: u64) -> u64 {
    if sc.iowait_boost == 0 {
        return 0;
    }
    match rules.iowait_boost {
        IowaitBoost::Off => 0,
        IowaitBoost::Jump => {
            let boost = sc.iowait_boost;
            sc.iowait_boost /= 2;
            boost * cap_orig / sp.hardware_max_khz()
        }
        IowaitBoost::Frequency => age(rules, sc, sp.min_khz, now) * cap_orig / sp.hardware_max_khz(),
        IowaitBoost::Capacity if silent_for_a_tick(sc, now, tick_ns) => {
            restart(sc, 0, 0);
            0
        }
        IowaitBoost::Capacity => age(rules, sc, BOOST_MIN, now) * cap_orig / SCALE,
    }
}

/// Halves a boost nobody renewed; below `least` it ends. With consolidated calls not twice within a ms (C.6).
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
