// SPDX-License-Identifier: GPL-2.0-or-later
//! The tree.

use std::ops::Range;

/// A byte range of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range between two offsets; the text is at most 16 MiB long, so they fit.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start: u32::try_from(start).unwrap_or(u32::MAX), end: u32::try_from(end).unwrap_or(u32::MAX) }
    }

    /// As a range of offsets.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its place.
    pub span: Span,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A key that stands alone: `"suspend",`.
    Missing,
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction or an exponent, or one that does not fit 64 bits.
    Real(f64),
    /// A string, escapes resolved.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object; equal keys are all kept.
    Object(Vec<Member>),
    /// A template word such as `__LOGDIR__`, without its underscores.
    Placeholder(String),
}

impl Value {
    /// Type of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Missing => "nothing",
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Int(_) => "a number",
            Value::Real(_) => "a number that is not whole or too large",
            Value::Text(_) => "a string",
            Value::List(_) => "an array",
            Value::Object(_) => "an object",
            Value::Placeholder(_) => "a template word",
        }
    }
}

/// One `"key": value` of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The key, escapes resolved.
    pub key: String,
    /// Place of the key, with its quotes.
    pub key_span: Span,
    /// The value.
    pub node: Node,
}
