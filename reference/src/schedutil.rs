// SPDX-License-Identifier: GPL-2.0-or-later
//! The governor: gate, evaluation, frequency, commit (docs/rules/governor.md).

use crate::gate::{self, Gate as GateState};
use crate::hook;
use crate::iowait;
use crate::perf::{CpuState, Terms, clamp_max, clamped, cpu_util, evaluate, raw_freq_khz};
use crate::rules::{
    DlBypass, DlRule, Headroom, Hold, LimitsUpdate, Numbers, RateLimitDefault, RefFreq, Remote, RtRule, Rules,
    RunnableBoost, StaleCpu, UclampIowait, WhileBusy,
};

/// No frequency is requested.
pub const KHZ_NONE: u64 = 0xffff_ffff;

/// Flags of a hook call; the values of `types.h`.
pub mod hook_flag {
    /// A task that waited for I/O was queued.
    pub const IOWAIT: u64 = 1;
    /// RT runs (4.16 and older).
    pub const RT: u64 = 2;
    /// DL runs (4.16 and older).
    pub const DL: u64 = 4;
    /// Ignore the rate limit and do not restart it.
    pub const FORCE: u64 = 8;
    /// RT or deadline demand changed.
    pub const CLASS: u64 = 16;
    /// Utilization left the CPU.
    pub const DETACH: u64 = 32;
}

/// Verdict of the gate on one hook call; the values of `types.h`.
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
    /// Highest frequency of the hardware, kHz; 0 = `max_khz`.
    pub hw_max_khz: u64,
    /// True when the driver has to be called for every change of limits.
    pub need_update_limits: u64,
    /// Frequency that signals are scaled to, kHz, where the architecture has it; 0 = it has none.
    pub scale_khz: u64,
    /// The gate.
    pub gate: GateState,
}

impl SugovPolicy {
    /// Highest frequency of the hardware, whatever the limits say.
    pub fn hardware_max_khz(&self) -> u64 {
        if self.hw_max_khz == 0 { self.max_khz } else { self.hw_max_khz }
    }
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
    /// Time at which the boost was last halved.
    pub iowait_faded_ns: u64,
    /// Marks of events since the last call; bits of [`crate::hook::mark`].
    pub marks: u64,
    /// Fair utilization of the last evaluation.
    pub util_evaluated: u64,
    /// Frequency of the last evaluation.
    pub khz_evaluated: u64,
    /// Fair utilization passed by the last hook call (to 4.16).
    pub kept_cfs: u64,
    /// RT utilization, likewise.
    pub kept_rt: u64,
    /// DL bandwidth, likewise.
    pub kept_bw: u64,
}

/// Time of one hook call.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Clock of the CPU.
    pub ns: u64,
    /// Length of a tick.
    pub tick_ns: u64,
}

/// Request of a commit to the host; the values of `schedutil.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commit {
    /// No change.
    #[default]
    Nothing = 0,
    /// Program the driver, or wake the worker that does.
    Drive = 1,
    /// The worker is on its way and finds the new value.
    Pending = 2,
}

/// Result of one evaluation; the fields of `schedutil.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Largest request of the domain.
    pub perf: u64,
    /// CPU that made it.
    pub cpu: u64,
    /// A flag asks for the maximum.
    pub forced_max: u64,
    /// Frequency before limits and table.
    pub raw_khz: u64,
    /// Frequency after them.
    pub resolved_khz: u64,
    /// Commit that follows.
    pub commit: u64,
    /// The largest request exactly: `request` of `scale`.
    pub request: u64,
    /// See [`Terms`].
    pub scale: u64,
}

/// Rate limit in us when user space set none.
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

/// Does a rise of the DL reservation ignore the rate limit?
fn dl_override(rules: &Rules, sc: &SugovCpu, bw_dl: u64) -> bool {
    rules.dl_bypass != DlBypass::Off && bw_dl > sc.bw_min
}

/// May a call drive the domain? One from its own CPUs may, another one where driver and release allow it.
fn may_drive(rules: &Rules, sp: &SugovPolicy, local: bool) -> bool {
    let from_outside = match rules.remote {
        Remote::LocalOnly => false,
        Remote::FastOnly => sp.remote_ok != 0 || sp.fast_switch == 0,
        Remote::All => sp.remote_ok != 0,
    };
    local || from_outside
}

