// SPDX-License-Identifier: GPL-2.0-or-later
//! Text of a user, with the name to call it by.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Diagnostic, Diagnostics};
use crate::reading::{self, Unread};

/// Largest input file accepted, bytes. Real files have some tens of kilobytes.
pub const INPUT_BYTES_MAX: usize = 1 << 20;

/// A named text. Cloning is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
}

impl SourceFile {
    /// A text under the name that messages show: a path as the user wrote it, or an option such as `--set`.
    pub fn new(name: impl AsRef<str>, text: impl AsRef<str>) -> Self {
        SourceFile { name: name.as_ref().into(), text: text.as_ref().into() }
    }

    /// A text from raw bytes: at most [`INPUT_BYTES_MAX`], valid UTF-8.
    pub fn from_bytes(name: impl AsRef<str>, bytes: &[u8]) -> Result<Self, Diagnostics> {
        Self::from_bytes_up_to(name, bytes, INPUT_BYTES_MAX)
    }

    fn from_bytes_up_to(name: impl AsRef<str>, bytes: &[u8], bytes_max: usize) -> Result<Self, Diagnostics> {
        if bytes.len() > bytes_max {
            return Err(too_large(name.as_ref(), bytes_max));
        }
        // Editors of some systems put a byte order mark before the text.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(SourceFile::new(name, text)),
            Err(error) => {
                let at = error.valid_up_to();
                let file = SourceFile::new(name, String::from_utf8_lossy(bytes));
                let diagnostic = file.error(at..at + 1, "the file is not text: invalid UTF-8");
                let byte = format!("byte 0x{:02x} at offset {at}", bytes[at]);
                Err(diagnostic
                    .label(byte)
                    .help("save the file as UTF-8; a compressed or binary file cannot be read here")
                    .into())
            }
        }
    }

    /// Reads a file. Refuses what is not a file (a directory, a device), what is too large, and what is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, Diagnostics> {
        Self::read_up_to(path, INPUT_BYTES_MAX)
    }

    /// Reads a file of at most `bytes_max`, for formats that have larger files.
    pub fn read_up_to(path: &Path, bytes_max: usize) -> Result<Self, Diagnostics> {
        let name = path.display().to_string();
        // A pipe of the shell is no file, and is meant.
        let is_pipe = path.starts_with("/dev/fd") || path == Path::new("/dev/stdin");
        let read = if is_pipe { reading::stream(path, bytes_max) } else { reading::bytes(path, bytes_max) };
        let bytes = read.map_err(|why| unread(&name, &why, bytes_max))?;
        SourceFile::from_bytes_up_to(&name, &bytes, bytes_max)
    }

    /// Reads a stream of at most `bytes_max`: `-` is standard input. It can be read once, so its text is kept for later
    /// calls.
    pub fn read_stream(path: &Path, bytes_max: usize) -> Result<Self, Diagnostics> {
        static READ: Mutex<BTreeMap<PathBuf, SourceFile>> = Mutex::new(BTreeMap::new());
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = read.get(path) {
            return Ok(there.clone());
        }
        let name = if path == Path::new("-") { "(standard input)".to_owned() } else { path.display().to_string() };
        let from = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
        let bytes = reading::stream(from, bytes_max).map_err(|why| unread(&name, &why, bytes_max))?;
        let source = SourceFile::from_bytes_up_to(&name, &bytes, bytes_max)?;
        read.insert(path.to_owned(), source.clone());
        Ok(source)
    }

    /// The name messages show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line of a byte offset, counted from 1.
    pub fn line_of(&self, offset: usize) -> usize {
        let end = offset.min(self.text.len());
        1 + self.text.as_bytes()[..end].iter().filter(|&&b| b == b'\n').count()
    }

    /// An error at a place of this text (byte offsets).
    pub fn error(&self, span: Range<usize>, message: impl AsRef<str>) -> Diagnostic {
        Diagnostic::new(self.clone(), Some(span), message.as_ref())
    }

    /// An error about this text as a whole.
    pub fn about(&self, message: impl AsRef<str>) -> Diagnostic {
        Diagnostic::new(self.clone(), None, message.as_ref())
    }
}

/// A file that is not read.
fn unread(name: &str, why: &Unread, bytes_max: usize) -> Diagnostics {
    match why {
        Unread::TooLarge(_) => too_large(name, bytes_max),
        _ => SourceFile::new(name, "").about(format!("cannot read `{name}`: {why}")).into(),
    }
}

fn too_large(name: &str, bytes_max: usize) -> Diagnostics {
    let about = SourceFile::new(name, "").about(format!("the file is larger than {bytes_max} bytes"));
    about.allowed(format!("at most {} MiB", bytes_max >> 20)).into()
}
