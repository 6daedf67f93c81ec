// SPDX-License-Identifier: GPL-2.0-or-later
//! The core's table about itself: bounds of quantities.

use crate::policy::text;
use crate::sys;

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
    /// Description of the quantity.
    pub words: &'static str,
}

fn bound_at(index: u32) -> Option<Bound> {
    let row = sys::bound_at(index)?;
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
