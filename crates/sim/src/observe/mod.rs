// SPDX-License-Identifier: GPL-2.0-only
//! What is watched of a run without changing it.

pub(crate) mod attributes;
pub(crate) mod demand;
pub mod samples;
