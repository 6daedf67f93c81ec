// SPDX-License-Identifier: GPL-2.0-or-later
//! A run as a Perfetto trace (`.pftrace`).
//!
//! The Perfetto UI and trace processor see a recorded Linux machine: scheduling, wake-ups, migrations, frequencies,
//! idle states and interrupts are ftrace events in one bundle per CPU, threads have names, CPUs have capacities. What a
//! real machine cannot show is added as tracks:
//!
//! ```text
//! CPU utilization    > CPU n       > util_avg, util_est, runnable_avg, rt / dl / irq util_avg, hw load_avg
//! Task utilization   > name pid    > util_avg, util_est, activations (slices)
//! Frequency domains  > name        > performance target, requested and resolved frequency, power
//! Task groups        > path        > files written (instants)
//! ```
//!
//! **Identifiers.** The idle task is pid 0; task `t` is pid `1000 + t` in process 1000, because low pids mean something
//! to readers (2 is the parent of all kernel threads). Time 0 of the run is time 0 of the boot clock. What was recorded
//! on a machine ([`PerfettoTrace::recorded`]) keeps its ids, and its threads are named by its events.
//!
//! **Order.** Events are buffered per CPU and written together when 256 KiB have gathered, so packets overlap in time
//! by that much; the trace processor sorts the whole file. Memory stays bounded by the buffer, plus one entry per task.
//!
//! **End.** The first packets say that tracing starts, the last that it is over, as Perfetto's own recorder does. A
//! trace of ours that has no end was cut, and readers say so.
//!
//! **Why the encoder is written by hand.** The `perfetto_protos` crate (0.51) takes 70 s to build for tests and 210 s
//! optimised on two cores, all of Perfetto's messages included. We write a few messages, and append them to a buffer in
//! place instead of allocating each. That the numbers in `fields.rs` are right is proved by decoding with the protobufs
//! of Perfetto's own Python package (`tests/trace/check_perfetto.py`).

mod by_index;
pub(crate) mod fields;
mod ftrace;
mod preamble;
pub(crate) mod proto;
pub mod read;
mod tracks;

use std::collections::BTreeMap;
use std::io;

use pelton_schema::{Balance, Event, EventInfo, Placed, PlacementRecord, Sink, Walk, placed_words, unpack_name};

use crate::header::RunHeader;
use crate::output::Output;
use ftrace::FtraceBundles;
use tracks::Tracks;

/// Process id of the workload; task `t` has thread id `PROCESS_PID + t`.
pub const PROCESS_PID: u32 = 1000;

/// Stands for the recorded kernel in a release when it is not known.
pub(crate) const KERNEL_UNKNOWN: &str = "kernel not known";

/// Packet sequence of everything but ftrace.
const TRACK_SEQUENCE: u64 = 1;
/// Packet sequence of the ftrace bundles.
const FTRACE_SEQUENCE: u64 = 2;
/// Gathered bytes at which everything is written.
const GATHERED_BYTES_TARGET: usize = 256 << 10;

/// Kind of the task ids of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskIds {
    /// Of a run: dense from 1, and shifted in the trace.
    Run,
    /// Of a kernel.
    Kernel,
}

impl TaskIds {
    /// Thread id of a task in the trace.
    #[inline]
    pub(crate) fn pid_of(self, tid: u32) -> u32 {
        match self {
            TaskIds::Run if tid != 0 => PROCESS_PID.wrapping_add(tid),
            _ => tid,
        }
    }
}

/// Appends what stands before a packet of `length` bytes.
fn put_packet_head(out: &mut Vec<u8>, length: usize) {
    proto::put_bytes_head(out, fields::trace::PACKET, length);
}

/// Appends a packet of any length.
fn put_packet(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    proto::put_message(out, fields::trace::PACKET, fill);
}

