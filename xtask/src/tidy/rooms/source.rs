// SPDX-License-Identifier: GPL-2.0-or-later
//! Files of the rooms as tokens, what they define, and the fields they name.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tokens::{Source, Token};
use crate::repo::File;

/// One file of a room, or one beside the rooms, which any room may call.
pub struct Room {
    /// Path below the source folder.
    pub path: String,
    /// Without test code.
    pub tokens: Vec<Token>,
}

/// The first folder of a path; empty for a file beside the rooms.
pub fn room_of(path: &str) -> &str {
    path.split_once('/').map_or("", |(room, _)| room)
}

/// Reads all files below `src` that are no test code.
pub fn read(files: &[File], src: &str) -> Result<Vec<Room>, String> {
    let mut rooms = Vec::new();
    let mut test_rooms = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.starts_with(src) && file.extension() == "rs") {
        let path = file.path[src.len()..].to_owned();
        let source = Source::parse(&file.path, &file.text).map_err(|(line, e)| format!("{}:{line}: {e}", file.path))?;
        if path == "lib.rs" {
            test_rooms = test_modules(&source.tokens);
        }
        if !path.ends_with("_test.rs") {
            rooms.push(Room { path, tokens: source.tokens.into_iter().filter(|t| !t.is_test).collect() });
        }
    }
    rooms.retain(|room| !test_rooms.contains(room_of(&room.path)));
    Ok(rooms)
}

/// Modules that exist in tests only.
fn test_modules(tokens: &[Token]) -> BTreeSet<String> {
    let is_mod = |w: &&[Token]| w[0].is_test && w[0].text == "mod" && w[2].text == ";";
    tokens.windows(3).filter(is_mod).map(|w| w[1].text.clone()).collect()
}

/// True for a name.
pub fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Place of the bracket that closes the one at `open`.
pub fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return i;
        }
    }
    tokens.len()
}

/// Fields of structs with names: struct, field, and the words of its type.
pub fn fields(tokens: &[Token]) -> Vec<(String, String, Vec<String>)> {
    let mut found = Vec::new();
    for i in 0..tokens.len().saturating_sub(2) {
        if tokens[i].text != "struct" {
            continue;
        }
        let ends = |t: &Token| matches!(t.text.as_str(), "{" | ";" | "(");
        let Some(open) = (i..tokens.len()).find(|&j| ends(&tokens[j])).filter(|&j| tokens[j].text == "{") else {
            continue;
        };
        let inside = &tokens[open + 1..closing(tokens, open)];
        found.extend(fields_inside(inside).into_iter().map(|(field, of)| (tokens[i + 1].text.clone(), field, of)));
    }
    found
}

fn fields_inside(inside: &[Token]) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut depth = 0;
    for (j, token) in inside.iter().enumerate() {
        let single = inside.get(j + 1).is_some_and(|t| t.text == ":")
            && inside.get(j + 2).is_some_and(|t| t.text != ":")
            && (j == 0 || inside[j - 1].text != ":");
        match token.text.as_str() {
            "<" | "(" | "[" | "{" => depth += 1,
            ">" | ")" | "]" | "}" => depth -= 1,
            text if depth == 0 && single && is_word(text) => found.push((text.to_owned(), Vec::new())),
            text if is_word(text) => {
                if let Some(last) = found.last_mut() {
                    last.1.push(text.to_owned());
                }
            }
            _ => {}
        }
    }
    found
}

/// Places at which fields are declared.
#[derive(Default)]
struct Homes {
    /// Field to the rooms with a struct that has it; empty for structs beside the rooms, and values.
    of_name: BTreeMap<String, BTreeSet<String>>,
    /// Rooms by struct and field.
    of_struct: BTreeMap<(String, String), BTreeSet<String>>,
    /// Field to the words of its types.
    types: BTreeMap<String, BTreeSet<String>>,
}

impl Homes {
    fn learn(&mut self, tokens: &[Token], home: &str) {
        for (of, field, types) in fields(tokens) {
            self.of_name.entry(field.clone()).or_default().insert(home.to_owned());
            self.of_struct.entry((of, field.clone())).or_default().insert(home.to_owned());
            self.types.entry(field).or_default().extend(types);
        }
    }

    /// The one room that has this field. Where several have, `receiver` decides, when it is a field itself: by the
    /// structs of its types.
    fn of(&self, receiver: Option<&str>, field: &str) -> Option<&str> {
        let all = self.of_name.get(field)?;
        let by_type: BTreeSet<&String> = match receiver.and_then(|receiver| self.types.get(receiver)) {
            Some(types) if all.len() > 1 => {
                let known = |of: &String| self.of_struct.get(&(of.clone(), field.to_owned()));
                types.iter().filter_map(known).flatten().collect()
            }
            _ => all.iter().collect(),
        };
        let home = by_type.first().filter(|_| by_type.len() == 1)?;
        Some(home.as_str())
    }
}

/// The name before the dot at `dot`, brackets of an index passed over, when that stands behind a dot itself.
fn receiver(tokens: &[Token], dot: usize) -> Option<&str> {
    let mut at = dot.checked_sub(1)?;
    if tokens[at].text == "]" {
        let mut depth = 0;
        loop {
            match tokens[at].text.as_str() {
                "]" => depth += 1,
                "[" => depth -= 1,
                _ => {}
            }
            at = at.checked_sub(1)?;
            if depth == 0 {
                break;
            }
        }
    }
    (tokens[at.checked_sub(1)?].text == "." && is_word(&tokens[at].text)).then_some(tokens[at].text.as_str())
}

/// Names of fields of one other room that a room uses, by (room, other room). A name that structs of several rooms have
/// is known by what stands before it, or says nothing; structs beside the rooms, and `values`, belong to all.
pub fn foreign_fields(rooms: &[Room], values: &[Room]) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut homes = Homes::default();
    rooms.iter().for_each(|room| homes.learn(&room.tokens, room_of(&room.path)));
    values.iter().for_each(|value| homes.learn(&value.tokens, ""));
    let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for room in rooms.iter().filter(|room| !room_of(&room.path).is_empty()) {
        // Behind two dots stands the end of a range.
        let names = |w: &[Token]| w[0].text != "." && w[1].text == "." && w[3].text != "(";
        for (i, w) in room.tokens.windows(4).enumerate().filter(|(_, w)| names(w)) {
            let Some(home) = homes.of(receiver(&room.tokens, i + 1), &w[2].text) else { continue };
            if !home.is_empty() && home != room_of(&room.path) {
                let key = (room_of(&room.path).to_owned(), home.to_owned());
                found.entry(key).or_default().insert(w[2].text.clone());
            }
        }
    }
    found
}

/// Fields of the structs in the file `path`, which stands beside the rooms, whose type is declared by no room and not
/// beside them.
pub fn plain_fields(rooms: &[Room], path: &str) -> BTreeSet<String> {
    let declares = |w: &&[Token]| matches!(w[0].text.as_str(), "struct" | "enum");
    let types: BTreeSet<&str> =
        rooms.iter().flat_map(|r| r.tokens.windows(2).filter(declares).map(|w| w[1].text.as_str())).collect();
    let state = rooms.iter().filter(|room| room.path == path);
    let plain = |of: &[String]| !of.iter().any(|word| types.contains(word.as_str()));
    state.flat_map(|r| fields(&r.tokens)).filter(|(_, _, of)| plain(of)).map(|(_, field, _)| field).collect()
}
