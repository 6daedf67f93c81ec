// SPDX-License-Identifier: GPL-2.0-or-later
//! Every event of a thousand runs, as one number each: all platforms, all models of workloads under all profiles, the
//! rt-app files, and each value of each switch. A change of code that is to change no output changes no line of
//! `log_hashes.txt`; one that does names the reason in the change log and writes the file
//! (`PELTON_SNAPSHOTS=write`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pelton_core::{Policy, profiles, switches};
use pelton_lab::plan::{self, Inputs, PolicySpec};
use pelton_schema::{Event, Sink};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/log_hashes.txt");
const NEWEST: &str = "7.2";
/// Two kinds of CPUs, energy decides, idle states, clamps.
const BOARD: &str = "juno-r0";

/// Models of workloads, each in a form in which most of what it can do happens within a quarter of a second.
const MODELS: [&str; 14] = [
    "sysbench-cpu:threads=3",
    "periodic:run_us=900,period_us=7000,threads=9 + busy:nice=5",
    "busy:threads=9",
    "bursts:run_us=2000,sleep_us=3000,threads=9",
    "io:run_us=400,service_us=900,jitter_us=300,threads=4",
    "sched-pipe",
    "cyclictest:threads=4",
    "hackbench:groups=1,fds=3,loops=20",
    "ebizzy:threads=3",
    "ui-frames:util_min=300 + rt-app-start",
    "sections",
    "schbench:form=2016,message_threads=1,threads=4,cputime_us=3000,sleeptime_us=3000",
    "periodic:run_us=1000,period_us=9000,policy=fifo,priority=10,threads=3 + periodic:run_us=2000,budget_us=3000,\
     period_us=16000,policy=deadline + bursts:run_us=5000,sleep_us=2000,threads=8",
    "group:path=/a,cpu.weight=300,cpu.max=9000 20000 + group:path=/a/b,cpu.weight=50 + group:path=/c,from_ms=100,cpu.weight=20 + \
     busy:threads=3,group=/a/b + busy:threads=3,group=/c + bursts:run_us=900,sleep_us=2000,threads=4,group=/a",
];

/// Workload under which each switch is tried: tasks of all classes, groups with quota and clamps, more tasks than CPUs
/// at times.
const MIXTURE: &str = "group:path=/a,cpu.weight=300,cpu.max=30000 50000,cpu.uclamp.min=20 + \
    periodic:run_us=700,period_us=9000,threads=6,util_min=200,util_max=700 + \
    bursts:run_us=6000,sleep_us=5000,threads=5,group=/a + \
    periodic:run_us=800,period_us=11000,policy=fifo,priority=10,threads=2 + \
    busy:nice=10,group=/b + io:run_us=400,service_us=900,threads=2 + hackbench:groups=1,fds=2,loops=15";

/// Little enough that energy decides where tasks go; deadlines, and an idle group.
const LIGHT: &str = "periodic:run_us=700,period_us=9000,threads=5,util_max=300 + \
    group:path=/rest,cpu.idle=1 + bursts:run_us=900,sleep_us=14000,threads=2,group=/rest + \
    periodic:run_us=1500,period_us=16000,util_min=100,threads=2 + \
    periodic:run_us=2000,budget_us=1900,period_us=16000,policy=deadline,threads=2";

/// Machines and workloads on which switches are tried: name, machine, workload.
const TRIED: [(&str, &str, &str); 3] =
    [("board", BOARD, MIXTURE), ("light board", BOARD, LIGHT), ("server", "qemu-x86-server", MIXTURE)];

/// FNV-1a over times, codes and values.
struct Hashing {
    hash: u64,
    events: u64,
}

