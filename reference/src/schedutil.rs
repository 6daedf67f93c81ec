// SPDX-License-Identifier: GPL-2.0-only
//! The governor: gate, evaluation, frequency, commit (SPEC B.1-B.12).

use crate::iowait;
use crate::perf::{CpuState, effective, forced_max, perf_target, raw_freq_khz};
use crate::rules::{
    DlBypass, DlRule, Gate, Headroom, Hold, PerfForm, RateLimitDefault, RtRule, Rules, StaleCpu, WhileBusy,
};

/// Flags of a hook call; the values of `types.h`.
pub mod hook_flag {
    /// A task that waited for I/O was queued.
    pub const IOWAIT: u64 = 1;
    /// RT runs (4.16 and older).
    pub const RT: u64 = 2;
    /// DL runs (4.16 and older).
    pub const DL: u64 = 4;
}

/// What the gate says to one hook call; the values of `types.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Evaluate now.
    Open = 0,
    /// Inside the rate-limit window.
    Window = 1,
    /// The slow path is pending and this kernel refuses meanwhile.
    Busy = 2,
    /// The executing CPU may not drive this domain.
    Remote = 3,
}

/// Governor state of one frequency domain; the fields of `types.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SugovPolicy {
    /// Last accepted change, or last evaluation (R0a).
    pub last_ns: u64,
    /// Rate limit.
    pub rate_limit_ns: u64,
    /// Frequency requested last.
    pub next_freq_khz: u64,
    /// Request before resolving; equal requests are not resolved again.
    pub cached_raw_khz: u64,
    /// The slow path is pending.
    pub work_in_progress: u64,
    /// Policy limits changed.
    pub limits_changed: u64,
    /// The next evaluation must act.
    pub need_update: u64,
    /// CPUs of the domain.
    pub nr_cpus: u64,
    /// Lower policy limit.
    pub min_khz: u64,
    /// Upper policy limit.
    pub max_khz: u64,
    /// Frequency at which `cap_orig` holds.
    pub ref_khz: u64,
    /// Present frequency.
    pub cur_khz: u64,
    /// The driver can be called from scheduler context.
    pub fast_switch: u64,
    /// The driver can be programmed from any CPU.
    pub remote_ok: u64,
    /// The architecture reports frequency scale.
    pub freq_invariant: u64,
}

/// Governor state of one CPU; the fields of `types.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SugovCpu {
    /// Time of the last hook call.
    pub last_update_ns: u64,
    /// Idle entries at the last hold decision.
    pub saved_idle_calls: u64,
    /// Boost: capacity units, or kHz before 5.1.
    pub iowait_boost: u64,
    /// A request came since the last application.
    pub iowait_pending: u64,
    /// Performance of the last evaluation.
    pub util: u64,
    /// DL floor or bandwidth of the last evaluation.
    pub bw_min: u64,
    /// Flags of the last hook call.
    pub flags: u64,
}

/// Time of one hook call.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Clock of the CPU.
    pub ns: u64,
    /// Length of a tick.
    pub tick_ns: u64,
}

/// One CPU's part in an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuRequest {
    /// Performance target.
    pub perf: u64,
    /// The rule for RT or DL asks for the maximum.
    pub forced_max: bool,
    /// Skipped: silent for more than a tick.
    pub stale: bool,
}

/// Rate limit in us when user space set none (B.11).
pub fn default_rate_limit_us(rules: &Rules, latency_ns: u64, transition_delay_us: u64) -> u64 {
    if transition_delay_us != 0 {
        return transition_delay_us;
    }
    let latency_us = latency_ns / 1000;
    if latency_us == 0 {
        return 1000;
    }
    match rules.rate_limit_default {
        RateLimitDefault::LatencyX1000 => latency_us * 1000,
        RateLimitDefault::Capped10ms => (latency_us * 1000).min(10_000),
        RateLimitDefault::Capped2ms => (latency_us * 1000).min(2_000),
        RateLimitDefault::OneAndHalf => latency_us + latency_us / 2,
    }
}

/// Does a rise of the DL reservation ignore the rate limit (B.8)?
fn dl_override(rules: &Rules, sc: &SugovCpu, state: &CpuState) -> bool {
    rules.dl_bypass != DlBypass::Off && state.bw_dl > sc.bw_min
}

fn should_update(rules: &Rules, sp: &mut SugovPolicy, now: Now, local: bool) -> Verdict {
    if !local && sp.remote_ok == 0 {
        return Verdict::Remote;
    }
    if sp.work_in_progress != 0 && rules.while_busy == WhileBusy::Refuse {
        return Verdict::Busy;
    }
    if sp.limits_changed != 0 {
        sp.limits_changed = 0;
        sp.need_update = 1;
    }
    let due = now.ns.wrapping_sub(sp.last_ns) as i64 >= sp.rate_limit_ns as i64;
    if sp.need_update != 0 || due { Verdict::Open } else { Verdict::Window }
}

