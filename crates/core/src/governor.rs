// SPDX-License-Identifier: GPL-2.0-or-later
//! Performance target and schedutil. Each method is the C function of the same name.

use crate::count;
use crate::policy::Policy;
use crate::sys::{self, CpuState, Decision, PerfTerms, Rq, SugovCpu, SugovPolicy};
pub use crate::sys::{
    KHZ_INEFFICIENT, KHZ_NONE, NO_LARGEST, apply_headroom, default_rate_limit_us, perf_clamped, scale_irq,
};

impl CpuState {
    /// Signals of a CPU as inputs of an evaluation; no clamp is in force.
    #[inline]
    #[must_use]
    pub fn fill(rq: &Rq, bw_dl: u32, rt_nr_running: u32, idle_calls: u64) -> Self {
        let mut state = Self::default();
        state.refill(rq, bw_dl, rt_nr_running, idle_calls);
        state
    }

    /// Fills a record that is there already as [`CpuState::fill`] makes a new one.
    #[inline]
    pub fn refill(&mut self, rq: &Rq, bw_dl: u32, rt_nr_running: u32, idle_calls: u64) {
        sys::cpu_state_fill(rq, bw_dl, rt_nr_running, idle_calls, self);
    }

    /// Utilization of the fair class; `boost` = waiting tasks count as demand.
    #[inline]
    #[must_use]
    pub fn cpu_util(&self, pol: &Policy, boost: bool) -> u32 {
        sys::cpu_util(pol, self, u32::from(boost))
    }

    /// Is the CPU so busy that the idle governor teo of 6.6 takes a shallower state?
    #[inline]
    #[must_use]
    pub fn is_utilized(&self, pol: &Policy) -> bool {
        sys::is_utilized(pol, self) != 0
    }

    /// Effective utilization, with its terms.
    #[inline]
    #[must_use]
    pub fn effective_util(&self, pol: &Policy) -> (u32, PerfTerms) {
        let mut terms = PerfTerms::default();
        (sys::effective_cpu_util(pol, self, &mut terms), terms)
    }

    /// Performance target, with all terms; `iowait` in capacity units.
    #[inline]
    #[must_use]
    pub fn perf_eval(&self, pol: &Policy, iowait: u32) -> PerfTerms {
        let mut terms = PerfTerms::default();
        sys::perf_eval(pol, self, iowait, &mut terms);
        terms
    }
}

/// Words for what the fair term of a request is, by [`CpuState::fair_why`].
pub const FAIR_WHY: [&str; 4] = ["util_avg", "runnable_avg", "util_est", "no fair task"];

/// Words for what the sum of a request is, by [`CpuState::sum_why`]; 0: the terms as they were added.
pub const SUM_WHY: [&str; 7] =
    ["terms", "capacity", "RT task", "interrupts", "uclamp_min", "uclamp_max", "deadline floor"];

/// Words for what a CPU asks for, by [`CpuState::asks_why`]; 0: the sum.
pub const ASKS_WHY: [&str; 9] = [
    "sum",
    "iowait boost",
    "uclamp_min",
    "uclamp_max",
    "capacity",
    "RT task",
    "deadline floor",
    "interrupts",
    "flag of the call",
];

/// The terms that decided a request which was made of these signals.
impl CpuState {
    /// Signal that is the fair term, an index of [`FAIR_WHY`].
    #[must_use]
    pub fn fair_why(&self, pol: &Policy) -> u32 {
        sys::fair_why(pol, self)
    }

    /// Term that decides the sum, an index of [`SUM_WHY`].
    #[must_use]
    pub fn sum_why(&self, pol: &Policy, terms: &PerfTerms) -> u32 {
        sys::sum_why(pol, self, terms)
    }

    /// Term that decides what the CPU asks for, an index of [`ASKS_WHY`].
    #[must_use]
    pub fn asks_why(&self, pol: &Policy, terms: &PerfTerms) -> u32 {
        sys::asks_why(pol, self, terms)
    }

