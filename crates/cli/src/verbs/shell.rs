// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton shell`: completions and man pages, made from the definition of the command line.

use super::common::print_plain;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::output;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use pelton_scenario::diagnostic::hint_for;
use std::path::Path;

/// The script of a shell.
pub fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pelton", &mut script);
    print_plain(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Good)
}

/// One page, or all.
pub fn man(verb: &[String], all: Option<&Path>) -> Result<Exit, Failure> {
    let mut root = Cli::command();
    root.build();
    if let Some(folder) = all {
        let failed = |e| Failure::cannot(format!("cannot create {}: {e}", folder.display()), "may it be written?");
        std::fs::create_dir_all(folder).map_err(failed)?;
        every(&root, "pelton", folder)?;
        return Ok(Exit::Good);
    }
    let mut name = "pelton".to_owned();
    let mut command = &root;
    for word in verb {
        let known = || command.get_subcommands().map(Command::get_name).filter(|known| *known != "help");
        let found = command.get_subcommands().find(|c| c.get_name() == word);
        let missing = || {
            let hint = hint_for(word, known().collect::<Vec<_>>());
            Failure::new(Exit::Usage, format!("`{name}` has no verb `{word}`"), Some(&hint))
        };
        command = found.ok_or_else(missing)?;
        name = format!("{name}-{word}");
    }
    print_plain(&page(command, &name)?)?;
    Ok(Exit::Good)
}

/// The page of a command and of all below it.
fn every(command: &Command, name: &str, folder: &Path) -> Result<(), Failure> {
    let mut file = output::create_in(folder, &format!("{name}.1"), true)?;
    file.write_all(page(command, name)?.as_bytes())?;
    file.keep()?;
    let below = command.get_subcommands().filter(|c| c.get_name() != "help");
    below.into_iter().try_for_each(|c| every(c, &format!("{name}-{}", c.get_name()), folder))
}

fn page(command: &Command, name: &str) -> Result<String, Failure> {
    let mut text = Vec::new();
    Man::new(command.clone()).title(name).render(&mut text).map_err(|e| Failure::new(Exit::Bug, e, None))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
