// SPDX-License-Identifier: GPL-2.0-or-later
//! Two policies on one platform and workload, and every policy between them: each switch from one or from the other.

use super::game::Set;
use crate::plan::{self, Inputs, PolicySpec};
use crate::run::LabError;
use pelton_model::Plan;
use pelton_scenario::platform::Built;
use pelton_scenario::policy::PolicyChoice;
use pelton_scenario::rtapp::{Loaded, RtAppOptions};
use pelton_scenario::{Diagnostics, fit, workload};

/// A policy with the machine and the workload as its kernel sees them.
#[derive(Clone, Debug)]
struct End {
    choice: PolicyChoice,
    built: Built,
    loaded: Loaded,
}

impl End {
    fn new(inputs: &Inputs, spec: &PolicySpec) -> Result<End, LabError> {
        let choice = plan::policy(spec)?;
        let built = plan::machine(inputs, &choice.profile)?;
        let options = RtAppOptions { defines: inputs.defines.clone(), ..RtAppOptions::default() };
        let loaded = workload::load_full(&inputs.workload, &built.machine, &options)?;
        Ok(End { choice, built, loaded })
    }
}

/// Subject of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Switch or number at this place of the table.
    Field(usize),
    /// schedutil's rate limit of the policy alone.
    RateLimit,
    /// Properties of the machine that depend on the kernel's version.
    Machine,
}

/// A switch or number with two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    what: What,
    /// Name.
    pub name: String,
    /// Value in the first policy.
    pub from: String,
    /// Value in the second one.
    pub to: String,
}

/// Two policies.
#[derive(Clone, Debug)]
pub struct Ends {
    inputs: Inputs,
    from: End,
    to: End,
    /// Everything in which they differ, in table order.
    pub differences: Vec<Difference>,
}

impl Ends {
    /// Reads both policies, and the platform and the workload for each.
    ///
    /// # Errors
    /// When an input is wrong.
    pub fn new(inputs: &Inputs, from: &PolicySpec, to: &PolicySpec) -> Result<Ends, LabError> {
        let (from, to) = (End::new(inputs, from)?, End::new(inputs, to)?);
        let differences = differences(&from, &to);
        Ok(Ends { inputs: inputs.clone(), from, to, differences })
    }

    /// Plan of a policy between them: what is in the set is the second policy's.
    pub fn plan(&self, set: &Set) -> Plan {
        let (choice, machine) = self.between(set);
        let End { built, loaded, .. } = machine.clone();
        plan::assemble(&self.inputs, built, choice, loaded).plan
    }

    /// Reason why no policy can be so; `None` where one can.
    pub fn refused(&self, set: &Set) -> Option<String> {
        let (choice, End { built, loaded, .. }) = self.between(set);
        if let Err(error) = choice.policy.check() {
            return Some(error.to_string());
        }
        let fits = fit::check(&self.inputs.workload, &built.machine, &loaded.workload, &choice);
        fits.err().map(|found| first(&found))
    }

    /// The policy, and the end whose machine and workload it has.
    fn between(&self, set: &Set) -> (PolicyChoice, &End) {
        let taken: Vec<What> = set.members().map(|at| self.differences[at].what).collect();
        let end = |what: What| if taken.contains(&what) { &self.to } else { &self.from };
        let (machine, limit) = (end(What::Machine), end(What::RateLimit));
        let takes = |place: usize| taken.contains(&What::Field(place));
        let policy = self.from.choice.policy.taking(&self.to.choice.policy, takes);
        let profile = machine.choice.profile.clone();
        let rate_limit_us = limit.choice.rate_limit_us;
        (PolicyChoice { policy, profile, rate_limit_us, ..self.from.choice.clone() }, machine)
    }
}

/// First message of a list.
fn first(found: &Diagnostics) -> String {
    found.iter().next().map(|message| message.message().to_owned()).unwrap_or_default()
}

fn differences(from: &End, to: &End) -> Vec<Difference> {
    let (a, b) = (from.choice.policy.written(), to.choice.policy.written());
    let field = |(place, name): (usize, &'static str)| {
        let [from, to] = [&a, &b].map(|written| written[place].1.clone());
        (from != to).then(|| Difference { what: What::Field(place), name: name.to_owned(), from, to })
    };
    let mut found: Vec<Difference> = a.iter().map(|(name, _)| *name).enumerate().filter_map(field).collect();
    let limits = [from, to].map(|end| end.choice.rate_limit_us);
    if limits[0] != limits[1] {
        let [from, to] = limits.map(|us| us.map_or_else(|| "rule".to_owned(), |us| us.to_string()));
        found.push(Difference { what: What::RateLimit, name: "rate_limit_us".to_owned(), from, to });
    }
    if from.built.machine != to.built.machine || from.loaded.workload != to.loaded.workload {
        let [from, to] = [from, to].map(|end| format!("as in {}", end.choice.profile));
        found.push(Difference { what: What::Machine, name: "platform".to_owned(), from, to });
    }
    found
}

/// Differences that go together, because there is no policy with only some of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Places in the list of differences, ascending.
    pub members: Vec<usize>,
    /// Reason, where there are several.
    pub because: Option<String>,
}

/// Differences of groups that a set names.
pub fn flat(groups: &[Group], set: &Set, differences: usize) -> Set {
    let members = set.members().flat_map(|group| &groups[group].members);
    members.fold(Set::none(differences), |flat, &member| flat.with(member))
}

