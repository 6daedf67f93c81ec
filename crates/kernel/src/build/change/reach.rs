// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions that operations of an image may execute. The compiler is asked, not the text: relocations of each
//! function in the objects say which it calls or takes the address of, and the compiler's own list which are in it.
//! That list lacks functions with one caller: those that have no code of their own are followed by their names, too.
//! Calls through pointers that are data are not followed: a function that is reached through one alone counts as not
//! reached.

use super::source::{Kind, Source, is_word};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};

/// Names, and those that each refers to.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// An object of an image, and what was inlined in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Functions that have code of their own, without the endings that a compiler gives to copies.
    pub functions: BTreeSet<String>,
    /// Those of them that other objects may call.
    pub globals: BTreeSet<String>,
    /// Functions that the code of each refers to: by a call, or as a pointer.
    pub calls: Edges,
    /// Functions that the compiler says it put into each.
    pub inlined: Edges,
    /// Files whose code calls a function that was inlined.
    pub files: BTreeSet<String>,
}

/// Name without what a compiler appended, as `.isra.0`.
fn base(name: &str) -> String {
    name.split('.').next().unwrap_or_default().to_owned()
}

impl Unit {
    /// Reads a relocatable object, each of whose functions has a section, and what gcc's `-fopt-info-inline` says.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(bytes: &[u8], inlined: &str) -> Result<Unit, object::Error> {
        let file = object::File::parse(bytes)?;
        let mut unit = Unit::default();
        // Several names may stand for the same code.
        let mut by_place: BTreeMap<(usize, u64), (u64, Vec<String>)> = BTreeMap::new();
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition()) {
            let (Some(section), Ok(name)) = (symbol.section_index(), symbol.name()) else { continue };
            let (size, names) = by_place.entry((section.0, symbol.address())).or_default();
            *size = symbol.size().max(*size);
            names.push(base(name));
            unit.functions.insert(base(name));
            if symbol.is_global() {
                unit.globals.insert(base(name));
            }
        }
        let at = |section: usize, address: u64| -> &[String] {
            let found = by_place.range(..=(section, address)).next_back();
            let found = found.filter(|((at, start), (size, _))| *at == section && address < start + (*size).max(1));
            found.map_or(&[], |(_, (_, names))| names.as_slice())
        };
        for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
            for (offset, relocation) in section.relocations() {
                let to = match target(&file, &relocation) {
                    Some(Target::Named(name)) => vec![name],
                    Some(Target::Place(section, address)) => at(section, address).to_vec(),
                    None => continue,
                };
                for from in at(section.index().0, offset) {
                    unit.calls.entry(from.clone()).or_default().extend(to.iter().cloned());
                }
            }
        }
        unit.inlines(inlined);
        Ok(unit)
    }

    /// Takes lines `FILE:1:2: optimized:  Inlined callee/12 into caller/34 which now ...`.
    fn inlines(&mut self, text: &str) {
        let name = |word: &str| base(word.split('/').next().unwrap_or_default());
        for line in text.lines() {
            let Some((place, words)) = line.split_once(" optimized: ") else { continue };
            let mut words = words.split_whitespace();
            let (Some("Inlined" | "Inlining"), Some(callee), Some("into"), Some(caller)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            self.inlined.entry(name(caller)).or_default().insert(name(callee));
            self.files.insert(place.split(':').next().unwrap_or_default().to_owned());
        }
    }

    /// Is this function in the object, with code of its own or in another's?
    pub fn has(&self, name: &str) -> bool {
        self.functions.contains(name) || self.inlined.values().any(|names| names.contains(name))
    }

    /// Is code of this file in it? The compiler names files by their whole path.
    fn is_of(&self, file: &str) -> bool {
        self.files
            .iter()
            .any(|path| path.strip_suffix(file).is_some_and(|front| front.is_empty() || front.ends_with('/')))
    }
}

/// Place that a relocation refers to.
enum Target {
    Named(String),
    Place(usize, u64),
}

fn target(file: &object::File<'_>, relocation: &object::Relocation) -> Option<Target> {
    let RelocationTarget::Symbol(index) = relocation.target() else { return None };
    let symbol = file.symbol_by_index(index).ok()?;
    if symbol.kind() != SymbolKind::Section {
        return symbol.name().ok().map(|name| Target::Named(base(name)));
    }
    // A distance counts from the end of its four bytes.
    let relative = i64::from(relocation.kind() != object::RelocationKind::Absolute) * 4;
    let address = relocation.addend().checked_add(relative)?;
    Some(Target::Place(symbol.section_index()?.0, u64::try_from(address).ok()?))
}

/// Sources of an image, by the name of each file.
pub type Sources = BTreeMap<String, Source>;

