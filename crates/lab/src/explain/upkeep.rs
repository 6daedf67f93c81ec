// SPDX-License-Identifier: GPL-2.0-or-later
//! Catches what a kernel does without being asked by a task: one balance of a domain, one update of blocked load, or
//! one reading of a thermal zone and what its governor made of it.

use pelton_core::{GROUP_TYPES, Lb, LbEnv, LbGroup, NO_CPU, lbf, value};
use pelton_model::Plan;
use pelton_schema::{
    Balance, BalanceEnd, Event, Sink, Walk, WalkWhy, end_words, idle_words, migration_words, walk_words,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Conditions on the wanted balances.
#[derive(Clone, Copy, Debug, Default)]
pub struct WantedBalance {
    /// For this CPU; of updates: made by this CPU.
    pub cpu: Option<u32>,
    /// Only balances that moved a task, or stopped a running one.
    pub moved: bool,
}

/// Keeps the last balance and the last update that fit.
#[derive(Debug, Default)]
pub struct BalanceSink {
    wanted: WantedBalance,
    /// The last balance, and how many fit.
    pub balance: (Option<Kept>, u64),
    /// The last update and its time, and how many fit.
    pub walk: (Option<(u64, Walk)>, u64),
    /// Updates that fit: their queues and their cost, by reason.
    sums: [(u64, u64, u64); 4],
}

/// State and result of one balance.
#[derive(Clone, Debug)]
pub struct Kept {
    time_ns: u64,
    env: LbEnv,
    found: Box<Lb>,
    imbalance: i64,
    /// CPUs of the domain, of the CPU's own group and of the busiest.
    cpus: [Vec<u32>; 3],
    moved: u32,
    end: BalanceEnd,
}

impl BalanceSink {
    /// For what is wanted.
    #[must_use]
    pub fn of(wanted: WantedBalance) -> Self {
        Self { wanted, ..Self::default() }
    }
}

impl Sink for BalanceSink {
    const BALANCES: bool = true;

    fn event(&mut self, _: u64, _: &Event) {}

    fn balance(&mut self, time_ns: u64, b: &Balance<'_>) {
        let moved = b.moved > 0 || b.end == BalanceEnd::Active;
        if self.wanted.cpu.is_some_and(|cpu| cpu != b.env.dst_cpu) || (self.wanted.moved && !moved) {
            return;
        }
        self.balance.1 += 1;
        let (env, found) = (*b.env, Box::new(*b.found));
        let (imbalance, moved, end) = (b.imbalance, b.moved, b.end);
        let cpus = [b.span, b.found.local.cpus, b.found.busiest.cpus].map(|span| b.cpus(span).collect());
        self.balance.0 = Some(Kept { time_ns, env, found, imbalance, cpus, moved, end });
    }

    fn walk(&mut self, time_ns: u64, walk: &Walk) {
        if self.wanted.cpu.is_some_and(|cpu| cpu != walk.by) {
            return;
        }
        self.walk.1 += 1;
        self.walk.0 = Some((time_ns, *walk));
        let sum = &mut self.sums[REASONS.iter().position(|why| *why == walk.why).unwrap_or(0)];
        *sum = (sum.0 + 1, sum.1 + walk.queues, sum.2 + walk.cost_ns);
    }
}

const REASONS: [WalkWhy; 4] = [WalkWhy::Periodic, WalkWhy::GoesIdle, WalkWhy::Search, WalkWhy::IdleWalk];

/// A group of CPUs as a balance saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Group {
    /// `own`: the one of the CPU that is balanced for; `busiest`: the one to take from.
    pub role: &'static str,
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// Type, as `has spare` or `overloaded`.
    pub group_type: &'static str,
    /// Tasks of all classes.
    pub running: u32,
    /// Fair tasks.
    pub fair: u32,
    /// Idle CPUs.
    pub idle_cpus: u32,
    /// Load, weight.
    pub load: u64,
    /// Utilization.
    pub util: u64,
    /// Capacity.
    pub capacity: u32,
    /// Load of a task that is too big for its CPU.
    pub misfit_load: u64,
}

/// One balance of one domain for one CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BalanceExplanation {
    /// Time, ns since the start of the run.
    pub time_ns: u64,
    /// CPU for which it is done.
    pub cpu: u32,
    /// Its domain, 0 the smallest.
    pub level: u32,
    /// CPUs of the domain.
    pub domain: Vec<u32>,
    /// State of the CPU: `busy`, `idle` or `going idle`.
    pub cpu_is: &'static str,
    /// Its group and the busiest one, as far as it looked.
    pub groups: Vec<Group>,
    /// CPU that is taken from.
    pub busiest_cpu: Option<u32>,
    /// Measure of the imbalance: `load`, `utilization`, `tasks`, `misfit task` or `tasks that prefer the cache`; none
    /// without a busiest CPU.
    pub migration: Option<&'static str>,
    /// Amount that was to be moved.
    pub imbalance: Option<i64>,
    /// Tasks that moved.
    pub moved: u32,
    /// Tasks that may not run on the CPU were met.
    pub pinned: bool,
    /// Balances of this domain before it that moved nothing.
    pub failed_before: u32,
    /// Result of the balance.
    pub end: &'static str,
    /// The number of this balance among those that fit.
    pub number: u64,
}

