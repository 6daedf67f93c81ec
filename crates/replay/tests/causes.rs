// SPDX-License-Identifier: GPL-2.0-or-later
//! Workloads from few events: which task made, woke and moved which, and the steps that follow.

use pelton_model::Machine;
use pelton_model::machine::Costs;
use pelton_model::workload::{CpuSet, Op, Start};
use pelton_replay::workload::{
    First, Habits, Pin, Pulls, Recorder, Recording, Step, Synthesis, SynthesisOptions, synthesise,
};
use pelton_scenario::platform::{PlatformOptions, load};
use pelton_schema::{Event, Sink};

const US: u64 = 1000;

fn juno() -> Machine {
    load("juno-r0").expect("built in").build(&PlatformOptions::new("7.2")).expect("complete").machine
}

fn free() -> Machine {
    Machine { costs: Costs::default(), ..juno() }
}

fn switch(cpu: u32, prev_tid: u32, prev_state: u32, next_tid: u32) -> Event {
    Event::SchedSwitch { cpu, prev_tid, prev_prio: 120, prev_state, next_tid, next_prio: 120 }
}

fn wakeup(cpu: u32, tid: u32, target_cpu: u32) -> Event {
    Event::SchedWakeup { cpu, tid, prio: 120, target_cpu }
}

fn record(machine: &Machine, events: impl IntoIterator<Item = (u64, Event)>) -> Recording {
    let mut recorder = Recorder::new(Some(machine), 0);
    let mut last_ns = 0;
    for (at_us, event) in events {
        last_ns = at_us * US;
        recorder.event(last_ns, &event);
    }
    recorder.finish(last_ns)
}

fn made(recording: &Recording, machine: &Machine) -> Synthesis {
    let names: Vec<String> = recording.tasks.iter().map(|t| format!("t{}", t.tid)).collect();
    synthesise(recording, &Habits::of(recording), &names, machine, &SynthesisOptions::default())
}

fn ops(made: &Synthesis, task: usize) -> Vec<Op> {
    made.workload.tasks[task].phases.iter().flat_map(|p| p.ops.clone()).collect()
}

#[test]
fn a_new_task_is_made_by_its_creator() {
    let told = Event::SchedProcessFork { cpu: 0, parent_tid: 7, child_tid: 8 };
    let new = Event::SchedWakeupNew { cpu: 0, tid: 8, prio: 120, target_cpu: 3 };
    let events = |fork: Option<Event>| {
        let begin = [(0, switch(0, 0, 0, 7)), (0, switch(3, 0, 0, 0))];
        let rest = [(100, new), (110, switch(3, 0, 0, 8)), (300, switch(0, 7, 1, 0)), (400, switch(3, 8, 16, 0))];
        begin.into_iter().chain(fork.map(|e| (100, e))).chain(rest)
    };
    let machine = free();
    for fork in [Some(told), None] {
        let recording = record(&machine, events(fork));
        let child = recording.tasks.iter().position(|t| t.tid == 8).expect("seen");
        let parent = recording.tasks.iter().position(|t| t.tid == 7).expect("seen");
        assert_eq!(recording.tasks[child].parent, Some(parent as u32));
        assert_eq!(recording.tasks[child].first, First::Created(100 * US));
        let made = made(&recording, &machine);
        assert_eq!(made.workload.tasks[child].start, Start::OnFork);
        assert!(ops(&made, parent).contains(&Op::Spawn { task: child as u32 }), "{:?}", ops(&made, parent));
    }
}

#[test]
fn a_task_that_shows_late_on_a_busy_cpu_was_asleep_before() {
    let recording = record(&free(), [(0, switch(0, 0, 0, 7)), (50, switch(0, 7, 1, 8)), (90, switch(0, 8, 1, 0))]);
    let late = recording.tasks.iter().find(|t| t.tid == 8).expect("seen");
    assert_eq!(late.first, First::Asleep);
    assert!(matches!(late.steps[0], Step::Sleep { until_ns: 50_000, .. }), "{:?}", late.steps);
}

/// Task 7 runs 10 us on CPU 0 every 100 us and wakes task 8, which slept on CPU `of` and is put on CPU `to`.
fn pair(to: u32, of: u32) -> Recording {
    let round = move |i: u64| {
        let at = i * 100;
        [
            (at, wakeup(0, 7, 0)),
            (at, switch(0, 0, 0, 7)),
            (at + 10, wakeup(0, 8, to)),
            (at + 10, switch(0, 7, 1, 0)),
            (at + 11, switch(to, 0, 0, 8)),
            (at + 15, switch(to, 8, 1, 0)),
            // It goes back to where it began.
            (at + 50, wakeup(of, 8, of)),
            (at + 51, switch(of, 0, 0, 8)),
            (at + 55, switch(of, 8, 1, 0)),
        ]
    };
    let begin = (0..6).map(|cpu| (0, switch(cpu, 0, 0, 0)));
    record(&free(), begin.chain((1..30).flat_map(round)))
}

