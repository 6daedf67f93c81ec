// SPDX-License-Identifier: GPL-2.0-or-later
//! Faults put into a trace on purpose. A check that cannot fail proves nothing: each fault must be found.

use std::collections::BTreeMap;

use pelton_core::{Policy, arithmetic};
use pelton_schema::{Event, PeltSignal, PeltSource};
use pelton_trace::import::{ImportError, Source, Timed};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Options, Report, Validator};

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub struct FaultResult {
    /// Description of the fault.
    pub fault: &'static str,
    /// The trace has what it changes.
    pub possible: bool,
    /// True where it was noticed.
    pub found: bool,
    /// Records that diverged.
    pub divergent: u64,
}

/// One way to spoil a stream of events; `None` drops the event.
type Spoil = fn(u64, Event) -> Option<Event>;

/// Records of each kind before the fault strikes, so that states are known.
const STRIKE: u64 = 500;

/// Length of the stretch that is dropped, in records.
const DROPPED: u64 = 200;

/// States among which calls and tracepoints get a flipped bit: one of them alone may be the last of its object.
const FLIPPED: u64 = 16;

/// Flips a bit of a few sums.
fn flipped_bit(n: u64, event: Event) -> Option<Event> {
    Some(match event {
        Event::PeltState { mut util_sum, source, .. }
            if (STRIKE..STRIKE + FLIPPED).contains(&n) && source <= PeltSource::Tracepoint as u32 =>
        {
            util_sum ^= 1 << 14;
            with_state(event, |e| {
                if let Event::PeltState { util_sum: sum, .. } = e {
                    *sum = util_sum;
                }
            })
        }
        other => other,
    })
}

fn with_state(mut event: Event, change: impl FnOnce(&mut Event)) -> Event {
    change(&mut event);
    event
}

/// The weight of the entities is another one.
fn wrong_weight(_: u64, event: Event) -> Option<Event> {
    Some(with_state(event, |e| {
        if let Event::PeltState { weight, signal, .. } = e
            && *signal == PeltSignal::Entity as u32
        {
            *weight = *weight / 2 * 3;
        }
    }))
}

/// Running is not seen.
fn never_running(_: u64, event: Event) -> Option<Event> {
    Some(with_state(event, |e| {
        if let Event::PeltState { flags, .. } = e {
            *flags &= !pelton_schema::PELT_RUNNING;
        }
    }))
}

/// Updates and switches of a stretch are missing.
fn dropped(n: u64, event: Event) -> Option<Event> {
    let update = match event {
        Event::PeltState { source, .. } => source <= PeltSource::Tracepoint as u32,
        Event::SchedSwitch { .. } => true,
        _ => false,
    };
    (!update || !(STRIKE..STRIKE + DROPPED).contains(&n)).then_some(event)
}

/// The clock runs at another frequency.
fn wrong_frequency(_: u64, event: Event) -> Option<Event> {
    Some(with_state(event, |e| {
        if let Event::RqClockStep { freq_scale, .. } = e {
            *freq_scale = *freq_scale * 3 / 4;
        }
    }))
}

/// The governor's target is one unit higher.
fn wrong_target(_: u64, event: Event) -> Option<Event> {
    Some(with_state(event, |e| {
        if let Event::EffectivePerf { perf, .. } = e {
            *perf += 1;
        }
    }))
}

fn unspoiled(_: u64, event: Event) -> Option<Event> {
    Some(event)
}

/// Events a fault can be put into.
fn is_state(event: &Event) -> bool {
    matches!(event, Event::PeltState { .. })
}

fn is_step(event: &Event) -> bool {
    matches!(event, Event::RqClockStep { .. })
}

fn is_target(event: &Event) -> bool {
    matches!(event, Event::EffectivePerf { .. })
}

