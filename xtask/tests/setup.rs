// SPDX-License-Identifier: GPL-2.0-or-later
//! `scripts/setup.sh` installs nothing without a yes. Its commands are stand-ins in a folder that is all of `PATH`.

#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A machine without clang and pkg-config, whose `apt-get` writes down its arguments and brings what it is asked for.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new(user: u32) -> Machine {
        let machine = Machine { folder: tempfile::tempdir().expect("temporary folder") };
        for name in ["bash", "sh", "dirname", "sed", "awk", "cat", "chmod", "cp"] {
            let real = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
            let real = real.iter().find(|path| path.exists()).expect("a standard command");
            symlink(real, machine.path(name)).expect("room");
        }
        machine.command("id", &format!("echo {user}"));
        machine.command("cargo", "exit 0");
        machine.command("rustc", "echo 'rustc 1.99.0'");
        machine.command("cc", "exit 0");
        machine.command(
            "apt-get",
            "here=${0%/*}; echo \"$*\" >>\"$here/calls\"
             for word; do case $word in clang|pkg-config) cp \"$here/cc\" \"$here/$word\";; esac; done",
        );
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), format!("#!/bin/sh\n{text}\n")).expect("room");
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(0o755)).expect("its own file");
    }

    fn script(&self, program: &str, words: &[&str], setting: &[(&str, &str)]) -> Command {
        let mut command = Command::new(program);
        command.args(words).env_clear().env("PATH", self.folder.path()).envs(setting.iter().copied());
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).stdin(Stdio::null());
        command
    }

    fn setup(&self, setting: &[(&str, &str)]) -> Output {
        self.script("/bin/bash", &["scripts/setup.sh", "base"], setting).output().expect("a standard shell")
    }

    /// Calls of `apt-get`.
    fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const ROOT: u32 = 0;
const COMMAND: &str = "setup: nothing installed; as root: apt-get install clang pkg-config\n";

#[test]
fn without_a_terminal_nothing_is_installed_and_the_command_is_said() {
    for (user, setting) in
        [(ROOT, &[][..]), (ROOT, &[("PELTON_INSTALL", "no")]), (ROOT, &[("CI", "false")]), (1000, &[("CI", "true")])]
    {
        let machine = Machine::new(user);
        let output = machine.setup(setting);
        assert_eq!(output.status.code(), Some(0), "all of it is optional: {output:?}");
        assert!(said(&output).contains(COMMAND), "{user} {setting:?}: {output:?}");
        assert!(said(&output).contains("missing: clang (compiles the recorder's BPF program)\n"), "{output:?}");
        assert_eq!(machine.calls(), [""; 0], "{user} {setting:?}");
    }
}

#[test]
fn ci_and_a_setting_install_without_a_question() {
    for setting in [("CI", "true"), ("PELTON_INSTALL", "yes")] {
        let machine = Machine::new(ROOT);
        let output = machine.setup(&[setting]);
        let calls = machine.calls();
        assert_eq!(calls.len(), 3, "{calls:?}");
        assert!(calls[0].starts_with("update") && calls[1].ends_with(" clang") && calls[2].ends_with(" pkg-config"));
        assert!(!said(&output).contains("could not") && !said(&output).contains("nothing installed"), "{output:?}");
        assert_eq!(said(&machine.setup(&[])), "", "nothing is missing any more");
    }
}

#[test]
fn at_a_terminal_a_yes_installs_and_anything_else_does_not() {
    if !Path::new("/usr/bin/script").exists() {
        println!("not measured: the question of scripts/setup.sh (no `script`, which makes terminals)");
        return;
    }
    for (answer, calls) in [("y\n", 3), ("\n", 0), ("n\n", 0)] {
        let machine = Machine::new(ROOT);
        let line = "/bin/bash scripts/setup.sh base";
        let mut script = machine.script("/usr/bin/script", &["-qec", line, "/dev/null"], &[]);
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a standard command");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut stdin, answer.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("child");
        assert!(said(&output).contains("install this now, as root? [y/N]"), "{output:?}");
        assert_eq!(machine.calls().len(), calls, "{answer:?}: {output:?}");
    }
}

#[test]
fn without_a_compiler_setup_ends_with_4() {
    let machine = Machine::new(ROOT);
    std::fs::remove_file(machine.path("cc")).expect("a stand-in");
    let output = machine.setup(&[]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(said(&output).contains("apt-get install gcc clang"), "{output:?}");
}

#[test]
fn every_python_package_is_pinned_by_the_checksums_of_its_files() {
    for name in ["requirements.txt", "requirements-tables.txt"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts").join(name);
        let text = std::fs::read_to_string(path).expect("part of the repository").replace("\\\n", " ");
        let packages: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert!(packages.len() >= 3, "{name}: {packages:?}");
        for package in packages {
            let (pinned, sums) = package.split_once("--hash=sha256:").unwrap_or((package, ""));
            assert!(pinned.contains("==") && sums.len() >= 64, "{name}: {pinned}");
        }
    }
}
