// SPDX-License-Identifier: GPL-2.0-only
//! What `pelton record --placements FILE --format json --load LOAD --duration 3s` does, or with `--clamps`, and nothing
//! else: built for another machine in a fraction of the time. `scripts/test-live.sh` runs it in guests under the name
//! of the program. Several loads, each with its duration behind it, run one after the other and are recorded as one: a
//! recorder takes longer to begin than a load to run. With `--counters` nothing is recorded: what the kernel counts by
//! itself is read before and after.

mod counters;

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use pelton_live::loads::{Load, Running, Speeds};
use pelton_live::{ClampSession, PlacementSession, TableSession, TableSummary};
use serde_json::{Value, json};

/// What runs meanwhile, one after the other.
struct Work {
    loads: Vec<(String, Duration)>,
    /// `--speeds`: loads go by the speed that CPUs are said to have.
    by_speeds: bool,
}

impl Work {
    fn of(arguments: &[String]) -> Result<Work, String> {
        let mut loads = Vec::new();
        for pair in arguments.windows(2) {
            match (pair[0].as_str(), loads.last_mut()) {
                ("--load", _) => loads.push((pair[1].clone(), Duration::ZERO)),
                ("--duration", Some((_, duration))) => *duration = seconds(&pair[1])?,
                _ => {}
            }
        }
        if loads.is_empty() || loads.iter().any(|(_, duration)| duration.is_zero()) {
            return Err("--load and --duration are needed".to_owned());
        }
        Ok(Work { loads, by_speeds: arguments.iter().any(|word| word == "--speeds") })
    }

    /// Starts a load.
    fn start(&self, load: &str) -> Result<Running, Box<dyn Error>> {
        let speeds = self.by_speeds.then(Speeds::here).transpose()?;
        Ok(Load::of_text(load)?.start_at(speeds)?)
    }
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

/// A packed table: its first line, what comes while loads run and when one is over, and what is left. Notes of the
/// load, and what `finish` says.
fn record<S, T>(
    table: &Path,
    work: &Work,
    (mut session, header): (S, String),
    poll: impl Fn(&mut S, bool, Put<'_>),
    finish: impl FnOnce(S, Put<'_>) -> Result<T, Box<dyn Error>>,
) -> Result<(T, Vec<String>), Box<dyn Error>> {
    let mut out = GzEncoder::new(BufWriter::new(File::create(table)?), Compression::fast());
    let mut failed = out.write_all(header.as_bytes()).err();
    let mut put = |line: &str| {
        if failed.is_none() {
            failed = out.write_all(line.as_bytes()).err();
        }
    };
    let mut notes = Vec::new();
    for (load, duration) in &work.loads {
        let running = work.start(load)?;
        let begin = Instant::now();
        while begin.elapsed() < *duration {
            poll(&mut session, false, &mut put);
        }
        notes.extend(running.notes.clone());
        drop(running);
        // What is left in the buffer is written faster when nothing else runs.
        poll(&mut session, true, &mut put);
    }
    let summary = finish(session, &mut put)?;
    failed.map_or(Ok(()), Err)?;
    out.finish()?.flush()?;
    Ok((summary, notes))
}

fn placements(table: &Path, work: &Work) -> Result<Value, Box<dyn Error>> {
    let session = PlacementSession::start()?;
    let header = session.header();
    let poll = |session: &mut PlacementSession, over: bool, put: Put<'_>| {
        if over { session.flush(put) } else { _ = session.poll(put) }
    };
    let (summary, notes) = record(table, work, (session, header), poll, |session, put| Ok(session.finish(put)?))?;
    let stem = table.to_string_lossy();
    let TableSummary { cpus, records, lost, seconds, machine } = summary;
    std::fs::write(format!("{}.topo.json", stem.trim_end_matches(".csv.gz")), machine.unwrap_or_default())?;
    Ok(json!({"cpus": cpus, "decisions": records, "lost": lost, "seconds": seconds, "notes": notes}))
}

fn clamps(table: &Path, work: &Work) -> Result<Value, Box<dyn Error>> {
    let session = ClampSession::start()?;
    let header = session.header();
    let poll = |session: &mut ClampSession, _, put: Put<'_>| _ = session.poll(put);
    let (summary, notes) = record(table, work, (session, header), poll, |session, put| Ok(session.finish(put)?))?;
    let TableSummary { cpus, records, lost, seconds, .. } = summary;
    Ok(json!({"cpus": cpus, "records": records, "lost": lost, "seconds": seconds, "notes": notes}))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let work = Work::of(&arguments)?;
    let told = match (after(&arguments, "--placements"), after(&arguments, "--clamps")) {
        (Some(table), _) => placements(Path::new(table), &work)?,
        (None, Some(table)) => clamps(Path::new(table), &work)?,
        (None, None) => counters::count(&work)?,
    };
    println!("{told}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_has_its_duration() {
        let work = |text: &str| Work::of(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let two = work("--load phone --duration 2s --load busy --duration 1s --speeds").expect("two loads");
        assert_eq!(
            two.loads,
            [("phone".to_owned(), Duration::from_secs(2)), ("busy".to_owned(), Duration::from_secs(1))]
        );
        assert!(two.by_speeds);
        assert!(
            work("--load phone").is_err() && work("--duration 2s").is_err() && work("--load a --duration 2").is_err()
        );
    }
}
