// SPDX-License-Identifier: GPL-2.0-or-later
//! A result that was kept as JSON, as a page: whatever its kind, its facts and its tables.

use super::whole;
use maud::{Markup, html};
use pelton_lab::number::number;
use pelton_lab::results::kinds::KINDS;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Columns of a table, and letters of a cell: more is cut.
const COLUMNS: usize = 100;
const LETTERS: usize = 400;
/// Letters of all tables of a page. A list inside an object repeats what stands beside it, so that a small file could
/// ask for any number.
const ROOM: usize = 8 << 20;

/// The page of a result, or why it is none.
///
/// # Errors
/// When the value is no result that this program prints.
pub fn of_result(value: &Value) -> Result<String, String> {
    let all: Vec<&Value> = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
    let kinds: Vec<&str> = all.iter().map(|one| kind(one)).collect::<Result<_, _>>()?;
    let mut room = Room { letters: ROOM, tables: 0 };
    let parts: Vec<Markup> = all.iter().zip(&kinds).map(|(one, kind)| result(one, kind, &mut room)).collect();
    let body = html! { @for part in parts { (part) } };
    let title = match kinds[..] {
        [one] => format!("pelton {one}"),
        _ => format!("{} results of pelton", kinds.len()),
    };
    Ok(whole(&title, &body, &html! {}))
}

/// Letters that a page still has room for, and the tables that it has.
struct Room {
    letters: usize,
    tables: usize,
}

impl Room {
    /// Takes room for a row; false: there is none left.
    fn takes(&mut self, cells: &[String]) -> bool {
        let letters = cells.iter().map(|cell| cell.len() + 16).sum();
        let fits = letters <= self.letters;
        self.letters = self.letters.saturating_sub(letters);
        fits
    }
}

/// Kind of a result.
fn kind(value: &Value) -> Result<&str, String> {
    let said = value.get("result").and_then(Value::as_str);
    let said = said.ok_or("there is no `result` in it: results are what `--format json` prints")?;
    match KINDS.iter().any(|kind| kind.name == said) {
        true => Ok(said),
        false => Err(format!("`{said}` is no kind of result; `pelton result schema` lists them")),
    }
}

fn result(value: &Value, kind: &str, room: &mut Room) -> Markup {
    let fields = value.as_object().into_iter().flatten();
    let (parts, facts): (Vec<_>, Vec<_>) = fields.partition(|(_, value)| !is_plain(value));
    let parts: Vec<Markup> = parts.into_iter().map(|(name, value)| part(name, value, room)).collect();
    html! {
        section {
            h2 { (kind) }
            (facts_of(&facts))
            @for part in parts { (part) }
        }
    }
}

fn facts_of(facts: &[(&String, &Value)]) -> Markup {
    html! { @if !facts.is_empty() { dl { @for (name, value) in facts { dt { (name) } dd { (plain(value)) } } } } }
}

/// A part of a result under its name.
fn part(name: &str, value: &Value, room: &mut Room) -> Markup {
    match value {
        Value::Object(map) => {
            let (parts, facts): (Vec<_>, Vec<_>) = map.iter().partition(|(_, value)| !is_plain(value));
            let parts: Vec<Markup> =
                parts.into_iter().map(|(inner, value)| part(&cut(format!("{name}.{inner}")), value, room)).collect();
            html! {
                h3 { (name) }
                (facts_of(&facts))
                @for part in parts { (part) }
            }
        }
        Value::Array(list) if list.iter().all(is_plain) => {
            html! { @if !list.is_empty() { h3 { (name) } ul { @for one in list { li { (plain(one)) } } } } }
        }
        Value::Array(list) => table(name, list, room),
        other => html! { p { (name) ": " (plain(other)) } },
    }
}

