// SPDX-License-Identifier: GPL-2.0-or-later
//! Spellings of the declared events by kernels, modules and tools of all ages, in binary files and in text alike. Field
//! names are those of the event's format file and the keys its text prints; `lisa__` before an event's name is passed
//! over.

/// Source of a column's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// The first of these fields that the event has.
    Field(&'static [&'static str]),
    /// First of these fields that the event has; without any of them the event means nothing.
    Need(&'static [&'static str]),
    /// The first of these fields that the event has, or this number, which says that it is not known.
    Or(&'static [&'static str], u64),
    /// A task state in a field, as the kernel's bits or letters; without it the event means nothing.
    State(&'static str),
    /// The CPU that wrote the event.
    Cpu,
    /// The CPU in this field, or the CPU that wrote the event when it has no such field.
    CpuOf(&'static str),
    /// Every CPU of the mask in this field.
    CpusOf(&'static str),
    /// Always this.
    Is(u64),
    /// The number of the group whose path is in the field `path`.
    Group,
    /// Eight bytes of the name in this field: the first, or those after them.
    Name(&'static str, bool),
}

impl Origin {
    /// The fields it is taken from.
    pub fn fields(&self) -> &[&'static str] {
        match self {
            Origin::Field(names) | Origin::Need(names) | Origin::Or(names, _) => names,
            Origin::State(name) | Origin::CpuOf(name) | Origin::CpusOf(name) | Origin::Name(name, _) => {
                std::slice::from_ref(name)
            }
            Origin::Cpu | Origin::Is(_) | Origin::Group => &[],
        }
    }

    /// The field without which the event means nothing, under its first name.
    fn needed(&self) -> Option<&'static str> {
        match self {
            Origin::Need(names) => names.first().copied(),
            Origin::State(name) | Origin::CpusOf(name) | Origin::Name(name, _) => Some(name),
            _ => None,
        }
    }
}

/// Condition under which a spelling means its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum When {
    Always,
    /// `pid` is a task's.
    Task,
    /// `pid` is -1: the entity of a group.
    GroupEntity,
    /// `path` is the root group, or not there.
    RootQueue,
    /// `path` is another group.
    GroupQueue,
}

/// One declared event and the events of kernels that mean it.
pub(super) struct Spelling {
    /// Names of the kernel's event.
    pub names: &'static [&'static str],
    /// Name of the declared event.
    pub event: &'static str,
    /// Condition.
    pub when: When,
    /// Columns the spelling carries.
    pub columns: &'static [(&'static str, Origin)],
}

use Origin::{Cpu, CpuOf, CpusOf, Field, Group, Is, Name, Need, Or, State};
use When::{Always, GroupEntity, GroupQueue, RootQueue, Task};

const fn always(
    names: &'static [&'static str],
    event: &'static str,
    columns: &'static [(&'static str, Origin)],
) -> Spelling {
    Spelling { names, event, when: Always, columns }
}

const PID: Origin = Need(&["pid"]);
const PRIO: Origin = Need(&["prio"]);
const WAKE: &[(&str, Origin)] = &[("cpu", Cpu), ("tid", PID), ("prio", PRIO), ("target_cpu", Need(&["target_cpu"]))];
const UTIL: Origin = Need(&["util", "util_avg", "utilization"]);
const LOAD: Origin = Field(&["load", "load_avg"]);
const RUNNABLE: Origin = Field(&["runnable", "runnable_avg"]);
const QUEUE_CPU: Origin = Need(&["cpu"]);
const CLASS: &[(&str, Origin)] = &[("cpu", QUEUE_CPU), ("util_avg", Need(&["util", "util_avg"]))];
const IRQ: &[(&str, Origin)] = &[("cpu", Cpu), ("irq", Need(&["irq"]))];
const SOFTIRQ: &[(&str, Origin)] = &[("cpu", Cpu), ("vec", Need(&["vec"]))];
const ENTITIES: &[&str] = &["sched_load_se", "sched_pelt_se", "sched_load_avg_task"];
const QUEUES: &[&str] = &["sched_load_cfs_rq", "sched_pelt_cfs", "sched_load_avg_cpu"];
/// Value of a column that an event may leave out, where it does.
const UNKNOWN: u64 = u32::MAX as u64;
const ENQUEUED: Origin = Need(&["enqueued", "util_est_enqueued", "est_enqueued", "util_est"]);
const EWMA: Origin = Or(&["ewma", "util_est_ewma", "est_ewma"], UNKNOWN);
const SAMPLE: Origin = Or(&["util", "util_avg"], UNKNOWN);
const NEXT_FREQ: &[&str] = &["sugov_next_freq", "sugov_next_freq_tp"];

