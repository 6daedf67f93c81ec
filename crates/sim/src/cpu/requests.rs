// SPDX-License-Identifier: GPL-2.0-only
//! What a CPU asks of its frequency domain, kept until one of its inputs changes.
//!
//! A request is arithmetic on the CPU's signals, its RT and deadline load and its boost for I/O. Whoever changes one of
//! them calls [`Engine::request_changes`].

use pelton_core::{
    CpuState as CpuInputs, NO_LARGEST, PerfTerms, Policy, SugovCpu, SugovPolicy, cpu_bw_dl, first_largest,
};
use pelton_schema::Sink;

use crate::engine::Engine;
use crate::engine::state::CpuState;
use pelton_model::machine::Machine;

/// The kept request is what the inputs give now.
pub(crate) const FRESH: u8 = 1;
/// The governor's own record of the CPU is as of these inputs, too.
pub(crate) const RECORDED: u8 = 2;

/// What is kept of one CPU of a domain beside its request.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub cpu: u32,
    pub state: u8,
    /// What the request was made of.
    pub inputs: CpuInputs,
}

/// The requests of one domain, by place of the CPU in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Domain {
    pub terms: Vec<PerfTerms>,
    pub places: Vec<Place>,
    /// Places that are not recorded.
    pub todo: Vec<u32>,
    /// The first CPU with the largest request, where that is known.
    largest: u32,
    /// The frequency is another than at the last evaluation, which the governor's records name.
    pub khz_changed: bool,
}

impl Domain {
    /// The CPU at place `i`, whose inputs are filled, is asked again.
    #[inline]
    pub(crate) fn ask_again(
        &mut self,
        policy: &Policy,
        (sugov, state): (&SugovPolicy, &mut SugovCpu),
        i: u32,
        (now, tick_ns): (u64, u64),
    ) {
        let (own, place) = (&self.places[i as usize].inputs, (i, self.largest));
        self.largest = sugov.ask_again(policy, state, own, now, tick_ns, &mut self.terms, place);
    }

    /// All requests, as of the last evaluation or look.
    pub(crate) fn terms(&self) -> &[PerfTerms] {
        &self.terms
    }

    pub(crate) fn terms_mut(&mut self) -> &mut [PerfTerms] {
        &mut self.terms
    }

    /// The first CPU with the largest request, where that is known.
    pub(crate) fn largest(&self) -> u32 {
        self.largest
    }

    /// All of them were asked again.
    pub(crate) fn forget_largest(&mut self) {
        self.largest = NO_LARGEST;
    }

    /// Finds the largest request where it is not known.
    #[inline]
    pub(crate) fn find_largest(&mut self) {
        if self.largest == NO_LARGEST {
            self.largest = first_largest(&self.terms);
        }
        debug_assert_eq!(self.largest, first_largest(&self.terms), "kept place of the largest request");
    }
}

/// The requests of all domains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    /// Requests hold until their inputs change. False where time alone changes them, or one ends the search for others.
    pub keeps: bool,
    /// Domain of each CPU, and its place there.
    pub place: Vec<(u32, u32)>,
    pub domains: Vec<Domain>,
}

impl Targets {
    pub(crate) fn new(m: &Machine, policy: &Policy) -> Targets {
        let mut place = vec![(0, 0); m.cpus.len()];
        let mut domains = Vec::new();
        for (d, spec) in m.domains.iter().enumerate() {
            for (i, &c) in spec.cpus.iter().enumerate() {
                place[c as usize] = (d as u32, i as u32);
            }
            let nr_cpus = spec.cpus.len();
            let (todo, terms) = ((0..nr_cpus as u32).collect(), vec![PerfTerms::default(); nr_cpus]);
            let fresh = |&cpu: &u32| Place { cpu, state: 0, inputs: CpuInputs::default() };
            let places = spec.cpus.iter().map(fresh).collect();
            domains.push(Domain { terms, places, todo, largest: NO_LARGEST, khz_changed: false });
        }
        Targets { keeps: pelton_core::sugov_keeps(policy), place, domains }
    }

