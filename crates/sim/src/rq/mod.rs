// SPDX-License-Identifier: GPL-2.0-only
//! What one CPU owns: its queues, the signals of what is on them, its clamps, boosts, quotas and limits.

pub mod bandwidth;
pub(crate) mod boosts;
pub(crate) mod clamp_sums;
pub(crate) mod clamps;
pub(crate) mod fair_queues;
pub(crate) mod group_signals;
pub mod groups;
pub(crate) mod rt_limit;
pub(crate) mod signals;
