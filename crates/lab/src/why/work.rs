// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs of policies between two: each once for each seed, however many shares rest on it, and those of a file not at
//! all.

use super::ends::{Ends, Group, flat, groups, joined};
use super::game::{Design, Set, prefixes};
use super::kept::{Kept, Ran, quantities};
use super::moved::Games;
use super::{Changed, Method, Moved, Player};
use crate::measure::quantity::Quantity;
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

/// Writer of finished runs.
pub type Write<'a> = dyn Fn(&Kept) -> Result<(), LabError> + Sync + 'a;

/// Finished runs of a file.
pub struct Keep<'a> {
    /// Runs that it has.
    pub runs: Kept,
    /// Writes the file anew.
    pub write: &'a Write<'a>,
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
    let mut groups = groups(differences, &|set| question.ends.refused(set));
    work.affordable(groups.len())?;
    let ends = [Set::none(differences), Set::all(differences)];
    work.goes_on(&ends)?;
    work.run(&ends, "both policies")?;
    work.has_metric(&ends)?;
    loop {
        work.singles(&groups)?;
        match work.divided(&groups)? {
            Divided::Done(units, design, ran) => return work.found(&units, &design, &ran),
            // No policy can be so: what does not go together is one player from now on.
            Divided::Refused(set) => groups = joined(&groups, &set, differences, &|set| question.ends.refused(set)),
        }
    }
}

/// Sets of players that a division needs, each with the set of differences that ran for it.
type Runs = BTreeMap<Set, Set>;

/// Outcome of a division.
enum Divided {
    /// Players, sets, and what ran.
    Done(Vec<Group>, Design, Runs),
    /// A set of groups that no policy can have.
    Refused(Set),
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
    write: Option<&'a Write<'a>>,
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

    /// Refuses more runs than a user would wait for.
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

    /// Refuses kept runs of a program with other rules: of each of these sets, one that is kept is done again.
    fn goes_on(&self, sets: &[Set]) -> Result<(), LabError> {
        let Some(&seed) = self.question.seeds.first() else { return Ok(()) };
        for set in sets {
            let plan = self.question.ends.plan(set);
            let Some(kept) = self.store().kept.runs.get(&(plan.hash, seed)).cloned() else { continue };
            let run = |control: Control<'_>| Ok(Ran::of(&run_one(&plan, seed, NullSink, control)?));
            if watched(self.watch, plan.config.duration_ns, "a kept run again", run)? != kept {
                let reason =
                    format!("kept runs are of a program with other rules: seed {seed} gives another result now");
                return Err(LabError::refused(
                    Fault::Input,
                    reason,
                    "remove the file of --resume, or name another one",
                ));
            }
        }
        Ok(())
    }

