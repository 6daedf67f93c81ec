// SPDX-License-Identifier: GPL-2.0-or-later
//! Work beside the interpreter: a thread does it, without the lock of the interpreter; the one that asked looks for
//! signals meanwhile, so that Ctrl-C ends it soon.

use crate::{Said, error};
use pelton_lab::run::LabError;
use pelton_lab::watch::{Amount, Watch};
use pelton_scenario::Diagnostics;
use pyo3::prelude::*;
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Time between two looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Flags that no work has now: a watch hands out flags that live as long as the program.
static FREE: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

/// Follows the work.
struct Followed {
    stop: &'static AtomicBool,
    said: Mutex<Said>,
    part: Mutex<(String, u64)>,
    done: AtomicU64,
    ended: (Mutex<bool>, Condvar),
}

impl Followed {
    fn new() -> Followed {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let stop = free.unwrap_or_else(|| Box::leak(Box::new(AtomicBool::new(false))));
        stop.store(false, Ordering::Relaxed);
        Followed {
            stop,
            said: Mutex::default(),
            part: Mutex::default(),
            done: AtomicU64::new(0),
            ended: (Mutex::new(false), Condvar::new()),
        }
    }

    /// Waits a moment; true when the work is over.
    fn is_over(&self) -> bool {
        let ended = self.ended.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ended.1.wait_timeout_while(ended, LOOK, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Calls `progress(what, done, total)`; amounts are ns, or events where the total is 0.
    fn say(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else { return Ok(()) };
        let (what, total) = self.part.lock().unwrap_or_else(PoisonError::into_inner).clone();
        progress.call1(py, (what, self.done.load(Ordering::Relaxed), total)).map(drop)
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.stop);
    }
}

impl Watch for Followed {
    fn stop(&self) -> &'static AtomicBool {
        self.stop
    }

    fn begins(&self, what: &str, amount: Amount) {
        let total = match amount {
            Amount::Time(ns) => ns,
            Amount::Events => 0,
        };
        *self.part.lock().unwrap_or_else(PoisonError::into_inner) = (what.to_owned(), total);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, ns: u64) {
        self.done.fetch_add(ns, Ordering::Relaxed);
    }

    fn events(&self, count: u64) {
        self.done.store(count, Ordering::Relaxed);
    }

    fn note(&self, text: &str) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).0.push(text.to_owned());
    }

    fn warn(&self, warnings: &Diagnostics) {
        if !warnings.is_empty() {
            let text = pelton_scenario::render(warnings, 100, false).trim_end().to_owned();
            self.said.lock().unwrap_or_else(PoisonError::into_inner).1.push(text);
        }
    }
}

/// Says that the work is over, however it ends.
struct Ended<'a>(&'a Followed);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        *self.0.ended.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.ended.1.notify_all();
    }
}

/// Does the work; what it said about its inputs comes with the result.
///
/// # Errors
/// As exceptions of `pelton`; `KeyboardInterrupt` and what `progress` raises end the work first.
pub fn work<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    job: impl FnOnce(&dyn Watch) -> Result<T, LabError> + Send,
) -> PyResult<(T, Said)> {
    work_of(py, progress, &|_| (), job)
}

/// Does the work, and calls `ends` once when it is to end early: for what runs in Python itself.
///
/// # Errors
/// As [`work`].
pub fn work_of<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    ends: &dyn Fn(Python<'_>),
    job: impl FnOnce(&dyn Watch) -> Result<T, LabError> + Send,
) -> PyResult<(T, Said)> {
    let followed = Followed::new();
    let outcome = std::thread::scope(|scope| {
        let (job, watch) = (job, &followed);
        let worker = std::thread::Builder::new().name("pelton".to_owned()).spawn_scoped(scope, move || {
            let _ended = Ended(watch);
            job(watch)
        })?;
        let mut raised = None;
        while !py.detach(|| followed.is_over()) {
            // A caller that asked to stop is not called again.
            let looked =
                py.check_signals().and_then(|()| if raised.is_some() { Ok(()) } else { followed.say(py, progress) });
            if let (Err(why), true) = (looked, raised.is_none()) {
                followed.stop.store(true, Ordering::Relaxed);
                raised = Some(why);
                ends(py);
            }
        }
        let joined = py.detach(|| worker.join());
        match raised {
            Some(why) => Err(why),
            None => followed.say(py, progress).map(|()| joined),
        }
    })?;
    let value = match outcome {
        Ok(Ok(value)) => value,
        Ok(Err(why)) => return Err(error::raised(py, why)),
        Err(panic) => return Err(error::bug(py, &reason(&*panic))),
    };
    let said = std::mem::take(&mut *followed.said.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((value, said))
}

fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic").to_owned()
}
