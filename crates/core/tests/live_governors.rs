// SPDX-License-Identifier: GPL-2.0-or-later
//! ondemand and conservative of booted kernels (`make test-live`, scripts/live/governors.sh): load, frequency and time
//! until the next sample of every decision, recomputed from the times that the kernel's governor read. Without
//! recordings it says that nothing was measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pelton_core::{Dbs, DbsCpu, DbsTimes, Policy};

/// Decisions that a recording must have; the load of scripts/live/governors.sh makes several hundred.
const DECISIONS_MIN: usize = 100;

/// One CPU's governor, as far as the recording shows it.
struct Follower {
    dbs: Dbs,
    cpu: DbsCpu,
    /// The time of the governor's start is not recorded: the first sample's load is taken from the kernel.
    primed: bool,
}

/// Inputs and results of one decision.
#[derive(Clone, Debug, Default)]
struct Decision {
    policy: String,
    cpu: Option<u32>,
    times: Option<DbsTimes>,
    load: Option<u32>,
    khz: Option<u32>,
    delay_us: u32,
}

fn folders() -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("PELTON_LIVE_RECORDINGS") else {
        println!("not measured: governors of kernels in QEMU (make test-live records them)");
        return Vec::new();
    };
    let entries = std::fs::read_dir(root).expect("the folder of recordings");
    let folders = entries.flatten().map(|e| e.path().join("recordings"));
    // Only the machine with two CPUs records governors.
    let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.join("governors").exists()).collect();
    folders.sort();
    if folders.is_empty() {
        println!("not measured: governors of kernels in QEMU (their machine with two CPUs was not recorded)");
    }
    folders
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).trim().to_owned()
}

/// The number after `name=`.
fn number(line: &str, name: &str) -> Option<u64> {
    let value = line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
    value.parse().ok()
}

/// The rules of the kernel's profile with what the guest set.
fn policy(release: &str, governor: &str, tunables: &str) -> (Policy, u32) {
    let series: Vec<&str> = release.split('.').take(2).collect();
    let mut policy = Policy::profile(&series.join(".")).expect("a profile of the recorded kernels");
    policy.set("governor", governor).expect("a governor");
    let mut sampling_us = 0;
    for line in tunables.lines() {
        let (name, value) = line.split_once(':').expect("a setting and its value");
        match name {
            "sampling_rate" => sampling_us = value.parse().expect("a number"),
            "sampling_rate_min" => {}
            _ => policy.set(name, value).unwrap_or_else(|e| panic!("{name}: {e:?}")),
        }
    }
    (policy, sampling_us)
}

struct Recording {
    policy: Policy,
    sampling_us: u32,
    khz: Vec<u32>,
    descends: bool,
    cur_khz: BTreeMap<u32, u32>,
    followers: BTreeMap<u32, Follower>,
    cpu_of: BTreeMap<String, u32>,
    /// By thread.
    open: BTreeMap<String, Decision>,
    checked: usize,
    changes: usize,
    wrong: Vec<String>,
}

impl Recording {
    fn line(&mut self, line: &str) {
        let Some((thread, rest)) = line.trim().split_once(" [") else { return };
        let thread = thread.trim().to_owned();
        let Some((_, event)) = rest.split_once(": ") else { return };
        let (name, said) = event.split_once(": ").expect("an event has a name");
        match name {
            "enter" => self.enter(&thread, said),
            "idle" => self.idle(&thread, said),
            "begin" => {
                let policy = said.split_whitespace().last().unwrap_or_default().to_owned();
                self.open.insert(thread, Decision { policy, ..Decision::default() });
            }
            "load" => self.with(&thread, |d| d.load = number(said, "load").map(|load| load as u32)),
            "cpu_frequency" => self.frequency(&thread, said),
            "decided" => self.decided(&thread, said, line),
            _ => {}
        }
    }

    fn with(&mut self, thread: &str, change: impl FnOnce(&mut Decision)) {
        if let Some(decision) = self.open.get_mut(thread) {
            change(decision);
        }
    }

    fn enter(&mut self, thread: &str, said: &str) {
        let cpu = number(said, "cpu").expect("a CPU") as u32;
        if !self.open.contains_key(thread) {
            let cur_khz = self.cur_khz.get(&cpu).copied().unwrap_or(self.khz[self.khz.len() - 1]);
            let mut follower = started(self.sampling_us, cur_khz, &self.khz);
            follower.dbs.descends = self.descends.into();
            self.followers.insert(cpu, follower);
        }
        self.with(thread, |d| d.cpu = Some(cpu));
    }

    fn idle(&mut self, thread: &str, said: &str) {
        let (idle_us, wall_us) = (number(said, "idle").expect("idle"), number(said, "wall").expect("wall"));
        self.with(thread, |d| d.times = Some(DbsTimes { wall_us, idle_us, ..DbsTimes::default() }));
    }

