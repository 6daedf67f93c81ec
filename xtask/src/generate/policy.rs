// SPDX-License-Identifier: GPL-2.0-or-later
//! Reference pages of the policy core: switches, profiles, bounds.

use pelton_core::{
    Switch, bounds as all_bounds, profiles as all_profiles, stable_rules, stable_series, switches as all_switches,
};

/// Every switch: its values, what each kernel has, and why it exists.
pub fn switches() -> String {
    let switches = all_switches();
    let profiles = all_profiles();
    let sections: String = switches.iter().map(|switch| section(switch, &profiles)).collect();
    format!(
        "# Policy switches\n\nA profile is one kernel's choice for every switch: below each stands from which profile on \
         which value holds, and what no profile has. `--profile 6.6 --set util_est=off` is that kernel with one choice \
         changed. Combinations that mean nothing are refused with the reason. Some [stable releases](#stable-releases) \
         have other rules than their profile. `pelton policy list` is the same as a table.\n{sections}\n{}",
        stable()
    )
}

/// Section about the stable releases that may be asked for, and the rules that came with them.
fn stable() -> String {
    let mut out = "## Stable releases\n\n`--profile 6.18.15` is that release: its series' profile with the rules that came until then \
                   ([where they were read](../rules/releases.md)).\n\n"
        .to_owned();
    for series in stable_series() {
        let last =
            if series.last > series.first { format!(" to {}.{}", series.series, series.last) } else { String::new() };
        out.push_str(&format!("- {}.{}{last}\n", series.series, series.first));
    }
    out.push_str("\nWhat they changed:\n\n");
    for rule in stable_rules() {
        let (series, since, switch) = (rule.series, rule.since, rule.switch);
        out.push_str(&format!("- {series}.{since} [`{switch}={}`](#{switch}): {}\n", rule.value, rule.why));
    }
    out
}

fn section(switch: &Switch, profiles: &[&str]) -> String {
    let used = |at: usize| switch.defaults.iter().any(|value| *value as usize == at);
    let values = switch.values.iter().enumerate().filter(|(at, _)| !used(*at));
    let others: Vec<String> = values.map(|(_, value)| format!("`{value}`")).collect();
    let others = if others.is_empty() { String::new() } else { format!("; no profile: {}", others.join(", ")) };
    format!("\n## {}\n\n{}\n\n{}{others}.\n", switch.name, switch.why.trim(), eras(switch, profiles))
}

/// The first profile of each run with one value: `4.12 off, 5.10 u1`.
fn eras(switch: &Switch, profiles: &[&str]) -> String {
    let mut eras: Vec<String> = Vec::new();
    let mut previous = None;
    for (value, profile) in switch.defaults.iter().zip(profiles) {
        if previous != Some(value) {
            eras.push(format!("{profile} `{}`", value_name(switch, *value)));
        }
        previous = Some(value);
    }
    eras.join(", ")
}

fn value_name(switch: &Switch, value: u32) -> &'static str {
    switch.values.get(value as usize).copied().unwrap_or("?")
}

/// Every bounded quantity.
pub fn bounds() -> String {
    let mut out =
        "# Bounds\n\nThe range of every quantity of the policy core. Input is checked against it once, at the \
                   boundary.\n\n"
            .to_owned();
    for bound in all_bounds() {
        let range = format!("{}..={}", bound.min, bound.max);
        out.push_str(&format!("- `{}` ({range}, {}): {}\n", bound.quantity, bound.unit, bound.words));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_has_a_name() {
        assert!(!switches().contains('?'), "a profile's default is outside the list of values");
    }

    #[test]
    fn eras_name_only_changes() {
        let switch = Switch { name: "a", values: vec!["off", "on", "no"], defaults: vec![0, 0, 1], why: "Why." };
        let profiles = ["4.12", "4.16", "4.19"];
        assert_eq!(eras(&switch, &profiles), "4.12 `off`, 4.19 `on`");
        assert_eq!(section(&switch, &profiles), "\n## a\n\nWhy.\n\n4.12 `off`, 4.19 `on`; no profile: `no`.\n");
    }
}
