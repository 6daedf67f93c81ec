// SPDX-License-Identifier: GPL-2.0-or-later
//! Costs of kernel paths, and the tasks that they delay: time lines computed by hand. Every cost is another prime, so
//! that a sum shows what it was made of.

use crate::common;
use crate::common::*;
use pelton_core::Policy;
use pelton_model::Machine;
use pelton_model::machine::Costs;
use pelton_model::workload::{ChannelSpec, Op, SchedPolicy, Workload};
use pelton_schema::{Event, IDLE_EXIT, Placed, PlacementRecord, Sink};
use pelton_sim::Report;

const SWITCH: u64 = 1009;
const WAKE: u64 = 701;
const HOOK: u64 = 307;
const REGISTER: u64 = 1511;
const IPI: u64 = 1013;
const ENTRY: u64 = 601;
const EXIT: u64 = 401;
/// Exit latency of the only idle state.
const LATENCY: u64 = 2503;
const WRITE: u64 = 331;
const READ: u64 = 211;

/// Time at which the first message is on its way.
const START: u64 = 10 * MS;

/// CPUs with a frequency each: 1 GHz without a request, 2 GHz for real-time tasks, at once.
fn two_speeds(cpus: u32) -> Machine {
    let mut m = machine(&vec![(1, 1024); cpus as usize]);
    for d in &mut m.domains {
        d.opps.remove(0);
        d.rate_limit_us = Some(0);
        d.idle_states.truncate(1);
        d.idle_states[0].exit_latency_ns = LATENCY;
    }
    m.costs = Costs {
        context_switch_ns: SWITCH,
        wakeup_ns: WAKE,
        tick_ns: 503,
        hook_ns: HOOK,
        vote_ns: 0,
        boost_ns: 0,
        register_write_ns: REGISTER,
        migration_ns: 15_013,
        ipi_ns: IPI,
        idle_entry_ns: ENTRY,
        idle_exit_ns: EXIT,
        ..Costs::default()
    };
    m
}

/// `a` sends at 10 ms and waits for the answer of `b`.
fn one_message(cpus: [u32; 2]) -> Workload {
    let write = |channel| Op::Write { channel, bytes: 4, work_ns: WRITE };
    let read = |channel| Op::Read { channel, bytes: 4, work_ns: READ };
    let fifo = |ops, cpu| with_policy(on(task("t", Some(1), ops), cpu), SchedPolicy::Fifo { priority: 1 });
    let mut w = workload(vec![
        fifo(vec![Op::Sleep { ns: START }, write(0), read(1), Op::Sleep { ns: MS }], cpus[0]),
        fifo(vec![read(0), write(1), Op::Sleep { ns: MS }], cpus[1]),
    ]);
    w.channels = vec![ChannelSpec::PIPE; 2];
    w
}

/// Frequencies fall as soon as no CPU needs them, and ticks of idle CPUs stop at once: no other time is due for a walk.
fn quick_to_lower() -> Policy {
    let mut policy = profile("7.2");
    policy.set("hold", "off").expect("a switch of the table");
    policy.set("idle_tick", "governor").expect("a switch of the table");
    policy
}

/// Events from the expiry of the timer on.
fn time_line(m: &Machine, cpus: [u32; 2]) -> (Report, Vec<(u64, String)>) {
    let mut keep = Keep::default();
    let report = pelton_sim::run(m, &one_message(cpus), &quick_to_lower(), &config(12), &mut keep).expect("runs");
    let events = keep.0;
    // The first task's sleep begins when its first switch is paid for; from there on it is 10 ms.
    let expiry = events.iter().find(|(t, _)| *t >= START).expect("something happens").0 - LATENCY;
    let of = |&(t, e): &(u64, Event)| {
        let what = match e {
            Event::SchedWaking { tid, .. } => format!("wake {tid}"),
            Event::SchedSwitch { cpu, next_tid: 0, .. } => format!("cpu{cpu}: nothing to do"),
            Event::SchedSwitch { cpu, next_tid, .. } => format!("cpu{cpu}: {next_tid}"),
            Event::CpuIdle { cpu, state: IDLE_EXIT } => format!("cpu{cpu}: awake"),
            Event::CpuIdle { cpu, .. } => format!("cpu{cpu}: asleep"),
            _ => return None,
        };
        (START..START + MS / 2).contains(&t).then(|| (t - expiry, what))
    };
    (report, events.iter().filter_map(of).collect())
}

