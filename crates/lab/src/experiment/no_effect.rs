// SPDX-License-Identifier: GPL-2.0-or-later
//! The null model of a table: a world in which what was changed has no effect. There a printed change is 0, and every
//! other printed number is what the source prints of the variant without the change (`base`). It knows the printed
//! numbers of that variant, as no model of ours does, so that a row which it misses is one that shows the effect.

use super::file::{Claim, Experiment, Row};
use super::numbers::{self, claim_value};
use super::table::{ClaimResult, Role, RowResult, Score, Verdict};

/// Notes what each row would be, before any of them is left out.
pub(crate) fn fill(experiment: &mut Experiment) {
    let all: Vec<Option<f64>> = experiment.row.iter().map(|row| of_row(experiment, row)).collect();
    experiment.row.iter_mut().zip(all).for_each(|(row, value)| row.no_effect = value);
}

fn of_row(experiment: &Experiment, row: &Row) -> Option<f64> {
    if row.against.is_some() {
        return Some(0.0);
    }
    let base = experiment.variant.get(&row.variant)?.base.as_ref()?;
    let is_twin = |other: &&Row| other.variant == *base && other.against.is_none() && same_number(other, row);
    experiment.row.iter().find(is_twin).map(|twin| twin.published)
}

/// Both print the same number, each of its variant.
fn same_number(a: &Row, b: &Row) -> bool {
    a.quantity == b.quantity && a.of == b.of && a.workload.names() == b.workload.names()
}

/// Verdict on the row's number in a world without the effect, beside the printed one.
pub(crate) fn verdict(row: &Row) -> Option<Verdict> {
    let matches = row.tolerance.accepts(row.published, row.no_effect?);
    Some(if matches { Verdict::Match } else { Verdict::Differs })
}

/// True if the claim would hold; `None` where a number of it is not known of that world.
pub(crate) fn holds(claim: &Claim, experiment: &Experiment) -> Option<bool> {
    let number = |id: &str| {
        let row = experiment.row.iter().find(|row| row.id == id)?;
        let is_base = experiment.variant.get(&row.variant).is_some_and(|variant| variant.base.is_none());
        row.no_effect.or_else(|| is_base.then_some(row.published))
    };
    claim_value(claim, number).map(|value| numbers::holds(claim, value))
}

/// Counts what is borne out.
pub(crate) fn score(rows: &[RowResult], claims: &[ClaimResult]) -> Score {
    let count = |is: &dyn Fn(&RowResult) -> bool| rows.iter().filter(|row| is(row)).count() as u64;
    let of_claims = |is: &dyn Fn(&ClaimResult) -> bool| claims.iter().filter(|claim| is(claim)).count() as u64;
    let judged = |row: &RowResult| row.verdict != Verdict::NotModelled;
    let matches = |row: &RowResult| row.verdict == Verdict::Match;
    let predicted = |row: &RowResult| row.role == Role::Predicted;
    let null = |row: &RowResult, verdict| judged(row) && row.no_effect_verdict == Some(verdict);
    Score {
        rows: count(&judged),
        matches: count(&matches),
        predicted: count(&|row| judged(row) && predicted(row)),
        predicted_matches: count(&|row| matches(row) && predicted(row)),
        no_effect_rows: count(&|row| judged(row) && row.no_effect.is_some()),
        no_effect_matches: count(&|row| null(row, Verdict::Match)),
        effects: count(&|row| matches(row) && null(row, Verdict::Differs)),
        not_modelled: count(&|row| !judged(row)),
        open_rows: count(&|row| judged(row) && !row.stands),
        claims: claims.len() as u64,
        claims_hold: of_claims(&|claim| claim.holds),
        no_effect_claims: of_claims(&|claim| claim.no_effect_holds == Some(true)),
        open_claims: of_claims(&|claim| !claim.stands),
    }
}

impl Score {
    /// The counts in a line for people.
    pub fn in_words(&self) -> String {
        let Score { rows, matches, predicted, predicted_matches, claims, claims_hold, .. } = self;
        let mut parts = Vec::new();
        if *rows > 0 {
            parts.push(format!("{matches} of {rows} rows match ({predicted_matches} of {predicted} predicted)"));
        }
        if self.not_modelled > 0 {
            parts.push(format!("{} not modelled", self.not_modelled));
        }
        if self.no_effect_rows > 0 {
            let Score { no_effect_rows, no_effect_matches, effects, .. } = self;
            parts.push(format!(
                "no effect would match {no_effect_matches} of the {no_effect_rows} that compare, {effects} match that it \
                 misses"
            ));
        }
        if *claims > 0 {
            let null = self.no_effect_claims;
            parts.push(format!("{claims_hold} of {claims} claims hold (without any effect {null})"));
        }
        if self.open_rows + self.open_claims > 0 {
            let Score { open_rows, open_claims, .. } = self;
            parts.push(format!("more seeds could change {open_rows} rows and {open_claims} claims"));
        }
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::read;

    #[test]
    fn a_printed_change_is_0_without_an_effect_and_a_printed_number_that_of_the_base() {
        let changes = read::load("schedtune").expect("embedded");
        let energy = changes.row.iter().find(|row| row.id == "energy.t43.b80").expect("a row");
        assert_eq!((energy.no_effect, verdict(energy)), (Some(0.0), Some(Verdict::Differs)));
        let nothing = changes.row.iter().find(|row| row.id == "energy.t43.b5").expect("a row");
        assert_eq!(verdict(nothing), Some(Verdict::Match), "printed is -0.24, within 5 of 0");
        let pairs = read::load("rt-utilization").expect("embedded");
        let row = |id: &str| pairs.row.iter().find(|row| row.id == id).expect("a row");
        assert_eq!((row("events.with").no_effect, row("events.without").no_effect), (Some(4903.0), None));
        assert_eq!(verdict(row("latency_min.with")), Some(Verdict::Match), "1.23 is printed of both");
    }

    #[test]
    fn rows_that_are_left_out_still_say_what_no_effect_has() {
        let mut table = read::load("rt-utilization").expect("embedded");
        table.keep_rows(&["events.with".to_owned()]);
        table.row.retain(|row| row.variant == "with");
        assert_eq!(table.row[0].no_effect, Some(4903.0));
    }

    #[test]
    fn energies_of_the_boost_table_match_seventeen_times_without_an_effect() {
        let table = read::load("schedtune").expect("embedded");
        let energies = table.row.iter().filter(|row| row.id.starts_with("energy.t"));
        assert_eq!(energies.filter(|row| verdict(row) == Some(Verdict::Match)).count(), 17);
    }

    #[test]
    fn a_claim_about_a_change_fails_without_one() {
        let table = read::load("rt-utilization").expect("embedded");
        let claim = |id: &str| table.claim.iter().find(|claim| claim.id == id).expect("a claim");
        assert_eq!(holds(claim("events-rise"), &table), Some(false));
        assert_eq!(holds(claim("transitions-without"), &table), Some(true), "about the base alone");
    }
}
