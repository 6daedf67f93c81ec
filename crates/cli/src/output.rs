// SPDX-License-Identifier: GPL-2.0-only
//! Files that a verb writes.

use crate::exit::{Exit, Failure};
use std::fs::File;
use std::path::Path;

/// Creates a file, or empties the one that is there.
pub fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| {
        let reason = format!("cannot create {}: {error}", path.display());
        Failure::cannot(reason, "choose a folder that exists and may be written")
    })
}

/// Refuses to write over what is read: a trace is not to be recorded twice.
pub fn spare<'a>(outputs: impl IntoIterator<Item = &'a Path>, inputs: &[impl AsRef<Path>]) -> Result<(), Failure> {
    for output in outputs {
        // A file that is not there yet is nobody's input.
        let Ok(output_file) = output.canonicalize() else { continue };
        if inputs.iter().any(|input| input.as_ref().canonicalize().is_ok_and(|file| file == output_file)) {
            let reason = format!("{} is the trace that is read; it would be lost", output.display());
            return Err(Failure::new(Exit::Usage, reason, Some("write to another file")));
        }
    }
    Ok(())
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
        for output in [&trace, &dotted, &linked] {
            let refused = spare([output.as_path()], std::slice::from_ref(&trace)).expect_err("refused");
            assert!(refused.exit == Exit::Usage && refused.text.contains("is the trace that is read"));
        }
        assert!(spare([other.as_path()], &[trace]).is_ok());
        assert!(spare([Path::new("/dev/null")], &["-"]).is_ok());
    }
}