/// Each difference alone, and those that cannot stand apart in one group: each group can be taken alone and be left
/// out.
pub fn groups(differences: usize, refused: &impl Fn(&Set) -> Option<String>) -> Vec<Group> {
    let mut groups: Vec<Group> =
        (0..differences).map(|member| Group { members: vec![member], because: None }).collect();
    loop {
        let count = groups.len();
        let alone = (0..count).map(|group| Set::none(count).with(group));
        let left_out = (0..count).map(|group| Set::all(count).without(group));
        let ends = |set: &Set| refused(&flat(&groups, set, differences)).is_some();
        let Some(wrong) = alone.chain(left_out).find(ends) else { return groups };
        groups = joined(&groups, &wrong, differences, refused);
    }
}

/// Fewer groups, of which a set that was refused is no set any more.
pub fn joined(
    groups: &[Group],
    wrong: &Set,
    differences: usize,
    refused: &impl Fn(&Set) -> Option<String>,
) -> Vec<Group> {
    let reason = |set: &Set| refused(&flat(groups, set, differences));
    // As few of the second policy as are refused ...
    let fewer = |set: Set, group: usize| Some(set.without(group)).filter(|less| reason(less).is_some()).unwrap_or(set);
    let least = wrong.members().collect::<Vec<_>>().into_iter().fold(wrong.clone(), fewer);
    // ... and what of the first policy they do not go with.
    let missing = (0..groups.len()).find(|&group| !least.has(group) && reason(&least.with(group)).is_none());
    let together = match missing {
        Some(missing) => least.with(missing),
        None => Set::all(groups.len()),
    };
    let mut members: Vec<usize> = together.members().flat_map(|group| groups[group].members.clone()).collect();
    members.sort_unstable();
    let because = reason(&least);
    let others = (0..groups.len()).filter(|&group| !together.has(group)).map(|group| groups[group].clone());
    let mut all: Vec<Group> = others.chain([Group { members, because }]).collect();
    all.sort_by(|a, b| a.members.cmp(&b.members));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(platform: &str, from: &str, to: &str) -> Ends {
        let inputs = Inputs { platform: platform.into(), workload: "busy".into(), ..Inputs::default() };
        Ends::new(&inputs, &PolicySpec::parse(from), &PolicySpec::parse(to)).expect("good inputs")
    }

    fn names(ends: &Ends) -> Vec<&str> {
        ends.differences.iter().map(|difference| difference.name.as_str()).collect()
    }

    #[test]
    fn equal_policies_have_no_difference_and_a_switch_is_one() {
        assert!(ends("juno-r2", "7.2", "7.2").differences.is_empty());
        assert!(ends("juno-r2", "7.2", "7.2,util_est=u4").differences.is_empty(), "7.2 has u4");
        let one = ends("juno-r2", "7.2", "7.2,rate_limit_us=500");
        assert_eq!(names(&one), ["rate_limit_us"]);
        assert_eq!((one.differences[0].from.as_str(), one.differences[0].to.as_str()), ("rule", "500"));
        assert_eq!(names(&ends("juno-r2", "7.2", "7.2,headroom_pct=50")), ["headroom_pct"]);
    }

    #[test]
    fn the_ends_are_the_plans_of_both_policies() {
        for (platform, from, to) in [("juno-r2", "5.10", "6.12"), ("intel-i7-6700", "5.4", "7.2,rate_limit_us=300")] {
            let ends = ends(platform, from, to);
            let inputs = Inputs { platform: platform.into(), workload: "busy".into(), ..Inputs::default() };
            let count = ends.differences.len();
            for (policy, set) in [(from, Set::none(count)), (to, Set::all(count))] {
                let own = plan::build(&inputs, &PolicySpec::parse(policy)).expect("good inputs").plan;
                assert!(ends.refused(&set).is_none() && ends.plan(&set) == own, "{policy}");
            }
        }
        let machines = ends("intel-i7-6700", "5.4", "5.10");
        assert!(names(&machines).contains(&"platform"), "Intel's frequency invariance came with 5.7");
    }

    #[test]
    fn what_contradicts_is_one_group() {
        let ends = ends("juno-r2", "4.16", "4.16,rt_signal=on,rt_in_sum=on,headroom_pct=50");
        let refused = |set: &Set| ends.refused(set);
        let groups = groups(ends.differences.len(), &refused);
        let named = |group: &Group| group.members.iter().map(|&at| names(&ends)[at]).collect::<Vec<_>>();
        let mut all: Vec<Vec<&str>> = groups.iter().map(named).collect();
        all.sort_by_key(Vec::len);
        assert_eq!(all[0], ["headroom_pct"]);
        assert!(all.len() == 2 && all[1].contains(&"rt_signal") && all[1].contains(&"rt_in_sum"), "{all:?}");
        let because = groups.iter().find_map(|group| group.because.as_deref()).expect("a reason");
        assert!(because.contains("contradict each other"), "{because}");
    }

    #[test]
    fn conditions_of_three_and_of_all_are_met_by_groups() {
        // 0 needs 1 or 2 beside it; 3 only goes with everything.
        let some = |set: &Set| (set.has(0) && !set.has(1) && !set.has(2)).then(|| "one of two".to_owned());
        let all = groups(4, &some);
        assert_eq!(all.iter().map(|group| group.members.len()).collect::<Vec<_>>(), [2, 1, 1]);
        let whole = |set: &Set| (!set.is_empty() && set.len() < 4).then(|| "all or none".to_owned());
        assert_eq!(groups(4, &whole).len(), 1);
    }
}
