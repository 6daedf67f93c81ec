// SPDX-License-Identifier: GPL-2.0-only
//! Events.

use super::Reader;
use super::keys::{COUNT, EventKey, PERIOD_US, TIME_US};
use crate::rtapp::ast::{CondRef, Event, EventKind, Spanned, Timer};
use crate::rtapp::json::{Member, Node, Value};
use crate::rtapp::report::say;

impl Reader {
    /// One event; the key has been recognised.
    pub(super) fn event(&mut self, member: &Member, key: EventKey) -> Option<Event> {
        let (word, node) = (member.key.as_str(), &member.node);
        let kind = match key {
            EventKey::Run => EventKind::Run(self.int(word, node, &TIME_US)?),
            EventKey::Runtime => EventKind::Runtime(self.int(word, node, &TIME_US)?),
            EventKey::Sleep => EventKind::Sleep(self.int(word, node, &TIME_US)?),
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

    fn required(&mut self, word: &str, member: &Member, part: Option<&Member>, key: &str) -> Option<Spanned<String>> {
        match part {
            Some(part) => self.text(key, &part.node),
            None => {
                self.report.error(
                    member.key_span,
                    say(format!("`{word}` needs `{key}`")).label(format!("`{key}` is missing")),
                );
                None
            }
        }
    }

    fn cond(&mut self, word: &str, member: &Member) -> Option<CondRef> {
        let parts = self.parts(word, &member.node, &["ref", "mutex"])?;
        let cond = self.required(word, member, parts[0], "ref");
        let mutex = self.required(word, member, parts[1], "mutex");
        Some(CondRef { cond: cond?, mutex: mutex? })
    }

    fn timer(&mut self, word: &str, member: &Member) -> Option<Timer> {
        let parts = self.parts(word, &member.node, &["ref", "period", "mode"])?;
        let name = self.required(word, member, parts[0], "ref");
        let period = match parts[1] {
            Some(part) => self.period("period", &part.node, &PERIOD_US),
            None => {
                self.report
                    .error(member.key_span, say(format!("`{word}` needs `period`")).label("`period` is missing"));
                None
            }
        };
        let absolute = parts[2].is_some_and(|part| self.timer_mode(&part.node));
        Some(Timer { name: name?, period_us: period?, absolute })
    }

    fn timer_mode(&mut self, node: &Node) -> bool {
        let Some(text) = self.text("mode", node) else { return false };
        match text.value.as_str() {
            "absolute" => true,
            "relative" => false,
            other => {
                let words = say(format!("unknown timer mode `{other}`"));
                let hint = self.report.hint(other, ["relative", "absolute"].into_iter());
                self.report.error(node.span, words.help(hint));
                false
            }
        }
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
