// SPDX-License-Identifier: GPL-2.0-only
//! What `pelton record --placements FILE --format json --load LOAD --duration 3s` does, or with `--clamps`, and nothing else: built for
//! another machine in a fraction of the time. `scripts/test-live.sh` runs it in guests under the name of the program. With `--counters`
//! nothing is recorded: what the kernel counts by itself is read before and after.

mod counters;

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use pelton_live::loads::{Load, Speeds};
use pelton_live::{ClampSession, ClampSummary, PlacementSession, PlacementSummary};
use serde_json::{Value, json};

/// What runs meanwhile, and for how long.
struct Work {
    load: Load,
    /// `--speeds`: it goes by the speed that CPUs are said to have.
    speeds: Option<Speeds>,
    duration: Duration,
}

/// Takes the lines there are.
type Put<'a> = &'a mut dyn FnMut(&str);

/// The word after an option.
fn after<'a>(arguments: &'a [String], option: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|word| word == option)?;
    arguments.get(at + 1).map(String::as_str)
}

fn seconds(duration: &str) -> Result<Duration, String> {
    let number = duration.strip_suffix('s').and_then(|number| number.parse().ok());
    number
        .map(Duration::from_secs)
        .ok_or_else(|| format!("--duration {duration}: whole seconds with an s are expected"))
}

/// A packed table: its first line, what comes while the load runs, and what is left. Notes of the load, and what `finish` says.
fn record<S, T>(
    table: &Path,
    work: Work,
    (mut session, header): (S, String),
    poll: impl Fn(&mut S, Put<'_>),
    finish: impl FnOnce(S, Put<'_>) -> Result<T, Box<dyn Error>>,
) -> Result<(T, Vec<String>), Box<dyn Error>> {
    let mut out = GzEncoder::new(BufWriter::new(File::create(table)?), Compression::fast());
    let mut failed = out.write_all(header.as_bytes()).err();
    let mut put = |line: &str| {
        if failed.is_none() {
            failed = out.write_all(line.as_bytes()).err();
        }
    };
    let running = work.load.start_at(work.speeds)?;
    let begin = Instant::now();
    while begin.elapsed() < work.duration {
        poll(&mut session, &mut put);
    }
    let notes = running.notes.clone();
    // What is left in the buffer is written faster when nothing else runs.
    drop(running);
    let summary = finish(session, &mut put)?;
    failed.map_or(Ok(()), Err)?;
    out.finish()?.flush()?;
    Ok((summary, notes))
}

fn placements(table: &Path, work: Work) -> Result<Value, Box<dyn Error>> {
    let session = PlacementSession::start()?;
    let header = session.header();
    let poll = |session: &mut PlacementSession, put: Put<'_>| _ = session.poll(put);
    let (summary, notes) = record(table, work, (session, header), poll, |session, put| Ok(session.finish(put)?))?;
    let stem = table.to_string_lossy();
    std::fs::write(format!("{}.topo.json", stem.trim_end_matches(".csv.gz")), &summary.machine)?;
    let PlacementSummary { cpus, decisions, lost, seconds, .. } = summary;
    Ok(json!({"cpus": cpus, "decisions": decisions, "lost": lost, "seconds": seconds, "notes": notes}))
}

fn clamps(table: &Path, work: Work) -> Result<Value, Box<dyn Error>> {
    let session = ClampSession::start()?;
    let header = session.header();
    let poll = |session: &mut ClampSession, put: Put<'_>| _ = session.poll(put);
    let (summary, notes) = record(table, work, (session, header), poll, |session, put| Ok(session.finish(put)?))?;
    let ClampSummary { cpus, records, lost, seconds } = summary;
    Ok(json!({"cpus": cpus, "records": records, "lost": lost, "seconds": seconds, "notes": notes}))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let name = after(&arguments, "--load").ok_or("--load is missing")?;
    let duration = seconds(after(&arguments, "--duration").ok_or("--duration is missing")?)?;
    let speeds = arguments.iter().any(|word| word == "--speeds").then(Speeds::here).transpose()?;
    let work = Work { load: Load::of_text(name)?, speeds, duration };
    let told = match (after(&arguments, "--placements"), after(&arguments, "--clamps")) {
        (Some(table), _) => placements(Path::new(table), work)?,
        (None, Some(table)) => clamps(Path::new(table), work)?,
        (None, None) => counters::count(name, work)?,
    };
    println!("{told}");
    Ok(())
}
