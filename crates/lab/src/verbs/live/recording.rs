// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording of a scheduler's decisions while it runs.

use super::LiveFiles;
use crate::results::live::LiveRecorded;
use crate::run::LabError;
use pelton_live::scheduler::{DecisionLog, Machine, Records};
use pelton_trace::decided::DecidedTable;

/// A recording that goes on.
pub(super) struct Recording<'a> {
    files: &'a mut dyn LiveFiles,
    log: DecisionLog,
}

impl<'a> Recording<'a> {
    /// Opens the tables.
    pub fn begin(files: &'a mut dyn LiveFiles, machine: &Machine, profile: &str) -> Result<Recording<'a>, LabError> {
        let log = DecisionLog::new(machine, profile);
        for table in DecidedTable::ALL {
            files.open(table)?;
            files.line(table, &log.header(table));
        }
        Ok(Recording { files, log })
    }

    /// Writes what was decided since the last look; false: it could not be written.
    pub fn follow(&mut self, host: &mut dyn Records) -> bool {
        self.log.follow(host, &mut |table, line| self.files.line(table, line));
        !self.files.have_failed()
    }

    /// Detaches the scheduler, and writes the rest.
    pub fn end(mut self, host: &mut dyn Records) -> Result<LiveRecorded, LabError> {
        host.detach();
        self.follow(host);
        let DecisionLog { decisions, placements, .. } = self.log;
        let lost = self.log.lost(host);
        Ok(LiveRecorded { files: self.files.end(&self.log.machine(lost))?, decisions, placements, lost })
    }
}
