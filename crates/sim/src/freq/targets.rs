// SPDX-License-Identifier: GPL-2.0-only
//! What each CPU of a frequency domain asks for, kept until one of its inputs changes.
//!
//! A request is arithmetic on the CPU's signals, its RT and deadline load and its boost for I/O. Whoever changes one of
//! them calls [`Engine::request_changes`]; debug builds compute everything again and compare.

use pelton_core::{CpuState as CpuInputs, PerfTerms, Policy, cpu_bw_dl, value};
use pelton_schema::Sink;

use crate::engine::Engine;
use crate::machine::Machine;

/// The kept request is what the inputs give now.
const FRESH: u8 = 1;
/// The governor's own record of the CPU is as of these inputs, too.
const RECORDED: u8 = 2;

/// The requests of one domain, by place of the CPU in it.
#[derive(Clone, Debug, Default)]
struct Domain {
    terms: Vec<PerfTerms>,
    /// What they were made of.
    inputs: Vec<CpuInputs>,
    state: Vec<u8>,
    /// Places that are not recorded.
    todo: Vec<u32>,
    /// The frequency is another than at the last evaluation, which the governor's records name.
    khz_changed: bool,
}

/// The requests of all domains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    /// Requests hold until their inputs change. False where time alone changes them, or one ends the search for others.
    keeps: bool,
    /// Domain of each CPU, and its place there.
    place: Vec<(u32, u32)>,
    domains: Vec<Domain>,
}

impl Targets {
    pub(crate) fn new(m: &Machine, policy: &Policy) -> Targets {
        let mut place = vec![(0, 0); m.cpus.len()];
        let mut domains = Vec::new();
        for (d, spec) in m.domains.iter().enumerate() {
            for (i, &c) in spec.cpus.iter().enumerate() {
                place[c as usize] = (d as u32, i as u32);
            }
            let n = spec.cpus.len();
            let todo = (0..n as u32).collect();
            let (terms, inputs) = (vec![PerfTerms::default(); n], vec![CpuInputs::default(); n]);
            domains.push(Domain { terms, inputs, state: vec![0; n], todo, khz_changed: false });
        }
        let flags = policy.rt_rule == value::RT_RULE_FLAG_MAX || policy.dl_rule == value::DL_RULE_FLAG_MAX;
        let holds = policy.boost_form == value::BOOST_FORM_HOLD;
        Targets { keeps: policy.stale_cpu == value::STALE_CPU_COUNT && !flags && !holds, place, domains }
    }

    /// Inputs of CPU `c` change.
    #[inline]
    fn forget(&mut self, c: u32) {
        let (d, i) = self.place[c as usize];
        let domain = &mut self.domains[d as usize];
        let state = &mut domain.state[i as usize];
        if *state & RECORDED != 0 {
            domain.todo.push(i);
        }
        *state = 0;
    }

    /// The frequency of domain `d` changes. No request is made of it, but the records name it.
    pub(crate) fn khz_changes(&mut self, d: u32) {
        self.domains[d as usize].khz_changed = true;
    }

    /// Place of CPU `c` in its domain.
    pub(crate) fn place(&self, c: u32) -> u32 {
        self.place[c as usize].1
    }

    /// What the request of CPU `c` of domain `d` was made of when it was last asked.
    pub(crate) fn made_of(&self, c: u32, d: u32) -> &CpuInputs {
        &self.domains[d as usize].inputs[self.place(c) as usize]
    }

    /// Requests of domain `d`, as of the last evaluation or look.
    pub(crate) fn terms(&self, d: u32) -> &[PerfTerms] {
        &self.domains[d as usize].terms
    }
}

impl<S: Sink> Engine<'_, S> {
    /// Something changes that the request of CPU `c` is made of.
    #[inline]
    pub(crate) fn request_changes(&mut self, c: u32) {
        self.targets.forget(c);
        self.row_changes(c);
    }

    /// Inputs of one CPU for the governor.
    pub(crate) fn inputs(&self, c: u32) -> CpuInputs {
        let cpu = &self.cpus[c as usize];
        let bw_dl = cpu_bw_dl(cpu.dl.running_bw_q20);
        let mut inputs = CpuInputs::fill(&cpu.rq, bw_dl, cpu.rt_nr_running(), cpu.idle_calls);
        self.apply_clamps(c, &mut inputs);
        if self.boosts.on {
            inputs = inputs.boosted(&self.policy, self.boost_of(c));
        }
        inputs
    }

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
        let mut todo = std::mem::take(&mut self.targets.domains[d as usize].todo);
        let mut at = 0;
        while let Some(&i) = todo.get(at) {
            let known = self.targets.domains[d as usize].state[i as usize];
            if !keep && known & FRESH != 0 {
                at += 1;
                continue;
            }
            // A boost fades with every evaluation.
            let lasts = self.ask_one(d, i, keep);
            self.targets.domains[d as usize].state[i as usize] = match (lasts, keep) {
                (false, _) => 0,
                (true, false) => FRESH,
                (true, true) => FRESH | RECORDED,
            };
            if lasts && keep {
                todo.swap_remove(at);
            } else {
                at += 1;
            }
        }
        self.targets.domains[d as usize].todo = todo;
        if keep && std::mem::take(&mut self.targets.domains[d as usize].khz_changed) {
            let khz = self.domains[d as usize].sugov.cur_khz;
            self.m.domains[d as usize].cpus.iter().for_each(|&j| self.cpus[j as usize].sugov.khz_evaluated = khz);
        }
        self.assert_kept(d);
    }

    /// Every CPU in order, up to one that forces the maximum; a caller that does asks nobody else (to 4.16).
    fn ask_all(&mut self, c: u32, d: u32, keep: bool) {
        if keep && self.cpus[c as usize].sugov.forced_by_flags(&self.policy) {
            self.ask_one(d, self.targets.place(c), keep);
            return;
        }
        for i in 0..self.m.domains[d as usize].cpus.len() as u32 {
            self.ask_one(d, i, keep);
            if self.targets.domains[d as usize].terms[i as usize].forced_max != 0 {
                break;
            }
        }
    }

    /// Asks one CPU; false when the answer may be another one next time although nothing changed.
    fn ask_one(&mut self, d: u32, i: u32, keep: bool) -> bool {
        let j = self.m.domains[d as usize].cpus[i as usize];
        let inputs = self.inputs(j);
        let kept = &mut self.targets.domains[d as usize];
        kept.inputs[i as usize] = inputs;
        let state = &mut self.cpus[j as usize].sugov;
        let boosted = state.iowait_boost != 0;
        let mut looked_at = *state;
        let state = if keep { state } else { &mut looked_at };
        let (now, sugov) = (self.boot_ns + self.now, &self.domains[d as usize].sugov);
        sugov.ask(&self.policy, state, &inputs, now, self.tick_ns, &mut kept.terms[i as usize]);
        !boosted
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
            let (_, terms) = sugov.cpu(&self.policy, &mut state, &self.inputs(j), now, self.tick_ns);
            debug_assert_eq!(terms, kept.terms[i], "kept request of CPU {j}");
            let recorded = kept.state[i] & RECORDED != 0 && !kept.khz_changed;
            debug_assert!(!recorded || state == self.cpus[j as usize].sugov, "the governor's record of CPU {j}");
        }
    }
}
