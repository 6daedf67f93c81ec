// SPDX-License-Identifier: GPL-2.0-or-later
//! C source without comments and strings, and the functions in it.

use super::tokens::Function;

/// The text with comments, strings and preprocessor lines blanked; line numbers stay the same.
pub fn code(text: &str) -> String {
    blank_directives(&blank_comments(text))
}

/// The text with comments and string contents blanked.
pub fn blank_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut state = State::Code;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let (new, keep, takes_next) = state.step(c, next);
        state = new;
        out.push(if keep || c == '\n' { c } else { ' ' });
        if takes_next {
            let second = chars.next().unwrap_or(' ');
            out.push(if second == '\n' { '\n' } else { ' ' });
        }
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    Line,
    Block,
    Quote(char),
}

impl State {
    /// New state, whether `c` is code, and whether the next character belongs to this step.
    fn step(self, c: char, next: Option<char>) -> (State, bool, bool) {
        match (self, c, next) {
            (State::Code, '/', Some('/')) => (State::Line, false, true),
            (State::Code, '/', Some('*')) => (State::Block, false, true),
            (State::Code, '"' | '\'', _) => (State::Quote(c), true, false),
            (State::Line, '\n', _) => (State::Code, true, false),
            (State::Block, '*', Some('/')) => (State::Code, false, true),
            (State::Quote(_), '\\', Some(_)) => (self, false, true),
            (State::Quote(q), _, _) if c == q => (State::Code, true, false),
            (State::Code, ..) => (self, true, false),
            _ => (self, false, false),
        }
    }
}

fn blank_directives(text: &str) -> String {
    let mut continues = false;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let directive = continues || line.trim_start().starts_with('#');
        continues = directive && line.trim_end().ends_with('\\');
        if !directive {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Functions of C source: a body is a `{` at file level that follows a `)`.
pub fn functions(text: &str) -> Vec<Function> {
    let code = code(text);
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut line = 1;
    let mut declaration = Declaration::default();
    let mut body: Option<(String, usize)> = None;
    for c in code.chars() {
        match c {
            '\n' => line += 1,
            '{' => {
                if depth == 0 {
                    body = declaration.function();
                }
                depth += 1;
            }
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let ended = body.take();
                    found.extend(ended.map(|(name, start)| function(name, start, line)));
                    declaration = Declaration::default();
                }
            }
            ';' if depth == 0 => declaration = Declaration::default(),
            _ => {}
        }
        if depth == 0 && !matches!(c, '}' | ';') {
            declaration.push(c, line);
        }
    }
    found
}

fn function(name: String, start: usize, end: usize) -> Function {
    Function { name, line: start, lines: end - start + 1, is_test: false }
}

/// Text since the end of the last item at file level.
#[derive(Default)]
struct Declaration {
    text: String,
    line: usize,
}

impl Declaration {
    fn push(&mut self, c: char, line: usize) {
        if self.text.is_empty() {
            if c.is_whitespace() {
                return;
            }
            self.line = line;
        }
        self.text.push(c);
    }

    /// Name and first line when this is a function's declarator.
    fn function(&self) -> Option<(String, usize)> {
        if !self.text.trim_end().ends_with(')') {
            return None;
        }
        let before = self.text.replace("__attribute__((", "").replace("SEC(", "");
        let head = before.split('(').next()?.trim_end();
        let name = head.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        Some((name.to_owned(), self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_blanked_and_lines_kept() {
        let text = "int a; /* x\ny */ char *s = \"b{\\\"}\"; // z\nint c;\n";
        let clean = code(text);
        assert_eq!(clean.lines().count(), 3);
        assert!(!clean.contains(['x', 'y', 'z', 'b', '{']));
        assert!(clean.contains("int c;"));
    }

    #[test]
    fn functions_are_found_and_initialisers_are_not() {
        let text = "#define F(x) \\\n\tdo { } while (0)\nstatic const int t[] = { 1, 2 };\nstruct s {\n\tint a;\n};\n\
            static inline int f(int a)\n{\n\tif (a) {\n\t}\n\treturn a;\n}\nint g(void);\nint h(void) { return 0; }\n";
        let found: Vec<_> = functions(text).into_iter().map(|f| (f.name, f.line, f.lines)).collect();
        assert_eq!(found, [("f".to_owned(), 7, 6), ("h".to_owned(), 14, 1)]);
    }
}
