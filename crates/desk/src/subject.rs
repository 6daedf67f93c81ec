// SPDX-License-Identifier: GPL-2.0-or-later
//! Something to look into: a run, which can be made again, or a trace, which can be read again. Each question costs one
//! pass over its events; what a pass found is kept.

use crate::events::EventTables;
use crate::frames::states::{self, States};
use crate::table::Table;
use pelton_lab::measure::summary::RunSummary;
use pelton_lab::plan::Prepared;
use pelton_lab::run::{Fault, LabError};
use pelton_lab::verbs::export::{self, ExportRequest};
use pelton_lab::verbs::run::{RunRequest, run_into, summary_of, trace_header};
use pelton_lab::watch::Watch;
use pelton_model::Plan;
use pelton_schema::{Asked, EVENTS, Event, NullSink, Sink, TeeSink};
use pelton_trace::import::TraceInfo;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A run or a trace, and the tables that were asked for.
pub struct Subject {
    source: Source,
    kept: Mutex<BTreeMap<&'static str, Arc<Table>>>,
    facts: Mutex<Facts>,
}

enum Source {
    Run {
        prepared: Box<Prepared>,
        seed: u64,
    },
    /// A run whose frequencies a caller chose: what happened was kept, for it may choose otherwise another time.
    Prototype {
        prepared: Box<Prepared>,
    },
    Trace {
        path: PathBuf,
        format: Option<String>,
    },
}

/// Chooses the frequency of a domain before table and limits, kHz; `None`: the governor's. It gets the time, ns, the
/// domain, and the request of each of its CPUs.
pub type Governor<'a> = dyn FnMut(u64, u32, &[Asked]) -> Option<u32> + Send + 'a;

/// Facts about all of it, beside its events.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Names of tasks by their numbers.
    pub names: BTreeMap<u32, String>,
    /// CPUs.
    pub cpus: u32,
    /// CPUs of each frequency domain, where they are known.
    pub domains: Vec<Vec<u32>>,
    /// Time of its first event or its beginning, on the clock of its events, ns.
    pub start_ns: u64,
    /// Time of its end, on that clock, ns.
    pub end_ns: u64,
    /// Damage and losses of a trace, in words; `None`: none.
    pub damage: Option<String>,
}

impl Subject {
    /// Runs a request; events of these names are kept at once.
    ///
    /// # Errors
    /// When an input is wrong, no event has such a name, or the run was stopped.
    pub fn run(request: &RunRequest, events: &[String], watch: &dyn Watch) -> Result<(Subject, RunSummary), LabError> {
        let mut tables = selected(events)?;
        let prepared = request.prepare(watch)?;
        // Without events to keep none is made.
        let report = match events.is_empty() {
            true => run_into(&prepared, request.seed, NullSink, watch)?,
            false => run_into(&prepared, request.seed, &mut tables, watch)?,
        };
        let summary = summary_of(&prepared, &report);
        let facts = facts_of(&prepared, report.duration_ns);
        let source = Source::Run { prepared: Box::new(prepared), seed: request.seed };
        let subject = Subject { source, kept: Mutex::default(), facts: Mutex::new(facts) };
        subject.keep(tables);
        Ok((subject, summary))
    }

    /// Runs a request under a governor of the caller's: a prototype. All events are kept.
    ///
    /// # Errors
    /// As [`Subject::run()`].
    pub fn prototype(
        request: &RunRequest,
        governor: &mut Governor<'_>,
        watch: &dyn Watch,
    ) -> Result<(Subject, RunSummary), LabError> {
        let prepared = request.prepare(watch)?;
        let all = EventTables::of(EVENTS.iter().map(|info| info.name));
        let tables = all.map_err(|why| LabError::refused(Fault::Request, why, ""))?;
        let mut governed = Governed { tables: TeeSink(tables, States::default()), governor };
        let report = run_into(&prepared, request.seed, &mut governed, watch)?;
        let mut summary = summary_of(&prepared, &report);
        summary.remarks.push("a prototype: a function of the caller chose frequencies".to_owned());
        let facts = facts_of(&prepared, report.duration_ns);
        let TeeSink(tables, states) = governed.tables;
        let source = Source::Prototype { prepared: Box::new(prepared) };
        let subject = Subject { source, kept: Mutex::default(), facts: Mutex::new(facts) };
        subject.keep(tables);
        subject.kept_or(states::NAME, || Ok(states.table()))?;
        Ok((subject, summary))
    }

