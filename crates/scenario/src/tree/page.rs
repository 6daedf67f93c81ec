// SPDX-License-Identifier: GPL-2.0-or-later
//! The reference page of a declaration.

use std::fmt::Write;

use super::{Kind, Spec};

/// Markdown: one section per table, one row per key.
pub fn reference(spec: &Spec) -> String {
    let mut out = String::new();
    section(spec, &mut out);
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn section(spec: &Spec, out: &mut String) {
    let heading = if spec.title.is_empty() { "Top level".into() } else { format!("`{}`", spec.title) };
    let _ = writeln!(out, "### {heading}\n\n{}\n", spec.doc);
    if spec.open {
        out.push_str("Any key may be used; values are text.\n\n");
    }
    if !spec.keys.is_empty() {
        for key in spec.keys {
            let needed = if key.required { "; needed" } else { "" };
            let allowed = key.allowed().replace("text in quotes", "text");
            let _ = writeln!(out, "- `{}` ({allowed}{needed}): {}", key.name, key.doc);
        }
        out.push('\n');
    }
    for key in spec.keys {
        if let Kind::Table(inner) | Kind::Tables(inner, _) = key.kind {
            section(inner, out);
        }
    }
}
