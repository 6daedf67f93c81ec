// SPDX-License-Identifier: GPL-2.0-or-later
//! The boundary between the core and Rust, which `xtask/bindings` writes: a program of its own, so that nothing else
//! needs bindgen and the libclang that it loads.

use std::path::Path;
use std::process::{Command, Output as Finished};

use super::{Output, output};
use crate::repo;

const MANIFEST: &str = "xtask/bindings/Cargo.toml";
/// Exit code of that program when there is no libclang.
const NO_LIBCLANG: i32 = 3;
/// Files that it writes, of the folder that they belong in.
const FILES: [&str; 4] = ["sys.rs", "sys.c", "sys_wide.rs", "sys_wide.c"];
const FOLDER: &str = "crates/core/src";

/// The files, or why they cannot be had here.
pub enum Boundary {
    /// As they should be.
    Files(Vec<Output>),
    /// A tool is missing.
    Unknown(String),
}

/// Builds the program and runs it.
pub fn outputs() -> Result<Boundary, String> {
    let out = repo::root().join("target/bindings/out");
    std::fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    if let Some(why) = missing()? {
        return Ok(Boundary::Unknown(why));
    }
    let ran = cargo(&["run", "--quiet", "--locked"]).arg("--").arg(repo::root()).arg(&out).output();
    let ran = ran.map_err(|error| format!("cargo: {error}"))?;
    match ran.status.code() {
        Some(0) => FILES.iter().map(|name| formatted(&out, name)).collect::<Result<_, _>>().map(Boundary::Files),
        Some(NO_LIBCLANG) => Ok(Boundary::Unknown(first_line(&ran))),
        _ => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
    }
}

fn cargo(args: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(repo::root()).args(args).args(["--manifest-path", MANIFEST]);
    if args[0] != "fetch" {
        cargo.args(["--target-dir", "target/bindings"]);
    }
    cargo
}

/// The tool that is not here; a lock file that is out of date is a fault.
fn missing() -> Result<Option<String>, String> {
    if !Command::new("rustfmt").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        return Ok(Some("rustfmt is missing, see scripts/setup.sh".to_owned()));
    }
    let fetched = cargo(&["fetch", "--quiet", "--locked"]).output().map_err(|error| format!("cargo: {error}"))?;
    if fetched.status.success() {
        return Ok(None);
    }
    let said = String::from_utf8_lossy(&fetched.stderr).into_owned();
    if said.contains("--locked") { Err(said) } else { Ok(Some("bindgen cannot be fetched".to_owned())) }
}

fn first_line(ran: &Finished) -> String {
    String::from_utf8_lossy(&ran.stderr).lines().next().unwrap_or("no libclang").to_owned()
}

/// A file as rustfmt likes it; C as it is.
fn formatted(out: &Path, name: &str) -> Result<Output, String> {
    let path = out.join(name);
    if name.ends_with(".rs") {
        let config = repo::root().join("rustfmt.toml");
        let ran = Command::new("rustfmt").args(["--edition", "2024", "--config-path"]).arg(config).arg(&path).output();
        let ran = ran.map_err(|error| format!("rustfmt: {error}"))?;
        if !ran.status.success() {
            return Err(format!("{name}: {}", String::from_utf8_lossy(&ran.stderr)));
        }
    }
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
    Ok(output(&format!("{FOLDER}/{name}"), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_the_first_thing_that_is_said() {
        let said =
            Command::new("sh").args(["-c", "echo 'no libclang: why' >&2; echo more >&2"]).output().expect("runs");
        assert_eq!(first_line(&said), "no libclang: why");
    }

    #[test]
    fn files_keep_their_names_and_come_formatted() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("sys.rs"), "fn  a( ){ }\n").expect("written");
        let own = formatted(folder.path(), "sys.rs").expect("formatted");
        assert_eq!((own.path.as_str(), own.text.as_str()), ("crates/core/src/sys.rs", "fn a() {}\n"));
    }
}
