// SPDX-License-Identifier: GPL-2.0-or-later
//! Caches that tasks prefer: their part of the twin, and random questions for the grammar.

use pelton_reference::cache::{Cpu, Process, Used, is_no_crowd, may_move as may};

use super::grammar::Grammar;
use super::knob::{STEPS, Story};
use super::ops::Op;

const CPUS: usize = 4;

fn ran(s: &mut Story, cpus: &mut [Cpu; CPUS], process: &mut Process, period: u64) {
    let (cpu, own) = (s.draw(CPUS as u64) as usize, s.draw(3) != 0);
    let ns = u128::from(s.draw(10_000_000));
    let cpu = &mut cpus[cpu];
    cpu.until(s.now.into(), period.into());
    cpu.all.ns += ns;
    cpu.own.ns += if own { ns } else { 0 };
    for kept in [cpu.all.ns, cpu.own.ns, cpu.all.epoch, cpu.ends] {
        s.say(kept as u64);
    }
    let has_asked = s.draw(4) == 0;
    s.say(process.asks(cpu.all.epoch, has_asked).into());
    s.say(process.asked as u64);
}

fn looked(s: &mut Story, cpus: &mut [Cpu; CPUS], process: &mut Process, period: u64) {
    let running: u64 = (0..CPUS).map(|_| s.draw(2)).sum();
    cpus.iter_mut().for_each(|cpu| cpu.until(s.now.into(), period.into()));
    let size = 1u128 << s.draw(7);
    process.looks(cpus, &[0..2, 2..4], running.into(), size);
    s.say(process.prefers.map_or(u64::from(u32::MAX), |cpu| cpu as u64));
    s.say(process.running as u64);
}

pub(super) fn looks(a: &[u64; 7]) -> u64 {
    let mut s = Story { seed: a[0], said: 0, now: a[1] };
    let period = 1 + s.draw(10);
    let mut process = Process { running: s.draw(40).into(), ..Process::default() };
    let mut cpus = [Cpu { ends: s.now.into(), ..Cpu::default() }; CPUS];
    for _ in 0..STEPS {
        s.now += s.draw(2) * s.draw(40);
        if s.draw(4) != 0 {
            ran(&mut s, &mut cpus, &mut process, period);
        } else {
            looked(&mut s, &mut cpus, &mut process, period);
        }
    }
    s.said
}

pub(super) fn may_move(a: &[u64; 7]) -> u64 {
    let low = |word: u64| u128::from(word as u32);
    let used = |word: u64| Used { util: low(word), capacity: low(word >> 32) };
    let threads = u128::from(a[2] >> 40);
    let moves = may(threads, used(a[0]), used(a[1]), low(a[2]), a[2] >> 32 & 1 != 0);
    moves as u64 | u64::from(is_no_crowd(threads, low(a[3] >> 32), low(a[3]), low(a[4]))) << 2
}

impl Grammar {
    /// Threads of a process run, and one may leave its cache.
    pub(super) fn caches(&mut self) {
        let (seed, tick) = (self.below(1 << 32), self.below(1 << 40));
        self.call(Op::CacheLook, &[seed, tick]);
        let capacity = 1024 * (1 + self.below(8));
        let util = [self.below(2) * self.below(capacity), self.below(capacity + 1)];
        let cache = |util: u64| util | capacity << 32;
        let task = self.below(1025) | self.below(2) << 32 | self.below(3) << 40;
        let process = self.below(9) | self.below(4) << 32;
        let size = 1 + self.below(16);
        self.call(Op::CacheMove, &[cache(util[0]), cache(util[1]), task, process, size]);
    }
}
