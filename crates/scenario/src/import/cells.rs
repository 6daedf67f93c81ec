// SPDX-License-Identifier: GPL-2.0-or-later
//! A device tree in memory, from a blob or from its source.

use crate::diagnostic::{Diagnostic, SourceFile};
use std::ops::Range;

/// Place in a source.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// File, by number.
    pub file: usize,
    /// Bytes.
    pub span: Range<usize>,
}

/// A part of a property's value.
#[derive(Clone, Debug)]
pub enum Part {
    /// A number of 32 bits, or of 64 where the source says so.
    Number(u64),
    /// A reference to a node, by its label or path.
    Label(String),
    /// Text.
    Text(String),
    /// A word that is no number, such as a macro.
    Word(String),
}

/// A property.
#[derive(Clone, Debug)]
pub struct Property {
    /// Name.
    pub name: String,
    /// Parts in order.
    pub parts: Vec<(Part, Place)>,
}

/// A node.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Name with its unit address.
    pub name: String,
    /// Labels.
    pub labels: Vec<String>,
    /// Properties.
    pub properties: Vec<Property>,
    /// Children.
    pub children: Vec<Node>,
    /// Place of its begin.
    pub place: Place,
    /// Names that this text deletes from the node that it extends.
    pub gone: Gone,
}

/// Names of what a text deletes from a node written before.
#[derive(Clone, Debug, Default)]
pub struct Gone {
    /// Properties.
    pub properties: Vec<String>,
    /// Children, with their unit address.
    pub children: Vec<String>,
}

/// A tree with its files.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The root.
    pub root: Node,
    /// Files by number.
    pub files: Vec<SourceFile>,
    /// Notes on parts that were left out while reading.
    pub notes: Vec<String>,
}

impl Node {
    /// The name without a unit address.
    pub fn base(&self) -> &str {
        self.name.split('@').next().unwrap_or("")
    }

    /// A child by name, with or without its unit address.
    pub fn child(&self, name: &str) -> Option<&Node> {
        self.children.iter().find(|c| c.name == name || c.base() == name)
    }

    /// A property by name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|p| p.name == name)
    }

    /// The first text of a property.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.property(name)?.parts.iter().find_map(|(part, _)| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Every node below, itself included.
    pub fn walk<'a>(&'a self, found: &mut Vec<&'a Node>) {
        found.push(self);
        self.children.iter().for_each(|child| child.walk(found));
    }
}

impl Tree {
    /// A message about a place.
    pub fn error(&self, place: &Place, message: &str) -> Diagnostic {
        match self.files.get(place.file) {
            Some(file) if !file.text().is_empty() => file.error(place.span.clone(), message),
            Some(file) => file.about(message),
            None => SourceFile::new("device tree", "").about(message),
        }
    }

    /// The numbers of a property; an error where something else stands.
    pub fn numbers(&self, node: &Node, name: &str) -> Result<Vec<u64>, Diagnostic> {
        let Some(property) = node.property(name) else { return Ok(Vec::new()) };
        let number = |(part, place): &(Part, Place)| match part {
            Part::Number(n) => Ok(*n),
            Part::Word(word) => Err(self.error(place, &format!("`{word}` is no number")).help(
                "macros are resolved by the C preprocessor: cpp -nostdinc -undef -x assembler-with-cpp -I include FILE",
            )),
            _ => Err(self.error(place, &format!("`{name}` has numbers"))),
        };
        property.parts.iter().map(number).collect()
    }

    /// The first number of a property.
    pub fn number(&self, node: &Node, name: &str) -> Result<Option<u64>, Diagnostic> {
        Ok(self.numbers(node, name)?.first().copied())
    }

    /// The node that a property refers to first, when it is there. What follows may be numbers that the node asks for.
    pub fn referred_first<'a>(&'a self, all: &[&'a Node], node: &Node, name: &str) -> Option<&'a Node> {
        let (part, _) = node.property(name)?.parts.first()?;
        all.iter().copied().find(|candidate| self.is(candidate, part))
    }

    /// True for the node that a part of a value refers to.
    pub fn is(&self, candidate: &Node, part: &Part) -> bool {
        let has = |name: &str, n: u64| self.number(candidate, name).is_ok_and(|handle| handle == Some(n));
        match part {
            Part::Label(label) => candidate.labels.contains(label),
            Part::Number(n) => ["phandle", "linux,phandle"].iter().any(|name| has(name, *n)),
            _ => false,
        }
    }

    /// The nodes a property refers to.
    pub fn referred<'a>(&'a self, all: &[&'a Node], node: &Node, name: &str) -> Result<Vec<&'a Node>, Diagnostic> {
        let Some(property) = node.property(name) else { return Ok(Vec::new()) };
        let find = |(part, place): &(Part, Place)| {
            let missing = || self.error(place, &format!("`{name}` refers to a node that is not there"));
            all.iter().copied().find(|candidate| self.is(candidate, part)).ok_or_else(missing)
        };
        property.parts.iter().map(find).collect()
    }
}
