// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers of finished runs, and the file that keeps them: whoever asks again runs only what is missing.

use crate::measure::quantity::{QUANTITIES, Quantity, Read};
use crate::measure::remarks;
use crate::run::LabError;
use pelton_scenario::reading::{self, Unread};
use pelton_scenario::{Diagnostics, SourceFile};
use pelton_sim::Report;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Longest file, bytes.
const BYTES_MAX: usize = 256 << 20;
/// Begins the first line, whatever wrote it.
const MARK: &str = "pelton finished runs";
/// A number that is not known.
const UNKNOWN: &str = "-";
/// Columns before the numbers.
const COLUMNS: [&str; 5] = ["plan", "seed", "print", "gap", "remark"];

/// Numbers of whole runs, in table order.
pub fn quantities() -> impl Iterator<Item = &'static Quantity> {
    QUANTITIES.iter().filter(|quantity| matches!(quantity.read, Read::Run(_)))
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// Names everything that the run reported: equal for equal runs.
    pub print: u64,
    /// The numbers of [`quantities`].
    pub values: Vec<Option<f64>>,
    /// Part that energies leave out.
    pub gap: Option<String>,
    /// Remark that a reader needs.
    pub remark: Option<String>,
}

impl Ran {
    /// Numbers of a report.
    pub fn of(report: &Report) -> Ran {
        Ran {
            print: print(report),
            values: quantities().map(|quantity| quantity.read(report, None)).collect(),
            gap: report.energy_basis.gap().map(str::to_owned),
            remark: remarks::outgrown(report),
        }
    }
}

/// FNV-1a of all that a report says but how many events it took.
fn print(report: &Report) -> u64 {
    struct Hash(u64);
    impl std::fmt::Write for Hash {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 = text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            Ok(())
        }
    }
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    // A hash takes everything.
    let _ = write!(hash, "{:?}", Report { sim_events: 0, ..report.clone() });
    hash.0
}

/// Finished runs by the hash of their plan, and their seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// The runs.
    pub runs: BTreeMap<(u64, u64), Ran>,
}

impl Kept {
    /// Runs of a file; none where there is no file yet.
    ///
    /// # Errors
    /// When the file cannot be read, or is another one.
    pub fn read(path: &Path) -> Result<Kept, LabError> {
        let name = path.display().to_string();
        match reading::text(path, BYTES_MAX) {
            Ok(text) => Ok(Kept::parse(&SourceFile::new(&name, text))?),
            Err(Unread::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(Kept::default()),
            Err(error) => Err(LabError::input(format!("cannot read {name}: {error}"))),
        }
    }

    /// Runs of a text.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(source: &SourceFile) -> Result<Kept, Diagnostics> {
        let mut kept = Kept::default();
        let mut at = 0;
        for (number, line) in source.text().split_inclusive('\n').enumerate() {
            let place = at..at + line.trim_end_matches('\n').len();
            at += line.len();
            let line = &source.text()[place.clone()];
            let read = match number {
                0 => head(line),
                1 if line == columns() => Ok(()),
                1 => Err("these are not the columns of this version"),
                _ => row(line).map(|(key, ran)| {
                    kept.runs.insert(key, ran);
                }),
            };
            read.map_err(|wrong| source.error(place, wrong).help("remove the file, or name another one"))?;
        }
        if at == 0 {
            return Err(source.about("the file is empty: it has no finished runs").help("remove the file").into());
        }
        Ok(kept)
    }

    /// Text of the file.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n{}\n", first_line(), columns());
        for ((plan, seed), Ran { print, values, gap, remark }) in &self.runs {
            let words = [gap, remark].map(|words| serde_json::to_string(words).expect("a text is JSON"));
            let _ = write!(out, "{plan:016x}\t{seed}\t{print:016x}\t{}\t{}", words[0], words[1]);
            for value in values {
                // The shortest text that reads as the same number.
                let text = value.map_or_else(|| UNKNOWN.to_owned(), |value| format!("{value:?}"));
                let _ = write!(out, "\t{text}");
            }
            out.push('\n');
        }
        out
    }
}

