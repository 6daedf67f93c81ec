// SPDX-License-Identifier: GPL-2.0-or-later
//! Head of a `trace.dat`, before its events: versions 6 (one sequence) and 7 (sections by number).

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor as Memory, Seek};

use super::cursor::{Cursor, Fault, bad};
use super::format::EventFormat;
use super::options::{Options, read_options_6, read_options_7};
use super::page::{Order, PageLayout};
use super::unpack::Packing;

/// Longest format file, page header or list of task names, bytes.
const TEXT_BYTES_MAX: u64 = 16 << 20;
/// Events with formats.
const FORMATS_MAX: usize = 1 << 16;
/// Largest page, bytes.
pub(super) const PAGE_BYTES_MAX: u32 = 1 << 24;
/// CPUs of one buffer.
pub(super) const CPUS_MAX: u32 = 8192;

/// The records of one CPU in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CpuData {
    pub cpu: u32,
    pub offset: u64,
    pub bytes: u64,
}

/// One buffer: the top one or an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Buffer {
    pub name: String,
    pub clock: String,
    pub page_bytes: u32,
    pub packed: bool,
    pub cpus: Vec<CpuData>,
}

/// Everything before the events.
pub(super) struct Head {
    pub order: Order,
    pub long_bytes: usize,
    pub page_bytes: u32,
    pub layout: PageLayout,
    pub packing: Packing,
    pub formats: Vec<EventFormat>,
    /// Format files that could not be read.
    pub bad_formats: u32,
    /// Task names by number.
    pub names: Vec<(u32, String)>,
    pub options: Options,
    pub buffers: Vec<Buffer>,
    pub version: u32,
}

/// Reads the head of `file`.
pub(super) fn read(file: &File, file_bytes: u64) -> Result<Head, (Fault, u64)> {
    let mut cursor = Cursor::new(BufReader::with_capacity(1 << 16, file), Order::Little);
    read_any(&mut cursor, file_bytes).map_err(|fault| (fault, cursor.position()))
}

fn read_any<R: BufRead + Seek>(cursor: &mut Cursor<R>, file_bytes: u64) -> Result<Head, Fault> {
    if cursor.bytes(super::MAGIC.len() as u64, 16, "a mark")? != super::MAGIC {
        return bad("its first bytes are not those of trace-cmd");
    }
    let version = cursor.text()?;
    let version = match version.as_str() {
        "6" => 6,
        "7" => 7,
        other => {
            let shown: String = other.chars().take(20).collect();
            return bad(format!("version {shown:?} of trace.dat; versions 6 and 7 are read"));
        }
    };
    cursor.order = if cursor.number(1)? == 0 { Order::Little } else { Order::Big };
    let long_bytes = cursor.number(1)? as usize;
    if !matches!(long_bytes, 4 | 8) {
        return bad(format!("a machine whose long numbers have {long_bytes} bytes"));
    }
    let page_bytes = page_size(cursor.u32()?)?;
    let mut head = Head {
        order: cursor.order,
        long_bytes,
        page_bytes,
        layout: PageLayout::parse("", cursor.order, long_bytes),
        packing: Packing::None,
        formats: Vec::new(),
        bad_formats: 0,
        names: Vec::new(),
        options: Options::default(),
        buffers: Vec::new(),
        version,
    };
    if version == 6 {
        head.read_6(cursor)?
    } else {
        head.read_7(cursor, file_bytes)?
    }
    Ok(head)
}

/// A page size that can be.
pub(super) fn page_size(bytes: u32) -> Result<u32, Fault> {
    if bytes.is_power_of_two() && (64..=PAGE_BYTES_MAX).contains(&bytes) {
        return Ok(bytes);
    }
    bad(format!("pages of {bytes} bytes"))
}

impl Head {
    fn read_6<R: BufRead + Seek>(&mut self, cursor: &mut Cursor<R>) -> Result<(), Fault> {
        self.read_page_header(cursor)?;
        self.read_tracer_formats(cursor)?;
        self.read_system_formats(cursor)?;
        for _ in ["kallsyms", "printk"] {
            let length = cursor.u32()?;
            cursor.skip(u64::from(length))?;
        }
        self.read_names(cursor)?;
        let cpus = cursor.u32()?;
        if cpus > CPUS_MAX {
            return bad(format!("{cpus} CPUs"));
        }
        self.options.cpus = cpus;
        let mut section = cursor.bytes(10, 10, "a section")?;
        if section == b"options  \0" {
            read_options_6(cursor, &mut self.options)?;
            section = cursor.bytes(10, 10, "a section")?;
        }
        self.check_section(&section)?;
        let top = Buffer { page_bytes: self.page_bytes, clock: self.options.clock.clone(), ..Buffer::default() };
        self.read_cpus_6(cursor, top, cpus)?;
        for (offset, name) in self.options.instances.clone() {
            cursor.seek(offset)?;
            let section = cursor.bytes(10, 10, "a section")?;
            self.check_section(&section)?;
            let instance =
                Buffer { name, page_bytes: self.page_bytes, clock: self.options.clock.clone(), ..Buffer::default() };
            self.read_cpus_6(cursor, instance, cpus)?;
        }
        Ok(())
    }

    fn check_section(&self, section: &[u8]) -> Result<(), Fault> {
        match section {
            b"flyrecord\0" => Ok(()),
            b"latency  \0" => bad("a trace of a latency tracer, which holds text and not events"),
            _ => bad("`flyrecord` should stand here"),
        }
    }

