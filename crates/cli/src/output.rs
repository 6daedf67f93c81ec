// SPDX-License-Identifier: GPL-2.0-or-later
//! Files that a verb writes: beside the place where they are to be, and moved there when they are complete.

use crate::exit::{Exit, Failure};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Ending of a file's name while it is being written.
const PART: &str = ".pelton-part";

/// Files that are being written, and whether their format shows a reader that they are not complete.
static PARTS: Mutex<Vec<(PathBuf, bool)>> = Mutex::new(Vec::new());

/// A file being written. Dropped, it leaves what was there before as it was.
#[derive(Debug)]
pub struct Pending {
    /// Open file that the bytes are written to.
    file: File,
    name: PathBuf,
    place: Option<Place>,
}

/// Paths of a file: while it is written, and once it is complete.
#[derive(Debug)]
struct Place {
    part: PathBuf,
    target: PathBuf,
    /// Held while the file is written: a second writer finds it taken.
    _lock: Flock<File>,
}

/// Writes a whole text.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut pending = create(path, false)?;
    pending.write_all(text.as_bytes())?;
    pending.keep()
}

/// Starts a file. `tells`: its format shows a reader whether it is complete. Devices, pipes and `-`, standard output,
/// are written directly.
pub fn create(path: &Path, tells: bool) -> Result<Pending, Failure> {
    let failed = |error: io::Error| not_created(path, &error);
    let name = path.to_owned();
    if path.as_os_str() == "-" {
        let file = File::from(io::stdout().as_fd().try_clone_to_owned().map_err(failed)?);
        return Ok(Pending { file, name, place: None });
    }
    match regular_target(path) {
        Some(target) => begin(path, target, tells),
        None => Ok(Pending { file: File::create(path).map_err(failed)?, name, place: None }),
    }
}

/// Starts a file whose name is the program's, in a folder that the user named: a link that lies there is replaced, and
/// what it leads to stays.
pub fn create_in(folder: &Path, name: &str, tells: bool) -> Result<Pending, Failure> {
    let path = folder.join(name);
    match path.symlink_metadata() {
        Ok(there) if !there.is_file() && !there.is_symlink() => {
            Err(not_created(&path, &io::Error::other("something that is no file has this name")))
        }
        _ => begin(&path, path.clone(), tells),
    }
}

fn not_created(path: &Path, error: &io::Error) -> Failure {
    let reason = format!("cannot create {}: {error}", path.display());
    Failure::cannot(reason, "choose a folder that exists and may be written")
}

/// Starts the file that takes the place of `target`.
fn begin(path: &Path, target: PathBuf, tells: bool) -> Result<Pending, Failure> {
    let failed = |error: io::Error| not_created(path, &error);
    let name = path.to_owned();
    let part = part_of(&target);
    let lock = match claimed(&part).map_err(failed)? {
        Claim::Ours(lock) => lock,
        Claim::Busy => {
            let reason = format!("{} is being written by another pelton", path.display());
            return Err(Failure::cannot(reason, "wait for it to end, or write to another file"));
        }
        Claim::InTheWay => {
            let reason = format!("{} is in the way of {}: no file that you made", part.display(), path.display());
            return Err(Failure::cannot(reason, "remove it, or write to a folder that only you may write"));
        }
    };
    if let Ok(old) = target.symlink_metadata()
        && old.is_file()
    {
        // A file that others may not read stays one, where that is possible.
        let _ = lock.set_permissions(old.permissions());
    }
    let file = lock.try_clone().map_err(failed)?;
    if let Ok(mut parts) = PARTS.lock() {
        parts.push((part.clone(), tells));
    }
    Ok(Pending { file, name, place: Some(Place { part, target, _lock: lock }) })
}

/// The file that is meant, links followed; `None` for what is no file and cannot be replaced by one.
fn regular_target(path: &Path) -> Option<PathBuf> {
    // What is already open, by another name.
    if path.starts_with("/dev") || path.starts_with("/proc") {
        return None;
    }
    match path.metadata() {
        Ok(there) if there.is_file() => path.canonicalize().ok(),
        Ok(_) => None,
        Err(_) if path.is_symlink() => None,
        Err(_) => Some(path.to_owned()),
    }
}

