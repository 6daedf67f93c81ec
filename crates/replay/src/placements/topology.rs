// SPDX-License-Identifier: GPL-2.0-or-later
//! Facts that do not change during a recording of placements: domains, performance domains, static keys.

use std::path::{Path, PathBuf};

use pelton_core::{
    DOMAINS_MAX, EmState, NO_DOMAIN, PERF_DOMAINS_MAX, PLACE_CPUS_MAX, PLACE_STATES_MAX, PerfDomain, Placement,
    SchedDomain, sd,
};
use pelton_scenario::reading::{self, Unread};
use pelton_trace::import::ImportError;
use serde::Deserialize;

/// States that are dear are passed over (EM_PERF_DOMAIN_SKIP_INEFFICIENCIES).
const SKIP_INEFFICIENT: u32 = 4;
/// A state that is dear (EM_PERF_STATE_INEFFICIENT).
const INEFFICIENT: u32 = 1;
/// Ticks per second of a file that does not say it.
const HZ_UNSAID: u64 = 250;
/// Longest file that is read.
const BYTES_MAX: usize = 16 << 20;

/// The file beside a table: columns are named as the recorder names them.
#[derive(Clone, Debug, Deserialize)]
pub struct Topology {
    ncpu: u32,
    npd: u32,
    key_asym: u32,
    key_cluster: u32,
    key_smt: u32,
    key_energy: u32,
    #[serde(default)]
    hz: Option<u64>,
    /// Release of the kernel; tables that were recorded before it was written have none.
    #[serde(default)]
    release: String,
    llc_id: Vec<u32>,
    llc_size: Vec<u32>,
    share_id: Vec<u32>,
    asym_level: Vec<u32>,
    llc_level: Vec<u32>,
    ndom: Vec<u32>,
    dom: Vec<Vec<Domain>>,
    pd: Vec<Perf>,
}

#[derive(Clone, Debug, Deserialize)]
struct Domain {
    span: u64,
    flags: u32,
    pct: u32,
    imb_numa: u32,
    nr_shared: u32,
}

#[derive(Clone, Debug, Deserialize)]
struct Perf {
    cpus: u64,
    perf: Vec<u64>,
    cost: Vec<u64>,
    sflags: Vec<u32>,
    n: u32,
    min: u32,
    max: u32,
    flags: u32,
}

/// Name of the file beside a table.
#[must_use]
pub fn beside(table: &Path) -> PathBuf {
    let name = table.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let stem =
        [".gz", ".xz", ".zst", ".csv"].iter().fold(name.as_str(), |name, end| name.strip_suffix(end).unwrap_or(name));
    table.with_file_name(format!("{stem}.topo.json"))
}

impl Topology {
    /// Reads the file.
    ///
    /// # Errors
    /// When it is missing, is no such file, or names what cannot be.
    pub fn read(path: &Path) -> Result<Topology, ImportError> {
        let help = "a table of placements needs the machine beside it: FILE.topo.json for FILE.csv or FILE.csv.gz";
        let text = reading::text(path, BYTES_MAX).map_err(|why| match why {
            Unread::Io(error) => ImportError::io(path, error).help(help),
            Unread::NoFile => ImportError::content(path, "is not a regular file").help(help),
            Unread::TooLarge(_) => {
                ImportError::content(path, format!("is longer than {} MiB", BYTES_MAX >> 20)).help(help)
            }
        })?;
        let read: Topology = serde_json::from_str(&text).map_err(|error| {
            let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or("");
            let column = error.column().max(1);
            let from = column.saturating_sub(60);
            let near: String = line.chars().skip(from).take(100).collect();
            ImportError::content(path, error.to_string()).at_line(error.line() as u64, column - from, &near).help(help)
        })?;
        match read.fault() {
            Some(what) => Err(ImportError::content(path, what).help("record it again, or correct it")),
            None => Ok(read),
        }
    }

