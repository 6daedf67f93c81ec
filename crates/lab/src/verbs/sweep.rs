// SPDX-License-Identifier: GPL-2.0-or-later
//! Many runs over a grid: boards, workloads, policies, values of switches and numbers, seeds. The unit of work is a
//! chunk: one point of the grid with a block of seeds. What a chunk is called follows from all that its numbers depend
//! on, so that finished ones are known again.

use super::inputs::{InputRequest, policy_spec, prepare};
use super::ranges;
use super::run::run_into;
use crate::experiment::file::SEEDS_MAX;
use crate::measure::summary::{self, RunRow, Scope};
use crate::plan::Prepared;
use crate::run::{Fault, LabError};
use crate::watch::{Amount, Unwatched, Watch, is_stopped};
use pelton_model::RunConfig;
use pelton_scenario::Diagnostics;
use pelton_schema::NullSink;
use pelton_trace::parquet::{Kind, Parquet, ParquetColumn, Stored};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Largest number of points of a grid.
const POINTS_MAX: u64 = 100_000;
/// Largest number of chunks.
const CHUNKS_MAX: u64 = 1_000_000;
/// Version of the columns and of what a chunk's name is made of.
const FORM: u32 = 1;
/// Columns of a file before those of the axes.
const BEFORE: [(&str, Kind); 4] =
    [("plan", Kind::Text), ("board", Kind::Text), ("workload", Kind::Text), ("policy", Kind::Text)];
/// Columns behind them.
const AFTER: [(&str, Kind); 7] = [
    ("seed", Kind::Unsigned),
    ("scope", Kind::Text),
    ("of", Kind::Text),
    ("quantity", Kind::Text),
    ("value", Kind::Double),
    ("unit", Kind::Text),
    ("note", Kind::Text),
];

/// Request: a grid of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SweepRequest {
    /// Platform names or files.
    pub boards: Vec<String>,
    /// Workloads; a range in an option is a workload for each of its values ([`ranges`]).
    pub workloads: Vec<String>,
    /// Texts of rt-app files that `workloads` only name, by name.
    pub workload_texts: BTreeMap<String, String>,
    /// Values of template words of rt-app files.
    pub defines: BTreeMap<String, String>,
    /// Policies, as for compare.
    pub policies: Vec<String>,
    /// Switches set in every policy.
    pub sets: Vec<String>,
    /// Switches and numbers with the values that each takes: every combination is a point.
    pub axes: Vec<Axis>,
    /// Simulated time, ns; none = what the workload asks for.
    pub duration_ns: Option<u64>,
    /// Timer interrupts per second; none = 250.
    pub hz: Option<u32>,
    /// schedutil's `rate_limit_us`; none = the profile's rule.
    pub rate_limit_us: Option<u64>,
    /// Task group that everything runs in; none = the root.
    pub group: Option<String>,
    /// Runs of each point, each with a seed of its own and random start phases.
    pub seeds: u64,
    /// The first seed; the others follow.
    pub first_seed: u64,
    /// Seeds of a chunk.
    pub block: u64,
    /// Numbers of domains and tasks, too, not of whole runs alone.
    pub all: bool,
}

/// A switch or number and its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Axis {
    /// Name, as for `--set`.
    pub name: String,
    /// Values.
    pub values: Vec<String>,
}

impl Default for SweepRequest {
    fn default() -> Self {
        SweepRequest {
            boards: Vec::new(),
            workloads: Vec::new(),
            workload_texts: BTreeMap::new(),
            defines: BTreeMap::new(),
            policies: Vec::new(),
            sets: Vec::new(),
            axes: Vec::new(),
            duration_ns: None,
            hz: None,
            rate_limit_us: None,
            group: None,
            seeds: 10,
            first_seed: 1,
            block: 10,
            all: false,
        }
    }
}

/// Counts of a sweep, or of a share of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Swept {
    /// Points of the whole grid.
    pub points: u64,
    /// Runs of the chunks.
    pub runs: u64,
    /// Chunks, each a file; of a share, its own.
    pub chunks: u64,
    /// Chunks that were there.
    pub found: u64,
    /// Chunks that were run now.
    pub ran: u64,
}

