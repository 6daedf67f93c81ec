// SPDX-License-Identifier: GPL-2.0-or-later
//! Programs and headers that a build needs.

use crate::Error;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Program and the package that has it.
type Tool = (&'static str, &'static str);

/// Needed for every image.
const ALWAYS: &[Tool] = &[
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("objcopy", "binutils"),
    ("nm", "binutils"),
    ("readelf", "binutils"),
    ("make", "make"),
    ("python3", "python3"),
    ("bc", "bc"),
    ("patch", "patch"),
    ("diff", "diffutils"),
    ("bash", "bash"),
    ("awk", "mawk"),
    ("perl", "perl"),
];
/// Needed for every image; unpacked beside the source where it comes from the distribution's archive.
const UNPACKED: &[Tool] = &[("flex", "flex"), ("bison", "bison"), ("m4", "m4")];
/// Header that is needed as those are.
const HEADER: Tool = ("gelf.h", "libelf-dev");
/// Needed to get source from the distribution's archive.
const ARCHIVE: &[Tool] = &[("apt-get", "apt"), ("dpkg-deb", "dpkg"), ("xz", "xz-utils"), ("tar", "tar")];
/// Folders of headers where the compiler looks by itself.
const HEADERS: &[&str] = &["/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu"];

/// Place that tools are looked for in.
pub struct Place {
    /// Folders of programs, as `PATH` has them.
    pub path: OsString,
    /// Folders of headers.
    pub headers: Vec<PathBuf>,
    /// Architecture of this machine.
    pub architecture: &'static str,
}

impl Place {
    /// This machine.
    pub fn here() -> Place {
        let named = std::env::var_os("CPATH").unwrap_or_default();
        let headers = HEADERS.iter().map(PathBuf::from).chain(std::env::split_paths(&named)).collect();
        Place { path: std::env::var_os("PATH").unwrap_or_default(), headers, architecture: std::env::consts::ARCH }
    }

    fn has_program(&self, name: &str) -> bool {
        std::env::split_paths(&self.path).any(|folder| is_program(&folder.join(name)))
    }

    fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|folder| folder.join(name).is_file())
    }

    /// Refuses a machine that cannot build an image, with all that it lacks and the command that gets it. Of the tools
    /// that can be unpacked without root none is asked for when `are_unpacked`; those for the archive are asked for
    /// when `from_archive`.
    ///
    /// # Errors
    /// When something is missing.
    pub fn check(&self, are_unpacked: bool, from_archive: bool) -> Result<(), Error> {
        if self.architecture != "x86_64" {
            let reason = format!("images are compiled and run on x86-64; this machine is {}", self.architecture);
            return Err(Error::machine(reason, "build and simulate on a machine with x86-64"));
        }
        let unpacked = UNPACKED.iter().filter(|_| !are_unpacked);
        let archive = ARCHIVE.iter().filter(|_| from_archive);
        let programs = ALWAYS.iter().chain(unpacked).chain(archive).filter(|(name, _)| !self.has_program(name));
        let header = (!are_unpacked && !self.has_header(HEADER.0)).then_some(&HEADER);
        let missing: Vec<&Tool> = programs.chain(header).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
        let mut packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
        packages.sort_unstable();
        packages.dedup();
        let reason = format!("a kernel's scheduler is compiled with what is not here: {}", names.join(", "));
        Err(Error::machine(reason, &format!("sudo apt-get install {}", packages.join(" "))))
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Is there a program of this name in `PATH`?
pub fn has(name: impl AsRef<OsStr>) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_program(&folder.join(name.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn place(programs: &[&str], folder: &Path) -> Place {
        for name in programs {
            fs::write(folder.join(name), "").expect("written");
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).expect("set");
        }
        Place { path: folder.as_os_str().to_owned(), headers: vec![folder.to_owned()], architecture: "x86_64" }
    }

    #[test]
    fn all_that_is_missing_is_named_at_once_with_the_command_that_gets_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = place(&["make", "python3", "patch", "diff", "bash", "awk", "perl", "bc"], folder.path());
        let words = place.check(false, false).expect_err("much is missing").to_string();
        assert!(words.contains("not here: gcc, ld, objcopy, nm, readelf, flex, bison, m4, gelf.h"), "{words}");
        assert!(
            words.contains("sudo apt-get install binutils bison flex gcc libelf-dev m4\n") || words.ends_with("m4")
        );
        let words = place.check(true, true).expect_err("much is missing").to_string();
        assert!(words.contains("gcc, ld, objcopy, nm, readelf, apt-get, dpkg-deb, xz, tar"), "{words}");
    }

    #[test]
    fn a_machine_with_everything_is_not_refused_and_one_of_another_architecture_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let all: Vec<&str> = ALWAYS.iter().chain(UNPACKED).chain(ARCHIVE).map(|(name, _)| *name).collect();
        let place = place(&all, folder.path());
        fs::write(folder.path().join("gelf.h"), "").expect("written");
        assert_eq!(place.check(false, true), Ok(()));
        let other = Place { architecture: "aarch64", ..place };
        assert!(other.check(false, true).is_err_and(|error| error.to_string().contains("this machine is aarch64")));
    }

    #[test]
    fn a_file_that_cannot_be_executed_is_no_program() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("gcc"), "").expect("written");
        assert!(!is_program(&folder.path().join("gcc")) && !has("no-such-program") && has("sh"));
    }
}
