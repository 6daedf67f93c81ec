// SPDX-License-Identifier: GPL-2.0-or-later
//! Traces that are long, empty or nonsense: the reader says what to do, and what it makes can always be run.

use std::ops::ControlFlow;

use pelton_core::Policy;
use pelton_model::{Machine, RunConfig};
use pelton_replay::workload::{
    Habits, Pin, ReadOptions, Recorded, Recorder, SynthesisOptions, WriteOptions, read, synthesise, write_rtapp,
};
use pelton_scenario::platform::{PlatformOptions, load};
use pelton_schema::{Event, NullSink, Sink};
use pelton_trace::import::{Format, ImportError, Source, Timed, TraceInfo};

/// Events made on demand: as long as the reader asks, or for a number of them.
struct Made<F> {
    next: u64,
    count: u64,
    make: F,
    info: TraceInfo,
}

impl<F: FnMut(u64) -> Event> Source for Made<F> {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        self.next += 1;
        let event = (self.next <= self.count).then(|| (self.make)(self.next));
        Ok(event.map(|event| Timed { time_ns: self.next * 1000, event }))
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }
}

fn made<F: FnMut(u64) -> Event>(count: u64, make: F) -> Made<F> {
    Made { next: 0, count, make, info: TraceInfo::new(Format::FtraceText) }
}

fn read_all(source: &mut dyn Source, options: &ReadOptions) -> Result<Recorded, String> {
    read(source, None, options, &mut |_| ControlFlow::Continue(())).map_err(|error| error.to_string())
}

fn switch(cpu: u32, prev_tid: u32, next_tid: u32) -> Event {
    Event::SchedSwitch { cpu, prev_tid, prev_prio: 120, prev_state: 1, next_tid, next_prio: 120 }
}

/// Task 7 runs and sleeps in turn.
fn on_and_off(i: u64) -> Event {
    if i.is_multiple_of(2) { switch(0, 7, 0) } else { switch(0, 0, 7) }
}

#[test]
fn a_trace_longer_than_memory_is_refused_with_what_to_do() {
    let options = ReadOptions { steps_max: 10_000, ..ReadOptions::default() };
    let error = read_all(&mut made(u64::MAX, on_and_off), &options).expect_err("too long");
    assert!(error.contains("more than 10000 steps") && error.contains("--from and --to"), "{error}");
    let part = ReadOptions { to_ns: Some(5_000_000), ..options };
    let recorded = read_all(&mut made(u64::MAX, on_and_off), &part).expect("a part of it fits");
    assert!(recorded.recording.tasks[0].steps.len() <= 10_000);
}

#[test]
fn an_empty_trace_and_one_without_switches_say_what_is_missing() {
    let options = ReadOptions::default();
    assert!(read_all(&mut made(0, on_and_off), &options).expect_err("empty").contains("no events"));
    let idle = |_| Event::CpuIdle { cpu: 0, state: 0 };
    assert!(read_all(&mut made(9, idle), &options).expect_err("no switches").contains("sched_switch"));
    let late = ReadOptions { from_ns: 1 << 40, ..options };
    assert!(read_all(&mut made(9, on_and_off), &late).expect_err("after its end").contains("--from"));
}

/// A small generator; the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Mostly small, now and then far outside of what is possible.
    fn number(&mut self, end: u64) -> u32 {
        if self.below(50) == 0 { u32::MAX - self.below(2) as u32 } else { self.below(end) as u32 }
    }

    fn event(&mut self) -> Event {
        let (cpu, tid, prio, target_cpu) = (self.number(8), self.number(12), self.number(140), self.number(8));
        match self.below(14) {
            0..=4 => Event::SchedSwitch {
                cpu,
                prev_tid: tid,
                prev_prio: prio,
                prev_state: self.number(64),
                next_tid: self.number(12),
                next_prio: self.number(140),
            },
            5 => Event::SchedWaking { cpu, tid, prio, target_cpu },
            6 => Event::SchedWakeup { cpu, tid, prio, target_cpu },
            7 => Event::SchedWakeupNew { cpu, tid, prio, target_cpu },
            8 if tid % 2 == 0 => Event::SchedProcessFork { cpu, parent_tid: tid, child_tid: self.below(12) as u32 },
            8 => Event::SchedProcessExit { cpu, tid, prio },
            9 => Event::CpuFrequency { cpu, freq_khz: self.number(3_000_000) },
            10 => Event::CpuIdle { cpu, state: self.number(4) },
            11 => Event::LostEvents { cpu, count: 1 },
            12 => Event::IrqEntry { cpu, irq: 1 },
            _ => Event::TaskAttributes {
                tid,
                policy: self.number(8),
                prio,
                cpus_allowed: self.below(1 << 9),
                uclamp_min: self.number(1024),
                uclamp_max: self.number(1024),
                group: 0,
            },
        }
    }
}

fn juno() -> Machine {
    load("juno-r0").expect("built in").build(&PlatformOptions::new("7.2")).expect("complete").machine
}

