// SPDX-License-Identifier: GPL-2.0-or-later
//! C text in parts: functions, macros, types and what else stands at its outermost level, with the lines of each.

use super::conditions::Config;
use super::strip::{Line, strip};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Kind of a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Function with a body.
    Function,
    /// `#define`.
    Macro,
    /// Struct, union or enum.
    Type,
    /// Variable with a value in braces.
    Initialiser,
    /// Declaration, or a macro that stands for one.
    Declaration,
    /// Condition of the preprocessor.
    Condition,
    /// Whole file.
    File,
}

/// Part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Kind.
    pub kind: Kind,
    /// Name of a function, macro, type or variable.
    pub name: String,
    /// Its lines, from 1.
    pub lines: RangeInclusive<usize>,
}

/// A file of C, in parts.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Lines without comments and strings.
    pub lines: Vec<Line>,
    /// Parts, ascending; no two share a line but at their ends.
    pub items: Vec<Item>,
}

impl Source {
    /// Takes a text apart.
    pub fn read(text: &str, config: &Config) -> Source {
        let lines = strip(text, config);
        let mut items = macros(&lines);
        items.extend(Scanner::default().scan(&lines));
        items.sort_by_key(|item| (*item.lines.start(), *item.lines.end()));
        Source { lines, items }
    }

    /// Part that a line belongs to: a function rather than the macro defined in it.
    pub fn item_at(&self, line: usize) -> Option<&Item> {
        let here = || self.items.iter().filter(|item| item.lines.contains(&line));
        here().find(|item| item.kind == Kind::Function).or_else(|| here().next_back())
    }

    /// Code of a part.
    pub fn code(&self, item: &Item) -> impl Iterator<Item = &str> {
        let lines = self.lines.get(item.lines.start() - 1..*item.lines.end()).unwrap_or_default();
        lines.iter().map(|line| line.code())
    }
}

/// Definitions of macros, with the lines that continue them.
fn macros(lines: &[Line]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let begin = at;
        while lines[at].is_directive && lines[at].text.trim_end().ends_with('\\') && at + 1 < lines.len() {
            at += 1;
        }
        at += 1;
        let Some((name, words)) = directive(&lines[begin]) else { continue };
        let word: String = words.chars().take_while(|&c| is_word(c)).collect();
        let kind = match name {
            "define" => Kind::Macro,
            "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif" => Kind::Condition,
            _ => continue,
        };
        let name = if kind == Kind::Macro { word } else { format!("#{name} {words}").trim_end().to_owned() };
        items.push(Item { kind, name, lines: begin + 1..=at });
    }
    items
}

