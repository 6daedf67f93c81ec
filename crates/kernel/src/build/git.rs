// SPDX-License-Identifier: GPL-2.0-or-later
//! Trees that git has. It is only asked, and asked so that it writes nothing, its index included.

use super::process::{self, program};
use super::tools;
use crate::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

/// A tree that is checked out.
#[derive(Clone, Debug)]
pub struct Git {
    tree: PathBuf,
    /// Commit that is checked out.
    pub commit: String,
}

impl Git {
    /// The git of a tree; none: it has none, or only that of a folder around it which does not have its files.
    pub fn of(tree: &Path) -> Option<Git> {
        if !tools::has("git") {
            return None;
        }
        let git = Git { tree: tree.to_owned(), commit: String::new() };
        git.answer(&["ls-files", "--error-unmatch", "--", "kernel/sched/fair.c"])?;
        let commit = git.answer(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
        Some(Git { commit: commit.trim().to_owned(), ..git })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program("git", &self.tree);
        command.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"]);
        command.args(arguments);
        command
    }

    fn output(&self, arguments: &[&str]) -> Option<Output> {
        self.command(arguments).output().ok().filter(|output| output.status.success())
    }

    fn answer(&self, arguments: &[&str]) -> Option<String> {
        Some(String::from_utf8_lossy(&self.output(arguments)?.stdout).into_owned())
    }

    /// Names that git separates by zeros.
    fn names(&self, arguments: &[&str]) -> Result<Vec<String>, Error> {
        let failed = |why: &str| {
            let reason = format!("git {}: {why}", arguments.first().copied().unwrap_or_default());
            Error::input(reason, "look at the tree with `git status`")
        };
        let output = self.command(arguments).output().map_err(|error| failed(&error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim()));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Files that are tracked, or new and not ignored, in these parts of the tree.
    ///
    /// # Errors
    /// When git cannot read its index.
    pub fn files(&self, parts: &[&str]) -> Result<Vec<String>, Error> {
        let mut names = self.names(&[&["ls-files", "-z", "--"], parts].concat())?;
        names.extend(self.new_files(parts)?);
        Ok(names)
    }

    /// Files that are new and not ignored.
    ///
    /// # Errors
    /// When git cannot read its index.
    pub fn new_files(&self, parts: &[&str]) -> Result<Vec<String>, Error> {
        self.names(&[&["ls-files", "-z", "-o", "--exclude-standard", "--"], parts].concat())
    }

    /// Commit of a name that the user gave.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn commit_of(&self, name: &str) -> Result<String, Error> {
        let peeled = format!("{name}^{{commit}}");
        let found = self.answer(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]);
        let found = found.filter(|_| !name.starts_with('-')).map(|commit| commit.trim().to_owned());
        found.ok_or_else(|| {
            Error::request(format!("--since {name}: the tree has no such commit"), "name one as git does")
        })
    }

    /// Tracked files that differ from a commit.
    ///
    /// # Errors
    /// When git cannot compare.
    pub fn changed(&self, commit: &str) -> Result<Vec<String>, Error> {
        let flags = ["diff", "--name-only", "-z", "--relative", "--no-ext-diff", "--no-textconv", "--no-renames"];
        self.names(&[&flags[..], &["--ignore-submodules", commit, "--"]].concat())
    }

    /// Text of a file in a commit; none: it is not there.
    ///
    /// # Errors
    /// When the flag was set.
    pub fn text(&self, commit: &str, file: &str, stop: &AtomicBool) -> Result<Option<Vec<u8>>, Error> {
        process::check(stop)?;
        let place = format!("{commit}:./{file}");
        Ok(self.output(&["cat-file", "blob", &place]).map(|output| output.stdout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::tree::tests::fake;
    use std::fs;

    fn git(folder: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let mut command = program("git", folder);
        let output = command.args(identity).args(arguments).output().expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    #[test]
    fn changes_of_a_working_tree_are_found_and_its_index_is_not_written() {
        if !tools::has("git") {
            println!("not measured: no git here");
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let tree = folder.path().join("kernel");
        fake(&tree, "VERSION = 6\nPATCHLEVEL = 12");
        assert!(Git::of(&tree).is_none());
        git(folder.path(), &["init", "-q"]);
        // A tree that lies in something else's git, which does not have it.
        fs::write(folder.path().join("other"), "").expect("written");
        git(folder.path(), &["add", "other"]);
        git(folder.path(), &["commit", "-q", "-m", "other"]);
        assert!(Git::of(&tree).is_none());
        git(&tree, &["add", "."]);
        git(&tree, &["commit", "-q", "-m", "tree"]);
        fs::write(tree.join("kernel/sched/fair.c"), "changed\n").expect("written");
        fs::write(tree.join("kernel/sched/new.c"), "new\n").expect("written");
        fs::remove_file(tree.join("include/linux/sched.h")).expect("removed");
        let index = || fs::read(folder.path().join(".git/index")).expect("an index");
        let before = index();
        let found = Git::of(&tree).expect("a tree of git");
        let stop = AtomicBool::new(false);
        assert_eq!(
            found.changed("HEAD"),
            Ok(vec!["include/linux/sched.h".to_owned(), "kernel/sched/fair.c".to_owned()])
        );
        assert_eq!(found.new_files(&["kernel"]), Ok(vec!["kernel/sched/new.c".to_owned()]));
        let text = |file| found.text("HEAD", file, &stop).expect("not stopped").map(String::from_utf8);
        assert_eq!(text("kernel/sched/fair.c"), Some(Ok("kernel/sched/fair.c\n".to_owned())));
        assert_eq!(text("kernel/sched/new.c"), None);
        let files = found.files(&["kernel", ":(glob)**/Makefile*"]).expect("files");
        assert!(files.contains(&"arch/x86/Makefile".to_owned()) && files.contains(&"kernel/sched/new.c".to_owned()));
        assert_eq!(found.commit_of("HEAD~1").map(|commit| commit.len()), Ok(40));
        for bad in ["no-such", "--help", ""] {
            assert!(found.commit_of(bad).is_err(), "{bad}");
        }
        assert_eq!(index(), before);
    }
}
