// SPDX-License-Identifier: GPL-2.0-or-later
//! Every `pelton` command printed in the README and the guides works, and output shown below one is its real output.
//! `make generate` writes the output again; a page may leave out the first lines. `answers.txt` has commands of which
//! words are promised.

use std::path::{Path, PathBuf};

use crate::support::{Outcome, command};

/// One command of a page, with the output shown below it.
struct Example {
    page: PathBuf,
    line: String,
    shown: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let guides = std::fs::read_dir(root().join("docs/guide")).expect("the guides are in the repository");
    let mut pages: Vec<PathBuf> = guides.filter_map(|entry| Some(entry.ok()?.path())).collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    pages.insert(0, root().join("README.md"));
    pages
}

/// The commands inside the fenced blocks of a page.
fn examples(path: &Path) -> Vec<Example> {
    let text = std::fs::read_to_string(path).expect("a page is text");
    let blocks = text.split("```").skip(1).step_by(2);
    blocks.flat_map(|block| commands(path, block.split_once('\n').map_or("", |(_, lines)| lines))).collect()
}

/// The commands of a block, each with the lines below it.
fn commands(page: &Path, block: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    for line in block.lines() {
        if let Some(arguments) = line.trim_start_matches("$ ").strip_prefix("pelton ") {
            found.push(Example { page: page.to_owned(), line: arguments.to_owned(), shown: Vec::new() });
        } else if let Some(last) = found.last_mut() {
            last.shown.push(line.trim_end().to_owned());
        }
    }
    found
}

/// Questions of users about an answer, and the commands that show it.
fn answers() -> Vec<(String, Vec<Example>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers.txt");
    let text = std::fs::read_to_string(&path).expect("the commands are text");
    let point = |block: &str| {
        let (title, lines) = block.split_once('\n').expect("a title stands before the commands");
        (title.to_owned(), commands(&path, lines.trim_end()))
    };
    text.split("\n\n").skip(1).map(point).collect()
}

/// Words of a command line; single quotes hold a word together, `#` starts a comment.
fn words(line: &str) -> Vec<String> {
    let code = line.split(" #").next().unwrap_or("");
    let quoted = |(at, part): (usize, &str)| match at % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    };
    code.split('\'').enumerate().flat_map(quoted).collect()
}

/// A folder that looks like the top of the repository to a command, where files may be written.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let scenarios = root().join("scenarios").canonicalize().expect("the scenarios are in the repository");
    std::os::unix::fs::symlink(&scenarios, folder.path().join("scenarios")).expect("links can be made");
    let machine = scenarios.join("platforms/juno-r0.toml");
    std::fs::copy(machine, folder.path().join("my-machine.toml")).expect("files can be copied");
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("files can be written");
    put("only-switches.txt", ONE_SWITCH);
    put("devlib.txt", DEVLIB);
    put("template.json", TEMPLATE);
    put("number.json", NUMBER);
    let machine = std::fs::read_to_string(folder.path().join("my-machine.toml")).expect("it was copied");
    put("microwatts.toml", &machine.replacen("power_mw = 42.361", "power_mw = 42361", 1));
    put("bare.toml", BARE);
    folder
}

/// As devlib records: the frequencies at the start are prints of the tracer's user; another program's print means
/// nothing.
const DEVLIB: &str = "# tracer: nop\n#
  shutils-50 [000] .... 1.000000: tracing_mark_write: cpu_frequency: state=1100000 cpu_id=1
  shutils-50 [000] .... 1.000100: tracing_mark_write: cpu_frequency: state=1599000 cpu_id=0
   <idle>-0  [001] d..2 1.100000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120
        a-7  [001] .... 1.150000: print: hello
        a-7  [001] d..2 1.200000: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
   <idle>-0  [001] d..2 1.300000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120
        a-7  [001] d..2 1.400000: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
";

/// A file of rt-app with a template word, as LISA writes them.
const TEMPLATE: &str =
    r#"{"tasks": {"a": {"run": 1000, "loop": __LOOPS__}}, "global": {"calibration": "CPU0", "duration": 1}}"#;

/// One that says how long a loop takes.
const NUMBER: &str = r#"{"tasks": {"a": {"run": 1000, "loop": 3}}, "global": {"calibration": 116, "duration": 1}}"#;

/// The least that can be simulated.
const BARE: &str = "schema = 1
name = \"bare\"
[[perf_domain]]
id = \"a\"
cpus = [0]
capacity = 1024
opps = [{ khz = 500000 }]
";

/// A trace in which nothing can be recomputed.
const ONE_SWITCH: &str = "a-1 [000] d..2 1.000000: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> \
    next_comm=swapper/0 next_pid=0 next_prio=120\n";

