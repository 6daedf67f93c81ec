// SPDX-License-Identifier: GPL-2.0-or-later
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
    passed_over: Vec<(String, usize)>,
}

/// Checks a tree against the grammar.
pub(super) fn read(file: &SourceFile, root: &Node) -> Result<RtAppFile, Diagnostics> {
    let (placeholders, ignored, passed_over) = (Vec::new(), Vec::new(), Vec::new());
    let mut reader = Reader { report: Report::new(file), placeholders, ignored, passed_over };
    let mut out = RtAppFile {
        source: file.clone(),
        global: Default::default(),
        resources: Vec::new(),
        tasks: Vec::new(),
        has_tasks: false,
        placeholders: Vec::new(),
        warnings: Diagnostics::new(),
        ignored: Vec::new(),
        passed_over: Vec::new(),
    };
    if let Some(members) = reader.object("the whole file", root) {
        reader.root(members, &mut out);
    }
    out.placeholders = reader.placeholders;
    out.ignored = reader.ignored;
    out.passed_over = reader.passed_over;
    out.warnings = reader.report.finish()?;
    Ok(out)
}

impl Reader {
    fn root(&mut self, members: &[Member], out: &mut RtAppFile) {
        let mut seen = Vec::new();
        for member in members {
            let key = if member.key == "threads" { "tasks" } else { member.key.as_str() };
            if seen.contains(&key) {
                self.twice(member);
            }
            match key {
                "tasks" => {
                    out.has_tasks = true;
                    out.tasks.clear();
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

    /// A key that rt-app does not read: it asks for each key by its name (`get_in_object`) and never sees others.
    fn unknown<'k>(&mut self, member: &Member, place: &str, keys: impl Iterator<Item = &'k str>) {
        match self.report.near(&member.key, keys) {
            Some(better) => self.pass_over(member, place, &format!("did you mean `{better}`?")),
            None => {
                let line = self.report.line(member.key_span);
                self.passed_over.push((member.key.clone(), line));
            }
        }
    }

    /// A key that rt-app does not read, whose author probably wanted something.
    fn pass_over(&mut self, member: &Member, place: &str, help: &str) {
        let words = say(format!("unknown key `{}` in {place}", member.key));
        self.report.warning(member.key_span, words.label("passed over, as rt-app does").help(help));
    }

    /// A key that stands there a second time.
    fn twice(&mut self, member: &Member) {
        let words = say(format!("`{}` is given twice", member.key)).label("second time");
        self.report.warning(member.key_span, words.help("only events may repeat; the last value counts, as in rt-app"));
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