/// A point of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Point {
    board: String,
    workload: String,
    policy: String,
    /// Value of each axis.
    values: Vec<String>,
}

/// Points of a request, in order: the last axis changes first.
#[derive(Clone, Debug)]
pub struct Grid {
    request: SweepRequest,
    workloads: Vec<String>,
}

/// A chunk that is planned.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Name: equal for equal inputs, program and rules.
    pub id: String,
    point: Point,
    prepared: Prepared,
    seeds: Vec<u64>,
}

impl Grid {
    /// The grid of a request.
    ///
    /// # Errors
    /// When an axis is empty, a value or name is twice there, or there are too many points.
    pub fn of(request: &SweepRequest) -> Result<Grid, LabError> {
        let mut request = request.clone();
        request.axes.iter_mut().for_each(|axis| axis.name = axis.name.trim().to_owned());
        let workloads = request.workloads.iter().map(|text| ranges::workloads(text)).collect::<Result<Vec<_>, _>>()?;
        let grid = Grid { request, workloads: workloads.concat() };
        grid.check_values()?;
        grid.check_names()?;
        let SweepRequest { seeds, first_seed, block, .. } = grid.request;
        for (name, value) in [("seeds", seeds), ("block", block)] {
            if !(1..=SEEDS_MAX).contains(&value) {
                return refused(format!("{name} {value} is out of range"), &format!("allowed: 1..={SEEDS_MAX}"));
            }
        }
        if first_seed.checked_add(seeds).is_none() {
            return refused(format!("{seeds} seeds from {first_seed} on"), "allowed: up to 2^64 - 1");
        }
        if grid.points() > POINTS_MAX || grid.chunks() > CHUNKS_MAX {
            let hint = format!("allowed: {POINTS_MAX} points and {CHUNKS_MAX} chunks");
            return refused(format!("{} points in {} chunks", grid.points(), grid.chunks()), &hint);
        }
        Ok(grid)
    }

    /// Every axis has values, each once.
    fn check_values(&self) -> Result<(), LabError> {
        let request = &self.request;
        let own = [("board", &request.boards), ("workload", &self.workloads), ("policy", &request.policies)];
        let axes = request.axes.iter().map(|axis| (axis.name.as_str(), &axis.values));
        for (name, values) in own.into_iter().chain(axes) {
            if values.is_empty() {
                return refused(format!("there is no {name}"), "every axis has one value at least");
            }
            let all: BTreeSet<&String> = values.iter().collect();
            if all.len() < values.len() {
                return refused(
                    format!("a {name} is there twice"),
                    "name every value once: equal points have equal numbers",
                );
            }
        }
        Ok(())
    }