/// Functions that an operation does not go into: a switch to another task, and its wake-up, are the simulator's. What
/// they call is the whole scheduler.
const OUTSIDE: &[&str] = &[
    "__resched_curr",
    "__sched_setscheduler",
    "__schedule",
    "__set_cpus_allowed_ptr",
    "default_wake_function",
    "dl_server_start",
    "dl_server_stop",
    "preempt_schedule",
    "preempt_schedule_common",
    "resched_curr",
    "resched_curr_lazy",
    "sched_setattr_nocheck",
    "schedule",
    "schedule_idle",
    "schedule_preempt_disabled",
    "schedule_timeout",
    "set_cpus_allowed_ptr",
    "try_to_wake_up",
    "wake_up_process",
    "wake_up_state",
];

/// Parts of the sources that operations reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// File and name of functions and macros.
    parts: BTreeSet<(String, String)>,
    /// Every name in their code.
    words: BTreeSet<String>,
}

impl Reached {
    /// Everything below these functions.
    pub fn from(roots: &[String], sources: &Sources, units: &[Unit]) -> Reached {
        let index = Index::of(sources);
        let mut reached = Reached::default();
        let mut seen: BTreeSet<(usize, String)> = BTreeSet::new();
        let mut open: Vec<(usize, String)> = roots.iter().flat_map(|root| defining(units, root)).collect();
        while let Some((at, name)) = open.pop() {
            if OUTSIDE.contains(&name.as_str()) || !seen.insert((at, name.clone())) {
                continue;
            }
            let unit = &units[at];
            for to in unit.calls.get(&name).into_iter().flatten() {
                let own = unit.functions.contains(to).then(|| vec![(at, to.clone())]);
                open.extend(own.unwrap_or_else(|| defining(units, to)));
            }
            open.extend(unit.inlined.get(&name).into_iter().flatten().map(|to| (at, to.clone())));
            for file in index.files(&name, unit) {
                let called = reached.takes(&file, &name, sources, &index).into_iter();
                let has_code = |name: &str| unit.functions.contains(name) || !defining(units, name).is_empty();
                open.extend(called.filter(|callee| !has_code(callee)).map(|callee| (at, callee)));
            }
        }
        reached
    }

    /// Notes a function or macro with every macro that it uses; functions that the code names.
    fn takes(&mut self, file: &str, name: &str, sources: &Sources, index: &Index<'_>) -> BTreeSet<String> {
        let mut called = BTreeSet::new();
        let mut open = vec![(file.to_owned(), name.to_owned())];
        while let Some(part) = open.pop() {
            if !self.parts.insert(part.clone()) {
                continue;
            }
            let (file, name) = part;
            let Some(source) = sources.get(&file) else { continue };
            for item in source.items.iter().filter(|item| item.name == name && is_called(item.kind)) {
                for (word, is_call) in source.code(item).flat_map(words) {
                    open.extend(index.macros_of(word, &file));
                    if is_call && index.functions.contains_key(word) {
                        called.insert(word.to_owned());
                    }
                    if !self.words.contains(word) {
                        self.words.insert(word.to_owned());
                    }
                }
            }
        }
        called
    }

    /// Does an operation reach this function or macro?
    pub fn has(&self, file: &str, name: &str) -> bool {
        self.parts.contains(&(file.to_owned(), name.to_owned()))
    }

    /// Does the code of what is reached contain this name?
    pub fn names(&self, word: &str) -> bool {
        self.words.contains(word)
    }
}

/// Objects in which a name that all of them know is a function.
fn defining(units: &[Unit], name: &str) -> Vec<(usize, String)> {
    let found = units.iter().enumerate().filter(|(_, unit)| unit.globals.contains(name));
    found.map(|(at, _)| (at, name.to_owned())).collect()
}

fn is_called(kind: Kind) -> bool {
    matches!(kind, Kind::Function | Kind::Macro)
}

/// Files that define a function or macro, by its name.
struct Index<'a> {
    functions: BTreeMap<&'a str, BTreeSet<&'a str>>,
    macros: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Index<'a> {
    fn of(sources: &'a Sources) -> Index<'a> {
        let mut index = Index { functions: BTreeMap::new(), macros: BTreeMap::new() };
        for (file, source) in sources {
            for item in &source.items {
                let map = match item.kind {
                    Kind::Function => &mut index.functions,
                    Kind::Macro => &mut index.macros,
                    _ => continue,
                };
                map.entry(item.name.as_str()).or_default().insert(file.as_str());
            }
        }
        index
    }

    /// Files that define this function of an object: of several, those that the object has code of.
    fn files(&self, name: &str, unit: &Unit) -> Vec<String> {
        let Some(files) = self.functions.get(name) else { return Vec::new() };
        let is_one = files.len() == 1;
        files.iter().filter(|file| is_one || unit.is_of(file)).map(|&file| file.to_owned()).collect()
    }

    /// Macros that a word in the code of a file stands for: the file's own, or else any file's.
    fn macros_of(&self, word: &str, file: &str) -> Vec<(String, String)> {
        let Some(files) = self.macros.get(word) else { return Vec::new() };
        let own = files.get(file).copied();
        let files = own.into_iter().chain(files.iter().copied().filter(|_| own.is_none()));
        files.map(|file| (file.to_owned(), word.to_owned())).collect()
    }
}

