// SPDX-License-Identifier: GPL-2.0-or-later
//! Known-answer tables: what they hold, how they are written, and the check that the files are fresh.
//!
//! A table has golden rows, copied by hand from a source that is named and never regenerated, and rows that this crate
//! computes for inputs chosen at boundaries. Both are replayed against every build of the core.

mod clamps;
mod dice;
pub mod governor;
mod pelt;
mod queue;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::rules::Rules;

/// Rows that were published elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Golden {
    /// Place of publication.
    pub source: &'static str,
    /// Inputs followed by outputs.
    pub rows: &'static [&'static [u64]],
}

/// One file in `vectors/`.
#[derive(Clone, Debug)]
pub struct Table {
    /// File name without extension.
    pub name: &'static str,
    /// Meaning of the inputs, rule of the outputs, and reason for these rows.
    pub comment: &'static str,
    /// Section of the specification.
    pub rule: &'static str,
    /// Names of the input columns.
    pub inputs: &'static [&'static str],
    /// Names of the output columns.
    pub outputs: &'static [&'static str],
    /// Published rows.
    pub golden: Golden,
    /// Inputs of the computed rows.
    pub cases: fn() -> Vec<Vec<u64>>,
    /// The rule, as this crate implements it.
    pub run: fn(&[u64]) -> Vec<u64>,
}

/// No row of this table was published.
const NO_GOLDEN: Golden = Golden { source: "none", rows: &[] };

/// Rules of the newest profile.
fn newest() -> Rules {
    Rules::profile("7.2").expect("the newest profile exists")
}

/// Utilization after running so many units more, from a utilization at the start of a period.
pub fn ramp_from_util(util: u64, units: u64) -> u64 {
    pelt::ramp_from(&[util, units])[0]
}

/// Smallest number of periods of running from 0 until a utilization is reached.
pub fn periods_to_util(util: u64) -> u64 {
    pelt::periods_to(util)
}

/// Every table, in the order of the specification.
pub fn tables() -> Vec<Table> {
    [pelt::tables(), queue::tables(), governor::tables(), clamps::tables(), dice::tables()].concat()
}

impl Table {
    /// Computed rows: inputs followed by outputs.
    pub fn rows(&self) -> Vec<Vec<u64>> {
        (self.cases)().into_iter().map(|inputs| [inputs.clone(), (self.run)(&inputs)].concat()).collect()
    }

    /// Golden rows this crate does not reproduce, with what it computes instead.
    pub fn golden_misses(&self) -> Vec<(Vec<u64>, Vec<u64>)> {
        let inputs = self.inputs.len();
        let ours = self.golden.rows.iter().map(|row| (row.to_vec(), (self.run)(&row[..inputs])));
        ours.filter(|(row, ours)| row[inputs..] != ours[..]).collect()
    }

    /// The file's text.
    pub fn json(&self) -> String {
        let mut text = String::from("{\n");
        for (key, value) in [("comment", self.comment), ("rule", self.rule)] {
            writeln!(text, "  \"{key}\": \"{value}\",").expect("writing to a string");
        }
        for (key, names) in [("inputs", self.inputs), ("outputs", self.outputs)] {
            writeln!(text, "  \"{key}\": [\"{}\"],", names.join("\", \"")).expect("writing to a string");
        }
        let golden: Vec<Vec<u64>> = self.golden.rows.iter().map(|row| row.to_vec()).collect();
        writeln!(text, "  \"golden\": {{ \"source\": \"{}\", \"rows\": {} }},", self.golden.source, json_rows(&golden))
            .expect("writing to a string");
        writeln!(text, "  \"rows\": {}\n}}", json_rows(&self.rows())).expect("writing to a string");
        text
    }
}

/// One row per line.
fn json_rows(rows: &[Vec<u64>]) -> String {
    let line = |row: &Vec<u64>| {
        let numbers: Vec<String> = row.iter().map(u64::to_string).collect();
        format!("    [{}]", numbers.join(", "))
    };
    if rows.is_empty() {
        return "[]".into();
    }
    format!("[\n{}\n  ]", rows.iter().map(line).collect::<Vec<_>>().join(",\n"))
}

fn path_of(dir: &Path, table: &Table) -> PathBuf {
    dir.join(format!("{}.json", table.name))
}

/// Writes every table into `dir`.
pub fn write(dir: &Path) -> std::io::Result<()> {
    for table in tables() {
        std::fs::write(path_of(dir, &table), table.json())?;
    }
    Ok(())
}

/// Names what is wrong in `dir`: files that are missing, stale, or belong to no table. Empty when all is fresh.
pub fn check(dir: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for table in tables() {
        match std::fs::read_to_string(path_of(dir, &table)) {
            Ok(text) if text == table.json() => {}
            Ok(_) => wrong.push(format!("{}.json is stale", table.name)),
            Err(error) => wrong.push(format!("{}.json: {error}", table.name)),
        }
    }
    wrong.extend(strangers(dir));
    wrong
}

fn strangers(dir: &Path) -> Vec<String> {
    let known: Vec<String> = tables().iter().map(|table| format!("{}.json", table.name)).collect();
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let json = names.filter(|name| name.ends_with(".json") && !known.contains(name));
    json.map(|name| format!("{name} belongs to no table")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_row_is_reproduced() {
        for table in tables() {
            assert_eq!(table.golden_misses(), [], "{}", table.name);
        }
    }

    #[test]
    fn the_files_are_fresh() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
        assert_eq!(check(&dir), Vec::<String>::new(), "run: cargo run -p pelton-reference --example vectors -- write");
    }

    #[test]
    fn rows_have_as_many_numbers_as_columns() {
        for table in tables() {
            let columns = table.inputs.len() + table.outputs.len();
            let golden = table.golden.rows.iter().map(|row| row.len());
            let all = table.rows().iter().map(Vec::len).chain(golden).all(|length| length == columns);
            assert!(all, "{}", table.name);
        }
    }
}
