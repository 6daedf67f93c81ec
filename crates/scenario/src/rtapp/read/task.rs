// SPDX-License-Identifier: GPL-2.0-or-later
//! Tasks and phases.

use std::collections::BTreeMap;

use super::Reader;
use super::keys::{
    EVENTS, EXEC_KEYS, EXEC_REFUSED, EventKey, INSTANCES, PRIORITY, PROP_KEYS, TASK_KEYS, TIME_US, UTIL, event_of,
    is_plain_suffix,
};
use crate::rtapp::ast::{Body, Event, EventKind, Phase, Props, RtAppFile, Spanned, Task};
use crate::rtapp::json::{Member, Node, Span, Value};
use crate::rtapp::report::say;

/// Context of a key.
#[derive(Clone, Copy)]
struct Place {
    is_task: bool,
    has_phases: bool,
    is_exec: bool,
}

/// Parts of a task or phase object, while it is read.
#[derive(Default)]
struct Parts {
    props: Props,
    events: Vec<Event>,
    event_keys: usize,
}

impl Reader {
    pub(super) fn tasks(&mut self, member: &Member, out: &mut RtAppFile) {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for task in self.object("tasks", &member.node).unwrap_or(&[]) {
            self.name(&task.key, task.key_span);
            let Some(read) = self.task(task) else { continue };
            match places.get(task.key.as_str()) {
                Some(&place) => {
                    self.same_name(task);
                    out.tasks[place] = read;
                }
                None => {
                    places.insert(&task.key, out.tasks.len());
                    out.tasks.push(read);
                }
            }
        }
        if out.tasks.is_empty() && self.report.is_good() {
            self.report.error(member.key_span, say("`tasks` is empty").label("nothing would run"));
        }
    }

    /// rt-app waits for what is above 0.
    fn delay(&mut self, node: &Node) -> Option<Spanned<i64>> {
        let us = self.or_minus_one("delay", node, &TIME_US)?;
        if us.value < 0 {
            let words = say("`delay` is negative").label("starts at once, as in rt-app");
            self.report.warning(node.span, words.help("microseconds from the start of the use case"));
        }
        Some(us)
    }

    fn same_name(&mut self, task: &Member) {
        let words = say(format!("there are two tasks with the name `{}`", task.key));
        let words = words.label("takes the place of the first, as in rt-app");
        self.report.warning(task.key_span, words.help("rename one; use `instance` for copies"));
    }

    fn task(&mut self, member: &Member) -> Option<Task> {
        let members = self.object(&member.key, &member.node)?;
        let is_exec = is_exec_body(members);
        let has_phases = members.iter().any(|m| m.key == "phases");
        let place = Place { is_task: true, has_phases, is_exec };
        let mut parts = Parts::default();
        let (mut instances, mut delay_us, mut phases) = (None, None, None);
        for m in members {
            match m.key.as_str() {
                "instance" => {
                    let n = self.int("instance", &m.node, &INSTANCES);
                    self.put(&mut instances, n, m);
                }
                "delay" => {
                    let us = self.delay(&m.node);
                    self.put(&mut delay_us, us, m);
                }
                "phases" => {
                    let list = self.phases(m, is_exec);
                    self.put(&mut phases, Some(list), m);
                }
                _ => self.task_key(m, &mut parts, place),
            }
        }
        let name = Spanned { value: member.key.clone(), span: member.key_span };
        let phases = match phases {
            Some(phases) => phases,
            None => vec![self.only_phase(members, &name, &mut parts, is_exec)?],
        };
        let instances = instances.unwrap_or(Spanned { value: 1, span: member.key_span });
        Some(Task { name, instances, delay_us, props: parts.props, phases, has_phases })
    }

    /// The phase of a task without `phases`; the loop belongs to it.
    fn only_phase(
        &mut self,
        members: &[Member],
        name: &Spanned<String>,
        parts: &mut Parts,
        is_exec: bool,
    ) -> Option<Phase> {
        let props = Props { repeat: parts.props.repeat.take(), ..Props::default() };
        let body = if is_exec { self.exec_body(members, name.span)? } else { self.event_body(parts, name)? };
        Some(Phase { name: Spanned { value: String::new(), span: name.span }, props, body })
    }

