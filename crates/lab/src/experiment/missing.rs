// SPDX-License-Identifier: GPL-2.0-or-later
//! Every key that an experiment file lacks, all at once: a reader of TOML stops at the first.
//!
//! Which keys are needed is declared by the types alone. A table is read as its type, what is missing is filled with
//! something of the right form, and it is read again.

use super::file::{Beyond, Claim, Experiment, Probe, Row, Sensitivity, Variant, WorkloadRef};
use super::place::Wrong;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// Finds the keys that a table lacks.
type Finder = fn(&Table) -> Vec<String>;
/// Parts of a file that are tables by name.
const BY_NAME: [(&str, Finder); 2] = [("workload", keys::<WorkloadRef>), ("variant", keys::<Variant>)];
/// Parts of a file that are lists of tables.
const LISTS: [(&str, Finder); 6] = [
    ("row", keys::<Row>),
    ("claim", keys::<Claim>),
    ("probe", keys::<Probe>),
    ("beyond", keys::<Beyond>),
    ("sensitivity", keys::<Sensitivity>),
    ("wrong_world", keys::<Sensitivity>),
];

/// One message for each table that lacks keys; none where something else is wrong with the text.
pub(crate) fn all(text: &str) -> Vec<Wrong> {
    let Ok(root) = text.parse::<Table>() else { return Vec::new() };
    let mut found: Vec<Wrong> = wrong(&[], &keys::<Experiment>(&without_parts(&root))).into_iter().collect();
    for (part, keys) in BY_NAME {
        let tables = root.get(part).and_then(Value::as_table).into_iter().flatten();
        found.extend(tables.filter_map(|(name, table)| wrong(&[part, name], &keys(table.as_table()?))));
    }
    for (part, keys) in LISTS {
        let tables = root.get(part).and_then(Value::as_array).into_iter().flatten().enumerate();
        found.extend(tables.filter_map(|(at, table)| wrong(&[part, &at.to_string()], &keys(table.as_table()?))));
    }
    found
}

fn wrong(path: &[&str], keys: &[String]) -> Option<Wrong> {
    let of = if path.is_empty() { "the file".to_owned() } else { format!("`{}`", path.join(".")) };
    let what = if keys.len() == 1 { "lacks a key" } else { "lacks keys" };
    (!keys.is_empty()).then(|| Wrong::at(path, format!("{of} {what}: `{}`", keys.join("`, `"))))
}

/// The file with its parts empty: what is wrong inside them is no matter of the file's own keys.
fn without_parts(root: &Table) -> Table {
    let empty = |(key, value): (&String, &Value)| {
        let value = match value {
            Value::Table(_) if BY_NAME.iter().any(|(part, _)| part == key) => Value::Table(Table::new()),
            Value::Array(_) if LISTS.iter().any(|(part, _)| part == key) => Value::Array(Vec::new()),
            other => other.clone(),
        };
        (key.clone(), value)
    };
    root.iter().map(empty).collect()
}

/// Keys that the table lacks as a `T`.
fn keys<T: DeserializeOwned>(table: &Table) -> Vec<String> {
    let (mut filled, mut names) = (table.clone(), Vec::new());
    while let Some(name) = first_missing::<T>(&filled) {
        // A form that no key has would never be filled.
        let Some(value) = fillers().into_iter().find(|value| fits::<T>(&filled, &name, value)) else {
            names.push(name);
            break;
        };
        filled.insert(name.clone(), value);
        names.push(name);
    }
    names
}

/// The key that reading this table stops at because it is missing.
fn first_missing<T: DeserializeOwned>(table: &Table) -> Option<String> {
    let error = table.clone().try_into::<T>().err()?;
    let rest = error.message().strip_prefix("missing field `")?;
    Some(rest.split('`').next()?.to_owned())
}

/// With this value the table is read, or stops at another key that is missing.
fn fits<T: DeserializeOwned>(table: &Table, name: &str, value: &Value) -> bool {
    let mut filled = table.clone();
    filled.insert(name.to_owned(), value.clone());
    match filled.clone().try_into::<T>() {
        Ok(_) => true,
        Err(_) => first_missing::<T>(&filled).is_some_and(|next| next != name),
    }
}

/// Values of every form that keys have; `predicted` is a role and `difference` a comparison.
fn fillers() -> Vec<Value> {
    let words = ["x", "predicted", "difference"].map(|word| Value::String(word.to_owned()));
    let numbers = [Value::Integer(1), Value::Float(1.0), Value::Boolean(false)];
    words.into_iter().chain(numbers).chain([Value::Table(Table::new()), Value::Array(Vec::new())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_is_missing_is_named_at_once() {
        let text = "table = \"t\"\n[workload.a]\n[variant.b]\n[[row]]\nid = \"r\"\npublished = 1\n";
        let said = all(text).iter().map(|wrong| wrong.why().to_owned()).collect::<Vec<_>>().join("\n");
        for part in ["the file lacks keys: `schema`", "`source`", "`duration_s`", "`seeds`", "`calibration`"] {
            assert!(said.contains(part), "{part}\n{said}");
        }
        assert!(said.contains("`workload.a` lacks keys: `why`, `spec`"), "{said}");
        assert!(said.contains("`variant.b` lacks a key: `why`"), "{said}");
        let of_row = said.lines().find(|line| line.starts_with("`row.0`")).expect("the row lacks some");
        assert!(
            ["variant", "workload", "quantity", "tolerance", "role"].iter().all(|key| of_row.contains(key)),
            "{of_row}"
        );
    }

    #[test]
    fn a_file_that_has_all_keys_or_no_form_lacks_none() {
        assert!(all("this is no TOML").is_empty());
        assert!(all(include_str!("../../../../scenarios/published/rt-utilization.toml")).is_empty());
    }
}
