// SPDX-License-Identifier: GPL-2.0-or-later
//! A small writer of `trace.dat` files in any byte order, word size, version and packing. For tests and benches only:
//! it writes what the documented layouts say, from their side, and shares no code with the reader.

#![allow(dead_code, reason = "each test uses a part")]

use std::io::Write;

use pelton_schema::Event;

const SWITCH_ID: u16 = 301;
const WAKING_ID: u16 = 302;
const FREQUENCY_ID: u16 = 303;
const IDLE_ID: u16 = 304;

/// The CPU that writes an event, of the four kinds that are written.
pub fn cpu_of(event: &Event) -> Option<u32> {
    match *event {
        Event::SchedSwitch { cpu, .. }
        | Event::SchedWaking { cpu, .. }
        | Event::CpuFrequency { cpu, .. }
        | Event::CpuIdle { cpu, .. } => Some(cpu),
        _ => None,
    }
}

/// Packing of the parts of a version 7 file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    None,
    Zlib,
    Zstd,
}

/// Kind of machine and tool that the file comes from.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub version: u32,
    pub big: bool,
    pub long_bytes: usize,
    pub page_bytes: usize,
    pub packing: Packing,
}

/// The pages of one CPU of one buffer.
pub type CpuPages = Vec<Vec<u8>>;

impl Shape {
    /// Shape of most files.
    pub fn usual() -> Shape {
        Shape { version: 6, big: false, long_bytes: 8, page_bytes: 4096, packing: Packing::None }
    }

    fn number(&self, out: &mut Vec<u8>, value: u64, bytes: usize) {
        let little = &value.to_le_bytes()[..bytes];
        if self.big { out.extend(little.iter().rev()) } else { out.extend(little) }
    }

    fn u16(&self, out: &mut Vec<u8>, value: u16) {
        self.number(out, value.into(), 2);
    }

    fn u32(&self, out: &mut Vec<u8>, value: u32) {
        self.number(out, value.into(), 4);
    }

    fn u64(&self, out: &mut Vec<u8>, value: u64) {
        self.number(out, value, 8);
    }

    fn page_head_bytes(&self) -> usize {
        8 + self.long_bytes
    }

    fn sized_text(&self, out: &mut Vec<u8>, text: &str) {
        self.u64(out, text.len() as u64);
        out.extend(text.as_bytes());
    }

