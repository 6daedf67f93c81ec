// SPDX-License-Identifier: GPL-2.0-or-later
//! SchedTune and the governors beside schedutil: their part of the twin, and random questions for the grammar.

use pelton_reference::boost::{self, Cpu, Form, GROUPS};
use pelton_reference::governors::{Said, Sampler, SchedDvfs, Steps, Times, Tunables, lowest_from};
use pelton_reference::perf;
use pelton_reference::rules::{FROM_PLATFORM, Numbers};
use pelton_reference::schedutil::default_rate_limit_us;

use super::domain::{OPPS, TABLE_KHZ};
use super::grammar::Grammar;
use super::ops::Op;
use super::world::{CPUS, Slot, World, address, slot_at, value_of};

pub(super) const STEPS: u64 = 24;
const VOTERS: u64 = 3;

/// Numbers drawn from a seed and the hash of the answers; `struct story` of `entry_knob.h`.
pub(super) struct Story {
    pub(super) seed: u64,
    pub(super) said: u64,
    pub(super) now: u64,
}

impl Story {
    pub(super) fn draw(&mut self, n: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % n
    }

    pub(super) fn say(&mut self, what: u64) {
        self.said = (self.said ^ what).wrapping_mul(0x100_0000_01b3);
    }
}

/// As the core prints a negative number into 32 bits.
pub(super) fn low(value: i64) -> u64 {
    u64::from(value as u32)
}

fn signed(word: u64) -> i64 {
    i64::from(word as u32 as i32)
}

impl World {
    fn form(&self) -> Form {
        Form::of(value_of(&self.policy, "boost_form")).expect("the twin knows every value")
    }

    pub(super) fn boost(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let form = self.form();
        match op {
            Op::BoostMargin => {
                let boost = signed(a[2]);
                low(form.margin(a[0], a[1], boost)) | form.boosted(a[0], a[1], boost) << 32
            }
            Op::BoostFilter => filter(a),
            Op::BoostState => self.boost_state(form, a),
            _ => boost_groups(form, a),
        }
    }

    fn boost_state(&mut self, form: Form, a: &[u64; 7]) -> u64 {
        let Some(Slot::State(cpu)) = slot_at(a[0]) else { panic!("no evaluation input") };
        let boosts_waiting = self.rules.runnable_boost == pelton_reference::rules::RunnableBoost::On;
        let util = perf::cpu_util(&self.rules, &self.states[cpu], boosts_waiting);
        let state = &mut self.states[cpu];
        if signed(a[1]) != 0 {
            state.util_cfs = form.boosted(form.full(state.cap_orig), util, signed(a[1]));
            (state.runnable_cfs, state.util_est) = (0, 0);
        }
        state.util_cfs
    }

    pub(super) fn beside(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let governor = value_of(&self.policy, "governor");
        if op == Op::SchedDvfs {
            return votes(governor == "sched_dvfs_v7", &self.numbers, a);
        }
        let mut story = Story { seed: a[0], said: 0, now: a[1] };
        let old = value_of(&self.policy, "sampling_form") == "4_5";
        let steps = match value_of(&self.policy, "conservative_form") {
            "stops" => Steps::Stop,
            "stops_below" => Steps::StopBelow,
            "steps" => Steps::Clamp,
            _ => Steps::ClampIfIdle,
        };
        let delay_us = story.draw(2) * 3000;
        let usual = || {
            let latency_us = a[3] / 1000;
            let from_latency = (1000 * latency_us.max(1)).max(10_000);
            let from_delay = default_rate_limit_us(&self.rules, a[3], delay_us).max(2 * a[4] / 1000);
            if old { from_latency } else { from_delay }
        };
        let told = self.numbers.sampling_rate_us;
        let sampling = if told == FROM_PLATFORM { usual() } else { told };
        samples(governor, (old, steps), sampling.min(1 << 24), &self.numbers, story)
    }
}

fn filter(a: &[u64; 7]) -> u64 {
    let (form, boost, e, c) = (a[0], a[1], signed(a[2]), signed(a[3]));
    let row = a[6] as usize;
    let said = u64::from(boost::accepts(form, boost, e, c));
    let by = u64::from(boost::accepts_by(form, row, 9 - row, e, c));
    let share = boost::normalize(e, a[4], a[5]) as u32;
    let said = (said as u32 | (by as u32) << 1).wrapping_add(share.wrapping_mul(4));
    u64::from(said).wrapping_add((boost::payoff(form, row, e, c) as u64).wrapping_mul(7))
}

