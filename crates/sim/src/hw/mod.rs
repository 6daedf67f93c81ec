// SPDX-License-Identifier: GPL-2.0-only
//! Hardware: speed, idle states, energy.

pub(crate) mod energy;
pub(crate) mod idle;
pub(crate) mod speed;
