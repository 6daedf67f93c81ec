// SPDX-License-Identifier: GPL-2.0-or-later
//! Rows of a JSON result as columns.

use crate::table::{Column, Table, Values, Words};
use serde_json::{Map, Value};

/// A row as it stands in a result.
type Row = Map<String, Value>;

/// List in a row that makes a row of each of its objects.
const CELLS: &str = "cells";
/// Pairs of numbers: lowest and highest.
const PAIRS: [&str; 4] = ["range", "ci95", "change_ci95", "change_ci95_pct"];

/// A table of rows: objects of one list. The cells of a row (of a comparison) make a row of each; a range or an
/// interval becomes two columns, `_low` and `_high`; what a row does not have is not known. Columns that `order` names
/// come first, in that order.
///
/// ```
/// let rows = serde_json::json!([{"of": "cpu0", "cells": [{"median": 1}, {"median": 2.5, "range": [2, 3]}]}]);
/// let table = pelton_desk::rows::table(rows.as_array().unwrap(), &["of".into(), "median".into()]);
/// let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
/// assert_eq!((table.rows(), names), (2, vec!["of", "median", "range_low", "range_high"]));
/// ```
pub fn table(rows: &[Value], order: &[String]) -> Table {
    let rows: Vec<Row> = rows.iter().filter_map(Value::as_object).flat_map(spread).collect();
    let mut names: Vec<String> = Vec::new();
    for name in rows.iter().flat_map(Map::keys) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let plain = |name: &str| name.strip_suffix("_low").or(name.strip_suffix("_high")).unwrap_or(name).to_owned();
    let place = |name: &str| order.iter().position(|first| *first == name || *first == plain(name));
    names.sort_by_key(|name| (place(name).unwrap_or(usize::MAX), name.ends_with("_high")));
    Table::of(names.iter().map(|name| column(name, &rows)).collect())
}

/// Rows without lists of objects and without pairs.
fn spread(row: &Row) -> Vec<Row> {
    let cells = row.get(CELLS).and_then(Value::as_array).filter(|cells| cells.iter().all(Value::is_object));
    let parts = cells.map_or(vec![None], |cells| cells.iter().map(Value::as_object).collect());
    let with = |cell: Option<&Row>| {
        let own = row.iter().filter(|(name, _)| cells.is_none() || *name != CELLS);
        let mut made: Row = own.flat_map(|(name, value)| plain(name, value)).collect();
        made.extend(cell.into_iter().flatten().flat_map(|(name, value)| plain(name, value)));
        made
    };
    parts.into_iter().map(with).collect()
}

/// Columns of one value.
fn plain(name: &str, value: &Value) -> Vec<(String, Value)> {
    if !PAIRS.contains(&name) {
        return vec![(name.to_owned(), value.clone())];
    }
    let half = |at: usize| value.get(at).cloned().unwrap_or(Value::Null);
    vec![(format!("{name}_low"), half(0)), (format!("{name}_high"), half(1))]
}

fn column(name: &str, rows: &[Row]) -> Column {
    let cells: Vec<&Value> = rows.iter().map(|row| row.get(name).unwrap_or(&Value::Null)).collect();
    let there = || cells.iter().filter(|cell| !cell.is_null());
    let values = if there().all(|cell| cell.is_u64()) && there().next().is_some() {
        Values::U64(cells.iter().map(|cell| cell.as_u64().unwrap_or(0)).collect())
    } else if there().all(|cell| cell.is_number()) {
        Values::F64(cells.iter().map(|cell| cell.as_f64().unwrap_or(f64::NAN)).collect())
    } else if there().all(|cell| cell.is_boolean()) {
        Values::Bool(cells.iter().map(|cell| cell.as_bool().unwrap_or(false)).collect())
    } else {
        let text = |cell: &&Value| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
        cells.iter().map(text).collect::<Words>().values()
    };
    let known = cells.iter().any(|cell| cell.is_null()).then(|| cells.iter().map(|cell| !cell.is_null()).collect());
    Column { known, ..Column::new(name, "", "", values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kinds_of_values_are_kinds_of_columns() {
        let rows = json!([
            {"text": "a", "whole": 1, "part": 0.5, "flag": true, "never": null, "list": [1, 2, 3]},
            {"text": "b", "whole": null, "part": 1, "flag": false, "never": null, "list": []}
        ]);
        let table = table(rows.as_array().expect("a list"), &[]);
        let of = |name: &str| table.column(name).expect("there");
        assert!(matches!(of("text").values, Values::Words { .. }) && matches!(of("whole").values, Values::U64(_)));
        assert!(matches!(of("part").values, Values::F64(_)) && matches!(of("flag").values, Values::Bool(_)));
        assert_eq!((of("whole").known.clone(), of("part").known.clone()), (Some(vec![true, false]), None));
        assert_eq!(of("never").known, Some(vec![false, false]));
        assert_eq!(of("list").values, Values::Words { at: vec![0, 1], words: vec!["[1,2,3]".into(), "[]".into()] });
    }

    #[test]
    fn columns_stand_in_the_order_of_the_rows() {
        let rows = json!([{"unit": "mJ", "of": "", "ci95": [1, 2]}]);
        let order = ["of", "ci95", "unit"].map(str::to_owned);
        let table = table(rows.as_array().expect("a list"), &order);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["of", "ci95_low", "ci95_high", "unit"]);
    }

    #[test]
    fn only_ranges_and_intervals_are_pairs() {
        let rows = json!([{"cpus": [4, 5], "range": null}, {"cpus": [6], "range": [1.5, 2]}]);
        let table = table(rows.as_array().expect("a list"), &[]);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["cpus", "range_low", "range_high"]);
        assert_eq!(table.column("range_low").expect("there").known, Some(vec![false, true]));
    }

    #[test]
    fn no_rows_are_no_columns() {
        assert_eq!(table(&[], &[]), Table::default());
        assert_eq!(table(&[json!(7)], &[]), Table::default());
    }
}
