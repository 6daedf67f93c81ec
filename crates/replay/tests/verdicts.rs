// SPDX-License-Identifier: GPL-2.0-or-later
//! Verdicts over traces made here: a kernel that calls the core's own load tracking, with calls spoilt beside holes,
//! and what such a trace shows about switches.

use std::path::PathBuf;

use pelton_core::{Ctx, Policy, Se, switches};
use pelton_replay::validate::{
    Answer, GOVERNOR, Open, Options, Report, SIMULATOR, Verdict, distinguish, read_twice, runs,
};
use pelton_schema::{EVENTS, Event, PeltSignal, PeltSource};
use pelton_trace::import::{Format, ImportError, OpenOptions, Source, Timed, TraceInfo, open};

struct Made {
    events: std::vec::IntoIter<Timed>,
    info: TraceInfo,
}

impl Source for Made {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        Ok(self.events.next())
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }
}

fn source(events: &[Timed]) -> Box<dyn Source> {
    let mut info = TraceInfo::new(Format::PeltonLog);
    EVENTS.iter().for_each(|event| info.has_all_columns(event));
    let events: Vec<Timed> = events.to_vec();
    Box::new(Made { events: events.into_iter(), info })
}

/// Records the calls of one running task of one CPU.
struct Kernel {
    policy: Policy,
    now: u64,
    se: Se,
    running: u32,
    events: Vec<Timed>,
}

const TASK: u32 = 7;

impl Kernel {
    fn new(profile: &str) -> Kernel {
        let mut se = Se::new(1024);
        (se.on_rq, se.running, se.nr_runnable) = (1, 1, 1);
        se.avg.last_update_time_ns = 1 << 20;
        let policy = Policy::profile(profile).expect("a profile");
        Kernel { policy, now: 1 << 20, se, running: 0, events: Vec::new() }
    }

    fn event(&mut self, event: Event) {
        self.events.push(Timed { time_ns: self.now, event });
    }

    /// A switch from the task that runs, or from another one: then events are missing.
    fn switch(&mut self, next_tid: u32, follows: bool) {
        let prev_tid = if follows { self.running } else { 99 };
        let (prev_prio, next_prio) = (120, 120);
        self.running = next_tid;
        self.event(Event::SchedSwitch { cpu: 0, prev_tid, prev_prio, prev_state: 0, next_tid, next_prio });
    }

    /// A full call 1.5 ms later; a spoilt one is recorded with one unit too many.
    fn call(&mut self, spoilt: bool) {
        self.now += 1_500_000;
        let before = self.se.avg;
        let crossed = self.se.update(&Ctx { pol: &self.policy, now: self.now, cap_orig: 1024, freq_scale: 1024 });
        self.se.avg.util_sum += u32::from(spoilt);
        let (after, narrow) = (self.se.avg, |avg: u64| u32::try_from(avg).expect("of 1024"));
        self.event(Event::PeltBefore {
            cpu: 0,
            last_update_time_ns: before.last_update_time_ns,
            load_sum: before.load_sum,
            runnable_sum: before.runnable_sum,
            util_sum: before.util_sum,
            period_contrib: before.period_contrib,
            load_avg: before.load_avg,
            runnable_avg: before.runnable_avg,
            util_avg: narrow(before.util_avg),
        });
        self.event(Event::PeltState {
            cpu: 0,
            signal: PeltSignal::Entity as u32,
            source: PeltSource::Call as u32,
            object: 1,
            queue: 2,
            tid: TASK,
            flags: 1 | 2 | 8 | if crossed != 0 { 16 } else { 0 },
            runnable: 1,
            weight: 1 << 20,
            now_ns: self.now,
            last_update_time_ns: after.last_update_time_ns,
            load_sum: after.load_sum,
            runnable_sum: after.runnable_sum,
            util_sum: after.util_sum,
            period_contrib: after.period_contrib,
            load_avg: after.load_avg,
            runnable_avg: after.runnable_avg,
            util_avg: narrow(after.util_avg),
            util_est: 0,
        });
    }

    /// Records `good` calls, then spoilt ones right before a switch that does not follow.
    fn recorded(mut self, good: u32, spoilt_beside_hole: u32) -> Vec<Timed> {
        self.switch(TASK, true);
        for n in 0..good {
            self.call(false);
            self.switch(if n % 2 == 0 { 8 } else { TASK }, true);
        }
        (0..spoilt_beside_hole).for_each(|_| self.call(true));
        self.now += 1;
        self.switch(TASK, spoilt_beside_hole == 0);
        self.events
    }
}

fn options(profile: &str) -> Options {
    Options { policy: Policy::profile(profile).expect("a profile"), machine: None }
}

