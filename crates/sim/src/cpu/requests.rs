// SPDX-License-Identifier: GPL-2.0-or-later
//! Requests of CPUs to their frequency domains, each kept until one of its inputs changes.
//!
//! A request is arithmetic on the CPU's signals, its RT and deadline load and its boost for I/O. Code that changes one
//! of them calls [`Engine::request_changes`].

use pelton_core::{
    CpuState as CpuInputs, KHZ_NONE, NO_LARGEST, PackedRequests, PerfTerms, Policy, Rq, SugovCpu, SugovPolicy,
    cpu_bw_dl, first_largest,
};

use crate::shape::Run;
use crate::state::{CpuState, Engine};
use pelton_model::machine::Machine;

/// The kept request is what the inputs give now.
const FRESH: u8 = 1;
/// The governor's own record of the CPU is as of these inputs, too.
const RECORDED: u8 = 2;

/// State of one CPU of a domain that is kept beside its request.
#[derive(Clone, Debug)]
struct Asking {
    cpu: u32,
    state: u8,
    /// Inputs of its request.
    inputs: CpuInputs,
}

/// Inputs of the request of a CPU without clamps and boosts.
pub(crate) struct CpuQueues<'a> {
    pub rq: &'a Rq,
    /// Bandwidth of its deadline tasks, << 20.
    pub running_bw: u64,
    pub rt_nr_running: u32,
}

/// The requests of one domain, by place of the CPU in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    terms: Vec<PerfTerms>,
    places: Vec<Asking>,
    /// Places that are not recorded.
    todo: Vec<u32>,
    /// The first CPU with the largest request, where that is known.
    largest: u32,
    /// The frequency is another than at the last evaluation, which the governor's records name.
    khz_changed: bool,
    /// The requests alone, which are asked in the place of `terms` where no sink wants to know more.
    packed: PackedRequests,
    /// A need, and what the hardware is set to for it.
    settable_khz: (u32, u32),
}

impl Asked {
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

    /// The CPU at place `i` is asked for its request alone, clamps and boosts left out.
    #[inline]
    pub(crate) fn ask_packed(
        &mut self,
        policy: &Policy,
        (sugov, state): (&SugovPolicy, &mut SugovCpu),
        (cpu, i): (&CpuQueues, u32),
        time: (u64, u64),
    ) {
        self.packed.ask(policy, (sugov, state), cpu.rq, (cpu.running_bw, cpu.rt_nr_running), time, i);
    }

    /// The requests alone are those of all terms.
    pub(crate) fn pack_terms(&mut self) {
        self.packed.fill(&self.terms);
    }

    /// The requests alone.
    #[inline]
    pub(crate) fn packed(&mut self) -> &mut PackedRequests {
        &mut self.packed
    }

    /// The requests alone, for reading.
    #[inline]
    pub(crate) fn packed_now(&self) -> &PackedRequests {
        &self.packed
    }

    /// Frequency that the hardware is set to for the need; `settable` is asked where the need is another than before.
    #[inline]
    pub(crate) fn settable_khz(&mut self, settable: impl FnOnce(u32) -> u32) -> u32 {
        let need = self.packed.known().resolved_khz;
        if self.settable_khz.0 != need {
            self.settable_khz = (need, settable(need));
        }
        self.settable_khz.1
    }

    /// Nothing changed since the last evaluation.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        self.todo.is_empty() && !self.khz_changed
    }

    /// The frequency is another than at the last evaluation, which is over.
    pub(crate) fn take_khz_changed(&mut self) -> bool {
        std::mem::take(&mut self.khz_changed)
    }

    /// The next CPU to ask again, from entry `at` of those that are not recorded on: its place and number. Who only
    /// looks passes over those whose request is what the inputs give.
    #[inline]
    pub(crate) fn next_to_ask(&self, at: &mut usize, looks: bool) -> Option<(u32, u32)> {
        while let Some(&i) = self.todo.get(*at) {
            let place = &self.places[i as usize];
            if !looks || place.state & FRESH == 0 {
                return Some((i, place.cpu));
            }
            *at += 1;
        }
        None
    }

    /// The inputs of the CPU at place `i`, clamps and boosts left out.
    #[inline]
    pub(crate) fn refill(&mut self, i: u32, cpu: &CpuState) {
        fill_plain(cpu, &mut self.places[i as usize].inputs);
    }

    /// The CPU at place `i`, entry `at`, was asked. A boost fades with every evaluation: such a request does not hold.
    #[inline]
    pub(crate) fn is_answered(&mut self, i: u32, at: &mut usize, looks: bool, boosted: bool) {
        self.places[i as usize].state = match (boosted, looks) {
            (true, _) => 0,
            (false, false) => FRESH | RECORDED,
            (false, true) => FRESH,
        };
        if looks || boosted {
            *at += 1;
        } else {
            self.todo.swap_remove(*at);
        }
    }

    /// Inputs of the last request of the CPU at place `i`.
    #[inline]
    pub(crate) fn made_of(&self, i: u32) -> &CpuInputs {
        &self.places[i as usize].inputs
    }

    /// The CPU at place `i` went idle so often with its tick stopped: no request is made of it.
    #[inline]
    pub(crate) fn note_idle_calls(&mut self, i: u32, calls: u64) {
        self.places[i as usize].inputs.idle_calls = calls;
    }

    /// The request of the CPU at place `i` is made of these.
    pub(crate) fn set_inputs(&mut self, i: u32, inputs: CpuInputs) {
        self.places[i as usize].inputs = inputs;
    }

    /// The request of the CPU at place `i` is what its inputs give; and so is the governor's record of it.
    pub(crate) fn is_kept(&self, i: usize) -> (bool, bool) {
        let state = self.places[i].state;
        (state != 0, state & RECORDED != 0 && !self.khz_changed)
    }

    /// All requests, as of the last evaluation or look.
    pub(crate) fn terms(&self) -> &[PerfTerms] {
        &self.terms
    }

    /// All requests, to be filled. The terms of a CPU that is not asked stay without scale.
    pub(crate) fn terms_anew(&mut self) -> &mut [PerfTerms] {
        self.terms.fill(PerfTerms::default());
        &mut self.terms
    }

    /// All requests, for what is known better.
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
    keeps: bool,
    /// Domain of each CPU, and its place there.
    place: Vec<(u32, u32)>,
    domains: Vec<Asked>,
}

