// SPDX-License-Identifier: GPL-2.0-or-later
//! Source of a device tree: nodes, labels, references, numbers and text. Macros are not resolved; where a number is
//! needed and a macro stands, the message says so.

use super::cells::{Node, Part, Place, Property, Tree};
use super::expression::{self, NoValue, number};
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile};
use crate::reading;
use std::path::Path;

/// Deepest nesting of nodes, and of files.
const DEPTH_MAX: usize = 64;
/// Most files of one tree.
const FILES_MAX: usize = 256;

/// Reads a source and what it includes.
pub fn read(path: &Path) -> Result<Tree, Diagnostics> {
    let mut tree = Tree::default();
    file(path, &mut tree, 0)?;
    Ok(tree)
}

fn file(path: &Path, tree: &mut Tree, depth: usize) -> Result<(), Diagnostics> {
    let source = SourceFile::read(path)?;
    tree.files.push(source.clone());
    let number = tree.files.len() - 1;
    let mut parser = Parser { text: source.text(), at: 0, file: number, tree };
    parser.top(path, depth)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    file: usize,
    tree: &'a mut Tree,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || ",._+-#?@/".contains(c)
}

impl Parser<'_> {
    fn top(&mut self, path: &Path, depth: usize) -> Result<(), Diagnostics> {
        loop {
            self.blank()?;
            if self.at == self.text.len() {
                return Ok(());
            }
            if self.eats("#include") || self.eats("/include/") {
                self.include(path, depth)?;
            } else if self.rest().starts_with('#') {
                // Other lines of the preprocessor.
                self.line();
            } else if self.eats("/dts-v1/") || self.eats("/plugin/") {
                self.expect(';')?;
            } else if self.eats("/memreserve/") || self.eats("/omit-if-no-ref/") {
                self.skip_to(';');
            } else if self.eats("/delete-node/") {
                self.blank()?;
                let gone = self.reference();
                if !delete(&mut self.tree.root, &gone) {
                    self.tree.notes.push(format!("`&{gone}` is deleted and nowhere to be found"));
                }
                self.expect(';')?;
            } else {
                self.node_at_top()?;
            }
        }
    }

    fn include(&mut self, path: &Path, depth: usize) -> Result<(), Diagnostics> {
        let line = self.line();
        let name = line.trim().trim_end_matches(';').trim_matches(['"', '<', '>', ' ']).to_owned();
        let found = path.parent().map(|folder| folder.join(&name)).filter(|path| path.is_file());
        let root = Path::new(self.tree.files.first().map_or("", SourceFile::name)).parent();
        // What a file names is read where the file is, and nowhere else.
        let is_outside = |path: &Path| !root.is_some_and(|root| reading::stays_in(root, path));
        // Headers have macros only.
        match found {
            _ if name.ends_with(".h") => {}
            Some(path) if is_outside(&path) => self.tree.notes.push(format!(
                "`{name}` is included and was not read: it is outside the folder of the first file; copy it there"
            )),
            Some(path) if depth < DEPTH_MAX && self.tree.files.len() < FILES_MAX => file(&path, self.tree, depth + 1)?,
            _ => self.tree.notes.push(format!("`{name}` is included and was not read: it is not beside the file")),
        }
        Ok(())
    }

    /// `/ { ... };` or `&label { ... };`
    fn node_at_top(&mut self) -> Result<(), Diagnostics> {
        let mut labels = Vec::new();
        let start = self.at;
        let mut name = self.word();
        while self.eats(":") {
            labels.push(std::mem::take(&mut name));
            self.blank()?;
            name = self.word();
        }
        if name == "/" || (name.is_empty() && self.rest().starts_with('&')) {
            let target = if name == "/" { None } else { Some(self.reference()) };
            let node = self.body(DEPTH_MAX)?;
            match &target {
                None => self.tree.root.merge(node),
                Some(label) => match find(&mut self.tree.root, label) {
                    Some(at) => {
                        at.labels.append(&mut labels);
                        at.merge(node);
                    }
                    None => {
                        self.tree.notes.push(format!("`&{label}` is extended and nowhere to be found: left out"));
                    }
                },
            }
            return self.expect(';');
        }
        Err(self.error(start, "a node must begin here").label("`/`, or `&` and a label").into())
    }

    /// Properties and children between braces.
    fn body(&mut self, depth: usize) -> Result<Node, Diagnostics> {
        let mut node = Node { place: self.place(self.at), ..Node::default() };
        self.expect('{')?;
        loop {
            self.blank()?;
            if self.eats("}") {
                return Ok(node);
            }
            if depth == 0 {
                return Err(self.error(self.at, "nodes are nested too deeply").into());
            }
            if self.eats("/delete-node/") {
                let gone = self.deleted()?;
                node.children.retain(|child| child.name != gone);
                node.gone.children.push(gone);
            } else if self.eats("/delete-property/") {
                let gone = self.deleted()?;
                node.properties.retain(|p| p.name != gone);
                node.gone.properties.push(gone);
            } else if self.eats("/omit-if-no-ref/") {
                // A word before a node: what nothing refers to may stay.
            } else if self.is_directive() {
                self.line();
            } else {
                self.member(&mut node, depth)?;
            }
        }
    }

    /// Name that is deleted inside a node: given as such, or by a reference to a node in it.
    fn deleted(&mut self) -> Result<String, Diagnostics> {
        self.blank()?;
        let name = if self.rest().starts_with('&') {
            let label = self.reference();
            find(&mut self.tree.root, &label).map_or(label, |node| node.name.clone())
        } else {
            self.word()
        };
        self.expect(';')?;
        Ok(name)
    }

    /// A line of the preprocessor inside a node; names of properties may begin with `#` as well.
    fn is_directive(&self) -> bool {
        ["#include", "#define", "#if", "#else", "#endif", "#undef"].iter().any(|word| self.rest().starts_with(word))
    }

    fn member(&mut self, node: &mut Node, depth: usize) -> Result<(), Diagnostics> {
        let start = self.at;
        let mut labels = Vec::new();
        let mut name = self.word();
        self.blank()?;
        while self.eats(":") {
            labels.push(std::mem::take(&mut name));
            self.blank()?;
            name = self.word();
            self.blank()?;
        }
        if name.is_empty() {
            return Err(self.error(start, "a property or a node must stand here").into());
        }
        if self.rest().starts_with('{') {
            let mut child = self.body(depth - 1)?;
            (child.name, child.labels, child.place) = (name, labels, self.place(start));
            node.adopt(child);
        } else {
            let parts = if self.eats("=") { self.values()? } else { Vec::new() };
            node.properties.retain(|p| p.name != name);
            node.properties.push(Property { name, parts });
        }
        self.expect(';')
    }

    /// `"text", <cells>, [bytes], &label`
    fn values(&mut self) -> Result<Vec<(Part, Place)>, Diagnostics> {
        let mut parts = Vec::new();
        loop {
            self.blank()?;
            let start = self.at;
            if self.eats("/bits/") {
                self.blank()?;
                self.word();
            } else if self.eats("<") {
                self.cells(&mut parts)?;
            } else if self.eats("/incbin/") {
                self.blank()?;
                self.brackets();
            } else if self.eats("\"") {
                let text = self.quoted();
                parts.push((Part::Text(text), self.place_of(start)));
            } else if self.eats("[") {
                self.until(']');
            } else if self.rest().starts_with('&') {
                let label = self.reference();
                parts.push((Part::Label(label), self.place_of(start)));
            } else if self.rest().starts_with(';') {
                return Ok(parts);
            } else if !self.eats(",") {
                let word = self.word();
                if word.is_empty() {
                    return Err(self
                        .error(start, "a value must stand here")
                        .label("text, <numbers> or [bytes]")
                        .into());
                }
                // A label may stand before a value.
                if !self.eats(":") {
                    parts.push((Part::Word(word), self.place_of(start)));
                }
            }
        }
    }

    fn cells(&mut self, parts: &mut Vec<(Part, Place)>) -> Result<(), Diagnostics> {
        loop {
            self.blank()?;
            let start = self.at;
            if self.eats(">") {
                return Ok(());
            }
            let part = if self.rest().starts_with('&') {
                Part::Label(self.reference())
            } else if self.rest().starts_with('(') {
                self.expression()?
            } else {
                let word = self.word();
                if word.is_empty() {
                    return Err(self.error(start, "a number, a macro or a reference must stand here").into());
                }
                if self.eats(":") {
                    continue;
                }
                number(&word).map_or(Part::Word(word), Part::Number)
            };
            parts.push((part, self.place_of(start)));
        }
    }

    /// `( ... )` as its value, or as it stands where it has macros, which matter only where the number is needed.
    fn expression(&mut self) -> Result<Part, Diagnostics> {
        let start = self.at;
        let text = self.brackets();
        let wrong = |message| Err(self.tree.error(&self.place_of(start), message).into());
        match expression::value(&text) {
            // Below 0: a cell has 32 bits.
            Ok(value) if value >> 32 == u64::from(u32::MAX) => Ok(Part::Number(value & u64::from(u32::MAX))),
            Ok(value) => Ok(Part::Number(value)),
            Err(NoValue::NotNumbers) => Ok(Part::Word(text)),
            Err(NoValue::DividedByZero) => wrong("the expression divides by 0"),
            Err(NoValue::TooDeep) => wrong("parentheses are nested too deeply"),
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Skips space, comments, and lines in which the preprocessor says what file a text is of.
    fn blank(&mut self) -> Result<(), Diagnostics> {
        loop {
            self.at = self.text.len() - self.rest().trim_start().len();
            if self.rest().starts_with("//") || self.is_line_marker() {
                self.line();
            } else if self.rest().starts_with("/*") {
                let end = self.rest().find("*/");
                let end = end.ok_or_else(|| Diagnostics::from(self.error(self.at, "the comment has no end")))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// `# 12 "file"` or `#line 12`, at the beginning of a line.
    fn is_line_marker(&self) -> bool {
        let before = self.text[..self.at].trim_end_matches([' ', '\t']);
        let Some(rest) = self.rest().strip_prefix('#') else { return false };
        let rest = rest.strip_prefix("line").unwrap_or(rest);
        let numbered = rest.starts_with([' ', '\t']) && rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
        numbered && (before.is_empty() || before.ends_with('\n'))
    }

    fn eats(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect(&mut self, c: char) -> Result<(), Diagnostics> {
        self.blank()?;
        if self.eats(c.encode_utf8(&mut [0; 4])) {
            return Ok(());
        }
        Err(self.error(self.at, &format!("`{c}` must stand here")).into())
    }

    fn word(&mut self) -> String {
        let end = self.rest().find(|c| !is_word(c)).unwrap_or(self.rest().len());
        let word = self.rest()[..end].to_owned();
        self.at += end;
        word
    }

    /// `&label` or `&{/path}`.
    fn reference(&mut self) -> String {
        self.eats("&");
        if self.eats("{") { self.until('}') } else { self.word() }
    }

    fn until(&mut self, end: char) -> String {
        let found = self.rest().find(end);
        let text = self.rest()[..found.unwrap_or(self.rest().len())].to_owned();
        self.at += text.len() + found.map_or(0, |_| end.len_utf8());
        text
    }

    /// A text to its quotation mark; a backslash takes the next character as it is.
    fn quoted(&mut self) -> String {
        let mut text = self.until('"');
        while text.ends_with('\\') && self.at < self.text.len() {
            text.pop();
            text.push('"');
            text += &self.until('"');
        }
        text
    }

    fn skip_to(&mut self, end: char) {
        self.until(end);
    }

    fn line(&mut self) -> String {
        self.until('\n')
    }

    /// `( ... )` with what is nested in it.
    fn brackets(&mut self) -> String {
        let mut open = 0usize;
        let mut end = self.rest().len();
        for (at, c) in self.rest().char_indices() {
            open = if c == '(' { open + 1 } else { open - usize::from(c == ')') };
            if open == 0 {
                end = at + 1;
                break;
            }
        }
        let text = self.rest()[..end].to_owned();
        self.at += end;
        text
    }

    fn place(&self, at: usize) -> Place {
        let next = self.text[at..].chars().next().map_or(0, char::len_utf8);
        Place { file: self.file, span: at..at + next }
    }

    fn place_of(&self, start: usize) -> Place {
        Place { file: self.file, span: start..self.at }
    }

    fn error(&self, at: usize, message: &str) -> Diagnostic {
        self.tree.error(&self.place(at), message)
    }
}

/// A node by label or path.
fn find<'a>(node: &'a mut Node, label: &str) -> Option<&'a mut Node> {
    if let Some(path) = label.strip_prefix('/') {
        let mut names = path.split('/').filter(|name| !name.is_empty());
        return names.try_fold(node, |node, name| node.children.iter_mut().find(|c| c.name == name));
    }
    if node.labels.iter().any(|l| l == label) {
        return Some(node);
    }
    node.children.iter_mut().find_map(|child| find(child, label))
}

/// Takes a node by label or path out of the tree; false when it is not there.
fn delete(node: &mut Node, label: &str) -> bool {
    if let Some((parent, name)) = label.rsplit_once('/') {
        let parent = if parent.is_empty() { Some(node) } else { find(node, parent) };
        return parent.is_some_and(|parent| parent.remove(|child| child.name == name));
    }
    let here = node.remove(|child| child.labels.iter().any(|l| l == label));
    here || node.children.iter_mut().any(|child| delete(child, label))
}

impl Node {
    fn remove(&mut self, which: impl Fn(&Node) -> bool) -> bool {
        let before = self.children.len();
        self.children.retain(|child| !which(child));
        self.children.len() < before
    }

    /// Extends the node by one that is written later, which wins, also when it deletes.
    fn merge(&mut self, other: Node) {
        self.properties.retain(|p| !other.gone.properties.contains(&p.name));
        self.children.retain(|child| !other.gone.children.contains(&child.name));
        for property in other.properties {
            self.properties.retain(|p| p.name != property.name);
            self.properties.push(property);
        }
        other.children.into_iter().for_each(|child| self.adopt(child));
    }

    fn adopt(&mut self, child: Node) {
        match self.children.iter_mut().find(|c| c.name == child.name) {
            Some(there) => {
                there.labels.extend(child.labels.iter().cloned());
                there.merge(child);
            }
            None => self.children.push(child),
        }
    }
}
