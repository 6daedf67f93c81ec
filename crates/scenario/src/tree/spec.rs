// SPDX-License-Identifier: GPL-2.0-or-later
//! Declarations of keys: type, range, unit and meaning.

/// Type and range of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Free text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A whole number, limits included.
    Int(i64, i64),
    /// A number, limits included; never infinite or NaN.
    Real(f64, f64),
    /// One of some words.
    Choice(&'static [&'static str]),
    /// A list of texts, at most so many.
    Texts(usize),
    /// A list of whole numbers within limits; the last figure is the greatest length.
    Ints(i64, i64, usize),
    /// A list of such lists.
    Groups(i64, i64, usize),
    /// A table.
    Table(&'static Spec),
    /// A list of at most so many tables.
    Tables(&'static Spec, usize),
    /// Anything: kept for people, not read.
    Any,
}

/// One key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name, with its unit last.
    pub name: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// Unit; empty when there is none.
    pub unit: &'static str,
    /// The table is incomplete without it.
    pub required: bool,
    /// Meaning, and the rule that holds when the key is absent.
    pub doc: &'static str,
}

/// All keys of a table.
#[derive(Debug)]
pub struct Spec {
    /// Form of the table's head: `[cpufreq]`, `[[perf_domain]]`; empty for the top level.
    pub title: &'static str,
    /// Purpose of the table.
    pub doc: &'static str,
    /// Its keys, in the order of the reference page.
    pub keys: &'static [Key],
    /// Other keys are notes: any name, text.
    pub open: bool,
}

impl Key {
    /// A key that may be absent.
    pub const fn new(name: &'static str, kind: Kind, unit: &'static str, doc: &'static str) -> Self {
        Key { name, kind, unit, required: false, doc }
    }

    /// Makes the key required.
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Accepted values, in words, with unit.
    pub fn allowed(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        match self.kind {
            Kind::Text => "text in quotes".into(),
            Kind::Flag => "true or false".into(),
            Kind::Int(min, max) if min == max => format!("{min}{unit}"),
            Kind::Int(min, max) => format!("{min}..={max}{unit}"),
            Kind::Real(min, max) => format!("{min}..={max}{unit}"),
            Kind::Choice(words) => words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", "),
            Kind::Texts(len) => format!("a list of 1 to {len} texts in quotes"),
            Kind::Ints(min, max, len) => format!("a list of 1 to {len} numbers, each {min}..={max}{unit}"),
            Kind::Groups(min, max, len) => format!("1 to {len} lists of numbers, each {min}..={max}{unit}"),
            Kind::Table(spec) => format!("the table {}", spec.title),
            Kind::Tables(spec, len) => format!("1 to {len} tables {}", spec.title),
            Kind::Any => "anything".into(),
        }
    }

    /// The type in a word or two, with its article.
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Text | Kind::Choice(_) => "text in quotes",
            Kind::Flag => "true or false",
            Kind::Int(..) => "a whole number",
            Kind::Real(..) => "a number",
            Kind::Texts(_) => "a list of texts",
            Kind::Ints(..) => "a list of numbers",
            Kind::Groups(..) => "a list of lists of numbers",
            Kind::Table(_) => "a table",
            Kind::Tables(..) => "a list of tables",
            Kind::Any => "anything",
        }
    }
}

impl Spec {
    /// The declaration of a key.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|k| k.name == name)
    }

    /// Name of the table in a sentence.
    pub fn place(&self) -> &'static str {
        if self.title.is_empty() { "the top level" } else { self.title }
    }
}
