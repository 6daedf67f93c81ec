// SPDX-License-Identifier: GPL-2.0-or-later
//! SchedTune in a run: which task is in which boost group, which CPU counts it, and boosts that change over time. What
//! that makes of a CPU's boost is the core's (`boost.h`).

use pelton_core::{BOOST_GROUPS, BoostCpu, Policy, boost_group_limit, value};

use crate::Misfit;
use crate::class::Class;
use crate::engine::queue::Ev;
use crate::shape::Run;
use crate::state::Engine;
use pelton_model::groups::group_path;
use pelton_model::workload::{BoostSpec, Workload};

/// The root's boost group.
const ROOT: u32 = 0;

/// Boost groups of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boosts {
    /// Beside the root's.
    groups: Vec<BoostSpec>,
    /// The root's tasks prefer idle CPUs.
    root_prefers_idle: bool,
    /// Writes to come: time, group, percent.
    schedule: Vec<(u64, u32, i32)>,
}

/// Entries of the same members, however many there are, merged into one.
fn merged(specs: &[BoostSpec]) -> Vec<BoostSpec> {
    let mut all: Vec<BoostSpec> = Vec::new();
    for spec in specs {
        match all.iter_mut().find(|known| known.members == spec.members) {
            Some(known) => {
                known.boosts.extend(&spec.boosts);
                known.prefer_idle |= spec.prefer_idle;
            }
            None => all.push(spec.clone()),
        }
    }
    all
}

/// Part of the boosts that the policy's form does not have.
pub(crate) fn misfit(w: &Workload, policy: &Policy) -> Option<Misfit> {
    let groups = merged(&w.boosts).iter().filter(|spec| !spec.members.is_empty()).count();
    let most = boost_group_limit(policy) as usize - 1;
    if groups > most {
        let form = ["rfc", "later", "hold"][policy.boost_form.min(2) as usize];
        return Some(Misfit::BoostGroups { groups, most, form });
    }
    let negative = |spec: &BoostSpec| spec.boosts.iter().any(|(_, boost)| *boost < 0);
    if policy.boost_form != value::BOOST_FORM_LATER && w.boosts.iter().any(negative) {
        return Some(Misfit::NegativeBoost);
    }
    let prefers = policy.boost_form == value::BOOST_FORM_RFC && w.boosts.iter().any(|spec| spec.prefer_idle);
    prefers.then_some(Misfit::PreferIdle)
}

/// True if a boost's `member` names a task of this name and group: itself, its template, or a task group around it.
pub(crate) fn is_member(member: &str, name: &str, taskgroup: &str) -> bool {
    if member.starts_with('/') {
        let (path, around) = (group_path(taskgroup), group_path(member));
        return path == around || path.starts_with(&format!("{around}/"));
    }
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_']);
    member == name || member == base
}

impl Boosts {
    /// Boosts of a workload that fits its policy.
    pub(crate) fn of(w: &Workload) -> Boosts {
        let all = merged(&w.boosts);
        let is_root = |spec: &&BoostSpec| spec.members.is_empty();
        let groups: Vec<BoostSpec> = all.iter().filter(|spec| !spec.members.is_empty()).cloned().collect();
        let root_prefers_idle = all.iter().any(|spec| is_root(&spec) && spec.prefer_idle);
        let root = all.iter().filter(is_root).map(|spec| (ROOT, spec));
        let others = groups.iter().enumerate().map(|(i, spec)| (i as u32 + 1, spec));
        let mut schedule: Vec<(u64, u32, i32)> = root
            .chain(others)
            .flat_map(|(g, spec)| spec.boosts.iter().map(move |&(at, boost)| (at, g, boost)))
            .collect();
        schedule.sort_by_key(|&(at, group, _)| (at, group));
        Boosts { groups, root_prefers_idle, schedule }
    }

