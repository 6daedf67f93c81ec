// SPDX-License-Identifier: GPL-2.0-or-later
//! Counters that a kernel keeps by itself: time at each frequency, time of each CPU with a task, migrations and run
//! time of each thread of a load. Nothing is attached, so that nothing is slowed down.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::read_to_string;
use std::path::Path;
use std::time::Duration;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::{SETTLE, Work};

const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
/// Unit of `time_in_state`.
const NS_PER_TICK: u64 = 10_000_000;
/// Place in a line of `/proc/schedstat` of the time that tasks ran, ns, counted when they are switched from.
const RUN_TIME: usize = 7;
/// Any priority takes a CPU from a fair task.
const PRIORITY: i32 = 1;

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
    /// Time with a task, ns, of each CPU.
    busy_ns: Vec<u64>,
    policies: Vec<Policy>,
    threads: BTreeMap<u64, Thread>,
}

/// Runs the load and says what was counted meanwhile.
///
/// # Errors
/// When the load cannot be started, or the kernel does not count.
pub fn count(work: &Work) -> Result<Value, Box<dyn Error>> {
    let (workload, duration) = &work.loads[0];
    let running = work.start(workload)?;
    std::thread::park_timeout(SETTLE);
    let before = Counters::read()?;
    std::thread::park_timeout(*duration);
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
        visit_cpus()?;
        let busy_ns = busy(&read_to_string("/proc/schedstat")?);
        let mut policies = Vec::new();
        for folder in
            std::fs::read_dir(POLICIES)?.flatten().filter(|f| f.file_name().to_string_lossy().starts_with("policy"))
        {
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
        Ok(Counters { at_ns: at.as_nanos() as u64, busy_ns, policies, threads })
    }

    /// Differences since `earlier`, as JSON.
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
        let busy: Vec<u64> = self.busy_ns.iter().zip(&earlier.busy_ns).map(|(now, then)| now - then).collect();
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

/// Takes each CPU for a moment: what runs there is switched from, and so counted.
fn visit_cpus() -> Result<(), Box<dyn Error>> {
    let (own, mut all) = (Pid::from_raw(0), CpuSet::new());
    set_policy(libc::SCHED_FIFO, PRIORITY)?;
    for cpu in 0..std::thread::available_parallelism()?.get() {
        let mut one = CpuSet::new();
        one.set(cpu)?;
        all.set(cpu)?;
        sched_setaffinity(own, &one)?;
    }
    sched_setaffinity(own, &all)?;
    Ok(set_policy(libc::SCHED_OTHER, 0)?)
}

/// The class of the calling thread.
fn set_policy(policy: i32, priority: i32) -> std::io::Result<()> {
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: 0 is the calling thread, and `param` lives during the call.
    let set = unsafe { libc::sched_setscheduler(0, policy, &raw const param) };
    if set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Time that tasks ran on each CPU.
fn busy(schedstat: &str) -> Vec<u64> {
    let cpus = schedstat.lines().filter(|line| line.starts_with("cpu"));
    cpus.filter_map(|line| line.split_ascii_whitespace().nth(RUN_TIME)?.parse().ok()).collect()
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
    fn a_cpu_is_busy_while_tasks_run() {
        assert_eq!(busy("version 17\ncpu0 0 0 1 2 3 4 500 6 7\ndomain0 MC 3\ncpu1 0 0 1 2 3 4 9 6 7\n"), [500, 9]);
    }
}
