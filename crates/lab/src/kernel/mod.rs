// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies that are a kernel's own code, `kernel:NAME`: the image that runs, what it overrules, what it decided.

pub mod decided;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod image;
#[cfg(target_family = "wasm")]
#[path = "absent.rs"]
pub(crate) mod image;
pub(crate) mod switches;

/// Beginning of such a policy.
pub const PREFIX: &str = "kernel:";
