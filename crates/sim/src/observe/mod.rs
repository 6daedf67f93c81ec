// SPDX-License-Identifier: GPL-2.0-or-later
//! Events about a run beside those of the scheduler: attributes of tasks and groups, samples.

pub(crate) mod attributes;
pub mod samples;
