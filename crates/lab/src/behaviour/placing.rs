// SPDX-License-Identifier: GPL-2.0-or-later
//! Energy of placements by the Energy Model, and the least that a placement can have.
//!
//! A placement says on which CPU each thread is. Its energy is that of the work of each domain at the operating point
//! that schedutil has for its busiest CPU, where the signals of all threads are at their highest. How the work is
//! spread over time is left out on both sides, so that the difference is that of the placement alone.

use pelton_core::{EnergyModel, Policy, apply_headroom};
use pelton_model::Machine;
use pelton_scenario::policy::DEFAULT_PROFILE;

/// Largest share of a CPU's capacity that the best placement fills, percent: the margin of `fits_capacity()`.
const FILL_PCT: u64 = 80;
/// Steps of a search, at most.
const STEPS_MAX: u32 = 500_000;

/// Needs of a thread, of 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// Highest value of its signal.
    pub peak: u64,
    /// Work per time.
    pub mean: u64,
}

impl Need {
    fn plus(self, other: Need) -> Need {
        Need { peak: self.peak + other.peak, mean: self.mean + other.mean }
    }
}

/// CPUs that share a frequency.
struct Domain {
    cpus: Vec<u32>,
    capacity: u64,
    energy: EnergyModel,
}

/// The machine as placements see it.
pub struct Placing {
    domains: Vec<Domain>,
    cpus: usize,
    /// Headroom is that of the newest release.
    policy: Policy,
}

impl Placing {
    /// Of a machine; `None` where the power of a domain is not known.
    pub fn of(machine: &Machine) -> Option<Placing> {
        let domain = |domain: &pelton_model::machine::FreqDomain| {
            let capacity = machine.cpus[*domain.cpus.first()? as usize].capacity;
            let opps: Vec<(u32, u64)> = domain.opps.iter().map(|opp| (opp.khz, opp.power_uw)).collect();
            let energy = EnergyModel::new(&opps, capacity);
            let known = domain.opps.iter().all(|opp| opp.power_uw > 0);
            known.then(|| Domain { cpus: domain.cpus.clone(), capacity: capacity.into(), energy })
        };
        let domains = machine.domains.iter().map(domain).collect::<Option<Vec<Domain>>>()?;
        Some(Placing { domains, cpus: machine.cpus.len(), policy: Policy::profile(DEFAULT_PROFILE).ok()? })
    }

    /// Energy of threads with these CPUs and needs.
    pub fn energy(&self, threads: impl Iterator<Item = (u32, Need)>) -> u64 {
        let mut loads = vec![Need::default(); self.cpus];
        threads.for_each(|(cpu, need)| loads[cpu as usize] = loads[cpu as usize].plus(need));
        self.of_loads(&loads)
    }

    fn of_loads(&self, loads: &[Need]) -> u64 {
        let of = |domain: &Domain| {
            let each = || domain.cpus.iter().map(|&cpu| loads[cpu as usize]);
            let peak = each().map(|need| need.peak).max().unwrap_or(0);
            let perf = apply_headroom(&self.policy, u32::try_from(peak).unwrap_or(u32::MAX), 0, 1024);
            domain.energy.energy(perf.into(), each().map(|need| need.mean).sum(), domain.capacity)
        };
        self.domains.iter().map(of).sum()
    }

    /// The least energy of all placements that leave each CPU a fifth of its capacity.
    ///
    /// # Errors
    /// When there is none, or there are too many to look at all.
    pub fn best(&self, needs: &[Need]) -> Result<u64, String> {
        let mut order = needs.to_vec();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let loads = vec![Need::default(); self.cpus];
        let mut search = Search { of: self, order, loads, least: None, steps: 0 };
        search.place(0, 0);
        match search.least {
            _ if search.steps > STEPS_MAX => Err("there are too many placements to look at all".to_owned()),
            None => Err(format!("no placement leaves each CPU {} % of its capacity", 100 - FILL_PCT)),
            Some(least) => Ok(least),
        }
    }
}