    fn event_body(&mut self, parts: &mut Parts, name: &Spanned<String>) -> Option<Body> {
        if parts.event_keys == 0 {
            let words = say(format!("`{}` has no events", name.value)).label("does nothing");
            let events: Vec<&str> = EVENTS.iter().map(|(name, _)| *name).collect();
            self.report.error(name.span, words.help(format!("events are {}", events.join(", "))));
            return None;
        }
        Some(Body::Events(std::mem::take(&mut parts.events)))
    }

    fn phases(&mut self, member: &Member, task_is_exec: bool) -> Vec<Phase> {
        if task_is_exec {
            let words = say("`phases` beside `exec` or `lock_order`").label("which of the two is meant?");
            self.report.error(member.key_span, words.help("put `exec` and `lock_order` into the phases"));
        }
        let members = self.object("phases", &member.node).unwrap_or(&[]);
        if members.is_empty() && matches!(member.node.value, Value::Object(_)) {
            self.report.error(member.key_span, say("`phases` is empty").label("does nothing"));
        }
        members.iter().filter_map(|m| self.phase(m)).collect()
    }

    fn phase(&mut self, member: &Member) -> Option<Phase> {
        let members = self.object(&member.key, &member.node)?;
        let name = Spanned { value: member.key.clone(), span: member.key_span };
        self.name(&name.value, name.span);
        let is_exec = is_exec_body(members);
        let place = Place { is_task: false, has_phases: false, is_exec };
        let mut parts = Parts::default();
        for m in members {
            match m.key.as_str() {
                key @ ("instance" | "delay" | "phases") => {
                    self.pass_over(m, "a phase", &format!("`{key}` belongs to the task: move it one level up"));
                }
                _ => self.task_key(m, &mut parts, place),
            }
        }
        let body = if is_exec { self.exec_body(members, name.span)? } else { self.event_body(&mut parts, &name)? };
        Some(Phase { name, props: parts.props, body })
    }

    /// A key that tasks and phases share: a property or an event.
    fn task_key(&mut self, m: &Member, parts: &mut Parts, place: Place) {
        if (place.is_exec && self.exec_key(m)) || self.prop(&mut parts.props, m, place) {
            return;
        }
        match event_of(&m.key) {
            Some((_, EventKey::Runtime, "")) if place.has_phases || (place.is_exec && place.is_task) => {
                let us = self.int("runtime", &m.node, &TIME_US);
                self.put(&mut parts.props.older[0], us, m);
            }
            Some(_) if place.has_phases || place.is_exec => self.misplaced_event(m, place.is_exec),
            Some((name, event, rest)) => {
                self.check_suffix(m, name, rest);
                parts.event_keys += 1;
                let read = self.event(m, event);
                if let (Some(Event { kind: EventKind::Runtime(us), .. }), "", true) = (&read, rest, place.is_task) {
                    parts.props.older[0] = Some(us.clone());
                }
                parts.events.extend(read);
            }
            None => self.unknown_task_key(m),
        }
    }

    fn misplaced_event(&mut self, m: &Member, is_exec: bool) {
        if is_exec {
            let words = say("events cannot stand beside `exec`").label(format!("`{}`", m.key));
            self.report.error(m.key_span, words.help("write the whole task with events: `run`, `lock`, `timer`, ..."));
            return;
        }
        let words = say("events beside `phases` are never executed").label("passed over, as rt-app does");
        self.report.warning(m.key_span, words.help("move the event into a phase"));
    }

