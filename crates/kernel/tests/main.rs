// SPDX-License-Identifier: GPL-2.0-or-later
//! Images from outside of the crate.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod bad_images;
mod contract;
