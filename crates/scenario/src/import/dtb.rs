// SPDX-License-Identifier: GPL-2.0-only
//! A flattened device tree.

use super::cells::{Node, Part, Place, Property, Tree};
use crate::diagnostic::{Diagnostics, SourceFile};
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node as _, Property as _};
use std::io::Read;
use std::path::Path;

/// Largest blob that is read.
const BYTES_MAX: u64 = 4 << 20;
/// Deepest nesting.
const DEPTH_MAX: usize = 64;

/// Reads a blob.
pub fn read(path: &Path) -> Result<Tree, Diagnostics> {
    let source = SourceFile::new(path.display().to_string(), "");
    let failed = |what: String| Diagnostics::from(source.about(format!("cannot read `{}`: {what}", source.name())));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| failed(e.to_string()))?;
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|e| failed(e.to_string()))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(failed(format!("it is larger than {BYTES_MAX} bytes")));
    }
    let fdt = Fdt::new(&bytes).map_err(|e| failed(format!("it is no flattened device tree: {e}")))?;
    let mut notes = Vec::new();
    let root = node(fdt.root(), DEPTH_MAX, &mut notes);
    Ok(Tree { root, files: vec![source], notes })
}

fn node(from: FdtNode<'_>, depth: usize, notes: &mut Vec<String>) -> Node {
    let name = from.name().to_owned();
    let property = |p: dtoolkit::fdt::FdtProperty<'_>| {
        let parts = parts(p.name(), p.value());
        Property { name: p.name().to_owned(), parts }
    };
    let mut made = Node { name, properties: from.properties().map(property).collect(), ..Node::default() };
    if depth == 0 {
        notes.push(format!("what is below `{}` is nested too deeply: left out", made.name));
    } else {
        made.children = from.children().map(|child| node(child, depth - 1, notes)).collect();
    }
    made
}

/// A blob does not say what a value is; its name does.
fn parts(name: &str, value: &[u8]) -> Vec<(Part, Place)> {
    const TEXTS: [&str; 7] =
        ["compatible", "device_type", "model", "idle-state-name", "enable-method", "entry-method", "status"];
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
