// SPDX-License-Identifier: GPL-2.0-or-later
//! The page that says where the work of each function of the kernel is done.

use std::fmt::Write as _;

use super::{Entry, Facts, LIST};

/// The whole page.
pub fn render(facts: &Facts) -> String {
    let mut rows: Vec<(&str, String)> =
        facts.cited.keys().filter_map(|name| Some((&**name, row(facts, name)?))).collect();
    rows.sort_by_key(|(name, _)| (name.trim_start_matches('_'), *name));
    let own = rows.iter().filter(|(name, _)| facts.own(name).is_some()).count();
    let mut out = format!(
        "# Functions of the kernel\n\nWhere is `update_load_avg`? Each function that a header of the core or a \
         [proof](../rules/proofs/README.md) cites, and what does its work here: {} functions, {own} of them under their own \
         name after `pelton_`. [names.toml](../{}) says why the others are not, and where more than one place does the work; \
         `cargo xtask tidy` holds it to the code.\n\n| kernel | here | why not under its own name alone |\n|---|---|---|\n",
        rows.len(),
        LIST.trim_start_matches("docs/"),
    );
    rows.iter().for_each(|(_, row)| out.push_str(row));
    out
}

/// The row of a name; `None` for a word that is no function.
fn row(facts: &Facts, kernel: &str) -> Option<String> {
    let entry = facts.entry(kernel);
    let places = match entry {
        Some(entry) => places(facts, entry),
        None => core(facts, facts.own(kernel)?),
    };
    let why = entry.map_or("", |entry| entry.why.trim());
    let mut out = String::new();
    let _ = writeln!(out, "| `{kernel}` | {places} | {why} |");
    Some(out)
}

fn places(facts: &Facts, entry: &Entry) -> String {
    let core = entry.core.iter().map(|name| core(facts, name));
    let places: Vec<String> = core.chain(entry.host.iter().map(|place| host(place))).collect();
    if places.is_empty() { "nothing to do".to_owned() } else { places.join(", ") }
}

fn core(facts: &Facts, name: &str) -> String {
    let path = facts.core.header(name).unwrap_or("");
    let prefix = if name.starts_with(|c: char| c.is_ascii_uppercase()) { "PELTON_" } else { "pelton_" };
    link(path, &format!("{prefix}{name}"))
}

fn host(place: &str) -> String {
    let (path, function) = place.split_once(' ').unwrap_or((place, ""));
    let module = path.trim_start_matches("crates/").trim_end_matches(".rs").replace("/src/", "/");
    format!("{} of {module}", link(path, function))
}

fn link(path: &str, name: &str) -> String {
    format!("[`{name}`](../../{path})")
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn a_row_names_the_place_and_the_reason() {
        let page = render(&example());
        assert!(page.contains("| `task_hot` | [`pelton_task_hot`](../../core/include/pelton/a.h) |  |\n"), "{page}");
        let split = "| `place_entity` | [`pelton_place`](../../core/include/pelton/a.h), \
                     [`place`](../../crates/sim/src/class/fair.rs) of sim/class/fair | Split. |\n";
        assert!(page.contains(split), "{page}");
        assert!(page.contains("| `menu_governor` | nothing to do | Read. |\n"), "{page}");
    }

    #[test]
    fn words_of_switches_are_no_functions_and_functions_are_counted() {
        let page = render(&example());
        assert!(!page.contains("`wake_queue`"), "{page}");
        assert!(page.contains("here: 4 functions, 2 of them"), "{page}");
    }
}
