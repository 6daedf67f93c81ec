// SPDX-License-Identifier: GPL-2.0-or-later
//! Behaviour files: a scenario whose sizes are relative to a board, and what shall hold on every one.
//!
//! A file is read and checked here, and sized for a machine ([`Behaviour::sized`]): the rt-app text that comes of it is
//! what the simulator runs and what is run on hardware. `pelton-lab` judges the claims.

mod check;
mod keys;
mod size;

pub use keys::{BEHAVIOUR, SEEDS_MAX};
pub use size::{Classes, Sized, SizedPhase, SizedTask, task_of_thread};

use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile, hint_for};
use crate::tree::{At, Reader, parse, reference};
use std::path::Path;

include!(concat!(env!("OUT_DIR"), "/behaviours.rs"));

/// Word for every built-in board with CPUs of unequal capacity and an Energy Model.
pub const UNEQUAL: &str = "unequal";

/// A class of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Those of the least capacity.
    Smallest,
    /// Those of the greatest.
    Largest,
    /// All but the smallest.
    NotSmallest,
    /// All but the largest.
    NotLargest,
    /// Those whose capacity is no less than the lower clamp of the task.
    FitsUtilMin,
    /// Those whose capacity is no less than the upper clamp of the task.
    FitsUtilMax,
}

impl Class {
    const ALL: [Class; 6] = [
        Class::Smallest,
        Class::Largest,
        Class::NotSmallest,
        Class::NotLargest,
        Class::FitsUtilMin,
        Class::FitsUtilMax,
    ];

    /// The word of the file.
    pub fn word(self) -> &'static str {
        keys::CLASSES[Class::ALL.iter().position(|class| *class == self).unwrap_or(0)]
    }

    fn of(word: &str) -> Option<Class> {
        let at = keys::CLASSES.iter().position(|known| *known == word)?;
        Class::ALL.get(at).copied()
    }
}

/// A number that claims are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Share of run time on a class of CPUs.
    Residency,
    /// Share of wake-ups that put the task on a class of CPUs.
    Placed,
    /// Mean capacity at which it ran, of that of the largest CPU at its highest frequency.
    Capacity,
    /// Share of run time above the operating point of the upper clamp.
    AboveClamp,
    /// Share of run time below the operating point of the lower clamp.
    BelowClamp,
    /// Share of activations that took longer than a period.
    Late,
    /// Time until each thread ran on a class of CPUs.
    FirstOn,
    /// Energy of the placement beyond that of the best one.
    EnergyOverBest,
}

impl Measure {
    const ALL: [Measure; 8] = [
        Measure::Residency,
        Measure::Placed,
        Measure::Capacity,
        Measure::AboveClamp,
        Measure::BelowClamp,
        Measure::Late,
        Measure::FirstOn,
        Measure::EnergyOverBest,
    ];

    /// The word of the file.
    pub fn word(self) -> &'static str {
        keys::MEASURES[Measure::ALL.iter().position(|measure| *measure == self).unwrap_or(0)]
    }

    /// Unit of its values.
    pub fn unit(self) -> &'static str {
        if self == Measure::FirstOn { "ms" } else { "%" }
    }

    fn of(word: &str) -> Option<Measure> {
        let at = keys::MEASURES.iter().position(|known| *known == word)?;
        Measure::ALL.get(at).copied()
    }

    /// True for a measure about a class of CPUs.
    pub fn has_class(self) -> bool {
        matches!(self, Measure::Residency | Measure::Placed | Measure::FirstOn)
    }

    /// Values that it may have.
    fn range(self) -> (f64, f64) {
        match self {
            Measure::FirstOn => (0.0, f64::INFINITY),
            Measure::EnergyOverBest => (f64::NEG_INFINITY, f64::INFINITY),
            _ => (0.0, 100.0),
        }
    }
}

/// A share of the capacity of one CPU of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Percent.
    pub pct: f64,
    /// Smallest or largest.
    pub of: Class,
}

