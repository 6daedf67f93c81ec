// SPDX-License-Identifier: GPL-2.0-or-later
//! Measurements that loads make themselves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Figures by name, and what went wrong; shared by the threads of a load.
#[derive(Clone, Debug, Default)]
pub struct Results(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    figures: BTreeMap<&'static str, Vec<f64>>,
    notes: Vec<String>,
}

impl Results {
    pub(super) fn add(&self, name: &'static str, figure: f64) {
        if let Ok(mut inner) = self.0.lock() {
            inner.figures.entry(name).or_default().push(figure);
        }
    }

    pub(super) fn note(&self, note: String) {
        if let Ok(mut inner) = self.0.lock() {
            inner.notes.push(note);
        }
    }

    /// All figures of each name, smallest first.
    #[must_use]
    pub fn sorted(&self) -> BTreeMap<&'static str, Vec<f64>> {
        let mut figures = self.0.lock().map(|inner| inner.figures.clone()).unwrap_or_default();
        figures.values_mut().for_each(|all| all.sort_by(f64::total_cmp));
        figures
    }

    /// Failures of the load.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.0.lock().map(|inner| inner.notes.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_sorted() {
        let results = Results::default();
        [3.0, 1.0, 2.0].into_iter().for_each(|figure| results.add("a", figure));
        assert_eq!(results.sorted()["a"], [1.0, 2.0, 3.0]);
    }
}