    fn read_cpus_6<R: BufRead + Seek>(
        &mut self,
        cursor: &mut Cursor<R>,
        mut buffer: Buffer,
        cpus: u32,
    ) -> Result<(), Fault> {
        for cpu in 0..cpus {
            let (offset, bytes) = (cursor.u64()?, cursor.u64()?);
            buffer.cpus.push(CpuData { cpu, offset, bytes });
        }
        self.buffers.push(buffer);
        Ok(())
    }

    fn read_7<R: BufRead + Seek>(&mut self, cursor: &mut Cursor<R>, file_bytes: u64) -> Result<(), Fault> {
        let name = cursor.text()?;
        cursor.text()?;
        self.packing = Packing::of_name(&name)
            .ok_or_else(|| Fault::Bad(format!("packed with {name:?}; zlib and zstd are read")))?;
        let first = cursor.u64()?;
        read_options_7(cursor, self.packing, first, file_bytes, &mut self.options)?;
        let sections = self.options.sections;
        let section = |offset: Option<u64>, cursor: &mut Cursor<R>| -> Result<Option<Section>, Fault> {
            offset.map(|offset| open_section(cursor, self.packing, offset, TEXT_BYTES_MAX)).transpose()
        };
        let header = section(sections.header, cursor)?;
        let tracer = section(sections.tracer_formats, cursor)?;
        let events = section(sections.event_formats, cursor)?;
        let names = section(sections.names, cursor)?;
        if let Some(mut header) = header {
            self.read_page_header(&mut header)?;
        }
        if let Some(mut tracer) = tracer {
            self.read_tracer_formats(&mut tracer)?;
        }
        if let Some(mut events) = events {
            self.read_system_formats(&mut events)?;
        }
        if let Some(mut names) = names {
            self.read_names(&mut names)?;
        }
        self.buffers = std::mem::take(&mut self.options.buffers);
        if self.buffers.is_empty() && self.options.has_text {
            return bad("a trace of a latency tracer, which holds text and not events");
        }
        Ok(())
    }

    fn read_page_header<R: BufRead + Seek>(&mut self, cursor: &mut Cursor<R>) -> Result<(), Fault> {
        cursor.expect("header_page")?;
        let text = sized_text(cursor, "a page header")?;
        self.layout = PageLayout::parse(&text, self.order, self.long_bytes);
        cursor.expect("header_event")?;
        sized_text(cursor, "an event header").map(drop)
    }

    fn read_tracer_formats<R: BufRead + Seek>(&mut self, cursor: &mut Cursor<R>) -> Result<(), Fault> {
        let count = cursor.u32()?;
        (0..count).try_for_each(|_| self.read_format(cursor))
    }

    fn read_system_formats<R: BufRead + Seek>(&mut self, cursor: &mut Cursor<R>) -> Result<(), Fault> {
        for _ in 0..cursor.u32()? {
            cursor.text()?;
            let count = cursor.u32()?;
            (0..count).try_for_each(|_| self.read_format(cursor))?;
        }
        Ok(())
    }

    fn read_format<R: BufRead + Seek>(&mut self, cursor: &mut Cursor<R>) -> Result<(), Fault> {
        let text = sized_text(cursor, "an event's format")?;
        match EventFormat::parse(&text) {
            Some(format) if self.formats.len() < FORMATS_MAX => self.formats.push(format),
            _ => self.bad_formats += 1,
        }
        Ok(())
    }

    /// Lines of number and name.
    fn read_names<R: BufRead + Seek>(&mut self, cursor: &mut Cursor<R>) -> Result<(), Fault> {
        let text = sized_text(cursor, "a list of task names")?;
        let pairs = text.lines().filter_map(|line| line.trim().split_once(' '));
        self.names.extend(pairs.filter_map(|(tid, name)| Some((tid.parse().ok()?, name.to_owned()))));
        Ok(())
    }
}

fn sized_text<R: BufRead + Seek>(cursor: &mut Cursor<R>, what: &str) -> Result<String, Fault> {
    let length = cursor.u64()?;
    let bytes = cursor.bytes(length, TEXT_BYTES_MAX, what)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The contents of a section of version 7, unpacked.
pub(super) type Section = Cursor<Memory<Vec<u8>>>;

/// Reads the head of the section at `offset`; returns its flags and length.
pub(super) fn section_head<R: BufRead + Seek>(cursor: &mut Cursor<R>, offset: u64) -> Result<(bool, u64), Fault> {
    cursor.seek(offset)?;
    let _id = cursor.u16()?;
    let flags = cursor.u16()?;
    let _description = cursor.u32()?;
    Ok((flags & 1 != 0, cursor.u64()?))
}

/// Reads the section at `offset` whole.
pub(super) fn open_section<R: BufRead + Seek>(
    cursor: &mut Cursor<R>,
    packing: Packing,
    offset: u64,
    limit: u64,
) -> Result<Section, Fault> {
    let (packed, length) = section_head(cursor, offset)?;
    let bytes = if packed {
        let (from, to) = (u64::from(cursor.u32()?), u64::from(cursor.u32()?));
        let bytes = cursor.bytes(from, limit, "a packed section")?;
        if to > limit {
            return bad(format!("a section of {to} bytes: more than any file has"));
        }
        packing.unpack(&bytes, to as usize).map_err(Fault::Bad)?
    } else {
        cursor.bytes(length, limit, "a section")?
    };
    Ok(Cursor::new(Memory::new(bytes), cursor.order))
}
