// SPDX-License-Identifier: GPL-2.0-or-later
//! Ceilings: instructions of one activation, counted in the release program and held against a record that only falls.
//!
//! A case is a board and a form of `bench/load32.json`. It is run for two lengths under callgrind; the difference in
//! instructions over the difference in activations leaves out reading and start, and depends on nothing but the
//! program. Compilers make programs: a record of others says nothing, so nothing is judged then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::repo;

const RECORD: &str = "bench/ceilings.toml";
const WORKLOAD: &str = "bench/load32.json";
/// Simulated time of the shorter and of the longer run, ms.
const LENGTHS_MS: [u64; 2] = [500, 1_500];
/// A case may cost so much more than its record, percent: what a change elsewhere may do to it.
const SLACK_PERCENT: u64 = 1;

/// Change that a case makes to each task of the workload, `i` being its number.
type Form = fn(task: &mut Value, i: usize);

/// One case: its name, board and form of the workload.
struct Case(&'static str, &'static str, Form);

/// One clock for all CPUs, one for each, a group, three kinds of CPUs, many CPUs, clamps.
const CASES: [Case; 6] = [
    Case("load32-hikey-6220", "hikey-6220", |_, _| ()),
    Case("load32-intel-i7-6700", "intel-i7-6700", |_, _| ()),
    Case("load32-pixel6-gs101", "pixel6-gs101", |_, _| ()),
    Case("load32-epyc-7543p-64-cpus", "epyc-7543p", |_, _| ()),
    Case("load32-one-group-hikey-6220", "hikey-6220", |task, _| task["taskgroup"] = json!("/a")),
    Case("load32-clamped-hikey-6220", "hikey-6220", clamp),
];

/// Every fourth task asks for a quarter of a CPU's capacity at least, every other fourth one for a half at most.
fn clamp(task: &mut Value, i: usize) {
    match i % 4 {
        0 => task["util_min"] = json!(256),
        2 => task["util_max"] = json!(512),
        _ => (),
    }
}

/// The record: who compiled the program, and what each case cost.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Record {
    machine: String,
    rustc: String,
    cc: String,
    instructions_per_activation: BTreeMap<String, u64>,
}

/// Use of the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Hold them against the record.
    Check,
    /// Write the record anew where they are lower.
    Write,
    /// Write it anew, whatever they are.
    Raise,
}

/// Counts all cases.
pub fn run(mode: Mode) -> Result<(), String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("not measured: ceilings of instructions (no valgrind)");
        return Ok(());
    }
    let before = record()?;
    let mut now = compilers()?;
    if mode == Mode::Check && !before.is_made_by_same(&now) {
        println!("not measured: ceilings were recorded by {}; here: {}", before.makers(), now.makers());
        return Ok(());
    }
    let program = build()?;
    for case in &CASES {
        now.instructions_per_activation.insert(case.0.to_owned(), count(&program, case)?);
    }
    let verdicts = judge(&before, &now);
    verdicts.iter().for_each(|line| println!("{}", line.text));
    let above = verdicts.iter().filter(|line| line.above).count();
    match mode {
        Mode::Raise => write(&now),
        _ if above > 0 => Err(format!(
            "{above} of {} cases cost more than their ceiling and {SLACK_PERCENT} %: make them cheaper, or raise the \
             ceilings by `cargo xtask bench --ceilings --write --raise` and say in the commit what is bought",
            CASES.len()
        )),
        Mode::Write => write(&now.lowered(before)),
        Mode::Check => Ok(()),
    }
}

impl Record {
    /// Compilers of one release make the same program: its patches and how it was packed do not matter.
    fn is_made_by_same(&self, other: &Record) -> bool {
        self.machine == other.machine
            && release(&self.rustc, 2) == release(&other.rustc, 2)
            && release(&self.cc, 1) == release(&other.cc, 1)
    }

    fn makers(&self) -> String {
        format!("{}, {} ({})", self.rustc, self.cc, self.machine)
    }

    /// These counts, where the record has no lower ones.
    fn lowered(mut self, before: Record) -> Record {
        for (name, ceiling) in before.instructions_per_activation {
            self.instructions_per_activation.entry(name).and_modify(|count| *count = ceiling.min(*count));
        }
        self
    }
}

/// The compiler's name and the first `parts` parts of its version: `rustc 1.95`.
fn release(line: &str, parts: usize) -> String {
    let name = line.split_whitespace().next().unwrap_or("");
    let starts_with_digit = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    // What a distribution says about its package stands in brackets.
    let mut words = line.split(['(', ')']).step_by(2).flat_map(str::split_whitespace);
    let version = words.find(starts_with_digit).unwrap_or("");
    format!("{name} {}", version.split('.').take(parts).collect::<Vec<_>>().join("."))
}

fn record() -> Result<Record, String> {
    let text = std::fs::read_to_string(repo::root().join(RECORD)).map_err(|error| format!("{RECORD}: {error}"))?;
    toml::from_str(&text).map_err(|error| format!("{RECORD}: {error}"))
}

