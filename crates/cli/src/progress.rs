// SPDX-License-Identifier: GPL-2.0-or-later
//! A progress bar with the time left, on stderr, only when a person looks at it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Progress over simulated time; hidden unless stderr is a terminal and `--quiet` is not given.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar over `total_ns` of simulated time.
    pub fn new(total_ns: u64, quiet: bool) -> Self {
        let visible = !quiet && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total_ns / 1_000_000), target);
        // Where the length is not known there is no percentage and no time left.
        let known = "{bar:30} {percent:>3} % {msg} {eta} left";
        let template = if total_ns == 0 { "{spinner} {msg}, {elapsed}" } else { known };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress { bar }
    }

    /// Shows the name of the work in progress, in a few words.
    pub fn note(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// `ns` more of simulated time are done.
    pub fn advance(&self, ns: u64) {
        self.bar.inc(ns / 1_000_000);
    }
}

/// Counts events of a trace whose length is not known; hidden like [`Progress`].
pub struct Counting {
    bar: ProgressBar,
}

impl Counting {
    /// Starts at none.
    pub fn new(quiet: bool) -> Self {
        let visible = !quiet && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} events, {elapsed}") {
            bar.set_style(style);
        }
        Counting { bar }
    }

    /// Shows the number of events that are read.
    pub fn at(&self, events: u64) {
        if events.is_multiple_of(4096) {
            self.bar.set_position(events);
        }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
