// SPDX-License-Identifier: GPL-2.0-or-later
//! SchedTune's prefer_idle: records and methods of `prefer_idle.h`.

use crate::ffi;
use crate::records::{LayoutRow, mirror};

mirror! {
    /// A CPU that a task might go to.
    IdleCandidate = "pelton_idle_candidate" {
        /// Its number.
        cpu: u32,
        /// What it can do.
        cap_orig: u32,
        /// Utilization of the others there.
        util: u32,
        /// It is idle.
        idle: u32,
        /// Its idle state, 0 = shallowest.
        state: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// A search for an idle CPU.
    PreferIdle = "pelton_prefer_idle" {
        /// The task's boost is above 0.
        boosted: u32,
        /// Its utilization.
        task_util: u32,
        /// The same with its boost.
        min_util: u32,
        /// There is one.
        found: u32,
        /// The best so far.
        cpu: u32,
        /// What it can do.
        capacity: u32,
        /// Its idle state.
        state: u32,
        /// Unused.
        reserved: u32,
    }
}

impl PreferIdle {
    /// For a task of this utilization, plain and boosted.
    #[must_use]
    pub fn new(boost: i32, task_util: u32, min_util: u32) -> PreferIdle {
        PreferIdle { boosted: u32::from(boost > 0), task_util, min_util, ..PreferIdle::default() }
    }

    /// Looks at one more CPU.
    ///
    /// ```
    /// use pelton_core::{IdleCandidate, PreferIdle};
    /// let cpu = |cpu, cap_orig| IdleCandidate { cpu, cap_orig, idle: 1, ..IdleCandidate::default() };
    /// let mut search = PreferIdle::new(0, 500, 500);
    /// [cpu(0, 446), cpu(4, 1024)].iter().for_each(|c| search.look(c));
    /// assert_eq!(search.best(), Some(4));
    /// ```
    pub fn look(&mut self, candidate: &IdleCandidate) {
        ffi::pelton_x_prefer_idle_look(self, candidate);
    }

    /// The CPU to go to, if any is idle and large enough.
    #[must_use]
    pub fn best(&self) -> Option<u32> {
        (self.found != 0).then_some(self.cpu)
    }
}

/// The Rust side of the layout comparison.
pub(crate) fn layout(rows: &mut Vec<LayoutRow>) {
    IdleCandidate::layout(rows);
    PreferIdle::layout(rows);
}