/// Turns steps into instants: each is so much later than the one named.
fn expected(steps: &[(u64, &str)]) -> Vec<(u64, String)> {
    let mut all: Vec<(u64, String)> = steps.iter().map(|&(t, what)| (t, what.to_string())).collect();
    all.sort_by_key(|step| step.0);
    all
}

/// Both tasks of a message between two CPUs; `ipi` is what the interrupt costs.
fn between_two(ipi: u64) -> Vec<(u64, String)> {
    // At 1 GHz everything takes twice as long. The first task's CPU raises its frequency in its own path.
    let awake = LATENCY;
    let a_switch = awake + 2 * (EXIT + WAKE + HOOK + REGISTER);
    let sent = a_switch + SWITCH + WRITE;
    // The other CPU gets its interrupt when the wake-up is done. It leaves its idle state and takes the interrupt at
    // the old speed, and enqueues then: hook and new frequency.
    let b_awake = sent + WAKE + LATENCY;
    let b_switch = b_awake + 2 * (EXIT + ipi + HOOK + REGISTER);
    // Meanwhile the sender goes to sleep: its dequeue calls the governor, which lowers.
    let a_leaves = sent + WAKE;
    let a_sleeps = a_leaves + HOOK + REGISTER + 2 * ENTRY;
    let answered = b_switch + SWITCH + READ + WRITE;
    let a_back = answered + WAKE + LATENCY;
    let a_again = a_back + 2 * (EXIT + ipi + HOOK + REGISTER);
    let b_leaves = answered + WAKE;
    let b_sleeps = b_leaves + HOOK + REGISTER + 2 * ENTRY;
    let a_ends = a_again + SWITCH + READ;
    expected(&[
        (awake, "cpu0: awake"),
        (awake, "wake 1"),
        (a_switch, "cpu0: 1"),
        (sent, "wake 2"),
        (a_leaves, "cpu0: nothing to do"),
        (a_sleeps, "cpu0: asleep"),
        (b_awake, "cpu1: awake"),
        (b_switch, "cpu1: 2"),
        (answered, "wake 1"),
        (b_leaves, "cpu1: nothing to do"),
        (b_sleeps, "cpu1: asleep"),
        (a_back, "cpu0: awake"),
        (a_again, "cpu0: 1"),
        (a_ends, "cpu0: nothing to do"),
        (a_ends + HOOK + REGISTER + 2 * ENTRY, "cpu0: asleep"),
    ])
}

#[test]
fn a_message_to_another_cpu_and_back_takes_every_path_once() {
    let (report, line) = time_line(&two_speeds(2), [0, 1]);
    assert_eq!(line, between_two(IPI));
    assert_eq!(report.tasks.iter().map(|t| t.migrations).sum::<u64>(), 0);
}

#[test]
fn a_cpu_that_watches_its_flag_takes_no_interrupt() {
    let m = Machine { idle_watches_flag: true, ..two_speeds(2) };
    assert_eq!(time_line(&m, [0, 1]).1, between_two(0));
}

#[test]
fn a_message_on_one_cpu_takes_no_interrupt_and_no_idle_state() {
    let (_, line) = time_line(&two_speeds(1), [0, 0]);
    let awake = LATENCY;
    let a_switch = awake + 2 * (EXIT + WAKE + HOOK + REGISTER);
    let sent = a_switch + SWITCH + WRITE;
    // Enqueued here, so this path calls the governor; nothing changes.
    let b_switch = sent + WAKE + HOOK;
    // The sender's dequeue lies between the switch and the receiver.
    let answered = b_switch + HOOK + SWITCH + READ + WRITE;
    let a_again = answered + WAKE + HOOK;
    let a_ends = a_again + HOOK + SWITCH + READ;
    let asleep = a_ends + HOOK + REGISTER + 2 * ENTRY;
    let all = [
        (awake, "cpu0: awake"),
        (awake, "wake 1"),
        (a_switch, "cpu0: 1"),
        (sent, "wake 2"),
        (b_switch, "cpu0: 2"),
        (answered, "wake 1"),
        (a_again, "cpu0: 1"),
        (a_ends, "cpu0: nothing to do"),
        (asleep, "cpu0: asleep"),
    ];
    assert_eq!(line, expected(&all));
}

