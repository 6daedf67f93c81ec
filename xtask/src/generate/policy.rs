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
        "# Policy switches\n\nA profile is one kernel's choice for every switch. `--profile 6.6 --set util_est=off` is that \
         kernel with one choice changed. Combinations that mean nothing are refused with the reason. Some [stable releases]\
         (#stable-releases) have other rules than their profile. `pelton policy list` is the same as a table.\n{sections}\n{}",
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
    out.push_str("\n| from | switch | value | what |\n|---|---|---|---|\n");
    for rule in stable_rules() {
        let (series, since, switch) = (rule.series, rule.since, rule.switch);
        out.push_str(&format!("| {series}.{since} | [`{switch}`](#{switch}) | {} | {} |\n", rule.value, rule.why));
    }
    out
}

fn section(switch: &Switch, profiles: &[&str]) -> String {
    let values: Vec<String> = switch.values.iter().map(|value| format!("`{value}`")).collect();
    let eras = eras(switch, profiles);
    format!("\n## {}\n\n{}\n\n- Values: {}\n- Kernels: {eras}\n", switch.name, switch.why.trim(), values.join(", "))
}

/// Runs of profiles with one value: `off until 5.4, u1 from 5.10`.
fn eras(switch: &Switch, profiles: &[&str]) -> String {
    let mut eras: Vec<String> = Vec::new();
    let mut previous = None;
    for (value, profile) in switch.defaults.iter().zip(profiles) {
        if previous != Some(value) {
            eras.push(format!("`{}` from {profile}", value_name(switch, *value)));
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
    let mut out = "# Bounds\n\nThe range of every quantity of the policy core. Input is checked against it once, at the boundary.\n\n\
        | quantity | unit | smallest | largest | meaning |\n|---|---|---|---|---|\n"
        .to_owned();
    for bound in all_bounds() {
        out.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            bound.quantity, bound.unit, bound.min, bound.max, bound.words
        ));
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
        let switch = Switch { name: "a", values: vec!["off", "on"], defaults: vec![0, 0, 1], why: "" };
        assert_eq!(eras(&switch, &["4.12", "4.16", "4.19"]), "`off` from 4.12, `on` from 4.19");
    }
}
