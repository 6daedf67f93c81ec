// SPDX-License-Identifier: GPL-2.0-or-later
//! Program that compares an image's code with the core: the kernel's functions called one by one, on random states.

use super::cover::Folders;
use super::process::{self, check, program};
use super::{TAIL, flags};
use crate::store::{Comparison, LeftOut, Store};
use crate::{Error, hash};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Script that makes it.
const SCRIPT: &str = "crates/kernel/image/oracle.sh";
/// Parts of this project that its own side is compiled from.
const HOST_PARTS: &[&str] = &["core/include/", "tests/oracle/host/", "tests/oracle/state.h", SCRIPT];

/// Time between two looks at the flag.
const LOOK: Duration = Duration::from_millis(20);

/// The program, or why there is none.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Description.
    pub about: Comparison,
    /// Its bytes.
    pub program: Option<Vec<u8>>,
}

impl Compared {
    /// Says that there is none.
    pub fn none(reason: impl Into<String>) -> Compared {
        Compared { about: Comparison { reason: Some(reason.into()), ..Comparison::default() }, program: None }
    }
}

/// Its own side, compiled while the tree is copied and configured; ends when it is dropped.
pub struct Host {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<PathBuf, Error>>>,
}

impl Host {
    /// Begins to compile it. No tree has a part in it, so that the next build finds it in the store.
    pub fn begin(store: &Store, root: &Path) -> Host {
        let (folder, root) = (store.data().join("comparison"), root.to_owned());
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("comparison".to_owned());
        Host { stop, thread: thread.spawn(move || host(&folder, &root, &flag)).ok() }
    }

    /// Folder of its objects, when they are there.
    fn objects(mut self, stop: &AtomicBool) -> Result<PathBuf, Error> {
        let none = || Error::machine("its own side was not compiled: no thread", "");
        let thread = self.thread.take().ok_or_else(none)?;
        while !thread.is_finished() {
            if stop.load(Ordering::Relaxed) {
                self.stop.store(true, Ordering::Relaxed);
            }
            std::thread::park_timeout(LOOK);
        }
        thread.join().unwrap_or_else(|_| Err(none()))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Its result is of no use any more.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn host(folder: &Path, root: &Path, stop: &AtomicBool) -> Result<PathBuf, Error> {
    let parts = super::embedded::of(HOST_PARTS);
    let objects = folder.join(hash(&parts));
    if objects.join("complete").is_file() {
        return Ok(objects);
    }
    // Of another version of this program.
    let _ = crate::store::clear(folder);
    fs::create_dir_all(&objects).map_err(Error::file("make", &objects))?;
    let ended = process::run(script(root).arg("host").arg(root).arg(&objects), stop, &mut |_| ())?;
    match ended.status.success() {
        true => fs::write(objects.join("complete"), "").map_err(Error::file("write", &objects)).map(|()| objects),
        false => Err(Error::machine(ended.tail(TAIL), "")),
    }
}

fn script(root: &Path) -> std::process::Command {
    let mut command = program("bash", root);
    command.arg(root.join(SCRIPT));
    command
}

/// Makes the program; where that fails, the reason takes its place.
///
/// # Errors
/// When the flag was set.
pub fn make(folders: &Folders<'_>, prepared: &Path, host: Host, stop: &AtomicBool) -> Result<Compared, Error> {
    let made = host.objects(stop).and_then(|objects| compile(folders, prepared, &objects, stop));
    check(stop)?;
    Ok(made.unwrap_or_else(|error| Compared::none(error.to_string())))
}

fn compile(folders: &Folders<'_>, prepared: &Path, objects: &Path, stop: &AtomicBool) -> Result<Compared, Error> {
    let out = folders.work.join("oracle");
    let mut command = program("bash", folders.root);
    command.args(["-c", r#". "$1/env" && exec bash "${@:2}""#, "bash"]).arg(prepared).arg(folders.root.join(SCRIPT));
    command.args([folders.root, folders.tree, folders.obj, &out, objects]).env("KCFLAGS", flags(folders.root));
    let ended = process::run(&mut command, stop, &mut |_| ())?;
    if !ended.status.success() {
        return Ok(Compared::none(format!("it does not compile with this tree:\n{}", ended.tail(TAIL))));
    }
    let file = out.join("oracle");
    let program = fs::read(&file).map_err(Error::file("read", &file))?;
    let text = fs::read_to_string(out.join("left_out")).unwrap_or_default();
    let about =
        Comparison { hash: Some(hash(&program)), reason: None, left_out: text.lines().filter_map(left_out).collect() };
    Ok(Compared { about, program: Some(program) })
}

/// Line of what does not compile: part, reason.
fn left_out(line: &str) -> Option<LeftOut> {
    let (part, reason) = line.split_once('\t')?;
    Some(LeftOut { part: part.to_owned(), reason: reason.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_compile_are_read() {
        let part = left_out("fair_quota\t'struct cfs_bandwidth' has no member named 'quota'").expect("a part");
        assert_eq!(part.part, "fair_quota");
        assert!(part.reason.contains("no member") && left_out("").is_none());
    }

    #[test]
    fn its_own_side_is_of_this_project() {
        let parts = super::super::embedded::of(HOST_PARTS);
        assert!(parts.len() > 100_000);
        assert_ne!(hash(&parts), hash(&super::super::embedded::of(&["tests/oracle/host/"])));
    }
}
