// SPDX-License-Identifier: GPL-2.0-or-later
//! The one way to read a file whole: regular files only, and never more than is asked for.
//!
//! What a file is is asked of the open file, so that nothing can take its place in between; opening does not wait, so
//! that a FIFO cannot hold the program. The limit holds while reading: the length of a file of `/proc`, or of one that
//! grows, says nothing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Reason why a file is not read.
#[derive(Debug)]
pub enum Unread {
    /// A directory, a device, a FIFO.
    NoFile,
    /// The file is larger than this many bytes.
    TooLarge(usize),
    /// The system says so.
    Io(io::Error),
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unread::NoFile => f.write_str("it is not a regular file"),
            Unread::TooLarge(most) => write!(f, "it is larger than {most} bytes"),
            // The same words on every system.
            Unread::Io(error) => match error.kind() {
                io::ErrorKind::NotFound => f.write_str("no such file"),
                io::ErrorKind::PermissionDenied => f.write_str("permission denied"),
                _ => error.fmt(f),
            },
        }
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Unread::Io(error)
    }
}

/// The bytes of a regular file.
///
/// # Errors
/// When it is none, has more bytes, or cannot be read.
pub fn bytes(path: &Path, bytes_max: usize) -> Result<Vec<u8>, Unread> {
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Unread::NoFile);
    }
    up_to(file, bytes_max)
}

/// The first and the last `N` bytes of a regular file.
///
/// # Errors
/// When it is none, has fewer bytes, or cannot be read.
pub fn ends<const N: usize>(path: &Path) -> Result<[[u8; N]; 2], Unread> {
    let mut file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Unread::NoFile);
    }
    let mut ends = [[0; N]; 2];
    file.read_exact(&mut ends[0])?;
    file.seek(SeekFrom::End(-(N as i64)))?;
    file.read_exact(&mut ends[1])?;
    Ok(ends)
}

/// The text of a regular file.
///
/// # Errors
/// As [`bytes`], and when it is no UTF-8.
pub fn text(path: &Path, bytes_max: usize) -> Result<String, Unread> {
    let bytes = bytes(path, bytes_max)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error).into())
}

/// The bytes of whatever the user named: a pipe of the shell is waited for.
///
/// # Errors
/// When there are more, or it cannot be read.
pub fn stream(path: &Path, bytes_max: usize) -> Result<Vec<u8>, Unread> {
    up_to(File::open(path)?, bytes_max)
}

/// Names in a folder; none where there is no such folder.
pub fn names(folder: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).into_iter().flatten();
    listed.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// True for a path that is there and leads into the folder, links followed.
pub fn stays_in(folder: &Path, path: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    matches!((folder.canonicalize(), path.canonicalize()), (Ok(folder), Ok(path)) if path.starts_with(&folder))
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn up_to(file: File, bytes_max: usize) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max { Err(Unread::TooLarge(bytes_max)) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_and_what_has_no_writer_is_not_read() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("/dev/zero", path("zero")).expect("links");
        nix::unistd::mkfifo(&path("fifo"), nix::sys::stat::Mode::S_IRWXU).expect("room");
        for name in ["zero", "fifo", "."] {
            assert!(matches!(bytes(&path(name), 100), Err(Unread::NoFile)), "{name}");
        }
        std::fs::write(path("long"), [b'x'; 101]).expect("room");
        assert!(matches!(bytes(&path("long"), 100), Err(Unread::TooLarge(100))));
        assert_eq!(text(&path("long"), 101).expect("it fits").len(), 101);
        assert_eq!(bytes(&path("none"), 1).expect_err("missing").to_string(), "no such file");
    }

    #[test]
    fn paths_are_followed_to_where_they_lead() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("room");
        std::fs::write(inner.join("a"), "a").expect("room");
        std::fs::write(folder.path().join("b"), "b").expect("room");
        std::os::unix::fs::symlink(folder.path().join("b"), inner.join("link")).expect("links");
        assert!(stays_in(&inner, &inner.join("a")) && stays_in(folder.path(), &inner.join("../b")));
        assert!(!stays_in(&inner, &inner.join("../b")) && !stays_in(&inner, &inner.join("link")));
        assert!(!stays_in(&inner, Path::new("/etc/passwd")) && !stays_in(&inner, &inner.join("none")));
    }
}