/// Writes the events of a run as a Perfetto trace.
///
/// ```
/// use pelton_schema::{Event, Sink, unpack_name};
/// use pelton_trace::{PerfettoTrace, RunHeader, perfetto::read::{PerfettoReader, Record}};
///
/// let mut file = Vec::new();
/// let mut trace = PerfettoTrace::new(&mut file, &RunHeader::default());
/// let event = Event::CpuFrequency { cpu: 3, freq_khz: 600_000 };
/// trace.event(1_000, &event);
/// trace.finish().unwrap();
///
/// let records: Vec<_> = PerfettoReader::new(&file[..]).map(Result::unwrap).collect();
/// assert!(records.contains(&Record::Ftrace { time_ns: 1_000, pid: 0, event }));
/// ```
pub struct PerfettoTrace<W: io::Write> {
    output: Output<W>,
    bundles: FtraceBundles,
    tracks: Tracks,
    ftrace_events: u64,
    /// Events that no packet can hold, by code.
    left_out: BTreeMap<u8, u64>,
    /// Reused for every write.
    gathered: Vec<u8>,
}

/// Contents of a finished trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfettoSummary {
    /// Ftrace events written.
    pub ftrace_events: u64,
    /// Counter values written: changes only.
    pub counter_values: u64,
    /// Length of the file, bytes.
    pub bytes: u64,
}

impl<W: io::Write> PerfettoTrace<W> {
    /// Starts a trace. Writes are large, so `out` needs no buffer.
    pub fn new(out: W, run: &RunHeader) -> Self {
        Self::start(out, run, TaskIds::Run)
    }

    /// Starts a trace of what was recorded on a machine: task ids are the kernel's and stay what they are.
    pub fn recorded(out: W, run: &RunHeader) -> Self {
        Self::start(out, run, TaskIds::Kernel)
    }

    fn start(out: W, run: &RunHeader, ids: TaskIds) -> Self {
        let mut output = Output::new(out);
        output.put(&preamble::encode(run, ids));
        let gathered = Vec::with_capacity(GATHERED_BYTES_TARGET);
        let (bundles, tracks) = (FtraceBundles::new(run, ids), Tracks::new(run, ids));
        PerfettoTrace { output, bundles, tracks, ftrace_events: 0, left_out: BTreeMap::new(), gathered }
    }

    /// From here on the task has this name; events say the same with `task_name`.
    pub fn name_task(&mut self, tid: u32, name: &str) {
        self.bundles.name_task(tid, name);
        self.tracks.name_task(tid, name);
    }

    /// Writes what is gathered; returns the first error of the whole trace, if any.
    pub fn finish(mut self) -> io::Result<PerfettoSummary> {
        self.write_gathered();
        let mut end = Vec::new();
        preamble::put_service_event(&mut end, fields::service_event::TRACING_DISABLED);
        self.output.put(&end);
        self.abandon()
    }

    /// Ends a trace that does not hold everything: without the packet that says so, so that readers know. Returns the
    /// first error of the whole trace, if any.
    pub fn abandon(mut self) -> io::Result<PerfettoSummary> {
        self.write_gathered();
        let bytes = self.output.finish()?;
        Ok(PerfettoSummary { ftrace_events: self.ftrace_events, counter_values: self.tracks.values, bytes })
    }

    /// Events so far that a Perfetto trace cannot hold, by name.
    pub fn left_out(&self) -> BTreeMap<&'static str, u64> {
        self.left_out.iter().filter_map(|(&code, &n)| Some((EventInfo::of_code(code)?.name, n))).collect()
    }

    /// True once a write failed: nothing more reaches the file, and `finish` will say why.
    pub fn has_failed(&self) -> bool {
        self.output.has_failed()
    }

    #[inline]
    fn write_when_full(&mut self) {
        if self.bundles.bytes + self.tracks.packets.len() >= GATHERED_BYTES_TARGET {
            self.write_gathered();
        }
    }

    fn write_gathered(&mut self) {
        self.bundles.flush(&mut self.gathered);
        self.output.put(&self.gathered);
        self.gathered.clear();
        self.output.put(&self.tracks.packets);
        self.tracks.packets.clear();
    }
}

impl<W: io::Write> Sink for PerfettoTrace<W> {
    const BALANCES: bool = true;
    const PLACEMENTS: bool = true;

