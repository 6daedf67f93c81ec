// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded gates of balances, decided again by the core: whether a CPU that goes idle searches for a task, and which
//! domains are balanced when.
//!
//! What a search found is taken from the record, as is how long it took: what follows from that is decided. A gate is
//! quiet when no tick came meanwhile, the same CPUs were idle before and after each search, no task came but those that
//! were moved, the flag of overload was not raised behind its reading, and when it does not matter by how much the
//! recorder made searches longer.

use std::io::BufRead;
use std::path::Path;

use pelton_core::{LbDomain, LbEnv, Newidle, Placement, Policy, balance_idle, lb_is_busy, lb_newidle_fades, value};
use pelton_trace::import::ImportError;

use super::Part;
use super::table::Decisions;
use super::topology::Topology;

/// Most domains of a CPU in a table.
const LEVELS_MAX: usize = 6;
/// A domain is searched by CPUs that go idle (SD_BALANCE_NEWIDLE).
const BALANCE_NEWIDLE: u32 = 1;
const NS_PER_S: u64 = 1_000_000_000;
/// Longest time to the next balance, s.
const NEXT_MAX_S: u64 = 60;

macro_rules! columns {
    ($(#[$doc:meta])* $name:ident, $($field:ident),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name { $(#[doc = concat!("Column `", stringify!($field), "`.")] pub $field: u64,)* }

        impl $name {
            const NAMES: &[&str] = &[$(stringify!($field)),*];

            fn of(values: &[u64]) -> $name {
                let mut values = values.iter().copied();
                $name { $($field: values.next().unwrap_or_default(),)* }
            }
        }
    };
}

columns! {
    /// A gate: what `bpf/gate.h` of the recorder says of the CPU.
    Head, ts0, ts1, j, x_j, kind, by, cpu, idle, pending, over, x_over, h_nr, x_h_nr, only_idle, avg_idle, max_cost, x_max_cost, next,
    x_next, stamp, x_stamp, s1, s2, s3, s4, x_s1, x_s2, x_s3, x_s4, ran, levels,
}

columns! {
    /// Columns of each of its domains.
    Level, last, x_last, interval, x_interval, failed, x_failed, cost, x_cost, decayed, x_decayed, ratio, x_ratio, calls, x_calls,
    hits, x_hits, since, x_since, spent, moved, b_goes_on, idle_cpus, x_idle_cpus, dst_nr, dst_pending, group, failing, flags, migration, asked,
}

/// A line of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Line of the table.
    pub line: u64,
    /// Of the CPU.
    pub head: Head,
    /// Of its domains, smallest first.
    pub level: [Level; LEVELS_MAX],
    /// Domains that it has.
    pub levels: usize,
}

impl Gate {
    /// Is it that of a CPU about to go idle? Else domains are balanced because it is time.
    #[must_use]
    pub fn is_newidle(&self) -> bool {
        self.head.kind == 0
    }

    /// Was this domain balanced?
    #[must_use]
    pub fn ran(&self, level: usize) -> bool {
        self.head.ran >> level & 1 == 1
    }