const fn naming(names: &'static [&'static str], columns: &'static [(&'static str, Origin)]) -> Spelling {
    always(names, TASK_NAME, columns)
}

const RAW: Origin = Need(&["raw_freq"]);
const FREQ: Origin = Need(&["freq"]);
const NEXT: Origin = Need(&["next_freq"]);
const CHOICE: [(&str, Origin); 3] = [("cpu", QUEUE_CPU), ("util", Need(&["util"])), ("max", Need(&["max"]))];

const fn next_freq(columns: &'static [(&'static str, Origin)]) -> Spelling {
    always(NEXT_FREQ, "sugov_next_freq", columns)
}

/// Every spelling. The first whose name, condition and columns fit decides.
pub(super) static SPELLINGS: &[Spelling] = &[
    always(
        &["sched_switch"],
        "sched_switch",
        &[
            ("cpu", Cpu),
            ("prev_tid", Need(&["prev_pid"])),
            ("prev_prio", Need(&["prev_prio"])),
            ("prev_state", State("prev_state")),
            ("next_tid", Need(&["next_pid"])),
            ("next_prio", Need(&["next_prio"])),
        ],
    ),
    always(&["sched_waking"], "sched_waking", WAKE),
    always(&["sched_wakeup"], "sched_wakeup", WAKE),
    always(&["sched_wakeup_new"], "sched_wakeup_new", WAKE),
    always(
        &["sched_migrate_task"],
        "sched_migrate_task",
        &[
            ("cpu", Cpu),
            ("tid", PID),
            ("prio", PRIO),
            ("orig_cpu", Need(&["orig_cpu"])),
            ("dest_cpu", Need(&["dest_cpu"])),
        ],
    ),
    always(
        &["sched_process_fork"],
        "sched_process_fork",
        &[("cpu", Cpu), ("parent_tid", Need(&["parent_pid", "pid"])), ("child_tid", Need(&["child_pid"]))],
    ),
    always(&["sched_process_exit"], "sched_process_exit", &[("cpu", Cpu), ("tid", PID), ("prio", PRIO)]),
    always(&["cpu_frequency"], "cpu_frequency", &[("cpu", Need(&["cpu_id"])), ("freq_khz", Need(&["state"]))]),
    always(&["cpu_idle"], "cpu_idle", &[("cpu", Need(&["cpu_id"])), ("state", Need(&["state"]))]),
    always(
        &["cpu_frequency_limits"],
        "cpu_frequency_limits",
        &[("cpu", Need(&["cpu_id"])), ("min_khz", Need(&["min_freq", "min"])), ("max_khz", Need(&["max_freq", "max"]))],
    ),
    always(&["irq_handler_entry"], "irq_handler_entry", IRQ),
    always(&["irq_handler_exit"], "irq_handler_exit", IRQ),
    always(&["softirq_entry"], "softirq_entry", SOFTIRQ),
    always(&["softirq_exit"], "softirq_exit", SOFTIRQ),
    Spelling {
        names: ENTITIES,
        event: "pelt_se",
        when: Task,
        columns: &[
            ("cpu", CpuOf("cpu")),
            ("tid", PID),
            ("util_avg", UTIL),
            ("runnable_avg", RUNNABLE),
            ("load_avg", LOAD),
        ],
    },
    Spelling {
        names: ENTITIES,
        event: "pelt_group",
        when: GroupEntity,
        columns: &[
            ("cpu", CpuOf("cpu")),
            ("group", Group),
            ("entity", Is(1)),
            ("util_avg", UTIL),
            ("runnable_avg", RUNNABLE),
            ("load_avg", LOAD),
        ],
    },
    Spelling {
        names: QUEUES,
        event: "pelt_cfs",
        when: RootQueue,
        columns: &[("cpu", QUEUE_CPU), ("util_avg", UTIL), ("runnable_avg", RUNNABLE), ("load_avg", LOAD)],
    },
    Spelling {
        names: QUEUES,
        event: "pelt_group",
        when: GroupQueue,
        columns: &[
            ("cpu", QUEUE_CPU),
            ("group", Group),
            ("entity", Is(0)),
            ("util_avg", UTIL),
            ("runnable_avg", RUNNABLE),
            ("load_avg", LOAD),
        ],
    },
    always(&["sched_load_rt_rq", "sched_pelt_rt"], "pelt_rt", CLASS),
    always(&["sched_pelt_dl"], "pelt_dl", CLASS),
    always(&["sched_pelt_irq"], "pelt_irq", CLASS),
    always(
        &["sched_pelt_hw", "sched_pelt_thermal"],
        "pelt_hw",
        &[("cpu", QUEUE_CPU), ("load_avg", Need(&["load", "load_avg"]))],
    ),
    // Signals of the out-of-tree schedulers before PELT had running time apart (HMP, 3.10 to 3.18).
    always(
        &["sched_task_runnable_ratio"],
        "pelt_se",
        &[("cpu", CpuOf("cpu")), ("tid", PID), ("runnable_avg", Need(&["ratio"]))],
    ),
    always(
        &["sched_task_load_contrib"],
        "pelt_se",
        &[("cpu", CpuOf("cpu")), ("tid", PID), ("load_avg", Need(&["load_contrib"]))],
    ),
    always(&["sched_rq_runnable_ratio"], "pelt_cfs", &[("cpu", QUEUE_CPU), ("runnable_avg", Need(&["ratio"]))]),
    always(&["sched_rq_runnable_load"], "pelt_cfs", &[("cpu", QUEUE_CPU), ("load_avg", Need(&["load"]))]),
    Spelling {
        names: &["sched_util_est_se", "sched_util_est_se_unified", "sched_util_est_task"],
        event: "util_est",
        when: Task,
        columns: &[
            ("cpu", CpuOf("cpu")),
            ("signal", Is(0)),
            ("tid", PID),
            ("enqueued", ENQUEUED),
            ("ewma", EWMA),
            ("util_avg", SAMPLE),
        ],
    },
    Spelling {
        names: &["sched_util_est_cfs", "sched_util_est_cfs_unified", "sched_util_est_cpu"],
        event: "util_est",
        when: RootQueue,
        columns: &[("cpu", QUEUE_CPU), ("signal", Is(2)), ("enqueued", ENQUEUED), ("ewma", EWMA), ("util_avg", SAMPLE)],
    },
    always(
        &["uclamp_util_se"],
        "uclamp_util_se",
        &[
            ("cpu", CpuOf("cpu")),
            ("tid", PID),
            ("util_avg", Need(&["util_avg", "util"])),
            ("uclamp_min", Need(&["uclamp_min"])),
            ("uclamp_max", Need(&["uclamp_max"])),
        ],
    ),
    always(
        &["uclamp_util_cfs"],
        "effective_cpu_util",
        &[
            ("cpu", QUEUE_CPU),
            ("util_cfs", Need(&["util_avg"])),
            ("min", Need(&["uclamp_min"])),
            ("max", Need(&["uclamp_max"])),
            ("util", Need(&["uclamp_avg"])),
        ],
    ),
    always(&["sched_cpu_capacity"], "sched_cpu_capacity", &[("cpu", QUEUE_CPU), ("capacity", Need(&["capacity"]))]),
    always(&["sched_overutilized"], "sched_overutilized", &[("overutilized", Need(&["overutilized"]))]),
    always(
        &["sched_update_nr_running"],
        "sched_update_nr_running",
        &[("cpu", QUEUE_CPU), ("nr_running", Need(&["nr_running", "running"])), ("change", Need(&["change", "count"]))],
    ),
    always(
        &["thermal_power_cpu_get_power"],
        "cpu_frequency",
        &[("cpu", CpusOf("cpus")), ("freq_khz", Need(&["freq"]))],
    ),
    naming(&["task_rename"], &[("tid", PID), ("name_0", Name("newcomm", false)), ("name_8", Name("newcomm", true))]),
    naming(&["task_newtask"], &[("tid", PID), ("name_0", Name("comm", false)), ("name_8", Name("comm", true))]),
    naming(
        &["sched_process_exec"],
        &[("tid", PID), ("name_0", Name(FILE_NAME, false)), ("name_8", Name(FILE_NAME, true))],
    ),
    // The frequency before the table, the one that serves it, or both. The form of phones (cpu, util, max, freq) is
    // written before the driver's table is asked.
    next_freq(&[CHOICE[0], CHOICE[1], CHOICE[2], ("raw_khz", RAW), ("resolved_khz", Need(&["freq", "next_freq"]))]),
    next_freq(&[CHOICE[0], CHOICE[1], CHOICE[2], ("raw_khz", FREQ), ("resolved_khz", NEXT)]),
    next_freq(&[CHOICE[0], CHOICE[1], CHOICE[2], ("resolved_khz", NEXT)]),
    next_freq(&[CHOICE[0], CHOICE[1], CHOICE[2], ("raw_khz", FREQ)]),
];

