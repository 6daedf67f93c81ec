// SPDX-License-Identifier: GPL-2.0-or-later
//! The core and its twin behind one interface.

use pelton_core::{self as core, CfsBandwidth, CfsRuntime, Ctx, Policy, quota as bits, runs};
use pelton_reference as twin;
use twin::rq::flag;

use super::CPUS;
use super::side::{At, Model, Quota, Verb, said};

/// A CPU's place in an answer.
fn cpu_bit(cpu: usize) -> u64 {
    1 << (cpu as u32 + said::FREED_SHIFT)
}

/// The core.
#[derive(Debug)]
pub struct Core {
    /// Rules.
    pub policy: Policy,
    /// Length of a tick.
    pub tick_ns: u64,
}

/// A quota in the core, and the CPUs that wait, in order.
#[derive(Clone, Debug, Default)]
pub struct CoreQuota {
    shared: CfsBandwidth,
    queues: [CfsRuntime; CPUS],
    waiting: Vec<usize>,
}

impl CoreQuota {
    /// Hands the pool to the CPUs that wait; returns those that may go on.
    fn distribute(&mut self, now: u64) -> u64 {
        let mut freed = 0;
        for cpu in self.waiting.clone() {
            if self.shared.distribute(&mut self.queues[cpu]) {
                self.shared.unthrottle(&mut self.queues[cpu], now);
                self.waiting.retain(|&other| other != cpu);
                freed |= cpu_bit(cpu);
            }
            if self.shared.runtime_ns == 0 {
                break;
            }
        }
        freed
    }
}

impl Model for Core {
    type Rq = core::Rq;
    type Cfs = core::CfsRq;
    type Se = core::Se;
    type Tg = core::TaskGroup;
    type Quota = CoreQuota;

    fn root(rq: &mut core::Rq) -> &mut core::CfsRq {
        &mut rq.cfs
    }

    fn clock(&self, rq: &mut core::Rq, now: u64, idle: bool) -> u64 {
        rq.clock_update(&self.policy, now, 0, idle).into()
    }

    fn enter_idle(&self, rq: &mut core::Rq) {
        rq.clock_enter_idle(&self.policy);
    }

    fn age_cpu(&self, rq: &mut core::Rq, now: u64) -> u64 {
        rq.update_blocked(&self.policy, now, 0, runs::IDLE, 0).into()
    }

    fn act(&self, rq: &core::Rq, verb: Verb, at: At<'_, Self>) -> u64 {
        let pol = &self.policy;
        let (ctx, At { cfs, se, mut owned, tg }) = (rq.ctx(pol, at.cfs), at);
        u64::from(match verb {
            Verb::Enqueue(delta) => cfs.enqueue_entity(&ctx, se, owned, delta),
            Verb::Update(delta) => cfs.update_ancestor(&ctx, se, owned, delta),
            Verb::Dequeue(delta, flags) => cfs.dequeue_entity(&ctx, se, owned, delta, flags),
            Verb::SetNext => cfs.set_next_entity(&ctx, se, owned),
            Verb::PutPrev => cfs.put_prev_entity(&ctx, se, owned),
            Verb::Tick => cfs.tick_entity(&ctx, se, owned),
            Verb::Age(flags) => cfs.update_load_avg(&ctx, se, owned, flags),
            Verb::Online => {
                cfs.group_online(&ctx, se);
                0
            }
            Verb::Detach => {
                cfs.detach(pol, se);
                0
            }
            Verb::Remove => {
                cfs.remove_sleeping(&ctx, se);
                0
            }
            Verb::Estimate(true) => {
                cfs.util_est_enqueue(pol, se);
                0
            }
            Verb::Estimate(false) => {
                cfs.util_est_dequeue(pol, se);
                0
            }
            Verb::PostInit => {
                se.post_init(pol, cfs, rq.cap_orig);
                0
            }
            Verb::Shares => {
                let (owned, tg) = (owned.expect("a group's queue"), tg.expect("a group"));
                cfs.refresh_shares(pol, se, owned, tg).into()
            }
            Verb::Walk(now) => {
                let (owned, tg) = (owned.take().expect("a group's queue"), tg.expect("a group"));
                let own: Ctx<'_> = rq.ctx(pol, owned);
                cfs.walk_group((&own, &ctx), se, owned, tg, now)
            }
        })
    }

    fn migrate(&self, rq: &core::Rq, cfs: &mut core::CfsRq, se: &mut core::Se, idle: bool, now: u64) {
        let mut rq = *rq;
        rq.migrate_sleeping(&self.policy, Some(cfs), se, idle, now);
    }

    fn contrib(&self, tg: &mut core::TaskGroup, cfs: &mut core::CfsRq, now: u64) -> u64 {
        cfs.tg_contrib(&self.policy, tg, now).into()
    }

