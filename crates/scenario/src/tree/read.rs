// SPDX-License-Identifier: GPL-2.0-or-later
//! Values out of a checked tree. What the check has refused reads as absent, so nothing here can fail.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::check::{integer, real};

/// A value and the place it was written at.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Byte offsets of the value.
    pub span: Range<usize>,
}

/// Reads one table.
#[derive(Clone, Copy)]
pub struct Reader<'d> {
    table: &'d DeTable<'d>,
}

impl<'d> Reader<'d> {
    /// A reader of a table.
    pub fn new(table: &'d DeTable<'d>) -> Self {
        Reader { table }
    }

    fn get(&self, key: &str) -> Option<&'d Spanned<DeValue<'d>>> {
        self.table.get(key)
    }

    /// Place of a key in the text.
    pub fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.table.get_key_value(key).map(|(k, _)| k.span())
    }

    /// Text.
    pub fn text(&self, key: &str) -> Option<At<String>> {
        let value = self.get(key)?;
        Some(At { value: value.get_ref().as_str()?.to_owned(), span: value.span() })
    }

    /// True or false.
    pub fn flag(&self, key: &str) -> Option<At<bool>> {
        let value = self.get(key)?;
        Some(At { value: value.get_ref().as_bool()?, span: value.span() })
    }

    /// A whole number that is not negative and fits.
    pub fn int<T: TryFrom<i64>>(&self, key: &str) -> Option<At<T>> {
        number(self.get(key)?)
    }

    /// A number.
    pub fn real(&self, key: &str) -> Option<At<f64>> {
        let value = self.get(key)?;
        Some(At { value: real(value.get_ref()).filter(|n| n.is_finite())?, span: value.span() })
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Vec<At<String>> {
        let text = |v: &'d Spanned<DeValue<'d>>| Some(At { value: v.get_ref().as_str()?.to_owned(), span: v.span() });
        self.array(key).iter().filter_map(text).collect()
    }

    /// A list of whole numbers.
    pub fn ints<T: TryFrom<i64>>(&self, key: &str) -> Vec<At<T>> {
        self.array(key).iter().filter_map(number).collect()
    }

    /// A list of lists of whole numbers, each with its place.
    pub fn groups<T: TryFrom<i64>>(&self, key: &str) -> Vec<At<Vec<At<T>>>> {
        let group = |v: &'d Spanned<DeValue<'d>>| {
            let list = v.get_ref().as_array()?;
            Some(At { value: list.iter().filter_map(number).collect(), span: v.span() })
        };
        self.array(key).iter().filter_map(group).collect()
    }

    /// A table.
    pub fn table(&self, key: &str) -> Option<Reader<'d>> {
        self.get(key)?.get_ref().as_table().map(Reader::new)
    }

    /// A list of tables, each with the place of its heading.
    pub fn tables(&self, key: &str) -> Vec<At<Reader<'d>>> {
        let table =
            |v: &'d Spanned<DeValue<'d>>| Some(At { value: Reader::new(v.get_ref().as_table()?), span: v.span() });
        self.array(key).iter().filter_map(table).collect()
    }

    /// Keys with text values and their places, in the order of the text.
    pub fn entries(&self) -> Vec<(At<String>, At<String>)> {
        let entry = |(k, v): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
            let value = At { value: v.get_ref().as_str()?.to_owned(), span: v.span() };
            Some((At { value: k.get_ref().clone().into_owned(), span: k.span() }, value))
        };
        let mut entries: Vec<_> = self.table.iter().filter_map(entry).collect();
        entries.sort_by_key(|(key, _)| key.span.start);
        entries
    }

    /// Keys with text values, in the order of the text.
    pub fn notes(&self) -> Vec<(String, String)> {
        self.entries().into_iter().map(|(key, value)| (key.value, value.value)).collect()
    }

    fn array(&self, key: &str) -> &'d [Spanned<DeValue<'d>>] {
        self.get(key).and_then(|v| v.get_ref().as_array()).map_or(&[], |list| list)
    }
}

fn number<T: TryFrom<i64>>(value: &Spanned<DeValue<'_>>) -> Option<At<T>> {
    let number = integer(value.get_ref().as_integer()?)?;
    Some(At { value: T::try_from(number).ok()?, span: value.span() })
}
