// SPDX-License-Identifier: GPL-2.0-or-later
//! The state of a running scheduler on a terminal, where each one takes the place of the one before.

use super::super::common::print;
use crate::exit::Failure;
use crate::sheet;
use std::io::{IsTerminal, Write};

/// Place on the terminal.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Lines of the state that was shown last.
    lines: usize,
}

impl View {
    /// Shows a state.
    pub fn show(&mut self, state: &str) -> Result<(), Failure> {
        let (columns, rows) = terminal_size::terminal_size().map_or((80, 24), |(w, h)| (w.0, h.0));
        if is_steerable() && self.lines > 0 && self.lines < usize::from(rows) {
            // A terminal that went away is noticed by what is printed next.
            let _ = std::io::stdout().write_all(format!("\u{1b}[{}A\u{1b}[J", self.lines).as_bytes());
        }
        self.lines = lines(state, usize::from(columns).max(1));
        print(state)
    }
}

/// A terminal that understands where to write.
fn is_steerable() -> bool {
    let is_dumb = std::env::var("TERM").is_ok_and(|name| name == "dumb");
    std::io::stdout().is_terminal() && !is_dumb && !sheet::is_markdown()
}

/// Lines of a terminal that a text takes.
fn lines(text: &str, columns: usize) -> usize {
    // Marks of colours take no room; they are few, and a line too many would hide the line above.
    let letters = |line: &str| line.chars().filter(|c| !('\u{2060}'..='\u{206f}').contains(c)).count();
    text.lines().map(|line| letters(line).div_ceil(columns).max(1)).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_that_is_wider_than_the_terminal_counts_as_several() {
        assert_eq!(super::lines("a\n\n12345678901\n1234567890\n", 10), 5);
    }
}
