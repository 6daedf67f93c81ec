// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of a recording for the recorded load: CPU time and duration of `hackbench` alone, with scheduler events
//! recorded, and with everything. The three take turns, so that all see the same machine; the median of each counts.
//!
//! Needs root, the kernel's type information and hackbench (Debian: rt-tests); says what is missing otherwise.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use pelton_live::{EventSet, Options, READER_NICE, SETS, Session, Summary, buffer_mib_default, header, set_nice};
use pelton_schema::Sink;
use pelton_trace::PeltonLog;

/// Rounds of the three.
const ROUNDS: usize = 9;
/// 80 tasks, 240 000 messages of 100 bytes.
const HACKBENCH: [&str; 4] = ["-g", "2", "-l", "300"];

/// One run of hackbench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    cpu_us: i64,
    wall_us: i64,
}

/// One way to record while hackbench runs, with the figures of its turns.
struct Case {
    name: &'static str,
    sets: Vec<EventSet>,
    costs: Vec<Cost>,
    events: u64,
    lost: u64,
}

fn children_cpu_us() -> i64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("a system call without conditions");
    usage.user_time().num_microseconds() + usage.system_time().num_microseconds()
}

/// Runs hackbench to its end and calls `meanwhile` over and over.
fn hackbench(mut meanwhile: impl FnMut()) -> std::io::Result<Cost> {
    let (cpu_us, start) = (children_cpu_us(), Instant::now());
    let mut child = Command::new("hackbench").args(HACKBENCH).stdout(Stdio::null()).spawn()?;
    while child.try_wait()?.is_none() {
        meanwhile();
    }
    Ok(Cost { cpu_us: children_cpu_us() - cpu_us, wall_us: start.elapsed().as_micros() as i64 })
}

fn recorded(sets: &[EventSet], path: &Path) -> Result<(Cost, Summary), String> {
    let options = Options { sets: sets.to_vec(), full: false, buffer_mib: buffer_mib_default(), btf: None };
    let mut session = Session::start(&options).map_err(|error| error.to_string())?;
    let file = File::create(path).map_err(|error| error.to_string())?;
    let mut log = PeltonLog::new(file, &header("bench", "hackbench"));
    let cost = hackbench(|| {
        // Only now: hackbench keeps the priority it was started with.
        let _ = set_nice(READER_NICE);
        session.poll(&mut |time_ns, event| log.event(time_ns, event));
    });
    let _ = set_nice(0);
    let summary = session.finish(&mut |time_ns, event| log.event(time_ns, event));
    log.finish().map_err(|error| error.to_string())?;
    Ok((cost.map_err(|error| error.to_string())?, summary))
}

fn round(case: &mut Case, path: &Path) -> Result<(), String> {
    if case.sets.is_empty() {
        let pause = || std::thread::park_timeout(std::time::Duration::from_millis(5));
        case.costs.push(hackbench(pause).map_err(|error| format!("hackbench (rt-tests): {error}"))?);
        return Ok(());
    }
    let (cost, summary) = recorded(&case.sets, path)?;
    case.costs.push(cost);
    case.events += summary.total();
    case.lost += summary.lost;
    Ok(())
}

fn median(case: &Case, of: impl Fn(&Cost) -> i64) -> i64 {
    let mut values: Vec<i64> = case.costs.iter().map(of).collect();
    values.sort_unstable();
    values[values.len() / 2]
}

fn print(case: &Case, alone: &Case) {
    let (cpu_us, wall_us) = (median(case, |c| c.cpu_us), median(case, |c| c.wall_us));
    let added = |now: i64, before: i64| (now - before) as f64 * 100.0 / before.max(1) as f64;
    let cpu_pct = added(cpu_us, median(alone, |c| c.cpu_us));
    let wall_pct = added(wall_us, median(alone, |c| c.wall_us));
    let Case { name, events, lost, .. } = case;
    println!(
        r#"{{"bench":"record-cost/{name}","ops":1,"ns":{},"hash":"-","cpu_added_pct":{cpu_pct:.1},"wall_added_pct":{wall_pct:.1},"events":{events},"lost":{lost}}}"#,
        cpu_us * 1000
    );
}

fn main() {
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let case = |name, sets| Case { name, sets, costs: Vec::new(), events: 0, lost: 0 };
    let all = SETS.map(|(_, set)| set).to_vec();
    let mut cases = [case("alone", Vec::new()), case("sched", vec![EventSet::Sched]), case("all", all)];
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record_cost.plog");
    for _ in 0..ROUNDS {
        if let Err(what) = cases.iter_mut().try_for_each(|case| round(case, &path)) {
            println!("not measured: the cost of recording ({what})");
            return;
        }
    }
    cases.iter().for_each(|case| print(case, &cases[0]));
    let _ = std::fs::remove_file(path);
}