    /// A column has one name, and nothing else sets what an axis sets.
    fn check_names(&self) -> Result<(), LabError> {
        let request = &self.request;
        let mut names: Vec<&str> = request.axes.iter().map(|axis| axis.name.as_str()).collect();
        names.extend(BEFORE.iter().chain(&AFTER).map(|(name, _)| *name));
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
            let hint = "name a switch or number once (docs/reference/switches.md)";
            return refused(format!("two columns `{}`", twice[0]), hint);
        }
        let texts = request.sets.iter().chain(&request.policies);
        let set: BTreeSet<&str> =
            texts.flat_map(|text| text.split(',')).filter_map(|part| Some(part.split_once('=')?.0.trim())).collect();
        let is_set = |name: &str| set.contains(name) || name == "rate_limit_us" && request.rate_limit_us.is_some();
        match request.axes.iter().find(|axis| is_set(&axis.name)) {
            Some(axis) => refused(format!("`{}` is an axis and set beside it", axis.name), "leave one of them out"),
            None => Ok(()),
        }
    }

    /// Number of points.
    pub fn points(&self) -> u64 {
        let lengths = [self.request.boards.len(), self.workloads.len(), self.request.policies.len()];
        let axes = self.request.axes.iter().map(|axis| axis.values.len());
        lengths.into_iter().chain(axes).fold(1, |product, length| product.saturating_mul(length as u64))
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.points().saturating_mul(self.blocks())
    }

    fn blocks(&self) -> u64 {
        self.request.seeds.div_ceil(self.request.block.max(1))
    }

    fn point(&self, number: u64) -> Point {
        let mut left = number;
        let mut digit = |length: usize| {
            let digit = left % length as u64;
            left /= length as u64;
            digit as usize
        };
        let request = &self.request;
        let mut values: Vec<String> =
            request.axes.iter().rev().map(|axis| axis.values[digit(axis.values.len())].clone()).collect();
        values.reverse();
        let policy = request.policies[digit(request.policies.len())].clone();
        let workload = self.workloads[digit(self.workloads.len())].clone();
        let board = request.boards[digit(request.boards.len())].clone();
        Point { board, workload, policy, values }
    }

    /// Plans a point.
    fn prepared(&self, point: &Point, watch: &dyn Watch) -> Result<Prepared, LabError> {
        let request = &self.request;
        let axes = request.axes.iter().zip(&point.values).map(|(axis, value)| format!("{}={value}", axis.name));
        let sets: Vec<String> = request.sets.iter().cloned().chain(axes).collect();
        let input = InputRequest {
            platform: point.board.clone(),
            workload: point.workload.clone(),
            workload_text: request.workload_texts.get(&point.workload).cloned(),
            duration_ns: request.duration_ns,
            hz: request.hz,
            rate_limit_us: request.rate_limit_us,
            group: request.group.clone(),
            defines: request.defines.clone(),
            ..InputRequest::default()
        };
        prepare(&input.inputs(request.first_seed, true), &policy_spec(&point.policy, &sets), watch)
    }

    /// Plans all points, and says of each what names its inputs. What inputs are warned of is said once.
    ///
    /// # Errors
    /// When an input of a point is wrong, or the work was stopped.
    pub fn plans(&self, watch: &dyn Watch) -> Result<Vec<u64>, LabError> {
        let once = Once { watch, said: Mutex::default() };
        watch.begins("points", Amount::Time(self.points()));
        let plan = |number: u64| {
            if is_stopped(watch) {
                return Err(LabError::Stopped("interrupted: nothing was run".to_owned()));
            }
            let prepared = self.prepared(&self.point(number), &once)?;
            watch.advance(1);
            Ok(prepared.plan.hash)
        };
        let plans: Vec<Result<u64, LabError>> = (0..self.points()).into_par_iter().map(plan).collect();
        watch.ends();
        plans.into_iter().collect()
    }

    /// Point of a chunk, and its seeds.
    fn part(&self, number: u64) -> (u64, Vec<u64>) {
        let SweepRequest { seeds, first_seed, block, .. } = self.request;
        let first = (number % self.blocks()) * block;
        (number / self.blocks(), (first..seeds.min(first + block)).map(|at| first_seed + at).collect())
    }

    /// Name of a chunk whose point has this plan.
    pub fn id(&self, number: u64, plan: u64) -> String {
        let (point, seeds) = self.part(number);
        let point = self.point(point);
        let parts = serde_json::json!([
            FORM,
            env!("CARGO_PKG_VERSION"),
            pelton_core::CORE_HASH,
            format!("{plan:016x}"),
            [&point.board, &point.workload, &point.policy],
            point.values,
            seeds,
            self.request.all,
        ]);
        let hash = |basis: u64| {
            let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            parts.to_string().as_bytes().iter().fold(basis, step)
        };
        format!("{:016x}{:016x}", hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142))
    }

    /// Place of the point of a chunk.
    pub fn point_of(&self, number: u64) -> usize {
        self.part(number).0 as usize
    }

    /// Plans a chunk whose point was planned before.
    ///
    /// # Errors
    /// When there is no such chunk, or an input is another now than it was then.
    pub fn chunk(&self, number: u64, plans: &[u64]) -> Result<Chunk, LabError> {
        let Some(&plan) = plans.get(self.point_of(number)).filter(|_| number < self.chunks()) else {
            return refused(format!("there is no chunk {number}"), &format!("allowed: 0..={}", self.chunks() - 1));
        };
        let (at, seeds) = self.part(number);
        let point = self.point(at);
        let prepared = self.prepared(&point, &Unwatched)?;
        if prepared.plan.hash != plan {
            let reason =
                format!("{}, {}: the inputs are other ones than those that were planned", point.board, point.workload);
            let hint = "files must not change while a sweep runs, and be the same on all machines";
            return Err(LabError::refused(Fault::Input, reason, hint));
        }
        Ok(Chunk { id: self.id(number, plan), point, prepared, seeds })
    }

    /// Runs a chunk: a Parquet file, a row for each number of each run. Equal chunks give equal bytes.
    ///
    /// # Errors
    /// When inputs do not go together, or the run was stopped.
    pub fn run(&self, chunk: &Chunk, watch: &dyn Watch) -> Result<Vec<u8>, LabError> {
        let axes = self.request.axes.iter().map(|axis| (axis.name.as_str(), Kind::Text));
        let columns = BEFORE.into_iter().chain(axes).chain(AFTER);
        let columns = columns.map(|(name, kind)| ParquetColumn { name: name.to_owned(), kind }).collect();
        let mut file = Vec::new();
        let mut table = Parquet::new(&mut file, columns);
        for &seed in &chunk.seeds {
            let config = RunConfig { seed, ..chunk.prepared.plan.config.clone() };
            let mut prepared = chunk.prepared.clone();
            prepared.plan = prepared.plan.with_config(config);
            let report = run_into(&prepared, seed, NullSink, watch)?;
            let summary =
                summary::summarise(summary::header(&prepared, report.duration_ns), &prepared.plan.machine, &report);
            summary.remarks.iter().for_each(|remark| watch.note(remark));
            let plan = format!("{:016x}", prepared.plan.hash);
            let rows = summary.rows.iter().filter(|row| self.request.all || row.scope == Scope::Run);
            rows.for_each(|row| table.row(cells(chunk, &plan, seed, row)));
        }
        table.finish().map_err(LabError::Output)?;
        Ok(file)
    }
}