/// Work of a task for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// Work per time.
    pub util: Share,
    /// Length, ms.
    pub for_ms: u32,
}

/// Threads of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Name.
    pub name: At<String>,
    /// Threads, where the number does not depend on the board.
    pub count: u32,
    /// Class with a thread for each CPU.
    pub count_per: Option<Class>,
    /// Work; one phase as long as the run where it does not change.
    pub phases: Vec<Phase>,
    /// Period, ms.
    pub period_ms: u32,
    /// Lower clamp.
    pub util_min: Option<Share>,
    /// Upper clamp.
    pub util_max: Option<Share>,
    /// Nice value.
    pub nice: i32,
    /// Start, ms.
    pub start_ms: u32,
}

/// A number that shall lie in a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Name, unique.
    pub id: At<String>,
    /// Words.
    pub text: String,
    /// The number.
    pub measure: Measure,
    /// Task, by its place in the file; `None` = all.
    pub task: Option<usize>,
    /// CPUs.
    pub on: Option<Class>,
    /// Least value.
    pub min: Option<f64>,
    /// Greatest value.
    pub max: Option<f64>,
    /// Begin, ms after the tasks appear.
    pub from_ms: u32,
    /// End.
    pub to_ms: u32,
}

/// A world that is wrong on purpose.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongWorld {
    /// Name.
    pub name: String,
    /// Fault of the world.
    pub why: String,
    /// Switches, `name=value`, each with its place in the file.
    pub sets: Vec<At<String>>,
}

/// A checked file.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Text that it was read from.
    pub file: SourceFile,
    /// Name.
    pub name: String,
    /// Question in one line.
    pub question: String,
    /// Origins.
    pub sources: Vec<String>,
    /// Boards by name, or [`UNEQUAL`].
    pub boards: Vec<At<String>>,
    /// Policy, as after `--policy`.
    pub policy: Option<At<String>>,
    /// Length of a run, ms.
    pub duration_ms: u32,
    /// Runs.
    pub seeds: u32,
    /// Contents of a run.
    pub tasks: Vec<Task>,
    /// Claims, the main one first.
    pub claims: Vec<Claim>,
    /// Wrong worlds.
    pub wrong_worlds: Vec<WrongWorld>,
}

/// Names of the built-in behaviours, sorted.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    BEHAVIOURS.iter().map(|&(name, _)| name)
}

/// A built-in behaviour by name, or a file by path: a name that contains `/` or ends in `.toml`.
///
/// # Errors
/// When there is none of this name, or everything that is wrong with the file.
pub fn load(name_or_path: &str) -> Result<Behaviour, Diagnostics> {
    if let Some((name, text)) = BEHAVIOURS.iter().find(|(name, _)| *name == name_or_path) {
        return Behaviour::parse(&SourceFile::new(format!("scenarios/behaviours/{name}.toml"), text));
    }
    if name_or_path.contains('/') || name_or_path.ends_with(".toml") {
        return Behaviour::parse(&SourceFile::read(Path::new(name_or_path))?);
    }
    let argument = SourceFile::new("NAME", name_or_path);
    let at = argument.error(0..name_or_path.len(), "no such behaviour").label("neither built in nor a path");
    Err(at.help(format!("a file is given by its path: ./mine.toml\n{}", hint_for(name_or_path, names()))).into())
}

/// The page `docs/guide/behaviours.md`, with the table of keys that the checks use.
pub fn guide() -> String {
    include_str!("guide.md.in").replace("{{keys}}\n", &reference(&BEHAVIOUR))
}

