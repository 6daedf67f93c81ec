// SPDX-License-Identifier: GPL-2.0-or-later
//! Costs of a wake-up and a switch under the core, beside the kernel's own fair class: a byte that goes to and fro
//! between two threads of one CPU, a sleeper beside busy threads, and messages between many threads. In a guest whose
//! time goes by with what is executed (`scripts/live/boot.sh`, board pair-counted) a time is a number of instructions,
//! 2 ns each.

use std::io::{Read, Write, pipe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use pelton_live::loads::Load;
use pelton_live::scheduler::Attached;

use super::{POLICIES, back, machine, options};

const TRIPS: u32 = 4_000;
const WAKE_UPS: usize = 400;
/// Most that a round trip and a run of hackbench may cost, as multiples of the kernel's.
const TIMES: f64 = 1.25;

pub fn pinned() {
    let mut one = CpuSet::new();
    one.set(0).and_then(|()| sched_setaffinity(Pid::from_raw(0), &one)).expect("CPU 0 is there");
}

/// Computes until the flag is set. A pause now and then lets the other CPU go on where an emulator executes both by
/// turns; more of them would take time themselves.
pub fn busy_until(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        (0..10_000).for_each(|n| {
            std::hint::black_box(n);
        });
        std::hint::spin_loop();
    }
}

/// Time of a round trip between two threads, us; on one CPU, or wherever they are placed.
fn round_trip(on_one: bool) -> f64 {
    let ((mut there, mut out), (mut back, mut answer)) = (pipe().expect("a pipe"), pipe().expect("a pipe"));
    let other = std::thread::spawn(move || {
        if on_one {
            pinned();
        }
        let mut byte = [0];
        while there.read_exact(&mut byte).is_ok() && answer.write_all(&byte).is_ok() {}
    });
    let own = std::thread::spawn(move || {
        if on_one {
            pinned();
        }
        let mut byte = [1];
        let mut trips = |n: u32| {
            let begin = Instant::now();
            for _ in 0..n {
                out.write_all(&byte).and_then(|()| back.read_exact(&mut byte)).expect("it comes back");
            }
            begin.elapsed()
        };
        trips(TRIPS / 4);
        trips(TRIPS)
    });
    let took = own.join().expect("it ends");
    other.join().expect("it ends");
    took.as_secs_f64() * 1e6 / f64::from(TRIPS)
}

/// Lateness of a sleeper of a millisecond, us: the median, and what one in a hundred exceeds.
fn late() -> [f64; 2] {
    let mut all: Vec<f64> = (0..WAKE_UPS)
        .map(|_| {
            let begin = Instant::now();
            std::thread::park_timeout(Duration::from_millis(1));
            (begin.elapsed().as_secs_f64() - 1e-3) * 1e6
        })
        .collect();
    all.sort_by(f64::total_cmp);
    [all[WAKE_UPS / 2], all[WAKE_UPS * 99 / 100]]
}

/// Time of a run of hackbench, ms: the median of three.
fn hackbench() -> f64 {
    const RUNS: usize = 3;
    let load = Load::of_text("hackbench:groups=2,fds=20,loops=50,mode=threads,channel=sockets").expect("a load");
    let mut running = load.start_at(None).expect("it starts");
    let results = running.results();
    let done = || results.sorted().get("hackbench_s").map_or(0, Vec::len);
    while done() < RUNS {
        assert!(results.notes().is_empty(), "{:?}", results.notes());
        std::thread::park_timeout(Duration::from_millis(50));
    }
    running.stop();
    let seconds = &results.sorted()["hackbench_s"];
    seconds[seconds.len() / 2] * 1e3
}

/// All of them, printed; the round trip on one CPU, and hackbench.
fn costs(name: &str) -> [f64; 2] {
    // The first figures of a fresh guest are too slow.
    round_trip(true);
    let (one, free) = (round_trip(true), round_trip(false));
    let [median, most] = late();
    let hogs = Load::of_text("busy:threads=4").expect("a load").start_at(None).expect("it starts");
    let [busy_median, busy_most] = late();
    drop(hogs);
    let messages = hackbench();
    println!(
        "scheduler: {name}: round trip {one:.1} us on one CPU, {free:.1} free; a sleeper is {median:.0} us late, p99 {most:.0}; \
         beside four busy ones {busy_median:.0}, p99 {busy_most:.0}; hackbench {messages:.0} ms"
    );
    [one, messages]
}

/// Mean time of each callback during a round trip, printed.
fn each_callback(attached: &Attached) {
    const STATS: &str = "/proc/sys/kernel/bpf_stats_enabled";
    let before = attached.run_times();
    std::fs::write(STATS, "1").expect("root");
    round_trip(true);
    std::fs::write(STATS, "0").expect("root");
    for ((name, runs, ns), (_, runs_before, ns_before)) in attached.run_times().iter().zip(&before) {
        let (runs, ns) = (runs - runs_before, ns - ns_before);
        if runs > u64::from(TRIPS) {
            println!(
                "scheduler: {name}: {} ns, {:.1} times a round trip",
                ns / runs,
                runs as f64 / f64::from(TRIPS) / 1.25
            );
        }
    }
}

#[test]
fn a_wake_up_and_a_switch_cost_little_more_than_the_kernels() {
    let Some(machine) = machine() else { return };
    let kernel = costs("the kernel's fair class");
    let attached = Attached::start(&machine, &options(POLICIES[0])).expect("the kernel takes it");
    let core = costs("the core");
    each_callback(&attached);
    drop(attached);
    back();
    costs("the kernel's fair class again");
    for (core, kernel) in core.iter().zip(kernel) {
        assert!(*core < TIMES * kernel, "{core}, the kernel {kernel}");
    }
}