    /// True if tasks of this group go to idle CPUs.
    pub(crate) fn prefers_idle(&self, group: u32) -> bool {
        match group {
            ROOT => self.root_prefers_idle,
            _ => self.groups.get(group as usize - 1).is_some_and(|spec| spec.prefer_idle),
        }
    }

    /// Boost group of a task: the first that names it, its template, or a task group around it.
    pub(crate) fn group_of(&self, name: &str, taskgroup: &str) -> u32 {
        let has = |member: &String| is_member(member, name, taskgroup);
        self.groups.iter().position(|spec| spec.members.iter().any(has)).map_or(ROOT, |i| i as u32 + 1)
    }
}

impl<S: Run> Engine<'_, S> {
    /// Writes the boosts that are set before the run, and schedules the others.
    pub(crate) fn start_boosts(&mut self) {
        let start_ns = self.boot_ns;
        let (policy, schedule) = (self.policy.get(), std::mem::take(&mut self.boosts.schedule));
        for cpu in &mut self.cpus {
            cpu.boost = BoostCpu::default();
            cpu.boost.group[ROOT as usize].boost = policy.boost as i32;
            for &(_, group, boost) in schedule.iter().filter(|(at, ..)| *at == 0) {
                cpu.boost.group[(group as usize).min(BOOST_GROUPS - 1)].boost = boost;
            }
            cpu.boost.refresh(policy, start_ns);
        }
        for (at, group, boost) in schedule.into_iter().filter(|(at, ..)| *at > 0) {
            self.queue.push(at, Ev::BoostWrite { group, boost });
        }
    }

    /// Task `t` goes to an idle CPU.
    pub(crate) fn prefers_idle(&self, t: u32) -> bool {
        self.boosts.prefers_idle(self.tasks[t as usize].counted.boost_group)
    }

    /// Boost of the group of task `t`, percent: the same on all CPUs.
    pub(crate) fn group_boost(&self, t: u32) -> i32 {
        self.cpus[0].boost.group[self.tasks[t as usize].counted.boost_group as usize].boost
    }

    /// The boost of a group is written.
    pub(crate) fn write_boost(&mut self, group: u32, boost: i32) {
        let (policy, now) = (self.policy.get(), self.boot_ns + self.now);
        for c in 0..self.cpus.len() as u32 {
            self.cpus[c as usize].boost.write(policy, group, boost, now);
            self.request_changes(c);
        }
    }

    /// Task `t` becomes runnable on CPU `c` (`comes`), or leaves it.
    #[inline]
    pub(crate) fn count_boost(&mut self, c: u32, t: u32, comes: bool) {
        if self.uses.boost_groups {
            self.count_boost_of(c, t, comes);
        }
    }

    fn count_boost_of(&mut self, c: u32, t: u32, comes: bool) {
        let class = self.tasks[t as usize].class();
        let holds = self.policy.boost_form == value::BOOST_FORM_HOLD;
        if !(class == Class::Fair || (holds && class == Class::Realtime)) {
            return;
        }
        let (group, now) = (self.tasks[t as usize].counted.boost_group, self.boot_ns + self.now);
        self.charge_cost(self.exec, self.m.costs.boost_ns);
        let stamps = class == Class::Realtime;
        self.cpus[c as usize].boost.count(self.policy.get(), group, comes, stamps, now);
        self.request_changes(c);
    }

    /// Task `t` is in another task group now.
    pub(crate) fn regroup_boost(&mut self, t: u32, taskgroup: &str) {
        let task = &self.tasks[t as usize];
        let (from, to) = (task.counted.boost_group, self.boosts.group_of(&task.name, taskgroup));
        let (c, now) = (task.cpu, self.boot_ns + self.now);
        let counted = self.uses.boost_groups && task.is_runnable() && task.is_fair();
        self.tasks[t as usize].counted.boost_group = to;
        if counted {
            self.cpus[c as usize].boost.relocate(self.policy.get(), from, to, now);
            self.request_changes(c);
        }
    }
}
