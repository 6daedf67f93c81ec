// SPDX-License-Identifier: GPL-2.0-or-later
//! Every key of the grammar and every range, once. `docs/guide/workloads.md` is checked against these tables.

/// The whole numbers a key accepts.
#[derive(Clone, Copy, Debug)]
pub(in crate::rtapp) struct Bound {
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
    /// Unit, for messages.
    pub unit: &'static str,
    /// Form of what may have been meant.
    pub help: &'static str,
}

impl Bound {
    const fn new(min: i64, max: i64, unit: &'static str, help: &'static str) -> Self {
        Bound { min, max, unit, help }
    }

    /// `1..=99`, with its unit.
    pub(in crate::rtapp) fn text(&self) -> String {
        format!("{}..={}{}{}", self.min, self.max, if self.unit.is_empty() { "" } else { " " }, self.unit)
    }
}

/// rt-app keeps numbers in a C `int`; json-c gives it the nearest one.
pub(in crate::rtapp) const INT_MAX: i64 = i32::MAX as i64;
/// A hundred days in microseconds, longer than any run: rt-app takes a negative time for one of 584,000 years
/// (`loadwait`, `usec_to_timespec`).
pub(in crate::rtapp) const ENDLESS_US: i64 = 100 * 86_400 * 1_000_000;

/// Times of events.
pub(in crate::rtapp) const TIME_US: Bound = Bound::new(0, INT_MAX, "us", "microseconds; always busy is `\"run\": -1`");
/// Busy times by the clock.
pub(in crate::rtapp) const RUNTIME_US: Bound = Bound::new(
    0,
    INT_MAX,
    "us",
    "microseconds; always busy is `\"run\": -1`, rt-app ends a negative `runtime` at once",
);
/// Timer periods.
pub(in crate::rtapp) const PERIOD_US: Bound =
    Bound::new(1, INT_MAX, "us", "microseconds; a task that never waits has no `timer`");
/// Repetitions; 0 is treated apart.
pub(in crate::rtapp) const REPEAT: Bound = Bound::new(-1, INT_MAX, "", "for ever is -1");
/// Copies of a task.
pub(in crate::rtapp) const INSTANCES: Bound = Bound::new(0, 10_000, "threads", "a task that others fork has 0");
/// Length of the use case.
pub(in crate::rtapp) const DURATION_S: Bound = Bound::new(-1, INT_MAX, "s", "seconds; no limit is -1");
/// Time of one calibration loop.
pub(in crate::rtapp) const CALIBRATION_NS: Bound =
    Bound::new(1, 1_000_000, "ns per loop", "nanoseconds per loop, or \"CPU0\" to measure them there");
/// CPU numbers, before the machine is known.
pub(in crate::rtapp) const CPU: Bound =
    Bound::new(0, 4095, "", "CPU numbers begin with 0; leave `cpus` out to allow all");
/// Nice values and priorities, before the policy is known.
pub(in crate::rtapp) const PRIORITY: Bound =
    Bound::new(-20, 99, "", "a nice value -20..=19 with SCHED_OTHER, 1..=99 with SCHED_FIFO and SCHED_RR");
/// Utilization clamps.
pub(in crate::rtapp) const UTIL: Bound =
    Bound::new(-1, 1024, "", "1024 is the biggest CPU at its highest frequency; -1 leaves the clamp as it was");
/// Size of the buffer that is written.
pub(in crate::rtapp) const BUFFER_BYTES: Bound = Bound::new(1, INT_MAX, "bytes", "leave the key out for 4 MiB");
/// Sizes and counts.
pub(in crate::rtapp) const COUNT: Bound = Bound::new(0, INT_MAX, "", "");

/// Keys at the top.
pub(in crate::rtapp) const ROOT_KEYS: &[&str] = &["tasks", "global", "resources", "threads"];

/// Keys of `global` that change the simulation.
pub(in crate::rtapp) const GLOBAL_KEYS: &[&str] = &[
    "duration",
    "calibration",
    "default_policy",
    "pi_enabled",
    "cumulative_slack",
    "spacing",
    "io_device",
    "mem_buffer_size",
];

/// Keys of `global` that only concern rt-app's own process and log files.
pub(in crate::rtapp) const GLOBAL_IGNORED: &[&str] =
    &["lock_pages", "logdir", "log_basename", "log_size", "ftrace", "gnuplot", "frag", "fragment"];

