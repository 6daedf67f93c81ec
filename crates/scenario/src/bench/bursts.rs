// SPDX-License-Identifier: GPL-2.0-or-later
//! Threads that compute and sleep in turn, at first here and then there: the form of most rt-app files on clamps.

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, TaskSpec};

use super::periodic::{copies, policy};
use super::spec::{LOOPS_MAX, Spec, TIME_US_MAX};

/// Unit of a run: work, or time of the clock.
#[derive(Clone, Copy, PartialEq)]
enum Measure {
    Work,
    Wall,
}

/// `bursts:run_us=100000,sleep_us=1,loops=16,cpus=1-2,then_cpus=all,then_loops=16,util_max=110`.
pub(super) fn workload(spec: &mut Spec) -> Workload {
    let run_ns = spec.time_ns("run_us", None, TIME_US_MAX);
    let sleep_ns = spec.time_ns("sleep_us", Some(0), TIME_US_MAX);
    let measure = spec.word("measure", &[("work", Measure::Work), ("wall", Measure::Wall)], Measure::Work);
    let threads: u32 = spec.number("threads", 1, 1..=10_000);
    let loops = spec.number("loops", 0, 0..=LOOPS_MAX);
    let run = match measure {
        Measure::Work => Op::Run { work_ns: run_ns },
        Measure::Wall => Op::Spin { wall_ns: run_ns },
    };
    let ops = if sleep_ns > 0 { vec![run, Op::Sleep { ns: sleep_ns }] } else { vec![run] };
    let first = Phase { name: "bursts".into(), loops: (loops > 0).then_some(loops), ops, ..Phase::default() };
    let mut phases = vec![first];
    if spec.has("then_cpus") {
        let cpus = spec.cpus_of("then_cpus");
        let then = spec.number("then_loops", 0, 0..=LOOPS_MAX);
        phases.push(Phase { name: "then".into(), loops: (then > 0).then_some(then), cpus, ..phases[0].clone() });
        if loops == 0 {
            spec.wrong("then_cpus", "the first part has no end", "give it `loops`");
        }
    } else if spec.has("then_loops") {
        spec.wrong("then_loops", "`then_loops` without `then_cpus`", "say where the second part runs");
    }
    let endless = phases.iter().any(|phase| phase.loops.is_none());
    let policy = policy(spec, None);
    let task = TaskSpec { phases, policy, loops: (!endless).then_some(1), ..TaskSpec::default() };
    copies(spec, &task, threads, "bursts")
}