impl Hashing {
    fn take(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Sink for Hashing {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.events += 1;
        self.take(time_ns);
        self.take(u64::from(event.code()));
        event.each_value(|value| self.take(value));
    }
}

/// One run: its name in the file, and its inputs.
struct Run {
    name: String,
    platform: &'static str,
    workload: String,
    profile: &'static str,
    sets: Vec<String>,
    ms: u64,
}

/// Number of events and hash of one run; why there is none where the inputs do not go together.
fn hashed(run: &Run) -> String {
    let spec = PolicySpec { profile: Some(run.profile.to_owned()), sets: run.sets.clone(), ..PolicySpec::default() };
    let inputs = Inputs {
        platform: run.platform.to_owned(),
        workload: run.workload.clone(),
        duration_ns: Some(run.ms * 1_000_000),
        ..Inputs::default()
    };
    let prepared = match plan::build(&inputs, &spec) {
        Ok(prepared) => prepared,
        Err(found) => return format!("refused: {}", found.iter().next().expect("a reason").message()),
    };
    let mut sink = Hashing { hash: 0xcbf2_9ce4_8422_2325, events: 0 };
    let plan = &prepared.plan;
    match pelton_sim::run(&plan.machine, &plan.workload, &plan.policy, &plan.config, &mut sink) {
        Ok(_) => format!("{} {:016x}", sink.events, sink.hash),
        Err(error) => format!("ends: {error}"),
    }
}

fn run(
    name: String,
    (platform, workload): (&'static str, &str),
    profile: &'static str,
    set: &[String],
    ms: u64,
) -> Run {
    Run { name, platform, workload: workload.to_owned(), profile, sets: set.to_vec(), ms }
}

fn platforms() -> Vec<Run> {
    pelton_scenario::platform::names()
        .map(|name| run(format!("platform {name}"), (name, MIXTURE), NEWEST, &[], 250))
        .collect()
}

fn models() -> Vec<Run> {
    let of = |profile| MODELS.map(|model| run(format!("model {profile} {model}"), (BOARD, model), profile, &[], 250));
    profiles().into_iter().flat_map(of).collect()
}

fn files() -> Vec<Run> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/workloads/rt-app");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.ends_with(".json") {
            found.push(run(format!("file {name}"), (BOARD, &path.to_string_lossy()), NEWEST, &[], 500));
        }
    }
    found
}

/// Each value that is not the profile's own, on a board and on a server.
fn values() -> Vec<Run> {
    let own = Policy::profile(NEWEST).expect("the newest profile").values();
    let mut found = Vec::new();
    for (world, platform, workload) in TRIED {
        found.push(run(format!("switch none, {world}"), (platform, workload), NEWEST, &[], 120));
    }
    for (switch, own) in switches().iter().zip(own) {
        for (_, value) in (0u32..).zip(&switch.values).filter(|(number, _)| *number != own) {
            let set = [format!("{}={value}", switch.name)];
            for (world, platform, workload) in TRIED {
                found.push(run(format!("switch {}, {world}", set[0]), (platform, workload), NEWEST, &set, 120));
            }
        }
    }
    found
}

/// Every run, in the order of the file.
fn runs() -> Vec<Run> {
    let mut all: Vec<Run> = [platforms(), models(), files(), values()].into_iter().flatten().collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// For `cargo xtask mutants`, which asks only whether there is a difference: the first one ends the test.
fn first_difference(kept: &str) {
    for one in &runs() {
        let line = format!("{}: {}", one.name, hashed(one));
        assert!(kept.lines().any(|old| old == line), "another one: {line}");
    }
}

#[test]
fn no_event_of_any_run_is_another_one() {
    if std::env::var_os("PELTON_LOG_RUNS").is_some_and(|which| which == "first") {
        return first_difference(&std::fs::read_to_string(FILE).expect("a file of the repository"));
    }
    let found: BTreeMap<String, String> = runs().into_iter().map(|run| (run.name.clone(), hashed(&run))).collect();
    let text = found.iter().fold(String::new(), |mut text, (name, hash)| {
        writeln!(text, "{name}: {hash}").expect("memory");
        text
    });
    if std::env::var_os("PELTON_SNAPSHOTS").is_some_and(|how| how == "write") {
        std::fs::write(FILE, &text).expect("the source tree is writable");
    }
    let kept = std::fs::read_to_string(FILE).expect("a file of the repository");
    let changed: Vec<&str> = text.lines().filter(|line| !kept.lines().any(|old| old == *line)).collect();
    assert!(
        changed.is_empty() && text == kept,
        "{} of {} runs have other events; `pelton run ... --log` before and after, and `pelton trace export`, show \
         which:\n{}",
        changed.len(),
        found.len(),
        changed.join("\n")
    );
}
