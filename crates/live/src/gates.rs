// SPDX-License-Identifier: GPL-2.0-or-later
//! Recording gates: what decides whether a CPU searches for a task before it goes idle, and which domains are balanced
//! when, with all that is read, and what came of it. `pelton validate` decides them again.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use libbpf_rs::{Link, MapCore, MapFlags, Object, RingBuffer};

use crate::placements::{self, names};
use crate::session::{self, LiveError, refused};
use crate::tables::{TableSession, TableSummary};

/// The lists of columns.
const LISTS: &str = include_str!("bpf/gate.h");
/// Most domains of a CPU, as in `bpf/place.h`.
const LEVELS_MAX: usize = 6;
/// Interval at which the buffer is emptied.
const DRAIN_EVERY: Duration = Duration::from_millis(10);
/// Records taken from the buffer before they are written.
const RECORDS_AT_ONCE: usize = 1024;

/// Names of the words of a record, in their order.
#[derive(Debug)]
struct Columns {
    head: Vec<&'static str>,
    level: Vec<&'static str>,
}

impl Columns {
    fn new() -> Columns {
        Columns { head: names(LISTS, "GATE_HEAD"), level: names(LISTS, "GATE_LEVEL") }
    }

    fn words(&self) -> usize {
        self.head.len() + LEVELS_MAX * self.level.len()
    }

    /// The first line of a table with so many domains.
    fn line(&self, levels: usize) -> String {
        let mut all: Vec<String> = self.head.iter().map(|name| (*name).to_owned()).collect();
        for level in 0..levels {
            all.extend(self.level.iter().map(|name| format!("d{level}_{name}")));
        }
        all.join(",") + "\n"
    }

    fn head<'a>(&self, words: &'a [u64], name: &str) -> Option<&'a u64> {
        words.get(self.head.iter().position(|known| *known == name)?)
    }
}

/// A running recording of gates.
pub struct GateSession {
    // Fields are dropped in this order: first nothing is written any more, then the buffer goes.
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    object: Object,
    incoming: Receiver<Vec<u64>>,
    columns: Columns,
    cpus: u32,
    decisions: u64,
    cut_off: u64,
    /// Time and ticks of the first record, and of the last.
    ends: Option<[(u64, u64); 2]>,
}

impl GateSession {
    /// Loads and attaches everything; nothing is recorded before the load has settled ([`TableSession::settled`]).
    ///
    /// # Errors
    /// When this machine lacks something, has more than 64 CPUs, or the kernel refuses.
    pub fn start() -> Result<GateSession, LiveError> {
        let cpus = placements::possible("gates")? as u32;
        let renamed = session::has_function("sched_balance_rq")?;
        let apart = session::has_function(if renamed { "sched_balance_newidle" } else { "newidle_balance" })?;
        if !renamed && !apart {
            return Err(LiveError::Missing(vec!["a kernel that has newidle_balance by itself".to_owned()]));
        }
        let object = placements::load(cpus, &|name| is_wanted(name, renamed, apart))?;
        let (sender, incoming) = channel();
        let ring = placements::ring(&object, &sender).map_err(|e| refused("share a buffer", e))?;
        let links = placements::attach(&object)?;
        let columns = Columns::new();
        Ok(GateSession { links, ring, object, incoming, columns, cpus, decisions: 0, cut_off: 0, ends: None })
    }

    /// Records from now on, or no more.
    fn record(&self, on: bool) -> Result<(), LiveError> {
        let map = self.object.maps().find(|map| map.name() == "gate_recording");
        let map = map.ok_or_else(|| refused("be switched", "there is no such map"))?;
        let update = map.update(&0u32.to_ne_bytes(), &u64::from(on).to_ne_bytes(), MapFlags::ANY);
        update.map_err(|e| refused("be switched", e))
    }

