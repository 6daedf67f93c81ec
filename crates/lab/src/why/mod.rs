// SPDX-License-Identifier: GPL-2.0-or-later
//! Switches between two policies, and what each has moved: alone, left out, and its share of the whole change.
//!
//! A share is Shapley's ([`game`]). Each seed is a game of its own, with the same orders; intervals are over seeds.
//! Switches that change no run, neither alone nor left out nor all together, are one player.

pub mod ends;
pub mod game;
pub mod kept;
mod moved;
mod work;

use crate::about::{About, AboutPolicy};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use work::ask;
pub use work::{Keep, Question};

/// Numbers of two policies, and what moved them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Why {
    /// Inputs of the runs.
    pub run: About,
    /// The first policy, as given.
    pub from: String,
    /// The second policy, as given.
    pub to: String,
    /// Both policies and their plans.
    pub plans: Vec<AboutPolicy>,
    /// Seeds that every policy ran with.
    pub seeds: Vec<u64>,
    /// Name of the number that is asked for.
    pub metric: &'static str,
    /// Runs behind the shares.
    pub method: Method,
    /// Players: switches, or groups of them, in table order.
    pub players: Vec<Player>,
    /// Every number that all runs have.
    pub numbers: Vec<Moved>,
    /// Numbers that some run does not have.
    pub unknown: Vec<&'static str>,
    /// Facts that have to be known before the numbers are believed.
    pub remarks: Vec<String>,
}

impl Why {
    /// The number of this name.
    pub fn number(&self, name: &str) -> Option<&Moved> {
        self.numbers.iter().find(|number| number.quantity == name)
    }

    /// The number that is asked for; `None` where no switch differs.
    pub fn answer(&self) -> Option<&Moved> {
        self.number(self.metric)
    }
}

/// Runs behind shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Method {
    /// Every set of players was run: shares have no error of sampling.
    pub exact: bool,
    /// Orders that were drawn, half of them reverses of the others; 0 where shares are exact.
    pub orders: usize,
    /// Policies that ran.
    pub policies: usize,
    /// Simulations, each policy with each seed.
    pub runs: usize,
}

/// A switch, or switches that are taken together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Player {
    /// Name: that of its switch, or of its switches with plus signs between them; how many they are where no run
    /// differs by them.
    pub name: String,
    /// Its switches and numbers.
    pub switches: Vec<Changed>,
    /// Reason why they are together.
    pub together: Option<String>,
    /// False where it changed no run, whatever else was taken.
    pub changes_runs: bool,
}

/// A switch or number with two values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changed {
    /// Name.
    pub switch: String,
    /// Value in the first policy.
    pub from: String,
    /// Value in the second one.
    pub to: String,
}

/// A number, and what moved it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Moved {
    /// Name of the number.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Part that the number leaves out.
    pub note: Option<String>,
    /// Mean over seeds under the first policy.
    pub from: f64,
    /// Mean over seeds under the second one.
    pub to: f64,
    /// Second less first.
    pub change: Estimate,
    /// The change in percent of the first policy's mean, with its interval; `None` of a mean of 0.
    pub change_pct: Option<Estimate>,
    /// Meaning of the change.
    pub verdict: Verdict,
    /// One for each player, in their order.
    pub shares: Vec<Share>,
}

impl Moved {
    /// Shares, the largest first.
    pub fn sorted(&self) -> Vec<&Share> {
        let mut shares: Vec<&Share> = self.shares.iter().collect();
        shares.sort_by(|a, b| b.share.mean.abs().total_cmp(&a.share.mean.abs()));
        shares
    }
}

/// Meaning of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Equal in every seed.
    Equal,
    /// The interval of the change holds 0: the seeds explain it.
    WithinNoise,
    /// The interval leaves out 0.
    Moved,
    /// Too few seeds for an interval.
    NoInterval,
}

/// Mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// Mean.
    pub mean: f64,
    /// Its 95 % interval, by Student's t over seeds; `None` with fewer than six.
    pub ci95: Option<(f64, f64)>,
}

impl Estimate {
    /// True where the interval leaves out 0.
    pub fn is_significant(&self) -> bool {
        self.ci95.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

impl Share {
    /// True where neither the seeds nor the draw of orders explain the share.
    pub fn is_significant(&self) -> bool {
        let drawn = self.orders_ci95_half.unwrap_or(0.0);
        self.share.is_significant() && self.share.mean.abs() > drawn
    }
}

/// Effect of a player on a number.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    /// Name of the player.
    pub player: String,
    /// The first policy with the player's switches, less the first policy.
    pub alone: Estimate,
    /// The second policy, less the second policy without them.
    pub left_out: Estimate,
    /// Its part of the change: those of all players add up to it.
    pub share: Estimate,
    /// Half of the 95 % interval that the orders leave, which were drawn; `None` where shares are exact, or there are
    /// fewer than twelve orders.
    pub orders_ci95_half: Option<f64>,
    /// The share in percent of the change; `None` where the change is within noise.
    pub of_change_pct: Option<f64>,
}
