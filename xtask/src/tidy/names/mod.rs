// SPDX-License-Identifier: GPL-2.0-or-later
//! A function that does what the kernel's does has its name; where it has not, a list says what does the work, and why.

mod cited;
mod headers;
mod page;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Finding;
use crate::repo::File;
use cited::{Place, cited};
use headers::Core;

const RULE: &str = "names";
/// The list.
const LIST: &str = "docs/rules/names.toml";
/// The generated page.
pub const PAGE: &str = "docs/reference/kernel-functions.md";

/// Functions whose work is done under another name, or elsewhere.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kernel: Vec<String>,
    /// Functions, tables or constants of the core, without the prefix.
    #[serde(default)]
    core: Vec<String>,
    /// `crates/sim/src/FILE.rs FUNCTION`.
    #[serde(default)]
    host: Vec<String>,
    why: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    name: Vec<Entry>,
}

/// Facts that the list is checked against.
struct Facts {
    cited: BTreeMap<String, Place>,
    /// Switches of the policy and their values, which look like functions where they are cited.
    words: BTreeSet<&'static str>,
    core: Core,
    entries: Vec<Entry>,
}

/// Checks the names of the tree.
///
/// # Errors
/// When the list is missing or is none.
pub fn check(files: &[File]) -> Result<Vec<Finding>, String> {
    Ok(findings(&facts(files)?, files))
}

/// The page of functions.
///
/// # Errors
/// When the list is missing or is none.
pub fn page(files: &[File]) -> Result<String, String> {
    Ok(page::render(&facts(files)?))
}

fn facts(files: &[File]) -> Result<Facts, String> {
    let list = files.iter().find(|file| file.path == LIST).ok_or_else(|| format!("{LIST} is missing"))?;
    let list: List = toml::from_str(&list.text).map_err(|error| format!("{LIST}: {error}"))?;
    let words = pelton_core::switches().into_iter().flat_map(|switch| [vec![switch.name], switch.values].concat());
    Ok(Facts { cited: cited(files), words: words.collect(), core: Core::of(files), entries: list.name })
}

impl Facts {
    fn entry(&self, kernel: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.kernel.iter().any(|name| name == kernel))
    }

    /// The core's function of this name. Leading underscores count only where the name without them is cited as well.
    fn own<'a>(&self, kernel: &'a str) -> Option<&'a str> {
        let bare = kernel.trim_start_matches('_');
        let name = if self.cited.contains_key(bare) { kernel } else { bare };
        self.core.function(name).map(|_| name)
    }
}

fn findings(facts: &Facts, files: &[File]) -> Vec<Finding> {
    let list = files.iter().find(|file| file.path == LIST).map_or("", |file| file.text.as_str());
    let entries = facts.entries.iter().flat_map(|entry| {
        let wrong = superfluous(facts, entry).into_iter().chain(absent(facts, files, entry)).chain(empty(entry));
        let line = line_of(list, entry);
        wrong.map(move |text| finding(LIST, line, text))
    });
    unknown(facts).into_iter().chain(entries).chain(twice(facts)).collect()
}

fn finding(path: &str, line: usize, text: String) -> Finding {
    Finding { rule: RULE, path: path.to_owned(), line, text }
}

/// Line of an entry.
fn line_of(list: &str, entry: &Entry) -> usize {
    let named = entry.kernel.first().map(|name| format!("\"{name}\""));
    let at = named.and_then(|name| list.lines().position(|line| line.contains(&name)));
    at.map_or(0, |at| at + 1)
}

/// Functions that are cited and found nowhere.
fn unknown(facts: &Facts) -> Vec<Finding> {
    let found = |name: &str| facts.words.contains(name) || facts.own(name).is_some() || facts.entry(name).is_some();
    let unknown = facts.cited.iter().filter(|(name, _)| !found(name));
    let text = |name: &str| {
        format!("the core has no `pelton_{name}`; name the function that does its work so, or add an entry to {LIST}")
    };
    unknown.map(|(name, (path, line))| finding(path, *line, text(name))).collect()
}

/// Names that need no entry.
fn superfluous(facts: &Facts, entry: &Entry) -> Vec<String> {
    let mut found = Vec::new();
    for kernel in &entry.kernel {
        if !facts.cited.contains_key(kernel) {
            found.push(format!("`{kernel}` is cited nowhere; take it out"));
        }
        let Some(own) = facts.own(kernel) else { continue };
        if entry.host.is_empty() && entry.core.iter().all(|name| name == own) {
            found.push(format!("`{kernel}` is found by itself: the core has `pelton_{own}`; take it out"));
        }
    }
    found
}