    fn drain(&mut self, put: &mut dyn FnMut(&str)) {
        // No more at once than is written at once: a busy machine makes them faster.
        let _ = self.ring.consume_raw_n(RECORDS_AT_ONCE);
        while let Ok(words) = self.incoming.try_recv() {
            let at = [self.columns.head(&words, "ts0"), self.columns.head(&words, "j")].map(|word| word.copied());
            let ([Some(ns), Some(ticks)], true) = (at, words.len() >= self.columns.words()) else {
                self.cut_off += 1;
                continue;
            };
            self.ends = Some([self.ends.map_or((ns, ticks), |[first, _]| first), (ns, ticks)]);
            self.decisions += 1;
            put(&line(&words[..self.columns.words()]));
        }
    }
}

impl TableSession for GateSession {
    type Summary = TableSummary;

    fn header(&self) -> String {
        self.columns.line(LEVELS_MAX)
    }

    fn settled(&mut self) -> Result<(), LiveError> {
        self.record(true)
    }

    /// Hands lines to `put` when the buffer is half full: writing them is work that would be balanced.
    fn poll(&mut self, put: &mut dyn FnMut(&str)) -> u64 {
        let before = self.decisions;
        if placements::is_half_full(&self.ring) {
            self.drain(put);
        }
        if self.decisions < before + RECORDS_AT_ONCE as u64 {
            std::thread::park_timeout(DRAIN_EVERY);
        }
        self.decisions
    }

    fn finish(mut self, put: &mut dyn FnMut(&str)) -> Result<TableSummary, LiveError> {
        self.record(false)?;
        self.links.clear();
        let mut before = u64::MAX;
        while before != self.decisions {
            before = self.decisions;
            self.drain(put);
        }
        let (lost, told) = placements::globals(&self.object)?;
        let [first, last] = self.ends.unwrap_or_default();
        let ns = last.0.saturating_sub(first.0);
        let hz = placements::hz(ns, last.1.saturating_sub(first.1));
        Ok(TableSummary {
            cpus: self.cpus,
            records: self.decisions,
            lost: lost + self.cut_off,
            seconds: ns as f64 / 1e9,
            machine: Some(placements::machine(&told, hz, &placements::domain_bits()?)?),
        })
    }
}

/// `renamed`: the kernel has the names of 6.10; `apart`: the search of a CPU that goes idle is a function of its own.
fn is_wanted(name: &str, renamed: bool, apart: bool) -> bool {
    let of_release = name.ends_with("_before") != renamed;
    match name.trim_end_matches("_before") {
        "place_describe" | "gate_asked" => true,
        "gate_pick_begin" | "gate_pick_end" => !apart,
        "gate_newidle_begin" | "gate_newidle_end" => apart && of_release,
        name => name.starts_with("gate_") && of_release,
    }
}

/// A line of the table.
fn line(words: &[u64]) -> String {
    let all: Vec<String> = words.iter().map(|word| (*word as i64).to_string()).collect();
    all.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_lists() {
        let columns = Columns::new();
        assert_eq!((columns.head[0], columns.head[columns.head.len() - 1]), ("ts0", "levels"));
        assert_eq!((columns.level[0], columns.level[columns.level.len() - 1]), ("last", "asked"));
        let line = columns.line(2);
        assert_eq!(line.split(',').count(), columns.head.len() + 2 * columns.level.len());
        assert!(line.contains("d0_last,") && line.ends_with("d1_asked\n"));
    }

    #[test]
    fn programs_are_chosen_by_release() {
        let wanted = |renamed, apart| {
            let all = ["place_end", "gate_pick_end", "gate_newidle_end", "gate_newidle_end_before", "gate_asked"];
            all.into_iter().filter(|name| is_wanted(name, renamed, apart)).collect::<Vec<_>>()
        };
        assert_eq!(wanted(true, false), ["gate_pick_end", "gate_asked"]);
        assert_eq!(wanted(true, true), ["gate_newidle_end", "gate_asked"]);
        assert_eq!(wanted(false, true), ["gate_newidle_end_before", "gate_asked"]);
    }
}