fn should_update(rules: &Rules, sp: &mut SugovPolicy, now: Now, local: bool) -> Verdict {
    if !may_drive(rules, sp, local) {
        return Verdict::Remote;
    }
    if sp.work_in_progress != 0 && rules.while_busy == WhileBusy::Refuse {
        return Verdict::Busy;
    }
    if sp.limits_changed != 0 {
        sp.limits_changed = 0;
        match rules.limits_update {
            LimitsUpdate::Forget => sp.next_freq_khz = KHZ_NONE,
            _ => sp.need_update = 1,
        }
        return Verdict::Open;
    }
    let marked = sp.need_update != 0 && rules.limits_update != LimitsUpdate::Repeat;
    if marked || gate::window_open(rules, sp, now.ns) { Verdict::Open } else { Verdict::Window }
}

/// Keeps the utilization that a hook call passes; an evaluation before the next call uses it (to 4.16).
pub fn keep_util(rules: &Rules, sc: &mut SugovCpu, state: &CpuState) {
    if rules.stale_cpu != StaleCpu::Count {
        sc.kept_cfs = cpu_util(rules, state, rules.runnable_boost == RunnableBoost::On);
        (sc.kept_rt, sc.kept_bw) = (state.util_rt, state.bw_dl);
    }
}

/// First part of a hook call: I/O-wait request, DL override, gate.
pub fn begin(
    rules: &Rules,
    sp: &mut SugovPolicy,
    sc: &mut SugovCpu,
    bw_dl: u64,
    now: Now,
    flags: u64,
    local: bool,
) -> Verdict {
    iowait::request(rules, sp, sc, now.ns, now.tick_ns, flags);
    sc.last_update_ns = now.ns;
    sc.flags = flags;
    sp.gate.flags = flags;
    if dl_override(rules, sc, bw_dl) {
        sp.limits_changed = 1;
    }
    should_update(rules, sp, now, local)
}

/// Did the CPU's last hook call carry a flag that means "maximum" (to 4.16)?
fn forced_by_flag(rules: &Rules, sc: &SugovCpu) -> bool {
    let rt = rules.rt_rule == RtRule::FlagMax && sc.flags & hook_flag::RT != 0;
    let dl = rules.dl_rule == DlRule::FlagMax && sc.flags & hook_flag::DL != 0;
    rt || dl
}

/// Signals of a CPU as the governor takes them: its state, or to 4.16 in a shared domain what its last call passed.
fn believed(rules: &Rules, sp: &SugovPolicy, sc: &SugovCpu, state: &CpuState) -> CpuState {
    if rules.stale_cpu == StaleCpu::Count || sp.nr_cpus == 1 {
        return *state;
    }
    let (util_cfs, util_rt, bw_dl) = (sc.kept_cfs, sc.kept_rt, sc.kept_bw);
    CpuState { util_cfs, util_rt, bw_dl, runnable_cfs: 0, util_est: 0, ..*state }
}

/// One CPU's request.
pub fn cpu_request(rules: &Rules, sp: &SugovPolicy, sc: &mut SugovCpu, state: &CpuState, now: Now) -> Terms {
    let silent = now.ns.wrapping_sub(sc.last_update_ns) as i64 > now.tick_ns as i64;
    if rules.stale_cpu != StaleCpu::Count && sp.nr_cpus > 1 && silent {
        (sc.iowait_boost, sc.iowait_pending) = (0, 0);
        (sc.kept_cfs, sc.kept_rt) = (0, 0);
        if rules.stale_cpu == StaleCpu::Skip || sc.kept_bw == 0 {
            return Terms { stale: 1, scale: state.cap_orig, ..Terms::default() };
        }
    }
    let forced = forced_by_flag(rules, sc);
    let boost = if forced { 0 } else { iowait::apply(rules, sp, sc, now.ns, now.tick_ns) };
    let mut in_capacity = iowait::capacity(rules, sp, boost, state.cap_orig);
    if boost > 0 && rules.uclamp_iowait == UclampIowait::On {
        in_capacity = clamped(rules, state, in_capacity);
    }
    let mut terms =
        Terms { forced_max: forced.into(), ..evaluate(rules, &believed(rules, sp, sc, state), in_capacity) };
    let most = sp.hardware_max_khz();
    let in_khz = iowait::in_khz(rules) && rules.headroom == Headroom::Frequency;
    if in_khz && terms.effective * most < boost * state.cap_orig {
        (terms.request, terms.scale) = (boost, most);
    }
    sc.util = terms.perf;
    sc.khz_evaluated = sp.cur_khz;
    sc.util_evaluated = hook::fair_util(rules, state.util_cfs, state.runnable_cfs, state.util_est);
    sc.bw_min = if rules.dl_bypass == DlBypass::Floor { terms.min } else { state.bw_dl };
    terms
}

