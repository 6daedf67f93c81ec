// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded searches of balances for the group to take from, made again by the core from what the kernel could read.
//!
//! A search updates its own group's capacities before it reads them, so those are taken from the look after
//! it; all else from the look before. What a search is quiet by is that nothing else changed between the two looks.

use std::io::BufRead;
use std::path::Path;

use pelton_core::{Lb, LbEnv, NO_CPU, PlaceCpu, Placement, Policy, balance_idle};
use pelton_trace::import::ImportError;

use super::Part;
use super::table::{CpuColumns, Decisions};
use super::topology::Topology;

/// The CPU to take from, as differences name it.
pub const SOURCE: &str = "source";
/// Tasks move towards the cache they prefer (7.2's `migrate_llc_task`). What is read of caches is not recorded: such a
/// search decides nothing.
const TOWARDS_CACHE: u32 = 4;
/// Value written in place of a CPU when there is none.
const NO_SRC: u64 = u64::MAX;
/// Names of a balance's table besides those that placements read.
const MISFIT: &str = "misfit";
const GROUP_MIN: &str = "g_min";
/// Columns whose change means nothing: the running task, the last update of a queue, the time at which a CPU went idle,
/// and capacities, which are taken from after.
const MAY_CHANGE: [&str; 9] = ["curr_pid", "lut", "idle_stamp", "exit_lat", "cap", "g_cap", "g_max", "g_min", "hw"];

/// Result of the kernel's search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// CPUs of the group, one bit each; 0: balanced.
    pub group: u64,
    /// Amount to be moved.
    pub imbalance: i64,
    /// In what.
    pub migration: u32,
    /// CPU to take from, where it was looked at.
    pub src: Option<u32>,
}

impl Found {
    /// Values that differ between two results, with both.
    #[must_use]
    pub fn differs(&self, ours: &Found) -> Vec<Part> {
        let mut out = Vec::new();
        let mut same = |what, kernel: u64, ours: u64| {
            if kernel != ours {
                out.push(Part { what, kernel, ours });
            }
        };
        same("group", self.group, ours.group);
        if self.group != 0 && ours.group == self.group {
            same("imbalance", self.imbalance as u64, ours.imbalance as u64);
            same("migration", self.migration.into(), ours.migration.into());
            if let Some(src) = self.src {
                same(SOURCE, src.into(), ours.src.unwrap_or(NO_CPU).into());
            }
        }
        out
    }

    /// Describes in words what is to be moved.
    #[must_use]
    pub fn how(&self) -> &'static str {
        match (self.group, self.migration) {
            (0, _) => "balanced",
            (_, 0) => "takes load",
            (_, 1) => "takes utilization",
            (_, 2) => "takes tasks",
            (_, TOWARDS_CACHE) => "takes what prefers a cache (not recorded)",
            _ => "takes a misfit task",
        }
    }
}

/// Search of a group to take from: its CPU and time, and the kernel's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Line of the table.
    pub line: u64,
    /// Time, ns.
    pub time_ns: u64,
    /// CPU that would receive tasks, and the domain.
    pub env: LbEnv,
    /// Result of the kernel.
    pub found: Found,
    /// True when nothing that counts changed meanwhile.
    pub quiet: bool,
}

/// Is this the first line of such a table?
#[must_use]
pub fn is_header(first_bytes: &[u8]) -> bool {
    let line = first_bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let has = |name: &str| line.split(|&byte| byte == b',').any(|field| field.trim_ascii() == name.as_bytes());
    ["by", "dst", "level", "group", "imbalance", "migration", "src", "x_cap0"].iter().all(|name| has(name))
}

/// Columns of one CPU in both looks.
struct Both {
    before: CpuColumns,
    after: CpuColumns,
    misfit: usize,
    group_min_after: usize,
    /// Pairs of columns that must be equal.
    still: Vec<(usize, usize)>,
}

/// Reads searches, in bounded memory.
pub struct Searches {
    table: Decisions,
    cpus: Vec<Both>,
}

impl Searches {
    /// Reads the line of names.
    ///
    /// # Errors
    /// When it cannot be read, or a column that is needed is not there.
    pub fn new(
        path: &Path,
        lines: Box<dyn BufRead>,
        topology: &Topology,
        policy: &Policy,
    ) -> Result<Searches, ImportError> {
        let table = Decisions::new(path, lines, topology, policy)?;
        let cpus = (0..topology.cpus()).map(|cpu| both(&table, cpu)).collect::<Result<_, _>>()?;
        Ok(Searches { table, cpus })
    }