    /// Describes the gate and its outcome in words.
    #[must_use]
    pub fn how(&self) -> &'static str {
        let first = &self.level[0];
        match (self.head.kind, self.head.idle) {
            (0, _) if self.head.pending != 0 => "goes idle: a task was woken to it",
            (0, _) if self.head.ran != 0 => "goes idle: searches",
            (0, _) if self.head.over == 0 => "goes idle: no CPU has two tasks",
            (0, _) if self.head.avg_idle < first.cost => "goes idle: too soon back",
            (0, _) => "goes idle: dice leave all out",
            (_, 0) => "domains of a busy CPU",
            (_, _) if self.head.by != self.head.cpu => "domains of an idle CPU, by another",
            _ => "domains of an idle CPU",
        }
    }

    /// The CPU, as a bit.
    fn own(&self) -> u64 {
        1 << (self.head.cpu & 63)
    }

    /// A CPU that goes idle is asked again in the same breath when a task came while it searched, or one left that only
    /// lagged behind; and another CPU may get its second task between the look and the search. Or the last second one
    /// is gone before the kernel reads the flag: where nothing was searched only others change it.
    fn is_alone(&self) -> bool {
        if self.is_newidle() && self.head.ran == 0 && self.head.over != self.head.x_over {
            return false;
        }
        let pulled = self.level.iter().filter(|level| level.moved > 0).count();
        let came = if pulled == 0 { self.head.x_h_nr > 0 } else { pulled > 1 };
        !self.is_newidle() || (self.head.h_nr == 0 && !came && (self.head.over != 0 || self.head.ran == 0))
    }

    fn domain(&self, at: usize, tick_ns: u64) -> LbDomain {
        let level = &self.level[at];
        LbDomain {
            last_balance_ticks: level.last,
            interval_ms: level.interval as u32,
            nr_balance_failed: level.failed as u32,
            newidle_cost_ns: level.cost,
            newidle_decayed_ns: level.decayed.wrapping_mul(tick_ns),
            newidle_since_ns: level.since,
            newidle_calls: level.calls as u32,
            newidle_hits: level.hits as u32,
            newidle_ratio: level.ratio as u32,
            reserved: 0,
        }
    }
}

/// Is this the first line of such a table?
#[must_use]
pub fn is_header(first_bytes: &[u8]) -> bool {
    let line = first_bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let has = |name: &str| line.split(|&byte| byte == b',').any(|field| field.trim_ascii() == name.as_bytes());
    ["avg_idle", "next", "ran", "d0_last", "d0_cost", "d0_idle_cpus"].iter().all(|name| has(name))
}

/// Reads gates, in bounded memory.
pub struct Gates {
    table: Decisions,
    head: Vec<usize>,
    levels: Vec<Vec<usize>>,
    /// Ticks per second.
    hz: u64,
}

impl Gates {
    /// Reads the line of names.
    ///
    /// # Errors
    /// When it cannot be read, or a column that is needed is not there.
    pub fn new(
        path: &Path,
        lines: Box<dyn BufRead>,
        topology: &Topology,
        policy: &Policy,
    ) -> Result<Gates, ImportError> {
        let table = Decisions::bare(path, lines, topology, policy)?;
        let head = Head::NAMES.iter().map(|name| table.column(name)).collect::<Result<_, _>>()?;
        let of = |at: usize| Level::NAMES.iter().map(|name| table.column(&format!("d{at}_{name}"))).collect();
        let levels = (0..LEVELS_MAX).map(of).collect::<Result<_, _>>()?;
        Ok(Gates { table, head, levels, hz: topology.hz() })
    }

    /// The next gate; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read further, or a line has a value that cannot be.
    pub fn next_gate(&mut self) -> Result<Option<Gate>, ImportError> {
        if !self.table.next_line()? {
            return Ok(None);
        }
        let values = |places: &[usize]| places.iter().map(|at| self.table.number(*at)).collect::<Result<Vec<_>, _>>();
        let mut gate = Gate { line: self.table.line(), head: Head::of(&values(&self.head)?), ..Gate::default() };
        for (level, places) in gate.level.iter_mut().zip(&self.levels) {
            *level = Level::of(&values(places)?);
        }
        let cpu = gate.head.cpu as usize;
        let there = self.table.record().cpus().get(cpu).map(|c| c.nr_domains as usize);
        gate.levels = gate.head.levels as usize;
        if there != Some(gate.levels) || gate.levels > LEVELS_MAX {
            return Err(self.table.wrong(0, format!("cannot be: {} domains of CPU {cpu}", gate.levels)));
        }
        Ok(Some(gate))
    }

    /// The machine, and its ticks per second.
    #[must_use]
    pub fn machine(&self) -> (&Placement, u64) {
        (self.table.record(), self.hz)
    }
}

/// The kernel's generator of random numbers, as a record has its state (`prandom_u32_state`, a combined Tausworthe
/// generator of L'Ecuyer 1999 with four components).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Random([u32; 4]);

impl Random {
    fn before(head: &Head) -> Random {
        Random([head.s1, head.s2, head.s3, head.s4].map(|s| s as u32))
    }