#[test]
fn nonsense_gives_a_workload_that_runs() {
    let machine = juno();
    let policy = Policy::profile("7.2").expect("known");
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let mut recorder = Recorder::new((seed % 2 == 0).then_some(&machine), 0);
        let mut now_ns = 0;
        for _ in 0..400 {
            // Times that go back, stand still, and leap.
            now_ns = (now_ns + dice.below(200_000)).saturating_sub(dice.below(20_000));
            recorder.event(now_ns, &dice.event());
        }
        let recording = recorder.finish(now_ns);
        let names: Vec<String> = recording.tasks.iter().map(|t| format!("kworker/{}:1", t.tid)).collect();
        let options = SynthesisOptions {
            pin: [Pin::Free, Pin::Itself, Pin::Asleep][seed as usize % 3],
            ..SynthesisOptions::default()
        };
        let made = synthesise(&recording, &Habits::of(&recording), &names, &machine, &options);
        let config = RunConfig { seed, ..RunConfig::default() };
        pelton_sim::run(&machine, &made.workload, &policy, &config, NullSink).expect("it can be run");
        write_rtapp(&made.workload, &machine, WriteOptions { model: seed % 5 == 0 }).expect("it can be written");
    }
}

/// Events as they are given.
struct Given(std::vec::IntoIter<Timed>, TraceInfo);

impl Source for Given {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        Ok(self.0.next())
    }

    fn info(&self) -> &TraceInfo {
        &self.1
    }
}

fn given(events: &[(u64, Event)]) -> Given {
    let events: Vec<Timed> = events.iter().map(|&(time_ns, event)| Timed { time_ns, event }).collect();
    Given(events.into_iter(), TraceInfo::new(Format::FtraceText))
}

#[test]
fn a_damaged_time_is_refused_before_it_is_summed() {
    let with_last =
        |last_ns: u64| given(&[(5, on_and_off(1)), (6, on_and_off(2)), (7, on_and_off(1)), (last_ns, on_and_off(2))]);
    let options = ReadOptions { gap_ns_max: u64::MAX, ..ReadOptions::default() };
    let error = read_all(&mut with_last(u64::MAX), &options).expect_err("a damaged time");
    assert!(error.contains("213503 days after the first one") && error.contains("--to"), "{error}");
    let part = ReadOptions { to_ns: Some(1_000), ..options };
    assert!(read_all(&mut with_last(u64::MAX), &part).is_ok(), "the part before it");
    assert!(read_all(&mut with_last(9 * 86_400_000_000_000), &options).is_ok());
}

/// Ten activations of 1 us, the first at `from_ns`.
fn activations(from_ns: u64) -> Vec<(u64, Event)> {
    (1..=20).map(|i| (from_ns + i * 1000, on_and_off(i))).collect()
}

const HOUR_NS: u64 = 3_600_000_000_000;

#[test]
fn a_jump_of_the_time_ends_what_is_read_and_is_said() {
    let options = ReadOptions::default();
    let mut events = activations(0);
    events.push((HOUR_NS, on_and_off(1)));
    let recorded = read_all(&mut given(&events), &options).expect("the part before it");
    assert_eq!(recorded.totals.window_ns(), 19_000);
    let [jump] = recorded.jumps[..] else { panic!("{:?}", recorded.jumps) };
    assert_eq!((jump.at_ns, jump.length_ns, jump.before), (19_000, HOUR_NS - 20_000, false));
    assert!(jump.to_string().contains("--max-gap"), "{jump}");
    let believing = ReadOptions { gap_ns_max: HOUR_NS, ..options };
    let recorded = read_all(&mut given(&events), &believing).expect("all of it");
    assert!(recorded.jumps.is_empty() && recorded.totals.window_ns() == HOUR_NS - 1000);
}

#[test]
fn a_time_that_is_too_early_does_not_keep_away_what_follows() {
    let options = ReadOptions::default();
    let events = [vec![(1, on_and_off(1))], activations(HOUR_NS)].concat();
    let recorded = read_all(&mut given(&events), &options).expect("the part after it");
    assert_eq!(recorded.totals.window_ns(), 19_000);
    assert!(recorded.jumps[0].before && recorded.jumps.len() == 1, "{:?}", recorded.jumps);
    let idle = [(1, on_and_off(1)), (HOUR_NS, Event::CpuIdle { cpu: 0, state: 0 })];
    let error = read_all(&mut given(&idle), &options).expect_err("no task runs");
    assert!(error.contains("no event for 3599 s"), "{error}");
}

#[test]
fn a_run_of_ours_may_be_as_silent_as_its_workload() {
    let mut events = activations(0);
    events.extend(activations(HOUR_NS));
    let mut run = given(&events);
    run.1.header = Some(pelton_trace::RunHeader { duration_ns: 2 * HOUR_NS, ..Default::default() });
    let recorded = read_all(&mut run, &ReadOptions::default()).expect("all of it");
    assert!(recorded.jumps.is_empty() && recorded.totals.window_ns() == 2 * HOUR_NS - 1000);
}
