// SPDX-License-Identifier: GPL-2.0-or-later
//! Waits of runnable tasks, from the events of a run: for how long, since what, and which task had the CPU meanwhile.

use super::quantity::instance_base;
use crate::round;
use pelton_schema::{Event, Sink};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Beginning of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Since {
    /// The task was woken.
    WakeUp,
    /// The task was new.
    Start,
    /// Another task took its CPU.
    Preempted,
    /// The task was moved to this CPU while it waited.
    Moved,
}

/// Holder of the CPU during a wait, as the waiting task sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Behind {
    /// No task: the CPU leaves idle, or the kernel's own paths take their time.
    Idle,
    /// The task that woke it.
    Waker,
    /// A task that the same task woke last.
    Sibling,
    /// Any other task.
    Other,
}

/// Waits of one kind, all instances of a name together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WaitRow {
    /// Task that waits.
    pub task: String,
    /// Beginning.
    pub since: Since,
    /// Relation to the task that has the CPU.
    pub behind: Behind,
    /// Name of the task that has it; `None` (null) for an idle CPU.
    pub holder: Option<String>,
    /// Number of stretches of time; a wait has one for each task that has the CPU in it.
    pub count: u64,
    /// Their sum, ms.
    pub total_ms: f64,
    /// Their mean, us.
    pub mean_us: f64,
    /// The longest, us.
    pub max_us: f64,
}

impl Since {
    /// The word used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Since::WakeUp => "wake-up",
            Since::Start => "start",
            Since::Preempted => "preempted",
            Since::Moved => "moved",
        }
    }
}

impl Behind {
    /// The word used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Behind::Idle => "idle",
            Behind::Waker => "waker",
            Behind::Sibling => "sibling",
            Behind::Other => "other",
        }
    }
}

/// A task in a queue.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: Since,
    /// Time up to which its wait is noted, ns.
    noted_ns: u64,
}

/// Sum of stretches.
#[derive(Clone, Copy, Debug, Default)]
struct Stretches {
    count: u64,
    total_ns: u64,
    max_ns: u64,
}

/// Observer of waits.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Running task by CPU; 0: idle.
    running: BTreeMap<u32, u32>,
    /// CPU of each waiting task.
    queued_on: BTreeMap<u32, u32>,
    /// Waiting tasks by CPU and task.
    waiting: BTreeMap<(u32, u32), Waiting>,
    /// Task that woke each task last.
    wakers: BTreeMap<u32, u32>,
    /// Sums by task, beginning, relation and holder.
    sums: BTreeMap<(u32, Since, Behind, u32), Stretches>,
}

impl Waits {
    /// An observer before any event.
    #[must_use]
    pub fn new() -> Waits {
        Waits::default()
    }

    fn running(&self, cpu: u32) -> u32 {
        self.running.get(&cpu).copied().unwrap_or(0)
    }

    fn begin(&mut self, now_ns: u64, tid: u32, cpu: u32, since: Since) {
        self.end(tid);
        self.queued_on.insert(tid, cpu);
        self.waiting.insert((cpu, tid), Waiting { since, noted_ns: now_ns });
    }

    fn end(&mut self, tid: u32) {
        if let Some(cpu) = self.queued_on.remove(&tid) {
            self.waiting.remove(&(cpu, tid));
        }
    }

    /// Notes what the tasks in a CPU's queue waited behind until now.
    fn note(&mut self, now_ns: u64, cpu: u32) {
        let (holder, mut stretches) = (self.running(cpu), Vec::new());
        for (&(_, tid), waiting) in self.waiting.range_mut((cpu, 0)..=(cpu, u32::MAX)) {
            stretches.push((tid, waiting.since, now_ns - waiting.noted_ns));
            waiting.noted_ns = now_ns;
        }
        for (tid, since, ns) in stretches.into_iter().filter(|(.., ns)| *ns > 0) {
            let sum = self.sums.entry((tid, since, self.relation(tid, holder), holder)).or_default();
            sum.count += 1;
            sum.total_ns += ns;
            sum.max_ns = sum.max_ns.max(ns);
        }
    }

