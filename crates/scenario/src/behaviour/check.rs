// SPDX-License-Identifier: GPL-2.0-or-later
//! Rules that hold between the keys of a behaviour file.

use super::keys::THREADS_MAX;
use super::{Behaviour, Class, Measure, Task, UNEQUAL};
use crate::diagnostic::{Diagnostics, did_you_mean, hint_for, short};
use crate::platform;
use crate::tree::{At, Reader};
use std::collections::BTreeSet;
use std::ops::Range;

/// Longest name of a task: with the number of its thread the kernel keeps it whole.
const NAME_CHARS_MAX: usize = 10;
/// Most rounds of a task's phases.
const PHASES_MAX: u32 = 200;

struct Checker<'b> {
    behaviour: &'b Behaviour,
    found: Diagnostics,
}

/// All that is wrong with the meaning of a file whose form is right.
pub(super) fn check(behaviour: &Behaviour, root: &Reader<'_>) -> Diagnostics {
    let mut checker = Checker { behaviour, found: Diagnostics::new() };
    checker.boards();
    checker.policy();
    checker.names(root);
    root.tables("task").iter().zip(&behaviour.tasks).for_each(|(at, task)| checker.task(&at.value, task, &at.span));
    checker.threads(root);
    root.tables("claim").iter().for_each(|at| checker.claim(&at.value, &at.span));
    checker.worlds(root);
    checker.found.sort();
    checker.found
}

