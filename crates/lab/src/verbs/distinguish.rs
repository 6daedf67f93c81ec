// SPDX-License-Identifier: GPL-2.0-or-later
//! Switches whose values a recording can distinguish.

use crate::results::validated::{AnswerTold, Distinguishes, Refuting, SwitchTold};
use crate::run::LabError;
use crate::watch::{Amount, Watch, is_stopped};
use pelton_replay::validate::{Answer, Distinction, Open, Options, Report, Told, distinguish};
use std::time::{Duration, Instant};

/// Asks for at most so long.
pub(super) fn told(
    again: &Open<'_>,
    options: &Options,
    report: &Report,
    time_ns: u64,
    watch: &dyn Watch,
) -> Result<Distinction, LabError> {
    watch.begins("distinguish", Amount::Time(time_ns));
    let (start, limit) = (Instant::now(), Duration::from_nanos(time_ns));
    let mut last = Duration::ZERO;
    let found = distinguish(again, options, report, &mut |what| {
        let passed = start.elapsed();
        watch.at(what);
        watch.advance(u64::try_from((passed - last).as_nanos()).unwrap_or(0));
        last = passed;
        passed < limit && !is_stopped(watch)
    });
    watch.ends();
    if is_stopped(watch) {
        return Err(LabError::Stopped("interrupted: no result".to_owned()));
    }
    found.map_err(LabError::input)
}

/// The distinctions as a result.
pub fn result(found: &Distinction) -> Distinguishes {
    let by =
        |answers: &[(&'static str, Answer)]| answers.iter().map(|(name, answer)| (*name, told_of(answer))).collect();
    let switch = |told: &Told| SwitchTold { switch: told.switch, value: told.value, alternatives: by(&told.others) };
    Distinguishes { switches: found.switches.iter().map(switch).collect(), profiles: by(&found.profiles) }
}

fn told_of(answer: &Answer) -> AnswerTold {
    let first = match answer {
        Answer::Refuted(Some(d)) => Some(Refuting { event: d.event, time_ns: d.time_ns, cpu: d.cpu, signal: d.signal }),
        _ => None,
    };
    AnswerTold { answer: answer.word(), first }
}
