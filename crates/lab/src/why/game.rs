// SPDX-License-Identifier: GPL-2.0-or-later
//! Shares of players in what they reach together, after Shapley: the mean, over all orders in which they may come, of
//! what each adds to those before it.
//!
//! Few players: every set of them, exactly. More: orders that are drawn, each with its reverse, so that a player that
//! came early in one comes late in the other. The same orders count for every game, so that shares of several games can
//! be averaged. Either way the shares of a game add up to what all reach beyond what none reaches.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;

/// A set of players, which are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set(Vec<bool>);

impl Set {
    /// None of so many players.
    pub fn none(players: usize) -> Set {
        Set(vec![false; players])
    }

    /// All of them.
    pub fn all(players: usize) -> Set {
        Set(vec![true; players])
    }

    /// This set and a player.
    #[must_use]
    pub fn with(&self, player: usize) -> Set {
        let mut set = self.clone();
        set.0[player] = true;
        set
    }

    /// This set without a player.
    #[must_use]
    pub fn without(&self, player: usize) -> Set {
        let mut set = self.clone();
        set.0[player] = false;
        set
    }

    /// True for a player in it.
    pub fn has(&self, player: usize) -> bool {
        self.0[player]
    }

    /// Players in it.
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len()).filter(|&player| self.0[player])
    }

    /// Number of players in it.
    pub fn len(&self) -> usize {
        self.members().count()
    }

    /// True without a player.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every set of so many players, none first and all last.
    fn every(players: usize) -> impl Iterator<Item = Set> {
        (0..1u64 << players).map(move |bits| Set((0..players).map(|player| bits >> player & 1 == 1).collect()))
    }
}

/// Most players of which every set is looked at.
const EXACT_MAX: usize = 16;
/// Times as many sets that exact shares may take as drawn orders would.
const EXACT_COSTS: usize = 2;

/// Sets that a division into shares needs.
#[derive(Clone, Debug)]
pub struct Design {
    players: usize,
    /// Orders that were drawn; `None` = every set.
    orders: Option<Vec<Vec<usize>>>,
}

impl Design {
    /// Every set where that is cheap beside so many orders, which are an even number; else the orders.
    pub fn new(players: usize, orders: usize) -> Design {
        let drawn = orders.saturating_mul(players.saturating_sub(1)).max(1);
        let is_cheap = players <= EXACT_MAX && (1 << players) <= EXACT_COSTS * drawn + 2;
        Design { players, orders: (!is_cheap).then(|| draw(players, orders)) }
    }

    /// Drawn orders, an even number of them, however few the players are.
    pub fn drawn(players: usize, orders: usize) -> Design {
        Design { players, orders: Some(draw(players, orders)) }
    }

    /// Orders that were drawn; `None` where shares are exact.
    pub fn orders(&self) -> Option<&[Vec<usize>]> {
        self.orders.as_deref()
    }

    /// Every set whose value is asked for, each once.
    pub fn sets(&self) -> Vec<Set> {
        match &self.orders {
            None => Set::every(self.players).collect(),
            Some(orders) => {
                let all: BTreeSet<Set> = orders.iter().flat_map(|order| prefixes(self.players, order)).collect();
                all.into_iter().collect()
            }
        }
    }

    /// Shares of a game: one for each player, and what each order and its reverse gave, where orders were drawn.
    pub fn shares(&self, value: impl Fn(&Set) -> f64) -> Shares {
        match &self.orders {
            None => Shares { of: exact(self.players, value), pairs: Vec::new() },
            Some(orders) => {
                let gains: Vec<Vec<f64>> = orders.iter().map(|order| added(self.players, order, &value)).collect();
                let pairs: Vec<Vec<f64>> = gains.chunks(2).map(means).collect();
                Shares { of: means(&pairs), pairs }
            }
        }
    }
}

/// Shares of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// One for each player.
    pub of: Vec<f64>,
    /// Shares by each drawn order and its reverse: `[pair][player]`; empty where they are exact.
    pub pairs: Vec<Vec<f64>>,
}

/// Orders of players, drawn from a fixed seed: one, its reverse, the next one.
fn draw(players: usize, orders: usize) -> Vec<Vec<usize>> {
    let mut rng = Pcg64Mcg::new(0x0057_6879_5348_4150);
    let mut drawn = Vec::new();
    while drawn.len() < orders {
        let mut order: Vec<usize> = (0..players).collect();
        for last in (1..players).rev() {
            order.swap(last, (rng.next_u64() % (last as u64 + 1)) as usize);
        }
        let reverse = order.iter().rev().copied().collect();
        drawn.extend([order, reverse]);
    }
    drawn
}

/// None, the first of the order, the first two, all.
pub fn prefixes(players: usize, order: &[usize]) -> impl Iterator<Item = Set> {
    let mut set = Set::none(players);
    let more = order.iter().copied().map(move |player| {
        set = set.with(player);
        set.clone()
    });
    std::iter::once(Set::none(players)).chain(more)
}

/// Gain of each player when they come in this order.
fn added(players: usize, order: &[usize], value: impl Fn(&Set) -> f64) -> Vec<f64> {
    let values: Vec<f64> = prefixes(players, order).map(|set| value(&set)).collect();
    let mut gains = vec![0.0; players];
    order.iter().zip(values.windows(2)).for_each(|(&player, pair)| gains[player] = pair[1] - pair[0]);
    gains
}

/// Means of columns.
fn means<R: AsRef<[f64]>>(rows: &[R]) -> Vec<f64> {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let mean = |column: usize| rows.iter().map(|row| row.as_ref()[column]).sum::<f64>() / rows.len() as f64;
    (0..columns).map(mean).collect()
}

