// SPDX-License-Identifier: GPL-2.0-or-later
//! Words to tree.

use super::cursor::{Cursor, short};
use super::define::placeholder_name;
use super::{Member, Node, Span, Value};
use crate::diagnostic::{Diagnostics, SourceFile};

/// Objects and arrays inside each other. rt-app files need 6.
const DEPTH_MAX: usize = 64;
/// Values in one file; keeps the tree of a hostile file below 64 MiB. Real files have some thousands.
const NODES_MAX: usize = 250_000;

/// The tree of a file, or the first place where the text is no JSON of this dialect.
pub(in crate::rtapp) fn parse(file: &SourceFile) -> Result<Node, Diagnostics> {
    let mut parser = Parser { cursor: Cursor::new(file), nodes: 0, depth: 0 };
    parser.cursor.skip()?;
    if parser.cursor.peek().is_none() {
        return Err(file
            .about("the file is empty")
            .help("an rt-app file is an object with `tasks` and `global`")
            .into());
    }
    let root = parser.value()?;
    parser.cursor.skip()?;
    if parser.cursor.peek().is_some() {
        let start = parser.cursor.at();
        parser.cursor.describe_next();
        let d = parser.cursor.error(start, "the file goes on after its last brace");
        return Err(d.help("is there one closing brace too many above?").into());
    }
    Ok(root)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    nodes: usize,
    depth: usize,
}

