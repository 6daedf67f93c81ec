// SPDX-License-Identifier: GPL-2.0-or-later
//! A run as a whole: how it is set up, which event sets off what, and what it adds up to.

pub(crate) mod dispatch;
pub(crate) mod setup;
