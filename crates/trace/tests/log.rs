// SPDX-License-Identifier: GPL-2.0-or-later
//! The log: what is written comes back, and what is damaged says so.

use crate::synthetic;
use std::io::{self, Read};

use crate::kept::kept;
use pelton_schema::{EVENTS, Event, Sink};
use pelton_trace::{LogError, LogReader, LogSummary, PeltonLog, RunHeader};
use proptest::prelude::*;

type Timed = (u64, Event);

fn written(events: impl IntoIterator<Item = Timed>) -> (Vec<u8>, LogSummary) {
    let mut file = Vec::new();
    let mut log = PeltonLog::new(&mut file, &synthetic::header());
    events.into_iter().for_each(|(time_ns, event)| log.event(time_ns, &event));
    let summary = log.finish().expect("a vector takes everything");
    (file, summary)
}

/// The good events and the error after them.
fn read(file: &[u8]) -> (Vec<Timed>, Option<LogError>) {
    let mut reader = match LogReader::open(file) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut events = Vec::new();
    let error = reader.try_for_each(|event| event.map(|event| events.push(event))).err();
    assert_eq!(reader.is_complete(), error.is_none());
    assert!(reader.next().is_none(), "nothing comes after the end");
    (events, error)
}

/// Every declared event with every column at `value`, or at its largest when the column is narrower.
fn every_event_at(value: u64) -> Vec<Event> {
    let of_values = |code, values: &[u64]| Event::from_values(code, values);
    let event = |code, columns: usize| {
        let mut values = vec![value; columns];
        for index in 0..columns {
            if of_values(code, &values).is_none() {
                values[index] = values[index].min(u64::from(u32::MAX));
            }
        }
        of_values(code, &values).expect("every column holds 32 bits")
    };
    EVENTS.iter().map(|info| event(info.code, info.columns.len())).collect()
}

#[test]
fn every_event_comes_back_at_its_extremes() {
    for value in [0, 1, 127, 128, u64::from(u32::MAX), u64::MAX] {
        let events: Vec<Timed> = every_event_at(value).into_iter().map(|event| (value, event)).collect();
        let (file, summary) = written(events.clone());
        assert_eq!(summary, LogSummary { events: EVENTS.len() as u64, bytes: file.len() as u64 });
        let (back, error) = read(&file);
        assert_eq!(back, events);
        assert!(error.is_none());
    }
}

#[test]
fn a_long_run_and_its_header_come_back() {
    let events: Vec<Timed> = synthetic::Synthetic::new(3).take(100_000).collect();
    let (file, _) = written(events.clone());
    let reader = LogReader::open(&file[..]).expect("a good log");
    assert_eq!(reader.header(), &synthetic::header());
    assert!(reader.differences().is_empty());
    assert_eq!(read(&file).0, events);
}

#[test]
fn remarks_groups_and_the_kernel_come_back_and_need_newer_versions() {
    let recorded = RunHeader {
        remarks: vec!["clock: CLOCK_MONOTONIC".to_owned()],
        groups: vec!["/".to_owned(), "/build".to_owned()],
        ..synthetic::header()
    };
    let named = RunHeader { kernel: "6.18.44-cloud-amd64".to_owned(), ..recorded.clone() };
    for (run, version) in [(synthetic::header(), 1), (recorded, 2), (named, 3)] {
        let mut file = Vec::new();
        PeltonLog::new(&mut file, &run).finish().expect("memory does not fail");
        assert_eq!(file[8..10], [version, 0]);
        assert_eq!(LogReader::open(&file[..]).expect("a good log").header(), &run);
    }
}

