// SPDX-License-Identifier: GPL-2.0-or-later
//! Programs that judge a fault, each in a process of its own, the quickest first.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::sites::Mutant;
use crate::repo;

/// A program of tests, what it is called with, and the beginnings of the headers it is asked about; none: all.
type Asked = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Two tests of a million operations, which wait for the others.
const LONG: &str = "group_accounting";
const BOOST: &[&str] = &["boost", "arith"];
/// Headers of records of more than 64 CPUs.
const WIDE: &[&str] = &["cpus_wide", "span", "balance_kept", "balance_llc"];

/// Known answers of the core, the quickest first. Not `properties`, whose cases are others each time.
const QUICK: [Asked; 13] = [
    ("schedutil", &[], &[]),
    ("gates", &[], &[]),
    ("place", &[], &[]),
    ("lifecycle", &[], &[]),
    ("live_governors", &[], &[]),
    ("worked_examples", &[], &[]),
    ("golden", &[], &[]),
    ("lazy_decay", &[], &[]),
    ("pelt_table", &[], &[]),
    ("idle", &[], &[]),
    ("profiles", &[], &[]),
    ("known_answers", &["--skip", LONG], &[]),
    (ANSWERS, &[], &[]),
];
/// Judges that take longer, or ask for more of the workspace to be built: after the twin.
const SLOW: [Asked; 6] = [
    ("kernel_data", &[], &[]),
    ("known_answers", &[LONG], BOOST),
    ("boost_groups", &[], BOOST),
    ("placement_search", &[], &["feec", "fits", "energy"]),
    ("large_records", &[], WIDE),
    (RUNS, &[], &[]),
];
/// Answers of kernels' own code, asked of the core's side of the oracle.
const ANSWERS: &str = "kernel_answers";
/// The program that is asked.
const ALONE: &str = "target/mutants/alone";
/// Of clang a variable that is used before it has a value does not begin at 0; gcc lets it have any.
const CLANG: &str = "clang";
const PATTERN: &str = "-ftrivial-auto-var-init=pattern";
/// Runs of the simulator that are compared with recorded ones.
const RUNS: &str = "log_hashes";
/// Programs of the core's tests, of the runs, and of the conformance suite.
const PROGRAMS: [&str; 3] = ["core_tests", "lab_tests", "across"];
/// Random states of each profile with records of more than 64 CPUs.
const LARGE_STATES: &str = "8000";
/// Operations that the twin has answered.
const TWIN_CALLS: &str = "1000000";

/// A judge of mutants.
#[derive(Clone, Debug)]
pub struct Judge {
    name: String,
    program: PathBuf,
    kind: Kind,
    /// Beginnings of the headers it is asked about; none: all.
    within: &'static [&'static str],
    /// Time that it took without a fault.
    usual: Duration,
    /// True of one that a sample does without.
    slow: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// A program of tests, with arguments.
    Tests(&'static [&'static str]),
    /// The core behind the entry function of the conformance suite: calls, and what the twin answers.
    Twin { calls: PathBuf, answers: PathBuf },
}

/// Result for one mutant: which judge noticed it.
#[derive(Clone, Debug)]
pub struct Found {
    pub number: usize,
    pub by: Option<By>,
}

/// The judge that noticed a mutant.
#[derive(Clone, Debug)]
pub struct By {
    pub name: String,
    pub slow: bool,
}

/// Builds the judges, all or the quick ones, with the headers in `folder`, and has each pass without a fault.
pub fn build(folder: &Path, quick: bool) -> Result<Vec<Judge>, String> {
    let built = tests(if quick { &PROGRAMS[..1] } else { &PROGRAMS })?;
    alone(folder)?;
    let mut judges = QUICK.iter().map(|asked| test(&built, asked, false)).collect::<Result<Vec<_>, _>>()?;
    if !quick {
        judges.push(twin(folder, &built)?);
        for asked in &SLOW {
            judges.push(test(&built, asked, true)?);
        }
    }
    for judge in &mut judges {
        let start = Instant::now();
        if !judge.passes(0)? {
            return Err(format!("{} fails without any fault", judge.name));
        }
        judge.usual = start.elapsed();
        println!("{:<20} {:>6.2} s", judge.name, judge.usual.as_secs_f64());
    }
    Ok(judges)
}

