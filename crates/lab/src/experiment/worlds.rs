// SPDX-License-Identifier: GPL-2.0-or-later
//! Worlds that a table can distinguish from the right one: the table is repeated with one thing deliberately wrong, and
//! the rows and claims that notice are counted. A row that already fails in the right world notices nothing.

use super::file::Experiment;
use super::reproduce::{Options, reproduce};
use super::table::{TableResult, Verdict};
use crate::run::{Control, LabError};
use schemars::JsonSchema;
use serde::Serialize;

/// Results of every wrong world of a table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorldsResult {
    /// Name of the experiment.
    pub table: String,
    /// Worlds in which some row or claim fails that holds in the right one.
    pub rejected: u64,
    /// The worlds, in the order of the file.
    pub worlds: Vec<WorldResult>,
}

/// One wrong world.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorldResult {
    /// Name.
    pub name: String,
    /// Fault of the world.
    pub why: String,
    /// True where some row or claim failed because of it.
    pub rejected: bool,
    /// Rows that differ here and match in the right world.
    pub rows: Vec<String>,
    /// Claims that fail here and hold in the right world.
    pub claims: Vec<String>,
}

/// Runs every wrong world of the experiment and compares it with the table of the right one.
pub fn judge_worlds(
    experiment: &Experiment,
    right: &TableResult,
    options: Options,
    control: Control<'_>,
) -> Result<WorldsResult, LabError> {
    let one = |world| reproduce(experiment, Some(world), options, control).map(|wrong| compare(right, &wrong));
    let mut worlds = Vec::new();
    for world in &experiment.wrong_world {
        let (rows, claims) = one(world)?;
        let rejected = !rows.is_empty() || !claims.is_empty();
        worlds.push(WorldResult { name: world.name.clone(), why: world.why.clone(), rejected, rows, claims });
    }
    let rejected = worlds.iter().filter(|world| world.rejected).count() as u64;
    Ok(WorldsResult { table: experiment.table.clone(), rejected, worlds })
}

/// Ids of rows and of claims that the wrong world fails and the right one does not.
fn compare(right: &TableResult, wrong: &TableResult) -> (Vec<String>, Vec<String>) {
    let matches = |id: &str| right.rows.iter().any(|row| row.id == id && row.verdict == Verdict::Match);
    let holds = |id: &str| right.claims.iter().any(|claim| claim.id == id && claim.holds);
    let rows = wrong.rows.iter().filter(|row| row.verdict == Verdict::Differs && matches(&row.id));
    let claims = wrong.claims.iter().filter(|claim| !claim.holds && holds(&claim.id));
    (rows.map(|row| row.id.clone()).collect(), claims.map(|claim| claim.id.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::table::{ClaimResult, Role, RowResult};

    fn table(rows: &[(&str, Verdict)], claims: &[(&str, bool)]) -> TableResult {
        let row = |&(id, verdict): &(&str, Verdict)| RowResult {
            id: id.to_owned(),
            variant: String::new(),
            quantity: String::new(),
            unit: String::new(),
            published: 1.0,
            simulated: Some(1.0),
            ci95: None,
            seeds: 1,
            stands: true,
            role: Role::Predicted,
            tolerance: 0.0,
            tolerance_pct: None,
            verdict,
            no_effect: None,
            no_effect_verdict: None,
            chance_pct: None,
        };
        let claim = |&(id, holds): &(&str, bool)| ClaimResult {
            id: id.to_owned(),
            text: String::new(),
            holds,
            value: None,
            unit: String::new(),
            stands: true,
            no_effect_holds: None,
            chance_pct: None,
            no_effect_chance_pct: None,
        };
        TableResult {
            table: "t".into(),
            run: crate::experiment::table::AboutTable::default(),
            rows: rows.iter().map(row).collect(),
            claims: claims.iter().map(claim).collect(),
            probes: Vec::new(),
            beyond: Vec::new(),
            remarks: Vec::new(),
            score: crate::experiment::table::Score::default(),
            runs: 0,
            seconds: 0.0,
        }
    }

    #[test]
    fn only_what_holds_in_the_right_world_can_notice() {
        use Verdict::{Differs, Match};
        let right = table(&[("good", Match), ("bad", Differs)], &[("holds", true), ("fails", false)]);
        let same = compare(&right, &right);
        assert!(same.0.is_empty() && same.1.is_empty(), "the right world is not rejected: {same:?}");
        let wrong = table(&[("good", Differs), ("bad", Differs)], &[("holds", false), ("fails", false)]);
        assert_eq!(compare(&right, &wrong), (vec!["good".to_owned()], vec!["holds".to_owned()]));
    }
}