    fn frequency(&mut self, thread: &str, said: &str) {
        let (khz, cpu) = (number(said, "state").expect("kHz") as u32, number(said, "cpu_id").expect("a CPU") as u32);
        self.cur_khz.insert(cpu, khz);
        self.with(thread, |d| d.khz = Some(khz));
    }

    fn decided(&mut self, thread: &str, said: &str, line: &str) {
        let Some(mut decision) = self.open.remove(thread) else { return };
        decision.delay_us = number(said, "delay").expect("a time") as u32;
        let Some(cpu) = decision.cpu.or_else(|| self.cpu_of.get(&decision.policy).copied()) else { return };
        self.cpu_of.insert(decision.policy.clone(), cpu);
        let Some(follower) = self.followers.get_mut(&cpu) else { return };
        let before = follower.dbs.cur_khz;
        let computed = follower.decide(&self.policy, &decision, &self.khz);
        let recorded = (decision.load, decision.khz.unwrap_or(before), decision.delay_us);
        self.checked += 1;
        self.changes += usize::from(recorded.1 != before);
        if computed != recorded {
            self.wrong.push(format!("recorded {recorded:?}, computed {computed:?}: {line}"));
        }
    }
}

fn started(sampling_us: u32, cur_khz: u32, khz: &[u32]) -> Follower {
    let (min_khz, max_khz) = (khz[0], khz[khz.len() - 1]);
    let limits = Dbs { min_khz, max_khz, hw_min_khz: min_khz, hw_max_khz: max_khz, ..Dbs::default() };
    let dbs = Dbs { sampling_us, delay_us: sampling_us, rate_mult: 1, cur_khz, requested_khz: cur_khz, ..limits };
    Follower { dbs, cpu: DbsCpu::default(), primed: false }
}

impl Follower {
    /// Load, frequency afterwards, time until the next sample.
    fn decide(&mut self, policy: &Policy, seen: &Decision, khz: &[u32]) -> (Option<u32>, u32, u32) {
        let measures = self.dbs.measures();
        if let Some(times) = seen.times.filter(|_| measures) {
            // The kernel has added up what it takes for idle.
            let summed = Policy { io_is_busy: 1, ignore_nice_load: 0, ..*policy };
            self.dbs.begin(0);
            self.dbs.load(&summed, &mut self.cpu, &times);
            if !std::mem::replace(&mut self.primed, true) {
                let load = seen.load.expect("a first sample looks at the load");
                (self.dbs.load, self.dbs.sample_load, self.cpu.prev_load) = (load, load, load);
                self.dbs.idle_periods = u32::MAX;
            }
        }
        self.dbs.cur_khz = self.dbs.sampled(policy, khz);
        (measures.then_some(self.dbs.load), self.dbs.cur_khz, self.dbs.delay_us)
    }
}

fn check(folder: &Path, release: &str, name: &str) -> Vec<String> {
    let governor = name.split('-').next().expect("a name");
    let file = |ending: &str| text(&folder.join("governors").join(format!("{name}.{ending}")));
    let (policy, sampling_us) = policy(release, governor, &file("tunables"));
    let frequencies = text(&folder.join("governors/frequencies"));
    let mut khz: Vec<u32> = frequencies.split_whitespace().map(|word| word.parse().expect("kHz")).collect();
    let descends = khz.first() > khz.last();
    khz.sort_unstable();
    let mut recording = Recording {
        policy,
        sampling_us,
        khz,
        descends,
        cur_khz: BTreeMap::new(),
        followers: BTreeMap::new(),
        cpu_of: BTreeMap::new(),
        open: BTreeMap::new(),
        checked: 0,
        changes: 0,
        wrong: Vec::new(),
    };
    file("trace").lines().for_each(|line| recording.line(line));
    let Recording { checked, changes, mut wrong, .. } = recording;
    println!("{release} {name}: {checked} decisions, {changes} changes of frequency, {} differ", wrong.len());
    if checked < DECISIONS_MIN || changes == 0 {
        wrong.push(format!("only {checked} decisions and {changes} changes"));
    }
    wrong.into_iter().map(|what| format!("{release} {name}: {what}")).collect()
}

#[test]
fn every_decision_of_the_sampling_governors_is_what_the_core_computes() {
    let mut wrong = Vec::new();
    for folder in folders() {
        let release = text(&folder.join("release"));
        assert_eq!(text(&folder.join("governors/errors")), "", "{release}");
        for name in ["ondemand", "conservative", "ondemand-biased", "conservative-coarse"] {
            wrong.extend(check(&folder, &release, name));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
