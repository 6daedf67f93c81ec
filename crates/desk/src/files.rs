// SPDX-License-Identifier: GPL-2.0-or-later
//! Files that come to be when they are complete: written beside their place, under a name that no other writer has, and
//! moved there.

use pelton_lab::run::{Fault, LabError};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Writes a file; until all of it is written, what was at its place stays. What a link leads to is meant, not the link;
/// pipes and devices are written directly.
///
/// # Errors
/// Of `write`, and when the file cannot be made or moved.
pub fn beside(path: &Path, write: impl FnOnce(File) -> Result<(), LabError>) -> Result<(), LabError> {
    // Names of open files: `/dev/stdout` may lead to a regular one, whose writer would go on with the old one.
    let is_open = path.starts_with("/dev") || path.starts_with("/proc");
    if is_open || path.exists() && !path.is_file() {
        return write(OpenOptions::new().write(true).open(path).map_err(|why| cannot(path, &why))?);
    }
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    part(&place, write, |part| {
        if let Ok(old) = fs::metadata(&place) {
            // A file that others may not read stays one.
            fs::set_permissions(part, old.permissions())?;
        }
        fs::rename(part, &place)
    })
}

/// Writes a file, unless there is one.
///
/// # Errors
/// When it cannot be written. That there is one is no error.
pub fn first(path: &Path, write: impl FnOnce(File) -> io::Result<()>) -> Result<(), LabError> {
    let whole = |file| write(file).map_err(LabError::Output);
    part(path, whole, |part| {
        let linked = fs::hard_link(part, path);
        fs::remove_file(part)?;
        match linked {
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    })
}

/// Writes a file under a name of its own, and puts it to its place.
fn part(
    place: &Path,
    write: impl FnOnce(File) -> Result<(), LabError>,
    put: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), LabError> {
    let (part, file) = made(place).map_err(|why| cannot(place, &why))?;
    let lasting = file.try_clone().map_err(|why| cannot(place, &why))?;
    let written = write(file).and_then(|()| lasting.sync_all().map_err(LabError::Output));
    let moved = written.and_then(|()| put(&part).map_err(|why| cannot(place, &why)));
    moved.inspect_err(|_| drop(fs::remove_file(&part)))
}

/// A new file beside a place: neither a process of this machine nor of another has its name.
fn made(place: &Path) -> io::Result<(PathBuf, File)> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}.pelton-part", u64::from_le_bytes(random)));
    let part = place.with_file_name(name);
    let file = OpenOptions::new().write(true).create_new(true).open(&part)?;
    Ok((part, file))
}

/// Refusal of a place that cannot be written.
pub fn cannot(path: &Path, why: &io::Error) -> LabError {
    LabError::refused(Fault::Machine, format!("{}: {why}", path.display()), "choose a place that may be written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("pelton-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn put(path: &Path, text: &'static str, fails: bool) -> Result<(), LabError> {
        beside(path, |mut file| {
            file.write_all(text.as_bytes()).map_err(LabError::Output)?;
            if fails { Err(LabError::Caller) } else { Ok(()) }
        })
    }

    #[test]
    fn what_was_there_stays_until_all_is_written() {
        let folder = folder("stays");
        let path = folder.join("a.txt");
        assert!(put(&path, "old", false).is_ok() && put(&path, "new", true).is_err());
        assert_eq!(fs::read_to_string(&path).expect("there"), "old");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "no part is left");
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn links_lead_on_and_modes_stay() {
        let folder = folder("links");
        let (path, link) = (folder.join("a.txt"), folder.join("link.txt"));
        put(&path, "old", false).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        put(&link, "new", false).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&path).expect("there"), "new");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        put(Path::new("/dev/null"), "gone", false).expect("written");
        assert!(!Path::new("/dev/null").is_file());
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn the_first_one_stays() {
        let folder = folder("first");
        let path = folder.join("a.txt");
        for text in ["one", "two"] {
            first(&path, |mut file| file.write_all(text.as_bytes())).expect("no error");
        }
        assert_eq!(fs::read_to_string(&path).expect("there"), "one");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
