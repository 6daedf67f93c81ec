// SPDX-License-Identifier: GPL-2.0-or-later
//! Doings of a behaviour's threads, out of the events of a run or of a recording: the same events, so that a claim is
//! judged alike on both.

use pelton_schema::Event;
use std::collections::BTreeMap;

/// Time on a CPU at one frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Thread.
    pub thread: usize,
    /// CPU.
    pub cpu: u32,
    /// Frequency, kHz; 0 = not known.
    pub khz: u32,
    /// Begin, ns.
    pub from_ns: u64,
    /// End, ns.
    pub to_ns: u64,
}

/// A wake-up, and the CPU that the thread was put on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Thread.
    pub thread: usize,
    /// CPU.
    pub cpu: u32,
    /// Time, ns.
    pub at_ns: u64,
}

/// An activation: from a wake-up to the next sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activation {
    /// Thread.
    pub thread: usize,
    /// Wake-up, ns.
    pub from_ns: u64,
    /// Sleep, ns, or the last that was seen.
    pub to_ns: u64,
    /// Ended by sleep.
    pub is_over: bool,
}

/// Everything that claims are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Task of each thread, by its place in the file.
    pub tasks: Vec<usize>,
    /// Time at which the first thread appeared, ns.
    pub start_ns: Option<u64>,
    /// Time of the last event, ns.
    pub end_ns: u64,
    /// Run time.
    pub stretches: Vec<Stretch>,
    /// Wake-ups.
    pub wakes: Vec<Wake>,
    /// Activations.
    pub activations: Vec<Activation>,
    /// CPUs that events name, the highest number and one more.
    pub cpus: u32,
}

/// A CPU now.
#[derive(Clone, Copy, Debug, Default)]
struct Now {
    thread: Option<usize>,
    since_ns: u64,
    khz: u32,
}

/// Collects what the threads do.
#[derive(Debug, Default)]
pub struct Observer {
    observed: Observed,
    threads: BTreeMap<u32, usize>,
    cpus: BTreeMap<u32, Now>,
    woken_ns: Vec<Option<u64>>,
}

impl Observer {
    /// One event; `task_of` has the task of a thread, by its id.
    pub fn event(&mut self, time_ns: u64, event: &Event, task_of: impl Fn(u32) -> Option<usize>) {
        self.observed.end_ns = self.observed.end_ns.max(time_ns);
        match *event {
            Event::SchedSwitch { cpu, prev_tid, prev_state, next_tid, .. } => {
                self.stop(cpu, time_ns);
                if let Some(thread) = self.thread(prev_tid, time_ns, &task_of).filter(|_| prev_state != 0) {
                    self.sleeps(thread, time_ns);
                }
                let thread = self.thread(next_tid, time_ns, &task_of);
                let now = self.cpu(cpu);
                (now.thread, now.since_ns) = (thread, time_ns);
            }
            Event::SchedWaking { tid, .. } => {
                if let Some(thread) = self.thread(tid, time_ns, &task_of) {
                    self.woken_ns[thread].get_or_insert(time_ns);
                }
            }
            Event::SchedWakeup { tid, target_cpu, .. } | Event::SchedWakeupNew { tid, target_cpu, .. } => {
                if let Some(thread) = self.thread(tid, time_ns, &task_of) {
                    self.woken_ns[thread].get_or_insert(time_ns);
                    self.seen(target_cpu);
                    self.observed.wakes.push(Wake { thread, cpu: target_cpu, at_ns: time_ns });
                }
            }
            Event::CpuFrequency { cpu, freq_khz } => {
                self.stop(cpu, time_ns);
                let now = self.cpu(cpu);
                (now.khz, now.since_ns) = (freq_khz, time_ns);
            }
            _ => {}
        }
    }

    /// Nothing after this time, ns since the threads appeared, is of interest.
    pub fn is_past(&self, time_ns: u64, duration_ns: u64) -> bool {
        self.observed.start_ns.is_some_and(|start_ns| time_ns > start_ns.saturating_add(duration_ns))
    }

