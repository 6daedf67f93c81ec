// SPDX-License-Identifier: GPL-2.0-or-later
//! Pictures as files: `--plot`.

use crate::exit::{Exit, Failure};
use crate::output;
use pelton_report::chart::{Canvas, png, svg};
use std::ffi::OsStr;
use std::path::Path;

/// Checks the file name of `--plot`: its ending names the form.
pub fn check(path: &Path) -> Result<(), Failure> {
    match ending(path) {
        "svg" | "png" => Ok(()),
        _ => {
            let reason = format!("--plot {}: a picture ends in .svg or .png", path.display());
            Err(Failure::new(Exit::Usage, reason, None))
        }
    }
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(OsStr::to_str).unwrap_or("")
}

/// Writes a picture.
pub fn save(path: &Path, canvas: &Canvas) -> Result<(), Failure> {
    let bytes = if ending(path) == "png" { png(canvas) } else { svg(canvas).into_bytes() };
    let mut file = output::create(path, true)?;
    file.write_all(&bytes)?;
    file.keep()
}