fn report(events: &[Timed], options: &Options) -> Report {
    read_twice(&mut *source(events), &|| Ok(source(events)), options, &mut |_| true).expect("events in memory")
}

#[test]
fn more_than_one_percent_beside_holes_is_no_pass() {
    // Each call is compared with its before-state, and that with the last state: 199 checks of 100 calls.
    let few = report(&Kernel::new("7.2").recorded(100, 1), &options("7.2"));
    assert_eq!((few.divergent, few.in_holes, few.verdict()), (0, 1, Verdict::Holds), "{few:?}");
    let many = report(&Kernel::new("7.2").recorded(100, 3), &options("7.2"));
    assert_eq!((many.divergent, many.in_holes, many.verdict()), (0, 3, Verdict::Open), "{many:?}");
}

#[test]
fn a_trace_with_one_state_says_why_nothing_was_checked() {
    let first = report(&Kernel::new("7.2").recorded(0, 0), &options("7.2"));
    assert_eq!(first.verdict(), Verdict::Nothing);
    assert_eq!(first.not_measured["load tracking"], "the trace has neither sums nor averages");
    assert!(first.not_measured["sched_switch"].starts_with("inputs: "));
    assert_eq!(first.not_measured.len(), 6, "{:?}", first.not_measured);
}

fn answers(events: &[Timed], profile: &str) -> (Vec<String>, Vec<String>) {
    let options = options(profile);
    let base = report(events, &options);
    let open: &Open<'_> = &|| Ok(source(events));
    let told = distinguish(open, &options, &base, &mut |_| true).expect("events in memory");
    let line = |switch: &str, value: &str, answer: &Answer| format!("{switch}={value} {}", answer.word());
    let values =
        told.switches.iter().flat_map(|told| told.others.iter().map(move |(value, a)| line(told.switch, value, a)));
    let profiles = runs(&told.profiles).iter().map(|(first, last, a)| format!("{first}-{last} {}", a.word())).collect();
    (values.collect(), profiles)
}

#[test]
fn a_trace_of_one_task_tells_the_divisor_and_no_rule_of_the_governor() {
    let (values, profiles) = answers(&Kernel::new("7.2").recorded(40, 0), "7.2");
    assert!(values.contains(&"divisor=constant refuted".to_owned()), "{values:?}");
    assert!(values.contains(&"irq_signal=off not told".to_owned()), "{values:?}");
    assert!(!values.iter().any(|line| line.starts_with("headroom") || line.starts_with("hook_")), "{values:?}");
    assert_eq!(profiles, ["4.12-5.4 refuted", "5.10-7.2 not told"]);
}

#[test]
fn rules_that_fit_better_are_said_to() {
    let (values, _) = answers(&Kernel::new("4.12").recorded(40, 0), "4.16");
    assert!(values.contains(&"divisor=constant fits better".to_owned()), "{values:?}");
}

#[test]
fn what_is_not_asked_for_lack_of_time_is_said_to() {
    let (events, options) = (Kernel::new("7.2").recorded(4, 0), options("7.2"));
    let (base, open): (_, &Open<'_>) = (report(&events, &options), &|| Ok(source(&events)));
    let told = distinguish(open, &options, &base, &mut |_| false).expect("events in memory");
    assert!(
        told.switches
            .iter()
            .flat_map(|told| &told.others)
            .all(|(_, a)| *a == Answer::NotAsked || *a == Answer::Impossible)
    );
}

fn recording(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("PELTON_SHARED_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let path = root.join("kernel-pelt").join(name);
    if !path.is_file() {
        println!("not measured: {} is not there", path.display());
    }
    path.is_file().then_some(path)
}

/// The policy with all of these switches at another value.
fn changed(mut policy: Policy, names: &[&str]) -> Policy {
    for switch in switches().iter().filter(|switch| names.contains(&switch.name)) {
        let current = policy.get(switch.name).expect("a switch");
        let other = switch.values.iter().rev().find(|value| **value != current).expect("two values");
        policy.set(switch.name, other).expect("a value");
    }
    policy
}

#[test]
fn switches_that_are_not_asked_about_change_nothing() {
    for (file, profile, names) in [
        ("7.2-arm64/6-decisions.csv.gz", "7.2", SIMULATOR.to_vec()),
        ("6.18-x86/1-single-cfs.csv.gz", "6.18", [SIMULATOR, GOVERNOR].concat()),
    ] {
        let Some(path) = recording(file) else { return };
        let again = || open(&path, &OpenOptions::default());
        let plain = options(profile);
        let other = Options { policy: changed(plain.policy, &names), machine: None };
        let read = |options| read_twice(&mut *again()?, &again, options, &mut |_| true);
        assert_eq!(read(&plain).expect("a readable recording"), read(&other).expect("a readable recording"), "{file}");
    }
}
