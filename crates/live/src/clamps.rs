// SPDX-License-Identifier: GPL-2.0-or-later
//! Recording clamps: what each decision about utilization clamps read, and what came of it.
//!
//! A table has a line for each task that became runnable or stopped being so, each that was counted again because
//! limits of its group changed, and each performance target; its columns are the words of `bpf/clamp.h`. `pelton
//! validate` computes them again.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, RingBuffer};

use crate::placements::{attach, has_symbol, names, possible, ring, words};
use crate::session::{self, LiveError, refused};
use crate::tables::{TableSession, TableSummary};

/// The compiled program.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clamp.bpf.o"));
/// The list of columns.
const LIST: &str = include_str!("bpf/clamp.h");
/// Interval at which the buffer is emptied.
const DRAIN_EVERY: Duration = Duration::from_millis(10);
/// Records taken from the buffer before they are written.
const RECORDS_AT_ONCE: usize = 4096;
/// Symbol that only a kernel with clamps has.
const SYMBOL: &str = "sched_uclamp_used";
/// The lock under which tasks are counted again has one of these names.
const LOCKS: [&str; 2] = ["task_rq_lock", "_task_rq_lock"];

/// A running recording of clamps.
pub struct ClampSession {
    // Fields are dropped in this order: first nothing is written any more, then the buffer goes.
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    object: Object,
    incoming: Receiver<Vec<u64>>,
    columns: Vec<&'static str>,
    summary: TableSummary,
    first_ns: Option<u64>,
    last_ns: u64,
}

impl ClampSession {
    /// Loads and attaches everything.
    ///
    /// # Errors
    /// When this machine lacks something, has more than 64 CPUs, or the kernel has no clamps or refuses.
    pub fn start() -> Result<ClampSession, LiveError> {
        let cpus = possible("clamps")? as u32;
        let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        if !has_symbol(&symbols, SYMBOL) {
            return Err(LiveError::Missing(vec!["a kernel with utilization clamps (CONFIG_UCLAMP_TASK)".to_owned()]));
        }
        session::keep_messages();
        let object = load(&symbols)?;
        let (sender, incoming) = channel();
        let ring = ring(&object, &sender).map_err(|e| refused("share a buffer", e))?;
        let links = attach(&object)?;
        record(&object, true)?;
        let summary = TableSummary { cpus, ..TableSummary::default() };
        let columns = names(LIST, "CLAMP_WORDS");
        Ok(ClampSession { links, ring, object, incoming, columns, summary, first_ns: None, last_ns: 0 })
    }

    fn drain(&mut self, put: &mut dyn FnMut(&str)) {
        // No more at once than is written at once: a busy machine makes them faster.
        let _ = self.ring.consume_raw_n(RECORDS_AT_ONCE);
        while let Ok(words) = self.incoming.try_recv() {
            if words.len() < self.columns.len() {
                self.summary.lost += 1;
                continue;
            }
            self.first_ns.get_or_insert(words[0]);
            self.last_ns = words[0];
            self.summary.records += 1;
            put(&line(&words[..self.columns.len()]));
        }
    }
}

impl TableSession for ClampSession {
    type Summary = TableSummary;

    fn header(&self) -> String {
        self.columns.join(",") + "\n"
    }

    fn poll(&mut self, put: &mut dyn FnMut(&str)) -> u64 {
        let before = self.summary.records;
        self.drain(put);
        if self.summary.records < before + RECORDS_AT_ONCE as u64 {
            std::thread::park_timeout(DRAIN_EVERY);
        }
        self.summary.records
    }

    fn finish(mut self, put: &mut dyn FnMut(&str)) -> Result<TableSummary, LiveError> {
        record(&self.object, false)?;
        self.links.clear();
        let mut before = u64::MAX;
        while before != self.summary.records {
            before = self.summary.records;
            self.drain(put);
        }
        self.summary.lost += lost(&self.object)?;
        let ns = self.last_ns.saturating_sub(self.first_ns.unwrap_or_default());
        Ok(TableSummary { seconds: ns as f64 / 1e9, ..self.summary })
    }
}

/// A line of the table.
fn line(words: &[u64]) -> String {
    let all: Vec<String> = words.iter().map(u64::to_string).collect();
    all.join(",") + "\n"
}

/// Loads the programs that fit.
fn load(symbols: &str) -> Result<Object, LiveError> {
    let mut open = ObjectBuilder::default().open_memory(PROGRAM).map_err(|e| refused("read the program", e))?;
    let function = |section: &str| section.split_once('/').map_or(String::new(), |(_, name)| name.to_owned());
    for mut program in open.progs_mut() {
        let name = function(&program.section().to_string_lossy());
        // One of the names of the lock is another kernel's; everything else must be there.
        if LOCKS.contains(&name.as_str()) && !has_symbol(symbols, &name) {
            program.set_autoload(false);
        }
    }
    open.load().map_err(|e| refused("load the program", e))
}

/// Lets the programs make records, or no more.
fn record(object: &Object, on: bool) -> Result<(), LiveError> {
    let map = object.maps().find(|map| map.name() == "recording");
    let map = map.ok_or_else(|| refused("be switched", "there is no such map"))?;
    let update = map.update(&0u32.to_ne_bytes(), &u64::from(on).to_ne_bytes(), MapFlags::ANY);
    update.map_err(|e| refused("be switched", e))
}

/// Records that had no room (`struct clamp_globals`), which the program keeps beside its buffer.
fn lost(object: &Object) -> Result<u64, LiveError> {
    let map = object.maps().find(|map| map.name().to_string_lossy().ends_with(".bss"));
    let bytes = map.and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten());
    let all = words(&bytes.ok_or_else(|| refused("show what it kept", "there is no such map"))?);
    all.first().copied().ok_or_else(|| refused("show what it kept", "it is cut off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_list() {
        let columns = names(LIST, "CLAMP_WORDS");
        assert_eq!((columns[0], columns[columns.len() - 1]), ("ts", "o_max"));
        assert_eq!(line(&[1, 20, 3]), "1,20,3\n");
        assert!(LIST.contains(&format!("#define CLAMP_CPUS_MAX {}u", crate::placements::CPUS_MAX)));
    }

    #[test]
    fn a_symbol_is_a_whole_word() {
        let symbols = "ffffffff81 T _task_rq_lock\nffffffff82 d sched_uclamp_used\n";
        assert!(has_symbol(symbols, SYMBOL) && has_symbol(symbols, "_task_rq_lock"));
        assert!(!has_symbol(symbols, "task_rq_lock"));
    }
}
