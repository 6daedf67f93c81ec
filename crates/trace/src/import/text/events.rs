// SPDX-License-Identifier: GPL-2.0-only
//! Spellings of events in text, one row each.
//!
//! A row names the event of the schema and for each of its columns the key in the text; a column without a row entry is
//! not carried. `lisa__` before a name is passed over. A key with `!` must be there.

use pelton_schema::{EVENTS, EventInfo};

/// One spelling: its name, the event, `column=key` pairs, and `comm key=tid key` pairs.
pub(crate) type Row = (&'static str, &'static str, &'static str, &'static str);

const WAKE: &str = "tid=!pid prio=prio target_cpu=target_cpu";
const ENTITY: &str = "cpu=cpu tid=!pid load_avg=load load_avg=load_avg runnable_avg=runnable util_avg=util \
                      util_avg=utilization util_avg=util_avg";
const QUEUE: &str = "cpu=!cpu load_avg=load load_avg=load_avg runnable_avg=runnable util_avg=util util_avg=utilization \
                     util_avg=util_avg";
const CLASS: &str = "cpu=!cpu util_avg=!util";

/// All spellings.
pub(crate) const ROWS: &[Row] = &[
    (
        "sched_switch",
        "sched_switch",
        "prev_tid=!prev_pid prev_prio=prev_prio prev_state=prev_state next_tid=!next_pid next_prio=next_prio",
        "prev_comm=prev_pid next_comm=next_pid",
    ),
    ("sched_waking", "sched_waking", WAKE, "comm=pid"),
    ("sched_wakeup", "sched_wakeup", WAKE, "comm=pid"),
    ("sched_wakeup_new", "sched_wakeup_new", WAKE, "comm=pid"),
    (
        "sched_migrate_task",
        "sched_migrate_task",
        "tid=!pid prio=prio orig_cpu=!orig_cpu dest_cpu=!dest_cpu",
        "comm=pid",
    ),
    (
        "sched_process_fork",
        "sched_process_fork",
        "parent_tid=!pid child_tid=!child_pid",
        "comm=pid child_comm=child_pid",
    ),
    ("sched_process_exit", "sched_process_exit", "tid=!pid prio=prio", "comm=pid"),
    ("sched_process_exec", "task_name", "tid=!pid", "filename=pid"),
    ("task_rename", "task_name", "tid=!pid", "oldcomm= newcomm=pid"),
    ("cpu_frequency", "cpu_frequency", "cpu=!cpu_id freq_khz=!state", ""),
    (
        "cpu_frequency_limits",
        "cpu_frequency_limits",
        "cpu=!cpu_id min_khz=min min_khz=min_freq max_khz=max max_khz=max_freq",
        "",
    ),
    ("cpu_idle", "cpu_idle", "cpu=!cpu_id state=!state", ""),
    ("irq_handler_entry", "irq_handler_entry", "irq=!irq", ""),
    ("irq_handler_exit", "irq_handler_exit", "irq=!irq", ""),
    ("softirq_entry", "softirq_entry", "vec=!vec", ""),
    ("softirq_exit", "softirq_exit", "vec=!vec", ""),
    ("sched_load_avg_task", "pelt_se", ENTITY, "comm=pid"),
    ("sched_load_avg_cpu", "pelt_cfs", QUEUE, ""),
    ("sched_load_se", "pelt_se", ENTITY, "comm=pid path="),
    ("sched_load_cfs_rq", "pelt_cfs", QUEUE, "path="),
    ("sched_pelt_se", "pelt_se", ENTITY, "comm=pid path="),
    ("sched_pelt_cfs", "pelt_cfs", QUEUE, "path="),
    ("sched_pelt_rt", "pelt_rt", CLASS, ""),
    ("sched_pelt_dl", "pelt_dl", CLASS, ""),
    ("sched_pelt_irq", "pelt_irq", CLASS, ""),
    ("sched_task_runnable_ratio", "pelt_se", "tid=!pid runnable_avg=!ratio", "comm=pid"),
    ("sched_task_load_contrib", "pelt_se", "tid=!pid load_avg=!load_contrib", "comm=pid"),
    ("sched_rq_runnable_ratio", "pelt_cfs", "cpu=!cpu runnable_avg=!ratio", ""),
    ("sched_rq_runnable_load", "pelt_cfs", "cpu=!cpu load_avg=!load", ""),
    ("sched_util_est_se", "util_est", "cpu=cpu tid=!pid enqueued=enqueued ewma=ewma", "comm=pid path="),
    ("sched_util_est_task", "util_est", "cpu=cpu tid=!pid enqueued=util_est_enqueued ewma=util_est_ewma", "comm=pid"),
    ("sched_util_est_cfs", "util_est", "cpu=!cpu enqueued=enqueued ewma=ewma", "path="),
    ("sched_util_est_cpu", "util_est", "cpu=!cpu enqueued=util_est_enqueued", ""),
    (
        "uclamp_util_se",
        "uclamp_util_se",
        "cpu=cpu tid=!pid util_avg=util_avg uclamp_min=uclamp_min uclamp_max=uclamp_max",
        "comm=pid",
    ),
    (
        "uclamp_util_cfs",
        "effective_cpu_util",
        "cpu=!cpu util_cfs=util_avg min=uclamp_min max=uclamp_max util=uclamp_avg",
        "",
    ),
    ("sched_overutilized", "sched_overutilized", "overutilized=!overutilized", ""),
    ("sched_cpu_capacity", "sched_cpu_capacity", "cpu=!cpu capacity=!capacity", ""),
    ("sched_update_nr_running", "sched_update_nr_running", "cpu=!cpu change=change nr_running=!nr_running", ""),
    ("thermal_power_cpu_get_power", "cpu_frequency", "freq_khz=!freq", "cpus="),
];

