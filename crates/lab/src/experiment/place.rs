// SPDX-License-Identifier: GPL-2.0-or-later
//! Places in an experiment file whose meaning is wrong, found by their keys.

use std::ops::Range;

use pelton_scenario::diagnostic::Diagnostic;
use pelton_scenario::{Diagnostics, SourceFile};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{Experiment, WorkloadRef};
use crate::run::LabError;

/// Something wrong, and the keys that lead to it; the place in a list is a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wrong {
    path: Vec<String>,
    why: String,
}

impl Wrong {
    /// An error in the value that these keys lead to.
    pub fn at(path: &[&str], why: impl Into<String>) -> Wrong {
        Wrong { path: path.iter().map(|key| (*key).to_owned()).collect(), why: why.into() }
    }

    /// The error with keys of an outer table before its own, and that table's name before its words.
    pub fn within(self, outer: &[&str], name: &str) -> Wrong {
        let why = format!("{name}: {}", self.why);
        Wrong { why, ..self.inside(outer) }
    }

    /// The error with keys of an outer table before its own.
    pub fn inside(self, outer: &[&str]) -> Wrong {
        let path = outer.iter().map(|key| (*key).to_owned()).chain(self.path).collect();
        Wrong { path, ..self }
    }

    /// The words.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The message, at its place.
    pub fn message(&self, file: &SourceFile) -> Diagnostic {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        match find(file.text(), &path) {
            Some(span) => file.error(span, &self.why),
            None => file.about(&self.why),
        }
    }
}

/// The text of the value that these keys lead to, or of the last that is there.
fn find(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    let (mut span, mut at) = (None, None::<&Spanned<DeValue<'_>>>);
    for key in path {
        let next = match at.map(|value| value.get_ref()) {
            None => root.get_ref().get_key_value(*key),
            Some(DeValue::Table(table)) => table.get_key_value(*key),
            Some(DeValue::Array(list)) => {
                at = key.parse().ok().and_then(|index: usize| list.get(index));
                span = at.map(Spanned::span).or(span);
                continue;
            }
            Some(_) => None,
        };
        let Some((name, value)) = next else { break };
        // A table's own place is its heading; whoever reads looks for the name.
        span = Some(if matches!(value.get_ref(), DeValue::Table(_)) { name.span() } else { value.span() });
        at = Some(value);
    }
    span
}

/// Messages about options that were not given on the command line point to the file that gives them.
pub(crate) fn at_home(experiment: &Experiment, side: &(String, String), found: &Diagnostics) -> LabError {
    let Some(file) = &experiment.file else { return LabError::Input(found.clone()) };
    let (variant, workload) = (&experiment.variant[&side.0], &experiment.workload[&side.1]);
    let mut moved = Diagnostics::new();
    for message in found.iter() {
        let span = match message.source().name() {
            "--workload" => return_to_spec(file, &side.1, workload, message),
            "--profile" if variant.profile.is_some() => find(file.text(), &["variant", &side.0, "profile"]),
            "--profile" => find(file.text(), &["profile"]),
            "--set" => {
                let switch = message.source().text().split('=').next().unwrap_or("").to_owned();
                let own = ["variant", side.0.as_str(), "set", switch.as_str()];
                find(file.text(), if variant.set.contains_key(&switch) { &own } else { &own[2..] })
            }
            "--platform" => find(file.text(), &["platform"]),
            // About the platform's file, or one that a workload names.
            _ => {
                moved.push(message.clone());
                continue;
            }
        };
        moved.push(message.moved_to(file.clone(), span));
    }
    LabError::Input(moved)
}

/// The place in the file of a place in a workload's text.
fn return_to_spec(file: &SourceFile, name: &str, workload: &WorkloadRef, message: &Diagnostic) -> Option<Range<usize>> {
    let whole = find(file.text(), &["workload", name, "spec"])?;
    let inside = message.span()?;
    let background = workload.spec.len() + " + ".len();
    if inside.start >= background {
        let whole = find(file.text(), &["background"])?;
        return Some(whole.start + 1 + inside.start - background..whole.start + 1 + inside.end - background);
    }
    // Text with escapes is not what stands in the file: then all of it is meant.
    let is_plain = file.text().get(whole.start + 1..).is_some_and(|rest| rest.starts_with(workload.spec.as_str()));
    Some(if is_plain { whole.start + 1 + inside.start..whole.start + 1 + inside.end } else { whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_the_value_or_the_nearest_that_there_is() {
        let text = "seeds = 0\n[workload.a]\nspec = \"busy\"\n[[row]]\nid = \"r\"\n[[row]]\nid = \"s\"\nof = \"x\"\n";
        let at = |path: &[&str]| find(text, path).map(|span| &text[span]);
        assert_eq!(at(&["seeds"]), Some("0"));
        assert_eq!(at(&["workload", "a", "spec"]), Some("\"busy\""));
        assert_eq!(at(&["workload", "a", "duration_s"]), Some("a"));
        assert_eq!(at(&["row", "1", "of"]), Some("\"x\""));
        assert_eq!(at(&["nothing"]), None);
    }
}
