// SPDX-License-Identifier: GPL-2.0-or-later
//! The observer beside the running kernel: its load tracking follows from the core's rules at everything that is
//! published. `make test-kernel` asks for it; without that, and without what it needs, nothing is measured.

use std::time::Duration;

use pelton_core::Policy;
use pelton_live::loads::LOADS;
use pelton_live::scheduler::{Compared, Host, Machine, Observer, Options, Placing, Powers};
use pelton_live::{Capabilities, LiveError};

/// Time that a load is observed.
const LENGTH: Duration = Duration::from_secs(3);
/// Published states that a load causes at the least.
const EVENTS_MIN: u64 = 100;

fn options() -> Options {
    let policy = Policy::profile("7.2").expect("a profile");
    Options { policy, frequencies: true, placing: Placing::Auto, own_clamps: false, record: false, stall_after: None }
}

/// True when it was asked for and is possible; says so otherwise.
fn can_measure() -> bool {
    let missing = Capabilities::here(None).missing();
    let asked = std::env::var_os("PELTON_TEST_KERNEL").is_some();
    if !asked {
        println!("not measured: load tracking of the running kernel beside the core's (make test-kernel asks for it)");
    } else if !missing.is_empty() {
        println!("not measured: load tracking of the running kernel beside the core's: {}", missing.join("; "));
    }
    asked && missing.is_empty()
}

type Start = fn(&Machine, &Options, Powers) -> Result<Observer, LiveError>;

/// Comparison of the tasks' signal under a load; `None`: the kernel does not publish it, or lacks what the load needs.
fn tasks(start: Start, load: &str) -> Option<Compared> {
    let machine = Machine::here();
    let (_, kind) = LOADS.iter().find(|(name, _)| *name == load).expect("a load");
    let observer = start(&machine, &options(), Powers::here(&machine)).expect("an observer");
    let running = kind.clone().start();
    if let Err(why) = &running {
        println!("not measured: load tracking under {load}: {why}");
    }
    let running = running.ok()?;
    std::thread::park_timeout(LENGTH);
    let all = observer.compared();
    drop(running);
    for of in &all {
        let Compared { signal, events, equal, first, different, unseen, looks, example, .. } = of;
        println!(
            "{load}: {signal}: {events} published, {equal} equal, {first} first, {different} different, \
                  {unseen} unseen, {looks} looks"
        );
        if let Some(example) = example {
            println!("  {example:#?}");
        }
        assert_eq!(*events, equal + first + different + unseen, "{load}: {signal}");
    }
    let task = all.into_iter().find(|of| of.signal == "task").filter(|of| of.published);
    if task.is_none() {
        println!("not measured: this kernel publishes no load tracking of tasks, or its rules are not known");
    }
    task
}

#[test]
fn published_states_of_tasks_follow_from_the_cores_rules() {
    if !can_measure() {
        return;
    }
    for (load, _) in LOADS {
        let Some(task) = tasks(Observer::start, load) else { continue };
        assert!(task.events >= EVENTS_MIN, "{load}: {task:?}");
        assert_eq!(task.different, 0, "{load}: {task:?}");
        assert!(task.equal * 10 > task.events * 9, "{load}: {task:?}");
    }
}

#[test]
fn a_half_life_that_is_wrong_is_noticed() {
    if !can_measure() {
        return;
    }
    let Some(task) = tasks(Observer::start_faulty, "mixed") else { return };
    let compared = task.equal + task.different;
    assert!(task.different * 10 > compared * 9, "{} of {compared} are different", task.different);
}
