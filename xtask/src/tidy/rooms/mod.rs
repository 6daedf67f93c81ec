// SPDX-License-Identifier: GPL-2.0-or-later
//! The rooms of the simulator: which folder may call which, no circle of calls that leaves its folder or is large, and
//! no field of another folder beyond those that are counted.
//!
//! Calls are read from tokens and resolved by name (`calls.rs`): `self.x()` by the type around it, `field.x()` by the
//! declared type of the field, `Type::x()` and `module::x()` by the path, `x()` by the file and its imports. A receiver
//! of unknown type stands for every type of ours that has such a method, unless the name is one of the standard
//! library's; the method of a trait stands where the trait is declared.

mod calls;
mod circles;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Finding;
use crate::repo::File;
use calls::Calls;
use source::Room;

/// Folder of the rooms.
const SRC: &str = "crates/sim/src/";
/// Values of all rooms: their fields belong to no room.
const VALUES: &str = "crates/model/src/";
/// Page with the table.
const PAGE: &str = "ARCHITECTURE.md";
/// Its first line.
const TABLE_HEAD: &str = "| room | may call |";
/// Beside the rooms: what a run is made of. Its fields belong to all, so they are parts of rooms, or listed.
const STATE: &str = "state.rs";
/// List of the number of fields of other rooms that each room still names, and of the fields that are no part of a room
/// and all may name.
const FIELDS: &str = "xtask/rooms.toml";
/// Files in one circle, at most.
const CIRCLE_FILES_MAX: usize = 5;

/// Room to the rooms it may call.
type Table = BTreeMap<String, BTreeSet<String>>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ceilings {
    #[serde(default)]
    fields: Vec<Ceiling>,
    #[serde(default)]
    everybodys: Vec<Shared>,
}

/// Fields of [`STATE`] that are no part of a room.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    names: Vec<String>,
    reason: String,
}

/// A room that still names fields of another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ceiling {
    room: String,
    of: String,
    names: usize,
    reason: String,
}

/// Checks the rooms.
pub fn check(files: &[File]) -> Result<Vec<Finding>, String> {
    canary()?;
    let text = |path: &str| files.iter().find(|f| f.path == path).map(|f| f.text.as_str());
    let page = text(PAGE).ok_or_else(|| format!("{PAGE} is missing"))?;
    let list: Ceilings = toml::from_str(text(FIELDS).unwrap_or("")).map_err(|error| format!("{FIELDS}: {error}"))?;
    let (rooms, values) = (source::read(files, SRC)?, source::read(files, VALUES)?);
    let calls = Calls::of(&rooms);
    let table = table(page);
    let mut found: Vec<Finding> = calls_off_the_table(&calls, &table);
    found.extend(table_circles(&table));
    found.extend(circles_of(&calls));
    found.extend(fields_of(&rooms, &values, &list));
    found.extend(shared_of(&rooms, &list));
    Ok(found)
}

fn finding(path: &str, line: usize, text: String) -> Finding {
    Finding { rule: "rooms", path: path.to_owned(), line, text }
}

fn table(page: &str) -> Table {
    let rows = page.lines().skip_while(|line| line.trim() != TABLE_HEAD).skip(2).take_while(|l| l.starts_with('|'));
    let words = |cell: &str| cell.split_whitespace().map(str::to_owned).collect();
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        Some((cells.next()?.to_owned(), words(cells.next()?)))
    };
    rows.filter_map(row).collect()
}

fn calls_off_the_table(calls: &Calls, table: &Table) -> Vec<Finding> {
    let mut found = Vec::new();
    for call in calls.list.iter().filter(|call| call.caller_room() != call.to_room()) {
        let (from, to) = (call.caller_room(), call.to_room());
        if !table.get(from).is_some_and(|may| may.contains(to)) {
            let text = format!("`{}` is in `{}`, and `{from}` may not call `{to}`", call.name, call.to);
            found.push(finding(&format!("{SRC}{}", call.from), call.line, text));
        }
    }
    found
}

/// The table allows no circle.
fn table_circles(table: &Table) -> Vec<Finding> {
    let circles = circles::of(table);
    let text = |circle: &Vec<String>| format!("the table of rooms goes in a circle: {}", circle.join(", "));
    circles.iter().filter(|circle| circle.len() > 1).map(|circle| finding(PAGE, 0, text(circle))).collect()
}

fn circles_of(calls: &Calls) -> Vec<Finding> {
    let mut found = Vec::new();
    for circle in circles::of(&calls.graph()).iter().filter(|circle| circle.len() > 1) {
        let rooms: BTreeSet<&str> = circle.iter().map(|path| source::room_of(path)).collect();
        let names = circle.join(", ");
        let at = format!("{SRC}{}", circle[0]);
        if rooms.len() > 1 {
            found.push(finding(&at, 0, format!("calls go in a circle through {} rooms: {names}", rooms.len())));
        } else if circle.len() > CIRCLE_FILES_MAX {
            let text = format!("{} files call each other, more than {CIRCLE_FILES_MAX}: {names}", circle.len());
            found.push(finding(&at, 0, text));
        }
    }
    found
}