/// A record without counts.
fn compilers() -> Result<Record, String> {
    let verbose = repo::run(Command::new("rustc").arg("-vV").current_dir(repo::root()))?;
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let cc = repo::run(Command::new(cc).arg("--version"))?;
    let first = |text: &str| text.lines().next().unwrap_or("").to_owned();
    let host = verbose.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("").to_owned();
    Ok(Record { machine: host, rustc: first(&verbose), cc: first(&cc), instructions_per_activation: BTreeMap::new() })
}

/// The release program, built as `make demo` does: what that built is used.
fn build() -> Result<PathBuf, String> {
    let root = repo::root();
    let flags = repo::run(Command::new("scripts/build-flags.sh").current_dir(&root))?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.current_dir(&root).args(["build", "--quiet", "--release", "-p", "pelton-cli"]);
    // Cargo sets variables for its programs that say where their package is; a build script that reads one would run
    // again.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR")
    {
        command.env_remove(name);
    }
    repo::run(command.args(flags.split_whitespace()))?;
    let target = std::env::var("CARGO_TARGET_DIR").map_or_else(|_| root.join("target"), |folder| root.join(folder));
    Ok(target.join("release/pelton"))
}

/// The workload of a case.
fn workload(text: &str, form: Form) -> Result<String, String> {
    let mut workload: Value = serde_json::from_str(text).map_err(|error| format!("{WORKLOAD}: {error}"))?;
    let tasks = workload["tasks"].as_object_mut().ok_or_else(|| format!("{WORKLOAD}: no tasks"))?;
    tasks.values_mut().enumerate().for_each(|(i, task)| form(task, i));
    Ok(workload.to_string())
}

/// Instructions per activation of a case; its two runs side by side.
fn count(program: &Path, case: &Case) -> Result<u64, String> {
    let folder = repo::root().join("out/ceilings");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (file, source) = (folder.join(case.0).with_extension("json"), repo::root().join(WORKLOAD));
    let text = std::fs::read_to_string(source).map_err(|error| format!("{WORKLOAD}: {error}"))?;
    std::fs::write(&file, workload(&text, case.2)?).map_err(|error| format!("{}: {error}", file.display()))?;
    let [shorter, longer] = std::thread::scope(|scope| {
        let file = &file;
        let runs = LENGTHS_MS.map(|ms| scope.spawn(move || callgrind(program, case.1, file, ms)));
        runs.map(|run| run.join().unwrap_or_else(|_| Err(format!("{}: counting ended early", case.0))))
    });
    per_activation(shorter?, longer?).ok_or_else(|| format!("{}: the longer run has no more activations", case.0))
}

fn per_activation(shorter: (u64, u64), longer: (u64, u64)) -> Option<u64> {
    longer.0.checked_sub(shorter.0)?.checked_div(longer.1.checked_sub(shorter.1)?)
}

/// Instructions and activations of one run.
fn callgrind(program: &Path, platform: &str, workload: &Path, ms: u64) -> Result<(u64, u64), String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command.args(["run", "--platform", platform, "--workload"]).arg(workload);
    command.args(["--duration", &format!("{ms}ms"), "--format", "json", "--quiet"]);
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let instructions = collected(&said).filter(|_| output.status.success());
    let report = serde_json::from_slice(&output.stdout).ok().and_then(|report| activations(&report));
    instructions.zip(report).ok_or_else(|| format!("{command:?} counted nothing:\n{said}"))
}

/// The figure of callgrind's line `Collected : 12345`.
pub fn collected(stderr: &str) -> Option<u64> {
    let after = stderr.split("Collected :").nth(1)?;
    after.split_whitespace().next()?.parse().ok()
}

/// Activations of all tasks of a report.
fn activations(report: &Value) -> Option<u64> {
    let is_sought = |row: &&Value| row["scope"] == "run" && row["quantity"] == "activations";
    let value = report["rows"].as_array()?.iter().find(is_sought)?["value"].as_f64()?;
    Some(value as u64)
}

/// Verdict on a case beside its ceiling.
struct Line {
    text: String,
    above: bool,
}

fn judge(before: &Record, now: &Record) -> Vec<Line> {
    let line = |(name, &count): (&String, &u64)| {
        let ceiling = before.instructions_per_activation.get(name).copied();
        let above = ceiling.is_some_and(|ceiling| is_above(count, ceiling));
        let change = ceiling.map_or_else(|| "not recorded".to_owned(), |ceiling| change(count, ceiling));
        let verdict = if above { "  ABOVE" } else { "" };
        Line { text: format!("{name:<34} {count:>7} instructions an activation, {change}{verdict}"), above }
    };
    now.instructions_per_activation.iter().map(line).collect()
}

fn is_above(count: u64, ceiling: u64) -> bool {
    count * 100 > ceiling * (100 + SLACK_PERCENT)
}

fn change(count: u64, ceiling: u64) -> String {
    format!("ceiling {ceiling}: {:+.1} %", (count as f64 / ceiling.max(1) as f64 - 1.0) * 100.0)
}

