// SPDX-License-Identifier: GPL-2.0-only
//! How kernels, modules and tools of all ages spell the declared events. Field names are those of the event's format
//! file, which are also the keys its text prints where the two are alike.

/// Where a column's value comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// The first of these fields that the event has.
    Field(&'static [&'static str]),
    /// A task state in a field, as the kernel's bits.
    State(&'static str),
    /// The CPU that wrote the event.
    Cpu,
    /// The CPU in this field, or the CPU that wrote the event when it has no such field.
    CpuOf(&'static str),
    /// Always this.
    Is(u64),
    /// The number of the group whose path is in the field `path`.
    Group,
}

/// When a spelling means its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

use Origin::{Cpu, CpuOf, Field, Group, Is, State};
use When::{Always, GroupEntity, GroupQueue, RootQueue, Task};

const fn always(
    names: &'static [&'static str],
    event: &'static str,
    columns: &'static [(&'static str, Origin)],
) -> Spelling {
    Spelling { names, event, when: Always, columns }
}

const WAKE: &[(&str, Origin)] =
    &[("cpu", Cpu), ("tid", Field(&["pid"])), ("prio", Field(&["prio"])), ("target_cpu", Field(&["target_cpu"]))];
const UTIL: Origin = Field(&["util", "util_avg"]);
const LOAD: Origin = Field(&["load", "load_avg"]);
const RUNNABLE: Origin = Field(&["runnable", "runnable_avg"]);
const CLASS: &[(&str, Origin)] = &[("cpu", CpuOf("cpu")), ("util_avg", UTIL)];
const IRQ: &[(&str, Origin)] = &[("cpu", Cpu), ("irq", Field(&["irq"]))];
const SOFTIRQ: &[(&str, Origin)] = &[("cpu", Cpu), ("vec", Field(&["vec"]))];
const ENTITIES: &[&str] = &["sched_load_se", "sched_pelt_se", "lisa__sched_pelt_se", "sched_load_avg_task"];
const QUEUES: &[&str] = &["sched_load_cfs_rq", "sched_pelt_cfs", "lisa__sched_pelt_cfs", "sched_load_avg_cpu"];
const EST_TASKS: &[&str] = &["sched_util_est_se", "lisa__sched_util_est_se", "sched_util_est_task"];
const EST_QUEUES: &[&str] = &["sched_util_est_cfs", "lisa__sched_util_est_cfs", "sched_util_est_cpu"];
const ENQUEUED: Origin = Field(&["enqueued", "util_est_enqueued"]);
const EWMA: Origin = Field(&["ewma", "util_est_ewma"]);

