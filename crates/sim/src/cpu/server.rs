// SPDX-License-Identifier: GPL-2.0-only
//! The fair server of a CPU: when its timers expire, and what is taken from its runtime.

use pelton_core::value;
use pelton_schema::Sink;

use crate::engine::Engine;
use crate::engine::queue::Ev;

impl<S: Sink> Engine<'_, S> {
    /// CPU `c` has a server, and that has runtime.
    #[inline]
    pub(crate) fn has_server(&self, c: u32) -> bool {
        self.cpus[c as usize].server.dl.dl_runtime_ns > 0
    }

    /// The timers of the server of `c` may expire at other times than before.
    pub(crate) fn arm_server(&mut self, c: u32) {
        let end_ns = self.end_ns;
        let cpu = &mut self.cpus[c as usize];
        let (timer_ns, inactive_ns) = (cpu.server.timer_ns, cpu.server.inactive_ns);
        for (moment, at, inactive) in
            [(&mut cpu.server_timer, timer_ns, false), (&mut cpu.server_inactive, inactive_ns, true)]
        {
            if at == 0 || at > end_ns {
                moment.cancel();
            } else if let Some(generation) = moment.set(at) {
                self.queue.push(at, Ev::Server { cpu: c, generation, inactive });
            }
        }
    }

    /// A fair task of `c` ran for so long, or with `idle` nobody did.
    #[inline]
    pub(crate) fn server_ran(&mut self, c: u32, delta_ns: u64, idle: bool) {
        let server = &mut self.cpus[c as usize].server;
        if server.dl_server_active == 0 {
            return;
        }
        let before = (server.timer_ns, server.on_dl_rq);
        server.ran(self.policy, self.now, delta_ns, idle);
        if before != (server.timer_ns, server.on_dl_rq) {
            self.server_changed(c, before.1);
        }
    }

    #[cold]
    fn server_changed(&mut self, c: u32, on_dl_rq: u32) {
        self.arm_server(c);
        if self.cpus[c as usize].server.on_dl_rq != on_dl_rq {
            self.resched_cpu(c);
        }
    }

    /// What CPU `c` was idle since its server last heard of it is told; `still`: there is nothing to run yet.
    pub(crate) fn server_idled(&mut self, c: u32, still: bool) {
        if !self.has_server(c) {
            return;
        }
        let now = self.now;
        let cpu = &mut self.cpus[c as usize];
        let delta_ns = now - std::mem::replace(&mut cpu.server_idle_ns, now);
        if self.policy.server_idle == value::SERVER_IDLE_WAITS {
            self.server_ran(c, delta_ns, still);
        } else {
            cpu.server.idled(delta_ns);
        }
    }

    /// A timer's event surfaces: has its time come?
    pub(crate) fn server_due(&mut self, cpu: u32, generation: u32, inactive: bool) -> bool {
        let own = &mut self.cpus[cpu as usize];
        let moment = if inactive { &mut own.server_inactive } else { &mut own.server_timer };
        match moment.surface(self.now, generation) {
            Err(Some((at, generation))) => self.queue.push(at, Ev::Server { cpu, generation, inactive }),
            other => return other.is_ok(),
        }
        false
    }
}
