// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton trace export --to csv|json|parquet`: events as tables.

use super::common::Screen;
use super::trace::not_converted;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{self, Pending};
use pelton_lab::verbs::export::Opened;
use pelton_schema::{EVENTS, Event, EventInfo, Sink};
use pelton_trace::import::{Converted, TraceInfo};
use pelton_trace::{EventTable, TableForm, one_line};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// True for a folder, and for a path that ends in `/`.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Failure of an output that cannot be written. A reader that went away (`| head`) has what it wanted: that is no
/// failure.
pub(super) fn cannot(path: &Path, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure { exit: Exit::Good, text: String::new() };
    }
    Failure::cannot(format!("cannot write {}: {error}", path.display()), "is the disk full?")
}

/// A table of each kind of event that there is, the names of the tasks, and what the trace is.
struct Folder {
    path: PathBuf,
    form: TableForm,
    tables: BTreeMap<u8, (EventTable<File>, Pending)>,
    failed: Option<Failure>,
    first_ns: Option<u64>,
    last_ns: u64,
}

impl Folder {
    fn table(&mut self, event: &Event) -> Result<Option<&mut EventTable<File>>, Failure> {
        let Some(info) = EventInfo::of_code(event.code()) else { return Ok(None) };
        if !self.tables.contains_key(&info.code) {
            let pending = output::create_in(&self.path, &format!("{}.{}", info.name, self.form.ending()), false)?;
            let table = EventTable::new(pending.writer()?, info, self.form);
            self.tables.insert(info.code, (table, pending));
        }
        Ok(self.tables.get_mut(&info.code).map(|(table, _)| table))
    }
}

impl Sink for Folder {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.event_known(time_ns, event, u64::MAX);
    }

    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        if self.failed.is_some() {
            return;
        }
        self.first_ns.get_or_insert(time_ns);
        self.last_ns = time_ns;
        match self.table(event) {
            Ok(Some(table)) => table.event_known(time_ns, event, known),
            Ok(None) => {}
            Err(failure) => self.failed = Some(failure),
        }
    }
}

/// Writes a file for each kind of event that there is.
pub fn folder(
    opened: &mut Opened<'_>,
    output: &Path,
    form: TableForm,
    watch: &Screen<'_>,
) -> Result<Converted, Failure> {
    let path = output.to_owned();
    emptied(&path, form)?;
    // Held to the end and written last: where it is missing the tables are not all there. A second writer finds it
    // taken.
    let mut whole = output::create_in(&path, WHOLE, false)?;
    let mut sink = Folder { path, form, tables: BTreeMap::new(), failed: None, first_ns: None, last_ns: 0 };
    let converted = opened.copy(&mut sink, watch).map_err(|error| not_converted(error, output))?;
    if let Some(failure) = sink.failed {
        return Err(failure);
    }
    if converted.stopped {
        return Err(interrupt::failure(format!("interrupted: nothing is written to {}", output.display())));
    }
    let about = about(opened.info(), (sink.first_ns, sink.last_ns));
    let mut names = output::create_in(&sink.path, TASKS, false)?;
    names.write_all(tasks(opened.info()).as_bytes())?;
    names.keep()?;
    let mut pending = Vec::new();
    for (table, file) in sink.tables.into_values() {
        table.finish().map_err(|error| cannot(output, &error))?;
        pending.push(file);
    }
    pending.into_iter().try_for_each(Pending::keep)?;
    whole.write_all((serde_json::to_string_pretty(&about).unwrap_or_default() + "\n").as_bytes())?;
    whole.keep()?;
    Ok(converted)
}

/// Says what the tables are, and that they are all there.
const WHOLE: &str = "trace.json";
/// Names of the tasks.
const TASKS: &str = "tasks.csv";

/// Makes the folder, which must be empty but for what a killed export left: its tables are removed.
fn emptied(path: &Path, form: TableForm) -> Result<(), Failure> {
    let failed = |error: io::Error| cannot(path, &error);
    std::fs::create_dir_all(path).map_err(failed)?;
    let was_left = output::was_left(&path.join(WHOLE)) && !path.join(WHOLE).exists();
    let is_ours = |name: &str| {
        let name = name.strip_suffix(&output::part_name("")).unwrap_or(name);
        let table = name.strip_suffix(form.ending()).and_then(|name| name.strip_suffix('.'));
        name == TASKS || name == WHOLE || EVENTS.iter().any(|info| Some(info.name) == table)
    };
    let names = std::fs::read_dir(path).map_err(failed)?.collect::<io::Result<Vec<_>>>().map_err(failed)?;
    if names.iter().any(|entry| !was_left || !entry.file_name().to_str().is_some_and(is_ours)) {
        // Tables of another trace beside these would be read with them.
        let reason = format!("the folder {} is not empty", path.display());
        return Err(Failure::new(Exit::Usage, reason, Some("name a new one")));
    }
    names.iter().try_for_each(|entry| std::fs::remove_file(entry.path())).map_err(failed)
}

/// Ids and names of the tasks, the last name of each.
fn tasks(info: &TraceInfo) -> String {
    let mut sheet = crate::sheet::Sheet::new(&["tid", "<name"]);
    info.names.iter().for_each(|(tid, name)| sheet.row(vec![tid.to_string(), one_line(name).into_owned()]));
    sheet.csv()
}

fn about(info: &TraceInfo, (first_ns, last_ns): (Option<u64>, u64)) -> serde_json::Value {
    json!({
        "schema": pelton_lab::about::SCHEMA, "version": env!("CARGO_PKG_VERSION"), "format": info.format.name(),
        "cpus": info.cpus, "kernel": info.kernel, "resolution_ns": info.resolution_ns, "first_ns": first_ns,
        "last_ns": first_ns.map(|_| last_ns), "remarks": info.remarks, "events": info.events, "skipped": info.skipped,
        "lost": info.lost, "lost_unknown": info.lost_unknown, "damaged": info.damaged, "complete": info.is_complete(),
    })
}
