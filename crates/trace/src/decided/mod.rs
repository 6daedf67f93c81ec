// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of the core as the scheduler of a kernel, with all that they were made of: a folder of two tables and the
//! machine.
//!
//! | file | a line each |
//! |---|---|
//! | [`FREQUENCIES`] | call of the governor that the hook delivered: [`Call`] |
//! | [`PLACEMENTS`] | CPU of a task: [`Place`] |
//! | [`MACHINE`] | the machine and the policies: [`Machine`] |
//!
//! Columns are the core's own fields, found by name.

mod machine;
mod record;

pub use machine::{Machine, Program};
pub use record::{Call, Place, Record, Row};

/// File with the machine.
pub const MACHINE: &str = "live.json";
/// Table of calls of the governor.
pub const FREQUENCIES: &str = "frequencies.csv.gz";
/// Table of placements.
pub const PLACEMENTS: &str = "placements.csv.gz";

/// A table of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedTable {
    /// Calls of the governor.
    Frequencies,
    /// CPUs of tasks.
    Placements,
}

impl DecidedTable {
    /// Both.
    pub const ALL: [DecidedTable; 2] = [DecidedTable::Frequencies, DecidedTable::Placements];

    /// Name of its file.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            DecidedTable::Frequencies => FREQUENCIES,
            DecidedTable::Placements => PLACEMENTS,
        }
    }

    /// Its first line, on a machine of so many CPUs.
    #[must_use]
    pub fn header(self, cpus: usize) -> String {
        let columns = match self {
            DecidedTable::Frequencies => Call::columns(cpus),
            DecidedTable::Placements => Place::columns(cpus),
        };
        columns.join(",") + "\n"
    }
}

/// A record as a line.
#[must_use]
pub fn line<R: Row>(record: &R) -> String {
    let values: Vec<String> = record.values().iter().map(u64::to_string).collect();
    values.join(",") + "\n"
}
