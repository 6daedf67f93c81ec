// SPDX-License-Identifier: GPL-2.0-or-later
//! The current activation of a task: what rt-app logs as one line.

use pelton_schema::Event;

/// From the end of the last one on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Activation {
    index: u64,
    start_ns: u64,
    wakeup_latency_ns: u64,
    run_ns_at_start: u64,
    /// Configured work since the start, ns at capacity 1024.
    work_ns: u64,
    /// Time at which it last went to sleep without working since.
    paused_ns: Option<u64>,
    /// The round contained an operation that ended an activation.
    ended_in_round: bool,
}

impl Activation {
    /// The first one, of a task that has run for `run_ns`.
    pub(crate) fn first(now: u64, run_ns: u64) -> Activation {
        Activation { start_ns: now, run_ns_at_start: run_ns, ..Activation::default() }
    }

    /// Sets the time at which the activation begins.
    pub(crate) fn starts_at(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// The task sleeps: unless it works again that is not part of the duration.
    pub(crate) fn pauses(&mut self, now: u64) {
        self.paused_ns.get_or_insert(now);
    }

    /// The task does something.
    pub(crate) fn goes_on(&mut self) {
        self.paused_ns = None;
    }

    /// The task has so much to work, ns at capacity 1024.
    pub(crate) fn works(&mut self, work_ns: u64) {
        self.work_ns = self.work_ns.saturating_add(work_ns);
        self.goes_on();
    }

    /// The task wakes, having run for `run_ns` in all: waiting for its turn is not part of the activation.
    #[inline]
    pub(crate) fn wakes(&mut self, now: u64, run_ns: u64) {
        if self.work_ns == 0 && run_ns == self.run_ns_at_start {
            self.start_ns = self.start_ns.max(now);
            self.paused_ns = None;
        }
    }

    /// The task runs that was woken so long ago.
    #[inline]
    pub(crate) fn waited(&mut self, latency_ns: u64) {
        self.wakeup_latency_ns = latency_ns;
    }

    /// An operation of this round ends it.
    pub(crate) fn ends_in_round(&mut self) {
        self.ended_in_round = true;
    }

    /// A round is over; true when an operation of it ended an activation.
    pub(crate) fn round_ends(&mut self) -> bool {
        std::mem::take(&mut self.ended_in_round)
    }

    /// Configured work since the start, ns at capacity 1024.
    pub(crate) fn work_ns(&self) -> u64 {
        self.work_ns
    }

    /// Length of the activation, ns, if it ends now.
    pub(crate) fn duration_ns(&self, now: u64) -> u64 {
        self.paused_ns.unwrap_or(now).saturating_sub(self.start_ns)
    }

    /// Ends the activation and begins the next one; `timer` is (slack, period) when a timer ends it. Returns the event
    /// to emit.
    pub(crate) fn ends(&mut self, now: u64, tid: u32, run_ns: u64, (slack_ns, period_ns): (i64, u64)) -> Event {
        let ended = *self;
        *self = Activation {
            index: ended.index + 1,
            ended_in_round: ended.ended_in_round,
            ..Activation::first(now, run_ns)
        };
        Event::TaskActivation {
            tid,
            index: ended.index,
            start_ns: ended.start_ns,
            wakeup_latency_ns: ended.wakeup_latency_ns,
            run_ns: run_ns - ended.run_ns_at_start,
            duration_ns: ended.duration_ns(now),
            slack_ns,
            period_ns,
        }
    }
}