    fn relation(&self, tid: u32, holder: u32) -> Behind {
        let waker = self.wakers.get(&tid).copied().filter(|&waker| waker != 0);
        match waker {
            _ if holder == 0 => Behind::Idle,
            Some(waker) if waker == holder => Behind::Waker,
            Some(_) if self.wakers.get(&holder).copied() == waker => Behind::Sibling,
            _ => Behind::Other,
        }
    }

    fn switch(&mut self, now_ns: u64, cpu: u32, prev: (u32, bool), next: u32) {
        self.note(now_ns, cpu);
        self.end(next);
        self.running.insert(cpu, next);
        if let (tid @ 1.., true) = prev {
            self.begin(now_ns, tid, cpu, Since::Preempted);
        }
    }

    /// Notes the waits that last until the end of the run.
    pub fn finish(&mut self, end_ns: u64) {
        let cpus: BTreeSet<u32> = self.queued_on.values().copied().collect();
        cpus.into_iter().for_each(|cpu| self.note(end_ns, cpu));
    }

    /// Waits by task name, the most time first; `names` by task id.
    #[must_use]
    pub fn rows(&self, names: &[String]) -> Vec<WaitRow> {
        let name =
            |tid: u32| names.get(tid as usize).map_or_else(|| format!("task {tid}"), |n| instance_base(n).to_owned());
        let mut sums: BTreeMap<(String, Since, Behind, Option<String>), Stretches> = BTreeMap::new();
        for (&(tid, since, behind, holder), of) in &self.sums {
            let holder = (behind != Behind::Idle).then(|| name(holder));
            let sum = sums.entry((name(tid), since, behind, holder)).or_default();
            sum.count += of.count;
            sum.total_ns += of.total_ns;
            sum.max_ns = sum.max_ns.max(of.max_ns);
        }
        let mut rows: Vec<_> = sums.into_iter().collect();
        rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.total_ns));
        let row = |((task, since, behind, holder), of): ((String, Since, Behind, Option<String>), Stretches)| WaitRow {
            task,
            since,
            behind,
            holder,
            count: of.count,
            total_ms: round(of.total_ns as f64 / 1e6),
            mean_us: round(of.total_ns as f64 / of.count as f64 / 1e3),
            max_us: round(of.max_ns as f64 / 1e3),
        };
        rows.into_iter().map(row).collect()
    }
}

impl Sink for Waits {
    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::SchedWaking { cpu, tid, .. } => {
                self.wakers.insert(tid, self.running(cpu));
            }
            Event::SchedWakeup { tid, target_cpu, .. } => self.begin(time_ns, tid, target_cpu, Since::WakeUp),
            Event::SchedWakeupNew { cpu, tid, target_cpu, .. } => {
                self.wakers.insert(tid, self.running(cpu));
                self.begin(time_ns, tid, target_cpu, Since::Start);
            }
            Event::SchedMigrateTask { tid, dest_cpu, .. } => {
                if let Some(&cpu) = self.queued_on.get(&tid) {
                    self.note(time_ns, cpu);
                    self.begin(time_ns, tid, dest_cpu, Since::Moved);
                }
            }
            Event::SchedSwitch { cpu, prev_tid, prev_state, next_tid, .. } => {
                self.switch(time_ns, cpu, (prev_tid, prev_state == 0), next_tid);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Inputs, PolicySpec, build};
    use crate::run::run_one;

    const WAKER: u32 = 1;
    const FIRST: u32 = 2;
    const SECOND: u32 = 3;

    fn switch(cpu: u32, prev: u32, prev_state: u32, next: u32) -> Event {
        let (prev_prio, next_prio) = (120, 120);
        Event::SchedSwitch { cpu, prev_tid: prev, prev_prio, prev_state, next_tid: next, next_prio }
    }

    fn wakes(cpu: u32, tid: u32, target_cpu: u32) -> [Event; 2] {
        let prio = 120;
        [Event::SchedWaking { cpu, tid, prio, target_cpu }, Event::SchedWakeup { cpu, tid, prio, target_cpu }]
    }