    fn check_suffix(&mut self, m: &Member, name: &str, rest: &str) {
        if is_plain_suffix(rest) {
            return;
        }
        let words = say(format!("`{}` is read as `{name}`", m.key))
            .label("rt-app compares only the beginning of an event's name");
        let better = self.report.near(&m.key, EVENTS.iter().map(|(n, _)| *n)).filter(|better| *better != name);
        let help = match better {
            Some(better) => format!("did you mean `{better}`?"),
            None => format!("write `{name}`, or `{name}0`, `{name}1` to tell several apart"),
        };
        self.report.warning(m.key_span, words.help(help));
    }

    fn unknown_task_key(&mut self, m: &Member) {
        let special = match m.key.as_str() {
            "period" => Some("a phase wakes up periodically with `timer`; a deadline period is `dl-period`"),
            "deadline" => Some("a relative deadline is `dl-deadline`"),
            "slice" | "timeslice" => Some("a custom slice is `dl-runtime` (us) with SCHED_OTHER"),
            "nice" => Some("the nice value is `priority`"),
            _ => None,
        };
        match special {
            Some(help) => self.pass_over(m, "a task or phase", help),
            None => {
                let events = EVENTS.iter().map(|(name, _)| *name);
                self.unknown(m, "a task", TASK_KEYS.iter().chain(PROP_KEYS).copied().chain(events));
            }
        }
    }

    /// Reads a property; false when the key is none.
    fn prop(&mut self, props: &mut Props, m: &Member, place: Place) -> bool {
        let (key, node) = (m.key.as_str(), &m.node);
        let time = |reader: &mut Self, slot: &mut Option<Spanned<i64>>| {
            let us = reader.int(key, node, &TIME_US);
            reader.put(slot, us, m);
        };
        match key {
            "loop" => {
                let n = self.repeat(node, place.is_task && place.has_phases);
                self.put(&mut props.repeat, n, m);
            }
            "cpus" => {
                let cpus = self.cpus(node);
                self.put(&mut props.cpus, cpus, m);
            }
            "nodes_membind" | "nodes_membership" => self.put(&mut props.nodes, Some(m.key_span), m),
            "policy" => {
                let policy = self.policy(key, node);
                self.put(&mut props.policy, policy, m);
            }
            "priority" => {
                let priority = self.int(key, node, &PRIORITY);
                self.put(&mut props.priority, priority, m);
            }
            "dl-runtime" => time(self, &mut props.dl_runtime_us),
            "dl-period" => time(self, &mut props.dl_period_us),
            "dl-deadline" => time(self, &mut props.dl_deadline_us),
            // Older names, which rt-app reads in the task only.
            "period" if place.is_task => time(self, &mut props.older[1]),
            "deadline" if place.is_task => time(self, &mut props.older[2]),
            "dl-reclaim" => {
                let reclaim = self.bool(key, node);
                self.put(&mut props.dl_reclaim, reclaim, m);
            }
            "util_min" | "util_max" => {
                let util = self.int(key, node, &UTIL);
                let slot = if key == "util_min" { &mut props.util_min } else { &mut props.util_max };
                self.put(slot, util, m);
            }
            "taskgroup" => {
                let group = self.text(key, node).and_then(|g| self.group(g));
                self.put(&mut props.taskgroup, group, m);
            }
            _ => return false,
        }
        true
    }

    fn group(&mut self, group: Spanned<String>) -> Option<Spanned<String>> {
        if group.value.is_empty() || group.value.starts_with('/') {
            return Some(group);
        }
        let help = format!("write \"/{}\"", group.value);
        self.report.error(group.span, say("a task group begins with `/`").label(group.value).help(help));
        None
    }
}

/// The oldest grammar is recognised by keys that no other has.
fn is_exec_body(members: &[Member]) -> bool {
    members.iter().any(|m| matches!(m.key.as_str(), "exec" | "lock_order" | "resources"))
}

/// Keys that `exec_body` reads.
pub(super) fn is_exec_key(key: &str) -> bool {
    EXEC_KEYS.contains(&key) || EXEC_REFUSED.contains(&key)
}

/// Place of a member as a whole.
pub(super) fn whole(m: &Member) -> Span {
    Span { start: m.key_span.start, end: m.node.span.end }
}
