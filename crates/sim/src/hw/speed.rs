// SPDX-License-Identifier: GPL-2.0-or-later
//! Speed of a core: the requests of its hardware threads, the turbo limit and the load of siblings.

use pelton_core::IdleTable;

use crate::hw::energy::SharedEnergy;
use crate::hw::idle::idle_table;
use crate::hw::power::Power;
use crate::hw::supply::Supply;
use crate::shape::Run;
use crate::state::Engine;
use pelton_model::machine::Machine;

/// The CPUs that run as fast as the fastest of them asks for.
pub(crate) fn one_speed(m: &Machine, c: u32) -> &[u32] {
    let spec = &m.cpus[c as usize];
    if m.one_clock { &m.clusters[spec.cluster as usize].cpus } else { &spec.smt }
}

/// Clock of a frequency domain.
#[derive(Debug)]
pub(crate) struct Clocked {
    /// Frequencies of its operating points.
    khz: Vec<u32>,
    /// Index of the present one: the one whose power is drawn.
    opp: u32,
    /// Frequency that the clock was set to.
    set_khz: u32,
    since_ns: u64,
}

impl Clocked {
    /// At operating point `opp`.
    pub(crate) fn new(khz: Vec<u32>, opp: u32) -> Clocked {
        Clocked { set_khz: khz[opp as usize], khz, opp, since_ns: 0 }
    }

    /// Frequencies of its operating points.
    #[inline]
    pub(crate) fn khz(&self) -> &[u32] {
        &self.khz
    }

    /// Frequency of the present operating point.
    pub(crate) fn opp_khz(&self) -> u32 {
        self.khz[self.opp as usize]
    }

    /// Index of the present operating point.
    #[inline]
    pub(crate) fn opp(&self) -> u32 {
        self.opp
    }

    /// Frequency that the clock was set to.
    #[inline]
    pub(crate) fn set_khz(&self) -> u32 {
        self.set_khz
    }

    /// Sets the clock to `khz`. A frequency between operating points draws the power of the higher one.
    pub(crate) fn is_set(&mut self, khz: u32) {
        let opp = self.khz.partition_point(|&k| k < khz).min(self.khz.len() - 1);
        (self.set_khz, self.opp) = (khz, opp as u32);
    }

    /// Takes the time for which the present operating point was not accounted for, ns.
    pub(crate) fn take_time(&mut self, now: u64) -> u64 {
        now - std::mem::replace(&mut self.since_ns, now)
    }
}

/// Hardware that CPUs share.
#[derive(Debug)]
pub(crate) struct Hardware {
    /// Idle states of each domain as the governor sees them.
    pub(super) idle_tables: Vec<IdleTable>,
    /// Speed depends on neighbours.
    pub(super) shared: bool,
    /// Cores with a thread awake, by cluster; counted when hardware is shared.
    active_cores: Vec<u32>,
    /// Supply of each domain, with the power that the domain draws.
    pub(super) supplies: Vec<Supply>,
    /// Parts that CPUs share and that have a power of their own.
    pub(super) shared_parts: Vec<SharedEnergy>,
    /// The part of each CPU.
    pub(super) part_of: Vec<u32>,
    /// Time at which each cluster is out of the state that its CPUs share, or was last.
    cluster_up_ns: Vec<u64>,
}

impl Hardware {
    /// Of a machine whose CPUs are all idle.
    pub(crate) fn new(m: &Machine) -> Hardware {
        let clusters = m.clusters.len();
        let supplies = Supply::of_all(m);
        let shared_parts = SharedEnergy::of_all(m, &supplies);
        let part_of = |c: u32| shared_parts.iter().position(|part| part.cpus().contains(&c)).unwrap_or(0) as u32;
        Hardware {
            part_of: (0..m.cpus.len() as u32).map(part_of).collect(),
            supplies,
            shared_parts,
            idle_tables: m.domains.iter().map(idle_table).collect(),
            shared: m.shares_hardware(),
            active_cores: vec![0; clusters.max(1)],
            cluster_up_ns: vec![0; clusters.max(1)],
        }
    }

    /// Speed depends on neighbours.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// Idle states of a domain as the governor sees them.
    pub(crate) fn idle_table(&self, domain: u32) -> &IdleTable {
        &self.idle_tables[domain as usize]
    }

