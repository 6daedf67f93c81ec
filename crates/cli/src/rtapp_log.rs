// SPDX-License-Identifier: GPL-2.0-or-later
//! Logs as rt-app writes them: one file per thread, one line per activation, times in microseconds.
//!
//! `perf` counts rt-app's own loops, which a simulator has none of: it is the configured run time, which those loops
//! stand for.

use crate::exit::Failure;
use crate::output;
use pelton_model::Plan;
use pelton_model::workload::TaskSpec;
use pelton_schema::{Event, Sink};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const HEADER: &str = "#idx     perf      run   period           start             end          rel_st      slack c_duration   c_period     wu_lat\n";

/// An activation, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    index: u64,
    configured: u64,
    run: u64,
    start: u64,
    slack: i64,
    period: u64,
    wakeup: u64,
}

/// State of a thread's log.
struct Thread {
    name: String,
    /// Configured run time of each activation of a round.
    configured: Vec<u64>,
    /// The last activation, whose end is the begin of the next.
    pending: Option<Line>,
    begin_ns: Option<u64>,
    text: String,
}

/// Writes the logs when the run is over.
pub struct RtAppLogs {
    folder: PathBuf,
    threads: BTreeMap<u32, Thread>,
}

impl RtAppLogs {
    /// Logs of the plan's tasks in `folder`, which is made if it is not there.
    pub fn create(folder: &Path, plan: &Plan) -> Result<RtAppLogs, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| {
            let reason = format!("cannot make {}: {error}", folder.display());
            Failure::cannot(reason, "choose a folder that may be written")
        })?;
        let thread = |(i, spec): (usize, &TaskSpec)| {
            let (name, configured) = (spec.name.clone(), spec.configured_ns());
            (i as u32 + 1, Thread { name, configured, pending: None, begin_ns: None, text: HEADER.to_owned() })
        };
        let threads = plan.workload.tasks.iter().enumerate().map(thread).collect();
        Ok(RtAppLogs { folder: folder.to_owned(), threads })
    }

    /// Paths that the logs of the plan's tasks would have.
    pub fn paths(folder: &Path, plan: &Plan) -> impl Iterator<Item = PathBuf> {
        plan.workload.tasks.iter().enumerate().map(|(i, spec)| path(folder, &spec.name, i as u32))
    }

    /// Ends the last line of every thread at `now_ns` and writes the files of those that have one.
    pub fn finish(mut self, now_ns: u64) -> Result<(), Failure> {
        for (tid, thread) in &mut self.threads {
            thread.close(now_ns);
            if thread.text.len() == HEADER.len() {
                continue;
            }
            let path = path(&self.folder, &thread.name, tid - 1);
            let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let mut file = output::create_in(&self.folder, &name, false)?;
            file.write_all(thread.text.as_bytes())?;
            file.keep()?;
        }
        Ok(())
    }
}

/// The log of a thread: a name out of a file leads to no other folder.
fn path(folder: &Path, name: &str, number: u32) -> PathBuf {
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    folder.join(format!("rt-app-{name}-{number}.log"))
}

impl Sink for RtAppLogs {
    fn event(&mut self, _time_ns: u64, event: &Event) {
        let Event::TaskActivation { tid, index, start_ns, wakeup_latency_ns, duration_ns, slack_ns, period_ns, .. } =
            *event
        else {
            return;
        };
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let start = start_ns + wakeup_latency_ns;
        thread.close(start);
        let configured = match thread.configured.len() as u64 {
            0 => 0,
            n => thread.configured[(index % n) as usize],
        };
        let run = duration_ns.saturating_sub(wakeup_latency_ns);
        thread.pending =
            Some(Line { index, configured, run, start, slack: slack_ns, period: period_ns, wakeup: wakeup_latency_ns });
    }
}

impl Thread {
    fn close(&mut self, end_ns: u64) {
        let Some(line) = self.pending.take() else { return };
        let begin_ns = *self.begin_ns.get_or_insert(line.start);
        let us = |ns: u64| ns / 1000;
        // Writing into a string cannot fail.
        let _ = writeln!(
            self.text,
            "{:>4} {:>8} {:>8} {:>8} {:>15} {:>15} {:>15} {:>10} {:>10} {:>10} {:>10}",
            line.index,
            us(line.configured),
            us(line.run),
            us(end_ns.saturating_sub(line.start)),
            us(line.start),
            us(end_ns.max(line.start)),
            us(line.start - begin_ns),
            line.slack / 1000,
            us(line.configured),
            us(line.period),
            us(line.wakeup),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::workload::{Op, Phase, TimerId, TimerMode};

    fn periodic(run_ns: u64) -> TaskSpec {
        let timer = Op::Timer { timer: TimerId::Own(0), period_ns: 2_000_000, mode: TimerMode::Relative };
        let phase = Phase { ops: vec![Op::Run { work_ns: run_ns }, timer], ..Phase::default() };
        TaskSpec { name: "t-0".into(), phases: vec![phase], ..TaskSpec::default() }
    }

    #[test]
    fn a_line_has_the_columns_of_rt_app() {
        let mut thread = Thread {
            name: "t-0".into(),
            configured: periodic(760_000).configured_ns(),
            pending: None,
            begin_ns: None,
            text: String::new(),
        };
        let line = Line {
            index: 3,
            configured: thread.configured[0],
            run: 1_435_000,
            start: 6_030_000,
            slack: 535_000,
            period: 2_000_000,
            wakeup: 30_000,
        };
        thread.pending = Some(line);
        thread.close(8_030_000);
        let numbers: Vec<i64> = thread.text.split_whitespace().map(|n| n.parse().expect("a number")).collect();
        assert_eq!(numbers, [3, 760, 1435, 2000, 6030, 8030, 0, 535, 760, 2000, 30]);
        assert_eq!(HEADER.split_whitespace().count(), numbers.len());
    }
}