/// Name of a line's directive and the words behind it.
pub(super) fn directive(line: &Line) -> Option<(&str, &str)> {
    let text = line.text.trim_start().strip_prefix('#').filter(|_| line.is_directive)?.trim_start();
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    Some((&text[..end], text[end..].trim()))
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Finds what stands at the outermost level.
#[derive(Default)]
struct Scanner {
    items: Vec<Item>,
    /// Text since the last part ended.
    header: String,
    /// Line that it begins at.
    begin: usize,
    braces: usize,
    brackets: usize,
    /// Kind and name of the part whose braces are open.
    open: Option<(Kind, String)>,
    /// Braces at the conditions that are open.
    conditions: Vec<usize>,
}

impl Scanner {
    fn scan(mut self, lines: &[Line]) -> Vec<Item> {
        for (at, line) in lines.iter().enumerate() {
            if line.is_directive {
                self.condition(line);
                continue;
            }
            for c in line.text.chars() {
                self.character(c, at + 1);
            }
            let next = lines[at + 1..].iter().find(|line| !line.text.trim().is_empty());
            if self.is_macro_alone() && !next.is_some_and(|line| line.text.trim_start().starts_with('{')) {
                self.ends(Kind::Declaration, at + 1);
            }
            self.blank();
        }
        self.items
    }

    /// Each branch of a condition begins with the braces that were open before it.
    fn condition(&mut self, line: &Line) {
        match directive(line).map_or("", |(name, _)| name) {
            "if" | "ifdef" | "ifndef" => self.conditions.push(self.braces),
            "else" | "elif" => self.braces = self.conditions.last().copied().unwrap_or(self.braces),
            "endif" => drop(self.conditions.pop()),
            _ => {}
        }
    }

    fn blank(&mut self) {
        if !self.header.is_empty() {
            self.header.push(' ');
        }
    }

    fn character(&mut self, c: char, line: usize) {
        match c {
            '{' => self.opens(line),
            '}' => self.closes(line),
            _ if self.braces > 0 => {}
            ';' if self.brackets == 0 => self.ends(Kind::Declaration, line),
            c if c.is_whitespace() => self.blank(),
            c => {
                match c {
                    '(' => self.brackets += 1,
                    ')' => self.brackets = self.brackets.saturating_sub(1),
                    _ => {}
                }
                if self.header.is_empty() {
                    self.begin = line;
                }
                self.header.push(c);
            }
        }
    }

    fn opens(&mut self, line: usize) {
        if self.braces == 0 && self.open.is_none() {
            if self.header.is_empty() {
                self.begin = line;
            }
            self.open = Some(classify(&self.header));
        }
        self.braces += 1;
    }

    fn closes(&mut self, line: usize) {
        self.braces = self.braces.saturating_sub(1);
        // Braces inside the brackets of a macro at the outermost level end with it.
        if self.braces > 0 || self.brackets > 0 {
            return;
        }
        if let Some((Kind::Function, name)) = self.open.take_if(|(kind, _)| *kind == Kind::Function) {
            self.items.push(Item { kind: Kind::Function, name, lines: self.begin..=line });
            self.header.clear();
        }
    }

    /// A declaration ends, or what has braces and a name behind them.
    fn ends(&mut self, kind: Kind, line: usize) {
        let (kind, name) = self.open.take().unwrap_or_else(|| (kind, declared(&self.header)));
        if !self.header.is_empty() {
            self.items.push(Item { kind, name, lines: self.begin..=line });
        }
        self.header.clear();
    }

    /// Is the text a macro that stands for a declaration, without a semicolon: `SCHED_FEAT(NAME, true)`?
    fn is_macro_alone(&self) -> bool {
        let word: String = self.header.chars().take_while(|&c| is_word(c)).collect();
        let is_loud = word.len() > 3 && word.chars().all(|c| !c.is_ascii_lowercase());
        let rest = self.header[word.len()..].trim();
        is_loud && self.braces == 0 && self.brackets == 0 && rest.starts_with('(') && rest.ends_with(')')
    }
}

/// Words with brackets that say something about a function, not its name.
const ATTRIBUTES: &[&str] = &[
    "__attribute__",
    "__printf",
    "__scanf",
    "__section",
    "__aligned",
    "__acquires",
    "__releases",
    "__must_hold",
    "__cond_acquires",
    "__acquires_shared",
    "__releases_shared",
    "__alloc_size",
    "__diagnose_as",
    "__no_context_analysis",
];

/// Kind and name of what has this text in front of its braces.
fn classify(header: &str) -> (Kind, String) {
    let outside = without_brackets(header);
    if outside.contains('=') {
        return (Kind::Initialiser, declared(header));
    }
    let groups = calls(header);
    let named = groups.iter().rev().find(|(name, _)| !ATTRIBUTES.contains(&name.as_str()));
    match named {
        Some((name, arguments)) if name.contains("SYSCALL_DEFINE") => {
            (Kind::Function, arguments.split(',').next().unwrap_or_default().trim().to_owned())
        }
        Some((name, _)) => (Kind::Function, name.clone()),
        None => (
            Kind::Type,
            outside.split_whitespace().filter(|word| !word.starts_with("__")).collect::<Vec<_>>().join(" "),
        ),
    }
}

/// Words with brackets behind them, at the outermost level, and what is between the brackets.
fn calls(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut depth, mut word, mut inside) = (0usize, String::new(), String::new());
    for c in text.chars() {
        match (c, depth) {
            ('(', 0) => depth = 1,
            ('(', _) => depth += 1,
            (')', 1) => {
                found.push((std::mem::take(&mut word), std::mem::take(&mut inside)));
                depth = 0;
            }
            (')', _) => depth = depth.saturating_sub(1),
            (c, 0) if is_word(c) && word.ends_with(' ') => word = c.to_string(),
            (c, 0) if is_word(c) => word.push(c),
            (c, 0) if c.is_whitespace() && !word.is_empty() => word.push(' '),
            (_, 0) => word.clear(),
            (c, _) => inside.push(c),
        }
    }
    found.iter_mut().for_each(|(word, _)| word.truncate(word.trim_end().len()));
    found.retain(|(word, _)| !word.is_empty());
    found
}

