// SPDX-License-Identifier: GPL-2.0-or-later
//! Recording balances: how often domains are balanced, by which kind of balance, how many tasks move, how many runnable
//! tasks CPUs have, and for how long. Where a table is asked for, the inputs of every search for a group to take from,
//! and its findings, too.
//!
//! Looking at all CPUs twice for each search takes far longer than a search: counts of a recording with a table are
//! those of a machine that is slowed down.

use std::fmt::Write;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use libbpf_rs::{Link, MapCore, MapFlags, Object, RingBuffer};
use nix::time::{ClockId, clock_gettime};

use crate::placements::{self, Columns, Record, names, words};
use crate::session::{self, LiveError, refused};
use crate::tables::TableSession;

/// The lists of columns and counts.
const LISTS: &str = include_str!("bpf/balance.h");
/// Most tasks of a CPU that are counted apart.
const TASKS_MAX: usize = 15;
/// Kinds of balances, in the order of `bpf/balance.h`.
pub const KINDS: [&str; 4] = ["periodic", "nohz_idle", "newidle", "active"];
/// Words of a CPU's counts.
const CPU_WORDS: usize = KINDS.len() * 4 + 3 + TASKS_MAX + 1;
/// Interval at which the buffer is emptied.
const DRAIN_EVERY: Duration = Duration::from_millis(10);
/// Interval of looks for the end where only counts are kept: as long as a prompt answer to ^C allows, because the
/// recorder's own load is among what is balanced.
const COUNT_EVERY: Duration = Duration::from_millis(250);
/// Records taken from the buffer before they are written.
const RECORDS_AT_ONCE: usize = 1024;

/// Counts of balances of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounts {
    /// Domains that were balanced.
    pub balances: u64,
    /// Balances that had tasks moved.
    pub pulls: u64,
    /// Tasks that moved.
    pub detached: u64,
    /// Time in balances, ns.
    pub spent_ns: u64,
}

/// Counts between two moments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BalanceCounts {
    /// By kind, in the order of [`KINDS`].
    pub kinds: [KindCounts; KINDS.len()],
    /// Running tasks that were asked to be stopped and moved.
    pub asked: u64,
    /// Of each CPU: time with so many runnable tasks, ns; the last number stands for more as well.
    pub runnable_ns: Vec<[u64; TASKS_MAX + 1]>,
}

impl BalanceCounts {
    fn add(&mut self, words: &[u64], now_ns: u64) {
        for (kind, words) in self.kinds.iter_mut().zip(words.chunks_exact(4)) {
            kind.balances += words[0];
            kind.pulls += words[1];
            kind.detached += words[2];
            kind.spent_ns += words[3];
        }
        let [asked, tasks, since_ns, rest @ ..] = &words[KINDS.len() * 4..] else { return };
        self.asked += asked;
        let mut runnable_ns = [0; TASKS_MAX + 1];
        runnable_ns.copy_from_slice(&rest[..=TASKS_MAX]);
        if *since_ns > 0 {
            runnable_ns[(*tasks as usize).min(TASKS_MAX)] += now_ns.saturating_sub(*since_ns);
        }
        self.runnable_ns.push(runnable_ns);
    }

    /// Counts since `earlier`.
    fn since(&self, earlier: &BalanceCounts) -> BalanceCounts {
        let mut out = self.clone();
        out.asked -= earlier.asked;
        for (kind, before) in out.kinds.iter_mut().zip(&earlier.kinds) {
            kind.balances -= before.balances;
            kind.pulls -= before.pulls;
            kind.detached -= before.detached;
            kind.spent_ns -= before.spent_ns;
        }
        for (times, before) in out.runnable_ns.iter_mut().zip(&earlier.runnable_ns) {
            times.iter_mut().zip(before).for_each(|(ns, before)| *ns = ns.saturating_sub(*before));
        }
        out
    }
}

