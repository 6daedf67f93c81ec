// SPDX-License-Identifier: GPL-2.0-or-later
//! One CPU's time line: progress and costs, power, speed, clocks, and what it asks of others.

pub(crate) mod account;
pub(crate) mod averages;
pub(crate) mod cache_aware;
pub(crate) mod called;
pub(crate) mod clock;
pub(crate) mod levels;
pub(crate) mod line;
pub(crate) mod power;
pub(crate) mod progress;
pub(crate) mod quota;
pub(crate) mod requests;
pub(crate) mod resched;
pub(crate) mod search;
pub(crate) mod server;
mod speed;
pub(crate) mod timers;
pub(crate) mod wake_list;
