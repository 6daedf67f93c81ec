// SPDX-License-Identifier: GPL-2.0-or-later
//! A text that shows files of a kernel, as in mails and reports: `PATH:VALUE` of `grep -r .`, or values
//! below `==> PATH <==` of `head` and `tail`.

use super::Kind;
use crate::diagnostic::{Diagnostics, SourceFile};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// Largest text, bytes: all of a large machine's `devices/system/cpu` has less.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// A value and where it is.
struct Value {
    text: String,
    span: Range<usize>,
}

/// Files by their path, which begins with `cpu`, `node` or `model`.
pub struct Shown {
    source: SourceFile,
    files: BTreeMap<String, Value>,
    /// Lines that show no file: how many, and the first.
    others: (usize, usize),
}

impl Shown {
    /// Reads a text.
    pub fn read(path: &Path) -> Result<Self, Diagnostics> {
        let source = SourceFile::read_up_to(path, TEXT_BYTES_MAX)?;
        let mut shown = Shown { source: source.clone(), files: BTreeMap::new(), others: (0, 0) };
        let mut start = 0;
        let mut under: Option<String> = None;
        for (number, raw) in source.text().split_inclusive('\n').enumerate() {
            // A mail quotes lines.
            let line = raw.trim_end().trim_start_matches(['>', ' ', '\t']);
            let at = start + (raw.trim_end().len() - line.len());
            start += raw.len();
            if let Some(path) = line.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <==")) {
                under = place_of(path);
            } else if let Some((path, value)) = split(line) {
                under = None;
                shown.add(path, value, at + line.len() - value.len());
            } else if let Some(path) = under.clone().filter(|_| !line.is_empty()) {
                shown.add(path, line, at);
            } else if !line.is_empty() {
                shown.others = (shown.others.0 + 1, if shown.others.0 == 0 { number + 1 } else { shown.others.1 });
            }
        }
        Ok(shown)
    }

    fn add(&mut self, path: String, value: &str, at: usize) {
        let span = at..at + value.len();
        let file = self.files.entry(path).or_insert_with(|| Value { text: String::new(), span });
        if !file.text.is_empty() {
            file.text.push('\n');
        }
        file.text.push_str(value);
    }

    /// Note on lines that show no file.
    pub fn left_out(&self) -> Option<String> {
        let (count, first) = self.others;
        let name = self.source.name();
        match count {
            0 => None,
            1 => Some(format!("line {first} of {name} shows no file of these: left out")),
            _ => Some(format!("{count} lines of {name} show no file of these, line {first} first: left out")),
        }
    }

    /// The text.
    pub fn source(&self) -> &SourceFile {
        &self.source
    }

    /// A file's text.
    pub fn value(&self, path: &str) -> Option<String> {
        self.files.get(path).map(|file| file.text.clone())
    }

    /// True if there is anything below a path.
    pub fn has_below(&self, path: &str) -> bool {
        self.below(path).next().is_some()
    }

    fn below<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let folder = format!("{path}/");
        let files = self.files.range(folder.clone()..).map(|(path, _)| path.as_str());
        files.map_while(move |path| path.strip_prefix(folder.as_str()))
    }

    /// Names below a path.
    pub fn names(&self, path: &str) -> Vec<String> {
        let first = |rest: &str| rest.split('/').next().unwrap_or(rest).to_owned();
        let names: BTreeSet<String> = self.below(path).map(first).collect();
        names.into_iter().collect()
    }

    /// Place of a file's value in the text.
    pub fn span(&self, path: &str) -> Option<Range<usize>> {
        let below = format!("{path}/");
        let next = || self.files.range(below.clone()..).next().filter(|(other, _)| other.starts_with(&below));
        self.files.get(path).or_else(|| next().map(|(_, file)| file)).map(|file| file.span.clone())
    }

    /// File, line and column of a value.
    pub fn at(&self, path: &str) -> String {
        let Some(span) = self.span(path) else { return self.source.name().to_owned() };
        let text = self.source.text();
        let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let column = text[line..span.start].chars().count() + 1;
        format!("{}:{}:{column}", self.source.name(), self.source.line_of(span.start))
    }
}

/// Kind of the files that a text shows; `None` when it shows no file that is known.
pub fn kind(path: &Path) -> Option<Kind> {
    // What is no text is of another kind, if of any.
    let shown = Shown::read(path).ok()?;
    let kinds = [("cpu", Kind::Sysfs), ("node", Kind::Sysfs), ("model", Kind::EnergyModel)];
    kinds.into_iter().find(|(below, _)| shown.has_below(below)).map(|(_, kind)| kind)
}

/// A line `PATH:VALUE`. A path may have a colon in `ps:KHZ`, and a value any.
fn split(line: &str) -> Option<(String, &str)> {
    let colons = line.match_indices(':').map(|(at, _)| at);
    let ends = |&at: &usize| {
        let in_name = line[..at].ends_with("/ps") || &line[..at] == "ps";
        let rest = line[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
        !(in_name && rest.starts_with('/'))
    };
    let at = colons.into_iter().find(ends)?;
    Some((place_of(&line[..at])?, line[at + 1..].trim()))
}

/// The path of a file by its kind, wherever its folder was when it was shown.
fn place_of(path: &str) -> Option<String> {
    let path = path.trim().trim_start_matches("./");
    let kinds = [("devices/system/cpu/", "cpu"), ("devices/system/node/", "node"), ("energy_model/", "model")];
    for (folder, kind) in kinds {
        if let Some((_, rest)) = path.rsplit_once(folder) {
            return Some(format!("{kind}/{rest}"));
        }
    }
    if path.contains([' ', '"', '=']) {
        return None;
    }
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let numbered = |before: &str| first.strip_prefix(before).is_some_and(|n| n.parse::<u32>().is_ok());
    let of_model = rest.starts_with("ps:") || ["cpus", "flags", "units"].contains(&rest);
    if (numbered("cpu") && of_model) || (numbered("pd") && !rest.is_empty()) {
        return Some(format!("model/{path}"));
    }
    let of_cpu = ["present", "online", "possible", "offline", "modalias"].contains(&path) || first == "cpufreq";
    match () {
        () if rest.is_empty() && !of_cpu => None,
        () if numbered("cpu") || of_cpu => Some(format!("cpu/{path}")),
        () if numbered("policy") => Some(format!("cpu/cpufreq/{path}")),
        () if numbered("node") => Some(format!("node/{path}")),
        () => None,
    }
}
