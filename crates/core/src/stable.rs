// SPDX-License-Identifier: GPL-2.0-or-later
//! Stable releases of long-term kernels: in what they differ from the profile of their series (`stable.h`).

use crate::policy::text;
use crate::sys;
use crate::{FIELD_NAMES, Policy, profiles, switches};

/// A rule that came with a stable release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableRule {
    /// Name of the profile of its series.
    pub series: &'static str,
    /// First release that has it, a number within the series.
    pub since: u32,
    /// Switch.
    pub switch: &'static str,
    /// Its value from there on.
    pub value: &'static str,
    /// The change, and the text in which it was read.
    pub why: &'static str,
}

/// A series some of whose releases are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StableSeries {
    /// Name of its profile.
    pub series: &'static str,
    /// First release that was read.
    pub first: u32,
    /// Last release that was read.
    pub last: u32,
}

/// The profile or release whose rules stand for a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesOfRelease {
    /// Name of a profile or of a stable release.
    pub name: String,
    /// True where the kernel's own release was read, and not one near it.
    pub exact: bool,
}

/// Series of which stable releases may be asked for, oldest first.
#[must_use]
pub fn stable_series() -> Vec<StableSeries> {
    let names = profiles();
    let rows = (0..).map_while(|i| sys::stable_series_at(i));
    rows.map(|row| StableSeries { series: names[row.profile as usize], first: row.first, last: row.last }).collect()
}

/// All rules that came with stable releases, in the order of the table.
#[must_use]
pub fn stable_rules() -> Vec<StableRule> {
    let (names, all) = (profiles(), switches());
    let rows = (0..).map_while(|i| sys::stable_rule_at(i));
    rows.map(|row| StableRule {
        series: names[row.profile as usize],
        since: row.since,
        switch: FIELD_NAMES[row.index as usize],
        value: all[row.index as usize].values[row.value as usize],
        why: text(row.why),
    })
    .collect()
}

/// Major and minor number, and the third one if there is any: `6.18.15+deb13` is 6, 18 and 15.
fn numbers(release: &str) -> Option<(u32, u32, Option<u32>)> {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
    let mut parts = release[..end].split('.');
    let mut next = || parts.next().and_then(|part| part.parse().ok());
    Some((next()?, next()?, next()))
}

/// The stable release of this name, if it is one that was read: `6.18.15`.
pub(crate) fn stable_release(name: &str) -> Option<Policy> {
    let (series, number) = name.rsplit_once('.')?;
    let profile = profiles().iter().position(|p| *p == series)?;
    let mut policy = Policy::default();
    let refused = sys::policy_for_stable(profile as u32, number.parse().ok()?, &mut policy);
    (refused == 0 && number.bytes().all(|c| c.is_ascii_digit())).then_some(policy)
}

/// Rules that stand for a kernel of the name `release`: those of that release, of the nearest one of its series that
/// was read, or of the last profile before it. `None` where no version stands.
///
/// ```
/// use pelton_core::rules_of_release;
/// let of = |release| rules_of_release(release).map(|rules| (rules.name, rules.exact));
/// assert_eq!(of("6.18.15+deb13-cloud-amd64"), Some(("6.18.15".to_owned(), true)));
/// assert_eq!(of("6.15.3"), Some(("6.12".to_owned(), false)));
/// assert_eq!(of("nop"), None);
/// ```
#[must_use]
pub fn rules_of_release(release: &str) -> Option<RulesOfRelease> {
    let (major, minor, number) = numbers(release)?;
    let known = profiles();
    let of = |name: &&&str| numbers(name).is_some_and(|(a, b, _)| (a, b) <= (major, minor));
    let profile = known.iter().rev().find(of).unwrap_or(&known[0]);
    let own = *profile == format!("{major}.{minor}");
    let series = stable_series().into_iter().find(|s| own && s.series == *profile);
    let (Some(series), Some(number)) = (series, number) else {
        return Some(RulesOfRelease { name: (*profile).to_owned(), exact: own });
    };
    let nearest = number.clamp(series.first, series.last);
    let name = format!("{profile}.{nearest}");
    let same = stable_release(&name) == Policy::profile(profile).ok();
    Some(RulesOfRelease { name: if same { (*profile).to_owned() } else { name }, exact: nearest == number })
}
