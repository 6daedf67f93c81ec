// SPDX-License-Identifier: GPL-2.0-or-later
//! The core's tables about itself: bounds of quantities, layout of records.

use crate::ffi;
use crate::policy::{Policy, text};
use crate::records::{LayoutRow, rust_layout};

/// A quantity of the core: unit, smallest and largest value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Name.
    pub quantity: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// What it is.
    pub words: &'static str,
}

fn bound_at(index: u32) -> Option<Bound> {
    // SAFETY: the shim returns null or a pointer to a static row.
    let row = unsafe { ffi::pelton_x_bound(index).as_ref() }?;
    Some(Bound {
        quantity: text(row.quantity),
        unit: text(row.unit),
        min: row.min,
        max: row.max,
        words: text(row.words),
    })
}

/// All quantities of `bounds.h`.
///
/// ```
/// let bounds = pelton_core::bounds();
/// let util = bounds.iter().find(|b| b.quantity == "util").unwrap();
/// assert_eq!((util.min, util.max), (0, 1024));
/// ```
#[must_use]
pub fn bounds() -> Vec<Bound> {
    (0..).map_while(bound_at).collect()
}

fn c_row(index: u32) -> Option<LayoutRow> {
    // SAFETY: the shim returns null or a pointer to a static row.
    let row = unsafe { ffi::pelton_x_layout(index).as_ref() }?;
    let (record, field) = (text(row.record), text(row.field));
    let name = if field.is_empty() { record.to_owned() } else { format!("{record}.{field}") };
    Some(LayoutRow { name, offset: row.offset as usize, size: row.size as usize })
}

/// The layout of all shared records as C and as Rust see it.
#[doc(hidden)]
#[must_use]
pub fn layouts() -> (Vec<LayoutRow>, Vec<LayoutRow>) {
    let mut rust = rust_layout();
    rust.push(LayoutRow { name: "pelton_policy".to_owned(), offset: 0, size: size_of::<Policy>() });
    ((0..).map_while(c_row).collect(), rust)
}
