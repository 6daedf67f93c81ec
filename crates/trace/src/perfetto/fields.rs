// SPDX-License-Identifier: GPL-2.0-or-later
//! Field numbers and codes of the Perfetto trace messages we write. `tests/trace/check_perfetto.py` decodes our files
//! with the protobufs of Perfetto's own Python package, so a wrong number here is a failing test.

/// `Trace`
pub mod trace {
    pub const PACKET: u32 = 1;
}

/// `TracePacket`
pub mod packet {
    pub const FTRACE_EVENTS: u32 = 1;
    pub const PROCESS_TREE: u32 = 2;
    pub const CLOCK_SNAPSHOT: u32 = 6;
    pub const TIMESTAMP: u32 = 8;
    pub const SEQUENCE_ID: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const INTERNED_DATA: u32 = 12;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const SYSTEM_INFO: u32 = 45;
    pub const TRACK_DESCRIPTOR: u32 = 60;
    pub const CPU_INFO: u32 = 67;
    pub const SERVICE_EVENT: u32 = 69;
    pub const FIRST_ON_SEQUENCE: u32 = 87;
    pub const TRACE_UUID: u32 = 89;
    /// `SEQ_INCREMENTAL_STATE_CLEARED`
    pub const FLAG_STATE_CLEARED: u64 = 1;
    /// `SEQ_NEEDS_INCREMENTAL_STATE`
    pub const FLAG_NEEDS_STATE: u64 = 2;
}

/// `InternedData`, `EventName` and `DebugAnnotationName`
pub mod interned {
    pub const EVENT_NAMES: u32 = 2;
    pub const ANNOTATION_NAMES: u32 = 3;
    pub const IID: u32 = 1;
    pub const NAME: u32 = 2;
}

/// `TracingServiceEvent`
pub mod service_event {
    pub const TRACING_STARTED: u32 = 2;
    pub const TRACING_DISABLED: u32 = 5;
}

/// `ClockSnapshot`
pub mod clock_snapshot {
    pub const CLOCKS: u32 = 1;
    pub const PRIMARY: u32 = 2;
    pub const CLOCK_ID: u32 = 1;
    pub const CLOCK_TIMESTAMP: u32 = 2;
    pub const MONOTONIC: u64 = 3;
    pub const BOOTTIME: u64 = 6;
}

/// `TraceUuid`
pub mod trace_uuid {
    pub const MSB: u32 = 1;
    pub const LSB: u32 = 2;
}

/// `SystemInfo` and `Utsname`
pub mod system_info {
    pub const UTSNAME: u32 = 1;
    pub const NUM_CPUS: u32 = 8;
    pub const SYSNAME: u32 = 1;
    pub const VERSION: u32 = 2;
    pub const RELEASE: u32 = 3;
    pub const MACHINE: u32 = 4;
}

/// `CpuInfo`
pub mod cpu_info {
    pub const CPUS: u32 = 1;
    pub const PROCESSOR: u32 = 1;
    pub const FREQUENCIES: u32 = 2;
    pub const CAPACITY: u32 = 3;
}

/// `ProcessTree`
pub mod process_tree {
    pub const PROCESSES: u32 = 1;
    pub const THREADS: u32 = 2;
    pub const PROCESS_PID: u32 = 1;
    pub const PROCESS_PPID: u32 = 2;
    pub const PROCESS_CMDLINE: u32 = 3;
    pub const THREAD_TID: u32 = 1;
    pub const THREAD_NAME: u32 = 2;
    pub const THREAD_TGID: u32 = 3;
}

/// `TrackDescriptor` and `CounterDescriptor`
pub mod track {
    pub const UUID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const PARENT_UUID: u32 = 5;
    pub const COUNTER: u32 = 8;
    pub const CHILD_ORDERING: u32 = 11;
    pub const SIBLING_RANK: u32 = 12;
    pub const SIBLING_MERGE: u32 = 15;
    pub const ORDER_LEXICOGRAPHIC: u64 = 1;
    pub const ORDER_EXPLICIT: u64 = 3;
    pub const MERGE_NONE: u64 = 2;
    pub const COUNTER_UNIT_NAME: u32 = 6;
}

/// `TrackEvent` and `DebugAnnotation`
pub mod track_event {
    pub const DEBUG_ANNOTATION: u32 = 4;
    pub const TYPE: u32 = 9;
    pub const TRACK_UUID: u32 = 11;
    pub const NAME_IID: u32 = 10;
    pub const NAME: u32 = 23;
    pub const COUNTER_VALUE: u32 = 30;
    pub const TYPE_SLICE_BEGIN: u64 = 1;
    pub const TYPE_SLICE_END: u64 = 2;
    pub const TYPE_INSTANT: u64 = 3;
    pub const TYPE_COUNTER: u64 = 4;
    pub const ANNOTATION_NAME_IID: u32 = 1;
    pub const ANNOTATION_INT: u32 = 4;
    pub const ANNOTATION_TEXT: u32 = 6;
    pub const ANNOTATION_NAME: u32 = 10;
}

/// `FtraceEventBundle` and `FtraceEvent`
pub mod ftrace {
    pub const CPU: u32 = 1;
    pub const EVENT: u32 = 2;
    pub const TIMESTAMP: u32 = 1;
    pub const PID: u32 = 2;
    pub const SCHED_SWITCH: u32 = 4;
    pub const CPU_FREQUENCY: u32 = 11;
    pub const CPU_IDLE: u32 = 13;
    pub const SCHED_WAKEUP: u32 = 17;
    pub const SCHED_WAKING: u32 = 20;
    pub const SCHED_WAKEUP_NEW: u32 = 114;
    pub const IRQ_HANDLER_ENTRY: u32 = 36;
    pub const IRQ_HANDLER_EXIT: u32 = 37;
    pub const SCHED_MIGRATE_TASK: u32 = 491;
}

/// `SchedSwitchFtraceEvent`
pub mod sched_switch {
    pub const PREV_COMM: u32 = 1;
    pub const PREV_PID: u32 = 2;
    pub const PREV_PRIO: u32 = 3;
    pub const PREV_STATE: u32 = 4;
    pub const NEXT_COMM: u32 = 5;
    pub const NEXT_PID: u32 = 6;
    pub const NEXT_PRIO: u32 = 7;
}

/// `SchedWakingFtraceEvent` and `SchedWakeupFtraceEvent`
pub mod sched_wake {
    pub const COMM: u32 = 1;
    pub const PID: u32 = 2;
    pub const PRIO: u32 = 3;
    pub const TARGET_CPU: u32 = 5;
}

/// `SchedMigrateTaskFtraceEvent`
pub mod sched_migrate_task {
    pub const COMM: u32 = 1;
    pub const PID: u32 = 2;
    pub const PRIO: u32 = 3;
    pub const ORIG_CPU: u32 = 4;
    pub const DEST_CPU: u32 = 5;
}

/// `CpuFrequencyFtraceEvent` and `CpuIdleFtraceEvent`
pub mod cpu_state {
    pub const STATE: u32 = 1;
    pub const CPU_ID: u32 = 2;
}

/// `IrqHandlerEntryFtraceEvent` and `IrqHandlerExitFtraceEvent`
pub mod irq {
    pub const IRQ: u32 = 1;
    pub const NAME: u32 = 2;
}
