// SPDX-License-Identifier: GPL-2.0-or-later
//! Meaning of the code columns of the events.

/// A column of named codes: the type, the names, and the way back from a number. Codes count from 0 without a gap.
macro_rules! codes {
    ($(#[$about:meta])* $name:ident { $( $(#[doc = $doc:literal])+ $code:ident = $text:literal, )+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum $name { $( $(#[doc = $doc])+ $code, )+ }

        impl $name {
            /// Names in code order.
            pub const NAMES: &[&'static str] = &[$($text),+];

            /// Variant of this code; `None` for a number without one.
            pub fn of_code(code: u32) -> Option<$name> {
                [$($name::$code),+].get(code as usize).copied()
            }

            /// Lower-case name.
            pub fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}

codes! {
    /// Caller of the frequency hook (docs/rules/governor.md#who-calls).
    HookSite {
        /// Averages of the root cfs_rq changed.
        Decay = "decay",
        /// An entity was attached.
        Attach = "attach",
        /// An entity was detached.
        Detach = "detach",
        /// A fair task that waited for I/O was enqueued.
        Iowait = "iowait",
        /// Explicit call at the tick.
        Tick = "tick",
        /// The RT class.
        Rt = "rt",
        /// The deadline class.
        Dl = "dl",
        /// End of a blocked-averages walk.
        Blocked = "blocked",
        /// Policy limits changed.
        Limits = "limits",
        /// A second task was enqueued and the tick is far away (`hook_filter=h3`).
        Enqueue = "enqueue",
        /// A context switch (`hook_filter=h3`).
        Switch = "switch",
        /// A task joined a CPU on which clamps add up.
        Uclamp = "uclamp",
    }
}

codes! {
    /// Outcome of a call of the governor. All but the last are the core's numbers (`types.h`).
    GateVerdict {
        /// Evaluated, and nothing held it back.
        Open = "open",
        /// Inside the rate-limit window.
        Window = "window",
        /// The worker has not carried out the previous change, and this kernel refuses meanwhile.
        Busy = "busy",
        /// The executing CPU may not drive this domain.
        Remote = "remote",
        /// Evaluated, and inside the window of the gate.
        Held = "held",
        /// Evaluated, and not lowered below the recent maximum.
        Peak = "peak",
        /// Evaluated, and the error is in the dead band.
        Dead = "dead",
        /// No call: the hook filter dropped the event.
        Dropped = "dropped",
    }
}

codes! {
    /// Load-tracking record that a `pelt_state` holds.
    PeltSignal {
        /// A task or group entity.
        Entity = "entity",
        /// An entity that is not on a queue, updated while blocked.
        BlockedEntity = "blocked_entity",
        /// A fair queue, root or of a group.
        Queue = "queue",
        /// The RT class of a CPU.
        Rt = "rt",
        /// The deadline class of a CPU.
        Dl = "dl",
        /// Interrupts of a CPU.
        Irq = "irq",
        /// Hardware pressure on a CPU.
        Hw = "hw",
    }
}

codes! {
    /// Moment at which a `pelt_state` was read.
    PeltSource {
        /// At the end of the update call itself; `pelt_before` has the state at its start.
        Call = "call",
        /// By the kernel's tracepoint, which fires when a period was crossed.
        Tracepoint = "tracepoint",
        /// Seen as it was at a switch.
        AtSwitch = "switch",
        /// Seen as it was at the request of a wake-up.
        AtWaking = "waking",
        /// Seen as it was after a wake-up.
        AtWakeup = "wakeup",
        /// Seen as it was at a timer tick.
        AtTick = "tick",
        /// Seen as it was when the task changes CPU, before it does.
        AtMigrate = "migrate",
        /// Seen as it was when the task was new.
        AtFork = "fork",
        /// Seen as it was when an estimate was published.
        AtEstimate = "estimate",
        /// Seen as it was when the number of tasks on the CPU changed.
        AtCount = "count",
        /// Seen as it was after balancing between CPUs.
        AtBalance = "balance",
        /// Seen as it was after an entity got another weight.
        AtReweight = "reweight",
        /// Seen as it was when the entity of this group's queue is about to take over what the queue has.
        AtHandUp = "hand_up",
    }
}

/// `CpuIdle::state` when a CPU leaves idle.
pub const IDLE_EXIT: u32 = u32::MAX;
/// `SchedSwitch::prev_state`: runnable, it was preempted.
pub const STATE_RUNNABLE: u32 = 0;
/// `SchedSwitch::prev_state`: sleeping.
pub const STATE_SLEEPING: u32 = 1;
/// `SchedSwitch::prev_state`: waiting for something else than a signal.
pub const STATE_UNINTERRUPTIBLE: u32 = 2;
/// `SchedSwitch::prev_state`: it has ended, this is its last switch.
pub const STATE_DEAD: u32 = 16;
/// `SchedSwitch` priority of a deadline task (-1).
pub const PRIO_DEADLINE: u32 = u32::MAX;
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

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_core::verdict;

    #[test]
    fn verdicts_are_the_numbers_of_the_core() {
        let core = [
            verdict::OPEN,
            verdict::WINDOW,
            verdict::BUSY,
            verdict::REMOTE,
            verdict::HELD,
            verdict::PEAK,
            verdict::DEAD,
        ];
        let named = core.map(|code| GateVerdict::of_code(code).map(GateVerdict::name));
        assert_eq!(named, ["open", "window", "busy", "remote", "held", "peak", "dead"].map(Some));
        assert!(!core.contains(&(GateVerdict::Dropped as u32)));
    }

    #[test]
    fn a_code_and_its_name_belong_together() {
        assert_eq!(HookSite::of_code(10).map(HookSite::name), Some("switch"));
        assert_eq!(PeltSource::of_code(PeltSource::AtEstimate as u32), Some(PeltSource::AtEstimate));
        assert_eq!(PeltSignal::of_code(PeltSignal::NAMES.len() as u32), None);
    }
}
