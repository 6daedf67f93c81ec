// SPDX-License-Identifier: GPL-2.0-only
//! Which page explains what diverged.

/// Sums and averages of one record.
pub const UPDATE: &str = "docs/signals/pelt.md#formula";
/// Attach, detach, removal of tasks that left in their sleep.
pub const MEMBERSHIP: &str = "docs/signals/pelt.md#attach-detach-and-removal";
/// Clocks.
pub const CLOCK: &str = "docs/signals/clock.md#formula";
/// RT, deadline, interrupts, hardware.
pub const PRESSURE: &str = "docs/signals/pressure.md#formula";
/// Estimates.
pub const UTIL_EST: &str = "docs/signals/util-est.md#formula";
/// Performance target and frequency.
pub const FREQUENCY: &str = "docs/signals/schedutil.md#formula";
