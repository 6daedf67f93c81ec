// SPDX-License-Identifier: GPL-2.0-or-later
//! Folder of a sweep: `sweep.json` says what it is of, `part-ID.parquet` is a chunk. A file is written beside and moved
//! when it is complete, so that whatever ends a program loses at most the chunks that it was at, and several may work
//! on one folder.

use crate::files;
use pelton_lab::run::{Fault, LabError};
use pelton_lab::verbs::sweep::{Keep, SweepRequest};
use pelton_scenario::reading;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// File that says what a folder is of.
const ABOUT: &str = "sweep.json";
/// Largest such file that is read: a grid of the largest size.
const ABOUT_BYTES_MAX: usize = 64 << 20;

/// A folder of chunks.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder of this sweep, which is made where it is not there.
    ///
    /// # Errors
    /// When it is one of another sweep, or of another version of the rules, or cannot be written.
    pub fn of(path: &Path, request: &SweepRequest) -> Result<Folder, LabError> {
        let folder = Folder { path: path.to_owned() };
        let about = json!({
            "result": "sweep-folder",
            "version": env!("CARGO_PKG_VERSION"),
            "core": pelton_core::CORE_HASH,
            "request": request,
        });
        fs::create_dir_all(path).map_err(LabError::Output)?;
        if let Some(found) = folder.about()? {
            return if found == about { Ok(folder) } else { Err(other(path, &found, &about)) };
        }
        let text = serde_json::to_string_pretty(&about).map_err(|why| LabError::Output(why.into()))?;
        folder.put(ABOUT, (text + "\n").as_bytes())?;
        Ok(folder)
    }

    fn about(&self) -> Result<Option<Value>, LabError> {
        let path = self.path.join(ABOUT);
        match reading::text(&path, ABOUT_BYTES_MAX) {
            Ok(text) => Ok(Some(serde_json::from_str(&text).unwrap_or(Value::Null))),
            Err(_) if !path.exists() => Ok(None),
            Err(why) => Err(LabError::input(format!("{}: {why}", path.display()))),
        }
    }

    /// Name of the file of a chunk.
    pub fn file(&self, id: &str) -> PathBuf {
        self.path.join(format!("part-{id}.parquet"))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), LabError> {
        files::beside(&self.path.join(name), |mut file| file.write_all(bytes).map_err(LabError::Output))
    }
}

/// Refusal of a folder of another sweep.
fn other(path: &Path, found: &Value, about: &Value) -> LabError {
    let field = ["version", "core", "request"].into_iter().find(|field| found[field] != about[field]);
    let why = match field {
        Some("request") | None => "of another sweep".to_owned(),
        Some(field) => format!("of {field} {}, this program has {}", found[field], about[field]),
    };
    let reason = format!("{}: it has files {why}", path.display());
    LabError::refused(Fault::Input, reason, "give another folder: numbers of two sweeps are not mixed")
}

impl Keep for Folder {
    fn has(&self, id: &str) -> bool {
        self.file(id).is_file()
    }

    fn keep(&self, id: &str, file: &[u8]) -> Result<(), LabError> {
        self.put(&format!("part-{id}.parquet"), file)
    }
}
