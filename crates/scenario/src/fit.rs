// SPDX-License-Identifier: GPL-2.0-or-later
//! A workload beside the policy and the machine that shall run it: what does not go together, where it was typed.

use std::ops::Range;

use pelton_model::groups::GroupTree;
use pelton_model::{Machine, PlanError, Workload};
use pelton_sim::Misfit;

use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile};
use crate::policy::PolicyChoice;
use crate::workload::parts_of;

/// Refuses what cannot run, and warns of what changes nothing.
///
/// # Errors
/// The first thing of the workload that machine or policy do not have, with its place in `spec`, what it was made from.
pub fn check(
    spec: &str,
    machine: &Machine,
    workload: &Workload,
    policy: &PolicyChoice,
) -> Result<Diagnostics, Diagnostics> {
    let typed = Typed { file: SourceFile::new("--workload", spec), parts: parts_of(spec) };
    let whole = pelton_model::check(machine, workload).and_then(|()| GroupTree::of(workload).map(drop));
    whole.map_err(|error| typed.named(&error))?;
    match pelton_sim::misfit(machine, workload, &policy.policy) {
        Some(misfit) => Err(typed.misfit(&misfit, policy).into()),
        None => Ok(typed.boosts_of_nobody(workload)),
    }
}

/// Text typed after `--workload`.
struct Typed {
    file: SourceFile,
    parts: Vec<Range<usize>>,
}

impl Typed {
    /// The last option of this name, with its value, in a part that begins with `model`; else that part; else
    /// everything.
    fn place(&self, model: &str, option: &str, value: impl Fn(&str) -> bool) -> Range<usize> {
        let text = self.file.text();
        let of_model = |part: &&Range<usize>| text[(*part).clone()].split(':').next() == Some(model);
        let options = |part: &Range<usize>| {
            let mut at = part.start + model.len() + 1;
            let pieces = text.get(at..part.end).unwrap_or_default().split(',').map(|piece| {
                let place = at..at + piece.len();
                at = place.end + 1;
                (piece, place)
            });
            let given =
                |piece: &str| piece.split_once('=').is_some_and(|(key, v)| key.trim() == option && value(v.trim()));
            pieces.filter(|(piece, _)| given(piece)).map(|(_, place)| place).last()
        };
        let mine = || self.parts.iter().rev().filter(of_model);
        mine().find_map(options).or_else(|| mine().next().cloned()).unwrap_or(0..text.len())
    }

    /// At the last part that names what a message without a place is about, between quotes.
    fn named(&self, PlanError(text): &PlanError) -> Diagnostics {
        let about = text.split('\'').nth(1).unwrap_or("");
        let names = |part: &&Range<usize>| !about.is_empty() && self.file.text()[(*part).clone()].contains(about);
        let place = self.parts.iter().rev().find(names).cloned().unwrap_or(0..self.file.text().len());
        self.file.error(place, text.as_str()).into()
    }

    fn misfit(&self, misfit: &Misfit, policy: &PolicyChoice) -> Diagnostic {
        let any = |_: &str| true;
        let needs = |switch: &str, place: Range<usize>, what: &str, values: &[&str]| {
            let value = policy.value_of(switch);
            let has = format!("{switch}={value} comes from {}", policy.origin(switch));
            let allowed = values.iter().map(|v| format!("{switch}={v}")).collect::<Vec<_>>().join(" or ");
            let help =
                format!("set {switch}={} in the policy (--set {switch}={}), or leave this out", values[0], values[0]);
            self.file.error(place, format!("{what} needs {allowed}")).label(has).allowed(allowed).help(help)
        };
        match misfit {
            Misfit::Pulse => needs("governor", self.place("boostpulse", "", any), "`boostpulse`", &["interactive"]),
            Misfit::PreferIdle => needs(
                "boost_form",
                self.place("boost", "prefer_idle", |v| v != "0"),
                "`prefer_idle`",
                &["later", "hold"],
            ),
            Misfit::NegativeBoost => {
                let place = self.place("boost", "percent", |v| v.starts_with('-'));
                needs("boost_form", place, "a boost below 0", &["later"])
            }
            Misfit::Burst { .. } => {
                let place = self.place("group", "cpu.max.burst", |v| v != "0");
                needs("bandwidth_refill", place, "a burst (kernels from 5.14 on)", &["burst"])
            }
            Misfit::BoostGroups { groups, most, form } => {
                let place = self.place("boost", "of", any);
                self.file
                    .error(place, format!("{groups} boost groups, and boost_form={form} has {most} beside the root"))
                    .label(format!("boost_form={form} comes from {}", policy.origin("boost_form")))
                    .allowed(format!("{most} groups; the kernel says ENOSPC"))
                    .help("put tasks together (of=a|b), or choose another boost_form")
            }
            Misfit::LimitedGroups { groups } => {
                let place = self.place("group", "group_throttle", |v| v != "1024");
                let most = pelton_core::THROTTLED_GROUPS_MAX;
                self.file
                    .error(place, format!("{groups} task groups, and uclamp=group_throttle looks at {most} of a CPU"))
                    .label(format!("uclamp=group_throttle comes from {}", policy.origin("uclamp")))
                    .help("fewer groups, or another value of uclamp")
            }
            Misfit::DeadlineBandwidth => {
                let place = self.place("periodic", "policy", |v| v == "deadline");
                self.file
                    .error(place, "deadline tasks reserve more than the kernel admits")
                    .allowed("95 % of all CPUs, from 5.10 on of their capacity")
                    .help("fewer threads, a smaller budget_us, or a longer period_us")
            }
        }
    }

