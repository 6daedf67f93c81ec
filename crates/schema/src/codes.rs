// SPDX-License-Identifier: GPL-2.0-only
//! What the code columns of the events mean.

/// Why the frequency hook was called (SPEC B.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum HookSite {
    /// Averages of the root cfs_rq changed.
    Decay = 0,
    /// An entity was attached.
    Attach = 1,
    /// An entity was detached.
    Detach = 2,
    /// A fair task that waited for I/O was enqueued.
    Iowait = 3,
    /// Explicit call at the tick.
    Tick = 4,
    /// The RT class.
    Rt = 5,
    /// The deadline class.
    Dl = 6,
    /// End of a blocked-averages walk.
    Blocked = 7,
    /// Policy limits changed.
    Limits = 8,
    /// A second task was enqueued and the tick is far away (`hook_filter=h3`).
    Enqueue = 9,
    /// A context switch (`hook_filter=h3`).
    Switch = 10,
}

impl HookSite {
    /// Names in code order.
    pub const NAMES: [&'static str; 11] =
        ["decay", "attach", "detach", "iowait", "tick", "rt", "dl", "blocked", "limits", "enqueue", "switch"];

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// `CpuIdle::state` when a CPU leaves idle.
pub const IDLE_EXIT: u32 = u32::MAX;
/// `SchedSwitch` priority of a deadline task (-1).
pub const PRIO_DEADLINE: u32 = u32::MAX;

/// Which load-tracking record a `pelt_state` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum PeltSignal {
    /// A task or group entity.
    Entity = 0,
    /// An entity that is not on a queue, brought up to date while blocked.
    BlockedEntity = 1,
    /// A fair queue, root or of a group.
    Queue = 2,
    /// The RT class of a CPU.
    Rt = 3,
    /// The deadline class of a CPU.
    Dl = 4,
    /// Interrupts of a CPU.
    Irq = 5,
    /// Hardware pressure on a CPU.
    Hw = 6,
}

impl PeltSignal {
    /// Names in code order.
    pub const NAMES: [&'static str; 7] = ["entity", "blocked_entity", "queue", "rt", "dl", "irq", "hw"];

    /// The signal of a code.
    pub fn of_code(code: u32) -> Option<PeltSignal> {
        use PeltSignal::{BlockedEntity, Dl, Entity, Hw, Irq, Queue, Rt};
        [Entity, BlockedEntity, Queue, Rt, Dl, Irq, Hw].into_iter().find(|&signal| signal as u32 == code)
    }

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// When a `pelt_state` was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum PeltSource {
    /// At the end of the update call itself; `pelt_before` has the state at its start.
    Call = 0,
    /// By the kernel's tracepoint, which fires when a period was crossed.
    Tracepoint = 1,
    /// Seen as it was at a switch.
    AtSwitch = 2,
    /// Seen as it was at the request of a wake-up.
    AtWaking = 3,
    /// Seen as it was after a wake-up.
    AtWakeup = 4,
    /// Seen as it was at a timer tick.
    AtTick = 5,
    /// Seen as it was when the task changes CPU, before it does.
    AtMigrate = 6,
    /// Seen as it was when the task was new.
    AtFork = 7,
    /// Seen as it was when an estimate was published.
    AtEstimate = 8,
}

impl PeltSource {
    /// Names in code order.
    pub const NAMES: [&'static str; 9] =
        ["call", "tracepoint", "switch", "waking", "wakeup", "tick", "migrate", "fork", "estimate"];

    /// The source of a code.
    pub fn of_code(code: u32) -> Option<PeltSource> {
        use PeltSource::{AtEstimate, AtFork, AtMigrate, AtSwitch, AtTick, AtWakeup, AtWaking, Call, Tracepoint};
        [Call, Tracepoint, AtSwitch, AtWaking, AtWakeup, AtTick, AtMigrate, AtFork, AtEstimate]
            .into_iter()
            .find(|&source| source as u32 == code)
    }

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// `flags` of `pelt_state`: on the queue.
pub const PELT_ON_RQ: u32 = 1;
/// `flags` of `pelt_state`: running.
pub const PELT_RUNNING: u32 = 2;
/// `flags` of `pelt_state`: its dequeue is delayed.
pub const PELT_DELAYED: u32 = 4;
/// `flags` of `pelt_state`: the root queue of a CPU, or an entity on it.
pub const PELT_ROOT: u32 = 8;
/// `flags` of `pelt_state`: the call returned 1.
pub const PELT_DECAYED: u32 = 16;
/// CPU of an event whose CPU is not known.
pub const CPU_UNKNOWN: u32 = u32::MAX;

/// The two columns of a `task_name` for a name; what is longer than 16 bytes is cut.
pub fn pack_name(name: &str) -> (u64, u64) {
    let mut bytes = [0; 16];
    let length = name.len().min(bytes.len());
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    let (low, high) = bytes.split_at(8);
    let word = |half: &[u8]| u64::from_le_bytes(half.try_into().expect("half of sixteen bytes"));
    (word(low), word(high))
}

/// The name in the two columns of a `task_name`.
///
/// ```
/// let (low, high) = pelton_schema::pack_name("kworker/u12:1");
/// assert_eq!(pelton_schema::unpack_name(low, high), "kworker/u12:1");
/// ```
pub fn unpack_name(name_0: u64, name_8: u64) -> String {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&name_0.to_le_bytes());
    bytes[8..].copy_from_slice(&name_8.to_le_bytes());
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}