    /// Every set with every seed; what has run before is not run again.
    fn run(&mut self, sets: &[Set], what: &str) -> Result<(), LabError> {
        let sets: BTreeSet<&Set> = sets.iter().filter(|set| !self.hashes.contains_key(set)).collect();
        let sets: Vec<&Set> = sets.into_iter().collect();
        let mut missing = Vec::new();
        let mut length_ns = 0;
        for &set in &sets {
            let plan = self.question.ends.plan(set);
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
        // Finished runs are kept, whatever else went wrong.
        let saved = self.store().save();
        ran.map_err(|error| self.interrupted(error))?;
        saved
    }

    fn store(&self) -> std::sync::MutexGuard<'_, Store<'a>> {
        // Runs are added whole.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, key: (u64, u64)) -> bool {
        self.store().kept.runs.contains_key(&key)
    }

    fn run_some(&self, sets: &[(&Set, Vec<u64>)], control: Control<'_>) -> Result<(), LabError> {
        let plans: Vec<Plan> = sets.iter().map(|(set, _)| self.question.ends.plan(set)).collect();
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
        let known =
            |at: usize| sets.iter().all(|set| self.read(set, |ran| ran.values[at].is_some()).iter().all(|&is| is));
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
    fn singles(&mut self, groups: &[Group]) -> Result<(), LabError> {
        let flats: Vec<Set> = singles(groups.len()).map(|set| self.flat(groups, &set)).collect();
        self.run(&flats, "each switch alone and left out")
    }

    fn flat(&self, groups: &[Group], set: &Set) -> Set {
        flat(groups, set, self.question.ends.differences.len())
    }

    /// Divides: exactly among all groups where they are few, or with those that change no run, alone or left out, as
    /// one; else by orders.
    fn divided(&mut self, groups: &[Group]) -> Result<Divided, LabError> {
        let silent: Vec<bool> = groups.iter().map(|group| self.is_silent(group)).collect();
        for units in [groups.to_vec(), bundled(groups, &silent)] {
            let design = Design::new(units.len(), self.question.orders);
            if design.orders().is_some() {
                continue;
            }
            let sets: Vec<Set> = design.sets().iter().map(|set| self.flat(&units, set)).collect();
            if let Some(wrong) = self.refused(groups, &sets) {
                return Ok(Divided::Refused(wrong));
            }
            self.run(&sets, "combinations")?;
            let ran: Runs = design.sets().into_iter().zip(sets).collect();
            let is_bundle = |at: &usize| units[*at].because.as_deref() == Some(NOT_APART);
            if !(0..units.len()).filter(is_bundle).any(|unit| self.changes(&ran, unit)) {
                return Ok(Divided::Done(units, design, ran));
            }
        }
        let design = Design::drawn(groups.len(), self.question.orders);
        let sets: Vec<Set> = design.sets().iter().map(|set| self.flat(groups, set)).collect();
        if let Some(wrong) = self.refused(groups, &sets) {
            return Ok(Divided::Refused(wrong));
        }
        let ran = self.walked(groups, &silent, design.orders().unwrap_or_default())?;
        Ok(Divided::Done(groups.to_vec(), design, ran))
    }

    /// The first of these sets of differences that no policy can have, as a set of groups.
    fn refused(&self, groups: &[Group], sets: &[Set]) -> Option<Set> {
        let wrong = sets.iter().find(|set| self.question.ends.refused(set).is_some())?;
        let taken = (0..groups.len()).filter(|&group| groups[group].members.iter().all(|&member| wrong.has(member)));
        Some(taken.fold(Set::none(groups.len()), |set, group| set.with(group)))
    }

    /// True for a group that changes no run: neither of the first policy nor, left out, of the second.
    fn is_silent(&self, group: &Group) -> bool {
        let differences = self.question.ends.differences.len();
        let (none, all) = (Set::none(differences), Set::all(differences));
        let alone = group.members.iter().fold(none.clone(), |set, &member| set.with(member));
        let left_out = group.members.iter().fold(all.clone(), |set, &member| set.without(member));
        self.prints(&alone) == self.prints(&none) && self.prints(&left_out) == self.prints(&all)
    }

    /// Goes along orders. A stretch of silent groups whose ends have equal runs is not looked into: nothing in it
    /// changes a run, unless what two of them do cancels out to the last number.
    fn walked(&mut self, groups: &[Group], silent: &[bool], orders: &[Vec<usize>]) -> Result<Runs, LabError> {
        let count = groups.len();
        let ways: Vec<Vec<Set>> = orders.iter().map(|order| prefixes(count, order).collect()).collect();
        let flats: Vec<Vec<Set>> =
            ways.iter().map(|way| way.iter().map(|set| self.flat(groups, set)).collect()).collect();
        let mut open = Vec::new();
        for (way, order) in orders.iter().enumerate() {
            let is_known = |&at: &usize| at == 0 || at == count || !silent[order[at - 1]] || !silent[order[at]];
            let known: Vec<usize> = (0..=count).filter(is_known).collect();
            open.extend(known.windows(2).map(|ends| Stretch { way, from: ends[0], to: ends[1] }));
        }
        let ends = |open: &[Stretch]| -> Vec<Set> {
            open.iter().flat_map(|s| [s.from, s.to].map(|at| flats[s.way][at].clone())).collect()
        };
        let mut ran = Runs::new();
        while !open.is_empty() {
            self.run(&ends(&open), "orders")?;
            let mut halves = Vec::new();
            for stretch @ Stretch { way, from, to } in open {
                let (begin, end) = (&flats[way][from], &flats[way][to]);
                if to - from > 1 && self.prints(begin) != self.prints(end) {
                    halves.extend(stretch.halves());
                    continue;
                }
                ran.extend((from..to).map(|at| (ways[way][at].clone(), begin.clone())));
            }
            open = halves;
        }
        let all = (Set::all(count), self.flat(groups, &Set::all(count)));
        // A set that ran in another order stands for itself.
        let own = |(set, taken): (Set, Set)| {
            let own = self.flat(groups, &set);
            let is_run = self.hashes.contains_key(&own);
            (set, if is_run { own } else { taken })
        };
        Ok(ran.into_iter().chain([all]).map(own).collect())
    }

    /// True where a player changes a run, whatever else is taken.
    fn changes(&self, ran: &Runs, player: usize) -> bool {
        let pairs = ran.iter().filter(|(set, _)| !set.has(player));
        let mut pairs = pairs.filter_map(|(set, before)| Some((before, ran.get(&set.with(player))?)));
        pairs.any(|(before, after)| before != after && self.prints(before) != self.prints(after))
    }

    /// Shares of everything that ran.
    fn found(&self, units: &[Group], design: &Design, ran: &Runs) -> Result<Found, LabError> {
        let differences = self.question.ends.differences.len();
        let mut ran = ran.clone();
        ran.extend(singles(units.len()).map(|set| (set.clone(), self.flat(units, &set))));
        let changes: Vec<bool> = (0..units.len()).map(|unit| self.changes(&ran, unit)).collect();
        let (players, names) = self.players(units, &changes);
        let (mut numbers, mut unknown) = (Vec::new(), Vec::new());
        for (at, quantity) in quantities().enumerate() {
            let column = |set: &Set| self.read(set, |ran| ran.values[at]).into_iter().collect::<Option<Vec<f64>>>();
            let values: Option<BTreeMap<&Set, Vec<f64>>> =
                ran.iter().map(|(set, flat)| Some((set, column(flat)?))).collect();
            let Some(values) = values else {
                unknown.push(quantity.name);
                continue;
            };
            let value = |set: &Set, seed: usize| values[set][seed];
            let (note, seeds) = (self.note(quantity), self.question.seeds.len());
            numbers.push(Games { quantity, design, names: &names, seeds, value: &value }.moved(note));
        }
        self.has_metric(&ran.values().cloned().collect::<Vec<_>>())?;
        let remark = |set: &Set| self.read(set, |ran| ran.remark.clone()).into_iter().flatten().next();
        let policies = self.hashes.values().collect::<BTreeSet<_>>().len();
        let orders = design.orders().map_or(0, <[_]>::len);
        let method = Method { exact: orders == 0, orders, policies, runs: policies * self.question.seeds.len() };
        let remarks = [Set::none(differences), Set::all(differences)].map(|set| remark(&set));
        Ok(Found { method, players, numbers, unknown, remarks })
    }

    fn note(&self, quantity: &Quantity) -> Option<String> {
        let none = Set::none(self.question.ends.differences.len());
        let gap = || self.read(&none, |ran| ran.gap.clone()).into_iter().flatten().next();
        quantity.rests_on_power().then(gap).flatten()
    }

    /// Players, those that changed no run as one; and for each unit the name of its player, where it stands for it.
    fn players(&self, units: &[Group], changes: &[bool]) -> (Vec<Player>, Vec<Option<String>>) {
        let quiet: Vec<bool> = changes.iter().map(|changes| !changes).collect();
        let bundled = bundled(units, &quiet);
        let first_quiet = quiet.iter().position(|&quiet| quiet);
        let changes_runs = |group: &Group| first_quiet.is_none_or(|at| !group.members.contains(&units[at].members[0]));
        let players: Vec<Player> = bundled.iter().map(|group| self.player(group, changes_runs(group))).collect();
        let name = |(at, unit): (usize, &Group)| {
            let stands = changes[at] || first_quiet == Some(at);
            let of = bundled.iter().position(|group| group.members.contains(&unit.members[0]));
            of.filter(|_| stands).map(|of| players[of].name.clone())
        };
        let names = units.iter().enumerate().map(name).collect();
        (players, names)
    }

    fn player(&self, unit: &Group, changes_runs: bool) -> Player {
        let changed = |&member: &usize| {
            let difference = &self.question.ends.differences[member];
            Changed { switch: difference.name.clone(), from: difference.from.clone(), to: difference.to.clone() }
        };
        let switches: Vec<Changed> = unit.members.iter().map(changed).collect();
        let name = if unit.because.as_deref() == Some(NOT_APART) {
            format!("{} others", switches.len())
        } else {
            switches.iter().map(|changed| changed.switch.as_str()).collect::<Vec<_>>().join(" + ")
        };
        Player { name, switches, together: unit.because.clone(), changes_runs }
    }
}

/// Part of an order, by its ends.
#[derive(Clone, Copy)]
struct Stretch {
    way: usize,
    from: usize,
    to: usize,
}

impl Stretch {
    fn halves(self) -> [Stretch; 2] {
        let middle = self.from.midpoint(self.to);
        [Stretch { to: middle, ..self }, Stretch { from: middle, ..self }]
    }
}

/// Sets with one player alone, and with one left out.
fn singles(players: usize) -> impl Iterator<Item = Set> {
    let alone = (0..players).map(move |player| Set::none(players).with(player));
    alone.chain((0..players).map(move |player| Set::all(players).without(player)))
}

/// Reason of a bundle.
const NOT_APART: &str = "no run tells them apart: none of them changes one";

/// The groups, those that are named as one, in the order of their first members.
fn bundled(groups: &[Group], named: &[bool]) -> Vec<Group> {
    let (these, mut others): (Vec<_>, Vec<_>) = groups.iter().cloned().zip(named).partition(|(_, named)| **named);
    if these.len() < 2 {
        return groups.to_vec();
    }
    let mut members: Vec<usize> = these.into_iter().flat_map(|(group, _)| group.members).collect();
    members.sort_unstable();
    others.push((Group { members, because: Some(NOT_APART.to_owned()) }, &true));
    others.sort_by(|(a, _), (b, _)| a.members.cmp(&b.members));
    others.into_iter().map(|(group, _)| group).collect()
}
