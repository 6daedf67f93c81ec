// SPDX-License-Identifier: GPL-2.0-or-later
//! Verbs killed at random moments: no input is harmed, no output claims more than it holds, the machine is as before.
//!
//! `PELTON_KILLS_SEED` is the first case, `PELTON_KILLS_COUNT` how many follow. `record` is among the verbs where `make
//! test-kernel` asks for recordings of the running kernel.

#![cfg(unix)]

use crate::random_runs::Dice;
use crate::support::{command, good, pelton, processor_time};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Kills tried without being asked for another number.
const COUNT: u64 = 60;
/// More processor time than a verb may take after a signal.
const SOON: Duration = Duration::from_secs(5);
/// Number and name of each signal, and the exit code of a program that ends by it in good order.
const SIGNALS: [(i32, &str, i32); 4] = [(9, "-KILL", 137), (15, "-TERM", 143), (2, "-INT", 130), (1, "-HUP", 129)];

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
}

/// A verb with its arguments; `@in`, `@model` and `@out` stand for files.
struct Verb {
    words: &'static [&'static str],
    output: &'static str,
    /// The output of the same call is the same each time.
    repeats: bool,
}

const VERBS: &[Verb] = &[
    Verb {
        words: &["run", "--platform", "rock-5b-rk3588", "--workload", "@model", "--duration", "60s", "--log", "@out"],
        output: "out.plog",
        repeats: true,
    },
    Verb {
        words: &[
            "run",
            "--platform",
            "hikey-6220",
            "--workload",
            "busy:threads=12",
            "--duration",
            "20s",
            "--trace",
            "@out",
        ],
        output: "out.pftrace",
        repeats: true,
    },
    Verb { words: &["replay", "@in", "--log", "@out"], output: "out.plog", repeats: true },
    Verb {
        words: &[
            "compare",
            "--platform",
            "hikey-6220",
            "--workload",
            "@model",
            "--policy",
            "7.2",
            "--policy",
            "4.12",
            "--duration",
            "60s",
            "--plot",
            "@out",
        ],
        output: "out.svg",
        repeats: true,
    },
    Verb { words: &["trace", "export", "@in", "--to", "csv", "--output", "@out"], output: "out.csv", repeats: true },
    Verb { words: &["trace", "export", "@in", "--to", "text", "--output", "@out"], output: "out.txt", repeats: true },
    Verb {
        words: &["trace", "export", "@in", "--to", "perfetto", "--output", "@out"],
        output: "out.pftrace",
        repeats: true,
    },
    Verb { words: &["workload", "from-trace", "@in", "--output", "@out"], output: "out.json", repeats: true },
    Verb {
        words: &["record", "--duration", "1s", "--load", "cgroup-moves", "--output", "@out"],
        output: "out.plog",
        repeats: false,
    },
];

/// Files of the test, and what they held before.
struct World {
    folder: tempfile::TempDir,
    input: Vec<u8>,
    model: Vec<u8>,
    references: Vec<Option<Vec<u8>>>,
    /// Length of each verb when it is not killed.
    took: Vec<Duration>,
}

const MODEL: &str = include_str!("../../../scenarios/workloads/rt-app/browser-long.json");

impl World {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn words(&self, verb: &Verb) -> Vec<String> {
        let file = |name: &str| self.path(name).display().to_string();
        let word = |word: &&str| match *word {
            "@in" => file("in.plog"),
            "@model" => file("model.json"),
            "@out" => file(verb.output),
            other => other.to_owned(),
        };
        verb.words.iter().map(word).chain(["-q".to_owned()]).collect()
    }

    /// Runs every verb once to its end.
    fn new(verbs: &[&Verb]) -> World {
        let folder = tempfile::tempdir().expect("temporary folder");
        let log = folder.path().join("in.plog");
        let run =
            ["run", "--platform", "hikey-6220", "--workload", "busy:threads=5", "--duration", "12s", "-q", "--log"];
        good(&[&run[..], &[log.to_str().expect("a plain name")]].concat());
        std::fs::write(folder.path().join("model.json"), MODEL).expect("room");
        let (input, model) = (std::fs::read(&log).expect("written"), MODEL.as_bytes().to_vec());
        let mut world = World { folder, input, model, references: Vec::new(), took: Vec::new() };
        for verb in verbs {
            let since = Instant::now();
            let words = world.words(verb);
            let outcome = pelton(&words.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(outcome.code == 0, "{words:?}\n{}", outcome.stderr);
            world.took.push(since.elapsed());
            let bytes = std::fs::read(world.path(verb.output)).expect("written");
            world.references.push(verb.repeats.then_some(bytes));
            world.clear();
        }
        world
    }

    /// Removes all outputs; kills leave parts behind.
    fn clear(&self) {
        for entry in std::fs::read_dir(self.folder.path()).expect("ours").flatten() {
            if !["in.plog", "model.json"].iter().any(|kept| entry.file_name() == *kept) {
                std::fs::remove_file(entry.path()).expect("ours");
            }
        }
    }

    fn inputs_are_whole(&self) -> bool {
        let same = |name, bytes: &[u8]| std::fs::read(self.path(name)).is_ok_and(|now| now == bytes);
        same("in.plog", &self.input) && same("model.json", &self.model)
    }

    /// Files that are neither inputs, nor the output, nor its part.
    fn strangers(&self, verb: &Verb) -> Vec<String> {
        let part = format!("{}.pelton-part", verb.output);
        let known = ["in.plog", "model.json", verb.output, &part];
        let names = std::fs::read_dir(self.folder.path()).expect("ours").flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| !known.contains(&name.as_str())).collect()
    }
}

