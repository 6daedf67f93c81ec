// SPDX-License-Identifier: GPL-2.0-or-later
//! Tokens of a C header, with the places where they lie.

/// Kind of a token, as far as a parser of expressions needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    Number,
    Text,
    Sign,
    /// A line for the preprocessor, continued lines included.
    Directive,
}

/// A token: bytes `at..end` of the source.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: Kind,
    pub at: usize,
    pub end: usize,
}

/// Signs of more than one character, the longest first.
const SIGNS: [&str; 22] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=",
];

/// Every token of `code`, comments left out, and what only BPF compiles.
pub fn tokens(code: &str) -> Vec<Token> {
    let clean = crate::tidy::c::blank_comments(code);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = clean[at..].chars().next() {
        let rest = &clean[at..];
        let (kind, length) = match c {
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '#' => (Kind::Directive, directive(rest)),
            '"' | '\'' => (Kind::Text, 2 + rest[1..].find(c).unwrap_or(0)),
            '0'..='9' => (Kind::Number, word(rest)),
            _ if c.is_ascii_alphabetic() || c == '_' => (Kind::Word, word(rest)),
            _ => {
                (Kind::Sign, SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(c.len_utf8(), |sign| sign.len()))
            }
        };
        found.push(Token { kind, at, end: at + length });
        at += length;
    }
    without_bpf(code, found)
}

fn word(rest: &str) -> usize {
    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
}

/// Length up to the first end of a line that no backslash continues.
fn directive(rest: &str) -> usize {
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        length += line.trim_end_matches('\n').len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
        length += 1;
    }
    length
}

/// Without what stands between `#ifdef __bpf__` and its end or alternative: nothing here compiles it.
fn without_bpf(code: &str, all: Vec<Token>) -> Vec<Token> {
    let mut inside = false;
    let mut kept = Vec::with_capacity(all.len());
    for token in all {
        let text = &code[token.at..token.end];
        if token.kind == Kind::Directive {
            if text.starts_with("#ifdef __bpf__") {
                inside = true;
            } else if inside && (text.starts_with("#else") || text.starts_with("#endif")) {
                inside = false;
            }
        }
        if !inside {
            kept.push(token);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(code: &str) -> Vec<&str> {
        tokens(code).into_iter().map(|token| &code[token.at..token.end]).collect()
    }

    #[test]
    fn signs_are_as_long_as_they_can_be_and_comments_are_left_out() {
        assert_eq!(texts("a<<=b->c /* - */ >= 0x1full;"), ["a", "<<=", "b", "->", "c", ">=", "0x1full", ";"]);
    }

    #[test]
    fn a_directive_is_one_token_with_its_continued_lines() {
        assert_eq!(texts("#define A \\\n\tb\nc"), ["#define A \\\n\tb", "c"]);
    }

    #[test]
    fn what_only_bpf_compiles_is_left_out() {
        assert_eq!(texts("#ifdef __bpf__\na\n#else\nb\n#endif\n"), ["#else", "b", "#endif"]);
    }
}
