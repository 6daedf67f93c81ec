// SPDX-License-Identifier: GPL-2.0-only
//! The event queue: earliest time first, first in first out among equal times.
//!
//! Push and pop are O(log n), and cheap while few events wait. Events are never removed; a holder that changes its mind
//! raises a generation number and the stale event is dropped when it surfaces.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Timers of a task group's quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuotaTimer {
    /// A period ends.
    Period,
    /// Runtime that was returned is handed out.
    Slack,
}

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ev {
    /// The current task of a CPU reaches the end of its step or of its budget.
    SegmentEnd { cpu: u32, generation: u32 },
    /// Periodic tick.
    Tick { cpu: u32, generation: u32 },
    /// A sleeping task's timer expires.
    TaskTimer { task: u32, generation: u32 },
    /// A task starts to exist.
    TaskStart { task: u32 },
    /// A CPU has left its idle state.
    IdleExit { cpu: u32, generation: u32 },
    /// A polling CPU asks its idle governor again.
    PollLimit { cpu: u32, generation: u32 },
    /// Another CPU's request to reschedule arrives.
    Reaction { cpu: u32, generation: u32 },
    /// An interrupt arrives.
    IrqStart { source: u32 },
    /// An interrupt handler ends.
    IrqEnd { cpu: u32, source: u32 },
    /// The governor's worker thread is kicked.
    WorkerKick { domain: u32, cpu: u32 },
    /// A worker's sleeping driver call returns.
    DriverDone { domain: u32 },
    /// Firmware looks for a new frequency of a domain.
    FirmwareLooks { domain: u32 },
    /// A throttled deadline task gets a new budget.
    DlReplenish { task: u32, generation: u32 },
    /// Throttled real-time tasks of a CPU may run again.
    RtUnthrottle { cpu: u32 },
    /// The period of the real-time limit is over.
    RtPeriod,
    /// A frequency that is given begins to hold.
    GivenFrequency { domain: u32, index: u32 },
    /// The timer of a sampling governor expires.
    Sample { domain: u32, generation: u32 },
    /// A timer of a CPU's governor expires; `wakes`: the one that only wakes the CPU.
    CpuTimer { cpu: u32, generation: u32, wakes: bool },
    /// Somebody asks for a boost for a while.
    BoostPulse,
    /// Somebody changes limits of frequency domains.
    Limits { index: u32 },
    /// A step of a thermal zone's temperature.
    Heat { zone: u32 },
    /// A timer of a task group's quota expires.
    QuotaTimer { group: u32, kind: QuotaTimer, generation: u32 },
    /// Somebody writes into the files of a task group.
    GroupWrite { index: u32 },
    /// Somebody writes a group's boost.
    BoostWrite { group: u32, boost: i32 },
    /// A sleeping deadline task passes its 0-lag time.
    DlZeroLag { task: u32, generation: u32 },
}

/// Bits of a key that say where its event is; the order of insertion is above them.
const SLOT_BITS: u32 = 24;
/// Most events that are kept in order.
const NEAR_MAX: usize = 64;
/// So many go over at once, when there are more or none.
const NEAR_BATCH: usize = 32;

/// When an event is due, and its key.
#[derive(Clone, Copy, Debug)]
struct Due {
    due_ns: u64,
    /// The order of insertion and the slot of the event.
    key: u64,
}

/// Time-ordered queue with FIFO ties: the next events in a short list, in which a place is found faster than in a heap and
/// the first is simply taken, and a heap of all that come later.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The earliest, the first one last.
    near: Vec<Due>,
    /// The others: time in the upper half, the key below it, so that one comparison decides.
    far: BinaryHeap<Reverse<u128>>,
    /// Time of the first of them; `u64::MAX` = there is none.
    far_ns: u64,
    /// Events by slot.
    events: Vec<Ev>,
    /// Slots that are free.
    free: Vec<u32>,
    pushed: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        let (near, far) = (Vec::with_capacity(NEAR_MAX + 1), BinaryHeap::new());
        EventQueue { near, far, far_ns: u64::MAX, events: Vec::new(), free: Vec::new(), pushed: 0 }
    }
}

impl EventQueue {
    /// Adds an event.
    pub(crate) fn push(&mut self, time_ns: u64, ev: Ev) {
        let slot = self.keep(ev);
        assert!(self.pushed >> (u64::BITS - SLOT_BITS) == 0, "2^40 events are enough");
        let key = self.pushed << SLOT_BITS | u64::from(slot);
        self.pushed += 1;
        if time_ns >= self.far_ns {
            return self.far.push(Reverse(u128::from(time_ns) << 64 | u128::from(key)));
        }
        // It is the last of those that are due at its time.
        let at = self.near.partition_point(|due| due.due_ns > time_ns);
        self.near.insert(at, Due { due_ns: time_ns, key });
        if self.near.len() > NEAR_MAX {
            self.put_off();
        }
    }

