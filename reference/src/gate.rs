// SPDX-License-Identifier: GPL-2.0-or-later
//! Moments at which the governor may act (docs/rules/governor.md#when-an-evaluation-is-allowed).

use crate::rules::{FROM_PLATFORM, Gate as GateRule, GateAsymmetry, GateBypass, GatePeak, Numbers, Rules};
use crate::schedutil::{KHZ_NONE, SugovPolicy, hook_flag};

/// Gate of one frequency domain; the fields of `types.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Window of the maximum, longest spacing, or limit of increases.
    pub window_ns: u64,
    /// Spacing of increases, shortest spacing, or limit of decreases.
    pub spacing_ns: u64,
    /// Start of the filling half window.
    pub half_ns: u64,
    /// Time from which a held correction may pass.
    pub until_ns: u64,
    /// Maxima of the filling half and the two before.
    pub peak_khz: [u64; 3],
    /// Largest of them.
    pub maximum_khz: u64,
    /// Distance of need and request.
    pub error: u64,
    /// Flags of the call.
    pub flags: u64,
    /// Verdict of the last evaluation.
    pub verdict: u64,
    /// Length of half a window.
    pub half_length_ns: u64,
}

/// Verdicts of an evaluation, the values of `types.h`.
mod verdict {
    pub const OPEN: u64 = 0;
    pub const HELD: u64 = 4;
    pub const PEAK: u64 = 5;
    pub const DEAD: u64 = 6;
}

/// Cost of a transition.
pub fn cost_ns(fast_switch: bool, driver_ns: u64, context_switch_ns: u64) -> u64 {
    let switches = if fast_switch { 0 } else { 2 };
    (driver_ns + switches * context_switch_ns).min(FROM_PLATFORM - 1)
}

fn in_ns(parameter_us: u64, platform_ns: u64) -> u64 {
    if parameter_us == FROM_PLATFORM { platform_ns } else { parameter_us * 1000 }
}

/// Windows worked out at the start.
pub fn init(rules: &Rules, numbers: &Numbers, rate_limit_ns: u64, platform_cost_ns: u64) -> Gate {
    let cost = if numbers.gate_cost_ns == FROM_PLATFORM { platform_cost_ns } else { numbers.gate_cost_ns };
    let limited = |ns: u64| ns.max(numbers.gate_window_min_us * 1000).min(numbers.gate_window_max_us * 1000);
    let (full, quarter) = (limited(cost * numbers.gate_kappa), limited(cost * numbers.gate_kappa / 4));
    let (window_ns, spacing_ns) = match rules.gate {
        GateRule::R2Linear | GateRule::R2Hyperbolic => {
            let shortest = in_ns(numbers.gate_spacing_min_us, quarter);
            (in_ns(numbers.gate_spacing_max_us, rate_limit_ns).max(shortest), shortest)
        }
        GateRule::UpDown => {
            (in_ns(numbers.up_rate_limit_us, rate_limit_ns), in_ns(numbers.down_rate_limit_us, rate_limit_ns))
        }
        _ => (full, quarter),
    };
    Gate { window_ns, spacing_ns, half_length_ns: full / 2, ..Gate::default() }
}

fn since(now: u64, then: u64) -> i64 {
    now.wrapping_sub(then) as i64
}

fn class_may_pass(rules: &Rules, sp: &SugovPolicy) -> bool {
    rules.gate_bypass != GateBypass::Off && sp.gate.flags & hook_flag::CLASS != 0
}

fn is_r0(rules: &Rules) -> bool {
    matches!(rules.gate, GateRule::R0a | GateRule::R0b)
}

/// Is an evaluation worth its time?
pub fn window_open(rules: &Rules, sp: &SugovPolicy, now: u64) -> bool {
    let window = match rules.gate {
        GateRule::R0a | GateRule::R0b => sp.rate_limit_ns,
        GateRule::UpDown => sp.gate.window_ns.min(sp.gate.spacing_ns),
        _ => 0,
    };
    let forced = sp.gate.flags & hook_flag::FORCE != 0;
    forced || class_may_pass(rules, sp) || window == 0 || since(now, sp.last_ns) >= window as i64
}

fn slides(rules: &Rules) -> bool {
    rules.gate_peak == GatePeak::On || matches!(rules.gate, GateRule::R1Sliding | GateRule::R1Asym)
}

/// The maximum learns what is wanted now.
pub fn note(rules: &Rules, sp: &mut SugovPolicy, now: u64, want: u64) {
    let trailing = rules.gate == GateRule::R1Trailing;
    let gate = &mut sp.gate;
    if !trailing && !slides(rules) {
        return;
    }
    if gate.flags & hook_flag::DETACH != 0 {
        (gate.peak_khz, gate.half_ns) = ([0; 3], now);
    } else if !trailing {
        let halves = halves_passed(gate, now);
        for _ in 0..halves.min(3) {
            gate.peak_khz = [0, gate.peak_khz[0], gate.peak_khz[1]];
        }
        gate.half_ns = if halves >= 3 { now } else { gate.half_ns + halves * gate.half_length_ns };
    }
    gate.peak_khz[0] = gate.peak_khz[0].max(want);
    gate.maximum_khz = gate.peak_khz.into_iter().max().unwrap_or(0);
}

