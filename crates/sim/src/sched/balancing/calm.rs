// SPDX-License-Identifier: GPL-2.0-or-later
//! Balances that need no search (`balance_calm.h`): no CPU of the smallest domain has two tasks. Debug builds search
//! all the same, and compare.

use pelton_core::{LbDomain, balance_idle};
use pelton_schema::BalanceEnd;

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// The smallest domain of CPU `c` is balanced, and its balance is up to this CPU.
    #[inline]
    pub(super) fn is_calm(&self, c: u32, idle: u32) -> bool {
        if !self.balancing.can_be_calm.contains(c) {
            return false;
        }
        let newly_idle = idle == balance_idle::NEWLY_IDLE;
        let is_called = newly_idle && self.cpus[c as usize].wake_list.is_pending();
        let span = self.placing.domain(c, 0).span;
        !is_called && self.placing.is_calm(span, &self.sched.crowded, newly_idle.then_some(c))
    }

    /// The balance of this domain: what a search that finds nothing leaves behind.
    pub(super) fn balance_calm(&mut self, c: u32, idle: u32) -> (u32, bool) {
        let env = self.lb_env(c, 0, idle);
        if self.balancing.domains[c as usize].len() == 1 {
            self.sched.overload = false;
        }
        self.found_balance(c, &env);
        (0, true)
    }

    /// A search of this domain, which CPU `c` remembered as `before`, came to what `balance_calm` comes to.
    pub(super) fn assert_calm(&mut self, c: u32, idle: u32, before: LbDomain, end: (u32, BalanceEnd)) {
        assert_eq!(end, (0, BalanceEnd::Balanced), "the calm domain of CPU {c}");
        let (searched, overload) = (std::mem::replace(self.own(c, 0), before), self.sched.overload);
        self.balance_calm(c, idle);
        let (own, left) = (*self.own(c, 0), self.sched.overload);
        assert_eq!((own, left), (searched, overload), "what the balance of CPU {c} leaves behind");
    }
}
