// SPDX-License-Identifier: GPL-2.0-or-later
//! Words and numbers emitted of a decision about a fair task's CPU.

use pelton_core::{AFFINE, DST_WHY, GROUP_TYPES, NO_CPU, Placed, Placement, SCAN, wf};

/// A decision in words and numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedWords {
    /// CPU that the task goes to.
    pub cpu: u32,
    /// CPU that it was on.
    pub previous_cpu: u32,
    /// CPU that executes the decision.
    pub executing_cpu: u32,
    /// `wake-up`, `new task` or `new program`.
    pub event: &'static str,
    /// Rule that decided.
    pub rule: &'static str,
    /// Rule that chose the starting point of the search.
    pub start: &'static str,
    /// The task's utilization, of 1024.
    pub util_avg: u64,
    /// Loads of the executing and of the previous CPU as `wake_affine` compared them.
    pub effective_loads: Option<[i64; 2]>,
    /// Limit of the search for an idle CPU: its rule, the number of CPUs that it allows (`None`: any number), and the
    /// number that were looked at.
    pub scan: Option<(&'static str, Option<u32>, u32)>,
    /// Last comparison of groups.
    pub groups: Option<GroupWords>,
    /// Some CPU has more to do than it can: energy does not decide.
    pub overutilized: bool,
    /// CPUs whose domain's energy was compared, each with what the task adds to it, in the kernel's unit.
    pub energy_added: Vec<(u32, i128)>,
}

/// The last comparison of groups of a search through them. Up to 5.4 groups have no types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupWords {
    /// Criterion that decided.
    pub decided_by: &'static str,
    /// Type and idle CPUs of the task's own group.
    pub own: Option<(&'static str, u32)>,
    /// Type and idle CPUs of the best other group.
    pub other: Option<(&'static str, u32)>,
}

fn group_words(placed: &Placed) -> Option<GroupWords> {
    let types = |of: &pelton_core::GroupSums| {
        let known = of.cpus != 0 && of.is_typed();
        known.then(|| (GROUP_TYPES.get(of.r#type as usize).copied().unwrap_or("?"), of.idle_cpus))
    };
    placed.has_compared().then(|| GroupWords {
        decided_by: DST_WHY.get(placed.dst_why as usize).copied().unwrap_or("?"),
        own: types(&placed.local),
        other: types(&placed.idlest),
    })
}

/// Puts what a decision read and gave into words.
#[must_use]
pub fn placed_words(read: &Placement, placed: &Placed) -> PlacedWords {
    let priced = placed.energies().iter().map(|e| e.cpu).filter(|&cpu| cpu != NO_CPU);
    PlacedWords {
        cpu: placed.cpu,
        previous_cpu: read.prev_cpu,
        executing_cpu: read.this_cpu,
        event: match read.flags {
            flags if flags & wf::FORK != 0 => "new task",
            flags if flags & wf::EXEC != 0 => "new program",
            _ => "wake-up",
        },
        rule: placed.how(),
        start: AFFINE.get(placed.affine as usize).copied().unwrap_or("?"),
        util_avg: placed.se.avg.util_avg,
        effective_loads: placed.effective_loads(),
        scan: placed.has_scanned().then(|| {
            let rule = SCAN.get(placed.scan_rule as usize).copied().unwrap_or("?");
            (rule, placed.scan_limit(), placed.scan_seen)
        }),
        groups: group_words(placed),
        overutilized: read.overutilized != 0,
        energy_added: priced.filter_map(|cpu| Some((cpu, placed.energy_added(cpu)?))).collect(),
    }
}
