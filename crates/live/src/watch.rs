// SPDX-License-Identifier: GPL-2.0-or-later
//! State of a running scheduler at one moment, as JSON and as text for Prometheus.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::scheduler::{Compared, Consumed, CpuView, Ended, Explanation, Group, Host};

/// State of a running scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Seconds since it began.
    pub seconds: f64,
    /// Counts of events by name.
    pub counts: Vec<(&'static str, u64)>,
    /// Every CPU.
    pub cpus: Vec<CpuView>,
    /// Groups with boosts or clamps of their own, by path.
    pub groups: Vec<(String, Group)>,
    /// End by the kernel; `None`: it runs.
    pub ended: Option<Ended>,
    /// The kernel's load tracking beside the core's, of an observer.
    pub compared: Vec<Compared>,
    /// Energy of busy time, of an observer.
    pub energy: Option<Consumed>,
}

/// A number of a CPU; `None`: it has none.
type Gauge = (&'static str, &'static str, fn(&CpuView) -> Option<i64>);

/// Numbers of every CPU: name, meaning, value.
const GAUGES: [Gauge; 11] = [
    ("capacity", "Capacity of the CPU, of 1024.", |cpu| Some(cpu.capacity.into())),
    ("idle", "1 while the CPU runs nothing.", |cpu| Some(cpu.idle.into())),
    ("queued", "Queued tasks.", |cpu| Some(cpu.queued.into())),
    ("util", "Utilization of the queue, capacity.", |cpu| Some(cpu.util.into())),
    ("runnable", "Runnable average of the queue, capacity.", |cpu| Some(cpu.runnable.into())),
    ("util_est", "Estimated utilization of the queue, capacity.", |cpu| Some(cpu.util_est.into())),
    ("clamped", "Utilization with the clamps in it, capacity.", |cpu| Some(cpu.clamped.into())),
    ("boost_percent", "Boost in force, percent.", |cpu| Some(cpu.boost_percent.into())),
    ("target", "Performance target that was handed to the kernel, of 1024.", |cpu| Some(cpu.target.into())),
    ("wanted_hertz", "Frequency that was decided.", |cpu| hertz(Some(cpu.wanted_khz).filter(|&khz| khz > 0))),
    ("hertz", "Frequency that the kernel last said.", |cpu| hertz(cpu.khz)),
];

fn hertz(khz: Option<u32>) -> Option<i64> {
    khz.map(|khz| i64::from(khz) * 1000)
}

/// A number of a group with values of its own.
type GroupGauge = (&'static str, &'static str, fn(&Group) -> i64);

/// Numbers of every group: name, meaning, value.
const GROUP_GAUGES: [GroupGauge; 3] = [
    ("boost_percent", "Boost that the group was given, percent.", |group| group.boost_percent.into()),
    ("clamp_min", "Lower clamp that the group was given, of 1024.", |group| group.min.into()),
    ("clamp_max", "Upper clamp that the group was given, of 1024.", |group| group.max.into()),
];

impl Snapshot {
    /// State of a host now.
    pub fn of(host: &dyn Host) -> Snapshot {
        Snapshot {
            seconds: host.seconds(),
            counts: host.counts(),
            cpus: host.cpus(),
            groups: host.groups(),
            ended: host.ended(),
            compared: host.compared(),
            energy: host.energy(),
        }
    }

    /// The state as JSON; `pelton_lab::results::live::LiveStatus` says what each field is.
    pub fn value(&self) -> Value {
        let counts = self.counts.iter().map(|(event, count)| json!({"event": event, "count": count}));
        json!({
            "seconds": self.seconds,
            "counts": counts.collect::<Vec<_>>(),
            "cpus": self.cpus.iter().map(of_cpu).collect::<Vec<_>>(),
            "groups": self.groups.iter().map(|(cgroup, group)| of_group(cgroup, *group)).collect::<Vec<_>>(),
            "ended": self.ended.as_ref().map(of_end),
        })
    }

    /// The state in Prometheus' text format, version 0.0.4.
    pub fn prometheus(&self) -> String {
        let mut out = String::new();
        head(&mut out, "seconds", "gauge", "Seconds since the scheduler began.");
        let _ = writeln!(out, "pelton_live_seconds {}", self.seconds);
        head(&mut out, "running", "gauge", "1 until the kernel ends the scheduler.");
        let _ = writeln!(out, "pelton_live_running {}", u8::from(self.ended.is_none()));
        head(&mut out, "events_total", "counter", "Events by name.");
        for (event, count) in &self.counts {
            let _ = writeln!(out, "pelton_live_events_total{{event=\"{}\"}} {count}", escaped(event));
        }
        for (name, meaning, value) in GAUGES {
            head(&mut out, &format!("cpu_{name}"), "gauge", meaning);
            for (cpu, value) in self.cpus.iter().filter_map(|cpu| Some((cpu.cpu, value(cpu)?))) {
                let _ = writeln!(out, "pelton_live_cpu_{name}{{cpu=\"{cpu}\"}} {value}");
            }
        }
        for (name, meaning, value) in GROUP_GAUGES {
            head(&mut out, &format!("group_{name}"), "gauge", meaning);
            for (cgroup, group) in &self.groups {
                let cgroup = escaped(cgroup);
                let _ = writeln!(out, "pelton_live_group_{name}{{cgroup=\"{cgroup}\"}} {}", value(group));
            }
        }
        self.put_observed(&mut out);
        out
    }

