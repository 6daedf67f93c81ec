// SPDX-License-Identifier: GPL-2.0-or-later
//! From reports to verdicts: the only place that puts printed numbers beside ours.

use super::beyond;
use super::chance::{Chance, World};
use super::file::{Claim, Comparison, Experiment, Probe, Row, Tolerance};
use super::looks::{self, Runs};
use super::no_effect;
use super::numbers::{Reports, claim_value, holds, samples};
use super::probe::{self, Samples};
use super::table::{AboutTable, ClaimResult, ProbeResult, RowResult, TableResult, Verdict};
use crate::measure::{quantity, remarks, stats};
use crate::round;
use crate::run::ExperimentError;
use pelton_sim::Report;
use std::collections::BTreeMap;

/// Fills the table: every row, then every claim. A row without numbers that the file does not call `not_modelled` is an
/// error, so that a renamed task cannot turn into a missing verdict. In a `changed` world it differs: the file was
/// run as it is before, and what is changed may keep a task from ever getting as far as the number.
pub(super) fn judge(
    experiment: &Experiment,
    changed: bool,
    runs: &Runs,
    seconds: f64,
) -> Result<TableResult, ExperimentError> {
    let Runs { reports, samples } = runs;
    let chance = Chance { experiment, reports, probes: samples };
    let judge_one = |row| judge_row(row, changed, chance);
    let rows = experiment.row.iter().map(judge_one).collect::<Result<Vec<RowResult>, _>>()?;
    let probes: Vec<ProbeResult> = experiment.probe.iter().filter_map(|p| read_probe(p, samples)).collect();
    let claims: Vec<_> =
        experiment.claim.iter().map(|claim| judge_claim(claim, chance, runs, &rows, &probes)).collect();
    let beyond = experiment.beyond.iter().map(|b| beyond::collect(b, reports)).collect::<Result<Vec<_>, _>>()?;
    let beyond = beyond.into_iter().flatten().collect();
    let runs = reports.values().map(|r| r.len() as u64).sum();
    let (table, run) = (experiment.table.clone(), AboutTable::default());
    let score = no_effect::score(&rows, &claims);
    let remarks = equal_variants(reports);
    Ok(TableResult { table, run, rows, claims, probes, beyond, remarks, score, runs, seconds: round(seconds) })
}

/// Variants that gave equal values in every seed of every workload, where they ran the same ones.
fn equal_variants(reports: &Reports) -> Vec<String> {
    let mut variants: BTreeMap<&str, (Vec<&str>, Vec<&Report>)> = BTreeMap::new();
    for ((variant, workload), runs) in reports {
        let (workloads, all) = variants.entry(variant).or_default();
        workloads.push(workload);
        all.extend(runs);
    }
    let sides: Vec<&(Vec<&str>, Vec<&Report>)> = variants.values().collect();
    let names: Vec<&str> = variants.keys().copied().collect();
    remarks::equal_in_every_seed(&sides, |at| format!("`{}`", names[at]))
}

fn read_probe(probe: &Probe, samples: &Samples) -> Option<ProbeResult> {
    let samples = samples.get(&probe.id)?.concat();
    let bound = |of: fn(f64, f64) -> f64| samples.iter().copied().reduce(of);
    Some(ProbeResult {
        id: probe.id.clone(),
        unit: probe::unit(&probe.quantity)?.to_owned(),
        mean: round(stats::mean(&samples)?),
        range: (round(bound(f64::min)?), round(bound(f64::max)?)),
    })
}

