// SPDX-License-Identifier: GPL-2.0-or-later
//! Common parts of comparisons with guests: the machines that `make test-live` boots, their recordings, the run of the
//! simulator beside one, and the page that is written.
#![allow(dead_code, reason = "each test uses a part")]

use pelton_lab::plan::{Inputs, PolicySpec, build};
use pelton_model::Plan;
use pelton_model::workload::{Op, Phase, Start};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Runs of the simulator beside a recording.
pub const SEEDS: u64 = 5;
/// Counting begins so long after the load.
pub const SETTLE_NS: u64 = 500_000_000;
/// Threads of a load start one after the other.
const START_EVERY_NS: u64 = 1_000_000;
#[cfg(feature = "record")]
const _: () = assert!(START_EVERY_NS as u128 == pelton_live::loads::START_EVERY.as_nanos(), "that of the recorder");

/// A machine.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Board {
    /// End of the names of its recordings.
    end: &'static str,
    pub platform: &'static str,
    /// Description, in words.
    pub words: &'static str,
    /// Small and large CPUs with an energy model.
    pub has_sizes: bool,
    /// Time that a thread of a load takes beside its work each time that it is woken, ns of its CPU: it returns from
    /// its sleep, reads what the kernel counted of it, and goes back to sleep. Measured in a guest in which nothing
    /// else ran, less switch and ticks, which the simulator has (docs/gaps.md F-341).
    own_work_ns: u64,
}

/// In the order of the pages.
pub const BOARDS: [Board; 3] = [
    Board {
        end: "-server",
        platform: "qemu-x86-server",
        words: "two packages of two cores with two threads",
        has_sizes: false,
        own_work_ns: 16_000,
    },
    Board {
        end: "-big-little",
        platform: "qemu-arm64-big-little",
        words: "four small and two large CPUs",
        has_sizes: true,
        own_work_ns: 11_000,
    },
    Board {
        end: "-three-clusters",
        platform: "qemu-arm64-three-clusters",
        words: "four small, two middle and two large CPUs",
        has_sizes: true,
        own_work_ns: 11_000,
    },
];

/// Series whose distribution kernels are built with CONFIG_PREEMPT_LAZY (read in the configurations of 6.18.15 and
/// 7.2.12; those of 6.1.192 and 6.12.118 have CONFIG_PREEMPT_VOLUNTARY).
const LAZY: [&str; 2] = ["6.18", "7.2"];

/// A kernel that was booted on a machine.
pub struct Guest {
    pub series: String,
    pub board: &'static Board,
    pub folder: PathBuf,
}

/// All of them, a machine after the other, the newest kernel first; says so when there are none.
pub fn guests() -> Vec<Guest> {
    let Some(root) = std::env::var_os("PELTON_LIVE_RECORDINGS") else {
        println!("not measured: recordings of kernels in QEMU (make test-live makes them)");
        return Vec::new();
    };
    let all = std::fs::read_dir(root).expect("the folder of recordings").flatten();
    let mut guests: Vec<Guest> = all.filter_map(|entry| Guest::of(&entry.path())).collect();
    guests.sort_by_cached_key(Guest::order);
    guests
}

impl Guest {
    fn of(folder: &Path) -> Option<Guest> {
        let name = folder.file_name()?.to_str()?;
        let (board, series) = BOARDS.iter().find_map(|board| Some((board, name.strip_suffix(board.end)?)))?;
        Some(Guest { series: series.to_owned(), board, folder: folder.join("recordings") })
    }

    fn order(&self) -> impl Ord + use<> {
        let number: Vec<u32> = self.series.split('.').filter_map(|part| part.parse().ok()).collect();
        (BOARDS.iter().position(|board| board == self.board), std::cmp::Reverse(number))
    }

    /// The whole name of its kernel.
    pub fn release(&self) -> String {
        std::fs::read_to_string(self.folder.join("release")).unwrap_or_default().trim().to_owned()
    }

    /// Rules of the guest's kernel: those of its own release, or of the nearest one that was read, its preemption, and
    /// the options that it was started with.
    pub fn rules(&self) -> String {
        let mut rules = pelton_core::rules_of_release(&self.release()).map_or(self.series.clone(), |rules| rules.name);
        if LAZY.contains(&self.series.as_str()) {
            rules += ",preemption=lazy";
        }
        let parameters = std::fs::read_to_string(self.folder.join("cmdline")).unwrap_or_default();
        if parameters.split_whitespace().any(|word| word == "skew_tick=1") {
            rules += ",skew_tick=on";
        }
        rules
    }

    /// Recordings whose names end in `end`, by load: `small.residency.json`, `small-2.residency.json` and so on are one
    /// load's.
    pub fn by_load(&self, end: &str) -> BTreeMap<String, Vec<Value>> {
        let mut out: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (name, content) in self.recordings(end) {
            out.entry(name.split('-').next().expect("a first part").to_owned()).or_default().push(content);
        }
        out
    }

    /// Recordings whose names end in `end`: the rest of the name, and the content.
    fn recordings(&self, end: &str) -> Vec<(String, Value)> {
        let all = std::fs::read_dir(&self.folder).expect("recordings").flatten();
        let of = |path: &Path| {
            let name = path.file_name()?.to_str()?.strip_suffix(end)?.to_owned();
            Some((name, serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?))
        };
        let mut out: Vec<(String, Value)> = all.filter_map(|entry| of(&entry.path())).collect();
        out.sort_by(|a, b| a.0.cmp(&b.0));
        out
    }
}

/// Plan of the guest's load on its machine: it starts in the same way and is counted for `counted_ns`.
pub fn plan(profile: &str, board: &Board, workload: &str, counted_ns: u64, seed: u64) -> Plan {
    let inputs = Inputs {
        platform: board.platform.to_owned(),
        workload: workload.to_owned(),
        seed,
        duration_ns: Some(SETTLE_NS + counted_ns),
        hz: Some(250),
        random_phase: true,
        ..Inputs::default()
    };
    let mut plan = build(&inputs, &PolicySpec::parse(profile)).expect("good inputs").plan;
    plan.workload.tasks.iter_mut().flat_map(|task| &mut task.phases).for_each(|phase| adds_own_work(phase, board));
    for (task, at) in plan.workload.tasks.iter_mut().filter(|task| task.start == Start::AtStart).zip(0u64..) {
        task.start = Start::After(at * START_EVERY_NS);
    }
    plan
}

/// Tasks that sleep between their work do what the load's threads do besides.
fn adds_own_work(phase: &mut Phase, board: &Board) {
    let work = phase.ops.iter().position(|op| matches!(op, Op::Run { .. }));
    if let Some(at) = work.filter(|_| phase.ops.len() > 1 && !phase.silent) {
        phase.ops.insert(at, Op::Runtime { wall_ns: board.own_work_ns });
    }
}

/// Writes what was computed behind the mark of a page, when it is asked for.
pub fn write_page(name: &str, computed: &str) {
    let path = format!("{}/../../docs/fidelity/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("PELTON_UPDATE_DOCS").is_none() || computed.is_empty() {
        return;
    }
    let old = std::fs::read_to_string(&path).expect("the page");
    let (head, _) = old.split_once("<!-- computed -->").expect("a mark");
    std::fs::write(&path, format!("{head}<!-- computed -->\n\n{}\n", computed.trim_end())).expect("the page");
}