/// Objects as rows; a list of objects inside one gives a row for each of them.
fn table(name: &str, list: &[Value], room: &mut Room) -> Markup {
    let columns = columns(list);
    room.tables += 1;
    let mut rows = Vec::new();
    let mut is_cut = columns.len() == COLUMNS || list.iter().any(has_more);
    for row in list.iter().flat_map(unfolded) {
        let cells: Vec<String> = columns.iter().map(|column| row.get(column).cloned().unwrap_or_default()).collect();
        if !room.takes(&cells) {
            is_cut = true;
            break;
        }
        rows.push(cells);
    }
    html! {
        h3 { (name) }
        @if is_cut { p.note { "Not all of it: lists inside lists are left out, and a page has room for " (COLUMNS) " columns and " (ROOM >> 20) " MB." } }
        div.wide tabindex="0" role="region" aria-label=(format!("Table {}: {name}", room.tables)) {
            table {
                thead { tr { @for column in &columns { th scope="col" { (column) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

/// True for an object with more than a table shows: a second list of objects, or one farther inside.
fn has_more(value: &Value) -> bool {
    let Value::Object(map) = value else { return false };
    let is_list = |value: &&Value| value.as_array().is_some_and(|list| list.iter().any(Value::is_object));
    let holds = |value: &Value| match value {
        Value::Object(inner) => inner.values().any(|value| value.is_object() || is_list(&value)),
        Value::Array(list) => {
            list.iter().any(|one| one.as_object().is_some_and(|one| one.values().any(|v| is_list(&v))))
        }
        _ => false,
    };
    map.values().filter(is_list).count() > 1 || map.values().any(holds)
}

/// Names of all fields, first seen first.
fn columns(list: &[Value]) -> Vec<String> {
    let mut names = Vec::new();
    let mut seen = BTreeSet::new();
    for value in list {
        let inner = inner_list(value);
        let heads = std::iter::once(value).chain(inner.iter().flat_map(|(_, list)| list.iter()));
        for (at, one) in heads.enumerate() {
            let before = inner.as_ref().filter(|_| at > 0).map(|(name, _)| format!("{name}.")).unwrap_or_default();
            for (name, _) in fields(&before, one) {
                if names.len() < COLUMNS && seen.insert(name.clone()) {
                    names.push(name);
                }
            }
        }
    }
    names
}

/// Rows of an object: its own fields, beside those of each object of its first list.
fn unfolded(value: &Value) -> Box<dyn Iterator<Item = BTreeMap<String, String>> + '_> {
    let own: BTreeMap<String, String> = fields("", value).collect();
    match inner_list(value) {
        None => Box::new(std::iter::once(own)),
        Some((name, list)) => Box::new(list.iter().map(move |one| {
            let mut row = own.clone();
            row.extend(fields(&format!("{name}."), one));
            row
        })),
    }
}

/// The first list of objects in an object.
fn inner_list(value: &Value) -> Option<(&String, &Vec<Value>)> {
    let lists = value.as_object()?.iter().filter_map(|(name, value)| Some((name, value.as_array()?)));
    lists.into_iter().find(|(_, list)| list.iter().any(Value::is_object))
}

/// Fields of an object in words, the first of them; those of objects in it by their path. Its list of objects is none.
fn fields<'a>(before: &'a str, value: &'a Value) -> Box<dyn Iterator<Item = (String, String)> + 'a> {
    let Value::Object(map) = value else {
        return Box::new(std::iter::once((before.trim_end_matches('.').to_owned(), plain(value))));
    };
    let of_objects = move |(name, value): (&'a String, &'a Value)| -> Vec<(String, String)> {
        match value {
            Value::Object(inner) => {
                let of_inner = inner.iter().filter(|(_, value)| !value.is_object());
                of_inner
                    .take(COLUMNS)
                    .map(|(inner, value)| (cut(format!("{before}{name}.{inner}")), words(value)))
                    .collect()
            }
            Value::Array(list) if list.iter().any(Value::is_object) => Vec::new(),
            _ => vec![(cut(format!("{before}{name}")), words(value))],
        }
    };
    Box::new(map.iter().flat_map(of_objects).take(COLUMNS))
}

/// A list in words, or a value.
fn words(value: &Value) -> String {
    match value {
        Value::Array(list) => cut(list.iter().take(LETTERS).map(plain).collect::<Vec<_>>().join(", ")),
        value => plain(value),
    }
}

/// The beginning of a long text.
fn cut(text: String) -> String {
    match text.char_indices().nth(LETTERS) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

fn is_plain(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// A value in words; what is not known is not 0.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "not known".to_owned(),
        Value::String(text) => cut(text.clone()),
        Value::Number(n) if n.is_f64() => n.as_f64().map_or_else(|| n.to_string(), number),
        Value::Array(list) => format!("{} entries", list.len()),
        Value::Object(map) => format!("{} fields", map.len()),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_is_facts_and_tables_and_nothing_in_it_is_markup() {
        let value = json!({"result": "run", "schema": 2, "run": {"platform": "</script><b>x"}, "rows": [
            {"quantity": "late", "value": null, "cells": [{"median": 1.5}, {"median": 2}]},
            {"quantity": "events", "value": 3},
        ]});
        let page = of_result(&value).expect("a page");
        assert!(page.contains("&lt;/script&gt;&lt;b&gt;x") && !page.contains("<b>x"), "{page}");
        assert_eq!(page.matches("<tr>").count(), 4, "a row for each cell, one for what has none, and a heading");
        assert!(page.contains("not known") && page.contains("cells.median"));
    }

    #[test]
    fn what_a_table_leaves_out_is_said() {
        let page = |row: Value| of_result(&json!({"result": "run", "rows": [row]})).expect("a page");
        assert!(!page(json!({"a": 1, "b": {"c": 2}, "cells": [{"d": 3}]})).contains("Not all of it"));
        for row in
            [json!({"x": [{"a": 1}], "y": [{"b": 2}]}), json!({"x": {"y": {"z": 1}}}), json!({"x": [{"y": [{}]}]})]
        {
            assert!(page(row.clone()).contains("Not all of it"), "{row}");
        }
    }

    #[test]
    fn names_drive_no_terminal() {
        let page = of_result(&json!({"result": "run", "a": "x\u{7f}\u{1b}[2J\u{9b}\r"})).expect("a page");
        assert!(
            page.contains("x\u{fffd}\u{fffd}[2J") && !page.contains(|c: char| c.is_control() && c != '\n' && c != '\t')
        );
    }

    #[test]
    fn a_small_file_makes_no_large_page() {
        let list: Vec<_> = (0..50_000).map(|_| json!({})).collect();
        let beside: serde_json::Map<_, _> =
            (0..300).map(|at| (format!("{at:0>600}"), "x".repeat(900).into())).collect();
        let mut row = json!(beside);
        row["list"] = list.into();
        let page = of_result(&json!({"result": "run", "rows": [row.clone(), row]})).expect("a page");
        assert!(page.len() < 4 * ROOM && page.contains("Not all of it"), "{}", page.len());
    }

    #[test]
    fn what_is_no_result_is_refused() {
        assert!(of_result(&json!({"a": 1})).is_err_and(|why| why.contains("--format json")));
        assert!(of_result(&json!({"result": "x"})).is_err_and(|why| why.contains("`x` is no kind")));
        assert!(of_result(&json!([{"result": "run"}, 3])).is_err());
    }
}