fn boost_groups(form: Form, a: &[u64; 7]) -> u64 {
    let mut s = Story { seed: a[0], said: 0, now: a[1] };
    let mut cpu = Cpu::new(form);
    for _ in 0..STEPS {
        let [group, other] = [s.draw(GROUPS as u64), s.draw(GROUPS as u64)].map(|i| i as usize);
        let kind = s.draw(8);
        s.now += s.draw(30_000_000);
        match kind {
            0..2 => cpu.write(group, s.draw(201) as i64 - 100, s.now),
            2..5 => cpu.count(group, true, s.draw(2) != 0, s.now),
            5..7 => cpu.count(group, false, false, s.now),
            _ => cpu.relocate(group, other, s.now),
        }
        s.say(low(cpu.max));
        let now = s.now;
        s.say(low(cpu.boost(now) + cpu.groups[group].tasks as i64));
    }
    s.said
}

pub(super) fn prefer_idle(a: &[u64; 7]) -> u64 {
    let mut s = Story { seed: a[0], said: 0, now: 0 };
    let mut cpus: Vec<boost::Idle> = Vec::new();
    for _ in 0..8 {
        let capacity = 1 << (8 + s.draw(3));
        let util = s.draw(1200);
        let util = util >> s.draw(4);
        let idle = s.draw(3) > 0;
        let state = s.draw(3);
        cpus.push(boost::Idle { capacity, util, state: idle.then_some(state) });
        let best = boost::prefer_idle(a[3] != 0, a[1], a[2], &cpus);
        s.say(best.unwrap_or(64) as u64);
    }
    s.said
}

fn votes(v7: bool, numbers: &Numbers, a: &[u64; 7]) -> u64 {
    let mut s = Story { seed: a[0], said: 0, now: a[1] };
    let usual = if a[3] == 0 { 50_000_000 } else { a[3] };
    let told = numbers.sched_dvfs_throttle_us;
    let window = if told == FROM_PLATFORM { usual } else { told * 1000 };
    let cur = TABLE_KHZ[s.draw(OPPS as u64) as usize];
    let min = TABLE_KHZ[s.draw(3) as usize];
    let max = TABLE_KHZ[OPPS - 1 - s.draw(3) as usize];
    let votes = vec![[0; 4]; VOTERS as usize];
    let mut sd = SchedDvfs { window, cur, limits: (min, max), votes, ..SchedDvfs::default() };
    for _ in 0..STEPS {
        vote(&mut s, &mut sd, v7);
    }
    s.said
}

fn vote(s: &mut Story, sd: &mut SchedDvfs, v7: bool) {
    let (cpu, cap, kind) = (s.draw(VOTERS) as usize, s.draw(1281), s.draw(8));
    s.now += s.draw(3 * sd.window / 4 + 2);
    if kind == 0 {
        (sd.votes[cpu][0], sd.votes[cpu][3]) = (0, 0);
        return;
    }
    let said = if v7 {
        let total = sd.votes[cpu][3];
        sd.votes[cpu] = [cap / 2, cap / 8, cap / 16, total];
        sd.update(cpu, kind > 1, &TABLE_KHZ)
    } else {
        sd.set_cap(cpu, cap, 1024 >> (kind & 1), s.now)
    };
    let number = [Said::Drive, Said::Throttled, Said::Other, Said::Same].iter().position(|x| *x == said);
    s.say(number.expect("one of them") as u64 + 8 * sd.requested);
    if said == Said::Drive {
        s.now = if v7 { s.now.max(sd.throttle) } else { s.now };
        let khz = lowest_from(&TABLE_KHZ, sd.limits, sd.requested);
        sd.done(khz, s.now);
    }
    s.say(if sd.jumps(1024, cap) { 1024 } else { 0 } + sd.throttle);
}

/// A number, or what the governor takes without one.
fn or(told: u64, usual: u64) -> u64 {
    if told == FROM_PLATFORM { usual } else { told }
}