/// Every spelling. The first whose name, condition and columns fit decides.
pub(super) static SPELLINGS: &[Spelling] = &[
    always(
        &["sched_switch"],
        "sched_switch",
        &[
            ("cpu", Cpu),
            ("prev_tid", Field(&["prev_pid"])),
            ("prev_prio", Field(&["prev_prio"])),
            ("prev_state", State("prev_state")),
            ("next_tid", Field(&["next_pid"])),
            ("next_prio", Field(&["next_prio"])),
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
            ("tid", Field(&["pid"])),
            ("prio", Field(&["prio"])),
            ("orig_cpu", Field(&["orig_cpu"])),
            ("dest_cpu", Field(&["dest_cpu"])),
        ],
    ),
    always(
        &["sched_process_fork"],
        "sched_process_fork",
        &[("cpu", Cpu), ("parent_tid", Field(&["parent_pid"])), ("child_tid", Field(&["child_pid"]))],
    ),
    always(
        &["sched_process_exit"],
        "sched_process_exit",
        &[("cpu", Cpu), ("tid", Field(&["pid"])), ("prio", Field(&["prio"]))],
    ),
    always(&["cpu_frequency"], "cpu_frequency", &[("cpu", Field(&["cpu_id"])), ("freq_khz", Field(&["state"]))]),
    always(&["cpu_idle"], "cpu_idle", &[("cpu", Field(&["cpu_id"])), ("state", Field(&["state"]))]),
    always(
        &["cpu_frequency_limits"],
        "cpu_frequency_limits",
        &[
            ("cpu", Field(&["cpu_id"])),
            ("min_khz", Field(&["min_freq", "min"])),
            ("max_khz", Field(&["max_freq", "max"])),
        ],
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
            ("tid", Field(&["pid"])),
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
        columns: &[("cpu", CpuOf("cpu")), ("util_avg", UTIL), ("runnable_avg", RUNNABLE), ("load_avg", LOAD)],
    },
    Spelling {
        names: QUEUES,
        event: "pelt_group",
        when: GroupQueue,
        columns: &[
            ("cpu", CpuOf("cpu")),
            ("group", Group),
            ("entity", Is(0)),
            ("util_avg", UTIL),
            ("runnable_avg", RUNNABLE),
            ("load_avg", LOAD),
        ],
    },
    always(&["sched_load_rt_rq", "sched_pelt_rt", "lisa__sched_pelt_rt"], "pelt_rt", CLASS),
    always(&["sched_pelt_dl", "lisa__sched_pelt_dl"], "pelt_dl", CLASS),
    always(&["sched_pelt_irq", "lisa__sched_pelt_irq"], "pelt_irq", CLASS),
    always(
        &["sched_pelt_hw", "sched_pelt_thermal", "lisa__sched_pelt_thermal"],
        "pelt_hw",
        &[("cpu", CpuOf("cpu")), ("load_avg", LOAD)],
    ),
    Spelling {
        names: EST_TASKS,
        event: "util_est",
        when: Task,
        columns: &[
            ("cpu", CpuOf("cpu")),
            ("signal", Is(0)),
            ("tid", Field(&["pid"])),
            ("enqueued", ENQUEUED),
            ("ewma", EWMA),
        ],
    },
    Spelling {
        names: EST_QUEUES,
        event: "util_est",
        when: RootQueue,
        columns: &[("cpu", CpuOf("cpu")), ("signal", Is(2)), ("enqueued", ENQUEUED), ("ewma", EWMA)],
    },
    always(
        &["uclamp_util_se", "lisa__uclamp_util_se"],
        "uclamp_util_se",
        &[
            ("cpu", CpuOf("cpu")),
            ("tid", Field(&["pid"])),
            ("util_avg", Field(&["util_avg", "util"])),
            ("uclamp_min", Field(&["uclamp_min"])),
            ("uclamp_max", Field(&["uclamp_max"])),
        ],
    ),
    always(
        &["sched_cpu_capacity", "lisa__sched_cpu_capacity"],
        "sched_cpu_capacity",
        &[("cpu", CpuOf("cpu")), ("capacity", Field(&["capacity"]))],
    ),
    always(
        &["sched_overutilized", "lisa__sched_overutilized"],
        "sched_overutilized",
        &[("overutilized", Field(&["overutilized"]))],
    ),
    always(
        &["sched_update_nr_running", "lisa__sched_update_nr_running"],
        "sched_update_nr_running",
        &[
            ("cpu", CpuOf("cpu")),
            ("nr_running", Field(&["nr_running", "running"])),
            ("change", Field(&["change", "count"])),
        ],
    ),
    always(
        &["sugov_next_freq", "sugov_next_freq_tp"],
        "sugov_next_freq",
        &[
            ("cpu", CpuOf("cpu")),
            ("util", Field(&["util"])),
            ("max", Field(&["max"])),
            ("resolved_khz", Field(&["freq", "next_freq"])),
        ],
    ),
];

/// Pairs of fields that name a task, in any event: task id, name.
pub(super) static COMMS: &[(&str, &str)] = &[
    ("pid", "comm"),
    ("prev_pid", "prev_comm"),
    ("next_pid", "next_comm"),
    ("parent_pid", "parent_comm"),
    ("child_pid", "child_comm"),
    ("pid", "newcomm"),
];

/// Events that are read for the names in them only.
pub(super) static NAMING: &[&str] = &["task_rename", "task_newtask"];

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