/// A search through all placements that differ.
struct Search<'a> {
    of: &'a Placing,
    /// Largest first.
    order: Vec<Need>,
    loads: Vec<Need>,
    least: Option<u64>,
    steps: u32,
}

impl Search<'_> {
    /// Places the threads from this one on; one that is equal to that before it goes to no earlier CPU.
    fn place(&mut self, thread: usize, first_cpu: u32) {
        self.steps = self.steps.saturating_add(1);
        if self.steps > STEPS_MAX {
            return;
        }
        let Some(&need) = self.order.get(thread) else {
            let energy = self.of.of_loads(&self.loads);
            self.least = Some(self.least.map_or(energy, |least| least.min(energy)));
            return;
        };
        let next_is_equal = self.order.get(thread + 1) == Some(&need);
        for domain in &self.of.domains {
            let mut tried = Vec::new();
            for &cpu in domain.cpus.iter().filter(|cpu| **cpu >= first_cpu) {
                let load = self.loads[cpu as usize];
                // CPUs of a domain that are as busy are alike.
                if tried.contains(&load) || load.plus(need).peak * 100 > domain.capacity * FILL_PCT {
                    continue;
                }
                tried.push(load);
                self.loads[cpu as usize] = load.plus(need);
                self.place(thread + 1, if next_is_equal { cpu } else { 0 });
                self.loads[cpu as usize] = load;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Inputs, machine};

    fn board(name: &str) -> Machine {
        machine(&Inputs { platform: name.into(), ..Inputs::default() }, "7.2").expect("built in").machine
    }

    fn needs(means: &[u64]) -> Vec<Need> {
        means.iter().map(|&mean| Need { peak: mean + mean / 8, mean }).collect()
    }

    /// Every placement, without a thought of which are alike.
    fn least_of_all(placing: &Placing, needs: &[Need]) -> Option<u64> {
        let capacity = |cpu: u32| placing.domains.iter().find(|d| d.cpus.contains(&cpu)).map_or(0, |d| d.capacity);
        let cpus = placing.cpus as u64;
        let placements = (0..cpus.pow(needs.len() as u32)).map(|number| {
            let cpu = |at: usize| (number / cpus.pow(at as u32) % cpus) as u32;
            needs.iter().enumerate().map(|(at, &need)| (cpu(at), need)).collect::<Vec<_>>()
        });
        let fits = |placement: &Vec<(u32, Need)>| {
            (0..placing.cpus as u32).all(|cpu| {
                let load: u64 = placement.iter().filter(|(of, _)| *of == cpu).map(|(_, need)| need.peak).sum();
                load * 100 <= capacity(cpu) * FILL_PCT
            })
        };
        placements.filter(fits).map(|placement| placing.energy(placement.into_iter())).min()
    }

    #[test]
    fn leaving_out_what_is_alike_loses_no_placement() {
        for (name, means) in [
            ("juno-r0", &[300, 300, 60, 60][..]),
            ("juno-r0", &[700, 200, 200, 100]),
            ("pixel6-gs101", &[500, 90, 90, 40]),
            ("rock-pi-4-rk3399", &[600, 300, 120, 120]),
        ] {
            let placing = Placing::of(&board(name)).expect("a board with powers");
            assert_eq!(placing.best(&needs(means)).ok(), least_of_all(&placing, &needs(means)), "{name} {means:?}");
        }
    }

    #[test]
    fn work_that_fits_nowhere_and_too_many_placements_are_said() {
        let placing = Placing::of(&board("juno-r0")).expect("a board with powers");
        assert!(placing.best(&needs(&[1000])).unwrap_err().contains("no placement leaves"));
        let many: Vec<u64> = (1..40).collect();
        assert!(placing.best(&needs(&many)).unwrap_err().contains("too many"));
    }
}
