// SPDX-License-Identifier: GPL-2.0-or-later
//! A panic is a bug of this program: say so, with everything needed to see it again.

use crate::exit::Exit;
use std::sync::OnceLock;

/// Facts about this invocation that the message contains.
#[derive(Debug, Default)]
struct Invocation {
    arguments: Vec<String>,
    seed: u64,
}

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// Remembers the command and its seed, once they are known.
pub fn remember(arguments: impl Iterator<Item = String>, seed: u64) {
    let _ = INVOCATION.set(Invocation { arguments: arguments.collect(), seed });
}

/// Installs the panic hook: it prints the message and ends the program, whichever thread panicked. A panic for want of
/// memory (libraries know no other way) is none of this program.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        crate::memory::end_if_gone();
        let default = Invocation::default();
        let invocation = INVOCATION.get().unwrap_or(&default);
        let place = info.location().map(|l| format!("{}:{}", l.file(), l.line())).unwrap_or_default();
        crate::say(&message(&reason(info), &place, invocation));
        std::process::exit(i32::from(Exit::Bug.code()));
    }));
}

fn reason(info: &std::panic::PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("panic").to_owned()
}

fn message(reason: &str, place: &str, invocation: &Invocation) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut command = vec!["pelton".to_owned()];
    command.extend(invocation.arguments.iter().map(|a| shell_word(a)));
    let takes_seed = invocation.arguments.first().is_some_and(|v| v == "run" || v == "explain");
    if takes_seed && !invocation.arguments.iter().any(|a| a == "--seed" || a.starts_with("--seed=")) {
        command.push(format!("--seed {}", invocation.seed));
    }
    let command = command.join(" ");
    format!(
        "bug: {reason}\n  at: {place}\n  version: {version}, seed {}\n  reproduce: {command}\n  \
         This is our mistake, not yours. Please report it with these lines and the input files.",
        invocation.seed
    )
}

/// Quotes an argument for a POSIX shell when it needs it.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_holds_seed_version_and_command() {
        let arguments = ["run", "--platform", "my board.toml"].map(str::to_owned).to_vec();
        let text = message("index out of range", "a.rs:7", &Invocation { arguments, seed: 42 });
        assert!(text.contains("reproduce: pelton run --platform 'my board.toml' --seed 42"), "{text}");
        assert!(text.contains(env!("CARGO_PKG_VERSION")) && text.contains("a.rs:7"), "{text}");
    }

    #[test]
    fn a_given_seed_is_not_repeated() {
        let arguments = ["run", "--seed", "7"].map(str::to_owned).to_vec();
        let text = message("x", "a.rs:1", &Invocation { arguments, seed: 7 });
        assert_eq!(text.matches("--seed").count(), 1, "{text}");
    }
}
