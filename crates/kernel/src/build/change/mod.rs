// SPDX-License-Identifier: GPL-2.0-or-later
//! The change that an image was made with, patches and what differs in a working tree, and which parts of it no
//! operation reaches: a simulation under the image shows nothing of those.

pub mod conditions;
pub mod diff;
pub mod reach;
pub mod source;
mod strip;

use conditions::Config;
use diff::Hunk;
use reach::{Reached, Sources, Unit};
use serde::{Deserialize, Serialize};
use source::{Item, Kind, Source};
use std::collections::BTreeSet;

/// Part of a change that no operation reaches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotCovered {
    /// File, below the tree.
    pub file: String,
    /// Kind of the part.
    pub kind: Kind,
    /// Name of the function, macro, type or variable; empty for a file.
    pub name: String,
    /// Reason.
    pub reason: String,
}

/// File that a change touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// File, below the tree.
    pub path: String,
    /// Text before; empty for a new file.
    pub before: String,
    /// Text after; none: it is not among what an image is made from.
    pub after: Option<String>,
    /// Lines that differ.
    pub hunks: Vec<Hunk>,
}

/// Structures of the kernel that live in an image between two calls.
const KEPT_TYPES: &[&str] = &["struct sugov_policy", "struct sugov_cpu"];

/// Code of an image: what a change is held against.
pub struct Code<'a> {
    /// Sources, those that are touched among them.
    pub sources: &'a Sources,
    /// Objects that it is linked of.
    pub units: &'a [Unit],
    /// Parts that operations reach.
    pub reached: &'a Reached,
    /// Configuration.
    pub config: &'a Config,
}

impl Code<'_> {
    /// Parts of the change that no operation reaches, by file and line.
    pub fn not_covered(&self, touched: &[Touched]) -> Vec<NotCovered> {
        touched.iter().flat_map(|file| self.of_file(file)).collect()
    }

    fn of_file(&self, touched: &Touched) -> Vec<NotCovered> {
        let path = &touched.path;
        let whole = |reason: &str| {
            vec![NotCovered { file: path.clone(), kind: Kind::File, name: String::new(), reason: reason.to_owned() }]
        };
        let Some(after) = &touched.after else {
            return whole("no code of this file is compiled into an image");
        };
        if !path.ends_with(".c") && !path.ends_with(".h") {
            return whole("an image is configured and compiled by rules of its own");
        }
        let read = Source::read(after, self.config);
        let source = self.sources.get(path).unwrap_or(&read);
        let before = Source::read(&touched.before, self.config);
        let mut seen = BTreeSet::new();
        let parts = touched.hunks.iter().flat_map(|hunk| parts(hunk, &before, source));
        parts
            .filter(|part| seen.insert((part.kind, part.name.clone())))
            .filter_map(|part| self.of_part(path, &part))
            .collect()
    }

    fn of_part(&self, file: &str, part: &Part) -> Option<NotCovered> {
        let is_reached = self.reached.has(file, &part.name);
        let reason = match part.kind {
            _ if part.is_left_out => "the image's configuration leaves it out",
            Kind::Function | Kind::Macro if is_reached => return None,
            Kind::Function if self.has(&part.name) => "no operation calls it",
            Kind::Function if !self.is_compiled(file) => "no code of this file is compiled into an image",
            Kind::Function | Kind::Macro => "no code that an operation reaches uses it",
            Kind::Type if KEPT_TYPES.contains(&part.name.as_str()) => return None,
            Kind::Type => "fields that are new do not last from one call to the next",
            Kind::Declaration | Kind::Initialiser if self.reached.names(&part.name) => return None,
            Kind::Declaration | Kind::Initialiser => "no code that an operation reaches names it",
            Kind::Condition | Kind::File => "outside functions",
        };
        Some(NotCovered { file: file.to_owned(), kind: part.kind, name: part.name.clone(), reason: reason.to_owned() })
    }

    /// Is some function of this file in the image?
    fn is_compiled(&self, file: &str) -> bool {
        let items = self.sources.get(file).map(|source| source.items.as_slice()).unwrap_or_default();
        let mut functions = items.iter().filter(|item| item.kind == Kind::Function);
        functions.any(|item| self.has(&item.name))
    }

    /// Is a function of this name in the image?
    fn has(&self, name: &str) -> bool {
        self.units.iter().any(|unit| unit.has(name))
    }
}

