// SPDX-License-Identifier: GPL-2.0-or-later
//! Changes to an expression: one fault each, of the kinds that people make.

use super::expr::{Expr, Form};

/// Signs in whose place others are put.
fn other_signs(sign: &str) -> &'static [&'static str] {
    match sign {
        "<" => &["<=", ">"],
        "<=" => &["<", ">="],
        ">" => &[">=", "<"],
        ">=" => &[">", "<="],
        "==" => &["!="],
        "!=" => &["=="],
        "+" => &["-"],
        "-" => &["+"],
        "*" => &["+"],
        "/" => &["*"],
        "<<" => &[">>"],
        ">>" => &["<<"],
        "&" => &["|"],
        "|" => &["&"],
        "&&" => &["||"],
        "||" => &["&&"],
        "+=" => &["-="],
        "-=" => &["+="],
        "|=" => &["&="],
        "&=" => &["|="],
        _ => &[],
    }
}

/// True where one operand alone is a plausible fault.
fn may_drop(sign: &str) -> (bool, bool) {
    match sign {
        "&&" | "||" => (true, true),
        "+" | "-" | "*" | "/" | "%" | ">>" | "&" | "|" => (true, false),
        _ => (false, false),
    }
}

/// The integer of a token one more, and one less, written like it.
fn numbers(text: &str) -> Vec<String> {
    let digits = text.trim_end_matches(['u', 'l', 'U', 'L']);
    let suffix = &text[digits.len()..];
    let (value, hex) = match digits.strip_prefix("0x") {
        Some(hex) => (u64::from_str_radix(hex, 16), true),
        None => (digits.parse(), false),
    };
    let Ok(value) = value else { return Vec::new() };
    let written = |value: u64| if hex { format!("{value:#x}{suffix}") } else { format!("{value}{suffix}") };
    value.checked_sub(1).into_iter().chain(value.checked_add(1)).map(written).collect()
}

/// A function's counterpart.
fn other_function(name: &str) -> Option<String> {
    if name.starts_with("pelton_min_u") {
        return Some(name.replacen("min", "max", 1));
    }
    name.starts_with("pelton_max_u").then(|| name.replacen("max", "min", 1))
}

/// True where another change already makes the opposite of a condition.
pub fn has_opposite(expr: &Expr) -> bool {
    match &expr.form {
        Form::Unary(sign) => sign == "!",
        Form::Binary(sign) => sign == "==" || sign == "!=",
        _ => false,
    }
}

/// Everything that may stand in the place of `expr`; `text` gives the source of a part.
pub fn changes<'a>(expr: &Expr, text: &dyn Fn(&Expr) -> &'a str) -> Vec<String> {
    let part = |number: usize| expr.parts.get(number).map_or("", text);
    match &expr.form {
        Form::Number => numbers(text(expr)),
        Form::Unary(sign) if sign == "!" => vec![format!("!!({})", part(0))],
        Form::Unary(sign) if sign == "++" => vec![text(expr).replace("++", "--")],
        Form::Unary(sign) if sign == "--" => vec![text(expr).replace("--", "++")],
        Form::Ternary if !has_opposite(&expr.parts[0]) => {
            vec![format!("!({}) ? {} : {}", part(0), part(1), part(2))]
        }
        Form::Call => other_function(part(0)).map(|name| text(expr).replacen(part(0), &name, 1)).into_iter().collect(),
        Form::Binary(sign) => {
            let signs = other_signs(sign).iter().map(|other| format!("{} {other} {}", part(0), part(1)));
            let (left, right) = may_drop(sign);
            let alone = [(left, part(0)), (right, part(1))].into_iter().filter(|(may, _)| *may);
            signs.chain(alone.map(|(_, text)| text.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}