    /// Everything that was collected.
    pub fn finish(mut self) -> Observed {
        let end_ns = self.observed.end_ns;
        let cpus: Vec<u32> = self.cpus.keys().copied().collect();
        cpus.into_iter().for_each(|cpu| self.stop(cpu, end_ns));
        let open = |(thread, woken): (usize, &Option<u64>)| {
            woken.map(|from_ns| Activation { thread, from_ns, to_ns: end_ns, is_over: false })
        };
        self.observed.activations.extend(self.woken_ns.iter().enumerate().filter_map(open));
        self.observed
    }

    fn seen(&mut self, cpu: u32) {
        self.observed.cpus = self.observed.cpus.max(cpu.saturating_add(1));
    }

    fn cpu(&mut self, cpu: u32) -> &mut Now {
        self.seen(cpu);
        self.cpus.entry(cpu).or_default()
    }

    /// Ends the stretch of a CPU here; the thread goes on.
    fn stop(&mut self, cpu: u32, to_ns: u64) {
        let Now { thread, since_ns, khz } = *self.cpu(cpu);
        if let Some(thread) = thread.filter(|_| since_ns < to_ns) {
            self.observed.stretches.push(Stretch { thread, cpu, khz, from_ns: since_ns, to_ns });
        }
    }

    fn sleeps(&mut self, thread: usize, to_ns: u64) {
        if let Some(from_ns) = self.woken_ns[thread].take() {
            self.observed.activations.push(Activation { thread, from_ns, to_ns, is_over: true });
        }
    }

    /// The thread with this id, which is new where it has not been seen as one of a task.
    fn thread(&mut self, tid: u32, time_ns: u64, task_of: impl Fn(u32) -> Option<usize>) -> Option<usize> {
        if tid == 0 {
            return None;
        }
        if let Some(&thread) = self.threads.get(&tid) {
            return Some(thread);
        }
        let task = task_of(tid)?;
        self.observed.start_ns.get_or_insert(time_ns);
        let thread = self.observed.tasks.len();
        self.observed.tasks.push(task);
        self.woken_ns.push(None);
        self.threads.insert(tid, thread);
        Some(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(cpu: u32, prev_tid: u32, prev_state: u32, next_tid: u32) -> Event {
        Event::SchedSwitch { cpu, prev_tid, prev_prio: 120, prev_state, next_tid, next_prio: 120 }
    }

    fn observed(events: &[(u64, Event)]) -> Observed {
        let mut observer = Observer::default();
        events.iter().for_each(|(at, event)| observer.event(*at, event, |tid| (tid >= 10).then_some(0)));
        observer.finish()
    }

    #[test]
    fn run_time_is_cut_where_the_frequency_changes() {
        let seen = observed(&[
            (100, switch(1, 0, 0, 10)),
            (150, Event::CpuFrequency { cpu: 1, freq_khz: 500 }),
            (180, Event::CpuFrequency { cpu: 0, freq_khz: 900 }),
            (200, switch(1, 10, 1, 0)),
            (300, switch(1, 0, 0, 0)),
        ]);
        let stretches: Vec<_> = seen.stretches.iter().map(|s| (s.cpu, s.khz, s.from_ns, s.to_ns)).collect();
        assert_eq!(stretches, [(1, 0, 100, 150), (1, 500, 150, 200)]);
        assert_eq!((seen.start_ns, seen.end_ns, seen.cpus), (Some(100), 300, 2));
    }

    #[test]
    fn an_activation_ends_with_sleep_and_not_with_preemption() {
        let wake = |tid| Event::SchedWaking { cpu: 0, tid, prio: 120, target_cpu: 0 };
        let seen = observed(&[
            (10, wake(10)),
            (20, switch(0, 0, 0, 10)),
            (30, switch(0, 10, 0, 3)),
            (40, switch(0, 3, 1, 10)),
            (50, switch(0, 10, 1, 0)),
            (60, wake(10)),
            (70, wake(3)),
        ]);
        let spans: Vec<_> = seen.activations.iter().map(|a| (a.from_ns, a.to_ns, a.is_over)).collect();
        assert_eq!(spans, [(10, 50, true), (60, 70, false)]);
        assert_eq!(seen.tasks, [0], "a thread of no task is none");
    }
}