fn write(record: &Record) -> Result<(), String> {
    std::fs::write(repo::root().join(RECORD), render(record)).map_err(|error| format!("{RECORD}: {error}"))?;
    println!("wrote {RECORD}");
    Ok(())
}

fn render(record: &Record) -> String {
    let Record { machine, rustc, cc, .. } = record;
    let counts = record.instructions_per_activation.iter().map(|(name, count)| format!("{name} = {count}\n"));
    let counts: String = counts.collect();
    format!(
        "# SPDX-License-Identifier: GPL-2.0-or-later\n\
         # Instructions of one activation, by case, of the release program that these compilers made: ceilings.\n\
         # `make ceilings` fails above them; `cargo xtask bench --ceilings --write` lowers them (docs/ci.md).\n\
         machine = {machine:?}\nrustc = {rustc:?}\ncc = {cc:?}\n\n[instructions_per_activation]\n{counts}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[(&str, u64)]) -> Record {
        Record {
            machine: "x86_64-unknown-linux-gnu".to_owned(),
            rustc: "rustc 1.95.0 (59807616e 2026-04-14)".to_owned(),
            cc: "cc (Debian 12.2.0-14+deb12u1) 12.2.0".to_owned(),
            instructions_per_activation: counts.iter().map(|&(name, count)| (name.to_owned(), count)).collect(),
        }
    }

    #[test]
    fn the_record_has_every_case_and_is_as_it_would_be_written() {
        let record = record().expect("the committed record");
        let mut names = CASES.map(|case| case.0);
        names.sort_unstable();
        assert!(record.instructions_per_activation.keys().eq(&names), "{record:?}");
        assert!(record.instructions_per_activation.values().all(|&count| count > 1_000), "{record:?}");
        assert_eq!(toml::from_str(&render(&record)), Ok(record));
    }

    #[test]
    fn a_hundredth_more_is_the_most() {
        let before = of(&[("a", 20_000), ("b", 20_000), ("c", 20_000)]);
        let lines = judge(&before, &of(&[("a", 20_180), ("b", 20_220), ("c", 15_000)]));
        assert_eq!(lines.iter().map(|line| line.above).collect::<Vec<_>>(), [false, true, false]);
        assert!(lines[1].text.ends_with("20220 instructions an activation, ceiling 20000: +1.1 %  ABOVE"));
        assert!(!judge(&before, &of(&[("new", 90_000)]))[0].above, "a case that has no ceiling yet");
    }

    #[test]
    fn a_record_only_falls() {
        let before = of(&[("a", 20_000), ("b", 20_000), ("gone", 1)]);
        let after = of(&[("a", 20_180), ("b", 19_000), ("new", 7)]).lowered(before);
        assert_eq!(after, of(&[("a", 20_000), ("b", 19_000), ("new", 7)]));
    }

    #[test]
    fn patches_of_a_compiler_make_the_same_program_and_releases_another() {
        let (own, mut other) = (of(&[]), of(&[]));
        other.rustc = "rustc 1.95.1 (0 2026-05-01)".to_owned();
        other.cc = "cc (Ubuntu 12.3.0-1ubuntu1~22.04) 12.3.0".to_owned();
        assert!(own.is_made_by_same(&other));
        for (rustc, cc) in [("rustc 1.96.0 (0 2026-06-01)", &*own.cc), (&*own.rustc, "clang version 12.0.1")] {
            (other.rustc, other.cc) = (rustc.to_owned(), cc.to_owned());
            assert!(!own.is_made_by_same(&other), "{other:?}");
        }
        assert_eq!(release("cc (GCC) 14.1.1 20240522 (Red Hat 14.1.1-4)", 1), "cc 14");
    }

    #[test]
    fn each_case_is_a_form_of_the_same_tasks() {
        let text = std::fs::read_to_string(repo::root().join(WORKLOAD)).expect("the workload");
        let texts = CASES.map(|case| workload(&text, case.2).expect("a form"));
        assert_eq!(texts[0], texts[1]);
        assert_eq!(texts[4].matches(r#""taskgroup":"/a""#).count(), 32);
        assert_eq!(texts[5].matches(r#""util_min":256"#).count(), 8);
        assert_eq!(texts[5].matches(r#""util_max":512"#).count(), 8);
    }

    #[test]
    fn what_callgrind_and_the_program_say_is_read() {
        assert_eq!(collected("==1== Events    : Ir\n==1== Collected : 1046000\n"), Some(1_046_000));
        assert_eq!(collected("valgrind: no such program"), None);
        assert_eq!(
            activations(&json!({"rows": [{"scope": "run", "quantity": "activations", "value": 725.0}]})),
            Some(725)
        );
        assert_eq!(activations(&json!({"error": 1})), None);
        assert_eq!(per_activation((1_000, 10), (21_000, 20)), Some(2_000));
        assert_eq!(per_activation((1_000, 10), (1_000, 10)), None);
    }
}
