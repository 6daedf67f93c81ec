// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of each output per event, over an invented run with every kind of event.
//!
//! Not measured here: the disk (bytes are hashed and dropped) and the run that makes the events. Under `cargo test`
//! every case runs once, small; the hash of the bytes shows that the work is still the same.

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::io;
use std::time::Instant;

use pelton_schema::{Event, Sink};
use pelton_trace::{EventSelection, JsonLines, LogReader, LongTable, PeltonLog, PerfettoTrace, TextDump};

/// Events of a timed case.
const EVENTS: usize = 1_000_000;
/// Events of a case under `cargo test`.
const EVENTS_SMOKE: usize = 1_000;
/// A case is timed this often; the best counts.
const REPETITIONS: u32 = 5;

type Timed = (u64, Event);

/// Hashes what is written.
#[derive(Default)]
struct Hashed {
    hasher: crc32fast::Hasher,
    bytes: u64,
}

impl io::Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends all events to the sink that `open` makes, and ends it with `finish`.
fn written<'a, S: Sink>(
    events: &[Timed],
    out: &'a mut Hashed,
    open: impl Fn(&'a mut Hashed) -> S,
    finish: impl Fn(S) -> io::Result<()>,
) {
    let mut sink = open(out);
    events.iter().for_each(|(time_ns, event)| sink.event(*time_ns, event));
    finish(sink).expect("hashing takes everything");
}

/// Runs one case, unless others are named on the command line, and prints its JSON line.
fn case(name: &str, events: &[Timed], work: impl Fn(&[Timed], &mut Hashed)) {
    let mut wanted = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).peekable();
    if wanted.peek().is_some() && !wanted.any(|arg| arg == name) {
        return;
    }
    let mut best_ns = u128::MAX;
    let mut last = Hashed::default();
    for _ in 0..if events.len() > EVENTS_SMOKE { REPETITIONS } else { 1 } {
        last = Hashed::default();
        let start = Instant::now();
        work(events, &mut last);
        best_ns = best_ns.min(start.elapsed().as_nanos());
    }
    let (hash, bytes, ops) = (last.hasher.finalize(), last.bytes, events.len());
    println!(r#"{{"bench":"trace/{name}","ops":{ops},"ns":{best_ns},"bytes":{bytes},"hash":"{hash:08x}"}}"#);
}

fn main() {
    let full = std::env::args().any(|arg| arg == "--bench");
    let run = synthetic::header();
    let count = if full { EVENTS } else { EVENTS_SMOKE };
    let events: Vec<Timed> = synthetic::Synthetic::new(1).take(count).collect();
    let all = EventSelection::all;

    case("hash-only", &events, |events, out| {
        let sum = events.iter().fold(0u64, |sum, (time_ns, event)| sum ^ time_ns ^ u64::from(event.code()));
        io::Write::write_all(out, &sum.to_le_bytes()).expect("hashing takes everything");
    });
    case("log", &events, |events, out| {
        written(events, out, |out| PeltonLog::new(out, &run), |log| log.finish().map(drop));
    });
    case("perfetto", &events, |events, out| {
        written(events, out, |out| PerfettoTrace::new(out, &run), |trace| trace.finish().map(drop));
    });
    case("text", &events, |events, out| {
        written(events, out, TextDump::new, |dump| dump.finish().map(drop));
    });
    case("csv", &events, |events, out| {
        written(events, out, |out| LongTable::new(out, false), |csv| csv.finish().map(drop));
    });
    case("json", &events, |events, out| {
        written(events, out, |out| JsonLines::new(out, all()), |json| json.finish().map(drop));
    });

    let mut file = Vec::new();
    let mut log = PeltonLog::new(&mut file, &run);
    events.iter().for_each(|(time_ns, event)| log.event(*time_ns, event));
    log.finish().expect("a vector takes everything");
    case("log-read", &events, |_, out| {
        let reader = LogReader::open(&file[..]).expect("a good log");
        let sum = reader.fold(0u64, |sum, event| sum ^ event.expect("undamaged").0);
        io::Write::write_all(out, &sum.to_le_bytes()).expect("hashing takes everything");
    });
}
