// SPDX-License-Identifier: GPL-2.0-or-later
//! Files that come to be when they are complete: written beside their place, under a name that no other writer has, and
//! moved there.

use pelton_lab::run::LabError;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Files of this program so far.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Writes a file; until all of it is written, what was at its place stays.
///
/// # Errors
/// Of `write`, and when the file cannot be made or moved.
pub fn beside(path: &Path, write: impl FnOnce(File) -> Result<(), LabError>) -> Result<(), LabError> {
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{number}.pelton-part", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create(&part).map_err(LabError::Output).and_then(write);
    let moved = written.and_then(|()| fs::rename(&part, path).map_err(LabError::Output));
    moved.inspect_err(|_| drop(fs::remove_file(&part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn what_was_there_stays_until_all_is_written() {
        let folder = std::env::temp_dir().join(format!("pelton-files-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("a.txt");
        let put = |text: &'static str, fails: bool| {
            beside(&path, |mut file| {
                file.write_all(text.as_bytes()).map_err(LabError::Output)?;
                if fails { Err(LabError::Caller) } else { Ok(()) }
            })
        };
        assert!(put("old", false).is_ok() && put("new", true).is_err());
        assert_eq!(fs::read_to_string(&path).expect("there"), "old");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "no part is left");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
