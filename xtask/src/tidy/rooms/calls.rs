// SPDX-License-Identifier: GPL-2.0-or-later
//! Calls between rooms, by name.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Room, closing, fields, is_word, room_of};
use crate::tidy::tokens::Token;

/// Methods of the standard library that types of ours have as well: a receiver of unknown type is taken for a standard
/// one.
const STANDARD: &[&str] = &[
    "add", "clear", "clone", "contains", "count", "default", "end", "extend", "find", "first", "fmt", "get", "index",
    "insert", "is_empty", "is_none", "is_some", "iter", "last", "len", "max", "merge", "min", "new", "next", "pop",
    "position", "push", "read", "remove", "retain", "rev", "set", "sort", "sum", "swap", "take", "write",
];

/// One call between two files.
#[derive(Clone, Debug)]
pub struct Call {
    pub from: String,
    pub line: usize,
    pub name: String,
    pub to: String,
}

impl Call {
    pub fn caller_room(&self) -> &str {
        room_of(&self.from)
    }

    pub fn to_room(&self) -> &str {
        room_of(&self.to)
    }
}

/// All calls between files of rooms.
pub struct Calls {
    pub list: Vec<Call>,
}

/// A function: the type it belongs to (empty for a free one), and where it stands.
struct Definition {
    of: String,
    name: String,
    path: String,
}

/// Meaning of names.
#[derive(Default)]
struct Names {
    methods: Vec<Definition>,
    /// Field to the words of its types.
    fields: BTreeMap<String, BTreeSet<String>>,
    /// Words of the types of fields, by struct and field.
    own_fields: BTreeMap<(String, String), BTreeSet<String>>,
    /// Types and traits that are declared here.
    types: BTreeSet<String>,
}

/// A block of an `impl` or a `trait`: the type, and its tokens.
struct Block {
    of: String,
    range: std::ops::Range<usize>,
}

impl Calls {
    pub fn of(rooms: &[Room]) -> Calls {
        let mut names = Names::default();
        for room in rooms {
            names.learn(room);
        }
        let mut list = Vec::new();
        for room in rooms.iter().filter(|room| !room_of(&room.path).is_empty()) {
            list.extend(names.calls(room));
        }
        Calls { list }
    }

    /// File to the files it calls.
    pub fn graph(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for call in &self.list {
            graph.entry(call.from.clone()).or_default().insert(call.to.clone());
        }
        graph
    }
}

/// Blocks of `impl` and `trait` at the top of a file.
fn blocks(tokens: &[Token]) -> Vec<Block> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let is_block = matches!(tokens[i].text.as_str(), "impl" | "trait");
        match (is_block, (i..tokens.len()).find(|&j| tokens[j].text == "{")) {
            (true, Some(open)) => {
                let end = closing(tokens, open);
                found.push(Block { of: self_type(&tokens[i + 1..open]), range: open + 1..end });
                i = end;
            }
            _ if tokens[i].text == "{" => i = closing(tokens, i),
            _ => {}
        }
        i += 1;
    }
    found
}

/// The type of an `impl` header: its last name outside angle brackets, after `for` if there is one.
fn self_type(header: &[Token]) -> String {
    let start = header.iter().position(|t| t.text == "for").map_or(0, |at| at + 1);
    let (mut depth, mut of) = (0, String::new());
    for (i, token) in header.iter().enumerate().skip(start) {
        match token.text.as_str() {
            "<" => depth += 1,
            ">" if i > 0 && header[i - 1].text != "-" => depth -= 1,
            "where" => break,
            text if depth == 0 && is_word(text) => text.clone_into(&mut of),
            _ => {}
        }
    }
    of
}

impl Names {
    fn learn(&mut self, room: &Room) {
        let blocks = blocks(&room.tokens);
        let block_at = |i: usize| blocks.iter().find(|block| block.range.contains(&i));
        for (i, w) in room.tokens.windows(2).enumerate() {
            if w[0].text == "fn" && is_word(&w[1].text) {
                let of = block_at(i).map_or(String::new(), |block| block.of.clone());
                self.methods.push(Definition { of, name: w[1].text.clone(), path: room.path.clone() });
            }
        }
        let declares = |w: &&[Token]| matches!(w[0].text.as_str(), "struct" | "enum" | "trait");
        self.types.extend(room.tokens.windows(2).filter(declares).map(|w| w[1].text.clone()));
        for (of, field, types) in fields(&room.tokens) {
            self.fields.entry(field.clone()).or_default().extend(types.iter().cloned());
            self.own_fields.entry((of, field)).or_default().extend(types);
        }
    }

    fn calls(&self, room: &Room) -> Vec<Call> {
        let tokens = &room.tokens;
        let (blocks, imports) = (blocks(tokens), imports(tokens, &room.path));
        let mut found = Vec::new();
        for i in 1..tokens.len().saturating_sub(1) {
            if tokens[i + 1].text != "(" || !is_word(&tokens[i].text) {
                continue;
            }
            let around = blocks.iter().find(|block| block.range.contains(&i)).map_or("", |block| block.of.as_str());
            let to = match tokens[i - 1].text.as_str() {
                "." => self.of_receiver(tokens, i, around),
                ":" if i > 2 && tokens[i - 2].text == ":" => self.of_path(tokens, i, around),
                "fn" => Vec::new(),
                _ => self.free(&tokens[i].text, &room.path, &imports),
            };
            let call =
                |to: String| Call { from: room.path.clone(), line: tokens[i].line, name: tokens[i].text.clone(), to };
            // What stands beside the rooms is open to all.
            let others = to.into_iter().filter(|to| *to != room.path && !room_of(to).is_empty());
            found.extend(others.map(call));
        }
        found
    }

