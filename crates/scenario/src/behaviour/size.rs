// SPDX-License-Identifier: GPL-2.0-or-later
//! The tasks of a behaviour on one machine: amounts of work, clamps, and the rt-app text that has them.

use super::keys::THREADS_MAX;
use super::{Behaviour, Class, Share, Task};
use pelton_model::Machine;
use std::fmt::Write as _;

/// Time in which load-tracking signals halve, ms.
const HALF_LIFE_MS: f64 = 32.0;

/// Capacities that classes of CPUs go by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    capacities: Vec<u32>,
}

impl Classes {
    /// Of a machine.
    #[must_use]
    pub fn of(machine: &Machine) -> Classes {
        Classes { capacities: machine.cpus.iter().map(|cpu| cpu.capacity).collect() }
    }

    /// Capacity of the smallest CPUs.
    #[must_use]
    pub fn least(&self) -> u32 {
        self.capacities.iter().copied().min().unwrap_or(0)
    }

    /// Capacity of the largest CPUs.
    #[must_use]
    pub fn greatest(&self) -> u32 {
        self.capacities.iter().copied().max().unwrap_or(0)
    }

    /// CPUs have unequal capacities.
    #[must_use]
    pub fn are_unequal(&self) -> bool {
        self.least() < self.greatest()
    }

    /// The CPU is in this class; `clamps` are those of the task, lower and upper.
    #[must_use]
    pub fn has(&self, class: Class, cpu: u32, clamps: (u32, u32)) -> bool {
        let Some(&capacity) = self.capacities.get(cpu as usize) else { return false };
        match class {
            Class::Smallest => capacity == self.least(),
            Class::Largest => capacity == self.greatest(),
            Class::NotSmallest => capacity != self.least(),
            Class::NotLargest => capacity != self.greatest(),
            Class::FitsUtilMin => capacity >= clamps.0,
            Class::FitsUtilMax => capacity >= clamps.1,
        }
    }

    /// CPUs of a class.
    #[must_use]
    pub fn count(&self, class: Class, clamps: (u32, u32)) -> usize {
        (0..self.capacities.len() as u32).filter(|&cpu| self.has(class, cpu, clamps)).count()
    }

    /// A share of one CPU's capacity.
    fn amount(&self, share: Share) -> f64 {
        let of = if share.of == Class::Largest { self.greatest() } else { self.least() };
        f64::from(of) * share.pct / 100.0
    }

    /// The first of the largest CPUs: times of work are those on it.
    fn measured_on(&self) -> usize {
        self.capacities.iter().position(|capacity| *capacity == self.greatest()).unwrap_or(0)
    }
}

/// A behaviour on one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Sized {
    /// Text of the rt-app file.
    pub rtapp: String,
    /// Tasks in the order of the file.
    pub tasks: Vec<SizedTask>,
}

/// Threads of one kind on one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct SizedTask {
    /// Name without the number of the thread.
    pub name: String,
    /// Threads.
    pub threads: u32,
    /// Period, ns.
    pub period_ns: u64,
    /// Start after that of the first task, ns.
    pub start_ns: u64,
    /// Lower and upper clamp, of 1024, where the file has them.
    pub clamps: (Option<u32>, Option<u32>),
    /// Work from the start on, to the end of the run.
    pub phases: Vec<SizedPhase>,
}

/// Equal activations in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizedPhase {
    /// Number of activations.
    pub rounds: u32,
    /// Work of one, us on the largest CPU at its highest frequency.
    pub run_us: u32,
    /// Work per time, of 1024.
    pub util: f64,
}

impl SizedTask {
    /// Lower and upper clamp in force.
    #[must_use]
    pub fn clamps_in_force(&self) -> (u32, u32) {
        (self.clamps.0.unwrap_or(0), self.clamps.1.unwrap_or(1024))
    }

    /// Length of a phase, ns.
    fn length_ns(&self, phase: &SizedPhase) -> u64 {
        u64::from(phase.rounds) * self.period_ns
    }

    /// Phase at `time_ns` after the first task appeared: the last one behind its end.
    #[must_use]
    pub fn phase_at(&self, time_ns: u64) -> Option<&SizedPhase> {
        let mut left_ns = time_ns.saturating_sub(self.start_ns);
        for phase in &self.phases {
            if left_ns < self.length_ns(phase) {
                return Some(phase);
            }
            left_ns -= self.length_ns(phase);
        }
        self.phases.last()
    }

    /// Highest utilization in a phase, of 1024: the signal rises during an activation and decays behind it, by half in
    /// 32 ms.
    #[must_use]
    pub fn peak(&self, phase: &SizedPhase) -> f64 {
        let period_ms = self.period_ns as f64 / 1e6;
        let decayed = |ms: f64| 1.0 - 0.5_f64.powf(ms / HALF_LIFE_MS);
        1024.0 * decayed(phase.util / 1024.0 * period_ms) / decayed(period_ms)
    }

