// SPDX-License-Identifier: GPL-2.0-or-later
//! Copy of the parts of a tree that the kernel's own build of its scheduler reads. The tree is only read, whether it
//! was configured and built in place or not: what a build left behind is not copied.

use super::git::Git;
use super::process::check;
use crate::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Folders and files.
pub const PARTS: &[&str] = &[
    "Makefile",
    "Kbuild",
    "Kconfig",
    "arch/x86",
    "drivers/cpufreq",
    "drivers/cpuidle",
    "include",
    "init",
    "kernel",
    "lib",
    "scripts",
    "security",
    "tools/arch",
    "tools/build",
    "tools/include",
    "tools/lib",
    "tools/objtool",
    "tools/scripts",
];
/// Files of every folder, as git takes them.
const EVERYWHERE: &[&str] = &[":(glob)**/Kconfig*", ":(glob)**/Makefile*", ":(glob)**/io-wq.h"];
/// Folders that a build in place makes.
const BUILT: &[&str] = &["include/generated", "include/config", "arch/x86/include/generated", "scripts/kconfig/.tmp"];
/// Endings of files that a build in place makes; sources in assembler end with .S.
const BUILT_ENDINGS: &[&str] = &[
    ".o", ".a", ".s", ".ko", ".so", ".cmd", ".mod", ".mod.c", ".order", ".symvers", ".d", ".tab.c", ".tab.h", ".lex.c",
    ".i", ".lst", ".dtb", ".rej", ".orig",
];
/// Files that a build in place makes and whose endings are those of sources.
const BUILT_NAMES: &[&str] =
    &["inat-tables.c", "crc32table.h", "crc64table.h", "elfconfig.h", "devicetable-offsets.h", "kernel/config_data"];

