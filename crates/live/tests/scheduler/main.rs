// SPDX-License-Identifier: GPL-2.0-or-later
//! The core as the scheduler of the running kernel: what the verifier accepts, and that the kernel has its tasks back
//! however a scheduler ends. `make test-live` runs it in guests; without PELTON_TEST_KERNEL, and on a kernel without
//! sched_ext, it says that nothing was measured. PELTON_LIVE_CYCLES=30: so many ends of each kind, and every policy.

mod changes;
mod child;
mod cost;
mod shares;
mod soak;

use std::time::{Duration, Instant};

use child::{Child, End};
use pelton_core::Policy;
use pelton_live::loads::{Load, Running};
use pelton_live::scheduler::{Attached, Host, Machine, Options, Placing, refusals};

/// Policies that are given to the verifier: profiles, and the forms that differ most in what they call. The first few
/// in any case.
const POLICIES: [&str; 9] = [
    "7.2,uclamp=debt",
    "7.2,uclamp=sum,hook_filter=composite,gate=r2_hyperbolic",
    "5.4,uclamp=max",
    "6.12,uclamp=max",
    "7.2,uclamp=bias_weighted,hook_filter=h2,gate=r1_sliding",
    "7.2,uclamp=bias,hook_filter=h3",
    "7.2,uclamp=max,hook_filter=h1,gate=up_down",
    "7.2,uclamp=debt,hook_filter=h4,boost_form=hold",
    "7.2,uclamp=debt,boost_form=later,runnable_boost=off",
];
const FIRST_POLICIES: usize = 2;
/// Instructions that a verifier looks at for the first policy, by program, in Linux 7.3; a tenth more is too many.
const VERIFIED: &str = include_str!("verified.tsv");
/// Time in which the kernel has its tasks back.
const BACK: Duration = Duration::from_secs(15);

/// The machine, when it was asked for and can have a scheduler; says so otherwise.
fn machine() -> Option<Machine> {
    if std::env::var_os("PELTON_TEST_KERNEL").is_none() {
        println!("not measured: the core as scheduler of the running kernel (make test-live asks for it)");
        return None;
    }
    let machine = Machine::here();
    let reasons = refusals(&machine, &options(POLICIES[0]));
    if !reasons.is_empty() {
        println!("not measured: the core as scheduler of the running kernel: {}", reasons.join("; "));
        return None;
    }
    Some(machine.described().expect("the kernel tells of its domains"))
}

/// A profile and switches behind it; frequencies are left alone, since a guest's CPUs do not know how fast they are.
fn options(text: &str) -> Options {
    let mut words = text.split(',');
    let mut policy = Policy::profile(words.next().expect("a profile")).expect("known");
    policy.set("delayed_dequeue", "off").expect("a switch");
    for word in words {
        let (name, value) = word.split_once('=').expect("SWITCH=VALUE");
        policy.set(name, value).expect("a switch");
    }
    Options { policy, frequencies: false, placing: Placing::Auto, own_clamps: false, record: false, stall_after: None }
}

fn cycles() -> Option<u32> {
    std::env::var("PELTON_LIVE_CYCLES").ok().and_then(|n| n.parse().ok())
}

fn state() -> String {
    std::fs::read_to_string("/sys/kernel/sched_ext/state").unwrap_or_default().trim().to_owned()
}

/// Waits until the kernel's own scheduler has all tasks; how long that took.
fn back() -> Duration {
    let begin = Instant::now();
    while state() != "disabled" {
        assert!(begin.elapsed() < BACK, "the scheduler is still there: {}", state());
        std::thread::park_timeout(Duration::from_millis(20));
    }
    begin.elapsed()
}

/// Tasks that run meanwhile: busy ones, sleepers, and messages between them.
fn load() -> Running {
    let load =
        Load::of_text("busy:threads=2+periodic:run_us=2000,period_us=7000,threads=3+bursts:run_us=300,sleep_us=900");
    load.expect("a load").start_at(None).expect("it starts")
}

/// Run time of the threads of this process, ns, by thread.
fn run_times() -> Vec<(String, u64)> {
    let mut all: Vec<_> = std::fs::read_dir("/proc/self/task")
        .expect("own threads")
        .flatten()
        .map(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            let ns = stat.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0);
            (thread.file_name().to_string_lossy().into_owned(), ns)
        })
        .collect();
    all.sort();
    all
}

/// Is it the thread that asks, which sleeps meanwhile, or the one that waits for it?
fn is_own(thread: &str) -> bool {
    [std::process::id().to_string(), nix::unistd::gettid().to_string()].iter().any(|own| own == thread)
}

/// Every thread of the load goes on running.
fn all_go_on(why: &str) {
    let before = run_times();
    std::thread::park_timeout(Duration::from_millis(400));
    for ((thread, then), (_, now)) in before.iter().zip(run_times()) {
        assert!(is_own(thread) || now > *then, "{why}: thread {thread} does not run");
    }
}

