// SPDX-License-Identifier: GPL-2.0-or-later
//! The search among the entities of a fair queue, and what a wake-up does to the running one. Which of two entities
//! comes first is the core's decision.

use pelton_core::fair::{self, FairSe};

use super::fair::{Entities, FairRq, FairRules};
use crate::shape::Run;
use crate::state::NO_TASK;

/// `preempt_by_policy`: the entities have to be compared.
const COMPARE: u32 = 2;

/// The entity to run next.
pub(super) fn next<S: Run, E: Entities>(q: &FairRq, rules: &FairRules<'_, S>, e: &E) -> u32 {
    match q.queue.is_empty() {
        true => q.curr,
        false if rules.is_cfs() => next_cfs(q, rules, e),
        false => next_eevdf(q, rules, e, true),
    }
}

/// The first of the queue but `but`, equal ones in the order in which they came.
fn first_but<E: Entities>(q: &FairRq, e: &E, but: u32) -> Option<u32> {
    q.queue.iter().copied().filter(|&t| t != but).min_by_key(|&t| e.fair(t).se.vruntime)
}

/// The running entity where it comes before the other.
fn before_curr<E: Entities>(q: &FairRq, e: &E, other: Option<u32>) -> Option<u32> {
    let curr = (q.curr != NO_TASK).then_some(q.curr);
    match (curr, other) {
        (Some(curr), Some(t)) if fair::entity_before_cfs(&e.fair(curr).se, &e.fair(t).se) == 0 => Some(t),
        (None, other) => other,
        (curr, _) => curr,
    }
}

fn next_cfs<S: Run, E: Entities>(q: &FairRq, rules: &FairRules<'_, S>, e: &E) -> u32 {
    let Some(left) = before_curr(q, e, first_but(q, e, NO_TASK)) else { return NO_TASK };
    if q.skip != left {
        return left;
    }
    let second = if left == q.curr { first_but(q, e, NO_TASK) } else { before_curr(q, e, first_but(q, e, left)) };
    let takes = |t: u32| {
        let (second, first) = (&e.fair(t).se, &e.fair(left).se);
        fair::skip_takes_second(rules.policy.get(), &rules.tunables, second, first) != 0
    };
    second.filter(|&t| takes(t)).unwrap_or(left)
}

/// Earliest eligible deadline; the protected running entity first when `protect`.
fn next_eevdf<S: Run, E: Entities>(q: &FairRq, rules: &FairRules<'_, S>, e: &E, protect: bool) -> u32 {
    let (p, curr) = (rules.policy.get(), q.running(e));
    if fair::keeps_curr(p, &q.rq, curr.as_ref(), protect.into()) != 0 {
        return q.curr;
    }
    let eligible = |se: &FairSe| fair::entity_eligible(p, &q.rq, curr.as_ref(), se) != 0;
    let waiting = q.queue.iter().copied().filter(|&t| eligible(&e.fair(t).se));
    let best = waiting.min_by_key(|&t| e.fair(t).se.deadline);
    match (curr.filter(eligible), best) {
        (Some(curr), Some(t)) if fair::picks_curr(p, &curr, &e.fair(t).se) != 0 => q.curr,
        (_, Some(t)) => t,
        (Some(_), None) => q.curr,
        // One is always eligible, if no sum wrapped.
        (None, None) => first_but(q, e, NO_TASK).unwrap_or(q.curr),
    }
}

/// Decision by policies alone: true or false, or `None` where they do not decide. See [`fair::preempt_by_policy`].
pub(super) fn by_policy<S: Run>(rules: &FairRules<'_, S>, idle: [bool; 2], at: [bool; 2], batch: bool) -> Option<bool> {
    match fair::preempt_by_policy(rules.policy.get(), idle, at, batch) {
        COMPARE => None,
        decided => Some(decided != 0),
    }
}

impl FairRq {
    /// An idle entity has no protection from others.
    pub(super) fn unprotect<S: Run, E: Entities>(&self, rules: &FairRules<'_, S>, e: &mut E, preempted: bool) {
        if preempted && !rules.is_cfs() && self.curr != NO_TASK {
            fair::cancel_protect_slice(rules.policy.get(), &mut e.fair_mut(self.curr).se);
        }
    }

    /// True if the woken entity preempts the running one, policies aside.
    pub(super) fn entity_preempts<S: Run, E: Entities>(
        &mut self,
        rules: &FairRules<'_, S>,
        e: &mut E,
        wakee: u32,
        is_new: bool,
    ) -> bool {
        if rules.is_cfs() {
            let (curr, wakee) = (&e.fair(self.curr).se, &e.fair(wakee).se);
            return fair::wakeup_preempt_entity(rules.policy.get(), &rules.tunables, curr, wakee) > 0;
        }
        let (p, woken) = (rules.policy.get(), e.fair(wakee).se);
        let passes = fair::preempt_short(p, &self.rq, &e.fair(self.curr).se, &woken);
        if fair::wakee_may_preempt(p, &woken, passes, is_new.into()) == 0 {
            return false;
        }
        if next_eevdf(self, rules, e, passes == 0) == wakee {
            self.unprotect(rules, e, passes != 0);
            return true;
        }
        self.look_at_slices(e, false);
        fair::wakee_waits(p, &self.rq, &mut e.fair_mut(self.curr).se, passes);
        false
    }
}
