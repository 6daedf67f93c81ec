// SPDX-License-Identifier: GPL-2.0-or-later
//! Results as JSON: every one says what it is, and every kind has a schema made from its type.

pub mod again;
pub mod balances;
pub mod kernel;
pub mod kinds;
pub mod lists;
pub mod live;
pub mod recorded;
pub mod traces;
pub mod validated;

use crate::about::SCHEMA;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// A kind of result.
pub trait Outcome: Serialize + JsonSchema {
    /// Its name: `result` in the JSON, the file name of its schema.
    const KIND: &'static str;
}

/// Fields in front of every JSON result.
#[derive(Serialize, JsonSchema)]
pub struct Described<'a, T> {
    /// Kind of result: the name of its schema.
    pub result: &'static str,
    /// Version of the shape. Names and units that are there stay; a change of one raises it.
    pub schema: u32,
    /// Version of this program.
    pub version: &'static str,
    /// The result itself.
    #[serde(flatten)]
    pub value: &'a T,
}

/// The value with its description.
pub fn described<T: Outcome>(value: &T) -> Described<'_, T> {
    Described { result: T::KIND, schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), value }
}

/// A kind and the maker of its schema.
pub struct Kind {
    /// Name.
    pub name: &'static str,
    /// One line: which command prints it.
    pub printed_by: &'static str,
    schema: fn() -> Schema,
}

impl Kind {
    /// The schema, as text.
    pub fn schema_text(&self) -> String {
        let mut schema = (self.schema)();
        schema.insert("title".into(), format!("pelton {}", self.name).into());
        schema.insert("description".into(), self.printed_by.into());
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
        // Comments of the source have links that only its own pages know.
        text.replace("[`", "`").replace("`]", "`") + "\n"
    }
}