fn refused<T>(reason: String, hint: &str) -> Result<T, LabError> {
    Err(LabError::refused(Fault::Request, reason, hint))
}

fn cells<'a>(chunk: &'a Chunk, plan: &'a str, seed: u64, row: &'a RunRow) -> impl Iterator<Item = Stored<'a>> {
    let Point { board, workload, policy, values } = &chunk.point;
    let before = [plan, board, workload, policy].into_iter().chain(values.iter().map(String::as_str));
    let after = [
        Stored::Bits(seed),
        Stored::Text(row.scope.name()),
        Stored::Text(&row.of),
        Stored::Text(row.quantity),
        row.value.map_or(Stored::Nothing, |value| Stored::Bits(value.to_bits())),
        Stored::Text(row.unit),
        row.note.map_or(Stored::Nothing, Stored::Text),
    ];
    before.map(Stored::Text).chain(after)
}

/// Keeps the files of a sweep.
pub trait Keep: Sync {
    /// True when the file of a chunk is there.
    fn has(&self, id: &str) -> bool;

    /// Keeps the file of a chunk.
    ///
    /// # Errors
    /// When it cannot be written.
    fn keep(&self, id: &str, file: &[u8]) -> Result<(), LabError>;
}

/// Part of a sweep: every `of`-th chunk, from number `part` on (from 0).
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Its number.
    pub part: u64,
    /// Number of parts.
    pub of: u64,
}

