// SPDX-License-Identifier: GPL-2.0-or-later
//! A frequency that knows the future: never below the need, with the least energy for a given price of a change.
//!
//! Two passes. The first records what the governor's formula asks for when no gate is in the way. The second runs at
//! frequencies chosen from the whole record: among all that are never below the need, those of the least sum of energy
//! and price times changes (one pass of dynamic programming per domain). Such a schedule waits for nothing, and its
//! changes cost no time. What a gate needs more than the cheapest of them is the price of not knowing what comes.
//!
//! The energy that the choice is made with is that of one CPU as busy as the need says; the energy that is reported is
//! the second pass's. In the second pass tasks run at other speeds, so a need may come earlier or later than recorded:
//! where signals are frequency-invariant by the time one burst takes to run.

use pelton_model::machine::Opp;
use pelton_model::{GivenFrequency, Machine, Plan, RunConfig};
use pelton_schema::{Event, NullSink, Sink};

use crate::run::{Control, LabError, run_one};

/// Switches under which every event is evaluated and what it asks for is set.
pub const OPEN: [&str; 6] = [
    "hook_filter=h0",
    "gate=up_down",
    "up_rate_limit_us=0",
    "down_rate_limit_us=0",
    "gate_bypass=off",
    "gate_peak=off",
];

/// Utilization is this share of the need: the governor leaves a quarter of headroom.
const UTILIZATION_OF_NEED: f64 = 0.8;

/// Costs of a run at foreseen frequencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreseen {
    /// Price of a change that the schedule was chosen with, uJ.
    pub price_uj: f64,
    /// Changes of all domains.
    pub changes: u64,
    /// Energy of the run, uJ; `None` where the platform does not know it ([`knows_power`]).
    pub energy_uj: Option<u64>,
}

/// From `at_ns` on, operating point `opp` is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Need {
    at_ns: u64,
    opp: usize,
}

/// Records what is needed, by domain.
struct Needs<'a> {
    plan: &'a Plan,
    of: Vec<Vec<Need>>,
}

impl Sink for Needs<'_> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let &Event::FreqDecision { domain, raw_khz, resolved_khz, .. } = event else { return };
        let Some(needs) = self.of.get_mut(domain as usize).filter(|_| raw_khz > 0) else { return };
        let opps = &self.plan.machine.domains[domain as usize].opps;
        let opp = opps.partition_point(|opp| opp.khz < resolved_khz).min(opps.len() - 1);
        if needs.last().is_none_or(|last| last.opp != opp) {
            needs.push(Need { at_ns: time_ns, opp });
        }
    }
}

/// True if the platform knows the power of every operating point; without it no choice can be made.
pub fn knows_power(plan: &Plan) -> bool {
    (0..plan.machine.domains.len()).flat_map(|d| plan.machine.busy_uw(d)).all(|power_uw| power_uw > 0)
}

/// Runs `open` (a plan with the switches of [`OPEN`]) to learn the needs, then once per price at foreseen frequencies.
pub fn foresee(open: &Plan, seed: u64, prices_uj: &[f64], control: Control<'_>) -> Result<Vec<Foreseen>, LabError> {
    let mut needs = Needs { plan: open, of: vec![Vec::new(); open.machine.domains.len()] };
    run_one(open, seed, &mut needs, control)?;
    prices_uj.iter().map(|&price_uj| at_price(open, seed, &needs.of, price_uj, control)).collect()
}

fn at_price(
    open: &Plan,
    seed: u64,
    needs: &[Vec<Need>],
    price_uj: f64,
    control: Control<'_>,
) -> Result<Foreseen, LabError> {
    let end_ns = open.config.duration_ns;
    let domains = needs.iter().enumerate();
    let frequencies: Vec<Vec<GivenFrequency>> =
        domains.map(|(d, needs)| schedule(&drawn(&open.machine, d), needs, end_ns, price_uj)).collect();
    let changes = frequencies.iter().map(|given| given.len() as u64 - 1).sum();
    let plan = open.clone().with_config(RunConfig { frequencies, ..open.config.clone() });
    let report = run_one(&plan, seed, NullSink, control)?;
    Ok(Foreseen { price_uj, changes, energy_uj: report.energy_uj() })
}

/// Operating points of domain `d` with what a busy CPU draws there.
fn drawn(machine: &Machine, d: usize) -> Vec<Opp> {
    let opps = machine.domains[d].opps.iter().zip(machine.busy_uw(d));
    opps.map(|(opp, power_uw)| Opp { power_uw, ..*opp }).collect()
}

/// The cheapest frequencies that are never below the need; before the first need the lowest one is enough.
fn schedule(opps: &[Opp], needs: &[Need], end_ns: u64, price_uj: f64) -> Vec<GivenFrequency> {
    let starts_late = needs.first().is_none_or(|need| need.at_ns > 0);
    let idle = starts_late.then_some(Need { at_ns: 0, opp: 0 });
    let needs: Vec<Need> = idle.into_iter().chain(needs.iter().copied()).collect();
    let chosen = cheapest(opps, &needs, end_ns, price_uj);
    let mut given: Vec<GivenFrequency> = Vec::new();
    for (need, opp) in needs.iter().zip(chosen) {
        if given.last().is_none_or(|last| last.khz != opps[opp].khz) {
            given.push(GivenFrequency { at_ns: need.at_ns, khz: opps[opp].khz });
        }
    }
    given
}