/// Part of a file that a hunk touches.
struct Part {
    kind: Kind,
    name: String,
    is_left_out: bool,
}

/// Parts that a hunk touches with code; changes of comments and blank lines touch none.
fn parts(hunk: &Hunk, before: &Source, after: &Source) -> Vec<Part> {
    let has_code =
        |source: &Source, line: usize| source.lines.get(line - 1).is_some_and(|line| !line.text.trim().is_empty());
    let mut found = Vec::new();
    for line in hunk.new.clone().filter(|&line| has_code(after, line)) {
        found.extend(after.item_at(line).map(|item| part(item, after, line)));
    }
    // Lines that were taken away belong to the part that they were in, if it is still there.
    for line in hunk.old.clone().filter(|&line| has_code(before, line)) {
        let Some(item) = before.item_at(line) else { continue };
        let is_there = after.items.iter().any(|now| (now.kind, &now.name) == (item.kind, &item.name));
        if is_there {
            found.push(part(item, before, line));
        }
    }
    found
}

fn part(item: &Item, source: &Source, line: usize) -> Part {
    let is_left_out = source.lines.get(line - 1).is_some_and(|line| line.is_left_out);
    Part { kind: item.kind, name: item.name.clone(), is_left_out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const BEFORE: &str = "\
struct rq { int a; };
struct sugov_policy { int a; };
static int used(int x)
{
\t/* comment */
\treturn x;
}
static int unused(int x)
{
\treturn x;
}
#ifdef CONFIG_NUMA
static int numa(int x) { return 0; }
#endif
static const int table[] = { 1 };
void k_used(void) { used(table[0]); }
";

    fn not_covered(after: &str, path: &str, lines: &[usize]) -> Vec<String> {
        let config = Config::default();
        let sources: Sources = BTreeMap::from([("kernel/sched/fair.c".to_owned(), Source::read(after, &config))]);
        let functions = ["unused", "k_used"].map(str::to_owned).into_iter().collect::<BTreeSet<_>>();
        let units = [Unit { globals: functions.clone(), functions, ..Unit::default() }];
        let reached = Reached::from(&["k_used".to_owned()], &sources, &units);
        let code = Code { sources: &sources, units: &units, reached: &reached, config: &config };
        let hunks = lines.iter().map(|&line| Hunk { old: line..line + 1, new: line..line + 1 }).collect();
        let touched =
            Touched { path: path.to_owned(), before: BEFORE.to_owned(), after: Some(after.to_owned()), hunks };
        let found = code.not_covered(&[touched]);
        found.iter().map(|part| format!("{:?} {}: {}", part.kind, part.name, part.reason)).collect()
    }

    #[test]
    fn parts_that_no_operation_reaches_are_named_with_the_reason() {
        let fair = "kernel/sched/fair.c";
        for line in [2, 5, 6, 7, 15, 16] {
            assert_eq!(not_covered(BEFORE, fair, &[line]), [""; 0], "line {line}");
        }
        let expected = [
            (1, "Type struct rq: fields that are new do not last from one call to the next"),
            (10, "Function unused: no operation calls it"),
        ];
        for (line, words) in expected {
            assert_eq!(not_covered(BEFORE, fair, &[line]), [words], "line {line}");
        }
        let left_out = not_covered(BEFORE, fair, &[13]);
        assert!(left_out.iter().all(|part| part.contains("leaves it out")), "{left_out:?}");
        assert_eq!(not_covered(BEFORE, fair, &[9, 10, 11]).len(), 1);
        let other = not_covered(BEFORE, "drivers/cpufreq/other.c", &[6]);
        assert_eq!(other, ["Function used: no code of this file is compiled into an image"]);
        let kconfig = not_covered(BEFORE, "init/Kconfig", &[6]);
        assert_eq!(kconfig, ["File : an image is configured and compiled by rules of its own"]);
    }

    #[test]
    fn functions_that_are_left_out_are_named_all_the_same() {
        assert_eq!(not_covered(BEFORE, "kernel/sched/fair.c", &[13]).len(), 1);
    }
}
