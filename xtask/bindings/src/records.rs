// SPDX-License-Identifier: GPL-2.0-or-later
//! Records in Rust, with what the compiler proves of their layout.

use std::fmt::Write as _;

use quote::ToTokens as _;
use syn::{Field, ItemStruct, Type};

use crate::bind::{self, Parsed};
use crate::rules;

/// Larger records are never copied by accident: they are made on the heap.
const COPIED_MAX: usize = 65_536;
/// Longest array that the compiler makes by default.
const DEFAULT_MAX: usize = 32;

/// A record, its layout, and its numbers.
pub fn text(record: &ItemStruct, parsed: &Parsed) -> String {
    let (c, name) = (record.ident.to_string(), rules::record_name(&record.ident.to_string()));
    let mut out = String::new();
    // Its fields are made from the tables of switches and parameters.
    if name != "Policy" {
        out += &declared(record, parsed, &name);
    }
    if record.fields.iter().any(|field| refers(field) || points(field)) {
        // Sizes were read where an address has 64 bits.
        out += "#[cfg(target_pointer_width = \"64\")]\n";
    }
    let _ = writeln!(out, "const _: () = {{");
    for fact in parsed.layouts.get(&c).into_iter().flatten() {
        let fact = fact.replace(&c, &name).replace(":: std :: mem :: ", "std::mem::");
        let fact = fact.replace("type_)", "r#type)");
        let _ = writeln!(out, "assert!({fact});");
    }
    out + "};\n\n"
}

fn declared(record: &ItemStruct, parsed: &Parsed, name: &str) -> String {
    let mut out = rules::comment("", &bind::doc(&record.attrs));
    let (refers, points) = (record.fields.iter().any(refers), record.fields.iter().any(points));
    let large = size(record, parsed) > COPIED_MAX;
    let plain = !refers && !points && !large;
    out += match (plain, large) {
        (_, true) => "#[derive(Clone)]\n",
        (true, _) if record.fields.iter().all(by_default) => "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\n",
        (true, _) => "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n",
        _ => "#[derive(Clone, Copy, Debug)]\n",
    };
    let lifetime = if refers { "<'a>" } else { "" };
    let aligned =
        record.attrs.iter().map(|attr| attr.to_token_stream().to_string()).find(|attr| attr.contains("align"));
    out += &aligned.map_or_else(|| "#[repr(C)]\n".to_owned(), |attr| attr.replace("repr (", "repr(C, ") + "\n");
    let _ = writeln!(out, "pub struct {name}{lifetime} {{");
    for field in &record.fields {
        out += &rules::comment("    ", &bind::doc(&field.attrs));
        let _ = writeln!(out, "    pub {}: {},", field_name(field), field_type(field));
    }
    out += "}\n\n";
    if plain {
        let fields: Vec<String> = record.fields.iter().map(field_name).collect();
        let _ = writeln!(out, "numbers!({name} {{ {} }});\n", fields.join(", "));
    }
    out
}

fn size(record: &ItemStruct, parsed: &Parsed) -> usize {
    let facts = parsed.layouts.get(&record.ident.to_string());
    let first = facts.and_then(|facts| facts.first()).and_then(|fact| fact.rsplit(' ').next());
    first.and_then(|size| size.parse().ok()).unwrap_or(usize::MAX)
}

/// `type_` of bindgen is `r#type`.
fn field_name(field: &Field) -> String {
    let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
    match name.strip_suffix('_') {
        Some(word) => format!("r#{word}"),
        None => name,
    }
}

fn field_type(field: &Field) -> String {
    match &field.ty {
        Type::Ptr(pointer) if refers(field) => format!("&'a {}", rules::rust_type(&pointer.elem)),
        Type::Ptr(pointer) => format!("*const {}", rules::rust_type(&pointer.elem)),
        ty => rules::rust_type(ty),
    }
}

/// Is it a pointer to a record?
fn refers(field: &Field) -> bool {
    matches!(&field.ty, Type::Ptr(pointer) if pointer.elem.to_token_stream().to_string().starts_with("pelton_"))
}

fn points(field: &Field) -> bool {
    matches!(&field.ty, Type::Ptr(_)) && !refers(field)
}

fn by_default(field: &Field) -> bool {
    match &field.ty {
        Type::Array(array) => {
            let len = array.len.to_token_stream().to_string();
            len.trim_end_matches("usize").parse().is_ok_and(|len: usize| len <= DEFAULT_MAX)
        }
        _ => true,
    }
}
