// SPDX-License-Identifier: GPL-2.0-or-later
//! Ctrl-C, SIGTERM, SIGHUP: the first asks the verb to end what it does; a verb that has not after a while, and any at
//! the second signal, is ended.

use crate::exit::{Exit, Failure};
use crate::output;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

/// Longest time that a verb may take to notice.
const PATIENCE: Duration = Duration::from_millis(350);

/// More than any kernel says of a process.
const STATUS_BYTES_MAX: usize = 64 << 10;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static NOTICED: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);

/// Installs the handler. Where that is not possible signals keep their default effect.
pub fn install() {
    let ignored = ignored();
    let heard = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    if let Ok(signals) = Signals::new(heard) {
        // Without the thread the signals would have no effect: dropping them restores their default.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || listen(signals));
    }
}

/// Signals that this program is to ignore, a bit each: `nohup` and shells in the background start programs so.
fn ignored() -> u64 {
    let status = pelton_scenario::reading::bytes(Path::new("/proc/self/status"), STATUS_BYTES_MAX).unwrap_or_default();
    let mut lines = status.split(|&byte| byte == b'\n');
    let set = lines.find_map(|line| line.strip_prefix(b"SigIgn:")).and_then(|set| std::str::from_utf8(set).ok());
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

fn listen(mut signals: Signals) {
    for signal in &mut signals {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            end();
        }
        SIGNAL.store(signal, Ordering::Relaxed);
        // Not being able to wait for the verb is no reason to wait for ever: the second signal still ends it.
        let _ = std::thread::Builder::new().spawn(|| {
            std::thread::park_timeout(PATIENCE);
            if !NOTICED.load(Ordering::Relaxed) {
                end();
            }
        });
    }
}

/// Ends the program as it is.
fn end() -> ! {
    crate::say(&("interrupted: no result".to_owned() + &output::give_up()));
    std::process::exit(i32::from(code()))
}

/// The flag that runs and readers look at.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// True once a signal has come.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The verb has seen the flag and is ending: how long that takes is its own affair.
pub fn notice() {
    NOTICED.store(true, Ordering::Relaxed);
}

/// A verb that was asked to end has no result.
pub fn failure(text: impl Into<String>) -> Failure {
    notice();
    Failure { exit: Exit::Interrupted, text: text.into() }
}

/// Exit code of a program that a signal ended, by the shells' rule: 128 and the signal.
pub fn code() -> u8 {
    128u8.saturating_add(SIGNAL.load(Ordering::Relaxed) as u8)
}
