// SPDX-License-Identifier: GPL-2.0-or-later
//! A simulated run with every kind of event, for the tests and benches of outputs.

use pelton_core::Policy;
use pelton_model::workload::{IrqSpec, Op, Phase, SchedPolicy, TaskSpec, TimerId, TimerMode};
use pelton_model::{Machine, RunConfig, Workload};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_schema::Sink;
use pelton_sim::Report;
use pelton_trace::{CpuLayout, DomainLayout, RunHeader};

/// Everything a run needs but its sink.
#[derive(Debug)]
pub struct BusyRun {
    machine: Machine,
    workload: Workload,
    policy: Policy,
    config: RunConfig,
}

impl BusyRun {
    /// Eight CPUs in three domains, 32 periodic fair tasks, one real-time and one deadline task, a timer interrupt.
    pub fn of_length(duration_ns: u64) -> Self {
        let platform = platform::load("pixel6-gs101").expect("a built-in platform");
        let machine = platform.machine(&PlatformOptions::new("7.2")).expect("a checked platform");
        let mut tasks: Vec<TaskSpec> =
            (0..32).map(|n| periodic(&format!("fair-{n}"), n, SchedPolicy::default())).collect();
        tasks.push(periodic("audio", 3, SchedPolicy::Fifo { priority: 50 }));
        let deadline = SchedPolicy::Deadline { runtime_ns: 2_000_000, deadline_ns: 16_000_000, period_ns: 16_000_000 };
        tasks.push(periodic("camera", 4, deadline));
        let irqs = vec![IrqSpec { cpu: 0, period_ns: 3_000_000, duration_ns: 30_000, jitter_ns: 500_000 }];
        let workload = Workload { name: "busy".to_owned(), tasks, irqs, ..Workload::default() };
        let policy = Policy::profile("7.2").expect("the newest profile");
        let config =
            RunConfig { seed: 9, duration_ns, rate_limit_us: None, start_phase_random: true, ..RunConfig::default() };
        BusyRun { machine, workload, policy, config }
    }

    /// Simulates, sending every event to `sink`.
    pub fn simulate(&self, sink: impl Sink) -> Report {
        pelton_sim::run(&self.machine, &self.workload, &self.policy, &self.config, sink).expect("a sound plan")
    }

    /// Header of files about the run.
    pub fn header(&self) -> RunHeader {
        let domain = |domain: &pelton_model::machine::FreqDomain| DomainLayout {
            name: domain.name.clone(),
            opps_khz: domain.opps.iter().map(|opp| opp.khz).collect(),
        };
        let names = self.workload.tasks.iter().map(|task| task.name.clone());
        RunHeader {
            seed: self.config.seed,
            duration_ns: self.config.duration_ns,
            platform: self.machine.name.clone(),
            workload: self.workload.name.clone(),
            profile: "7.2".to_owned(),
            tasks: std::iter::once("swapper".to_owned()).chain(names).collect(),
            cpus: self
                .machine
                .cpus
                .iter()
                .map(|cpu| CpuLayout { capacity: cpu.capacity, domain: cpu.domain })
                .collect(),
            domains: self.machine.domains.iter().map(domain).collect(),
            ..RunHeader::default()
        }
    }
}

/// A task that computes once per period; periods and work differ with `number`.
fn periodic(name: &str, number: u64, policy: SchedPolicy) -> TaskSpec {
    let period_ns = 8_000_000 + number % 5 * 4_000_000;
    let ops = vec![
        Op::Run { work_ns: 200_000 + number * 40_000 },
        Op::Timer { timer: TimerId::Own(0), period_ns, mode: TimerMode::Relative },
    ];
    let phase = Phase { ops, ..Phase::default() };
    TaskSpec { name: name.to_owned(), policy, phases: vec![phase], own_timers: 1, ..TaskSpec::default() }
}