/// Pairs of fields that name a task, in any event: task id, name.
static COMMS: &[(&str, &str)] = &[
    ("pid", "comm"),
    ("prev_pid", "prev_comm"),
    ("next_pid", "next_comm"),
    ("parent_pid", "parent_comm"),
    ("child_pid", "child_comm"),
    ("pid", "newcomm"),
    ("pid", FILE_NAME),
];
/// The event that names a task.
const TASK_NAME: &str = "task_name";
/// The field that holds a path whose last part is the name.
pub(super) const FILE_NAME: &str = "filename";
/// Keys of text that stand behind a name and end it, in events that name tasks.
const BEHIND_NAMES: [&str; 3] = ["oldcomm", "clone_flags", "oom_score_adj"];

/// The spellings of a kernel's event.
pub(super) fn spellings_of(name: &str) -> impl Iterator<Item = &'static Spelling> + Clone {
    let name = plain(name);
    SPELLINGS.iter().filter(move |spelling| spelling.names.contains(&name))
}

/// The name of a kernel's event without what LISA's module puts before it.
pub(super) fn plain(name: &str) -> &str {
    name.strip_prefix("lisa__").unwrap_or(name)
}

/// Pairs of fields that name a task in this event.
pub(super) fn comms_of(name: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let spellings = spellings_of(name);
    COMMS.iter().copied().filter(move |(tid, _)| {
        spellings.clone().flat_map(|spelling| spelling.columns).any(|(_, from)| from.fields().contains(tid))
    })
}

