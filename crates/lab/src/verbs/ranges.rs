// SPDX-License-Identifier: GPL-2.0-or-later
//! Ranges in options of workloads: `periodic:run_us=2000,period_us=16000,util_min=100..400/100` is four workloads.
//! Several ranges make every combination, the last one changing first.

use pelton_scenario::{Diagnostics, SourceFile};
use std::ops::Range;

/// Most workloads that one text makes.
const WORKLOADS_MAX: u64 = 1_000;

/// A range, and where it is.
struct Sweep {
    place: Range<usize>,
    from: u64,
    to: u64,
    step: u64,
}

/// Every workload that the text means; the text itself where it has no range.
///
/// ```
/// let all = pelton_lab::verbs::ranges::workloads("busy:util_min=100..300/100").unwrap();
/// assert_eq!(all, ["busy:util_min=100", "busy:util_min=200", "busy:util_min=300"]);
/// ```
///
/// # Errors
/// When a range is empty, or there are too many workloads.
pub fn workloads(text: &str) -> Result<Vec<String>, Diagnostics> {
    let sweeps = find(text);
    let file = SourceFile::new("--workload", text);
    let mut count: u64 = 1;
    for Sweep { place, from, to, step } in &sweeps {
        if *step == 0 || from > to {
            let wrong = file.error(place.clone(), "a range without values").label(&text[place.clone()]);
            return Err(wrong.help("write FIRST..LAST/STEP, as 100..400/100").into());
        }
        count = count.saturating_mul((to - from) / step + 1);
        if count > WORKLOADS_MAX {
            let wrong = file.error(place.clone(), format!("this makes {count} workloads or more"));
            return Err(wrong.allowed(format!("at most {WORKLOADS_MAX}")).into());
        }
    }
    // From the last on, so that places of those before stay.
    let filled = sweeps.iter().rev().fold(vec![text.to_owned()], |texts, sweep| {
        let values = || (sweep.from..=sweep.to).step_by(usize::try_from(sweep.step).unwrap_or(usize::MAX));
        let with = |value: u64| {
            texts.iter().map(move |text| {
                let mut text = text.clone();
                text.replace_range(sweep.place.clone(), &value.to_string());
                text
            })
        };
        values().flat_map(with).collect()
    });
    Ok(filled)
}

/// Values of options that have the form of a range. A path with dots has no digits on both sides of them.
fn find(text: &str) -> Vec<Sweep> {
    let mut found = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive([',', '+', ':']) {
        let value_at = piece.find('=').map(|equals| equals + 1);
        if let Some(start) = value_at {
            let value = piece[start..].trim_end_matches([',', '+', ':']).trim_end();
            if let Some((from, to, step)) = range(value) {
                let start = at + start;
                found.push(Sweep { place: start..start + value.len(), from, to, step });
            }
        }
        at += piece.len();
    }
    found
}

fn range(value: &str) -> Option<(u64, u64, u64)> {
    let (from, rest) = value.split_once("..")?;
    let (to, step) = rest.split_once('/')?;
    Some((from.parse().ok()?, to.parse().ok()?, step.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_combine_the_last_changing_first() {
        let all = workloads("periodic:run_us=1..2/1,period_us=10 + busy:nice=0..5/3").expect("good");
        let expected = [(1, 0), (1, 3), (2, 0), (2, 3)];
        let text = |(run, nice)| format!("periodic:run_us={run},period_us=10 + busy:nice={nice}");
        assert_eq!(all, expected.map(text));
    }

    #[test]
    fn what_is_no_range_stays_as_it_is() {
        for text in ["../x/a.json", "busy:cpus=0/2/4-5", "ui-frames:loads=../loads/a.csv", "-", "a.json + busy"] {
            assert_eq!(workloads(text).expect("good"), [text]);
        }
    }

    #[test]
    fn empty_and_endless_ranges_are_refused_where_they_are() {
        for (text, part) in [
            ("busy:util_min=400..100/100", "without values"),
            ("busy:util_min=1..4/0", "without values"),
            ("busy:util_min=0..100000/1", "at most 1000"),
        ] {
            let message = pelton_scenario::render(&workloads(text).expect_err(text), 100, false);
            assert!(message.contains(part) && message.contains("--workload:1:15"), "{message}");
        }
    }
}