/// One operating point per need.
fn cheapest(opps: &[Opp], needs: &[Need], end_ns: u64, price_uj: f64) -> Vec<usize> {
    let mut total = vec![0.0; opps.len()];
    // By need and operating point: the one held before.
    let mut came_from: Vec<Vec<usize>> = Vec::with_capacity(needs.len());
    for (i, need) in needs.iter().enumerate() {
        let until_ns = needs.get(i + 1).map_or(end_ns.max(need.at_ns), |next| next.at_ns);
        let (best, price) = (lowest(&total), if i == 0 { 0.0 } else { price_uj });
        let stays = |opp: usize| total[opp] <= total[best] + price;
        let from: Vec<usize> = (0..opps.len()).map(|opp| if stays(opp) { opp } else { best }).collect();
        let paid = |opp: usize| if from[opp] == opp { total[opp] } else { total[best] + price };
        let cost = |opp: usize| energy_uj(opps, need.opp, opp, until_ns - need.at_ns);
        total = (0..opps.len()).map(|opp| if opp < need.opp { f64::INFINITY } else { paid(opp) + cost(opp) }).collect();
        came_from.push(from);
    }
    let mut opp = lowest(&total);
    let mut chosen = vec![opp; needs.len()];
    for i in (0..needs.len()).rev() {
        chosen[i] = opp;
        opp = came_from[i][opp];
    }
    chosen
}

fn lowest(total: &[f64]) -> usize {
    (0..total.len()).min_by(|&a, &b| total[a].total_cmp(&total[b])).unwrap_or(0)
}

/// Energy of a CPU that does the work of `need` for `ns` at operating point `opp`.
fn energy_uj(opps: &[Opp], need: usize, opp: usize, ns: u64) -> f64 {
    let busy = UTILIZATION_OF_NEED * f64::from(opps[need].khz) / f64::from(opps[opp].khz);
    busy * opps[opp].power_uw as f64 * ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn opps() -> Vec<Opp> {
        [(500_000, 100_000), (1_000_000, 400_000), (2_000_000, 1_600_000)]
            .map(|(khz, power_uw)| Opp { khz, uv: 0, power_uw })
            .to_vec()
    }

    /// A burst of 1 ms every 10 ms.
    fn bursts() -> Vec<Need> {
        (0..20).map(|i| Need { at_ns: i / 2 * 10 * MS + i % 2 * 9 * MS, opp: if i % 2 == 0 { 0 } else { 2 } }).collect()
    }

    #[test]
    fn free_changes_follow_the_need() {
        let given = schedule(&opps(), &bursts(), 100 * MS, 0.0);
        assert_eq!(given.len(), 20);
        assert!(given.iter().zip(bursts()).all(|(given, need)| given.khz == opps()[need.opp].khz));
    }

    #[test]
    fn no_price_lets_the_frequency_fall_below_the_need() {
        for price_uj in [0.0, 10.0, 1e3, 1e6, 1e9] {
            let chosen = cheapest(&opps(), &bursts(), 100 * MS, price_uj);
            assert!(chosen.iter().zip(bursts()).all(|(&opp, need)| opp >= need.opp), "{price_uj}");
        }
    }

    #[test]
    fn a_change_dearer_than_what_it_saves_is_not_made() {
        let spare_uj = energy_uj(&opps(), 0, 2, 9 * MS) - energy_uj(&opps(), 0, 0, 9 * MS);
        assert_eq!(schedule(&opps(), &bursts(), 100 * MS, spare_uj * 0.49).len(), 20, "down and up again pays");
        assert_eq!(schedule(&opps(), &bursts(), 100 * MS, spare_uj * 1.01).len(), 1, "one frequency for the whole run");
    }

    #[test]
    fn the_choice_is_the_best_of_all() {
        let (opps, needs) = (opps(), [0, 2, 1, 0, 1, 2, 0]);
        let needs: Vec<Need> = needs.iter().enumerate().map(|(i, &opp)| Need { at_ns: i as u64 * MS, opp }).collect();
        let end_ns = needs.len() as u64 * MS;
        for price_uj in [0.0, 50.0, 200.0, 700.0, 5_000.0] {
            let total = |chosen: &[usize]| -> f64 {
                let energy: f64 = chosen.iter().zip(&needs).map(|(&o, n)| energy_uj(&opps, n.opp, o, MS)).sum();
                energy + price_uj * chosen.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64
            };
            let all = (0..3usize.pow(7)).map(|code| (0..7).map(|i| code / 3usize.pow(i) % 3).collect::<Vec<_>>());
            let legal = all.filter(|chosen| chosen.iter().zip(&needs).all(|(&opp, need)| opp >= need.opp));
            let best = legal.map(|chosen| total(&chosen)).fold(f64::INFINITY, f64::min);
            let ours = total(&cheapest(&opps, &needs, end_ns, price_uj));
            assert!((ours - best).abs() < 1e-6, "{price_uj}: {ours} instead of {best}");
        }
    }
}
