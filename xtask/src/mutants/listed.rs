// SPDX-License-Identifier: GPL-2.0-or-later
//! The list of faults that nothing notices, each with a reason. It may only shrink.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::judge::Found;
use super::sites::Mutant;
use crate::repo;

const FILE: &str = "xtask/survivors.toml";

/// A fault that is known to survive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survivor {
    pub header: String,
    pub function: String,
    pub was: String,
    #[serde(default)]
    pub becomes: String,
    #[serde(default = "one")]
    pub nth: u32,
    /// Reason for which it cannot be noticed, or is not.
    pub reason: String,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    survivor: Vec<Survivor>,
}

/// Everything that is listed, by the mutant's name.
pub type Listed = BTreeMap<Mutant, String>;

pub fn read() -> Result<Listed, String> {
    let text = std::fs::read_to_string(repo::root().join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    parse(&text)
}

fn parse(text: &str) -> Result<Listed, String> {
    let list: List = toml::from_str(text).map_err(|error| format!("{FILE}: {error}"))?;
    let mut found = Listed::new();
    for one in list.survivor {
        let Survivor { header, function, was, becomes, nth, reason } = one;
        let mutant = Mutant { header, function, was, becomes, nth };
        if reason.trim().is_empty() {
            return Err(format!("{FILE}: no reason: {}", shown(&mutant)));
        }
        if let Some((mutant, _)) = found.insert(mutant.clone(), reason).map(|reason| (&mutant, reason)) {
            return Err(format!("{FILE}: twice: {}", shown(mutant)));
        }
    }
    Ok(found)
}

/// A mutant on one line.
pub fn shown(mutant: &Mutant) -> String {
    let nth = if mutant.nth > 1 { format!(" ({})", mutant.nth) } else { String::new() };
    let becomes = if mutant.becomes.is_empty() { "nothing" } else { &mutant.becomes };
    format!("{} {}: {} -> {becomes}{nth}", mutant.header, mutant.function, mutant.was)
}

/// The entry for the file.
fn entry(mutant: &Mutant) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let nth = if mutant.nth > 1 { format!("nth = {}\n", mutant.nth) } else { String::new() };
    format!(
        "[[survivor]]\nheader = {}\nfunction = {}\nwas = {}\nbecomes = {}\n{nth}reason = \"\"\n",
        quoted(&mutant.header),
        quoted(&mutant.function),
        quoted(&mutant.was),
        quoted(&mutant.becomes)
    )
}

/// Judges what was found by the list. `part`: mutants that are usually not made.
pub fn compare(mutants: &[Mutant], found: &[Found], listed: &Listed, part: bool) -> Result<(), String> {
    let mut wrong = Vec::new();
    let survived: Vec<&Mutant> = found.iter().filter(|f| f.by.is_none()).map(|f| &mutants[f.number - 1]).collect();
    for mutant in survived.iter().filter(|mutant| !listed.contains_key(**mutant)) {
        println!("{}", entry(mutant));
        wrong.push(format!("not noticed by any test: {}", shown(mutant)));
    }
    for (number, by) in found.iter().filter_map(|f| Some((f.number, f.by.as_ref()?))) {
        let mutant = &mutants[number - 1];
        if listed.contains_key(mutant) {
            wrong.push(format!("take it out of {FILE}, {by} notices it: {}", shown(mutant)));
        }
    }
    if !part {
        let gone = listed.keys().filter(|mutant| !mutants.contains(mutant));
        wrong.extend(gone.map(|mutant| format!("take it out of {FILE}, no such fault is made: {}", shown(mutant))));
    }
    let (all, lived) = (found.len(), survived.len());
    let share = (all - lived) as f64 * 100.0 / all.max(1) as f64;
    println!("{all} judged, {} noticed ({share:.1} %), {lived} survived, {} listed", all - lived, listed.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(becomes: &str) -> Mutant {
        let [header, function, was] = ["x.h", "f", "a < b"].map(str::to_owned);
        Mutant { header, function, was, becomes: becomes.to_owned(), nth: 1 }
    }

    fn found(number: usize, by: Option<&str>) -> Found {
        Found { number, by: by.map(str::to_owned) }
    }

    fn list(mutant: &Mutant) -> Listed {
        parse(&entry(mutant).replace("reason = \"\"", "reason = \"a is never b\"")).expect("an entry")
    }

    #[test]
    fn a_survivor_that_is_not_listed_is_an_error_and_a_listed_one_is_not() {
        let all = [mutant("a <= b")];
        assert!(compare(&all, &[found(1, None)], &Listed::new(), false).is_err());
        assert_eq!(compare(&all, &[found(1, None)], &list(&all[0]), false), Ok(()));
    }

    #[test]
    fn a_listed_one_that_is_noticed_or_gone_has_to_leave_the_list() {
        let all = [mutant("a <= b")];
        let text = compare(&all, &[found(1, Some("twin"))], &list(&all[0]), false).expect_err("noticed");
        assert!(text.contains("take it out"), "{text}");
        assert!(compare(&all, &[found(1, Some("twin"))], &list(&mutant("a > b")), false).is_err());
    }

    #[test]
    fn an_entry_has_a_reason() {
        assert!(parse(&entry(&mutant("a <= b"))).is_err());
    }
}
