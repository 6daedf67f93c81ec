// SPDX-License-Identifier: GPL-2.0-or-later
//! schedutil's short way: packed requests of a domain, and evaluations that decide nothing new.

use crate::governor::NO_LARGEST;
use crate::policy::Policy;
use crate::sys::{self, PerfTerms, Rq, SugovCpu, SugovKnown, SugovPolicy, SugovRequest, commit};

/// The requests of the CPUs of one domain, by place.
#[derive(Clone, Debug, Default)]
pub struct PackedRequests {
    asked: Vec<SugovRequest>,
    known: SugovKnown,
}

impl PackedRequests {
    /// Requests of `nr_cpus` CPUs, none of which was asked yet.
    #[must_use]
    pub fn new(nr_cpus: usize) -> PackedRequests {
        let known = SugovKnown { largest: NO_LARGEST, ..SugovKnown::default() };
        PackedRequests { asked: vec![SugovRequest::default(); nr_cpus], known }
    }

    /// The requests that these terms hold.
    pub fn fill(&mut self, terms: &[PerfTerms]) {
        let packed = |t: &PerfTerms| SugovRequest { request: t.request, scale: t.scale };
        self.asked.iter_mut().zip(terms).for_each(|(asked, terms)| *asked = packed(terms));
        self.known.largest = NO_LARGEST;
    }

    /// Last request of the CPU at place `i`; nothing when there is no such place.
    #[must_use]
    pub fn request(&self, i: usize) -> SugovRequest {
        self.asked.get(i).copied().unwrap_or_default()
    }

    /// The need as of the last evaluation or look.
    #[inline]
    #[must_use]
    pub fn known(&self) -> &SugovKnown {
        &self.known
    }

    /// Asks the CPU at place `i`, which has neither clamps nor boosts of groups; nothing when there is no such place.
    /// `running_bw`: bandwidth of its deadline tasks, << 20.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub fn ask(
        &mut self,
        pol: &Policy,
        (sp, sc): (&SugovPolicy, &mut SugovCpu),
        rq: &Rq,
        (running_bw, rt_nr_running): (u64, u32),
        (now, tick_ns): (u64, u64),
        i: u32,
    ) {
        if (i as usize) < self.asked.len() {
            let (asked, known) = (self.asked.as_mut_ptr(), &mut self.known);
            // SAFETY: there are more than `i` requests; the largest is one of them, or not known.
            unsafe {
                sys::sugov_ask_queues(pol, sp, sc, rq, running_bw, rt_nr_running, now, tick_ns, asked, i, known);
            }
        }
    }

    /// Brings the need up to now. Nothing happens unless there are `nr_cpus` requests, one at least.
    #[inline]
    pub fn need(&mut self, pol: &Policy, sp: &SugovPolicy, khz: &[u32]) {
        if let Some(n) = self.table_of(sp, khz) {
            let (asked, khz) = (self.asked.as_ptr(), khz.as_ptr());
            // SAFETY: there are `nr_cpus` requests, and `n` frequencies; the largest is one of them, or not known.
            unsafe { sys::sugov_known_need(pol, sp, asked, khz, n, &mut self.known) };
        }
    }

    /// An evaluation for a hook call of the CPU of `sc`, which has neither clamps nor boosts of groups; a value of
    /// [`commit`]. Nothing happens unless there are `nr_cpus` requests, one at least.
    #[inline]
    pub fn evaluate(
        &mut self,
        pol: &Policy,
        (sp, sc): (&mut SugovPolicy, &mut SugovCpu),
        (cap_orig, idle_calls): (u32, u64),
        now: u64,
        khz: &[u32],
    ) -> u32 {
        let Some(n) = self.table_of(sp, khz) else { return commit::NONE };
        let (asked, khz, known) = (self.asked.as_ptr(), khz.as_ptr(), &mut self.known);
        // SAFETY: there are `nr_cpus` requests, and `n` frequencies; the largest is one of them, or not known.
        unsafe { sys::sugov_evaluate_packed(pol, sp, sc, cap_orig, idle_calls, now, asked, khz, n, known) }
    }

    /// Length of the table, where there are as many requests as the domain has CPUs.
    #[inline]
    fn table_of(&self, sp: &SugovPolicy, khz: &[u32]) -> Option<u32> {
        let all = sp.nr_cpus > 0 && sp.nr_cpus as usize <= self.asked.len();
        u32::try_from(khz.len()).ok().filter(|_| all)
    }
}

/// Can evaluations be settled, where the largest request is what it was? Not by gates that learn from each.
#[must_use]
pub fn sugov_settles(pol: &Policy) -> bool {
    sys::sugov_settles(pol) != 0
}
