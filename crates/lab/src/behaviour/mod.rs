// SPDX-License-Identifier: GPL-2.0-or-later
//! Claims of behaviour files, judged on runs of the simulator and on recordings.
//!
//! Files are read and sized in `pelton_scenario::behaviour`. Events of a run and of a recording go through one
//! [`observe::Observer`], and [`measure::Reading`] takes every number from what it collected.

pub mod measure;
pub mod observe;
mod placing;
pub mod result;
pub mod simulate;
