// SPDX-License-Identifier: GPL-2.0-only
//! The idle task of a CPU (`do_idle`): into the state that its governor chooses, in it, out of it, and back in when the
//! event was not for a task.

use pelton_core::{IdleTable, value, woke};
use pelton_schema::{Event, IDLE_EXIT, Sink};

use crate::engine::Engine;
use crate::engine::queue::Ev;
use crate::engine::state::{Deferred, IdleLoop, Power};

/// Polling ends at the first residency of at least this (`CPUIDLE_POLL_MIN`), to give the governor another chance.
const POLL_NS_MIN: u64 = 10_000;

impl<S: Sink> Engine<'_, S> {
    /// CPU `c` switched to its idle task: it goes idle when the kernel's own work is done.
    pub(crate) fn go_idle(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        if cpu.power != Power::Awake || cpu.need_resched {
            return;
        }
        if !cpu.idle_path {
            cpu.idle_path = true;
            let newly = cpu.idle_loop == IdleLoop::Out;
            if newly {
                cpu.idle_loop = IdleLoop::In;
            }
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

    /// CPU `c` has nothing to run.
    pub(crate) fn enter_idle(&mut self, c: u32) {
        let got_tick = self.cpus[c as usize].idle_loop == IdleLoop::Ticked;
        let choice = self.choose_idle_state(c, got_tick);
        if choice.stop_tick != 0 || self.cpus[c as usize].tick_stopped {
            self.stop_tick(c);
            self.enters_nohz(c);
            self.cpus[c as usize].idle_calls += 1;
        }
        let state = choice.state;
        self.set_power(c, Power::Idle { state });
        self.charge_idle_entry(c, state);
        self.row_changes(c);
        let cpu = &mut self.cpus[c as usize];
        cpu.idle_since_ns = self.now;
        cpu.report.idle_entries[state as usize] += 1;
        self.limit_polling(c, state);
        self.emit(Event::CpuIdle { cpu: c, state });
    }

    /// A polling CPU asks its governor again after a while, unless nobody would allow another answer.
    pub(crate) fn limit_polling(&mut self, c: u32, state: u32) {
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

    /// CPU `c` executes again: it handles what woke it, and goes back to idle when that was nothing to schedule for.
    pub(crate) fn idle_exited(&mut self, c: u32) {
        let Power::Exiting { state } = self.cpus[c as usize].power else { return };
        self.exec = c;
        self.account(c);
        self.set_power(c, Power::Awake);
        self.emit(Event::CpuIdle { cpu: c, state: IDLE_EXIT });
        let ticks = self.end_stay(c, state);
        self.cpus[c as usize].idle_loop = if ticks { IdleLoop::Ticked } else { IdleLoop::In };
        self.charge_cost(c, self.m.costs.idle_exit_ns);
        if ticks {
            self.tick_work(c);
        }
        let mut came = std::mem::take(&mut self.cpus[c as usize].deferred);
        for deferred in came.drain(..) {
            match deferred {
                Deferred::Timer(t) => self.wake(t, c),
                Deferred::Irq(source) => self.irq_start(source),
                Deferred::Io(t) => self.io_irq_start(t),
                Deferred::Quota(group, kind) => {
                    self.quota_timer(group, kind);
                    self.note_freed();
                }
            }
        }
        // Awake, it defers nothing more: the room is used again.
        if self.cpus[c as usize].deferred.is_empty() {
            self.cpus[c as usize].deferred = came;
        }
        self.exec = c;
        let asked = self.serve_deferred_sample(c);
        self.wake_asked(asked);
        let asked = self.serve_cpu_timer(c);
        self.wake_asked(asked);
        self.exec = c;
        self.walk_if_asked(c);
        if std::mem::take(&mut self.cpus[c as usize].wake_resched) {
            self.resched_cpu(c);
        }
        self.go_idle(c);
    }

    /// Tells the governor how long the CPU stayed; true when the tick is due.
    pub(crate) fn end_stay(&mut self, c: u32, state: u32) -> bool {
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
}

/// How long a CPU polls before it asks again.
pub(crate) fn poll_ns(table: &IdleTable, tick_ns: u64) -> u64 {
    let deeper = table.states.iter().take(table.count as usize).skip(1);
    deeper.map(|s| s.residency_ns).find(|&ns| ns >= POLL_NS_MIN).unwrap_or(u64::MAX).min(tick_ns / 16)
}