    fn page_header(&self) -> Vec<u8> {
        let (long, data) = (self.long_bytes, self.page_head_bytes());
        let text = format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
             \tfield: char data;\toffset:{data};\tsize:{};\tsigned:1;\n",
            self.page_bytes - data
        );
        let mut out = b"header_page\0".to_vec();
        self.sized_text(&mut out, &text);
        out.extend(b"header_event\0");
        self.sized_text(&mut out, "# compressed entry header\n");
        out
    }

    fn formats(&self) -> Vec<u8> {
        let long = self.long_bytes;
        let state_end = 32 + long;
        let switch = format!(
            "char prev_comm[16];8;16;0|pid_t prev_pid;24;4;1|int prev_prio;28;4;1|long prev_state;32;{long};1|\
             char next_comm[16];{state_end};16;0|pid_t next_pid;{};4;1|int next_prio;{};4;1",
            state_end + 16,
            state_end + 20
        );
        let waking = "char comm[16];8;16;0|pid_t pid;24;4;1|int prio;28;4;1|int target_cpu;32;4;1";
        let mut out = Vec::new();
        self.u32(&mut out, 2);
        for (system, events) in [
            ("sched", [("sched_switch", SWITCH_ID, switch.as_str()), ("sched_waking", WAKING_ID, waking)]),
            (
                "power",
                [
                    ("cpu_frequency", FREQUENCY_ID, "u32 state;8;4;0|u32 cpu_id;12;4;0"),
                    ("cpu_idle", IDLE_ID, "u32 state;8;4;0|u32 cpu_id;12;4;0"),
                ],
            ),
        ] {
            out.extend(system.as_bytes());
            out.push(0);
            self.u32(&mut out, events.len() as u32);
            events.iter().for_each(|(name, id, fields)| self.sized_text(&mut out, &format_file(name, *id, fields)));
        }
        out
    }

    fn names(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.sized_text(&mut out, "7 seven\n300 three-hundred\n");
        out
    }

    /// The data of a record; `None` for events this writer does not know.
    pub fn record(&self, event: &Event) -> Option<Vec<u8>> {
        let (id, comm, numbers) = match *event {
            Event::SchedSwitch { .. } => return Some(self.switch(event)),
            Event::SchedWaking { tid, prio, target_cpu, .. } => (WAKING_ID, Some(tid), vec![tid, prio, target_cpu]),
            Event::CpuFrequency { cpu, freq_khz } => (FREQUENCY_ID, None, vec![freq_khz, cpu]),
            Event::CpuIdle { cpu, state } => (IDLE_ID, None, vec![state, cpu]),
            _ => return None,
        };
        let mut out = self.common(id);
        comm.iter().for_each(|tid| out.extend(comm_of(*tid)));
        numbers.iter().for_each(|number| self.u32(&mut out, *number));
        Some(out)
    }

    fn common(&self, id: u16) -> Vec<u8> {
        let mut out = Vec::new();
        self.u16(&mut out, id);
        out.extend([0, 0]);
        self.u32(&mut out, 9);
        out
    }

    fn switch(&self, event: &Event) -> Vec<u8> {
        let Event::SchedSwitch { prev_tid, prev_prio, prev_state, next_tid, next_prio, .. } = *event else {
            unreachable!("only called with a switch")
        };
        let mut out = self.common(SWITCH_ID);
        out.extend(comm_of(prev_tid));
        self.u32(&mut out, prev_tid);
        self.u32(&mut out, prev_prio);
        self.number(&mut out, prev_state.into(), self.long_bytes);
        out.extend(comm_of(next_tid));
        self.u32(&mut out, next_tid);
        self.u32(&mut out, next_prio);
        out
    }

    /// Cuts events of one CPU into pages; `lost` records are missing before page `.0` (0 of them: unknown).
    pub fn pages(&self, events: &[(u64, Event)], lost: Option<(usize, u64)>) -> CpuPages {
        let mut pages = Vec::new();
        let mut page: Option<Page> = None;
        let lost_before = |index: usize| lost.filter(|lost| lost.0 == index).map(|lost| lost.1);
        for (time_ns, event) in events {
            let Some(record) = self.record(event) else { continue };
            let fits = page.as_mut().is_some_and(|page| page.push(*time_ns, &record));
            if !fits {
                pages.extend(page.take().map(Page::finish));
                let mut fresh = Page::new(*self, *time_ns, lost_before(pages.len()));
                assert!(fresh.push(*time_ns, &record), "a page has room for one record");
                page = Some(fresh);
            }
        }
        pages.extend(page.map(Page::finish));
        pages
    }

    /// The whole file of several buffers, each with the pages of its CPUs. Instances are called `i1`, `i2`.
    pub fn file(&self, buffers: &[Vec<CpuPages>]) -> Vec<u8> {
        if self.version == 6 { self.file_6(buffers) } else { self.file_7(buffers) }
    }

    fn start(&self) -> Vec<u8> {
        let mut out = b"\x17\x08\x44tracing".to_vec();
        out.extend(format!("{}\0", self.version).as_bytes());
        out.extend([u8::from(self.big), self.long_bytes as u8]);
        self.u32(&mut out, self.page_bytes as u32);
        out
    }

    /// Everything of version 6 before the records; `sizes` of the CPUs of one buffer, bytes.
    pub fn head_6(&self, sizes: &[u64]) -> Vec<u8> {
        let mut out = self.before_options_6(sizes.len());
        out.extend(b"options  \0\0\0flyrecord\0");
        let end = out.len() + 16 * sizes.len();
        let mut offset = end.next_multiple_of(self.page_bytes) as u64;
        for &bytes in sizes {
            self.u64(&mut out, offset);
            self.u64(&mut out, bytes);
            offset += bytes;
        }
        out.resize(end.next_multiple_of(self.page_bytes), 0);
        out
    }

    fn before_options_6(&self, cpus: usize) -> Vec<u8> {
        let mut out = self.start();
        out.extend(self.page_header());
        self.u32(&mut out, 0);
        out.extend(self.formats());
        self.u32(&mut out, 0);
        self.u32(&mut out, 0);
        out.extend(self.names());
        self.u32(&mut out, cpus as u32);
        out
    }

    fn file_6(&self, buffers: &[Vec<CpuPages>]) -> Vec<u8> {
        let cpus = buffers[0].len();
        let mut out = self.before_options_6(cpus);
        out.extend(b"options  \0");
        let mut places = Vec::new();
        for number in 1..buffers.len() {
            self.u16(&mut out, 3);
            let name = format!("i{number}\0");
            self.u32(&mut out, 8 + name.len() as u32);
            places.push(out.len());
            self.u64(&mut out, 0);
            out.extend(name.as_bytes());
        }
        self.u16(&mut out, 0);
        for (number, buffer) in buffers.iter().enumerate() {
            if let Some(place) = number.checked_sub(1).map(|instance| places[instance]) {
                let mut offset = Vec::new();
                self.u64(&mut offset, out.len() as u64);
                out[place..place + 8].copy_from_slice(&offset);
            }
            self.put_buffer_6(&mut out, buffer);
        }
        out
    }

    fn put_buffer_6(&self, out: &mut Vec<u8>, buffer: &[CpuPages]) {
        out.extend(b"flyrecord\0");
        let end = (out.len() + 16 * buffer.len()).next_multiple_of(self.page_bytes);
        let mut offset = end;
        for pages in buffer {
            let bytes: usize = pages.iter().map(Vec::len).sum();
            self.u64(out, offset as u64);
            self.u64(out, bytes as u64);
            offset += bytes;
        }
        out.resize(end, 0);
        buffer.iter().flatten().for_each(|page| out.extend(page));
    }

    fn file_7(&self, buffers: &[Vec<CpuPages>]) -> Vec<u8> {
        let mut out = self.start();
        let name = ["none\0", "zlib\0", "zstd\0"][self.packing as usize];
        out.extend(name.as_bytes());
        out.extend(b"1.0\0");
        let options_at = out.len();
        self.u64(&mut out, 0);
        let mut options = Vec::new();
        let mut no_tracer = Vec::new();
        self.u32(&mut no_tracer, 0);
        for (id, contents) in [(16, self.page_header()), (17, no_tracer), (18, self.formats()), (21, self.names())] {
            let place = out.len() as u64;
            self.put_section(&mut out, id, &contents);
            self.u16(&mut options, id);
            self.u32(&mut options, 8);
            self.u64(&mut options, place);
        }
        for (number, buffer) in buffers.iter().enumerate() {
            let option = self.put_buffer_7(&mut out, number, buffer);
            self.u16(&mut options, 3);
            self.u32(&mut options, option.len() as u32);
            options.extend(option);
        }
        self.u16(&mut options, 0);
        self.u32(&mut options, 8);
        self.u64(&mut options, 0);
        let mut place = Vec::new();
        self.u64(&mut place, out.len() as u64);
        out[options_at..options_at + 8].copy_from_slice(&place);
        self.put_section(&mut out, 0, &options);
        out
    }

    fn put_section(&self, out: &mut Vec<u8>, id: u16, contents: &[u8]) {
        let packed = self.packing != Packing::None;
        let bytes = if packed { self.chunk(contents) } else { contents.to_vec() };
        self.u16(out, id);
        self.u16(out, u16::from(packed));
        self.u32(out, 0);
        self.u64(out, bytes.len() as u64);
        out.extend(bytes);
    }

    /// Packed length, length, packed bytes.
    fn chunk(&self, contents: &[u8]) -> Vec<u8> {
        let packed = match self.packing {
            Packing::None => contents.to_vec(),
            Packing::Zstd => zstd::encode_all(contents, 1).expect("a vector takes everything"),
            Packing::Zlib => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(contents).expect("a vector takes everything");
                encoder.finish().expect("a vector takes everything")
            }
        };
        let mut out = Vec::new();
        self.u32(&mut out, packed.len() as u32);
        self.u32(&mut out, contents.len() as u32);
        out.extend(packed);
        out
    }

    fn put_buffer_7(&self, out: &mut Vec<u8>, number: usize, buffer: &[CpuPages]) -> Vec<u8> {
        let packed = self.packing != Packing::None;
        let mut option = Vec::new();
        self.u64(&mut option, out.len() as u64);
        option.extend(if number == 0 { "\0".to_owned() } else { format!("i{number}\0") }.as_bytes());
        option.extend(b"local\0");
        self.u32(&mut option, self.page_bytes as u32);
        self.u32(&mut option, buffer.len() as u32);
        self.u16(out, 3);
        self.u16(out, u16::from(packed));
        self.u32(out, 0);
        self.u64(out, 0);
        out.resize(out.len().next_multiple_of(self.page_bytes), 0);
        for (cpu, pages) in buffer.iter().enumerate() {
            let start = out.len();
            let mut uncounted = 0;
            if packed {
                // Two pages to a part, as several are packed together.
                let parts: Vec<Vec<u8>> = pages.chunks(2).map(|pages| self.chunk(&pages.concat())).collect();
                self.u32(out, parts.len() as u32);
                uncounted = 4;
                parts.iter().for_each(|part| out.extend(part));
            } else {
                pages.iter().for_each(|page| out.extend(page));
            }
            self.u32(&mut option, cpu as u32);
            self.u64(&mut option, start as u64);
            self.u64(&mut option, (out.len() - start - uncounted) as u64);
        }
        option
    }
}

