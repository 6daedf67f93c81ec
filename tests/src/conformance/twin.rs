// SPDX-License-Identifier: GPL-2.0-or-later
//! Executes calls on the reference: the twin of `entry.c`.

use pelton_reference::clock::{self, Rq};
use pelton_reference::event::{self, Leave, Runs, Time};
use pelton_reference::group::{self, TaskGroup};
use pelton_reference::pelt::{self, Avg, Input, Scale};
use pelton_reference::rq::{self, CfsRq, Ctx, Se};
use pelton_reference::schedutil;
use pelton_reference::{perf, pressure, util_est, vectors};

use super::caches;
use super::ops::{Call, Op};
use super::world::{Slot, World, slot_at};

impl World {
    fn cpu(&mut self, word: u64) -> &mut Rq {
        match slot_at(word) {
            Some(Slot::Rq(cpu)) => &mut self.rq[cpu],
            other => panic!("{other:?} is no CPU"),
        }
    }

    fn queue(&mut self, word: u64) -> &mut CfsRq {
        match slot_at(word) {
            Some(Slot::Root(cpu)) => &mut self.rq[cpu].cfs,
            Some(Slot::Cfs(group, cpu)) => &mut self.cfs[group][cpu],
            other => panic!("{other:?} is no queue"),
        }
    }

    fn entity(&mut self, word: u64) -> &mut Se {
        match slot_at(word) {
            Some(Slot::GroupSe(group, cpu)) => &mut self.group_se[group][cpu],
            Some(Slot::Task(task)) => &mut self.tasks[task],
            other => panic!("{other:?} is no entity"),
        }
    }

    fn group(&mut self, word: u64) -> &mut TaskGroup {
        match slot_at(word) {
            Some(Slot::Group(group)) => &mut self.groups[group],
            other => panic!("{other:?} is no group"),
        }
    }

    fn record(&mut self, word: u64) -> &mut Avg {
        match slot_at(word) {
            Some(Slot::Scratch) => &mut self.scratch,
            other => panic!("{other:?} is no loose record"),
        }
    }

    /// Executes `f` on copies of queue, entity and owned queue, and stores them.
    fn on_queue(&mut self, a: &[u64; 7], f: impl FnOnce(&Ctx, &mut CfsRq, &mut Se, Option<&mut CfsRq>) -> u64) -> u64 {
        let rules = self.rules;
        let cpu = *self.cpu(a[0]);
        let (mut cfs, mut se) = (*self.queue(a[1]), *self.entity(a[2]));
        let mut owned = (a[3] != 0).then(|| *self.queue(a[3]));
        let ctx = event::cfs_ctx(&rules, &cpu, &cfs);
        let result = f(&ctx, &mut cfs, &mut se, owned.as_mut());
        *self.queue(a[1]) = cfs;
        *self.entity(a[2]) = se;
        if let Some(owned) = owned {
            *self.queue(a[3]) = owned;
        }
        result
    }