    /// A boost of a name that no task has.
    fn boosts_of_nobody(&self, workload: &Workload) -> Diagnostics {
        let mut found = Diagnostics::new();
        let mut names: Vec<&str> = workload.tasks.iter().map(|task| task.name.as_str()).collect();
        names.dedup();
        for member in pelton_sim::unmatched_boosts(workload) {
            let place = self.place("boost", "of", |v| v.split('|').any(|m| m.trim() == member));
            let known = names.iter().take(NAMES_MAX).copied().collect::<Vec<_>>().join(", ");
            let more = names.len().saturating_sub(NAMES_MAX);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let at = self.file.error(place, format!("a boost of `{member}` has no effect"));
            let at = at.warning().label("no task and no task group is called that");
            found.push(at.help(format!("tasks: {known}{more}; the number of an instance may be left out")));
        }
        found
    }
}

/// Names that a message lists.
const NAMES_MAX: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::render;
    use crate::platform::PlatformOptions;
    use crate::policy::choose;

    fn said(spec: &str, profile: &str, sets: &[&str]) -> String {
        let machine = crate::platform::load("juno-r0").and_then(|file| file.build(&PlatformOptions::new(profile)));
        let machine = machine.expect("built in").machine;
        let workload = crate::workload::load(spec, &machine).expect("a good workload");
        let policy = choose(Some(profile), &[] as &[&str], sets).expect("a good policy");
        match check(spec, &machine, &workload, &policy) {
            Ok(warnings) => render(&warnings, 120, false),
            Err(errors) => render(&errors, 120, false),
        }
    }

    #[test]
    fn what_a_policy_does_not_have_is_said_where_it_was_typed() {
        let deadline = "periodic:run_us=9500,period_us=10000,policy=deadline,threads=7";
        let many =
            "busy:name=a + boost:of=a,percent=1 + boost:of=b,percent=1 + boost:of=c,percent=1 + boost:of=d,percent=1";
        let more: String = (0..64).map(|i| format!(" + group:path=/g{i}")).collect();
        let limited = format!("busy + group:path=/bg,group_throttle=512{more}");
        for (spec, at, words) in [
            ("busy + boostpulse:at_ms=3", ":1:8", "governor=schedutil comes from profile 7.2"),
            ("busy + boost:of=busy,prefer_idle=1", ":1:22", "allowed: boost_form=later or boost_form=hold"),
            ("busy + boost:of=busy,percent=-5", ":1:22", "boost_form=rfc comes from"),
            ("busy:group=/a + group:path=/a,cpu.max=50000,cpu.max.burst=9000", ":1:45", "bandwidth_refill=burst"),
            (deadline, ":1:38", "95 % of all CPUs"),
            (many, ":1:90", "3 beside the root"),
            (&limited, ":1:23", "looks at 64 of a CPU"),
            ("group:path=/a,cpu.weight=5 + busy:group=/a + group:path=/a,cpu.weight=6", ":1:46", "two weights"),
        ] {
            let sets: &[&str] = match spec {
                _ if spec.contains("burst") => &["bandwidth_refill=quota"],
                _ if spec.contains("throttle") => &["uclamp=group_throttle"],
                _ => &[],
            };
            let text = said(spec, "7.2", sets);
            assert!(text.contains(&format!("--workload{at}")) && text.contains(words), "{spec}\n{text}");
        }
    }

    #[test]
    fn a_boost_of_nobody_is_said() {
        let text = said("busy:name=ui + boost:of=ux|ui,percent=10", "7.2", &[]);
        assert!(
            text.contains("--workload:1:22") && text.contains("`ux` has no effect") && text.contains("ui-0"),
            "{text}"
        );
        assert_eq!(said("busy:name=ui + boost:of=ui,percent=10", "7.2", &[]), "");
    }
}
