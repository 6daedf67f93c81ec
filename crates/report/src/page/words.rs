// SPDX-License-Identifier: GPL-2.0-or-later
//! Results in sentences.

use pelton_lab::compare::{Chance, CompareCell, CompareRow, Comparison, is_answer};
use pelton_lab::number::number;

/// One sentence for each side: against its base where it has one.
pub fn sentences(comparison: &Comparison) -> Vec<String> {
    let names: Vec<String> = comparison.sides().collect();
    let answers: Vec<&CompareRow> = comparison.rows.iter().filter(|row| is_answer(row)).collect();
    if names.len() < 2 {
        return names.iter().map(|name| alone(name, &answers)).collect();
    }
    let is_compared = |at: &usize| comparison.bases[*at] != *at;
    (0..names.len()).filter(is_compared).map(|at| against(comparison, &names, at, &answers)).collect()
}

/// Stars of the answers that chance alone may have set.
pub fn chance(comparison: &Comparison) -> Chance {
    let mut answers = comparison.clone();
    answers.rows.retain(is_answer);
    answers.chance()
}

/// Seeds in words.
pub fn seeds(seeds: &[u64]) -> String {
    match seeds {
        [] => "none".to_owned(),
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}, each with random start phases of its own"),
    }
}

fn alone(name: &str, answers: &[&CompareRow]) -> String {
    let known = |row: &&CompareRow| Some(format!("{} {} {}", row.quantity, number(row.cells[0].median?), row.unit));
    let numbers: Vec<String> = answers.iter().filter_map(known).map(|text| text.trim().to_owned()).collect();
    match numbers.is_empty() {
        true => format!("{name}: no number of the whole run is known."),
        false => format!("{name}: {}.", numbers.join(", ")),
    }
}

fn against(comparison: &Comparison, names: &[String], at: usize, answers: &[&CompareRow]) -> String {
    let base = comparison.bases[at];
    let head = format!("[{}] {} against [{}] {}", at + 1, names[at], base + 1, names[base]);
    let known: Vec<(&CompareRow, &CompareCell)> =
        answers.iter().map(|row| (*row, &row.cells[at])).filter(|(_, cell)| cell.change_pct.is_some()).collect();
    let words = |some: &[(&CompareRow, &CompareCell)]| {
        some.iter().map(|(row, cell)| change(row, cell)).collect::<Vec<_>>().join(", ")
    };
    if known.is_empty() {
        return format!("{head}: no change is known.");
    }
    if known.iter().all(|(_, cell)| cell.change_ci95_pct.is_none()) {
        let seeds = comparison.seeds.len();
        return format!("{head}: {}; {seeds} seeds are too few to say what of it is chance.", words(&known));
    }
    let (moved, stayed): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, cell)| cell.is_significant());
    let same: Vec<&str> = stayed.iter().map(|(row, _)| row.quantity).collect();
    match (moved.is_empty(), same.is_empty()) {
        (true, _) => format!("{head}: nothing moved more than the seeds explain."),
        (false, true) => format!("{head}: {}.", words(&moved)),
        (false, false) => format!("{head}: {}; not beyond what the seeds explain: {}.", words(&moved), same.join(", ")),
    }
}

fn change(row: &CompareRow, cell: &CompareCell) -> String {
    let pct = cell.change_pct.map(|pct| format!("{pct:+.1} %")).unwrap_or_default();
    let range = cell.change_ci95_pct.map(|(low, high)| format!(" (95 %: {low:+.1} to {high:+.1})"));
    format!("{} {pct}{}", row.quantity, range.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_lab::compare::summarise;
    use pelton_sim::Report;
    use pelton_sim::report::DomainReport;

    fn made(seeds: u64, other: u64) -> Comparison {
        let report = |transitions| {
            let domain = DomainReport { name: "cpu".into(), transitions, ..Default::default() };
            Report { domains: vec![domain], ..Default::default() }
        };
        let of = |first: u64| (0..seeds).map(|seed| report(first + seed)).collect();
        summarise(&["7.2".into(), "6.1".into()], &(1..=seeds).collect::<Vec<_>>(), &[of(1000), of(other)])
    }

    #[test]
    fn what_moved_what_did_not_and_too_few_seeds_are_said() {
        let moved = sentences(&made(10, 500)).join("\n");
        assert!(moved.starts_with("[2] 6.1 against [1] 7.2: transitions -49.8 % (95 %: "), "{moved}");
        let same = sentences(&made(10, 1000)).join("\n");
        assert_eq!(same, "[2] 6.1 against [1] 7.2: nothing moved more than the seeds explain.");
        let few = sentences(&made(2, 500)).join("\n");
        assert!(
            few.contains("transitions -50.0 %") && few.ends_with("2 seeds are too few to say what of it is chance."),
            "{few}"
        );
    }

    #[test]
    fn one_policy_is_its_numbers() {
        let mut alone = made(1, 500);
        alone.policies.truncate(1);
        alone.rows.iter_mut().for_each(|row| row.cells.truncate(1));
        assert_eq!(sentences(&alone), ["7.2: transitions 1000 count."]);
    }
}
