// SPDX-License-Identifier: GPL-2.0-or-later
//! Grammar to workload: what rt-app would do, in the simulator's task language.

mod group;
mod names;
mod older;
mod sched;
mod task;
mod traffic;

use std::collections::{BTreeMap, BTreeSet};

use pelton_model::Workload;
use pelton_model::workload::{Start, TaskSpec};

use self::names::Names;
use self::task::{absolute_timers, is_deadline};
use self::traffic::Traffic;
use super::ast::{Calibration, EventKind, PolicyName, RtAppFile};
use super::flat::{FlatTask, flatten};
use super::report::{Report, say};
use super::{Loaded, RtAppOptions, check};
use crate::diagnostic::Diagnostics;

/// Threads of one use case.
const THREADS_MAX: u64 = 10_000;
/// Operations of all threads together; bounds memory to some tens of megabytes.
const OPS_MAX: u64 = 500_000;
/// Cost of a thread and of a phase beside their operations, in operations.
const THREAD_OPS: u64 = 8;
const PHASE_OPS: u64 = 6;

/// Numbers of everything that has a name.
#[derive(Default)]
struct AllNames {
    mutexes: Names,
    conds: Names,
    barriers: Names,
    semaphores: Names,
    timers: Names,
}

struct Lowering<'a> {
    report: Report,
    names: AllNames,
    default_policy: PolicyName,
    /// CPUs that "all" means.
    cpus: u32,
    loop_ns: Option<u64>,
    run_capacity: u32,
    absolute_timers: BTreeSet<String>,
    templates: BTreeMap<&'a str, u32>,
    traffic: Traffic,
}

/// Turns a file into a workload, or says what cannot be honoured.
pub(super) fn lower(file: &RtAppFile, options: &RtAppOptions) -> Result<Loaded, Diagnostics> {
    let mut report = Report::new(&file.source);
    placeholders(file, &mut report);
    if !file.has_tasks {
        let words = say("the file has no `tasks`");
        report.about(words.help("it is a fragment for rt-app's merge script: merge it with the others first"));
    }
    let tasks = flatten(file, options, &mut report);
    check::check(&tasks, options.cpus, &mut report);
    let traffic = Traffic::new(file, options, &mut report);
    traffic.check(file, &tasks, &mut report);
    slack(file, &tasks, &mut report);
    calibration(file, options, &mut report);
    size(file, &tasks, &mut report);
    if !report.is_good() {
        let mut messages = report.finish().err().unwrap_or_default();
        messages.extend(file.warnings.clone());
        return Err(messages);
    }
    let mut notes = notes(file, options, &tasks);
    notes.extend(traffic.note(&tasks));
    let mut lowering = Lowering { traffic, ..Lowering::new(file, options, &tasks, report) };
    let workload = lowering.workload(file, options, &tasks);
    let mut warnings = lowering.report.finish()?;
    warnings.extend(file.warnings.clone());
    Ok(Loaded { workload, warnings, notes, originals: Vec::new(), start: None })
}

fn placeholders(file: &RtAppFile, report: &mut Report) {
    for word in &file.placeholders {
        let words = say(format!("the template word `__{}__` has no value", word.value)).label("a value goes here");
        report.error(word.span, words.help(format!("give one with --define {}=VALUE", word.value)));
    }
}

/// The simulator computes the slack of each timer; a sum over several is another number.
fn slack(file: &RtAppFile, tasks: &[FlatTask], report: &mut Report) {
    let Some(wanted) = file.global.cumulative_slack.as_ref().filter(|c| c.value) else { return };
    let timers = |events: &[super::ast::Event]| events.iter().filter(|e| matches!(e.kind, EventKind::Timer(_))).count();
    let several = tasks.iter().flat_map(|t| &t.phases).find(|p| timers(&p.events) > 1);
    if let Some(phase) = several {
        let line = report.line(phase.name.span);
        let words =
            say("`cumulative_slack` cannot be honoured").label("slack would be summed over the timers of a phase");
        report.error(
            wanted.span,
            words.help(format!("the phase in line {line} has several timers; split it, or write `false`")),
        );
    }
}

fn size(file: &RtAppFile, tasks: &[FlatTask], report: &mut Report) {
    let threads: u64 = tasks.iter().map(|t| t.instances() + u64::from(t.is_forked)).sum();
    let phase_ops = |t: &FlatTask| t.phases.iter().map(|p| p.events.len() as u64 + PHASE_OPS).sum::<u64>();
    let ops: u64 = tasks.iter().map(|t| (phase_ops(t) + THREAD_OPS) * (t.instances() + 1)).sum();
    let Some(first) = file.tasks.first() else { return };
    if threads > THREADS_MAX {
        let words = say(format!("the use case has {threads} threads")).label("first task");
        report.error(first.name.span, words.allowed(format!("at most {THREADS_MAX}")));
    } else if ops > OPS_MAX {
        let words =
            say(format!("the use case is too large: about {ops} operations in all threads")).label("first task");
        report.error(
            first.name.span,
            words.allowed(format!("at most {OPS_MAX}")).help("fewer instances, or loops instead of long phases"),
        );
    }
}

