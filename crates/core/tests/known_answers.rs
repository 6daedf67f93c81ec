// SPDX-License-Identifier: GPL-2.0-only
//! Answers worked out by hand from the source of the release they name.

#[path = "known_answers/balance.rs"]
mod balance;
#[path = "known_answers/placement.rs"]
mod placement;
