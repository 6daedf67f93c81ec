// SPDX-License-Identifier: GPL-2.0-or-later
//! Walks over the functions of a header and puts mutants into their bodies.

use std::collections::BTreeMap;

use super::change::{changes, has_opposite};
use super::expr::{Expr, Form, Parser, is_type};
use super::tokens::{Kind, Token, tokens};

/// One fault: what it is, in words that survive a shift of lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mutant {
    /// Name of the header.
    pub header: String,
    /// Name of the function.
    pub function: String,
    /// The expression, and what stands in its place; nothing where a statement is left out.
    pub was: String,
    pub becomes: String,
    /// Counts the same change of the same expression in a function, from 1.
    pub nth: u32,
}

/// Gives a mutant its number, or says that it is not made.
pub type Number<'a> = dyn FnMut(&Mutant) -> Option<usize> + 'a;

/// The header's text with every mutant that got a number in it: `(pelton_mutant == N ? other : original)`.
pub fn mutate(header: &str, code: &str, number: &mut Number) -> String {
    let tokens = tokens(code);
    let mut walk = Walk {
        header,
        function: String::new(),
        parser: Parser { code, tokens: &tokens, at: 0 },
        seen: BTreeMap::new(),
        number,
        edits: Vec::new(),
    };
    walk.file();
    let mut out = String::with_capacity(code.len() * 2);
    let mut at = 0;
    for (from, to, text) in walk.edits {
        out.push_str(&code[at..from]);
        out.push_str(&text);
        at = to;
    }
    out + &code[at..]
}

struct Walk<'a, 'n> {
    header: &'a str,
    function: String,
    parser: Parser<'a>,
    seen: BTreeMap<(String, String, String), u32>,
    number: &'a mut Number<'n>,
    edits: Vec<(usize, usize, String)>,
}