fn samples(governor: &str, (old, steps): (bool, Steps), sampling: u64, numbers: &Numbers, mut s: Story) -> u64 {
    let conservative = governor == "conservative";
    let tunables = Tunables {
        up: or(numbers.up_threshold, if conservative { 80 } else { 95 }),
        down: numbers.down_threshold,
        down_factor: numbers.sampling_down_factor,
        step: numbers.freq_step,
        bias: numbers.powersave_bias,
        ignores_nice: numbers.ignore_nice_load != 0,
        io_is_busy: numbers.io_is_busy != 0,
    };
    let cur = TABLE_KHZ[s.draw(OPPS as u64) as usize];
    let min = TABLE_KHZ[s.draw(3) as usize];
    let max = TABLE_KHZ[OPPS - 1 - s.draw(3) as usize];
    let hardware = (TABLE_KHZ[0], TABLE_KHZ[OPPS - 1]);
    let limits = (min, max);
    let mut v = Sampler::new(old, sampling, cur, limits, hardware);
    (v.steps, v.descends) = (steps, s.draw(2) > 0);
    let start = match governor {
        "performance" => max,
        "powersave" => min,
        "userspace" if numbers.userspace_khz != FROM_PLATFORM => {
            let wanted = numbers.userspace_khz.clamp(min, max);
            *TABLE_KHZ.iter().find(|k| **k >= wanted).expect("limits are of the table")
        }
        _ => 0,
    };
    s.say(sampling + start);
    s.say(match governor {
        "ondemand" | "conservative" => 1,
        "sched_dvfs" | "sched_dvfs_v7" => 2,
        "interactive" => 4,
        _ => 0,
    });
    let (mut times, mut last) = (Times::default(), 0);
    for _ in 0..STEPS {
        let wall_us = s.draw(6 * sampling);
        let idle_us = if s.draw(4) > 0 { s.draw(wall_us + 2) } else { wall_us / 16 };
        let waits_us = s.draw(idle_us + 1);
        times.wall += wall_us;
        times.idle += idle_us - waits_us;
        times.waits += waits_us;
        times.nice += s.draw(500 * wall_us + 1);
        s.now += wall_us * 1000;
        let due = s.now - last >= sampling * 1000 / 2;
        s.say(due.into());
        if conservative || v.rest.is_none() || v.delay == 0 {
            last = s.now;
        }
        v.cur = if conservative {
            v.conservative(&tunables, &times, &TABLE_KHZ)
        } else {
            v.ondemand(&tunables, &times, &TABLE_KHZ)
        };
        s.say(v.load + 128 * v.cur);
        s.say(v.delay + v.requested);
    }
    s.said
}

impl Grammar {
    /// Margins, placements weighed, and stories of groups, votes and samples.
    pub(super) fn knob(&mut self) {
        let negative = |grammar: &mut Grammar, n: u64| low(grammar.below(2 * n + 1) as i64 - n as i64);
        let (full, signal, boost) = (1 + self.below(1024), self.below(1200), negative(self, 100));
        self.call(Op::BoostMargin, &[full, signal, boost]);
        let size = 1 << self.below(21);
        let (e, c) = (negative(self, size), negative(self, 1024));
        let (form, percent, row) = (self.below(3), self.below(101), self.below(10));
        let (min, max) = (self.below(1000), self.below(8000));
        self.call(Op::BoostFilter, &[form, percent, e, c, min, max, row]);
        let cpu = self.below(CPUS as u64) as usize;
        let percent = if self.switch_is("boost_form", "rfc") { self.below(101) } else { negative(self, 100) };
        self.call(Op::BoostState, &[address(Slot::State(cpu)), percent]);
        let seed = self.below(u64::from(u32::MAX)) << 20 | self.below(1 << 20);
        let (now, evaluation) = (self.now, address(Slot::Evaluation(0)));
        self.call(Op::BoostGroups, &[seed, now]);
        let latency_ns = [0, 50_000, 1_200_000, 500_000_000][self.below(4) as usize];
        let util = self.below(600);
        let more = [0, self.below(500)][self.below(2) as usize];
        self.call(Op::PreferIdle, &[seed, util, util + more, u64::from(more > 0)]);
        self.call(Op::SchedDvfs, &[seed, now, evaluation, latency_ns]);
        let tick_ns = self.governor.tick_ns;
        self.call(Op::Sampling, &[seed, now, evaluation, latency_ns, tick_ns]);
        self.call(Op::Interactive, &[seed, now, evaluation]);
    }
}
