// SPDX-License-Identifier: GPL-2.0-or-later
//! A flattened device tree, as chapter 5 of the Devicetree Specification lays it out. Names are taken as they are:
//! those of real boards have letters that the specification does not allow.

use super::cells::{Node, Part, Place, Property, Tree};
use crate::diagnostic::{Diagnostics, SourceFile};
use crate::reading;
use std::path::Path;

/// Largest blob that is read.
const BYTES_MAX: usize = 4 << 20;
/// Deepest nesting.
const DEPTH_MAX: usize = 64;
/// First word of a blob.
const MAGIC: u32 = 0xd00d_feed;
/// Last version that this layout is compatible with.
const COMPATIBLE: u32 = 17;

/// Words of the structure block.
const BEGIN: u32 = 1;
const END: u32 = 2;
const PROPERTY: u32 = 3;
const NOTHING: u32 = 4;
const END_OF_ALL: u32 = 9;

/// Reads a blob.
pub fn read(path: &Path) -> Result<Tree, Diagnostics> {
    let source = SourceFile::new(path.display().to_string(), "");
    let failed = |what: String| Diagnostics::from(source.about(format!("cannot read `{}`: {what}", source.name())));
    let bytes = reading::bytes(path, BYTES_MAX).map_err(|why| failed(why.to_string()))?;
    let mut blob = Blob::new(&bytes).map_err(|e| failed(format!("it is no flattened device tree: {e}")))?;
    let root = blob.root().map_err(|e| failed(format!("{e}, at byte {} of its structure", blob.at)))?;
    Ok(Tree { root, files: vec![source], notes: blob.notes })
}

/// The blocks of a blob, and how far it was read.
struct Blob<'a> {
    structure: &'a [u8],
    strings: &'a [u8],
    at: usize,
    notes: Vec<String>,
}

fn word_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|word| u32::from_be_bytes(*word))
}

fn text_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
}

impl<'a> Blob<'a> {
    fn new(bytes: &'a [u8]) -> Result<Blob<'a>, &'static str> {
        let field = |number: usize| word_at(bytes, number * 4).ok_or("it is too short for a header");
        if field(0)? != MAGIC {
            return Err("it does not begin with d00dfeed");
        }
        if field(6)? > COMPATIBLE || field(5)? < COMPATIBLE {
            return Err("its version is not 17");
        }
        let block = |from: u32, length: u32| {
            let (from, length) = (from as usize, length as usize);
            bytes.get(from..from.saturating_add(length)).ok_or("a block ends behind the file")
        };
        let (structure, strings) = (block(field(2)?, field(9)?)?, block(field(3)?, field(8)?)?);
        Ok(Blob { structure, strings, at: 0, notes: Vec::new() })
    }

    fn word(&mut self) -> Result<u32, &'static str> {
        let word = word_at(self.structure, self.at).ok_or("it ends inside a node")?;
        self.at += 4;
        Ok(word)
    }

    /// The next word that means something.
    fn token(&mut self) -> Result<u32, &'static str> {
        loop {
            let word = self.word()?;
            if word != NOTHING {
                return Ok(word);
            }
        }
    }

    /// Everything begins at a multiple of four.
    fn skip(&mut self, length: usize) {
        self.at = self.at.saturating_add(length).next_multiple_of(4);
    }

    fn root(&mut self) -> Result<Node, &'static str> {
        if self.token()? != BEGIN {
            return Err("a node must begin here");
        }
        let root = self.node(DEPTH_MAX)?;
        if self.token()? == END_OF_ALL { Ok(root) } else { Err("the tree has more than one root") }
    }

    /// A node whose first word was read. What is nested too deeply is read over.
    fn node(&mut self, depth: usize) -> Result<Node, &'static str> {
        let name = text_at(self.structure, self.at).ok_or("a name has no end")?;
        self.skip(name.len() + 1);
        let mut node = Node { name: String::from_utf8_lossy(name).into_owned(), ..Node::default() };
        loop {
            match self.token()? {
                PROPERTY => node.properties.push(self.property()?),
                BEGIN if depth > 0 => node.children.push(self.node(depth - 1)?),
                BEGIN => {
                    self.notes.push(format!("what is below `{}` is nested too deeply: left out", node.name));
                    self.read_over()?;
                }
                END => return Ok(node),
                _ => return Err("neither a node nor a property"),
            }
        }
    }

    /// A node whose first word was read, with all below it.
    fn read_over(&mut self) -> Result<(), &'static str> {
        let mut open = 1;
        let name = |blob: &Blob<'_>| text_at(blob.structure, blob.at).map(<[u8]>::len).ok_or("a name has no end");
        self.skip(name(self)? + 1);
        while open > 0 {
            match self.token()? {
                PROPERTY => drop(self.property()?),
                BEGIN => {
                    open += 1;
                    self.skip(name(self)? + 1);
                }
                END => open -= 1,
                _ => return Err("neither a node nor a property"),
            }
        }
        Ok(())
    }

    fn property(&mut self) -> Result<Property, &'static str> {
        let (length, name) = (self.word()? as usize, self.word()? as usize);
        let name = text_at(self.strings, name).ok_or("the name of a property is not there")?;
        let value =
            self.structure.get(self.at..self.at.saturating_add(length)).ok_or("a value ends behind the file")?;
        self.skip(length);
        let name = String::from_utf8_lossy(name).into_owned();
        let parts = parts(&name, value);
        Ok(Property { name, parts })
    }
}

/// A blob does not say what a value is; its name does.
fn parts(name: &str, value: &[u8]) -> Vec<(Part, Place)> {
    const TEXTS: [&str; 9] = [
        "compatible",
        "device_type",
        "model",
        "idle-state-name",
        "enable-method",
        "entry-method",
        "status",
        "power-domain-names",
        "type",
    ];
    let parts: Vec<Part> = if TEXTS.contains(&name) {
        let texts = value.split(|&byte| byte == 0).filter(|text| !text.is_empty());
        texts.map(|text| Part::Text(String::from_utf8_lossy(text).into_owned())).collect()
    } else if name == "opp-hz" {
        value.as_chunks::<8>().0.iter().map(|bytes| Part::Number(u64::from_be_bytes(*bytes))).collect()
    } else {
        value.as_chunks::<4>().0.iter().map(|bytes| Part::Number(u64::from(u32::from_be_bytes(*bytes)))).collect()
    };
    parts.into_iter().map(|part| (part, Place::default())).collect()
}
