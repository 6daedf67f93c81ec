// SPDX-License-Identifier: GPL-2.0-or-later
//! Columns of a table of decisions, found by their names.

use std::collections::BTreeMap;

/// Places of columns by their names; a message where two have the same.
pub(crate) fn places(names: impl Iterator<Item = String>) -> Result<BTreeMap<String, usize>, String> {
    let mut places = BTreeMap::new();
    for (at, name) in names.enumerate() {
        if let Some(first) = places.insert(name.clone(), at) {
            return Err(format!("has two columns `{name}`, {} and {}", first + 1, at + 1));
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn a_name_has_one_place() {
        let named = |names: &str| places(names.split(',').map(str::to_owned));
        assert_eq!(named("ts,cpu,kind").map(|found| found["kind"]), Ok(2));
        assert_eq!(named("ts,cpu,ts"), Err("has two columns `ts`, 1 and 3".to_owned()));
    }
}