/// A page being filled.
pub struct Page {
    shape: Shape,
    time_ns: u64,
    last_ns: u64,
    lost: Option<u64>,
    records: Vec<u8>,
}

impl Page {
    pub fn new(shape: Shape, time_ns: u64, lost: Option<u64>) -> Page {
        Page { shape, time_ns, last_ns: time_ns, lost, records: Vec::new() }
    }

    /// Adds a record; false when the page is full.
    pub fn push(&mut self, time_ns: u64, data: &[u8]) -> bool {
        let delta = time_ns - self.last_ns;
        let room = self.shape.page_bytes - self.shape.page_head_bytes() - self.shape.long_bytes;
        let extend = delta >> 27 != 0;
        if self.records.len() + 4 + data.len() + if extend { 8 } else { 0 } > room {
            return false;
        }
        if extend {
            self.head(30, delta & ((1 << 27) - 1));
            self.shape.number(&mut self.records, delta >> 27, 4);
        }
        assert!(data.len().is_multiple_of(4) && data.len() / 4 <= 28, "records here are whole words and short");
        self.head(data.len() as u64 / 4, if extend { 0 } else { delta });
        self.records.extend(data);
        self.last_ns = time_ns;
        true
    }

    fn head(&mut self, kind: u64, delta: u64) {
        let word = if self.shape.big { kind << 27 | delta } else { kind | delta << 5 };
        self.shape.number(&mut self.records, word, 4);
    }

