// SPDX-License-Identifier: GPL-2.0-only
//! Typed values, with messages when the type or the range does not fit.

use super::Reader;
use super::keys::{Bound, CPU};
use crate::rtapp::ast::{PolicyName, Spanned};
use crate::rtapp::json::{Member, Node, Span, Value};
use crate::rtapp::report::say;

/// Longest name; Linux keeps 15 characters, the rest is for people.
const NAME_CHARS_MAX: usize = 128;

impl Reader {
    fn wrong_type(&mut self, key: &str, node: &Node, wanted: &str) {
        let words = say(format!("`{key}` must be {wanted}")).label(format!("this is {}", node.value.kind()));
        self.report.error(node.span, words);
    }

    fn placeholder(&mut self, node: &Node) -> bool {
        let Value::Placeholder(name) = &node.value else { return false };
        self.placeholders.push(Spanned { value: name.clone(), span: node.span });
        true
    }

    /// A whole number in a range.
    pub(super) fn int(&mut self, key: &str, node: &Node, bound: &Bound) -> Option<Spanned<i64>> {
        if self.placeholder(node) {
            return Some(Spanned { value: bound.min.max(1), span: node.span });
        }
        let Value::Int(value) = node.value else {
            let wanted = if bound.unit.is_empty() {
                "a whole number".into()
            } else {
                format!("a whole number ({})", bound.unit)
            };
            self.wrong_type(key, node, &wanted);
            return None;
        };
        if value < bound.min || value > bound.max {
            let what = if value < 0 && bound.min >= 0 { "must not be negative" } else { "is out of range" };
            let words = say(format!("`{key}` {what}")).label(value.to_string()).allowed(bound.text());
            self.report.error(node.span, words);
            return None;
        }
        Some(Spanned { value, span: node.span })
    }

    /// A time that must be positive to make sense.
    pub(super) fn period(&mut self, key: &str, node: &Node, bound: &Bound) -> Option<Spanned<i64>> {
        if node.value == Value::Int(0) {
            let words = say(format!("`{key}` is 0")).label("never waits").allowed(bound.text());
            self.report.error(node.span, words.help("remove the event, or give the period in microseconds"));
            return None;
        }
        self.int(key, node, bound)
    }

    /// Repetitions.
    pub(super) fn repeat(&mut self, node: &Node, bound: &Bound) -> Option<Spanned<i64>> {
        if node.value == Value::Int(0) {
            let words = say("`loop` is 0")
                .label("neither a number of loops nor for ever")
                .allowed("-1 (for ever) or 1..=2147483647");
            self.report
                .error(node.span, words.help("rt-app runs a phase with 0 for ever and a task with 0 not at all"));
            return None;
        }
        self.int("loop", node, bound)
    }

    /// true or false.
    pub(super) fn bool(&mut self, key: &str, node: &Node) -> Option<Spanned<bool>> {
        if self.placeholder(node) {
            return Some(Spanned { value: false, span: node.span });
        }
        match node.value {
            Value::Bool(value) => Some(Spanned { value, span: node.span }),
            _ => {
                self.wrong_type(key, node, "true or false");
                None
            }
        }
    }

    /// A name.
    pub(super) fn text(&mut self, key: &str, node: &Node) -> Option<Spanned<String>> {
        if self.placeholder(node) {
            return Some(Spanned { value: "template".into(), span: node.span });
        }
        match &node.value {
            Value::Text(text) => {
                self.name(text, node.span)?;
                Some(Spanned { value: text.clone(), span: node.span })
            }
            Value::Missing => {
                self.report.error(node.span, say(format!("`{key}` needs a name")).label("stands alone"));
                None
            }
            _ => {
                self.wrong_type(key, node, "a name in quotes");
                None
            }
        }
    }

    /// Checks the length of a name.
    pub(super) fn name(&mut self, text: &str, span: Span) -> Option<()> {
        if text.chars().nth(NAME_CHARS_MAX).is_none() {
            return Some(());
        }
        self.report.error(span, say("the name is too long").allowed(format!("at most {NAME_CHARS_MAX} characters")));
        None
    }

    /// A name or a number used as a name (oldest grammar).
    pub(super) fn name_or_number(&mut self, key: &str, node: &Node) -> Option<Spanned<String>> {
        match node.value {
            Value::Int(n) => Some(Spanned { value: n.to_string(), span: node.span }),
            _ => self.text(key, node),
        }
    }

    /// The members of an object.
    pub(super) fn object<'n>(&mut self, key: &str, node: &'n Node) -> Option<&'n [Member]> {
        if self.placeholder(node) {
            return None;
        }
        match &node.value {
            Value::Object(members) => Some(members),
            _ => {
                self.wrong_type(key, node, "an object");
                None
            }
        }
    }

    /// The items of an array.
    pub(super) fn list<'n>(&mut self, key: &str, node: &'n Node) -> Option<&'n [Node]> {
        if self.placeholder(node) {
            return None;
        }
        match &node.value {
            Value::List(items) => Some(items),
            _ => {
                self.wrong_type(key, node, "an array");
                None
            }
        }
    }

    /// A set of CPUs.
    pub(super) fn cpus(&mut self, node: &Node) -> Option<Spanned<Vec<u32>>> {
        let items = self.list("cpus", node)?;
        if items.is_empty() {
            self.report.error(
                node.span,
                say("`cpus` is empty").label("no CPU is allowed").help("leave `cpus` out to allow all CPUs"),
            );
            return None;
        }
        let mut cpus = Vec::with_capacity(items.len().min(4096));
        for item in items {
            let cpu = self.int("cpus", item, &CPU)?;
            cpus.push(u32::try_from(cpu.value).unwrap_or(0));
        }
        cpus.sort_unstable();
        cpus.dedup();
        Some(Spanned { value: cpus, span: node.span })
    }

    /// A scheduling policy.
    pub(super) fn policy(&mut self, key: &str, node: &Node) -> Option<Spanned<PolicyName>> {
        if self.placeholder(node) {
            return Some(Spanned { value: PolicyName::Other, span: node.span });
        }
        let text = self.text(key, node)?;
        let found = PolicyName::NAMES.iter().find(|(name, _)| *name == text.value);
        match found {
            Some((_, policy)) => Some(Spanned { value: *policy, span: node.span }),
            None => {
                let hint = self.report.hint(&text.value, PolicyName::NAMES.iter().map(|(name, _)| *name));
                self.report.error(node.span, say(format!("unknown scheduling policy `{}`", text.value)).help(hint));
                None
            }
        }
    }

    /// Stores a value once; a second one is an error, because only events may repeat.
    pub(super) fn put<T>(&mut self, slot: &mut Option<T>, value: Option<T>, member: &Member) {
        if slot.is_some() {
            let words = say(format!("`{}` is given twice", member.key)).label("second time");
            self.report.error(member.key_span, words.help("only events may repeat; rt-app would use the last value"));
        } else if value.is_some() {
            *slot = value;
        }
    }
}