fn judge_row(row: &Row, changed: bool, chance: Chance) -> Result<RowResult, ExperimentError> {
    let samples = match samples(row, chance.reports) {
        _ if row.not_modelled.is_some() => None,
        Err(_) if changed => None,
        found => Some(found?),
    };
    let simulated = samples.as_deref().and_then(stats::mean).map(round);
    let ci95 = samples.as_deref().and_then(stats::mean_ci95).map(|(lo, hi)| (round(lo), round(hi)));
    let verdict = match simulated {
        None if row.not_modelled.is_some() => Verdict::NotModelled,
        Some(ours) if row.tolerance.accepts(row.published, ours) => Verdict::Match,
        _ => Verdict::Differs,
    };
    Ok(RowResult {
        id: row.id.clone(),
        variant: row.variant.clone(),
        quantity: row.quantity.clone(),
        unit: unit(row).to_owned(),
        published: row.published,
        simulated,
        ci95,
        role: row.role,
        seeds: samples.as_ref().map_or(0, |samples| samples.len() as u64),
        stands: looks::row_stands(row, chance.reports),
        tolerance: round(row.tolerance.distance(row.published)),
        tolerance_pct: if let Tolerance::Percent(pct) = row.tolerance { Some(pct) } else { None },
        verdict,
        no_effect: row.no_effect.map(round),
        no_effect_verdict: no_effect::verdict(row),
        chance_pct: simulated.and_then(|_| chance.of_row(row)),
    })
}

fn unit(row: &Row) -> &'static str {
    match row.by {
        Some(Comparison::ChangePercent) => "%",
        _ => quantity::find(&row.quantity).map_or("", |q| q.unit),
    }
}

