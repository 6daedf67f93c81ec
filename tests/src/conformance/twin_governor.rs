// SPDX-License-Identifier: GPL-2.0-or-later
//! The governor's part of the twin.

use pelton_reference::gate;
use pelton_reference::hook::{self, How, Kind};
use pelton_reference::perf::{self, CpuState};
use pelton_reference::schedutil::{self, KHZ_NONE, Now};

use super::domain::TABLE_KHZ;
use super::ops::Op;
use super::world::{Slot, World, slot_at};

impl World {
    fn state(&mut self, word: u64) -> &mut CpuState {
        match slot_at(word) {
            Some(Slot::State(cpu)) => &mut self.states[cpu],
            other => panic!("{other:?} is no evaluation input"),
        }
    }

    fn domain_of(word: u64) -> usize {
        match slot_at(word) {
            Some(Slot::Policy(domain) | Slot::Evaluation(domain)) => domain,
            other => panic!("{other:?} is no domain"),
        }
    }

    fn position(word: u64) -> usize {
        match slot_at(word) {
            Some(Slot::Cpu(_, position)) => position,
            other => panic!("{other:?} is no CPU of a domain"),
        }
    }

    pub(super) fn state_op(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        if op == Op::PerfEval {
            let terms = perf::evaluate(&rules, self.state(a[0]), a[1]);
            self.domains[Self::domain_of(a[2])].evaluation.terms[0] = terms;
            return terms.perf;
        }
        let Some(Slot::Rq(cpu)) = slot_at(a[0]) else { panic!("no CPU") };
        let rq = self.rq[cpu];
        let filled = CpuState {
            idle_calls: a[4],
            cap_orig: rq.cap_orig,
            util_cfs: rq.cfs.avg.util_avg,
            runnable_cfs: rq.cfs.avg.runnable_avg,
            util_est: rq.cfs.util_est,
            util_rt: rq.rt.util_avg,
            util_dl: rq.dl.util_avg,
            util_irq: rq.irq.util_avg,
            bw_dl: a[2],
            rt_nr_running: a[3],
            uclamp_used: a[5] & 0xffff,
            uclamp_min: a[5] >> 16 & 0xffff,
            uclamp_max: a[5] >> 32,
            cfs_nr_running: rq.cfs.h_nr_runnable,
        };
        *self.state(a[1]) = filled;
        perf::cpu_util(&rules, &filled, false)
    }

    pub(super) fn hook_op(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let (rules, numbers) = (self.rules, self.numbers);
        if op == Op::HookSwitch {
            let Some(Slot::Cpu(domain, position)) = slot_at(a[0]) else { panic!("no CPU of a domain") };
            let sc = &mut self.domains[domain].cpus[position];
            return hook::switch(&rules, sc, a[1], a[2], How::of(a[3]));
        }
        let (at, position) = (Self::domain_of(a[0]), Self::position(a[1]));
        let Some(Slot::Rq(cpu)) = slot_at(a[2]) else { panic!("no CPU") };
        let event = hook::Event { kind: Kind::of(a[4]).expect("a kind of event"), how: How::of(a[5]), now: a[3] };
        let domain = &mut self.domains[at];
        hook::event(&rules, &numbers, &domain.policy, &mut domain.cpus[position], &self.rq[cpu], event)
    }

    pub(super) fn gate_init(&mut self, a: &[u64; 7]) -> u64 {
        let (rules, numbers) = (self.rules, self.numbers);
        let policy = &mut self.domains[Self::domain_of(a[0])].policy;
        let cost_ns = gate::cost_ns(policy.fast_switch != 0, a[1], a[2]);
        policy.gate = gate::init(&rules, &numbers, policy.rate_limit_ns, cost_ns);
        cost_ns
    }

    pub(super) fn governor(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let (rules, numbers) = (self.rules, self.numbers);
        let (at, position) = (Self::domain_of(a[0]), Self::position(a[1]));
        let states = self.states;
        let state = slot_at(a[2]);
        let domain = &mut self.domains[at];
        match op {
            Op::SugovBegin => {
                let now = Now { ns: a[3], tick_ns: a[4] };
                let sc = &mut domain.cpus[position];
                schedutil::begin(&rules, &mut domain.policy, sc, a[2], now, a[5], a[6] != 0) as u64
            }
            Op::SugovEvaluate => {
                let now = Now { ns: a[4], tick_ns: a[5] };
                let (rows, caller) = (a[6] & 0xffff_ffff, (a[6] >> 32 & 0xff) as usize);
                let table = &TABLE_KHZ[..rows as usize];
                let (cpus, evaluation) = (&mut domain.cpus, &mut domain.evaluation);
                let called = (&mut domain.policy, caller);
                let terms = &mut evaluation.terms;
                evaluation.decision =
                    schedutil::evaluate_domain((&rules, &numbers), called, cpus, &states, terms, table, now);
                evaluation.decision.commit
            }
            _ => {
                let Some(Slot::State(cpu)) = state else { panic!("no evaluation input") };
                let sc = &mut domain.cpus[position];
                schedutil::commit_perf(&rules, &mut domain.policy, sc, &states[cpu], a[3], a[4], a[5])
            }
        }
    }

    pub(super) fn keep_util(&mut self, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        let state = *self.state(a[1]);
        let Some(Slot::Cpu(domain, position)) = slot_at(a[0]) else { panic!("no CPU of a domain") };
        schedutil::keep_util(&rules, &mut self.domains[domain].cpus[position], &state);
        0
    }

    pub(super) fn driver(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        let policy = &mut self.domains[Self::domain_of(a[0])].policy;
        if op == Op::SugovLimits {
            schedutil::set_limits(policy, a[1], a[2]);
            return 0;
        }
        if op == Op::SugovWorkDone {
            schedutil::work_done(&rules, policy);
            return 0;
        }
        let khz = schedutil::work_start(&rules, policy);
        if khz != KHZ_NONE {
            policy.cur_khz = khz;
        }
        khz
    }
}
