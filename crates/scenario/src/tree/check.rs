// SPDX-License-Identifier: GPL-2.0-or-later
//! A tree against its declaration: types, ranges, unknown and missing keys. Reports all at once.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{Document, Key, Kind, Spec};
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile, did_you_mean, hint_for, short};

/// Longest text value, bytes.
const TEXT_BYTES_MAX: usize = 8192;

/// All that is wrong with the form of a document.
pub fn check(document: &Document<'_>, spec: &'static Spec) -> Diagnostics {
    let mut checker = Checker { source: document.source, found: Diagnostics::new(), listed: None };
    checker.table(spec, 0..0, document.root.get_ref());
    checker.found.sort();
    checker.found
}

struct Checker<'s> {
    source: &'s SourceFile,
    found: Diagnostics,
    /// The table whose keys were listed last: the list is not repeated for every unknown key.
    listed: Option<&'static str>,
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
                let what = match key.kind {
                    Kind::Table(inner) | Kind::Tables(inner, _) => inner.title.to_owned(),
                    _ => format!("{} = ...", key.name),
                };
                at.allowed(key.allowed()).help(format!("add `{what}`: {}", key.doc))
            });
        }
    }

    fn unknown(&mut self, spec: &'static Spec, key: &Spanned<std::borrow::Cow<'_, str>>) {
        let name = key.get_ref();
        let names = spec.keys.iter().map(|k| k.name);
        let unit = |n: &&str| n.rsplit_once('_').is_some_and(|(stem, _)| stem == name.as_ref());
        // Looking for a near word takes time, and there may be a hundred thousand unknown keys.
        let near = match self.found.is_full() {
            true => None,
            false => did_you_mean(name, names.clone()).or_else(|| names.clone().find(unit)),
        };
        let help = match near {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if self.listed == Some(spec.title) => None,
            None => Some(hint_for(name, names)),
        };
        if near.is_none() {
            self.listed = Some(spec.title);
        }
        self.report(&key.span(), |source, span| {
            let at = source.error(span, format!("unknown key `{}` in {}", short(name), spec.place()));
            let at = at.label("not a key of this table");
            if let Some(help) = help { at.help(help) } else { at }
        });
    }

    fn note(&mut self, key: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) {
        if !value.get_ref().is_str() {
            self.report(&value.span(), |source, span| {
                let what = format!("`{}` must be text in quotes", short(key.get_ref()));
                source
                    .error(span, what)
                    .label(format!("this is {}", type_of(value.get_ref())))
                    .help("write the value in quotes")
            });
        }
    }

    fn value(&mut self, key: &'static Key, value: &Spanned<DeValue<'_>>) {
        let span = value.span();
        match (key.kind, value.get_ref()) {
            (Kind::Any, _) | (Kind::Flag, DeValue::Boolean(_)) => {}
            (Kind::Text, DeValue::String(text)) => self.text(key, &span, text),
            (Kind::Choice(words), DeValue::String(word)) => self.choice(key, words, &span, word),
            (Kind::Int(min, max), DeValue::Integer(n)) => {
                self.int(key, (min, max), &span, n);
            }
            (Kind::Real(min, max), DeValue::Integer(_) | DeValue::Float(_)) => {
                self.real(key, (min, max), &span, value.get_ref())
            }
            (Kind::Texts(len), DeValue::Array(list)) => self.texts(key, len, &span, list),
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
                Kind::Text | Kind::Choice(_) if !found.is_array() && !found.is_table() => at.help("write it in quotes"),
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

    /// True when the number is within range.
    fn int(&mut self, key: &'static Key, (min, max): (i64, i64), span: &Range<usize>, number: &DeInteger<'_>) -> bool {
        let value = integer(number);
        let fits = value.is_some_and(|n| (min..=max).contains(&n));
        if !fits {
            self.out_of_range(key, span, value.and_then(|n| other_unit(n, min, max)));
        }
        fits
    }

    fn real(&mut self, key: &'static Key, (min, max): (f64, f64), span: &Range<usize>, number: &DeValue<'_>) {
        // A NaN is in no range.
        if !real(number).is_some_and(|n| n >= min && n <= max) {
            self.out_of_range(key, span, None);
        }
    }

    fn out_of_range(&mut self, key: &'static Key, span: &Range<usize>, instead: Option<i64>) {
        self.report(span, |source, span| {
            let at = source.error(span, format!("`{}` is out of range", key.name));
            let at = at.label("this value").allowed(key.allowed());
            match instead {
                Some(n) if !key.unit.is_empty() => at.help(format!("the unit is {}: did you mean {n}?", key.unit)),
                _ => at.help(key.doc),
            }
        });
    }

    fn texts(&mut self, key: &'static Key, len: usize, span: &Range<usize>, list: &[Spanned<DeValue<'_>>]) {
        self.length(key, len, span, list.len());
        for value in list.iter().take(len) {
            match value.get_ref() {
                DeValue::String(text) => self.text(key, &value.span(), text),
                _ => return self.wrong_item(key, "text in quotes", value),
            }
        }
    }

    fn ints(
        &mut self,
        key: &'static Key,
        range: (i64, i64),
        len: usize,
        span: &Range<usize>,
        list: &[Spanned<DeValue<'_>>],
    ) {
        if !self.length(key, len, span, list.len()) {
            return;
        }
        // One message per list: its other entries are often wrong in the same way.
        for value in list {
            match value.get_ref() {
                DeValue::Integer(n) if self.int(key, range, &value.span(), n) => {}
                DeValue::Integer(_) => return,
                _ => return self.wrong_item(key, "a whole number", value),
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

    /// True when a list has a usable length.
    fn length(&mut self, key: &'static Key, max: usize, span: &Range<usize>, found: usize) -> bool {
        let fits = (1..=max).contains(&found);
        if !fits {
            self.report(span, |source, span| {
                let what = if found == 0 { "is empty".into() } else { format!("has {found} entries") };
                source.error(span, format!("`{}` {what}", key.name)).allowed(key.allowed())
            });
        }
        fits
    }
}

/// The value in a unit a thousand times smaller or larger, if that is what would fit.
fn other_unit(value: i64, min: i64, max: i64) -> Option<i64> {
    let smaller = value.checked_mul(1000).filter(|_| value > 0);
    [smaller, Some(value / 1000)].into_iter().flatten().find(|n| *n > 0 && (min..=max).contains(n))
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
