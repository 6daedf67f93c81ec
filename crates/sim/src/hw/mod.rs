// SPDX-License-Identifier: GPL-2.0-or-later
//! Hardware: speed, idle states, supply, energy, heat.

pub(crate) mod energy;
pub(crate) mod heat;
pub(crate) mod idle;
pub(crate) mod power;
pub(crate) mod speed;
pub(crate) mod supply;