impl Targets {
    /// Requests to the governor of a policy; a kernel's own (`by_kernel`) is asked anew each time.
    pub(crate) fn new(m: &Machine, policy: &Policy, by_kernel: bool) -> Targets {
        let mut place = vec![(0, 0); m.cpus.len()];
        let mut domains = Vec::new();
        for (d, spec) in m.domains.iter().enumerate() {
            for (i, &c) in spec.cpus.iter().enumerate() {
                place[c as usize] = (d as u32, i as u32);
            }
            let nr_cpus = spec.cpus.len();
            let (todo, terms) = ((0..nr_cpus as u32).collect(), vec![PerfTerms::default(); nr_cpus]);
            let fresh = |&cpu: &u32| Asking { cpu, state: 0, inputs: CpuInputs::default() };
            let places = spec.cpus.iter().map(fresh).collect();
            let packed = PackedRequests::new(nr_cpus);
            let settable_khz = (KHZ_NONE, 0);
            domains.push(Asked { terms, places, todo, packed, largest: NO_LARGEST, khz_changed: false, settable_khz });
        }
        Targets { keeps: !by_kernel && pelton_core::sugov_keeps(policy), place, domains }
    }

    /// Requests hold until their inputs change.
    #[inline]
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// Requests of the CPUs of domain `d`, for changing.
    #[inline]
    pub(crate) fn asked(&mut self, d: u32) -> &mut Asked {
        &mut self.domains[d as usize]
    }

    /// Requests of the CPUs of domain `d`, for reading.
    #[inline]
    pub(crate) fn kept(&self, d: u32) -> &Asked {
        &self.domains[d as usize]
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
fn fill_plain(cpu: &CpuState, inputs: &mut CpuInputs) {
    let bw_dl = if cpu.dl.running_bw_q20() == 0 { 0 } else { cpu_bw_dl(cpu.dl.running_bw_q20()) };
    inputs.refill(&cpu.rq, bw_dl, cpu.rt_nr_running(), cpu.line.idle_calls());
}

impl<S: Run> Engine<'_, S> {
    /// Boost of CPU `c` now, percent.
    pub(crate) fn boost_of(&self, c: u32) -> i32 {
        if !self.uses.boost_groups {
            return self.policy.boost as i32;
        }
        let mut groups = self.cpus[c as usize].boost;
        groups.boost(self.policy.get(), self.boot_ns + self.now)
    }

    /// Puts the clamps of CPU `c` into the inputs of its request.
    pub(crate) fn apply_clamps(&self, c: u32, inputs: &mut CpuInputs) {
        let cpu = &self.cpus[c as usize];
        if self.uses.limits_groups {
            inputs.limit_groups(cpu.levels.throttled(None).list(), cpu.clamp_sum.est);
        }
        if self.uses.clamp_sums {
            cpu.clamp_sum.apply(self.policy.get(), cpu.uclamp.value[0], inputs);
        } else if self.uses.clamped {
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
        !(self.uses.clamped || self.uses.limits_groups || self.uses.boosts)
    }

    /// Signals of the queues of CPU `c`, without clamps, limits of groups and boosts.
    pub(crate) fn queues(&self, c: u32) -> CpuInputs {
        let mut inputs = CpuInputs::default();
        fill_plain(&self.cpus[c as usize], &mut inputs);
        inputs
    }

    /// Inputs of one CPU for the governor.
    pub(crate) fn inputs(&self, c: u32) -> CpuInputs {
        let mut inputs = self.queues(c);
        self.apply_clamps(c, &mut inputs);
        if self.uses.boosts {
            inputs = inputs.boosted(self.policy.get(), self.boost_of(c));
        }
        inputs
    }

    /// Fills the inputs of those CPUs of domain `d` whose inputs changed, each at its place.
    pub(crate) fn fill_changed(&mut self, d: u32) {
        for at in 0..self.targets.domains[d as usize].todo.len() {
            let i = self.targets.domains[d as usize].todo[at] as usize;
            let c = self.targets.domains[d as usize].places[i].cpu;
            self.targets.domains[d as usize].places[i].inputs = self.inputs(c);
        }
    }
}
