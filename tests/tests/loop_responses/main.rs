// SPDX-License-Identifier: GPL-2.0-or-later
//! Step responses of the whole simulator: a small disturbance goes in, the loop of signals, governor and driver
//! answers.
//!
//! Each response is compared with a table in `tests/loop/`. `PELTON_CHARTS=folder cargo test -p pelton-tests --test
//! loop_responses` draws the same runs as SVG; docs/guide/step-responses.md explains some of them.

mod chart;
mod counter;
mod governor;
mod ramp;
mod realtime;
mod record;
mod response;
mod setup;
mod sharing;
mod table;
