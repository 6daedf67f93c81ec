// SPDX-License-Identifier: GPL-2.0-or-later
//! Files that an image is made with: drivers, headers and scripts, which the program carries with it.

use crate::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Writes all of them below a folder, by their paths in the project's source.
///
/// # Errors
/// When the folder cannot be written.
pub fn unpack(root: &Path) -> Result<(), Error> {
    for (name, bytes) in FILES {
        let path = root.join(name);
        let folder = path.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
        fs::write(&path, bytes).map_err(Error::file("write", &path))?;
        if bytes.starts_with(b"#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(Error::file("write", &path))?;
        }
    }
    Ok(())
}

/// Bytes of those whose paths begin so, one after the other.
pub fn of(parts: &[&str]) -> Vec<u8> {
    let is_part = |name: &str| parts.iter().any(|part| name.starts_with(part));
    FILES.iter().filter(|(name, _)| is_part(name)).flat_map(|(_, bytes)| bytes.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_headers_are_there() {
        let root = tempfile::tempdir().expect("a folder");
        unpack(root.path()).expect("unpacked");
        for file in [
            "core/include/pelton/pelton.h",
            "scripts/archive.sh",
            "tests/oracle/state.h",
            "tests/oracle/kernel/oracle.lds",
        ] {
            assert!(root.path().join(file).is_file(), "{file}");
        }
        let script = root.path().join("scripts/oracle/configure.sh").metadata().expect("a script");
        assert_eq!(script.permissions().mode() & 0o777, 0o755);
    }
}
