// SPDX-License-Identifier: GPL-2.0-or-later
//! The folder of a recording of decisions.

use crate::exit::Failure;
use crate::output;
use crate::verbs::record::lines::Lines;
use pelton_lab::run::LabError;
use pelton_lab::verbs::live::LiveFiles;
use pelton_trace::decided::{DecidedTable, FREQUENCIES, MACHINE, PLACEMENTS};
use std::path::{Path, PathBuf};

/// Tables, open once something is recorded.
pub(super) struct Files {
    folder: PathBuf,
    frequencies: Option<Lines>,
    placements: Option<Lines>,
    /// Reason why the files could not be written.
    pub failure: Option<Failure>,
}

impl Files {
    /// The files in `folder`, which is made when it is not there; without one nothing is written.
    pub fn new(folder: Option<&Path>) -> Result<Files, Failure> {
        if let Some(folder) = folder {
            let hint = "name a folder that can be made";
            std::fs::create_dir_all(folder)
                .map_err(|e| Failure::cannot(format!("cannot make the folder {}: {e}", folder.display()), hint))?;
        }
        let folder = folder.unwrap_or(Path::new("")).to_owned();
        Ok(Files { folder, frequencies: None, placements: None, failure: None })
    }

    fn table(&mut self, table: DecidedTable) -> &mut Option<Lines> {
        match table {
            DecidedTable::Frequencies => &mut self.frequencies,
            DecidedTable::Placements => &mut self.placements,
        }
    }

    fn close(&mut self, machine: &str) -> Result<Vec<String>, Failure> {
        self.frequencies.take().map_or(Ok(()), Lines::finish)?;
        self.placements.take().map_or(Ok(()), Lines::finish)?;
        output::write(&self.folder.join(MACHINE), machine)?;
        let names = [MACHINE, FREQUENCIES, PLACEMENTS].map(|name| self.folder.join(name).display().to_string());
        Ok(names.into())
    }

    fn or_failed<T>(&mut self, result: Result<T, Failure>) -> Result<T, LabError> {
        result.map_err(|failure| {
            self.failure = Some(failure);
            LabError::Caller
        })
    }
}

impl LiveFiles for Files {
    fn open(&mut self, table: DecidedTable) -> Result<(), LabError> {
        let lines = Lines::create(&self.folder.join(table.file()));
        *self.table(table) = Some(self.or_failed(lines)?);
        Ok(())
    }

    fn line(&mut self, table: DecidedTable, line: &str) {
        self.table(table).iter_mut().for_each(|lines| lines.put(line));
    }

    fn have_failed(&self) -> bool {
        [&self.frequencies, &self.placements].into_iter().flatten().any(Lines::have_failed)
    }

    fn end(&mut self, machine: &str) -> Result<Vec<String>, LabError> {
        let closed = self.close(machine);
        self.or_failed(closed)
    }
}
