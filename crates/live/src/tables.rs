// SPDX-License-Identifier: GPL-2.0-or-later
//! Common parts of recordings of decisions: lines of a table, taken while it lasts, and a summary at its end.

use crate::session::LiveError;

/// Contents of a table of decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableSummary {
    /// CPUs.
    pub cpus: u32,
    /// Records that are in the table.
    pub records: u64,
    /// Records that had no room in the buffer, came cut off, or began in the middle of another one.
    pub lost: u64,
    /// Between the first record and the last, s.
    pub seconds: f64,
    /// The machine: what the table needs beside it, JSON. A table of clamps needs none.
    pub machine: Option<String>,
}

/// A running recording whose records are lines of a table.
pub trait TableSession: Sized {
    /// Summary of the recording.
    type Summary;

    /// The first line of the table.
    fn header(&self) -> String;

    /// Called when the load has run for a moment: a session that counts forgets what came before.
    ///
    /// # Errors
    /// When the kernel does not show its counts, or cannot be made to emit records.
    fn settled(&mut self) -> Result<(), LiveError> {
        Ok(())
    }

    /// Do records come, which are lost when they are not taken in time?
    fn has_records(&self) -> bool {
        true
    }

    /// Waits a moment, then hands each line there is to `put`. Records so far.
    fn poll(&mut self, put: &mut dyn FnMut(&str)) -> u64;

    /// Detaches, hands out the rest, and says what the recording holds.
    ///
    /// # Errors
    /// When the kernel does not say what was counted or lost, or what the machine is.
    fn finish(self, put: &mut dyn FnMut(&str)) -> Result<Self::Summary, LiveError>;
}
