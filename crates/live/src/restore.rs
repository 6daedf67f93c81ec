// SPDX-License-Identifier: GPL-2.0-or-later
//! Shell that restores what a load changes on the machine, whatever becomes of the recorder: it receives each change
//! before it is made, and outlives the recorder.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};

/// Waits until its input is closed, then undoes the changes that it read, the last first. A group is busy while its
/// tasks end.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
list=
while read -r what path value; do
    list="$what $path $value
$list"
done
printf '%s' "$list" | while read -r what path value; do
    case $what in
    text) printf '%s\n' "$value" > "$path" ;;
    group)
        tries=0
        while [ -d "$path" ] && ! rmdir "$path" 2>/dev/null && [ $tries -lt 50 ]; do
            tries=$((tries + 1))
            sleep 0.1
        done ;;
    esac
done
"#;

/// Steps of 100 ms for which the end of another recording is waited for.
const WAIT_STEPS: u32 = 20;

/// Puts back what was changed when it is dropped, or when this process ends in any other way.
pub(crate) struct Restore {
    shell: Child,
    changes: Option<ChildStdin>,
    /// Held until everything is back: the shell holds it too.
    _lock: Option<Flock<File>>,
}

impl Restore {
    /// Starts with nothing changed. With `lock`, no other process that asks for the same file changes anything until
    /// all is back.
    ///
    /// # Errors
    /// When another process holds the file, or no shell can be started: then nothing may be changed.
    pub fn start(lock: Option<File>) -> io::Result<Restore> {
        let lock = lock.map(taken).transpose()?;
        let held = lock.as_ref().map(|lock| lock.try_clone()).transpose()?;
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT]).stdin(Stdio::piped()).stderr(Stdio::null());
        // Its output goes nowhere; what matters is that the file stays open.
        shell.stdout(held.map_or_else(Stdio::null, Stdio::from));
        // Ctrl-C in a terminal goes to the whole group of the recorder.
        let mut shell = shell.process_group(0).spawn()?;
        let changes = shell.stdin.take();
        Ok(Restore { shell, changes, _lock: lock })
    }

    /// Changes the text of a file of the system.
    pub fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let before = std::fs::read_to_string(path)?;
        self.tell("text", path, before.trim())?;
        std::fs::write(path, text)
    }

    /// Makes a group, which is a folder.
    pub fn make_group(&mut self, path: &Path) -> io::Result<()> {
        if path.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.tell("group", path, "")?;
        std::fs::create_dir(path)
    }

    fn tell(&mut self, what: &str, path: &Path, value: &str) -> io::Result<()> {
        let Some(changes) = &mut self.changes else { return Err(io::ErrorKind::BrokenPipe.into()) };
        changes.write_all(format!("{what} {} {value}\n", path.display()).as_bytes())
    }
}

/// The file, held; the other process that holds it is waited for.
fn taken(file: File) -> io::Result<Flock<File>> {
    let mut file = file;
    for _ in 0..WAIT_STEPS {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((again, nix::errno::Errno::EWOULDBLOCK)) => file = again,
            Err((_, error)) => return Err(error.into()),
        }
        std::thread::park_timeout(Duration::from_millis(100));
    }
    Err(io::Error::new(io::ErrorKind::WouldBlock, "another recording runs a load: wait for it to end"))
}

impl Drop for Restore {
    fn drop(&mut self) {
        self.changes = None;
        // Nothing helps when it cannot be waited for.
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_undone_and_nobody_changes_the_same_meanwhile() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (text, group) = (folder.path().join("switch"), folder.path().join("group"));
        std::fs::write(&text, "1\n").expect("room");
        let open = || Some(File::open(&text).expect("there"));
        let mut restore = Restore::start(open()).expect("a shell");
        restore.write(&text, "0").expect("room");
        restore.make_group(&group).expect("room");
        assert!(restore.make_group(&group).is_err(), "what is there is not ours");
        assert_eq!((std::fs::read_to_string(&text).expect("text").as_str(), group.is_dir()), ("0", true));
        assert_eq!(Restore::start(open()).err().map(|e| e.kind()), Some(io::ErrorKind::WouldBlock));
        drop(restore);
        assert_eq!((std::fs::read_to_string(&text).expect("text").as_str(), group.is_dir()), ("1\n", false));
        assert!(Restore::start(open()).is_ok());
    }

    #[test]
    fn the_shell_does_it_alone_when_the_recorder_is_gone() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let text = folder.path().join("switch");
        std::fs::write(&text, "1\n").expect("room");
        let mut restore = Restore::start(None).expect("a shell");
        restore.write(&text, "0").expect("room");
        // What the kernel does for a process that was killed.
        drop(restore.changes.take());
        for _ in 0..200 {
            if std::fs::read_to_string(&text).is_ok_and(|now| now == "1\n") {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
        panic!("it was not put back");
    }
}
