// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle governors: their part of the twin, and random idle periods for the grammar.

use pelton_reference::idle::{self, Form, Now, STATES_MAX, WOKE_POLL_LIMIT, WOKE_TICK};

use super::grammar::Grammar;
use super::ops::Op;
use super::world::{CPUS, Slot, World, address, slot_at, value_of};

const US: u64 = 1000;

impl World {
    pub(super) fn idle(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let table = self.idle_table;
        let now = Now {
            sleep_ns: a[2],
            event_ns: a[3],
            tick_ns: a[4],
            latency_ns: a[5],
            tick_stopped: a[6] & 1 != 0,
            iowaiters: a[6] >> 32,
            utilized: a[6] >> 1 & 1 != 0,
        };
        let form = |name| Form::of(value_of(&self.policy, name)).expect("the twin knows every value");
        let (menu, teo) = (form("menu_form"), form("teo_form"));
        let (state, stop_tick) = match (slot_at(a[0]), op) {
            (Some(Slot::Menu(cpu)), Op::MenuSelect) => self.menu[cpu].select(menu, &table, &now),
            (Some(Slot::Teo(cpu)), Op::TeoSelect) => self.teo[cpu].select(teo, &table, &now),
            (Some(Slot::Menu(cpu)), _) => return woke(&mut self.menu[cpu].last, a),
            (Some(Slot::Teo(cpu)), _) => return woke(&mut self.teo[cpu].last, a),
            (other, _) => panic!("{other:?} is no idle governor"),
        };
        state | u64::from(stop_tick) << 32
    }
}

fn woke(last: &mut idle::Last, a: &[u64; 7]) -> u64 {
    last.woke(a[1], a[2], a[3]);
    0
}

impl Grammar {
    /// Random idle states: few or many, polling or not, from microseconds to milliseconds.
    pub(super) fn set_up_idle(&mut self) {
        let count = 1 + self.below(STATES_MAX as u64);
        let polling = self.below(2);
        let mut states = [(0, 0); STATES_MAX];
        let first = if polling == 0 { self.below(2) * US } else { 0 };
        let (mut exit_ns, mut residency_ns) = (first, first);
        for state in states.iter_mut().take(count as usize) {
            *state = (exit_ns, residency_ns);
            let step = [3 * US, 40 * US, 700 * US, 3000 * US][self.below(4) as usize];
            exit_ns += self.below(step);
            residency_ns += self.below(2 * step);
        }
        self.episode.world.idle_table = idle::Table { count, polling, states };
        self.episode.start = self.episode.world.clone();
    }

    /// Time of an idle period: mostly like the ones before, sometimes anything.
    fn idle_time(&mut self) -> u64 {
        let unit = [US, 20 * US, 300 * US, 2500 * US, 30_000 * US, u64::MAX >> 20][(self.below(60) / 11) as usize];
        unit / 2 + self.below(unit.min(u64::from(u32::MAX)))
    }

    /// A CPU is idle once or several times in a row, under both governors.
    pub(super) fn idle_period(&mut self) {
        let cpu = self.below(CPUS as u64) as usize;
        let usual_ns = self.idle_time();
        for _ in 0..1 + self.below(12) {
            let stay_ns = if self.below(8) == 0 { self.idle_time() } else { usual_ns + self.below(usual_ns / 16 + 1) };
            self.idle_stay(Slot::Menu(cpu), Op::MenuSelect, Op::MenuWoke, stay_ns);
            self.idle_stay(Slot::Teo(cpu), Op::TeoSelect, Op::TeoWoke, stay_ns);
        }
    }

    fn idle_stay(&mut self, slot: Slot, select: Op, woke: Op, stay_ns: u64) {
        let sleep_ns = if self.below(3) == 0 { stay_ns } else { self.idle_time() };
        let tick_ns = self.governor.tick_ns;
        let event_ns = sleep_ns.min(self.below(tick_ns));
        let limits = [0, 2 * US, 7 * US, 150 * US, u64::from(u32::MAX) * US];
        let latency_ns = if self.below(4) == 0 { limits[self.below(5) as usize] } else { u64::MAX };
        let stopped = u64::from(self.below(6) == 0);
        let waiters = if self.below(3) == 0 { self.below(4) } else { 0 };
        let utilized = u64::from(self.below(3) == 0);
        let marks = stopped | utilized << 1 | waiters << 32;
        let args = [address(slot), address(Slot::IdleTable), sleep_ns, event_ns, tick_ns, latency_ns, marks];
        let chosen = self.call(select, &args) & 0xffff_ffff;
        let why = match self.below(8) {
            0 => WOKE_TICK,
            1 => WOKE_POLL_LIMIT,
            _ => 0,
        };
        if self.below(32) != 0 {
            self.call(woke, &[address(slot), stay_ns, chosen, why]);
        }
    }
}
