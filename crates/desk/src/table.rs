// SPDX-License-Identifier: GPL-2.0-or-later
//! Columns of equal length, each with a unit.

use std::collections::BTreeMap;

/// Values of a column, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// 32 bits, unsigned.
    U32(Vec<u32>),
    /// 64 bits, unsigned.
    U64(Vec<u64>),
    /// 64 bits, signed.
    I64(Vec<i64>),
    /// Measured or computed numbers.
    F64(Vec<f64>),
    /// True or false.
    Bool(Vec<bool>),
    /// Texts of which few are different: the place of each in `words`.
    Words {
        /// Places.
        at: Vec<u32>,
        /// Different texts.
        words: Vec<String>,
    },
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::U32(values) | Values::Words { at: values, .. } => values.len(),
            Values::U64(values) => values.len(),
            Values::I64(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::Bool(values) => values.len(),
        }
    }

    /// True without a value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, unit last.
    pub name: String,
    /// Unit; empty for names, ids, codes and counts.
    pub unit: &'static str,
    /// Meaning, one sentence.
    pub doc: String,
    /// Values; where one is not known, anything.
    pub values: Values,
    /// Rows whose value is known; `None`: all.
    pub known: Option<Vec<bool>>,
}

impl Column {
    /// A column in which every value is known.
    pub fn new(name: &str, unit: &'static str, doc: &str, values: Values) -> Column {
        Column { name: name.to_owned(), unit, doc: doc.to_owned(), values, known: None }
    }

    /// Texts.
    pub fn words(name: &str, doc: &str, texts: Words) -> Column {
        Column::new(name, "", doc, texts.values())
    }

    /// Numbers of which some are not known.
    pub fn optional(name: &str, unit: &'static str, doc: &str, values: &[Option<f64>]) -> Column {
        let numbers = values.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        let known = values.iter().any(Option::is_none).then(|| values.iter().map(Option::is_some).collect());
        Column { known, ..Column::new(name, unit, doc, Values::F64(numbers)) }
    }
}

/// Collects texts of which few are different.
#[derive(Clone, Debug, Default)]
pub struct Words {
    at: Vec<u32>,
    words: Vec<String>,
    places: BTreeMap<String, u32>,
}

impl Words {
    /// Adds the text of the next row.
    pub fn push(&mut self, text: &str) {
        let place = self.places.get(text).copied().unwrap_or_else(|| {
            let place = self.words.len() as u32;
            self.words.push(text.to_owned());
            self.places.insert(text.to_owned(), place);
            place
        });
        self.at.push(place);
    }

    /// The values.
    pub fn values(self) -> Values {
        Values::Words { at: self.at, words: self.words }
    }
}

impl<T: AsRef<str>> FromIterator<T> for Words {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Words {
        let mut words = Words::default();
        texts.into_iter().for_each(|text| words.push(text.as_ref()));
        words
    }
}

/// Columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Columns, in order.
    pub columns: Vec<Column>,
}

impl Table {
    /// Of these columns.
    ///
    /// # Panics
    /// When they are of different lengths.
    pub fn of(columns: Vec<Column>) -> Table {
        assert!(columns.windows(2).all(|two| two[0].values.len() == two[1].values.len()), "columns of one length");
        Table { columns }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once() {
        let words: Words = ["a", "b", "a"].into_iter().collect();
        assert_eq!(words.values(), Values::Words { at: vec![0, 1, 0], words: vec!["a".into(), "b".into()] });
    }

    #[test]
    fn what_is_not_known_is_marked_and_not_0() {
        let column = Column::optional("run", "s", "", &[Some(1.0), None]);
        assert_eq!(column.known, Some(vec![true, false]));
        assert_eq!(Column::optional("run", "s", "", &[Some(1.0)]).known, None);
    }
}