/// Frequency before limits and table.
pub fn raw_freq(rules: &Rules, sp: &SugovPolicy, perf: u64, cap_orig: u64, forced_max: bool) -> u64 {
    if forced_max {
        return sp.hardware_max_khz();
    }
    let ref_khz = match (rules.ref_freq, sp.scale_khz, sp.freq_invariant) {
        (RefFreq::Capacity, 1.., _) => sp.scale_khz,
        (_, _, 1..) => sp.ref_khz,
        (RefFreq::Capacity, _, _) => sp.cur_khz + sp.cur_khz / 4,
        (RefFreq::Highest, _, _) => sp.cur_khz,
    };
    raw_freq_khz(rules, ref_khz, perf, cap_orig)
}

/// Mark of a table frequency that a faster one makes needless.
pub const INEFFICIENT: u64 = 1 << 31;

/// Limits, then the lowest table frequency that suffices; one that is marked only when the limits leave no other.
pub fn resolve(sp: &SugovPolicy, table_khz: &[u64], raw_khz: u64) -> u64 {
    let wanted = raw_khz.max(sp.min_khz).min(sp.max_khz);
    let is_allowed = |khz: &u64| (sp.min_khz..=sp.max_khz).contains(khz);
    let unmarked: Vec<u64> = table_khz.iter().copied().filter(|khz| khz & INEFFICIENT == 0).collect();
    let sufficient = unmarked.iter().copied().filter(|&khz| khz >= wanted).min();
    if let Some(khz) = sufficient.or(unmarked.iter().copied().max()).filter(is_allowed) {
        return khz;
    }
    let allowed = || table_khz.iter().map(|khz| khz & !INEFFICIENT).filter(is_allowed);
    allowed().filter(|&khz| khz >= wanted).min().or(allowed().max()).unwrap_or(wanted)
}

/// "Do not lower while never idle": reads the counter where the release does.
fn never_idle(rules: &Rules, sp: &SugovPolicy, sc: &mut SugovCpu, state: &CpuState) -> bool {
    let limit = clamp_max(rules, state);
    let capped = limit != 1024 && cpu_util(rules, state, false) + state.util_rt >= limit;
    let reads = match rules.hold {
        Hold::Off => false,
        Hold::DropUnlessNeeded => sp.need_update == 0,
        Hold::RestoreUnlessCapped => !capped,
        Hold::KeepCache | Hold::DropCache | Hold::RestoreCache => true,
    };
    if !reads {
        return false;
    }
    std::mem::replace(&mut sc.saved_idle_calls, state.idle_calls) == state.idle_calls
}

/// The hold filter applied to a frequency.
fn held(rules: &Rules, sp: &mut SugovPolicy, khz: u64, previous_raw: u64) -> Option<u64> {
    let forgotten = sp.next_freq_khz == KHZ_NONE;
    let exempt = match rules.hold {
        Hold::KeepCache => false,
        Hold::RestoreUnlessCapped => forgotten || sp.need_update != 0,
        _ => forgotten,
    };
    if exempt || khz >= sp.next_freq_khz {
        return None;
    }
    match rules.hold {
        Hold::Off | Hold::KeepCache => {}
        Hold::DropCache | Hold::DropUnlessNeeded => sp.cached_raw_khz = 0,
        Hold::RestoreCache | Hold::RestoreUnlessCapped => sp.cached_raw_khz = previous_raw,
    }
    Some(sp.next_freq_khz)
}

/// The request a commit starts from: an unchanged raw request keeps the frequency; a maximum by flag bypasses the
/// cache.
fn requested(sp: &mut SugovPolicy, decision: &Decision) -> u64 {
    if decision.forced_max != 0 {
        return decision.resolved_khz;
    }
    if decision.raw_khz == sp.cached_raw_khz && sp.need_update == 0 && sp.next_freq_khz != KHZ_NONE {
        return sp.next_freq_khz;
    }
    sp.cached_raw_khz = decision.raw_khz;
    decision.resolved_khz
}

/// Is the driver called?
fn accepted(rules: &Rules, sp: &mut SugovPolicy, khz: u64) -> bool {
    let changed = khz != sp.next_freq_khz;
    let marked = std::mem::replace(&mut sp.need_update, 0) != 0;
    match rules.limits_update {
        LimitsUpdate::Repeat if marked => {
            sp.need_update = u64::from(sp.need_update_limits != 0);
            true
        }
        LimitsUpdate::AskDriver if marked => changed || sp.need_update_limits != 0,
        _ => changed,
    }
}