    /// Counts that only an observer has, as far as it is known.
    fn put_observed(&self, out: &mut String) {
        let published = || self.compared.iter().filter(|of| of.published);
        if published().next().is_some() {
            head(out, "load_tracking_total", "counter", "States that the kernel published, beside the core's.");
        }
        for of in published() {
            let results =
                [("equal", of.equal), ("first", of.first), ("different", of.different), ("unseen", of.unseen)];
            for (result, count) in results {
                let signal = of.signal;
                let _ =
                    writeln!(out, "pelton_live_load_tracking_total{{signal=\"{signal}\",result=\"{result}\"}} {count}");
            }
        }
        let Some(energy) = &self.energy else { return };
        let unit = if energy.own_unit { "units" } else { "joules" };
        head(out, &format!("energy_{unit}_total"), "counter", "Energy of busy time at the frequencies of each.");
        for (by, value) in [("kernel", energy.kernel), ("core", energy.core)] {
            let _ = writeln!(out, "pelton_live_energy_{unit}_total{{by=\"{by}\"}} {value}");
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, meaning: &str) {
    let _ = writeln!(out, "# HELP pelton_live_{name} {meaning}\n# TYPE pelton_live_{name} {kind}");
}

/// Text in a label: names of cgroups may hold anything but a slash.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn of_cpu(cpu: &CpuView) -> Value {
    json!({
        "cpu": cpu.cpu,
        "capacity": cpu.capacity,
        "idle": cpu.idle,
        "queued": cpu.queued,
        "util": cpu.util,
        "runnable": cpu.runnable,
        "util_est": cpu.util_est,
        "clamped": cpu.clamped,
        "boost_percent": cpu.boost_percent,
        "target": cpu.target,
        "wanted_khz": Some(cpu.wanted_khz).filter(|&khz| khz > 0),
        "khz": cpu.khz,
    })
}

/// A group as JSON.
pub(crate) fn of_group(cgroup: &str, group: Group) -> Value {
    json!({"cgroup": cgroup, "boost_percent": group.boost_percent, "min": group.min, "max": group.max})
}

fn of_end(ended: &Ended) -> Value {
    json!({"kind": ended.kind, "code": ended.code, "reason": ended.reason, "message": ended.message})
}

/// The last decision of a CPU as JSON; null where there was none.
pub(crate) fn of_explanation(cpu: u32, explanation: Option<&Explanation>) -> Value {
    let decision = explanation.map(|explanation| {
        let terms = explanation.terms.iter().map(|term| json!({"name": term.name, "value": term.value}));
        json!({"ago_ns": explanation.ago_ns, "terms": terms.collect::<Vec<_>>()})
    });
    json!({"cpu": cpu, "decision": decision})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        let busy =
            CpuView { cpu: 1, capacity: 1024, util: 300, wanted_khz: 1_400_000, khz: None, ..CpuView::default() };
        let idle = CpuView { cpu: 0, idle: true, boost_percent: -5, khz: Some(600_000), ..CpuView::default() };
        Snapshot {
            seconds: 1.5,
            counts: vec![("evaluated", 7), ("set", 2)],
            cpus: vec![idle, busy],
            groups: vec![("/a\"b\\c\nd".to_owned(), Group { boost_percent: 30, min: 0, max: 1024 })],
            ended: None,
            compared: Vec::new(),
            energy: None,
        }
    }

    #[test]
    fn what_an_observer_knows_is_there_and_what_it_does_not_is_not() {
        let task = Compared { signal: "task", published: true, equal: 9, different: 1, ..Compared::default() };
        let hidden = Compared { signal: "dl", ..Compared::default() };
        let energy = Some(Consumed { kernel: 2.5, core: 2.0, ..Consumed::default() });
        let text = Snapshot { compared: vec![task, hidden], energy, ..snapshot() }.prometheus();
        assert!(text.contains("pelton_live_load_tracking_total{signal=\"task\",result=\"different\"} 1\n"), "{text}");
        assert!(text.contains("pelton_live_energy_joules_total{by=\"core\"} 2\n"), "{text}");
        assert!(!text.contains("signal=\"dl\"") && !snapshot().prometheus().contains("energy"), "{text}");
    }

    #[test]
    fn text_for_prometheus_has_each_name_once_and_no_number_that_is_not_known() {
        let text = snapshot().prometheus();
        for line in [
            "pelton_live_seconds 1.5",
            "pelton_live_running 1",
            "# TYPE pelton_live_events_total counter",
            "pelton_live_events_total{event=\"evaluated\"} 7",
            "pelton_live_cpu_boost_percent{cpu=\"0\"} -5",
            "pelton_live_cpu_idle{cpu=\"0\"} 1",
            "pelton_live_cpu_wanted_hertz{cpu=\"1\"} 1400000000",
            "pelton_live_cpu_hertz{cpu=\"0\"} 600000000",
            "pelton_live_group_boost_percent{cgroup=\"/a\\\"b\\\\c\\nd\"} 30",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
        assert!(!text.contains("cpu_hertz{cpu=\"1\"}") && !text.contains("cpu_wanted_hertz{cpu=\"0\"}"), "{text}");
        let mut heads: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
        let count = heads.len();
        heads.sort_unstable();
        heads.dedup();
        assert_eq!((heads.len(), count), (17, 17));
    }

    #[test]
    fn counts_keep_their_order_and_a_frequency_that_is_not_known_is_null() {
        let value = snapshot().value();
        assert_eq!(value["counts"][1], json!({"event": "set", "count": 2}));
        assert!(value["cpus"][1]["khz"].is_null() && value["cpus"][0]["wanted_khz"].is_null());
        assert_eq!(value["groups"][0]["boost_percent"], 30);
        assert!(value["ended"].is_null());
    }
}
