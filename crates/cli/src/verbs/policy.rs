// SPDX-License-Identifier: GPL-2.0-only
//! `pelton policy`: the switches, their values, and what each kernel does.

use super::common::{bad_input, policy_spec, print, print_json, print_sheet};
use crate::args::{Format, Global, PolicyArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_core::{Policy, Switch, profiles, switches};
use pelton_lab::plan;
use serde_json::{Value, json};

/// Every switch: values, and the default of every profile.
pub fn list(global: &Global) -> Result<Exit, Failure> {
    let profiles = profiles();
    let mut header = vec!["<switch"];
    header.extend(&profiles);
    let mut sheet = Sheet::new(&header);
    let all = switches();
    for switch in &all {
        let defaults = switch.defaults.iter().map(|&v| value_name(switch, v).to_owned());
        sheet.row(std::iter::once(switch.name.to_owned()).chain(defaults).collect());
    }
    let json: Vec<Value> = all.iter().map(|s| described(s, &profiles)).collect();
    print_sheet(global, &sheet, &json)?;
    Ok(Exit::Good)
}

fn described(switch: &Switch, profiles: &[&str]) -> Value {
    let default = |(profile, &value): (&&str, &u32)| ((*profile).to_owned(), Value::from(value_name(switch, value)));
    let defaults: serde_json::Map<String, Value> = profiles.iter().zip(&switch.defaults).map(default).collect();
    json!({ "switch": switch.name, "values": switch.values, "defaults": defaults, "why": switch.why })
}

fn value_name(switch: &Switch, value: u32) -> &'static str {
    switch.values.get(value as usize).copied().unwrap_or("?")
}

/// The switches of one policy, with those that differ from its profile marked.
pub fn show(args: &PolicyArgs, global: &Global) -> Result<Exit, Failure> {
    let chosen = plan::policy(&policy_spec(args)).map_err(|d| bad_input(&d))?;
    let base = Policy::profile(&chosen.profile).map_err(Failure::input)?;
    let mut sheet = Sheet::new(&["<switch", "<value", "<others", "<why"]);
    let mut rows = Vec::new();
    for (switch, (value, default)) in switches().iter().zip(chosen.policy.values().into_iter().zip(base.values())) {
        let mark = if value == default { "" } else { " (set)" };
        let others: Vec<&str> = switch.values.iter().copied().filter(|v| *v != value_name(switch, value)).collect();
        let name = value_name(switch, value);
        sheet.row(vec![switch.name.into(), format!("{name}{mark}"), others.join(" "), switch.why.into()]);
        rows.push(
            json!({ "switch": switch.name, "value": name, "default": value_name(switch, default), "why": switch.why }),
        );
    }
    match global.format {
        Format::Table => print(&format!(
            "profile {}\n\n{}",
            chosen.profile,
            sheet.text(Some(crate::sheet::terminal_width().unwrap_or(120)))
        ))?,
        Format::Csv => print(&sheet.csv())?,
        Format::Json => print_json(&json!({ "profile": chosen.profile, "switches": rows }))?,
    }
    Ok(Exit::Good)
}