/// A judge by tests.
fn test(built: &[(String, PathBuf)], &(name, args, within): &Asked, slow: bool) -> Result<Judge, String> {
    let test = program_of(name);
    let program = built.iter().find(|(built, _)| built == test).ok_or_else(|| format!("no test program {test}"))?;
    let (name, program) = (name.to_owned(), program.1.clone());
    Ok(Judge { name, program, kind: Kind::Tests(args), within, usual: LONGEST, slow })
}

/// For the run without a fault, whose time is not known yet.
const LONGEST: Duration = Duration::from_secs(600);

/// Test programs of these names, with their names.
fn tests(programs: &[&str]) -> Result<Vec<(String, PathBuf)>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.current_dir(repo::root()).args(["test", "--workspace", "--no-run", "--message-format=json"]);
    command.args(["--features", "pelton-core/mutants"]);
    command.args(programs.iter().flat_map(|name| ["--test", name]));
    command.args(
        repo::run(Command::new("scripts/build-flags.sh").arg("workspace").current_dir(repo::root()))?
            .split_whitespace(),
    );
    // What the compiler says of wrong code is of no interest.
    let output = command.stderr(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err("the core with faults cannot be built".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(messages.filter_map(|message| Some((named(&message)?, program(&message)?))).collect())
}

/// Name of the test program of a message.
fn named(message: &Value) -> Option<String> {
    let name = message.get("target")?.get("name")?.as_str()?;
    PROGRAMS.contains(&name).then(|| name.to_owned())
}

/// The program that has the tests of this name.
fn program_of(tests: &str) -> &'static str {
    if tests == RUNS { PROGRAMS[1] } else { PROGRAMS[0] }
}

fn program(message: &Value) -> Option<PathBuf> {
    Some(PathBuf::from(message.get("executable")?.as_str()?))
}

/// Records the twin's answers, and compiles the core for the same calls.
fn twin(folder: &Path, built: &[(String, PathBuf)]) -> Result<Judge, String> {
    let (calls, answers, program) = (folder.join("calls"), folder.join("answers"), folder.join("entry"));
    let recorder = built.iter().find(|(name, _)| name == PROGRAMS[2]).ok_or("no conformance suite")?;
    let mut record = Command::new(&recorder.1);
    record.args(["--exact", "conformance::a_recording_has_two_words_for_each_call"]);
    record.env("PELTON_CONFORMANCE_RECORD", folder).env("PELTON_CONFORMANCE_CALLS", TWIN_CALLS);
    repo::run(record.current_dir(repo::root().join("tests")))?;
    let source = repo::root().join("tests/conformance");
    let mut compiler = compiler(folder, &program);
    repo::run(compiler.args(["entry.c", "host.c"].map(|file| source.join(file))))?;
    Ok(Judge {
        name: "twin".to_owned(),
        program,
        kind: Kind::Twin { calls, answers },
        within: &[],
        usual: LONGEST,
        slow: true,
    })
}

