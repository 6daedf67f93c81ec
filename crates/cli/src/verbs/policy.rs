// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton policy`: the switches, their values, and what each kernel does.

use super::common::{bad_input, policy_spec, print, print_json, print_list};
use crate::args::{Format, Global, PolicyArgs, ShowPolicyArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::{self, Sheet};
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
    let is_text = matches!(global.format, Format::Table | Format::Markdown | Format::Toml);
    if is_text && global.verbose == 0 && !sheet.fits(sheet::page_width()) {
        print(&history(&sheet, sheet::page_width()))?;
    } else {
        print_list(global, &sheet, &listed)?;
    }
    Ok(Exit::Good)
}

/// Switches for a page that is narrower than their table: a line or two for each, with the kernels from which on it has
/// another value. With `-v` the columns are printed all the same.
fn history(columns: &Sheet, width: u16) -> String {
    let (names, rows) = columns.parts_of_rows();
    let profiles = profiles().len();
    let mut sheet = Sheet::new(&["<switch", "<value, and from which kernel on another"]);
    for row in rows {
        let mut words = Vec::new();
        for (at, value) in row.iter().enumerate().skip(1) {
            let before = if at > profiles { &row[profiles] } else { &row[at - 1] };
            match (at, value == before) {
                (1, _) => words.push(value.clone()),
                (_, true) => {}
                (_, false) if at > profiles => words.push(format!("({}: {value})", names[at])),
                _ => words.push(format!("{}: {value}", names[at])),
            }
        }
        sheet.row(vec![row[0].clone(), words.join(", ")]);
    }
    let legend = format!(
        "From {} to {}.\n`pelton policy show` says why,\n-v prints a column for each kernel.\n\n",
        names[1], names[profiles]
    );
    legend + &sheet.text(Some(width))
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
pub fn show(args: &ShowPolicyArgs, global: &Global) -> Result<Exit, Failure> {
    let policy = PolicyArgs { policy: args.name.clone().or(args.policy.policy.clone()), ..args.policy.clone() };
    let chosen = plan::policy(&policy_spec(&policy)?).map_err(|d| bad_input(&d))?;
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
        Format::Table | Format::Markdown | Format::Toml => print(&format!(
            "profile {}\n\n{}",
            chosen.profile,
            in_three_columns(&sheet).text(Some(sheet::page_width()))
        ))?,
        Format::Csv => print(&sheet.csv())?,
        Format::Json => print_json(&PolicyShown { profile: chosen.profile, switches: rows })?,
    }
    Ok(Exit::Good)
}

/// For people: the other values stand in front of the reason, which has more room so.
fn in_three_columns(sheet: &Sheet) -> Sheet {
    let mut narrow = Sheet::new(&["<switch", "<value", "<what it is, after the other values"]);
    for row in sheet.parts_of_rows().1 {
        let others = if row[2].is_empty() { String::new() } else { format!("or {}. ", row[2]) };
        narrow.row(vec![row[0].clone(), row[1].clone(), others + &row[3]]);
    }
    narrow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_narrow_terminal_a_switch_is_a_line_or_two_with_what_changed_when() {
        let columns = columns().expect("profiles are good");
        let mut header = vec!["<switch"];
        header.extend(columns.iter().map(|(name, _)| *name));
        let mut table = Sheet::new(&header);
        for (at, switch) in switches().iter().enumerate() {
            let cells = columns.iter().map(|(_, values)| value_name(switch, values[at]).to_owned());
            table.row(row(switch.name, cells.collect()));
        }
        for (width, most) in [(40, 500), (80, 220)] {
            let text = history(&table, width);
            assert!(text.lines().all(|line| line.chars().count() <= width.into()), "{width}\n{text}");
            assert!(text.lines().count() < most, "{width}: {} lines", text.lines().count());
        }
        let wide = history(&table, 120);
        assert!(wide.contains("contribution, 5.4: clock"), "{wide}");
        assert!(
            wide.lines().any(|line| line.contains("hook_filter") && line.contains("(composite: composite)")),
            "{wide}"
        );
    }
}
