// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequencies of a trace that a platform does not have: then it is another machine, or its file lacks points.

use std::collections::{BTreeMap, BTreeSet};

use pelton_model::Machine;
use pelton_model::machine::FreqDomain;

/// Frequencies that are named for each domain.
const NAMED_MAX: usize = 6;

/// Sentences about frequencies that CPUs were set to and that the platform does not have, a domain each, and about CPUs
/// that it does not have.
pub fn unknown_points(machine: &Machine, set_khz: &BTreeMap<u32, BTreeSet<u32>>) -> Vec<String> {
    let of_domain = |domain: &FreqDomain| {
        let set = domain.cpus.iter().filter_map(|cpu| set_khz.get(cpu)).flatten().copied();
        let unknown: BTreeSet<u32> = set.filter(|khz| domain.opps.iter().all(|opp| opp.khz != *khz)).collect();
        (!unknown.is_empty() && !domain.no_table).then(|| sentence(domain, &unknown))
    };
    let absent = set_khz.keys().filter(|cpu| **cpu as usize >= machine.cpus.len());
    let absent: Vec<String> = absent.map(u32::to_string).collect();
    let about_cpus = (!absent.is_empty()).then(|| {
        format!("the trace has frequencies of CPUs that {} does not have: {}", machine.name, absent.join(", "))
    });
    machine.domains.iter().filter_map(of_domain).chain(about_cpus).collect()
}

fn sentence(domain: &FreqDomain, unknown: &BTreeSet<u32>) -> String {
    let named: Vec<String> = unknown.iter().take(NAMED_MAX).map(|khz| nearest(domain, *khz)).collect();
    let more = unknown.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "the trace sets frequencies that domain {} of the platform does not have: {}{more}. Is it the machine that was \
         recorded?",
        domain.name,
        named.join(", ")
    )
}

/// A frequency and the points on either side of it.
fn nearest(domain: &FreqDomain, khz: u32) -> String {
    let below = domain.opps.iter().map(|opp| opp.khz).filter(|point| *point < khz).max();
    let above = domain.opps.iter().map(|opp| opp.khz).filter(|point| *point > khz).min();
    let points: Vec<String> = [below, above].into_iter().flatten().map(|point| point.to_string()).collect();
    format!("{khz} kHz (nearest {})", points.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::machine::{Cpu, Opp};

    fn machine() -> Machine {
        let opps = [600_000, 1_000_000].map(|khz| Opp { khz, ..Opp::default() }).to_vec();
        let domain = FreqDomain { name: "big".to_owned(), cpus: vec![0, 1], opps, ..FreqDomain::default() };
        Machine { name: "x".to_owned(), cpus: vec![Cpu::default(); 2], domains: vec![domain], ..Machine::default() }
    }

    fn told(set: &[(u32, u32)]) -> Vec<String> {
        let mut set_khz: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        set.iter().for_each(|&(cpu, khz)| set_khz.entry(cpu).or_default().extend([khz]));
        unknown_points(&machine(), &set_khz)
    }

    #[test]
    fn what_a_platform_lacks_is_named_with_its_neighbours() {
        assert_eq!(told(&[(0, 600_000), (1, 1_000_000)]), Vec::<String>::new());
        let one = told(&[(0, 800_000), (1, 1_200_000)]);
        assert_eq!(one.len(), 1);
        assert!(one[0].contains("800000 kHz (nearest 600000 and 1000000), 1200000 kHz (nearest 1000000)"), "{one:?}");
        assert!(told(&[(7, 600_000)])[0].ends_with("does not have: 7"));
    }
}
