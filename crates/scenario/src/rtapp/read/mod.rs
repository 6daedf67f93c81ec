// SPDX-License-Identifier: GPL-2.0-only
//! Tree to grammar: which keys there are, their types and ranges.

mod event;
mod exec;
mod global;
pub(super) mod keys;
mod task;
mod value;

use self::keys::ROOT_KEYS;
use super::ast::{RtAppFile, Spanned};
use super::json::{Member, Node};
use super::report::{Report, say};
use crate::diagnostic::{Diagnostics, SourceFile};

/// Reads one file and collects everything that is wrong with it.
struct Reader {
    report: Report,
    placeholders: Vec<Spanned<String>>,
    ignored: Vec<(String, usize)>,
}

/// Checks a tree against the grammar.
pub(super) fn read(file: &SourceFile, root: &Node) -> Result<RtAppFile, Diagnostics> {
    let mut reader = Reader { report: Report::new(file), placeholders: Vec::new(), ignored: Vec::new() };
    let mut out = RtAppFile {
        source: file.clone(),
        global: Default::default(),
        resources: Vec::new(),
        tasks: Vec::new(),
        has_tasks: false,
        placeholders: Vec::new(),
        warnings: Diagnostics::new(),
        ignored: Vec::new(),
    };
    if let Some(members) = reader.object("the whole file", root) {
        reader.root(members, &mut out);
    }
    out.placeholders = reader.placeholders;
    out.ignored = reader.ignored;
    out.warnings = reader.report.finish()?;
    Ok(out)
}

impl Reader {
    fn root(&mut self, members: &[Member], out: &mut RtAppFile) {
        let mut seen = Vec::new();
        for member in members {
            let key = if member.key == "threads" { "tasks" } else { member.key.as_str() };
            if seen.contains(&key) {
                self.report
                    .error(member.key_span, say(format!("`{}` is given twice", member.key)).label("second time"));
                continue;
            }
            match key {
                "tasks" => {
                    out.has_tasks = true;
                    self.tasks(member, out);
                }
                "global" => out.global = self.global(&member.node),
                "resources" => out.resources = self.resources(&member.node),
                _ => self.unknown(member, "the file", ROOT_KEYS.iter().copied()),
            }
            if ROOT_KEYS.contains(&key) {
                seen.push(key);
            }
        }
    }

    /// A key that does not exist here.
    fn unknown<'k>(&mut self, member: &Member, place: &str, keys: impl Iterator<Item = &'k str>) {
        let hint = self.report.hint(&member.key, keys);
        let words = say(format!("unknown key `{}` in {place}", member.key));
        self.report.error(member.key_span, words.label("not in the grammar of rt-app").help(hint));
    }

    /// A key that is read and has no effect.
    fn ignore(&mut self, member: &Member) {
        if self.ignored.iter().any(|(key, _)| *key == member.key) {
            self.put(&mut Some(()), Some(()), member);
            return;
        }
        let line = self.report.line(member.key_span);
        self.ignored.push((member.key.clone(), line));
    }
}
