// SPDX-License-Identifier: GPL-2.0-or-later
//! Expressions of C, as far as the core's headers use them.

use super::tokens::{Kind, Token};

/// Parts of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A name or a text.
    Leaf,
    /// An integer.
    Number,
    /// Sign before the operand.
    Unary(String),
    /// Sign between the operands, assignments included.
    Binary(String),
    /// Condition, value, other value.
    Ternary,
    /// The called name's expression, then the arguments.
    Call,
    /// The operand of a subscript, then what it is numbered by.
    Index,
    /// Anything that only holds its parts: parentheses, casts, fields, lists.
    Holds,
}

/// An expression: tokens `from..to`, its form and its operands.
#[derive(Clone, Debug)]
pub struct Expr {
    pub form: Form,
    pub from: usize,
    pub to: usize,
    pub parts: Vec<Expr>,
}

/// Reads expressions from a list of tokens.
pub struct Parser<'a> {
    pub code: &'a str,
    pub tokens: &'a [Token],
    pub at: usize,
}

/// Strength with which a sign binds, 1 = least; `None` for what is no binary operator.
fn strength(sign: &str) -> Option<u32> {
    Some(match sign {
        "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => 1,
        "?" => 2,
        "||" => 3,
        "&&" => 4,
        "|" => 5,
        "^" => 6,
        "&" => 7,
        "==" | "!=" => 8,
        "<" | ">" | "<=" | ">=" => 9,
        "<<" | ">>" => 10,
        "+" | "-" => 11,
        "*" | "/" | "%" => 12,
        _ => return None,
    })
}

/// True of a word that begins the name of a type.
pub fn is_type(word: &str) -> bool {
    matches!(word, "const" | "struct" | "int" | "char" | "void" | "unsigned" | "long" | "pelton_span" | "pelton_cpus")
        || matches!(
            word,
            "u8" | "u16" | "u32" | "u64" | "s8" | "s16" | "s32" | "s64" | "pelton_walk" | "pelton_members"
        )
}

impl<'a> Parser<'a> {
    /// Text of a token, empty behind the last.
    pub fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.code[token.at..token.end])
    }

    pub fn is(&self, text: &str) -> bool {
        self.text(self.at) == text
    }

    /// Passes over `text`, which must be there.
    pub fn expect(&mut self, text: &str) -> Result<(), String> {
        if !self.is(text) {
            return Err(format!("`{text}` expected, `{}` found", self.text(self.at)));
        }
        self.at += 1;
        Ok(())
    }

    /// An expression whose operators bind at least as strongly as `least`.
    pub fn expression(&mut self, least: u32) -> Result<Expr, String> {
        let mut left = self.unary()?;
        loop {
            let sign = self.text(self.at);
            let Some(strength) = strength(sign).filter(|strength| *strength >= least) else { return Ok(left) };
            let from = left.from;
            self.at += 1;
            if sign == "?" {
                let yes = self.expression(1)?;
                self.expect(":")?;
                let no = self.expression(2)?;
                left = Expr { form: Form::Ternary, from, to: self.at, parts: vec![left, yes, no] };
                continue;
            }
            // Assignments are taken from the right, everything else from the left.
            let right = self.expression(if strength == 1 { 1 } else { strength + 1 })?;
            left = Expr { form: Form::Binary(sign.to_owned()), from, to: self.at, parts: vec![left, right] };
        }
    }

    fn unary(&mut self) -> Result<Expr, String> {
        let from = self.at;
        let sign = self.text(from);
        if matches!(sign, "!" | "~" | "-" | "+" | "*" | "&" | "++" | "--") {
            self.at += 1;
            let operand = self.unary()?;
            return Ok(Expr { form: Form::Unary(sign.to_owned()), from, to: self.at, parts: vec![operand] });
        }
        if sign == "(" && is_type(self.text(from + 1)) {
            return self.cast();
        }
        if sign == "sizeof" {
            return Err("sizeof".to_owned());
        }
        self.postfix()
    }

    /// `(type)operand` or `(type){ list }`.
    fn cast(&mut self) -> Result<Expr, String> {
        let from = self.at;
        while !self.is(")") && self.at < self.tokens.len() {
            self.at += 1;
        }
        self.expect(")")?;
        let part = if self.is("{") { self.list()? } else { self.unary()? };
        Ok(Expr { form: Form::Holds, from, to: self.at, parts: vec![part] })
    }

    /// Contents of braces after `=` or a type.
    pub fn list(&mut self) -> Result<Expr, String> {
        let from = self.at;
        let mut parts = Vec::new();
        self.expect("{")?;
        while !self.is("}") {
            if self.is(".") {
                self.at += 2;
                self.expect("=")?;
            }
            parts.push(if self.is("{") { self.list()? } else { self.expression(1)? });
            if !self.is("}") {
                self.expect(",")?;
            }
        }
        self.at += 1;
        Ok(Expr { form: Form::Holds, from, to: self.at, parts })
    }

    fn primary(&mut self) -> Result<Expr, String> {
        let from = self.at;
        let token = self.tokens.get(from).ok_or("the end")?;
        let form = match token.kind {
            Kind::Word | Kind::Text => Form::Leaf,
            Kind::Number => Form::Number,
            Kind::Sign if self.is("(") => {
                self.at += 1;
                let part = self.expression(1)?;
                self.expect(")")?;
                return Ok(Expr { form: Form::Holds, from, to: self.at, parts: vec![part] });
            }
            _ => return Err(format!("`{}` begins no expression", self.text(from))),
        };
        self.at += 1;
        Ok(Expr { form, from, to: self.at, parts: Vec::new() })
    }

    fn postfix(&mut self) -> Result<Expr, String> {
        let mut left = self.primary()?;
        loop {
            let from = left.from;
            match self.text(self.at) {
                "(" => {
                    let mut parts = vec![left];
                    parts.extend(self.arguments()?);
                    left = Expr { form: Form::Call, from, to: self.at, parts };
                }
                "[" => {
                    self.at += 1;
                    let number = self.expression(1)?;
                    self.expect("]")?;
                    left = Expr { form: Form::Index, from, to: self.at, parts: vec![left, number] };
                }
                "." | "->" => {
                    self.at += 2;
                    left = Expr { form: Form::Holds, from, to: self.at, parts: vec![left] };
                }
                sign @ ("++" | "--") => {
                    self.at += 1;
                    left = Expr { form: Form::Unary(sign.to_owned()), from, to: self.at, parts: vec![left] };
                }
                _ => return Ok(left),
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, String> {
        let mut found = Vec::new();
        self.expect("(")?;
        while !self.is(")") {
            found.push(self.expression(1)?);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        self.at += 1;
        Ok(found)
    }
}