/// Capacity of the biggest CPU.
const CAPACITY_MAX: u32 = 1024;

/// The CPU that rt-app measures its loop on; `None` for a file that gives the time of a loop.
fn calibrating_cpu(file: &RtAppFile) -> Option<u32> {
    match file.global.calibration.as_ref().map(|c| c.value) {
        Some(Calibration::NsPerLoop(_)) => None,
        Some(Calibration::OnCpu(cpu)) => Some(cpu),
        // rt-app, parse_global: a missing setting forces CPU 0.
        None => Some(0),
    }
}

/// Capacity at which a microsecond of `run` is a microsecond. A given time of a loop is taken for that of the biggest
/// CPU.
fn run_capacity(file: &RtAppFile, options: &RtAppOptions) -> u32 {
    let measured = calibrating_cpu(file).and_then(|cpu| options.capacities.get(cpu as usize));
    measured.copied().filter(|&capacity| capacity > 0).unwrap_or(CAPACITY_MAX)
}

/// The machine must have the CPU that the file names.
fn calibration(file: &RtAppFile, options: &RtAppOptions, report: &mut Report) {
    let Some(named) = &file.global.calibration else { return };
    if let (Calibration::OnCpu(cpu), Some(cpus)) = (named.value, options.cpus)
        && cpu >= cpus
    {
        let words = say(format!("`calibration` on CPU{cpu}, which the machine does not have"));
        report.error(named.span, words.allowed(format!("CPU0 to CPU{}", cpus.saturating_sub(1))));
    }
}

fn notes(file: &RtAppFile, options: &RtAppOptions, tasks: &[FlatTask]) -> Vec<String> {
    let mut notes = Vec::new();
    let writes = tasks.iter().flat_map(FlatTask::events).any(|e| matches!(e.kind, EventKind::IoRun(_)));
    let ignored = |(key, _): &&(String, usize)| !(writes && ["io_device", "mem_buffer_size"].contains(&key.as_str()));
    let keys: Vec<String> =
        file.ignored.iter().filter(ignored).map(|(key, line)| format!("{key} (line {line})")).collect();
    if !keys.is_empty() {
        notes.push(format!("no effect in a simulation: {}", keys.join(", ")));
    }
    notes.extend(passed_over(file));
    let capacity = run_capacity(file, options);
    if capacity != CAPACITY_MAX {
        let cpu = calibrating_cpu(file).unwrap_or(0);
        let how = if file.global.calibration.is_some() { "" } else { "no `calibration`, so that rt-app takes CPU0: " };
        notes.push(format!(
            "{how}`run` counts microseconds on CPU{cpu} at its highest frequency, capacity {capacity} of {CAPACITY_MAX}"
        ));
    }
    if let Some(Calibration::NsPerLoop(ns)) = file.global.calibration.as_ref().map(|c| c.value)
        && options.capacities.iter().any(|&capacity| capacity != CAPACITY_MAX)
    {
        notes.push(format!(
            "`calibration` is a number: `run` counts microseconds on the biggest CPU, as if {ns} ns per loop were measured \
             there; where they were measured on another one, write \"CPU0\" with its number instead"
        ));
    }
    notes
}

/// Unknown keys that a note names; the rest is counted.
const PASSED_OVER_MAX: usize = 10;
/// Characters of each.
const KEY_CHARS_MAX: usize = 40;

/// Keys that rt-app does not read either.
fn passed_over(file: &RtAppFile) -> Option<String> {
    let all = &file.passed_over;
    let name = |(key, line): &(String, usize)| {
        let shown: String = key.chars().take(KEY_CHARS_MAX).flat_map(char::escape_debug).collect();
        if *line > 0 { format!("{shown} ({}:{line})", file.source.name()) } else { shown }
    };
    let mut names: Vec<String> = all.iter().take(PASSED_OVER_MAX).map(name).collect();
    if all.len() > PASSED_OVER_MAX {
        names.push(format!("and {} more", all.len() - PASSED_OVER_MAX));
    }
    (!names.is_empty()).then(|| format!("passed over, rt-app reads no such keys: {}", names.join(", ")))
}

