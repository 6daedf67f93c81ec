// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs the benches, shows a table, and appends one JSON line per result to `out/bench.jsonl`.
//!
//! Bench programs print one JSON object per case: `bench`, `ops`, `ns` and `hash`, and `simulated_ns` when they
//! simulate. Here the machine, the compilers and the commit are added, and instructions counted by valgrind.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::ceilings::collected;
use crate::repo;

/// Updates per timed case of the core.
const CORE_OPS: &str = "2000000";
/// Updates per case whose instructions are counted; the count per update does not depend on it.
const COUNTED_OPS: u64 = 1_000;
const OUT: &str = "out/bench.jsonl";

type Line = Map<String, Value>;

/// All benches.
pub fn run() -> Result<(), String> {
    let program = compile_core()?;
    let mut lines = bench_lines(Command::new(&program).args(["all", CORE_OPS]))?;
    for line in &mut lines {
        count_instructions(&program, line);
    }
    lines.extend(cargo_bench("pelton-trace", "crates/trace/benches/write.rs")?);
    lines.extend(cargo_bench("pelton-trace", "crates/trace/benches/import/main.rs")?);
    lines.extend(cargo_bench("pelton-tests", "tests/benches/trace_cost.rs")?);
    lines.extend(cargo_bench("pelton-lab", "crates/lab/benches/sim.rs")?);
    lines.extend(cargo_bench("pelton-lab", "crates/lab/benches/instructions.rs")?);
    lines.extend(bench_lines(Command::new("scripts/bench-placement.sh").current_dir(repo::root()))?);
    if can_build_recorder()? {
        lines.extend(cargo_bench("pelton-live", "crates/live/benches/record_cost.rs")?);
    }
    print_table(&lines);
    append(&lines, &host())
}

/// The core's bench, compiled as the core itself is.
fn compile_core() -> Result<PathBuf, String> {
    let root = repo::root();
    std::fs::create_dir_all(root.join("out")).map_err(|error| format!("out: {error}"))?;
    let program = root.join("out/core_bench");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root.join("core/include"));
    compiler.arg(root.join("bench/core_bench.c")).arg("-o").arg(&program);
    repo::run(&mut compiler)?;
    Ok(program)
}

/// The bench of a crate, built and run by cargo; nothing when the crate has none.
fn cargo_bench(package: &str, source: &str) -> Result<Vec<Line>, String> {
    let path = repo::root().join(source);
    // A bench of several files is named by its folder.
    let named = if path.ends_with("main.rs") { path.parent() } else { Some(path.as_path()) };
    let (true, Some(bench)) = (path.exists(), named.and_then(Path::file_stem)) else {
        println!("not measured: {package} (no {source})");
        return Ok(Vec::new());
    };
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.current_dir(repo::root()).args(["bench", "--quiet", "-p", package, "--bench"]).arg(bench);
    bench_lines(&mut command)
}

/// The script says what is missing.
fn can_build_recorder() -> Result<bool, String> {
    Ok(repo::run(Command::new("scripts/build-flags.sh").current_dir(repo::root()))?.trim().is_empty())
}

/// The JSON lines a bench program prints; none at all is an error, unless it says why.
fn bench_lines(command: &mut Command) -> Result<Vec<Line>, String> {
    let text = repo::run(command)?;
    let reasons =
        text.lines().filter(|line| line.starts_with("not measured: ")).inspect(|line| println!("{line}")).count();
    let objects = text.lines().filter(|line| line.starts_with('{'));
    let lines: Result<Vec<Line>, _> = objects.map(serde_json::from_str).collect();
    let lines = lines.map_err(|error| format!("{command:?}: {error}"))?;
    if lines.is_empty() && reasons == 0 { Err(format!("{command:?} measured nothing")) } else { Ok(lines) }
}

/// Adds `instructions_per_op`, when valgrind is there.
fn count_instructions(program: &Path, line: &mut Line) {
    let name = text(line, "bench").trim_start_matches("core/").to_owned();
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(format!("--toggle-collect=case_{name}")).arg(program);
    valgrind.args([&name, &COUNTED_OPS.to_string()]);
    let output = valgrind.output().ok().filter(|output| output.status.success());
    let collected = output.and_then(|output| collected(&String::from_utf8_lossy(&output.stderr)));
    let ops = COUNTED_OPS * number(line, "repetitions").max(1);
    match collected {
        Some(instructions) => drop(line.insert("instructions_per_op".to_owned(), json!(instructions / ops))),
        None => println!("not measured: instructions of {name} (valgrind did not run)"),
    }
}

fn number(line: &Line, key: &str) -> u64 {
    line.get(key).and_then(Value::as_u64).unwrap_or(0)
}

fn text<'a>(line: &'a Line, key: &str) -> &'a str {
    line.get(key).and_then(Value::as_str).unwrap_or("")
}

/// Machine, compilers and commit of the figures.
fn host() -> Value {
    let first_line = |program: &str, args: &[&str]| {
        let output = repo::run(Command::new(program).current_dir(repo::root()).args(args)).unwrap_or_default();
        output.lines().next().unwrap_or("unknown").to_owned()
    };
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    json!({
        "cpu": model.unwrap_or("unknown"),
        "kernel": first_line("uname", &["-srm"]),
        "cc": first_line("cc", &["--version"]),
        "rustc": first_line("rustc", &["--version"]),
        "commit": first_line("git", &["describe", "--always", "--dirty"]),
    })
}

fn print_table(lines: &[Line]) {
    println!("{:<40} {:>12} {:>10} {:>14} {:>10}  work hash", "bench", "ops", "ns/op", "instructions", "sim s/s");
    for line in lines {
        println!("{}", row(line));
    }
}

fn row(line: &Line) -> String {
    let (ops, ns, simulated_ns) = (number(line, "ops"), number(line, "ns"), number(line, "simulated_ns"));
    let per_op = ns as f64 / ops.max(1) as f64;
    let instructions = line.get("instructions_per_op").map_or_else(|| "-".to_owned(), Value::to_string);
    let speed =
        if simulated_ns == 0 { "-".to_owned() } else { format!("{:.0}", simulated_ns as f64 / ns.max(1) as f64) };
    let (name, hash) = (text(line, "bench"), text(line, "hash"));
    format!("{name:<40} {ops:>12} {per_op:>10.1} {instructions:>14} {speed:>10}  {hash}")
}

fn append(lines: &[Line], host: &Value) -> Result<(), String> {
    let path = repo::root().join(OUT);
    let mut file =
        std::fs::OpenOptions::new().create(true).append(true).open(path).map_err(|error| format!("{OUT}: {error}"))?;
    for line in lines {
        let mut line = line.clone();
        line.insert("host".to_owned(), host.clone());
        writeln!(file, "{}", Value::Object(line)).map_err(|error| format!("{OUT}: {error}"))?;
    }
    println!("host: {host}\nadded {} lines to {OUT}", lines.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_cost_and_speed() {
        let line =
            r#"{"bench": "sim/x", "ops": 10, "ns": 25, "hash": "ab", "simulated_ns": 5000, "instructions_per_op": 7}"#;
        let row = row(&serde_json::from_str(line).expect("an object"));
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["sim/x", "10", "2.5", "7", "200", "ab"]);
    }

    #[test]
    fn a_bench_that_prints_nothing_is_an_error() {
        assert!(bench_lines(&mut Command::new("true")).is_err());
        assert_eq!(bench_lines(Command::new("echo").arg("not measured: no board")), Ok(Vec::new()));
        assert_eq!(bench_lines(Command::new("echo").arg("{\"bench\": \"a\"}")).map(|lines| lines.len()), Ok(1));
    }
}