/// Puts a balance into words and numbers; `number`: how many fitted.
#[must_use]
pub fn explain_balance(kept: &Kept, number: u64) -> BalanceExplanation {
    let (env, found) = (&kept.env, &kept.found);
    let has_source = env.src_cpu != NO_CPU;
    let [domain, own, busiest] = &kept.cpus;
    let groups = [("own", &found.local, own), ("busiest", &found.busiest, busiest)];
    BalanceExplanation {
        time_ns: kept.time_ns,
        cpu: env.dst_cpu,
        level: env.level,
        domain: domain.clone(),
        cpu_is: idle_words(env.idle),
        groups: groups.iter().filter(|(_, g, _)| g.cpus != 0).map(|(role, g, cpus)| group(role, g, cpus)).collect(),
        busiest_cpu: has_source.then_some(env.src_cpu),
        migration: has_source.then(|| migration_words(found.migration)),
        imbalance: has_source.then_some(kept.imbalance),
        moved: kept.moved,
        pinned: env.flags & lbf::SOME_PINNED != 0,
        failed_before: env.nr_balance_failed,
        end: end_words(kept.end),
        number,
    }
}

fn group(role: &'static str, g: &LbGroup, cpus: &[u32]) -> Group {
    Group {
        role,
        cpus: cpus.to_vec(),
        group_type: GROUP_TYPES.get(g.r#type as usize).copied().unwrap_or("?"),
        running: g.nr_running,
        fair: g.h_nr_running,
        idle_cpus: g.idle_cpus,
        load: g.load,
        util: g.util,
        capacity: g.capacity,
        misfit_load: g.misfit_load,
    }
}

/// One update of blocked load, and all that fit together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WalkExplanation {
    /// Time, ns since the start of the run.
    pub time_ns: u64,
    /// CPU whose load is updated.
    pub of_cpu: u32,
    /// CPU that does it.
    pub by_cpu: u32,
    /// Queues that were looked at: the CPU's own and those of groups with load.
    pub queues: u64,
    /// Time that the update took, ns; 0 where the platform gives no costs.
    pub cost_ns: u64,
    /// Reason of the update.
    pub why: &'static str,
    /// Those of the run that fit, by reason.
    pub reasons: Vec<Reason>,
}

/// All updates for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reason {
    /// The reason.
    pub why: &'static str,
    /// Number of updates.
    pub updates: u64,
    /// Queues that were looked at.
    pub queues: u64,
    /// Time that the updates took, ns.
    pub cost_ns: u64,
}

/// Puts the last update into words and numbers; `None`: there was none.
#[must_use]
pub fn explain_walk(sink: &BalanceSink) -> Option<WalkExplanation> {
    let (time_ns, walk) = sink.walk.0?;
    let reason = |(why, &(updates, queues, cost_ns)): (&WalkWhy, &(u64, u64, u64))| Reason {
        why: walk_words(*why),
        updates,
        queues,
        cost_ns,
    };
    Some(WalkExplanation {
        time_ns,
        of_cpu: walk.cpu,
        by_cpu: walk.by,
        queues: walk.queues,
        cost_ns: walk.cost_ns,
        why: walk_words(walk.why),
        reasons: REASONS.iter().zip(&sink.sums).map(reason).filter(|r| r.updates > 0).collect(),
    })
}

/// Keeps the last reading that fits.
#[derive(Debug, Default)]
pub struct ThermalSink {
    /// Only readings that changed a cooling state.
    changed: bool,
    /// Only zones of this frequency domain.
    zone: Option<u32>,
    power: Option<Power>,
    current: Option<Reading>,
    kept: Option<Reading>,
    count: u64,
    /// Present state and limit of each domain.
    states: Vec<(u32, u32)>,
}

/// Cooling state, and the limit that it stands for, kHz.
type Cooled = (u32, u32);

/// A reading.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    time_ns: u64,
    zone: u32,
    temp_mc: i64,
    last_mc: i64,
    trips_reached: u32,
    passive: bool,
    power: Option<Power>,
    /// Domain, state and limit before, and now.
    changes: Vec<(u32, Cooled, Cooled)>,
    /// Of all domains, after it.
    states: Vec<(u32, u32)>,
}

/// Powers that power_allocator reckoned with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Power {
    /// Power that the domains take now, mW.
    pub requested_mw: u32,
    /// Power that the controller allows, mW.
    pub budget_mw: u32,
    /// Power that they are granted, mW.
    pub granted_mw: u32,
    /// Power that they could take, mW.
    pub max_mw: u32,
    /// Sum of errors, degrees Celsius times readings.
    pub error_sum_c: f64,
}

impl ThermalSink {
    /// For readings of `zone`, or of any, that changed a state, or any.
    #[must_use]
    pub fn of(plan: &Plan, zone: Option<u32>, changed: bool) -> Self {
        let highest = plan.machine.domains.iter().map(|d| (0, d.opps.last().map_or(0, |opp| opp.khz)));
        ThermalSink { changed, zone, states: highest.collect(), ..Self::default() }
    }