/// Shapley values from the value of every set.
fn exact(players: usize, value: impl Fn(&Set) -> f64) -> Vec<f64> {
    let values: Vec<f64> = Set::every(players).map(|set| value(&set)).collect();
    let weight = |before: u32| {
        // One part of the orders for each place, and of those with this place one for each set before it.
        let choices = (0..u64::from(before)).map(|k| (players as u64 - 1 - k) as f64 / (k + 1) as f64).product::<f64>();
        1.0 / (players as f64 * choices)
    };
    let weights: Vec<f64> = (0..players as u32).map(weight).collect();
    let share = |player: usize| {
        let without = (0..values.len()).filter(|bits| bits >> player & 1 == 0);
        without.map(|bits| weights[bits.count_ones() as usize] * (values[bits | 1 << player] - values[bits])).sum()
    };
    (0..players).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game with interactions of any size, from a seed.
    fn game(players: usize, seed: u64) -> Vec<f64> {
        let mut rng = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
        (0..1 << players).map(|_| (rng.next_u64() % 20_001) as f64 / 7.0 - 1_000.0).collect()
    }

    fn at(values: &[f64], set: &Set) -> f64 {
        values[set.members().map(|player| 1 << player).sum::<usize>()]
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
    }

    /// Orders of all players, by hand.
    fn every_order(players: usize) -> Vec<Vec<usize>> {
        let mut orders = vec![Vec::new()];
        for _ in 0..players {
            let longer = |order: &Vec<usize>| {
                let rest: Vec<usize> = (0..players).filter(|player| !order.contains(player)).collect();
                rest.into_iter().map(|next| [order.clone(), vec![next]].concat()).collect::<Vec<_>>()
            };
            orders = orders.iter().flat_map(longer).collect();
        }
        orders
    }

    #[test]
    fn exact_shares_are_the_means_over_every_order() {
        for players in 1..=6 {
            let values = game(players, players as u64);
            let gains: Vec<Vec<f64>> =
                every_order(players).iter().map(|order| added(players, order, |set| at(&values, set))).collect();
            let by_hand = means(&gains);
            for (share, mean) in exact(players, |set| at(&values, set)).into_iter().zip(by_hand) {
                assert!(near(share, mean), "{players}: {share} {mean}");
            }
        }
    }

    #[test]
    fn shares_add_up_to_what_all_reach() {
        for (seed, players) in (0..60).zip((1..=10).cycle()) {
            let values = game(players, seed);
            let whole = values[values.len() - 1] - values[0];
            for orders in [2, 6, 1_000] {
                let design = Design::new(players, orders);
                let shares = design.shares(|set| at(&values, set));
                assert!(near(shares.of.iter().sum(), whole), "{players} {orders}: {shares:?} {whole}");
                assert!(shares.pairs.iter().all(|pair| near(pair.iter().sum(), whole)), "{players} {orders}");
            }
        }
    }

    #[test]
    fn a_player_that_adds_nothing_has_nothing_and_equal_ones_have_equal_shares() {
        // Player 2 adds nothing; 0 and 1 are interchangeable, and worth more together.
        let value = |set: &Set| {
            let both = usize::from(set.has(0)) + usize::from(set.has(1));
            [0.0, 3.0, 11.0][both] + if set.has(3) { 5.0 } else { 0.0 }
        };
        let shares = Design::new(4, 100).shares(value);
        assert!(shares.pairs.is_empty(), "exact");
        assert!(near(shares.of[0], 5.5) && near(shares.of[1], 5.5) && near(shares.of[3], 5.0), "{shares:?}");
        assert_eq!(shares.of[2], 0.0);
        let drawn = Design::drawn(4, 2).shares(value);
        // Two players that only work on one another: an order and its reverse are enough.
        assert!(near(drawn.of[0], 5.5) && near(drawn.of[1], 5.5), "{drawn:?}");
        assert_eq!(drawn.of[2], 0.0);
    }

    #[test]
    fn drawn_orders_come_near_the_exact_shares_and_say_how_near() {
        let players = 9;
        let values = game(players, 77);
        let right = exact(players, |set| at(&values, set));
        let error = |orders: usize| {
            let drawn = Design::drawn(players, orders).shares(|set| at(&values, set));
            let far: f64 = drawn.of.iter().zip(&right).map(|(drawn, right)| (drawn - right).powi(2)).sum();
            let inside = (0..players).filter(|&player| {
                let pairs: Vec<f64> = drawn.pairs.iter().map(|pair| pair[player]).collect();
                crate::measure::stats::mean_ci95(&pairs)
                    .is_some_and(|(lo, hi)| lo <= right[player] && right[player] <= hi)
            });
            (far.sqrt(), inside.count())
        };
        let (few, many) = (error(16), error(4_096));
        assert!(many.0 * 8.0 < few.0, "sixteen times nearer for 256 times the orders, about: {few:?} {many:?}");
        assert!(few.1 >= 7 && many.1 >= 7, "the interval holds the right share: {few:?} {many:?}");
    }

    #[test]
    fn every_set_is_looked_at_where_that_costs_little() {
        assert_eq!((Design::new(1, 2).orders(), Design::new(7, 16).orders()), (None, None));
        assert_eq!(Design::new(12, 16).orders().map(<[_]>::len), Some(16));
        assert_eq!(Design::new(3, 2).sets().len(), 8);
        let sets = Design::new(12, 4).sets();
        assert!(sets.contains(&Set::none(12)) && sets.contains(&Set::all(12)) && sets.len() <= 2 + 4 * 11);
        assert_eq!(Design::new(0, 2).shares(|_| 7.0).of, Vec::<f64>::new());
    }
}
