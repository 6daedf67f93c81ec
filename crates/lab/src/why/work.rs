// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs of policies between two: each once for each seed, however many shares rest on it, and those of a file not at
//! all.

use super::ends::{Ends, Group, flat, groups, joined};
use super::game::{Design, Set};
use super::kept::{Kept, Ran, quantities};
use super::moved::Games;
use super::{Changed, Method, Moved, Player};
use crate::quantity::Quantity;
use crate::run::{Control, Fault, LabError, run_one};
use crate::watch::{Watch, watched};
use pelton_model::Plan;
use pelton_schema::NullSink;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Policies whose plans exist at the same time.
const PLANS_AT_ONCE: usize = 64;
/// Times as long that writing the file of finished runs has to wait as it took.
const WRITE_PART: u32 = 20;
/// Shortest time between two times of writing.
const WRITE_EVERY: Duration = Duration::from_secs(2);
/// Most runs of a request.
const RUNS_MAX: u64 = 200_000;

/// Finished runs of a file.
pub struct Keep<'a> {
    /// Runs that it has.
    pub runs: Kept,
    /// Writes the file anew.
    pub write: &'a (dyn Fn(&Kept) -> Result<(), LabError> + Sync),
}

/// Inputs.
pub struct Question<'a> {
    /// The policies.
    pub ends: &'a Ends,
    /// Seeds.
    pub seeds: &'a [u64],
    /// Orders to draw, an even number.
    pub orders: usize,
    /// The number that is asked for.
    pub metric: &'static Quantity,
    /// Runs at the same time, 0 = one per CPU.
    pub jobs: usize,
}

/// Answer: players, numbers and what has to be known.
pub(crate) struct Found {
    pub method: Method,
    pub players: Vec<Player>,
    pub numbers: Vec<Moved>,
    pub unknown: Vec<&'static str>,
    pub remarks: [Option<String>; 2],
}

/// Runs everything and divides it into shares.
pub(crate) fn ask(question: &Question<'_>, keep: Option<Keep<'_>>, watch: &dyn Watch) -> Result<Found, LabError> {
    let mut work = Work::new(question, keep, watch);
    let differences = question.ends.differences.len();
    let groups = groups(differences, &|set| question.ends.plan(set).err());
    work.affordable(groups.len())?;
    let (none, all) = (Set::none(differences), Set::all(differences));
    work.run(&[none.clone(), all.clone()], "both policies")?;
    work.has_metric(&[none, all])?;
    let mut units = work.units(groups)?;
    let design = loop {
        let design = Design::new(units.len(), question.orders);
        let sets = design.sets();
        let flats: Vec<Set> = sets.iter().map(|set| flat(&units, set, differences)).collect();
        let Some(wrong) = flats.iter().position(|set| question.ends.plan(set).is_err()) else {
            work.run(&flats, "combinations")?;
            break design;
        };
        units = joined(&units, &sets[wrong], differences, &|set| question.ends.plan(set).err());
        work.singles(&units)?;
    };
    work.found(&units, &design)
}

struct Work<'a> {
    question: &'a Question<'a>,
    watch: &'a dyn Watch,
    store: Mutex<Store<'a>>,
    /// Hash of the plan of each set of differences that ran.
    hashes: BTreeMap<Set, u64>,
}

/// Finished runs, and when they were last written.
struct Store<'a> {
    kept: Kept,
    write: Option<&'a (dyn Fn(&Kept) -> Result<(), LabError> + Sync)>,
    written: Instant,
    took: Duration,
    is_new: bool,
}

impl Store<'_> {
    fn add(&mut self, key: (u64, u64), ran: Ran) -> Result<(), LabError> {
        self.kept.runs.insert(key, ran);
        self.is_new = true;
        let is_due = self.written.elapsed() >= WRITE_EVERY.max(self.took * WRITE_PART);
        if is_due { self.save() } else { Ok(()) }
    }

    fn save(&mut self) -> Result<(), LabError> {
        let Some(write) = self.write.filter(|_| self.is_new) else { return Ok(()) };
        let begin = Instant::now();
        write(&self.kept)?;
        (self.written, self.is_new) = (Instant::now(), false);
        self.took = begin.elapsed();
        Ok(())
    }
}