/// From each wake-up to the switch to the woken task, and what the report calls its latency.
fn latencies(m: &Machine, cpus: [u32; 2]) -> (Vec<u64>, Vec<u64>) {
    let (report, line) = time_line(m, cpus);
    let of = |tid: u32| {
        let at = |what: String| line.iter().rposition(|step| step.1.ends_with(&what)).expect("in the line");
        line[at(format!(": {tid}"))].0 - line[at(format!("wake {tid}"))].0
    };
    (vec![of(1), of(2)], report.tasks.iter().map(|t| t.wakeup_latency_ns.max).collect())
}

#[test]
fn wakeup_latency_is_all_that_lies_between_the_wake_up_and_the_task() {
    // Exit latency; kernel's way out, interrupt, hook and register write at the old speed; then the switch.
    let (to_switch, reported) = latencies(&two_speeds(2), [0, 1]);
    let path = WAKE + LATENCY + 2 * (EXIT + IPI + HOOK + REGISTER);
    assert_eq!(to_switch, [path, path], "wake to sched_switch, as the update-hooks posting traced it");
    assert_eq!(reported, [path + SWITCH, path + SWITCH], "the report's ends when the task executes");
    // Without a hook and its write, the same path is shorter by just these.
    let mut m = two_speeds(2);
    (m.costs.hook_ns, m.costs.register_write_ns) = (0, 0);
    let (without, _) = latencies(&m, [0, 1]);
    assert_eq!(without, [path - 2 * (HOOK + REGISTER); 2]);
}

#[test]
fn without_costs_only_the_mechanism_is_left() {
    for profile in ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let mut m = machine(&[(1, 1024), (1, 1024)]);
        m.domains.iter_mut().for_each(|d| d.opps = vec![d.opps[2]]);
        let (report, events) = events_of(&m, &one_message([0, 1]), profile, &config(12));
        assert!(report.cpus.iter().all(|c| c.overhead_ns == 0), "{profile}");
        assert!(report.tasks.iter().all(|t| t.wakeup_latency_ns.max == 0 && t.wait_ns == 0), "{profile}");
        let times: Vec<u64> = events
            .iter()
            .filter(|e| matches!(e.1, Event::SchedSwitch { .. }) && e.0 >= START)
            .map(|e| e.0 - START)
            .collect();
        let (sent, answered) = (WRITE, 2 * WRITE + READ);
        let end = answered + READ;
        assert_eq!(times[..6], [0, sent, sent, answered, answered, end], "{profile}");
    }
}

/// A switch costs twice as much on a CPU of half the capacity, but not where nothing is behind the capacities.
#[test]
fn paths_of_an_emulated_machine_take_the_same_time_on_a_small_cpu() {
    let overhead_ns = |capacity, emulated| {
        let mut m = fixed_speed(&[(1, 1024), (1, capacity)]);
        m.costs.context_switch_ns = 1000;
        m.costs.at_any_speed = emulated;
        run_on(&m, &workload(vec![on(periodic("p", 500, 10_000), 1)]), "7.2", 100).cpus[1].overhead_ns
    };
    let whole = overhead_ns(1024, false);
    assert!(whole >= 10_000 && overhead_ns(512, false) == 2 * whole, "{whole}");
    assert_eq!([overhead_ns(512, true), overhead_ns(1024, true)], [whole; 2]);
}

/// The second of two switches of the same instant waits for the first, where CPUs execute one after another.
#[test]
fn paths_of_cpus_that_execute_one_at_a_time_wait_for_each_other() {
    let overhead_ns = |one_at_a_time| {
        let mut m = fixed_speed(&[(1, 1024), (1, 1024)]);
        m.costs = Costs { context_switch_ns: 1000, one_at_a_time, ..Costs::default() };
        let tasks = (0..2).map(|cpu| on(periodic("p", 500, 10_000), cpu)).collect();
        run_on(&m, &workload(tasks), "7.2", 100).cpus.iter().map(|cpu| cpu.overhead_ns).sum::<u64>()
    };
    let apart = overhead_ns(false);
    assert!(apart >= 20_000 && apart.is_multiple_of(2000), "{apart}");
    assert_eq!(overhead_ns(true), apart + apart / 2);
}

