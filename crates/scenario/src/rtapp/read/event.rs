// SPDX-License-Identifier: GPL-2.0-or-later
//! Events.

use super::Reader;
use super::keys::{COUNT, EventKey, INT_MAX, PERIOD_US, RUNTIME_US};
use crate::rtapp::ast::{CondRef, Event, EventKind, Spanned, Timer};
use crate::rtapp::json::{Member, Node, Value};
use crate::rtapp::report::say;

/// Name of what has no `ref`.
const UNNAMED: &str = "unknown";

impl Reader {
    /// One event; the key has been recognised.
    pub(super) fn event(&mut self, member: &Member, key: EventKey) -> Option<Event> {
        let (word, node) = (member.key.as_str(), &member.node);
        let kind = match key {
            EventKey::Run => EventKind::Run(self.or_endless(word, node)?),
            EventKey::Runtime => EventKind::Runtime(self.int(word, node, &RUNTIME_US)?),
            EventKey::Sleep => EventKind::Sleep(self.sleep(word, node)?),
            EventKey::Timer => EventKind::Timer(self.timer(word, member)?),
            EventKey::Lock => EventKind::Lock(self.text(word, node)?),
            EventKey::Unlock => EventKind::Unlock(self.text(word, node)?),
            EventKey::Wait => EventKind::Wait(self.cond(word, member)?),
            EventKey::Signal => EventKind::Signal(self.text(word, node)?),
            EventKey::Broadcast => EventKind::Broadcast(self.text(word, node)?),
            EventKey::Sync => EventKind::Sync(self.cond(word, member)?),
            EventKey::Suspend => EventKind::Suspend(self.suspend_name(word, node)?),
            EventKey::Resume => EventKind::Resume(self.text(word, node)?),
            EventKey::Barrier => EventKind::Barrier(self.text(word, node)?),
            EventKey::Yield => EventKind::Yield,
            EventKey::Fork => EventKind::Fork(self.text(word, node)?),
            EventKey::Exec => EventKind::Exec(self.text(word, node)?),
            EventKey::SemPost => EventKind::SemPost(self.text(word, node)?),
            EventKey::SemWait => EventKind::SemWait(self.text(word, node)?),
            EventKey::Mem => EventKind::Mem(self.int(word, node, &COUNT)?),
            EventKey::IoRun => EventKind::IoRun(self.int(word, node, &COUNT)?),
            EventKey::MemRun => self.memrun(word, node)?,
        };
        Some(Event { kind, span: member.key_span })
    }

    /// A negative time is endless for rt-app, which is seldom meant.
    fn sleep(&mut self, word: &str, node: &Node) -> Option<Spanned<i64>> {
        let us = self.or_endless(word, node)?;
        if us.value > INT_MAX {
            let words = say(format!("`{word}` is negative")).label("sleeps for ever, as in rt-app");
            self.report.warning(node.span, words.help("microseconds; remove the event if the task is not to sleep"));
        }
        Some(us)
    }

    /// The name after `suspend`; nothing, an empty string or null stand for the task itself.
    fn suspend_name(&mut self, word: &str, node: &Node) -> Option<Option<Spanned<String>>> {
        match &node.value {
            Value::Missing | Value::Null => Some(None),
            Value::Text(text) if text.is_empty() => Some(None),
            _ => self.text(word, node).map(Some),
        }
    }

    /// The members of an event that is an object; each key once.
    fn parts<'n>(&mut self, word: &str, node: &'n Node, keys: &[&'static str]) -> Option<Vec<Option<&'n Member>>> {
        let mut found: Vec<Option<&Member>> = vec![None; keys.len()];
        for member in self.object(word, node)? {
            match keys.iter().position(|k| *k == member.key) {
                Some(i) => self.put(&mut found[i], Some(member), member),
                None => self.unknown(member, &format!("`{word}`"), keys.iter().copied()),
            }
        }
        Some(found)
    }

    /// A name; rt-app's own where none is written.
    fn reference(&mut self, word: &str, member: &Member, part: Option<&Member>) -> Option<Spanned<String>> {
        if let Some(part) = part {
            return self.text("ref", &part.node);
        }
        let words = say(format!("`{word}` without `ref`")).label(format!("is called `{UNNAMED}`, as by rt-app"));
        self.report.warning(member.key_span, words.help("name it, so that no other is the same by chance"));
        Some(Spanned { value: UNNAMED.into(), span: member.key_span })
    }

    fn missing(&mut self, word: &str, member: &Member, key: &str, help: &str) {
        let words = say(format!("`{word}` needs `{key}`")).label(format!("`{key}` is missing"));
        self.report.error(member.key_span, words.help(help));
    }

    fn cond(&mut self, word: &str, member: &Member) -> Option<CondRef> {
        let parts = self.parts(word, &member.node, &["ref", "mutex"])?;
        let cond = self.reference(word, member, parts[0]);
        let mutex = match parts[1] {
            Some(part) => self.text("mutex", &part.node),
            None => {
                self.missing(word, member, "mutex", "the mutex that the task holds here: waiting without is undefined");
                None
            }
        };
        Some(CondRef { cond: cond?, mutex: mutex? })
    }

    fn timer(&mut self, word: &str, member: &Member) -> Option<Timer> {
        let parts = self.parts(word, &member.node, &["ref", "period", "mode"])?;
        let name = self.reference(word, member, parts[0]);
        let period = match parts[1] {
            Some(part) => self.period("period", &part.node, &PERIOD_US),
            None => {
                self.missing(word, member, "period", "microseconds; rt-app takes 0, which never waits");
                None
            }
        };
        let absolute = parts[2].is_some_and(|part| self.timer_mode(&part.node));
        Some(Timer { name: name?, period_us: period?, absolute })
    }

    fn timer_mode(&mut self, node: &Node) -> bool {
        let Some(text) = self.text("mode", node) else { return false };
        let absolute = text.value.starts_with("absolute");
        if !absolute && text.value != "relative" {
            let words = say(format!("unknown timer mode `{}`", text.value)).label("relative, as for rt-app");
            let hint = self.report.hint(&text.value, ["relative", "absolute"].into_iter());
            self.report.warning(node.span, words.help(hint));
        }
        absolute
    }

    fn memrun(&mut self, word: &str, node: &Node) -> Option<EventKind> {
        let parts = self.parts(word, node, &["type", "size", "count", "stride", "pattern", "ref"])?;
        for part in parts.into_iter().flatten() {
            match part.key.as_str() {
                "type" | "pattern" | "ref" => self.text(&part.key, &part.node).map(|_| ())?,
                key => self.int(key, &part.node, &COUNT).map(|_| ())?,
            }
        }
        Some(EventKind::NoModel("memrun"))
    }
}
