// SPDX-License-Identifier: GPL-2.0-or-later
//! Rows of the tables of the C core (`shim.c`, `shim_layout.c`), as C stores them.

use std::ffi::c_char;

/// A row of the switch table as C stores it.
#[repr(C)]
pub(crate) struct RawSwitch {
    pub name: *const c_char,
    pub values: *const c_char,
    pub why: *const c_char,
    pub defaults: [u32; 12],
}

/// A row of the parameter table as C stores it.
#[repr(C)]
pub(crate) struct RawParameter {
    pub name: *const c_char,
    pub unit: *const c_char,
    pub why: *const c_char,
    pub min: u32,
    pub max: u32,
    pub preset: u32,
}

/// A series of stable releases as C stores it.
#[repr(C)]
pub(crate) struct RawStableSeries {
    pub profile: u32,
    pub first: u32,
    pub last: u32,
}

/// A rule of stable releases as C stores it.
#[repr(C)]
pub(crate) struct RawStableRule {
    pub profile: u32,
    pub index: u32,
    pub since: u32,
    pub value: u32,
    pub why: *const c_char,
}

/// A row of the bounds table as C stores it.
#[repr(C)]
pub(crate) struct RawBound {
    pub quantity: *const c_char,
    pub unit: *const c_char,
    pub min: u64,
    pub max: u64,
    pub words: *const c_char,
}

/// A row of the layout table as C stores it.
#[repr(C)]
pub(crate) struct RawLayout {
    pub record: *const c_char,
    pub field: *const c_char,
    pub offset: u32,
    pub size: u32,
}
