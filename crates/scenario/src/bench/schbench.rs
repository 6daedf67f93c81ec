// SPDX-License-Identifier: GPL-2.0-or-later
//! `schbench`: message threads that wake workers, and the time until a worker runs.
//!
//! A worker puts itself on its message thread's list, wakes that thread and waits; called, it notes the latency and
//! spins for `cputime_us` of the clock, whatever the CPU's speed. A message thread takes the time once, wakes all of
//! its list (the last comer first), waits until a worker comes, spins for `message_cputime_us` and sleeps
//! `sleeptime_us` and a random part of a quarter of it. So a worker late on the list has the wake-ups before it in its
//! latency.
//!
//! Latencies are kept in buckets: exact to 511 us, above with eight leading bits, whose middle is printed. `form=2016`:
//! 10 ms each, and message threads do not spin.

use pelton_model::Workload;
use pelton_model::workload::{Op, Phase, Start, TaskSpec};
use pelton_sim::report::TaskReport;

use super::original::Program;
use super::spec::Spec;

/// Longest spin and sleep, microseconds.
const TIME_US_MAX: u64 = 100_000_000;
/// Work of making a thread. ESTIMATE, as for cyclictest.
const CREATE_NS: u64 = 30_000;
/// Sleeps of a task that asked for nothing else end this much later (`PR_SET_TIMERSLACK`).
const SLACK_NS: u64 = 50_000;

/// Percentiles that the program prints.
pub const PERCENTILES: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9];
const BITS: u32 = 8;
const BUCKETS: u32 = 19 << BITS;

/// `schbench:message_threads=2,threads=2,runtime_s=5`.
pub(super) fn workload(spec: &mut Spec) -> (Workload, Program) {
    let messages: u32 = spec.number("message_threads", 2, 1..=1000);
    let workers: u32 = spec.number("threads", 16, 1..=1000);
    let runtime_s = spec.number("runtime_s", 30, 1..=1_000_000);
    let old = spec.word("form", &[("2020", false), ("2016", true)], false);
    let usual_ns = if old { 10_000_000 } else { 30_000_000 };
    let cputime_ns = spec.time_ns("cputime_us", Some(usual_ns), TIME_US_MAX);
    let sleeptime_ns = spec.time_ns("sleeptime_us", Some(usual_ns), TIME_US_MAX);
    let spin_ns = spec.number("message_cputime_us", if old { 0 } else { 30_000 }, 0..=TIME_US_MAX) * 1000;
    let cpus = spec.cpus();
    let mut tasks = Vec::new();
    for m in 0..messages {
        let first = tasks.len() as u32 + 1;
        let start = Start::After(u64::from(m) * CREATE_NS);
        let phases = vec![creates(first, workers), messages_of(m, spin_ns, sleeptime_ns)];
        tasks.push(TaskSpec { name: format!("schbench-message-{m}"), start, phases, ..thread(&cpus) });
        for w in 0..workers {
            let phases = vec![works(m, cputime_ns)];
            tasks.push(TaskSpec { name: format!("schbench-{m}-{w}"), start: Start::OnFork, phases, ..thread(&cpus) });
        }
    }
    let duration_ns = Some(runtime_s * 1_000_000_000);
    let semaphores = vec![0; messages as usize];
    let workload = Workload { tasks, semaphores, lists: messages, duration_ns, ..Workload::default() };
    (workload, Program::Schbench { runtime_s })
}

fn thread(cpus: &Option<pelton_model::workload::CpuSet>) -> TaskSpec {
    TaskSpec { cpus: cpus.clone(), timer_slack_ns: SLACK_NS, ..TaskSpec::default() }
}

/// A message thread makes its workers.
fn creates(first: u32, workers: u32) -> Phase {
    let make = |w| [Op::Run { work_ns: CREATE_NS }, Op::Spawn { task: first + w }];
    Phase {
        name: "creates".into(),
        loops: Some(1),
        ops: (0..workers).flat_map(make).collect(),
        silent: true,
        ..Phase::default()
    }
}

fn messages_of(m: u32, spin_ns: u64, sleeptime_ns: u64) -> Phase {
    let mut ops = vec![Op::SemDrain(m), Op::CallAll(m), Op::SemWait(m)];
    if spin_ns > 0 {
        ops.push(Op::Runtime { wall_ns: spin_ns });
    }
    // Whole microseconds below a quarter.
    let jitter_ns = (sleeptime_ns / 4000).saturating_sub(1) * 1000;
    ops.push(Op::SleepUniform { min_ns: sleeptime_ns, max_ns: sleeptime_ns + jitter_ns });
    Phase { name: "messages".into(), ops, silent: true, ..Phase::default() }
}

