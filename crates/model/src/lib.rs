// SPDX-License-Identifier: GPL-2.0-or-later
//! The inputs of a run as values: machine, workload, policy and configuration, their checks, and the number that names
//! them. No scheduling, no I/O.

mod check;
mod config;
mod cpu_set;
pub mod draws;
pub mod groups;
pub mod machine;
mod plan;
pub mod thermal;
pub mod workload;

pub use check::{PlanError, check, dangling};
pub use config::{GivenFrequency, KernelImage, RunConfig};
pub use machine::Machine;
pub use plan::Plan;
pub use workload::Workload;
