// SPDX-License-Identifier: GPL-2.0-or-later
//! Constants, alone and in modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::bind::{Constant, Parsed};
use crate::rules;

/// Comments of headers on constants that are macros, which bindgen leaves out.
pub type Notes = BTreeMap<String, Note>;

/// Definition of a constant, and the comment behind it.
#[derive(Debug, Default)]
pub struct Note {
    definition: String,
    comment: String,
}

/// `#define PELTON_NAME 1u /* note */` of all headers.
pub fn notes(folder: &Path) -> Result<Notes, String> {
    let mut notes = Notes::new();
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        notes.extend(text.lines().filter_map(note));
    }
    Ok(notes)
}

fn note(line: &str) -> Option<(String, Note)> {
    let (name, rest) = line.strip_prefix("#define ")?.split_once(' ')?;
    let (definition, comment) = rest.split_once("/* ").unwrap_or((rest, ""));
    let (definition, comment) = (definition.trim().to_owned(), comment.trim_end_matches(" */").to_owned());
    Some((name.to_owned(), Note { definition, comment }))
}

/// The constants and modules that Rust names.
pub fn text(parsed: &Parsed, names: &BTreeSet<String>, notes: &Notes) -> Result<String, String> {
    let mut out = String::new();
    for name in names {
        if let Some(constant) = parsed.constants.get(&format!("PELTON_{name}")) {
            out += &one("", name, &format!("PELTON_{name}"), constant, notes);
        }
    }
    for (module, prefix) in rules::MODULES.iter().filter(|(module, _)| names.contains(*module)) {
        let start = format!("PELTON_{prefix}");
        let own = parsed.constants.iter().filter_map(|(name, own)| Some((name, name.strip_prefix(&start)?, own)));
        let mut own: Vec<_> = own.collect();
        own.sort_by_key(|(_, _, constant)| constant.value.parse().unwrap_or(u64::MAX));
        if own.is_empty() {
            return Err(format!("no constant begins with {start}"));
        }
        let _ = writeln!(out, "\n/// Constants `{start}...`.\npub mod {module} {{");
        own.into_iter().for_each(|(c, name, constant)| out += &one("    ", name, c, constant, notes));
        out += "}\n";
    }
    Ok(out + "\n")
}

fn one(indent: &str, name: &str, c: &str, constant: &Constant, notes: &Notes) -> String {
    let note = notes.get(c);
    let comment = note.map_or(constant.doc.as_str(), |note| &note.comment);
    let about = if comment.is_empty() { format!("`{c}`.") } else { format!("`{c}`: {comment}.") };
    let (ty, value) = unsigned(constant, note.map_or("", |note| &note.definition));
    rules::comment(indent, &about) + &format!("{indent}pub const {name}: {ty} = {value};\n")
}

/// Type and value; bindgen takes the largest numbers of 64 bits for negative ones.
fn unsigned(constant: &Constant, definition: &str) -> (String, String) {
    let negative = constant.value.replace(' ', "").parse::<i64>().ok().filter(|&value| value < 0);
    match negative {
        Some(value) if definition.contains("ull") => ("u64".to_owned(), value.cast_unsigned().to_string()),
        _ => (constant.ty.clone(), constant.value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_stand_behind_constants() {
        let (name, own) = note("#define PELTON_A 1u /* one */").expect("a constant");
        assert_eq!((name.as_str(), own.definition.as_str(), own.comment.as_str()), ("PELTON_A", "1u", "one"));
        assert_eq!(note("#define PELTON_A 1u").expect("a constant").1.comment, "");
    }

    #[test]
    fn the_largest_number_is_not_negative() {
        let of =
            |definition| unsigned(&Constant { value: "- 1".into(), ty: "i32".into(), doc: String::new() }, definition);
        assert_eq!(of("(~0ull)"), ("u64".to_owned(), u64::MAX.to_string()));
        assert_eq!(of("(-1)").0, "i32");
    }
}