/// Runs the chunks that `keep` does not have, `jobs` at a time (0 = one per CPU). `plans` are those of the grid.
///
/// # Errors
/// When inputs do not go together, a file cannot be kept, or the work was stopped: what was kept stays, and no other
/// chunk begins.
pub fn sweep(
    grid: &Grid,
    plans: &[u64],
    share: Share,
    jobs: usize,
    keep: &dyn Keep,
    watch: &dyn Watch,
) -> Result<Swept, LabError> {
    let numbers: Vec<u64> = (0..grid.chunks()).filter(|number| number % share.of.max(1) == share.part).collect();
    let is_missing = |number: &u64| !keep.has(&grid.id(*number, plans[grid.point_of(*number)]));
    let missing: Vec<u64> = numbers.iter().copied().filter(is_missing).collect();
    let (once, failed) = (Once { watch, said: Mutex::default() }, AtomicBool::new(false));
    watch.begins("chunks", Amount::Time(missing.len() as u64));
    let one = |&number: &u64| -> Result<(), LabError> {
        if is_stopped(watch) || failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let run = || {
            let chunk = grid.chunk(number, plans)?;
            keep.keep(&chunk.id, &grid.run(&chunk, &once)?)
        };
        run().inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        watch.advance(1);
        Ok(())
    };
    let all = |missing: &[u64]| missing.par_iter().with_max_len(1).map(one).collect::<Vec<_>>();
    let done: Vec<Result<(), LabError>> = match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => pool.install(|| all(&missing)),
        Err(_) => missing.iter().map(one).collect(),
    };
    watch.ends();
    if is_stopped(watch) {
        return Err(LabError::Stopped("interrupted: chunks that are done are kept".to_owned()));
    }
    done.into_iter().collect::<Result<(), _>>()?;
    let runs = numbers.iter().map(|&number| grid.part(number).1.len() as u64).sum();
    let (chunks, ran) = (numbers.len() as u64, missing.len() as u64);
    Ok(Swept { points: grid.points(), runs, chunks, found: chunks - ran, ran })
}

/// Passes each text on once, and nothing else but the flag that stops.
struct Once<'a> {
    watch: &'a dyn Watch,
    said: Mutex<BTreeSet<String>>,
}

impl Once<'_> {
    fn is_new(&self, text: String) -> bool {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(text)
    }
}