/// Names of other rooms' fields, against the ceilings: none more, and none of the ceilings higher than needed.
fn fields_of(rooms: &[Room], values: &[Room], list: &Ceilings) -> Vec<Finding> {
    let named = source::foreign_fields(rooms, values);
    let mut found = Vec::new();
    for ((room, of), names) in &named {
        let entry = list.fields.iter().find(|entry| entry.room == *room && entry.of == *of);
        let most = entry.map_or(0, |entry| entry.names);
        if names.len() > most {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let text =
                format!("`{room}` names {} fields of `{of}`, more than {most}: {}", names.len(), names.join(" "));
            found.push(finding(FIELDS, 0, text));
        }
    }
    for entry in &list.fields {
        let key = (entry.room.clone(), entry.of.clone());
        let names = named.get(&key).map_or(0, BTreeSet::len);
        if names < entry.names || entry.reason.trim().is_empty() {
            let text = format!("`{}` names {names} fields of `{}`: lower its entry, or give its reason", key.0, key.1);
            found.push(finding(FIELDS, 0, text));
        }
    }
    found
}

/// Fields of [`STATE`] are parts: of a type that a room declares, or that stands beside the rooms itself. Others are
/// listed with a reason, and nothing else is.
fn shared_of(rooms: &[Room], list: &Ceilings) -> Vec<Finding> {
    let plain = source::plain_fields(rooms, STATE);
    let listed: BTreeSet<&String> = list.everybodys.iter().flat_map(|shared| &shared.names).collect();
    let text = |name: &String| format!("`{name}` of {STATE} is no part of a room: make it one, or list it");
    let mut found: Vec<Finding> =
        plain.iter().filter(|name| !listed.contains(name)).map(|name| finding(FIELDS, 0, text(name))).collect();
    let gone = listed.iter().filter(|name| !plain.contains(**name));
    found.extend(gone.map(|name| finding(FIELDS, 0, format!("{STATE} has no plain field `{name}`"))));
    let silent = list.everybodys.iter().filter(|shared| shared.reason.trim().is_empty());
    found.extend(silent.map(|shared| finding(FIELDS, 0, format!("{:?}: give the reason", shared.names))));
    found
}

