// SPDX-License-Identifier: GPL-2.0-only
//! Idle states: which one the core's governor chooses for a CPU, and which one its core and cluster reach.

use pelton_core::{IdleChoice, IdleNow, IdleState, IdleTable, idle_single, value};
use pelton_schema::Sink;

use crate::engine::Engine;
use crate::engine::state::Power;
use pelton_model::machine::{FreqDomain, Machine};

/// The states of a domain as its governor sees them.
pub(crate) fn idle_table(domain: &FreqDomain) -> IdleTable {
    let mut table =
        IdleTable { count: domain.idle_states.len() as u32, polling: domain.polling.into(), ..IdleTable::default() };
    for (row, state) in table.states.iter_mut().zip(&domain.idle_states) {
        *row = IdleState { exit_ns: state.wakeup_latency_ns(), residency_ns: state.min_residency_ns };
    }
    table
}

impl<S: Sink> Engine<'_, S> {
    /// Longest exit latency that somebody allows.
    pub(crate) fn latency_limit_ns(&self) -> u64 {
        self.w.cpu_dma_latency_us.map_or(u64::MAX, |us| u64::from(us) * 1000)
    }

    /// Tasks that ran on CPU `c` last and wait for I/O. Newer forms of the governor do not ask for them.
    fn iowaiters(&self, c: u32) -> u32 {
        if self.policy.menu_form > value::MENU_FORM_6_6 {
            return 0;
        }
        self.cpus[c as usize].nr_iowait()
    }

    /// Is CPU `c` so busy that teo of 6.6 takes a shallower state? Other forms do not ask.
    fn utilized(&self, c: u32) -> bool {
        let asks = self.policy.idle_governor == value::IDLE_GOVERNOR_TEO && self.policy.teo_form == value::TEO_FORM_6_6;
        asks && pelton_core::CpuState::fill(&self.cpus[c as usize].rq, 0, 0, 0).is_utilized(self.policy)
    }

    /// Does a task that ran on CPU `c` last wait for I/O?
    pub(crate) fn waits_for_io(&self, c: u32) -> bool {
        self.cpus[c as usize].nr_iowait() > 0
    }

    /// `got_tick`: a tick ended the last stay, and the CPU has had nothing to run since.
    pub(crate) fn choose_idle_state(&mut self, c: u32, got_tick: bool) -> IdleChoice {
        let d = self.m.cpus[c as usize].domain as usize;
        if idle_single(self.policy, self.idle_tables[d].count) {
            return IdleChoice { state: 0, stop_tick: got_tick.into() };
        }
        let latency_ns = self.latency_limit_ns();
        let (iowaiters, utilized) = (self.iowaiters(c), u32::from(self.utilized(c)));
        let cpu = &mut self.cpus[c as usize];
        let first_ns = cpu.timers.first_ns().min(cpu.timers_of.wakes_ns.unwrap_or(u64::MAX));
        let sleep_ns = if first_ns == u64::MAX { u64::MAX } else { first_ns.saturating_sub(self.now) };
        let event_ns = sleep_ns.min(cpu.tick.wanted_ns().saturating_sub(self.now));
        let stops = self.policy.idle_tick == value::IDLE_TICK_STOPS;
        let tick_stopped = u32::from(cpu.tick_stopped && !stops);
        let tick_ns = self.tick_ns;
        let now = IdleNow {
            sleep_ns,
            event_ns,
            tick_ns,
            latency_ns,
            tick_stopped,
            iowaiters,
            utilized,
            ..IdleNow::default()
        };
        let table = &self.idle_tables[d];
        let mut choice = match self.policy.idle_governor {
            value::IDLE_GOVERNOR_MENU => cpu.menu.select(self.policy, table, &now),
            value::IDLE_GOVERNOR_TEO => cpu.teo.select(self.policy, table, &now),
            _ => IdleChoice { state: next_timer(&self.m.domains[d], &now), stop_tick: 1 },
        };
        choice.stop_tick |= u32::from(stops);
        choice
    }

    /// The state CPU `c` is in when it asked for `state`, and whether all CPUs of its cluster are in it together.
    pub(crate) fn reached_idle_state(&self, c: u32, state: u32) -> (u32, bool) {
        self.m.reached_idle_state(c, self.core_idle_state(c, state), |near| match self.cpus[near as usize].power {
            Power::Idle { state } => Some(state),
            _ => None,
        })
    }

    /// Does waking this idle CPU take an interrupt? Not while it watches its need-resched flag.
    pub(crate) fn idle_needs_ipi(&self, c: u32) -> bool {
        let polls = |state| state == 0 && self.m.domains[self.m.cpus[c as usize].domain as usize].polling;
        match self.cpus[c as usize].power {
            Power::Idle { state } => !self.m.idle_watches_flag && !polls(state),
            _ => false,
        }
    }
}

/// The deepest allowed state that pays until the next timer.
fn next_timer(domain: &FreqDomain, now: &IdleNow) -> u32 {
    let allowed = domain.idle_states.iter().take_while(|s| s.wakeup_latency_ns() <= now.latency_ns).count();
    let pays = |s: &pelton_model::machine::IdleState| s.min_residency_ns <= now.sleep_ns;
    domain.idle_states[..allowed].iter().rposition(pays).unwrap_or(0) as u32
}

/// One table per domain.
pub(crate) fn idle_tables(m: &Machine) -> Vec<IdleTable> {
    m.domains.iter().map(idle_table).collect()
}
