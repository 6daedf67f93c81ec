// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton result`: what results hold: every number, and the shape of every kind of JSON.

use super::common::{print, print_sheet};
use crate::args::Global;
use crate::exit::{Exit, Failure};
use crate::sheet::Sheet;
use pelton_lab::results::kinds::KINDS;
use pelton_lab::results::lists::{KindRow, Kinds, Quantities};
use pelton_scenario::diagnostic::hint_for;

/// Name, unit, scope and meaning of every number.
pub fn quantities(global: &Global) -> Result<Exit, Failure> {
    let all = Quantities::all();
    let mut sheet = Sheet::new(&["<scope", "<quantity", "<unit", "<printed by", "<what it is"]);
    for q in &all.quantities {
        let by = q.printed_by.join(", ");
        let words = [q.scope, q.quantity, q.unit, &by, q.what];
        sheet.row(words.map(str::to_owned).to_vec());
    }
    print_sheet(global, &sheet, &all)?;
    Ok(Exit::Good)
}

/// The kinds of results, or the schema of one.
pub fn schema(kind: Option<&str>, global: &Global) -> Result<Exit, Failure> {
    let Some(kind) = kind else {
        let kinds: Vec<KindRow> = KINDS.iter().map(|k| KindRow { kind: k.name, printed_by: k.printed_by }).collect();
        let mut sheet = Sheet::new(&["<kind", "<printed by"]);
        kinds.iter().for_each(|k| sheet.row(vec![k.kind.to_owned(), k.printed_by.to_owned()]));
        print_sheet(global, &sheet, &Kinds { kinds })?;
        return Ok(Exit::Good);
    };
    let found = KINDS.iter().find(|k| k.name == kind).ok_or_else(|| {
        let hint = hint_for(kind, KINDS.iter().map(|k| k.name));
        Failure::new(Exit::Usage, format!("no result is called `{kind}`"), Some(&hint))
    })?;
    print(&found.schema_text())?;
    Ok(Exit::Good)
}