    /// A trace of the kind that its content shows, or of `format`. It is opened, and read when something is asked for.
    ///
    /// # Errors
    /// When it is no regular file, or cannot be read.
    pub fn trace(path: &Path, format: Option<&str>, watch: &dyn Watch) -> Result<Subject, LabError> {
        // A stream could be read once only.
        if path.as_os_str() == "-" || path.exists() && !path.is_file() {
            let reason = format!("{}: not a regular file", path.display());
            return Err(LabError::refused(Fault::Input, reason, "save it first: it is read again for each question"));
        }
        let source = Source::Trace { path: path.to_owned(), format: format.map(str::to_owned) };
        let subject = Subject { source, kept: Mutex::default(), facts: Mutex::default() };
        export::open(&subject.export_request(), watch)?;
        Ok(subject)
    }

    /// The plan of a run.
    pub fn plan(&self) -> Option<&Plan> {
        match &self.source {
            Source::Run { prepared, .. } | Source::Prototype { prepared } => Some(&prepared.plan),
            Source::Trace { .. } => None,
        }
    }

    /// Facts; those of a trace are known once it was read.
    pub fn facts(&self) -> Facts {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tables of these events.
    ///
    /// # Errors
    /// When no event has such a name, the trace cannot be read, or the pass was stopped.
    pub fn events(&self, names: &[&str], watch: &dyn Watch) -> Result<Vec<Arc<Table>>, LabError> {
        let missing: Vec<String> = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            names.iter().filter(|name| !kept.contains_key(**name)).map(|&name| name.to_owned()).collect()
        };
        let tables = selected(&missing)?;
        if !missing.is_empty() {
            let mut tables = tables;
            self.follow(&mut tables, watch)?;
            self.keep(tables);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(names.iter().filter_map(|name| kept.get(*name).cloned()).collect())
    }

    /// The table that is kept under a name, or the one that is made now.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn kept_or(
        &self,
        name: &'static str,
        make: impl FnOnce() -> Result<Table, LabError>,
    ) -> Result<Arc<Table>, LabError> {
        let found = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(found) = found {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(name, Arc::clone(&made));
        Ok(made)
    }

    /// Sends all events to `sink`.
    ///
    /// # Errors
    /// When the trace cannot be read, or the pass was stopped.
    pub fn follow(&self, sink: &mut impl Sink, watch: &dyn Watch) -> Result<(), LabError> {
        match &self.source {
            Source::Run { prepared, seed } => run_into(prepared, *seed, sink, watch).map(drop),
            Source::Prototype { .. } => Err(once()),
            Source::Trace { path, .. } => {
                let request = self.export_request();
                let mut opened = export::open(&request, watch)?;
                let mut span = Span::default();
                if opened.copy(&mut TeeSink(sink, &mut span), watch)?.stopped {
                    return Err(LabError::Stopped("interrupted: the trace was not read to its end".to_owned()));
                }
                let info = opened.info();
                let facts = facts_of_trace(info, &span);
                if let Some(damage) = &facts.damage {
                    watch.note(&format!("{}: {damage}", path.display()));
                }
                *self.facts.lock().unwrap_or_else(PoisonError::into_inner) = facts;
                Ok(())
            }
        }
    }

    /// True when it can be gone through again, and has a log.
    ///
    /// # Errors
    /// Why not.
    pub fn has_log(&self) -> Result<(), LabError> {
        match &self.source {
            Source::Run { .. } => Ok(()),
            Source::Prototype { .. } => Err(once()),
            Source::Trace { .. } => {
                let hint = "`pelton trace export` writes a trace in another form";
                Err(LabError::refused(Fault::Request, "a trace is no run", hint))
            }
        }
    }

    /// Writes a run's log, byte for byte that of the command line.
    ///
    /// # Errors
    /// When it is no run, it was stopped, or `out` fails.
    pub fn write_log(&self, out: impl Write, watch: &dyn Watch) -> Result<(), LabError> {
        self.has_log()?;
        let Source::Run { prepared, .. } = &self.source else { return Err(once()) };
        let header = trace_header(prepared);
        let mut log = pelton_trace::PeltonLog::new(out, &header);
        self.follow(&mut log, watch)?;
        log.finish().map(drop).map_err(LabError::Output)
    }

    fn export_request(&self) -> ExportRequest {
        match &self.source {
            Source::Trace { path, format } => {
                ExportRequest { trace: path.clone(), input_format: format.clone(), ..ExportRequest::default() }
            }
            Source::Run { .. } | Source::Prototype { .. } => ExportRequest::default(),
        }
    }

    fn keep(&self, tables: EventTables) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(tables.finish().into_iter().map(|(name, table)| (name, Arc::new(table))));
    }
}

