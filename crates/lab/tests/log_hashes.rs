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

/// What each switch is tried under: tasks of all classes, groups with quota and clamps, more tasks than CPUs at times.
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

/// Where switches are tried: machine and workload.
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

/// Number of events and hash of one run; why there is none where the inputs do not go together.
fn hashed(platform: &str, workload: &str, profile: &str, sets: &[String], ms: u64) -> String {
    let spec = PolicySpec { profile: Some(profile.to_owned()), sets: sets.to_vec(), ..PolicySpec::default() };
    let inputs = Inputs {
        platform: platform.to_owned(),
        workload: workload.to_owned(),
        duration_ns: Some(ms * 1_000_000),
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

fn platforms(found: &mut BTreeMap<String, String>) {
    for name in pelton_scenario::platform::names() {
        found.insert(format!("platform {name}"), hashed(name, MIXTURE, NEWEST, &[], 250));
    }
}

fn models(found: &mut BTreeMap<String, String>) {
    for profile in profiles() {
        for model in MODELS {
            found.insert(format!("model {profile} {model}"), hashed(BOARD, model, profile, &[], 250));
        }
    }
}

fn files(found: &mut BTreeMap<String, String>) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/workloads/rt-app");
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.ends_with(".json") {
            found.insert(format!("file {name}"), hashed(BOARD, &path.to_string_lossy(), NEWEST, &[], 500));
        }
    }
}

/// Each value that is not the profile's own, on a board and on a server.
fn values(found: &mut BTreeMap<String, String>) {
    let own = Policy::profile(NEWEST).expect("the newest profile").values();
    for (world, platform, workload) in TRIED {
        found.insert(format!("switch none, {world}"), hashed(platform, workload, NEWEST, &[], 120));
    }
    for (switch, own) in switches().iter().zip(own) {
        for (number, value) in (0u32..).zip(&switch.values) {
            if number == own {
                continue;
            }
            let set = [format!("{}={value}", switch.name)];
            for (world, platform, workload) in TRIED {
                let line = hashed(platform, workload, NEWEST, &set, 120);
                found.insert(format!("switch {}, {world}", set[0]), line);
            }
        }
    }
}

#[test]
fn no_event_of_any_run_is_another_one() {
    let mut found = BTreeMap::new();
    for part in [platforms, models, files, values] {
        part(&mut found);
    }
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