/// True where the compiler is there.
pub fn has_clang() -> bool {
    Command::new(CLANG).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A compiler with the headers in `folder`, and what chooses a fault in them.
fn compiler(folder: &Path, program: &Path) -> Command {
    let include = folder.join("include");
    let mut compiler = Command::new(CLANG);
    compiler.args(["-std=gnu11", "-O1", "-w", PATTERN, "-I"]).arg(include.join("pelton")).arg("-I").arg(&include);
    compiler.arg("-o").arg(program).arg(include.join("chosen.c"));
    compiler
}

/// Compiles the core's side of the oracle.
fn alone(folder: &Path) -> Result<(), String> {
    let include = folder.join("include");
    let mut script = Command::new(repo::root().join("scripts/oracle/alone.sh"));
    script.env("CC", CLANG).arg(repo::root().join(ALONE)).arg(&include);
    repo::run(script.args(["-O1", PATTERN]).arg(include.join("chosen.c"))).map(drop)
}

impl Judge {
    /// Runs the judge on a mutant. One that does not end has noticed something.
    fn passes(&self, number: usize) -> Result<bool, String> {
        // Processor time, which other work on the machine does not change.
        let limit = self.usual.as_secs() * 3 + 5;
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -t $0; exec \"$@\"", &limit.to_string()]).arg(&self.program);
        command.env("PELTON_MUTANT", number.to_string()).env("RUST_TEST_THREADS", "1").env("PELTON_LOG_RUNS", "first");
        command.env("PELTON_ORACLE_ALONE", repo::root().join(ALONE));
        command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true").env("PELTON_LARGE_STATES", LARGE_STATES);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match &self.kind {
            Kind::Tests(args) => {
                // Tests that are named stand for the whole file.
                let all = format!("{}::", self.name);
                command.args(args.first().is_none_or(|word| word.starts_with('-')).then_some(all)).args(*args);
                let folder = if self.name == RUNS { "crates/lab" } else { "crates/core" };
                command.current_dir(repo::root().join(folder)).stdout(Stdio::piped());
                ends_well(&mut command, |child| child.stdout.take().is_some_and(no_test_fails))
            }
            Kind::Twin { calls, answers } => {
                let file = std::fs::File::open(calls).map_err(|error| format!("{}: {error}", calls.display()))?;
                let expected = std::fs::read(answers).map_err(|error| format!("{}: {error}", answers.display()))?;
                command.stdin(file).stdout(Stdio::piped());
                ends_well(&mut command, |child| child.stdout.take().is_some_and(|out| same(out, &expected)))
            }
        }
    }
}

/// True of a program of tests that prints of none that it failed; after the first it is not waited for.
fn no_test_fails(out: std::process::ChildStdout) -> bool {
    !BufReader::new(out).lines().map_while(Result::ok).any(|line| line.ends_with("... FAILED"))
}

/// True of a program that prints the expected, as far as it goes.
fn same(out: std::process::ChildStdout, expected: &[u8]) -> bool {
    let mut reader = BufReader::new(out);
    let mut part = vec![0; 65_536];
    let mut at = 0;
    loop {
        match reader.read(&mut part) {
            Ok(0) => return at == expected.len(),
            Ok(length) if expected.get(at..at + length) == Some(&part[..length]) => at += length,
            _ => return false,
        }
    }
}

/// True of a program that ends with 0, and in which `look` sees nothing wrong before.
fn ends_well(command: &mut Command, look: impl FnOnce(&mut std::process::Child) -> bool) -> Result<bool, String> {
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let good = look(&mut child);
    if !good {
        child.kill().map_err(|error| error.to_string())?;
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    Ok(good && status.success())
}

/// Judges mutants in an order, as many at once as there are CPUs, until `time` is over.
pub fn judge_all(
    judges: &[Judge],
    mutants: &[Mutant],
    order: &[usize],
    time: Option<Duration>,
) -> Result<Vec<Found>, String> {
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    let found = Mutex::new(Vec::new());
    let work = || -> Result<(), String> {
        while time.is_none_or(|time| start.elapsed() < time) {
            let Some(number) = order.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let one = first(judges, *number, &mutants[number - 1].header)?;
            found.lock().map_err(|error| error.to_string())?.push(one);
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread ended early".to_owned())?)
    })?;
    let mut found = found.into_inner().map_err(|error| error.to_string())?;
    found.sort_by_key(|one| one.number);
    println!("{:.0} s for {} mutants", start.elapsed().as_secs_f64(), found.len());
    Ok(found)
}

/// The first judge that notices a mutant.
fn first(judges: &[Judge], number: usize, header: &str) -> Result<Found, String> {
    let asked = |judge: &&Judge| judge.within.is_empty() || judge.within.iter().any(|name| header.starts_with(name));
    for judge in judges.iter().filter(asked) {
        if !judge.passes(number)? {
            return Ok(Found { number, by: Some(By { name: judge.name.clone(), slow: judge.slow }) });
        }
    }
    Ok(Found { number, by: None })
}

/// Number of mutants that each judge was the first to notice.
pub fn counted(judges: &[Judge], found: &[Found]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for judge in judges {
        if !names.contains(&judge.name.as_str()) {
            names.push(&judge.name);
        }
    }
    let count = |name: &str| found.iter().filter(|one| one.by.as_ref().is_some_and(|by| by.name == name)).count();
    let lines: Vec<String> = names.iter().map(|name| format!("{name:<20} {:>6}", count(name))).collect();
    lines.join("\n")
}