#[test]
fn equal_runs_give_equal_bytes_and_different_runs_do_not() {
    let run = |seed| written(synthetic::Synthetic::new(seed).take(20_000)).0;
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn time_that_goes_backwards_is_an_error_of_the_run() {
    let mut log = PeltonLog::new(Vec::new(), &RunHeader::default());
    log.event(5, &Event::CpuIdle { cpu: 0, state: 0 });
    log.event(4, &Event::CpuIdle { cpu: 0, state: 1 });
    assert_eq!(log.finish().expect_err("backwards").kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_log_cut_anywhere_gives_its_whole_frames_and_says_it_was_cut() {
    let events: Vec<Timed> = synthetic::Synthetic::new(3).take(20_000).collect();
    let (file, _) = written(events.clone());
    let mut most = 0;
    for length in (0..file.len()).step_by(997).chain([file.len() - 1]) {
        let (back, error) = read(&file[..length]);
        assert!(events.starts_with(&back), "cut at {length}");
        match error {
            Some(LogError::Truncated { events }) => assert_eq!(events, back.len() as u64, "cut at {length}"),
            Some(LogError::NotALog) => assert_eq!(length, 0),
            other => panic!("cut at {length}: {other:?}"),
        }
        most = most.max(back.len());
    }
    assert_eq!(most, events.len(), "only the footer is missing in the longest cut");
}

#[test]
fn bytes_after_the_footer_are_reported() {
    let (mut file, _) = written(synthetic::Synthetic::new(3).take(10));
    file.push(0);
    let (back, error) = read(&file);
    assert_eq!(back.len(), 10);
    assert!(matches!(error, Some(LogError::Corrupt { events: 10, what: "something follows the footer", .. })));
}

#[test]
fn a_missing_frame_is_noticed_by_the_footer() {
    let (file, _) = written(synthetic::Synthetic::new(3).take(20_000));
    let header = frame_at(&file, 10);
    let first = frame_at(&file, header.end);
    let without_first = [&file[..first.start], &file[first.end..]].concat();
    let (_, error) = read(&without_first);
    let what = "the footer counts other events than the file holds";
    assert!(matches!(&error, Some(LogError::Corrupt { what: found, .. }) if *found == what), "{error:?}");
}

fn frame_at(file: &[u8], start: usize) -> std::ops::Range<usize> {
    let length = u32::from_le_bytes(file[start + 1..start + 5].try_into().expect("four bytes"));
    start..start + 9 + length as usize
}

#[test]
fn messages_tell_what_is_wrong_and_where() {
    let (file, _) = written(synthetic::Synthetic::new(3).take(10));
    let mut newer = file.clone();
    newer[8] = 9;
    let mut flipped = file.clone();
    let events_frame = frame_at(&file, 10).end;
    flipped[events_frame + 20] ^= 1;
    let cut = &file[..file.len() - 1];
    let texts = [b"\x7fELF", &newer[..], &flipped, cut].map(|file| read(file).1.expect("damaged").to_string());
    assert_eq!(
        texts,
        [
            "not a pelton log (the first bytes are not PELTONLG)",
            "log version 9 is newer than this tool (it reads versions 1..=3)",
            &format!(
                "the log is damaged at byte {events_frame}, after 0 good events: the check sum of a frame is wrong"
            ),
            "the log ends early: 10 events, then no footer",
        ]
    );
}

/// An endless file: one frame after another, made as it is read.
struct Endless {
    frame: Vec<u8>,
    head: Vec<u8>,
    at: usize,
    frames_left: u32,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.head.len() {
            if self.frames_left == 0 {
                return Ok(0);
            }
            self.frames_left -= 1;
            self.head = std::mem::take(&mut self.frame);
            self.frame = self.head.clone();
            self.at = 0;
        }
        let bytes = out.len().min(self.head.len() - self.at);
        out[..bytes].copy_from_slice(&self.head[self.at..self.at + bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}

#[test]
fn reading_holds_one_frame_whatever_the_length() {
    let (file, _) = written((0..100).map(|cpu| (1, Event::CpuIdle { cpu, state: 0 })));
    let header = frame_at(&file, 10);
    let frame = file[frame_at(&file, header.end)].to_vec();
    let frame_bytes = frame.len();
    let input = Endless { frame, head: file[..header.end].to_vec(), at: 0, frames_left: 2_000 };
    let mut reader = LogReader::open(input).expect("a good header");
    let most = std::iter::from_fn(|| reader.next().map(|event| (event.is_ok(), reader.buffered_bytes())));
    let (mut events, mut bytes_max) = (0u32, 0);
    for (good, bytes) in most {
        events += u32::from(good);
        bytes_max = bytes_max.max(bytes);
    }
    assert_eq!(events, 200_000);
    assert!(bytes_max <= header.len().max(frame_bytes) * 2, "{bytes_max} bytes buffered");
}

#[test]
fn an_announced_length_is_not_believed() {
    let (file, _) = written([(1, Event::CpuIdle { cpu: 0, state: 0 })]);
    let mut lying = file[..frame_at(&file, 10).end].to_vec();
    lying.extend([b'E', 0, 0, 16, 0, 0, 0, 0, 0, 1, 2, 3]);
    let mut reader = LogReader::open(&lying[..]).expect("a good header");
    assert!(matches!(reader.next(), Some(Err(LogError::Truncated { events: 0 }))));
    assert!(reader.buffered_bytes() < 64 << 10);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: kept(), ..ProptestConfig::default() })]

    #[test]
    fn a_flipped_bit_never_goes_unnoticed(place: prop::sample::Index, bit in 0u8..8) {
        let events: Vec<Timed> = synthetic::Synthetic::new(11).take(9_000).collect();
        let (mut file, _) = written(events.clone());
        let at = place.index(file.len());
        file[at] ^= 1 << bit;
        let (back, error) = read(&file);
        prop_assert!(error.is_some(), "byte {at} bit {bit}");
        prop_assert!(events.starts_with(&back), "byte {at} bit {bit}: a wrong event was handed out");
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>, keep in 0usize..600) {
        read(&bytes);
        let (mut file, _) = written([(1, Event::CpuIdle { cpu: 0, state: 0 })]);
        file.truncate(keep);
        file.extend(&bytes);
        read(&file);
    }

    #[test]
    fn frames_with_right_check_sums_and_wrong_contents_never_panic(payload: Vec<u8>, footer: bool) {
        let (mut file, _) = written([]);
        let kind = if footer { b'F' } else { b'E' };
        file.truncate(frame_at(&file, 10).end);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&[kind]);
        hasher.update(&(payload.len() as u32).to_le_bytes());
        hasher.update(&payload);
        file.push(kind);
        file.extend((payload.len() as u32).to_le_bytes());
        file.extend(hasher.finalize().to_le_bytes());
        file.extend(&payload);
        prop_assert!(read(&file).1.is_some());
    }
}
