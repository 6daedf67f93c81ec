// SPDX-License-Identifier: GPL-2.0-or-later
//! The idle task of a CPU (`do_idle`): into the state that its governor chooses, in it, out of it, and back in when the
//! event was not for a task.

use pelton_core::{IdleTable, value, woke};
use pelton_schema::{Event, IDLE_EXIT};

use crate::cpu::line::Deferred;
use crate::engine::queue::Ev;
use crate::hw::idle::ToCome;
use crate::hw::power::Power;
use crate::sched::parts::IdleLoop;
use crate::shape::Run;
use crate::state::Engine;

/// Polling ends at the first residency of at least this (`CPUIDLE_POLL_MIN`), to give the governor another chance.
const POLL_NS_MIN: u64 = 10_000;

impl<S: Run> Engine<'_, S> {
    /// CPU `c` switched to its idle task: it goes idle when the kernel's own work is done.
    pub(crate) fn go_idle(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        if !cpu.is_awake() || cpu.resched.is_asked() {
            return;
        }
        if !cpu.sched.idle_path {
            cpu.sched.idle_path = true;
            let newly = cpu.sched.idle_loop == IdleLoop::Out;
            if newly {
                cpu.sched.idle_loop = IdleLoop::In;
            }
            self.charge_cost(c, self.m.costs.idle_entry_ns);
            if newly {
                self.walk_newly_idle(c);
            }
        }
        if self.cpus[c as usize].search.walk().is_some() && self.path_left_ns(c) == 0 {
            self.walk_on(c);
        }
        let cpu = &self.cpus[c as usize];
        if cpu.line.in_path() || cpu.line.in_irq() || cpu.search.walk().is_some() {
            self.arm_segment(c);
        } else {
            self.enter_idle(c);
        }
    }

    /// CPU `c` has nothing to run.
    pub(crate) fn enter_idle(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        let to_come = ToCome {
            got_tick: cpu.sched.idle_loop == IdleLoop::Ticked,
            tick_stopped: cpu.sched.tick_stopped,
            tick_ns: cpu.sched.tick.wanted_ns(),
            governor_ns: self.timer_wakes_ns(c),
            iowaiters: cpu.line.nr_iowait(),
        };
        let choice = self.choose_idle_state(c, &to_come);
        if choice.stop_tick != 0 || self.cpus[c as usize].sched.tick_stopped {
            self.stop_tick(c);
            self.enters_nohz(c);
            self.cpus[c as usize].line.idles_without_tick();
        }
        let state = choice.state;
        self.set_power(c, Power::Idle { state });
        self.charge_idle_entry(c, state);
        self.row_changes(c);
        let cpu = &mut self.cpus[c as usize];
        cpu.line.idles(self.now);
        cpu.report.idle_entries[state as usize] += 1;
        self.limit_polling(c, state);
        self.emit(Event::CpuIdle { cpu: c, state });
    }

    /// A polling CPU asks its governor again after a while, unless no other answer is allowed.
    pub(crate) fn limit_polling(&mut self, c: u32, state: u32) {
        let table = self.hw.idle_table(self.m.cpus[c as usize].domain);
        let learns = self.policy.idle_governor != value::IDLE_GOVERNOR_NEXT_TIMER;
        if state == 0 && table.polling != 0 && table.count > 1 && learns && self.latency_limit_ns() > 0 {
            let generation = self.cpus[c as usize].line.idle_generation();
            self.queue.push(self.now + poll_ns(table, self.tick_ns), Ev::PollLimit { cpu: c, generation });
        }
    }

    /// Nothing came while CPU `c` polled.
    pub(crate) fn poll_limit(&mut self, c: u32) {
        self.cpus[c as usize].sched.poll_limited = true;
        self.leave_idle(c);
    }

    /// CPU `c` executes again: it handles what woke it, and goes back to idle when that was nothing to schedule for.
    pub(crate) fn idle_exited(&mut self, c: u32) {
        let Power::Exiting { state } = self.cpus[c as usize].power() else { return };
        self.exec = c;
        self.account(c);
        self.set_power(c, Power::Awake);
        self.emit(Event::CpuIdle { cpu: c, state: IDLE_EXIT });
        let ticks = self.end_stay(c, state);
        self.cpus[c as usize].sched.idle_loop = if ticks { IdleLoop::Ticked } else { IdleLoop::In };
        self.charge_cost(c, self.m.costs.idle_exit_ns);
        if ticks {
            self.tick_work(c);
        }
        let mut came = self.cpus[c as usize].line.take_deferred();
        for deferred in came.drain(..) {
            match deferred {
                Deferred::Timer(t) => self.wake(t, c),
                Deferred::Irq(source) => self.irq_start(source),
                Deferred::Io(t) => self.io_irq_start(t),
                Deferred::Ticker => self.scx_ticker(c),
                Deferred::Quota(group, kind) => {
                    self.quota_timer(group, kind);
                    self.note_freed();
                }
            }
        }
        self.cpus[c as usize].line.keep_room(came);
        self.exec = c;
        let asked = self.serve_deferred_sample(c);
        self.wake_asked(asked);
        let asked = self.serve_cpu_timer(c);
        self.wake_asked(asked);
        self.exec = c;
        self.walk_if_asked(c);
        if self.cpus[c as usize].resched.take_when_awake() {
            self.sched_ttwu_pending(c);
            self.resched_cpu(c);
        }
        self.go_idle(c);
    }

    /// Reports the length of the CPU's stay to the governor; true when the tick is due.
    pub(crate) fn end_stay(&mut self, c: u32, state: u32) -> bool {
        let states = &self.m.domains[self.m.cpus[c as usize].domain as usize].idle_states;
        let cpu = &mut self.cpus[c as usize];
        cpu.sched.idle_path = false;
        let stay_ns = self.now - cpu.line.idle_since_ns();
        let ticks = std::mem::take(&mut cpu.sched.tick_due);
        let mut why = if ticks { woke::TICK } else { 0 };
        if std::mem::take(&mut cpu.sched.poll_limited) {
            why |= woke::POLL_LIMIT;
        }
        cpu.idle.woke(self.policy.get(), stay_ns, state, why);
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

/// Time that a CPU polls before it asks the governor again, ns.
pub(crate) fn poll_ns(table: &IdleTable, tick_ns: u64) -> u64 {
    let deeper = table.states.iter().take(table.count as usize).skip(1);
    deeper.map(|s| s.residency_ns).find(|&ns| ns >= POLL_NS_MIN).unwrap_or(u64::MAX).min(tick_ns / 16)
}
