// SPDX-License-Identifier: GPL-2.0-or-later
//! Our own log as a source.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pelton_schema::{EVENTS, Event, unpack_name};

use super::counts::Counts;
use super::{Format, ImportError, Source, Timed, TraceInfo};
use crate::log::{LogError, LogReader};

/// A log being read.
pub(super) struct LogSource<R> {
    path: PathBuf,
    reader: LogReader<R>,
    info: TraceInfo,
    counts: Counts,
}

impl<R: Read> LogSource<R> {
    /// Reads the header; tasks get the names it gives.
    pub fn new(input: R, path: &Path) -> Result<Self, ImportError> {
        let reader = LogReader::open(input).map_err(|error| into_import(path, error))?;
        let mut info = TraceInfo::new(Format::PeltonLog);
        let header = reader.header().clone();
        info.cpus = u32::try_from(header.cpus.len()).unwrap_or(u32::MAX);
        for (tid, name) in (0u32..).zip(&header.tasks) {
            info.name_task(tid, name);
        }
        if !header.platform.is_empty() {
            info.remarks.push(format!("platform: {}", header.platform));
            info.remarks.push(format!("workload: {}", header.workload));
            if !header.profile.is_empty() {
                info.remarks.push(format!("kernel profile: {}", header.profile));
            }
        }
        info.kernel = Some(header.kernel.clone()).filter(|kernel| !kernel.is_empty());
        info.remarks.extend(header.remarks.iter().cloned());
        info.groups.clone_from(&header.groups);
        info.remarks.extend(reader.differences().iter().map(|difference| format!("schema: {difference}")));
        for event in EVENTS {
            let lacks = |column: &str| reader.missing().contains(&(event.name, column));
            let carried = event.columns.iter().filter(|column| !lacks(column.name));
            carried.for_each(|column| info.has_column(event, column.name));
        }
        // A run declares its tasks, the idle one at least; what was recorded on a machine names them as it goes.
        info.run_ids = !header.tasks.is_empty();
        info.header = Some(header);
        Ok(LogSource { path: path.to_owned(), reader, info, counts: Counts::default() })
    }

    fn note(&mut self, event: &Event) {
        match *event {
            Event::TaskName { tid, name_0, name_8 } => self.info.name_task(tid, &unpack_name(name_0, name_8)),
            // A log that was made from a foreign trace has no CPUs in its header.
            Event::SchedSwitch { cpu, .. } => self.info.cpus = self.info.cpus.max(cpu.saturating_add(1)),
            Event::LostEvents { count: 0, .. } => self.info.lost_unknown += 1,
            Event::LostEvents { count, .. } => self.info.lost = self.info.lost.saturating_add(count),
            _ => {}
        }
        self.counts.event(event, &mut self.info);
    }
}

impl<R: Read> Source for LogSource<R> {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        match self.reader.next() {
            Some(Ok((time_ns, event))) => {
                self.note(&event);
                Ok(Some(Timed { time_ns, event }))
            }
            Some(Err(LogError::Io(error))) => Err(ImportError::io(&self.path, error)),
            Some(Err(error)) => {
                self.info.damage_at(self.reader.offset(), error);
                self.counts.flush(&mut self.info);
                Ok(None)
            }
            None => {
                self.counts.flush(&mut self.info);
                Ok(None)
            }
        }
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }
}

fn into_import(path: &Path, error: LogError) -> ImportError {
    match error {
        LogError::Io(error) if error.kind() != io::ErrorKind::InvalidData => ImportError::io(path, error),
        LogError::Version { .. } => ImportError::content(path, error.to_string()).help("update pelton"),
        LogError::Corrupt { offset, .. } => ImportError::content(path, error.to_string()).at_offset(offset),
        _ => ImportError::content(path, error.to_string()).help("run or record again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PeltonLog, RunHeader};
    use pelton_schema::{Sink, pack_name};

    fn recorded() -> Vec<u8> {
        let mut file = Vec::new();
        let header = RunHeader { tasks: vec!["idle".into(), "ui".into()], ..RunHeader::default() };
        let mut log = PeltonLog::new(&mut file, &header);
        let (name_0, name_8) = pack_name("late");
        log.event(5, &Event::CpuIdle { cpu: 1, state: 0 });
        log.event(7, &Event::TaskName { tid: 9, name_0, name_8 });
        log.event(9, &Event::LostEvents { cpu: 1, count: 3 });
        log.finish().expect("a vector takes everything");
        file
    }

    #[test]
    fn names_come_from_the_header_and_from_events() {
        let file = recorded();
        let mut source = LogSource::new(&file[..], Path::new("run.plog")).expect("a log");
        let times: Vec<u64> = std::iter::from_fn(|| source.next().expect("reads")).map(|timed| timed.time_ns).collect();
        let info = source.info();
        assert_eq!(times, [5, 7, 9]);
        assert_eq!((info.task_name(1), info.task_name(9), info.lost), ("ui".into(), "late".into(), 3));
        assert_eq!(info.events.values().sum::<u64>(), 3);
        assert!(info.header.is_some() && info.damaged == 0 && info.carries("pelt_se", "load_avg"));
    }

    #[test]
    fn a_cut_log_gives_what_it_holds_and_says_so() {
        let file = recorded();
        for length in 0..file.len() {
            let Ok(mut source) = LogSource::new(&file[..length], Path::new("run.plog")) else { continue };
            while source.next().expect("no fault of the system").is_some() {}
            assert_eq!(source.info().damaged, 1, "cut at {length}");
        }
    }
}
