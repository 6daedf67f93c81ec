// SPDX-License-Identifier: GPL-2.0-or-later
//! The interactive governor: its part of the twin, the story of `entry_interactive.h`.

use pelton_reference::governors::Times;
use pelton_reference::interactive::{Cpu, Domain, Settings};
use pelton_reference::rules::{FROM_PLATFORM, Numbers};

use super::domain::{OPPS, TABLE_KHZ};
use super::knob::{STEPS, Story};

const CPUS: usize = 2;

/// A table with up to three entries.
fn table(first: u64, more: [(u64, u64); 2]) -> Vec<(u64, u64)> {
    let told = more.iter().copied().take_while(|(from, _)| *from != FROM_PLATFORM);
    std::iter::once((0, first)).chain(told).collect()
}

fn settings(n: &Numbers, max: u64) -> Settings {
    let loads = [(n.target_load_2_from_khz, n.target_load_2), (n.target_load_3_from_khz, n.target_load_3)];
    let delays = [
        (n.above_hispeed_delay_2_from_khz, n.above_hispeed_delay_2_us),
        (n.above_hispeed_delay_3_from_khz, n.above_hispeed_delay_3_us),
    ];
    Settings {
        target_loads: table(n.target_load, loads),
        delays: table(n.above_hispeed_delay_us, delays),
        hispeed: if n.hispeed_khz == FROM_PLATFORM { max } else { n.hispeed_khz },
        go_load: n.go_hispeed_load,
        min_sample: n.min_sample_time_us,
        wakes: n.timer_slack_us < 100_000_000,
        boost: n.boost_val != 0,
        pulse: n.boostpulse_duration_us,
        io_is_busy: n.io_is_busy != 0,
    }
}

struct Told {
    domain: Domain,
    /// Of each CPU.
    times: Times,
}

impl Told {
    fn drive(&mut self, khz: u64) {
        (0..CPUS).for_each(|cpu| self.domain.count(cpu, &self.times));
        self.domain.cur = khz;
    }

    fn pass(&mut self, s: &mut Story) {
        let most = if s.draw(4) != 0 { 60_000 } else { 300_000 };
        let wall = s.draw(most);
        let idle = if s.draw(3) != 0 { s.draw(wall + 2) } else { wall / 128 };
        let t = &mut self.times;
        t.wall += wall;
        t.idle += idle / 2;
        t.waits += idle - idle / 2;
    }

    fn limit(&mut self, s: &mut Story) {
        let min = TABLE_KHZ[s.draw(3) as usize];
        let max = TABLE_KHZ[OPPS - 1 - s.draw(3) as usize];
        let inside = self.domain.cur.max(min).min(max);
        if inside != self.domain.cur {
            self.drive(inside);
        }
        self.domain.limit((min, max));
    }

    fn expire(&mut self, s: &mut Story) {
        let cpu = s.draw(CPUS as u64) as usize;
        let woken = self.domain.timer(cpu, &self.times, &TABLE_KHZ);
        self.domain.set_timer(cpu, &self.times);
        let c = self.domain.cpus[cpu];
        s.say(c.load + 1024 * c.target + u64::from(self.domain.is_woken(cpu)));
        s.say(u64::from(woken) + 2 * c.floor);
        let next = if woken { self.domain.look(&TABLE_KHZ) } else { None };
        if let Some(khz) = next {
            self.drive(khz);
        }
        let c = self.domain.cpus[cpu];
        s.say(next.unwrap_or(0) + c.rise_seen.0 + 3 * c.floor_seen.0);
    }
}

pub(super) fn story(numbers: &Numbers, a: &[u64; 7]) -> u64 {
    let mut s = Story { seed: a[0], said: 0, now: a[1] };
    let (min, max) = (TABLE_KHZ[0], TABLE_KHZ[OPPS - 1]);
    let cur = TABLE_KHZ[s.draw(OPPS as u64) as usize];
    let set = settings(numbers, max);
    let boosted = set.boost;
    let cpus = vec![Cpu::default(); CPUS];
    let domain = Domain { set, cur, limits: (min, max), boosted, cpus, pulse_end: 0 };
    let times = Times { wall: 1 << 30, idle: s.draw(1 << 20), ..Times::default() };
    let mut told = Told { domain, times };
    (0..CPUS).for_each(|cpu| told.domain.start(cpu, &times));
    for _ in 0..STEPS {
        let kind = s.draw(16);
        told.pass(&mut s);
        match kind {
            0 => {
                let woken = told.domain.pulse(told.times.wall);
                s.say(woken.into());
            }
            1 => told.limit(&mut s),
            _ => told.expire(&mut s),
        }
    }
    s.said
}
