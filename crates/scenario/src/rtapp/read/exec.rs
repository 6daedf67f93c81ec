// SPDX-License-Identifier: GPL-2.0-or-later
//! The oldest grammar (before September 2014): `exec`, `period`, `lock_order`, declared resources.

use super::Reader;
use super::keys::{EXEC_REFUSED, PERIOD_US, RESOURCE_TYPES, TIME_US};
use super::task::{is_exec_key, whole};
use crate::rtapp::ast::{Body, Exec, Resource, ResourceKind, ResourceUse, Spanned};
use crate::rtapp::json::{Member, Node, Span, Value};
use crate::rtapp::report::say;

/// Resources that a bare number may declare.
const NUMBERED_MAX: i64 = 1000;

impl Reader {
    /// The `resources` object at the top; a number n declares the mutexes 0..n.
    pub(super) fn resources(&mut self, node: &Node) -> Vec<Resource> {
        if let Value::Int(n) = node.value {
            let mutex = |i: i64| Resource {
                name: Spanned { value: i.to_string(), span: node.span },
                kind: ResourceKind::Mutex,
                target: None,
            };
            if !(0..=NUMBERED_MAX).contains(&n) {
                self.report.error(node.span, say("`resources` is out of range").allowed(format!("0..={NUMBERED_MAX}")));
            }
            return (0..n.clamp(0, NUMBERED_MAX)).map(mutex).collect();
        }
        let mut out: Vec<Resource> = Vec::new();
        for member in self.object("resources", node).unwrap_or(&[]) {
            out.extend(self.resource(member));
        }
        out
    }

    fn resource(&mut self, member: &Member) -> Option<Resource> {
        let (mut kind, mut target) = (None, None);
        for m in self.object(&member.key, &member.node)? {
            match m.key.as_str() {
                "type" => {
                    let found = self.resource_kind(&m.node);
                    self.put(&mut kind, found, m);
                }
                "target" => {
                    let name = self.text("target", &m.node);
                    self.put(&mut target, name, m);
                }
                _ => self.unknown(m, "a resource", ["type", "target"].into_iter()),
            }
        }
        let kind = kind.unwrap_or(ResourceKind::Mutex);
        let wakes = matches!(kind, ResourceKind::Signal | ResourceKind::Broadcast | ResourceKind::SignalAndWait);
        if wakes && target.is_none() && self.report.is_good() {
            self.report.error(
                member.key_span,
                say(format!("`{}` needs `target`", member.key)).help("name the `wait` resource it wakes"),
            );
        }
        Some(Resource { name: Spanned { value: member.key.clone(), span: member.key_span }, kind, target })
    }

    fn resource_kind(&mut self, node: &Node) -> Option<ResourceKind> {
        let text = self.text("type", node)?;
        Some(match text.value.as_str() {
            // Timers and barriers need no declaration; rt-app creates them where they are used.
            "mutex" | "timer" | "barrier" => ResourceKind::Mutex,
            "wait" => ResourceKind::Wait,
            "signal" => ResourceKind::Signal,
            "broadcast" => ResourceKind::Broadcast,
            "sync" => ResourceKind::SignalAndWait,
            "sleep" => ResourceKind::Sleep,
            "run" => ResourceKind::Run,
            other => {
                let words = say(format!("unknown resource type `{other}`"));
                let hint = self.report.hint(other, RESOURCE_TYPES.iter().copied());
                self.report.error(node.span, words.help(hint));
                return None;
            }
        })
    }

    /// True when the key belongs to this grammar; `exec_body` reads it.
    pub(super) fn exec_key(&mut self, m: &Member) -> bool {
        if EXEC_REFUSED.contains(&m.key.as_str()) {
            // What Linux does anyway: no jitter, no running on when the budget is used up.
            match (m.key.as_str(), &m.node.value) {
                ("hard_rsv", Value::Bool(true)) | ("period jitter" | "exec jitter", Value::Int(0)) => self.ignore(m),
                _ => {
                    let words = say(format!("`{}` cannot be honoured", m.key));
                    let words = words.label("random parts and soft reservations of the oldest grammar have no model");
                    self.report.error(m.key_span, words.help("remove the key to run without"));
                }
            }
        }
        is_exec_key(&m.key)
    }

    pub(super) fn exec_body(&mut self, members: &[Member], at: Span) -> Option<Body> {
        let (mut exec, mut period, mut deadline, mut sleeps) = (None, None, None, None);
        let (mut lock_order, mut uses) = (None, None);
        for m in members {
            match m.key.as_str() {
                "exec" => {
                    let us = self.int("exec", &m.node, &TIME_US);
                    self.put(&mut exec, us, m);
                }
                "period" => {
                    let us = self.period("period", &m.node, &PERIOD_US);
                    self.put(&mut period, us, m);
                }
                "deadline" => {
                    let us = self.int("deadline", &m.node, &TIME_US);
                    self.put(&mut deadline, us, m);
                }
                "sleep" => {
                    let on = self.bool("sleep", &m.node);
                    self.put(&mut sleeps, on, m);
                }
                "lock_order" => {
                    let names = self.names("lock_order", &m.node);
                    self.put(&mut lock_order, names, m);
                }
                "resources" => {
                    let list = self.uses(m);
                    self.put(&mut uses, Some(list), m);
                }
                _ => {}
            }
        }
        let Some(exec_us) = exec else {
            let words = say("`exec` is missing").label("has `lock_order` or `resources` of the oldest grammar");
            self.report.error(at, words.help("`exec` is the work per period in microseconds"));
            return None;
        };
        Some(Body::Exec(Exec {
            exec_us,
            period_us: period,
            deadline_us: deadline,
            sleeps: sleeps.is_none_or(|s| s.value),
            lock_order: lock_order.unwrap_or_default(),
            uses: uses.unwrap_or_default(),
        }))
    }

    fn names(&mut self, key: &str, node: &Node) -> Option<Vec<Spanned<String>>> {
        let items = self.list(key, node)?;
        Some(items.iter().filter_map(|item| self.name_or_number(key, item)).collect())
    }

    fn uses(&mut self, member: &Member) -> Vec<ResourceUse> {
        let members = self.object("resources", &member.node).unwrap_or(&[]);
        members.iter().filter_map(|m| self.one_use(m)).collect()
    }

    fn one_use(&mut self, member: &Member) -> Option<ResourceUse> {
        let (mut duration, mut access) = (None, None);
        for m in self.object(&member.key, &member.node)? {
            match m.key.as_str() {
                "duration" => {
                    let us = self.int("duration", &m.node, &TIME_US);
                    self.put(&mut duration, us, m);
                }
                "access" => {
                    let names = self.names("access", &m.node);
                    self.put(&mut access, names, m);
                }
                _ => self.unknown(m, "the use of a resource", ["duration", "access"].into_iter()),
            }
        }
        Some(ResourceUse {
            name: Spanned { value: member.key.clone(), span: whole(member) },
            duration_us: duration.map_or(0, |d| d.value),
            access: access.unwrap_or_default(),
        })
    }
}