/// Words of a line of code, and whether a bracket follows.
fn words(line: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(begin) = rest.find(is_word) {
        let from = &rest[begin..];
        let end = from.find(|c| !is_word(c)).unwrap_or(from.len());
        rest = &from[end..];
        if !from.starts_with(|c: char| c.is_ascii_digit()) {
            found.push((&from[..end], rest.trim_start().starts_with('(')));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::conditions::Config;
    use super::*;

    const FAIR: &str = "\
#define margin(x) (helper(x))
static int helper(int x) { return x; }
static int inlined(int x)
{
#ifdef CONFIG_NUMA
\tnuma(x);
#endif
\treturn margin(x) + capacity;
}
static int numa(int x) { return x; }
static void by_pointer(void) { inner(); }
static void inner(void) { schedule(); }
void schedule(void) { other(1); }
int select(int x) { return inlined(x); }
int other(int x) { return x; }
int account(int x) { return clamp_inc(x); }
static int clamp_inc(int x) { return x; }
int small(int x) { return x; }
";
    /// Lines of gcc about it.
    const INLINED: &str = "\
/w/fair.c:8:2: optimized:   Inlining helper/12 into inlined/13 (always_inline).
/w/fair.c:14:2: optimized:  Inlined inlined.constprop/14 into select/15 which now has time 7.0 and size 5.
/w/fair.c:16:2: optimized:  Inlined clamp_inc/14 into account/15 which now has time 7.0 and size 5.
/w/fair.c:14:2: optimized:  Inlining small/9 into select/15.
/w/fair.c:16:2: missed:   will not early inline: no/1->other/2, growth 8 exceeds
";

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn unit(functions: &[&str], calls: &[(&str, &[&str])], inlined: &str) -> Unit {
        let calls = calls.iter().map(|(from, to)| ((*from).to_owned(), set(to))).collect();
        let mut unit = Unit { functions: set(functions), globals: set(functions), calls, ..Unit::default() };
        unit.inlines(inlined);
        unit
    }

    fn reached(inlined: &str) -> Reached {
        let source = |text| Source::read(text, &Config::default());
        let driver = "void k_select(void) { select(1); }";
        let sources = BTreeMap::from([
            ("fair.c".to_owned(), source(FAIR)),
            ("image.c".to_owned(), source(driver)),
            ("other.c".to_owned(), source("static int helper(int x) { return x; }\nvoid inner(void) { }")),
        ]);
        let calls: &[(&str, &[&str])] = &[
            ("select", &["by_pointer", "data"]),
            ("by_pointer", &["inner"]),
            ("inner", &["schedule"]),
            ("schedule", &["other"]),
            ("account", &["other"]),
        ];
        let mut fair =
            unit(&["select", "by_pointer", "inner", "schedule", "account", "other", "small"], calls, inlined);
        fair.files.insert("/w/fair.c".to_owned());
        let units = [unit(&["k_select"], &[("k_select", &["select"])], ""), fair];
        Reached::from(&["k_select".to_owned()], &sources, &units)
    }

    #[test]
    fn calls_pointers_and_inlined_functions_are_followed_and_nothing_else() {
        // Where the compiler says nothing, functions without code are followed by their names.
        for inlined in [INLINED, ""] {
            let reached = reached(inlined);
            for name in ["select", "inlined", "margin", "helper", "by_pointer", "inner"] {
                assert!(reached.has("fair.c", name), "{name}");
            }
            for name in ["numa", "other", "schedule", "account", "clamp_inc"] {
                assert!(!reached.has("fair.c", name), "{name}");
            }
            assert!(!reached.has("other.c", "helper") && !reached.has("other.c", "inner"));
            assert!(reached.names("capacity"));
            // Code of its own, and in its caller's as well: the compiler alone knows.
            assert_eq!(reached.has("fair.c", "small"), !inlined.is_empty());
        }
    }

    #[test]
    fn the_compilers_list_is_read() {
        let unit = unit(&["select", "account"], &[], INLINED);
        let expected = [("account", "clamp_inc"), ("inlined", "helper"), ("select", "inlined small")];
        let expected = expected.map(|(caller, callees)| {
            (caller.to_owned(), callees.split(' ').map(str::to_owned).collect::<BTreeSet<_>>())
        });
        assert_eq!(unit.inlined, BTreeMap::from(expected));
        assert!(unit.has("helper") && !unit.has("no"));
        assert!(unit.is_of("fair.c") && !unit.is_of("air.c") && !unit.is_of("other.c"));
    }

    #[test]
    fn names_that_another_object_has_for_itself_are_not_called() {
        let mut own = unit(&["k_select"], &[("k_select", &["select"])], "");
        own.globals.clear();
        assert!(defining(&[own], "k_select").is_empty());
    }
}
