// SPDX-License-Identifier: GPL-2.0-or-later
//! The known-answer tables of `vectors/` on the builds, and the two tables of profile defaults against each other.

use std::path::{Path, PathBuf};

use pelton_core::Policy;
use pelton_reference::rules::{PROFILES, Rules};
use pelton_tests::conformance::builds::{self, Build, Core, Process};
use pelton_tests::conformance::world::rules_of;
use pelton_tests::conformance::{bpf, replay};
use serde_json::Value;

fn out_dir() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vectors");
    std::fs::create_dir_all(&dir).expect("the target folder is writable");
    dir
}

fn numbers(row: &Value) -> Vec<u64> {
    let list = row.as_array().expect("a row is a list");
    list.iter().map(|number| number.as_u64().expect("a row holds numbers")).collect()
}

/// Every table: name, number of inputs, golden and computed rows.
fn tables() -> Vec<(String, usize, Vec<Vec<u64>>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    let files = std::fs::read_dir(dir).expect("the tables are in vectors/");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a readable folder").path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a readable table");
        let table: Value = serde_json::from_str(&text).expect("a table is JSON");
        let list = |rows: &Value| rows.as_array().expect("rows").iter().map(numbers).collect::<Vec<_>>();
        let rows = [list(&table["golden"]["rows"]), list(&table["rows"])].concat();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, table["inputs"].as_array().expect("inputs").len(), rows)
    };
    paths.iter().filter(|path| path.extension().is_some_and(|end| end == "json")).map(read).collect()
}

fn knows_the_answers(core: &mut impl Core) {
    let mut rows_total = 0;
    for (name, inputs, rows) in tables() {
        for row in &rows {
            let ours = replay::run(core, &name, &row[..inputs]).expect("the build answers");
            assert_eq!(ours, row[inputs..], "{name}: inputs {:?}", &row[..inputs]);
        }
        rows_total += rows.len();
    }
    println!("{rows_total} known answers");
}

fn native_knows_the_answers(build: Build) {
    if let Err(why) = builds::is_supported(build, &out_dir()) {
        println!("not measured: {} build: {}", build.name, why.lines().next().unwrap_or("the probe failed"));
        return;
    }
    knows_the_answers(&mut Process::start(build, &out_dir()).expect("the entry function compiles"));
}

#[test]
fn optimized_build_knows_the_answers() {
    native_knows_the_answers(builds::O2);
}

#[test]
fn build_that_stops_at_undefined_behaviour_knows_the_answers() {
    native_knows_the_answers(builds::UBSAN);
}

#[test]
fn build_for_32_bits_knows_the_answers() {
    native_knows_the_answers(builds::M32);
}

#[test]
fn bytecode_knows_the_answers() {
    match bpf::build(&out_dir(), &[]) {
        Ok(programs) => knows_the_answers(&mut bpf::Interpreter::new(&programs).expect("the programs load")),
        Err(why) if bpf::is_missing(&why) => println!("not measured: BPF bytecode: {why}"),
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn profile_defaults_were_written_twice_and_agree() {
    assert_eq!(pelton_core::profiles(), PROFILES);
    for name in PROFILES {
        let core = rules_of(&Policy::profile(name).expect("the core has the profile")).expect("known values");
        assert_eq!(core, Rules::profile(name).expect("the reference has the profile"), "profile {name}");
    }
}
