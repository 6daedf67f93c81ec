// SPDX-License-Identifier: GPL-2.0-or-later
//! Progress, messages and cancellation of a request.

use crate::run::{Control, LabError, NEVER};
use pelton_scenario::Diagnostics;
use std::sync::atomic::{AtomicBool, Ordering};

/// Amount of work in a part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Simulated, recorded or real time, ns; 0 = not known.
    Time(u64),
    /// Events of a trace, as many as it has.
    Events,
}

/// Follows a request. Every method may be called from any thread.
pub trait Watch: Sync {
    /// Set it and the work ends soon, without a result.
    fn stop(&self) -> &'static AtomicBool {
        &NEVER
    }

    /// A part of the work begins.
    fn begins(&self, _what: &str, _amount: Amount) {}

    /// Place of the work within its part: a time, a line, a switch.
    fn at(&self, _what: &str) {}

    /// Adds simulated, recorded or real time that is done, ns.
    fn advance(&self, _ns: u64) {}

    /// Adds events that are read.
    fn events(&self, _count: u64) {}

    /// The part that began last is over.
    fn ends(&self) {}

    /// Passes on a remark about the result.
    fn note(&self, _text: &str) {}

    /// Passes on warnings about the inputs.
    fn warn(&self, _warnings: &Diagnostics) {}
}

/// No watcher.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// True when the work shall end.
pub(crate) fn is_stopped(watch: &dyn Watch) -> bool {
    watch.stop().load(Ordering::Relaxed)
}

/// Runs `work`, which takes `total_ns` of simulated time, as a part of a request.
pub(crate) fn watched<T>(
    watch: &dyn Watch,
    total_ns: u64,
    what: &str,
    work: impl FnOnce(Control<'_>) -> Result<T, LabError>,
) -> Result<T, LabError> {
    watch.begins(what, Amount::Time(total_ns));
    let advance = |ns| watch.advance(ns);
    let result = work(Control { stop: watch.stop(), progress: &advance });
    watch.ends();
    result
}
