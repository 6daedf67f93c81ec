// SPDX-License-Identifier: GPL-2.0-only
//! Files that a verb writes.

use crate::exit::{Exit, Failure};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Creates a file, or empties the one that is there.
pub fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| {
        let reason = format!("cannot create {}: {error}", path.display());
        Failure::cannot(reason, "choose a folder that exists and may be written")
    })
}

/// Refuses to write over what is read, and two outputs to one file. Files are compared by what they are, not by their names:
/// links lead to the same file.
pub fn spare(outputs: &[impl AsRef<Path>], inputs: &[impl AsRef<Path>]) -> Result<(), Failure> {
    for (i, output) in outputs.iter().map(AsRef::as_ref).enumerate() {
        if inputs.iter().any(|input| is_same(output, input.as_ref())) {
            let reason = format!("{} is read by this command; it would be lost", output.display());
            return Err(Failure::new(Exit::Usage, reason, Some("write to another file")));
        }
        if outputs.iter().take(i).any(|other| is_same(output, other.as_ref())) {
            let reason = format!("two outputs go to {}", output.display());
            return Err(Failure::new(Exit::Usage, reason, Some("give each its own file")));
        }
    }
    Ok(())
}

/// True for one regular file, there or not. What is written to a device or a pipe destroys nothing.
fn is_same(a: &Path, b: &Path) -> bool {
    match (a.metadata(), b.metadata()) {
        (Ok(a_is), Ok(b_is)) => a_is.is_file() && b_is.is_file() && same_file::is_same_file(a, b).unwrap_or(false),
        (Err(_), Err(_)) => place(a).is_some_and(|place_of_a| place(b) == Some(place_of_a)),
        _ => false,
    }
}

/// Where a file that is not there would be made.
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
    fn two_outputs_are_two_files() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (new, dotted) = (folder.path().join("new"), folder.path().join(".").join("new"));
        let none: [&Path; 0] = [];
        assert!(spare(&[&new, &dotted], &none).expect_err("refused").text.contains("two outputs"));
        assert!(spare(&[&new, &folder.path().join("other")], &none).is_ok());
    }
}
