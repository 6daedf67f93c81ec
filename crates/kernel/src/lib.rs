// SPDX-License-Identifier: GPL-2.0-or-later
//! Images of a kernel's own compiled scheduler: made from a source tree, kept by name, loaded, and asked for decisions.
//!
//! [`build`] makes images, [`store`] keeps them, [`diff`] compares one with the core.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod absent;
pub mod build;
pub mod diff;
mod error;
mod hash;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod image;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod mapping;
pub mod store;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub use absent::{Image, Linked};
pub use error::{Error, Fault};
pub use hash::hash;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use image::Image;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use mapping::Linked;
