// SPDX-License-Identifier: GPL-2.0-or-later
//! Length of functions: a hard limit for each, and a median over all of them.

use std::fmt;

use super::tokens::{Function, Source};
use super::{Finding, Rule, c};
use crate::repo::File;

/// Longest function allowed, lines from `fn` to the closing brace.
const LINES_MAX: usize = 70;
/// Largest median allowed over all functions outside tests.
const MEDIAN_LINES_MAX: usize = 10;

pub const RULES: &[Rule] = &[Rule {
    name: "function-length",
    check: too_long,
    bad: || File::example("core/include/pelton/x.h", &format!("int f(void)\n{{{}}}\n", "\n".repeat(LINES_MAX - 1))),
    good: || File::example("crates/x/src/lib.rs", &format!("fn f() {{{}}}\n", "\n".repeat(LINES_MAX - 1))),
}];

fn too_long(file: &File) -> Vec<(usize, String)> {
    let text = |f: &Function| format!("`{}` has {} lines; split it, the limit is {LINES_MAX}", f.name, f.lines);
    functions(file).iter().filter(|f| f.lines > LINES_MAX).map(|f| (f.line, text(f))).collect()
}

/// Functions of a Rust or C file; none for other files and for files that do not lex (the compiler says that better).
fn functions(file: &File) -> Vec<Function> {
    match file.extension() {
        "rs" => Source::parse(&file.path, &file.text).map_or_else(|_| Vec::new(), |source| source.functions),
        "c" | "h" => c::functions(&file.text),
        _ => Vec::new(),
    }
}

/// Lengths of all functions outside tests, ascending.
pub struct Lengths(Vec<usize>);

impl Lengths {
    /// Measures the tree.
    pub fn of(files: &[File]) -> Lengths {
        let all = files.iter().flat_map(functions);
        let mut lines: Vec<usize> = all.filter(|f| !f.is_test).map(|f| f.lines).collect();
        lines.sort_unstable();
        Lengths(lines)
    }

    /// Length that `percent` of the functions do not exceed.
    fn percentile(&self, percent: usize) -> usize {
        let last = self.0.len().saturating_sub(1);
        self.0.get(last * percent / 100).copied().unwrap_or(0)
    }

    /// The rule about the median.
    pub fn check(&self) -> Option<Finding> {
        let median = self.percentile(50);
        (median > MEDIAN_LINES_MAX).then(|| Finding {
            rule: "function-median",
            path: ".".to_owned(),
            line: 0,
            text: format!("the median function has {median} lines; the limit is {MEDIAN_LINES_MAX}"),
        })
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, p90, longest) = (self.percentile(50), self.percentile(90), self.percentile(100));
        write!(f, "{} functions, lines: median {median}, p90 {p90}, longest {longest}", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_lines(lines: &[usize]) -> Lengths {
        let function = |n: &usize| format!("fn f() {{{}}}\n", "\n".repeat(n - 1));
        let text: String = lines.iter().map(function).collect();
        Lengths::of(&[File::example("crates/x/src/lib.rs", &text)])
    }

    #[test]
    fn the_median_is_limited() {
        assert!(with_lines(&[1, 10, 60]).check().is_none());
        assert!(with_lines(&[1, 11, 60]).check().is_some());
    }

    #[test]
    fn tests_do_not_count_for_the_median() {
        let text = format!("#[test]\nfn t() {{{}}}\nfn f() {{}}\n", "\n".repeat(40));
        assert_eq!(Lengths::of(&[File::example("crates/x/src/lib.rs", &text)]).percentile(100), 1);
    }
}
