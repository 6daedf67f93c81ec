// SPDX-License-Identifier: GPL-2.0-or-later
//! Names of the core that Rust uses: `sys::name`, `sys::{names}` and the functions that `rule!` and `by_form!` call in
//! both forms.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr as _;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Macros of `crates/core` whose second argument is a function of both forms.
const BOTH: [&str; 2] = ["rule", "by_form"];

/// Names without the prefix of C.
#[derive(Debug, Default)]
pub struct Uses {
    pub narrow: BTreeSet<String>,
    pub wide: BTreeSet<String>,
}

/// Names in all files of a folder but the generated ones.
pub fn read(folder: &Path) -> Result<Uses, String> {
    let mut uses = Uses::default();
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".rs") && !["sys.rs", "sys_wide.rs"].contains(&name.as_str()) {
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
            let tokens = TokenStream::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
            uses.add(tokens);
        }
    }
    Ok(uses)
}

impl Uses {
    fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let rest = &tokens[at + 1..];
            match token {
                TokenTree::Group(group) => self.add(group.stream()),
                TokenTree::Ident(ident) if ident == "sys" => self.narrow.extend(path(rest)),
                TokenTree::Ident(ident) if ident == "sys_wide" => self.wide.extend(path(rest)),
                TokenTree::Ident(ident) if BOTH.iter().any(|name| ident == name) => self.add_call(rest),
                _ => {}
            }
        }
    }

    /// `!(record, function, ...)`
    fn add_call(&mut self, rest: &[TokenTree]) {
        let [TokenTree::Punct(mark), TokenTree::Group(group), ..] = rest else { return };
        if mark.as_char() == '!' && group.delimiter() == Delimiter::Parenthesis {
            let second = second_argument(group);
            self.narrow.extend(second.clone());
            self.wide.extend(second);
        }
    }
}

/// Names behind a module's name: `::name` or `::{names}`.
fn path(rest: &[TokenTree]) -> Vec<String> {
    match rest {
        [TokenTree::Punct(a), TokenTree::Punct(b), last, ..] if a.as_char() == ':' && b.as_char() == ':' => {
            match last {
                TokenTree::Ident(ident) => vec![ident.to_string()],
                TokenTree::Group(group) => listed(group),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Names between braces, without what they are called afterwards.
fn listed(group: &Group) -> Vec<String> {
    let mut names = Vec::new();
    let mut renamed = false;
    for token in group.stream() {
        let TokenTree::Ident(ident) = token else { continue };
        let name = ident.to_string();
        if name != "as" && !renamed && name != "self" {
            names.push(name.clone());
        }
        renamed = name == "as";
    }
    names
}

fn second_argument(group: &Group) -> Option<String> {
    let mut after = group.stream().into_iter().skip_while(|token| !is_comma(token)).skip(1);
    match after.next() {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Uses {
        let mut uses = Uses::default();
        uses.add(TokenStream::from_str(text).expect("tokens"));
        uses
    }

    #[test]
    fn names_behind_the_module_are_used() {
        let uses = of("use crate::sys::{self, Avg, ramp as up}; fn f() { sys::decay_load(1, 2); \"sys::no\"; }");
        assert_eq!(uses.narrow.iter().map(String::as_str).collect::<Vec<_>>(), ["Avg", "decay_load", "ramp"]);
        assert!(uses.wide.is_empty());
    }

    #[test]
    fn calls_by_form_use_both() {
        let uses = of("fn f() { rule!(self, misfit_load, policy); sys_wide::lb_follow(); }");
        assert!(uses.narrow.contains("misfit_load") && uses.wide.contains("misfit_load"));
        assert!(uses.wide.contains("lb_follow") && !uses.narrow.contains("lb_follow"));
    }
}
