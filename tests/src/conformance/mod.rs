// SPDX-License-Identifier: GPL-2.0-or-later
//! One suite, many builds: the core behind `tests/conformance/entry.c`, compared with `pelton-reference` call by call.
//!
//! `grammar` makes scheduler events and turns each into calls of core operations; [`twin`] executes a call on the
//! reference; [`builds`] and [`bpf`] execute it on a compiled core; [`suite`] compares results and states and explains
//! the first difference.

mod balance;
mod bandwidth;
pub mod bpf;
pub mod builds;
mod caches;
mod clamps;
mod clamps_max;
pub mod deadline;
mod domain;
pub mod episode;
mod events;
pub mod fair;
mod governor;
mod grammar;
mod idle;
mod interactive;
mod knob;
pub mod layout;
pub mod ops;
mod placement;
pub mod replay;
pub mod suite;
pub mod twin;
mod twin_governor;
pub mod world;
