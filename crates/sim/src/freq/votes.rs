// SPDX-License-Identifier: GPL-2.0-or-later
//! sched-DVFS: scheduler events become votes, votes become work for the driver. The arithmetic is the core's
//! (`sched_dvfs.h`).
//!
//! A CPU's usage is the utilization of its root queue, running and blocked: what the governor's own kernels kept in
//! two sums.

use pelton_core::{SchedDvfs, boost_full, boosted, cpu_bw_dl, sched_dvfs_request, sched_dvfs_usage, value, vote};

use crate::engine::queue::Ev;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// The governor of CPU `c` takes votes.
    #[inline]
    fn votes(&self, c: u32) -> bool {
        !S::PLAIN && self.freq.hooks.takes_votes && !self.is_given(c)
    }

    fn usage(&self, c: u32) -> u32 {
        let rq = &self.cpus[c as usize].rq;
        sched_dvfs_usage(rq.cfs.avg.util_avg, rq.cap_orig)
    }

    fn boosted_usage(&mut self, c: u32) -> u32 {
        let boost = self.boost_of(c);
        let full = boost_full(self.policy.get(), self.cpus[c as usize].rq.cap_orig);
        boosted(self.policy.get(), full, self.usage(c), boost)
    }

    /// A fair task became runnable on CPU `c` by a wake-up or as a new one, or the balancer moved some.
    #[inline]
    pub(crate) fn vote_usage(&mut self, c: u32) {
        if self.votes(c) {
            let usage = self.boosted_usage(c);
            self.vote(c, usage, true);
        }
    }

    /// A fair task of CPU `c` went to sleep: the remaining tasks vote, or none.
    #[inline]
    pub(crate) fn vote_dequeue(&mut self, c: u32) {
        if !self.votes(c) {
            return;
        }
        if self.cpus[c as usize].fair.nr_queued() > 0 {
            return self.vote_usage(c);
        }
        let (d, place) = (self.m.cpus[c as usize].domain, self.targets.place(c));
        self.domains[d as usize].freq.votes[place as usize].reset();
    }

    /// The tick of a fair task on CPU `c`.
    pub(crate) fn vote_tick(&mut self, c: u32) {
        if !self.votes(c) {
            return;
        }
        let cap_orig = self.cpus[c as usize].rq.cap_orig;
        let domain = &self.domains[self.m.cpus[c as usize].domain as usize];
        if domain.freq.sd.tick(cap_orig, self.usage(c)).is_some() {
            self.vote(c, cap_orig, false);
        }
    }

    /// CPU `c` votes; with the margin, or all of itself.
    fn vote(&mut self, c: u32, usage: u32, margin: bool) {
        let (d, place) = (self.m.cpus[c as usize].domain, self.targets.place(c));
        let now = self.boot_ns + self.now;
        let cpu = &self.cpus[c as usize];
        let (cap_orig, rt, dl) = (cpu.rq.cap_orig, cpu.rq.rt.util_avg as u32, cpu_bw_dl(cpu.dl.running_bw_q20()));
        let domain = &mut self.domains[d as usize];
        let said = if self.policy.governor == value::GOVERNOR_SCHED_DVFS_V7 {
            let own = &mut domain.freq.votes[place as usize];
            (own.cfs, own.rt, own.dl) = (usage, rt, dl);
            domain.freq.sd.update(&mut domain.freq.votes, place, true, domain.hw.khz())
        } else {
            let cap = if margin { sched_dvfs_request(usage) } else { usage };
            domain.freq.sd.set_cap(&mut domain.freq.votes, place, cap, cap_orig, now)
        };
        self.pay_vote(c, said);
        self.observe_event(c);
        if said == vote::DRIVE {
            self.domains[d as usize].report.evaluations += 1;
            self.carry_out(d);
        }
    }

    /// A vote that the window refuses is a store and a comparison; any other one is a call of the governor.
    fn pay_vote(&mut self, c: u32, said: u32) {
        let refused = said == vote::THROTTLED;
        let cost_ns = if refused { self.m.costs.vote_ns } else { self.m.costs.hook_ns };
        let paid_ns = self.charge_cost(self.exec, cost_ns);
        self.cpus[self.exec as usize].report.hook_ns += paid_ns;
        let d = self.m.cpus[c as usize].domain as usize;
        self.domains[d].report.gated += u64::from(refused);
    }

    /// Hands the request to the driver: at once where that is fast and nothing has to be waited for.
    fn carry_out(&mut self, d: u32) {
        let (now, cpu) = (self.boot_ns + self.now, self.exec);
        let domain = &mut self.domains[d as usize];
        let wait_ns = domain.freq.sd.due_ns(self.policy.get(), now) - now;
        if domain.freq.worker_task.is_some() {
            if !std::mem::replace(&mut domain.freq.kick_pending, true) || wait_ns == 0 {
                self.queue.push(self.now + wait_ns, Ev::WorkerKick { domain: d, cpu });
            }
            return;
        }
        let khz = domain.freq.sd.resolve(domain.hw.khz(), domain.freq.sd.requested_khz);
        domain.report.driver_calls += 1;
        let write_ns = self.charge_cost(cpu, self.m.costs.register_write_ns);
        self.set_frequency(d, khz);
        let stall_ns = self.m.domains[d as usize].switch_time_ns;
        self.charge_wall(cpu, stall_ns);
        self.cpus[cpu as usize].report.hook_ns += write_ns + stall_ns;
        self.domains[d as usize].freq.sd.done(khz, now);
    }

    /// The worker runs: the operating point it must set. Nothing to set still begins the window.
    pub(crate) fn voted_khz(&mut self, d: u32) -> u32 {
        let now = self.boot_ns + self.now;
        let domain = &mut self.domains[d as usize];
        let khz = domain.freq.sd.resolve(domain.hw.khz(), domain.freq.sd.requested_khz);
        if khz == domain.freq.sd.cur_khz {
            domain.freq.sd.done(khz, now);
        }
        khz
    }
}

/// A domain's record at the start.
pub(crate) fn record(
    policy: &pelton_core::Policy,
    spec: &pelton_model::machine::FreqDomain,
    khz: &[u32],
    cur: u32,
) -> SchedDvfs {
    SchedDvfs {
        window_ns: pelton_core::sched_dvfs_window_ns(policy, spec.transition_latency_ns),
        requested_khz: cur,
        cur_khz: cur,
        min_khz: khz[0],
        max_khz: khz[khz.len() - 1],
        nr_cpus: spec.cpus.len() as u32,
        ..SchedDvfs::default()
    }
}