    /// The first thread of a core of this cluster woke up, or the last one went idle.
    pub(crate) fn core_changes(&mut self, cluster: usize, awake: bool) {
        let active = self.active_cores[cluster];
        self.active_cores[cluster] = if awake { active + 1 } else { active.saturating_sub(1) };
    }

    /// A CPU of a cluster is up at `ready_ns`, and not before what all share is; `shared`: that was in its state, too.
    pub(crate) fn cluster_is_up(&mut self, cluster: u32, ready_ns: u64, shared: bool) -> u64 {
        let up_ns = &mut self.cluster_up_ns[cluster as usize];
        let at_ns = ready_ns.max(*up_ns);
        if shared {
            *up_ns = at_ns;
        }
        at_ns
    }

    /// Energy that the shared parts of each of so many clusters drew, femtojoules.
    pub(crate) fn clusters_drew_fj(&self, clusters: usize) -> impl Iterator<Item = u128> + '_ {
        let of = |i: usize| self.shared_parts.iter().filter(move |part| part.cluster() as usize == i);
        (0..clusters).map(move |i| of(i).map(SharedEnergy::drew_fj).sum())
    }

    /// Supply of domain `d`, with the power that the domain draws.
    #[inline]
    pub(crate) fn supply(&self, d: u32) -> &Supply {
        &self.supplies[d as usize]
    }

    /// Domain `d` gets another rail.
    pub(crate) fn rail_becomes(&mut self, d: u32, rail: u32) {
        self.supplies[d as usize].becomes(rail);
    }
}

impl<S: Run> Engine<'_, S> {
    /// Frequency of a core: what is asked for, within the turbo limit of the cores that are active.
    pub(crate) fn core_khz(&self, c: u32) -> u32 {
        self.wanted_khz(c).min(self.turbo_khz(c))
    }

    /// The highest request of a core's threads (of the cluster, if that has one clock).
    pub(crate) fn wanted_khz(&self, c: u32) -> u32 {
        let request = |&s: &u32| self.domains[self.m.cpus[s as usize].domain as usize].hw.set_khz();
        one_speed(self.m, c).iter().map(request).max().unwrap_or(0)
    }

    /// Highest frequency with the cores that are active; at least one is, when a task runs.
    pub(crate) fn turbo_khz(&self, c: u32) -> u32 {
        let spec = &self.m.cpus[c as usize];
        let active = self.hw.active_cores[spec.cluster as usize];
        let limits = &self.m.domains[spec.domain as usize].turbo_khz;
        let at = (active.max(1) as usize - 1).min(limits.len().saturating_sub(1));
        limits.get(at).copied().unwrap_or(u32::MAX)
    }

    pub(crate) fn awake_threads(&self, c: u32) -> usize {
        let awake = |&&s: &&u32| self.cpus[s as usize].is_awake();
        self.m.cpus[c as usize].smt.iter().filter(awake).count()
    }

    /// The part of the core's single-thread speed that each of its busy threads has, as a fraction.
    pub(crate) fn thread_share(&self, c: u32) -> (u64, u64) {
        let (busy, together_pct) = (self.awake_threads(c) as u64, self.m.smt_throughput_pct);
        if busy < 2 || together_pct == 0 { (1, 1) } else { (together_pct.into(), 100 * busy) }
    }

    /// The idle state a core is in when thread `c` asks for `state`: the shallowest its threads ask for.
    pub(crate) fn core_idle_state(&self, c: u32, state: u32) -> u32 {
        let smt = &self.m.cpus[c as usize].smt;
        if smt.len() < 2 {
            return state;
        }
        let halted = u32::from(self.m.domains[self.m.cpus[c as usize].domain as usize].polling);
        let of = |&s: &u32| match self.cpus[s as usize].power() {
            _ if s == c => state,
            // The thread stops, its core does not: the first state that is not polling.
            Power::Awake => halted,
            Power::Idle { state } | Power::Exiting { state } => state.max(halted),
        };
        smt.iter().map(of).min().unwrap_or(state).min(state)
    }

    /// Number of threads that share the power of a core in which `c` is awake.
    pub(crate) fn power_sharers(&self, c: u32) -> u64 {
        if self.hw.shared { self.awake_threads(c).max(1) as u64 } else { 1 }
    }
}
