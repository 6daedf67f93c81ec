// SPDX-License-Identifier: GPL-2.0-or-later
//! Small files in which a kernel shows something, by their path below `cpu`, `node` or `model`: in a folder, or in a
//! text that shows them (`shown.rs`).

use super::draft::{CPU_NUMBER_MAX, list};
use super::shown::Shown;
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile};
use crate::platform::CPUS_MAX;
use crate::reading;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Longest value that is read, bytes.
const VALUE_BYTES_MAX: usize = 65_536;

/// Files of one source.
pub struct Files {
    place: Place,
    read: RefCell<BTreeSet<String>>,
}

enum Place {
    /// Folders by the first word of a path.
    Disk(Vec<(&'static str, PathBuf)>),
    Shown(Shown),
}

impl Files {
    /// Files in folders, by the first word of a path.
    pub fn of_folders(folders: Vec<(&'static str, PathBuf)>) -> Self {
        Files { place: Place::Disk(folders), read: RefCell::default() }
    }

    /// Files in a text.
    pub fn of_text(path: &Path) -> Result<Self, Diagnostics> {
        Ok(Files { place: Place::Shown(Shown::read(path)?), read: RefCell::default() })
    }

    /// Lines of a text that were left out, in words.
    pub fn left_out(&self) -> Option<String> {
        match &self.place {
            Place::Disk(_) => None,
            Place::Shown(shown) => shown.left_out(),
        }
    }

    fn path(&self, path: &str) -> Option<PathBuf> {
        let Place::Disk(folders) = &self.place else { return None };
        let (word, rest) = path.split_once('/').unwrap_or((path, ""));
        folders.iter().find(|(known, _)| *known == word).map(|(_, folder)| folder.join(rest))
    }

    /// All lines of a file; `None` when it is not there, or empty.
    pub fn text(&self, path: &str) -> Option<String> {
        let text = match &self.place {
            Place::Shown(shown) => shown.value(path)?,
            Place::Disk(_) => {
                // Some files of a running kernel block, or take long; none that is read here is large.
                reading::text(&self.path(path)?, VALUE_BYTES_MAX).ok()?
            }
        };
        self.read.borrow_mut().insert(path.to_owned());
        let text = text.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// First line of a file.
    pub fn value(&self, path: &str) -> Option<String> {
        Some(self.text(path)?.lines().next()?.trim().to_owned())
    }

    /// First line of a file as a number.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.value(path)?.parse().ok()
    }

    /// Number that 32 bits hold and that is not 0, which stands for "not known".
    pub fn known(&self, path: &str) -> Option<u32> {
        u32::try_from(self.number(path)?).ok().filter(|&number| number > 0)
    }

    /// CPU numbers of a file; `None` when there are none.
    pub fn cpus(&self, path: &str) -> Result<Option<Vec<u32>>, Diagnostic> {
        let Some(text) = self.value(path) else { return Ok(None) };
        match list(&text) {
            Some(cpus) => Ok(Some(cpus)),
            None => {
                let error = self.error(path, "this is no list of CPU numbers");
                Err(error.allowed(format!("as in 0-3,6; {CPUS_MAX} CPUs at most, numbers up to {CPU_NUMBER_MAX}")))
            }
        }
    }

    /// True if there is such a folder.
    pub fn has_folder(&self, path: &str) -> bool {
        match &self.place {
            Place::Disk(_) => self.path(path).is_some_and(|path| path.is_dir()),
            Place::Shown(shown) => shown.has_below(path),
        }
    }

    /// True if there is such a file or folder.
    pub fn has(&self, path: &str) -> bool {
        match &self.place {
            Place::Disk(_) => self.path(path).is_some_and(|path| path.exists()),
            Place::Shown(shown) => shown.value(path).is_some() || shown.has_below(path),
        }
    }

    /// Names in a folder, sorted.
    pub fn names(&self, path: &str) -> Vec<String> {
        let mut names: Vec<String> = match &self.place {
            Place::Shown(shown) => shown.names(path),
            Place::Disk(_) => {
                let listed = self.path(path).map(|path| reading::names(&path)).unwrap_or_default();
                listed.iter().filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect()
            }
        };
        names.sort();
        names
    }

    /// Numbers at the ends of names: of `cpu0` and `cpu12` after `cpu`.
    pub fn numbered(&self, path: &str, before: &str) -> Vec<u32> {
        let number = |name: &String| name.strip_prefix(before)?.parse().ok();
        let mut numbers: Vec<u32> = self.names(path).iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Names of the files of a folder that were not read.
    pub fn unread(&self, folder: &str) -> Vec<String> {
        let read = self.read.borrow();
        let is_unread = |name: &String| {
            let path = format!("{folder}/{name}");
            !read.contains(&path) && !self.has_folder(&path)
        };
        self.names(folder).into_iter().filter(is_unread).collect()
    }

    /// A message about a file's value.
    pub fn error(&self, path: &str, message: &str) -> Diagnostic {
        let (source, span) = match &self.place {
            Place::Shown(shown) => (shown.source().clone(), shown.span(path)),
            Place::Disk(_) => {
                let place = self.path(path).unwrap_or_else(|| PathBuf::from(path));
                let text = reading::text(&place, VALUE_BYTES_MAX).unwrap_or_default();
                let end = text.trim_end().len();
                (SourceFile::new(place.display().to_string(), text), (end > 0).then_some(0..end))
            }
        };
        match span {
            Some(span) => source.error(span, message),
            None => source.about(message),
        }
    }

    /// Place of a file's value, for a note: file, line and column.
    pub fn at(&self, path: &str) -> String {
        match &self.place {
            Place::Shown(shown) => shown.at(path),
            Place::Disk(_) => {
                let place = self.path(path).unwrap_or_else(|| PathBuf::from(path));
                format!("{}:1:1", place.display())
            }
        }
    }
}
