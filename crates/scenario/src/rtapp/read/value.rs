// SPDX-License-Identifier: GPL-2.0-or-later
//! Typed values, with messages when the type or the range does not fit.

use super::Reader;
use super::keys::{Bound, CPU, ENDLESS_US, INT_MAX, REPEAT, TIME_US};
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
        if value > bound.max && bound.max == INT_MAX {
            let words = say(format!("`{key}` is more than rt-app can hold")).label(format!("counts as {INT_MAX}"));
            self.report.warning(node.span, words.allowed(bound.text()).help(bound.help));
            return Some(Spanned { value: INT_MAX, span: node.span });
        }
        if value < bound.min || value > bound.max {
            let what = if value < 0 && bound.min >= 0 { "must not be negative" } else { "is out of range" };
            let words = say(format!("`{key}` {what}")).label(value.to_string()).allowed(bound.text());
            self.report.error(node.span, if bound.help.is_empty() { words } else { words.help(bound.help) });
            return None;
        }
        Some(Spanned { value, span: node.span })
    }

    /// Any negative number is -1.
    pub(super) fn or_minus_one(&mut self, key: &str, node: &Node, bound: &Bound) -> Option<Spanned<i64>> {
        match node.value {
            Value::Int(n) if n < 0 => Some(Spanned { value: -1, span: node.span }),
            _ => self.int(key, node, bound),
        }
    }

    /// A time; any negative one is endless.
    pub(super) fn or_endless(&mut self, key: &str, node: &Node) -> Option<Spanned<i64>> {
        match node.value {
            Value::Int(n) if n < 0 => Some(Spanned { value: ENDLESS_US, span: node.span }),
            _ => self.int(key, node, &TIME_US),
        }
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

    /// Repetitions: any negative number stands for ever, and 0 as well where rt-app counts up to it from 1.
    pub(super) fn repeat(&mut self, node: &Node, zero_is_never: bool) -> Option<Spanned<i64>> {
        if node.value != Value::Int(0) {
            return self.or_minus_one("loop", node, &REPEAT);
        }
        let words = say("`loop` is 0").allowed("-1 (for ever) or 1..=2147483647");
        if zero_is_never {
            let words = words.label("rt-app does not run such a task at all");
            self.report.error(node.span, words.help("remove the task, or write -1 for ever"));
            return None;
        }
        self.report.warning(node.span, words.label("rt-app loops for ever").help("write -1 to say so"));
        Some(Spanned { value: -1, span: node.span })
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
            let cpu = self.int("cpus", &as_number(item), &CPU)?;
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

    /// Stores a value; the last one counts, as for json-c.
    pub(super) fn put<T>(&mut self, slot: &mut Option<T>, value: Option<T>, member: &Member) {
        if slot.is_some() {
            self.twice(member);
        }
        if value.is_some() {
            *slot = value;
        }
    }
}

/// The number in a string: json-c reads it where rt-app does not look at the type.
fn as_number(node: &Node) -> Node {
    match &node.value {
        Value::Text(text) => Node { value: text.parse().map_or_else(|_| node.value.clone(), Value::Int), ..*node },
        _ => node.clone(),
    }
}
