// SPDX-License-Identifier: GPL-2.0-or-later
//! Colour of results. Text carries invisible marks around what is coloured, which take no room in a table; they become
//! colours on a terminal and nothing elsewhere, so that a table reads the same in a pipe and a log.

use std::io::IsTerminal;

/// Begins a good verdict.
const GOOD: char = '\u{2061}';
/// Begins a bad one.
const BAD: char = '\u{2062}';
/// Begins a heading, or a number that stands out.
const STRONG: char = '\u{2063}';
/// Ends each of them.
const END: char = '\u{2064}';

/// Escape sequence of each mark on a terminal.
const COLOURS: [(char, &str); 4] =
    [(GOOD, "\u{1b}[32m"), (BAD, "\u{1b}[31m"), (STRONG, "\u{1b}[1m"), (END, "\u{1b}[0m")];

/// A good verdict.
pub fn good(text: &str) -> String {
    format!("{GOOD}{text}{END}")
}

/// A bad verdict.
pub fn bad(text: &str) -> String {
    format!("{BAD}{text}{END}")
}

/// A heading, or a number that stands out.
pub fn strong(text: &str) -> String {
    format!("{STRONG}{text}{END}")
}

/// A cell of a table, marked by what stands in it: verdicts, and changes that are more than the seeds explain.
pub fn cell(text: &str) -> String {
    match text {
        "match" | "holds" | "good" | "exact" => good(text),
        "differs" | "miss" | "fails" | "FAILS" | "NO" | "DIVERGENT" => bad(text),
        starred if starred.ends_with(" *") => strong(starred),
        other => other.to_owned(),
    }
}

/// The text as it is printed, with colours or without; what is no mark is handed through `shown`, which lets nothing
/// else drive a terminal.
pub fn finish(text: &str, colours: bool, shown: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c| COLOURS.iter().any(|(mark, _)| *mark == c)) {
        let (before, marked) = rest.split_at(at);
        out += &shown(before);
        let mark = marked.chars().next().unwrap_or(END);
        let colour = COLOURS.iter().find(|(known, _)| *known == mark).map_or("", |(_, colour)| colour);
        out += if colours { colour } else { "" };
        rest = &marked[mark.len_utf8()..];
    }
    out + &shown(rest)
}

/// Results are coloured on a terminal whose user does not refuse it (<https://no-color.org>).
pub fn wanted() -> bool {
    wanted_by(std::io::stdout().is_terminal(), |name| std::env::var(name).ok())
}

fn wanted_by(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = variable("TERM").is_some_and(|value| value == "dumb");
    is_terminal && !refused && !is_dumb
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        pelton_trace::lines(text).into_owned()
    }

    #[test]
    fn verdicts_have_colours_on_a_terminal_and_nowhere_else() {
        let text = cell("match") + " " + &cell("differs") + " " + &cell("12 *") + " word";
        let seen = "\u{1b}[32mmatch\u{1b}[0m \u{1b}[31mdiffers\u{1b}[0m \u{1b}[1m12 *\u{1b}[0m word";
        assert_eq!(finish(&text, true, plain), seen);
        assert_eq!(finish(&text, false, plain), "match differs 12 * word");
    }

    #[test]
    fn no_colour_is_asked_of_pipes_and_of_those_who_refuse_it() {
        let with =
            |name: &'static str, value: &'static str| move |asked: &str| (asked == name).then(|| value.to_owned());
        assert!(wanted_by(true, |_| None) && wanted_by(true, with("NO_COLOR", "")));
        assert!(!wanted_by(false, |_| None));
        assert!(!wanted_by(true, with("NO_COLOR", "1")) && !wanted_by(true, with("TERM", "dumb")));
    }

    #[test]
    fn names_still_drive_no_terminal() {
        let text = strong("a\u{1b}]0;t\u{7}");
        assert_eq!(finish(&text, true, plain), "\u{1b}[1ma\\u001b]0;t\\u0007\u{1b}[0m");
    }
}
