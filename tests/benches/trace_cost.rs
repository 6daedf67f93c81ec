// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of recording a run: the same simulation without events, with events counted, and written to files.
//!
//! Goal: the Perfetto trace at most doubles the time of the run without it. Files go to the build folder, through the
//! page cache; a slow disk is not part of the figure.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pelton_schema::{CountSink, NullSink};
use pelton_tests::runs::BusyRun;
use pelton_trace::{PeltonLog, PerfettoTrace};

/// Simulated time of a timed case.
const DURATION_NS: u64 = 20_000_000_000;
/// Simulated time of a case under `cargo test`.
const DURATION_NS_SMOKE: u64 = 50_000_000;
/// A case is timed this often; the best counts.
const REPETITIONS: u32 = 5;

struct Bench {
    run: BusyRun,
    duration_ns: u64,
    repetitions: u32,
}

impl Bench {
    /// Times `work`, which returns a number that stands for what it did, and prints its JSON line; nothing when other
    /// cases are named on the command line.
    fn case(&self, name: &str, work: impl Fn() -> u64) {
        let mut wanted = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).peekable();
        if wanted.peek().is_some() && !wanted.any(|arg| arg == name) {
            return;
        }
        let mut best_ns = u128::MAX;
        let mut hash = 0;
        for _ in 0..self.repetitions {
            let start = Instant::now();
            hash = work();
            best_ns = best_ns.min(start.elapsed().as_nanos());
        }
        let simulated_ns = self.duration_ns;
        println!(
            r#"{{"bench":"trace-cost/{name}","ops":1,"ns":{best_ns},"simulated_ns":{simulated_ns},"hash":"{hash:016x}"}}"#
        );
    }
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn create(path: &Path) -> File {
    File::create(path).expect("the build folder is writable")
}

fn main() {
    let full = std::env::args().any(|arg| arg == "--bench");
    let (duration_ns, repetitions) = if full { (DURATION_NS, REPETITIONS) } else { (DURATION_NS_SMOKE, 1) };
    let bench = Bench { run: BusyRun::of_length(duration_ns), duration_ns, repetitions };
    let run = &bench.run;
    let header = run.header();
    let (log_path, trace_path) = (temporary("cost.plog"), temporary("cost.pftrace"));

    bench.case("off", || run.simulate(NullSink).sim_events);
    bench.case("counted", || {
        let mut counts = CountSink::default();
        run.simulate(&mut counts);
        counts.counts.iter().sum()
    });
    bench.case("log", || {
        let mut log = PeltonLog::new(create(&log_path), &header);
        run.simulate(&mut log);
        log.finish().expect("written").bytes
    });
    bench.case("perfetto", || {
        let mut trace = PerfettoTrace::new(create(&trace_path), &header);
        run.simulate(&mut trace);
        trace.finish().expect("written").bytes
    });
    for path in [log_path, trace_path].iter().filter(|path| path.exists()) {
        std::fs::remove_file(path).expect("it was just written");
    }
}