impl Behaviour {
    /// Reads and checks a text; the source's name is in its messages.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(source: &SourceFile) -> Result<Behaviour, Diagnostics> {
        let document = parse(source)?;
        crate::tree::check(&document, &BEHAVIOUR).or(())?;
        let root = Reader::new(document.root.get_ref());
        let duration_ms = root.int("duration_ms").map_or(0, |at| at.value);
        let tasks: Vec<Task> = root.tables("task").iter().map(|at| task(&at.value, duration_ms)).collect();
        let claims = root.tables("claim").iter().filter_map(|at| claim(&at.value, &tasks, duration_ms)).collect();
        let text = |key: &str| root.text(key).map(|at| at.value).unwrap_or_default();
        let behaviour = Behaviour {
            file: source.clone(),
            name: text("name"),
            question: text("question"),
            sources: root.texts("sources").into_iter().map(|at| at.value).collect(),
            boards: root.texts("boards"),
            policy: root.text("policy"),
            duration_ms,
            seeds: root.int("seeds").map_or(5, |at| at.value),
            tasks,
            claims,
            wrong_worlds: root.tables("wrong_world").iter().map(|at| wrong_world(&at.value)).collect(),
        };
        check::check(&behaviour, &root).or(behaviour)
    }

    /// A message about the policy of this file, at its place.
    #[must_use]
    pub fn about_policy(&self, message: &Diagnostic) -> Diagnostic {
        message.moved_to(self.file.clone(), self.policy.as_ref().map(|at| at.span.clone()))
    }
}

fn share(reader: &Reader<'_>, key: &str, of: &str, default: Class) -> Option<Share> {
    let of = reader.text(of).and_then(|at| Class::of(&at.value)).unwrap_or(default);
    reader.real(key).map(|at| Share { pct: at.value, of })
}

fn task(reader: &Reader<'_>, duration_ms: u32) -> Task {
    let util = |reader: &Reader<'_>| share(reader, "util_pct", "of", Class::Smallest);
    let phase = |at: &At<Reader<'_>>| {
        Some(Phase { util: util(&at.value)?, for_ms: at.value.int("for_ms").map_or(1, |at| at.value) })
    };
    let listed: Vec<Phase> = reader.tables("phase").iter().filter_map(phase).collect();
    let single = util(reader).map(|util| Phase { util, for_ms: duration_ms });
    Task {
        name: reader.text("name").unwrap_or(At { value: String::new(), span: 0..0 }),
        count: reader.int("count").map_or(1, |at| at.value),
        count_per: reader.text("count_per").and_then(|at| Class::of(&at.value)),
        phases: if listed.is_empty() { single.into_iter().collect() } else { listed },
        period_ms: reader.int("period_ms").map_or(16, |at| at.value),
        util_min: share(reader, "util_min_pct", "clamp_of", Class::Largest),
        util_max: share(reader, "util_max_pct", "clamp_of", Class::Largest),
        nice: reader.int("nice").map_or(0, |at| at.value),
        start_ms: reader.int("start_ms").map_or(0, |at| at.value),
    }
}

fn claim(reader: &Reader<'_>, tasks: &[Task], duration_ms: u32) -> Option<Claim> {
    let task = reader.text("task");
    Some(Claim {
        id: reader.text("id")?,
        text: reader.text("text")?.value,
        measure: Measure::of(&reader.text("measure")?.value)?,
        task: task.and_then(|at| tasks.iter().position(|task| task.name.value == at.value)),
        on: reader.text("on").and_then(|at| Class::of(&at.value)),
        min: reader.real("min").map(|at| at.value),
        max: reader.real("max").map(|at| at.value),
        from_ms: reader.int("from_ms").map_or(0, |at| at.value),
        to_ms: reader.int("to_ms").map_or(duration_ms, |at| at.value),
    })
}

fn wrong_world(reader: &Reader<'_>) -> WrongWorld {
    let text = |key: &str| reader.text(key).map(|at| at.value).unwrap_or_default();
    let set = |(switch, value): (At<String>, At<String>)| At {
        value: format!("{}={}", switch.value, value.value),
        span: switch.span.start..value.span.end,
    };
    let sets = reader.table("set").map_or_else(Vec::new, |set| set.entries());
    WrongWorld { name: text("name"), why: text("why"), sets: sets.into_iter().map(set).collect() }
}
