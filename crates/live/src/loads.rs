// SPDX-License-Identifier: GPL-2.0-or-later
//! Small loads to record: each exercises another part of load tracking, and ends when its flag is set.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use nix::unistd::Pid;

use crate::machine::set_nice;
use crate::restore::Restore;

/// File that says whether sessions have groups of their own.
const AUTOGROUPS: &str = "/proc/sys/kernel/sched_autogroup_enabled";

/// Folder in which the cpu controller, version 1, keeps its groups.
const GROUPS: &str = "/sys/fs/cgroup/cpu";

mod clamps;
mod dice;
mod hackbench;
mod idle_groups;
mod limits;
mod made;
mod own_time;
mod phone;
mod quotas;
mod results;
mod schbench;
mod speeds;
mod wakeups;

pub use made::Part;
pub use results::Results;
pub use speeds::Speeds;

/// A load by name, or one that is made of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// One fair task that runs a quarter of each 16 ms, on CPU 0.
    Periodic,
    /// The task of `Periodic` beside a FIFO task of 3 of 10 ms on the same CPU.
    RtFair,
    /// Ten tasks of different periods, nice values and classes that move between the CPUs.
    Mixed,
    /// Short processes, as many as there is room for.
    ForkStorm,
    /// Tasks that change between two task groups of the cpu controller while they run.
    CgroupMoves,
    /// Short sleepers of several classes and task groups, pairs over pipes, one that wakes many.
    Wakeups,
    /// Busy, periodic and nearly idle tasks in nested groups with quotas, one of which changes.
    Quotas,
    /// Tasks in nested groups some of which are idle, and change that.
    IdleGroups,
    /// Small tasks and short bursts in task groups: so little that energy decides where they run.
    Phone,
    /// Tasks with clamps that change, in task groups and a system whose limits change.
    Clamps,
    /// The tasks of `phone` while limits of frequencies change.
    Limits,
    /// Parts that are written as workloads of `pelton run` are.
    Made(Vec<Part>),
}

/// Time between the starts of two threads of a load that is written as a workload. A load can have several states that
/// last, and how it starts decides between them: what is simulated beside starts in the same way.
pub const START_EVERY: Duration = Duration::from_millis(1);

/// Every load that has a name on the command line.
pub const LOADS: [(&str, Load); 11] = [
    ("periodic", Load::Periodic),
    ("rt-fair", Load::RtFair),
    ("mixed", Load::Mixed),
    ("fork-storm", Load::ForkStorm),
    ("cgroup-moves", Load::CgroupMoves),
    ("wakeups", Load::Wakeups),
    ("quotas", Load::Quotas),
    ("idle-groups", Load::IdleGroups),
    ("phone", Load::Phone),
    ("clamps", Load::Clamps),
    ("limits", Load::Limits),
];

/// One periodic task.
#[derive(Clone, Debug)]
struct Periodic {
    name: String,
    run_us: u64,
    period_us: u64,
    cpu: Option<usize>,
    nice: i32,
    fifo: Option<i32>,
    /// SCHED_IDLE.
    idle_policy: bool,
    /// File of tasks of its group.
    group: Option<PathBuf>,
}

impl Periodic {
    fn new(name: &str, run_us: u64, period_us: u64) -> Periodic {
        Periodic {
            name: name.to_owned(),
            run_us,
            period_us,
            cpu: None,
            nice: 0,
            fifo: None,
            idle_policy: false,
            group: None,
        }
    }
}

/// A load that is running. Dropping it stops it and puts back what it changed.
pub struct Running {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    /// Requests of the load that could not be met, as sentences.
    pub notes: Vec<String>,
    results: Results,
    /// Work goes by these instead of the time of the CPU.
    speeds: Option<Arc<Speeds>>,
    // Last: the tasks are gone before the system is put back.
    restore: Restore,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Load {
    /// The load of a name.
    pub fn of_name(name: &str) -> Option<Load> {
        LOADS.into_iter().find(|(known, _)| *known == name).map(|(_, load)| load)
    }

    /// The load of a name, or of parts: `busy:threads=4+bursts:run_us=300,sleep_us=500`.
    ///
    /// # Errors
    /// A sentence about what is wrong with its parts.
    pub fn of_text(text: &str) -> Result<Load, String> {
        Load::of_name(text).map_or_else(|| made::parse(text).map(Load::Made), Ok)
    }

    /// Name on the command line.
    pub fn name(&self) -> &'static str {
        LOADS.iter().find(|(_, load)| load == self).map_or("", |(name, _)| *name)
    }

