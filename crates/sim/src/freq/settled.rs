// SPDX-License-Identifier: GPL-2.0-or-later
//! schedutil's short way (`schedutil_settled.h`): where neither clamps nor boosts count and no sink takes requests,
//! CPUs are asked for their request alone, and an evaluation that finds the largest one unchanged decides nothing new.
//! Debug builds take the long way as well, and compare; beside the long way they take this one.

use pelton_core::{CpuState as CpuInputs, Decision, PerfTerms, SugovCpu, SugovPolicy, commit, verdict};

use crate::cpu::requests::CpuQueues;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// CPUs are asked for their requests alone.
    #[inline]
    pub(super) fn asks_packed(&self) -> bool {
        !S::ACTIVE && !S::REQUESTS && self.targets.keeps() && self.asks_plainly()
    }

    /// Brings the packed requests of domain `d` up to now. A caller that only looks (`keep` false) does not keep what
    /// the governor would remember.
    fn ask_packed(&mut self, d: u32, keep: bool) {
        if keep {
            self.fade_before_asking(d);
        }
        if !self.targets.kept(d).is_current() {
            self.ask_packed_again(d, keep);
        }
        self.assert_packed(d);
    }

    /// The CPUs whose inputs changed.
    #[inline]
    fn ask_packed_again(&mut self, d: u32, keep: bool) {
        let (time, mut at) = ((self.boot_ns + self.now, self.tick_ns), 0);
        let (kept, sugov) = (self.targets.asked(d), &self.domains[d as usize].freq.sugov);
        while let Some((i, c)) = kept.next_to_ask(&mut at, !keep) {
            let cpu = &mut self.cpus[c as usize];
            let boosted = cpu.freq.sugov.iowait_boost != 0;
            let (running_bw, rt_nr_running) = (cpu.dl.running_bw_q20(), cpu.rt_nr_running());
            let queues = CpuQueues { rq: &cpu.rq, running_bw, rt_nr_running };
            if keep {
                kept.ask_packed(self.policy.get(), (sugov, &mut cpu.freq.sugov), (&queues, i), time);
            } else {
                kept.ask_packed(self.policy.get(), (sugov, &mut { cpu.freq.sugov }), (&queues, i), time);
            }
            kept.is_answered(i, &mut at, !keep, boosted);
        }
        if keep {
            self.note_khz_evaluated(d);
        }
    }

    /// An evaluation of domain `d` for a call of CPU `c`. True: the driver is to be called.
    pub(super) fn evaluate_packed(&mut self, c: u32, d: u32) -> bool {
        self.ask_packed(d, true);
        let now = self.boot_ns + self.now;
        let (kept, cpu, domain) = (self.targets.asked(d), &mut self.cpus[c as usize], &mut self.domains[d as usize]);
        domain.report.evaluations += 1;
        let (inputs, sc) = ((cpu.rq.cap_orig, cpu.line.idle_calls()), &mut cpu.freq.sugov);
        let (sugov, table) = domain.governor();
        let before = (*sugov, *sc);
        let end = kept.packed().evaluate(self.policy.get(), (sugov, sc), inputs, now, table);
        self.assert_long_way(c, d, before, end);
        let domain = &mut self.domains[d as usize];
        domain.report.held += u64::from(domain.freq.sugov.gate.verdict != verdict::OPEN);
        self.observe_known(d);
        end == commit::DRIVE
    }

    /// A look at domain `d` without an evaluation.
    pub(super) fn observe_packed(&mut self, d: u32) {
        self.ask_packed(d, false);
        let domain = &self.domains[d as usize];
        self.targets.asked(d).packed().need(self.policy.get(), &domain.freq.sugov, domain.governor_table());
        self.observe_known(d);
    }

    /// The formula asks for what is known now.
    fn observe_known(&mut self, d: u32) {
        let domain = &self.domains[d as usize];
        let khz = self.targets.asked(d).settable_khz(|khz| domain.settable_khz(khz));
        if khz != domain.freq.needed_khz {
            self.observe_need(d, khz);
        }
    }

    /// Debug builds: packed requests are what the inputs give.
    pub(crate) fn assert_packed(&self, d: u32) {
        if cfg!(debug_assertions) && self.asks_packed() {
            (0..self.m.domains[d as usize].cpus.len()).for_each(|i| self.assert_request(d, i));
        }
    }

    /// The CPU at place `i` of domain `d` requests what its inputs give, and the governor remembers it so.
    fn assert_request(&self, d: u32, i: usize) {
        let (kept, c) = (self.targets.kept(d), self.m.domains[d as usize].cpus[i]);
        let (fresh, recorded) = kept.is_kept(i);
        if fresh {
            let (mut state, asked) = (self.cpus[c as usize].freq.sugov, kept.packed_now().request(i));
            let (now, sugov) = (self.boot_ns + self.now, &self.domains[d as usize].freq.sugov);
            let (_, terms) = sugov.cpu(self.policy.get(), &mut state, &self.inputs(c), now, self.tick_ns);
            assert_eq!((terms.request, terms.scale), (asked.request, asked.scale), "packed request of CPU {c}");
            assert!(!recorded || state == self.cpus[c as usize].freq.sugov, "the governor's record of CPU {c}");
        }
    }

    /// Debug builds: an evaluation over packed requests, which began with `before` and came to `end`, is what the long
    /// way comes to.
    fn assert_long_way(&self, c: u32, d: u32, before: (SugovPolicy, SugovCpu), end: u32) {
        if !cfg!(debug_assertions) {
            return;
        }
        let (kept, domain) = (self.targets.kept(d), &self.domains[d as usize]);
        let packed = |i| kept.packed_now().request(i);
        let term = |r: pelton_core::SugovRequest| PerfTerms {
            perf: r.request,
            request: r.request,
            scale: r.scale,
            ..PerfTerms::default()
        };
        let terms: Vec<PerfTerms> = (0..kept.terms().len()).map(|i| term(packed(i))).collect();
        let largest = pelton_core::NO_LARGEST;
        let (mut sugov, mut sc) = before;
        let (own, now): (CpuInputs, u64) = (self.inputs(c), self.boot_ns + self.now);
        let long: Decision = sugov.decide(
            self.policy.get(),
            (self.targets.place(c), &mut sc, &own),
            now,
            (&terms, largest),
            domain.governor_table(),
        );
        let known = kept.packed_now().known();
        assert_eq!((long.commit, long.raw_khz, long.resolved_khz), (end, known.raw_khz, known.resolved_khz));
        assert_eq!(sugov, domain.freq.sugov, "domain {d} after the long way and the short one");
        assert_eq!(sc, self.cpus[c as usize].freq.sugov, "CPU {c} after the long way and the short one");
    }

    /// Debug builds: an evaluation, which began with `before` and came to `end`, is what the short way comes to.
    #[inline]
    pub(super) fn assert_short_way(&mut self, c: u32, d: u32, before: (SugovPolicy, SugovCpu), end: u32) {
        if !cfg!(debug_assertions) || !self.targets.keeps() || !self.asks_plainly() {
            return;
        }
        let (now, cpu, domain) = (self.boot_ns + self.now, &self.cpus[c as usize], &self.domains[d as usize]);
        let (mut sugov, mut sc) = before;
        let kept = self.targets.asked(d);
        kept.pack_terms();
        let own = (cpu.rq.cap_orig, cpu.line.idle_calls());
        let short = kept.packed().evaluate(self.policy.get(), (&mut sugov, &mut sc), own, now, domain.governor_table());
        assert_eq!(short, end, "what is asked of the driver of domain {d}");
        assert_eq!(sugov, domain.freq.sugov, "domain {d} after the short way and the long one");
        assert_eq!(sc, cpu.freq.sugov, "CPU {c} after the short way and the long one");
    }
}
