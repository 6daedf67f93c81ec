// SPDX-License-Identifier: GPL-2.0-only
//! What `pelton record --placements FILE --format json --load LOAD --duration 3s` does, and nothing else: built for another
//! machine in a fraction of the time. `scripts/test-live.sh` runs it in guests under the name of the program.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use pelton_live::loads::Load;
use pelton_live::{PlacementSession, PlacementSummary};
use serde_json::json;

/// The word after an option.
fn after<'a>(arguments: &'a [String], option: &str) -> Result<&'a str, String> {
    let at = arguments.iter().position(|word| word == option);
    let word = at.and_then(|at| arguments.get(at + 1)).map(String::as_str);
    word.ok_or_else(|| format!("{option} is missing"))
}

fn seconds(duration: &str) -> Result<Duration, String> {
    let number = duration.strip_suffix('s').and_then(|number| number.parse().ok());
    number
        .map(Duration::from_secs)
        .ok_or_else(|| format!("--duration {duration}: whole seconds with an s are expected"))
}

/// Records into the packed table.
fn record(table: &Path, load: Load, duration: Duration) -> Result<(PlacementSummary, Vec<String>), Box<dyn Error>> {
    let mut session = PlacementSession::start()?;
    let mut out = GzEncoder::new(BufWriter::new(File::create(table)?), Compression::fast());
    let mut failed = out.write_all(session.header().as_bytes()).err();
    let mut put = |line: &str| {
        if failed.is_none() {
            failed = out.write_all(line.as_bytes()).err();
        }
    };
    let running = load.start()?;
    let begin = Instant::now();
    while begin.elapsed() < duration {
        session.poll(&mut put);
    }
    let notes = running.notes.clone();
    // What is left in the buffer is written faster when nothing else runs.
    drop(running);
    let summary = session.finish(&mut put)?;
    failed.map_or(Ok(()), Err)?;
    out.finish()?.flush()?;
    Ok((summary, notes))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let table = Path::new(after(&arguments, "--placements")?);
    let name = after(&arguments, "--load")?;
    let load = Load::of_name(name).ok_or_else(|| format!("no load {name}"))?;
    let (summary, notes) = record(table, load, seconds(after(&arguments, "--duration")?)?)?;
    let stem = table.to_string_lossy();
    std::fs::write(format!("{}.topo.json", stem.trim_end_matches(".csv.gz")), &summary.machine)?;
    let PlacementSummary { cpus, decisions, lost, seconds, .. } = summary;
    println!("{}", json!({"cpus": cpus, "decisions": decisions, "lost": lost, "seconds": seconds, "notes": notes}));
    Ok(())
}
