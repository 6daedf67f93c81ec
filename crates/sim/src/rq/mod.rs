// SPDX-License-Identifier: GPL-2.0-or-later
//! Events of the queues and signals of one CPU, and the hook calls that follow.

pub mod bandwidth;
pub(crate) mod blocked;
pub(crate) mod boosts;
pub(crate) mod clamp_sums;
pub(crate) mod clamps;
pub(crate) mod dl;
pub(crate) mod fair_queues;
pub(crate) mod group_signals;
mod group_told;
pub mod groups;
pub(crate) mod parts;
pub(crate) mod rt;
pub(crate) mod rt_limit;
pub(crate) mod runtime;
pub(crate) mod server;
pub(crate) mod signals;
pub(crate) mod slots;
