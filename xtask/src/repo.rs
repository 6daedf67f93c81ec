// SPDX-License-Identifier: GPL-2.0-or-later
//! The files of the project: everything git would commit.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One file, read once and handed to every rule.
pub struct File {
    /// Path from the top of the repository, with forward slashes.
    pub path: String,
    /// Content; empty for files that are not text.
    pub text: String,
    /// Size on disk.
    pub size_bytes: u64,
}

impl File {
    /// A file that exists only in a test or an example.
    pub fn example(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned(), size_bytes: text.len() as u64 }
    }

    /// Part of the path after the last dot, or the whole file name without one.
    pub fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.rsplit_once('.').map_or(name, |(_, ext)| ext)
    }

    /// True when one of `prefixes` starts the path.
    pub fn is_under(&self, prefixes: &[&str]) -> bool {
        prefixes.iter().any(|prefix| self.path.starts_with(prefix))
    }
}

/// Top of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// Every file git tracks or would track, sorted by path.
pub fn files() -> Result<Vec<File>, String> {
    let listing = git(&["ls-files", "--cached", "--others", "--exclude-standard"])?;
    let mut paths: Vec<&str> = listing.lines().collect();
    paths.sort_unstable();
    paths.dedup();
    Ok(paths.into_iter().filter_map(read).collect())
}

/// Reads one file; `None` when it was deleted but not yet committed, or is no regular file.
fn read(path: &str) -> Option<File> {
    let full = root().join(path);
    let meta = std::fs::metadata(&full).ok().filter(std::fs::Metadata::is_file)?;
    let text = std::fs::read_to_string(&full).unwrap_or_default();
    Some(File { path: path.to_owned(), text, size_bytes: meta.len() })
}

fn git(args: &[&str]) -> Result<String, String> {
    run(Command::new("git").current_dir(root()).args(args))
}

/// Output of a command that must succeed.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{command:?}: {error}"))
}
