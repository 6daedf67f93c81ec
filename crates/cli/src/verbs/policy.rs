// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton policy`: the switches, their values, and what each kernel does.

use super::common::{bad_input, failure, policy_spec, print, print_json, print_list};
use crate::args::{Format, Global, PolicyArgs, ShowPolicyArgs};
use crate::exit::{Exit, Failure};
use crate::sheet::{self, Sheet};
use pelton_core::{Policy, Switch, parameters, profiles, switches};
use pelton_lab::plan;
use pelton_lab::results::lists::{Policies, PolicyShown, PolicyValue};

/// Every switch and number: values in every profile, and in the policies that are known by name.
pub fn list(global: &Global) -> Result<Exit, Failure> {
    let listed = Policies::all().map_err(failure)?;
    let sheet = table(&listed);
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

/// A row for each switch and number.
fn table(listed: &Policies) -> Sheet {
    let names = Policies::columns();
    let mut sheet = Sheet::new(&[&["<switch"], &names[..]].concat());
    let switches = listed.switches.iter().map(|row| (row.switch, &row.defaults));
    let numbers = listed.numbers.iter().map(|row| (row.number, &row.defaults));
    for (name, defaults) in switches.chain(numbers) {
        let cells = names.iter().map(|column| defaults[*column].clone());
        sheet.row(std::iter::once(name.to_owned()).chain(cells).collect());
    }
    sheet
}

fn value_name(switch: &Switch, value: u32) -> &'static str {
    switch.values.get(value as usize).copied().unwrap_or("?")
}

/// The switches of one policy, with those that differ from its profile marked.
pub fn show(args: &ShowPolicyArgs, global: &Global) -> Result<Exit, Failure> {
    let policy = PolicyArgs { policy: args.name.clone().or(args.policy.policy.clone()), ..args.policy.clone() };
    let chosen = plan::core_policy(&policy_spec(&policy)?).map_err(|d| bad_input(&d))?;
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
        let all = Policies::all().expect("profiles are good");
        let table = table(&Policies { numbers: Vec::new(), ..all });
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
