// SPDX-License-Identifier: GPL-2.0-only
//! What a kernel counts by itself: time at each frequency, time of each CPU with a task, migrations and run time of each thread of a
//! load. Nothing is attached, so that nothing is slowed down.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::read_to_string;
use std::path::Path;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::Work;

/// Counting begins so long after the load, as that of balances does.
const SETTLE: Duration = Duration::from_millis(500);
const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
/// Unit of `time_in_state` and `/proc/stat`.
const NS_PER_TICK: u64 = 10_000_000;
/// Where a line of `/proc/stat` has the time in which a CPU was idle, without and with somebody who waits for a disk.
const IDLE: [usize; 2] = [4, 5];

/// A frequency domain.
#[derive(Debug, PartialEq)]
struct Policy {
    cpus: Vec<u64>,
    /// Frequency, kHz, and time at it, ns.
    times: Vec<(u64, u64)>,
    changes: u64,
}

/// A thread.
#[derive(Debug, PartialEq)]
struct Thread {
    name: String,
    run_ns: u64,
    migrations: u64,
    switches: u64,
}

/// The counters of a moment.
#[derive(Debug)]
struct Counters {
    at_ns: u64,
    /// Time without a task, ns, of each CPU.
    idle_ns: Vec<u64>,
    policies: Vec<Policy>,
    threads: BTreeMap<u64, Thread>,
}

/// Runs the load and says what was counted meanwhile.
///
/// # Errors
/// When the load cannot be started, or the kernel does not count.
pub fn count(workload: &str, work: Work) -> Result<Value, Box<dyn Error>> {
    let running = work.load.start_at(work.speeds)?;
    std::thread::park_timeout(SETTLE);
    let before = Counters::read()?;
    std::thread::park_timeout(work.duration);
    let after = Counters::read()?;
    let notes = running.notes.clone();
    drop(running);
    let mut told = after.since(&before)?;
    told["workload"] = json!(workload);
    told["notes"] = json!(notes);
    Ok(told)
}

impl Counters {
    fn read() -> Result<Counters, Box<dyn Error>> {
        let at = Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC)?);
        let idle_ns = idle(&read_to_string("/proc/stat")?);
        let mut policies = Vec::new();
        for folder in std::fs::read_dir(POLICIES)?.flatten().filter(|f| f.file_name().to_string_lossy().starts_with("policy")) {
            policies.push(policy(&folder.path())?);
        }
        policies.sort_by(|a, b| a.cpus.cmp(&b.cpus));
        let mut threads = BTreeMap::new();
        for task in std::fs::read_dir("/proc/self/task")?.flatten() {
            let tid = task.file_name().to_str().and_then(|name| name.parse().ok()).unwrap_or(0);
            // The thread that counts is no part of the load.
            if tid != u64::from(std::process::id()) {
                let name = read_to_string(task.path().join("comm"))?.trim().to_owned();
                threads.insert(tid, thread(name, &read_to_string(task.path().join("sched"))?)?);
            }
        }
        Ok(Counters { at_ns: at.as_nanos() as u64, idle_ns, policies, threads })
    }

    /// What came since `earlier`, as JSON.
    fn since(&self, earlier: &Counters) -> Result<Value, String> {
        let policies: Vec<Value> =
            self.policies.iter().zip(&earlier.policies).map(|(now, then)| now.since(then)).collect();
        let mut threads = Vec::new();
        for (tid, now) in &self.threads {
            let then = earlier.threads.get(tid).ok_or_else(|| format!("{} began while was counted", now.name))?;
            threads.push(json!({
                "name": now.name,
                "run_ns": now.run_ns - then.run_ns,
                "migrations": now.migrations - then.migrations,
                "switches": now.switches - then.switches,
            }));
        }
        let ns = self.at_ns - earlier.at_ns;
        let busy = |(now, then): (&u64, &u64)| ns.saturating_sub(now - then);
        let busy: Vec<u64> = self.idle_ns.iter().zip(&earlier.idle_ns).map(busy).collect();
        if busy.is_empty() || policies.is_empty() || threads.is_empty() {
            return Err(format!("nothing is counted: {self:?}"));
        }
        Ok(json!({"ns": ns, "busy_ns": busy, "policies": policies, "tasks": threads}))
    }
}

impl Policy {
    fn since(&self, earlier: &Policy) -> Value {
        let khz: Vec<u64> = self.times.iter().map(|(khz, _)| *khz).collect();
        let ns: Vec<u64> = self.times.iter().zip(&earlier.times).map(|((_, now), (_, then))| now - then).collect();
        json!({"cpus": self.cpus, "khz": khz, "ns": ns, "changes": self.changes - earlier.changes})
    }
}

/// Time that each CPU was idle.
fn idle(stat: &str) -> Vec<u64> {
    let cpus = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "));
    let of = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        IDLE.iter().map(|at| words.get(*at)?.parse::<u64>().ok()).sum::<Option<u64>>().map(|ticks| ticks * NS_PER_TICK)
    };
    cpus.filter_map(of).collect()
}

fn policy(folder: &Path) -> Result<Policy, Box<dyn Error>> {
    let file = |name: &str| read_to_string(folder.join(name)).map_err(|e| format!("{name} of {folder:?}: {e}"));
    let numbers = |text: &str| text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u64>>();
    let times = numbers(&file("stats/time_in_state")?);
    let times = times.as_chunks::<2>().0.iter().map(|[khz, ticks]| (*khz, ticks * NS_PER_TICK)).collect();
    let changes = file("stats/total_trans")?.trim().parse()?;
    Ok(Policy { cpus: numbers(&file("related_cpus")?), times, changes })
}

/// A thread by its `/proc/PID/sched`, where times are milliseconds with six decimals.
fn thread(name: String, sched: &str) -> Result<Thread, String> {
    let of = |key: &str| {
        let mut lines = sched.lines().filter_map(|line| line.split_once(':'));
        let value = lines.find(|(word, _)| word.trim() == key).map(|(_, value)| value.trim().replace('.', ""));
        value.and_then(|digits| digits.parse().ok()).ok_or_else(|| format!("the kernel does not count {key} of {name}"))
    };
    let (run_ns, migrations, switches) = (of("se.sum_exec_runtime")?, of("se.nr_migrations")?, of("nr_switches")?);
    Ok(Thread { name, run_ns, migrations, switches })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_what_its_file_says() {
        let text = "a (12, #threads: 1)\n---\nse.sum_exec_runtime   :    12.000345\nse.nr_migrations  :   7\nnr_switches : 30\n";
        let thread = |text| thread("a".to_owned(), text);
        assert_eq!(thread(text), Ok(Thread { name: "a".to_owned(), run_ns: 12_000_345, migrations: 7, switches: 30 }));
        assert!(thread("nr_switches : 30\n").is_err());
    }

    #[test]
    fn a_cpu_is_idle_with_and_without_somebody_who_waits() {
        let text = "cpu  1 2 3 4 5 6\ncpu0 7 0 5 31 2 0 0\ncpu1 7 0 5 9 0 0 0\nintr 5\n";
        assert_eq!(idle(text), [330_000_000, 90_000_000]);
    }
}
