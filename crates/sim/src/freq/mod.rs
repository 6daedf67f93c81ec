// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequency domains: hooks, governors, drivers, limits, thermal zones, and the need beside the frequency.

pub(crate) mod demand;
pub(crate) mod driver;
pub(crate) mod fade;
pub(crate) mod hook;
pub(crate) mod kernel_hook;
pub(crate) mod limits;
pub(crate) mod live;
pub(crate) mod parts;
pub(crate) mod sampling;
pub(crate) mod settled;
pub(crate) mod targets;
pub(crate) mod thermal;
pub(crate) mod timers;
pub(crate) mod votes;