    /// Times at which the work changes, ns after the first task appeared.
    pub fn changes_ns(&self) -> impl Iterator<Item = u64> + '_ {
        let mut at_ns = self.start_ns;
        self.phases.iter().map(move |phase| {
            at_ns += self.length_ns(phase);
            at_ns
        })
    }
}

/// The task of a thread by its name, `NAME-N`, as rt-app and the kernel have it.
#[must_use]
pub fn task_of_thread<'a>(thread: &str, mut tasks: impl Iterator<Item = &'a str>) -> Option<usize> {
    let base = thread.rsplit_once('-').filter(|(_, n)| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
    let base = base.map_or(thread, |(base, _)| base);
    tasks.position(|task| task == base)
}

impl Behaviour {
    /// The tasks for this machine.
    ///
    /// # Errors
    /// The reason why they do not fit it, in words.
    pub fn sized(&self, machine: &Machine) -> Result<Sized, String> {
        let classes = Classes::of(machine);
        let sized = |task: &Task| size(task, &classes, self.duration_ms);
        let tasks = self.tasks.iter().map(sized).collect::<Result<Vec<SizedTask>, String>>()?;
        let threads: usize = tasks.iter().map(|task| task.threads as usize).sum();
        if threads > THREADS_MAX {
            return Err(format!("{threads} threads on this board, at most {THREADS_MAX}"));
        }
        let rtapp = self.rtapp(&tasks, classes.measured_on());
        Ok(Sized { rtapp, tasks })
    }

    fn rtapp(&self, tasks: &[SizedTask], measured_on: usize) -> String {
        let mut out = String::from("{\n  \"tasks\": {\n");
        for (at, (sized, task)) in tasks.iter().zip(&self.tasks).enumerate() {
            out += &task_json(sized, task);
            out += if at + 1 < tasks.len() { ",\n" } else { "\n" };
        }
        // rt-app counts whole seconds; the tasks end by themselves.
        let duration_s = self.duration_ms / 1000 + 2;
        let _ = writeln!(out, "  }},\n  \"global\": {{");
        let _ = writeln!(out, "    \"calibration\": \"CPU{measured_on}\",");
        let _ = writeln!(out, "    \"default_policy\": \"SCHED_OTHER\",");
        let _ = writeln!(out, "    \"duration\": {duration_s}\n  }}\n}}");
        out
    }
}

fn size(task: &Task, classes: &Classes, duration_ms: u32) -> Result<SizedTask, String> {
    let clamp = |share: Option<Share>| share.map(|share| (classes.amount(share).round() as u32).min(1024));
    let each = |class| u32::try_from(classes.count(class, (0, 1024))).unwrap_or(u32::MAX);
    let (mut phases, mut left_ms) = (Vec::new(), duration_ms.saturating_sub(task.start_ms));
    'run: loop {
        for phase in &task.phases {
            let rounds = phase.for_ms.min(left_ms) / task.period_ms;
            if rounds == 0 {
                break 'run;
            }
            left_ms -= rounds * task.period_ms;
            let util = classes.amount(phase.util);
            let run_us = (util * f64::from(task.period_ms) * 1000.0 / f64::from(classes.greatest().max(1))).round();
            if run_us > f64::from(task.period_ms * 1000) {
                return Err(format!("task `{}` has more work than the largest CPU can do", task.name.value));
            }
            phases.push(SizedPhase { rounds, run_us: (run_us as u32).max(1), util });
        }
        if task.phases.is_empty() {
            break;
        }
    }
    if phases.is_empty() {
        return Err(format!("task `{}` has no whole period in the run", task.name.value));
    }
    Ok(SizedTask {
        name: task.name.value.clone(),
        threads: task.count_per.map_or(task.count, each),
        period_ns: u64::from(task.period_ms) * 1_000_000,
        start_ns: u64::from(task.start_ms) * 1_000_000,
        clamps: (clamp(task.util_min), clamp(task.util_max)),
        phases,
    })
}

fn task_json(sized: &SizedTask, task: &Task) -> String {
    let mut out = format!("    \"{}\": {{\n      \"instance\": {},\n", sized.name, sized.threads);
    let numbers = [
        ("delay", (task.start_ms > 0).then(|| i64::from(task.start_ms) * 1000)),
        ("priority", (task.nice != 0).then(|| i64::from(task.nice))),
        ("util_min", sized.clamps.0.map(i64::from)),
        ("util_max", sized.clamps.1.map(i64::from)),
    ];
    for (key, value) in numbers {
        if let Some(value) = value {
            let _ = writeln!(out, "      \"{key}\": {value},");
        }
    }
    out += "      \"loop\": 1,\n      \"phases\": {\n";
    let period_us = task.period_ms * 1000;
    for (at, phase) in sized.phases.iter().enumerate() {
        let end = if at + 1 < sized.phases.len() { "," } else { "" };
        let _ = writeln!(
            out,
            "        \"p{at}\": {{ \"loop\": {}, \"run\": {}, \"timer\": {{ \"ref\": \"unique\", \"period\": {period_us} }} }}{end}",
            phase.rounds, phase.run_us
        );
    }
    out + "      }\n    }"
}
