// SPDX-License-Identifier: GPL-2.0-or-later
//! The deadline server of the fair class. Each function is the C function of the same name in
//! `core/include/pelton/dl_server.h`.

use crate::policy::Policy;
use crate::sys::{self, DlServer, SERVER_ADDS, SERVER_SUBS};

/// Effect on the running bandwidth of a server's CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerBw {
    /// The bandwidth stays.
    Stays,
    /// The server's bandwidth is added.
    Added,
    /// The server's bandwidth is taken off.
    Taken,
}

fn said(bits: u32) -> ServerBw {
    match bits {
        SERVER_ADDS => ServerBw::Added,
        SERVER_SUBS => ServerBw::Taken,
        _ => ServerBw::Stays,
    }
}

impl DlServer {
    /// A CPU's server at the start; without runtime where the policy has none.
    #[must_use]
    pub fn new(policy: &Policy) -> DlServer {
        let mut server = DlServer::default();
        sys::dl_server_init(policy, &mut server);
        server
    }

    /// A first fair task is queued.
    ///
    /// ```
    /// use pelton_core::{DlServer, Policy, ServerBw};
    /// let policy = Policy::profile("7.2").expect("exists");
    /// let mut server = DlServer::new(&policy);
    /// assert_eq!(server.start(&policy, 2_000_000), ServerBw::Added);
    /// assert_eq!(server.timer_ns, 952_000_000);
    /// ```
    pub fn start(&mut self, policy: &Policy, now_ns: u64) -> ServerBw {
        said(sys::dl_server_start(policy, self, now_ns))
    }

    /// The server was to run and there is no fair task.
    pub fn stop(&mut self, now_ns: u64) -> ServerBw {
        said(sys::dl_server_stop(self, now_ns))
    }

    /// A fair task ran for `delta_ns`, or the CPU was idle (`idle`) where that counts.
    pub fn ran(&mut self, policy: &Policy, now_ns: u64, delta_ns: u64, idle: bool) {
        sys::dl_server_update(policy, self, now_ns, delta_ns, idle.into());
    }

    /// Fair time of less than this may be charged later, all at once.
    #[must_use]
    pub fn slack_ns(&self) -> u64 {
        sys::dl_server_slack(self)
    }

    /// The CPU was idle for `delta_ns`, where that is taken from what is left.
    pub fn idled(&mut self, delta_ns: u64) {
        sys::dl_server_update_idle_time(self, delta_ns);
    }

    /// Its timer expires; true: what runs now is accounted before [`DlServer::timer`].
    pub fn expire(&mut self, policy: &Policy) -> bool {
        sys::dl_server_expire(policy, self) != 0
    }

    /// Work of its timer.
    pub fn timer(&mut self, now_ns: u64) -> ServerBw {
        said(sys::dl_server_timer(self, now_ns))
    }

    /// The 0-lag time after a stop is over.
    pub fn inactive(&mut self) -> ServerBw {
        said(sys::dl_server_inactive(self))
    }
}
