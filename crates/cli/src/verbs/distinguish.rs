// SPDX-License-Identifier: GPL-2.0-or-later
//! Text of `pelton validate --distinguish`: the switches whose values a recording distinguishes.

use crate::sheet::Sheet;
use pelton_replay::validate::{Answer, Distinction, Told, runs};
use std::fmt::Write as _;

/// Values of a switch with one answer, beside one another.
fn values(told: &Told, of: &str) -> String {
    let same = told.others.iter().filter(|(_, answer)| answer.word() == of);
    same.map(|(value, _)| *value).collect::<Vec<_>>().join(", ")
}

/// Columns of the table: an answer each.
const ANSWERS: [&str; 4] = ["refuted", "fits less", "fits better", "not told"];

/// The section of the report.
pub fn text(found: &Distinction, profile: &str) -> String {
    let mut out =
        format!("\nWhat this recording can tell: each switch by itself at another value, the others as in {profile}\n");
    let mut sheet = Sheet::new(&["<switch", "<here", "<refuted", "<fits less", "<fits better", "<not told"]);
    for told in found.switches.iter().filter(|told| tells(told)) {
        let cells = ANSWERS.map(|answer| values(told, answer));
        sheet.row([told.switch.to_owned(), told.value.to_owned()].into_iter().chain(cells).collect());
    }
    out += &sheet.text(None);
    let line = |out: &mut String, what: &str, names: Vec<&str>| {
        if !names.is_empty() {
            let _ = writeln!(out, "{what}: {}", names.join(", "));
        }
    };
    let silent = |told: &&Told| !tells(told) && !has(told, &Answer::NotAsked);
    line(&mut out, "not told at all", found.switches.iter().filter(silent).map(|told| told.switch).collect());
    let late = found.switches.iter().filter(|told| has(told, &Answer::NotAsked));
    line(&mut out, "not asked, or not about every value, for lack of time", late.map(|told| told.switch).collect());
    for (first, last, answer) in runs(&found.profiles) {
        let range = if first == last { format!("profile {first}") } else { format!("profiles {first} to {last}") };
        let _ = writeln!(out, "{range}: {}", in_words(answer));
    }
    out
}

fn tells(told: &Told) -> bool {
    told.others.iter().any(|(_, answer)| matches!(answer, Answer::Refuted(_) | Answer::FitsLess | Answer::FitsBetter))
}

fn has(told: &Told, wanted: &Answer) -> bool {
    told.others.iter().any(|(_, answer)| answer == wanted)
}

/// Answer for a profile as a whole, in words.
fn in_words(answer: &Answer) -> &'static str {
    match answer {
        Answer::Same => "all agree",
        other => other.word(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Distinction {
        let told = |switch, others| Told { switch, value: "moving", others };
        Distinction {
            profiles: vec![("4.12", Answer::Refuted(None)), ("6.18", Answer::Same), ("7.2", Answer::Same)],
            switches: vec![
                told("divisor", vec![("constant", Answer::Refuted(None))]),
                told("invariance", vec![("clock", Answer::Same)]),
                told("util_est", vec![("u1", Answer::NotAsked)]),
            ],
        }
    }

    #[test]
    fn what_is_told_is_a_row_and_the_rest_is_named() {
        let text = text(&found(), "7.2");
        for part in ["divisor", "not told at all: invariance\n", "lack of time: util_est\n", "profile 4.12: refuted\n"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("profiles 6.18 to 7.2: all agree\n"), "{text}");
    }

    #[test]
    fn json_has_an_answer_for_each_value_and_profile() {
        let value = serde_json::to_value(pelton_lab::verbs::distinguish::result(&found())).expect("JSON");
        assert_eq!(value["switches"][0]["alternatives"]["constant"]["answer"], "refuted");
        assert_eq!(value["profiles"]["7.2"]["answer"], "not told");
    }
}
