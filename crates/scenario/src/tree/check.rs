// SPDX-License-Identifier: GPL-2.0-only
//! A tree against its declaration: types, ranges, unknown and missing keys. Reports all at once.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{Document, Key, Kind, Spec};
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile, did_you_mean, hint_for};

/// Longest text value, bytes.
const TEXT_BYTES_MAX: usize = 8192;

/// All that is wrong with the form of a document.
pub fn check(document: &Document<'_>, spec: &'static Spec) -> Diagnostics {
    let mut checker = Checker { source: document.source, found: Diagnostics::new() };
    checker.table(spec, 0..0, document.root.get_ref());
    checker.found.sort();
    checker.found
}

struct Checker<'s> {
    source: &'s SourceFile,
    found: Diagnostics,
}

impl Checker<'_> {
    fn report(&mut self, span: &Range<usize>, build: impl FnOnce(&SourceFile, Range<usize>) -> Diagnostic) {
        let source = self.source;
        self.found.push_with(|| build(source, span.clone()));
    }

    fn table(&mut self, spec: &'static Spec, header: Range<usize>, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            match spec.key(key.get_ref()) {
                Some(declared) => self.value(declared, value),
                None if spec.open => self.note(key, value),
                None => self.unknown(spec, key),
            }
        }
        for key in spec.keys.iter().filter(|k| k.required && !table.contains_key(k.name)) {
            self.report(&header, |source, span| {
                let at = source.error(span, format!("missing key `{}` in {}", key.name, spec.place()));
                at.allowed(key.allowed()).help(format!("add `{} = ...`: {}", key.name, key.doc))
            });
        }
    }

    fn unknown(&mut self, spec: &'static Spec, key: &Spanned<std::borrow::Cow<'_, str>>) {
        let names = || spec.keys.iter().map(|k| k.name);
        self.report(&key.span(), |source, span| {
            let name = key.get_ref();
            let unit = did_you_mean(name, names())
                .or_else(|| names().find(|n| n.rsplit_once('_').is_some_and(|(stem, _)| stem == name.as_ref())));
            let help =
                unit.map_or_else(|| hint_for(name, names().collect::<Vec<_>>()), |n| format!("did you mean `{n}`?"));
            source
                .error(span, format!("unknown key `{}` in {}", short(name), spec.place()))
                .label("not a key of this table")
                .help(help)
        });
    }

    fn note(&mut self, key: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) {
        if !value.get_ref().is_str() {
            self.report(&value.span(), |source, span| {
                let what = format!("`{}` must be text in quotes", short(key.get_ref()));
                source.error(span, what).label(format!("this is {}", type_of(value.get_ref())))
            });
        }
    }

    fn value(&mut self, key: &'static Key, value: &Spanned<DeValue<'_>>) {
        let span = value.span();
        match (key.kind, value.get_ref()) {
            (Kind::Any, _) | (Kind::Flag, DeValue::Boolean(_)) => {}
            (Kind::Text, DeValue::String(text)) => self.text(key, &span, text),
            (Kind::Choice(words), DeValue::String(word)) => self.choice(key, words, &span, word),
            (Kind::Int(min, max), DeValue::Integer(n)) => self.int(key, (min, max), &span, n),
            (Kind::Real(min, max), DeValue::Integer(_) | DeValue::Float(_)) => {
                self.real(key, (min, max), &span, value.get_ref())
            }
            (Kind::Ints(min, max, len), DeValue::Array(list)) => self.ints(key, (min, max), len, &span, list),
            (Kind::Groups(min, max, len), DeValue::Array(list)) => self.groups(key, (min, max), len, &span, list),
            (Kind::Table(spec), DeValue::Table(table)) => self.table(spec, span, table),
            (Kind::Tables(spec, len), DeValue::Array(list)) => self.tables(key, spec, len, &span, list),
            _ => self.wrong_type(key, value),
        }
    }

    fn wrong_type(&mut self, key: &'static Key, value: &Spanned<DeValue<'_>>) {
        self.report(&value.span(), |source, span| {
            let found = value.get_ref();
            let at = source.error(span, format!("`{}` must be {}", key.name, key.type_name()));
            let at = at.label(format!("this is {}", type_of(found))).allowed(key.allowed());
            let number = found.as_str().is_some_and(|s| s.trim().parse::<f64>().is_ok());
            match key.kind {
                Kind::Int(..) | Kind::Real(..) if number => at.help("write the number without quotes"),
                Kind::Int(..) | Kind::Real(..) if found.is_str() => {
                    at.help("the unit is part of the key; write only the number")
                }
                Kind::Tables(spec, _) => at.help(format!("write it as {}", spec.title)),
                _ => at,
            }
        });
    }

    fn text(&mut self, key: &'static Key, span: &Range<usize>, text: &str) {
        if text.len() > TEXT_BYTES_MAX || (key.required && text.trim().is_empty()) {
            self.report(span, |source, span| {
                let what = if text.len() > TEXT_BYTES_MAX { "too long" } else { "empty" };
                source
                    .error(span, format!("`{}` is {what}", key.name))
                    .allowed(format!("1..={TEXT_BYTES_MAX} bytes of text"))
            });
        }
    }

    fn choice(&mut self, key: &'static Key, words: &'static [&'static str], span: &Range<usize>, word: &str) {
        if !words.contains(&word) {
            self.report(span, |source, span| {
                let at = source.error(span, format!("`{}` cannot be \"{}\"", key.name, short(word)));
                at.label("not known").allowed(key.allowed()).help(hint_for(word, words.iter().copied()))
            });
        }
    }

    fn int(&mut self, key: &'static Key, (min, max): (i64, i64), span: &Range<usize>, number: &DeInteger<'_>) {
        if !integer(number).is_some_and(|n| (min..=max).contains(&n)) {
            self.out_of_range(key, span);
        }
    }

    fn real(&mut self, key: &'static Key, (min, max): (f64, f64), span: &Range<usize>, number: &DeValue<'_>) {
        // A NaN is in no range.
        if !real(number).is_some_and(|n| n >= min && n <= max) {
            self.out_of_range(key, span);
        }
    }

    fn out_of_range(&mut self, key: &'static Key, span: &Range<usize>) {
        self.report(span, |source, span| {
            let at = source.error(span, format!("`{}` is out of range", key.name));
            at.label("this value").allowed(key.allowed()).help(key.doc)
        });
    }

    fn ints(
        &mut self,
        key: &'static Key,
        range: (i64, i64),
        len: usize,
        span: &Range<usize>,
        list: &[Spanned<DeValue<'_>>],
    ) {
        self.length(key, len, span, list.len());
        for value in list.iter().take(len) {
            match value.get_ref() {
                DeValue::Integer(n) => self.int(key, range, &value.span(), n),
                _ => self.wrong_item(key, "a whole number", value),
            }
        }
    }

    fn groups(
        &mut self,
        key: &'static Key,
        range: (i64, i64),
        len: usize,
        span: &Range<usize>,
        list: &[Spanned<DeValue<'_>>],
    ) {
        self.length(key, len, span, list.len());
        for value in list.iter().take(len) {
            match value.get_ref() {
                DeValue::Array(inner) => self.ints(key, range, len, &value.span(), inner),
                _ => self.wrong_item(key, "a list of numbers", value),
            }
        }
    }

    fn tables(
        &mut self,
        key: &'static Key,
        spec: &'static Spec,
        len: usize,
        span: &Range<usize>,
        list: &[Spanned<DeValue<'_>>],
    ) {
        self.length(key, len, span, list.len());
        for value in list.iter().take(len) {
            match value.get_ref() {
                DeValue::Table(table) => self.table(spec, value.span(), table),
                _ => self.wrong_item(key, "a table", value),
            }
        }
    }

    fn wrong_item(&mut self, key: &'static Key, wanted: &str, value: &Spanned<DeValue<'_>>) {
        self.report(&value.span(), |source, span| {
            let at = source.error(span, format!("each entry of `{}` must be {wanted}", key.name));
            at.label(format!("this is {}", type_of(value.get_ref()))).allowed(key.allowed())
        });
    }

    fn length(&mut self, key: &'static Key, max: usize, span: &Range<usize>, found: usize) {
        if found == 0 || found > max {
            self.report(span, |source, span| {
                let what = if found == 0 { "is empty".into() } else { format!("has {found} entries") };
                source.error(span, format!("`{}` {what}", key.name)).allowed(key.allowed())
            });
        }
    }
}

/// The value of an integer in any radix; `None` beyond 64 bits.
pub(super) fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// The value of a number; `None` when it is not one.
pub(super) fn real(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(n) => integer(n).map(|n| n as f64),
        DeValue::Float(f) => f.as_str().parse().ok(),
        _ => None,
    }
}

fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fractional number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A word from the input, short enough for a message.
fn short(word: &str) -> String {
    if word.chars().nth(40).is_none() { word.to_owned() } else { word.chars().take(40).chain(['…']).collect() }
}
