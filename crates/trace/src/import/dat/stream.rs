// SPDX-License-Identifier: GPL-2.0-or-later
//! The records of one CPU of one buffer, page by page.

use std::fs::File;

use super::head::{CpuData, Head};
use super::page::{Entry, PageLayout, entry};
use super::unpack::Packing;
use crate::import::{TraceInfo, place};

/// Bytes read at a time, when the pages are not larger and there are not thousands of CPUs.
const WINDOW_BYTES: usize = 64 << 10;
/// Bytes of all windows together, when the pages are not larger.
const WINDOWS_BYTES: usize = 64 << 20;
/// Most bytes of one packed part when it is unpacked; the largest page fits.
const PART_BYTES_MAX: usize = super::head::PAGE_BYTES_MAX as usize;

/// Next thing on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A record: its data are this range of [`CpuStream::window`].
    Record { start: usize, end: usize },
    /// Gap of so many records; 0: an unknown number.
    Lost(u64),
}

/// The chunks of a packed buffer that are still to come.
#[derive(Clone, Copy, Debug)]
struct Chunks {
    packing: Packing,
    left: u32,
    /// Longest chunk believed, bytes.
    limit: usize,
}

/// One CPU being read.
pub(super) struct CpuStream {
    pub cpu: u32,
    /// Number of the buffer it belongs to.
    pub buffer: usize,
    layout: PageLayout,
    page_bytes: usize,
    window_bytes: usize,
    chunks: Option<Chunks>,
    /// Offset of the next bytes in the file, and of their end.
    offset: u64,
    end: u64,
    pub window: Vec<u8>,
    /// Offset of the next page in the window, and of the window in the file.
    next_page: usize,
    window_offset: u64,
    /// The page being read: place of the next record, end of the records.
    at: usize,
    records_end: usize,
    /// Time of the last record.
    pub time: u64,
    page_time: u64,
    pub next: Option<Next>,
}

impl CpuStream {
    /// One of `count` streams.
    pub fn new(head: &Head, buffer: usize, data: CpuData, count: usize, memory_max: usize) -> CpuStream {
        let of = &head.buffers[buffer];
        let page_bytes = of.page_bytes as usize;
        // Large pages count as many as fit: a part holds one at least.
        let limit = (memory_max / count.max(1)).clamp((16 * page_bytes).min(PART_BYTES_MAX), PART_BYTES_MAX);
        let chunks = of.packed.then_some(Chunks { packing: head.packing, left: u32::MAX, limit });
        // The length of packed records does not count the word that says how many parts there are.
        let count_bytes = if of.packed { 4 } else { 0 };
        CpuStream {
            cpu: data.cpu,
            buffer,
            layout: head.layout,
            page_bytes,
            window_bytes: window_bytes(page_bytes, count),
            chunks,
            offset: data.offset,
            end: data.offset.saturating_add(data.bytes).saturating_add(count_bytes),
            window: Vec::new(),
            next_page: 0,
            window_offset: data.offset,
            at: 0,
            records_end: 0,
            time: 0,
            page_time: 0,
            next: None,
        }
    }

    /// Cuts the stream at the end of the file; true when something was cut off.
    pub fn cut(&mut self, file_bytes: u64) -> bool {
        let cut = self.end > file_bytes;
        self.end = self.end.min(file_bytes);
        self.offset = self.offset.min(self.end);
        cut
    }

    /// Bytes it has in the file.
    pub fn bytes(&self) -> u64 {
        self.end - self.offset
    }

    /// Moves to the next record or gap; [`CpuStream::next`] is `None` at the end.
    #[inline]
    pub fn advance(&mut self, file: &File, info: &mut TraceInfo) -> std::io::Result<()> {
        loop {
            while self.at < self.records_end {
                let before = self.time;
                let records = &self.window[..self.records_end];
                match entry(self.layout.order, records, self.at, &mut self.page_time) {
                    Some(Entry::Record { start, end, next }) => {
                        self.at = next;
                        self.time = self.page_time.max(before);
                        if self.time != self.page_time {
                            self.backwards(info);
                        }
                        self.next = Some(Next::Record { start, end });
                        return Ok(());
                    }
                    Some(Entry::Time { next }) => self.at = next,
                    Some(Entry::End) => self.at = self.records_end,
                    None => {
                        info.damage_at(self.position(), "a record overruns its page: the rest of the page is not read");
                        self.at = self.records_end;
                    }
                }
            }
            if !self.next_page(file, info)? {
                self.next = None;
                return Ok(());
            }
            if self.next.is_some() {
                return Ok(());
            }
        }
    }

    #[cold]
    fn backwards(&mut self, info: &mut TraceInfo) {
        info.damage_at(self.position(), format!("time runs backwards on CPU {}", self.cpu));
        self.page_time = self.time;
    }

