// SPDX-License-Identifier: GPL-2.0-or-later
//! A long time of mixed load under the core: every thread goes on running, and the kernel keeps the scheduler.
//! PELTON_LIVE_SOAK_S says how long, in seconds of the guest; without it nothing is measured.

use std::time::Duration;

use pelton_live::loads::Load;
use pelton_live::scheduler::{Attached, Host};

use super::{POLICIES, back, is_own, machine, options, run_times};

/// Tasks that are there all the time: periodic ones, real-time ones, short and long bursts, tasks of other weights.
const ALWAYS: &str = "periodic:run_us=1500,period_us=9000,threads=2+periodic:run_us=300,period_us=11000,policy=fifo\
                      +bursts:run_us=300,sleep_us=5000,threads=3+bursts:run_us=60000,sleep_us=700000\
                      +periodic:run_us=700,period_us=16000,nice=10";
/// Loads that come beside them, in turn: more busy tasks than CPUs, messages, calls.
const BESIDE: [&str; 3] = [
    "busy:threads=5",
    "hackbench:groups=1,fds=8,loops=20,mode=threads,channel=sockets",
    "schbench:form=2016,message_threads=1,threads=3,cputime_us=2000,sleeptime_us=4000",
];
/// Loads that come by themselves: tasks that move between groups, and groups with quotas in groups with quotas.
const APART: [&str; 2] = ["cgroup-moves", "quotas"];
/// Time of the tasks by themselves, and with others beside them; within it every thread runs.
const ALONE: Duration = Duration::from_secs(7);
const WITH: Duration = Duration::from_secs(3);

/// Threads of a load that do not run in a while.
fn starved(load: &str, time: Duration) -> Vec<String> {
    let running = Load::of_text(load).expect("a load").start_at(None).expect("it starts");
    let before = run_times();
    std::thread::park_timeout(time);
    let now = run_times();
    drop(running);
    let same = |(thread, then): &&(String, u64)| !is_own(thread) && now.iter().any(|(t, ns)| t == thread && ns == then);
    before.iter().filter(same).map(|(thread, _)| thread.clone()).collect()
}

#[test]
fn no_thread_is_lost_in_a_long_time() {
    let Some(length) = std::env::var("PELTON_LIVE_SOAK_S").ok().and_then(|s| s.parse().ok()).map(Duration::from_secs)
    else {
        println!("not measured: a long time under the core (PELTON_LIVE_SOAK_S=3600 make test-live)");
        return;
    };
    let Some(machine) = machine() else { return };
    let attached = Attached::start(&machine, &options(POLICIES[0])).expect("the kernel takes it");
    let mut went_by = Duration::ZERO;
    for (beside, apart) in BESIDE.iter().cycle().zip(APART.iter().cycle()) {
        let mut lost = starved(ALWAYS, ALONE);
        lost.extend(starved(&format!("{ALWAYS}+{beside}"), WITH));
        lost.extend(starved(apart, WITH));
        assert!(lost.is_empty() && attached.ended().is_none(), "{:?}: {lost:?}", attached.ended());
        went_by += ALONE + 2 * WITH;
        if went_by >= length {
            break;
        }
    }
    println!("scheduler: {} s of mixed load, no thread without time", went_by.as_secs());
    drop(attached);
    back();
}
