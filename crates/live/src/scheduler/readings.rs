// SPDX-License-Identifier: GPL-2.0-or-later
//! State of CPUs, counts and decisions, out of the maps of a program that runs.

use libbpf_rs::Object;
use nix::time::{ClockId, clock_gettime};
use pelton_core::PlaceCpu;

use super::given::CPUS_AT;
use super::machine::Machine;
use super::words::{List, section, section_bytes};
use super::{CpuView, Explanation, Options, Term};

/// Words to read, and the machine that they are read of.
pub(super) struct Readings {
    capacities: Vec<u32>,
    /// Clamps add up.
    sums: bool,
    frequencies: bool,
    counts: List,
    terms: List,
}

pub(super) fn now_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |t| t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64)
}

impl Readings {
    pub fn of(machine: &Machine, options: &Options) -> Readings {
        let form = options.policy.get("uclamp").unwrap_or_default();
        Readings {
            capacities: machine.cpus.iter().map(|cpu| cpu.capacity).collect(),
            sums: !["off", "max", "group_throttle"].contains(&form),
            frequencies: options.frequencies,
            counts: List::new("LIVE_COUNTS"),
            terms: List::new("LIVE_TERMS"),
        }
    }

    /// Rows of a section, one for each CPU.
    pub fn rows(&self, object: &Object, name: &str, list: &List) -> Vec<Vec<u64>> {
        let all = section(object, name);
        all.chunks_exact(list.names.len()).take(self.capacities.len()).map(<[u64]>::to_vec).collect()
    }

    pub fn counts(&self, object: &Object) -> Vec<(&'static str, u64)> {
        let rows = self.rows(object, ".bss.counts", &self.counts);
        let sum = |at: usize| rows.iter().map(|row| row[at]).sum();
        self.counts.names.iter().enumerate().map(|(at, name)| (*name, sum(at))).collect()
    }

    pub fn cpus(&self, object: &Object) -> Vec<CpuView> {
        let machine = section_bytes(object, ".bss.machine");
        let decided = self.rows(object, ".bss.decided", &self.terms);
        let rows = machine.get(CPUS_AT..).unwrap_or_default().chunks_exact(size_of::<PlaceCpu>());
        // SAFETY: as long as the record, and any bits are a value of it.
        let row = |bytes: &[u8]| unsafe { bytes.as_ptr().cast::<PlaceCpu>().read_unaligned() };
        rows.zip(&decided).enumerate().map(|(cpu, (bytes, terms))| self.view(cpu, &row(bytes), terms)).collect()
    }

    fn view(&self, cpu: usize, row: &PlaceCpu, decided: &[u64]) -> CpuView {
        let of = |name: &str| self.terms.of(decided, name);
        CpuView {
            cpu: cpu as u32,
            capacity: self.capacities[cpu],
            idle: row.curr_idle != 0,
            queued: row.h_nr_queued,
            util: row.state.util_cfs,
            runnable: row.state.runnable_cfs,
            util_est: row.state.util_est,
            clamped: if self.sums { row.util_clamped } else { row.state.util_cfs },
            boost_percent: of("boost") as i64 as i32,
            target: of("target") as u32,
            wanted_khz: if self.frequencies { of("next_khz") as u32 } else { 0 },
            khz: Machine::khz_now(cpu),
        }
    }

    pub fn explain(&self, object: &Object, cpu: u32) -> Result<Option<Explanation>, String> {
        if cpu as usize >= self.capacities.len() {
            return Err(format!("there is no CPU {cpu}: 0 to {} are here", self.capacities.len() - 1));
        }
        let rows = self.rows(object, ".bss.decided", &self.terms);
        let words = rows.get(cpu as usize).map(Vec::as_slice).unwrap_or_default();
        let at_ns = self.terms.of(words, "at_ns");
        if at_ns == 0 {
            return Ok(None);
        }
        let terms = self.terms.names.iter().zip(words).skip(1);
        let terms = terms.map(|(name, value)| Term { name, value: *value }).collect();
        Ok(Some(Explanation { cpu, ago_ns: now_ns().saturating_sub(at_ns), terms }))
    }
}
