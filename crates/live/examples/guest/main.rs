// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorder for guests: does the work of `pelton record --placements FILE --format json --load LOAD --duration 3s`, or
//! with `--clamps`, `--gates` or `--balances`, and nothing else: built for another machine in a fraction of the time.
//! `scripts/test-live.sh` runs it in guests under the name of the program. Several loads, each with its duration behind
//! it, run one after the other and are recorded as one: a recorder takes longer to begin than a load to run. With
//! `--counters` nothing is recorded: the counters of the kernel are read before and after. `--scheduler POLICY`: under
//! the core as the guest's scheduler; `--observe POLICY`: beside the guest's own.

mod balances;
mod counters;
mod observer;
mod scheduler;

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use pelton_live::loads::{Load, Running, Speeds};
use pelton_live::{ClampSession, GateSession, PlacementSession, TableSession, TableSummary};
use serde_json::{Value, json};

/// Balances are recorded so long after the load began, as on other machines.
const SETTLE: Duration = Duration::from_millis(500);

/// Time in which utilization of what ran before is forgotten.
const REST: Duration = Duration::from_secs(1);

/// Loads that run meanwhile, one after the other.
struct Work {
    loads: Vec<(String, Duration)>,
    /// `--speeds`: loads take as long as the kernel's capacities and frequencies of the CPUs imply.
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

    /// Starts a load, on a machine that is idle: where two states last, what ran before decides between them.
    fn start(&self, load: &str) -> Result<Running, Box<dyn Error>> {
        let speeds = self.by_speeds.then(Speeds::here).transpose()?;
        std::thread::park_timeout(REST);
        Ok(Load::of_text(load)?.start_at(speeds)?)
    }
}

/// Takes the lines there are.
type Put<'a> = &'a mut dyn FnMut(&str);

/// A packed table.
struct Table {
    out: GzEncoder<BufWriter<File>>,
    failed: Option<std::io::Error>,
    /// The machine, beside it.
    machine: String,
}

impl Table {
    fn create(path: &Path) -> std::io::Result<Table> {
        let out = GzEncoder::new(BufWriter::new(File::create(path)?), Compression::fast());
        let machine = format!("{}.topo.json", path.to_string_lossy().trim_end_matches(".csv.gz"));
        Ok(Table { out, failed: None, machine })
    }

    /// A line, unless one before could not be written.
    fn put(&mut self, line: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(line.as_bytes()).err();
        }
    }

    fn finish(self, machine: Option<&str>) -> std::io::Result<()> {
        self.failed.map_or(Ok(()), Err)?;
        self.out.finish()?.flush()?;
        machine.map_or(Ok(()), |machine| std::fs::write(self.machine, machine))
    }
}

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

/// A table: its first line, what comes from `settle` after a load began until it is over, and what is left.
fn record<S: TableSession<Summary = TableSummary>>(
    table: &Path,
    work: &Work,
    (mut session, settle): (S, Duration),
    over: impl Fn(&mut S, Put<'_>),
) -> Result<(TableSummary, Vec<String>), Box<dyn Error>> {
    let mut out = Table::create(table)?;
    out.put(&session.header());
    let mut notes = Vec::new();
    for (load, duration) in &work.loads {
        let running = work.start(load)?;
        std::thread::park_timeout(settle);
        session.settled()?;
        let begin = Instant::now();
        while begin.elapsed() < *duration {
            session.poll(&mut |line| out.put(line));
        }
        notes.extend(running.notes.clone());
        drop(running);
        // What is left in the buffer is written faster when nothing else runs.
        over(&mut session, &mut |line| out.put(line));
    }
    let summary = session.finish(&mut |line| out.put(line))?;
    out.finish(summary.machine.as_deref())?;
    Ok((summary, notes))
}

fn placements(table: &Path, work: &Work) -> Result<Value, Box<dyn Error>> {
    let over = |session: &mut PlacementSession, put: Put<'_>| session.flush(put);
    let (TableSummary { cpus, records, lost, seconds, .. }, notes) =
        record(table, work, (PlacementSession::start()?, Duration::ZERO), over)?;
    Ok(json!({"cpus": cpus, "decisions": records, "lost": lost, "seconds": seconds, "notes": notes}))
}

fn clamps(table: &Path, work: &Work) -> Result<Value, Box<dyn Error>> {
    let over = |session: &mut ClampSession, put: Put<'_>| _ = session.poll(put);
    let (TableSummary { cpus, records, lost, seconds, .. }, notes) =
        record(table, work, (ClampSession::start()?, Duration::ZERO), over)?;
    Ok(json!({"cpus": cpus, "records": records, "lost": lost, "seconds": seconds, "notes": notes}))
}

fn gates(table: &Path, work: &Work) -> Result<Value, Box<dyn Error>> {
    let over = |session: &mut GateSession, put: Put<'_>| _ = session.poll(put);
    let (TableSummary { cpus, records, lost, seconds, .. }, notes) =
        record(table, work, (GateSession::start()?, SETTLE), over)?;
    let workload = &work.loads[0].0;
    Ok(json!({
        "workload": workload, "cpus": cpus, "decisions": records, "lost": lost, "seconds": seconds, "notes": notes,
    }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let work = Work::of(&arguments)?;
    let table = |option| after(&arguments, option).map(Path::new);
    let searches = arguments.iter().find_map(|word| word.strip_prefix("--balances="));
    let counts_balances = searches.is_some() || arguments.iter().any(|word| word == "--balances");
    let told = match (table("--placements"), table("--clamps"), table("--gates")) {
        (Some(table), ..) => placements(table, &work)?,
        (_, Some(table), _) => clamps(table, &work)?,
        (.., Some(table)) => gates(table, &work)?,
        _ if counts_balances => balances::count(&work, searches.map(Path::new))?,
        _ if after(&arguments, "--observe").is_some() => observer::beside(&arguments, || counters::count(&work))?,
        _ => scheduler::beside(&arguments, || counters::count(&work))?,
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