fn part_of(target: &Path) -> PathBuf {
    let mut name = OsString::from(target);
    name.push(PART);
    PathBuf::from(name)
}

/// Answers to asking for the name under which a file is to be written.
enum Claim {
    /// A new file, held by this process.
    Ours(Flock<File>),
    /// Another process writes it.
    Busy,
    /// A link, a FIFO, a file of another user.
    InTheWay,
}

/// Makes a new file of this name. One that a killed writer left is removed; nothing that lies there is written to.
fn claimed(part: &Path) -> io::Result<Claim> {
    loop {
        let (file, is_new) = match File::options().write(true).create_new(true).open(part) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match left_behind(part) {
                Some(file) => (file, false),
                None if part.symlink_metadata().is_ok() => return Ok(Claim::InTheWay),
                None => continue,
            },
            Err(error) => return Err(error),
        };
        let lock = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => lock,
            Err((_, Errno::EWOULDBLOCK)) if !is_new => return Ok(Claim::Busy),
            // A second writer looks whether this one is alive.
            Err((_, Errno::EWOULDBLOCK)) => continue,
            Err((_, error)) => return Err(error.into()),
        };
        // Its last holder may have moved it to its place meanwhile.
        let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        if part.symlink_metadata().ok().map(identity) != lock.metadata().ok().map(identity) {
            continue;
        }
        if is_new {
            return Ok(Claim::Ours(lock));
        }
        std::fs::remove_file(part)?;
    }
}

/// A file that a writer of this user left, or still writes; opened, and not changed.
fn left_behind(part: &Path) -> Option<File> {
    let is_ours = |there: &std::fs::Metadata| {
        there.is_file() && there.nlink() == 1 && there.uid() == nix::unistd::geteuid().as_raw()
    };
    part.symlink_metadata().ok().filter(is_ours)?;
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = File::options().write(true).custom_flags(flags.bits()).open(part).ok()?;
    file.metadata().ok().filter(is_ours)?;
    Some(file)
}

impl Pending {
    /// The file to write to.
    pub fn writer(&self) -> Result<File, Failure> {
        self.file.try_clone().map_err(|error| self.failed(&error))
    }

    /// Writes everything there is to write.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| self.failed(&error))
    }

    /// The file is as it is to be: it takes its place, and is there after the machine fails.
    pub fn keep(mut self) -> Result<(), Failure> {
        let Some(place) = self.place.take() else { return Ok(()) };
        let moved = self.file.sync_all().and_then(|()| std::fs::rename(&place.part, &place.target));
        forget(&place.part);
        if moved.is_err() {
            let _ = std::fs::remove_file(&place.part);
        }
        moved.map_err(|error| self.failed(&error))?;
        sync_folder(&place.target);
        Ok(())
    }

    /// Keeps what was written before the end: in its place where nothing is, and beside an old file, which is worth
    /// more. Returns where it is.
    pub fn keep_part(mut self) -> Option<PathBuf> {
        let place = self.place.take()?;
        forget(&place.part);
        let is_free = place.target.symlink_metadata().is_err();
        let moved = is_free && std::fs::rename(&place.part, &place.target).is_ok();
        Some(if moved { self.name.clone() } else { place.part })
    }

    fn failed(&self, error: &io::Error) -> Failure {
        Failure::cannot(format!("cannot write {}: {error}", self.name.display()), "is the disk full?")
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            forget(&place.part);
            let _ = std::fs::remove_file(&place.part);
        }
    }
}

/// The new name is on the disk. Some file systems cannot say so, which is no reason to fail.
fn sync_folder(target: &Path) {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// True where a killed writer left a part of this file, and no process writes it now.
pub fn was_left(target: &Path) -> bool {
    let held = left_behind(&part_of(target));
    held.is_some_and(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).is_ok())
}

/// Name under which a file is written.
pub fn part_name(name: &str) -> String {
    format!("{name}{PART}")
}

fn forget(part: &Path) {
    if let Ok(mut parts) = PARTS.lock() {
        parts.retain(|(known, _)| known != part);
    }
}