impl Watch for Once<'_> {
    fn stop(&self) -> &'static AtomicBool {
        self.watch.stop()
    }

    fn note(&self, text: &str) {
        if self.is_new(text.to_owned()) {
            self.watch.note(text);
        }
    }

    fn warn(&self, warnings: &Diagnostics) {
        if !warnings.is_empty() && self.is_new(pelton_scenario::render(warnings, 100, false)) {
            self.watch.warn(warnings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Memory(Mutex<BTreeMap<String, Vec<u8>>>);

    impl Keep for Memory {
        fn has(&self, id: &str) -> bool {
            self.0.lock().expect("no panic").contains_key(id)
        }
        fn keep(&self, id: &str, file: &[u8]) -> Result<(), LabError> {
            self.0.lock().expect("no panic").insert(id.to_owned(), file.to_vec());
            Ok(())
        }
    }

    const WHOLE: Share = Share { part: 0, of: 1 };

    fn request() -> SweepRequest {
        let text = |text: &str| text.to_owned();
        SweepRequest {
            boards: vec![text("hikey-6220"), text("juno-r2")],
            workloads: vec![text("busy:cpus=0,util_max=200..400/200")],
            policies: vec![text("6.1"), text("7.2")],
            axes: vec![Axis { name: text("rate_limit_us"), values: vec![text("500"), text("2000")] }],
            duration_ns: Some(20_000_000),
            seeds: 5,
            block: 2,
            ..SweepRequest::default()
        }
    }

    #[test]
    fn the_grid_is_every_combination_and_every_block() {
        let grid = Grid::of(&request()).expect("good");
        assert_eq!((grid.points(), grid.chunks()), (16, 48));
        let plans = grid.plans(&Unwatched).expect("good");
        let all: BTreeSet<String> = (0..48).map(|number| grid.chunk(number, &plans).expect("good").id).collect();
        assert_eq!(all.len(), 48, "every chunk has a name of its own");
        assert_eq!(grid.point(1).values, ["2000"]);
        let last = grid.chunk(47, &plans).expect("good");
        assert_eq!((last.point.board.as_str(), last.seeds), ("juno-r2", vec![5]));
        assert!(grid.chunk(48, &plans).is_err_and(|why| why.to_string().contains("no chunk 48")));
    }

    fn swept(request: &SweepRequest, share: Share, keep: &dyn Keep) -> Result<Swept, LabError> {
        let grid = Grid::of(request)?;
        sweep(&grid, &grid.plans(&Unwatched)?, share, 2, keep, &Unwatched)
    }

    #[test]
    fn what_is_there_is_not_run_again_and_shares_are_the_whole() {
        let (whole, shared) = (Memory::default(), Memory::default());
        let first = swept(&request(), WHOLE, &whole).expect("good");
        assert_eq!((first.chunks, first.runs, first.found, first.ran), (48, 80, 0, 48));
        let again = swept(&request(), WHOLE, &whole).expect("good");
        assert_eq!((again.found, again.ran), (48, 0));
        let runs = (0..3).map(|part| swept(&request(), Share { part, of: 3 }, &shared).expect("good").runs);
        assert_eq!(runs.sum::<u64>(), 80);
        assert!(*whole.0.lock().expect("no panic") == *shared.0.lock().expect("no panic"));
    }

    /// Keeps nothing, and counts.
    #[derive(Default)]
    struct Full(std::sync::atomic::AtomicU64);

    impl Keep for Full {
        fn has(&self, _: &str) -> bool {
            false
        }
        fn keep(&self, _: &str, _: &[u8]) -> Result<(), LabError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(LabError::Caller)
        }
    }

    #[test]
    fn a_chunk_that_cannot_be_kept_ends_the_sweep() {
        let full = Full::default();
        assert!(matches!(swept(&request(), WHOLE, &full), Err(LabError::Caller)));
        assert!(full.0.load(Ordering::Relaxed) <= 2, "each of two threads ends one at most");
    }

    #[test]
    fn an_input_that_changed_since_it_was_planned_is_refused() {
        let grid = Grid::of(&request()).expect("good");
        let mut plans = grid.plans(&Unwatched).expect("good");
        plans[0] ^= 1;
        assert!(grid.chunk(0, &plans).is_err_and(|why| why.to_string().contains("other ones than those")));
    }

    #[test]
    fn a_grid_without_values_or_with_something_twice_is_refused() {
        let refused = |change: &dyn Fn(&mut SweepRequest)| {
            let mut request = request();
            change(&mut request);
            Grid::of(&request).expect_err("refused").to_string()
        };
        let text = |text: &str| text.to_owned();
        assert!(refused(&|request| request.boards.clear()).contains("no board"));
        assert!(refused(&|request| request.boards.push(text("juno-r2"))).contains("a board is there twice"));
        assert!(refused(&|request| request.axes[0].values.clear()).contains("no rate_limit_us"));
        assert!(refused(&|request| request.axes[0].values.push(text("500"))).contains("there twice"));
        assert!(refused(&|request| request.axes.push(request.axes[0].clone())).contains("two columns"));
        assert!(refused(&|request| request.axes[0].name = text(" seed ")).contains("two columns `seed`"));
        assert!(refused(&|request| request.sets.push(text("rate_limit_us=7"))).contains("set beside it"));
        assert!(refused(&|request| request.policies.push(text("7.2, rate_limit_us=7"))).contains("set beside it"));
        assert!(refused(&|request| request.rate_limit_us = Some(7)).contains("set beside it"));
        assert!(refused(&|request| request.seeds = 0).contains("seeds 0"));
        assert!(refused(&|request| request.first_seed = u64::MAX).contains("seeds from"));
        let many = || (0..20_000).map(|n| n.to_string()).collect();
        assert!(refused(&|request| request.axes[0].values = many()).contains("points"));
        let mut wrong = request();
        wrong.axes[0].name = text("nosuch");
        let grid = Grid::of(&wrong).expect("names are looked up when it is planned");
        assert!(grid.plans(&Unwatched).is_err(), "before anything runs");
    }
}