    /// Starts it. Autogroups are off while it runs where that is allowed, so that its tasks are on the root queues.
    ///
    /// # Errors
    /// When another recording runs a load, when what it changes could not be put back, or when it needs what this
    /// machine does not have.
    pub fn start(self) -> io::Result<Running> {
        self.start_at(None)
    }

    /// Starts the load as [`Load::start`] does; with speeds, `run_us` of parts is work at the fastest of them instead
    /// of time.
    ///
    /// # Errors
    /// As [`Load::start`].
    pub fn start_at(self, speeds: Option<Speeds>) -> io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let autogroups = File::options().write(true).open(AUTOGROUPS);
        let (lock, refused) = match autogroups {
            Ok(file) => (Some(file), None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (None, None),
            Err(error) => (None, Some(error)),
        };
        let may_change = lock.is_some();
        let restore = Restore::start(lock)?;
        let (threads, notes, results) = (Vec::new(), Vec::new(), Results::default());
        let speeds = speeds.map(Arc::new);
        let mut running = Running { stop: Arc::clone(&stop), threads, notes, results, speeds, restore };
        let changed = if may_change { running.restore.write(Path::new(AUTOGROUPS), "0").err() } else { refused };
        running.notes.extend(changed.map(|error| format!("autogroups stay as they are: {error}")));
        match self {
            Load::Periodic => running.periodic(vec![on_cpu0(Periodic::new("periodic", 4_000, 16_000))]),
            Load::RtFair => running.periodic(rt_fair()),
            Load::Mixed => running.periodic(mixed()),
            Load::ForkStorm => running.spawn("storm", move |_| fork_storm(&stop)),
            Load::CgroupMoves => running.cgroup_moves()?,
            Load::Wakeups => wakeups::start(&mut running)?,
            Load::Clamps => clamps::start(&mut running)?,
            Load::Quotas => quotas::start(&mut running)?,
            Load::IdleGroups => idle_groups::start(&mut running)?,
            Load::Phone => phone::start(&mut running),
            Load::Limits => limits::start(&mut running)?,
            Load::Made(parts) => made::start(&mut running, &parts)?,
        }
        Ok(running)
    }
}

fn on_cpu0(task: Periodic) -> Periodic {
    Periodic { cpu: Some(0), ..task }
}

fn rt_fair() -> Vec<Periodic> {
    let fair = on_cpu0(Periodic::new("fair", 4_000, 16_000));
    let fifo = Periodic { fifo: Some(10), ..on_cpu0(Periodic::new("fifo", 3_000, 10_000)) };
    vec![fair, fifo]
}

fn mixed() -> Vec<Periodic> {
    let run_and_period =
        [(300, 2_000), (700, 5_000), (1_500, 8_000), (2_500, 16_000), (900, 11_000), (4_000, 33_000), (200, 3_000)];
    let nices = [0, -5, 5, 0, 10, 0, -10];
    let mut tasks: Vec<Periodic> = run_and_period
        .iter()
        .zip(nices)
        .enumerate()
        .map(|(i, (&(run, period), nice))| Periodic { nice, ..Periodic::new(&format!("mix-{i}"), run, period) })
        .collect();
    tasks.push(Periodic::new("mix-long", 40_000, 100_000));
    tasks.push(Periodic { nice: 19, ..Periodic::new("mix-idle", 20_000, 60_000) });
    tasks.push(Periodic { fifo: Some(5), ..Periodic::new("mix-fifo", 400, 7_000) });
    tasks
}

