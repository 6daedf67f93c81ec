// SPDX-License-Identifier: GPL-2.0-or-later
//! From the values of sets, a game for each seed, to shares with their intervals.

use super::game::{Design, Set};
use super::{Estimate, Moved, Share, Verdict};
use crate::measure::quantity::Quantity;
use crate::measure::stats::{self, mean, mean_ci95};
use crate::round;

/// Values of a number: one game for each seed.
pub(super) struct Games<'a> {
    pub quantity: &'a Quantity,
    pub design: &'a Design,
    /// Names of players; of those without one no share is made.
    pub names: &'a [Option<String>],
    pub seeds: usize,
    /// Value of a set in the game of a seed, by its place.
    pub value: &'a dyn Fn(&Set, usize) -> f64,
}

impl Games<'_> {
    fn of_seeds(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..self.seeds).map(value).collect()
    }

    /// A set less another, in each seed.
    fn between(&self, more: &Set, less: &Set) -> Vec<f64> {
        self.of_seeds(|seed| (self.value)(more, seed) - (self.value)(less, seed))
    }

    /// The number with all its shares.
    pub fn moved(&self, note: Option<String>) -> Moved {
        let players = self.names.len();
        let (none, all) = (Set::none(players), Set::all(players));
        let changes = self.between(&all, &none);
        let [from, to] = [&none, &all].map(|set| mean_of(&self.of_seeds(|seed| (self.value)(set, seed))));
        let change = estimate(&changes);
        let verdict = verdict(&changes, change);
        let games: Vec<_> = (0..self.seeds).map(|seed| self.design.shares(|set| (self.value)(set, seed))).collect();
        let share = |(player, name): (usize, &Option<String>)| {
            let name = name.clone()?;
            let share = estimate(&games.iter().map(|game| game.of[player]).collect::<Vec<_>>());
            let pairs = games.first().map_or(0, |game| game.pairs.len());
            let of_pair = |pair: usize| mean_of(&games.iter().map(|g| g.pairs[pair][player]).collect::<Vec<_>>());
            let drawn = mean_ci95(&(0..pairs).map(of_pair).collect::<Vec<_>>());
            let says = matches!(verdict, Verdict::Moved | Verdict::NoInterval);
            Some(Share {
                player: name,
                alone: rounded(estimate(&self.between(&none.with(player), &none))),
                left_out: rounded(estimate(&self.between(&all, &all.without(player)))),
                share: rounded(share),
                orders_ci95_half: drawn.map(|(low, high)| round((high - low) / 2.0)),
                of_change_pct: (says && change.mean != 0.0).then(|| round(100.0 * share.mean / change.mean)),
            })
        };
        Moved {
            quantity: self.quantity.name,
            unit: self.quantity.unit,
            note,
            from: round(from),
            to: round(to),
            change: rounded(change),
            change_pct: percent(change, from).map(rounded),
            verdict,
            shares: self.names.iter().enumerate().filter_map(share).collect(),
        }
    }
}

fn mean_of(samples: &[f64]) -> f64 {
    mean(samples).unwrap_or(0.0)
}

fn estimate(samples: &[f64]) -> Estimate {
    Estimate { mean: mean_of(samples), ci95: mean_ci95(samples) }
}

fn rounded(of: Estimate) -> Estimate {
    Estimate { mean: round(of.mean), ci95: of.ci95.map(|(low, high)| (round(low), round(high))) }
}

/// A change in percent of what was before; `None` of 0.
fn percent(change: Estimate, from: f64) -> Option<Estimate> {
    let of = |value: f64| stats::percent_change(from, from + value);
    let ends = |(low, high): (f64, f64)| Some((of(low)?, of(high)?));
    let upward = |(a, b): (f64, f64)| if a <= b { (a, b) } else { (b, a) };
    Some(Estimate { mean: of(change.mean)?, ci95: change.ci95.and_then(ends).map(upward) })
}

fn verdict(changes: &[f64], change: Estimate) -> Verdict {
    match change.ci95 {
        _ if changes.iter().all(|&change| change == 0.0) => Verdict::Equal,
        None => Verdict::NoInterval,
        Some(_) if change.is_significant() => Verdict::Moved,
        Some(_) => Verdict::WithinNoise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::quantity::find;

    fn moved(players: usize, orders: usize, seeds: usize, value: impl Fn(&Set, usize) -> f64) -> Moved {
        let names: Vec<Option<String>> = (0..players).map(|player| Some(format!("p{player}"))).collect();
        let quantity = find("energy_mj").expect("known");
        let design = Design::new(players, orders);
        Games { quantity, design: &design, names: &names, seeds, value: &value }.moved(None)
    }

    #[test]
    fn two_switches_that_work_together_share_by_hand() {
        // Player 0 alone adds 10, player 1 alone adds 2, both 20: shares 14 and 6. The seed moves both ends alike.
        let value = |set: &Set, seed: usize| {
            let own = match (set.has(0), set.has(1)) {
                (false, false) => 0.0,
                (true, false) => 10.0,
                (false, true) => 2.0,
                (true, true) => 20.0,
            };
            100.0 + seed as f64 + own
        };
        let found = moved(2, 2, 6, value);
        assert_eq!((found.from, found.to, found.verdict), (102.5, 122.5, Verdict::Moved));
        assert_eq!((found.change.mean, found.change.ci95), (20.0, Some((20.0, 20.0))));
        let of = |player: usize| &found.shares[player];
        assert_eq!((of(0).alone.mean, of(0).left_out.mean, of(0).share.mean), (10.0, 18.0, 14.0));
        assert_eq!((of(1).alone.mean, of(1).left_out.mean, of(1).share.mean), (2.0, 10.0, 6.0));
        assert_eq!((of(0).of_change_pct, of(1).of_change_pct), (Some(70.0), Some(30.0)));
        assert_eq!(of(0).orders_ci95_half, None);
        let pct = found.change_pct.expect("the mean is not 0");
        assert!((pct.mean - 19.512_195).abs() < 1e-6, "{pct:?}");
    }

    #[test]
    fn a_change_that_the_seeds_explain_has_no_percents() {
        let value = |set: &Set, seed: usize| if set.is_empty() { 0.0 } else { [3.0, -3.0][seed % 2] };
        let found = moved(1, 2, 8, value);
        assert_eq!((found.verdict, found.shares[0].of_change_pct), (Verdict::WithinNoise, None));
        assert_eq!(found.change_pct, None, "the first policy's mean is 0");
        let equal = moved(1, 2, 8, |_, seed| seed as f64);
        assert_eq!((equal.verdict, equal.shares[0].of_change_pct), (Verdict::Equal, None));
        let few = moved(1, 2, 5, |set, _| set.len() as f64);
        assert_eq!((few.verdict, few.shares[0].of_change_pct), (Verdict::NoInterval, Some(100.0)));
    }

    #[test]
    fn means_of_shares_add_up_and_what_orders_leave_is_said() {
        let value = |set: &Set, seed: usize| {
            let sum: usize = set.members().map(|player| player * player + seed).sum();
            (sum * sum * sum) as f64 / 7.0
        };
        let found = moved(12, 16, 7, value);
        let sum: f64 = found.shares.iter().map(|share| share.share.mean).sum();
        assert!((sum - found.change.mean).abs() < 1e-4, "{sum} {:?}", found.change);
        assert!(found.shares.iter().all(|share| share.orders_ci95_half.is_some_and(|half| half > 0.0)));
    }
}
