// SPDX-License-Identifier: GPL-2.0-or-later
//! The limit of the real-time class, and CPUs that go idle or are idle.

const MS: u128 = 1_000_000;
const PERIOD: u128 = 1000 * MS;
const RUNTIME: u128 = 950 * MS;
const MIGRATION_COST: u128 = 500_000;

/// A CPU's share for real-time tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Used.
    pub time: u128,
    /// To be used in a period.
    pub runtime: u128,
    /// Not to be used now.
    pub throttled: bool,
}

/// Charges a tick: a CPU with nothing left takes from the other one as much as it can; true: it has to stop.
pub fn tick(own: &mut Share, other: &mut Share, cpus: u128, share: bool) -> bool {
    if own.throttled || own.runtime >= PERIOD {
        return false;
    }
    if share && own.time > own.runtime {
        borrow(own, other, cpus);
    }
    own.throttled = own.runtime < PERIOD && own.time > own.runtime;
    own.throttled
}

fn borrow(own: &mut Share, other: &mut Share, cpus: u128) {
    if other.time >= other.runtime {
        return;
    }
    let part = (other.runtime - other.time) / cpus.max(1);
    let moved = if own.runtime + part > PERIOD { PERIOD - own.runtime } else { part };
    own.runtime += moved;
    other.runtime -= moved;
}

/// Some periods are over; true: it may go on.
pub fn period(own: &mut Share, overrun: u128, share: bool) -> bool {
    if !share {
        own.runtime = RUNTIME;
    }
    own.time = own.time.saturating_sub(overrun * own.runtime);
    let free = own.throttled && own.time < own.runtime;
    own.throttled &= !free;
    free
}

/// Cases in which a CPU that runs out of tasks does not search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skips {
    /// Never.
    Never,
    /// Mean idle time below 500 us, or below the cost of a search.
    MigrationCost,
    /// Below the cost of a search.
    DomainCost,
}

impl Skips {
    /// The rule of a name.
    pub fn of(name: &str) -> Option<Skips> {
        Some(match name {
            "always" => Skips::Never,
            "migration_cost" => Skips::MigrationCost,
            "domain_cost" | "at_switch" => Skips::DomainCost,
            _ => return None,
        })
    }
}

/// Idle times as a CPU knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idleness {
    /// Mean.
    pub mean: u128,
    /// Longest search.
    pub longest: u128,
    /// Longest search of the domain.
    pub domain: u128,
    /// Last time costs faded.
    pub faded_at: u128,
}

impl Idleness {
    /// An idle time is over.
    pub fn woke(&mut self, stay: u128) {
        let (mean, stay) = (self.mean as i128, stay as i128);
        self.mean = ((mean + (stay - mean).div_euclid(8)) as u128).min(2 * self.longest);
    }

    /// Not even its own load is refreshed.
    pub fn closed(&self, rule: Skips) -> bool {
        match rule {
            Skips::Never => false,
            Skips::MigrationCost => self.mean < MIGRATION_COST,
            Skips::DomainCost => self.mean < self.domain,
        }
    }

    /// No search.
    pub fn skips(&self, rule: Skips) -> bool {
        match rule {
            Skips::Never => false,
            Skips::MigrationCost => self.mean < MIGRATION_COST.max(self.domain),
            Skips::DomainCost => self.mean < self.domain,
        }
    }

    /// A search took some time.
    pub fn searched(&mut self, rule: Skips, cost: u128, now: u128) {
        if cost > self.domain && rule != Skips::MigrationCost {
            self.faded_at = now;
        }
        self.domain = self.domain.max(cost);
        self.longest = self.longest.max(cost);
    }

    /// Once a second.
    pub fn fade(&mut self, now: u128) {
        if now > self.faded_at + 1000 * MS {
            self.faded_at = now;
            self.domain = self.domain * 253 / 256;
            self.longest = self.domain.max(MIGRATION_COST);
        }
    }
}

/// Rule for walks over idle CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walks {
    /// For the sake of load, too.
    pub load: bool,
    /// Busy CPUs of unequal capacity are no reason.
    pub unequal_is_fine: bool,
}

impl Walks {
    /// The rule of a name.
    pub fn of(name: &str) -> Option<Walks> {
        let (load, unequal_is_fine) = match name {
            "balance" => (false, false),
            "stats" => (true, false),
            "stats_asym" | "entry" => (true, true),
            _ => return None,
        };
        Some(Walks { load, unequal_is_fine })
    }
}

impl Walks {
    /// Drops the walks for load where no CPU walks for load.
    pub fn unless(self, lazy: bool) -> Walks {
        Walks { load: self.load && !lazy, ..self }
    }
}

/// CPUs whose load is refreshed by one that looks for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refreshes {
    /// Its own.
    Own,
    /// Load of all CPUs that it looks at, once a tick.
    Others,
    /// Load of all CPUs that it looks at, with a pause.
    Rarely,
    /// None.
    Nothing,
}

impl Refreshes {
    /// The rule of a name.
    pub fn of(name: &str) -> Option<Refreshes> {
        Some(match name {
            "own" => Refreshes::Own,
            "scan" => Refreshes::Others,
            "interval" => Refreshes::Rarely,
            "lazy" => Refreshes::Nothing,
            _ => return None,
        })
    }

    /// True when it refreshes the load of others, too.
    pub fn of_others(self) -> bool {
        matches!(self, Refreshes::Others | Refreshes::Rarely)
    }

    /// Are there walks over idle CPUs?
    pub fn walks(self) -> bool {
        self != Refreshes::Nothing
    }

    /// A later tick than the last one, and later than the pause after it.
    pub fn due(self, now: u128, last: u128, tick_ns: u128, pause_us: u128) -> bool {
        let pause = if self == Refreshes::Rarely { pause_us * 1000 / tick_ns } else { 0 };
        now > last && now - last > pause
    }
}

/// Is a walk due?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Ticks: now, next for load, next for balance.
    pub ticks: [u128; 3],
    /// True when there is load to refresh.
    pub blocked: bool,
    /// Tasks here.
    pub running: u128,
    /// Busy CPUs near.
    pub busy: u128,
    /// Capacities differ.
    pub unequal: bool,
    /// Its running task would have more elsewhere.
    pub wants: bool,
}

impl Due {
    /// Purpose for which a tick wakes an idle CPU: load (1), balance (2).
    pub fn kick(&self, rule: Walks) -> u64 {
        let [now, load_at, balance_at] = self.ticks;
        let near = self.busy >= 2 && !(self.unequal && rule.unequal_is_fine);
        let balance = now >= balance_at && (self.running >= 2 || near || self.wants);
        let load = rule.load && (balance || self.blocked && now > load_at);
        u64::from(load) + 2 * u64::from(balance)
    }

    /// A CPU goes idle: does it walk?
    pub fn newly(&self, rule: Walks, cpu: &Idleness) -> bool {
        rule.load && cpu.mean >= MIGRATION_COST && self.blocked && self.ticks[0] >= self.ticks[1]
    }
}

/// The tick at which the next walk for load is due.
pub fn next_walk(now: u128, tick_ns: u128) -> u128 {
    now + (32 * MS).div_ceil(tick_ns)
}
