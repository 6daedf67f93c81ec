// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines: the file format, the built-in collection, and the way from a file to [`pelton_model::Machine`].

mod builtin;
mod describe;
mod draw_rules;
mod draws;
mod file;
mod keys;
mod machine;
mod nodes;
mod plausible;
mod power;
mod provenance;
mod rules;
pub(crate) mod thermal;

pub use builtin::{Check, Summary, check, fuzz_platform, guide, key_page, list, load, names, parse};
pub use describe::{
    Column, Description, DomainDescription, DrawnDescription, Fact, IdleDescription, OppDescription, TableDescription,
    show,
};
pub use file::{Arch, PlatformFile};
pub use keys::{COST_NS_MAX, CPUS_MAX, IDLE_STATES_MAX, OPPS_MAX, PLATFORM, SCHEMA, SWITCH_TIME_US_MAX};
pub(crate) use machine::kernel_version;
pub use machine::{Built, HZ_ALLOWED, PlatformOptions};
pub use power::PowerSource;
pub use provenance::Quality;