/// The program ends here: what cannot say that it is not complete is removed; says what is left.
pub fn give_up() -> String {
    // Whoever holds it is being ended.
    let Ok(parts) = PARTS.try_lock() else { return String::new() };
    let mut left = String::new();
    for (part, tells) in parts.iter() {
        if *tells {
            left += &format!("\n  {} holds what was written so far", part.display());
        } else {
            let _ = std::fs::remove_file(part);
        }
    }
    left
}

/// Refuses to write over what is read, and two outputs to one file. Files are compared by what they are, not by their
/// names: links lead to the same file.
pub fn spare(outputs: &[impl AsRef<Path>], inputs: &[impl AsRef<Path>]) -> Result<(), Failure> {
    for (i, output) in outputs.iter().map(AsRef::as_ref).enumerate() {
        spare_inputs(output, inputs)?;
        if outputs.iter().take(i).any(|other| is_one_output(output, other.as_ref())) {
            let reason = format!("two outputs go to {}", output.display());
            return Err(Failure::new(Exit::Usage, reason, Some("give each its own file")));
        }
    }
    Ok(())
}

/// Refuses to write over what is read.
fn spare_inputs(output: &Path, inputs: &[impl AsRef<Path>]) -> Result<(), Failure> {
    // Standard output is no file, whatever a file beside it is called.
    if is_standard(output) {
        return Ok(());
    }
    let part = part(output);
    let is_read = |input: &Path| {
        let replaces = is_same(output, input) || is_in(output, input);
        replaces || part.as_ref().is_some_and(|part| is_same(part, input))
    };
    if !inputs.iter().any(|input| is_read(input.as_ref())) {
        return Ok(());
    }
    let reason = format!("{} is read by this command; it would be lost", output.display());
    Err(Failure::new(Exit::Usage, reason, Some("write to another file")))
}

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Path under which an output is written before it takes its place; `None` for outputs that are written directly.
fn part(output: &Path) -> Option<PathBuf> {
    regular_target(output).map(|target| part_of(&target))
}

/// True for two names of the same file, or of an output and the file that it is written to first.
fn is_one_output(a: &Path, b: &Path) -> bool {
    let is_part = |a: &Path, b: &Path| part(a).is_some_and(|part| is_same(&part, b));
    !is_standard(a) && !is_standard(b) && (is_same(a, b) || is_part(a, b) || is_part(b, a))
}

/// A file that is there, in a folder that is read with what it holds.
fn is_in(output: &Path, folder: &Path) -> bool {
    let inside = |folder: PathBuf| output.canonicalize().is_ok_and(|file| file.is_file() && file.starts_with(folder));
    folder.is_dir() && folder.canonicalize().is_ok_and(inside)
}

/// True for one regular file, there or not. What is written to a device or a pipe destroys nothing.
fn is_same(a: &Path, b: &Path) -> bool {
    match (a.metadata(), b.metadata()) {
        (Ok(a_is), Ok(b_is)) => a_is.is_file() && b_is.is_file() && same_file::is_same_file(a, b).unwrap_or(false),
        (Err(_), Err(_)) => place(a).is_some_and(|place_of_a| place(b) == Some(place_of_a)),
        _ => false,
    }
}

