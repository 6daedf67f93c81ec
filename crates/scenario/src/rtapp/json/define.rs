// SPDX-License-Identifier: GPL-2.0-or-later
//! Template words: LISA and others keep rt-app files with `__DURATION__` in place of values.

use std::collections::BTreeMap;

use super::{Node, Value};

/// `DURATION` of `__DURATION__`; upper case only, so that no word of the grammar is taken for one.
pub(super) fn placeholder_name(word: &str) -> Option<&str> {
    let name = word.strip_prefix("__")?.strip_suffix("__")?;
    let letters = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    (letters && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
}

/// Replaces every template word that has a definition, as a value of its own and inside strings.
pub(in crate::rtapp) fn substitute(node: &mut Node, defines: &BTreeMap<String, String>) {
    if defines.is_empty() {
        return;
    }
    match &mut node.value {
        Value::Placeholder(name) => {
            if let Some(text) = defines.get(name.as_str()) {
                node.value = scalar(text);
            }
        }
        Value::Text(text) if text.contains("__") => {
            for (name, value) in defines {
                *text = text.replace(&format!("__{name}__"), value);
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| substitute(item, defines)),
        Value::Object(members) => members.iter_mut().for_each(|m| substitute(&mut m.node, defines)),
        _ => {}
    }
}

/// The value a definition stands for: a number, true, false, null, else a string (quotes around it are dropped).
fn scalar(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        _ => match text.parse() {
            Ok(int) => Value::Int(int),
            Err(_) => Value::Text(text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text).into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_upper_case_words_between_double_underscores_are_placeholders() {
        assert_eq!(placeholder_name("__LOGDIR__"), Some("LOGDIR"));
        assert_eq!(placeholder_name("__A_1__"), Some("A_1"));
        for no in ["LOGDIR", "__x__", "____", "_____", "__LOGDIR", "__1__"] {
            assert_eq!(placeholder_name(no), None, "{no}");
        }
    }

    #[test]
    fn definitions_keep_their_type() {
        assert_eq!(scalar("6"), Value::Int(6));
        assert_eq!(scalar("CPU0"), Value::Text("CPU0".into()));
        assert_eq!(scalar("\"6\""), Value::Text("6".into()));
    }
}
