// SPDX-License-Identifier: GPL-2.0-only
//! Brings the requests of a frequency domain up to now: those of CPUs whose inputs changed (`cpu/requests.rs`). Debug
//! builds compute everything again and compare.

use pelton_core::{CpuState as CpuInputs, SugovCpu, value};
use pelton_schema::Sink;

use crate::cpu::requests::{FRESH, RECORDED, fill_plain};
use crate::engine::Engine;

impl<S: Sink> Engine<'_, S> {
    /// Brings the requests of domain `d` up to now for a call of CPU `c`. Who only looks (`keep` false) does not keep
    /// what the governor would remember.
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
        let plain = self.asks_plainly();
        if !plain {
            self.fill_changed(d);
        }
        let (time, mut at) = ((self.boot_ns + self.now, self.tick_ns), 0);
        let (kept, sugov) = (&mut self.targets.domains[d as usize], &self.domains[d as usize].sugov);
        while let Some(&i) = kept.todo.get(at) {
            let place = &mut kept.places[i as usize];
            if !keep && place.state & FRESH != 0 {
                at += 1;
                continue;
            }
            let cpu = &mut self.cpus[place.cpu as usize];
            if plain {
                fill_plain(cpu, &mut place.inputs);
            }
            // A boost fades with every evaluation.
            let boosted = cpu.sugov.iowait_boost != 0;
            place.state = match (boosted, keep) {
                (true, _) => 0,
                (false, true) => FRESH | RECORDED,
                (false, false) => FRESH,
            };
            if keep {
                kept.ask_again(self.policy, (sugov, &mut cpu.sugov), i, time);
            } else {
                kept.ask_again(self.policy, (sugov, &mut { cpu.sugov }), i, time);
            }
            if keep && !boosted {
                kept.todo.swap_remove(at);
            } else {
                at += 1;
            }
        }
        kept.find_largest();
    }

    /// All CPUs, as the core asks them.
    fn ask_all(&mut self, c: u32, d: u32, keep: bool) {
        let m = self.m;
        let cpus = &m.domains[d as usize].cpus;
        let inputs: Vec<CpuInputs> = cpus.iter().map(|&j| self.inputs(j)).collect();
        let mut states: Vec<SugovCpu> = cpus.iter().map(|&j| self.cpus[j as usize].sugov).collect();
        let (now, caller) = (self.boot_ns + self.now, keep.then(|| self.targets.place(c)));
        self.targets.domains[d as usize].forget_largest();
        let (sugov, terms) = (&self.domains[d as usize].sugov, self.targets.domains[d as usize].terms_mut());
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
            self.targets.domains[d as usize].places[place].inputs.idle_calls = self.cpus[c as usize].idle_calls;
            let kept = &self.targets.domains[d as usize].places[place].inputs;
            debug_assert_eq!(kept, &self.inputs(c), "kept inputs of CPU {c}");
        } else {
            self.targets.domains[d as usize].places[place].inputs = self.inputs(c);
        }
    }

    /// Debug builds: what is kept is what the inputs give.
    fn assert_kept(&self, d: u32) {
        if !cfg!(debug_assertions) {
            return;
        }
        let kept = &self.targets.domains[d as usize];
        for (i, &j) in self.m.domains[d as usize].cpus.iter().enumerate().filter(|(i, _)| kept.places[*i].state != 0) {
            let mut state = self.cpus[j as usize].sugov;
            let (now, sugov) = (self.boot_ns + self.now, &self.domains[d as usize].sugov);
            let (_, terms) = sugov.cpu(self.policy, &mut state, &self.inputs(j), now, self.tick_ns);
            debug_assert_eq!(terms, kept.terms()[i], "kept request of CPU {j}");
            let recorded = kept.places[i].state & RECORDED != 0 && !kept.khz_changed;
            debug_assert!(!recorded || state == self.cpus[j as usize].sugov, "the governor's record of CPU {j}");
        }
    }
}
