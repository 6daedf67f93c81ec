// SPDX-License-Identifier: GPL-2.0-or-later
//! Remarks that a reader needs before believing the numbers of a run.

use pelton_sim::Report;
use pelton_sim::report::TaskReport;

/// A task that is named spent at least this long on a CPU too small for it ...
const OUTGROWN_NS_MIN: u64 = 100_000_000;
/// ... and at least one part in so many of the time it ran: balancing takes a while to move it in any kernel.
const OUTGROWN_PART: u64 = 5;
/// Tasks named.
const NAMED: usize = 3;

/// Tasks that stayed on a CPU too small for them although a bigger one that they may use was idle; `None` when none
/// did.
pub fn outgrown(report: &Report) -> Option<String> {
    let stays = |t: &&TaskReport| t.outgrown_ns >= OUTGROWN_NS_MIN.max(t.run_ns / OUTGROWN_PART);
    let mut tasks: Vec<&TaskReport> = report.tasks.iter().filter(stays).collect();
    tasks.sort_by_key(|t| std::cmp::Reverse(t.outgrown_ns));
    if tasks.is_empty() {
        return None;
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    // Whole ticks are counted: they may be a little more than it ran.
    let one = |t: &&TaskReport| {
        format!("`{}` {:.2} of {:.2} s", t.name, seconds(t.outgrown_ns.min(t.run_ns)), seconds(t.run_ns))
    };
    let named: Vec<String> = tasks.iter().take(NAMED).map(one).collect();
    let more = tasks.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "ran on a CPU too small for it while a bigger one that it may use was idle: {}{more}; this policy does not move it",
        named.join(", ")
    ))
}

/// Sides with equal results in every seed: nothing that a policy gave with all it ran separates them. Each is named by
/// its number.
pub fn equal_in_every_seed<S: PartialEq>(sides: &[S], name: impl Fn(usize) -> String) -> Vec<String> {
    let same = |a: usize, b: usize| sides[a] == sides[b];
    let mut said = Vec::new();
    for first in 0..sides.len() {
        if (0..first).any(|before| same(before, first)) {
            continue;
        }
        let equal: Vec<String> = (first + 1..sides.len()).filter(|&other| same(first, other)).map(&name).collect();
        if !equal.is_empty() {
            let names = [vec![name(first)], equal].concat().join(" and ");
            said.push(format!("{names} gave equal values in every seed: nothing that ran here tells them apart"));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_is_moved_after_a_while_is_not_named() {
        let task = |name: &str, outgrown_ns| TaskReport {
            name: name.into(),
            run_ns: 2_000_000_000,
            outgrown_ns,
            ..TaskReport::default()
        };
        let report = |ns| Report { tasks: vec![task("a", ns), task("b", 1_900_000_000)], ..Report::default() };
        let said = outgrown(&report(390_000_000)).expect("b stays");
        assert!(said.contains("`b` 1.90 of 2.00 s") && !said.contains("`a`"), "{said}");
        assert!(outgrown(&report(400_000_000)).is_some_and(|said| said.contains("`a` 0.40 of 2.00 s")));
        assert_eq!(outgrown(&Report::default()), None);
    }
}
