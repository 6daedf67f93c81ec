// SPDX-License-Identifier: GPL-2.0-only
//! SCHED_DEADLINE: earliest deadline first among tasks held to their reservation by a constant bandwidth server (SPEC J.3).

/// Deadline part of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct DlEntity {
    pub runtime_ns: u64,
    pub deadline_rel_ns: u64,
    pub period_ns: u64,
    /// Absolute deadline, ns.
    pub deadline_ns: u64,
    /// Budget left, ns.
    pub budget_ns: i64,
    /// Out of budget until its replenishment.
    pub throttled: bool,
    /// Its bandwidth counts in `running_bw` of this CPU.
    pub active: bool,
    /// Of the replenishment timer: an older event is stale.
    pub throttle_generation: u32,
    /// Of the 0-lag timer.
    pub zero_lag_generation: u32,
}

impl DlEntity {
    /// On wake-up: start a new server period when the old budget cannot be used without exceeding the bandwidth.
    pub(crate) fn wake(&mut self, now_ns: u64) {
        let left = self.deadline_ns.saturating_sub(now_ns);
        let overflow = i128::from(self.budget_ns) * i128::from(self.deadline_rel_ns)
            > i128::from(left) * i128::from(self.runtime_ns);
        if self.deadline_ns <= now_ns || overflow {
            self.deadline_ns = now_ns.saturating_add(self.deadline_rel_ns);
            self.budget_ns = self.runtime_ns as i64;
        }
    }

    /// Out of budget; returns the generation of its replenishment timer.
    pub(crate) fn start_throttle(&mut self) -> u32 {
        self.throttled = true;
        self.throttle_generation += 1;
        self.throttle_generation
    }

    /// Leaves the class: nothing of the server remains but its parameters.
    pub(crate) fn reset(&mut self) {
        (self.throttled, self.deadline_ns, self.budget_ns) = (false, 0, 0);
        self.throttle_generation += 1;
        self.stop_zero_lag();
    }

    /// Sleeps with bandwidth; returns the generation of its 0-lag timer.
    pub(crate) fn start_zero_lag(&mut self) -> u32 {
        self.zero_lag_generation += 1;
        self.zero_lag_generation
    }

    /// Awake again, or moved.
    pub(crate) fn stop_zero_lag(&mut self) {
        self.zero_lag_generation += 1;
    }

    /// When an exhausted server gets its next budget: the start of its next period.
    pub(crate) fn replenish_at_ns(&self) -> u64 {
        self.deadline_ns.saturating_add(self.period_ns).saturating_sub(self.deadline_rel_ns)
    }

    /// New budget; a server far behind starts afresh.
    pub(crate) fn replenish(&mut self, now_ns: u64) {
        while self.budget_ns <= 0 {
            self.deadline_ns = self.deadline_ns.saturating_add(self.period_ns);
            self.budget_ns += self.runtime_ns.clamp(1, i64::MAX as u64) as i64;
        }
        if self.deadline_ns <= now_ns {
            self.deadline_ns = now_ns.saturating_add(self.deadline_rel_ns);
            self.budget_ns = self.runtime_ns as i64;
        }
        self.throttled = false;
    }

    /// Time at which a sleeper's bandwidth stops counting.
    pub(crate) fn zero_lag_ns(&self) -> u64 {
        let used = i128::from(self.budget_ns.max(0)) * i128::from(self.period_ns) / i128::from(self.runtime_ns.max(1));
        self.deadline_ns.saturating_sub(used as u64)
    }
}

/// Deadline queue of one CPU: runnable, not throttled, not running; earliest deadline first.
#[derive(Clone, Debug, Default)]
pub(crate) struct DlRq {
    queue: Vec<(u64, u32)>,
    /// Sum of active reservations, Q20.
    pub running_bw_q20: u64,
}

impl DlRq {
    /// Adds a task.
    pub(crate) fn enqueue(&mut self, deadline_ns: u64, task: u32) {
        let i = self.queue.partition_point(|&(d, _)| d <= deadline_ns);
        self.queue.insert(i, (deadline_ns, task));
    }

    /// Removes a task.
    pub(crate) fn dequeue(&mut self, task: u32) {
        self.queue.retain(|&(_, t)| t != task);
    }

    /// Earliest deadline and its task.
    pub(crate) fn first(&self) -> Option<(u64, u32)> {
        self.queue.first().copied()
    }

    /// Waiting tasks, earliest deadline first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.queue.iter().copied()
    }

    /// Number of waiting tasks.
    pub(crate) fn len(&self) -> u32 {
        self.queue.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> DlEntity {
        DlEntity { runtime_ns: 10, deadline_rel_ns: 100, period_ns: 100, ..DlEntity::default() }
    }

    #[test]
    fn wake_starts_a_period_and_keeps_it_while_bandwidth_holds() {
        let mut s = server();
        s.wake(1000);
        assert_eq!((s.deadline_ns, s.budget_ns), (1100, 10));
        s.budget_ns = 4;
        s.wake(1050); // 4/50 <= 10/100
        assert_eq!((s.deadline_ns, s.budget_ns), (1100, 4));
        s.wake(1090); // 4/10 > 10/100
        assert_eq!((s.deadline_ns, s.budget_ns), (1190, 10));
    }

    #[test]
    fn exhausted_server_waits_for_its_next_period() {
        let mut s = server();
        s.wake(1000);
        s.budget_ns = -1;
        assert_eq!(s.replenish_at_ns(), 1100);
        s.replenish(1100);
        assert_eq!((s.deadline_ns, s.budget_ns), (1200, 9));
        s.budget_ns = 5;
        assert_eq!(s.zero_lag_ns(), 1150);
    }
}
