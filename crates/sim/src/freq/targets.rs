// SPDX-License-Identifier: GPL-2.0-only
//! Brings the requests of a frequency domain up to now: those of CPUs whose inputs changed (`cpu/requests.rs`). Debug
//! builds compute everything again and compare.

use pelton_core::{CpuState as CpuInputs, SugovCpu, value};
use pelton_schema::Sink;

use crate::cpu::requests::{FRESH, RECORDED};
use crate::engine::Engine;

impl<S: Sink> Engine<'_, S> {
    /// Brings the requests of domain `d` up to now for a call of CPU `c`. Who only looks (`keep` false) does not keep what
    /// the governor would remember.
    pub(crate) fn ask(&mut self, c: u32, d: u32, keep: bool) {
        if self.policy.blocked_update == value::BLOCKED_UPDATE_LAZY && keep {
            (0..self.m.domains[d as usize].cpus.len())
                .for_each(|i| self.fade_for_reader(self.m.domains[d as usize].cpus[i]));
        }
        if !self.targets.keeps {
            return self.ask_all(c, d, keep);
        }
        if self.targets.domains[d as usize].todo.is_empty() && !self.targets.domains[d as usize].khz_changed {
            return self.assert_kept(d);
        }
        self.ask_changed(d, keep);
        if keep && std::mem::take(&mut self.targets.domains[d as usize].khz_changed) {
            let khz = self.domains[d as usize].sugov.cur_khz;
            self.m.domains[d as usize].cpus.iter().for_each(|&j| self.cpus[j as usize].sugov.khz_evaluated = khz);
        }
        self.assert_kept(d);
    }

    /// The CPUs whose inputs changed.
    fn ask_changed(&mut self, d: u32, keep: bool) {
        let (now, mut at) = (self.boot_ns + self.now, 0);
        while let Some(&i) = self.targets.domains[d as usize].todo.get(at) {
            if !keep && self.targets.domains[d as usize].state[i as usize] & FRESH != 0 {
                at += 1;
                continue;
            }
            let j = self.m.domains[d as usize].cpus[i as usize];
            self.fill_inputs(j);
            let (cpu, kept) = (&mut self.cpus[j as usize], &mut self.targets.domains[d as usize]);
            let (boosted, sugov) = (cpu.sugov.iowait_boost != 0, &self.domains[d as usize].sugov);
            let mut forgotten = SugovCpu::default();
            if !keep {
                forgotten = cpu.sugov;
            }
            let state = if keep { &mut cpu.sugov } else { &mut forgotten };
            kept.ask_again(self.policy, (sugov, state), i, (now, self.tick_ns));
            // A boost fades with every evaluation.
            let lasts = if keep { FRESH | RECORDED } else { FRESH };
            kept.state[i as usize] = if boosted { 0 } else { lasts };
            if keep && !boosted {
                kept.todo.swap_remove(at);
            } else {
                at += 1;
            }
        }
        self.targets.domains[d as usize].find_largest();
    }

    /// All CPUs, as the core asks them.
    fn ask_all(&mut self, c: u32, d: u32, keep: bool) {
        let m = self.m;
        let cpus = &m.domains[d as usize].cpus;
        let inputs: Vec<CpuInputs> = cpus.iter().map(|&j| self.inputs(j)).collect();
        let mut states: Vec<SugovCpu> = cpus.iter().map(|&j| self.cpus[j as usize].sugov).collect();
        let (now, caller) = (self.boot_ns + self.now, keep.then(|| self.targets.place(c)));
        self.targets.domains[d as usize].forget_largest();
        let (sugov, terms) = (&self.domains[d as usize].sugov, &mut self.targets.domains[d as usize].terms);
        sugov.ask_all(self.policy, caller, &mut states, &inputs, now, self.tick_ns, terms);
        if keep {
            cpus.iter().zip(states).for_each(|(&j, state)| self.cpus[j as usize].sugov = state);
        }
    }

    /// After [`Engine::ask`]: what the governor reads of the CPU that calls it.
    pub(crate) fn inputs_of_caller(&mut self, c: u32, d: u32) {
        let place = self.targets.place(c) as usize;
        if self.targets.keeps {
            // No request is made of it.
            self.targets.domains[d as usize].inputs[place].idle_calls = self.cpus[c as usize].idle_calls;
            debug_assert_eq!(self.targets.domains[d as usize].inputs[place], self.inputs(c), "kept inputs of CPU {c}");
        } else {
            self.targets.domains[d as usize].inputs[place] = self.inputs(c);
        }
    }

    /// Debug builds: what is kept is what the inputs give.
    fn assert_kept(&self, d: u32) {
        if !cfg!(debug_assertions) {
            return;
        }
        let kept = &self.targets.domains[d as usize];
        for (i, &j) in self.m.domains[d as usize].cpus.iter().enumerate().filter(|(i, _)| kept.state[*i] != 0) {
            let mut state = self.cpus[j as usize].sugov;
            let (now, sugov) = (self.boot_ns + self.now, &self.domains[d as usize].sugov);
            let (_, terms) = sugov.cpu(self.policy, &mut state, &self.inputs(j), now, self.tick_ns);
            debug_assert_eq!(terms, kept.terms[i], "kept request of CPU {j}");
            let recorded = kept.state[i] & RECORDED != 0 && !kept.khz_changed;
            debug_assert!(!recorded || state == self.cpus[j as usize].sugov, "the governor's record of CPU {j}");
        }
    }
}