/// Path of a file that does not exist yet, with its folder resolved.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_not_written_over_under_any_name() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (trace, other) = (folder.path().join("a.plog"), folder.path().join("b.plog"));
        std::fs::write(&trace, "kept").expect("room");
        let dotted = folder.path().join(".").join("a.plog");
        let linked = folder.path().join("link");
        std::os::unix::fs::symlink(&trace, &linked).expect("links");
        let hard = folder.path().join("hard");
        std::fs::hard_link(&trace, &hard).expect("links");
        for output in [&trace, &dotted, &linked, &hard] {
            let refused = spare(&[output], std::slice::from_ref(&trace)).expect_err("refused");
            assert!(refused.exit == Exit::Usage && refused.text.contains("is read by this command"));
        }
        assert!(spare(&[&other], &[trace]).is_ok());
        assert!(spare(&[Path::new("/dev/null"), Path::new("/dev/null")], &["-"]).is_ok());
    }

    #[test]
    fn a_file_takes_its_place_when_it_is_complete_and_not_before() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("a.plog");
        std::fs::write(&path, "old").expect("room");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("links");
        let read = || std::fs::read_to_string(&path).expect("text");
        let files = || std::fs::read_dir(folder.path()).expect("a folder").count();
        let mut dropped = create(&path, true).expect("room");
        dropped.write_all(b"half").expect("room");
        assert_eq!(read(), "old");
        let second = create(&link, true).expect_err("the first still writes");
        assert!(second.text.contains("is being written by another pelton"), "{}", second.text);
        drop(dropped);
        assert_eq!((read().as_str(), files()), ("old", 2));
        let mut kept = create(&link, true).expect("no writer holds the lock");
        kept.write_all(b"new").expect("room");
        kept.keep().expect("the same folder");
        assert_eq!((read().as_str(), files()), ("new", 2));
        std::fs::write(part_of(&path), "left behind by a writer that was killed").expect("room");
        assert!(spare(&[&path], &[part_of(&path)]).is_err(), "reading it would empty it");
    }

    #[test]
    fn what_lies_in_the_way_of_a_part_is_neither_followed_nor_changed() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (path, other) = (folder.path().join("a"), folder.path().join("other"));
        std::fs::write(&other, "kept").expect("room");
        std::os::unix::fs::symlink(&other, part_of(&path)).expect("links");
        let refused = create(&path, true).expect_err("refused");
        assert!(refused.exit == Exit::CannotHere && refused.text.contains("is in the way"), "{}", refused.text);
        std::fs::remove_file(part_of(&path)).expect("there");
        std::fs::hard_link(&other, part_of(&path)).expect("links");
        assert!(create(&path, true).is_err(), "a file of two names is no part");
        assert_eq!(std::fs::read_to_string(&other).expect("text"), "kept");
        // A name of the program's in a folder: the link itself is replaced.
        std::os::unix::fs::symlink(&other, folder.path().join("b.log")).expect("links");
        let mut log = create_in(folder.path(), "b.log", false).expect("room");
        log.write_all(b"new").expect("room");
        log.keep().expect("the same folder");
        assert_eq!(std::fs::read_to_string(&other).expect("text"), "kept");
        assert_eq!(std::fs::read_to_string(folder.path().join("b.log")).expect("text"), "new");
    }

    #[test]
    fn a_part_takes_an_empty_place_and_no_other() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("a");
        assert_eq!(create(&path, true).expect("room").keep_part(), Some(path.clone()));
        std::fs::write(&path, "old").expect("room");
        let mut pending = create(&path, true).expect("room");
        pending.write_all(b"half").expect("room");
        assert_eq!(pending.keep_part(), Some(part_of(&path)));
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "old");
        assert_eq!(std::fs::read_to_string(part_of(&path)).expect("text"), "half");
        assert!(was_left(&path) && create(&path, true).is_ok());
    }

    #[test]
    fn two_outputs_are_two_files() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (new, dotted) = (folder.path().join("new"), folder.path().join(".").join("new"));
        let none: [&Path; 0] = [];
        assert!(spare(&[&new, &dotted], &none).expect_err("refused").text.contains("two outputs"));
        assert!(spare(&[&new, &folder.path().join("other")], &none).is_ok());
        assert!(spare(&[&new, &part_of(&new)], &none).is_err() && spare(&[&part_of(&new), &new], &none).is_err());
    }

    #[test]
    fn a_file_of_a_folder_that_is_read_is_read() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (value, other) = (folder.path().join("capacity"), folder.path().join("new.toml"));
        std::fs::write(&value, "1024").expect("room");
        let refused = spare(&[&value], &[folder.path()]).expect_err("refused");
        assert!(refused.text.contains("is read by this command"), "{}", refused.text);
        assert!(spare(&[&other], &[folder.path()]).is_ok(), "a new file takes nothing away");
    }

    #[test]
    fn standard_output_is_no_file() {
        assert!(spare(&["-"], &["-"]).is_ok(), "a pipe on both sides");
    }
}
