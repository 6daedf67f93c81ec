// SPDX-License-Identifier: GPL-2.0-or-later
//! Events of the running kernel.

use super::work::{Work, cannot, goes_first};
use super::{RecordFiles, RecordRequest, Written};
use crate::results::recorded::RecordReport;
use crate::run::{Fault, LabError};
use crate::watch::Watch;
use pelton_live::{EventSet, Options, SETS, Session, Summary, buffer_mib_default};
use pelton_trace::RunHeader;

/// Records events.
pub(super) fn record(
    request: &RecordRequest,
    work: &mut Work<'_>,
    files: &mut dyn RecordFiles,
    watch: &dyn Watch,
) -> Result<RecordReport, LabError> {
    let mut session = Session::start(&options(request)?).map_err(cannot)?;
    files.begin(Some(&header(&session, request)))?;
    // The recorder's own task sleeps and wakes once before anything changes its weight: its record has been seen then.
    session.poll(&mut |time_ns, event| files.event(time_ns, event));
    work.start(watch)?;
    goes_first();
    work.last(0, watch, files, |files, _| {
        let now = session.poll(&mut |time_ns, event| files.event(time_ns, event));
        Ok(format!("{} events, {} lost", now.events, now.lost))
    })?;
    let summary = session.finish(&mut |time_ns, event| files.event(time_ns, event));
    Ok(report(request, summary, files.end(None)?))
}

fn options(request: &RecordRequest) -> Result<Options, LabError> {
    let sets = sets(request)?;
    let buffer_mib = request.buffer_mib.unwrap_or_else(buffer_mib_default);
    Ok(Options { sets, full: request.full, buffer_mib, btf: request.btf.clone() })
}

fn sets(request: &RecordRequest) -> Result<Vec<EventSet>, LabError> {
    let refused = |reason: String| {
        let known = SETS.map(|(name, _)| name).join(", ");
        LabError::refused(Fault::Request, reason, &format!("sets: {known}, all"))
    };
    let mut sets = Vec::new();
    for name in &request.events {
        match SETS.iter().find(|(set, _)| set == name) {
            Some(&(_, set)) => sets.push(set),
            None if name == "all" => sets.extend(SETS.map(|(_, set)| set)),
            None => return Err(refused(format!("`{name}` is no set of events"))),
        }
    }
    if sets.is_empty() { Err(refused("no events to record".to_owned())) } else { Ok(sets) }
}

fn header(session: &Session, request: &RecordRequest) -> RunHeader {
    let workload = Some(request.workload()).filter(|words| !words.is_empty()).unwrap_or_else(|| "system".to_owned());
    let mut header = pelton_live::header(env!("CARGO_PKG_VERSION"), &workload);
    header.groups = session.groups().to_vec();
    header.remarks.push(format!("events: {}", request.events.join(",")));
    let missing = &session.summary().missing;
    header.remarks.extend(missing.iter().map(|name| format!("missing tracepoint: {name}")));
    header.remarks.extend(session.summary().notes.iter().map(|note| format!("note: {note}")));
    header
}

/// Report on a recording.
fn report(request: &RecordRequest, summary: Summary, written: Written) -> RecordReport {
    RecordReport {
        sets: request.events.join(","),
        full: request.full,
        files: written.files,
        seconds: summary.last_ns.saturating_sub(summary.first_ns) as f64 / 1e9,
        total: summary.total(),
        bytes: written.bytes,
        lost: summary.lost,
        late: summary.late,
        skipped: summary.skipped,
        holes: summary.holes,
        switches: summary.switches,
        missing: summary.missing,
        notes: summary.notes,
        groups: summary.groups,
        events: summary.events,
    }
}