/// Says that it is not whole, to whoever asks for its damage or reads on.
fn admits(path: &Path) -> bool {
    let info = pelton(&["trace", "info", path.to_str().expect("a plain name")]);
    info.code != 0 || !info.stdout.contains("damage   none")
}

/// State of the machine that a recording with a load changes: autogroups, groups, pinned programs.
fn machine() -> (String, usize, usize) {
    let count = |folder: &str, prefix: &str| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter(|e| e.file_name().to_string_lossy().starts_with(prefix)).count()
    };
    let groups = count("/sys/fs/cgroup/cpu", "pelton-") + count("/sys/fs/cgroup", "pelton-");
    let autogroups = std::fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled").unwrap_or_default();
    (autogroups, groups, count("/sys/fs/bpf", ""))
}

/// Starts a verb, waits, sends the signal, waits for its end.
#[expect(clippy::disallowed_methods, reason = "a random moment is what is asked for, not an event")]
fn killed(words: &[String], after: Duration, signal: &str) -> (ExitStatus, Duration) {
    let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
    let child = command(&arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::thread::sleep(after);
    let before = processor_time::of(&child);
    // One that has ended by itself stays a child until it is waited for: the signal goes nowhere else.
    Command::new("kill")
        .args([signal, &child.id().to_string()])
        .stderr(Stdio::null())
        .status()
        .expect("a standard command");
    let (output, spent) = processor_time::ended(child);
    (output.status, spent - before)
}

/// Judges one kill; the error says what is wrong.
fn kill_once(world: &World, verbs: &[&Verb], dice: &mut Dice) -> Result<&'static str, String> {
    let n = dice.between(0, verbs.len() as u64 - 1) as usize;
    let (number, name, code) = SIGNALS[dice.between(0, 3) as usize];
    let after = Duration::from_micros(dice.between(0, world.took[n].as_micros() as u64 * 11 / 10));
    let (verb, out) = (verbs[n], world.path(verbs[n].output));
    let had_old = dice.between(0, 1) == 1;
    if had_old {
        std::fs::write(&out, "old").expect("room");
    }
    let (status, took) = killed(&world.words(verb), after, name);
    let at = format!("{} {name} after {after:?}: {status}", verb.words[0]);
    let ends_well = status.code() == Some(0) || status.code() == Some(code) || status.signal() == Some(number);
    if !ends_well || took > SOON {
        return Err(format!("{at}, took {took:?}"));
    }
    if !world.inputs_are_whole() {
        return Err(format!("{at}: an input was harmed"));
    }
    let strangers = world.strangers(verb);
    if !strangers.is_empty() {
        return Err(format!("{at}: left {strangers:?}"));
    }
    let held = std::fs::read(&out).ok();
    let verdict = match held.as_deref() {
        None if !had_old => "none",
        Some(b"old") if had_old => "old",
        Some(bytes) if world.references[n].as_deref() == Some(bytes) => "whole",
        Some(_) if !verb.repeats && !admits(&out) => "whole",
        Some(_) if verb.output != "out.svg" && verb.output != "out.json" && admits(&out) => "partial",
        _ => return Err(format!("{at}: the output is neither old nor whole, and does not say so")),
    };
    let whole = verdict == "whole" || (had_old && held.as_deref() == world.references[n].as_deref());
    if status.code() == Some(0) && !whole {
        return Err(format!("{at}: the output is {verdict}"));
    }
    Ok(verdict)
}

#[test]
fn kills_at_any_moment_harm_nothing() {
    let records = cfg!(feature = "record") && std::env::var_os("PELTON_TEST_KERNEL").is_some();
    let verbs: Vec<&Verb> = VERBS.iter().filter(|verb| verb.words[0] != "record" || records).collect();
    let before = machine();
    let world = World::new(&verbs);
    let (first, count) = (from_environment("PELTON_KILLS_SEED", 1), from_environment("PELTON_KILLS_COUNT", COUNT));
    let mut verdicts = std::collections::BTreeMap::<&str, u64>::new();
    let mut wrong = Vec::new();
    for seed in (0..count).map(|i| first.wrapping_add(i)) {
        match kill_once(&world, &verbs, &mut Dice(seed)) {
            Ok(verdict) => *verdicts.entry(verdict).or_default() += 1,
            Err(what) => wrong.push(format!("seed {seed}: {what}")),
        }
        world.clear();
    }
    println!("{count} kills, outputs: {verdicts:?}");
    if !records {
        println!("not measured: kills of `pelton record` (make test-kernel asks for it)");
    }
    assert!(wrong.is_empty(), "{} of {count} kills:\n{}", wrong.len(), wrong.join("\n"));
    let since = Instant::now();
    while machine() != before {
        assert!(since.elapsed() < Duration::from_secs(30), "before {before:?}, now {:?}", machine());
        std::thread::yield_now();
    }
}