/// First part of a hook call: I/O-wait request, DL override, gate (B.2, B.3).
pub fn begin(
    rules: &Rules,
    sp: &mut SugovPolicy,
    sc: &mut SugovCpu,
    state: &CpuState,
    now: Now,
    flags: u64,
    local: bool,
) -> Verdict {
    iowait::request(rules, sp, sc, now.ns, now.tick_ns, flags);
    sc.last_update_ns = now.ns;
    sc.flags = flags;
    if dl_override(rules, sc, state) {
        sp.limits_changed = 1;
    }
    should_update(rules, sp, now, local)
}

/// One CPU's request (B.2.1 step 4, B.12).
pub fn cpu_request(rules: &Rules, sp: &SugovPolicy, sc: &mut SugovCpu, state: &CpuState, now: Now) -> CpuRequest {
    let silent = now.ns.wrapping_sub(sc.last_update_ns) as i64 > now.tick_ns as i64;
    if rules.stale_cpu == StaleCpu::Skip && silent {
        sc.iowait_boost = 0;
        sc.iowait_pending = 0;
        return CpuRequest { stale: true, ..CpuRequest::default() };
    }
    let forced = forced_max(rules, state, sc.flags);
    let boost = iowait::apply(rules, sp, sc, state.cap_orig, now.ns, now.tick_ns);
    let mut effective = effective(rules, state, forced);
    effective.util = effective.util.max(boost);
    sc.util = perf_target(rules, effective);
    sc.bw_min = match rules.dl_bypass {
        DlBypass::Off => 0,
        DlBypass::Bandwidth => state.bw_dl,
        DlBypass::Floor => effective.min,
    };
    CpuRequest { perf: sc.util, forced_max: forced, stale: false }
}

/// Frequency before limits and table (B.6); the flag rules of old kernels name the policy's maximum.
pub fn raw_freq(rules: &Rules, sp: &SugovPolicy, perf: u64, cap_orig: u64, forced: bool) -> u64 {
    let by_flag = rules.rt_rule == RtRule::FlagMax || rules.dl_rule == DlRule::FlagMax;
    if forced && (by_flag || rules.perf_form == PerfForm::Flags) {
        return sp.max_khz;
    }
    if sp.freq_invariant != 0 {
        return raw_freq_khz(rules, sp.ref_khz, perf, cap_orig);
    }
    let ref_khz = match rules.headroom {
        Headroom::BeforeClamps => sp.cur_khz + sp.cur_khz / 4,
        _ => sp.cur_khz,
    };
    raw_freq_khz(rules, ref_khz, perf, cap_orig)
}

/// Limits, then the lowest table frequency that suffices (B.6).
pub fn resolve(sp: &SugovPolicy, table_khz: &[u64], raw_khz: u64) -> u64 {
    let wanted = raw_khz.max(sp.min_khz).min(sp.max_khz);
    let allowed = || table_khz.iter().copied().filter(|khz| (sp.min_khz..=sp.max_khz).contains(khz));
    allowed().filter(|&khz| khz >= wanted).min().or(allowed().max()).unwrap_or(wanted)
}

/// "Do not lower while never idle" (B.9).
fn hold(rules: &Rules, sc: &mut SugovCpu, state: &CpuState) -> bool {
    let capped = state.uclamp_max != 1024 && state.uclamp_used != 0 && state.util_cfs >= state.uclamp_max;
    if rules.hold == Hold::Off || (rules.hold == Hold::RestoreUnlessCapped && capped) {
        return false;
    }
    let never_idle = state.idle_calls == sc.saved_idle_calls;
    sc.saved_idle_calls = state.idle_calls;
    never_idle
}

/// Last part of a hook call (B.2, B.3). `single` is the CPU of a single-CPU policy. True: the driver must act.
pub fn commit(
    rules: &Rules,
    sp: &mut SugovPolicy,
    single: Option<&mut SugovCpu>,
    state: &CpuState,
    now: u64,
    raw_khz: u64,
    resolved_khz: u64,
) -> bool {
    let previous_raw = sp.cached_raw_khz;
    let mut khz = if raw_khz == sp.cached_raw_khz && sp.need_update == 0 { sp.next_freq_khz } else { resolved_khz };
    sp.cached_raw_khz = raw_khz;
    if let Some(sc) = single
        && hold(rules, sc, state)
        && khz < sp.next_freq_khz
        && sp.need_update == 0
    {
        khz = sp.next_freq_khz;
        sp.cached_raw_khz = if rules.hold == Hold::DropCache { 0 } else { previous_raw };
    }
    if rules.gate == Gate::R0a {
        sp.last_ns = now;
    }
    sp.need_update = 0;
    if khz == sp.next_freq_khz {
        return false;
    }
    sp.next_freq_khz = khz;
    sp.last_ns = now;
    if sp.fast_switch == 0 {
        sp.work_in_progress = 1;
    }
    true
}

/// The slow path starts to run: what it must set.
pub fn work_start(sp: &mut SugovPolicy) -> u64 {
    sp.work_in_progress = 0;
    sp.next_freq_khz
}
