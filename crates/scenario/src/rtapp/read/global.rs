// SPDX-License-Identifier: GPL-2.0-or-later
//! The `global` object.

use super::Reader;
use super::keys::{BUFFER_BYTES, CALIBRATION_NS, CPU, DURATION_S, GLOBAL_IGNORED, GLOBAL_KEYS, TIME_US};
use crate::rtapp::ast::{Calibration, Global, Spanned};
use crate::rtapp::json::{Member, Node, Value};
use crate::rtapp::report::say;

impl Reader {
    pub(super) fn global(&mut self, node: &Node) -> Global {
        let mut global = Global::default();
        let mut pi = None;
        let mut spacing = None;
        for member in self.object("global", node).unwrap_or(&[]) {
            let value = &member.node;
            match member.key.as_str() {
                "duration" => {
                    let duration = self.or_minus_one("duration", value, &DURATION_S);
                    self.put(&mut global.duration_s, duration, member);
                }
                "calibration" => {
                    let calibration = self.calibration(value);
                    self.put(&mut global.calibration, calibration, member);
                }
                "default_policy" => {
                    let policy = self.policy("default_policy", value);
                    self.put(&mut global.default_policy, policy, member);
                }
                "pi_enabled" => {
                    let enabled = self.bool("pi_enabled", value);
                    self.put(&mut pi, enabled, member);
                }
                "cumulative_slack" => {
                    let enabled = self.bool("cumulative_slack", value);
                    self.put(&mut global.cumulative_slack, enabled, member);
                }
                "spacing" => {
                    let us = self.int("spacing", value, &TIME_US);
                    self.put(&mut spacing, us, member);
                }
                "io_device" if matches!(value.value, Value::Null) => self.ignore(member),
                "io_device" => {
                    let device = self.text("io_device", value);
                    self.put(&mut global.io_device, device, member);
                    self.ignore(member);
                }
                "mem_buffer_size" => {
                    let bytes = self.int("mem_buffer_size", value, &BUFFER_BYTES);
                    self.put(&mut global.mem_buffer_size, bytes, member);
                    self.ignore(member);
                }
                key if GLOBAL_IGNORED.contains(&key) => self.ignored_value(member),
                _ => self.unknown(member, "`global`", GLOBAL_KEYS.iter().chain(GLOBAL_IGNORED).copied()),
            }
        }
        global.pi_enabled = pi.is_some_and(|p| p.value);
        global.spacing_us = spacing.map_or(0, |s| s.value);
        global
    }

    /// A value that has no effect is still checked: a wrong one shows that the author meant something else.
    fn ignored_value(&mut self, member: &Member) {
        let node = &member.node;
        let fits = match member.key.as_str() {
            "lock_pages" | "gnuplot" => matches!(node.value, Value::Bool(_)),
            "logdir" | "log_basename" => matches!(node.value, Value::Text(_) | Value::Null),
            "log_size" => matches!(node.value, Value::Text(_) | Value::Int(_)),
            "ftrace" => matches!(node.value, Value::Text(_) | Value::Bool(_)),
            _ => matches!(node.value, Value::Int(_)),
        };
        match &node.value {
            Value::Placeholder(name) => self.placeholders.push(Spanned { value: name.clone(), span: node.span }),
            _ if !fits => {
                let words = say(format!("`{}` has the wrong type", member.key));
                self.report.error(node.span, words.label(format!("this is {}", node.value.kind())));
            }
            _ => {}
        }
        self.ignore(member);
    }

    fn calibration(&mut self, node: &Node) -> Option<Spanned<Calibration>> {
        let place = |value| Some(Spanned { value, span: node.span });
        let Value::Text(text) = &node.value else {
            return self
                .int("calibration", node, &CALIBRATION_NS)
                .and_then(|ns| place(Calibration::NsPerLoop(ns.value)));
        };
        let cpu = text.strip_prefix("CPU").and_then(|n| n.parse::<u32>().ok());
        match cpu.filter(|&n| i64::from(n) <= CPU.max) {
            Some(cpu) => place(Calibration::OnCpu(cpu)),
            None => {
                let words = say("`calibration` names no CPU").label(text.clone());
                self.report
                    .error(node.span, words.allowed("\"CPU0\", \"CPU1\", ... or a number of nanoseconds per loop"));
                None
            }
        }
    }
}
