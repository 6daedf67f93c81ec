// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle governors. Each method is the C function of the same name.

use crate::policy::Policy;
use crate::sys::{self, IdleChoice, IdleLast, IdleNow, IdleTable, Menu, Teo};

/// Most idle states of a CPU.
pub const IDLE_STATES_MAX: usize = sys::IDLE_STATES_MAX as usize;

/// Is the governor not asked where a CPU has so many states? Its tick stops then once it came while the CPU was idle.
#[inline]
pub fn idle_single(policy: &Policy, states: u32) -> bool {
    sys::idle_single(policy, states) != 0
}

impl IdleLast {
    /// The CPU is awake again: keep what the next choice learns from. `why`: bits of [`crate::woke`].
    #[inline]
    pub fn woke(&mut self, residency_ns: u64, state: u32, why: u32) {
        sys::idle_woke(self, residency_ns, state, why);
    }
}

impl Menu {
    /// Chooses a state for a CPU that goes idle, and whether its tick stops.
    ///
    /// ```
    /// use pelton_core::{IdleNow, IdleState, IdleTable, Menu, Policy};
    /// let policy = Policy::profile("7.2").expect("exists");
    /// let mut table = IdleTable { count: 2, ..IdleTable::default() };
    /// table.states[1] = IdleState { exit_ns: 100_000, residency_ns: 1_000_000 };
    /// let sleep_ns = 20_000_000;
    /// let (event_ns, tick_ns) = (4_000_000, 4_000_000);
    /// let now = IdleNow { sleep_ns, event_ns, tick_ns, latency_ns: u64::MAX, ..IdleNow::default() };
    /// let choice = Menu::default().select(&policy, &table, &now);
    /// assert_eq!((choice.state, choice.stop_tick), (1, 1));
    /// ```
    #[inline]
    pub fn select(&mut self, policy: &Policy, table: &IdleTable, now: &IdleNow) -> IdleChoice {
        let mut choice = IdleChoice::default();
        sys::menu_select(policy, self, table, now, &mut choice);
        choice
    }

    /// The length that most of the last stays had, us; `None` when there is no such length, or when old forms see that
    /// it is no shorter than `timer_us`, what the timer alone lets expect.
    #[must_use]
    pub fn typical_us(&self, policy: &Policy, timer_us: u32) -> Option<u32> {
        Some(sys::menu_typical(policy, self, timer_us)).filter(|&us| us != u32::MAX)
    }
}

impl Teo {
    /// Chooses a state for a CPU that goes idle, and whether its tick stops.
    ///
    /// ```
    /// use pelton_core::{IdleNow, IdleState, IdleTable, Policy, Teo};
    /// let policy = Policy::profile("7.2").expect("exists");
    /// let mut table = IdleTable { count: 2, ..IdleTable::default() };
    /// table.states[1] = IdleState { exit_ns: 100_000, residency_ns: 1_000_000 };
    /// let now = IdleNow { sleep_ns: 20_000_000, tick_ns: 4_000_000, latency_ns: 50_000, ..IdleNow::default() };
    /// assert_eq!(Teo::default().select(&policy, &table, &now).state, 0, "100 us are not tolerated");
    /// ```
    #[inline]
    pub fn select(&mut self, policy: &Policy, table: &IdleTable, now: &IdleNow) -> IdleChoice {
        let mut choice = IdleChoice::default();
        sys::teo_select(policy, self, table, now, &mut choice);
        choice
    }
}
