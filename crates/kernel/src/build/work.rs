// SPDX-License-Identifier: GPL-2.0-or-later
//! Work folders: one for each build, beside the images; what a build that was killed left is removed by the next.

use super::process::check;
use crate::Error;
use crate::store::{Store, clear};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Folder of a build, removed with this value.
pub struct Work {
    path: PathBuf,
    /// Leave it there.
    pub keep: bool,
}

impl Work {
    /// An empty folder for a build of this process.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(store: &Store, name: &str) -> Result<Work, Error> {
        let kernels = store.kernels();
        fs::create_dir_all(&kernels).map_err(Error::file("make", &kernels))?;
        if kernels.to_string_lossy().contains(|c: char| c.is_whitespace() || ":'\"$".contains(c)) {
            let reason = format!("a kernel's make does not work below a folder of this name: {}", kernels.display());
            return Err(Error::machine(reason, "set PELTON_DATA_HOME to a folder without blanks, quotes, `:` and `$`"));
        }
        sweep(&kernels);
        let path = kernels.join(format!(".work-{name}-{}", std::process::id()));
        clear(&path).map_err(Error::file("remove", &path))?;
        fs::create_dir(&path).map_err(Error::file("make", &path))?;
        let path = path.canonicalize().map_err(Error::file("read", &path))?;
        Ok(Work { path, keep: false })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        match self.keep {
            // Without the number of a process it is not removed by the next build.
            true => drop(fs::write(self.path.join("kept"), "")),
            false => drop(clear(&self.path)),
        }
    }
}

/// Removes folders of builds whose process has ended.
fn sweep(kernels: &Path) {
    for entry in fs::read_dir(kernels).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix('.').and_then(|name| name.rsplit('-').next()?.parse().ok());
        let is_dead = process.is_some_and(|process| kill(Pid::from_raw(process), None) == Err(Errno::ESRCH));
        let is_ours = [".work-", ".new-", ".old-"].iter().any(|begin| name.starts_with(begin));
        if is_ours && is_dead && !entry.path().join("kept").exists() {
            // Leftovers take room, no more.
            let _ = clear(&entry.path());
        }
    }
}

/// Waits until no other process fetches into this folder.
///
/// # Errors
/// When the folder cannot be written, or the flag was set.
pub fn lock(folder: &Path, progress: &mut dyn FnMut(&str), stop: &AtomicBool) -> Result<Flock<File>, Error> {
    let path = folder.join("lock");
    let mut file = File::create(&path).map_err(Error::file("write", &path))?;
    let mut has_waited = false;
    loop {
        check(stop)?;
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((file, Errno::EWOULDBLOCK | Errno::EINTR)) => file,
            Err((_, error)) => return Err(Error::file("lock", &path)(error.into())),
        };
        if !std::mem::replace(&mut has_waited, true) {
            progress("waiting for another build to fetch its source");
        }
        std::thread::park_timeout(Duration::from_millis(100));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_builds_that_were_killed_are_swept_and_others_stay() {
        let data = tempfile::tempdir().expect("a folder");
        let store = Store::at(data.path());
        let folder = |name: &str| store.kernels().join(name);
        let own = format!(".work-own-{}", std::process::id());
        for name in [".work-a-2000000000", ".new-a-2000000000", ".work-kept-2000000000", &own, "image-2000000000"] {
            fs::create_dir_all(folder(name)).expect("made");
        }
        fs::write(folder(".work-kept-2000000000").join("kept"), "").expect("written");
        let work = Work::new(&store, "mine").expect("a folder");
        let path = work.path().to_owned();
        let names = || fs::read_dir(store.kernels()).expect("a folder").count();
        assert_eq!((names(), path.is_dir()), (4, true));
        drop(work);
        assert_eq!((names(), path.is_dir()), (3, false));
        assert_eq!(store.names(), Ok(vec!["image-2000000000".to_owned()]));
    }

    #[test]
    fn a_folder_that_make_cannot_work_in_is_refused() {
        let data = tempfile::tempdir().expect("a folder");
        let refused = Work::new(&Store::at(data.path().join("a b")), "mine").map(drop);
        assert!(refused.is_err_and(|error| error.to_string().contains("PELTON_DATA_HOME")));
    }

    #[test]
    fn a_folder_is_locked_for_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let stop = AtomicBool::new(false);
        let lock_of = |words: &mut dyn FnMut(&str)| lock(folder.path(), words, &stop);
        let first = lock_of(&mut |_| ()).expect("a lock");
        let second = lock_of(&mut |_| stop.store(true, std::sync::atomic::Ordering::Relaxed));
        assert_eq!(second.map(drop), Err(Error::Stopped));
        drop(first);
        stop.store(false, std::sync::atomic::Ordering::Relaxed);
        assert!(lock_of(&mut |_| ()).is_ok());
    }
}
