// SPDX-License-Identifier: GPL-2.0-or-later
//! The event queue: earliest time first, first in first out among equal times.
//!
//! Push and pop take about as long with a million events as with ten. Events are never removed; a holder that changes
//! its mind raises a generation number and the stale event is dropped when it surfaces.

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

/// An event to come.
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
    /// A device has done what a task waits for.
    IoDone { task: u32 },
    /// Its interrupt comes, which had to wait.
    IoIrq { task: u32 },
    /// The handler of that interrupt ends.
    IoIrqEnd { cpu: u32, task: u32 },
    /// The governor's worker thread is kicked.
    WorkerKick { domain: u32, cpu: u32 },
    /// A worker's sleeping driver call returns.
    DriverDone { domain: u32 },
    /// Firmware looks for a new frequency of a domain.
    FirmwareLooks { domain: u32 },
    /// The clock of a domain rises to what firmware found.
    FirmwareRaises { domain: u32 },
    /// A throttled deadline task gets a new budget.
    DlReplenish { task: u32, generation: u32 },
    /// A timer of a CPU's fair server expires; `inactive`: the one after a stop.
    Server { cpu: u32, generation: u32, inactive: bool },
    /// The period of the real-time limit is over.
    RtPeriod,
    /// A frequency that is given begins to hold.
    GivenFrequency { domain: u32, index: u32 },
    /// The timer of a sampling governor expires.
    Sample { domain: u32, generation: u32 },
    /// A timer of a CPU's governor expires; `wakes`: the one that only wakes the CPU.
    CpuTimer { cpu: u32, generation: u32, wakes: bool },
    /// A program asks for a boost for a while.
    BoostPulse,
    /// Limits of frequency domains change.
    Limits { index: u32 },
    /// A step of a thermal zone's temperature.
    Heat { zone: u32 },
    /// A timer of a task group's quota expires.
    QuotaTimer { group: u32, kind: QuotaTimer, generation: u32 },
    /// The files of a task group are written.
    GroupWrite { index: u32 },
    /// A group's boost is written.
    BoostWrite { group: u32, boost: i32 },
    /// A sleeping deadline task passes its 0-lag time.
    DlZeroLag { task: u32, generation: u32 },
    /// The timer of the scheduler of sched_ext expires.
    Ticker,
}

/// An event waits with others of the same stretch of time: of 2^17 ns (131 us) on eight CPUs, of less with more of
/// them, so that few events share one on any machine.
const STRETCH_SHIFT: u32 = 17;
/// Shorter stretches would leave too many events without a list: with 2^13 ns the lists reach 34 ms ahead.
const STRETCH_SHIFT_MIN: u32 = 13;
/// Number of stretches that have a list; later events wait in a heap.
const STRETCHES: usize = 4096;
/// Bits of a word.
const WORD: usize = u64::BITS as usize;
/// No slot.
const NO_SLOT: u32 = u32::MAX;
/// Bits of a key of the heap that say where its event is; the order of insertion is above them.
const SLOT_BITS: u32 = 24;

/// An event, when it is due, and how many were added before it.
#[derive(Clone, Copy, Debug)]
struct Due {
    due_ns: u64,
    order: u64,
    ev: Ev,
}

/// An event in a list.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    due: Due,
    /// Slot of another one of its stretch, or that is free as well.
    next: u32,
}

/// Time-ordered queue with FIFO ties. The events of the present stretch of time are in order, the first one last, so
/// that it is simply taken; those of each of the next stretches are in a list, which is sorted when its time comes; all
/// others are in a heap. With few events or with many, one costs about the same.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Length of a stretch, as a power of two of ns.
    shift: u32,
    /// The events before stretch `next`, the first one last.
    now: Vec<Due>,
    /// The first stretch whose events are not in order.
    next: u64,
    /// Slot of one event of each stretch.
    lists: Box<[u32; STRETCHES]>,
    /// Lists that have events, one bit each, and the words of this set that are not 0.
    filled: [u64; STRETCHES / WORD],
    words: u64,
    /// Events of lists and of the heap.
    slots: Vec<Waiting>,
    free: u32,
    /// Later ones: time in the upper half, order and slot below it, so that one comparison decides.
    later: BinaryHeap<Reverse<u128>>,
    pushed: u64,
}

impl EventQueue {
    /// An empty queue for the events of so many CPUs.
    pub(crate) fn new(nr_cpus: usize) -> Self {
        let eights = (nr_cpus / 8).max(1).ilog2();
        EventQueue {
            shift: STRETCH_SHIFT.saturating_sub(eights).max(STRETCH_SHIFT_MIN),
            now: Vec::new(),
            next: 0,
            lists: Box::new([NO_SLOT; STRETCHES]),
            filled: [0; STRETCHES / WORD],
            words: 0,
            slots: Vec::new(),
            free: NO_SLOT,
            later: BinaryHeap::new(),
            pushed: 0,
        }
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, time_ns: u64, ev: Ev) {
        let due = Due { due_ns: time_ns, order: self.pushed, ev };
        self.pushed += 1;
        let stretch = time_ns >> self.shift;
        if stretch >= self.next {
            return self.push_later(stretch, due);
        }
        // It is the last of those that are due at its time.
        let at = self.now.iter().rposition(|other| other.due_ns > time_ns).map_or(0, |later| later + 1);
        self.now.insert(at, due);
    }

