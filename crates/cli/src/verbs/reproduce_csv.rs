// SPDX-License-Identifier: GPL-2.0-or-later
//! A published table as comma-separated values: everything that its JSON has, one number in each line. `part` says what
//! a line is: a row of the posting, a claim, a probe, a number beyond the posting, a count of the score.

use crate::sheet::Sheet;
use pelton_lab::experiment::table::{
    BeyondResult, BeyondRow, BeyondValue, ClaimResult, ProbeResult, RowResult, Score, TableResult,
};
use pelton_lab::number::number;
use std::collections::BTreeMap;

/// Columns, in order; those of words begin with `<`.
const COLUMNS: [&str; 28] = [
    "<table",
    "<part",
    "<id",
    "<workload",
    "<variant",
    "<quantity",
    "<of",
    "<unit",
    "published",
    "tolerance",
    "tolerance_pct",
    "simulated",
    "ci95_low",
    "ci95_high",
    "min",
    "max",
    "change_ci95_low_pct",
    "change_ci95_high_pct",
    "<role",
    "<verdict",
    "no_effect",
    "<no_effect_verdict",
    "chance_pct",
    "no_effect_chance_pct",
    "seeds",
    "<stands",
    "<text",
    "<platform",
];

/// The cells of a line, by the name of the column.
type Line = BTreeMap<&'static str, String>;

/// The table; the heading stands above the first alone.
pub fn csv(table: &TableResult, with_heading: bool) -> String {
    let mut sheet = Sheet::new(&COLUMNS);
    for mut line in lines(table) {
        line.insert("table", table.table.clone());
        line.insert("platform", table.run.platform.clone());
        let cell = |column: &&str| line.get(column.trim_start_matches('<')).cloned().unwrap_or_default();
        sheet.row(COLUMNS.iter().map(cell).collect());
    }
    let csv = sheet.csv();
    if with_heading { csv } else { csv.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or_default() }
}

fn lines(table: &TableResult) -> Vec<Line> {
    let mut all: Vec<Line> = table.rows.iter().map(row).collect();
    all.extend(table.claims.iter().map(claim));
    all.extend(table.probes.iter().map(probe));
    for of in &table.beyond {
        all.extend(of.rows.iter().flat_map(|row| row.values.iter().map(move |value| beyond(of, row, value))));
    }
    all.extend(table.remarks.iter().map(|remark| words([("part", "remark"), ("text", remark)])));
    all.extend(counts(&table.score).map(|(name, value)| count("score", name, value as f64)));
    all.extend([count("cost", "runs", table.runs as f64), count("cost", "seconds", table.seconds)]);
    all
}

fn words<const N: usize>(words: [(&'static str, &str); N]) -> Line {
    words.into_iter().map(|(column, word)| (column, word.to_owned())).collect()
}

fn numbers<const N: usize>(line: &mut Line, numbers: [(&'static str, Option<f64>); N]) {
    line.extend(numbers.into_iter().filter_map(|(column, value)| Some((column, number(value?)))));
}

fn row(r: &RowResult) -> Line {
    let mut line = words([
        ("part", "row"),
        ("id", &r.id),
        ("variant", &r.variant),
        ("quantity", &r.quantity),
        ("unit", &r.unit),
        ("role", r.role.name()),
        ("verdict", r.verdict.name()),
        ("no_effect_verdict", r.no_effect_verdict.map_or("", |verdict| verdict.name())),
        ("stands", yes_no(r.stands)),
    ]);
    let values = [
        ("published", Some(r.published)),
        ("tolerance", Some(r.tolerance)),
        ("tolerance_pct", r.tolerance_pct),
        ("simulated", r.simulated),
        ("ci95_low", r.ci95.map(|c| c.0)),
        ("ci95_high", r.ci95.map(|c| c.1)),
        ("no_effect", r.no_effect),
        ("chance_pct", r.chance_pct),
        ("seeds", Some(r.seeds as f64)),
    ];
    numbers(&mut line, values);
    line
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

fn claim(c: &ClaimResult) -> Line {
    let holds = |yes: bool| if yes { "holds" } else { "fails" };
    let mut line = words([
        ("part", "claim"),
        ("id", &c.id),
        ("unit", &c.unit),
        ("text", &c.text),
        ("verdict", holds(c.holds)),
        ("no_effect_verdict", c.no_effect_holds.map_or("", holds)),
        ("stands", yes_no(c.stands)),
    ]);
    let chances = [("chance_pct", c.chance_pct), ("no_effect_chance_pct", c.no_effect_chance_pct)];
    numbers(&mut line, [("simulated", c.value)]);
    numbers(&mut line, chances);
    line
}

fn probe(p: &ProbeResult) -> Line {
    let mut line = words([("part", "probe"), ("id", &p.id), ("unit", &p.unit)]);
    numbers(&mut line, [("simulated", Some(p.mean)), ("min", Some(p.range.0)), ("max", Some(p.range.1))]);
    line
}

fn beyond(of: &BeyondResult, row: &BeyondRow, value: &BeyondValue) -> Line {
    let mut line = words([
        ("part", "beyond"),
        ("id", &of.id),
        ("text", &of.why),
        ("workload", &of.workload),
        ("variant", &row.variant),
        ("quantity", &value.quantity),
        ("of", value.of.as_deref().unwrap_or("")),
        ("unit", &value.unit),
    ]);
    let values = [
        ("simulated", Some(value.mean)),
        ("ci95_low", value.ci95.map(|c| c.0)),
        ("ci95_high", value.ci95.map(|c| c.1)),
        ("change_ci95_low_pct", value.change_ci95.map(|c| c.0)),
        ("change_ci95_high_pct", value.change_ci95.map(|c| c.1)),
    ];
    numbers(&mut line, values);
    line
}

fn counts(s: &Score) -> impl Iterator<Item = (&'static str, u64)> {
    [
        ("rows", s.rows),
        ("matches", s.matches),
        ("predicted", s.predicted),
        ("predicted_matches", s.predicted_matches),
        ("no_effect_rows", s.no_effect_rows),
        ("no_effect_matches", s.no_effect_matches),
        ("effects", s.effects),
        ("not_modelled", s.not_modelled),
        ("open_rows", s.open_rows),
        ("claims", s.claims),
        ("claims_hold", s.claims_hold),
        ("no_effect_claims", s.no_effect_claims),
        ("open_claims", s.open_claims),
    ]
    .into_iter()
}

fn count(part: &str, name: &str, value: f64) -> Line {
    let mut line = words([("part", part), ("id", name), ("unit", if name == "seconds" { "s" } else { "count" })]);
    numbers(&mut line, [("simulated", Some(value))]);
    line
}