    /// Inputs of CPU `c` change.
    #[inline]
    fn forget(&mut self, c: u32) {
        let (d, i) = self.place[c as usize];
        let domain = &mut self.domains[d as usize];
        let state = &mut domain.places[i as usize].state;
        if *state & RECORDED != 0 {
            domain.todo.push(i);
        }
        *state = 0;
    }

    /// The frequency of domain `d` changes. No request is made of it, but the records name it.
    pub(crate) fn khz_changes(&mut self, d: u32) {
        self.domains[d as usize].khz_changed = true;
    }

    /// Domain of CPU `c`.
    #[inline]
    pub(crate) fn domain(&self, c: u32) -> u32 {
        self.place[c as usize].0
    }

    /// Place of CPU `c` in its domain.
    #[inline]
    pub(crate) fn place(&self, c: u32) -> u32 {
        self.place[c as usize].1
    }

    /// Requests of domain `d`, as of the last evaluation or look.
    pub(crate) fn terms(&self, d: u32) -> &[PerfTerms] {
        &self.domains[d as usize].terms
    }

    /// Of them, the first of the largest, where that is known.
    pub(crate) fn largest(&self, d: u32) -> u32 {
        self.domains[d as usize].largest
    }
}

/// Inputs of a CPU, clamps and boosts left out.
#[inline]
pub(crate) fn fill_plain(cpu: &CpuState, inputs: &mut CpuInputs) {
    let bw_dl = if cpu.dl.running_bw_q20 == 0 { 0 } else { cpu_bw_dl(cpu.dl.running_bw_q20) };
    inputs.refill(&cpu.rq, bw_dl, cpu.rt_nr_running(), cpu.idle_calls);
}

impl<S: Sink> Engine<'_, S> {
    /// Boost of CPU `c` now, percent.
    pub(crate) fn boost_of(&self, c: u32) -> i32 {
        if !self.boosts.counts {
            return self.policy.boost as i32;
        }
        let mut groups = self.cpus[c as usize].boost;
        groups.boost(self.policy, self.boot_ns + self.now)
    }

    /// Puts the clamps of CPU `c` into the inputs of its request.
    pub(crate) fn apply_clamps(&self, c: u32, inputs: &mut CpuInputs) {
        let cpu = &self.cpus[c as usize];
        if self.limits_groups {
            inputs.limit_groups(cpu.levels.throttled(None).list(), cpu.clamp_sum.est);
        }
        if self.clamp_sums {
            cpu.clamp_sum.apply(self.policy, cpu.uclamp.value[0], inputs);
        } else if self.clamped {
            inputs.uclamp_used = 1;
            [inputs.uclamp_min, inputs.uclamp_max] = cpu.uclamp.value;
        }
    }

    /// Something changes that the request of CPU `c` is made of.
    #[inline(always)]
    pub(crate) fn request_changes(&mut self, c: u32) {
        self.targets.forget(c);
        self.row_changes(c);
    }

    /// Something changes that placement and balancing read of CPU `c`.
    #[inline(always)]
    pub(crate) fn row_changes(&mut self, c: u32) {
        self.fresh_rows.change(c);
    }

    /// Neither clamps nor boosts count in any request.
    #[inline]
    pub(crate) fn asks_plainly(&self) -> bool {
        !(self.clamped || self.limits_groups || self.boosts.on)
    }

    /// Inputs of one CPU for the governor.
    pub(crate) fn inputs(&self, c: u32) -> CpuInputs {
        let mut inputs = CpuInputs::default();
        fill_plain(&self.cpus[c as usize], &mut inputs);
        self.apply_clamps(c, &mut inputs);
        if self.boosts.on {
            inputs = inputs.boosted(self.policy, self.boost_of(c));
        }
        inputs
    }

    /// The same of the CPUs of domain `d` whose inputs changed, into their places.
    pub(crate) fn fill_changed(&mut self, d: u32) {
        for at in 0..self.targets.domains[d as usize].todo.len() {
            let i = self.targets.domains[d as usize].todo[at] as usize;
            let c = self.targets.domains[d as usize].places[i].cpu;
            self.targets.domains[d as usize].places[i].inputs = self.inputs(c);
        }
    }
}