    fn close(&mut self) {
        let Some(mut reading) = self.current.take() else { return };
        if self.zone.is_some_and(|zone| zone != reading.zone) || (self.changed && reading.changes.is_empty()) {
            return;
        }
        reading.states.clone_from(&self.states);
        self.count += 1;
        self.kept = Some(reading);
    }

    /// The reading, and how many fitted.
    #[must_use]
    pub fn finish(mut self) -> (Option<Reading>, u64) {
        self.close();
        (self.kept, self.count)
    }
}

impl Sink for ThermalSink {
    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::ThermalPower { requested_mw, granted_mw, budget_mw, max_mw, err_integral, .. } => {
                self.close();
                let error_sum_c = err_integral as f64 / 1024.0 / 1000.0;
                self.power = Some(Power { requested_mw, budget_mw, granted_mw, max_mw, error_sum_c });
            }
            Event::ThermalTemperature { zone, temp_mc, last_mc, trips_reached, passive } => {
                self.close();
                let (power, passive) = (self.power.take(), passive != 0);
                let changes = Vec::new();
                self.current = Some(Reading {
                    time_ns,
                    zone,
                    temp_mc,
                    last_mc,
                    trips_reached,
                    passive,
                    power,
                    changes,
                    states: Vec::new(),
                });
            }
            Event::CdevUpdate { domain, state, max_khz } => {
                let Some(now) = self.states.get_mut(domain as usize) else { return };
                let before = std::mem::replace(now, (state, max_khz));
                if let Some(reading) = &mut self.current {
                    reading.changes.push((domain, before, (state, max_khz)));
                }
            }
            _ => {}
        }
    }
}

/// One reading of a thermal zone.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThermalExplanation {
    /// Time, ns since the start of the run.
    pub time_ns: u64,
    /// Zone.
    pub zone: String,
    /// Governor that cools it.
    pub governor: &'static str,
    /// Temperature, degrees Celsius.
    pub temperature_c: f64,
    /// The reading before.
    pub before_c: f64,
    /// `raising`, `dropping` or `stable`.
    pub trend: &'static str,
    /// Its trips.
    pub trips: Vec<TripExplanation>,
    /// Time until the next reading, ms; none: until the sensor interrupts.
    pub next_ms: Option<u32>,
    /// Powers that the controller reckoned with; none under step_wise, and while it is off.
    pub power: Option<Power>,
    /// Its frequency domains.
    pub domains: Vec<CoolingExplanation>,
    /// The number of this reading among those that fit.
    pub number: u64,
}

/// A trip.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TripExplanation {
    /// Temperature, degrees Celsius.
    pub c: f64,
    /// Hysteresis.
    pub hysteresis_c: f64,
    /// True where it asks for cooling.
    pub reached: bool,
}

/// A frequency domain.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CoolingExplanation {
    /// Name.
    pub domain: String,
    /// Cooling state before.
    pub state_before: u32,
    /// Cooling state from now on.
    pub state: u32,
    /// Upper limit from now on, kHz.
    pub max_khz: u32,
}

/// Puts a reading into words and numbers.
#[must_use]
pub fn explain_reading(kept: &Reading, plan: &Plan, number: u64) -> ThermalExplanation {
    let spec = &plan.machine.thermal_zones[kept.zone as usize];
    let c = |mc: i64| mc as f64 / 1e3;
    let trip = |(at, trip): (usize, &pelton_model::thermal::TripPoint)| TripExplanation {
        c: c(trip.temp_mc.into()),
        hysteresis_c: c(trip.hysteresis_mc.into()),
        reached: (at as u32) < kept.trips_reached,
    };
    let domain = |&d: &u32| {
        let (state, max_khz) = kept.states[d as usize];
        let before = kept.changes.iter().find(|(of, ..)| *of == d).map_or(state, |(_, before, _)| before.0);
        CoolingExplanation {
            domain: plan.machine.domains[d as usize].name.clone(),
            state_before: before,
            state,
            max_khz,
        }
    };
    let poll_ms = if kept.passive { spec.passive_ms } else { spec.polling_ms };
    let by_steps = plan.policy.thermal == value::THERMAL_STEP_WISE;
    ThermalExplanation {
        time_ns: kept.time_ns,
        zone: spec.name.clone(),
        governor: if by_steps { "step_wise" } else { "power_allocator" },
        temperature_c: c(kept.temp_mc),
        before_c: c(kept.last_mc),
        trend: match kept.temp_mc.cmp(&kept.last_mc) {
            std::cmp::Ordering::Less => "dropping",
            std::cmp::Ordering::Equal => "stable",
            std::cmp::Ordering::Greater => "raising",
        },
        trips: spec.trips.iter().enumerate().map(trip).collect(),
        next_ms: (poll_ms > 0).then_some(poll_ms),
        power: kept.power,
        domains: spec.domains.iter().map(domain).collect(),
        number,
    }
}