fn works(m: u32, cputime_ns: u64) -> Phase {
    let ops = vec![Op::Enlist(m), Op::SemPost(m), Op::AwaitCall, Op::Runtime { wall_ns: cputime_ns }];
    Phase { name: "works".into(), ops, silent: true, ..Phase::default() }
}

/// Latencies as the program keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    buckets: std::collections::BTreeMap<u32, u64>,
    count: u64,
    min_us: u32,
    max_us: u32,
}

impl Latencies {
    /// Of all workers among these tasks.
    pub fn of(tasks: &[TaskReport]) -> Latencies {
        let mut all = Latencies::default();
        for (ns, count) in tasks.iter().flat_map(|t| t.call_latency.iter()) {
            all.add(u32::try_from(ns / 1000).unwrap_or(u32::MAX), count);
        }
        all
    }

    /// A latency below a microsecond is none.
    fn add(&mut self, us: u32, count: u64) {
        if us == 0 {
            return;
        }
        *self.buckets.entry(bucket(us)).or_default() += count;
        self.count += count;
        self.max_us = self.max_us.max(us);
        self.min_us = if self.min_us == 0 { us } else { self.min_us.min(us) };
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest and largest, microseconds, not rounded; `None` without samples.
    pub fn range_us(&self) -> Option<(u32, u32)> {
        (self.count > 0).then_some((self.min_us, self.max_us))
    }

    /// The value below or at which this many percent lie, microseconds, and how many do; `None` without samples.
    pub fn percentile_us(&self, percent: f64) -> Option<(u32, u64)> {
        let wanted = percent / 100.0 * self.count as f64;
        let mut sum = 0;
        self.buckets.iter().find_map(|(&bucket, &count)| {
            sum += count;
            (sum as f64 >= wanted).then_some((middle_us(bucket), sum))
        })
    }

    /// The block that the program prints at its end.
    pub(super) fn print(&self, runtime_s: u64) -> String {
        let mut out = format!("Latency percentiles (usec) runtime {runtime_s} (s) ({} total samples)\n", self.count);
        let mut before = 0;
        for percent in PERCENTILES {
            let Some((us, count)) = self.percentile_us(percent) else { continue };
            let star = if percent == 99.0 { "*" } else { "" };
            out += &format!("\t{star}{percent:2.1}th: {us} ({} samples)\n", count - before);
            before = count;
        }
        out + &format!("\tmin={}, max={}\n", self.min_us, self.max_us)
    }
}

/// Bucket of a latency.
fn bucket(us: u32) -> u32 {
    let top = u32::BITS - 1 - us.max(1).leading_zeros();
    if top <= BITS {
        return us;
    }
    let dropped = top - BITS;
    let bucket = ((dropped + 1) << BITS) + (us >> dropped & ((1 << BITS) - 1));
    bucket.min(BUCKETS - 1)
}

/// The latency that is printed for a bucket.
fn middle_us(bucket: u32) -> u32 {
    if bucket < 2 << BITS {
        return bucket;
    }
    let dropped = (bucket >> BITS) - 1;
    let place = bucket & ((1 << BITS) - 1);
    (1 << (dropped + BITS)) + (place << dropped) + (1 << dropped >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies(us: &[u32]) -> Latencies {
        let mut all = Latencies::default();
        us.iter().for_each(|&us| all.add(us, 1));
        all
    }

    /// Printed values of the posting of 2021 are such middles: 619, 12656, 12784, 13424.
    #[test]
    fn latencies_are_rounded_to_the_middle_of_their_bucket() {
        for us in [1, 255, 256, 510, 511] {
            assert_eq!(middle_us(bucket(us)), us);
        }
        for (us, printed) in [(512, 513), (513, 513), (618, 619), (619, 619), (12_640, 12_656), (12_671, 12_656)] {
            assert_eq!(middle_us(bucket(us)), printed, "{us}");
        }
        for printed in [12_784, 13_424] {
            assert_eq!(middle_us(bucket(printed)), printed);
        }
        assert_eq!(bucket(u32::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_output_is_the_programs() {
        let us: Vec<u32> = (1..=200).collect();
        let expected = "\
Latency percentiles (usec) runtime 5 (s) (200 total samples)
\t50.0th: 100 (100 samples)
\t75.0th: 150 (50 samples)
\t90.0th: 180 (30 samples)
\t95.0th: 190 (10 samples)
\t*99.0th: 198 (8 samples)
\t99.5th: 199 (1 samples)
\t99.9th: 200 (1 samples)
\tmin=1, max=200
";
        assert_eq!(latencies(&us).print(5), expected);
        assert_eq!(Latencies::default().percentile_us(50.0), None);
    }
}
