// SPDX-License-Identifier: GPL-2.0-or-later
//! Can a trace be of this machine? A replay with the wrong machine gives numbers that look like any others.

use pelton_model::Machine;

use super::totals::{CpuTotals, Totals};

/// Share of the time at frequencies that the machine does not have from which on a CPU is taken for another one. A
/// driver reports a frequency between two operating points now and then, while it changes.
const STRANGE_PCT_MAX: f64 = 5.0;

/// Objections to the trace being of this machine, in sentences about it.
pub fn misfits(totals: &Totals, machine: &Machine) -> Vec<String> {
    let mut found = Vec::new();
    let (seen, there) = (totals.cpus.len(), machine.cpus.len());
    if seen > there {
        found.push(format!("it has events of CPUs up to {}; {} has {there} CPUs", seen - 1, machine.name));
    } else if seen * 2 <= there {
        found.push(format!("it has events of CPUs up to {} only; {} has {there} CPUs", seen - 1, machine.name));
    }
    for domain in &machine.domains {
        let strange = |khz: u32| !domain.opps.iter().any(|opp| opp.khz == khz);
        let of_domain = domain.cpus.iter().filter_map(|cpu| Some((cpu, totals.cpus.get(*cpu as usize)?)));
        let mut off = of_domain.filter_map(|(cpu, totals)| Some((cpu, most_of(totals, strange)?)));
        if let Some((cpu, (khz, pct))) = off.find(|(_, (_, pct))| *pct > STRANGE_PCT_MAX) {
            found.push(format!(
                "CPU {cpu} is {pct:.0} % of the time at frequencies such as {khz} kHz, which domain {} of {} does not have",
                domain.name, machine.name
            ));
        }
    }
    found
}

/// The longest of the frequencies that `strange` picks, and the share of the known time at all of them, percent.
fn most_of(totals: &CpuTotals, strange: impl Fn(u32) -> bool) -> Option<(u32, f64)> {
    let known = || totals.frequencies.iter().filter(|(khz, _)| **khz != 0);
    let all_ns: u64 = known().map(|(_, at)| at.total_ns).sum();
    let picked = || known().filter(|(khz, _)| strange(**khz));
    let longest = picked().max_by_key(|(_, at)| at.total_ns)?;
    let ns: u64 = picked().map(|(_, at)| at.total_ns).sum();
    Some((*longest.0, ns as f64 / all_ns.max(1) as f64 * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::machine::{Cpu, FreqDomain, Opp};
    use pelton_schema::{Event, Sink};

    fn machine(cpus: usize) -> Machine {
        let opps = [1000, 2000].map(|khz| Opp { khz, ..Opp::default() }).to_vec();
        let domain =
            FreqDomain { name: "little".into(), cpus: (0..cpus as u32).collect(), opps, ..FreqDomain::default() };
        let cpus = vec![Cpu { capacity: 1024, ..Cpu::default() }; cpus];
        Machine { name: "board".into(), cpus, domains: vec![domain], ..Machine::default() }
    }

    fn totals(at: &[(u64, u32, u32)]) -> Totals {
        let mut totals = Totals::new(0, u64::MAX);
        at.iter().for_each(|&(time_ns, cpu, freq_khz)| totals.event(time_ns, &Event::CpuFrequency { cpu, freq_khz }));
        totals.finish(1000);
        totals
    }

    #[test]
    fn a_trace_of_another_machine_is_told_by_its_cpus_and_frequencies() {
        let good = [(0, 0, 1000), (10, 1, 2000), (500, 1, 1500), (520, 1, 2000)];
        assert_eq!(misfits(&totals(&good), &machine(2)), Vec::<String>::new());
        assert!(misfits(&totals(&good), &machine(1))[0].contains("up to 1; board has 1 CPUs"));
        assert!(misfits(&totals(&good), &machine(4))[0].contains("up to 1 only; board has 4 CPUs"));
        let other = misfits(&totals(&[(0, 0, 1000), (10, 1, 1900)]), &machine(2));
        assert!(other.len() == 1 && other[0].contains("frequencies such as 1900 kHz"), "{other:?}");
    }
}
