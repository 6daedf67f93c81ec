// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes or checks the known-answer tables: `vectors write|check [DIR]`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let mode = args.next();
    let dir = args.next().map_or_else(|| PathBuf::from("vectors"), PathBuf::from);
    match mode.as_deref() {
        Some("write") => report(pelton_reference::vectors::write(&dir).map_err(|error| vec![error.to_string()])),
        Some("check") => {
            let wrong = pelton_reference::vectors::check(&dir);
            report(if wrong.is_empty() { Ok(()) } else { Err(wrong) })
        }
        _ => {
            eprintln!("usage: vectors write|check [DIR]");
            ExitCode::from(2)
        }
    }
}

fn report(result: Result<(), Vec<String>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            eprintln!("{}", problems.join("\n"));
            ExitCode::from(1)
        }
    }
}
