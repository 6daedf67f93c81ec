// SPDX-License-Identifier: GPL-2.0-or-later
//! Dice before a search: a CPU that goes idle searches a domain as often as its searches find something.

use crate::balance::Skips;

const SIDES: u128 = 1024;
const CALLS: u128 = 1024;
/// Time that counts as one side of the dice.
const SIDE_NS: u128 = 1 << 22;
const SECOND: u128 = 1_000_000_000;

/// Searches that throw dice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dice {
    /// None.
    Off,
    /// All; the share of searches is that of successes.
    BySuccess,
    /// Those of CPUs that do not always search; time without a count makes the share larger.
    ByRate,
}

impl Dice {
    /// The rule of a name.
    pub fn of(name: &str) -> Option<Dice> {
        Some(match name {
            "off" => Dice::Off,
            "success" => Dice::BySuccess,
            "rate" => Dice::ByRate,
            _ => return None,
        })
    }
}

/// At most all sides. The kernel compares 32 signed bits, which after 104 days without a count are negative: a share
/// that is larger than any.
fn capped(sum: u128) -> u128 {
    let word = sum % (1 << 32);
    if word < 1 << 31 { word.min(SIDES) } else { word }
}

/// Change of the remembered cost by a search that finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// Measured time of the search.
    Measured,
    /// Half more than what is remembered, up to half a millisecond and a bit.
    Dearer,
}

impl Fails {
    /// The rule of a name.
    pub fn of(name: &str) -> Option<Fails> {
        Some(match name {
            "measured" => Fails::Measured,
            "dearer" => Fails::Dearer,
            _ => return None,
        })
    }

    fn most(self) -> u128 {
        if self == Fails::Dearer { 500_200 } else { u128::MAX }
    }
}

/// Rules of searches.
#[derive(Clone, Copy, Debug)]
pub struct SearchRules {
    /// Searches that throw dice.
    pub dice: Dice,
    /// CPUs that do not search.
    pub skips: Skips,
    /// Cost of a search without a find.
    pub fails: Fails,
}

/// Searches of one domain as a CPU remembers them; times in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Searches {
    /// Searches, and those that the dice left out.
    pub calls: u128,
    /// Calls that would have found something, as far as is known.
    pub hits: u128,
    /// Sides of the dice that let it search; two more do so always.
    pub share: u128,
    /// Time at which calls were last counted.
    pub counted_at: u128,
    /// Of a search.
    pub cost: u128,
    /// Time at which the cost last rose or faded.
    pub faded_at: u128,
}

impl Searches {
    fn throws(&self, dice: Dice) -> bool {
        match dice {
            Dice::Off => false,
            Dice::BySuccess => true,
            Dice::ByRate => self.share < SIDES,
        }
    }

    /// Hits that a search with a find stands for: those that were left out at the same share found as much.
    pub fn worth(&self, dice: Dice) -> u128 {
        if !self.throws(dice) {
            return 1;
        }
        let searching = self.share + 1;
        (SIDES + searching / 2) / searching
    }

    /// One more call; each 1024th makes the share anew.
    pub fn count(&mut self, dice: Dice, hits: u128, now: u128) {
        if dice == Dice::Off {
            return;
        }
        self.calls += 1;
        self.hits += hits;
        if self.calls < CALLS {
            return;
        }
        self.share = self.hits;
        if dice == Dice::ByRate {
            let quiet = now.saturating_sub(self.counted_at) / SIDE_NS;
            self.share = capped(self.hits + quiet);
            self.counted_at = now;
        }
        self.calls /= 2;
        self.hits /= 2;
    }

    /// A search took so long. A longer one than ever is remembered; others let the memory fade, once a second.
    fn took(&mut self, rules: SearchRules, cost: u128, now: u128) {
        let fades = rules.skips != Skips::MigrationCost;
        if cost > self.cost {
            self.cost = cost.min(rules.fails.most());
            self.faded_at = if fades { now } else { self.faded_at };
        } else if fades && now > self.faded_at + SECOND {
            self.cost = self.cost * 253 / 256;
            self.faded_at = now;
        }
    }

    /// The CPU goes idle with time for a search: dice, whether a search would find something, and the times cost, now
    /// and start of the tick. True: it searched.
    pub fn goes_idle(&mut self, rules: SearchRules, (rolled, found): (u128, bool), times: [u128; 3]) -> bool {
        let ([cost, now, tick_start], dice) = (times, rules.dice);
        if self.throws(dice) && rolled % SIDES > self.share + 1 {
            self.count(dice, 0, now);
            return false;
        }
        let hits = if found { self.worth(dice) } else { 0 };
        if cost > 0 {
            self.count(dice, hits, now);
        }
        let dearer = rules.fails == Fails::Dearer && !found;
        self.took(rules, if dearer { self.cost * 3 / 2 } else { cost }, tick_start);
        true
    }
}
