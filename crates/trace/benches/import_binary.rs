// SPDX-License-Identifier: GPL-2.0-only
//! Reading binary traces: bytes per second on one core, and peak memory, from a temporary file of one GB per format.
//!
//! The file is in the page cache when it is read: the disk is not measured. Under `cargo test` every case runs once, small;
//! the hash of the events shows that the work is still the same.

#[path = "../tests/invented_dat/mod.rs"]
mod invented_dat;
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use invented_dat::{Shape, cpu_of};
use pelton_schema::Sink;
use pelton_trace::import::{OpenOptions, open};
use pelton_trace::{PeltonLog, PerfettoTrace};

/// Length of a timed file, bytes.
const FILE_BYTES: u64 = 1 << 30;
/// Length of a file under `cargo test`, bytes.
const FILE_BYTES_SMOKE: u64 = 1 << 20;
/// CPUs of the invented machine.
const CPUS: u32 = 8;
/// Different pages per CPU; they repeat with later times.
const PAGES: usize = 64;

/// A `trace.dat` of version 6, 8 CPUs, 4 KiB pages.
fn write_dat(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    let shape = Shape::usual();
    let events: Vec<_> = synthetic::Synthetic::new(1).take(PAGES * 8 * 3_000).collect();
    let rounds = (bytes / (u64::from(CPUS) * PAGES as u64 * shape.page_bytes as u64)).max(1);
    let round_bytes = PAGES as u64 * shape.page_bytes as u64;
    out.write_all(&shape.head_6(&vec![rounds * round_bytes; CPUS as usize]))?;
    for cpu in 0..CPUS {
        let own: Vec<_> = events.iter().filter(|(_, event)| cpu_of(event) == Some(cpu)).copied().collect();
        let mut pages = shape.pages(&own, None);
        pages.truncate(PAGES);
        assert_eq!(pages.len(), PAGES, "enough events for every CPU");
        let length_ns = events.last().map_or(0, |last| last.0);
        for _ in 0..rounds {
            for page in &mut pages {
                out.write_all(page)?;
                let time_ns = u64::from_le_bytes(page[..8].try_into().expect("eight bytes")) + length_ns;
                page[..8].copy_from_slice(&time_ns.to_le_bytes());
            }
        }
    }
    Ok(())
}

/// Sends invented events to a sink until `full` says so after a batch of them.
fn fill<S: Sink>(sink: &mut S, ftrace_only: bool, full: impl Fn() -> bool) {
    let mut events = synthetic::Synthetic::new(1).filter(|(_, event)| !ftrace_only || cpu_of(event).is_some());
    while !full() {
        for (time_ns, event) in events.by_ref().take(10_000) {
            sink.event(time_ns, &event);
        }
    }
}

/// Counts what a sink writes, for who fills the sink.
struct Shared<'a>(&'a mut dyn Write, &'a std::cell::Cell<u64>);

impl Write for Shared<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.set(self.1.get() + written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn write_perfetto(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    let count = std::cell::Cell::new(0);
    let mut trace = PerfettoTrace::new(Shared(out, &count), &synthetic::header());
    fill(&mut trace, true, || count.get() >= bytes);
    trace.finish().map(drop)
}

fn write_log(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    let count = std::cell::Cell::new(0);
    let mut log = PeltonLog::new(Shared(out, &count), &synthetic::header());
    fill(&mut log, false, || count.get() >= bytes);
    log.finish().map(drop)
}

/// Peak memory of this process since the last reset, KiB; 0 when the system does not tell.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
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
    let mut out = BufWriter::with_capacity(1 << 18, file.as_file());
    write(&mut out, if full { FILE_BYTES } else { FILE_BYTES_SMOKE }).expect("room for the file");
    out.flush().expect("room for the file");
    let bytes = file.as_file().metadata().expect("a file").len();
    drop(out);
    reset_peak();
    let mut best = (u128::MAX, 0, 0);
    for _ in 0..if full { 3 } else { 1 } {
        let start = Instant::now();
        let (events, hash) = read(file.path());
        best = best.min((start.elapsed().as_nanos(), events, hash));
    }
    let (ns, events, hash) = best;
    let (mb_per_s, peak) = (u128::from(bytes) * 1000 / ns.max(1), peak_kib());
    println!(
        r#"{{"bench":"import/{name}","ops":{events},"ns":{ns},"bytes":{bytes},"mb_per_s":{mb_per_s},"peak_kib":{peak},"hash":"{hash:08x}"}}"#
    );
}

fn main() {
    let full = std::env::args().any(|arg| arg == "--bench");
    case("trace-dat", full, write_dat);
    case("perfetto", full, write_perfetto);
    case("log", full, write_log);
}
