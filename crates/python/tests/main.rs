// SPDX-License-Identifier: GPL-2.0-or-later
//! The package as Python sees it: its tests, types and stubs, with the module that was just built.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// An interpreter that has this module of Python, or the reason why there is none.
fn python(module: &str) -> Result<PathBuf, String> {
    let python = repository().join(".venv/bin/python");
    let has = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    match has {
        Ok(output) if output.status.success() => Ok(python),
        _ => Err(format!("not measured: .venv has no {module} (scripts/setup.sh test)")),
    }
}

/// Folder of [`made_package`], made once.
static PACKAGE: LazyLock<PathBuf> = LazyLock::new(made_package);

/// A folder that the package can be imported from: its files, and the module beside them.
fn made_package() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("package");
    let package = folder.join("pelton");
    std::fs::create_dir_all(&package).expect("a folder");
    for file in std::fs::read_dir(repository().join("python/pelton")).expect("the package") {
        let file = file.expect("an entry").path();
        let is_module = file.extension().is_some_and(|ending| ending == "so");
        if file.is_file() && !is_module {
            std::fs::copy(&file, package.join(file.file_name().expect("a name"))).expect("a copy");
        }
    }
    let deps = std::env::current_exe().expect("this program").parent().expect("a folder").to_owned();
    let module = package.join("_pelton.abi3.so");
    // Another inode: an interpreter may have the old one open.
    let _ = std::fs::remove_file(&module);
    std::fs::copy(deps.join("lib_pelton.so"), module).expect("cargo builds the module for its tests");
    folder
}

fn run(python: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(python);
    command.args(arguments).current_dir(repository().join("python")).env("PYTHONPATH", &*PACKAGE);
    // The sources, which have no module beside them, are not imported from where Python starts.
    command.env("PYTHONSAFEPATH", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    let program = std::env::current_exe().expect("this program").ancestors().nth(2).map(|built| built.join("pelton"));
    if let Some(program) = program.filter(|program| program.is_file()) {
        command.env("PELTON_PROGRAM", program);
    }
    command.output().expect("Python starts")
}

fn good(output: &Output) {
    let said = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    println!("{said}");
    assert!(output.status.success(), "{said}");
}

#[test]
fn its_tests_pass() {
    match python("pytest, hypothesis") {
        Ok(python) => good(&run(&python, &["-m", "pytest", "-rsP", "-p", "no:cacheprovider", "tests"])),
        Err(why) => println!("{why}"),
    }
}

#[test]
fn types_are_right_and_the_stub_is_that_of_the_module() {
    let python = match python("mypy") {
        Ok(python) => python,
        Err(why) => return println!("{why}"),
    };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mypy");
    let cache = format!("--cache-dir={}", cache.display());
    good(&run(&python, &["-m", "mypy", &cache, "pelton", "tests"]));
    good(&run(&python, &["-m", "mypy.stubtest", "pelton._pelton"]));
}