    fn push_later(&mut self, stretch: u64, due: Due) {
        let ahead = stretch - self.next < STRETCHES as u64;
        let slot = self.keep(Waiting { due, next: NO_SLOT });
        if ahead {
            return self.enlist(stretch, slot);
        }
        assert!(due.order >> (u64::BITS - SLOT_BITS) == 0, "2^40 events are enough");
        let key = due.order << SLOT_BITS | u64::from(slot);
        self.later.push(Reverse(u128::from(due.due_ns) << 64 | u128::from(key)));
    }

    /// A slot with an event.
    fn keep(&mut self, waiting: Waiting) -> u32 {
        let slot = self.free;
        if let Some(free) = self.slots.get_mut(slot as usize) {
            self.free = free.next;
            *free = waiting;
            return slot;
        }
        let slot = self.slots.len() as u32;
        assert!(slot >> SLOT_BITS == 0, "16 million events that wait are enough");
        self.slots.push(waiting);
        slot
    }

    /// The event in a slot goes to the list of its stretch.
    fn enlist(&mut self, stretch: u64, slot: u32) {
        let list = stretch as usize % STRETCHES;
        self.slots[slot as usize].next = std::mem::replace(&mut self.lists[list], slot);
        self.filled[list / WORD] |= 1 << (list % WORD);
        self.words |= 1 << (list / WORD);
    }

    /// The first stretch from `next` on that has events in its list.
    fn first_filled(&self) -> Option<u64> {
        let from = self.next as usize % STRETCHES;
        let (word, above) = (from / WORD, u64::MAX << (from % WORD));
        let within = |word: usize, bits: u64| word * WORD + bits.trailing_zeros() as usize;
        let own = self.filled[word] & above;
        let list = if own != 0 {
            within(word, own)
        } else {
            // Words from the next one on, then from the first one; this word's lower lists come last.
            let turned = self.words.rotate_right(word as u32 + 1);
            let word = (turned != 0).then(|| (word + 1 + turned.trailing_zeros() as usize) % WORD)?;
            within(word, self.filled[word])
        };
        Some(self.next + (list + STRETCHES - from) as u64 % STRETCHES as u64)
    }

    /// Nothing is due in the present stretch: the events of the next one that has any come in order.
    #[cold]
    fn fetch(&mut self) {
        while self.now.is_empty() {
            let stretch = match (self.first_filled(), self.later.peek()) {
                (Some(stretch), _) => stretch,
                (None, Some(Reverse(first))) => {
                    self.next = (first >> 64) as u64 >> self.shift;
                    self.draw_near();
                    continue;
                }
                (None, None) => return,
            };
            self.take_list(stretch as usize % STRETCHES);
            self.next = stretch + 1;
            self.draw_near();
        }
    }

    fn take_list(&mut self, list: usize) {
        let mut slot = std::mem::replace(&mut self.lists[list], NO_SLOT);
        self.filled[list / WORD] &= !(1 << (list % WORD));
        if self.filled[list / WORD] == 0 {
            self.words &= !(1 << (list / WORD));
        }
        while slot != NO_SLOT {
            let waiting = &mut self.slots[slot as usize];
            self.now.push(waiting.due);
            let next = std::mem::replace(&mut waiting.next, self.free);
            (self.free, slot) = (slot, next);
        }
        self.now.sort_unstable_by_key(|due| std::cmp::Reverse((due.due_ns, due.order)));
    }

    /// Events of the heap that have a list now go to it.
    fn draw_near(&mut self) {
        while let Some(Reverse(first)) = self.later.peek() {
            let (stretch, slot) = ((first >> 64) as u64 >> self.shift, *first as u32 & ((1 << SLOT_BITS) - 1));
            if stretch - self.next >= STRETCHES as u64 {
                return;
            }
            self.later.pop();
            self.enlist(stretch, slot);
        }
    }

    /// Takes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u64, Ev)> {
        if self.now.is_empty() {
            self.fetch();
        }
        let Due { due_ns, ev, .. } = self.now.pop()?;
        Some((due_ns, ev))
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
    /// Time at which it is wanted, ns; `u64::MAX` = never.
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
        let filled = |slot: u32| (slot != NO_SLOT).then_some(slot);
        let free = std::iter::successors(filled(self.free), |&slot| filled(self.slots[slot as usize].next));
        self.now.len() + self.slots.len() - free.count()
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
        // Times of the run so far, of the stretches that have lists, and beyond them.
        for step_ns in [1, 1 << 10, 1 << 20, 1 << 26, 1 << 33] {
            [1, 64, 384, 1024].into_iter().for_each(|nr_cpus| keeps_the_order(step_ns, nr_cpus));
        }
    }

    fn keeps_the_order(step_ns: u64, nr_cpus: usize) {
        let (mut queue, mut list, mut random) = (EventQueue::new(nr_cpus), Vec::new(), 1u64);
        for task in 0..20_000u32 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let time_ns = ((random >> 33) % 50 + u64::from(task / 64)) * step_ns;
            queue.push(time_ns, Ev::TaskStart { task });
            list.push((time_ns, task));
            if random >> 62 != 0 || list.len() > 200 {
                let first = list.iter().min().copied();
                list.retain(|&entry| Some(entry) != first);
                assert_eq!(queue.pop(), first.map(|(time_ns, task)| (time_ns, Ev::TaskStart { task })));
            }
        }
        assert_eq!(queue.len(), list.len());
        assert!(queue.slots.len() <= 201, "slots are used again");
    }

    #[test]
    fn an_event_in_order_fills_half_a_cache_line() {
        assert_eq!(size_of::<Due>(), 32);
    }

    #[test]
    fn earliest_first_and_first_in_first_out_among_equals() {
        let mut q = EventQueue::new(1);
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
