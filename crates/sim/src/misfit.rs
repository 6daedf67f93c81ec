// SPDX-License-Identifier: GPL-2.0-or-later
//! Parts of a workload that its policy does not have: reported before a run by the caller, which knows where each was
//! written.

use std::fmt;

use pelton_core::{
    DL_LIMIT_PERIOD_NS, DL_LIMIT_RUNTIME_NS, DlServer, Policy, THROTTLED_GROUPS_MAX, dl_bw, dl_overflow, value,
};
use pelton_model::Machine;
use pelton_model::groups::GroupTree;
use pelton_model::workload::{SchedPolicy, Workload};

use crate::rq::{bandwidth, boosts};

/// A request of a workload that the policy, or the machine under it, cannot meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A pulse of a boost under another governor than interactive.
    Pulse,
    /// Tasks that prefer idle CPUs, in a form of boosts that has no such file.
    PreferIdle,
    /// A boost below 0, in a form that has none.
    NegativeBoost,
    /// More groups than a form of boosts has.
    BoostGroups {
        /// Number of groups of the workload.
        groups: usize,
        /// Largest number of groups beside the root.
        most: usize,
        /// The form.
        form: &'static str,
    },
    /// A group keeps runtime for later, before kernels could.
    Burst {
        /// Path of the group.
        path: String,
    },
    /// Deadline tasks reserve more than the kernel admits.
    DeadlineBandwidth,
    /// More task groups than a limit of groups looks at.
    LimitedGroups {
        /// Number of groups of the workload.
        groups: usize,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Pulse => f.write_str("boostpulse is a file of governor=interactive; other governors have none"),
            Misfit::PreferIdle => {
                f.write_str("prefer_idle needs boost_form=later or hold: the posting has no such file")
            }
            Misfit::NegativeBoost => f.write_str("a boost below 0 needs boost_form=later"),
            Misfit::BoostGroups { groups, most, form } => write!(
                f,
                "{groups} boost groups are more than the {most} beside the root that boost_form={form} has (the kernel \
                 says ENOSPC); put tasks together, or choose another form"
            ),
            Misfit::LimitedGroups { groups } => write!(
                f,
                "uclamp=group_throttle looks at {THROTTLED_GROUPS_MAX} task groups of a CPU, the workload has {groups}"
            ),
            Misfit::Burst { path } => write!(
                f,
                "task group '{path}' has a burst: kernels before 5.14 keep no runtime for later \
                 (bandwidth_refill=burst does)"
            ),
            Misfit::DeadlineBandwidth => f.write_str(
                "deadline tasks and fair servers reserve more than 95 % of all CPUs; the kernel would refuse them",
            ),
        }
    }
}

/// The first thing that does not fit.
pub fn misfit(m: &Machine, w: &Workload, policy: &Policy) -> Option<Misfit> {
    let pulse = !w.pulses.is_empty() && policy.governor != value::GOVERNOR_INTERACTIVE;
    let pulse = pulse.then_some(Misfit::Pulse);
    pulse
        .or_else(|| bandwidth::misfit(w, policy))
        .or_else(|| boosts::misfit(w, policy))
        .or_else(|| deadline_bandwidth(m, w, policy))
        .or_else(|| limited_groups(w, policy))
}

fn limited_groups(w: &Workload, policy: &Policy) -> Option<Misfit> {
    if !crate::rq::clamps::limit_groups(w, policy) {
        return None;
    }
    let groups = GroupTree::of(w).map_or(0, |tree| tree.list.len());
    (groups > THROTTLED_GROUPS_MAX).then_some(Misfit::LimitedGroups { groups })
}

/// The kernel admits deadline tasks up to 95 % of the CPUs, or of their capacity, fair servers included.
fn deadline_bandwidth(m: &Machine, w: &Workload, policy: &Policy) -> Option<Misfit> {
    let bw = |policy| match policy {
        SchedPolicy::Deadline { runtime_ns, period_ns, .. } => dl_bw(runtime_ns, period_ns),
        _ => 0,
    };
    let limit = dl_bw(DL_LIMIT_RUNTIME_NS, DL_LIMIT_PERIOD_NS);
    let capacity = m.cpus.iter().map(|c| u64::from(c.capacity)).sum();
    let server = DlServer::new(policy).dl.dl_bw;
    let servers = m.cpus.iter().map(|_| server);
    let tasks = w.tasks.iter().map(|t| t.policies().map(bw).max().unwrap_or(0));
    let mut total = 0;
    for add in servers.chain(tasks).filter(|&add| add > 0) {
        if dl_overflow(policy, limit, [total, 0, add], m.cpus.len() as u32, capacity) {
            return Some(Misfit::DeadlineBandwidth);
        }
        total += add;
    }
    None
}

/// Members of boosts that are no task and no task group of the workload: their boost changes nothing.
pub fn unmatched_boosts(w: &Workload) -> Vec<String> {
    let members = w.boosts.iter().flat_map(|spec| &spec.members);
    let is_known = |member: &str| {
        let groups = |task: &pelton_model::workload::TaskSpec| {
            let later = task.phases.iter().filter_map(|phase| phase.taskgroup.clone());
            later.chain([task.taskgroup.clone()]).collect::<Vec<_>>()
        };
        w.tasks.iter().any(|t| groups(t).iter().any(|group| boosts::is_member(member, &t.name, group)))
    };
    let mut unknown: Vec<String> = members.filter(|member| !is_known(member)).cloned().collect();
    unknown.dedup();
    unknown
}