    fn placement(&mut self, time_ns: u64, tid: u32, read: &PlacementRecord, placed: &Placed) {
        self.tracks.placement(time_ns, tid, &placed_words(read, placed));
        self.write_when_full();
    }

    fn balance(&mut self, time_ns: u64, balance: &Balance<'_>) {
        self.tracks.balance(time_ns, balance);
        self.write_when_full();
    }

    fn walk(&mut self, time_ns: u64, walk: &Walk) {
        self.tracks.walk(time_ns, walk);
        self.write_when_full();
    }

    #[inline]
    fn event(&mut self, time_ns: u64, event: &Event) {
        if let Event::TaskName { tid, name_0, name_8 } = *event {
            return self.name_task(tid, &unpack_name(name_0, name_8));
        }
        if self.bundles.event(time_ns, event) {
            self.ftrace_events += 1;
        } else if !self.tracks.event(time_ns, event) {
            *self.left_out.entry(event.code()).or_default() += 1;
        }
        self.write_when_full();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_schema::{GroupWords, PlacedWords, WalkWhy};

    #[test]
    fn updates_of_blocked_load_have_a_track_of_the_cpu_that_makes_them() {
        let mut file = Vec::new();
        let mut trace = PerfettoTrace::new(&mut file, &RunHeader::default());
        trace.walk(9, &Walk { cpu: 4, by: 1, queues: 6, cost_ns: 33_000, why: WalkWhy::IdleWalk });
        trace.finish().expect("a vector takes everything");
        let has = |text: &str| file.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(["CPU 1", "updates of blocked load", "walk over idle CPUs", "queues"].iter().all(|text| has(text)));
        assert!(read::PerfettoReader::new(&file[..]).all(|record| record.is_ok()), "readers pass over instants");
    }

    #[test]
    fn placements_have_a_track_of_the_cpu_that_is_chosen() {
        let mut file = Vec::new();
        let mut trace = PerfettoTrace::new(&mut file, &RunHeader::default());
        let words = PlacedWords {
            cpu: 3,
            previous_cpu: 1,
            executing_cpu: 0,
            event: "wake-up",
            rule: "energy",
            start: "not asked",
            util_avg: 77,
            effective_loads: Some([4_100, -3]),
            scan: Some(("SIS_UTIL", Some(5), 2)),
            groups: Some(GroupWords { decided_by: "idle CPUs", own: Some(("fully busy", 0)), other: None }),
            overutilized: false,
            energy_added: vec![(1, 500), (3, -20)],
        };
        trace.tracks.placement(9, 5, &words);
        trace.finish().expect("a vector takes everything");
        let has = |text: &str| file.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(["CPU 3", "placements", "previous_cpu", "energy", "CPU 1 +500, CPU 3 -20"].iter().all(|t| has(t)));
        let read = ["this_effective_load", "previous_effective_load", "scan_limit", "scanned", "SIS_UTIL"];
        assert!(read.iter().all(|t| has(t)), "what the decision read");
        assert!(["groups_decided_by", "idle CPUs", "own_group", "fully busy, 0 idle CPUs"].iter().all(|t| has(t)));
        assert!(!has("best_other_group"), "a group that was not compared");
    }

    #[test]
    fn memory_stays_bounded_over_a_long_run() {
        let mut trace = PerfettoTrace::new(io::sink(), &RunHeader::default());
        for step in 0..200_000u32 {
            let cpu = step % 16;
            trace.event(u64::from(step), &Event::CpuIdle { cpu, state: 0 });
            trace.event(u64::from(step), &Event::PeltRt { cpu, util_avg: step });
            let held = trace.bundles.bytes + trace.tracks.packets.len();
            assert!(held < GATHERED_BYTES_TARGET, "{held} bytes held at step {step}");
        }
        let summary = trace.finish().expect("a sink takes everything");
        assert!(summary.bytes > 20 * GATHERED_BYTES_TARGET as u64, "{summary:?}");
    }
}