impl<'a> Work<'a> {
    fn new(question: &'a Question<'a>, keep: Option<Keep<'a>>, watch: &'a dyn Watch) -> Work<'a> {
        let (kept, write) = keep.map_or_else(Default::default, |keep| (keep.runs, Some(keep.write)));
        let store = Store { kept, write, written: Instant::now(), took: Duration::ZERO, is_new: false };
        Work { question, watch, store: Mutex::new(store), hashes: BTreeMap::new() }
    }

    /// Refuses more runs than anyone waits for.
    fn affordable(&self, players: usize) -> Result<(), LabError> {
        let (players, orders) = (players as u64, self.question.orders as u64);
        let policies = 2 + 2 * players + orders.saturating_mul(players.saturating_sub(1));
        let runs = policies.saturating_mul(self.question.seeds.len() as u64);
        if runs <= RUNS_MAX {
            return Ok(());
        }
        let seeds = self.question.seeds.len();
        let reason = format!(
            "{players} switches differ: with {orders} orders and {seeds} seeds that may be {runs} runs, and {RUNS_MAX} are allowed"
        );
        Err(LabError::refused(Fault::Request, reason, "fewer --seeds or --orders"))
    }

    /// Every set with every seed; what has run before is not run again.
    fn run(&mut self, sets: &[Set], what: &str) -> Result<(), LabError> {
        let sets: BTreeSet<&Set> = sets.iter().filter(|set| !self.hashes.contains_key(set)).collect();
        let sets: Vec<&Set> = sets.into_iter().collect();
        let mut missing = Vec::new();
        let mut length_ns = 0;
        for &set in &sets {
            let plan = self.plan(set)?;
            length_ns = plan.config.duration_ns;
            self.hashes.insert(set.clone(), plan.hash);
            let seeds = self.question.seeds.iter().filter(|&&seed| !self.has((plan.hash, seed)));
            let seeds: Vec<u64> = seeds.copied().collect();
            missing.extend((!seeds.is_empty()).then_some((set, seeds)));
        }
        let runs: usize = missing.iter().map(|(_, seeds)| seeds.len()).sum();
        let total_ns = length_ns.saturating_mul(runs as u64);
        if runs == 0 {
            return Ok(());
        }
        let ran = watched(self.watch, total_ns, what, |control| {
            missing.chunks(PLANS_AT_ONCE).try_for_each(|sets| self.run_some(sets, control))
        });
        // What is finished is kept, whatever else went wrong.
        let saved = self.store().save();
        ran.map_err(|error| self.interrupted(error))?;
        saved
    }

    fn plan(&self, set: &Set) -> Result<Plan, LabError> {
        self.question.ends.plan(set).map_err(LabError::input)
    }

    fn store(&self) -> std::sync::MutexGuard<'_, Store<'a>> {
        // Runs are added whole.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, key: (u64, u64)) -> bool {
        self.store().kept.runs.contains_key(&key)
    }

    fn run_some(&self, sets: &[(&Set, Vec<u64>)], control: Control<'_>) -> Result<(), LabError> {
        let plans = sets.iter().map(|(set, _)| self.plan(set)).collect::<Result<Vec<Plan>, _>>()?;
        let runs: Vec<(&Plan, u64)> =
            plans.iter().zip(sets).flat_map(|(plan, (_, seeds))| seeds.iter().map(move |&seed| (plan, seed))).collect();
        let one = |&(plan, seed): &(&Plan, u64)| {
            let ran = Ran::of(&run_one(plan, seed, NullSink, control)?);
            self.store().add((plan.hash, seed), ran)
        };
        match rayon::ThreadPoolBuilder::new().num_threads(self.question.jobs).build() {
            // The first error in the order of runs, which does not depend on timing.
            Ok(pool) => {
                let all: Vec<_> = pool.install(|| runs.par_iter().with_max_len(1).map(one).collect());
                all.into_iter().collect()
            }
            Err(_) => runs.iter().try_for_each(one),
        }
    }

    /// Words about what an interruption leaves.
    fn interrupted(&self, error: LabError) -> LabError {
        let store = self.store();
        match error {
            LabError::Interrupted { .. } if store.write.is_some() => LabError::Stopped(format!(
                "interrupted: no result; {} finished runs are kept, and the same command goes on from there",
                store.kept.runs.len()
            )),
            other => other,
        }
    }

    /// Reads finished runs of a set, in the order of the seeds.
    fn read<T>(&self, set: &Set, read: impl Fn(&Ran) -> T) -> Vec<T> {
        let hash = self.hashes.get(set).copied().unwrap_or_default();
        let store = self.store();
        self.question.seeds.iter().filter_map(|&seed| store.kept.runs.get(&(hash, seed))).map(read).collect()
    }

    fn prints(&self, set: &Set) -> Vec<u64> {
        self.read(set, |ran| ran.print)
    }

    /// Refuses a number that the runs of these sets do not have.
    fn has_metric(&self, sets: &[Set]) -> Result<(), LabError> {
        let known = |at: usize| sets.iter().all(|set| self.read(set, |ran| ran.values[at].is_some()).iter().all(|&is| is));
        let metric = self.question.metric;
        let at = quantities().position(|quantity| quantity.name == metric.name);
        if at.is_some_and(known) {
            return Ok(());
        }
        let reason = match (metric.unit == "mJ", metric.rests_on_need()) {
            (true, _) => "the platform does not know the power of all its operating points",
            (_, true) => "what is needed is worked out for governor=schedutil only",
            _ => "no task of the workload measures it",
        };
        let others: Vec<&str> =
            quantities().enumerate().filter(|(at, _)| known(*at)).map(|(_, quantity)| quantity.name).collect();
        let hint = format!("--metric takes one of those that are known here: {}", others.join(", "));
        Err(LabError::refused(Fault::Input, format!("`{}` is not known: {reason}", metric.name), &hint))
    }

    /// Sets with one player alone, and with one left out.
    fn singles(&mut self, units: &[Group]) -> Result<(), LabError> {
        let count = units.len();
        let alone = (0..count).map(|unit| Set::none(count).with(unit));
        let sets = alone.chain((0..count).map(|unit| Set::all(count).without(unit)));
        let flats: Vec<Set> = sets.map(|set| flat(units, &set, self.question.ends.differences.len())).collect();
        self.run(&flats, "each switch alone and left out")
    }

    /// True where the members of a group, all together, change no run: neither of the first policy nor, left out, of
    /// the second.
    fn is_silent(&self, members: &[usize]) -> bool {
        let differences = self.question.ends.differences.len();
        let (none, all) = (Set::none(differences), Set::all(differences));
        let alone = members.iter().fold(none.clone(), |set, &member| set.with(member));
        let left_out = members.iter().fold(all.clone(), |set, &member| set.without(member));
        self.prints(&alone) == self.prints(&none) && self.prints(&left_out) == self.prints(&all)
    }

    /// Players: groups that change some run, and bundles of those that do not.
    fn units(&mut self, groups: Vec<Group>) -> Result<Vec<Group>, LabError> {
        self.singles(&groups)?;
        let (silent, mut units): (Vec<Group>, Vec<Group>) =
            groups.into_iter().partition(|group| self.is_silent(&group.members));
        let mut open = vec![silent];
        while let Some(mut bundle) = open.pop() {
            if bundle.len() <= 1 || self.is_silent_bundle(&bundle)? {
                units.extend(bundled(&bundle));
                continue;
            }
            let half = bundle.split_off(bundle.len() / 2);
            open.extend([half, bundle]);
        }
        units.sort_by(|a, b| a.members.cmp(&b.members));
        Ok(units)
    }

    fn is_silent_bundle(&mut self, bundle: &[Group]) -> Result<bool, LabError> {
        let differences = self.question.ends.differences.len();
        let members: Vec<usize> = bundle.iter().flat_map(|group| group.members.clone()).collect();
        let alone = members.iter().fold(Set::none(differences), |set, &member| set.with(member));
        let left_out = members.iter().fold(Set::all(differences), |set, &member| set.without(member));
        if [&alone, &left_out].iter().any(|set| self.question.ends.plan(set).is_err()) {
            return Ok(false);
        }
        self.run(&[alone, left_out], "the others together")?;
        Ok(self.is_silent(&members))
    }

    /// Shares of everything that ran.
    fn found(&self, units: &[Group], design: &Design) -> Result<Found, LabError> {
        let differences = self.question.ends.differences.len();
        let sets = self.sets_by_unit(units, design);
        let names: Vec<String> = units.iter().map(|unit| self.name(unit)).collect();
        let changes = |unit: usize| {
            let print = |set: &Set| sets.get(set).map(|flat| self.prints(flat));
            let pairs = sets.keys().filter(|set| !set.has(unit)).map(|set| (print(set), print(&set.with(unit))));
            pairs.into_iter().any(|(before, after)| after.is_some() && before != after)
        };
        let player = |(at, unit): (usize, &Group)| self.player(unit, names[at].clone(), changes(at));
        let (mut numbers, mut unknown) = (Vec::new(), Vec::new());
        for (at, quantity) in quantities().enumerate() {
            let column = |set: &Set| self.read(set, |ran| ran.values[at]).into_iter().collect::<Option<Vec<f64>>>();
            let values: Option<BTreeMap<&Set, Vec<f64>>> =
                sets.iter().map(|(set, flat)| Some((set, column(flat)?))).collect();
            let Some(values) = values else {
                unknown.push(quantity.name);
                continue;
            };
            let value = |set: &Set, seed: usize| values.get(set).and_then(|own| own.get(seed)).copied().unwrap_or(0.0);
            let note = self.note(quantity);
            let (names, seeds) = (&names[..], self.question.seeds.len());
            numbers.push(Games { quantity, design, names, seeds, value: &value }.moved(note));
        }
        self.has_metric(&sets.values().cloned().collect::<Vec<_>>())?;
        let remark = |set: &Set| self.read(set, |ran| ran.remark.clone()).into_iter().flatten().next();
        let policies = self.hashes.values().collect::<BTreeSet<_>>().len();
        Ok(Found {
            method: Method {
                exact: design.orders().is_none(),
                orders: design.orders().unwrap_or(0),
                policies,
                runs: policies * self.question.seeds.len(),
            },
            players: units.iter().enumerate().map(player).collect(),
            numbers,
            unknown,
            remarks: [Set::none(differences), Set::all(differences)].map(|set| remark(&set)),
        })
    }

    /// Sets of players that ran, each with its set of differences.
    fn sets_by_unit(&self, units: &[Group], design: &Design) -> BTreeMap<Set, Set> {
        let count = units.len();
        let alone = (0..count).map(|unit| Set::none(count).with(unit));
        let left_out = (0..count).map(|unit| Set::all(count).without(unit));
        let sets = design.sets().into_iter().chain(alone).chain(left_out);
        let differences = self.question.ends.differences.len();
        sets.map(|set| (set.clone(), flat(units, &set, differences))).collect()
    }

    fn note(&self, quantity: &Quantity) -> Option<String> {
        let none = Set::none(self.question.ends.differences.len());
        let gap = || self.read(&none, |ran| ran.gap.clone()).into_iter().flatten().next();
        quantity.rests_on_power().then(gap).flatten()
    }

    fn name(&self, unit: &Group) -> String {
        let named: Vec<&str> =
            unit.members.iter().map(|&member| self.question.ends.differences[member].name.as_str()).collect();
        if unit.because.as_deref() == Some(NOT_APART) { format!("{} others", named.len()) } else { named.join(" + ") }
    }

    fn player(&self, unit: &Group, name: String, changes_runs: bool) -> Player {
        let changed = |&member: &usize| {
            let difference = &self.question.ends.differences[member];
            Changed { switch: difference.name.clone(), from: difference.from.clone(), to: difference.to.clone() }
        };
        let switches = unit.members.iter().map(changed).collect();
        Player { name, switches, together: unit.because.clone(), changes_runs }
    }
}

/// Reason of a bundle.
const NOT_APART: &str = "none of them changes a run alone, left out, or with the others here";

/// One player of several that change no run.
fn bundled(bundle: &[Group]) -> Option<Group> {
    let mut members: Vec<usize> = bundle.iter().flat_map(|group| group.members.clone()).collect();
    members.sort_unstable();
    match bundle {
        [] => None,
        [one] => Some(one.clone()),
        _ => Some(Group { members, because: Some(NOT_APART.to_owned()) }),
    }
}
