// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading traces: bytes per second on one core, and peak memory, from a temporary file of one GiB per case.
//!
//! The file is in the page cache when it is read: the disk is not measured. Time is processor time of the reading
//! thread. Memory has a bound, and a case that needs more fails. Under `cargo test` every case runs once, small; the
//! hash of the events shows that the work is still the same. `PELTON_BENCH_BYTES` sets another length,
//! `PELTON_BENCH_KEEP` a folder where the files stay.

#[path = "../../tests/invented_dat/mod.rs"]
mod invented_dat;
#[path = "../../tests/invented_text/mod.rs"]
mod invented_text;
#[path = "../../tests/synthetic/mod.rs"]
mod synthetic;

mod files;

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use invented_dat::{Packing, Shape};
use invented_text::Layout;
use pelton_trace::import::{OpenOptions, open};

/// Length of a timed file, bytes; of a packed one, before it is packed.
const FILE_BYTES: u64 = 1 << 30;
/// Length of a file under `cargo test`, bytes.
const FILE_BYTES_SMOKE: u64 = 1 << 20;
/// Memory that reading any of these files may take, KiB: the bound is the same for every length.
const PEAK_KIB_MAX: u64 = 128 << 10;

/// Peak memory of this process since the last reset, KiB; 0 when the system does not show it.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Time this thread has had a processor, which is not time in which others had it; `None` when the system does not show
/// it.
fn cpu_ns() -> Option<u128> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn reset_peak() {
    // Without the right to do so the figure is that of the whole process: larger, never smaller.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn read(path: &Path) -> (u64, u32) {
    let mut source = open(path, &OpenOptions::default()).expect("a trace");
    let (mut events, mut sum) = (0, 0u64);
    while let Some(timed) = source.next().expect("reads on") {
        events += 1;
        sum = sum.rotate_left(5) ^ timed.time_ns ^ u64::from(timed.event.code());
    }
    assert!(source.info().is_complete(), "{:?}", source.info().damage);
    (events, crc32fast::hash(&sum.to_le_bytes()))
}

/// Runs one case, unless others are named on the command line, and prints its JSON line.
fn case(name: &str, full: bool, write: impl Fn(&mut dyn Write, u64) -> io::Result<()>) {
    let mut wanted = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).peekable();
    if wanted.peek().is_some() && !wanted.any(|arg| arg == name) {
        return;
    }
    // Gone when this ends, whatever happens.
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let length = std::env::var("PELTON_BENCH_BYTES").ok().and_then(|bytes| bytes.parse().ok());
    let mut out = BufWriter::with_capacity(1 << 18, file.as_file());
    let length = length.unwrap_or(if full { FILE_BYTES } else { FILE_BYTES_SMOKE });
    write(&mut out, length).expect("room for the file");
    out.flush().expect("room for the file");
    let bytes = file.as_file().metadata().expect("a file").len();
    drop(out);
    reset_peak();
    let mut best = (u128::MAX, 0, 0);
    for _ in 0..if full { 3 } else { 1 } {
        let (start, cpu_ns) = (Instant::now(), cpu_ns());
        let (events, hash) = read(file.path());
        let ns = cpu_ns.zip(self::cpu_ns()).map_or_else(|| start.elapsed().as_nanos(), |(from, to)| to - from);
        best = best.min((ns, events, hash));
    }
    let (ns, events, hash) = best;
    // A packed file counts in two ways: its own bytes, and what they are once unpacked.
    let unpacked = if bytes < length / 2 { length } else { bytes };
    let per_s = |bytes: u64| u128::from(bytes) * 1000 / ns.max(1);
    let (mb_per_s, unpacked_mb_per_s, peak) = (per_s(bytes), per_s(unpacked), peak_kib());
    println!(
        r#"{{"bench":"import/{name}","ops":{events},"ns":{ns},"bytes":{bytes},"mb_per_s":{mb_per_s},"unpacked_mb_per_s":{unpacked_mb_per_s},"peak_kib":{peak},"hash":"{hash:08x}"}}"#
    );
    assert!(peak <= PEAK_KIB_MAX, "{name}: {peak} KiB of memory, at most {PEAK_KIB_MAX} are allowed");
    if let Some(folder) = std::env::var_os("PELTON_BENCH_KEEP") {
        file.persist(Path::new(&folder).join(name)).expect("a folder on the disk of TMPDIR");
    }
}

fn main() {
    let full = std::env::args().any(|arg| arg == "--bench");
    case("trace-dat", full, files::write_dat);
    for (name, packing) in [("plain", Packing::None), ("zlib", Packing::Zlib), ("zstd", Packing::Zstd)] {
        let shape = Shape { version: 7, packing, ..Shape::usual() };
        case(&format!("trace-dat-7-{name}"), full, |out, bytes| files::write_dat_7(out, bytes, &shape));
    }
    case("perfetto", full, files::write_perfetto);
    case("perfetto-tracks", full, files::write_perfetto_with_tracks);
    case("log", full, files::write_log);
    let names = ["tracefs", "systrace", "trace-cmd-report", "perf-script"];
    for (name, layout) in names.into_iter().zip(Layout::ALL) {
        case(name, full, |out, bytes| files::write_text(out, bytes, layout, false));
    }
    case("tracefs-many-tasks", full, |out, bytes| files::write_text(out, bytes, Layout::Tracefs, true));
    case("log-many-tasks", full, files::write_log_of_many);
    case("perfetto-many-tasks", full, files::write_perfetto_of_many);
    case("pelt-csv", full, files::write_pelt_csv);
    case("decision-csv", full, files::write_decision_csv);
    case("activation-csv", full, files::write_activation_csv);
}
