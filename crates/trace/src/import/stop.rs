// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading that ends when the caller asks for it, in a stream without an end and in one that never says anything too.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{ImportError, Source, Timed, TraceInfo};

/// A flag that the caller sets to end reading.
pub type Stop = Option<&'static AtomicBool>;

/// Error of a read that ended because the caller's flag is set.
#[derive(Debug)]
struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted while reading")
    }
}

impl std::error::Error for Stopped {}

/// True for the error of a read that was asked to end.
pub(super) fn is_stop(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Stopped>())
}

fn is_set(stop: Stop) -> bool {
    stop.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// The bytes of a file, pipe or terminal, until the flag is set.
pub(super) struct Stoppable {
    file: File,
    stop: Stop,
    /// Reads of regular files never wait for a writer.
    waits: bool,
}

impl Stoppable {
    pub fn new(file: File, waits: bool, stop: Stop) -> Stoppable {
        Stoppable { file, stop, waits }
    }

    /// Standard input without the buffer that the whole process shares: what is in that would not be waited for.
    pub fn stdin(stop: Stop) -> io::Result<Stoppable> {
        Ok(Stoppable { file: wait::stdin()?, stop, waits: true })
    }
}

#[cfg(unix)]
mod wait {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::fs::File;
    use std::io;
    use std::os::fd::AsFd;

    /// Longest time that a blocked read goes on before the flag is looked at again, ms.
    const LOOK_MS: u8 = 50;

    pub fn stdin() -> io::Result<File> {
        Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
    }

    /// True when there is something to read, or its end; false when the wait is over.
    pub fn is_ready(file: &File) -> io::Result<bool> {
        let mut polled = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
        match poll(&mut polled, PollTimeout::from(LOOK_MS)) {
            Ok(ready) => Ok(ready > 0),
            Err(nix::errno::Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Reads that never wait: there are no pipes and terminals.
#[cfg(not(unix))]
mod wait {
    use std::fs::File;
    use std::io;

    pub fn stdin() -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn is_ready(_: &File) -> io::Result<bool> {
        Ok(true)
    }
}

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if is_set(self.stop) {
                return Err(io::Error::other(Stopped));
            }
            if !self.waits || self.stop.is_none() || wait::is_ready(&self.file)? {
                return self.file.read(buffer);
            }
        }
    }
}

/// A source whose end is no end when it was asked to stop.
pub(super) struct Stopping {
    source: Box<dyn Source>,
    path: PathBuf,
    stop: Stop,
}

impl Stopping {
    pub fn over(source: Box<dyn Source>, path: &Path, stop: Stop) -> Box<dyn Source> {
        if stop.is_none() {
            return source;
        }
        Box::new(Stopping { source, path: path.to_owned(), stop })
    }
}

impl Source for Stopping {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        match self.source.next() {
            Ok(Some(timed)) => Ok(Some(timed)),
            _ if is_set(self.stop) => Err(ImportError::io(&self.path, io::Error::other(Stopped))),
            end => end,
        }
    }

    fn info(&self) -> &TraceInfo {
        self.source.info()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{OpenOptions, open};
    use std::io::Write;

    static SET: AtomicBool = AtomicBool::new(true);
    static LATER: AtomicBool = AtomicBool::new(false);

    #[test]
    fn a_read_of_a_pipe_that_says_nothing_ends_when_asked() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let mut blocked = Stoppable::new(File::from(std::os::fd::OwnedFd::from(reader)), true, Some(&LATER));
        let asked = std::thread::spawn(move || {
            std::thread::park_timeout(std::time::Duration::from_millis(20));
            LATER.store(true, Ordering::Relaxed);
            writer
        });
        let error = blocked.read(&mut [0; 8]).expect_err("nothing was written");
        assert!(is_stop(&error));
        drop(asked.join());
    }

    #[test]
    fn what_was_stopped_is_neither_damage_nor_an_end() {
        let mut text = b"# tracer: nop\na-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n".to_vec();
        (0..40_000).for_each(|_| text.extend_from_slice(b"some line that means nothing at all\n"));
        for packed in [text.clone(), zstd::encode_all(&text[..], 1).expect("room")] {
            let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
            file.write_all(&packed).expect("room");
            let stopped = open(file.path(), &OpenOptions { stop: Some(&SET), ..OpenOptions::default() });
            assert!(stopped.err().is_some_and(|error| error.is_stop()));
            let mut source = open(file.path(), &OpenOptions::default()).expect("text");
            assert!(source.next().expect("an event").is_some() && source.next().expect("an end").is_none());
        }
    }
}