/// A key and what its value is for.
pub(crate) struct Key {
    /// The key.
    pub name: &'static str,
    /// Column it fills.
    pub column: Option<usize>,
    /// Refused without it.
    pub must: bool,
    /// Key that has the task this name is of.
    pub task: Option<usize>,
}

/// A row made ready.
pub(crate) struct Spelling {
    /// Name in the text.
    pub name: &'static str,
    /// Event it becomes.
    pub event: &'static EventInfo,
    /// All keys.
    pub keys: Vec<Key>,
    /// Column of the CPU of the line.
    pub cpu: Option<usize>,
    /// Columns already told to the user of the trace.
    pub told: u64,
}

/// Most keys of a row.
pub(crate) const KEYS_MAX: usize = 16;

/// All spellings, sorted by name.
pub(crate) fn spellings() -> Vec<Spelling> {
    let mut all: Vec<Spelling> = ROWS.iter().map(spelling).collect();
    all.sort_by_key(|spelling| spelling.name);
    all
}

fn spelling(&(name, event, columns, texts): &Row) -> Spelling {
    let event = EVENTS.iter().find(|info| info.name == event).expect("a row names a declared event");
    let mut keys: Vec<Key> = Vec::new();
    for (column, key) in columns.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        let column = Some(event.column(column).expect("a row names declared columns"));
        keys.push(Key { name: key.trim_start_matches('!'), column, must: key.starts_with('!'), task: None });
    }
    for (text, task) in texts.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        let task = keys.iter().position(|key| key.name == task);
        keys.push(Key { name: text, column: None, must: false, task });
    }
    assert!(keys.len() <= KEYS_MAX, "{name} has too many keys");
    let cpu = event.column("cpu");
    Spelling { name, event, keys, cpu, told: 0 }
}

/// The values of the keys in a text; a name ends where the next key begins.
pub(crate) fn values<'a>(keys: &[Key], fields: &'a [u8]) -> [Option<&'a [u8]>; KEYS_MAX] {
    let mut found = [None; KEYS_MAX];
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    while at < fields.len() {
        let rest = &fields[at..];
        let key = keys
            .iter()
            .position(|key| rest.starts_with(key.name.as_bytes()) && rest.get(key.name.len()) == Some(&b'='));
        if let Some(index) = key {
            if let Some((before, from)) = open {
                found[before] = Some(fields[from..at].trim_ascii_end());
            }
            at += keys[index].name.len() + 1;
            open = Some((index, at));
        }
        at = memchr::memchr(b' ', &fields[at..]).map_or(fields.len(), |blank| at + blank + 1);
    }
    if let Some((last, from)) = open {
        found[last] = Some(fields[from..].trim_ascii_end());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_where_the_next_key_begins() {
        let spelling = spelling(&ROWS[0]);
        let fields = b"prev_comm=a b=c pid=3 prev_pid=7 prev_state=R ==> next_comm=x next_pid=8";
        let found = values(&spelling.keys, fields);
        let of = |name: &str| found[spelling.keys.iter().position(|key| key.name == name).expect("a key")];
        assert_eq!(of("prev_comm"), Some(&b"a b=c pid=3"[..]));
        assert_eq!((of("prev_pid"), of("next_pid"), of("prev_prio")), (Some(&b"7"[..]), Some(&b"8"[..]), None));
        assert_eq!(of("prev_state"), Some(&b"R ==>"[..]));
    }

    #[test]
    fn every_row_is_sound() {
        assert_eq!(spellings().len(), ROWS.len());
    }
}
