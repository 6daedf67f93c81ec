// SPDX-License-Identifier: GPL-2.0-only
//! Frequency domains: hooks, governors, drivers and limits.

pub(crate) mod hook;
pub(crate) mod limits;
pub(crate) mod sampling;
pub(crate) mod targets;
pub(crate) mod votes;
