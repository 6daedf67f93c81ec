// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton`: the command line. Arguments and help in `args.rs`, exit codes in `exit.rs`, one file per verb in `verbs/`.

mod args;
mod bug;
mod exit;
mod interrupt;
mod memory;
mod output;
mod paint;
mod picture;
mod progress;
mod rtapp_log;
mod sheet;
mod verbs;

use args::{Cli, Verb};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    bug::install();
    let cli = Cli::read(&arguments().collect::<Vec<_>>());
    bug::remember(std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()), seed(&cli));
    interrupt::install();
    match memory::ask(cli.global.jobs).and_then(|()| verbs::dispatch(&cli)) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(failure) if failure.exit == exit::Exit::Interrupted => {
            say(&failure.text);
            ExitCode::from(interrupt::code())
        }
        Err(failure) => {
            if !failure.text.is_empty() {
                say(&failure.text);
            }
            ExitCode::from(failure.exit.code())
        }
    }
}

/// Arguments as typed. `help VERB` is `VERB --help`: as a verb it would stand in every list of verbs.
fn arguments() -> impl Iterator<Item = std::ffi::OsString> {
    let asks = std::env::args_os().nth(1).is_some_and(|first| first == "help");
    let is_help = move |word: &std::ffi::OsString| asks && ["help", "--help", "-h"].iter().any(|help| word == help);
    let typed = std::env::args_os().filter(move |word| !is_help(word));
    typed.chain(asks.then(|| "--help".into()))
}

/// A line on stderr; a stderr that went away is no reason to panic. Colours of messages stay, whatever else drives a
/// terminal does not: names come out of files that may hold anything.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", keep_colours(text));
}

fn keep_colours(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split("\u{1b}[").enumerate() {
        let colour = part.find('m').filter(|&end| part[..end].bytes().all(|b| b.is_ascii_digit() || b == b';'));
        match (i, colour) {
            (0, _) => {}
            (_, Some(_)) => out += "\u{1b}[",
            (_, None) => out += "\\u001b[",
        }
        out += &pelton_trace::lines(part);
    }
    out
}

/// The seed to name in a bug report; verbs with many seeds always run the same ones.
fn seed(cli: &Cli) -> u64 {
    match &cli.verb {
        Verb::Run(args) => args.seed,
        Verb::Explain(args) => args.seed,
        Verb::Replay(args) => args.seed,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn messages_keep_their_colours_and_nothing_else_that_drives_a_terminal() {
        let text = "\u{1b}[31;1merror\u{1b}[0m: \u{1b}]0;t\u{7}\u{1b}[2J\u{1b}[\n\u{202e}";
        let shown = "\u{1b}[31;1merror\u{1b}[0m: \\u001b]0;t\\u0007\\u001b[2J\\u001b[\n\\u202e";
        assert_eq!(super::keep_colours(text), shown);
    }
}