/// Places that do not exist.
fn absent(facts: &Facts, files: &[File], entry: &Entry) -> Vec<String> {
    let core = entry.core.iter().filter(|name| facts.core.header(name).is_none());
    let core = core.map(|name| format!("no header of the core has `{name}` after its prefix"));
    let host = entry.host.iter().filter(|place| !is_host(files, place));
    core.chain(host.map(|place| format!("`{place}` is no file and function of the simulator"))).collect()
}

/// True for `FILE FUNCTION` when the file has the function.
fn is_host(files: &[File], place: &str) -> bool {
    let Some((path, function)) = place.split_once(' ') else { return false };
    let heads = [format!("fn {function}("), format!("fn {function}<")];
    let file = files.iter().find(|file| file.path == path && file.is_under(&["crates/sim/src/"]));
    file.is_some_and(|file| heads.iter().any(|head| file.text.contains(head)))
}

/// Entries that say nothing.
fn empty(entry: &Entry) -> Option<String> {
    let nothing = entry.kernel.is_empty() || entry.why.trim().is_empty();
    nothing.then(|| "kernel and why must not be empty".to_owned())
}

/// Names with two entries.
fn twice(facts: &Facts) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let names = facts.entries.iter().flat_map(|entry| &entry.kernel);
    names.filter(|name| !seen.insert(*name)).map(|name| finding(LIST, 0, format!("`{name}` has two entries"))).collect()
}

#[cfg(test)]
const EXAMPLE: &str = "[[name]]\nkernel = ['place_entity']\ncore = ['place']\n\
                       host = ['crates/sim/src/class/fair.rs place']\nwhy = 'Split.'\n\
                       [[name]]\nkernel = [\"menu_governor\"]\nwhy = 'Read.'\n";

/// A small tree that keeps the rule, with another list.
#[cfg(test)]
fn tree(list: &str) -> Vec<File> {
    let header = "/* Source: task_hot, __fits, place_entity, menu_governor, wake_queue. */\n\
                  u32 pelton_task_hot(void)\n{\n}\nu32 pelton_fits(void)\n{\n}\nu32 pelton_place(void)\n{\n}\n";
    vec![
        File::example("core/include/pelton/a.h", header),
        File::example("crates/sim/src/class/fair.rs", "fn place(&mut self) {}\n"),
        File::example(LIST, list),
    ]
}

#[cfg(test)]
fn example() -> Facts {
    facts(&tree(EXAMPLE)).expect("an example")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &str) -> Vec<String> {
        check(&tree(list)).expect("a list").into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn names_of_the_kernel_and_entries_with_places_pass() {
        assert_eq!(texts(EXAMPLE), [""; 0]);
    }

    #[test]
    fn a_cited_function_without_namesake_and_entry_is_found_where_it_is_cited() {
        let found = check(&tree("")).expect("a list");
        assert_eq!((found.len(), found[0].path.as_str(), found[0].line), (2, "core/include/pelton/a.h", 1));
        assert!(found[0].text.starts_with("the core has no `pelton_menu_governor`"), "{}", found[0].text);
    }

    #[test]
    fn a_place_that_does_not_exist_any_more_is_found() {
        let found = check(&tree(&EXAMPLE.replace("'place'", "'gone'").replace("fair.rs place", "fair.rs gone")));
        let found = found.expect("a list");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].text.contains("`gone`") && found[1].text.contains("`crates/sim/src/class/fair.rs gone`"));
        assert_eq!(check(&tree(&EXAMPLE.replace("Read.", " "))).expect("a list")[0].line, 7);
    }

    #[test]
    fn an_entry_that_nothing_needs_is_found() {
        let own = "[[name]]\nkernel = ['task_hot']\ncore = ['task_hot']\nwhy = 'The same.'\n";
        assert!(texts(&format!("{EXAMPLE}{own}"))[0].starts_with("`task_hot` is found by itself"));
        let nowhere = "[[name]]\nkernel = ['load_avg']\nwhy = 'Nothing to do.'\n";
        assert!(texts(&format!("{EXAMPLE}{nowhere}"))[0].starts_with("`load_avg` is cited nowhere"));
        assert_eq!(texts(&format!("{EXAMPLE}{EXAMPLE}")).len(), 2);
    }

    #[test]
    fn a_namesake_may_have_an_entry_that_says_where_more_of_it_is() {
        let more = "[[name]]\nkernel = ['task_hot']\ncore = ['task_hot', 'place']\nwhy = 'Two forms.'\n";
        assert_eq!(texts(&format!("{EXAMPLE}{more}")), [""; 0]);
    }

    #[test]
    fn underscores_count_where_the_name_without_them_is_cited_as_well() {
        assert_eq!(example().own("__fits"), Some("fits"));
        let mut both = example();
        both.cited.insert("fits".to_owned(), ("a".to_owned(), 1));
        assert_eq!((both.own("__fits"), both.own("fits")), (None, Some("fits")));
    }
}
