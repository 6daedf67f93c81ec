// SPDX-License-Identifier: GPL-2.0-or-later
//! Rust source as a flat list of tokens that know their line and whether they are test code.
//!
//! Working on tokens instead of a syntax tree sees through macros, and never takes a comment or a string for code.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// As written; delimiters are single tokens.
    pub text: String,
    /// Line, from 1.
    pub line: usize,
    /// Inside `#[cfg(test)]`, `#[test]`, or a test file.
    pub is_test: bool,
}

/// One function body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name.
    pub name: String,
    /// Line of `fn`, from 1.
    pub line: usize,
    /// Lines from `fn` to the closing brace, both included.
    pub lines: usize,
    /// Test code.
    pub is_test: bool,
}

/// Contents of a source file.
#[derive(Debug, Default)]
pub struct Source {
    /// All tokens in order, without attributes.
    pub tokens: Vec<Token>,
    /// All functions that have a body.
    pub functions: Vec<Function>,
}

impl Source {
    /// Reads Rust source; the error names the line that does not lex.
    pub fn parse(path: &str, text: &str) -> Result<Source, (usize, String)> {
        let stream: TokenStream =
            text.parse().map_err(|error: proc_macro2::LexError| (error.span().start().line, error.to_string()))?;
        let mut source = Source::default();
        source.walk(stream, is_test_path(path));
        Ok(source)
    }

    fn walk(&mut self, stream: TokenStream, in_test: bool) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let mut is_test = in_test;
        let mut at = 0;
        while at < trees.len() {
            if let Some((attribute, length, inner)) = attribute_at(&trees[at..]) {
                is_test |= is_test_attribute(&attribute);
                at += length;
                if inner && is_test {
                    return self.walk(trees[at..].iter().cloned().collect(), true);
                }
                continue;
            }
            self.function_at(&trees[at..], is_test);
            let ends_item = self.tree(&trees[at], is_test);
            if ends_item {
                is_test = in_test;
            }
            at += 1;
        }
    }

    /// Adds one tree; true when an item ends with it.
    fn tree(&mut self, tree: &TokenTree, is_test: bool) -> bool {
        match tree {
            TokenTree::Group(group) => {
                self.group(group, is_test);
                group.delimiter() == Delimiter::Brace
            }
            other => {
                let text = other.to_string();
                let ends_item = text == ";";
                self.push(text, other.span().start().line, is_test);
                ends_item
            }
        }
    }

    fn group(&mut self, group: &Group, is_test: bool) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        self.push(open.to_owned(), group.span_open().start().line, is_test);
        self.walk(group.stream(), is_test);
        self.push(close.to_owned(), group.span_close().start().line, is_test);
    }

    fn push(&mut self, text: String, line: usize, is_test: bool) {
        self.tokens.push(Token { text, line, is_test });
    }

    /// Records a function that starts at the first tree: `fn`, a name, and a body before the next `;`.
    fn function_at(&mut self, trees: &[TokenTree], is_test: bool) {
        let [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] = trees else { return };
        if keyword != "fn" {
            return;
        }
        let line = keyword.span().start().line;
        for tree in rest {
            match tree {
                TokenTree::Punct(punct) if punct.as_char() == ';' => return,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    let lines = group.span_close().end().line - line + 1;
                    self.functions.push(Function { name: name.to_string(), line, lines, is_test });
                    return;
                }
                _ => {}
            }
        }
    }
}

/// Files whose code runs only in tests and benches.
fn is_test_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("tests/")
        || path.contains("/tests/")
        || path.contains("/benches/")
        || matches!(name, "tests.rs" | "test_support.rs")
}

/// An attribute at the start of `trees`: its text without spaces, how many trees it takes, and whether it is inner.
fn attribute_at(trees: &[TokenTree]) -> Option<(String, usize, bool)> {
    let is_punct = |tree: Option<&TokenTree>, c| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == c);
    if !is_punct(trees.first(), '#') {
        return None;
    }
    let inner = is_punct(trees.get(1), '!');
    let group_at = if inner { 2 } else { 1 };
    match trees.get(group_at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            Some((group.stream().to_string().replace(' ', ""), group_at + 1, inner))
        }
        _ => None,
    }
}

fn is_test_attribute(attribute: &str) -> bool {
    attribute == "test"
        || attribute.ends_with("::test")
        || attribute.starts_with("cfg(test")
        || attribute.starts_with("cfg(all(test")
}

/// Token texts of a short piece of Rust, for use as a pattern.
pub fn pattern(text: &str) -> Vec<String> {
    Source::parse("pattern", text).map_or_else(|_| Vec::new(), |s| s.tokens.into_iter().map(|t| t.text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Source {
        Source::parse("crates/x/src/lib.rs", text).expect("lexes")
    }

    #[test]
    fn functions_inside_macros_and_traits_are_found() {
        let source = parse("m! { fn a() { 1 } }\ntrait T {\n fn b();\n fn c() {\n }\n}\ntype F = fn(u8) -> u8;\n");
        let found: Vec<_> = source.functions.iter().map(|f| (f.name.as_str(), f.line, f.lines)).collect();
        assert_eq!(found, [("a", 1, 1), ("c", 4, 2)]);
    }

    #[test]
    fn test_code_ends_with_its_item() {
        let source = parse("#[cfg(test)]\nmod tests { inside }\n#[test]\nfn t() { also }\noutside;");
        let is_test = |name: &str| source.tokens.iter().find(|t| t.text == name).expect("present").is_test;
        assert!(is_test("inside") && is_test("also") && !is_test("outside"));
    }

    #[test]
    fn an_inner_attribute_makes_the_whole_file_test_code() {
        assert!(parse("#![cfg(test)]\nfn a() {}\nfn b() {}").functions.iter().all(|f| f.is_test));
    }

    #[test]
    fn comments_strings_and_attributes_are_no_tokens_of_the_code() {
        let source = parse("/// HashMap\n#[doc = \"HashMap\"]\nstruct S; // HashMap\nconst T: &str = \"HashMap\";");
        assert!(!source.tokens.iter().any(|t| t.text == "HashMap"));
    }
}
