// SPDX-License-Identifier: GPL-2.0-only
//! Discrete-event simulation of Linux's scheduler-driven frequency control.
//!
//! A run is a value: [`Machine`] + [`Workload`] + [`pelton_core::Policy`] + [`RunConfig`] give one event stream and one
//! [`Report`], byte-identical on any machine. The engine does no I/O and reads no clock.

pub mod machine;
pub mod report;
pub mod workload;

pub use machine::Machine;
pub use report::Report;
pub use workload::Workload;