/// Keys of a task only.
pub(in crate::rtapp) const TASK_KEYS: &[&str] = &["instance", "delay", "phases"];

/// Keys of tasks and phases.
pub(in crate::rtapp) const PROP_KEYS: &[&str] = &[
    "loop",
    "cpus",
    "nodes_membind",
    "policy",
    "priority",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "dl-reclaim",
    "util_min",
    "util_max",
    "taskgroup",
];

/// Keys of the oldest grammar (before September 2014).
pub(in crate::rtapp) const EXEC_KEYS: &[&str] = &["exec", "period", "deadline", "lock_order", "resources", "sleep"];

/// Keys of the oldest grammar that cannot be lowered.
pub(in crate::rtapp) const EXEC_REFUSED: &[&str] = &["period jitter", "exec jitter", "hard_rsv"];

/// Types in `resources`.
pub(in crate::rtapp) const RESOURCE_TYPES: &[&str] =
    &["mutex", "wait", "signal", "broadcast", "sync", "sleep", "run", "timer", "barrier"];

/// The events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rtapp) enum EventKey {
    Run,
    Runtime,
    Sleep,
    Timer,
    Lock,
    Unlock,
    Wait,
    Signal,
    Broadcast,
    Sync,
    Suspend,
    Resume,
    Barrier,
    Yield,
    Fork,
    Exec,
    SemPost,
    SemWait,
    Mem,
    IoRun,
    MemRun,
}

/// Event names; a longer name stands before every name it begins with.
pub(in crate::rtapp) const EVENTS: &[(&str, EventKey)] = &[
    ("runtime", EventKey::Runtime),
    ("run", EventKey::Run),
    ("sleep", EventKey::Sleep),
    ("timer", EventKey::Timer),
    ("lock", EventKey::Lock),
    ("unlock", EventKey::Unlock),
    ("wait", EventKey::Wait),
    ("signal", EventKey::Signal),
    ("broadcast", EventKey::Broadcast),
    ("broad", EventKey::Broadcast),
    ("sync_and_wait", EventKey::Sync),
    ("sync", EventKey::Sync),
    ("suspend", EventKey::Suspend),
    ("resume", EventKey::Resume),
    ("barrier", EventKey::Barrier),
    ("yield", EventKey::Yield),
    ("fork", EventKey::Fork),
    ("execve", EventKey::Exec),
    ("sem_post", EventKey::SemPost),
    ("sem_wait", EventKey::SemWait),
    ("memrun", EventKey::MemRun),
    ("mem", EventKey::Mem),
    ("iorun", EventKey::IoRun),
];

/// The event a key names: rt-app compares only the beginning (`run0`, `lock_a`), the rest makes keys differ.
pub(in crate::rtapp) fn event_of(key: &str) -> Option<(&'static str, EventKey, &str)> {
    EVENTS.iter().find_map(|&(name, event)| key.strip_prefix(name).map(|rest| (name, event, rest)))
}

/// A rest that is not a typing mistake.
pub(in crate::rtapp) fn is_plain_suffix(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit() || c == '_' || c == '-' || c == ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_names_every_key() {
        let guide = include_str!("../../../../../docs/guide/workloads.md");
        let tables = [ROOT_KEYS, GLOBAL_KEYS, GLOBAL_IGNORED, TASK_KEYS, PROP_KEYS, EXEC_KEYS, EXEC_REFUSED];
        let events = EVENTS.iter().map(|(name, _)| *name);
        for key in tables.into_iter().flatten().copied().chain(events) {
            assert!(guide.contains(&format!("`{key}`")), "docs/guide/workloads.md says nothing about `{key}`");
        }
        for kind in RESOURCE_TYPES {
            assert!(guide.contains(kind), "docs/guide/workloads.md says nothing about {kind}");
        }
    }

    #[test]
    fn a_longer_event_is_found_before_its_beginning() {
        for (i, (name, event)) in EVENTS.iter().enumerate() {
            assert!(EVENTS[..i].iter().all(|(before, _)| !name.starts_with(before)), "{name}");
            assert_eq!(event_of(name), Some((*name, *event, "")));
        }
        assert_eq!(event_of("run12").map(|(name, _, rest)| (name, rest)), Some(("run", "12")));
        assert_eq!(event_of("period"), None);
    }
}