/// Facts of a run.
fn facts_of(prepared: &Prepared, end_ns: u64) -> Facts {
    let names = trace_header(prepared).tasks.into_iter().enumerate();
    Facts {
        names: names.map(|(tid, name)| (tid as u32, name)).collect(),
        cpus: prepared.plan.machine.cpus.len() as u32,
        domains: prepared.plan.machine.domains.iter().map(|domain| domain.cpus.clone()).collect(),
        start_ns: 0,
        end_ns,
        damage: None,
    }
}

/// Facts of a trace that was read. A run of ours says how long it was; other traces end with their last event.
fn facts_of_trace(info: &TraceInfo, span: &Span) -> Facts {
    let header = info.header.as_ref().filter(|header| header.is_simulated());
    let (start_ns, end_ns) = match header {
        Some(header) => (0, header.duration_ns.max(span.last_ns)),
        None => (span.first_ns.unwrap_or(0), span.last_ns),
    };
    let layouts = info.header.iter().flat_map(|header| header.cpus.iter());
    let mut domains: Vec<Vec<u32>> = Vec::new();
    for (cpu, layout) in (0..).zip(layouts) {
        let domain = layout.domain as usize;
        if domain < info.cpus as usize {
            domains.resize(domains.len().max(domain + 1), Vec::new());
            domains[domain].push(cpu);
        }
    }
    let damage = (!info.is_complete()).then(|| {
        let TraceInfo { damaged, lost, lost_unknown, .. } = info;
        format!("damaged: {damaged} places; lost: {lost} events and {lost_unknown} times an unknown number")
    });
    Facts { names: info.names.clone(), cpus: info.cpus, domains, start_ns, end_ns, damage }
}

fn once() -> LabError {
    let hint = "its function may choose otherwise another time";
    LabError::refused(Fault::Request, "a prototype is not run again", hint)
}

/// Keeps events, and asks the caller at each evaluation.
struct Governed<'a, 'b> {
    tables: TeeSink<EventTables, States>,
    governor: &'a mut Governor<'b>,
}

impl Sink for Governed<'_, '_> {
    const REQUESTS: bool = true;

    fn event(&mut self, time_ns: u64, event: &Event) {
        self.tables.event(time_ns, event);
    }

    fn choose(&mut self, time_ns: u64, domain: u32, asked: &[Asked]) -> Option<u32> {
        (self.governor)(time_ns, domain, asked)
    }
}

fn selected(names: &[String]) -> Result<EventTables, LabError> {
    EventTables::of(names.iter().map(String::as_str))
        .map_err(|why| LabError::refused(Fault::Request, why, "docs/reference/events.md says what each one holds"))
}

/// Times of the first and the last event.
#[derive(Default)]
struct Span {
    first_ns: Option<u64>,
    last_ns: u64,
}

impl Sink for Span {
    fn event(&mut self, time_ns: u64, _: &Event) {
        self.first_ns.get_or_insert(time_ns);
        self.last_ns = time_ns;
    }
}