    /// Executes one call.
    pub fn execute(&mut self, call: &Call) -> u64 {
        let a = &call.args;
        match call.op {
            Op::Decay => pelt::decay(a[0], a[1]),
            Op::Accumulate => self.accumulate(a),
            Op::RefreshShares => self.refresh_shares(a),
            Op::WalkGroup => self.walk_group(a),
            Op::GroupIsDecayed => {
                let rules = self.rules;
                group::is_decayed(&rules, self.queue(a[0])).into()
            }
            Op::Attach | Op::Detach | Op::Reweight | Op::GroupShares | Op::TgContrib => self.membership(call.op, a),
            Op::UpdateCfsRq => {
                let (rules, cpu, mut cfs) = (self.rules, *self.cpu(a[0]), *self.queue(a[1]));
                let events = rq::update_cfs_rq(&event::cfs_ctx(&rules, &cpu, &cfs), &mut cfs);
                *self.queue(a[1]) = cfs;
                events
            }
            Op::UpdateSe | Op::UpdateLoadAvg | Op::EnqueueEntity | Op::UpdateAncestor | Op::DequeueEntity => {
                self.entity_event(call.op, a)
            }
            Op::SetNextEntity | Op::PutPrevEntity | Op::TickEntity => self.entity_event(call.op, a),
            Op::RqEnqueueTask | Op::RqDequeueTask | Op::RqDelayTask | Op::RqTickFair => self.task_event(call.op, a),
            Op::RqEstimateLast => self.estimate_last(a),
            Op::RqEnqueueDelayed => self.enqueue_delayed(a),
            Op::RqSwitchFair | Op::RqSwitchIdle => self.switch(call.op, a),
            Op::RqUpdateBlocked | Op::ClockUpdate | Op::ClockEnterIdle | Op::Throttle | Op::Unthrottle => {
                self.cpu_event(call.op, a)
            }
            Op::UpdateRt | Op::UpdateDl | Op::UpdateHw | Op::UpdateOthers => self.others(call.op, a),
            Op::CapacityOf | Op::RtShareAge => self.others(call.op, a),
            Op::UtilEstEnqueue | Op::UtilEstDequeue | Op::UtilEstUpdate | Op::TaskUtilEst => self.estimate(call.op, a),
            Op::SeInit | Op::PostInit | Op::MigrateSleeping | Op::RemoveSleeping => self.life(call.op, a),
            Op::SwitchedFromFair | Op::SwitchedToFair | Op::GroupOnline => self.life(call.op, a),
            Op::CpuStateFill | Op::PerfEval => self.state_op(call.op, a),
            Op::HookEvent | Op::HookSwitch => self.hook_op(call.op, a),
            Op::GateInit => self.gate_init(a),
            Op::SugovBegin | Op::SugovEvaluate | Op::SugovCommitPerf => self.governor(call.op, a),
            Op::SugovKeepUtil => self.keep_util(a),
            Op::SugovWorkStart | Op::SugovWorkDone | Op::SugovLimits => self.driver(call.op, a),
            Op::MenuWoke | Op::MenuSelect | Op::TeoWoke | Op::TeoSelect => self.idle(call.op, a),
            Op::DlBw => perf::dl_bw(a[0], a[1]),
            Op::CpuBwDl => perf::cpu_bw_dl(a[0]),
            Op::FitsCapacity => perf::fits(&self.rules, a[0], a[1]).into(),
            Op::FreqScale => perf::freq_scale(a[0], a[1]),
            Op::RateLimit => schedutil::default_rate_limit_us(&self.rules, a[0], a[1]),
            Op::Ramp => vectors::ramp_from_util(a[0], a[1]),
            Op::TimeTo => vectors::periods_to_util(a[0]),
            Op::RtLimit | Op::Newidle | Op::IdleWalk | Op::BlockedDue => self.balance(call.op, a),
            Op::NewidleDice | Op::NewidleCount => self.newidle_dice(call.op, a),
            Op::CacheLook => caches::looks(a),
            Op::CacheMove => caches::may_move(a),
            Op::DlWake | Op::DlRan | Op::DlRoom | Op::DlServer => self.deadline(call.op, a),
            Op::WakeAffine | Op::WakeWide | Op::EmState | Op::EmEnergy => self.placement(call.op, a),
            Op::FairLook | Op::FairPlace | Op::FairLeave | Op::FairRun => self.fair(call.op, a),
            Op::FairWake | Op::FairReweight | Op::FairIdle | Op::FairCfs | Op::FairDelta => self.fair(call.op, a),
            Op::BoostMargin | Op::BoostFilter | Op::BoostState | Op::BoostGroups => self.boost(call.op, a),
            Op::PreferIdle => super::knob::prefer_idle(a),
            Op::SchedDvfs | Op::Sampling => self.beside(call.op, a),
            Op::Interactive => super::interactive::story(&self.numbers, a),
            Op::ClampLargest | Op::ClampScript | Op::ClampEffective => self.clamps_by_maximum(call.op, a),
            Op::ClampSums | Op::TakeBias | Op::GroupThrottled => self.clamp_sums(call.op, a),
            Op::CfsBandwidth => self.cfs_bandwidth(a),
            Op::Poke => self.poke(a),
        }
    }

    fn accumulate(&mut self, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        let scale = Scale { cap_orig: a[5] >> 32, freq: a[5] & 0xffff_ffff };
        let input = Input { load: a[2], runnable: a[3], running: a[4] };
        let avg = self.record(a[0]);
        let periods = pelt::accumulate(&rules, avg, a[1], input, scale);
        if periods > 0 {
            pelt::publish(&rules, avg, 1);
        }
        periods
    }

    fn membership(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        if op == Op::TgContrib {
            let (mut tg, mut cfs) = (*self.group(a[0]), *self.queue(a[1]));
            let changed = group::tg_contrib(&rules, &mut tg, &mut cfs, a[2]);
            *self.group(a[0]) = tg;
            *self.queue(a[1]) = cfs;
            return changed.into();
        }
        let mut cfs = *self.queue(a[0]);
        if op == Op::GroupShares {
            return group::group_shares(&rules, &cfs, self.group(a[1]), a[2]);
        }
        let mut se = *self.entity(a[1]);
        match op {
            Op::Attach => rq::attach(&rules, &mut cfs, &mut se),
            Op::Detach => rq::detach(&rules, &mut cfs, &se),
            _ => group::reweight(&rules, &mut cfs, &mut se, a[2]),
        }
        *self.queue(a[0]) = cfs;
        *self.entity(a[1]) = se;
        0
    }

