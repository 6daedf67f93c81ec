// SPDX-License-Identifier: GPL-2.0-or-later
//! Single records altered on purpose: how many are noticed, how many pass, and as what.

use std::collections::BTreeMap;
use std::ops::Range;

use pelton_schema::{Event, PeltSignal};
use pelton_trace::import::{ImportError, Source, Timed};
use schemars::JsonSchema;
use serde::Serialize;

use super::control::Random;
use super::report::Tally;
use super::{Options, Validator};

/// Every so many records one is altered.
const ALTER_EVERY: u64 = 100;

/// Extent to which a record is altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// One field by one.
    One,
    /// One sum by 2 to 1023, or one average by 2 to 7.
    Small,
    /// One sum by 2^10 to 2^20 (of the load: 2^10), or one average by 8 to 63.
    Large,
}

impl Size {
    /// All of them.
    pub const ALL: [Size; 3] = [Size::One, Size::Small, Size::Large];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Size::One => "one field by one",
            Size::Small => "a sum by less than 1024 or an average by less than 8",
            Size::Large => "a sum by up to 2^20 or an average by up to 63",
        }
    }
}

/// Records altered one at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Altered {
    /// By how much.
    pub size: &'static str,
    /// Records.
    pub altered: u64,
    /// Records that diverged.
    pub noticed: u64,
    /// The next record of the object did.
    pub noticed_at_next: u64,
    /// A class that is not decided explained them.
    pub not_decided: u64,
    /// Records that passed.
    pub let_pass: u64,
    /// Records that passed as equal.
    pub exact: u64,
    /// Records that passed under a class, by its name.
    pub classes: BTreeMap<&'static str, u64>,
}

/// Judgement of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Noticed,
    /// Under this class, "" for none.
    Passed(&'static str),
    /// Not held against anything.
    NotAsked,
}

/// One record in a hundred is altered; the state altered is the one the next record of the object is held against.
///
/// # Errors
/// When the trace cannot be read.
pub fn alter_test(source: &mut dyn Source, options: &Options) -> Result<BTreeMap<Size, Altered>, ImportError> {
    let mut validator = Validator::new(options.clone());
    let mut random = Random::default();
    let mut results: BTreeMap<Size, Altered> = BTreeMap::new();
    // Objects whose last record was altered and passed.
    let mut waiting: BTreeMap<(u32, u32), (Size, &'static str)> = BTreeMap::new();
    while let Some(mut timed) = source.next()? {
        let Some((signal, key)) = asked(&timed.event) else {
            validator.event(&timed);
            continue;
        };
        let pick = random.next();
        let size = Size::ALL[(pick >> 32) as usize % Size::ALL.len()];
        let alters = pick.is_multiple_of(ALTER_EVERY) && !waiting.contains_key(&key);
        if alters {
            alter(&mut timed.event, size, &mut random);
        }
        let verdict = judged(&mut validator, &timed, signal);
        let result = results.entry(size).or_default();
        match verdict {
            Verdict::NotAsked => {}
            Verdict::Noticed if alters => {
                result.altered += 1;
                result.noticed += 1;
            }
            Verdict::Passed(class) if alters => {
                result.altered += 1;
                waiting.insert(key, (size, class));
            }
            verdict => {
                if let Some((size, class)) = waiting.remove(&key) {
                    settle(results.entry(size).or_default(), class, verdict == Verdict::Noticed);
                }
            }
        }
    }
    for (size, class) in std::mem::take(&mut waiting).into_values() {
        settle(results.entry(size).or_default(), class, false);
    }
    let report = validator.finish();
    for (size, result) in &mut results {
        let vague = |class: &str| report.challenges.get(class).is_some_and(|c| !c.decides());
        result.not_decided = result.classes.iter().filter(|(class, _)| vague(class)).map(|(_, n)| n).sum();
        result.let_pass = result.altered - result.noticed - result.noticed_at_next - result.not_decided;
        result.size = size.name();
    }
    Ok(results)
}

/// Signal and object of a record that tracepoints or looks made.
fn asked(event: &Event) -> Option<(PeltSignal, (u32, u32))> {
    let Event::PeltState { signal: code, object, .. } = *event else { return None };
    let signal = PeltSignal::of_code(code)?;
    Some((signal, super::object::key(signal, object)))
}

/// Feeds a record and returns the verdict about it.
fn judged(validator: &mut Validator, timed: &Timed, signal: PeltSignal) -> Verdict {
    let tally = |v: &Validator| v.report.signals.get(signal.name()).cloned().unwrap_or_default();
    let (before, suspected) = (tally(validator), validator.engine.suspected);
    validator.event(timed);
    if validator.engine.suspected > suspected {
        return Verdict::Noticed;
    }
    match passed_as(&before, &tally(validator)) {
        Some(class) => Verdict::Passed(class),
        None => Verdict::NotAsked,
    }
}

fn passed_as(before: &Tally, after: &Tally) -> Option<&'static str> {
    if after.exact > before.exact {
        return Some("");
    }
    let grew = |(class, n): &(&&'static str, &u64)| before.classes.get(**class).is_none_or(|old| old < n);
    after.classes.iter().find(grew).map(|(class, _)| *class)
}

fn settle(result: &mut Altered, class: &'static str, noticed: bool) {
    if noticed {
        result.noticed_at_next += 1;
    } else if class.is_empty() {
        result.exact += 1;
    } else {
        *result.classes.entry(class).or_default() += 1;
    }
}

/// Changes one field of a record; a number that cannot fall rises.
fn alter(event: &mut Event, size: Size, random: &mut Random) {
    let Event::PeltState { load_sum, runnable_sum, util_sum, load_avg, runnable_avg, util_avg, .. } = event else {
        return;
    };
    let field = random.next() % 6;
    let (sum_bits, load_bits, avg_bits) = match size {
        Size::One => (0..1, 0..1, 0..1),
        Size::Small => (1..10, 1..10, 1..3),
        Size::Large => (10..20, 10..11, 3..6),
    };
    match field {
        0 => *load_sum = other(random, *load_sum, load_bits),
        1 => *runnable_sum = other(random, *runnable_sum, sum_bits),
        2 => *util_sum = u32::try_from(other(random, (*util_sum).into(), sum_bits)).unwrap_or(u32::MAX),
        3 => *load_avg = other(random, *load_avg, avg_bits),
        4 => *runnable_avg = other(random, *runnable_avg, avg_bits),
        _ => *util_avg = u32::try_from(other(random, (*util_avg).into(), avg_bits)).unwrap_or(u32::MAX),
    }
}

fn other(random: &mut Random, value: u64, bits: Range<u32>) -> u64 {
    let changed = random.off(value, bits);
    if changed == value { value + 1 } else { changed }
}
