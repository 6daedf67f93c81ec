// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines, policies and tasks of the responses.

use pelton_core::Policy;
use pelton_model::machine::{Costs, Machine};
use pelton_model::workload::{CpuSet, Op, Phase, SchedPolicy, TaskSpec, TimerId, TimerMode};
use pelton_scenario::platform::{self, PlatformOptions};

use super::response::Setup;

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;

/// A built-in platform whose scheduler paths take no time: what is seen is the control loop alone.
pub fn machine(name: &str, profile: &str) -> Machine {
    let options = PlatformOptions { costs: Some(Costs::default()), ..PlatformOptions::new(profile) };
    platform::load(name).expect("a built-in platform").machine(&options).expect("a complete platform")
}

/// The machine with a driver that switches at once, from the scheduler.
pub fn fast(mut machine: Machine) -> Machine {
    for domain in &mut machine.domains {
        domain.fast_switch = true;
        domain.dvfs_from_any_cpu = true;
        domain.switch_time_ns = 0;
    }
    machine
}

/// A run on a machine with a profile and some switches (`name=value`).
pub fn setup(label: &str, machine: Machine, profile: &str, switches: &[&str], tasks: Vec<TaskSpec>) -> Setup {
    let mut policy = Policy::profile(profile).expect("a profile of the table");
    let mut policy_text = format!("profile {profile}");
    for switch in switches {
        let (name, value) = switch.split_once('=').expect("name=value");
        policy.set(name, value).expect("a switch of the table");
        policy_text.push(' ');
        policy_text.push_str(switch);
    }
    policy.check().expect("switches that go together");
    Setup { label: label.to_owned(), machine, policy, policy_text, tasks, rate_limit_us: None }
}

/// A task on one CPU.
pub fn task(name: &str, cpu: u32, phases: Vec<Phase>) -> TaskSpec {
    TaskSpec {
        name: name.to_owned(),
        cpus: Some(CpuSet::of([cpu])),
        phases,
        loops: Some(1),
        own_timers: 1,
        ..TaskSpec::default()
    }
}

/// Operations repeated; `None` = for ever.
pub fn phase(loops: Option<u64>, ops: Vec<Op>) -> Phase {
    Phase { loops, ops, ..Phase::default() }
}

/// Work of this many ns at full speed in every period.
pub fn periodic(loops: Option<u64>, work_ns: u64, period_ns: u64) -> Phase {
    let timer = Op::Timer { timer: TimerId::Own(0), period_ns, mode: TimerMode::Absolute };
    phase(loops, vec![Op::Run { work_ns }, timer])
}

/// Computes for this long, at any speed.
pub fn busy(wall_ns: u64) -> Phase {
    phase(Some(1), vec![Op::Runtime { wall_ns }])
}

/// Sleeps.
pub fn sleep(ns: u64) -> Phase {
    phase(Some(1), vec![Op::Sleep { ns }])
}

/// Length of [`quiet`].
pub const QUIET_NS: u64 = 63 * 16 * MS;

/// A task that does next to nothing for a second, so that neither its average nor its estimate remembers its birth.
pub fn quiet() -> Phase {
    periodic(Some(63), 10 * US, 16 * MS)
}

/// The task in the real-time class.
pub fn fifo(mut task: TaskSpec) -> TaskSpec {
    task.policy = SchedPolicy::Fifo { priority: 50 };
    task
}
