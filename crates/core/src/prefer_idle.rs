// SPDX-License-Identifier: GPL-2.0-or-later
//! SchedTune's prefer_idle: records and methods of `prefer_idle.h`.

use crate::sys::{self, IdleCandidate, PreferIdle};

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
        sys::prefer_idle_look(self, candidate);
    }

    /// The CPU to go to, if any is idle and large enough.
    #[must_use]
    pub fn best(&self) -> Option<u32> {
        (self.found != 0).then_some(self.cpu)
    }
}
