// SPDX-License-Identifier: GPL-2.0-or-later
//! Behaviour files: judged on boards of the simulator or on a recording, and their rt-app text.

use super::inputs::opened;
use crate::behaviour::measure::{Board, Carried, Reading};
use crate::behaviour::observe::{Observed, Observer};
use crate::behaviour::result::{BoardVerdicts, Checked, Claimed, Holds, VerdictCounts, WrongWorldResult};
use crate::behaviour::simulate::{self, Ready, boards, judge, machine, ready, simulated_ns, verdicts};
use crate::plan::{self, PolicySpec};
use crate::run::{Fault, LabError};
use crate::watch::{Amount, Watch, is_stopped, watched};
use pelton_model::Machine;
use pelton_scenario::behaviour::{self, Behaviour, Sized, task_of_thread};
use pelton_scenario::policy::DEFAULT_PROFILE;
use pelton_scenario::{Diagnostics, SourceFile, platform};
use pelton_schema::EventInfo;
use pelton_trace::import::{Source, TraceInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Request: a behaviour to judge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckRequest {
    /// Name of a built-in behaviour, or a file.
    pub behaviour: String,
    /// The file's text, where `behaviour` only names it: for callers without files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behaviour_text: Option<String>,
    /// Boards, by name or file; none = those of the behaviour. Of a recording the one that it is of.
    pub boards: Vec<String>,
    /// Policy; none = the file's.
    pub policy: Option<String>,
    /// Switches set on top of it.
    pub sets: Vec<String>,
    /// Runs on each board; none = as the file says.
    pub seeds: Option<u64>,
    /// Recording to judge in place of runs.
    pub trace: Option<PathBuf>,
    /// Kind of the recording, when its content does not show it.
    pub input_format: Option<String>,
    /// Also run it in worlds that are wrong on purpose.
    pub wrong_worlds: bool,
    /// Runs at the same time; 0 = one per CPU.
    pub jobs: usize,
}

impl CheckRequest {
    /// The behaviour that is meant.
    ///
    /// # Errors
    /// When there is none of this name, or what is wrong with the file.
    pub fn behaviour(&self) -> Result<Behaviour, LabError> {
        Ok(match &self.behaviour_text {
            Some(text) => Behaviour::parse(&SourceFile::new(&self.behaviour, text))?,
            None => behaviour::load(&self.behaviour)?,
        })
    }

    fn policy_spec(&self, behaviour: &Behaviour) -> PolicySpec {
        let text = self.policy.as_deref().or(behaviour.policy.as_ref().map(|at| at.value.as_str()));
        let mut spec = PolicySpec::parse(text.unwrap_or(DEFAULT_PROFILE));
        spec.sets.extend(self.sets.iter().cloned());
        spec
    }
}

/// Judges a behaviour.
///
/// # Errors
/// When an input is wrong, a run or the recording cannot be used, or the work was stopped.
pub fn check(request: &CheckRequest, watch: &dyn Watch) -> Result<Checked, LabError> {
    let behaviour = request.behaviour()?;
    match &request.trace {
        Some(trace) => recorded(request, &behaviour, trace, watch),
        None => simulated(request, &behaviour, watch),
    }
}

/// The rt-app text of a behaviour for a board, by name or file, and its sizes.
///
/// # Errors
/// When the board cannot be used, or the tasks do not fit it.
pub fn rtapp(behaviour: &Behaviour, board: &str) -> Result<(Machine, Sized), LabError> {
    let machine = machine(board, DEFAULT_PROFILE)?;
    let sized = behaviour.sized(&machine);
    let sized = sized.map_err(|reason| LabError::input(format!("`{}` on {board}: {reason}", behaviour.name)))?;
    Ok((machine, sized))
}

fn simulated(request: &CheckRequest, behaviour: &Behaviour, watch: &dyn Watch) -> Result<Checked, LabError> {
    let spec = request.policy_spec(behaviour);
    let chosen = plan::policy(&spec).map_err(|found| at_home(request, behaviour, &found))?;
    watch.warn(&chosen.warnings);
    let names = if request.boards.is_empty() { boards(behaviour) } else { request.boards.clone() };
    let seeds = request.seeds.unwrap_or(u64::from(behaviour.seeds)).clamp(1, behaviour::SEEDS_MAX as u64);
    let run = |spec: &PolicySpec, what: &str| -> Result<Vec<BoardVerdicts>, LabError> {
        let all = names.iter().map(|board| ready(behaviour, board, spec)).collect::<Result<Vec<Ready>, _>>()?;
        let total_ns = simulated_ns(&all, seeds);
        watched(watch, total_ns, what, |control| judge(behaviour, &all, seeds, request.jobs, control))
    };
    let right = run(&spec, &behaviour.name)?;
    let mut wrong_worlds = Vec::new();
    for world in behaviour.wrong_worlds.iter().filter(|_| request.wrong_worlds) {
        let mut wrong = spec.clone();
        wrong.sets.extend(world.sets.iter().map(|at| at.value.clone()));
        plan::policy(&wrong).map_err(|found| in_world(behaviour, world, &found))?;
        wrong_worlds.push(compared(world, &right, &run(&wrong, &world.name)?));
    }
    let policy = chosen.in_words();
    Ok(Checked { seeds, wrong_worlds, ..result(behaviour, policy, None, right) })
}

fn result(behaviour: &Behaviour, policy: String, trace: Option<String>, boards: Vec<BoardVerdicts>) -> Checked {
    Checked {
        behaviour: behaviour.name.clone(),
        question: behaviour.question.clone(),
        sources: behaviour.sources.clone(),
        policy,
        trace,
        seeds: 1,
        duration_ms: behaviour.duration_ms,
        claims: Claimed::of(behaviour),
        score: VerdictCounts::of(&boards, behaviour.claims.len()),
        boards,
        wrong_worlds: Vec::new(),
        remarks: Vec::new(),
    }
}

/// Messages about a policy that stands in the file point there.
fn at_home(request: &CheckRequest, behaviour: &Behaviour, found: &Diagnostics) -> LabError {
    if request.policy.is_some() || !request.sets.is_empty() || behaviour.policy.is_none() {
        return LabError::Input(found.clone());
    }
    let mut moved = Diagnostics::new();
    found.iter().for_each(|message| moved.push(behaviour.about_policy(message)));
    LabError::Input(moved)
}

/// Messages about a switch of a wrong world point to it.
fn in_world(behaviour: &Behaviour, world: &behaviour::WrongWorld, found: &Diagnostics) -> LabError {
    let mut moved = Diagnostics::new();
    for message in found.iter() {
        let of = |set: &&pelton_scenario::tree::At<String>| set.value == message.source().text();
        let set = world.sets.iter().find(of).or(world.sets.first());
        moved.push(message.moved_to(behaviour.file.clone(), set.map(|at| at.span.clone())));
    }
    LabError::Input(moved)
}

/// Boards on which a wrong world fails a claim that holds in the right one.
fn compared(world: &behaviour::WrongWorld, right: &[BoardVerdicts], wrong: &[BoardVerdicts]) -> WrongWorldResult {
    let (mut rejected_on, mut accepted_on, mut claims) = (Vec::new(), Vec::new(), Vec::<String>::new());
    for (right, wrong) in right.iter().zip(wrong) {
        let pairs = right.verdicts.iter().zip(&wrong.verdicts);
        let noticed = pairs.filter(|(right, wrong)| right.verdict == Holds::Holds && wrong.verdict == Holds::Fails);
        let ids: Vec<String> = noticed.map(|(right, _)| right.id.clone()).collect();
        let to = if ids.is_empty() { &mut accepted_on } else { &mut rejected_on };
        to.push(right.board.clone());
        claims.extend(ids);
    }
    claims.sort_unstable();
    claims.dedup();
    WrongWorldResult { name: world.name.clone(), why: world.why.clone(), rejected_on, accepted_on, claims }
}

fn recorded(
    request: &CheckRequest,
    behaviour: &Behaviour,
    path: &Path,
    watch: &dyn Watch,
) -> Result<Checked, LabError> {
    if request.policy.is_some() || !request.sets.is_empty() || request.wrong_worlds || request.seeds.is_some() {
        let hint = "leave out --policy, --set, --seeds and --wrong-worlds: the kernel has decided already";
        return Err(LabError::refused(Fault::Request, "a recording is judged as it is", hint));
    }
    let mut source = opened(path, request.input_format.as_deref(), watch)?;
    let board = board_of(request, behaviour, source.info(), path)?;
    let (machine, sized) = rtapp(behaviour, &board)?;
    let (seen, kinds) = observe(source.as_mut(), behaviour, &sized, watch)?;
    if seen.cpus as usize > machine.cpus.len() {
        let reason = format!(
            "{}: CPU {} does a task's work, {board} has {} CPUs",
            path.display(),
            seen.cpus - 1,
            machine.cpus.len()
        );
        return Err(LabError::refused(Fault::Input, reason, "--board names the board that was recorded"));
    }
    let on = Board::new(&machine, &sized);
    let info = source.info();
    let reading = Reading { behaviour, board: &on, seen: &seen, carried: carried(info, &kinds) };
    let numbers: Vec<_> = behaviour.claims.iter().map(|claim| reading.number(claim)).collect();
    let verdicts = verdicts(&Claimed::of(behaviour), &[numbers]);
    let boards = vec![BoardVerdicts { board, verdicts }];
    let policy = kernel(info);
    let checked = result(behaviour, policy, Some(path.display().to_string()), boards);
    Ok(Checked { remarks: remarks(info, &seen, &sized), ..checked })
}

/// The board of a recording: the one that is named, that of a run of ours, or the only one of the behaviour.
fn board_of(request: &CheckRequest, behaviour: &Behaviour, info: &TraceInfo, path: &Path) -> Result<String, LabError> {
    let own = info.header.as_ref().map(|header| header.platform.as_str());
    // A name out of a file, which may hold anything, is no path to open.
    let own = platform::names().find(|name| Some(*name) == own).map(str::to_owned);
    let all = boards(behaviour);
    let only = all.first().filter(|_| all.len() == 1).cloned();
    match (request.boards.as_slice(), own.or(only)) {
        ([board], _) => Ok(board.clone()),
        ([], Some(board)) => Ok(board),
        ([], None) => Err(LabError::refused(
            Fault::Request,
            format!("{} does not say which board it was recorded on", path.display()),
            "give --board: a built-in platform or your file of that machine (`pelton platform list`)",
        )),
        _ => Err(LabError::refused(Fault::Request, "a recording is of one board", "give --board once")),
    }
}

/// Doings of the threads, and the kinds of events that were read: a recording is read as far as the behaviour goes.
fn observe(
    source: &mut dyn Source,
    behaviour: &Behaviour,
    sized: &Sized,
    watch: &dyn Watch,
) -> Result<(Observed, BTreeSet<&'static str>), LabError> {
    let (mut observer, mut codes) = (Observer::default(), BTreeSet::new());
    let end_ns = u64::from(behaviour.duration_ms) * 1_000_000 + simulate::TAIL_NS;
    watch.begins("events", Amount::Events);
    let mut events = 0;
    while let Some(timed) = source.next()? {
        events += 1;
        watch.events(events);
        if events.is_multiple_of(4096) && is_stopped(watch) {
            watch.ends();
            return Err(LabError::Stopped("interrupted while reading: no result".to_owned()));
        }
        let names = &source.info().names;
        let tasks = || sized.tasks.iter().map(|task| task.name.as_str());
        codes.insert(timed.event.code());
        observer.event(timed.time_ns, &timed.event, |tid| task_of_thread(names.get(&tid)?, tasks()));
        if observer.is_past(timed.time_ns, end_ns) {
            break;
        }
    }
    watch.ends();
    let kinds = codes.into_iter().filter_map(EventInfo::of_code).map(|kind| kind.name).collect();
    Ok((observer.finish(), kinds))
}

/// Facts that claims can be judged by. The counts of `info` lag behind before the end of a recording.
fn carried(info: &TraceInfo, kinds: &BTreeSet<&'static str>) -> Carried {
    let any = |event: &str| kinds.contains(event);
    let has = |event: &str, column: &str| any(event) && info.carries(event, column);
    Carried {
        switches: any("sched_switch"),
        states: has("sched_switch", "prev_state"),
        wakings: any("sched_waking") || any("sched_wakeup"),
        targets: has("sched_wakeup", "target_cpu"),
        frequencies: any("cpu_frequency"),
    }
}

fn kernel(info: &TraceInfo) -> String {
    let of_run = info.header.as_ref().filter(|header| header.is_simulated());
    let words = of_run.map(|header| match header.policy.as_str() {
        "" => header.profile.clone(),
        changes => format!("{}, {changes}", header.profile),
    });
    words.or_else(|| info.kernel.clone()).unwrap_or_else(|| "not named by the trace".to_owned())
}

/// Facts that limit what a recording says.
fn remarks(info: &TraceInfo, seen: &Observed, sized: &Sized) -> Vec<String> {
    let mut remarks = Vec::new();
    for (at, task) in sized.tasks.iter().enumerate() {
        let threads = seen.tasks.iter().filter(|of| **of == at).count();
        if threads != task.threads as usize {
            remarks.push(format!("{threads} of {} threads of task `{}` were seen", task.threads, task.name));
        }
    }
    if !info.is_complete() {
        let lost = info.lost;
        remarks.push(format!(
            "the trace has gaps: {lost} events lost, {} places unread or uncounted",
            info.damaged + info.lost_unknown
        ));
    }
    remarks
}
