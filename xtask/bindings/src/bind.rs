// SPDX-License-Identifier: GPL-2.0-or-later
//! Bindgen's view of the headers, taken apart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quote::ToTokens as _;
use syn::{Attribute, Expr, ForeignItem, ForeignItemFn, Item, ItemStruct, Lit, Meta};

use crate::rules;

/// CPUs that records of placement have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// At most 64.
    Narrow,
    /// Up to 1024.
    Wide,
}

impl Form {
    /// Beginning of names in the linked program.
    pub fn prefix(self) -> &'static str {
        match self {
            Form::Narrow => "pelton_x_",
            Form::Wide => "pelton_w_",
        }
    }

    /// The definition that the headers are read with.
    pub fn define(self) -> Option<(&'static str, &'static str)> {
        (self == Form::Wide).then_some(("PELTON_PLACE_CPUS_MAX", "PELTON_PLACE_CPUS_LARGEST"))
    }
}

/// A constant: its value as it is written in Rust, its type, and what its header says.
#[derive(Debug)]
pub struct Constant {
    pub value: String,
    pub ty: String,
    pub doc: String,
}

/// A function as C writes it.
#[derive(Debug)]
pub struct Wrapper {
    pub ret: String,
    pub params: String,
    pub args: String,
}

#[derive(Debug, Default)]
pub struct Parsed {
    pub records: Vec<ItemStruct>,
    /// Statements about each record's layout, as the compiler evaluates them.
    pub layouts: BTreeMap<String, Vec<String>>,
    pub constants: BTreeMap<String, Constant>,
    pub functions: Vec<ForeignItemFn>,
    pub wrappers: BTreeMap<String, Wrapper>,
}

/// Items of the headers that `names` need.
pub fn read(root: &Path, out: &Path, form: Form, names: &BTreeSet<String>) -> Result<Parsed, String> {
    let (rust, wrappers) = bindgen(root, out, form, names)?;
    let file = syn::parse_file(&rust).map_err(|error| format!("bindgen's output: {error}"))?;
    let mut parsed = Parsed::default();
    file.items.into_iter().for_each(|item| parsed.add(item));
    parsed.wrappers = wrappers.lines().filter_map(wrapper).collect();
    parsed.check(names, form)?;
    Ok(parsed)
}

fn bindgen(root: &Path, out: &Path, form: Form, names: &BTreeSet<String>) -> Result<(String, String), String> {
    let wrappers = out.join(format!("wrappers_{form:?}.c"));
    let header = root.join("crates/core/src/sys.h");
    let mut builder = bindgen::Builder::default()
        .header(header.to_string_lossy())
        .clang_arg(format!("-I{}", root.join("core/include").display()))
        .clang_args(["-std=gnu11", "-fparse-all-comments"])
        .allowlist_var("PELTON_.*")
        .array_pointers_in_arguments(true)
        .derive_debug(false)
        .default_macro_constant_type(bindgen::MacroTypeVariation::Unsigned)
        .wrap_static_fns(true)
        .wrap_static_fns_path(&wrappers)
        .formatter(bindgen::Formatter::None);
    if let Some((name, value)) = form.define() {
        builder = builder.clang_arg(format!("-D{name}={value}"));
    }
    for name in names {
        builder = match rules::c_record(name) {
            Some(record) => builder.allowlist_type(record),
            None => builder.allowlist_function(format!("pelton_{name}")),
        };
    }
    let rust = builder.generate().map_err(|error| error.to_string())?.to_string();
    let text = std::fs::read_to_string(&wrappers).map_err(|error| format!("{}: {error}", wrappers.display()))?;
    Ok((rust, text))
}

impl Parsed {
    fn add(&mut self, item: Item) {
        match item {
            Item::Struct(record) => self.records.push(record),
            Item::Const(constant) if constant.ident == "_" => self.add_layout(&constant.expr),
            Item::Const(constant) => {
                let (value, ty) = (constant.expr.to_token_stream().to_string(), rules::rust_type(&constant.ty));
                let ty = if ty.starts_with("_bindgen_ty") { "u32".to_owned() } else { ty };
                let constant_of = Constant { value, ty, doc: doc(&constant.attrs) };
                self.constants.insert(constant.ident.to_string(), constant_of);
            }
            Item::ForeignMod(block) => {
                for item in block.items {
                    if let ForeignItem::Fn(function) = item {
                        self.functions.push(function);
                    }
                }
            }
            _ => {}
        }
    }

