// SPDX-License-Identifier: GPL-2.0-only
//! Ctrl-C: the first asks runs to stop, the second ends the program at once.

use crate::exit::Exit;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler. Without one (a signal already taken by the embedding program) Ctrl-C keeps its default effect.
pub fn install() {
    let handler = || {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
    };
    let _ = ctrlc::set_handler(handler);
}

/// The flag that runs look at.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}
