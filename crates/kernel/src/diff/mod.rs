// SPDX-License-Identifier: GPL-2.0-or-later
//! A kernel's own code compared with the core: function by function on random states, with the smallest state in which
//! they differ, and the switches of the core that explain all of it.

pub mod kind;
mod program;
mod read;

use crate::Error;
use crate::build::check;
use crate::store::{About, Store};
use program::Program;
pub use read::{Answer, Field, Machine, Setting, State};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Request for a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffRequest {
    /// Name of the kernel.
    pub name: String,
    /// Rules of the core: a profile, and switches behind it, as `6.12,runnable_boost=off`; none: the nearest profile.
    pub against: Option<String>,
    /// States of each operation; of some that take long a part of them.
    pub states: u64,
    /// Seed of the states.
    pub seed: u64,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// Description of the image.
    pub about: About,
    /// Rules of the core.
    pub against: String,
    /// Operations, in the order of the oracle's table.
    pub operations: Vec<Compared>,
    /// Switches that explain it, the best first.
    pub explained: Vec<Explained>,
}

/// Switches beside the rules with which all operations that differ are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Switches: one, or two.
    pub settings: Vec<Setting>,
    /// Other operations, which differ with them; none: the kernel does what the core does with them.
    pub others: Vec<String>,
}

/// Operation that was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Functions of the kernel.
    pub operation: String,
    /// States.
    pub states: u64,
    /// States in which the answers differ.
    pub differ: u64,
    /// Warnings of the kernel's code, `WARN_ON`.
    pub warnings: u64,
    /// Reason why it was not compared to the end.
    pub failed: Option<String>,
    /// Smallest state that was found in which the answers differ.
    pub smallest: Option<State>,
}

impl Compared {
    /// Are the answers the same, or not known?
    pub fn is_equal(&self) -> bool {
        self.differ == 0 && self.failed.is_none()
    }
}

/// Most states with which switches are looked for.
const SEARCH_STATES: u64 = 3000;
/// Most explanations that are confirmed.
const CONFIRMED_MAX: usize = 4;

/// Compares a kernel with the core. `progress` takes a line for each step; ends soon after `stop` is set.
///
/// # Errors
/// When there is no such kernel, it has no program to compare, the rules are none, or the flag was set.
pub fn diff(
    store: &Store,
    request: &DiffRequest,
    progress: &mut dyn FnMut(&str),
    stop: &AtomicBool,
) -> Result<Diff, Error> {
    let (about, path) = store.comparison(&request.name)?;
    let against = request.against.clone().unwrap_or_else(|| about.profile.clone());
    let comparison = Comparison { program: Program::at(path), states: request.states, seed: request.seed, stop };
    let names = comparison.operations()?;
    progress(&format!("comparing {} operations with {against}", names.len()));
    let operations = comparison.all(&names, &against)?;
    let mut explained = Vec::new();
    if operations.iter().any(|op| op.differ > 0) {
        progress("looking for switches that explain it");
        explained = comparison.explained(&operations, &against)?;
    }
    Ok(Diff { about, against, operations, explained })
}

/// Rules and switches beside them, as one word.
pub fn rules(against: &str, settings: &[Setting]) -> String {
    let settings = settings.iter().map(|setting| format!(",{}={}", setting.switch, setting.value));
    against.to_owned() + &settings.collect::<String>()
}

/// Comparison under way.
struct Comparison<'a> {
    program: Program,
    states: u64,
    seed: u64,
    stop: &'a AtomicBool,
}

impl Comparison<'_> {
    /// Operations that the kernel's release has and that compile.
    fn operations(&self) -> Result<Vec<String>, Error> {
        let ended = self.program.run(&["list"], "")?;
        let names: Vec<String> = ended.lines.iter().filter_map(|line| read::listed(line)).collect();
        match names.is_empty() {
            true => Err(Error::input(format!("nothing can be compared: {}", ended.words()), "build the kernel again")),
            false => Ok(names),
        }
    }

    /// Compares operations, as many at a time as there are CPUs.
    fn all(&self, names: &[String], rules: &str) -> Result<Vec<Compared>, Error> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(names.len()));
        let work = || {
            while let Some((at, name)) = self.take(&next, names) {
                let compared = self.one(name, rules);
                done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, compared));
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 1..workers {
                // Without it the others do its part.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        check(self.stop)?;
        let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        done.sort_by_key(|&(at, _)| at);
        done.into_iter().map(|(_, compared)| compared).collect()
    }

    /// The next name, until the flag is set.
    fn take<'n>(&self, next: &AtomicUsize, names: &'n [String]) -> Option<(usize, &'n str)> {
        let at = next.fetch_add(1, Ordering::Relaxed);
        check(self.stop).ok()?;
        Some((at, names.get(at)?))
    }

    fn one(&self, name: &str, rules: &str) -> Result<Compared, Error> {
        let (states, seed) = (self.states.to_string(), self.seed.to_string());
        let ended = self.program.run(&["diff", &states, &seed, name, rules], "")?;
        if ended.code == Some(program::USAGE) {
            let reason = format!("`{rules}` is no profile with switches behind it: {}", ended.words());
            return Err(Error::request(reason, "as 6.12 or 6.12,runnable_boost=off; `pelton policy list` has all"));
        }
        // The first line has the state as it was found, the second one a smaller one, unless that crashed.
        let found = ended.lines.iter().rev().find_map(|line| read::compared(line));
        Ok(found.unwrap_or_else(|| Compared {
            operation: name.to_owned(),
            failed: Some(ended.words()),
            ..Compared::default()
        }))
    }

    /// Switches that explain what differs, held against all states of every operation that was compared.
    fn explained(&self, operations: &[Compared], against: &str) -> Result<Vec<Explained>, Error> {
        let names = |is_one: &dyn Fn(&&Compared) -> bool| -> Vec<String> {
            operations.iter().filter(is_one).map(|op| op.operation.clone()).collect()
        };
        let (differing, compared) = (names(&|op| op.differ > 0), names(&|op| op.failed.is_none()));
        let mut explained = Vec::new();
        for settings in self.search(&differing, against)?.into_iter().take(CONFIRMED_MAX) {
            let again = self.all(&compared, &rules(against, &settings))?;
            let others: Vec<String> = again.into_iter().filter(|op| !op.is_equal()).map(|op| op.operation).collect();
            if !others.iter().any(|name| differing.contains(name)) {
                explained.push(Explained { settings, others });
            }
        }
        explained.sort_by_key(|found| found.others.len());
        Ok(explained)
    }

    fn search(&self, names: &[String], rules: &str) -> Result<Vec<Vec<Setting>>, Error> {
        let (states, seed) = (self.states.min(SEARCH_STATES).to_string(), self.seed.to_string());
        let ended = self.program.run(&["search", &states, &seed, rules], &(names.join("\n") + "\n"))?;
        check(self.stop)?;
        Ok(ended.lines.iter().filter_map(|line| read::explanation(line)).collect())
    }
}