fn run(example: &Example, folder: &Path) -> Outcome {
    let words = words(&example.line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    command(&words).current_dir(folder).output().expect("the program starts").into()
}

/// The part of the output that a page shows: from the line that begins with the same word on.
fn shown_part(example: &Example, stdout: &str) -> Vec<String> {
    let first_word = |line: &str| line.split_whitespace().next().unwrap_or("").to_owned();
    let start = example.shown.first().map(|line| first_word(line));
    let lines = stdout.trim_end().lines().map(|line| line.trim_end().to_owned());
    lines.skip_while(|line| Some(first_word(line)) != start).collect()
}

/// Lines that differ from run to run.
fn is_timing(line: &str) -> bool {
    line.ends_with(" s")
}

fn rewrite(example: &Example, part: &[String]) {
    let text = std::fs::read_to_string(&example.page).expect("a page is text");
    let block = |lines: &[String]| format!("$ pelton {}\n{}\n```", example.line, lines.join("\n"));
    let text = text.replace(&block(&example.shown), &block(part));
    std::fs::write(&example.page, text).expect("the pages are writable");
}

/// Promises of a command's comment, between semicolons: `# exits with 5; prints nothing can be checked; prints no
/// 4.14`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Promise {
    code: i32,
    prints: Vec<String>,
    prints_no: Vec<String>,
}

fn promise(line: &str) -> Promise {
    let mut promise = Promise::default();
    for part in line.split_once(" # ").map_or("", |(_, comment)| comment).split("; ").map(str::trim) {
        if let Some(code) = part.strip_prefix("exits with ") {
            promise.code = code.parse().expect("an exit code is a number");
        } else if let Some(words) = part.strip_prefix("prints no ") {
            promise.prints_no.push(words.to_owned());
        } else if let Some(words) = part.strip_prefix("prints ") {
            promise.prints.push(words.to_owned());
        }
    }
    promise
}

/// Text in which one space stands for any number of them: tables are as wide as what is in them.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn keeps(promise: &Promise, outcome: &Outcome, name: &str) {
    let said = flat(&outcome.stdout) + "\n" + &flat(&outcome.stderr);
    assert_eq!(outcome.code, promise.code, "{name}\n{}", outcome.stderr);
    for words in &promise.prints {
        assert!(said.contains(&flat(words)), "{name}\ndoes not print: {words}\n{said}");
    }
    for words in &promise.prints_no {
        assert!(!said.contains(&flat(words)), "{name}\nprints: {words}\n{said}");
    }
}

fn check(example: &Example, folder: &Path) {
    if example.line.starts_with("kernel ") || example.line.contains("kernel:") {
        println!("not measured: pelton {}: it needs a kernel's source, and compiles for half a minute", example.line);
        return;
    }
    let outcome = run(example, folder);
    let name = format!("{}: pelton {}", example.page.display(), example.line);
    if outcome.code == 4 && promise(&example.line).code != 4 {
        // Recording needs root and a kernel with type information.
        println!("not measured: {name}: {}", outcome.stderr);
        return;
    }
    keeps(&promise(&example.line), &outcome, &name);
    if example.shown.is_empty() {
        return;
    }
    let part = shown_part(example, &outcome.stdout);
    if std::env::var_os("PELTON_SNAPSHOTS").is_some_and(|mode| mode == "write") {
        return rewrite(example, &part);
    }
    let steady = |lines: &[String]| lines.iter().filter(|line| !is_timing(line)).cloned().collect::<Vec<_>>();
    assert_eq!(steady(&part), steady(&example.shown), "{name} prints something else; run `make generate`");
}

#[test]
fn every_printed_command_works() {
    let folder = workplace();
    let examples: Vec<Example> = pages().iter().flat_map(|page| examples(page)).collect();
    assert!(examples.len() >= 5, "the pages show commands");
    all_work(&examples, folder.path());
}

/// Tries each, so that one run shows everything that is no longer true.
fn all_work(examples: &[Example], folder: &Path) {
    let fails = |example: &&Example| std::panic::catch_unwind(|| check(example, folder)).is_err();
    let wrong: Vec<&str> = examples.iter().filter(fails).map(|example| example.line.as_str()).collect();
    assert!(wrong.is_empty(), "{} commands:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn answers_say_what_they_must() {
    let folder = workplace();
    let points = answers();
    assert_eq!(points.len(), 20);
    for (title, commands) in &points {
        let can_fail = |p: Promise| !p.prints.is_empty() || !p.prints_no.is_empty() || p.code != 0;
        assert!(commands.iter().any(|example| can_fail(promise(&example.line))), "nothing is promised: {title}");
        assert!(commands.iter().all(|example| example.shown.is_empty()), "a line is no command: {title}");
    }
    let commands: Vec<Example> = points.into_iter().flat_map(|(_, commands)| commands).collect();
    all_work(&commands, folder.path());
}

#[test]
fn quotes_and_comments_are_understood() {
    assert_eq!(words("run --workload 'a:b=1 + c' --quiet # why"), ["run", "--workload", "a:b=1 + c", "--quiet"]);
}

#[test]
fn a_comment_may_promise_a_code_and_words() {
    let all = promise("validate x # exits with 5; prints a, b; prints no c");
    assert_eq!(all, Promise { code: 5, prints: vec!["a, b".into()], prints_no: vec!["c".into()] });
    assert_eq!(promise("validate x # why"), Promise::default());
}