/// An expression's text on one line, with single spaces.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl<'a> Walk<'a, '_> {
    fn token(&self, at: usize) -> Option<Token> {
        self.parser.tokens.get(at).copied()
    }

    fn word(&self, at: usize) -> &'a str {
        self.parser.text(at)
    }

    fn is_word(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.kind == Kind::Word)
    }

    /// Source of an expression.
    fn text(&self, expr: &Expr) -> &'a str {
        let (Some(first), Some(last)) = (self.token(expr.from), self.token(expr.to - 1)) else { return "" };
        &self.parser.code[first.at..last.end]
    }

    /// Function bodies; everything else at file level stays.
    fn file(&mut self) {
        let mut start = 0;
        let mut at = 0;
        while let Some(token) = self.token(at) {
            let text = self.word(at);
            if token.kind == Kind::Directive || text == ";" {
                start = at + 1;
            } else if text == "{" {
                let end = self.closing(at);
                let called = (start..at).find(|i| self.word(*i) == "(");
                if self.word(at.wrapping_sub(1)) == ")"
                    && let Some(open) = called
                {
                    self.word(open - 1).clone_into(&mut self.function);
                    self.body(at + 1, end);
                }
                at = end;
                start = at + 1;
            }
            at += 1;
        }
    }

    /// The token that closes the bracket at `at`.
    fn closing(&self, at: usize) -> usize {
        let mut depth = 0usize;
        for i in at..self.parser.tokens.len() {
            match self.word(i) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return i;
            }
        }
        self.parser.tokens.len()
    }

    /// The next `sign` outside brackets.
    fn next(&self, mut at: usize, sign: &str) -> usize {
        while at < self.parser.tokens.len() && self.word(at) != sign {
            at = if matches!(self.word(at), "(" | "[" | "{") { self.closing(at) } else { at };
            at += 1;
        }
        at
    }

    fn body(&mut self, mut at: usize, end: usize) {
        while at < end {
            at = self.statement(at);
        }
    }

    /// One step through a statement; returns where the next one begins.
    fn statement(&mut self, at: usize) -> usize {
        match self.word(at) {
            "{" | "}" | "else" | ";" | "do" => at + 1,
            _ if self.token(at).is_some_and(|token| token.kind == Kind::Directive) => at + 1,
            "if" => {
                self.condition(at + 2, true);
                self.closing(at + 1) + 1
            }
            "while" | "switch" => {
                self.condition(at + 2, false);
                self.closing(at + 1) + 1
            }
            "for" => self.head_of_for(at),
            "case" | "default" => self.next(at, ":") + 1,
            "return" => {
                let end = self.next(at, ";");
                if end > at + 1 {
                    self.condition(at + 1, false);
                }
                end + 1
            }
            "static" | "break" | "continue" | "PELTON_ASSERT" => self.next(at, ";") + 1,
            _ if self.is_declaration(at) => self.declaration(at),
            _ => self.action(at),
        }
    }

    fn is_declaration(&self, at: usize) -> bool {
        let next = self.word(at + 1);
        is_type(self.word(at)) || (self.is_word(at) && (self.is_word(at + 1) || next == "*" && self.is_word(at + 2)))
    }

    /// Values of a declaration's names; sizes of arrays stay.
    fn declaration(&mut self, at: usize) -> usize {
        let end = self.next(at, ";");
        let mut i = at;
        while i < end {
            if self.word(i) == "=" {
                let value = if self.word(i + 1) == "{" { self.listed(i + 1) } else { self.parsed(i + 1, 1) };
                self.replace(value, false);
            }
            i = self.next(i, ",").min(self.next(i + 1, "=")).min(end).max(i + 1);
        }
        end + 1
    }

    fn listed(&mut self, at: usize) -> Option<Expr> {
        self.parser.at = at;
        self.parser.list().ok()
    }

    fn parsed(&mut self, at: usize, least: u32) -> Option<Expr> {
        self.parser.at = at;
        self.parser.expression(least).ok()
    }

    /// The three parts between the parentheses of a `for`.
    fn head_of_for(&mut self, at: usize) -> usize {
        let close = self.closing(at + 1);
        let first = self.next(at + 2, ";");
        if first > at + 2 {
            let _ = if self.is_declaration(at + 2) { self.declaration(at + 2) } else { self.action(at + 2) };
        }
        let second = self.next(first + 1, ";");
        if second > first + 1 {
            self.condition(first + 1, false);
        }
        close + 1
    }

    /// An expression that is a value; `decides`: the condition of an `if`, which is also made the opposite.
    fn condition(&mut self, at: usize, decides: bool) {
        let value = self.parsed(at, 1);
        self.replace(value, decides);
    }

    fn replace(&mut self, expr: Option<Expr>, decides: bool) {
        let Some(expr) = expr.filter(|expr| self.text(expr) != "1") else { return };
        let mut text = self.emitted(&expr);
        if decides && !has_opposite(&expr) {
            let negated = format!("!({})", self.text(&expr));
            text = self.with(&expr, &negated, text);
        }
        self.edit(&expr, text);
    }

    fn edit(&mut self, expr: &Expr, text: String) {
        if let (Some(first), Some(last)) = (self.token(expr.from), self.token(expr.to - 1)) {
            self.edits.push((first.at, last.end, text));
        }
    }

    /// A statement that does something: it may also be left out.
    fn action(&mut self, at: usize) -> usize {
        let end = self.next(at, ";") + 1;
        let silent = self.word(at) == "(" && self.word(at + 1) == "void";
        let Some(expr) = self.parsed(at, 1).filter(|_| !silent) else { return end };
        if self.parser.at + 1 != end {
            return end;
        }
        let mut text = self.emitted(&expr);
        for other in changes(&expr, &|part| self.text(part)) {
            if matches!(expr.form, Form::Binary(_) | Form::Unary(_)) {
                text = self.act(&expr, &other, text);
            }
        }
        text = self.act(&expr, "", text);
        self.edit(&expr, text);
        end
    }

    /// Both forms of a statement.
    fn act(&mut self, expr: &Expr, other: &str, text: String) -> String {
        let Some(number) = self.numbered(expr, other) else { return text };
        let other = if other.is_empty() { "0" } else { other };
        format!("(pelton_mutant == {number} ? (void)({other}) : (void)({text}))")
    }

    fn numbered(&mut self, expr: &Expr, becomes: &str) -> Option<usize> {
        let (was, becomes) = (on_one_line(self.text(expr)), on_one_line(becomes));
        let nth = self.seen.entry((self.function.clone(), was.clone(), becomes.clone())).or_default();
        *nth += 1;
        let (header, function) = (self.header.to_owned(), self.function.clone());
        (self.number)(&Mutant { header, function, was, becomes, nth: *nth })
    }

    /// `text`, which may be another one at run time.
    fn with(&mut self, expr: &Expr, becomes: &str, text: String) -> String {
        match self.numbered(expr, becomes) {
            Some(number) => format!("(pelton_mutant == {number} ? ({becomes}) : ({text}))"),
            None => text,
        }
    }

    /// The expression's text with all its mutants.
    fn emitted(&mut self, expr: &Expr) -> String {
        let mut text = String::new();
        let Some(mut at) = self.token(expr.from).map(|token| token.at) else { return text };
        for (number, part) in expr.parts.iter().enumerate() {
            if !changes_inside(expr, number) {
                continue;
            }
            let (Some(first), Some(last)) = (self.token(part.from), self.token(part.to - 1)) else { continue };
            text.push_str(&self.parser.code[at..first.at]);
            let inner = self.emitted(part);
            text.push_str(&inner);
            at = last.end;
        }
        let end = self.token(expr.to - 1).map_or(at, |token| token.end);
        text.push_str(&self.parser.code[at..end]);
        if is_step(expr) {
            return text;
        }
        for other in changes(expr, &|part| self.text(part)) {
            text = self.with(expr, &other, text);
        }
        text
    }
}

/// True of an expression that writes something.
fn is_step(expr: &Expr) -> bool {
    match &expr.form {
        Form::Unary(sign) => sign == "++" || sign == "--",
        Form::Binary(sign) => sign.ends_with('=') && !matches!(sign.as_str(), "==" | "!=" | "<=" | ">="),
        _ => false,
    }
}

/// True for a part that may be changed: operands that are written, whose address is taken, or that keep a number inside
/// its table stay as they are.
fn changes_inside(expr: &Expr, number: usize) -> bool {
    match &expr.form {
        Form::Index if number == 1 => {
            let bounded = matches!(&expr.parts[1].form, Form::Binary(sign) if sign == "&");
            !bounded && expr.parts[1].form != Form::Call
        }
        Form::Unary(sign) => !matches!(sign.as_str(), "&" | "++" | "--"),
        Form::Call => number > 0,
        _ => number > 0 || !is_step(expr),
    }
}
