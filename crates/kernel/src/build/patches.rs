// SPDX-License-Identifier: GPL-2.0-or-later
//! Patches: read, and applied to a copy.

use super::change::diff::{Section, sections};
use super::copy::is_part;
use super::process::{self, Ended, program};
use crate::store::Patch;
use crate::{Error, hash};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Largest patch, bytes.
const BYTES_MAX: u64 = 16 << 20;
/// Hunks that a message shows, and lines of each.
const HUNKS_SHOWN: usize = 3;
const HUNK_LINES_SHOWN: usize = 16;

/// A patch and its parts.
#[derive(Clone, Debug)]
pub struct PatchFile {
    /// Name and hash.
    pub about: Patch,
    text: String,
    bytes: Vec<u8>,
    sections: Vec<Section>,
}

/// Patch that was applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Files that it names and that are not among those that are copied.
    pub left_out: Vec<String>,
    /// Words of `patch` about hunks whose context differs.
    pub fuzzy: Vec<String>,
}

impl PatchFile {
    /// Reads a file with a unified diff.
    ///
    /// # Errors
    /// When it cannot be read, or has no diff.
    pub fn read(path: &Path) -> Result<PatchFile, Error> {
        let shown = path.display();
        let failed = |why: String| Error::input(format!("{shown}: {why}"), "allowed: a unified diff, as of `git diff`");
        if !path.is_file() {
            return Err(failed(if path.exists() { "not a regular file" } else { "no such file" }.to_owned()));
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(|error| failed(error.to_string()))?;
        file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(failed(format!("more than {} MiB", BYTES_MAX >> 20)));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let sections = sections(&text);
        if sections.is_empty() {
            return Err(failed("no diff is in it".to_owned()));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(PatchFile { about: Patch { name, hash: hash(&bytes) }, text, bytes, sections })
    }

    /// Files that it names, before and after.
    pub fn files(&self) -> BTreeSet<&str> {
        self.sections.iter().flat_map(|section| [&section.old, &section.new]).flatten().map(String::as_str).collect()
    }

    /// Applies it to a copy. Parts about files that are not copied are left out.
    ///
    /// # Errors
    /// When it does not fit, or the flag was set.
    pub fn apply(&self, copy: &Path, beside: &Path, release: &str, stop: &AtomicBool) -> Result<Applied, Error> {
        let is_there = |section: &&Section| {
            let names = [&section.old, &section.new];
            names.into_iter().flatten().any(|file| is_part(file) || copy.join(file).is_file())
        };
        let out: Vec<&Section> = self.sections.iter().filter(|section| !is_there(section)).collect();
        let left_out = out.iter().map(|section| section.path().to_owned()).collect();
        if out.len() == self.sections.len() {
            return Ok(Applied { left_out, fuzzy: Vec::new() });
        }
        let file = beside.join("patch");
        fs::write(&file, self.without(&out)).map_err(Error::file("write", &file))?;
        let mut command = program("patch", copy);
        command.args(["-p1", "-N", "--no-backup-if-mismatch", "-r", "-", "-i"]).arg(&file);
        let ended = process::run(&mut command, stop, &mut |_| ())?;
        if !ended.status.success() {
            return Err(self.misfit(&ended, release));
        }
        let fuzzy = ended.lines.into_iter().filter(|line| line.contains(" with fuzz ")).collect();
        Ok(Applied { left_out, fuzzy })
    }

    /// Its bytes without the lines of some parts.
    fn without(&self, out: &[&Section]) -> Vec<u8> {
        let lines = self.bytes.split_inclusive(|&byte| byte == b'\n').enumerate();
        let kept = lines.filter(|(at, _)| !out.iter().any(|section| section.lines.contains(at)));
        kept.flat_map(|(_, line)| line.iter().copied()).collect()
    }

    /// Message about a patch that does not fit, with the words of `patch` and the hunks.
    fn misfit(&self, ended: &Ended, release: &str) -> Error {
        let mut reason = format!("{} does not apply to Linux {release}:", self.about.name);
        let mut file = String::new();
        let mut shown = Vec::new();
        for line in &ended.lines {
            if let Some(name) = line.strip_prefix("patching file ") {
                file = name.split(" (").next().unwrap_or_default().trim_matches('\'').to_owned();
                continue;
            }
            let is_hunk = line.starts_with("Hunk #") && line.contains("FAILED");
            if !is_hunk && line.starts_with("Hunk #") {
                continue;
            }
            reason += &format!("\n  {}{line}", if file.is_empty() { String::new() } else { format!("{file}: ") });
            let number = line.trim_start_matches("Hunk #").split(' ').next().and_then(|number| number.parse().ok());
            if let Some(number) = number.filter(|_| is_hunk && shown.len() < HUNKS_SHOWN) {
                shown.extend(self.hunk(&file, number));
            }
        }
        for hunk in shown {
            reason += &format!("\n\n{hunk}");
        }
        Error::input(reason, "make the patch anew for this tree; it is applied by `patch -p1`")
    }

    /// Text of a hunk of a file, from 1.
    fn hunk(&self, file: &str, number: usize) -> Option<String> {
        let section = self.sections.iter().find(|section| section.path() == file)?;
        let lines: Vec<&str> = self.text.split('\n').collect();
        let lines = lines.get(section.lines.clone())?;
        let starts = lines.iter().enumerate().filter(|(_, line)| super::change::diff::hunk(line).is_some());
        let start = starts.map(|(at, _)| at).nth(number.checked_sub(1)?)?;
        let body = lines[start + 1..].iter().take_while(|line| !line.starts_with("@@ "));
        let shown: Vec<&str> = lines[start..=start].iter().chain(body).take(HUNK_LINES_SHOWN).copied().collect();
        Some(shown.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const PATCH: &str = "\
--- a/kernel/sched/fair.c
+++ b/kernel/sched/fair.c
@@ -1,3 +1,3 @@
 a
-b
+B
 c
--- a/drivers/net/x.c
+++ b/drivers/net/x.c
@@ -1 +1 @@
-x
+y
";

    fn try_on(text: &str) -> (Result<Applied, Error>, String) {
        let folder: TempDir = tempfile::tempdir().expect("a folder");
        let copy = folder.path().join("tree");
        fs::create_dir_all(copy.join("kernel/sched")).expect("made");
        fs::write(copy.join("kernel/sched/fair.c"), text).expect("written");
        let file = folder.path().join("mine.patch");
        fs::write(&file, PATCH).expect("written");
        let patch = PatchFile::read(&file).expect("a patch");
        assert_eq!(patch.files().len(), 2);
        let applied = patch.apply(&copy, folder.path(), "6.12", &AtomicBool::new(false));
        (applied, fs::read_to_string(copy.join("kernel/sched/fair.c")).expect("readable"))
    }

    #[test]
    fn a_patch_is_applied_without_the_files_that_are_not_copied() {
        let (applied, text) = try_on("a\nb\nc\n");
        let expected = Applied { left_out: vec!["drivers/net/x.c".to_owned()], fuzzy: Vec::new() };
        assert_eq!((applied, text.as_str()), (Ok(expected), "a\nB\nc\n"));
    }

    #[test]
    fn a_patch_that_does_not_fit_is_refused_with_the_hunk() {
        let words = try_on("1\n2\n3\n").0.expect_err("no fit").to_string();
        assert!(words.contains("mine.patch does not apply to Linux 6.12"), "{words}");
        assert!(words.contains("kernel/sched/fair.c: Hunk #1 FAILED at 1.") && words.contains("-b\n+B"), "{words}");
        let words = try_on("a\nB\nc\n").0.expect_err("applied before").to_string();
        assert!(words.contains("previously applied"), "{words}");
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("text");
        fs::write(&file, "no diff\n").expect("written");
        let words = |path: &Path| PatchFile::read(path).expect_err("no patch").to_string();
        assert!(words(&file).contains("no diff is in it") && words(folder.path()).contains("not a regular file"));
        assert!(words(&folder.path().join("none")).contains("no such file"));
    }
}
