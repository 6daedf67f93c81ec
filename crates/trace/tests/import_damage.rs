// SPDX-License-Identifier: GPL-2.0-or-later
//! Damage of every kind in all binary formats, and `trace.dat` of every kind of machine.
//!
//! Our log carries checksums: whatever is flipped or cut is said. A `trace.dat` says how long it is: every cut is said.
//! A Perfetto trace says neither: a cut between two packets looks like a shorter trace. What is flipped inside a record
//! of those two may read as another record; it must not do more than that.

use crate::invented_dat::{CpuPages, Packing, Shape, cpu_of};
use crate::kept::kept;
use crate::processor_time;
use crate::synthetic;
use pelton_schema::{Event, Sink};
use pelton_trace::import::{Format, OpenOptions, TraceInfo, open};
use pelton_trace::{PeltonLog, PerfettoTrace};
use proptest::prelude::*;

const CPUS: u32 = 8;

type Events = Vec<(u64, Event)>;

/// Reads a file to its end; `None` when it cannot be opened. No event is handed out for less than a byte of file.
fn read(bytes: &[u8], format: Option<Format>) -> Option<(Events, TraceInfo)> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("room");
    let mut source = open(file.path(), &OpenOptions { format, ..OpenOptions::default() }).ok()?;
    let mut events = Vec::new();
    while let Some(timed) = source.next().expect("no fault of the system") {
        assert!(events.last().is_none_or(|&(time, _)| time <= timed.time_ns), "time runs backwards");
        events.push((timed.time_ns, timed.event));
        assert!(events.len() <= 4 * bytes.len() + 64, "more events than bytes");
    }
    Some((events, source.info().clone()))
}

/// Events of the four kinds the writer knows, by time and CPU.
fn invented(count: usize) -> Events {
    let events = synthetic::Synthetic::new(3).filter(|(_, event)| cpu_of(event).is_some());
    // A gap that does not fit the time of one record.
    let mut events: Events =
        events.take(count).enumerate().map(|(i, (t, event))| (t + ((i as u64 / 50) << 28), event)).collect();
    events.sort_by_key(|(time_ns, event)| (*time_ns, cpu_of(event)));
    events
}

fn buffer(shape: &Shape, events: &[(u64, Event)], lost: Option<(usize, u64)>) -> Vec<CpuPages> {
    let of = |cpu| events.iter().filter(|(_, event)| cpu_of(event) == Some(cpu)).copied().collect::<Vec<_>>();
    (0..CPUS).map(|cpu| shape.pages(&of(cpu), lost.filter(|_| cpu == 2))).collect()
}

fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for big in [false, true] {
        for long_bytes in [4, 8] {
            let plain = Shape { version: 6, big, long_bytes, page_bytes: 512, packing: Packing::None };
            shapes.push(plain);
            shapes.extend([Packing::None, Packing::Zlib, Packing::Zstd].map(|packing| Shape {
                version: 7,
                packing,
                ..plain
            }));
        }
    }
    shapes
}

#[test]
fn every_machine_and_packing_gives_the_same_events() {
    let events = invented(2_000);
    // Sixteen of these are more than what is unpacked at a time.
    let large = Shape { page_bytes: 2 << 20, ..Shape::usual() };
    let large = [large, Shape { version: 7, packing: Packing::Zstd, ..large }];
    for shape in shapes().into_iter().chain(large) {
        let file = shape.file(&[buffer(&shape, &events, None)]);
        let (found, info) = read(&file, None).unwrap_or_else(|| panic!("{shape:?} opens"));
        assert!(found == events, "{shape:?}: {} of {} events", found.len(), events.len());
        assert!(info.is_complete() && info.format == Format::TraceDat, "{shape:?}: {:?}", info.damage);
        assert_eq!(info.task_name(7), "task-7", "{shape:?}: events name tasks after the list does");
        assert_eq!((info.task_name(300), info.cpus), ("three-hundred".to_owned(), CPUS), "{shape:?}");
    }
}

#[test]
fn buffers_are_merged() {
    let events = invented(2_000);
    let (idle, other): (Events, Events) = events.iter().partition(|(_, event)| matches!(event, Event::CpuIdle { .. }));
    let mut expected = [other.clone(), idle.clone()].concat();
    expected.sort_by_key(|(time_ns, _)| *time_ns);
    for shape in shapes() {
        let file = shape.file(&[buffer(&shape, &other, None), buffer(&shape, &idle, None)]);
        let (found, info) = read(&file, None).unwrap_or_else(|| panic!("{shape:?} opens"));
        assert!(found == expected && info.is_complete(), "{shape:?}: {} events, {:?}", found.len(), info.damage);
        // The same events in both are handed out once.
        let file = shape.file(&[buffer(&shape, &events, None), buffer(&shape, &idle, None)]);
        assert!(read(&file, None).expect("opens").0 == events, "{shape:?}");
    }
}

#[test]
fn lost_records_are_counted_where_they_are_missing() {
    let events = invented(2_000);
    for shape in shapes() {
        for lost in [0, 77] {
            let file = shape.file(&[buffer(&shape, &events, Some((1, lost)))]);
            let (found, info) = read(&file, None).unwrap_or_else(|| panic!("{shape:?} opens"));
            let told: Vec<_> = found.iter().filter(|(_, event)| matches!(event, Event::LostEvents { .. })).collect();
            let expected = Event::LostEvents { cpu: 2, count: lost };
            assert!(told.len() == 1 && told[0].1 == expected, "{shape:?}: {told:?}");
            assert_eq!((info.lost, info.lost_unknown), (lost, u64::from(lost == 0)), "{shape:?}");
            assert!(found.len() == events.len() + 1 && !info.is_complete() && info.damaged == 0, "{shape:?}");
        }
    }
}