/// Summary of a recording of balances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BalanceSummary {
    /// CPUs.
    pub cpus: u32,
    /// Searches that are in the table.
    pub decisions: u64,
    /// Searches that had no room in the buffer, or came cut off.
    pub lost: u64,
    /// For how long was counted, s.
    pub seconds: f64,
    /// Counts of the recording.
    pub counts: BalanceCounts,
    /// The machine: what a table needs beside it, JSON.
    pub machine: String,
}

/// A running recording of balances.
pub struct BalanceSession {
    // Fields are dropped in this order: first nothing is written any more, then the buffer goes.
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    object: Object,
    incoming: Receiver<Vec<u64>>,
    columns: Columns,
    cpus: usize,
    decisions: u64,
    /// Records that were too short to be one.
    cut_off: u64,
    first: Option<(u64, u64)>,
    last: (u64, u64),
    /// Time at which counting began, ns, and the counts of that moment.
    begin: (u64, BalanceCounts),
    /// Records come, beside the counts.
    table: bool,
}

impl BalanceSession {
    /// Loads and attaches what counts, and with `table` what looks at all CPUs.
    ///
    /// # Errors
    /// When this machine lacks something, has more than 64 CPUs, or the kernel refuses.
    pub fn start(table: bool) -> Result<BalanceSession, LiveError> {
        let cpus = placements::possible("balances")?;
        let renamed = session::has_function("sched_balance_rq")?;
        let object = placements::load(cpus as u32, &|name| is_wanted(name, table, renamed))?;
        let (sender, incoming) = channel();
        let ring = placements::ring(&object, &sender).map_err(|e| refused("share a buffer", e))?;
        let links = placements::attach(&object)?;
        let columns = Columns::of(names(LISTS, "BALANCE_HEAD"), 0);
        let mut session = BalanceSession {
            links,
            ring,
            object,
            incoming,
            columns,
            cpus,
            decisions: 0,
            cut_off: 0,
            first: None,
            last: (0, 0),
            begin: Default::default(),
            table,
        };
        session.begin()?;
        Ok(session)
    }

    /// Counts from now on.
    fn begin(&mut self) -> Result<(), LiveError> {
        let now_ns = now_ns();
        self.begin = (now_ns, self.counts(now_ns)?);
        Ok(())
    }

    /// All counts so far.
    fn counts(&self, now_ns: u64) -> Result<BalanceCounts, LiveError> {
        let map = self.object.maps().find(|map| map.name() == "balance_cpus");
        let map = map.ok_or_else(|| refused("show its counts", "there is no such map"))?;
        let mut counts = BalanceCounts::default();
        for cpu in 0..self.cpus as u32 {
            let bytes = map.lookup(&cpu.to_ne_bytes(), MapFlags::ANY).map_err(|e| refused("show its counts", e))?;
            let words = words(&bytes.unwrap_or_default());
            if words.len() != CPU_WORDS {
                return Err(refused("show its counts", "they are cut off"));
            }
            counts.add(&words, now_ns);
        }
        Ok(counts)
    }

    fn drain(&mut self, put: &mut dyn FnMut(&str)) {
        // No more at once than is written at once: a busy machine makes them faster.
        let _ = self.ring.consume_raw_n(RECORDS_AT_ONCE);
        while let Ok(words) = self.incoming.try_recv() {
            let Some(record) = Record::new(&self.columns, &words, self.cpus) else {
                self.cut_off += 1;
                continue;
            };
            let at = (record.head("ts0"), record.head("j"));
            self.first.get_or_insert(at);
            self.last = at;
            self.decisions += 1;
            put(&line(&self.columns, &record));
        }
    }
}

impl TableSession for BalanceSession {
    type Summary = BalanceSummary;

    fn header(&self) -> String {
        let mut all: Vec<String> = self.columns.head.iter().map(|name| (*name).to_owned()).collect();
        all.extend(self.columns.of_cpus(self.cpus));
        all.extend(self.columns.of_cpus(self.cpus).map(|name| format!("x_{name}")));
        all.join(",") + "\n"
    }

    fn settled(&mut self) -> Result<(), LiveError> {
        self.begin()
    }

    fn has_records(&self) -> bool {
        self.table
    }