    /// The next search: what it could read, and what it found; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read further, or a line has a value that cannot be.
    pub fn next_search(&mut self) -> Result<Option<(&mut Placement, Search)>, ImportError> {
        if !self.table.next_line()? {
            return Ok(None);
        }
        for cpu in 0..self.cpus.len() {
            self.fill_cpu(cpu)?;
        }
        let search = self.search()?;
        let record = self.table.checked_record()?;
        record.overutilized = search.0;
        record.this_cpu = search.1.env.dst_cpu;
        Ok(Some((record, search.1)))
    }

    fn fill_cpu(&mut self, cpu: usize) -> Result<(), ImportError> {
        let both = &self.cpus[cpu];
        let before = self.table.read_cpu(cpu, &both.before, 0)?;
        let after = self.table.read_cpu(cpu, &both.after, 0)?;
        let mut filled =
            PlaceCpu { capacity: after.capacity, misfit_load: self.table.number(both.misfit)? as u32, ..before };
        let least = self.table.list(both.group_min_after)?;
        for (level, domain) in filled.domains.iter_mut().enumerate() {
            domain.group_capacity = after.domains[level].group_capacity;
            domain.group_max_capacity = after.domains[level].group_max_capacity;
            domain.group_min_capacity = least[level];
        }
        self.table.put_cpu(cpu, filled);
        Ok(())
    }

    /// Reads the search, with the flag for a CPU that is over-utilized.
    fn search(&self) -> Result<(u32, Search), ImportError> {
        let v = |name: &str| self.table.value(name);
        let env = LbEnv {
            cpus: v("cpus")?,
            dst_cpu: v("dst")? as u32,
            level: v("level")? as u32,
            idle: (v("idle")? as u32).min(balance_idle::NEWLY_IDLE),
            nr_balance_failed: v("failed")? as u32,
            cache_nice_tries: v("tries")? as u32,
            flags: v("eflags")? as u32,
            src_cpu: NO_CPU,
            ..LbEnv::default()
        };
        if env.dst_cpu as usize >= self.cpus.len()
            || env.level >= self.table.record().cpus[env.dst_cpu as usize].nr_domains
        {
            return Err(self.table.wrong(0, format!("cannot be: domain {} of CPU {}", env.level, env.dst_cpu)));
        }
        let src = v("src")?;
        let found = Found {
            group: v("group")?,
            imbalance: v("imbalance")? as i64,
            migration: v("migration")? as u32,
            src: (src != NO_SRC).then_some(src as u32),
        };
        let changed = self.cpus.iter().flat_map(|both| &both.still).any(|(a, b)| !self.table.are_equal(*a, *b));
        let quiet = !changed && v("over")? == v("x_over")? && found.migration != TOWARDS_CACHE;
        let search = Search { line: self.table.line(), time_ns: v("ts0")?, env, found, quiet };
        Ok(((v("over")? != 0).into(), search))
    }
}

fn both(table: &Decisions, cpu: u32) -> Result<Both, ImportError> {
    let column = |name: &str| table.column(&format!("{name}{cpu}"));
    let mut still = Vec::new();
    for name in table.of_every_cpu(cpu) {
        if !MAY_CHANGE.contains(&name.as_str()) {
            still.push((column(&name)?, column(&format!("x_{name}"))?));
        }
    }
    Ok(Both {
        before: table.cpu_columns("", cpu)?,
        after: table.cpu_columns("x_", cpu)?,
        misfit: column(MISFIT)?,
        group_min_after: column(&format!("x_{GROUP_MIN}"))?,
        still,
    })
}

/// Makes a search again.
#[must_use]
pub fn again(record: &Placement, search: &Search, policy: &Policy, lb: &mut Lb) -> Found {
    let group = search.env.find_src_group(policy, record, lb);
    if group == 0 {
        return Found::default();
    }
    let (imbalance, migration) = (lb.imbalance, lb.migration);
    let src = search.env.find_src_rq(policy, record, lb);
    Found { group, imbalance, migration, src }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_found_counts() {
        let kernel = Found { group: 3, imbalance: 2, migration: 2, src: None };
        assert!(kernel.differs(&Found { src: Some(1), ..kernel }).is_empty(), "the kernel did not get there");
        assert_eq!(kernel.differs(&Found { imbalance: 1, ..kernel }), [Part { what: "imbalance", kernel: 2, ours: 1 }]);
        assert_eq!(
            kernel.differs(&Found { group: 12, imbalance: 9, ..kernel }),
            [Part { what: "group", kernel: 3, ours: 12 }]
        );
        assert!(Found::default().differs(&Found { imbalance: 7, ..Found::default() }).is_empty());
    }

    #[test]
    fn a_table_is_known_by_its_first_line() {
        assert!(is_header(b"ts0,by,dst,level,group,imbalance,migration,src,cap0,x_cap0\n"));
        assert!(!is_header(b"ts0,w0,prev,flags,ret,p_mask,p_util\n"));
    }
}
