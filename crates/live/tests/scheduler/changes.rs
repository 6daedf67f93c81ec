// SPDX-License-Identifier: GPL-2.0-or-later
//! Tasks that are changed from outside: the weight of one that runs or waits counts from then on, and one that goes to
//! another class comes back. One that yields gives the others their turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use nix::unistd::gettid;
use pelton_live::scheduler::{Attached, Host};

use super::{POLICIES, back, cost, machine, options, run_times};

/// Two busy threads of one CPU, until the flag is set; the first one yields again and again, if it is asked to. Their
/// numbers.
fn rivals(stop: &Arc<AtomicBool>, first_yields: bool) -> [i32; 2] {
    [first_yields, false].map(|yields| {
        let (sender, own) = channel();
        let stop = Arc::clone(stop);
        std::thread::spawn(move || {
            cost::pinned();
            sender.send(gettid().as_raw()).expect("it is waited for");
            while yields && !stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            cost::busy_until(&stop);
        });
        own.recv().expect("it starts")
    })
}

fn set_nice(thread: i32, nice: i32) {
    // SAFETY: numbers alone.
    assert_eq!(unsafe { libc::setpriority(libc::PRIO_PROCESS, thread as u32, nice) }, 0);
}

fn set_policy(thread: i32, policy: i32, priority: i32) {
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: a record of this frame, which lives during the call.
    assert_eq!(unsafe { libc::sched_setscheduler(thread, policy, &raw const param) }, 0);
}

/// Run time of both in a while, ms, once what they were owed before is paid.
fn shares(threads: [i32; 2]) -> [f64; 2] {
    let of = |all: &[(String, u64)], thread: i32| {
        all.iter().find(|(name, _)| *name == thread.to_string()).map_or(0, |(_, ns)| *ns)
    };
    std::thread::park_timeout(Duration::from_millis(400));
    let before = run_times();
    std::thread::park_timeout(Duration::from_millis(400));
    let after = run_times();
    threads.map(|thread| (of(&after, thread) - of(&before, thread)) as f64 / 1e6)
}

#[test]
fn a_task_that_is_changed_is_what_it_is_now() {
    let Some(machine) = machine() else { return };
    let attached = Attached::start(&machine, &options(POLICIES[0])).expect("the kernel takes it");
    let stop = Arc::new(AtomicBool::new(false));
    let [first, second] = rivals(&stop, false);
    for change in 0..2 {
        let nice = if change % 2 == 0 { 10 } else { 0 };
        std::thread::park_timeout(Duration::from_micros(1_700 * change));
        set_nice(first, nice);
        set_policy(second, libc::SCHED_FIFO, 1);
        set_policy(second, libc::SCHED_OTHER, 0);
        let [changed, other] = shares([first, second]);
        let times = other / changed.max(0.1);
        // Weights are 110 and 1024, or equal.
        let expected = if nice == 0 { 0.7..1.5 } else { 4.0..20.0 };
        println!("scheduler: nice {nice} beside 0: {changed:.0} and {other:.0} ms");
        assert!(expected.contains(&times), "change {change}: {changed} and {other} ms");
    }
    assert!(attached.ended().is_none());
    stop.store(true, Ordering::Relaxed);
    drop(attached);
    back();
}

/// Runs of a task that yields are short: it has the CPU until its next call.
#[test]
fn a_task_that_yields_leaves_the_cpu_to_the_other() {
    let Some(machine) = machine() else { return };
    let part = || {
        let stop = Arc::new(AtomicBool::new(false));
        let [yields, other] = shares(rivals(&stop, true));
        stop.store(true, Ordering::Relaxed);
        yields / (yields + other)
    };
    let kernel = part();
    let attached = Attached::start(&machine, &options(POLICIES[0])).expect("the kernel takes it");
    let core = part();
    println!("scheduler: beside a busy thread one that yields has {core:.3} of the CPU, under the kernel {kernel:.3}");
    assert!(core < 0.25 && kernel < 0.25, "{core}, the kernel {kernel}");
    assert!(attached.ended().is_none(), "{:?}", attached.ended());
    drop(attached);
    back();
}
