// SPDX-License-Identifier: GPL-2.0-only
//! Entering and leaving idle. The core's governor chooses the state and decides about the tick; here time passes: into the
//! state, in it, out of it, and back in when the event was not for a task.

use pelton_core::{IdleChoice, IdleNow, IdleState, IdleTable, value, woke};
use pelton_schema::{Event, IDLE_EXIT, Sink};

use crate::engine::Engine;
use crate::machine::{FreqDomain, Machine};
use crate::queue::Ev;
use crate::state::{Deferred, Life, Power, Task};

/// Polling ends at the first residency of at least this (`CPUIDLE_POLL_MIN`), to give the governor another chance.
const POLL_NS_MIN: u64 = 10_000;

/// The states of a domain as its governor sees them.
pub(crate) fn idle_table(domain: &FreqDomain) -> IdleTable {
    let mut table =
        IdleTable { count: domain.idle_states.len() as u32, polling: domain.polling.into(), ..IdleTable::default() };
    for (row, state) in table.states.iter_mut().zip(&domain.idle_states) {
        *row = IdleState { exit_ns: state.wakeup_latency_ns(), residency_ns: state.min_residency_ns };
    }
    table
}

/// How long a CPU polls before it asks again.
fn poll_ns(table: &IdleTable, tick_ns: u64) -> u64 {
    let deeper = table.states.iter().take(table.count as usize).skip(1);
    deeper.map(|s| s.residency_ns).find(|&ns| ns >= POLL_NS_MIN).unwrap_or(u64::MAX).min(tick_ns / 16)
}

fn waits_on(t: &Task, c: u32) -> bool {
    t.in_iowait && t.life == Life::Sleeping && t.cpu == c
}

