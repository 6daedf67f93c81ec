// SPDX-License-Identifier: GPL-2.0-or-later
//! Are the power figures those of a CPU? A slip of unit or of a digit makes a file that can be simulated and is wrong.
//!
//! The measure is power by frequency, mW/GHz: what a cycle costs. It spans less than two decades within a class of
//! cores, from an in-order core at its lowest voltage to a desktop core in its turbo range, while a slip of unit is
//! three.

use super::file::{Domain, OppRow};
use crate::diagnostic::{Diagnostics, SourceFile};
use crate::tree::At;

/// Cores in order of issue: a few milliwatts at their lowest voltage.
const IN_ORDER: [&str; 8] =
    ["Cortex-A7", "Cortex-A32", "Cortex-A34", "Cortex-A35", "Cortex-A53", "Cortex-A55", "Cortex-A510", "Cortex-A520"];

/// Least and most that a cycle costs, mW/GHz.
fn allowed_mw_per_ghz(core: &str) -> (f64, f64) {
    let in_order = IN_ORDER.iter().any(|name| core.split([' ', '+']).next() == Some(name));
    if in_order { (5.0, 1_500.0) } else { (15.0, 30_000.0) }
}

/// Warnings about the figures of one domain.
pub(super) fn powers(source: &SourceFile, domain: &Domain, found: &mut Diagnostics) {
    let points: Vec<(&OppRow, &At<f64>)> =
        domain.opps.iter().filter_map(|opp| Some((opp, opp.power_mw.as_ref()?))).collect();
    let outlier = points.iter().any(|(opp, power)| unlikely(domain, opp, power.value));
    for (opp, power) in points.iter().filter(|(opp, power)| unlikely(domain, opp, power.value)) {
        found.push_with(|| {
            let (low, high) = allowed_mw_per_ghz(&domain.core);
            let ghz = f64::from(opp.khz.value) / 1e6;
            let text = format!("{} mW at {} kHz is not the power of a CPU like this", power.value, opp.khz.value);
            let at = source.error(power.span.clone(), text).label(format!("{:.1} mW/GHz", power.value / ghz));
            let at = at.allowed(format!("{:.3}..={:.0} mW for a {}", low * ghz, high * ghz, core_of(domain)));
            at.help(guess(domain, opp, power.value)).warning()
        });
    }
    if !outlier {
        falling(source, &points, found);
    }
}

/// Operating points of a domain whose power no CPU of its kind has.
pub(super) fn implausible(domain: &Domain) -> usize {
    let is_off = |opp: &&OppRow| opp.power_mw.as_ref().is_some_and(|power| unlikely(domain, opp, power.value));
    domain.opps.iter().filter(is_off).count()
}

fn core_of(domain: &Domain) -> &str {
    if domain.core.is_empty() { "CPU of unknown kind" } else { &domain.core }
}

fn unlikely(domain: &Domain, opp: &OppRow, power_mw: f64) -> bool {
    let (low, high) = allowed_mw_per_ghz(&domain.core);
    let mw_per_ghz = power_mw / (f64::from(opp.khz.value) / 1e6);
    !(low..=high).contains(&mw_per_ghz)
}

/// The unit in which the figure would be likely.
fn guess(domain: &Domain, opp: &OppRow, power_mw: f64) -> String {
    let fits = |factor: f64| !unlikely(domain, opp, power_mw * factor);
    match (fits(1e-3), fits(1e3)) {
        (true, _) => format!("{power_mw} uW would be {} mW: are these microwatts?", power_mw / 1e3),
        (_, true) => format!("{power_mw} W would be {} mW: are these watts?", power_mw * 1e3),
        _ => "check the unit (mW) and the figure; keep it if it was measured, and say so in a comment".to_owned(),
    }
}

/// A higher frequency needs at least the same voltage, so it never needs less power.
fn falling(source: &SourceFile, points: &[(&OppRow, &At<f64>)], found: &mut Diagnostics) {
    for pair in points.windows(2) {
        let ((low, before), (_, power)) = (pair[0], pair[1]);
        if power.value < before.value {
            found.push_with(|| {
                let at = source.error(power.span.clone(), "less power than at a lower frequency");
                at.label(format!("{} mW at {} kHz", before.value, low.khz.value))
                    .help("check both figures; keep them if they were measured, and say so in a comment")
                    .warning()
            });
        }
    }
}