impl Running {
    /// Stops it and waits for its threads; what they measured is whole then.
    pub fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }

    /// Measurements of the load so far.
    #[must_use]
    pub fn results(&self) -> Results {
        self.results.clone()
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce(&AtomicBool) + Send + 'static) {
        let stop = Arc::clone(&self.stop);
        match Builder::new().name(name.to_owned()).spawn(move || work(&stop)) {
            Ok(thread) => self.threads.push(thread),
            Err(error) => self.notes.push(format!("the task {name} could not be started: {error}")),
        }
    }

    fn periodic(&mut self, tasks: Vec<Periodic>) {
        for task in tasks {
            let (sender, told) = std::sync::mpsc::channel();
            let name = task.name.clone();
            self.spawn(&name, move |stop| {
                let _ = sender.send(prepare(&task));
                repeat(&task, stop);
                // A group with tasks in it cannot be taken away.
                let _ = task.group.as_ref().map(|_| std::fs::write(Path::new(GROUPS).join("tasks"), "0"));
            });
            if let Ok(Err(what)) = told.recv() {
                self.notes.push(format!("{name}: {what}"));
            }
        }
    }

    /// Two groups with different shares, three tasks that change sides several times a second.
    fn cgroup_moves(&mut self) -> io::Result<()> {
        let root = Path::new(GROUPS);
        let mut groups = Vec::new();
        for (name, shares) in [("a", "2048"), ("b", "256")] {
            // No other group has this name.
            let group = root.join(format!("pelton-{}-{name}", std::process::id()));
            let made = self.restore.make_group(&group).and_then(|()| std::fs::write(group.join("cpu.shares"), shares));
            made.map_err(|error| io::Error::new(error.kind(), format!("no task group {}: {error}", group.display())))?;
            groups.push(group.join("tasks"));
        }
        for (index, (run, period)) in [(2_000, 9_000), (5_000, 21_000), (1_000, 4_000)].into_iter().enumerate() {
            let (task, groups) = (Periodic::new(&format!("mover-{index}"), run, period), groups.clone());
            self.spawn(&task.name.clone(), move |stop| {
                let mut turn = index;
                let mut next = now();
                while !stop.load(Ordering::Relaxed) {
                    turn += 1;
                    // 0 is the writing thread itself.
                    let _ = std::fs::write(&groups[(turn / 8) % groups.len()], "0");
                    activation(&task, &mut next);
                }
                let _ = std::fs::write(Path::new(GROUPS).join("tasks"), "0");
            });
        }
        Ok(())
    }
}

fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default()
}

fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// Gives the calling thread what its task asks for.
fn prepare(task: &Periodic) -> Result<(), String> {
    if let Some(cpu) = task.cpu {
        let mut set = CpuSet::new();
        set.set(cpu)
            .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
            .map_err(|e| format!("no affinity: {e}"))?;
    }
    if let Some(priority) = task.fifo {
        set_policy(libc::SCHED_FIFO, priority).map_err(|e| format!("no SCHED_FIFO: {e}"))?;
    }
    if task.idle_policy {
        set_policy(libc::SCHED_IDLE, 0).map_err(|e| format!("no SCHED_IDLE: {e}"))?;
    }
    if let Some(group) = &task.group {
        // 0 is the writing thread itself.
        std::fs::write(group, "0").map_err(|e| format!("not in its task group: {e}"))?;
    }
    if task.nice == 0 {
        return Ok(());
    }
    set_nice(task.nice).map_err(|e| format!("no nice value: {e}"))
}

/// The class of the calling thread.
fn set_policy(policy: i32, priority: i32) -> io::Result<()> {
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: 0 is the calling thread, and `param` lives during the call.
    let set = unsafe { libc::sched_setscheduler(0, policy, &raw const param) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn repeat(task: &Periodic, stop: &AtomicBool) {
    let mut next = now();
    while !stop.load(Ordering::Relaxed) {
        activation(task, &mut next);
    }
}

/// Runs for the task's time, then sleeps to the next period; periods that are over are left out.
fn activation(task: &Periodic, next: &mut Duration) {
    let end = cpu_time() + Duration::from_micros(task.run_us);
    // Each look at the CPU time makes the kernel update its clocks: looking all the time would fill
    // recordings.
    while cpu_time() < end {
        (0..20_000).for_each(|i| {
            std::hint::black_box(i);
        });
    }
    let period = Duration::from_micros(task.period_us);
    *next += period;
    if now() > *next + 20 * period {
        *next = now();
    }
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &(*next).into());
}

fn fork_storm(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let children: Vec<_> = (0..8).filter_map(|_| std::process::Command::new("/bin/true").spawn().ok()).collect();
        if children.is_empty() {
            std::thread::park_timeout(Duration::from_millis(10));
        }
        for mut child in children {
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_has_one_name() {
        for (name, load) in LOADS {
            assert_eq!(Load::of_name(name).as_ref().map(Load::name), Some(name));
            assert_eq!(Load::of_text(name), Ok(load));
        }
        assert_eq!(Load::of_name("nothing"), None);
    }

    #[test]
    fn an_activation_runs_for_its_time_and_then_sleeps() {
        let task = Periodic::new("t", 1_000, 3_000);
        let (mut next, start, ran) = (now(), now(), cpu_time());
        activation(&task, &mut next);
        assert!(cpu_time() - ran >= Duration::from_millis(1));
        assert!(now() - start >= Duration::from_millis(3));
    }
}