    fn refresh_shares(&mut self, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        let (mut cfs, mut se, owned) = (*self.queue(a[0]), *self.entity(a[1]), *self.queue(a[2]));
        let changed = group::refresh_shares(&rules, &mut cfs, &mut se, &owned, self.group(a[3]));
        *self.queue(a[0]) = cfs;
        *self.entity(a[1]) = se;
        changed.into()
    }

    fn walk_group(&mut self, a: &[u64; 7]) -> u64 {
        let (rules, cpu, mut tg) = (self.rules, *self.cpu(a[0]), *self.group(a[4]));
        let events = self.on_queue(&[a[0], a[1], a[2], a[3], 0, 0, 0], |ctx, cfs, se, owned| {
            let owned = owned.expect("a group has a queue");
            let own = event::cfs_ctx(&rules, &cpu, owned);
            group::walk_group(&own, ctx, cfs, se, owned, &mut tg, a[5])
        });
        *self.group(a[4]) = tg;
        events
    }

    fn entity_event(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let (delta, flags) = (a[4] as u32 as i32, a[5]);
        self.on_queue(a, |ctx, cfs, se, owned| match op {
            Op::UpdateSe => rq::update_se(ctx, se),
            Op::UpdateLoadAvg => rq::update_load_avg(ctx, cfs, se, owned, a[4]),
            Op::EnqueueEntity => event::enqueue_entity(ctx, cfs, se, owned, delta.into()),
            Op::UpdateAncestor => event::update_ancestor(ctx, cfs, se, owned, delta.into()),
            Op::DequeueEntity => event::dequeue_entity(ctx, cfs, se, owned, delta.into(), flags),
            Op::SetNextEntity => event::set_next_entity(ctx, cfs, se, owned),
            Op::PutPrevEntity => event::put_prev_entity(ctx, cfs, se, owned),
            _ => event::tick_entity(ctx, cfs, se, owned),
        })
    }

    fn task_event(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        let (mut cpu, mut se) = (*self.cpu(a[0]), *self.entity(a[1]));
        let time = Time { now: a[2], irq_ns: a[3], is_idle: a[4] != 0 };
        let events = match op {
            Op::RqEnqueueTask => event::rq_enqueue_task(&rules, &mut cpu, &mut se, time),
            Op::RqDequeueTask => {
                event::rq_dequeue_task(&rules, &mut cpu, &mut se, time, leave_of(a[5] & 3), a[5] & 4 != 0)
            }
            Op::RqDelayTask => event::rq_delay_task(&rules, &mut cpu, &mut se, time),
            _ => event::rq_tick_fair(&rules, &mut cpu, &mut se, Time { is_idle: false, ..time }),
        };
        *self.cpu(a[0]) = cpu;
        *self.entity(a[1]) = se;
        events
    }

    fn enqueue_delayed(&mut self, a: &[u64; 7]) -> u64 {
        let (rules, mut cpu, mut se) = (self.rules, *self.cpu(a[0]), *self.entity(a[1]));
        let events = event::rq_enqueue_delayed(&rules, &mut cpu, &mut se);
        *self.cpu(a[0]) = cpu;
        *self.entity(a[1]) = se;
        events
    }

    fn estimate_last(&mut self, a: &[u64; 7]) -> u64 {
        let (rules, mut cpu, mut se) = (self.rules, *self.cpu(a[0]), *self.entity(a[1]));
        event::rq_estimate_last(&rules, &mut cpu, &mut se, a[2] != 0);
        *self.cpu(a[0]) = cpu;
        *self.entity(a[1]) = se;
        0
    }

    fn switch(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        let both = op == Op::RqSwitchFair;
        let [prev_word, next_word] = [a[1], if both { a[2] } else { 0 }];
        let at = if both { 3 } else { 2 };
        let time = Time { now: a[at], irq_ns: a[at + 1], is_idle: a[at + 2] != 0 };
        let mut cpu = *self.cpu(a[0]);
        let mut prev = (prev_word != 0).then(|| *self.entity(prev_word));
        let mut next = (next_word != 0).then(|| *self.entity(next_word));
        let events = if both {
            event::rq_switch_fair(&rules, &mut cpu, prev.as_mut(), next.as_mut(), time)
        } else {
            event::rq_switch_idle(&rules, &mut cpu, prev.as_mut(), time)
        };
        *self.cpu(a[0]) = cpu;
        for (word, se) in [(prev_word, prev), (next_word, next)] {
            if let Some(se) = se {
                *self.entity(word) = se;
            }
        }
        events
    }