/// Name, what it does, and what it needs.
type Fault = (&'static str, Spoil, fn(&Event) -> bool);

const FAULTS: &[Fault] = &[
    ("one bit of a few sums is flipped", flipped_bit, is_state),
    ("entities have another weight", wrong_weight, is_state),
    ("no task ever runs", never_running, is_state),
    ("updates and switches of a stretch are missing", dropped, is_state),
    ("the clock runs at another frequency", wrong_frequency, is_step),
    ("a performance target is one higher", wrong_target, is_target),
];

/// The kernel whose load tracking differs from every one since 5.1.
const WRONG_PROFILE: &str = "4.12";

fn run(source: &mut dyn Source, mut validator: Validator, spoil: Spoil) -> Result<Report, ImportError> {
    let mut states = 0;
    while let Some(Timed { time_ns, event }) = source.next()? {
        states += u64::from(is_state(&event));
        if let Some(event) = spoil(states, event) {
            validator.event(&Timed { time_ns, event });
        }
    }
    Ok(validator.finish())
}

/// Number of signs that a person would notice: divergences, and holes where events are missing.
fn seen(report: &Report) -> u64 {
    report.divergent + report.holes
}

fn has(source: &mut dyn Source, kind: fn(&Event) -> bool) -> Result<bool, ImportError> {
    let mut count = 0;
    while let Some(timed) = source.next()? {
        count += u64::from(kind(&timed.event));
        if count > STRIKE + DROPPED {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The trace once as it is and once per fault. `open` opens it anew.
///
/// # Errors
/// When the trace cannot be read.
pub fn self_test(
    open: &dyn Fn() -> Result<Box<dyn Source>, ImportError>,
    options: &Options,
) -> Result<Vec<FaultResult>, ImportError> {
    let validator = || Validator::new(options.clone());
    let clean = seen(&run(&mut *open()?, validator(), unspoiled)?);
    let mut results = Vec::new();
    for &(fault, spoil, kind) in FAULTS {
        let possible = has(&mut *open()?, kind)?;
        let divergent = if possible { seen(&run(&mut *open()?, validator(), spoil)?) } else { 0 };
        results.push(FaultResult { fault, possible, found: divergent > clean, divergent });
    }
    let possible = has(&mut *open()?, is_state)?;
    let wrong = Policy::profile(WRONG_PROFILE).map(|policy| Options { policy, ..options.clone() });
    if let (true, Ok(wrong)) = (possible, wrong) {
        let divergent = seen(&run(&mut *open()?, Validator::new(wrong), unspoiled)?);
        results.push(FaultResult { fault: "rules of kernel 4.12", possible, found: divergent > clean, divergent });
    }
    for (fault, core) in arithmetic::wrong() {
        let wrong = validator().with_core(core);
        let divergent = if possible { seen(&run(&mut *open()?, wrong, unspoiled)?) } else { 0 };
        results.push(FaultResult { fault, possible, found: divergent > clean, divergent });
    }
    Ok(results)
}

/// Calls taken out one at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SingleCalls {
    /// Calls.
    pub taken_out: u64,
    /// The next record of the object showed it.
    pub noticed: u64,
    /// Calls that had changed nothing.
    pub changed_nothing: u64,
    /// A class explained what followed.
    pub explained: u64,
}

/// Every so many calls one is taken out.
const DROP_EVERY: u64 = 97;

/// Takes single full calls out of a trace and looks whether the next call for the object shows it. States read in
/// between are left out as well: they would show what the call did.
///
/// # Errors
/// When the trace cannot be read.
pub fn drop_test(source: &mut dyn Source, options: &Options) -> Result<SingleCalls, ImportError> {
    let mut validator = Validator::new(options.clone());
    let mut result = SingleCalls::default();
    // Object of a call that was taken out, and whether the call had changed anything.
    let mut waiting: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    let mut before: BTreeMap<u32, (Timed, [u64; 4])> = BTreeMap::new();
    let mut calls = 0_u64;
    while let Some(timed) = source.next()? {
        if let (Event::PeltBefore { cpu, .. }, Some(numbers)) = (timed.event, numbers(&timed.event)) {
            before.insert(cpu, (timed, numbers));
            continue;
        }
        let Event::PeltState { cpu, signal, source: from, object, .. } = timed.event else {
            validator.event(&timed);
            continue;
        };
        if from != PeltSource::Call as u32 {
            continue;
        }
        let first = before.remove(&cpu);
        let key = super::object::key_of_codes(signal, object);
        calls += 1;
        if let (Some((_, was)), true) = (first, calls.is_multiple_of(DROP_EVERY) && !waiting.contains_key(&key)) {
            waiting.insert(key, numbers(&timed.event) != Some(was));
            continue;
        }
        let suspected = validator.engine.suspected;
        if let Some((before, _)) = first {
            validator.event(&before);
        }
        validator.event(&timed);
        if let Some(changed) = waiting.remove(&key) {
            let noticed = validator.engine.suspected > suspected;
            result.taken_out += 1;
            result.noticed += u64::from(noticed);
            result.changed_nothing += u64::from(!noticed && !changed);
            result.explained += u64::from(!noticed && changed);
        }
    }
    Ok(result)
}

/// Time and sums: what a call can change.
fn numbers(event: &Event) -> Option<[u64; 4]> {
    match *event {
        Event::PeltBefore { last_update_time_ns, load_sum, runnable_sum, util_sum, .. }
        | Event::PeltState { last_update_time_ns, load_sum, runnable_sum, util_sum, .. } => {
            Some([last_update_time_ns, load_sum, runnable_sum, util_sum.into()])
        }
        _ => None,
    }
}