    fn rows(events: impl IntoIterator<Item = (u64, Event)>) -> Vec<(String, Since, Behind, Option<String>, u64, f64)> {
        let mut waits = Waits::new();
        events.into_iter().for_each(|(us, event)| waits.event(us * 1000, &event));
        let names = ["swapper", "message", "worker-0", "worker-1"].map(str::to_owned);
        let rows = waits.rows(&names).into_iter();
        rows.map(|r| (r.task, r.since, r.behind, r.holder, r.count, r.total_ms)).collect()
    }

    #[test]
    fn a_wait_is_divided_among_what_had_the_cpu() {
        let mut events = vec![(0, switch(0, 0, 0, WAKER))];
        events.extend(wakes(0, FIRST, 0).map(|e| (10, e)));
        events.extend(wakes(0, SECOND, 0).map(|e| (10, e)));
        events.extend([(1010, switch(0, WAKER, 1, FIRST)), (3010, switch(0, FIRST, 0, SECOND))]);
        events.push((3510, switch(0, SECOND, 1, FIRST)));
        let (worker, message) = ("worker".to_owned(), Some("message".to_owned()));
        let expected = [
            (worker.clone(), Since::WakeUp, Behind::Waker, message, 2, 2.0),
            (worker.clone(), Since::WakeUp, Behind::Sibling, Some(worker.clone()), 1, 2.0),
            (worker.clone(), Since::Preempted, Behind::Sibling, Some(worker), 1, 0.5),
        ];
        let mut found = rows(events);
        found.sort_by_key(|row| (row.1, row.2));
        assert_eq!(found, expected);
    }

    #[test]
    fn an_idle_cpu_and_a_move_are_waits_of_their_own() {
        let mut events = vec![(0, switch(0, 0, 0, WAKER))];
        events.extend(wakes(0, FIRST, 1).map(|e| (100, e)));
        let prio = 120;
        events.push((150, Event::SchedMigrateTask { cpu: 0, tid: FIRST, prio, orig_cpu: 1, dest_cpu: 0 }));
        events.push((350, switch(0, WAKER, 1, FIRST)));
        let worker = "worker".to_owned();
        let expected = [
            (worker.clone(), Since::Moved, Behind::Waker, Some("message".to_owned()), 1, 0.2),
            (worker, Since::WakeUp, Behind::Idle, None, 1, 0.05),
        ];
        assert_eq!(rows(events), expected);
    }

    #[test]
    fn a_task_that_runs_at_once_has_not_waited() {
        let mut events = vec![];
        events.extend(wakes(0, FIRST, 0).map(|e| (100, e)));
        events.push((100, switch(0, 0, 0, FIRST)));
        assert_eq!(rows(events), []);
    }

    #[test]
    fn waits_since_wake_ups_are_the_latency_that_a_run_reports() {
        let inputs = Inputs {
            platform: "hikey-6220".into(),
            workload: "periodic:run_us=900,period_us=5000,threads=3,cpus=0 + busy:cpus=0".into(),
            duration_ns: Some(1_000_000_000),
            ..Inputs::default()
        };
        let plan = build(&inputs, &PolicySpec::parse("7.2")).expect("good inputs").plan;
        let mut waits = Waits::new();
        let report = run_one(&plan, 1, &mut waits, Default::default()).expect("runs");
        let reported_ns: u64 = report.tasks.iter().map(|task| task.wakeup_latency_ns.sum).sum();
        let noted = waits.sums.iter().filter(|((tid, since, ..), _)| {
            *tid as usize <= plan.workload.tasks.len() && matches!(since, Since::WakeUp | Since::Start)
        });
        let noted_ns: u64 = noted.map(|(_, sum)| sum.total_ns).sum();
        // A task that still waits when the run ends has no latency yet.
        assert!(noted_ns.abs_diff(reported_ns) * 100 < reported_ns, "{noted_ns} {reported_ns}");
    }
}