fn first_line() -> String {
    format!("{MARK} of {}", env!("CARGO_PKG_VERSION"))
}

fn columns() -> String {
    COLUMNS.into_iter().chain(quantities().map(|quantity| quantity.name)).collect::<Vec<_>>().join("\t")
}

fn head(line: &str) -> Result<(), &'static str> {
    match (line == first_line(), line.starts_with(MARK)) {
        (true, _) => Ok(()),
        (false, true) => Err("these runs are of another version, which may have other results"),
        (false, false) => Err("this is no file of finished runs"),
    }
}

fn row(line: &str) -> Result<((u64, u64), Ran), &'static str> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [plan, seed, print, gap, remark, values @ ..] = &cells[..] else { return Err("a run has more columns") };
    if values.len() != quantities().count() {
        return Err("a run has as many numbers as there are columns");
    }
    let hash = |text: &str| u64::from_str_radix(text, 16).map_err(|_| "a hash has sixteen hexadecimal digits");
    let words = |text: &str| serde_json::from_str(text).map_err(|_| "words are a JSON string, or null");
    let number = |text: &&str| match *text {
        UNKNOWN => Ok(None),
        text => text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Some).ok_or("this is no number"),
    };
    let values = values.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let seed = seed.parse().map_err(|_| "a seed is a number")?;
    Ok(((hash(plan)?, seed), Ran { print: hash(print)?, values, gap: words(gap)?, remark: words(remark)? }))
}

/// Reads arbitrary bytes as a file of finished runs, as a fuzzer does: nothing may panic, and what is read is written
/// as what reads as the same.
pub fn fuzz_kept(data: &[u8]) {
    let Ok(source) = SourceFile::from_bytes("runs", data) else { return };
    match Kept::parse(&source) {
        Ok(kept) => {
            let again = Kept::parse(&SourceFile::new("runs", kept.text())).expect("what is written can be read");
            assert_eq!(again, kept);
        }
        Err(found) => drop(pelton_scenario::render(&found, 80, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Kept {
        let mut values: Vec<Option<f64>> = quantities().map(|_| None).collect();
        values[0] = Some(0.1 + 0.2);
        values[1] = Some(-1.0e-300);
        let ran = Ran { print: u64::MAX, values, gap: Some("left\tout\n".into()), remark: None };
        Kept { runs: [((1, 2), ran.clone()), ((u64::MAX, 0), Ran { gap: None, ..ran })].into() }
    }

    #[test]
    fn what_is_written_reads_as_the_same() {
        let text = some().text();
        assert_eq!(Kept::parse(&SourceFile::new("f", &text)).expect("our own"), some());
        fuzz_kept(text.as_bytes());
        assert_eq!(Kept::read(Path::new("/nowhere/at all")).expect("no runs yet"), Kept::default());
    }

    #[test]
    fn other_files_are_refused_with_the_line() {
        let text = some().text();
        let said = |text: &str| {
            let found = Kept::parse(&SourceFile::new("f", text)).expect_err("no file of runs");
            let first = found.iter().next().expect("a message");
            (first.line().unwrap_or(0), first.message().to_owned())
        };
        assert_eq!(said("{}\n").1, "this is no file of finished runs");
        assert!(said(&text.replacen(env!("CARGO_PKG_VERSION"), "0.0.0-other", 1)).1.contains("another version"));
        assert!(said("").1.contains("empty"));
        assert_eq!(
            said(&text.replacen("energy_mj", "energy", 1)),
            (2, "these are not the columns of this version".into())
        );
        let half = &text[..text.len() - 5];
        assert_eq!(said(half).0, 4, "{half}");
        assert_eq!(said(&text.replacen("\t-\t", "\tNaN\t", 1)).0, 3);
    }

    #[test]
    fn a_print_is_that_of_the_numbers() {
        let report = Report { duration_ns: 5, ..Report::default() };
        assert_eq!(Ran::of(&report).print, Ran::of(&Report { sim_events: 9, ..report.clone() }).print);
        assert_ne!(Ran::of(&report).print, Ran::of(&Report { duration_ns: 6, ..report }).print);
    }
}