/// Searches for an idle CPU of a run: what they read and gave.
#[derive(Default)]
struct Searches {
    /// Mean cost of each CPU's searches so far, worked out again.
    mean_ns: [u64; 8],
    look_ns: u64,
    looks: u64,
    cut_short: u64,
    least: u32,
}

impl Sink for Searches {
    const PLACEMENTS: bool = true;

    fn event(&mut self, _: u64, _: &Event) {}

    fn placement(&mut self, at: u64, _: u32, read: &PlacementRecord, placed: &Placed) {
        let mean_ns = &mut self.mean_ns[read.this_cpu as usize];
        assert_eq!(read.avg_scan_cost_ns, *mean_ns, "CPU {} at {at} ns", read.this_cpu);
        if let Some(timed) = placed.timed() {
            let change = (i128::from(self.look_ns * u64::from(timed)) - i128::from(*mean_ns)) / 8;
            *mean_ns = (i128::from(*mean_ns) + change) as u64;
        }
        self.looks += u64::from(placed.scan_seen);
        self.cut_short += u64::from(placed.scans_in_proportion() && placed.timed().is_none());
        self.least = placed.scan_limit().map_or(self.least, |limit| limit.min(self.least));
    }
}

/// Eight CPUs share a cache; half of them are busy all the time, and on these others wake in turns.
fn searches(profile: &str, look_ns: u64) -> (Searches, u64) {
    let mut m = fixed_speed(&[(8, 1024)]);
    m.costs = Costs { scan_cpu_ns: look_ns, ..Costs::default() };
    let mut tasks: Vec<_> = (0..4).map(|cpu| on(busy("hog"), cpu)).collect();
    tasks.extend((0..10).map(|i| periodic("p", 300 + 17 * i, 900 + 70 * i)));
    let mut sink = Searches { look_ns, least: u32::MAX, ..Searches::default() };
    let report =
        pelton_sim::run(&m, &workload(tasks), &common::profile(profile), &config(200), &mut sink).expect("runs");
    (sink, report.cpus.iter().map(|cpu| cpu.overhead_ns).sum())
}

/// A look takes time of the CPU that places a task. From 4.16 to 5.10 what searches took on average shortens the next
/// one; later releases ask for utilization, 4.12 for nothing.
#[test]
fn searches_for_an_idle_cpu_take_time_and_to_5_10_shorten_the_next() {
    for profile in ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.12", "7.2"] {
        let (free, overhead_ns) = searches(profile, 0);
        assert_eq!((overhead_ns, free.mean_ns), (0, [0; 8]), "{profile}");
        let (paid, overhead_ns) = searches(profile, 2_000);
        // The last path may go on behind the end of the run.
        let (looked_ns, path_ns) = (2_000 * paid.looks, 2_000 * 8 * 8);
        assert!((looked_ns - path_ns..=looked_ns).contains(&overhead_ns), "{profile}: {overhead_ns} of {looked_ns}");
        assert!(paid.looks > 100, "{profile}: {} looks", paid.looks);
        let by_time = ["4.16", "4.19", "5.4", "5.10"].contains(&profile);
        let measured = by_time || profile == "4.12";
        assert_eq!(paid.mean_ns.iter().any(|&ns| ns > 0), measured, "{profile}: {:?}", paid.mean_ns);
        if by_time {
            assert!(paid.least < free.least && paid.cut_short > free.cut_short, "{profile}");
        }
    }
}

/// Choosing a CPU by energy takes its time at each wake-up, and none once a CPU is over-utilized.
#[test]
fn placing_by_energy_takes_time_while_energy_decides() {
    let overhead_ns = |place_energy_ns, hog| {
        let mut m = machine(&[(1, 1024), (1, 512)]);
        m.costs = Costs { place_energy_ns, ..Costs::default() };
        let mut tasks = vec![periodic("p", 500, 10_000)];
        tasks.extend(Some(on(periodic("hog", 9_000, 10_000), 1)).filter(|_| hog));
        run_on(&m, &workload(tasks), "7.2", 1000).cpus.iter().map(|cpu| cpu.overhead_ns).sum::<u64>()
    };
    assert_eq!(overhead_ns(0, false), 0);
    let placed = overhead_ns(1000, false);
    assert!(placed >= 90_000, "{placed}");
    let over = overhead_ns(1000, true);
    assert!(over < placed / 2, "{over} {placed}");
}