fn without_brackets(text: &str) -> String {
    let mut depth = 0usize;
    text.chars()
        .filter(|&c| {
            depth = if c == ')' { depth.saturating_sub(1) } else { depth + usize::from(c == '(') };
            depth == 0
        })
        .collect()
}

/// Name that a declaration declares.
fn declared(header: &str) -> String {
    let front = header.split('=').next().unwrap_or_default();
    let called = calls(front).into_iter().rev().find(|(name, _)| !ATTRIBUTES.contains(&name.as_str()));
    if let Some((name, arguments)) = called {
        // DEFINE_PER_CPU(type, name), SCHED_FEAT(NAME, true): a macro whose arguments have the name.
        let is_loud = name.chars().all(|c| !c.is_ascii_lowercase());
        let mut words = arguments.split(|c| !is_word(c)).filter(|word| !word.is_empty());
        return match (is_loud, name.contains("FEAT")) {
            (true, true) => words.next().unwrap_or_default().to_owned(),
            (true, false) => words.next_back().unwrap_or_default().to_owned(),
            (false, _) => name,
        };
    }
    let name = front.split('[').next().unwrap_or_default();
    name.split(|c| !is_word(c)).rfind(|word| !word.is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
// SPDX
#include \"sched.h\"
#define margin(x) \\
\t((x) * 1280)
/* static int no(void) { */
struct sugov_policy {
\tstruct cpufreq_policy\t*policy;
\tu64 last; /* } */
};

static DEFINE_PER_CPU(struct sugov_cpu, sugov_cpu);
SCHED_FEAT(PLACE_LAG, true)
/*
 * Comment.
 */
static __always_inline
int
get_next(struct sugov_policy *sg, char c)
\t__must_hold(&sg->lock)
{
#ifdef CONFIG_NUMA
\tif (c == '{') {
#else
\tif (c == \"}{\"[0]) {
#endif
\t\treturn 1;
\t}
\treturn margin(2);
}

static const u32 table[] = {
\t1, 2,
};
SYSCALL_DEFINE1(sched_thing, int, x)
{
\treturn x;
}
int later(int);
";

    #[test]
    fn parts_have_their_names_and_lines() {
        let source = Source::read(TEXT, &Config::default());
        let found = |line: usize| source.item_at(line).map(|item| (item.kind, item.name.as_str()));
        assert_eq!(found(1), None);
        assert_eq!(found(4), Some((Kind::Macro, "margin")));
        assert_eq!(found(5), None);
        assert_eq!(found(8), Some((Kind::Type, "struct sugov_policy")));
        assert_eq!(found(11), Some((Kind::Declaration, "sugov_cpu")));
        assert_eq!(found(12), Some((Kind::Declaration, "PLACE_LAG")));
        assert_eq!(found(14), None);
        for line in [16, 18, 19, 22, 24, 29] {
            assert_eq!(found(line), Some((Kind::Function, "get_next")), "line {line}");
        }
        assert_eq!(found(32), Some((Kind::Initialiser, "table")));
        assert_eq!(found(36), Some((Kind::Function, "sched_thing")));
        assert_eq!(found(38), Some((Kind::Declaration, "later")));
    }

    #[test]
    fn what_the_configuration_leaves_out_is_no_code() {
        let source = Source::read(TEXT, &Config::default());
        assert!(source.lines[21].is_left_out && !source.lines[23].is_left_out);
        let open = Source::read("#if BITS_PER_LONG == 64\nint a;\n#else\nint b;\n#endif\n", &Config::default());
        assert!(open.lines.iter().all(|line| !line.is_left_out));
    }
}
