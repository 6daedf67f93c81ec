// SPDX-License-Identifier: GPL-2.0-or-later
//! Content of a trace: its format, length, events and damage.

use super::inputs::opened;
use crate::results::traces::{Damage, Info, Task};
use crate::run::LabError;
use crate::watch::{Amount, Watch, is_stopped};
use pelton_trace::import::TraceInfo;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Tasks that are listed.
const TASKS_SHOWN: usize = 10;

/// Request: the trace to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceInfoRequest {
    /// The file; `-` = standard input.
    pub trace: PathBuf,
    /// Kind of the file, when its content does not show it.
    pub input_format: Option<String>,
}

/// A trace that was read once.
#[derive(Debug)]
pub struct Looked {
    /// About the file.
    pub info: TraceInfo,
    /// Begin of the longest time without an event, ns after the first event.
    pub silence_at_ns: u64,
    /// All facts about the trace as a result.
    pub result: Info,
}

/// Reads a trace: its format, length, events, damage.
///
/// # Errors
/// When it cannot be read or reading was stopped.
pub fn trace_info(request: &TraceInfoRequest, watch: &dyn Watch) -> Result<Looked, LabError> {
    let mut source = opened(&request.trace, request.input_format.as_deref(), watch)?;
    watch.begins("events", Amount::Events);
    let (mut found, mut events) = (Found::default(), 0u64);
    while let Some(timed) = source.next()? {
        events += 1;
        found.at(timed.time_ns);
        if let pelton_schema::Event::SchedSwitch { next_tid, .. } = timed.event {
            *found.switches.entry(next_tid).or_default() += 1;
        }
        watch.events(events);
        if events.is_multiple_of(4096) && is_stopped(watch) {
            return Err(LabError::Stopped("interrupted while reading: no result".to_owned()));
        }
    }
    watch.ends();
    let info = source.info().clone();
    let result = as_result(&request.trace, &info, &found);
    Ok(Looked { info, silence_at_ns: found.silence.1, result })
}

/// Findings of one pass over a trace.
#[derive(Default)]
struct Found {
    first_ns: Option<u64>,
    last_ns: u64,
    /// Longest time without an event, ns, and when it begins, ns after the first event.
    silence: (u64, u64),
    /// Switches to each task.
    switches: BTreeMap<u32, u64>,
}

impl Found {
    fn at(&mut self, now_ns: u64) {
        let first_ns = *self.first_ns.get_or_insert(now_ns);
        let before_ns = if self.last_ns == 0 { now_ns } else { self.last_ns };
        let (length_ns, at_ns) = (now_ns.saturating_sub(before_ns), before_ns.saturating_sub(first_ns));
        if length_ns > self.silence.0 {
            self.silence = (length_ns, at_ns);
        }
        self.last_ns = now_ns;
    }
}

fn top_tasks(found: &Found) -> Vec<(u32, u64)> {
    let mut tasks: Vec<_> =
        found.switches.iter().map(|(&tid, &count)| (tid, count)).filter(|task| task.0 != 0).collect();
    tasks.sort_by_key(|&(tid, count)| (std::cmp::Reverse(count), tid));
    tasks.truncate(TASKS_SHOWN);
    tasks
}

fn as_result(path: &Path, info: &TraceInfo, found: &Found) -> Info {
    let damage = |d: &pelton_trace::import::Damage| Damage { position: d.position, what: d.what.clone() };
    let task = |(tid, switches)| Task { tid, name: info.task_name(tid), switches };
    Info {
        trace: path.display().to_string(),
        format: info.format.name(),
        cpus: info.cpus,
        kernel: info.kernel.clone(),
        resolution_ns: info.resolution_ns,
        first_ns: found.first_ns,
        last_ns: found.first_ns.map(|_| found.last_ns),
        longest_silence_ns: found.silence.0,
        remarks: info.remarks.clone(),
        events: info.events.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect(),
        skipped: info.skipped.clone(),
        lost: info.lost,
        lost_unknown: info.lost_unknown,
        damaged: info.damaged,
        damage: info.damage.iter().map(damage).collect(),
        tasks: top_tasks(found).into_iter().map(task).collect(),
    }
}