impl Parser<'_> {
    fn value(&mut self) -> Result<Node, Diagnostics> {
        self.cursor.skip()?;
        let start = self.cursor.at();
        self.count(start)?;
        match self.cursor.peek() {
            Some(b'{') => self.nested(start, Self::object),
            Some(b'[') => self.nested(start, Self::list),
            Some(b'"' | b'\'') => self.cursor.string().map(|(text, span)| Node { value: Value::Text(text), span }),
            Some(b'-' | b'+' | b'0'..=b'9') => self.cursor.number().map(|(value, span)| Node { value, span }),
            _ => self.bare(start),
        }
    }

    fn count(&mut self, start: usize) -> Result<(), Diagnostics> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let d = self.cursor.error(start, "the file has too many values");
            return Err(d.allowed(format!("at most {NODES_MAX} values")).into());
        }
        Ok(())
    }

    fn nested(
        &mut self,
        start: usize,
        inner: impl FnOnce(&mut Self, usize) -> Result<Value, Diagnostics>,
    ) -> Result<Node, Diagnostics> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let d = self.cursor.error(start, "objects and arrays are nested too deeply");
            return Err(d.allowed(format!("at most {DEPTH_MAX} levels")).into());
        }
        self.cursor.describe_next();
        let value = inner(self, start)?;
        self.depth -= 1;
        Ok(Node { value, span: Span::new(start, self.cursor.at()) })
    }

    fn object(&mut self, start: usize) -> Result<Value, Diagnostics> {
        let mut members = Vec::new();
        loop {
            self.cursor.skip()?;
            if self.cursor.eat(b'}') {
                return Ok(Value::Object(members));
            }
            if !matches!(self.cursor.peek(), Some(b'"' | b'\'')) {
                return Err(self.expected(start, "a key in quotes or `}`"));
            }
            members.push(self.member()?);
            self.separator(start, b'}', "`,` or `}`")?;
        }
    }

    fn member(&mut self) -> Result<Member, Diagnostics> {
        let (key, key_span) = self.cursor.string()?;
        self.cursor.skip()?;
        if self.cursor.eat(b':') {
            return Ok(Member { key, key_span, node: self.value()? });
        }
        self.count(self.cursor.at())?;
        Ok(Member { key, key_span, node: Node { value: Value::Missing, span: key_span } })
    }

    fn list(&mut self, start: usize) -> Result<Value, Diagnostics> {
        let mut items = Vec::new();
        loop {
            self.cursor.skip()?;
            if self.cursor.eat(b']') {
                return Ok(Value::List(items));
            }
            items.push(self.value()?);
            self.separator(start, b']', "`,` or `]`")?;
        }
    }

    /// After a member or an item: a comma, or the closing bracket (left for the caller).
    fn separator(&mut self, start: usize, close: u8, wanted: &str) -> Result<(), Diagnostics> {
        self.cursor.skip()?;
        if self.cursor.eat(b',') || self.cursor.peek() == Some(close) {
            return Ok(());
        }
        Err(self.expected(start, wanted))
    }

    /// A message about what stands here instead; at the end of the file it points at what was left open.
    fn expected(&mut self, opened: usize, wanted: &str) -> Diagnostics {
        let at = self.cursor.at();
        if self.cursor.peek().is_none() {
            return self.cursor.error(opened, "the file ends inside this object or array").label("opened here").into();
        }
        let (word, _) = self.cursor.word();
        let found = if word.is_empty() { self.cursor.describe_next() } else { format!("`{}`", short(word)) };
        let mut d = self.cursor.error(at, format!("expected {wanted}, found {found}"));
        if wanted.contains("key") && !word.is_empty() {
            d = d.help(format!("write \"{}\"", short(word)));
        } else if found.starts_with(['`']) && (found == "`\"`" || !word.is_empty()) {
            d = d.help("is a comma missing before it?");
        }
        d.into()
    }

    fn bare(&mut self, start: usize) -> Result<Node, Diagnostics> {
        let (word, span) = self.cursor.word();
        let value = match word.to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => match placeholder_name(word) {
                Some(name) => Value::Placeholder(name.into()),
                None => return Err(self.no_value(start, word)),
            },
        };
        Ok(Node { value, span })
    }

    fn no_value(&mut self, start: usize, word: &str) -> Diagnostics {
        if word.is_empty() {
            let found = self.cursor.describe_next();
            return self.cursor.error(start, format!("expected a value, found {found}")).into();
        }
        let d = self.cursor.error(start, format!("`{}` is not a value", short(word)));
        d.help("strings need quotes; other words are true, false, null and template words such as __LOGDIR__").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Node {
        parse(&SourceFile::new("t.json", text)).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn the_whole_dialect_in_one_text() {
        let root = tree(
            "// a\n{ 'a': 1, \"a\": -2, /* b */ \"suspend\", \"c\": [ __X_1__, TRUE, ], \"d\": \"\\u00e9\\n\", }\n",
        );
        let Value::Object(members) = root.value else { panic!() };
        let keys: Vec<&str> = members.iter().map(|m| m.key.as_str()).collect();
        assert_eq!(keys, ["a", "a", "suspend", "c", "d"]);
        assert_eq!(members[1].node.value, Value::Int(-2));
        assert_eq!(members[2].node.value, Value::Missing);
        let Value::List(items) = &members[3].node.value else { panic!() };
        assert_eq!(items[0].value, Value::Placeholder("X_1".into()));
        assert_eq!(items[1].value, Value::Bool(true));
        assert_eq!(members[4].node.value, Value::Text("é\n".into()));
    }

    #[test]
    fn spans_cover_the_text_of_keys_and_values() {
        let text = "{ \"run\" : 20000 }";
        let Value::Object(members) = tree(text).value else { panic!() };
        assert_eq!(&text[members[0].key_span.range()], "\"run\"");
        assert_eq!(&text[members[0].node.span.range()], "20000");
    }

    #[test]
    fn deep_and_long_texts_are_refused_quickly() {
        let deep = "[".repeat(1_000_000);
        assert!(parse(&SourceFile::new("t", &deep)).is_err());
        let long = format!("[{}]", "0,".repeat(NODES_MAX + 1));
        assert!(parse(&SourceFile::new("t", &long)).is_err());
    }

    #[test]
    fn numbers_keep_what_they_are() {
        assert_eq!(tree("9223372036854775807").value, Value::Int(i64::MAX));
        assert!(matches!(tree("9223372036854775808").value, Value::Real(_)));
        assert!(matches!(tree("1e3").value, Value::Real(_)));
        for bad in ["1x", "--1", "0x10", "nan", "-inf", "-"] {
            assert!(parse(&SourceFile::new("t", bad)).is_err(), "{bad}");
        }
    }
}