    fn poll(&mut self, put: &mut dyn FnMut(&str)) -> u64 {
        let before = self.decisions;
        self.drain(put);
        if self.decisions < before + RECORDS_AT_ONCE as u64 {
            std::thread::park_timeout(if self.table { DRAIN_EVERY } else { COUNT_EVERY });
        }
        self.decisions
    }

    fn finish(mut self, put: &mut dyn FnMut(&str)) -> Result<BalanceSummary, LiveError> {
        let end_ns = now_ns();
        let all = self.counts(end_ns)?;
        self.links.clear();
        let mut before = u64::MAX;
        while before != self.decisions {
            before = self.decisions;
            self.drain(put);
        }
        let (lost, told) = placements::globals(&self.object)?;
        let (first, last) = (self.first.unwrap_or_default(), self.last);
        let hz = placements::hz(last.0.saturating_sub(first.0), last.1.saturating_sub(first.1));
        Ok(BalanceSummary {
            cpus: self.cpus as u32,
            decisions: self.decisions,
            lost: lost + self.cut_off,
            seconds: end_ns.saturating_sub(self.begin.0) as f64 / 1e9,
            counts: all.since(&self.begin.1),
            machine: placements::machine(&told, hz, &placements::domain_bits()?)?,
        })
    }
}

/// Selects the programs that count, and with `table` those that look at all CPUs besides; `renamed`: the kernel has the
/// names of 6.10.
fn is_wanted(name: &str, table: bool, renamed: bool) -> bool {
    let of_release = name.ends_with("_before") != renamed;
    match name.trim_end_matches("_before") {
        "balance_search" | "balance_searched" => table && of_release,
        "balance_begin" | "balance_end" => of_release,
        "balance_look" | "place_describe" => table,
        name => name.starts_with("balance_"),
    }
}

/// A line of the table: the head, all CPUs before, all CPUs after.
fn line(columns: &Columns, record: &Record<'_>) -> String {
    let mut out = String::with_capacity(8192);
    for (at, word) in record.words[..columns.head.len()].iter().enumerate() {
        let _ = write!(out, "{}{}", if at == 0 { "" } else { "," }, *word as i64);
    }
    record.put_cpus(&mut out, 0);
    record.put_cpus(&mut out, 1);
    out.push('\n');
    out
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_lists() {
        assert_eq!(names(LISTS, "BALANCE_KINDS"), KINDS);
        assert_eq!(names(LISTS, "BALANCE_COUNTS"), ["balances", "pulls", "detached", "spent_ns"]);
        assert!(LISTS.contains(&format!("#define BALANCE_TASKS_MAX {TASKS_MAX}u")));
        let head = names(LISTS, "BALANCE_HEAD");
        assert_eq!((head[0], head[head.len() - 1]), ("ts0", "ncpu"));
    }

    #[test]
    fn programs_are_chosen_by_release_and_by_what_is_asked() {
        let wanted = |table, renamed| {
            let all = ["place_end", "balance_nr", "balance_begin", "balance_begin_before", "balance_searched_before"];
            all.into_iter().filter(|name| is_wanted(name, table, renamed)).collect::<Vec<_>>()
        };
        assert_eq!(wanted(false, true), ["balance_nr", "balance_begin"]);
        assert_eq!(wanted(true, false), ["balance_nr", "balance_begin_before", "balance_searched_before"]);
    }

    #[test]
    fn time_that_goes_on_is_counted_to_now() {
        let mut words = vec![0; CPU_WORDS];
        words[..4].copy_from_slice(&[5, 2, 3, 700]);
        words[16..19].copy_from_slice(&[1, 20, 1000]);
        words[19] = 50;
        let mut earlier = BalanceCounts::default();
        earlier.add(&words, 1400);
        assert_eq!((earlier.runnable_ns[0][0], earlier.runnable_ns[0][TASKS_MAX]), (50, 400));
        (words[0], words[18]) = (9, 0);
        let mut later = BalanceCounts::default();
        later.add(&words, 2000);
        let between = later.since(&earlier);
        assert_eq!((between.kinds[0].balances, between.kinds[0].pulls, between.asked), (4, 0, 0));
    }
}