    /// Fair and real-time utilization, within the clamps where those are inside of the sum (5.3 to 6.7).
    #[must_use]
    pub fn fair_rt_within(&self, pol: &Policy, terms: &PerfTerms) -> u32 {
        sys::fair_rt_within(pol, self, terms)
    }
}

impl SugovCpu {
    /// A hook call, before the gate: to 4.16 a shared domain keeps what each CPU asks for until its next call.
    #[inline]
    pub fn keep_util(&mut self, pol: &Policy, s: &CpuState) {
        sys::sugov_keep_util(pol, self, s);
    }
}

impl SugovPolicy {
    /// Start governing; limits, reference and driver properties are filled in already.
    pub fn init(&mut self, pol: &Policy, rate_limit_us: u32) {
        sys::sugov_init(pol, self, rate_limit_us);
    }

    /// Works out the windows of the gate, after [`SugovPolicy::init`]. `switch_time_ns`: what the driver takes.
    pub fn init_gate(&mut self, pol: &Policy, switch_time_ns: u64, context_switch_ns: u64) {
        let cost = sys::gate_cost_ns(self.fast_switch, switch_time_ns, context_switch_ns);
        sys::gate_init(pol, self, cost);
    }

    /// The shortest time that the gate ever lets pass between two changes, ns.
    #[must_use]
    pub fn least_spacing_ns(&self, pol: &Policy) -> u64 {
        sys::gate_least_spacing(pol, self)
    }

    /// From when an unforced change may pass, ns by the hook clock.
    #[must_use]
    pub fn next_allowed_ns(&self, pol: &Policy) -> u64 {
        sys::gate_next_allowed_ns(pol, self)
    }

    /// New limits: re-evaluate at the next hook, whatever the window says.
    pub fn limits(&mut self, min_khz: u32, max_khz: u32) {
        sys::sugov_limits(self, min_khz, max_khz);
    }

