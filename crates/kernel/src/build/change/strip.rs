// SPDX-License-Identifier: GPL-2.0-or-later
//! C text without comments and strings, line by line.

use super::conditions::Config;
use super::source::directive;

/// Line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its text, without comments and without what strings hold.
    pub text: String,
    /// Part of a directive of the preprocessor.
    pub is_directive: bool,
    /// Left out by the configuration.
    pub is_left_out: bool,
}

impl Line {
    /// Its code: empty where the configuration leaves it out.
    pub fn code(&self) -> &str {
        if self.is_left_out { "" } else { &self.text }
    }
}

/// Place of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    Comment,
    LineComment,
    Quoted(char),
}

/// Lines of a text.
pub fn strip(text: &str, config: &Config) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut continues = false;
    for text in without_comments(text).split('\n') {
        let is_directive = continues || text.trim_start().starts_with('#');
        continues = is_directive && text.trim_end().ends_with('\\');
        lines.push(Line { text: text.to_owned(), is_directive, is_left_out: false });
    }
    leave_out(&mut lines, config);
    lines
}

/// The text with blanks for comments and for what strings hold.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut place = Place::Code;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match (place, c) {
            (Place::Comment, '*') if next == Some('/') => {
                chars.next();
                place = Place::Code;
            }
            (Place::LineComment, '\n') => {
                out.push('\n');
                place = Place::Code;
            }
            (Place::Comment, '\n') => out.push('\n'),
            (Place::Comment | Place::LineComment, _) => {}
            (Place::Quoted(_), '\\') => drop(chars.next_if(|&c| c != '\n').or_else(|| {
                out.push('\\');
                None
            })),
            // A string ends at the line's end at the latest: an apostrophe in text that is left out opens none.
            (Place::Quoted(_), '\n') => {
                out.push('\n');
                place = Place::Code;
            }
            (Place::Quoted(quote), c) if c == quote => {
                out.push(c);
                place = Place::Code;
            }
            (Place::Quoted(_), _) => {}
            (Place::Code, '/') if next == Some('*') => {
                chars.next();
                out.push(' ');
                place = Place::Comment;
            }
            (Place::Code, '/') if next == Some('/') => place = Place::LineComment,
            (Place::Code, c) => {
                out.push(c);
                if matches!(c, '"' | '\'') {
                    place = Place::Quoted(c);
                }
            }
        }
    }
    out
}

/// An open condition: a branch is taken, and whether one was.
struct Branch {
    is_taken: bool,
    /// None: some branch before this one may have been.
    had: Option<bool>,
}

/// Marks lines of branches that the configuration does not take.
fn leave_out(lines: &mut [Line], config: &Config) {
    let mut open: Vec<Branch> = Vec::new();
    for line in lines {
        let found = directive(line).map(|(name, words)| (name.to_owned(), words.to_owned()));
        let (name, words) = found.as_ref().map_or(("", ""), |(name, words)| (name, words));
        match name {
            "if" | "ifdef" | "ifndef" => {
                let value = config.value(name, words);
                open.push(Branch { is_taken: value != Some(false), had: value });
            }
            "elif" | "else" => {
                let value = if name == "else" { Some(true) } else { config.value("if", words) };
                if let Some(branch) = open.last_mut() {
                    branch.is_taken = branch.had != Some(true) && value != Some(false);
                    branch.had = match (branch.had, value) {
                        (Some(true), _) | (_, Some(true)) => Some(true),
                        (Some(false), value) => value,
                        (None, _) => None,
                    };
                }
            }
            "endif" => drop(open.pop()),
            _ => line.is_left_out = open.iter().any(|branch| !branch.is_taken),
        }
    }
}