/// No program needs more than a tenth above its row of the table.
fn too_many(verified: &[(String, u32)], expected: &[(&str, u32)]) {
    verified.iter().for_each(|(name, n)| println!("scheduler: {name} {n}"));
    let most = |name: &str| expected.iter().find(|(known, _)| *known == name).map_or(0, |(_, n)| n + n / 10);
    let above: Vec<_> = verified.iter().filter(|(name, n)| *n > most(name)).collect();
    assert!(above.is_empty(), "the verifier looks at more instructions than verified.tsv and a tenth: {above:?}");
}

#[test]
fn the_verifier_accepts_every_form_of_policy() {
    let Some(machine) = machine() else { return };
    let expected: Vec<(&str, u32)> = VERIFIED
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, n)| (name, n.parse().expect("a number")))
        .collect();
    let policies = if cycles().is_some() { POLICIES.len() } else { FIRST_POLICIES };
    for text in &POLICIES[..policies] {
        let mut all = options(text);
        (all.frequencies, all.placing) = (true, Placing::Core);
        let attached = Attached::start(&machine, &all).unwrap_or_else(|why| panic!("{text}: {why}"));
        let load = load();
        all_go_on(text);
        println!("scheduler: {text}: {} instructions verified", attached.verified_in_all());
        let ended = attached.ended();
        assert!(ended.is_none(), "{text}: {ended:?}");
        drop(load);
        if *text == POLICIES[0] && machine.release.starts_with("7.3.") {
            too_many(&attached.verified(), &expected);
        }
        drop(attached);
        back();
    }
}

/// A number takes a new program, which needs few of the rights that a start has.
#[test]
fn a_number_is_set_while_it_runs() {
    let Some(machine) = machine() else { return };
    let mut attached = Attached::start(&machine, &options(POLICIES[0])).expect("the kernel takes it");
    let load = load();
    pelton_live::drop_privileges().expect("the kernel takes rights away");
    attached.set("headroom_pct", "10").expect("a number");
    assert_eq!((state().as_str(), attached.ended()), ("enabled", None));
    all_go_on("after a number was set");
    let wrong = [attached.set("headroom_pct", "101"), attached.set("uclamp", "max"), attached.set("none", "1")];
    assert!(wrong.iter().all(Result::is_err) && attached.ended().is_none(), "{wrong:?}");
    drop((load, attached));
    back();
}

/// A CPU that goes, or comes back: the kernel ends the scheduler, which starts again on what there is then.
#[test]
fn it_runs_again_when_cpus_came_or_went() {
    const ONLINE: &str = "/sys/devices/system/cpu/cpu1/online";
    let Some(machine) = machine() else { return };
    let mut attached = Attached::start(&machine, &options(POLICIES[0])).expect("the kernel takes it");
    let load = Load::of_text("bursts:run_us=300,sleep_us=900,threads=2").expect("a load");
    let load = load.start_at(None).expect("it starts");
    for online in ["0", "1"] {
        std::fs::write(ONLINE, online).expect("root");
        let begin = Instant::now();
        while !attached.start_again_when_due().expect("the kernel takes it again") {
            assert!(begin.elapsed() < BACK && attached.ended().is_none(), "{online}: {:?}", attached.ended());
            std::thread::park_timeout(Duration::from_millis(50));
        }
        assert_eq!((state().as_str(), attached.ended()), ("enabled", None));
        all_go_on(&format!("CPU 1: {online}"));
    }
    drop((load, attached));
    back();
}

/// A number that cannot be ends it, with the number.
#[test]
fn a_count_out_of_bounds_gives_the_kernel_its_tasks_back() {
    let Some(machine) = machine() else { return };
    let mut attached = Attached::start(&machine, &options(POLICIES[0])).expect("the kernel takes it");
    let load = load();
    all_go_on("before");
    assert!(attached.ended().is_none(), "{:?}", attached.ended());
    attached.spoil();
    back();
    let ended = attached.ended().expect("the kernel says why");
    println!("scheduler: {}: {}", ended.reason, ended.message);
    assert!(ended.message.contains("tasks are queued"), "{ended:?}");
    all_go_on("afterwards");
    drop((load, attached));
}

#[test]
fn tasks_are_back_however_a_scheduler_ends() {
    let Some(machine) = machine() else { return };
    let cycles = cycles().unwrap_or(1);
    let load = load();
    let mut longest = Duration::ZERO;
    for cycle in 0..cycles {
        for end in [End::Term, End::Kill, End::Stall, End::Exit] {
            let child = Child::start(end);
            assert_eq!(state(), "enabled");
            all_go_on(&format!("cycle {cycle}, before {end:?}"));
            let options = options(POLICIES[0]);
            let reasons = refusals(&Machine::here(), &options).join("; ");
            assert!(reasons.contains("is loaded"), "a second one is refused: {reasons}");
            let told = child.end();
            longest = longest.max(back());
            assert!(end != End::Stall || told.contains("stall"), "the kernel says why: {told}");
            all_go_on(&format!("cycle {cycle}, after {end:?}"));
        }
    }
    drop(load);
    assert!(machine.cpus.len() > 1 && longest < BACK);
    println!("scheduler: {} ends, tasks back after {} ms at most", 4 * cycles, longest.as_millis());
}
