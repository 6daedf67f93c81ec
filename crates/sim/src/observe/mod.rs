// SPDX-License-Identifier: GPL-2.0-or-later
//! What is emitted about a run: attributes of tasks and groups, samples.

pub(crate) mod attributes;
pub mod samples;