/// Every field of an event that is looked at, and what ends one: the keys of its text.
pub(super) fn fields_of(name: &str) -> Vec<&'static str> {
    let mut fields: Vec<&str> = Vec::new();
    for spelling in spellings_of(name) {
        fields.extend(spelling.columns.iter().flat_map(|(_, from)| from.fields()));
        fields.extend(match spelling.when {
            Always => &[][..],
            Task | GroupEntity | RootQueue | GroupQueue => &["pid", "path"],
        });
        fields.extend(BEHIND_NAMES.iter().filter(|_| spelling.event == TASK_NAME));
    }
    fields.extend(comms_of(name).map(|(_, comm)| comm));
    fields.sort_unstable();
    fields.dedup();
    fields
}

/// Every field that a column of this event is read from.
pub(super) fn columns_of(name: &str) -> Vec<&'static str> {
    spellings_of(name).flat_map(|spelling| spelling.columns).flat_map(|(_, from)| from.fields()).copied().collect()
}

/// True when some column of this event is read from either of two fields.
pub(super) fn are_alternatives(name: &str, one: &str, other: &str) -> bool {
    let both = |from: &Origin| from.fields().contains(&one) && from.fields().contains(&other);
    spellings_of(name).flat_map(|spelling| spelling.columns).any(|(_, from)| both(from))
}

/// The fields without which an event of this name means nothing, of its last spelling: the one that asks for least.
pub(super) fn needed_fields(name: &str) -> Vec<&'static str> {
    let mut needed = Vec::new();
    for field in spellings_of(name).last().into_iter().flat_map(|s| s.columns).filter_map(|(_, from)| from.needed()) {
        if !needed.contains(&field) {
            needed.push(field);
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_schema::EVENTS;

    #[test]
    fn every_spelling_means_columns_that_are_declared() {
        for spelling in SPELLINGS {
            let event = EVENTS.iter().find(|event| event.name == spelling.event).expect(spelling.event);
            for (column, _) in spelling.columns {
                assert!(event.column(column).is_some(), "{} has no {column}", event.name);
            }
        }
    }
}
