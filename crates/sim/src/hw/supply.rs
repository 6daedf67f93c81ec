// SPDX-License-Identifier: GPL-2.0-or-later
//! Power that a domain draws at its voltage, which it and the other domains on its supply ask for.

use pelton_model::draws::{Draws, Rail, Vote};
use pelton_model::machine::Machine;

use crate::hw::power::Power;
use crate::shape::Run;
use crate::state::Engine;

/// The supply of one domain.
#[derive(Debug)]
pub(crate) struct Supply {
    draws: Draws,
    /// Index of the present rail.
    rail: u32,
    /// Domains that this one's clock has a vote on.
    dependents: Vec<u32>,
    /// The kernel has another figure for a busy CPU than what it draws.
    model_differs: bool,
}

impl Supply {
    /// Of every domain of a machine.
    pub(crate) fn of_all(m: &Machine) -> Vec<Supply> {
        let depends = |d: usize, other: u32| m.domains[d].draws.votes.iter().any(|vote| vote.domain == other);
        let supply = |d: usize| {
            let draws = m.drawn(d);
            let model = m.domains[d].opps.iter().map(|opp| opp.power_uw);
            Supply {
                rail: draws.quiet_rail(),
                dependents: (0..m.domains.len()).filter(|&o| depends(o, d as u32)).map(|o| o as u32).collect(),
                model_differs: draws.rails.iter().any(|rail| !rail.busy_uw.iter().copied().eq(model.clone())),
                draws,
            }
        };
        (0..m.domains.len()).map(supply).collect()
    }

    /// Power at the present voltage.
    #[inline]
    pub(crate) fn rail(&self) -> &Rail {
        &self.draws.rails[self.rail as usize]
    }

    /// Domains that this one's clock has a vote on.
    #[inline]
    pub(crate) fn dependents(&self) -> &[u32] {
        &self.dependents
    }

    /// The kernel has another figure for a busy CPU than what it draws.
    #[inline]
    pub(crate) fn model_differs(&self) -> bool {
        self.model_differs
    }

    pub(crate) fn becomes(&mut self, rail: u32) {
        self.rail = rail;
    }

    /// The highest rail that a vote asks for.
    fn wanted(&self, asks: impl Fn(&Vote) -> Option<u32>) -> u32 {
        self.draws.votes.iter().filter_map(asks).max().unwrap_or(self.draws.quiet_rail())
    }

    /// Another rail than the present one, if that is asked for.
    fn other(&self, asks: impl Fn(&Vote) -> Option<u32>) -> Option<u32> {
        Some(self.wanted(asks)).filter(|&rail| rail != self.rail)
    }
}

/// Rows of a table by idle state; a state without a row draws nothing that is known.
pub(crate) fn at(rows: &[Vec<u64>], state: u32, opp: u32) -> u64 {
    rows.get(state as usize).and_then(|row| row.get(opp as usize)).copied().unwrap_or(0)
}

impl<S: Run> Engine<'_, S> {
    /// The rail that domain `d` gets from now on, if that is another.
    pub(crate) fn next_rail(&self, d: u32) -> Option<u32> {
        self.hw.supplies[d as usize].other(|vote| self.asked_rail(vote))
    }

    /// Rail that a domain asks for with `vote`: none while all of its CPUs are off.
    fn asked_rail(&self, vote: &Vote) -> Option<u32> {
        let is_on = |&c: &u32| match self.cpus[c as usize].power() {
            Power::Awake => true,
            Power::Idle { state } | Power::Exiting { state } => state < vote.off_from,
        };
        let on = self.m.domains[vote.domain as usize].cpus.iter().any(is_on);
        let opp = self.domains[vote.domain as usize].hw.opp();
        on.then(|| vote.rails.get(opp as usize).or(vote.rails.last()).copied()).flatten()
    }
}
