// SPDX-License-Identifier: GPL-2.0-or-later
//! Files of any length: invented events in every format.

use std::io::{self, Write};

use pelton_schema::{Event, Sink};
use pelton_trace::{PeltonLog, PerfettoTrace};

use crate::invented_dat::{CpuPages, Shape, cpu_of};
use crate::invented_text::Layout;
use crate::synthetic;

/// CPUs of the invented machine.
const CPUS: u32 = 8;
/// Different pages per CPU; they repeat with later times.
const PAGES: usize = 64;
/// Tasks of the traces with many: each batch of events has its own.
const MANY_TASKS: u32 = 100_000;

/// One round of pages of every CPU, and how much later the next round is.
fn pages(shape: &Shape) -> (Vec<CpuPages>, u64) {
    let events: Vec<_> = synthetic::Synthetic::new(1).take(PAGES * 8 * 3_000).collect();
    let of = |cpu| {
        let own: Vec<_> = events.iter().filter(|(_, event)| cpu_of(event) == Some(cpu)).copied().collect();
        let mut pages = shape.pages(&own, None);
        pages.truncate(PAGES);
        assert_eq!(pages.len(), PAGES, "enough events for every CPU");
        pages
    };
    ((0..CPUS).map(of).collect(), events.last().map_or(0, |last| last.0))
}

/// Moves pages to the next round.
fn shift(pages: &mut CpuPages, by_ns: u64) {
    for page in pages {
        let time_ns = u64::from_le_bytes(page[..8].try_into().expect("eight bytes")) + by_ns;
        page[..8].copy_from_slice(&time_ns.to_le_bytes());
    }
}

/// Rounds of pages that make so many bytes.
fn rounds(shape: &Shape, bytes: u64) -> u64 {
    (bytes / (u64::from(CPUS) * PAGES as u64 * shape.page_bytes as u64)).max(1)
}

/// A `trace.dat` of version 6, 8 CPUs, 4 KiB pages.
pub fn write_dat(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    let shape = Shape::usual();
    let rounds = rounds(&shape, bytes);
    let round_bytes = PAGES as u64 * shape.page_bytes as u64;
    out.write_all(&shape.head_6(&vec![rounds * round_bytes; CPUS as usize]))?;
    let (cpus, length_ns) = pages(&shape);
    for mut pages in cpus {
        for _ in 0..rounds {
            pages.iter().try_for_each(|page| out.write_all(page))?;
            shift(&mut pages, length_ns);
        }
    }
    Ok(())
}

/// A `trace.dat` of version 7, of so many bytes before it is packed.
pub fn write_dat_7(out: &mut dyn Write, bytes: u64, shape: &Shape) -> io::Result<()> {
    let (mut round, length_ns) = pages(shape);
    let mut all: Vec<CpuPages> = vec![CpuPages::new(); CPUS as usize];
    for _ in 0..rounds(shape, bytes) {
        for (pages, all) in round.iter_mut().zip(&mut all) {
            all.extend_from_slice(pages);
            shift(pages, length_ns);
        }
    }
    out.write_all(&shape.file(&[all]))
}

/// Sends invented events to a sink until `full` says so after a batch of them.
fn fill<S: Sink>(sink: &mut S, ftrace_only: bool, many: bool, full: impl Fn() -> bool) {
    let mut events = synthetic::Synthetic::new(1).filter(|(_, event)| !ftrace_only || cpu_of(event).is_some());
    let mut batch = 0;
    while !full() {
        for (time_ns, event) in events.by_ref().take(1000) {
            sink.event(time_ns, &if many { of_batch(event, batch) } else { event });
        }
        batch += 1;
    }
}

/// The event with the tasks of a batch: 32 others in each.
fn of_batch(event: Event, batch: u32) -> Event {
    let of = |tid: u32| if tid == 0 { 0 } else { 1 + (tid + 32 * batch) % MANY_TASKS };
    match event {
        Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio } => {
            let (prev_tid, next_tid) = (of(prev_tid), of(next_tid));
            Event::SchedSwitch { cpu, prev_tid, prev_prio, prev_state, next_tid, next_prio }
        }
        Event::SchedWaking { cpu, tid, prio, target_cpu } => Event::SchedWaking { cpu, tid: of(tid), prio, target_cpu },
        Event::PeltSe { cpu, tid, util_avg, runnable_avg, load_avg, util_est } => {
            Event::PeltSe { cpu, tid: of(tid), util_avg, runnable_avg, load_avg, util_est }
        }
        other => other,
    }
}

/// Counts the bytes that a sink writes, for the caller that fills the sink.
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

pub fn write_perfetto(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    perfetto(out, bytes, true, false)
}

/// With counter tracks of CPUs and tasks too.
pub fn write_perfetto_with_tracks(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    perfetto(out, bytes, false, false)
}

/// Perfetto trace of many tasks.
pub fn write_perfetto_of_many(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    perfetto(out, bytes, false, true)
}

fn perfetto(out: &mut dyn Write, bytes: u64, ftrace_only: bool, many: bool) -> io::Result<()> {
    let count = std::cell::Cell::new(0);
    let mut trace = PerfettoTrace::new(Shared(out, &count), &synthetic::header());
    fill(&mut trace, ftrace_only, many, || count.get() >= bytes);
    trace.finish().map(drop)
}