    fn position(&self) -> u64 {
        let inside = if self.chunks.is_some() { 0 } else { self.at as u64 };
        self.window_offset + inside
    }

    /// Goes to the next page; `next` is a gap when records are missing before it. False at the end.
    fn next_page(&mut self, file: &File, info: &mut TraceInfo) -> std::io::Result<bool> {
        loop {
            if self.next_page + self.layout.head_bytes() > self.window.len() && !self.fill(file, info)? {
                return Ok(false);
            }
            let start = self.next_page;
            let page = &self.window[start..self.window.len().min(start + self.page_bytes)];
            self.next_page += self.page_bytes;
            self.at = start;
            self.next = None;
            match self.layout.head(page) {
                Ok(head) => {
                    (self.at, self.records_end) = (start + head.start, start + head.end);
                    self.page_time = head.time;
                    if let Some(lost) = head.lost {
                        self.time = self.time.max(head.time);
                        self.next = Some(Next::Lost(lost));
                    }
                    return Ok(true);
                }
                Err(what) => info.damage_at(self.position(), format!("{what}: the page is not read")),
            }
        }
    }

    /// Loads the next pages; false at the end.
    fn fill(&mut self, file: &File, info: &mut TraceInfo) -> std::io::Result<bool> {
        self.next_page = 0;
        (self.at, self.records_end) = (0, 0);
        self.window_offset = self.offset;
        let filled = match self.chunks {
            Some(chunks) => self.fill_packed(chunks, file, info)?,
            None => self.fill_plain(file)?,
        };
        if filled && self.window.len() < self.layout.head_bytes() {
            info.damage_at(self.window_offset, "the last page is cut off");
            return Ok(false);
        }
        Ok(filled)
    }

    fn fill_plain(&mut self, file: &File) -> std::io::Result<bool> {
        let wanted = (self.end - self.offset).min(self.window_bytes as u64) as usize;
        self.window.resize(wanted, 0);
        let found = place::read(file, &mut self.window, self.offset)?;
        self.window.truncate(found);
        self.offset += found as u64;
        Ok(found > 0)
    }

    fn fill_packed(&mut self, mut chunks: Chunks, file: &File, info: &mut TraceInfo) -> std::io::Result<bool> {
        self.window.clear();
        let order = self.layout.order;
        let mut words = [0; 8];
        if chunks.left == u32::MAX {
            if self.end - self.offset < 4 {
                return Ok(false);
            }
            place::read(file, &mut words[..4], self.offset)?;
            chunks.left = (order.number(&words[..4]) as u32).min(u32::MAX - 1);
            self.offset += 4;
        }
        let result = if chunks.left == 0 || self.offset >= self.end {
            if chunks.left != 0 {
                info.damage_at(self.offset, format!("{} packed parts of CPU {} are missing", chunks.left, self.cpu));
            }
            Ok(None)
        } else {
            self.unpack_chunk(chunks, file)?
        };
        chunks.left = chunks.left.saturating_sub(1);
        if let Err(what) = &result {
            info.damage_at(self.offset, format!("{what}: the rest of CPU {} is not read", self.cpu));
            chunks.left = 0;
            self.offset = self.end;
        }
        self.chunks = Some(chunks);
        self.window = result.ok().flatten().unwrap_or_default();
        Ok(!self.window.is_empty())
    }

    /// The next chunk: packed length, length, bytes.
    fn unpack_chunk(&mut self, chunks: Chunks, file: &File) -> std::io::Result<Result<Option<Vec<u8>>, String>> {
        let mut words = [0; 8];
        let short = || Ok(Err("a packed part is cut off".to_owned()));
        if self.end - self.offset < 8 || place::read(file, &mut words, self.offset)? < 8 {
            return short();
        }
        let packed = self.layout.order.number(&words[..4]) as usize;
        let length = self.layout.order.number(&words[4..]) as usize;
        if length > chunks.limit || packed > chunks.limit {
            return Ok(Err(format!("a packed part of {length} bytes: more than any file has")));
        }
        if (packed as u64) > self.end - self.offset - 8 {
            return short();
        }
        let mut bytes = vec![0; packed];
        if place::read(file, &mut bytes, self.offset + 8)? < packed {
            return short();
        }
        self.offset += 8 + packed as u64;
        Ok(chunks.packing.unpack(&bytes, length).map(Some))
    }
}

/// Whole pages, one at least.
fn window_bytes(page_bytes: usize, count: usize) -> usize {
    let share = (WINDOWS_BYTES / count.max(1)).min(WINDOW_BYTES);
    (share / page_bytes).max(1) * page_bytes
}
