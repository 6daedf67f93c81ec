// SPDX-License-Identifier: GPL-2.0-or-later
//! Time lines with few points: what a screen can show of many.

use crate::table::{Column, Table, Values};
use std::collections::BTreeMap;

/// Fewer rows that look the same: of each of `width` steps of the column `x`, for each value of the column `by`, the
/// first and the last row, and those with the least and the greatest `y`.
///
/// # Errors
/// A column that is not there, or is of texts where numbers are needed.
pub fn thinned(table: &Table, x: &str, y: &str, by: Option<&str>, width: usize) -> Result<Table, String> {
    let (xs, ys) = (numbers(table, x)?, numbers(table, y)?);
    let groups = by.map(|by| groups(table, by)).transpose()?;
    let known = xs.iter().copied().filter(|x| x.is_finite());
    let (first, last) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    // Halves, so that the whole length is a number too; a row without an x has a step of its own.
    let step = ((last / 2.0 - first / 2.0) / width.max(1) as f64).max(f64::MIN_POSITIVE);
    let place_of = |x: f64| if x.is_nan() { u64::MAX } else { ((x / 2.0 - first / 2.0) / step) as u64 };
    let mut steps: BTreeMap<(u64, u64), [usize; 4]> = BTreeMap::new();
    for row in 0..table.rows() {
        let place = (groups.as_ref().map_or(0, |groups| groups[row]), place_of(xs[row]));
        let kept = steps.entry(place).or_insert([row; 4]);
        kept[1] = if ys[row] < ys[kept[1]] || ys[kept[1]].is_nan() { row } else { kept[1] };
        kept[2] = if ys[row] > ys[kept[2]] || ys[kept[2]].is_nan() { row } else { kept[2] };
        kept[3] = row;
    }
    let mut rows: Vec<usize> = steps.into_values().flatten().collect();
    rows.sort_unstable();
    rows.dedup();
    Ok(Table::of(table.columns.iter().map(|column| picked(column, &rows)).collect()))
}

fn found<'a>(table: &'a Table, name: &str) -> Result<&'a Column, String> {
    table.column(name).ok_or_else(|| {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        format!("there is no column `{name}`; there are {}", names.join(", "))
    })
}

/// Values of a column as floats; those that are not known are not numbers.
fn numbers(table: &Table, name: &str) -> Result<Vec<f64>, String> {
    let column = found(table, name)?;
    let mut values: Vec<f64> = match &column.values {
        Values::U32(values) => values.iter().map(|&value| f64::from(value)).collect(),
        Values::U64(values) => values.iter().map(|&value| value as f64).collect(),
        Values::I64(values) => values.iter().map(|&value| value as f64).collect(),
        Values::F64(values) => values.clone(),
        Values::Bool(values) => values.iter().map(|&value| f64::from(u8::from(value))).collect(),
        Values::Words { .. } => return Err(format!("column `{name}` has texts, no numbers")),
    };
    for (value, known) in values.iter_mut().zip(column.known.iter().flatten()) {
        *value = if *known { *value } else { f64::NAN };
    }
    Ok(values)
}

/// A number for each row, equal where the values are.
fn groups(table: &Table, name: &str) -> Result<Vec<u64>, String> {
    match &found(table, name)?.values {
        Values::Words { at, .. } => Ok(at.iter().map(|&at| u64::from(at)).collect()),
        _ => Ok(numbers(table, name)?.into_iter().map(f64::to_bits).collect()),
    }
}

fn picked(column: &Column, rows: &[usize]) -> Column {
    fn of<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
        rows.iter().map(|&row| values[row]).collect()
    }
    let values = match &column.values {
        Values::U32(values) => Values::U32(of(values, rows)),
        Values::U64(values) => Values::U64(of(values, rows)),
        Values::I64(values) => Values::I64(of(values, rows)),
        Values::F64(values) => Values::F64(of(values, rows)),
        Values::Bool(values) => Values::Bool(of(values, rows)),
        Values::Words { at, words } => Values::Words { at: of(at, rows), words: words.clone() },
    };
    let known = column.known.as_ref().map(|known| of(known, rows));
    Column { values, known, name: column.name.clone(), unit: column.unit, doc: column.doc.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(rows: u64) -> Table {
        let of = |f: &dyn Fn(u64) -> u64| Values::U64((0..rows).map(f).collect());
        Table::of(vec![
            Column::new("t", "", "", of(&|row| row / 2)),
            Column::new("cpu", "", "", of(&|row| row % 2)),
            Column::new("v", "", "", of(&|row| if row == 777 { 5000 } else { row * 7 % 100 })),
        ])
    }

    #[test]
    fn a_peak_stays_and_the_rest_gets_few() {
        let thin = thinned(&wave(100_000), "t", "v", Some("cpu"), 100).expect("numbers");
        assert!(thin.rows() <= 4 * 101 * 2, "{}", thin.rows());
        let Values::U64(values) = &thin.column("v").expect("there").values else { panic!("numbers") };
        assert!(values.contains(&5000));
    }

    #[test]
    fn what_is_not_known_hides_no_peak() {
        let known = Some(vec![false, true, true, true, true]);
        let v = Column { known, ..Column::new("v", "", "", Values::F64(vec![0.0, 5.0, 9.0, 2.0, 3.0])) };
        let table = Table::of(vec![Column::new("t", "", "", Values::F64(vec![-1e308, 1.0, 2.0, 3.0, 1e308])), v]);
        let thin = thinned(&table, "t", "v", None, 1).expect("numbers");
        assert_eq!(thin.column("v").map(|v| v.values.clone()), Some(Values::F64(vec![0.0, 9.0, 2.0, 3.0])));
    }

    #[test]
    fn few_rows_stay_as_they_are() {
        let table = wave(20);
        assert_eq!(thinned(&table, "t", "v", Some("cpu"), 1000), Ok(table));
        assert_eq!(thinned(&wave(0), "t", "v", None, 10), Ok(wave(0)));
    }

    #[test]
    fn a_column_that_is_not_there_is_named() {
        assert!(thinned(&wave(3), "t", "w", None, 10).is_err_and(|why| why.contains("there are t, cpu, v")));
    }
}