    fn keep(&mut self, ev: Ev) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.events[slot as usize] = ev;
            return slot;
        }
        let slot = self.events.len() as u32;
        assert!(slot >> SLOT_BITS == 0, "16 million events that wait are enough");
        self.events.push(ev);
        slot
    }

    /// The later ones of the list go into the heap.
    #[cold]
    fn put_off(&mut self) {
        for due in self.near.drain(..NEAR_BATCH) {
            self.far_ns = self.far_ns.min(due.due_ns);
            self.far.push(Reverse(u128::from(due.due_ns) << 64 | u128::from(due.key)));
        }
    }

    /// The list is empty: the first ones of the heap come.
    #[cold]
    fn fetch(&mut self) {
        let first = std::iter::from_fn(|| self.far.pop()).take(NEAR_BATCH);
        self.near.extend(first.map(|Reverse(due)| Due { due_ns: (due >> 64) as u64, key: due as u64 }));
        self.near.reverse();
        self.far_ns = self.far.peek().map_or(u64::MAX, |Reverse(due)| (due >> 64) as u64);
    }

    /// Takes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u64, Ev)> {
        if self.near.is_empty() {
            self.fetch();
        }
        let Due { due_ns, key } = self.near.pop()?;
        let slot = key as u32 & ((1 << SLOT_BITS) - 1);
        self.free.push(slot);
        Some((due_ns, self.events[slot as usize]))
    }
}

/// A moment that is put off often: its event stays in the queue when the moment moves later and is pushed again when it
/// surfaces, so that the queue does not fill with stale events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    wanted_ns: u64,
    /// Time of the event in the queue that is not stale.
    pushed_ns: u64,
    generation: u32,
}

impl Default for Moment {
    fn default() -> Self {
        Moment { wanted_ns: u64::MAX, pushed_ns: u64::MAX, generation: 0 }
    }
}

impl Moment {
    /// When it is wanted; `u64::MAX` = never.
    pub(crate) fn wanted_ns(&self) -> u64 {
        self.wanted_ns
    }

    /// No longer wanted.
    pub(crate) fn cancel(&mut self) {
        self.wanted_ns = u64::MAX;
    }

    /// Wanted at `at_ns`; gives the generation of the event to push, if one is needed.
    pub(crate) fn set(&mut self, at_ns: u64) -> Option<u32> {
        self.wanted_ns = at_ns;
        if at_ns >= self.pushed_ns {
            return None;
        }
        self.pushed_ns = at_ns;
        self.generation = self.generation.wrapping_add(1);
        Some(self.generation)
    }

    /// An event surfaces: true when the moment has come; otherwise the event to push instead, if any.
    pub(crate) fn surface(&mut self, now_ns: u64, generation: u32) -> Result<(), Option<(u64, u32)>> {
        if generation != self.generation || self.pushed_ns > now_ns {
            return Err(None);
        }
        self.pushed_ns = u64::MAX;
        let at_ns = self.wanted_ns;
        if at_ns <= now_ns {
            self.cancel();
            return Ok(());
        }
        Err(if at_ns == u64::MAX { None } else { self.set(at_ns).map(|g| (at_ns, g)) })
    }
}

#[cfg(test)]
impl EventQueue {
    /// Number of events that wait, stale ones included.
    pub(crate) fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_that_moves_later_needs_no_new_event() {
        let mut m = Moment::default();
        assert_eq!(m.set(10), Some(1));
        assert_eq!(m.set(30), None);
        assert_eq!(m.surface(10, 1), Err(Some((30, 2))));
        assert_eq!(m.set(20), Some(3));
        assert_eq!(m.surface(20, 3), Ok(()));
        assert_eq!(m.surface(30, 2), Err(None), "the event of the old moment is stale");
        assert_eq!(m.set(50), Some(4));
        m.cancel();
        assert_eq!(m.surface(50, 4), Err(None));
    }

    /// Many events at few times, pushed and popped in between: the order of a list that is searched.
    #[test]
    fn any_mix_of_pushes_and_pops_keeps_the_order() {
        let (mut queue, mut list, mut random) = (EventQueue::default(), Vec::new(), 1u64);
        for task in 0..20_000u32 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let time_ns = (random >> 33) % 50 + u64::from(task / 64);
            queue.push(time_ns, Ev::TaskStart { task });
            list.push((time_ns, task));
            if random >> 62 != 0 || list.len() > 200 {
                let first = list.iter().min().copied();
                list.retain(|&entry| Some(entry) != first);
                assert_eq!(queue.pop(), first.map(|(time_ns, task)| (time_ns, Ev::TaskStart { task })));
            }
        }
        assert_eq!(queue.len(), list.len());
        assert!(queue.events.len() <= 201, "slots are used again");
    }

    #[test]
    fn earliest_first_and_first_in_first_out_among_equals() {
        let mut q = EventQueue::default();
        q.push(20, Ev::TaskStart { task: 0 });
        q.push(10, Ev::TaskStart { task: 2 });
        q.push(10, Ev::TaskStart { task: 1 });
        q.push(10, Ev::TaskStart { task: 3 });
        let order: Vec<_> = std::iter::from_fn(|| q.pop()).collect();
        let tasks: Vec<_> = order.iter().map(|(t, e)| (*t, *e)).collect();
        assert_eq!(tasks[0], (10, Ev::TaskStart { task: 2 }));
        assert_eq!(tasks[1], (10, Ev::TaskStart { task: 1 }));
        assert_eq!(tasks[2], (10, Ev::TaskStart { task: 3 }));
        assert_eq!(tasks[3], (20, Ev::TaskStart { task: 0 }));
    }
}
