// SPDX-License-Identifier: GPL-2.0-or-later
//! Brings the requests of a frequency domain up to now: those of CPUs whose inputs changed (`cpu/requests.rs`). Debug
//! builds compute everything again and compare.

use pelton_core::{CpuState as CpuInputs, PerfTerms, SugovCpu, value};
use pelton_schema::Asked;

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// Brings the requests of domain `d` up to now for a call of CPU `c`. A caller that only looks (`keep` false) does
    /// not keep what the governor would remember.
    pub(crate) fn ask(&mut self, c: u32, d: u32, keep: bool) {
        if keep {
            self.fade_before_asking(d);
        }
        if !self.targets.keeps() {
            return self.ask_all(c, d, keep);
        }
        if self.targets.kept(d).is_current() {
            return self.assert_kept(d);
        }
        self.ask_changed(d, keep);
        if keep {
            self.note_khz_evaluated(d);
        }
        self.assert_kept(d);
    }

    /// The governor reads what all CPUs of domain `d` ask for: where that fades unseen, now.
    #[inline]
    pub(super) fn fade_before_asking(&mut self, d: u32) {
        if self.policy.blocked_update == value::BLOCKED_UPDATE_LAZY {
            (0..self.m.domains[d as usize].cpus.len())
                .for_each(|i| self.fade_for_reader(self.m.domains[d as usize].cpus[i]));
        }
    }

    /// An evaluation of domain `d`: its records name the frequency of this moment.
    #[inline]
    pub(super) fn note_khz_evaluated(&mut self, d: u32) {
        if self.targets.asked(d).take_khz_changed() {
            let khz = self.domains[d as usize].freq.sugov.cur_khz;
            self.m.domains[d as usize].cpus.iter().for_each(|&j| self.cpus[j as usize].freq.sugov.khz_evaluated = khz);
        }
    }

    /// The CPUs whose inputs changed.
    fn ask_changed(&mut self, d: u32, keep: bool) {
        let plain = self.asks_plainly();
        if !plain {
            self.fill_changed(d);
        }
        let (time, mut at) = ((self.boot_ns + self.now, self.tick_ns), 0);
        let (kept, sugov) = (self.targets.asked(d), &self.domains[d as usize].freq.sugov);
        while let Some((i, c)) = kept.next_to_ask(&mut at, !keep) {
            let cpu = &mut self.cpus[c as usize];
            if plain {
                kept.refill(i, cpu);
            }
            let boosted = cpu.freq.sugov.iowait_boost != 0;
            if keep {
                kept.ask_again(self.policy.get(), (sugov, &mut cpu.freq.sugov), i, time);
            } else {
                kept.ask_again(self.policy.get(), (sugov, &mut { cpu.freq.sugov }), i, time);
            }
            kept.is_answered(i, &mut at, !keep, boosted);
        }
        kept.find_largest();
    }

    /// All CPUs, as the core asks them.
    fn ask_all(&mut self, c: u32, d: u32, keep: bool) {
        let m = self.m;
        let cpus = &m.domains[d as usize].cpus;
        let inputs: Vec<CpuInputs> = cpus.iter().map(|&j| self.inputs(j)).collect();
        let mut states: Vec<SugovCpu> = cpus.iter().map(|&j| self.cpus[j as usize].freq.sugov).collect();
        let (now, caller) = (self.boot_ns + self.now, keep.then(|| self.targets.place(c)));
        self.targets.asked(d).forget_largest();
        let (sugov, terms) = (&self.domains[d as usize].freq.sugov, self.targets.asked(d).terms_anew());
        sugov.ask_all(self.policy.get(), caller, &mut states, &inputs, now, self.tick_ns, terms);
        if keep {
            cpus.iter().zip(states).for_each(|(&j, state)| self.cpus[j as usize].freq.sugov = state);
        }
    }

    /// After [`Engine::ask`]: what the governor reads of the CPU that calls it.
    pub(crate) fn inputs_of_caller(&mut self, c: u32, d: u32) {
        let place = self.targets.place(c);
        if self.targets.keeps() {
            let calls = self.cpus[c as usize].line.idle_calls();
            self.targets.asked(d).note_idle_calls(place, calls);
            debug_assert_eq!(self.targets.kept(d).made_of(place), &self.inputs(c), "kept inputs of CPU {c}");
        } else {
            let inputs = self.inputs(c);
            self.targets.asked(d).set_inputs(place, inputs);
        }
    }

    /// Requests of the CPUs of domain `d`, which were just asked, each with its inputs.
    pub(crate) fn asked(&self, d: u32) -> Vec<Asked> {
        let (cpus, sugov) = (&self.m.domains[d as usize].cpus, &self.domains[d as usize].freq.sugov);
        let one = |(&cpu, terms): (&u32, &PerfTerms)| {
            let own = &self.cpus[cpu as usize].freq.sugov;
            Asked {
                cpu,
                terms: (terms.scale != 0).then_some(*terms),
                queues: self.queues(cpu),
                made_of: sugov.known(self.policy.get(), own, &self.inputs(cpu)),
                by_last_call: sugov.knows_last_call(self.policy.get()),
            }
        };
        cpus.iter().zip(self.targets.terms(d)).map(one).collect()
    }

    /// Debug builds: what is kept is what the inputs give.
    fn assert_kept(&self, d: u32) {
        if !cfg!(debug_assertions) {
            return;
        }
        let kept = self.targets.kept(d);
        for (i, &j) in self.m.domains[d as usize].cpus.iter().enumerate().filter(|(i, _)| kept.is_kept(*i).0) {
            let mut state = self.cpus[j as usize].freq.sugov;
            let (now, sugov) = (self.boot_ns + self.now, &self.domains[d as usize].freq.sugov);
            let (_, terms) = sugov.cpu(self.policy.get(), &mut state, &self.inputs(j), now, self.tick_ns);
            debug_assert_eq!(terms, kept.terms()[i], "kept request of CPU {j}");
            let recorded = kept.is_kept(i).1;
            debug_assert!(!recorded || state == self.cpus[j as usize].freq.sugov, "the governor's record of CPU {j}");
        }
    }
}
