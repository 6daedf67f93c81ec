// SPDX-License-Identifier: GPL-2.0-or-later
//! Placement and the energy model: their part of the twin, and random questions for the grammar.

use pelton_reference::energy::{self, State};
use pelton_reference::place::{self, Wake, WakeAffine};

use super::grammar::Grammar;
use super::ops::Op;
use super::world::{World, value_of};

/// Most states of a domain here.
const STATES_MAX: u64 = 3;

impl World {
    pub(super) fn placement(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        match op {
            Op::WakeAffine => {
                let rule = WakeAffine::of(value_of(&self.policy, "wake_affine")).expect("the twin knows every value");
                place::affine(rule, &wake(a)).into()
            }
            Op::WakeWide => place::wide([a[0].into(), a[1].into()], a[2].into()).into(),
            Op::EmState => em_state(a),
            _ => em_energy(a),
        }
    }
}

fn wake(a: &[u64; 7]) -> Wake {
    let mark = |bit: u64| a[5] >> bit & 1 != 0;
    Wake {
        load: [a[0].into(), a[1].into()],
        capacity: [(a[4] & 0xffff_ffff).into(), (a[4] >> 32).into()],
        task: a[2].into(),
        waker: a[3].into(),
        siblings: mark(0),
        sync: mark(1),
        this_idle: mark(2),
        prev_idle: mark(3),
        running: (a[5] >> 32).into(),
        far: mark(4),
    }
}

/// The table of a call: its states and the capacity of the CPUs.
fn table(a: &[u64; 7]) -> (Vec<State>, u128) {
    let state = |word: &u64| State { khz: u128::from(word & 0xff_ffff) * 1000, power_uw: (word >> 24).into() };
    (a[..(a[4] >> 16 & 3) as usize].iter().map(state).collect(), (a[4] & 0xffff).into())
}

fn em_state(a: &[u64; 7]) -> u64 {
    let ((states, cap), index) = (table(a), (a[5] & 3) as usize);
    if index >= states.len() {
        return 0;
    }
    let inefficient = u64::from(energy::is_inefficient(&states, index, cap));
    energy::cost(&states, index, cap) as u64
        ^ (energy::performance(&states, index, cap) as u64) << 40
        ^ inefficient << 63
}

fn em_energy(a: &[u64; 7]) -> u64 {
    let (states, cap) = table(a);
    let range = [(a[4] >> 24 & 0xff) as usize, (a[4] >> 32 & 0xff) as usize];
    let [max_util, sum_util] = [a[5] & 0xffff_ffff, a[5] >> 32].map(u128::from);
    energy::energy(&states, range, cap, max_util, sum_util, a[6].into()) as u64
}

impl Grammar {
    /// A wake-up asks where to go, and what it would cost.
    pub(super) fn placement(&mut self) {
        let loads = [0; 4].map(|_| self.load());
        let capacity = |grammar: &mut Grammar| [1024, 1024, 446, 0][grammar.below(4) as usize];
        let capacities = capacity(self) | capacity(self) << 32;
        let marks = self.below(32) | self.below(4) << 32;
        let [this, prev, task, waker] = loads;
        self.call(Op::WakeAffine, &[this, prev, task, waker, capacities, marks]);
        let flips = [80, 80, 9].map(|below| self.below(below));
        self.call(Op::WakeWide, &flips);
        self.energy();
        self.fair_class();
    }

    /// Few values, so that both sides are often close.
    fn load(&mut self) -> u64 {
        self.below(6) * 1024 + self.below(2) * self.below(88_761)
    }

    /// Power need not grow with the frequency, so that inefficient states occur.
    fn energy(&mut self) {
        let (mut mhz, mut states) = (0, [0; 4]);
        for state in &mut states {
            mhz += 1 + self.below(900);
            *state = mhz | (self.below(9_000) * mhz) << 24;
        }
        let [first, second, third, fourth] = states;
        let count = self.below(STATES_MAX + 1);
        let shape = self.below(1025) | count << 16;
        let index = self.below(4);
        self.call(Op::EmState, &[first, second, third, fourth, shape, index]);
        let range = self.below(3) << 24 | [self.below(4), 0xff][self.below(2) as usize] << 32;
        let util = self.below(1200) | self.below(6000) << 32;
        let allowed = self.below(1025);
        self.call(Op::EmEnergy, &[first, second, third, fourth, shape | range, util, allowed]);
    }
}
