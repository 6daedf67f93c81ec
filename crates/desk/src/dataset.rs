// SPDX-License-Identifier: GPL-2.0-or-later
//! Folder of a sweep: `sweep.json` says what it is of, `part-ID.parquet` is a chunk. A file comes to be when it is
//! complete, so that whatever ends a program loses at most the chunks that it was at, and several may work on one
//! folder.

use crate::files;
use pelton_lab::run::{Fault, LabError};
use pelton_lab::verbs::sweep::{Grid, Keep, SweepRequest};
use pelton_lab::watch::Watch;
use pelton_scenario::reading;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// File that says what a folder is of.
const ABOUT: &str = "sweep.json";
/// Largest such file that is read: a grid of the largest size.
const ABOUT_BYTES_MAX: usize = 64 << 20;
/// Both ends of a Parquet file.
const MAGIC: &[u8; 4] = b"PAR1";

/// A folder of chunks.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

/// A sweep and its folder.
#[derive(Debug)]
pub struct Opened {
    /// The folder.
    pub folder: Folder,
    /// The grid.
    pub grid: Grid,
    /// Names of the inputs of each point.
    pub plans: Vec<u64>,
}

impl Folder {
    /// Plans a sweep, and opens its folder, which is made where it is not there.
    ///
    /// # Errors
    /// When an input is wrong, the folder is one of another sweep, of other inputs or rules, or cannot be written.
    pub fn plan(path: &Path, request: &SweepRequest, watch: &dyn Watch) -> Result<Opened, LabError> {
        let grid = Grid::of(request)?;
        let plans = grid.plans(watch)?;
        let folder = Folder { path: path.to_owned() };
        let about = json!({
            "result": "sweep-folder",
            "version": env!("CARGO_PKG_VERSION"),
            "core": pelton_core::CORE_HASH,
            "request": request,
            "plans": plans.iter().map(|plan| format!("{plan:016x}")).collect::<Vec<_>>(),
        });
        fs::create_dir_all(path).map_err(|why| files::cannot(path, &why))?;
        if folder.about()?.is_none() {
            folder.claim(&about)?;
        }
        match folder.about()? {
            Some(found) if found == about => Ok(Opened { folder, grid, plans }),
            found => Err(other(path, &found.unwrap_or_default(), &about)),
        }
    }

    /// Opens the folder of a sweep that was planned before.
    ///
    /// # Errors
    /// When it is none, or of other rules than this program's.
    pub fn open(path: &Path) -> Result<Opened, LabError> {
        let folder = Folder { path: path.to_owned() };
        let found = folder.about()?.unwrap_or_default();
        let own = json!({ "version": env!("CARGO_PKG_VERSION"), "core": pelton_core::CORE_HASH });
        if found["version"] != own["version"] || found["core"] != own["core"] {
            return Err(other(path, &found, &own));
        }
        let request: Result<SweepRequest, _> = serde_json::from_value(found["request"].clone());
        let plan = |plan: &Value| u64::from_str_radix(plan.as_str()?, 16).ok();
        let plans: Option<Vec<u64>> = found["plans"].as_array().and_then(|plans| plans.iter().map(plan).collect());
        match (request, plans) {
            (Ok(request), Some(plans)) => Ok(Opened { grid: Grid::of(&request)?, folder, plans }),
            _ => Err(LabError::input(format!("{}: it is damaged", path.join(ABOUT).display()))),
        }
    }

    fn about(&self) -> Result<Option<Value>, LabError> {
        let path = self.path.join(ABOUT);
        match reading::text(&path, ABOUT_BYTES_MAX) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|why| LabError::input(format!("{}: it is damaged: {why}", path.display()))),
            Err(_) if !path.exists() => Ok(None),
            Err(why) => Err(LabError::input(format!("{}: {why}", path.display()))),
        }
    }

    /// Says what the folder is of, unless another program just did.
    fn claim(&self, about: &Value) -> Result<(), LabError> {
        let path = &self.path;
        let entries = fs::read_dir(path).map_err(|why| files::cannot(path, &why))?;
        let is_chunk = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with("part-");
        if entries.flatten().any(is_chunk) {
            let reason = format!("{}: it has files of a sweep and no {ABOUT}", path.display());
            return Err(LabError::refused(Fault::Input, reason, "give another folder"));
        }
        let text = format!("{about:#}\n");
        files::first(&path.join(ABOUT), |mut file| file.write_all(text.as_bytes()))
    }

    /// Name of the file of a chunk.
    pub fn file(&self, id: &str) -> PathBuf {
        self.path.join(format!("part-{id}.parquet"))
    }
}

/// Refusal of a folder of another sweep.
fn other(path: &Path, found: &Value, about: &Value) -> LabError {
    let field = ["version", "core", "request", "plans"].into_iter().find(|field| found[field] != about[field]);
    let why = match field {
        Some("plans") => "of other inputs: a file of a board, a workload or a policy has changed".to_owned(),
        Some("request") | None => "of another sweep".to_owned(),
        Some(field) => format!("of {field} {}, this program has {}", found[field], about[field]),
    };
    let reason = format!("{}: it has files {why}", path.display());
    LabError::refused(Fault::Input, reason, "give another folder: numbers of two sweeps are not mixed")
}

impl Keep for Folder {
    fn has(&self, id: &str) -> bool {
        // A machine that lost its power may have left an empty file.
        reading::ends(&self.file(id)).is_ok_and(|ends| ends == [*MAGIC; 2])
    }

    fn keep(&self, id: &str, file: &[u8]) -> Result<(), LabError> {
        let write = |mut out: File| out.write_all(file).map_err(LabError::Output);
        files::beside(&self.file(id), write)
    }
}