fn halves_passed(gate: &Gate, now: u64) -> u64 {
    let passed = since(now, gate.half_ns);
    match (passed < 0, gate.half_length_ns) {
        (true, _) => 0,
        (false, 0) => 3,
        (false, length) => passed as u64 / length,
    }
}

fn target(rules: &Rules, sp: &SugovPolicy, want: u64) -> u64 {
    let most = sp.gate.maximum_khz.min(sp.max_khz).max(want);
    match rules.gate {
        GateRule::R1Trailing | GateRule::R1Sliding => most,
        _ if slides(rules) && want < sp.next_freq_khz => most.min(sp.next_freq_khz),
        _ => want,
    }
}

/// D(e).
fn error_spacing(rules: &Rules, numbers: &Numbers, gate: &Gate) -> u64 {
    let (shortest, longest, e) = (u128::from(gate.spacing_ns), u128::from(gate.window_ns), u128::from(gate.error));
    let (low, high) = (u128::from(numbers.gate_error_low), u128::from(numbers.gate_error_high));
    let ns = match rules.gate {
        GateRule::R2Hyperbolic if e == 0 => longest,
        GateRule::R2Hyperbolic => (longest * 32 / e).max(shortest).min(longest),
        _ if e >= high => shortest,
        _ if e <= low => longest,
        _ => longest - (longest - shortest) * (e - low) / (high - low),
    };
    ns as u64
}

fn spacing(rules: &Rules, numbers: &Numbers, sp: &SugovPolicy, raises: bool) -> u64 {
    match rules.gate {
        GateRule::R0a | GateRule::R0b => sp.rate_limit_ns,
        GateRule::R1Trailing | GateRule::R1Sliding => sp.gate.window_ns,
        GateRule::R1Asym => sp.gate.spacing_ns,
        GateRule::UpDown if raises => sp.gate.window_ns,
        GateRule::UpDown => sp.gate.spacing_ns,
        _ if raises && rules.gate_asymmetry == GateAsymmetry::Falls => 0,
        _ if !raises && rules.gate_asymmetry == GateAsymmetry::On => 2 * error_spacing(rules, numbers, &sp.gate),
        _ => error_spacing(rules, numbers, &sp.gate),
    }
}

/// Frequency that may be requested now for a need of `raw` and a wish of `want`.
pub fn decide(rules: &Rules, numbers: &Numbers, sp: &mut SugovPolicy, now: u64, cap: u64, raw: u64, want: u64) -> u64 {
    let cur = sp.next_freq_khz;
    let forgotten = cur == KHZ_NONE;
    let urgent = forgotten || sp.need_update != 0 || sp.gate.flags & hook_flag::FORCE != 0;
    let passes = class_may_pass(rules, sp) && want > cur;
    let plain = passes || (urgent && rules.gate == GateRule::R1Trailing);
    let wished = if plain { want } else { target(rules, sp, want) };
    let error = u128::from(raw.abs_diff(cur)) * u128::from(cap) / u128::from(sp.ref_khz.max(1));
    sp.gate.error = if forgotten { 0 } else { error.min(u128::from(u32::MAX)) as u64 };
    sp.gate.until_ns = 0;
    sp.gate.verdict = if wished == cur && want != cur { verdict::PEAK } else { verdict::OPEN };
    if wished == cur || urgent || passes || (is_r0(rules) && !class_may_pass(rules, sp)) {
        return wished;
    }
    let by_error = matches!(rules.gate, GateRule::R2Linear | GateRule::R2Hyperbolic);
    let waits = wished < cur || rules.gate_asymmetry != GateAsymmetry::Falls;
    if by_error && waits && sp.gate.error < numbers.gate_error_low {
        sp.gate.verdict = verdict::DEAD;
        return cur;
    }
    let wait = spacing(rules, numbers, sp, wished > cur);
    if since(now, sp.last_ns) >= wait as i64 {
        return wished;
    }
    sp.gate.verdict = verdict::HELD;
    sp.gate.until_ns = sp.last_ns.wrapping_add(wait);
    cur
}

/// An evaluation ended with `khz`: does the window restart?
pub fn evaluated(rules: &Rules, sp: &mut SugovPolicy, now: u64, (khz, want): (u64, u64), changed: bool) {
    let class = sp.gate.flags & hook_flag::CLASS != 0 && rules.gate_bypass == GateBypass::R3b;
    let forced = sp.gate.flags & hook_flag::FORCE != 0;
    if forced || sp.gate.verdict == verdict::HELD || (class && khz > sp.next_freq_khz) {
        return;
    }
    let over = rules.gate == GateRule::R1Trailing && since(now, sp.last_ns) >= sp.gate.window_ns as i64;
    if rules.gate == GateRule::R1Trailing && (changed || over) {
        sp.gate.peak_khz[0] = want;
    }
    if changed || over || rules.gate == GateRule::R0a {
        sp.last_ns = now;
    }
}
