// SPDX-License-Identifier: GPL-2.0-or-later
//! The core beside the guest's own scheduler while something is counted: `--observe 7.2`.

use std::error::Error;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use pelton_live::scheduler::{Compared, Host, Machine, Observer, Options, Powers};
use serde_json::{Value, json};

use crate::after;
use crate::scheduler::options;

/// Time between two looks at what was metered.
const LOOK: Duration = Duration::from_millis(100);

/// Runs `count` beside an observer, if one was asked for.
///
/// # Errors
/// When the kernel refuses the observer.
pub fn beside(
    arguments: &[String],
    count: impl Fn() -> Result<Value, Box<dyn Error>>,
) -> Result<Value, Box<dyn Error>> {
    let Some(policy) = after(arguments, "--observe") else { return count() };
    let machine = Machine::here().described()?;
    let (powers, options) = (Powers::here(&machine), options(policy)?);
    let (sender, ends) = channel::<()>();
    let observing = std::thread::spawn(move || observe(&machine, &options, powers, &ends));
    let told = count();
    drop(sender);
    let observed = observing.join().map_err(|_| "the observer panicked")?;
    let mut told = told?;
    told["observed"] = observed?;
    Ok(told)
}

/// Observes until the other end is gone.
fn observe(machine: &Machine, options: &Options, powers: Powers, ends: &Receiver<()>) -> Result<Value, String> {
    let known = powers.cpus.iter().filter(|points| !points.is_empty()).count();
    let mut observer = Observer::start(machine, options, powers).map_err(|why| why.to_string())?;
    while ends.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        observer.follow();
    }
    observer.follow();
    let energy = observer.energy().map(|of| {
        json!({
            "kernel_j": of.kernel, "core_j": of.core, "busy_s": of.busy_s, "unknown_s": of.unknown_s,
            "left_percent": of.left_percent, "lost": of.lost,
        })
    });
    let cpus = observer.report();
    let cpus = cpus.iter().map(|cpu| json!({"would_mhz": cpu.would_mhz, "was_mhz": cpu.was_mhz}));
    Ok(json!({
        "powers": known, "energy": energy, "cpus": cpus.collect::<Vec<_>>(),
        "load_tracking": observer.compared().iter().map(compared).collect::<Vec<_>>(),
    }))
}

fn compared(of: &Compared) -> Value {
    json!({
        "signal": of.signal, "published": of.published, "events": of.events, "equal": of.equal, "first": of.first,
        "different": of.different, "unseen": of.unseen, "looks": of.looks,
        "example": of.example.as_ref().map(|example| format!("{example:?}")),
    })
}
