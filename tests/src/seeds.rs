// SPDX-License-Identifier: GPL-2.0-or-later
//! Inputs that attacks on readers begin with: files of the repository, and what is made of them.

use std::io::Read;
use std::path::{Path, PathBuf};

use pelton_lab::why::kept::{Kept, Ran, quantities};
use pelton_schema::Sink;
use pelton_trace::decided::DecidedTable;
use pelton_trace::{LogReader, PerfettoTrace};

use crate::fuzz;
use crate::readers::{Reader, Seeds};

/// Most of a recorded table that is taken, bytes.
const TABLE_BYTES_MAX: usize = 12 << 10;

/// Lines of a recording of `pelton live`, the names of the columns among them.
const DECISIONS_MAX: usize = 9;

/// The inputs of a reader; never none.
pub fn of(reader: &Reader) -> Vec<Vec<u8>> {
    let seeds = match reader.seeds {
        Seeds::Files(folder, ending) => files(folder, ending),
        Seeds::Tables(names) => names.iter().map(|name| table(name)).collect(),
        Seeds::Made => made(reader.name),
    };
    assert!(!seeds.is_empty(), "no seeds for {}", reader.name);
    seeds
}

/// The repository, from a crate of it.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().find(|folder| folder.join("core/include").is_dir()).expect("the repository").to_owned()
}

/// Every file with this ending in a folder of the repository.
pub fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder is in the repository");
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(ending));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("readable")).collect()
}

/// The beginning of a recorded table, behind the machine where it has one.
fn table(name: &str) -> Vec<u8> {
    let path = |ending: &str| root().join("tests/trace").join(format!("{name}{ending}"));
    let mut bytes = match std::fs::File::open(path(".csv.gz")) {
        Ok(packed) => {
            let mut bytes = Vec::new();
            flate2::read::MultiGzDecoder::new(packed).read_to_end(&mut bytes).expect("gzip");
            bytes
        }
        Err(_) => std::fs::read(path(".csv")).expect("part of the repository"),
    };
    let lines = bytes.iter().enumerate().filter(|(at, byte)| **byte == b'\n' && *at < TABLE_BYTES_MAX);
    let end = lines.map(|(at, _)| at + 1).next_back().expect("a line");
    bytes.truncate(end);
    let topology = std::fs::read(path(".topo.json")).map(|text| [b"%% t.topo.json\n", &text[..], b"\n"].concat());
    [&topology.unwrap_or_default(), &b"%% t.csv\n"[..], &bytes].concat()
}

fn made(name: &str) -> Vec<Vec<u8>> {
    match name {
        "trace_dat" => vec![fuzz::small_trace_dat()],
        "trace_perfetto" => logs().iter().map(|log| as_perfetto(log)).collect(),
        "finished_runs" => vec![finished_runs()],
        "decisions_csv" => ["board-debt", "board-gates"].map(decisions).into(),
        "experiment_toml" => vec![fuzz::EXPERIMENT.as_bytes().to_vec()],
        _ => Vec::new(),
    }
}

/// The beginning of a recording of `pelton live`.
fn decisions(name: &str) -> Vec<u8> {
    let folder = root().join("tests/trace/live-decisions").join(name);
    let mut all = [&b"%% live.json\n"[..], &std::fs::read(folder.join("live.json")).expect("part of it")].concat();
    for table in DecidedTable::ALL.map(DecidedTable::file) {
        let packed = std::fs::File::open(folder.join(table)).expect("part of it");
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(packed).read_to_string(&mut text).expect("text");
        let lines = text.lines().take(DECISIONS_MAX).map(|line| format!("{line}\n"));
        all.extend(format!("%% {table}\n").bytes().chain(lines.collect::<String>().into_bytes()));
    }
    all
}

/// Two runs of `why`.
fn finished_runs() -> Vec<u8> {
    let ran = |values: f64| Ran {
        print: 0x0123_4567_89ab_cdef,
        values: quantities().map(|quantity| (!quantity.rests_on_need()).then_some(values)).collect(),
        gap: Some("active power only".to_owned()),
        remark: None,
    };
    let runs = [((1, 1), ran(0.25)), ((u64::MAX, 2), ran(-3.0e-5))].into();
    Kept { runs }.text().into_bytes()
}

/// Recorded logs.
pub fn logs() -> Vec<Vec<u8>> {
    files("crates/trace/tests/fixtures", ".plog")
}

/// The Perfetto trace of a recorded log.
fn as_perfetto(log: &[u8]) -> Vec<u8> {
    let events = LogReader::open(log).expect("a recorded log");
    let mut file = Vec::new();
    let mut trace = PerfettoTrace::new(&mut file, events.header());
    for event in events {
        let (time_ns, event) = event.expect("undamaged");
        trace.event(time_ns, &event);
    }
    trace.finish().expect("a vector takes everything");
    file
}