/// A rule that does not see a circle through two rooms, a call off the table or a foreign field checks nothing.
fn canary() -> Result<(), String> {
    let bad = [
        ("a/x.rs", "pub struct T { pub inner: u32 }\nimpl T { fn up(&mut self) { self.down(); } }\n"),
        ("b/y.rs", "impl T { fn down(&mut self) { self.up(); self.inner += 1; } }\n"),
    ];
    let files: Vec<File> = bad.iter().map(|(path, text)| File::example(&format!("{SRC}{path}"), text)).collect();
    let rooms = source::read(&files, SRC)?;
    let calls = Calls::of(&rooms);
    let may: Table = [("a", "b"), ("b", "")].map(|(a, b)| (a.into(), [b.to_owned()].into())).into();
    let state = [File::example(&format!("{SRC}{STATE}"), "pub struct S { pub part: T, pub loose: u64 }\n")];
    let beside: Vec<Room> = source::read(&state, SRC)?.into_iter().chain(source::read(&files, SRC)?).collect();
    let none = Ceilings::default();
    let seen = [
        calls_off_the_table(&calls, &may),
        circles_of(&calls),
        fields_of(&rooms, &[], &none),
        shared_of(&beside, &none),
    ];
    if seen.iter().any(|found| found.len() != 1) {
        return Err(format!("tidy: rule `rooms` does not notice its bad example: {seen:?}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(files: &[(&str, &str)]) -> Calls {
        let files: Vec<File> = files.iter().map(|(path, text)| File::example(&format!("{SRC}{path}"), text)).collect();
        Calls::of(&source::read(&files, SRC).expect("lexes"))
    }

    fn edges(calls: &Calls) -> Vec<(&str, &str, &str)> {
        calls.list.iter().map(|c| (c.from.as_str(), c.name.as_str(), c.to.as_str())).collect()
    }

    #[test]
    fn the_bad_example_is_noticed() {
        canary().expect("noticed");
    }

    #[test]
    fn a_circle_inside_a_room_may_have_five_files() {
        let ring = |n: usize| -> Vec<(String, String)> {
            let body = |i: usize| format!("impl E {{ fn f{i}(&self) {{ self.f{}(); }} }}\n", (i + 1) % n);
            (0..n).map(|i| (format!("a/f{i}.rs"), body(i))).collect()
        };
        for (n, wrong) in [(5, 0), (6, 1)] {
            let files = ring(n);
            let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
            assert_eq!(circles_of(&calls(&files)).len(), wrong, "{n} files");
        }
    }

    #[test]
    fn methods_are_found_by_the_type_of_self_of_a_field_and_of_a_path() {
        let found = calls(&[
            ("a/x.rs", "struct A;\nimpl A { fn go(&self) {} fn new() {} }\nfn free() {}\n"),
            ("b/y.rs", "struct B;\nimpl B { fn go(&self) {} fn only(&self) {} }\n"),
            (
                "c/z.rs",
                "use crate::a::x::free;\nstruct C { part: A }\nimpl C { fn go(&self) {}\n \
                 fn f(&self) { self.go(); self.part.go(); A::new(); free(); unknown().only(); v.len(); } }\n",
            ),
        ]);
        let want = [("go", "a/x.rs"), ("new", "a/x.rs"), ("free", "a/x.rs"), ("only", "b/y.rs")];
        let got: Vec<(&str, &str)> = edges(&found).into_iter().map(|(_, name, to)| (name, to)).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn test_code_and_files_outside_rooms_do_not_call() {
        let found = calls(&[
            ("a/x.rs", "impl E { fn up(&self) {} }\n"),
            ("b/y.rs", "#[cfg(test)]\nmod tests { impl E { fn t(&self) { self.up(); } } }\n"),
            ("lib.rs", "#[cfg(test)]\nmod c;\nimpl E { fn run(&self) { self.up(); } }\n"),
            ("c/z.rs", "impl E { fn t2(&self) { self.up(); } }\n"),
        ]);
        assert!(edges(&found).is_empty(), "{:?}", edges(&found));
    }

    #[test]
    fn a_name_of_several_rooms_is_known_by_the_type_of_the_field_before_it() {
        let files = [
            ("a/x.rs", "pub struct T { pub inner: u32 }\n"),
            ("b/y.rs", "pub struct U { pub inner: u32, pub t: T, pub all: Vec<T> }\n"),
            ("c/z.rs", "fn f(v: &V) { v.t.inner; }\nfn g(v: &V) { v.all[v.n[0]].inner; }\nfn h(t: &T) { t.inner; }\n"),
        ];
        let count = |n: usize| {
            let body = files[2].1.lines().nth(n).expect("three functions");
            let files = [files[0], files[1], ("c/z.rs", body)];
            let files: Vec<File> = files.iter().map(|(p, t)| File::example(&format!("{SRC}{p}"), t)).collect();
            let named = source::foreign_fields(&source::read(&files, SRC).expect("lexes"), &[]);
            named.get(&("c".to_owned(), "a".to_owned())).map_or(0, BTreeSet::len)
        };
        assert_eq!([count(0), count(1), count(2)], [1, 1, 0]);
    }

    #[test]
    fn fields_beside_the_rooms_are_parts_or_listed() {
        let files = [
            ("a/x.rs", "pub struct T { pub inner: u32 }\n"),
            ("state.rs", "pub struct S { pub parts: Vec<T>, pub now: u64 }\npub struct R { pub all: S }\n"),
        ];
        let files: Vec<File> = files.iter().map(|(p, t)| File::example(&format!("{SRC}{p}"), t)).collect();
        let rooms = source::read(&files, SRC).expect("lexes");
        let listed = |names: &[&str], reason: &str| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            Ceilings { everybodys: vec![Shared { names, reason: reason.to_owned() }], ..Ceilings::default() }
        };
        let found = |list: Ceilings| shared_of(&rooms, &list).len();
        assert_eq!(found(Ceilings::default()), 1, "not listed");
        assert_eq!(found(listed(&["now"], "the moment")), 0);
        assert_eq!(found(listed(&["now"], " ")), 1, "without a reason");
        assert_eq!(found(listed(&["now", "parts"], "the moment")), 1, "a part");
    }

    #[test]
    fn the_end_of_a_range_names_no_field() {
        let files =
            [("a/x.rs", "struct T { inner: u32 }\n"), ("b/y.rs", "fn f(inner: usize) { let _ = &v[..inner]; }\n")];
        let files: Vec<File> = files.iter().map(|(p, t)| File::example(&format!("{SRC}{p}"), t)).collect();
        let rooms = source::read(&files, SRC).expect("lexes");
        assert!(source::foreign_fields(&rooms, &[]).is_empty());
    }

    #[test]
    fn ceilings_follow_what_is_named() {
        let files = [("a/x.rs", "pub struct T { pub inner: u32 }\n"), ("b/y.rs", "fn f(t: &T) -> u32 { t.inner }\n")];
        let files: Vec<File> = files.iter().map(|(p, t)| File::example(&format!("{SRC}{p}"), t)).collect();
        let rooms = source::read(&files, SRC).expect("lexes");
        let list = |names| Ceilings {
            fields: vec![Ceiling { room: "b".into(), of: "a".into(), names, reason: "history".into() }],
            ..Ceilings::default()
        };
        let found: Vec<usize> = (0..3).map(|names| fields_of(&rooms, &[], &list(names)).len()).collect();
        assert_eq!(found, [1, 0, 1]);
    }
}