impl<S: Sink> Engine<'_, S> {
    /// CPU `c` switched to its idle task: it goes idle when the kernel's own work is done.
    pub(crate) fn go_idle(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        if cpu.power != Power::Awake || cpu.need_resched {
            return;
        }
        if !cpu.idle_path {
            cpu.idle_path = true;
            let newly = !std::mem::replace(&mut cpu.idle_loop, true);
            self.charge_cost(c, self.m.costs.idle_entry_ns);
            if newly {
                self.walk_newly_idle(c);
            }
        }
        if self.cpus[c as usize].walking.is_some() && self.path_left_ns(c) == 0 {
            self.walk_on(c);
        }
        let cpu = &self.cpus[c as usize];
        if cpu.overhead_ns > 0 || cpu.irq_depth > 0 || cpu.walking.is_some() {
            self.arm_segment(c);
        } else {
            self.enter_idle(c);
        }
    }

    /// The end of the work that keeps a CPU without a task awake.
    pub(crate) fn arm_idle_entry(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        if cpu.power == Power::Awake {
            let at = self.now.saturating_add(cpu.overhead_ns);
            self.push_segment(c, at);
        }
    }

    /// CPU `c` has nothing to run.
    pub(crate) fn enter_idle(&mut self, c: u32) {
        let choice = self.choose_idle_state(c);
        if choice.stop_tick != 0 || self.cpus[c as usize].tick_stopped {
            self.stop_tick(c);
            self.enters_nohz(c);
            self.cpus[c as usize].idle_calls += 1;
        }
        let state = choice.state;
        self.set_power(c, Power::Idle { state });
        self.charge_idle_entry(c, state);
        let cpu = &mut self.cpus[c as usize];
        cpu.idle_since_ns = self.now;
        cpu.report.idle_entries[state as usize] += 1;
        self.limit_polling(c, state);
        self.emit(Event::CpuIdle { cpu: c, state });
    }

    /// Longest exit latency that somebody allows.
    fn latency_limit_ns(&self) -> u64 {
        self.w.cpu_dma_latency_us.map_or(u64::MAX, |us| u64::from(us) * 1000)
    }

    /// Tasks that ran on CPU `c` last and wait for I/O. Newer forms of the governor do not ask for them.
    fn iowaiters(&self, c: u32) -> u32 {
        if self.policy.menu_form > value::MENU_FORM_6_6 {
            return 0;
        }
        self.tasks.iter().filter(|t| waits_on(t, c)).count() as u32
    }

    /// Is CPU `c` so busy that teo of 6.6 takes a shallower state? Other forms do not ask.
    fn utilized(&self, c: u32) -> bool {
        let asks = self.policy.idle_governor == value::IDLE_GOVERNOR_TEO && self.policy.teo_form == value::TEO_FORM_6_6;
        asks && self.inputs(c).is_utilized(&self.policy)
    }

    /// Does a task that ran on CPU `c` last wait for I/O?
    pub(crate) fn waits_for_io(&self, c: u32) -> bool {
        self.tasks.iter().any(|t| waits_on(t, c))
    }

    fn choose_idle_state(&mut self, c: u32) -> IdleChoice {
        let d = self.m.cpus[c as usize].domain as usize;
        let latency_ns = self.latency_limit_ns();
        let (iowaiters, utilized) = (self.iowaiters(c), u32::from(self.utilized(c)));
        let cpu = &mut self.cpus[c as usize];
        let sleep_ns = cpu.timers.first().map_or(u64::MAX, |&(at, _)| at.saturating_sub(self.now));
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
            value::IDLE_GOVERNOR_MENU => cpu.menu.select(&self.policy, table, &now),
            value::IDLE_GOVERNOR_TEO => cpu.teo.select(&self.policy, table, &now),
            _ => IdleChoice { state: next_timer(&self.m.domains[d], &now), stop_tick: 1 },
        };
        choice.stop_tick |= u32::from(stops);
        choice
    }

    /// A polling CPU asks its governor again after a while, unless nobody would allow another answer.
    fn limit_polling(&mut self, c: u32, state: u32) {
        let table = &self.idle_tables[self.m.cpus[c as usize].domain as usize];
        let learns = self.policy.idle_governor != value::IDLE_GOVERNOR_NEXT_TIMER;
        if state == 0 && table.polling != 0 && table.count > 1 && learns && self.latency_limit_ns() > 0 {
            let generation = self.cpus[c as usize].idle_generation;
            self.queue.push(self.now + poll_ns(table, self.tick_ns), Ev::PollLimit { cpu: c, generation });
        }
    }

    /// Nothing came while CPU `c` polled.
    pub(crate) fn poll_limit(&mut self, c: u32) {
        self.cpus[c as usize].poll_limited = true;
        self.leave_idle(c);
    }

    /// An idle CPU is needed: it can run after what is left of its entry, and its exit latency.
    pub(crate) fn leave_idle(&mut self, c: u32) {
        let Power::Idle { state } = self.cpus[c as usize].power else { return };
        let (reached, shared) = self.reached_idle_state(c, state);
        let spec = &self.m.cpus[c as usize];
        let states = &self.m.domains[spec.domain as usize].idle_states;
        let ghz_ns = |ns: u64| ns * u64::from(self.core_khz(c)) / 1_000_000;
        let of_state =
            |s: &crate::machine::IdleState| (s.entry_latency_ns, s.exit_latency_ns + ghz_ns(s.exit_ns_per_ghz));
        let (entry_ns, exit_ns) = states.get(reached as usize).map_or((0, 0), of_state);
        self.set_power(c, Power::Exiting { state });
        let cpu = &mut self.cpus[c as usize];
        cpu.idle_generation += 1;
        let generation = cpu.idle_generation;
        let entered_ns = cpu.idle_since_ns + entry_ns;
        let up_ns = &mut self.cluster_up_ns[spec.cluster as usize];
        // Nobody executes before what all share is up.
        let at_ns = (self.now.max(entered_ns) + exit_ns).max(*up_ns);
        if shared {
            *up_ns = at_ns;
        }
        self.queue.push(at_ns, Ev::IdleExit { cpu: c, generation });
    }

    /// The state CPU `c` is in when it asked for `state`, and whether all CPUs of its cluster are in it together.
    fn reached_idle_state(&self, c: u32, state: u32) -> (u32, bool) {
        self.m.reached_idle_state(c, self.core_idle_state(c, state), |near| match self.cpus[near as usize].power {
            Power::Idle { state } => Some(state),
            _ => None,
        })
    }

    /// CPU `c` executes again: it handles what woke it, and goes back to idle when that was nothing to schedule for.
    pub(crate) fn idle_exited(&mut self, c: u32) {
        let Power::Exiting { state } = self.cpus[c as usize].power else { return };
        self.exec = c;
        self.account(c);
        self.set_power(c, Power::Awake);
        self.emit(Event::CpuIdle { cpu: c, state: IDLE_EXIT });
        let ticks = self.end_stay(c, state);
        self.charge_cost(c, self.m.costs.idle_exit_ns);
        if ticks {
            self.tick_work(c);
        }
        for deferred in std::mem::take(&mut self.cpus[c as usize].deferred) {
            match deferred {
                Deferred::Timer(t) => self.wake(t, c),
                Deferred::Irq(source) => self.irq_start(source),
                Deferred::Quota(group, kind) => self.quota_timer(group, kind),
            }
        }
        self.exec = c;
        self.serve_deferred_sample(c);
        self.exec = c;
        self.walk_if_asked(c);
        if std::mem::take(&mut self.cpus[c as usize].wake_resched) {
            self.resched_cpu(c);
        }
        self.go_idle(c);
    }

    /// Tells the governor how long the CPU stayed; true when the tick is due.
    fn end_stay(&mut self, c: u32, state: u32) -> bool {
        let states = &self.m.domains[self.m.cpus[c as usize].domain as usize].idle_states;
        let cpu = &mut self.cpus[c as usize];
        cpu.idle_path = false;
        let stay_ns = self.now - cpu.idle_since_ns;
        let ticks = std::mem::take(&mut cpu.tick_due);
        let mut why = if ticks { woke::TICK } else { 0 };
        if std::mem::take(&mut cpu.poll_limited) {
            why |= woke::POLL_LIMIT;
        }
        match self.policy.idle_governor {
            value::IDLE_GOVERNOR_MENU => cpu.menu.last.woke(stay_ns, state, why),
            value::IDLE_GOVERNOR_TEO => cpu.teo.last.woke(stay_ns, state, why),
            _ => {}
        }
        let Some(own) = states.get(state as usize) else { return ticks };
        let deeper = states.get(state as usize + 1);
        if stay_ns < own.min_residency_ns {
            cpu.report.idle_too_deep[state as usize] += u64::from(state > 0);
        } else if deeper.is_some_and(|s| stay_ns.saturating_sub(own.wakeup_latency_ns()) >= s.min_residency_ns) {
            cpu.report.idle_too_shallow[state as usize] += 1;
        }
        ticks
    }

    /// Changes the power state, closing the energy and time totals of the old one.
    pub(crate) fn set_power(&mut self, c: u32, power: Power) {
        self.account(c);
        self.cluster_power_changes(c);
        let before = self.cpus[c as usize].power;
        if self.shared_hardware {
            self.account_core(c);
            self.cpus[c as usize].power = power;
            self.core_changes(c, before, power);
        } else {
            self.cpus[c as usize].power = power;
        }
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
    let pays = |s: &crate::machine::IdleState| s.min_residency_ns <= now.sleep_ns;
    domain.idle_states[..allowed].iter().rposition(pays).unwrap_or(0) as u32
}

/// One table per domain.
pub(crate) fn idle_tables(m: &Machine) -> Vec<IdleTable> {
    m.domains.iter().map(idle_table).collect()
}
