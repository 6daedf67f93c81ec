// SPDX-License-Identifier: GPL-2.0-or-later
//! The page that says where the work of each function of the kernel is done.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Entry, Facts, LIST};

/// The whole page.
pub fn render(facts: &Facts) -> String {
    let by_header = own(facts);
    let mut entries: Vec<&Entry> = facts.entries.iter().collect();
    entries.sort_by_key(|entry| entry.kernel.first().map(|name| order(name)));
    let own: usize = by_header.values().map(Vec::len).sum();
    let others: usize = entries.iter().map(|entry| entry.kernel.len()).sum();
    let mut out = format!(
        "# Functions of the kernel\n\nWhere is `update_load_avg`? Each function that a header of the core or a \
         [proof](../rules/proofs/README.md) cites, and what does its work here: {} functions. `cargo xtask tidy` holds \
         the page to the code.\n\n## Under their own name\n\nAfter `pelton_`, and without leading underscores where \
         one function has the name: {own}.\n\n",
        own + others,
    );
    for (path, names) in by_header {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(out, "- {}: {}", link(path, path.rsplit('/').next().unwrap_or(path)), names.join(", "));
    }
    let _ = write!(
        out,
        "\n## Under another name, or in several places\n\n[names.toml](../{}) says why.\n\n",
        LIST.trim_start_matches("docs/")
    );
    for entry in entries {
        let kernel: Vec<String> = entry.kernel.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(out, "- {}: {}", kernel.join(", "), places(facts, entry));
    }
    out
}

/// Names without an entry, by the header that has them.
fn own(facts: &Facts) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in facts.cited.keys().filter(|name| facts.entry(name).is_none()) {
        if let Some(header) = facts.own(name).and_then(|own| facts.core.function(own)) {
            found.entry(header).or_default().push(name);
        }
    }
    found.values_mut().for_each(|names| names.sort_by_key(|name| order(name)));
    found
}

/// Names are sorted as if they had no leading underscores.
fn order(name: &str) -> (String, String) {
    (name.trim_start_matches('_').to_owned(), name.to_owned())
}

fn places(facts: &Facts, entry: &Entry) -> String {
    let core = entry.core.iter().map(|name| core(facts, name));
    let places: Vec<String> = core.chain(entry.host.iter().map(|place| host(place))).collect();
    if places.is_empty() { "nothing to do".to_owned() } else { places.join(", ") }
}

fn core(facts: &Facts, name: &str) -> String {
    let path = facts.core.header(name).unwrap_or("");
    let prefix = if name.starts_with(|c: char| c.is_ascii_uppercase()) { "PELTON_" } else { "pelton_" };
    link(path, &format!("`{prefix}{name}`"))
}

fn host(place: &str) -> String {
    let (path, function) = place.split_once(' ').unwrap_or((place, ""));
    link(path, &format!("`{function}`"))
}

fn link(path: &str, name: &str) -> String {
    format!("[{name}](../../{path})")
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn names_of_their_own_stand_with_their_header() {
        let page = render(&example());
        assert!(page.contains("\n- [a.h](../../core/include/pelton/a.h): `__fits`, `task_hot`\n"), "{page}");
    }

    #[test]
    fn other_names_have_their_places() {
        let page = render(&example());
        let split = "\n- `place_entity`: [`pelton_place`](../../core/include/pelton/a.h), \
                     [`place`](../../crates/sim/src/class/fair.rs)\n";
        assert!(page.contains(split), "{page}");
        assert!(page.contains("\n- `menu_governor`: nothing to do\n"), "{page}");
    }

    #[test]
    fn words_of_switches_are_no_functions_and_functions_are_counted() {
        let page = render(&example());
        assert!(!page.contains("`wake_queue`"), "{page}");
        assert!(page.contains("here: 4 functions.") && page.contains("has the name: 2."), "{page}");
    }
}