    /// The page, padded.
    pub fn finish(self) -> Vec<u8> {
        let shape = self.shape;
        let flags = match self.lost {
            None => 0,
            Some(0) => 1 << 31,
            Some(_) => 1 << 31 | 1 << 30,
        };
        let mut out = Vec::with_capacity(shape.page_bytes);
        shape.u64(&mut out, self.time_ns);
        shape.number(&mut out, self.records.len() as u64 | flags, shape.long_bytes);
        out.extend(&self.records);
        shape.number(&mut out, self.lost.unwrap_or(0), shape.long_bytes);
        out.resize(shape.page_bytes, 0);
        out
    }
}

fn comm_of(tid: u32) -> [u8; 16] {
    let mut comm = [0; 16];
    let name = if tid == 0 { "swapper".to_owned() } else { format!("task-{tid}") };
    comm[..name.len()].copy_from_slice(name.as_bytes());
    comm
}

/// `TYPE NAME;offset;size;signed`, separated by bars.
fn format_file(name: &str, id: u16, fields: &str) -> String {
    let common = "unsigned short common_type;0;2;0|unsigned char common_flags;2;1;0|\
                  unsigned char common_preempt_count;3;1;0|int common_pid;4;4;1";
    let mut text = format!("name: {name}\nID: {id}\nformat:\n");
    for field in common.split('|').chain(fields.split('|')) {
        let parts: Vec<&str> = field.split(';').collect();
        text += &format!("\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n", parts[0], parts[1], parts[2], parts[3]);
    }
    text + "\nprint fmt: \"%s\", __print_flags(REC->prev_state, \"|\", { 0x00000040, \"P\" })\n"
}