impl Checker<'_> {
    fn say(&mut self, span: &Range<usize>, message: impl AsRef<str>, help: impl Into<String>) {
        let at = self.behaviour.file.error(span.clone(), message);
        self.found.push_with(|| at.help(help));
    }

    fn boards(&mut self) {
        for board in &self.behaviour.boards {
            let name = board.value.as_str();
            if name == UNEQUAL || platform::names().any(|known| known == name) {
                continue;
            }
            let near = did_you_mean(name, platform::names());
            let help = near.map_or_else(
                || "`pelton platform list` has the names; a file of your own is given by --board".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            self.say(&board.span, format!("no board is called `{}`", short(name)), help);
        }
    }

    fn policy(&mut self) {
        let is_file = |text: &str| text.contains('/') || text.ends_with(".toml") || text == "-";
        if let Some(at) = self.behaviour.policy.as_ref().filter(|at| is_file(&at.value)) {
            self.say(&at.span, "`policy` names a file", "a file of a policy is given by --policy");
        }
    }

    /// Names of the file, tasks and claims.
    fn names(&mut self, root: &Reader<'_>) {
        if let Some(at) = root.text("name").filter(|at| !is_name(&at.value, 64)) {
            self.say(&at.span, "`name` is no short name", "lower case, digits and `-`, a letter first");
        }
        let tasks = self.behaviour.tasks.iter().map(|task| task.name.clone()).collect();
        self.unique("task", tasks);
        self.unique("claim", self.behaviour.claims.iter().map(|claim| claim.id.clone()).collect());
    }

    fn unique(&mut self, what: &str, names: Vec<At<String>>) {
        let mut seen = BTreeSet::new();
        for At { value, span } in names {
            if !seen.insert(value.clone()) {
                self.say(&span, format!("two {what}s are called `{}`", short(&value)), "give each a name of its own");
            }
        }
    }

    fn task(&mut self, reader: &Reader<'_>, task: &Task, heading: &Range<usize>) {
        let At { value: name, span } = &task.name;
        if !is_name(name, NAME_CHARS_MAX) || name.ends_with(|c: char| c.is_ascii_digit() || c == '-') {
            let help = "1 to 10 characters: lower case, digits and `-`, a letter first and last";
            self.say(span, format!("`{}` is no name of a task", short(name)), help);
        }
        self.work(reader, task, heading);
        if let (Some(_), Some(at)) = (reader.int::<u32>("count"), reader.text("count_per")) {
            self.say(&at.span, "`count` and `count_per` contradict each other", "keep one of them");
        }
        if let (Some(min), Some(max)) = (task.util_min, task.util_max)
            && min.pct > max.pct
        {
            let span = reader.key_span("util_min_pct").unwrap_or(heading.clone());
            self.say(&span, "`util_min_pct` is above `util_max_pct`", "a lower clamp is no more than the upper one");
        }
        if task.start_ms >= self.behaviour.duration_ms && self.behaviour.duration_ms > 0 {
            let span = reader.key_span("start_ms").unwrap_or(heading.clone());
            let help = format!("the run ends after {} ms", self.behaviour.duration_ms);
            self.say(&span, format!("task `{name}` starts when the run is over"), help);
        }
    }

    fn work(&mut self, reader: &Reader<'_>, task: &Task, heading: &Range<usize>) {
        let (own, phases) = (reader.key_span("util_pct"), reader.key_span("phase"));
        match (own, phases) {
            (None, None) => {
                let message = format!("task `{}` has no work", short(&task.name.value));
                self.say(heading, message, "add `util_pct = ...`, or [[task.phase]] tables");
            }
            (Some(span), Some(_)) => {
                self.say(&span, "`util_pct` beside phases", "the work of a task is in its phases, or does not change");
            }
            _ => {}
        }
        for at in reader.tables("phase") {
            let for_ms = at.value.int("for_ms").map_or(0, |at| at.value);
            if for_ms < task.period_ms && for_ms > 0 {
                let span = at.value.key_span("for_ms").unwrap_or(at.span);
                let help = format!("the period is {} ms", task.period_ms);
                self.say(&span, "`for_ms` is shorter than a period", help);
            }
        }
        for (reader, span) in
            reader.tables("phase").iter().map(|at| (at.value, at.span.clone())).chain([(*reader, heading.clone())])
        {
            let of_largest = reader.text("of").is_some_and(|at| at.value == "largest");
            if let Some(at) = reader.real("util_pct").filter(|at| of_largest && at.value > 100.0) {
                let span = if at.span.is_empty() { span } else { at.span };
                self.say(&span, "more work than the largest CPU can do", "at most 100 % of the largest");
            }
        }
        let round_ms: u32 = task.phases.iter().map(|phase| phase.for_ms).sum();
        let rounds = self.behaviour.duration_ms.checked_div(round_ms).unwrap_or(0);
        if rounds.saturating_mul(task.phases.len() as u32) > PHASES_MAX {
            let help = format!("at most {PHASES_MAX} phases fit into a run: make them longer");
            self.say(heading, format!("the phases of task `{}` are repeated {rounds} times", task.name.value), help);
        }
    }

    fn threads(&mut self, root: &Reader<'_>) {
        let fixed = self.behaviour.tasks.iter().filter(|task| task.count_per.is_none());
        let threads: usize = fixed.map(|task| task.count as usize).sum();
        if threads > THREADS_MAX
            && let Some(span) = root.key_span("task")
        {
            let help = format!("at most {THREADS_MAX} threads in all");
            self.say(&span, format!("the tasks have {threads} threads"), help);
        }
    }

    fn claim(&mut self, reader: &Reader<'_>, heading: &Range<usize>) {
        let Some(measure) = reader.text("measure").and_then(|at| Measure::of(&at.value)) else { return };
        let tasks = &self.behaviour.tasks;
        let named = reader.text("task");
        let task = named.as_ref().and_then(|at| tasks.iter().find(|task| task.name.value == at.value));
        if let (Some(at), None) = (&named, task) {
            let help = hint_for(&at.value, tasks.iter().map(|task| task.name.value.as_str()));
            self.say(&at.span, format!("no task is called `{}`", short(&at.value)), help);
            return;
        }
        self.class(reader, measure, heading);
        self.clamps(reader, measure, task, heading);
        self.bounds(reader, measure, heading);
        self.window(reader, heading);
    }

    fn class(&mut self, reader: &Reader<'_>, measure: Measure, heading: &Range<usize>) {
        match (reader.text("on"), measure.has_class()) {
            (None, true) => {
                let message = format!("`{}` is about a class of CPUs", measure.word());
                self.say(heading, message, "add `on = \"smallest\"`, or another class");
            }
            (Some(at), false) => {
                let message = format!("`on` means nothing to `{}`", measure.word());
                self.say(&at.span, message, "leave it out");
            }
            _ => {}
        }
    }

    /// A measure of clamps needs a task that has the clamp.
    fn clamps(&mut self, reader: &Reader<'_>, measure: Measure, task: Option<&Task>, heading: &Range<usize>) {
        let on = reader.text("on").and_then(|at| Class::of(&at.value));
        let lower = measure == Measure::BelowClamp || on == Some(Class::FitsUtilMin);
        let upper = measure == Measure::AboveClamp || on == Some(Class::FitsUtilMax);
        let lacks = |is_needed: bool, has: fn(&Task) -> bool| is_needed && !task.is_some_and(has);
        let missing = [
            (lacks(lower, |task| task.util_min.is_some()), "util_min_pct"),
            (lacks(upper, |task| task.util_max.is_some()), "util_max_pct"),
        ];
        for (_, key) in missing.into_iter().filter(|(is_missing, _)| *is_missing) {
            let help = format!("name a task that has `{key}`");
            self.say(heading, format!("the claim is about a clamp that no named task has: `{key}`"), help);
        }
        if let Some(at) = reader.text("task").filter(|_| measure == Measure::EnergyOverBest) {
            self.say(&at.span, "the energy is that of all tasks", "leave `task` out");
        }
    }

    /// A claim that no number can miss claims nothing.
    fn bounds(&mut self, reader: &Reader<'_>, measure: Measure, heading: &Range<usize>) {
        let (min, max) = (reader.real("min"), reader.real("max"));
        let (least, most) = measure.range();
        let binds = [min.as_ref().is_some_and(|at| at.value > least), max.as_ref().is_some_and(|at| at.value < most)];
        if min.is_none() && max.is_none() {
            self.say(heading, "a claim needs a bound", "add `min = ...`, `max = ...`, or both");
        } else if binds == [false, false] {
            let help = format!("`{}` is {least}..={most} {}", measure.word(), measure.unit());
            self.say(heading, "no number can miss this claim", help);
        }
        let length_ms = self.length_ms(reader);
        if let Some(at) = max.as_ref().filter(|at| measure == Measure::FirstOn && at.value >= length_ms) {
            self.say(&at.span, "no number can miss this claim", format!("the window has {length_ms} ms"));
        }
        if let (Some(min), Some(max)) = (&min, &max)
            && min.value > max.value
        {
            self.say(&min.span, "`min` is above `max`: no number fits", "exchange them");
        }
    }

    /// Length of what a claim is about, ms.
    fn length_ms(&self, reader: &Reader<'_>) -> f64 {
        let from_ms = reader.int::<u32>("from_ms").map_or(0, |at| at.value);
        let to_ms = reader.int::<u32>("to_ms").map_or(self.behaviour.duration_ms, |at| at.value);
        f64::from(to_ms.saturating_sub(from_ms))
    }

    fn window(&mut self, reader: &Reader<'_>, heading: &Range<usize>) {
        let end = self.behaviour.duration_ms;
        let from = reader.int::<u32>("from_ms");
        let to = reader.int::<u32>("to_ms");
        if let Some(at) = to.as_ref().filter(|at| at.value > end) {
            self.say(&at.span, "`to_ms` is beyond the end of the run", format!("`duration_ms` is {end}"));
        }
        let (first, last) = (from.as_ref().map_or(0, |at| at.value), to.as_ref().map_or(end, |at| at.value));
        if first >= last {
            let span = from.or(to).map_or(heading.clone(), |at| at.span);
            self.say(&span, "nothing lies between `from_ms` and `to_ms`", format!("the run has 0..={end} ms"));
        }
    }

    fn worlds(&mut self, root: &Reader<'_>) {
        for at in root.tables("wrong_world") {
            let is_empty = at.value.table("set").is_none_or(|set| set.entries().is_empty());
            if let Some(span) = at.value.key_span("set").filter(|_| is_empty) {
                self.say(&span, "nothing is wrong in this world", "add a switch: `energy_aware = \"off\"`");
            }
        }
    }
}

/// Lower case, digits and `-`, a letter first.
fn is_name(text: &str, chars_max: usize) -> bool {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= chars_max && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(good)
}
