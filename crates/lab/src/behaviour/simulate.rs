// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs of a behaviour on boards of the simulator.

use super::measure::{Board, Carried, Measured, Reading};
use super::observe::{Observed, Observer};
use super::result::{BoardVerdicts, Claimed};
use crate::plan::{self, Inputs, PolicySpec, Prepared};
use crate::run::{Control, LabError, run_one};
use pelton_model::Machine;
use pelton_scenario::behaviour::{Behaviour, Classes, Sized, UNEQUAL, task_of_thread};
use pelton_scenario::{Diagnostics, SourceFile, platform};
use pelton_schema::{Event, Sink};
use rayon::prelude::*;

/// Time behind the end of the tasks, in which late ones may end, ns.
pub const TAIL_NS: u64 = 200_000_000;

/// A behaviour that is ready to run on a board, or the reason why it does not fit.
pub struct Ready {
    board: String,
    machine: Machine,
    fits: Result<(Sized, Box<Prepared>), String>,
}

/// Boards of a behaviour, by name: with all that `unequal` stands for.
pub fn boards(behaviour: &Behaviour) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for board in &behaviour.boards {
        let all = platform::names().filter(|name| board.value == UNEQUAL && is_unequal(name)).map(str::to_owned);
        let one = Some(board.value.clone()).filter(|name| name != UNEQUAL);
        names.extend(all.chain(one));
    }
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// A board with CPUs of unequal capacity and powers that the kernel knows.
fn is_unequal(name: &str) -> bool {
    let inputs = Inputs { platform: name.to_owned(), ..Inputs::default() };
    let Ok(built) = plan::machine(&inputs, pelton_scenario::policy::DEFAULT_PROFILE) else { return false };
    let knows_power = built.machine.domains.iter().all(pelton_model::machine::FreqDomain::model_power_known);
    knows_power && Classes::of(&built.machine).are_unequal()
}

/// The machine of a board, by name or file, as this profile sees it.
///
/// # Errors
/// Messages about a board that is not known, or whose file is wrong.
pub fn machine(board: &str, profile: &str) -> Result<Machine, Diagnostics> {
    let inputs = Inputs { platform: board.to_owned(), ..Inputs::default() };
    plan::machine(&inputs, profile).map(|built| built.machine).map_err(|found| {
        let mut moved = Diagnostics::new();
        for message in found.iter() {
            // Here a name is typed after another option.
            let is_typed = message.source().name() == "--platform";
            let typed = || message.moved_to(SourceFile::new("--board", message.source().text()), message.span());
            moved.push(if is_typed { typed() } else { message.clone() });
        }
        moved
    })
}

/// Makes a behaviour ready for a board.
///
/// # Errors
/// When the board, the policy or the switches cannot be used.
pub fn ready(behaviour: &Behaviour, board: &str, spec: &PolicySpec) -> Result<Ready, Diagnostics> {
    let inputs = Inputs { platform: board.to_owned(), ..Inputs::default() };
    let machine = machine(board, &plan::policy(spec)?.profile)?;
    let fits = match behaviour.sized(&machine) {
        Err(reason) => Err(reason),
        Ok(sized) => {
            let inputs = Inputs {
                workload: format!("{}.json", behaviour.name),
                workload_text: Some(sized.rtapp.clone()),
                duration_ns: Some(u64::from(behaviour.duration_ms) * 1_000_000 + TAIL_NS),
                random_phase: true,
                ..inputs
            };
            Ok((sized, Box::new(plan::build(&inputs, spec)?)))
        }
    };
    Ok(Ready { board: board.to_owned(), machine, fits })
}

/// Simulated time of all runs, ns.
pub fn simulated_ns(ready: &[Ready], seeds: u64) -> u64 {
    let of = |ready: &Ready| ready.fits.as_ref().map_or(0, |(_, prepared)| prepared.plan.config.duration_ns);
    ready.iter().map(|one| of(one) * seeds).sum()
}

/// Runs a behaviour with seeds from 1 on every board and judges its claims, `jobs` runs at a time (0 = one per CPU).
///
/// # Errors
/// When a run cannot go on, or was stopped.
pub fn judge(
    behaviour: &Behaviour,
    ready: &[Ready],
    seeds: u64,
    jobs: usize,
    control: Control<'_>,
) -> Result<Vec<BoardVerdicts>, LabError> {
    let runs: Vec<(&Ready, u64)> = ready.iter().flat_map(|one| (1..=seeds).map(move |seed| (one, seed))).collect();
    let one = |&(ready, seed): &(&Ready, u64)| numbers(behaviour, ready, seed, control);
    let all: Vec<Result<Vec<Measured>, LabError>> = match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => pool.install(|| runs.par_iter().with_max_len(1).map(one).collect()),
        Err(_) => runs.iter().map(one).collect(),
    };
    let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
    let claims = Claimed::of(behaviour);
    let of_board = |(ready, runs): (&Ready, &[Vec<Measured>])| BoardVerdicts {
        board: ready.board.clone(),
        verdicts: verdicts(&claims, runs),
    };
    Ok(ready.iter().zip(all.chunks(seeds as usize)).map(of_board).collect())
}

/// Verdicts on the numbers of some runs, each of which has one for each claim.
pub fn verdicts(claims: &[Claimed], runs: &[Vec<Measured>]) -> Vec<super::result::ClaimVerdict> {
    let of = |(at, claim): (usize, &Claimed)| {
        let numbers: Vec<Measured> = runs.iter().filter_map(|run| run.get(at).cloned()).collect();
        claim.judge(&numbers)
    };
    claims.iter().enumerate().map(of).collect()
}

/// The number of each claim in one run.
fn numbers(behaviour: &Behaviour, ready: &Ready, seed: u64, control: Control<'_>) -> Result<Vec<Measured>, LabError> {
    let (sized, prepared) = match &ready.fits {
        Ok((sized, prepared)) => (sized, prepared),
        Err(reason) => return Ok(behaviour.claims.iter().map(|_| Err(reason.clone())).collect()),
    };
    let seen = observe(sized, prepared, seed, control)?;
    let board = Board::new(&ready.machine, sized);
    let reading = Reading { behaviour, board: &board, seen: &seen, carried: Carried::ALL };
    Ok(behaviour.claims.iter().map(|claim| reading.number(claim)).collect())
}

fn observe(sized: &Sized, prepared: &Prepared, seed: u64, control: Control<'_>) -> Result<Observed, LabError> {
    let names = || sized.tasks.iter().map(|task| task.name.as_str());
    // Task ids of a run: 0 is idle, then the tasks in order.
    let tasks = &prepared.plan.workload.tasks;
    let tasks = std::iter::once(None).chain(tasks.iter().map(|task| task_of_thread(&task.name, names()))).collect();
    let mut watcher = Watcher { observer: Observer::default(), tasks };
    run_one(&prepared.plan, seed, &mut watcher, control)?;
    Ok(watcher.observer.finish())
}

/// Sink of a run.
struct Watcher {
    observer: Observer,
    tasks: Vec<Option<usize>>,
}

impl Sink for Watcher {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let tasks = &self.tasks;
        self.observer.event(time_ns, event, |tid| tasks.get(tid as usize).copied().flatten());
    }
}
