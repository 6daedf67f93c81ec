// SPDX-License-Identifier: GPL-2.0-or-later
//! The list of faults that nothing notices, each with a reason. It may only shrink.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::judge::Found;
use super::sites::Mutant;
use crate::repo;

const FILE: &str = "xtask/survivors.toml";

/// A fault of the list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    header: String,
    function: String,
    was: String,
    #[serde(default)]
    becomes: String,
    #[serde(default = "one")]
    nth: u32,
    /// Reason for which it cannot be noticed, or is not.
    reason: Option<String>,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    survivor: Vec<Entry>,
    #[serde(default)]
    slow: Vec<Entry>,
}

/// Word of the list on a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No judge notices it.
    Survivor,
    /// Only judges notice it that a sample does without.
    Slow,
}

/// Everything that is listed, by the mutant's name.
pub type Listed = BTreeMap<Mutant, Kind>;

pub fn read() -> Result<Listed, String> {
    let text = std::fs::read_to_string(repo::root().join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    parse(&text)
}

fn parse(text: &str) -> Result<Listed, String> {
    let list: List = toml::from_str(text).map_err(|error| format!("{FILE}: {error}"))?;
    let mut found = Listed::new();
    let of = |kind| move |entry| (kind, entry);
    for (kind, one) in
        list.survivor.into_iter().map(of(Kind::Survivor)).chain(list.slow.into_iter().map(of(Kind::Slow)))
    {
        let Entry { header, function, was, becomes, nth, reason } = one;
        let mutant = Mutant { header, function, was, becomes, nth };
        if kind == Kind::Survivor && reason.is_none_or(|reason| reason.trim().is_empty()) {
            return Err(format!("{FILE}: no reason: {}", shown(&mutant)));
        }
        if found.insert(mutant.clone(), kind).is_some() {
            return Err(format!("{FILE}: twice: {}", shown(&mutant)));
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
fn entry(mutant: &Mutant, kind: Kind) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let nth = if mutant.nth > 1 { format!("nth = {}\n", mutant.nth) } else { String::new() };
    let (name, reason) = match kind {
        Kind::Survivor => ("survivor", "reason = \"\"\n"),
        Kind::Slow => ("slow", ""),
    };
    format!(
        "[[{name}]]\nheader = {}\nfunction = {}\nwas = {}\nbecomes = {}\n{nth}{reason}",
        quoted(&mutant.header),
        quoted(&mutant.function),
        quoted(&mutant.was),
        quoted(&mutant.becomes)
    )
}

/// Extent of what was judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Mutants that are usually not made.
    pub part: bool,
    /// Without the slow judges.
    pub quick: bool,
}

/// Judges what was found by the list.
pub fn compare(mutants: &[Mutant], found: &[Found], listed: &Listed, look: Look) -> Result<(), String> {
    let of = |one: &Found| &mutants[one.number - 1];
    let mut wrong: Vec<String> = found.iter().filter_map(|one| complaint(of(one), one, listed, look)).collect();
    if !look.part {
        let gone = listed.keys().filter(|mutant| !mutants.contains(mutant));
        wrong.extend(gone.map(|mutant| format!("take it out of {FILE}, no such fault is made: {}", shown(mutant))));
    }
    let (all, lived) = (found.len(), found.iter().filter(|one| one.by.is_none()).count());
    let share = (all - lived) as f64 * 100.0 / all.max(1) as f64;
    println!("{all} judged, {} noticed ({share:.1} %), {lived} not, {} listed", all - lived, listed.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Complaint about the list's word on a mutant; an entry that is missing is printed.
fn complaint(mutant: &Mutant, found: &Found, listed: &Listed, look: Look) -> Option<String> {
    let known = listed.get(mutant);
    let belongs = match &found.by {
        None if look.quick && known == Some(&Kind::Slow) => return None,
        None => Some(Kind::Survivor),
        Some(by) => by.slow.then_some(Kind::Slow),
    };
    if belongs.as_ref() == known || look.part && belongs == Some(Kind::Slow) {
        return None;
    }
    let by = found.by.as_ref().map_or("nothing", |by| &by.name);
    match belongs {
        Some(kind) => {
            println!("{}", entry(mutant, kind));
            Some(format!("noticed by {by}, and not listed as that: {}", shown(mutant)))
        }
        None => Some(format!("take it out of {FILE}, {by} notices it: {}", shown(mutant))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::judge::By;

    fn mutant(becomes: &str) -> Mutant {
        let [header, function, was] = ["x.h", "f", "a < b"].map(str::to_owned);
        Mutant { header, function, was, becomes: becomes.to_owned(), nth: 1 }
    }

    fn found(by: Option<(&str, bool)>) -> [Found; 1] {
        [Found { number: 1, by: by.map(|(name, slow)| By { name: name.to_owned(), slow }) }]
    }

    fn list(mutant: &Mutant, kind: Kind) -> Listed {
        parse(&entry(mutant, kind).replace("reason = \"\"", "reason = \"a is never b\"")).expect("an entry")
    }

    const WHOLE: Look = Look { part: false, quick: false };

    #[test]
    fn a_survivor_that_is_not_listed_is_an_error_and_a_listed_one_is_not() {
        let all = [mutant("a <= b")];
        assert!(compare(&all, &found(None), &Listed::new(), WHOLE).is_err());
        assert_eq!(compare(&all, &found(None), &list(&all[0], Kind::Survivor), WHOLE), Ok(()));
        assert!(compare(&all, &found(None), &list(&all[0], Kind::Slow), WHOLE).is_err());
    }

    #[test]
    fn a_listed_one_that_is_noticed_or_gone_has_to_leave_the_list() {
        let all = [mutant("a <= b")];
        for kind in [Kind::Survivor, Kind::Slow] {
            let text = compare(&all, &found(Some(("idle", false))), &list(&all[0], kind), WHOLE).expect_err("noticed");
            assert!(text.contains("take it out"), "{text}");
            assert!(compare(&all, &found(None), &list(&mutant("a > b"), kind), WHOLE).is_err());
        }
    }

    #[test]
    fn a_sample_lets_pass_what_only_slow_judges_notice() {
        let (all, quick) = ([mutant("a <= b")], Look { quick: true, ..WHOLE });
        let slow = list(&all[0], Kind::Slow);
        assert_eq!(compare(&all, &found(None), &slow, quick), Ok(()));
        assert_eq!(compare(&all, &found(Some(("twin", true))), &slow, WHOLE), Ok(()));
        assert!(compare(&all, &found(Some(("twin", true))), &Listed::new(), WHOLE).is_err());
        assert!(compare(&all, &found(Some(("idle", false))), &slow, quick).is_err());
    }

    #[test]
    fn an_entry_has_a_reason() {
        assert!(parse(&entry(&mutant("a <= b"), Kind::Survivor)).is_err());
    }
}