/// Last part of a hook call. `single` is the CPU of a single-CPU policy.
pub fn commit(
    (rules, numbers): (&Rules, &Numbers),
    sp: &mut SugovPolicy,
    single: Option<&mut SugovCpu>,
    state: &CpuState,
    now: u64,
    decision: &Decision,
) -> Commit {
    let previous_raw = sp.cached_raw_khz;
    let want = requested(sp, decision);
    gate::note(rules, sp, now, want);
    let mut khz = want;
    if let Some(sc) = single
        && never_idle(rules, sp, sc, state)
        && decision.forced_max == 0
    {
        khz = held(rules, sp, want, previous_raw).unwrap_or(want);
    }
    let allowed = gate::decide(rules, numbers, sp, now, state.cap_orig, decision.raw_khz, khz);
    if allowed != khz {
        sp.cached_raw_khz = 0;
    }
    let accepted = accepted(rules, sp, allowed);
    gate::evaluated(rules, sp, now, (allowed, want), accepted);
    if !accepted {
        return Commit::Nothing;
    }
    sp.next_freq_khz = allowed;
    drive(sp)
}

/// At once where the driver is fast, else by the worker.
fn drive(sp: &mut SugovPolicy) -> Commit {
    if sp.fast_switch != 0 {
        return Commit::Drive;
    }
    if sp.work_in_progress != 0 {
        return Commit::Pending;
    }
    sp.work_in_progress = 1;
    Commit::Drive
}

/// A whole evaluation for a hook call of CPU `caller` after the gate opened. CPUs
/// are asked until one is forced; a caller that is forced decides alone (to 4.16). The caller goes before its equals.
pub fn evaluate_domain(
    (rules, numbers): (&Rules, &Numbers),
    (sp, caller): (&mut SugovPolicy, usize),
    cpus: &mut [SugovCpu],
    states: &[CpuState],
    terms: &mut [Terms],
    table_khz: &[u64],
    now: Now,
) -> Decision {
    let alone = forced_by_flag(rules, &cpus[caller]);
    let mut forced = None;
    for i in (0..cpus.len()).filter(|&i| !alone || i == caller) {
        if forced.is_some() {
            terms[i].forced_max = 0;
            continue;
        }
        terms[i] = cpu_request(rules, sp, &mut cpus[i], &states[i], now);
        forced = (terms[i].forced_max != 0).then_some(i);
    }
    let more = |a: &Terms, b: &Terms| a.request * b.scale > b.request * a.scale;
    let largest = (0..cpus.len()).fold(caller, |best, i| if more(&terms[i], &terms[best]) { i } else { best });
    let chosen = forced.unwrap_or(largest);
    let t = &terms[chosen];
    let (perf, request, scale) = (t.perf, t.request, t.scale);
    let (cpu, forced_max) = (chosen as u64, forced.is_some().into());
    let mut decision = Decision { perf, cpu, request, scale, forced_max, ..Decision::default() };
    decision.raw_khz = raw_freq(rules, sp, decision.request, decision.scale, decision.forced_max != 0);
    decision.resolved_khz = resolve(sp, table_khz, decision.raw_khz);
    let single = if sp.nr_cpus == 1 { cpus.first_mut() } else { None };
    decision.commit = commit((rules, numbers), sp, single, &states[caller], now.ns, &decision) as u64;
    decision
}

/// End of an evaluation for a driver that takes performance; returns what it is given.
pub fn commit_perf(
    rules: &Rules,
    sp: &mut SugovPolicy,
    sc: &mut SugovCpu,
    state: &CpuState,
    now: u64,
    previous: u64,
    target: u64,
) -> u64 {
    let held = never_idle(rules, sp, sc, state) && target < previous;
    sc.util = if held { previous } else { target };
    sp.need_update = 0;
    sp.last_ns = now;
    sc.util
}

/// New limits: the next hook call evaluates whatever the window says.
pub fn set_limits(sp: &mut SugovPolicy, min_khz: u64, max_khz: u64) {
    (sp.min_khz, sp.max_khz) = (min_khz, max_khz);
    sp.limits_changed = 1;
}

/// The slow path starts to run: what it must set. Since 4.18 it may be woken again from here on.
pub fn work_start(rules: &Rules, sp: &mut SugovPolicy) -> u64 {
    if rules.while_busy == WhileBusy::Overwrite {
        sp.work_in_progress = 0;
    }
    sp.next_freq_khz
}

/// The driver returned; to 4.17 evaluations were refused until here.
pub fn work_done(rules: &Rules, sp: &mut SugovPolicy) {
    if rules.while_busy == WhileBusy::Refuse {
        sp.work_in_progress = 0;
    }
}