pub fn write_log(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    log(out, bytes, false)
}

pub fn write_log_of_many(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    log(out, bytes, true)
}

fn log(out: &mut dyn Write, bytes: u64, many: bool) -> io::Result<()> {
    let count = std::cell::Cell::new(0);
    let mut log = PeltonLog::new(Shared(out, &count), &synthetic::header());
    fill(&mut log, false, many, || count.get() >= bytes);
    log.finish().map(drop)
}

/// Text of one layout; half of the neighbours exchanged, as several CPUs write into one stream.
pub fn write_text(out: &mut dyn Write, bytes: u64, layout: Layout, many: bool) -> io::Result<()> {
    let mut text = layout.head().as_bytes().to_vec();
    let mut written = 0;
    let mut events = synthetic::Synthetic::new(1).filter(|(_, event)| cpu_of(event).is_some());
    let mut batch = 0;
    while written < bytes {
        let mut lines: Vec<(u64, Event)> = events.by_ref().take(1000).collect();
        lines.chunks_exact_mut(4).for_each(|four| four.swap(1, 2));
        for (time_ns, event) in lines {
            let event = if many { of_batch(event, batch) } else { event };
            let tid = if let Event::SchedSwitch { prev_tid, .. } = event { prev_tid } else { (time_ns % 9) as u32 };
            layout.line(&mut text, time_ns, tid, &event)?;
        }
        out.write_all(&text)?;
        written += text.len() as u64;
        text.clear();
        batch += 1;
    }
    out.write_all(layout.tail().as_bytes())
}

/// Repeats rows with later times until there are enough bytes.
fn rows(out: &mut dyn Write, bytes: u64, head: &str, mut row: impl FnMut(&mut Vec<u8>, u64)) -> io::Result<()> {
    let mut text = head.as_bytes().to_vec();
    let (mut written, mut number) = (0, 0);
    while written < bytes {
        while text.len() < 1 << 16 {
            row(&mut text, number);
            number += 1;
        }
        out.write_all(&text)?;
        written += text.len() as u64;
        text.clear();
    }
    Ok(())
}

/// A table of load-tracking calls: entities and queues.
pub fn write_pelt_csv(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    let head = "seq,ts,cpu,type,why,pid,pid2,prio,comm,obj,cfs,depth,on_rq,running,delayed,weight,runnable,ret,now,clock,\
                clock_task,clock_pelt,lost_idle,lut,load_sum,runnable_sum,util_sum,pc,load_avg,runnable_avg,util_avg,\
                util_est,p_lut,p_load_sum,p_runnable_sum,p_util_sum,p_pc,p_load_avg,p_runnable_avg,p_util_avg,a0,a1\n";
    rows(out, bytes, head, |text, i| {
        let (ts, cpu, tid, lut) = (4_000_000_000 + 1_000 * i, i % 8, 100 + i % 31, 3_999_000_000 + 1_000 * i);
        let (kind, object, a) =
            if i % 4 == 0 { ("CFS", cpu, (cpu.to_string(), "1")) } else { ("SE", 8 + tid, (String::new(), "")) };
        let row = format!(
            "{i},{ts},{cpu},{kind},,{tid},0,120,worker {tid},{object},{cpu},0,1,1,0,1048576,1,1,{ts},{ts},{ts},{ts},0,{lut},\
             {},{},{},{},{},{},{},{},{lut},1234567,2345678,{},777,88,512,{},{},{}\n",
            40_000 + i % 7_000,
            30_000_000 + i % 900_000,
            20_000_000 + i % 900_000,
            i % 1024,
            i % 89,
            i % 1024,
            i % 1024,
            i % 512,
            20_000_000 + i % 800_000,
            i % 1000,
            a.0,
            a.1
        );
        text.extend(row.as_bytes());
    })
}

/// A table of decisions.
pub fn write_decision_csv(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    rows(out, bytes, "ts,kind,cpu,pid,comm,a0,a1,a2,a3,a4,a5,a6\n", |text, i| {
        let (ts, cpu, util) = (4_000_000_000 + 1_000 * i, i % 8, i % 1024);
        let row = match i % 3 {
            0 => format!("{ts},next_freq,{cpu},0,,{cpu},{util},1024,1401600,652800,2016000,0\n"),
            1 => format!("{ts},cpu_util,{cpu},0,,{cpu},1024,{util},1024,1024,0,0\n"),
            _ => format!("{ts},select,{cpu},{},worker {cpu},{cpu},8,{},{util},{util},0,1024\n", 100 + i % 31, i % 7),
        };
        text.extend(row.as_bytes());
    })
}

/// A table of activations: one after the other on each CPU.
pub fn write_activation_csv(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    rows(out, bytes, "start_s,duration_s,cpu,pid,comm,duty_cycle\n", |text, i| {
        let us = 100 * i;
        let row = format!(
            "{}.{:06},0.000{:03},{},{},worker {},0.25\n",
            us / 1_000_000,
            us % 1_000_000,
            i % 700,
            i % 8,
            100 + i % 31,
            i % 31
        );
        text.extend(row.as_bytes());
    })
}