    fn cpu_event(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        match op {
            Op::RqUpdateBlocked => event::rq_update_blocked(&rules, self.cpu(a[0]), a[1], a[2], runs_of(a[3]), a[4]),
            Op::ClockUpdate => clock::clock_update(&rules, self.cpu(a[0]), a[1], a[2], a[3] != 0).into(),
            Op::ClockEnterIdle => {
                clock::clock_enter_idle(&rules, self.cpu(a[0]));
                0
            }
            _ => {
                let (cpu, mut cfs) = (*self.cpu(a[0]), *self.queue(a[1]));
                let change = if op == Op::Throttle { clock::throttle } else { clock::unthrottle };
                change(&rules, &cpu, &mut cfs);
                *self.queue(a[1]) = cfs;
                clock::cfs_clock(&rules, &cpu, &cfs)
            }
        }
    }

    fn others(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        let cpu = self.cpu(a[0]);
        match op {
            Op::UpdateRt => pressure::update_rt(&rules, cpu, a[1] != 0).into(),
            Op::UpdateDl => pressure::update_dl(&rules, cpu, a[1] != 0).into(),
            Op::UpdateHw => pressure::update_hw(&rules, cpu, a[1]).into(),
            Op::UpdateOthers => {
                let decayed = pressure::update_others(&rules, cpu, a[1] != 0, a[2] != 0, a[3]);
                u64::from(decayed) | u64::from(pressure::others_have_blocked(cpu)) << 1
            }
            Op::RtShareAge => {
                pressure::age_share(cpu);
                0
            }
            _ => pressure::capacity_of(&rules, cpu, a[1], a[2]),
        }
    }

    fn estimate(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        match op {
            Op::UtilEstEnqueue | Op::UtilEstDequeue => {
                let se = *self.entity(a[1]);
                let change = if op == Op::UtilEstEnqueue { util_est::enqueue } else { util_est::dequeue };
                change(&rules, self.queue(a[0]), &se);
                0
            }
            Op::UtilEstUpdate => {
                if a[2] != 0 {
                    util_est::sample(&rules, &mut self.entity(a[0]).avg, a[1]);
                }
                0
            }
            _ => util_est::task_util_est(&rules, self.entity(a[0])),
        }
    }

    fn life(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = self.rules;
        match op {
            Op::SeInit => *self.entity(a[0]) = event::se_init(a[1]),
            Op::PostInit => {
                let cfs = *self.queue(a[0]);
                event::post_init(&rules, &cfs, self.entity(a[1]), a[2]);
            }
            Op::MigrateSleeping => {
                let (cpu, mut cfs, mut se) = (*self.cpu(a[0]), *self.queue(a[1]), *self.entity(a[2]));
                event::migrate_sleeping(&rules, &cpu, &mut cfs, &mut se, a[3] != 0, a[4]);
                *self.queue(a[1]) = cfs;
                *self.entity(a[2]) = se;
            }
            _ => {
                let no_owned = &[a[0], a[1], a[2], 0, 0, 0, 0];
                return self.on_queue(no_owned, |ctx, cfs, se, _| match op {
                    Op::SwitchedFromFair => event::switched_from_fair(ctx, cfs, se),
                    Op::SwitchedToFair => event::switched_to_fair(ctx, cfs, se),
                    Op::GroupOnline => event::group_online(ctx, cfs, se),
                    _ => {
                        event::remove_sleeping(ctx, cfs, se);
                        0
                    }
                });
            }
        }
        0
    }

    /// The words the grammar writes: a CPU's speed, and the update time of an entity that leaves a queue.
    fn poke(&mut self, a: &[u64; 7]) -> u64 {
        if let Some(Slot::Task(task)) = slot_at(a[0]) {
            self.tasks[task].avg.last_update_time_ns = a[1];
            return 0;
        }
        let cpu = self.rq.iter().enumerate().find(|(cpu, _)| speed_word(*cpu) == a[0]);
        let cpu = cpu.expect("a word the harness may write").0;
        self.rq[cpu].cap_orig = a[1] & 0xffff_ffff;
        self.rq[cpu].freq_scale = a[1] >> 32;
        0
    }
}

/// The word that holds a CPU's capacity and frequency scale: the last of its record.
pub fn speed_word(cpu: usize) -> u64 {
    super::world::address(Slot::Rq(cpu)) + super::layout::words_of::<Rq>() as u64 - 1
}

fn leave_of(flags: u64) -> Leave {
    match flags {
        1 => Leave::Sleep,
        2 => Leave::Migrate,
        _ => Leave::Other,
    }
}

fn runs_of(runs: u64) -> Runs {
    match runs {
        0 => Runs::Fair,
        1 => Runs::Rt,
        2 => Runs::Dl,
        _ => Runs::Idle,
    }
}