#[test]
fn a_task_drawn_to_its_wakers_cache_was_woken_by_one_about_to_sleep() {
    // CPUs 0, 3, 4, 5 and 1, 2 of Juno share caches.
    let sync = |recording: &Recording| {
        let index = |tid| recording.tasks.iter().position(|t| t.tid == tid).expect("seen") as u32;
        let pair = (index(7), index(8));
        let habits = Habits::of(recording);
        assert!(habits.pairs.contains_key(&pair), "{:?}", habits.pairs);
        (habits.sync.contains(&pair), recording.pulls.get(&pair).copied().unwrap_or_default())
    };
    assert_eq!(sync(&pair(3, 1)), (true, Pulls { pulled: 28, stayed: 0 }));
    assert_eq!(sync(&pair(1, 1)), (false, Pulls { pulled: 0, stayed: 29 }));
    assert_eq!(
        sync(&pair(4, 3)),
        (true, Pulls::default()),
        "nothing tells: it sleeps at once, so it is taken to have said so"
    );
    let recording = pair(3, 1);
    let waker = recording.tasks.iter().position(|t| t.tid == 7).expect("seen");
    let writes = |op: &&Op| matches!(op, Op::Write { .. });
    assert_eq!(ops(&made(&recording, &free()), waker).iter().filter(writes).count(), 29);
}

#[test]
fn interrupts_that_always_hit_the_same_busy_task_are_not_its_doing() {
    // Task 7 never leaves the CPU but for task 8, which an interrupt wakes.
    let round = |i: u64| {
        let at = i * 1000 + i * i % 7 * 90;
        [(at, wakeup(0, 8, 0)), (at + 1, switch(0, 7, 0, 8)), (at + 20, switch(0, 8, 1, 7))]
    };
    let recording = record(&free(), std::iter::once((0, switch(0, 0, 0, 7))).chain((1..12).flat_map(round)));
    assert!(Habits::of(&recording).pairs.is_empty());
}

#[test]
fn a_timers_length_tells_its_wake_ups_from_those_of_who_happens_to_run() {
    // Task 8 sleeps for 3 ms whenever its work is done; task 7 runs at a tenth of these moments and never else.
    let mut events = vec![(0, switch(0, 0, 0, 0))];
    let mut at = 0;
    for i in 1..100 {
        let run = 1000 + i * i % 5 * 200;
        at += 3000;
        let runs = i % 10 == 9;
        events.extend(runs.then_some((at - 5, switch(0, 0, 0, 7))));
        let (tid, state) = if runs { (7, 1) } else { (0, 0) };
        events.extend([(at, wakeup(0, 8, 0)), (at, switch(0, tid, state, 8)), (at + run, switch(0, 8, 1, 0))]);
        at += run;
    }
    let recording = record(&free(), events);
    let habits = Habits::of(&recording);
    assert!(habits.pairs.is_empty() && habits.timers.len() == 10, "{:?} {:?}", habits.pairs, habits.timers);
}

#[test]
fn what_a_short_burst_cannot_pay_is_not_taken_from_a_later_one() {
    let machine = juno();
    let cost_us = machine.costs.context_switch_ns.div_ceil(US);
    let short = |i: u64| {
        let at = i * 100;
        [(at, wakeup(0, 7, 0)), (at, switch(0, 0, 0, 7)), (at + 1, switch(0, 7, 1, 0))]
    };
    let long = [(9000, wakeup(0, 7, 0)), (9000, switch(0, 0, 0, 7)), (10_000, switch(0, 7, 1, 0))];
    let work = |machine: &Machine| {
        let begin = std::iter::once((0, switch(0, 0, 0, 0)));
        let recording = record(machine, begin.chain((1..80).flat_map(short)).chain(long));
        let last = recording.tasks[0].steps.iter().rev().find_map(|s| match *s {
            Step::Run { work_ns, .. } => Some(work_ns),
            _ => None,
        });
        last.expect("it ran")
    };
    assert!(cost_us > 1, "bursts of 1 us do not pay a switch of this machine");
    assert_eq!(work(&free()) - work(&machine), machine.costs.context_switch_ns);
}

#[test]
fn a_change_of_attributes_leaves_a_pinned_task_where_it_was_recorded() {
    let told = |cpus_allowed| Event::TaskAttributes {
        tid: 7,
        policy: 0,
        prio: 120,
        cpus_allowed,
        uclamp_min: 0,
        uclamp_max: 1024,
        group: 0,
    };
    let round = |i: u64| {
        let at = i * 100;
        let changed = (i == 5).then_some((at + 10, told(0b1011)));
        let begin = [(at, wakeup(3, 7, 3)), (at, switch(3, 0, 0, 7))];
        begin.into_iter().chain(changed).chain([(at + 20, switch(3, 7, 1, 0))])
    };
    let begin = [(0, switch(3, 0, 0, 0)), (0, told(0b1001))];
    let recording = record(&free(), begin.into_iter().chain((1..10).flat_map(round)));
    let names = ["t7".to_owned()];
    for pin in [Pin::Itself, Pin::Asleep] {
        let options = SynthesisOptions { pin, ..SynthesisOptions::default() };
        let made = synthesise(&recording, &Habits::of(&recording), &names, &free(), &options);
        let phases = &made.workload.tasks[0].phases;
        let changed = phases.iter().find(|p| p.policy.is_some()).expect("a phase of its own");
        assert_eq!(changed.cpus, Some(CpuSet::of([3])), "{pin:?}");
    }
}

#[test]
fn costs_of_the_recorded_machine_are_no_work() {
    let events =
        || [(0, switch(0, 0, 0, 0)), (100, wakeup(0, 7, 0)), (100, switch(0, 0, 0, 7)), (200, switch(0, 7, 1, 0))];
    let work = |machine: &Machine| {
        let recording = record(machine, events());
        let of = |s: &Step| if let Step::Run { work_ns, .. } = *s { work_ns } else { 0 };
        recording.tasks[0].steps.iter().map(of).sum::<u64>()
    };
    assert_eq!(work(&free()) - work(&juno()), juno().costs.context_switch_ns);
}