    fn next(&mut self) -> u32 {
        /// Of each component: q, k - s, s, and the bits that count.
        const STEPS: [(u32, u32, u32, u32); 4] = [(6, 13, 18, !1), (2, 27, 2, !7), (13, 21, 7, !15), (3, 12, 13, !127)];
        for (s, (q, behind, shift, mask)) in self.0.iter_mut().zip(STEPS) {
            *s = ((*s & mask) << shift) ^ (((*s << q) ^ *s) >> behind);
        }
        self.0.iter().fold(0, |all, s| all ^ s)
    }
}

/// Decision of the core about a recorded gate.
pub(super) struct Again<'a> {
    gate: &'a Gate,
    policy: &'a Policy,
    record: Placement,
    tick_ns: u64,
    own: Vec<LbDomain>,
    /// True when the result is certain: no tick came meanwhile, and no sum of times decides.
    pub quiet: bool,
    /// Differing values, with the kernel's and ours.
    pub what: Vec<Part>,
}

impl<'a> Again<'a> {
    /// Decides a gate again.
    pub fn of(gate: &'a Gate, policy: &'a Policy, machine: &Placement, hz: u64) -> Again<'a> {
        let tick_ns = NS_PER_S / hz.max(1);
        let own = (0..gate.levels).map(|at| gate.domain(at, tick_ns)).collect();
        let same_idle = |level: &Level| level.idle_cpus & !gate.own() == level.x_idle_cpus & !gate.own();
        let quiet = gate.head.j == gate.head.x_j && gate.level.iter().all(same_idle) && gate.is_alone();
        let mut again = Again { gate, policy, record: *machine, tick_ns, own, quiet, what: Vec::new() };
        if gate.is_newidle() {
            again.newidle();
        } else {
            again.domains();
        }
        again
    }

    fn same(&mut self, what: &'static str, kernel: u64, ours: u64) {
        if kernel != ours {
            self.what.push(Part { what, kernel, ours });
        }
    }

    fn ticks(&self, level: usize, busy: bool) -> u64 {
        let interval = self.own[level].interval_ticks(self.policy, busy, self.tick_ns, self.record.nr_cpus);
        self.own[level].last_balance_ticks + interval
    }

    /// A CPU that goes idle.
    fn newidle(&mut self) {
        let head = &self.gate.head;
        let mut next = head.j + NS_PER_S / self.tick_ns;
        let mut random = Random::before(head);
        let (mut ran, mut pulled) = (0, false);
        if head.pending == 0 {
            let newidle = Newidle {
                avg_idle_ns: head.avg_idle,
                max_cost_ns: head.max_cost,
                domain_cost_ns: self.own[0].newidle_cost_ns,
                ..Newidle::default()
            };
            if head.over == 0 || newidle.closed(self.policy) {
                next = next.min(self.ticks(0, false));
            } else {
                (ran, pulled) = self.searches(&mut next, &mut random);
            }
            self.same("next balance", head.x_next, head.next.min(next));
            let idle = !pulled && head.x_h_nr == 0;
            self.same("idle from now on", (head.x_stamp != 0).into(), idle.into());
        }
        self.same("domains searched", head.ran, ran);
        self.remembered();
        let state = [head.x_s1, head.x_s2, head.x_s3, head.x_s4].map(|s| s as u32);
        self.same("dice", u64::from(state[0]), u64::from(random.0[0]));
    }

    /// The domains that are searched, and whether something was found.
    fn searches(&mut self, next: &mut u64, random: &mut Random) -> (u64, bool) {
        let head = &self.gate.head;
        let (mut ran, mut least_ns, mut before_ns) = (0, 0, 0);
        for level in 0..self.gate.levels {
            *next = (*next).min(self.ticks(level, false));
            let skips = self.own[level].newidle_skips(head.avg_idle, least_ns);
            // The recorder makes searches longer, and all before the first one counts for it.
            let most_ns = if ran == 0 { 0 } else { head.ts1 - head.ts0 };
            self.quiet &= skips == self.own[level].newidle_skips(head.avg_idle, most_ns);
            if skips {
                break;
            }
            if self.record.cpus[head.cpu as usize].domains[level].flags & BALANCE_NEWIDLE == 0 {
                continue;
            }
            if self.own[level].newidle_throws(self.policy) && !self.own[level].newidle_wins(random.next()) {
                self.own[level].update_newidle_stats(self.policy, 0, self.gate.level[level].x_since);
                continue;
            }
            ran |= 1 << level;
            if !self.gate.ran(level) {
                break;
            }
            let told = &self.gate.level[level];
            self.searched(level, told, before_ns);
            before_ns += told.spent;
            least_ns += told.spent;
            self.turn(level, balance_idle::NEWLY_IDLE);
            if told.moved > 0 || told.b_goes_on == 0 {
                return (ran, told.moved > 0);
            }
        }
        (ran, false)
    }

    /// Updates what the domain remembers of a search that took place.
    fn searched(&mut self, level: usize, told: &Level, before_ns: u64) {
        let (policy, head) = (self.policy, &self.gate.head);
        let weight = self.own[level].newidle_weight(policy);
        let hits = weight * u32::from(told.moved > 0);
        self.own[level].update_newidle_stats(policy, hits, told.x_since);
        // The duration by the kernel's clock is only recorded where that was the longest time so far.
        let measured = policy.newidle_fails == value::NEWIDLE_FAILS_MEASURED || told.moved > 0;
        let took_ns = if told.x_cost > told.cost { told.x_cost } else { told.spent.min(told.cost) };
        let longest_ns = head.ts1 - head.ts0 - before_ns.min(head.ts1 - head.ts0);
        if measured && took_ns > longest_ns {
            self.same("cost of a search", took_ns, longest_ns);
        }
        let counted_ns = self.own[level].newidle_counts_for(policy, took_ns, told.moved > 0);
        self.own[level].newidle_searched(policy, counted_ns, head.j * self.tick_ns);
    }

    /// Compares the CPU whose turn it is to balance a domain.
    fn turn(&mut self, level: usize, idle: u32) {
        let told = &self.gate.level[level];
        let dst = self.gate.head.cpu as usize;
        for (cpu, row) in self.record.cpus[..self.record.nr_cpus as usize].iter_mut().enumerate() {
            let is_idle = told.idle_cpus >> cpu & 1 == 1;
            (row.curr_idle, row.nr_running, row.ttwu_pending) = (is_idle.into(), (!is_idle).into(), 0);
        }
        if idle == balance_idle::NEWLY_IDLE {
            let row = &mut self.record.cpus[dst];
            (row.nr_running, row.ttwu_pending) = (told.dst_nr as u32, told.dst_pending as u32);
        }
        let cpus = self.record.cpus[dst].domains[level].span;
        let env = LbEnv { cpus, dst_cpu: dst as u32, level: level as u32, idle, ..LbEnv::default() };
        let own_turn = env.should_we_balance(self.policy, &self.record);
        self.same("its turn", told.b_goes_on, own_turn.into());
    }

    /// Compares what the domains remember of searches afterwards.
    fn remembered(&mut self) {
        for level in 0..self.gate.levels {
            let (told, own) = (self.gate.level[level], self.own[level]);
            self.same("cost", told.x_cost, own.newidle_cost_ns);
            self.same("fading since", told.x_decayed, own.newidle_decayed_ns / self.tick_ns);
            self.same("searches", told.x_calls, own.newidle_calls.into());
            self.same("hits", told.x_hits, own.newidle_hits.into());
            self.same("share of hits", told.x_ratio, own.newidle_ratio.into());
        }
    }

    /// The balance of all domains.
    fn domains(&mut self) {
        let (head, policy) = (&self.gate.head, self.policy);
        let mut idle = head.idle as u32;
        let mut busy = lb_is_busy(policy, idle, head.only_idle != 0);
        let (mut next, mut goes_on, mut faded, mut costs_ns, mut ran) =
            (head.j + NEXT_MAX_S * NS_PER_S / self.tick_ns, true, false, 0, 0);
        for level in 0..self.gate.levels {
            let fades = self.own[level].newidle_decay(head.j * self.tick_ns);
            faded = lb_newidle_fades(policy, faded, fades);
            costs_ns += self.own[level].newidle_cost_ns;
            if !goes_on && faded {
                continue;
            }
            if !goes_on {
                break;
            }
            if head.j >= self.ticks(level, busy) {
                ran |= 1 << level;
                if !self.gate.ran(level) {
                    break;
                }
                self.turn(level, idle);
                self.interval(level, idle);
                goes_on = self.gate.level[level].b_goes_on != 0;
                if self.gate.level[level].moved > 0 {
                    // It has the tasks now, unless they may not run there and went to another CPU of its group.
                    (idle, busy) = (balance_idle::NOT_IDLE, true);
                    self.quiet &= head.only_idle == 0;
                }
                self.own[level].last_balance_ticks = head.j;
            }
            next = next.min(self.ticks(level, busy));
        }
        self.same("domains balanced", head.ran, ran);
        self.same("next balance", head.x_next, next);
        let mut newidle = Newidle { max_cost_ns: head.max_cost, ..Newidle::default() };
        if faded {
            newidle.faded(0, costs_ns);
        }
        self.same("longest search", head.x_max_cost, newidle.max_cost_ns);
        self.remembered();
    }

    /// Compares the time to the next balance of a domain, and the number of failures, after the outcome of this one.
    fn interval(&mut self, level: usize, idle: u32) {
        let (policy, told) = (self.policy, self.gate.level[level]);
        let domain = self.record.cpus[self.gate.head.cpu as usize].domains[level];
        let weight = domain.span.count_ones();
        let env = LbEnv { idle, flags: told.flags as u32, ..LbEnv::default() };
        let own = &mut self.own[level];
        if told.moved > 0 {
            own.moved(weight);
        } else if told.b_goes_on == 0 || told.group == 0 {
            own.balanced(policy, &env, pelton_core::migrate::LOAD, weight);
        } else if told.failing != 0 && told.asked == 0 {
            own.failed(policy, &env, told.migration as u32);
            own.again(weight);
        } else {
            // Everything is pinned, no CPU was found, or the record does not say whether the running task could be
            // stopped.
            (own.interval_ms, own.nr_balance_failed) = (told.x_interval as u32, told.x_failed as u32);
        }
        let (interval, failed) = (own.interval_ms, own.nr_balance_failed);
        self.same("interval", told.x_interval, interval.into());
        // The CPU that gives a task away sets it back when it is done, at any time.
        if told.x_failed != 0 {
            self.same("failures", told.x_failed, failed.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_are_those_of_the_generator() {
        // From the definition by hand; what comes from above, as (2 << 6 ^ 2) >> 13, is 0 for numbers this small.
        let mut random = Random([2, 8, 16, 128]);
        let first = random.next();
        let by_hand = [2u32 << 18, 8u32 << 2, 16u32 << 7, 128u32 << 13];
        assert_eq!(random.0, by_hand);
        assert_eq!(first, by_hand[0] ^ by_hand[1] ^ by_hand[2] ^ by_hand[3]);
    }

    #[test]
    fn a_flag_that_falls_before_it_is_read_makes_a_gate_unsure() {
        let newly = u64::from(balance_idle::NEWLY_IDLE);
        let of = |ran, x_over| {
            let head = Head { kind: 0, idle: newly, over: 1, x_over, ran, ..Head::default() };
            Gate { head, ..Gate::default() }
        };
        assert!(of(0, 1).is_newidle() && of(0, 1).is_alone());
        assert!(!of(0, 0).is_alone(), "the kernel may have read 0");
        assert!(of(1, 0).is_alone(), "its own search may have lowered it");
    }

    #[test]
    fn a_table_is_known_by_its_first_line() {
        assert!(is_header(b"ts0,avg_idle,next,ran,d0_last,d0_cost,d0_idle_cpus\n"));
        assert!(!is_header(b"ts0,by,dst,level,group,imbalance,migration,src,cap0,x_cap0\n"));
    }
}