#[test]
fn every_cut_of_a_trace_dat_is_said() {
    let events = invented(60);
    for shape in shapes() {
        let file = shape.file(&[buffer(&shape, &events, None)]);
        let step = if shape.packing == Packing::None { 7 } else { 3 };
        for length in (0..file.len()).step_by(step) {
            let Some((found, info)) = read(&file[..length], Some(Format::TraceDat)) else { continue };
            assert!(!info.is_complete(), "{shape:?} cut at {length} of {}: {} events", file.len(), found.len());
        }
    }
}

fn log_file(count: usize) -> (Events, Vec<u8>) {
    let events: Events = synthetic::Synthetic::new(1).take(count).collect();
    let mut file = Vec::new();
    let mut log = PeltonLog::new(&mut file, &synthetic::header());
    events.iter().for_each(|(time_ns, event)| log.event(*time_ns, event));
    log.finish().expect("a vector takes everything");
    (events, file)
}

fn perfetto_file(count: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let mut trace = PerfettoTrace::new(&mut file, &synthetic::header());
    synthetic::Synthetic::new(1).take(count).for_each(|(time_ns, event)| trace.event(time_ns, &event));
    trace.finish().expect("a vector takes everything");
    file
}

#[test]
fn every_cut_of_a_log_is_said() {
    let (_, file) = log_file(300);
    for length in 0..file.len() {
        if let Some((_, info)) = read(&file[..length], Some(Format::PeltonLog)) {
            assert!(!info.is_complete(), "cut at {length} of {}", file.len());
        }
    }
}

/// Offsets at which packets of a trace end.
fn packet_ends(file: &[u8]) -> Vec<usize> {
    let (mut at, mut ends) = (0, vec![0]);
    while at < file.len() {
        at += 1;
        let (mut length, mut shift) = (0usize, 0);
        while file[at] >= 0x80 {
            length |= usize::from(file[at] & 0x7f) << shift;
            shift += 7;
            at += 1;
        }
        at += 1 + (length | usize::from(file[at]) << shift);
        ends.push(at);
    }
    ends
}

#[test]
fn every_cut_of_a_perfetto_trace_within_a_packet_is_said() {
    let file = perfetto_file(400);
    let ends = packet_ends(&file);
    assert_eq!(ends.last(), Some(&file.len()));
    for length in (0..file.len()).step_by(5) {
        if let Some((_, info)) = read(&file[..length], Some(Format::Perfetto)) {
            assert!(!info.is_complete() || ends.contains(&length), "cut at {length} of {}", file.len());
        }
    }
}

#[test]
fn hostile_sizes_cost_no_memory_and_no_time() {
    let shape = Shape { page_bytes: 4096, ..Shape::usual() };
    let page = shape.pages(&invented(400), None);
    // Every CPU there can be, each claiming everything.
    let mut file = shape.head_6(&vec![u64::MAX >> 20; 8192]);
    page.iter().for_each(|page| file.extend(page));
    let started = processor_time::Moment::now();
    if let Some((found, info)) = read(&file, None) {
        assert!(!info.is_complete() && found.len() <= 400, "{} events", found.len());
    }
    assert!(started.elapsed().as_secs() < 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: kept(), ..ProptestConfig::default() })]

    #[test]
    fn a_flip_in_a_log_is_said(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let (events, mut file) = log_file(120);
        let at = at.index(file.len());
        file[at] ^= 1 << bit;
        if let Some((found, info)) = read(&file, Some(Format::PeltonLog)) {
            prop_assert!(!info.is_complete() || found == events, "flip at {} bit {}", at, bit);
        }
    }

    #[test]
    fn flips_in_a_trace_dat_do_no_more_than_change_it(
        shape in 0usize..16,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..6),
    ) {
        let shape = shapes()[shape];
        let mut file = shape.file(&[buffer(&shape, &invented(120), None)]);
        for (at, bit) in flips {
            let at = at.index(file.len());
            file[at] ^= 1 << bit;
        }
        read(&file, Some(Format::TraceDat));
    }

    #[test]
    fn flips_in_a_perfetto_trace_do_no_more_than_change_it(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..6),
    ) {
        let mut file = perfetto_file(200);
        for (at, bit) in flips {
            let at = at.index(file.len());
            file[at] ^= 1 << bit;
        }
        read(&file, Some(Format::Perfetto));
    }

    #[test]
    fn noise_is_no_trace(noise in prop::collection::vec(any::<u8>(), 0..2_000), keep in 0usize..200) {
        for (format, good) in [
            (Format::TraceDat, Shape::usual().file(&[buffer(&Shape::usual(), &invented(20), None)])),
            (Format::Perfetto, perfetto_file(20)),
            (Format::PeltonLog, log_file(20).1),
        ] {
            read(&noise, Some(format));
            let mixed = [&good[..keep.min(good.len())], &noise[..]].concat();
            read(&mixed, Some(format));
        }
    }
}
