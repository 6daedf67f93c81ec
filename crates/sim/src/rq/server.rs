// SPDX-License-Identifier: GPL-2.0-or-later
//! The fair server (6.12): started by the first fair task of a CPU, stopped where it finds none. While it is active its
//! bandwidth counts in what the CPU asks for.

use pelton_core::{ServerBw, value};
use pelton_schema::HookSite;

use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

impl<S: Run> Engine<'_, S> {
    /// The first fair task of `c` was queued.
    pub(crate) fn server_start(&mut self, c: u32) {
        if self.server_bw_q20(c) == 0 {
            return;
        }
        let cpu = &self.cpus[c as usize];
        let alone = cpu.curr == NO_TASK && cpu.nr_running() == cpu.fair.h_nr_queued();
        if alone && self.policy.server_idle == value::SERVER_IDLE_TAKEN {
            self.server_idled(c, false);
        }
        if self.server_is_started(c) {
            return;
        }
        let change = self.server_begins(c);
        self.count_server(c, change);
        if self.server_deadline_ns(c).is_some() {
            self.resched_cpu(c);
        }
    }

    /// The server of `c` was to run, and there is no fair task for it.
    pub(crate) fn server_stop(&mut self, c: u32) {
        let change = self.server_ends(c);
        self.count_server(c, change);
    }

    /// Starvation is at hand on `c`, or the next period begins. An idle CPU is not woken for a server that stops there.
    pub(crate) fn server_timer(&mut self, c: u32) {
        self.server_interrupts(c, Self::server_expires);
        if self.server_deadline_ns(c).is_none() {
            return;
        }
        if self.cpus[c as usize].is_idle() { self.server_stop(c) } else { self.resched_cpu(c) }
    }

    /// The 0-lag time of a server that was stopped is over.
    pub(crate) fn server_inactive(&mut self, c: u32) {
        self.server_interrupts(c, Self::server_goes);
    }

    /// A timer of the server of `c` expired.
    fn server_interrupts(&mut self, c: u32, does: impl FnOnce(&mut Self, u32) -> ServerBw) {
        self.exec = c;
        self.account(c);
        self.update_clock(c);
        let change = does(self, c);
        self.count_server(c, change);
    }

    /// The server's bandwidth comes to the CPU's or leaves it, and that asks for a frequency.
    fn count_server(&mut self, c: u32, change: ServerBw) {
        if change == ServerBw::Stays {
            return;
        }
        self.request_changes(c);
        let bw = self.server_bw_q20(c);
        self.cpus[c as usize].dl.counts(bw, change == ServerBw::Added);
        self.hook_event(c, HookSite::Dl, 0);
    }
}
