// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle states: which one the core's governor chooses for a CPU, and which one its core and cluster reach.

use pelton_core::{IdleChoice, IdleNow, IdleState, IdleTable, Menu, Policy, Teo, idle_single, value};

use crate::hw::power::Power;
use crate::shape::Run;
use crate::state::Engine;
use pelton_model::machine::FreqDomain;

/// The states of a domain as its governor sees them.
pub(crate) fn idle_table(domain: &FreqDomain) -> IdleTable {
    let mut table =
        IdleTable { count: domain.idle_states.len() as u32, polling: domain.polling.into(), ..IdleTable::default() };
    for (row, state) in table.states.iter_mut().zip(&domain.idle_states) {
        *row = IdleState { exit_ns: state.wakeup_latency_ns(), residency_ns: state.min_residency_ns };
    }
    table
}

/// State of a CPU's idle governors.
#[derive(Debug, Default)]
pub(crate) struct IdleGovernor {
    menu: Menu,
    teo: Teo,
}

impl IdleGovernor {
    /// The CPU woke after so long; `why` is from [`pelton_core::woke`].
    pub(crate) fn woke(&mut self, policy: &Policy, stay_ns: u64, state: u32, why: u32) {
        match policy.idle_governor {
            value::IDLE_GOVERNOR_MENU => self.menu.last.woke(stay_ns, state, why),
            value::IDLE_GOVERNOR_TEO => self.teo.last.woke(stay_ns, state, why),
            _ => {}
        }
    }
}

/// Coming events of a CPU that goes idle, beside the timers of tasks that sleep there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToCome {
    /// A tick ended the last stay, and the CPU has had nothing to run since.
    pub got_tick: bool,
    pub tick_stopped: bool,
    /// Its next tick, `u64::MAX` = none.
    pub tick_ns: u64,
    /// The governor's timer that wakes it, `u64::MAX` = none.
    pub governor_ns: u64,
    /// Tasks that ran there last and wait for I/O.
    pub iowaiters: u32,
}

impl<S: Run> Engine<'_, S> {
    /// Longest exit latency that is allowed.
    pub(crate) fn latency_limit_ns(&self) -> u64 {
        self.w.cpu_dma_latency_us.map_or(u64::MAX, |us| u64::from(us) * 1000)
    }

    /// Is CPU `c` so busy that teo of 6.6 takes a shallower state? Other forms do not ask.
    fn utilized(&self, c: u32) -> bool {
        let asks = self.policy.idle_governor == value::IDLE_GOVERNOR_TEO && self.policy.teo_form == value::TEO_FORM_6_6;
        asks && pelton_core::CpuState::fill(&self.cpus[c as usize].rq, 0, 0, 0).is_utilized(self.policy.get())
    }

    /// The idle state for CPU `c`, by what is to come.
    pub(crate) fn choose_idle_state(&mut self, c: u32, to_come: &ToCome) -> IdleChoice {
        let d = self.m.cpus[c as usize].domain as usize;
        if idle_single(self.policy.get(), self.hw.idle_tables[d].count) {
            return IdleChoice { state: 0, stop_tick: to_come.got_tick.into() };
        }
        let latency_ns = self.latency_limit_ns();
        let utilized = u32::from(self.utilized(c));
        let iowaiters = if self.policy.menu_form > value::MENU_FORM_6_6 { 0 } else { to_come.iowaiters };
        let cpu = &mut self.cpus[c as usize];
        let first_ns = cpu.timers.first_ns().min(to_come.governor_ns);
        let sleep_ns = if first_ns == u64::MAX { u64::MAX } else { first_ns.saturating_sub(self.now) };
        let event_ns = sleep_ns.min(to_come.tick_ns.saturating_sub(self.now));
        let stops = self.policy.idle_tick == value::IDLE_TICK_STOPS;
        let tick_stopped = u32::from(to_come.tick_stopped && !stops);
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
        let table = &self.hw.idle_tables[d];
        let before = self.kernel.is_some().then_some((cpu.idle.menu, cpu.idle.teo));
        let mut choice = match self.policy.idle_governor {
            value::IDLE_GOVERNOR_MENU => cpu.idle.menu.select(self.policy.get(), table, &now),
            value::IDLE_GOVERNOR_TEO => cpu.idle.teo.select(self.policy.get(), table, &now),
            _ => IdleChoice { state: next_timer(&self.m.domains[d], &now), stop_tick: 1 },
        };
        if let Some((menu, teo)) = before {
            choice = self.kernel_idle_state(c, (menu, teo), &now, choice);
        }
        choice.stop_tick |= u32::from(stops);
        choice
    }

    /// The state that the kernel's governor chooses for CPU `c`, with its records as they were, beside the core's.
    fn kernel_idle_state(&mut self, c: u32, (menu, teo): (Menu, Teo), now: &IdleNow, core: IdleChoice) -> IdleChoice {
        let (d, idle) = (self.m.cpus[c as usize].domain as usize, &mut self.cpus[c as usize].idle);
        let (Some(kernel), table, at) = (self.kernel.as_mut(), &self.hw.idle_tables[d], (self.now, c)) else {
            return core;
        };
        match self.policy.idle_governor {
            value::IDLE_GOVERNOR_MENU => kernel.menu_select(at, (menu, &mut idle.menu), table, now, core),
            value::IDLE_GOVERNOR_TEO => kernel.teo_select(at, (teo, &mut idle.teo), table, now, core),
            _ => core,
        }
    }

    /// The state CPU `c` is in when it asked for `state`, and whether all CPUs of its cluster are in it together.
    pub(crate) fn reached_idle_state(&self, c: u32, state: u32) -> (u32, bool) {
        self.m.reached_idle_state(c, self.core_idle_state(c, state), |near| match self.cpus[near as usize].power() {
            Power::Idle { state } => Some(state),
            _ => None,
        })
    }

    /// Does waking this idle CPU take an interrupt? Not while it watches its need-resched flag.
    pub(crate) fn idle_needs_ipi(&self, c: u32) -> bool {
        let polls = |state| state == 0 && self.m.domains[self.m.cpus[c as usize].domain as usize].polling;
        match self.cpus[c as usize].power() {
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