    fn freeze(&self, rq: &core::Rq, cfs: &mut core::CfsRq, stops: bool) {
        if stops {
            rq.throttle_clock(&self.policy, cfs);
        } else {
            rq.unthrottle_clock(&self.policy, cfs);
        }
    }

    fn is_decayed(&self, cfs: &core::CfsRq) -> bool {
        cfs.group_is_decayed(&self.policy)
    }

    fn sample(&self, rq: &core::Rq, se: &mut core::Se) {
        se.util_est_update(&self.policy, rq.cap_orig, true);
    }

    fn forget(se: &mut core::Se) {
        se.avg.last_update_time_ns = 0;
    }

    fn set_shares(tg: &mut core::TaskGroup, shares: u64) {
        tg.shares = shares;
    }

    fn quota(&self, quota: &mut CoreQuota, cpu: usize, what: Quota, now: u64) -> u64 {
        let (pol, tick_ns) = (&self.policy, self.tick_ns);
        let CoreQuota { shared, queues, waiting } = quota;
        let own = &mut queues[cpu];
        let answer = match what {
            Quota::Limit(runtime, period, burst) => {
                queues.iter_mut().for_each(|own| own.set(pol));
                shared.set(pol, (runtime, period, burst), now)
            }
            Quota::Ran(ns) => shared.account(pol, own, ns, now, tick_ns),
            Quota::Comes => shared.enqueue(pol, own, now, tick_ns),
            Quota::Throttle(queued) => {
                let answer = shared.throttle(pol, own, queued, now);
                if answer & bits::THROTTLED != 0 {
                    let first = pol.bandwidth_throttle == core::value::BANDWIDTH_THROTTLE_HEAD;
                    waiting.insert(if first { 0 } else { waiting.len() }, cpu);
                }
                answer
            }
            Quota::Wanted => {
                own.note_throttled(now);
                0
            }
            Quota::GivesBack => shared.give_back(pol, own, now),
            Quota::PeriodEnds => shared.period_timer(pol, now),
            Quota::Gathered => shared.slack_timer(pol, now),
        };
        let freed = if answer & bits::DISTRIBUTE != 0 { quota.distribute(now) } else { 0 };
        let timer = matches!(what, Quota::PeriodEnds | Quota::Gathered);
        let kept = bits::START | bits::SLACK | bits::EXHAUSTED | bits::THROTTLED;
        freed | if timer { 0 } else { u64::from(answer & kept) }
    }

    fn timers(quota: &CoreQuota) -> [Option<u64>; 2] {
        let shared = &quota.shared;
        let timer = |runs: u32, at: u64| (runs != 0).then_some(at);
        [timer(shared.period_active, shared.period_end_ns), timer(shared.slack_started, shared.slack_end_ns)]
    }
}

/// The twin.
#[derive(Debug)]
pub struct Twin {
    /// Rules.
    pub rules: twin::rules::Rules,
}

fn bit(set: bool, bit: u64) -> u64 {
    if set { bit } else { 0 }
}

impl Model for Twin {
    type Rq = twin::clock::Rq;
    type Cfs = twin::rq::CfsRq;
    type Se = twin::rq::Se;
    type Tg = twin::group::TaskGroup;
    type Quota = twin::cfs_bandwidth::Group;

    fn root(rq: &mut Self::Rq) -> &mut Self::Cfs {
        &mut rq.cfs
    }

    fn clock(&self, rq: &mut Self::Rq, now: u64, idle: bool) -> u64 {
        twin::clock::clock_update(&self.rules, rq, now, 0, idle).into()
    }

    fn enter_idle(&self, rq: &mut Self::Rq) {
        twin::clock::clock_enter_idle(&self.rules, rq);
    }

    fn age_cpu(&self, rq: &mut Self::Rq, now: u64) -> u64 {
        twin::event::rq_update_blocked(&self.rules, rq, now, 0, twin::event::Runs::Idle, 0)
    }