    /// `{ ["Size of x"][size_of::<x>() - 8usize]; ... }`
    fn add_layout(&mut self, block: &Expr) {
        let Expr::Block(block) = block else { return };
        for statement in &block.block.stmts {
            let text = statement.to_token_stream().to_string();
            let Some((what, index)) = text.split_once("] [") else { continue };
            let index = index.trim_end_matches([';', ' ', ']']);
            let Some((left, right)) = index.rsplit_once(" - ") else { continue };
            let record = what.rsplit_once(" :: ").map_or(what, |(record, _)| record);
            let record = record.trim_matches(['[', '"', ' ']).rsplit(' ').next().unwrap_or_default();
            let record = record.split("::").next().unwrap_or_default().to_owned();
            let size = right.trim_end_matches("usize").to_owned();
            self.layouts.entry(record).or_default().push(format!("{left} == {size}"));
        }
    }

    /// Is a record another one here, or not here at all?
    pub fn differs(&self, other: &ItemStruct) -> bool {
        let text = |record: &ItemStruct| record.fields.to_token_stream().to_string();
        !self.records.iter().any(|own| own.ident == other.ident && text(own) == text(other))
    }

    /// Everything that Rust names is there.
    fn check(&self, names: &BTreeSet<String>, form: Form) -> Result<(), String> {
        let has_function = |name: &str| self.wrappers.contains_key(&format!("pelton_{name}"));
        let has_record = |record: &str| self.records.iter().any(|own| own.ident == record);
        let has_constant = |name: &str| self.constants.contains_key(&format!("PELTON_{name}"));
        let there = |name: &&String| match rules::c_record(name) {
            Some(record) => has_record(&record),
            None => has_function(name) || has_constant(name) || rules::is_own(name),
        };
        let missing: Vec<&str> = names.iter().filter(|name| !there(name)).map(String::as_str).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("{form:?}: no header has {}", missing.join(", "))) }
    }
}

/// `u32 pelton_x__extern(u32 a) { return pelton_x(a); }`
fn wrapper(line: &str) -> Option<(String, Wrapper)> {
    let (head, rest) = line.split_once("__extern(")?;
    let (params, body) = rest.split_once(") { ")?;
    let (ret, name) = head.split_at(head.find("pelton_")?.max(head.rfind("pelton_")?));
    let args = body.split_once(&format!("{name}("))?.1.strip_suffix("); }")?;
    let (ret, params) = (ret.trim_end().to_owned(), params.to_owned());
    Some((name.to_owned(), Wrapper { ret, params, args: args.to_owned() }))
}

/// A header's comment on an item, in one line.
pub fn doc(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_are_taken_apart() {
        let line = "const struct pelton_b *pelton_x__extern(struct pelton_a *a, u32 n) { return pelton_x(a, n); }";
        let (name, own) = wrapper(line).expect("a wrapper");
        assert_eq!((name.as_str(), own.ret.as_str()), ("pelton_x", "const struct pelton_b *"));
        assert_eq!((own.params.as_str(), own.args.as_str()), ("struct pelton_a *a, u32 n", "a, n"));
        assert!(wrapper("// Static wrappers").is_none());
    }

    #[test]
    fn layouts_become_comparisons() {
        let text = "const _: () = { [\"Size of pelton_a\"][::std::mem::size_of::<pelton_a>() - 8usize];
            [\"Offset of field: pelton_a::b\"][::std::mem::offset_of!(pelton_a, b) - 4usize]; };";
        let mut parsed = Parsed::default();
        syn::parse_file(text).expect("Rust").items.into_iter().for_each(|item| parsed.add(item));
        let own = &parsed.layouts["pelton_a"];
        assert!(own.len() == 2 && own[0].ends_with("== 8") && own[1].ends_with("== 4"), "{own:?}");
    }
}
