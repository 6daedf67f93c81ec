// SPDX-License-Identifier: GPL-2.0-or-later
//! The fair server of a CPU: when its timers expire, and what is taken from its runtime.

use pelton_core::{DlServer, Policy, ServerBw, value};

use crate::engine::queue::{Ev, Moment};
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

/// The server, and its timers.
#[derive(Debug)]
pub(crate) struct Server {
    dl_server: DlServer,
    /// Fair time that was not charged to it yet, and from how much on it has to be.
    untold_ns: u64,
    slack_ns: u64,
    /// Time at which its timer expires (`server_expires`).
    timer: Moment,
    /// Time at which its bandwidth no longer counts after a stop.
    inactive: Moment,
    /// Up to when idle time was charged to it.
    idle_ns: u64,
}

impl Server {
    pub(crate) fn new(policy: &Policy) -> Server {
        let (timer, inactive) = (Moment::default(), Moment::default());
        Server { dl_server: DlServer::new(policy), untold_ns: 0, slack_ns: 0, timer, inactive, idle_ns: 0 }
    }

    /// Bandwidth of the server that counts in the running bandwidth, Q20.
    #[cfg(test)]
    pub(crate) fn counted_bw_q20(&self) -> u64 {
        u64::from(self.dl_server.dl_server_active | self.dl_server.dl_non_contending) * self.dl_server.dl.dl_bw
    }

    /// All fair time is charged to it.
    fn tell(&mut self, policy: &Policy, now: u64) {
        let untold_ns = std::mem::take(&mut self.untold_ns);
        if untold_ns > 0 {
            self.dl_server.ran(policy, now, untold_ns, false);
        }
    }
}

impl<S: Run> Engine<'_, S> {
    /// Something happens to the server of `c`, which is charged fair time first; its timers follow.
    fn tell_server<T>(&mut self, c: u32, happens: impl FnOnce(&mut DlServer, &Policy, u64) -> T) -> T {
        let (policy, now) = (self.policy.get(), self.now);
        let server = &mut self.cpus[c as usize].server;
        server.tell(policy, now);
        let said = happens(&mut server.dl_server, policy, now);
        server.slack_ns = server.dl_server.slack_ns();
        self.arm_server(c);
        said
    }

    /// The server of `c` may run now, before real-time tasks: when, by the order of deadlines.
    #[inline]
    pub(crate) fn server_deadline_ns(&self, c: u32) -> Option<u64> {
        let server = &self.cpus[c as usize].server.dl_server;
        (server.on_dl_rq != 0).then_some(server.dl.deadline_ns)
    }

    /// Bandwidth that the server of `c` reserves, Q20; 0: there is none.
    #[inline]
    pub(crate) fn server_bw_q20(&self, c: u32) -> u64 {
        self.cpus[c as usize].server.dl_server.dl.dl_bw
    }

    /// A start of the server of `c` would change nothing.
    #[inline]
    pub(crate) fn server_is_started(&self, c: u32) -> bool {
        let server = &self.cpus[c as usize].server.dl_server;
        server.dl_server_active != 0 && server.dl_defer_idle == 0
    }

    /// A first fair task comes to `c`.
    pub(crate) fn server_begins(&mut self, c: u32) -> ServerBw {
        self.tell_server(c, |server, policy, now| server.start(policy, now))
    }

    /// Stops the server of CPU `c`, which has no fair task any more.
    pub(crate) fn server_ends(&mut self, c: u32) -> ServerBw {
        self.tell_server(c, |server, _, now| server.stop(now))
    }

    /// Its timer expires: what runs now is accounted first where the release does that.
    pub(crate) fn server_expires(&mut self, c: u32) -> ServerBw {
        if self.tell_server(c, |server, policy, _| server.expire(policy)) {
            if self.cpus[c as usize].curr == NO_TASK {
                self.server_idled(c, self.cpus[c as usize].is_idle());
            } else {
                self.update_curr(c);
            }
        }
        self.tell_server(c, |server, _, now| server.timer(now))
    }

    /// The 0-lag time after its stop is over.
    pub(crate) fn server_goes(&mut self, c: u32) -> ServerBw {
        self.tell_server(c, |server, _, _| server.inactive())
    }

    /// CPU `c` is idle from now on.
    #[inline]
    pub(crate) fn server_idles(&mut self, c: u32) {
        self.cpus[c as usize].server.idle_ns = self.now;
    }

    /// A fair task of `c` ran for so long.
    #[inline]
    pub(crate) fn server_ran(&mut self, c: u32, delta_ns: u64) {
        let server = &mut self.cpus[c as usize].server;
        if server.dl_server.dl_server_active == 0 {
            return;
        }
        server.untold_ns += delta_ns;
        if server.untold_ns >= server.slack_ns {
            self.server_used_up(c);
        }
    }

    #[cold]
    fn server_used_up(&mut self, c: u32) {
        let ran = self.server_deadline_ns(c).is_some();
        self.tell_server(c, |_, _, _| ());
        if ran && self.server_deadline_ns(c).is_none() {
            self.resched_cpu(c);
        }
    }

    /// Charges the time that CPU `c` was idle to its server, since the last time; `still`: there is nothing to run yet.
    pub(crate) fn server_idled(&mut self, c: u32, still: bool) {
        if self.server_bw_q20(c) == 0 {
            return;
        }
        let now = self.now;
        let server = &mut self.cpus[c as usize].server;
        let delta_ns = now - std::mem::replace(&mut server.idle_ns, now);
        if self.policy.server_idle == value::SERVER_IDLE_TAKEN {
            self.tell_server(c, |server, _, _| server.idled(delta_ns));
        } else if still {
            self.tell_server(c, |server, policy, now| server.ran(policy, now, delta_ns, true));
        } else {
            self.server_ran(c, delta_ns);
        }
    }

    /// The timers of the server of `c` may expire at other times than before.
    fn arm_server(&mut self, c: u32) {
        let end_ns = self.end_ns;
        let server = &mut self.cpus[c as usize].server;
        let (timer_ns, inactive_ns) = (server.dl_server.timer_ns, server.dl_server.inactive_ns);
        for (moment, at, inactive) in [(&mut server.timer, timer_ns, false), (&mut server.inactive, inactive_ns, true)]
        {
            if at == 0 || at > end_ns {
                moment.cancel();
            } else if let Some(generation) = moment.set(at) {
                self.queue.push(at, Ev::Server { cpu: c, generation, inactive });
            }
        }
    }

    /// A timer's event surfaces: has its time come?
    pub(crate) fn server_due(&mut self, cpu: u32, generation: u32, inactive: bool) -> bool {
        let server = &mut self.cpus[cpu as usize].server;
        let moment = if inactive { &mut server.inactive } else { &mut server.timer };
        match moment.surface(self.now, generation) {
            Err(Some((at, generation))) => self.queue.push(at, Ev::Server { cpu, generation, inactive }),
            other => return other.is_ok(),
        }
        false
    }
}
