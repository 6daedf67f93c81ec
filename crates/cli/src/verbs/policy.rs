// SPDX-License-Identifier: GPL-2.0-only
//! `pelton policy`: the switches, their values, and what each kernel does.

use super::common::{bad_input, policy_spec, print, print_json, print_list};
use crate::args::{Format, Global, PolicyArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_core::{Policy, Switch, parameters, profiles, switches};
use pelton_lab::plan;
use pelton_lab::plan::PolicySpec;
use pelton_lab::results::lists::{NumberRow, Policies, PolicyShown, PolicyValue, SwitchRow};
use pelton_scenario::policy::BUILT_IN;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Every switch and number: values in every profile, and in the policies that are known by name.
pub fn list(global: &Global) -> Result<Exit, Failure> {
    let columns = columns()?;
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut header = vec!["<switch"];
    header.extend(&names);
    let mut sheet = Sheet::new(&header);
    let mut listed = Policies { switches: Vec::new(), numbers: Vec::new() };
    let (switches, parameters) = (switches(), parameters());
    for (index, switch) in switches.iter().enumerate() {
        let cells: Vec<String> =
            columns.iter().map(|(_, values)| value_name(switch, values[index]).to_owned()).collect();
        listed.switches.push(SwitchRow {
            switch: switch.name,
            values: switch.values.clone(),
            defaults: by_name(&names, &cells),
            why: switch.why,
        });
        sheet.row(row(switch.name, cells));
    }
    for (index, parameter) in parameters.iter().enumerate() {
        let cells: Vec<String> =
            columns.iter().map(|(_, values)| parameter.text(values[switches.len() + index])).collect();
        listed.numbers.push(NumberRow {
            number: parameter.name,
            allowed: parameter.allowed(),
            defaults: by_name(&names, &cells),
            why: parameter.why,
        });
        sheet.row(row(parameter.name, cells));
    }
    print_list(global, &sheet, &listed)?;
    Ok(Exit::Good)
}

/// The profiles, and after them the policies that are known by name, with their values in table order.
fn columns() -> Result<Vec<(&'static str, Vec<u32>)>, Failure> {
    let profile = |name| Ok((name, Policy::profile(name).map_err(Failure::input)?.values()));
    let mut columns = profiles().into_iter().map(profile).collect::<Result<Vec<_>, Failure>>()?;
    for (name, _) in BUILT_IN {
        let spec = PolicySpec { file: Some(PathBuf::from(name)), ..PolicySpec::default() };
        columns.push((name, plan::policy(&spec).map_err(|d| bad_input(&d))?.policy.values()));
    }
    Ok(columns)
}

fn row(name: &str, cells: Vec<String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(cells).collect()
}

fn by_name(names: &[&str], cells: &[String]) -> BTreeMap<String, String> {
    names.iter().zip(cells).map(|(name, cell)| ((*name).to_owned(), cell.clone())).collect()
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
        rows.push(PolicyValue {
            switch: Some(switch.name),
            number: None,
            value: name.to_owned(),
            default: value_name(switch, default).to_owned(),
            why: switch.why,
        });
    }
    let numbers = chosen.policy.values().into_iter().zip(base.values()).skip(rows.len());
    for (parameter, (value, default)) in parameters().iter().zip(numbers) {
        let mark = if value == default { "" } else { " (set)" };
        let (value, default) = (parameter.text(value), parameter.text(default));
        sheet.row(vec![parameter.name.into(), format!("{value}{mark}"), parameter.allowed(), parameter.why.into()]);
        rows.push(PolicyValue { switch: None, number: Some(parameter.name), value, default, why: parameter.why });
    }
    match global.format {
        Format::Table | Format::Toml => {
            print(&format!("profile {}\n\n{}", chosen.profile, sheet.text(Some(crate::sheet::page_width()))))?
        }
        Format::Csv => print(&sheet.csv())?,
        Format::Json => print_json(&PolicyShown { profile: chosen.profile, switches: rows })?,
    }
    Ok(Exit::Good)
}