    /// Number of CPUs.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.ncpu
    }

    /// Release of the kernel by its own name; empty where the file does not say it.
    #[must_use]
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Ticks per second.
    #[must_use]
    pub fn hz(&self) -> u64 {
        self.hz.unwrap_or(HZ_UNSAID)
    }

    fn fault(&self) -> Option<String> {
        let cpus = self.ncpu as usize;
        if cpus == 0 || cpus > PLACE_CPUS_MAX {
            return Some(format!("`ncpu` is {cpus}, allowed are 1 to {PLACE_CPUS_MAX}"));
        }
        let lists: [(&str, usize); 6] = [
            ("llc_id", self.llc_id.len()),
            ("llc_size", self.llc_size.len()),
            ("share_id", self.share_id.len()),
            ("asym_level", self.asym_level.len()),
            ("llc_level", self.llc_level.len()),
            ("ndom", self.ndom.len()),
        ];
        if let Some((name, length)) = lists.into_iter().chain([("dom", self.dom.len())]).find(|(_, n)| *n < cpus) {
            return Some(format!("`{name}` has {length} entries for {cpus} CPUs"));
        }
        for cpu in 0..cpus {
            let (said, there) = (self.ndom[cpu] as usize, self.dom[cpu].len());
            if said > there || said > DOMAINS_MAX {
                return Some(format!("CPU {cpu} has {said} domains; {there} are listed, {DOMAINS_MAX} are allowed"));
            }
        }
        self.perf_fault()
    }

    fn perf_fault(&self) -> Option<String> {
        let domains = self.npd as usize;
        if domains > self.pd.len().min(PERF_DOMAINS_MAX) {
            let there = self.pd.len();
            return Some(format!("`npd` is {domains}; {there} are listed, {PERF_DOMAINS_MAX} are allowed"));
        }
        let mut states = 0;
        for (at, pd) in self.pd[..domains].iter().enumerate() {
            let n = pd.n as usize;
            if n > pd.perf.len().min(pd.cost.len()).min(pd.sflags.len()) || pd.max as usize >= n.max(1) {
                return Some(format!("performance domain {at} names states that it does not list"));
            }
            states += n;
        }
        (states > PLACE_STATES_MAX).then(|| format!("{states} states, at most {PLACE_STATES_MAX} are allowed"))
    }

    /// A record with everything that does not change.
    #[must_use]
    pub fn placement(&self) -> Placement {
        let mut record = Placement {
            nr_cpus: self.ncpu,
            energy_aware: self.key_energy,
            asymmetric: self.key_asym,
            clusters: self.key_cluster,
            smt: self.key_smt,
            nr_perf_domains: self.npd,
            ..Placement::default()
        };
        for cpu in 0..self.ncpu as usize {
            self.fill_cpu(cpu, &mut record);
        }
        self.fill_perf(&mut record);
        record
    }

    fn fill_cpu(&self, cpu: usize, record: &mut Placement) {
        let out = &mut record.cpus[cpu];
        let level = |at: u32| if at < self.ndom[cpu] { at } else { NO_DOMAIN };
        out.nr_domains = self.ndom[cpu];
        out.llc = self.llc_id[cpu];
        out.cluster = self.share_id[cpu];
        out.llc_size = self.llc_size[cpu];
        out.llc_domain = level(self.llc_level[cpu]);
        out.asym_domain = level(self.asym_level[cpu]);
        out.threads = 1 << cpu;
        for (domain, said) in out.domains.iter_mut().zip(&self.dom[cpu][..self.ndom[cpu] as usize]) {
            *domain = SchedDomain {
                span: said.span,
                flags: said.flags,
                imbalance_pct: said.pct,
                imb_numa_nr: said.imb_numa,
                has_shared: said.nr_shared,
                ..SchedDomain::default()
            };
            if said.flags & sd::SHARE_CPUCAPACITY != 0 {
                out.threads = said.span;
            }
        }
    }

    fn fill_perf(&self, record: &mut Placement) {
        let mut first = 0;
        for (out, pd) in record.perf_domains.iter_mut().zip(&self.pd[..self.npd as usize]) {
            *out = PerfDomain {
                cpus: pd.cpus,
                first_state: first as u32,
                nr_states: pd.n,
                min_state: pd.min,
                max_state: pd.max,
            };
            for at in 0..pd.n as usize {
                record.states[first + at] = EmState {
                    performance: pd.perf[at],
                    cost: pd.cost[at],
                    inefficient: (pd.flags & SKIP_INEFFICIENT != 0 && pd.sflags[at] & INEFFICIENT != 0).into(),
                    ..EmState::default()
                };
            }
            first += pd.n as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_lies_beside_its_table_however_that_is_packed() {
        for name in ["a/b.csv", "a/b.csv.gz", "a/b.csv.zst"] {
            assert_eq!(beside(Path::new(name)), Path::new("a/b.topo.json"), "{name}");
        }
    }
}
