// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks of a file as a whole: every sleeper has a waker, every mutex is used in pairs, every loop takes time.

mod locks;
mod loops;
mod tasks;
mod wakers;

use super::flat::FlatTask;
use super::report::Report;

/// Adds everything that is wrong or suspicious.
pub(super) fn check(tasks: &[FlatTask], cpus: Option<u32>, report: &mut Report) {
    tasks::check(tasks, cpus, report);
    loops::check(tasks, report);
    locks::check(tasks, report);
    wakers::check(tasks, report);
}
