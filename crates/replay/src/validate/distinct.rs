// SPDX-License-Identifier: GPL-2.0-or-later
//! Short lists of hypotheses without repetition.

/// Each value once, in the order given.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
