// SPDX-License-Identifier: GPL-2.0-or-later
//! The governor's events of the grammar: hook calls, the worker, limits.

use super::domain::{OPPS, TABLE_KHZ};
use super::grammar::{Grammar, Runs};
use super::ops::Op;
use super::world::{CPUS, Slot, address};

/// `PELTON_HOOK_FLAG_IOWAIT`, `_RT`, `_DL`.
const FLAGS: [u64; 3] = [1, 2, 4];
/// `PELTON_VERDICT_OPEN`.
const OPEN: u64 = 0;

/// Settings of the governor that stay the same in one episode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) tick_ns: u64,
    /// Idle entries per CPU so far.
    pub(super) idle_calls: [u64; CPUS],
    /// Are clamps in use?
    pub(super) clamps: bool,
    /// Do requests hold until their inputs change?
    pub(super) keeps: bool,
}

impl Grammar {
    /// Random drivers: fast or slow, remote or not, invariant or not.
    pub(super) fn set_up_domains(&mut self) {
        let limits = [0, 500_000, 1_500_000, 10_000_000];
        for domain in 0..2 {
            let rate_limit_ns = limits[self.below(4) as usize];
            let [fast_switch, remote_ok] = [self.below(2), self.below(2)];
            let (invariant, known) = (self.below(4), self.below(2));
            let (limits_wanted, scaled) = (self.below(3), self.below(3));
            let policy = &mut self.episode.world.domains[domain].policy;
            policy.rate_limit_ns = rate_limit_ns;
            (policy.fast_switch, policy.remote_ok) = (fast_switch, remote_ok);
            policy.freq_invariant = u64::from(invariant > 0);
            policy.hw_max_khz = known * TABLE_KHZ[OPPS - 1];
            policy.need_update_limits = u64::from(limits_wanted == 0);
            policy.scale_khz = [0, TABLE_KHZ[OPPS - 2], TABLE_KHZ[OPPS - 1]][scaled as usize];
        }
        self.episode.start = self.episode.world.clone();
    }

    fn fill(&mut self, cpu: usize) -> u64 {
        let bw_dl = if self.below(4) == 0 { self.below(400) } else { 0 };
        let rt_nr = u64::from(self.runs[cpu] == Runs::Rt);
        let (min, max) = (self.below(1025), self.below(1025));
        let clamps = u64::from(self.governor.clamps) | min << 16 | max << 32;
        let idle_calls = self.governor.idle_calls[cpu];
        let args = [address(Slot::Rq(cpu)), address(Slot::State(cpu)), bw_dl, rt_nr, idle_calls, clamps];
        self.call(Op::CpuStateFill, &args);
        bw_dl
    }

    /// A scheduler event or context switch of a CPU: what the filter makes of it.
    pub(super) fn filter(&mut self, cpu: usize) {
        let how = self.below(512);
        let [policy, sc, rq] = [Slot::Policy(0), Slot::Cpu(0, cpu), Slot::Rq(cpu)].map(address);
        if self.below(4) == 0 {
            let (prev, next) = (self.below(6), self.below(6));
            self.call(Op::HookSwitch, &[sc, prev, next, how]);
        } else {
            let kind = self.below(10);
            self.call(Op::HookEvent, &[policy, sc, rq, self.now, kind, how]);
        }
    }

    /// A hook call for a CPU, delivered to every domain that contains it.
    pub(super) fn hook(&mut self, cpu: usize) {
        let mut bw_dl = 0;
        for other in 0..CPUS {
            let bandwidth = self.fill(other);
            bw_dl = if other == cpu { bandwidth } else { bw_dl };
        }
        let flags = match (self.below(4), self.runs[cpu]) {
            (0, _) => FLAGS[0],
            (_, Runs::Rt) => FLAGS[1],
            (_, Runs::Dl) => FLAGS[2],
            _ => 0,
        };
        let flags = flags | if self.below(4) == 0 { self.below(8) << 3 } else { 0 };
        let local = u64::from(self.below(4) != 0);
        self.hook_domain(0, cpu, bw_dl, flags, local);
        if cpu == 0 {
            self.hook_domain(1, cpu, bw_dl, flags, local);
        }
    }

    fn hook_domain(&mut self, domain: usize, cpu: usize, bw_dl: u64, flags: u64, local: u64) {
        let (policy, sc) = (address(Slot::Policy(domain)), address(Slot::Cpu(domain, cpu)));
        let tick_ns = self.governor.tick_ns;
        self.call(Op::SugovKeepUtil, &[sc, address(Slot::State(cpu))]);
        if self.call(Op::SugovBegin, &[policy, sc, bw_dl, self.now, tick_ns, flags, local]) != OPEN {
            return;
        }
        if domain == 1 && self.below(8) == 0 {
            let (previous, target) = (self.below(1281), self.below(1281));
            self.call(Op::SugovCommitPerf, &[policy, sc, address(Slot::State(cpu)), self.now, previous, target]);
            return;
        }
        let (first, states) = (address(Slot::Cpu(domain, 0)), address(Slot::State(0)));
        let rows = if self.below(8) == 0 { 0 } else { OPPS as u64 };
        let how = if self.governor.keeps { self.now % 3 } else { 0 };
        let called = rows | (cpu as u64) << 32 | how << 40;
        let args = [policy, first, states, address(Slot::Evaluation(domain)), self.now, tick_ns, called];
        self.call(Op::SugovEvaluate, &args);
    }

    pub(super) fn set_up_gates(&mut self) {
        for domain in 0..2 {
            let (driver_ns, switch_ns) = (self.below(3) * self.below(200_000), self.below(3_000));
            self.call(Op::GateInit, &[address(Slot::Policy(domain)), driver_ns, switch_ns]);
        }
    }

    /// Workers run, limits move, and requests are tried on inputs that no CPU has.
    pub(super) fn around_the_governor(&mut self) {
        let domain = self.below(2) as usize;
        let policy = address(Slot::Policy(domain));
        match self.below(8) {
            0 => {
                let (a, b) = (self.below(OPPS as u64) as usize, self.below(OPPS as u64) as usize);
                self.call(Op::SugovLimits, &[policy, TABLE_KHZ[a.min(b)], TABLE_KHZ[a.max(b)]]);
            }
            1 => {
                let (latency_ns, delay_us) = (self.below(20_000_000), self.below(3) * 500);
                self.call(Op::RateLimit, &[latency_ns, delay_us]);
            }
            2 => {
                let boost = self.below(2) * self.below(1025);
                self.call(Op::PerfEval, &[address(Slot::State(0)), boost, address(Slot::Evaluation(domain))]);
            }
            3 | 4 => {
                self.call(Op::SugovWorkDone, &[policy]);
            }
            _ => {
                self.call(Op::SugovWorkStart, &[policy]);
            }
        }
    }
}
