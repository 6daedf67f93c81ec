// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded traces: is the model true to the kernel that made them, and what would another policy have done with them?
//!
//! [`validate`] recomputes every signal of a trace with the policy core and compares integers. [`workload`] turns a
//! trace into tasks that the simulator can run under another policy, profile or platform.

pub mod clamps;
mod columns;
pub mod decisions;
pub mod placements;
pub mod validate;
pub mod workload;