fn judge_claim(claim: &Claim, chance: Chance, runs: &Runs, rows: &[RowResult], probes: &[ProbeResult]) -> ClaimResult {
    let simulated = |id: &str| match rows.iter().find(|r| r.id == id) {
        Some(row) => row.simulated,
        None => probes.iter().find(|p| p.id == id).map(|p| p.mean),
    };
    let value = claim_value(claim, simulated);
    let holds = value.is_some_and(|value| holds(claim, value));
    let units = rows.iter().map(|r| (&r.id, &r.unit)).chain(probes.iter().map(|p| (&p.id, &p.unit)));
    let of_row = units.into_iter().find(|(id, _)| **id == claim.row).map_or("", |(_, unit)| unit.as_str());
    let unit = if claim.by == Some(Comparison::ChangePercent) { "%" } else { of_row };
    ClaimResult {
        id: claim.id.clone(),
        text: claim.text.clone(),
        holds,
        value: value.map(round),
        unit: unit.to_owned(),
        stands: looks::claim_stands(claim, chance.experiment, runs),
        no_effect_holds: no_effect::holds(claim, chance.experiment),
        chance_pct: chance.of_claim(claim, World::Changed),
        no_effect_chance_pct: chance.of_claim(claim, World::NoEffect),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::file::{Beyond, Pair, Workloads};
    use crate::experiment::read;
    use pelton_sim::report::{DomainReport, TaskReport};

    /// Reports as a model would give them: transitions, and `events` activations of `event_ns`.
    fn reports(transitions: u64, events: usize, event_ns: u64) -> Vec<Report> {
        let domain = DomainReport { name: "cpu".into(), transitions, ..Default::default() };
        let task = TaskReport {
            name: "sysbench".into(),
            activation_ns: std::iter::repeat_n(event_ns, events).collect(),
            ..Default::default()
        };
        vec![Report { domains: vec![domain], tasks: vec![task], ..Default::default() }; 6]
    }

    fn runs(reports: &Reports) -> Runs {
        Runs { reports: reports.clone(), samples: Samples::new() }
    }

    fn table() -> TableResult {
        let experiment = read::load("rt-utilization").expect("embedded");
        let mut all = Reports::new();
        for (variant, transitions, events, ns) in [("without", 1229, 5000, 3_000_000), ("with", 5, 7680, 1_950_000)] {
            for workload in ["hog", "sysbench"] {
                all.insert((variant.into(), workload.into()), reports(transitions, events, ns));
            }
        }
        judge(&experiment, false, &runs(&all), 1.0).expect("complete")
    }

    #[test]
    fn rows_are_judged_by_the_file_s_tolerance() {
        let table = table();
        let row = |id: &str| table.rows.iter().find(|r| r.id == id).expect("row").clone();
        assert_eq!(row("transitions.without").verdict, Verdict::Match);
        assert_eq!(row("events.without").simulated, Some(5000.0));
        assert_eq!(row("latency_max.without").verdict, Verdict::Differs);
        assert_eq!(row("latency_avg.with").ci95, Some((1.95, 1.95)));
        assert_eq!(table.runs, 24);
    }

    #[test]
    fn tolerance_and_null_model_stand_beside_each_verdict_and_the_score_counts_them() {
        let table = table();
        let row = |id: &str| table.rows.iter().find(|r| r.id == id).expect("row").clone();
        let events = row("events.with");
        assert_eq!((events.tolerance_pct, events.tolerance), (Some(3.0), 230.82));
        assert_eq!((events.no_effect, events.no_effect_verdict), (Some(4903.0), Some(Verdict::Differs)));
        assert_eq!((row("latency_min.with").tolerance_pct, row("latency_min.with").tolerance), (None, 0.02));
        let score = table.score;
        let counted = |is: fn(&RowResult) -> bool| table.rows.iter().filter(|r| is(r)).count() as u64;
        assert_eq!((score.rows, score.matches), (12, counted(|r| r.verdict == Verdict::Match)));
        assert_eq!((score.no_effect_rows, score.no_effect_matches), (6, 1), "1.23 ms is printed of both");
        assert!(score.in_words().contains("no effect would match 1 of the 6 that compare"), "{}", score.in_words());
    }

    #[test]
    fn a_row_over_several_workloads_is_their_mean_seed_by_seed() {
        let mut experiment = read::load("rt-utilization").expect("embedded");
        experiment.row.retain(|r| r.id == "transitions.without");
        experiment.claim.clear();
        experiment.row[0].workload = Workloads::MeanOf(vec!["hog".into(), "sysbench".into()]);
        let mut all = Reports::new();
        for (workload, transitions) in [("hog", 10), ("sysbench", 20)] {
            all.insert(("without".into(), workload.into()), reports(transitions, 1, 1));
        }
        let table = judge(&experiment, false, &runs(&all), 1.0).expect("complete");
        assert_eq!((table.rows[0].simulated, table.rows[0].ci95), (Some(15.0), Some((15.0, 15.0))));
    }

    #[test]
    fn columns_beyond_the_posting_are_compared_with_the_first_variant() {
        let mut experiment = read::load("rt-utilization").expect("embedded");
        (experiment.row, experiment.claim) = (Vec::new(), Vec::new());
        let list = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
        experiment.beyond = vec![Beyond {
            id: "b".into(),
            why: "a test".into(),
            workload: list(&["hog"]),
            variant: list(&["without", "with"]),
            quantity: list(&["transitions"]),
        }];
        let mut all = Reports::new();
        for (variant, transitions) in [("without", 10), ("with", 5)] {
            all.insert((variant.into(), "hog".into()), reports(transitions, 1, 1));
        }
        let beyond = judge(&experiment, false, &runs(&all), 1.0).expect("complete").beyond;
        let rows = &beyond[0].rows;
        assert_eq!((rows[0].values[0].mean, rows[0].values[0].change_ci95), (10.0, None));
        assert_eq!((rows[1].values[0].mean, rows[1].values[0].change_ci95), (5.0, Some((-50.0, -50.0))));
        all.remove(&("with".to_owned(), "hog".to_owned()));
        assert!(judge(&experiment, false, &runs(&all), 1.0).is_err(), "a missing run is no empty cell");
    }

    #[test]
    fn variants_that_nothing_tells_apart_are_named() {
        let experiment = read::load("rt-utilization").expect("embedded");
        let mut all = Reports::new();
        for variant in ["without", "with"] {
            for workload in ["hog", "sysbench"] {
                all.insert((variant.into(), workload.into()), reports(5, 7680, 1_950_000));
            }
        }
        let made = judge(&experiment, false, &runs(&all), 1.0).expect("complete");
        assert!(
            made.remarks[0].starts_with("`with` and `without` gave equal values in every seed"),
            "{:?}",
            made.remarks
        );
        assert!(table().remarks.is_empty());
    }

    #[test]
    fn claims_follow_from_our_rows() {
        let holds: BTreeMap<_, _> = table().claims.into_iter().map(|c| (c.id, c.holds)).collect();
        assert!(holds["transitions-without"] && holds["transitions-with"] && holds["events-rise"]);
        assert!(!holds["max-falls"], "3.0 against 1.95 ms is a fall of less than 2 ms");
    }

    #[test]
    fn a_claim_may_compare_two_changes() {
        let mut experiment = read::load("rt-utilization").expect("embedded");
        let pair = |row: &str, against: &str| (row.to_owned(), against.to_owned());
        let mut value_of = |first: (String, String), then: (String, String)| {
            let mut claim = experiment.claim[0].clone();
            (claim.row, claim.against) = (first.0, Some(first.1));
            (claim.by, claim.min, claim.max) = (Some(Comparison::ChangePercent), Some(0.0), None);
            claim.than = Some(Pair { row: then.0, against: then.1 });
            experiment.claim = vec![claim];
            let runs = Runs::default();
            let chance = Chance { experiment: &experiment, reports: &runs.reports, probes: &runs.samples };
            let result = judge_claim(&experiment.claim[0], chance, &runs, &table().rows, &[]);
            (result.holds, result.value.expect("rows are there"), result.unit)
        };
        let events = || pair("events.with", "events.without");
        let latency = || pair("latency_max.with", "latency_max.without");
        assert_eq!(value_of(events(), latency()), (true, 53.6 + 35.0, "%".into()));
        assert_eq!(value_of(latency(), events()), (false, -(53.6 + 35.0), "%".into()));
    }

    #[test]
    fn printed_numbers_never_reach_our_column() {
        let mut experiment = read::load("rt-utilization").expect("embedded");
        let before = table();
        for row in &mut experiment.row {
            row.published *= 2.0;
        }
        let mut all = Reports::new();
        for (variant, transitions, events, ns) in [("without", 1229, 5000, 3_000_000), ("with", 5, 7680, 1_950_000)] {
            for workload in ["hog", "sysbench"] {
                all.insert((variant.into(), workload.into()), reports(transitions, events, ns));
            }
        }
        let after = judge(&experiment, false, &runs(&all), 1.0).expect("complete");
        let simulated = |t: &TableResult| t.rows.iter().map(|r| (r.simulated, r.ci95)).collect::<Vec<_>>();
        assert_eq!(simulated(&before), simulated(&after));
        let claimed = |t: &TableResult| t.claims.iter().map(|c| (c.value, c.holds)).collect::<Vec<_>>();
        assert_eq!(claimed(&before), claimed(&after));
    }

    #[test]
    fn only_the_file_may_call_a_row_not_modelled() {
        let mut experiment = read::load("rt-utilization").expect("embedded");
        let error = judge(&experiment, false, &Runs::default(), 0.0).expect_err("no reports").to_string();
        assert!(error.contains("transitions.without"), "{error}");
        let elsewhere = judge(&experiment, true, &Runs::default(), 0.0).expect("a changed world");
        assert!(elsewhere.rows.iter().all(|r| r.verdict == Verdict::Differs && r.simulated.is_none()));
        for row in &mut experiment.row {
            row.not_modelled = Some("a test".into());
        }
        let table = judge(&experiment, false, &Runs::default(), 0.0).expect("nothing expected");
        assert!(table.rows.iter().all(|r| r.verdict == Verdict::NotModelled && r.simulated.is_none()));
        assert!(!table.claims_hold());
    }

    #[test]
    fn json_has_the_published_shape() {
        let json = serde_json::to_value(table()).expect("serialises");
        let keys = |v: &serde_json::Value| v.as_object().expect("object").keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&json), ["claims", "rows", "run", "runs", "score", "seconds", "table"]);
        let row = "chance_pct ci95 id no_effect no_effect_verdict published quantity role seeds simulated stands tolerance \
                   tolerance_pct unit variant verdict";
        assert_eq!(keys(&json["rows"][0]).join(" "), row);
        assert_eq!(
            keys(&json["claims"][0]),
            ["chance_pct", "holds", "id", "no_effect_chance_pct", "no_effect_holds", "stands", "text", "unit", "value"]
        );
        assert_eq!(json["rows"][0]["role"], "calibrated");
        assert_eq!(json["rows"][0]["verdict"], "match");
    }
}