    fn act(&self, rq: &Self::Rq, verb: Verb, at: At<'_, Self>) -> u64 {
        let rules = &self.rules;
        let (ctx, At { cfs, se, owned, tg }) = (twin::event::cfs_ctx(rules, rq, at.cfs), at);
        match verb {
            Verb::Enqueue(delta) => twin::event::enqueue_entity(&ctx, cfs, se, owned, delta.into()),
            Verb::Update(delta) => twin::event::update_ancestor(&ctx, cfs, se, owned, delta.into()),
            Verb::Dequeue(delta, flags) => {
                twin::event::dequeue_entity(&ctx, cfs, se, owned, delta.into(), flags.into())
            }
            Verb::SetNext => twin::event::set_next_entity(&ctx, cfs, se, owned),
            Verb::PutPrev => twin::event::put_prev_entity(&ctx, cfs, se, owned),
            Verb::Tick => twin::event::tick_entity(&ctx, cfs, se, owned),
            Verb::Age(flags) => twin::rq::update_load_avg(&ctx, cfs, se, owned, flags.into()),
            Verb::Online => twin::event::group_online(&ctx, cfs, se),
            Verb::Detach => {
                twin::rq::detach(rules, cfs, se);
                0
            }
            Verb::Remove => {
                twin::event::remove_sleeping(&ctx, cfs, se);
                0
            }
            Verb::Estimate(true) => {
                twin::util_est::enqueue(rules, cfs, se);
                0
            }
            Verb::Estimate(false) => {
                twin::util_est::dequeue(rules, cfs, se);
                0
            }
            Verb::PostInit => {
                twin::event::post_init(rules, cfs, se, rq.cap_orig);
                0
            }
            Verb::Shares => {
                let (owned, tg) = (owned.expect("a group's queue"), tg.expect("a group"));
                twin::group::refresh_shares(rules, cfs, se, owned, tg).into()
            }
            Verb::Walk(now) => {
                let (owned, tg) = (owned.expect("a group's queue"), tg.expect("a group"));
                let own = twin::event::cfs_ctx(rules, rq, owned);
                twin::group::walk_group(&own, &ctx, cfs, se, owned, tg, now)
            }
        }
    }

    fn migrate(&self, rq: &Self::Rq, cfs: &mut Self::Cfs, se: &mut Self::Se, idle: bool, now: u64) {
        twin::event::migrate_sleeping(&self.rules, rq, cfs, se, idle, now);
    }

    fn contrib(&self, tg: &mut Self::Tg, cfs: &mut Self::Cfs, now: u64) -> u64 {
        twin::group::tg_contrib(&self.rules, tg, cfs, now).into()
    }

    fn freeze(&self, rq: &Self::Rq, cfs: &mut Self::Cfs, stops: bool) {
        let change = if stops { twin::clock::throttle } else { twin::clock::unthrottle };
        change(&self.rules, rq, cfs);
    }

    fn is_decayed(&self, cfs: &Self::Cfs) -> bool {
        twin::group::is_decayed(&self.rules, cfs)
    }

    fn sample(&self, rq: &Self::Rq, se: &mut Self::Se) {
        twin::util_est::sample(&self.rules, &mut se.avg, rq.cap_orig);
    }

    fn forget(se: &mut Self::Se) {
        se.avg.last_update_time_ns = 0;
    }

    fn set_shares(tg: &mut Self::Tg, shares: u64) {
        tg.shares = shares;
    }

    fn quota(&self, quota: &mut Self::Quota, cpu: usize, what: Quota, now: u64) -> u64 {
        let now = i128::from(now);
        let asked = |(exhausted, started)| bit(exhausted, said::EXHAUSTED) | bit(started, said::START);
        let freed = |quota: &mut Self::Quota, some: bool| {
            let freed = if some { quota.distribute(now) } else { Vec::new() };
            freed.into_iter().map(cpu_bit).sum()
        };
        match what {
            Quota::Limit(runtime, period, burst) => {
                let runtime = (runtime != core::RUNTIME_INF).then_some(i128::from(runtime));
                bit(quota.limit(runtime, period.into(), burst.into(), now), said::START)
            }
            Quota::Ran(ns) => asked(quota.ran(cpu, ns.into(), now)),
            Quota::Comes => asked(quota.comes(cpu, now)),
            Quota::Throttle(queued) => {
                let (throttled, started) = quota.throttle(cpu, queued, now);
                bit(throttled, said::THROTTLED) | bit(started, said::START)
            }
            Quota::Wanted => {
                quota.wanted(cpu, now);
                0
            }
            Quota::GivesBack => bit(quota.give_back(cpu, now), said::SLACK),
            Quota::PeriodEnds => {
                let some = quota.period_ends(now);
                freed(quota, some)
            }
            Quota::Gathered => {
                let some = quota.gathered(now);
                freed(quota, some)
            }
        }
    }

    fn timers(quota: &Self::Quota) -> [Option<u64>; 2] {
        let timer = |runs: bool, at: i128| runs.then_some(at as u64);
        [timer(quota.runs.0, quota.end), timer(quota.runs.1, quota.gathered_at)]
    }
}

/// Flags of an update that the two have in common.
pub mod update {
    use super::flag;

    /// The group's load follows.
    pub const TG: u32 = flag::UPDATE_TG as u32;
    /// Attach what is attached nowhere.
    pub const ATTACH: u32 = flag::DO_ATTACH as u32;
    /// Detach it.
    pub const DETACH: u32 = flag::DO_DETACH as u32;
}