/// Is the file in one of the folders that are copied whole?
pub fn is_part(file: &str) -> bool {
    PARTS.iter().any(|part| file.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Names of the files to copy, below the tree.
///
/// # Errors
/// When the tree cannot be read, or the flag was set.
pub fn files(tree: &Path, git: Option<&Git>, stop: &AtomicBool) -> Result<Vec<String>, Error> {
    match git {
        Some(git) => git.files(&[PARTS, EVERYWHERE].concat()),
        None => {
            let mut found = Vec::new();
            walk(tree, "", &mut found, stop)?;
            Ok(found)
        }
    }
}

/// Files to copy below a folder of a tree without git.
fn walk(tree: &Path, folder: &str, found: &mut Vec<String>, stop: &AtomicBool) -> Result<(), Error> {
    check(stop)?;
    let path = tree.join(folder);
    for entry in fs::read_dir(&path).map_err(Error::file("read", &path))? {
        let entry = entry.map_err(Error::file("read", &path))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let file = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match is_folder {
            true if name != ".git" && !BUILT.contains(&file.as_str()) => walk(tree, &file, found, stop)?,
            false if is_wanted(&file, &name) && !is_built(&file, &name) && !is_host_program(&entry.path(), &name) => {
                found.push(file);
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_wanted(file: &str, name: &str) -> bool {
    is_part(file) || name.starts_with("Kconfig") || name.starts_with("Makefile") || name == "io-wq.h"
}

fn is_built(file: &str, name: &str) -> bool {
    let is_hidden = name.starts_with('.') && name != ".gitignore";
    is_hidden
        || BUILT_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || BUILT_NAMES.iter().any(|built| file.ends_with(built))
        || file.starts_with("arch/x86/lib/inat-tables")
}

/// Is it a program that a build in place compiled for itself?
fn is_host_program(path: &Path, name: &str) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    let mut read = || fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    !name.contains('.') && path.is_file() && read().is_ok() && &magic == b"\x7fELF"
}

/// Copies these files; what is listed and not there, as a file that was removed, is left out.
///
/// # Errors
/// When a file cannot be read or written, or the flag was set.
pub fn copy(tree: &Path, files: &[String], to: &Path, stop: &AtomicBool) -> Result<(), Error> {
    for (at, file) in files.iter().enumerate() {
        if at % 64 == 0 {
            check(stop)?;
        }
        copy_one(tree, file, to)?;
    }
    let stub = to.join("Documentation/Kconfig");
    if !stub.exists() {
        fs::create_dir_all(to.join("Documentation")).map_err(Error::file("make", to))?;
        fs::write(&stub, "# left out\n").map_err(Error::file("write", &stub))?;
    }
    Ok(())
}

fn copy_one(tree: &Path, file: &str, to: &Path) -> Result<(), Error> {
    let (from, to_file) = (tree.join(file), to.join(file));
    let Ok(meta) = from.symlink_metadata() else { return Ok(()) };
    let folder = to_file.parent().unwrap_or(to);
    fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
    if meta.is_symlink()
        && let Ok(target) = fs::read_link(&from)
        && stays_inside(file, &target)
    {
        return match symlink(target, &to_file) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                Err(Error::file("write", &to_file)(error))
            }
            _ => Ok(()),
        };
    }
    if !from.is_file() {
        return Ok(());
    }
    fs::copy(&from, &to_file).map(drop).map_err(Error::file("copy", &from))
}

/// Does a link lead to a place in the tree?
fn stays_inside(file: &str, target: &Path) -> bool {
    let mut depth = PathBuf::from(file).components().count() - 1;
    target.components().all(|part| match part {
        Component::ParentDir if depth == 0 => false,
        Component::ParentDir => {
            depth -= 1;
            true
        }
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::CurDir => true,
        Component::RootDir | Component::Prefix(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::tree::tests::fake;
    use crate::hash;

    /// Every entry of a folder, with the moment of its last change and a hash of its content.
    fn state(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(path) = open.pop() {
            let meta = path.symlink_metadata().expect("an entry");
            let content = if meta.is_file() { hash(&fs::read(&path).expect("readable")) } else { String::new() };
            found.push(format!("{} {:?} {:?} {content}", path.display(), meta.modified(), meta.permissions()));
            if meta.is_dir() {
                open.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            }
        }
        found.sort();
        found
    }

    fn write(path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }

    const LEFT: &[&str] = &[
        "kernel/sched/fair.o",
        "kernel/sched/.fair.o.cmd",
        "include/generated/autoconf.h",
        ".config",
        "include/config/a",
        "drivers/net/other.c",
        "scripts/kconfig/lexer.lex.c",
        "kernel/bounds.s",
        "scripts/basic/fixdep",
    ];
    const COPIED: &[&str] = &[
        "kernel/sched/fair.c",
        "Makefile",
        "drivers/net/Kconfig",
        "drivers/net/Makefile.common",
        "io_uring/io-wq.h",
        "arch/x86/boot/start.S",
        "Documentation/Kconfig",
    ];

    #[test]
    fn a_tree_that_was_built_in_place_is_copied_without_what_the_build_left_and_stays_as_it_is() {
        let (tree, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        fake(tree.path(), "VERSION = 6\nPATCHLEVEL = 12");
        LEFT.iter().for_each(|file| write(&tree.path().join(file), b"\x7fELF"));
        COPIED[2..6].iter().for_each(|file| write(&tree.path().join(file), b"text"));
        symlink("sched.h", tree.path().join("include/linux/link.h")).expect("a link");
        symlink("/etc/passwd", tree.path().join("include/linux/outside.h")).expect("a link");
        let before = state(tree.path());
        let stop = AtomicBool::new(false);
        let list = files(tree.path(), None, &stop).expect("files");
        copy(tree.path(), &list, to.path(), &stop).expect("copied");
        COPIED.iter().for_each(|file| assert!(to.path().join(file).is_file(), "{file}"));
        LEFT.iter().for_each(|file| assert!(!to.path().join(file).exists(), "{file}"));
        assert!(to.path().join("include/linux/link.h").is_symlink());
        assert!(!to.path().join("include/linux/outside.h").is_symlink());
        write(&to.path().join("kernel/sched/fair.c"), b"patched");
        assert_eq!(state(tree.path()), before);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(files(tree.path(), None, &stop), Err(Error::Stopped));
    }

    #[test]
    fn links_that_leave_the_tree_are_known() {
        assert!(stays_inside("a/b/c", Path::new("../../x")));
        for (file, target) in [("a", "../x"), ("a/b", "../../x"), ("a", "/x"), ("a/b", "c/../../../x")] {
            assert!(!stays_inside(file, Path::new(target)), "{file} {target}");
        }
    }

    #[test]
    fn parts_are_whole_folders() {
        assert!(is_part("kernel/sched/fair.c") && is_part("Makefile") && is_part("tools/lib/x.c"));
        assert!(!is_part("kernels/x.c") && !is_part("drivers/net/x.c") && !is_part("Makefile.other"));
    }
}