impl<'a> Lowering<'a> {
    fn new(file: &'a RtAppFile, options: &RtAppOptions, tasks: &[FlatTask<'a>], report: Report) -> Self {
        let loop_ns = match file.global.calibration.as_ref().map(|c| c.value) {
            Some(Calibration::NsPerLoop(ns)) if options.quantise => u64::try_from(ns).ok(),
            _ => None,
        };
        let copies: u64 = tasks.iter().map(FlatTask::instances).sum();
        let numbers = u32::try_from(copies).unwrap_or(u32::MAX)..;
        let forked = tasks.iter().filter(|t| t.is_forked).map(|t| t.task.name.value.as_str());
        let templates = forked.zip(numbers).collect();
        Lowering {
            report,
            names: AllNames::default(),
            default_policy: file.global.default_policy.as_ref().map_or(PolicyName::Other, |p| p.value),
            cpus: options.cpus.unwrap_or(4096),
            loop_ns,
            run_capacity: run_capacity(file, options),
            absolute_timers: absolute_timers(tasks, false),
            templates,
            traffic: Traffic::default(),
        }
    }

    fn workload(&mut self, file: &RtAppFile, options: &RtAppOptions, tasks: &[FlatTask]) -> Workload {
        let specs: Vec<TaskSpec> = tasks.iter().map(|task| self.task(task)).collect();
        let classes: Vec<_> = tasks.iter().zip(&specs).map(|(t, s)| (t, s.policy)).collect();
        for (task, policy) in &classes {
            self.bound_deadline(task, is_deadline(*policy));
        }
        if let Some(cpus) = options.cpus {
            sched::admission(&classes, cpus, &mut self.report);
        }
        let duration_s = file.global.duration_s.as_ref().map_or(-1, |d| d.value);
        Workload {
            name: options.name.clone().unwrap_or_else(|| stem(file.source.name())),
            groups: Vec::new(),
            group_changes: Vec::new(),
            boosts: Vec::new(),
            pulses: Vec::new(),
            limits: Vec::new(),
            mutexes: self.names.mutexes.count(),
            priority_inheritance: file.global.pi_enabled,
            conds: self.names.conds.count(),
            barriers: self.participants(tasks),
            semaphores: vec![0; self.names.semaphores.count() as usize],
            channels: Vec::new(),
            lists: 0,
            shared_timers: self.names.timers.count(),
            irqs: Vec::new(),
            devices: Vec::new(),
            cpu_dma_latency_us: None,
            duration_ns: u64::try_from(duration_s).ok().filter(|s| *s > 0).map(|s| s * 1_000_000_000),
            resource_names: self.resource_names(),
            tasks: copies(file, tasks, &specs),
        }
    }

    /// Linux refuses to bind deadline tasks, because admission counts on all CPUs.
    fn bound_deadline(&mut self, task: &FlatTask, is_deadline: bool) {
        let cpus =
            [&task.task.props].into_iter().chain(task.phases.iter().map(|p| p.props)).find_map(|p| p.cpus.as_ref());
        let Some(cpus) = cpus.filter(|c| is_deadline && c.value.len() < self.cpus as usize) else { return };
        let words = say("a deadline task bound to some CPUs").label("Linux refuses this outside an exclusive cpuset");
        self.report.warning(cpus.span, words.help("the simulation honours it as if such a cpuset existed"));
    }

    /// `run` is a time on the CPU that was calibrated, and with it work; with quantisation it is a whole number of
    /// calibration loops, second by second as rt-app does it.
    fn work_ns(&self, us: i64) -> u64 {
        let ns = sched::ns(us);
        let ns = u64::try_from(u128::from(ns) * u128::from(self.run_capacity) / u128::from(CAPACITY_MAX)).unwrap_or(ns);
        let Some(loop_ns) = self.loop_ns else { return ns };
        let second = 1_000_000_000;
        let loops = (ns / second) * (second / loop_ns) + (ns % second) / loop_ns;
        loops * loop_ns
    }

    /// Every use by every copy counts.
    fn participants(&mut self, tasks: &[FlatTask]) -> Vec<u32> {
        let mut counts = vec![0u64; self.names.barriers.count() as usize];
        for task in tasks {
            for event in task.events() {
                if let EventKind::Barrier(name) = &event.kind {
                    counts[self.names.barriers.number(&name.value) as usize] += task.instances();
                }
            }
        }
        counts.into_iter().map(|n| u32::try_from(n).unwrap_or(u32::MAX)).collect()
    }

    fn resource_names(&self) -> Vec<(String, u32, String)> {
        let names = &self.names;
        let lists = [
            (&names.mutexes, "mutex"),
            (&names.conds, "cond"),
            (&names.barriers, "barrier"),
            (&names.semaphores, "semaphore"),
            (&names.timers, "timer"),
        ];
        lists.into_iter().flat_map(|(names, kind)| names.list(kind)).collect()
    }
}

/// The threads in rt-app's order and with its names - `name-N`, N counting all threads - then the templates for `fork`.
fn copies(file: &RtAppFile, tasks: &[FlatTask], specs: &[TaskSpec]) -> Vec<TaskSpec> {
    let mut out = Vec::new();
    for (position, (task, spec)) in tasks.iter().zip(specs).enumerate() {
        let spacing_us = file.global.spacing_us.saturating_mul(i64::try_from(position).unwrap_or(0) + 1);
        let spaced = if file.global.spacing_us > 0 { spacing_us } else { 0 };
        let delay_us = task.task.delay_us.as_ref().map_or(spaced, |d| d.value);
        let start = if delay_us > 0 { Start::After(sched::ns(delay_us)) } else { Start::AtStart };
        for _ in 0..task.instances() {
            out.push(TaskSpec { name: format!("{}-{}", spec.name, out.len()), start, ..spec.clone() });
        }
    }
    let forked = tasks.iter().zip(specs).filter(|(task, _)| task.is_forked);
    out.extend(forked.map(|(_, spec)| TaskSpec { start: Start::OnFork, ..spec.clone() }));
    out
}

/// `mp3` of `dir/mp3.json`.
fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".json").unwrap_or(name).to_owned()
}
