// SPDX-License-Identifier: GPL-2.0-or-later
//! Waiting times of a called task, by cause, from the call of its list (`Op::CallAll`) until it executes
//! (`Op::AwaitCall`).

use crate::hw::power::Power;
use crate::report::CallParts;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK, SPEED_SHIFT};

/// A call that its task has not got yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    task: u32,
    since_ns: u64,
    /// Up to when its time is split.
    split_ns: u64,
    parts: CallParts,
}

impl<S: Run> Engine<'_, S> {
    /// The list of task `t` is called.
    pub(crate) fn call_begins(&mut self, t: u32) {
        let (since_ns, split_ns, parts) = (self.now, self.now, CallParts::default());
        self.call_is_void(t);
        self.lines.called.push(Called { task: t, since_ns, split_ns, parts });
    }

    /// Forgets all earlier calls of task `t`.
    pub(crate) fn call_is_void(&mut self, t: u32) {
        self.lines.called.retain(|call| call.task != t);
    }

    /// Task `t` executes and asks whether it was called: how long ago, and what it waited for since.
    pub(crate) fn call_ends(&mut self, t: u32) -> Option<(u64, CallParts)> {
        let at = self.lines.called.iter().position(|call| call.task == t)?;
        let c = self.tasks[t as usize].cpu;
        self.split_calls(c, self.now - self.cpus[c as usize].line.accounted_ns);
        let call = self.lines.called.remove(at);
        debug_assert_eq!(call.parts.sum_ns(), self.now - call.since_ns, "parts of a call");
        Some((self.now - call.since_ns, call.parts))
    }

    /// The last `delta` ns of CPU `c` are about to be accounted for: called tasks there waited for something.
    #[inline]
    pub(crate) fn split_calls(&mut self, c: u32, delta: u64) {
        for i in 0..self.lines.called.len() {
            if self.tasks[self.lines.called[i].task as usize].cpu == c {
                self.split_call(i, c, delta);
            }
        }
    }

    fn split_call(&mut self, i: usize, c: u32, delta: u64) {
        let (cpu, call) = (&self.cpus[c as usize], &mut self.lines.called[i]);
        let begun_ns = self.now - delta;
        let from_ns = begun_ns.max(call.split_ns);
        call.split_ns = self.now;
        // The kernel's own work comes first.
        let path_until_ns = (begun_ns + cpu.line.overhead_ns).clamp(from_ns, self.now);
        let (path_ns, rest_ns) = (path_until_ns - from_ns, self.now - path_until_ns);
        let parts = &mut call.parts;
        match cpu.power() {
            Power::Idle { .. } => parts.unheard_ns += path_ns + rest_ns,
            Power::Exiting { .. } => parts.idle_exit_ns += path_ns + rest_ns,
            Power::Awake => {
                let search_ns = cpu.search.known_until_ns(self.now).clamp(from_ns, path_until_ns) - from_ns;
                let other = cpu.line.irq_depth == 0 && cpu.curr != NO_TASK && cpu.curr != call.task;
                let own_ns = path_ns - search_ns + if other { 0 } else { rest_ns };
                let at_full_ns =
                    ((u128::from(own_ns) * u128::from(cpu.line.speed)) >> SPEED_SHIFT).min(own_ns.into()) as u64;
                parts.search_ns += search_ns;
                parts.queued_ns += if other { rest_ns } else { 0 };
                parts.path_ns += at_full_ns;
                parts.slow_ns += own_ns - at_full_ns;
            }
        }
    }
}
