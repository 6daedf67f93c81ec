// SPDX-License-Identifier: GPL-2.0-or-later
//! The project's own tools. `cargo xtask` without arguments lists them.

mod bench;
mod ceilings;
mod generate;
mod mutants;
mod package;
mod pelt_table;
mod proofs;
#[path = "../../tests/src/readers.rs"]
#[allow(dead_code, reason = "the attacks use the rest of it")]
mod readers;
mod repo;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy                house rules over the whole tree (docs: STYLE.md)
  generate [--check]  write generated files, or say which are stale
  proofs FOLDER       look up what docs/rules/proofs cites in FOLDER/5.4, FOLDER/5.10, ...: the texts of the releases
  vectors [--check]   write the known-answer tables of vectors/, or say which are stale
  test [FLAG]... [-- NAME...]
                      build with cargo's flags, run all tests (of these names), end with one line: N passed, N failed
  mutants [--in NAME] [--quick] [--seed N] [--seconds N]
                      put faults into the core's headers and say which of them no test notices
  sbom CRATE [--at TIME] [--linked NAME@VERSION]...
                      print the bill of materials of a crate's program (CycloneDX), with Debian's packages linked in
  notices CRATE       print the licences of others whose code is in it
  bench               time and count the core and the simulator; results go to out/bench.jsonl
  bench --ceilings [--write [--raise]]
                      count the instructions of an activation and fail above bench/ceilings.toml and 1 %;
                      --write lowers that record and never raises it, unless --raise says so
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["mutants", rest @ ..] => mutants::run(rest),
        ["tidy"] => tidy::run(),
        ["generate"] => generate::run(generate::Mode::Write),
        ["generate", "--check"] => generate::run(generate::Mode::Check),
        ["proofs", folder] => proofs::places::check(std::path::Path::new(folder)),
        ["vectors"] => generate::vectors(generate::Mode::Write),
        ["vectors", "--check"] => generate::vectors(generate::Mode::Check),
        ["sbom", rest @ ..] => package::sbom(rest),
        ["notices", name] => package::notices(name),
        ["bench"] => bench::run(),
        ["bench", "--ceilings"] => ceilings::run(ceilings::Mode::Check),
        ["bench", "--ceilings", "--write"] => ceilings::run(ceilings::Mode::Write),
        ["bench", "--ceilings", "--write", "--raise"] => ceilings::run(ceilings::Mode::Raise),
        ["test", rest @ ..] => test::run(rest),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