    /// Files with a method of one of these types.
    fn methods_of(&self, name: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let fits = |m: &&Definition| m.name == name && !m.of.is_empty() && wanted(&m.of);
        let paths: BTreeSet<&String> = self.methods.iter().filter(fits).map(|m| &m.path).collect();
        paths.into_iter().cloned().collect()
    }

    /// `receiver.name(`: of `self`, of a field with a declared type, or of anything.
    fn of_receiver(&self, tokens: &[Token], i: usize, around: &str) -> Vec<String> {
        let name = &tokens[i].text;
        let receiver = tokens[i.saturating_sub(2)].text.as_str();
        let is_field = i > 2 && tokens[i - 3].text == ".";
        if receiver == "self" && !is_field {
            return self.methods_of(name, |of| of == around);
        }
        if receiver == "engine" {
            return self.methods_of(name, |of| of == "Engine");
        }
        let owner = if i > 3 && tokens[i - 4].text == "self" { around } else { "" };
        let own = self.own_fields.get(&(owner.to_owned(), receiver.to_owned()));
        if let Some(types) = own.or_else(|| self.fields.get(receiver)).filter(|_| is_field) {
            return self.methods_of(name, |of| types.contains(of));
        }
        if STANDARD.contains(&name.as_str()) {
            return Vec::new();
        }
        // The engine is only ever called as `self` or `engine`.
        self.methods_of(name, |of| of != "Engine" && self.types.contains(of))
    }

    /// `Type::name(`, or `module::name(`.
    fn of_path(&self, tokens: &[Token], i: usize, around: &str) -> Vec<String> {
        let name = &tokens[i].text;
        let Some(before) = i.checked_sub(3).map(|at| tokens[at].text.as_str()) else { return Vec::new() };
        let of = if before == "Self" { around } else { before };
        let methods = self.methods_of(name, |known| known == of);
        if !methods.is_empty() {
            return methods;
        }
        let module = |path: &str| {
            path.ends_with(&format!("/{of}.rs"))
                || path.ends_with(&format!("/{of}/mod.rs"))
                || path == format!("{of}/mod.rs")
        };
        let free = self.methods.iter().filter(|m| m.of.is_empty() && m.name == *name && module(&m.path));
        free.map(|m| m.path.clone()).collect()
    }

    /// `name(`: a function of this file, or an imported one.
    fn free(&self, name: &str, here: &str, imports: &BTreeMap<String, String>) -> Vec<String> {
        let known = |path: &str| self.methods.iter().any(|m| m.of.is_empty() && m.name == name && m.path == path);
        if known(here) {
            return Vec::new();
        }
        let Some(module) = imports.get(name) else { return Vec::new() };
        let files = [format!("{module}.rs"), format!("{module}/mod.rs")];
        files.into_iter().filter(|path| known(path)).collect()
    }
}

/// Imported name to the path of its module, from the top.
fn imports(tokens: &[Token], here: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (i, token) in tokens.iter().enumerate() {
        if token.text == "use" {
            let end = (i..tokens.len()).find(|&j| tokens[j].text == ";").unwrap_or(tokens.len());
            let words: Vec<&str> = tokens[i + 1..end].iter().map(|t| t.text.as_str()).collect();
            import_tree(&words, &mut Vec::new(), here, &mut found);
        }
    }
    found
}

fn import_tree<'t>(words: &[&'t str], path: &mut Vec<&'t str>, here: &str, found: &mut BTreeMap<String, String>) {
    let depth = path.len();
    let mut at = 0;
    while at < words.len() {
        match words[at] {
            ":" => {}
            "{" => {
                let inside = inner(&words[at..]);
                import_tree(inside, path, here, found);
                at += inside.len() + 1;
            }
            "," => path.truncate(depth),
            word => {
                path.push(word);
                if words.get(at + 1).is_none_or(|next| *next == ",")
                    && let Some(module) = module_of(&path[..path.len() - 1], here)
                {
                    found.insert(word.to_owned(), module);
                }
            }
        }
        at += 1;
    }
    path.truncate(depth);
}

/// Words between the bracket at the start and the one that closes it.
fn inner<'w, 't>(words: &'w [&'t str]) -> &'w [&'t str] {
    let mut depth = 0;
    for (i, word) in words.iter().enumerate() {
        match *word {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &words[1..i];
        }
    }
    &words[1..]
}

/// A module path as a path of files.
fn module_of(path: &[&str], here: &str) -> Option<String> {
    let (first, rest) = path.split_first()?;
    match *first {
        "crate" => Some(rest.join("/")),
        "super" => {
            let folder = here.rsplit_once('/').map_or("", |(folder, _)| folder);
            Some([folder].into_iter().chain(rest.iter().copied()).collect::<Vec<_>>().join("/"))
        }
        _ => None,
    }
}