    /// A hook call for the CPU of `sc`; a value of [`crate::verdict`]. `local` = the executing CPU belongs to the
    /// domain.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub fn begin(
        &mut self,
        pol: &Policy,
        sc: &mut SugovCpu,
        bw_dl: u32,
        now: u64,
        tick_ns: u64,
        flags: u32,
        local: bool,
    ) -> u32 {
        sys::sugov_begin(pol, self, sc, bw_dl, now, tick_ns, flags, u32::from(local))
    }

    /// The governor knows of a CPU what its last call passed (to 4.16, in a domain of several CPUs).
    #[must_use]
    pub fn knows_last_call(&self, pol: &Policy) -> bool {
        sys::sugov_knows_last_call(pol, self) != 0
    }

    /// Inputs that the request of a CPU with these signals is made of.
    #[must_use]
    pub fn known(&self, pol: &Policy, sc: &SugovCpu, s: &CpuState) -> CpuState {
        let mut known = CpuState::default();
        sys::sugov_known(pol, self, sc, s, &mut known);
        known
    }

    /// The request of one CPU of the domain: performance target and terms.
    #[inline]
    pub fn cpu(&self, pol: &Policy, sc: &mut SugovCpu, s: &CpuState, now: u64, tick_ns: u64) -> (u32, PerfTerms) {
        let mut terms = PerfTerms::default();
        let perf = sys::sugov_cpu(pol, self, sc, s, now, tick_ns, &mut terms);
        (perf, terms)
    }

    /// The request of CPU `i` of the domain into those that are kept; nothing without a place for it. Returns the first
    /// CPU with the largest request, which was `first`; [`NO_LARGEST`] = not known.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub fn ask_again(
        &self,
        pol: &Policy,
        sc: &mut SugovCpu,
        s: &CpuState,
        now: u64,
        tick_ns: u64,
        terms: &mut [PerfTerms],
        (i, first): (u32, u32),
    ) -> u32 {
        let there = terms.len().min(u32::MAX as usize) as u32;
        if i >= there || (first != NO_LARGEST && first >= there) {
            return NO_LARGEST;
        }
        // SAFETY: there are more than `i` requests, and more than `first` when that is one.
        unsafe { sys::sugov_ask_again(pol, self, sc, s, now, tick_ns, terms.as_mut_ptr(), i, first) }
    }

    /// Is a boost for I/O a frequency, kHz (to 5.0)? Later it is in units of capacity.
    #[must_use]
    pub fn boosts_in_khz(pol: &Policy) -> bool {
        sys::iowait_is_khz(pol) != 0
    }

    /// Frequency for a performance target, before limits and table.
    #[inline]
    #[must_use]
    pub fn raw_freq(&self, pol: &Policy, perf: u32, cap_orig: u32, forced_max: bool) -> u32 {
        sys::sugov_raw_freq(pol, self, perf, cap_orig, u32::from(forced_max))
    }

    /// Lowest frequency of the ascending table at or above `raw`, within the limits.
    #[inline]
    #[must_use]
    pub fn resolve(&self, khz: &[u32], raw: u32) -> u32 {
        // SAFETY: the length is that of `khz`.
        unsafe { sys::sugov_resolve(self, khz.as_ptr(), count(khz), raw) }
    }

    /// End of an evaluation; a value of [`crate::commit`]. `sc` is the only CPU of the domain, `None` for a shared
    /// domain.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub fn commit(
        &mut self,
        pol: &Policy,
        sc: Option<&mut SugovCpu>,
        s: &CpuState,
        now: u64,
        raw: u32,
        resolved: u32,
        forced_max: bool,
    ) -> u32 {
        sys::sugov_commit(pol, self, sc, s, now, raw, resolved, u32::from(forced_max))
    }

    /// End of an evaluation for a driver that takes performance; the target to hand over.
    #[inline]
    pub fn commit_perf(
        &mut self,
        pol: &Policy,
        sc: &mut SugovCpu,
        s: &CpuState,
        now: u64,
        previous: u32,
        target: u32,
    ) -> u32 {
        sys::sugov_commit_perf(pol, self, sc, s, now, previous, target)
    }

    /// The slow-path worker runs: the frequency it must set, kHz.
    #[inline]
    pub fn work_start(&mut self, pol: &Policy) -> u32 {
        sys::sugov_work_start(pol, self)
    }

    /// The driver returned to the worker: to 4.17 evaluations were refused until here.
    #[inline]
    pub fn work_done(&mut self, pol: &Policy) {
        sys::sugov_work_done(pol, self);
    }

    /// Frequency requested last; 0 when there is none, or it was forgotten.
    #[must_use]
    pub fn requested_khz(&self) -> u32 {
        if self.next_freq_khz == KHZ_NONE { 0 } else { self.next_freq_khz }
    }

    /// Need of the domain by the requests of its CPUs, one entry each; `caller` goes before its equals. `first`: the
    /// first CPU with the largest request, or [`NO_LARGEST`]. Nothing when there is no such CPU.
    #[inline]
    #[must_use]
    pub fn need(&self, pol: &Policy, terms: &[PerfTerms], (caller, first): (u32, u32), khz: &[u32]) -> Decision {
        let mut out = Decision::default();
        let (Ok(n), Ok(opps)) = (u32::try_from(terms.len()), u32::try_from(khz.len())) else { return out };
        if caller < n {
            // SAFETY: both lengths are those of the slices, and the caller has one of the requests.
            unsafe { sys::sugov_need(pol, self, terms.as_ptr(), n, caller, first, khz.as_ptr(), opps, &mut out) };
        }
        out
    }

    /// An evaluation once the request of every CPU is known; `sc` and `s` belong to `caller`. Nothing happens unless
    /// there are `nr_cpus` requests and the caller's is one of them. `first`: the first CPU with the largest request,
    /// or [`NO_LARGEST`].
    #[inline]
    pub fn decide(
        &mut self,
        pol: &Policy,
        (caller, sc, s): (u32, &mut SugovCpu, &CpuState),
        now: u64,
        (terms, first): (&[PerfTerms], u32),
        khz: &[u32],
    ) -> Decision {
        let mut out = Decision::default();
        let Ok(opps) = u32::try_from(khz.len()) else { return out };
        if caller < self.nr_cpus && self.nr_cpus as usize <= terms.len() {
            let (t, khz) = (terms.as_ptr(), khz.as_ptr());
            // SAFETY: there are `nr_cpus` requests, the caller's among them, and `opps` frequencies.
            unsafe { sys::sugov_decide(pol, self, sc, s, now, t, caller, first, khz, opps, &mut out) };
        }
        out
    }

    /// Requests of the CPUs of the domain at a hook call of `caller`, `None` for one that just looks: all in order, up
    /// to one that forces the maximum. Nothing happens unless all three slices have `nr_cpus` entries.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub fn ask_all(
        &self,
        pol: &Policy,
        caller: Option<u32>,
        sc: &mut [SugovCpu],
        states: &[CpuState],
        now: u64,
        tick_ns: u64,
        terms: &mut [PerfTerms],
    ) {
        let (there, n) = (sc.len().min(states.len()).min(terms.len()), self.nr_cpus as usize);
        if n == 0 || there < n {
            return;
        }
        let (caller, t) = (caller.unwrap_or(self.nr_cpus), terms.as_mut_ptr());
        // SAFETY: all three slices have at least `nr_cpus` >= 1 entries.
        unsafe { sys::sugov_ask(pol, self, sc.as_mut_ptr(), states.as_ptr(), caller, now, tick_ns, t) };
    }

    /// A whole evaluation for a hook call of `caller` after the gate opened: all CPUs of the domain, mapping, commit.
    /// The slices have `nr_cpus` entries; shorter ones limit the domain to what is there, and without the caller
    /// nothing happens.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub fn evaluate(
        &mut self,
        pol: &Policy,
        caller: u32,
        sc: &mut [SugovCpu],
        states: &[CpuState],
        now: u64,
        tick_ns: u64,
        khz: &[u32],
        terms: &mut [PerfTerms],
    ) -> Decision {
        let mut out = Decision::default();
        let there = sc.len().min(states.len()).min(terms.len());
        self.nr_cpus = self.nr_cpus.min(u32::try_from(there).unwrap_or(u32::MAX));
        if caller >= self.nr_cpus {
            return out;
        }
        let (sc, s, t) = (sc.as_mut_ptr(), states.as_ptr(), terms.as_mut_ptr());
        let (khz, n) = (khz.as_ptr(), count(khz));
        // SAFETY: all three slices have at least `nr_cpus` entries, the caller's among them; the table has `n`.
        unsafe { sys::sugov_evaluate(pol, self, sc, s, caller, now, tick_ns, khz, n, t, &mut out) };
        out
    }

    /// An evaluation of one CPU: what [`SugovPolicy::evaluate`] comes to where no other CPU of the domain asks for
    /// more.
    #[allow(clippy::too_many_arguments)]
    pub fn evaluate_one(
        &mut self,
        pol: &Policy,
        sc: &mut SugovCpu,
        s: &CpuState,
        now: u64,
        tick_ns: u64,
        khz: &[u32],
        terms: &mut PerfTerms,
    ) -> Decision {
        let mut out = Decision::default();
        // SAFETY: the length is that of `khz`.
        unsafe { sys::sugov_evaluate_one(pol, self, sc, s, now, tick_ns, khz.as_ptr(), count(khz), terms, &mut out) };
        out
    }

    /// The decision as a target of sched_ext for a CPU of this capacity.
    #[must_use]
    pub fn cpuperf_target(&self, decision: &Decision, cap_orig: u32) -> u32 {
        sys::cpuperf_target(self, decision, cap_orig)
    }
}

/// The first CPU with the largest request; [`NO_LARGEST`] of none.
#[inline]
#[must_use]
pub fn first_largest(terms: &[PerfTerms]) -> u32 {
    match u32::try_from(terms.len()) {
        // SAFETY: there are `n` requests.
        Ok(n) if n > 0 => unsafe { sys::sugov_first_largest(terms.as_ptr(), n) },
        _ => NO_LARGEST,
    }
}

/// Do requests hold until their inputs change? Not where time alone changes them, or one ends the search for others.
#[must_use]
pub fn sugov_keeps(pol: &Policy) -> bool {
    sys::sugov_keeps(pol) != 0
}
