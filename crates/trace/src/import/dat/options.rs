// SPDX-License-Identifier: GPL-2.0-or-later
//! The options of a `trace.dat`: clock, machine, where the sections and buffers are.

use std::io::{BufRead, Cursor as Memory, Seek};

use super::cursor::{Cursor, Fault, bad};
use super::head::{Buffer, CPUS_MAX, CpuData, open_section, page_size, section_head};
use super::unpack::Packing;

/// Options of one file, and sections of options.
const OPTIONS_MAX: u32 = 1 << 16;
/// Longest option, bytes.
const OPTION_BYTES_MAX: u64 = 16 << 20;
/// Buffers of one file.
const BUFFERS_MAX: usize = 256;
/// Longest text of an option that is shown.
const SHOWN_MAX: usize = 200;

const DONE: u16 = 0;
const CPU_STATS: u16 = 2;
const BUFFER: u16 = 3;
const CLOCK: u16 = 4;
const UNAME: u16 = 5;
const OFFSET: u16 = 7;
const CPU_COUNT: u16 = 8;
const VERSION: u16 = 9;
const TSC_TO_NS: u16 = 14;
const HEADER: u16 = 16;
const TRACER_FORMATS: u16 = 17;
const EVENT_FORMATS: u16 = 18;
const NAMES: u16 = 21;
const BUFFER_TEXT: u16 = 22;

/// Places of the sections.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sections {
    pub header: Option<u64>,
    pub tracer_formats: Option<u64>,
    pub event_formats: Option<u64>,
    pub names: Option<u64>,
}

/// Conversion of cycle counts to nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TscToNs {
    pub multiplier: u32,
    pub shift: u32,
    pub offset_ns: u64,
}

/// Values of the options.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub clock: String,
    pub uname: String,
    pub version: String,
    pub cpus: u32,
    /// Added to every time.
    pub offset_ns: i64,
    pub tsc: Option<TscToNs>,
    /// Records the kernel says it lost or overwrote, of all CPUs.
    pub overrun: u64,
    pub sections: Sections,
    /// Instances of version 6: place and name.
    pub instances: Vec<(u64, String)>,
    /// Buffers of version 7.
    pub buffers: Vec<Buffer>,
    pub has_text: bool,
}

/// The options of version 6, up to the one that ends them.
pub(super) fn read_options_6<R: BufRead + Seek>(cursor: &mut Cursor<R>, options: &mut Options) -> Result<(), Fault> {
    for _ in 0..OPTIONS_MAX {
        let id = cursor.u16()?;
        if id == DONE {
            return Ok(());
        }
        let length = cursor.u32()?;
        let data = cursor.bytes(u64::from(length), OPTION_BYTES_MAX, "an option")?;
        let mut data = Cursor::new(Memory::new(data), cursor.order);
        if id == BUFFER {
            let offset = data.u64()?;
            if options.instances.len() >= BUFFERS_MAX {
                return bad("too many buffers");
            }
            options.instances.push((offset, data.text()?));
        } else {
            options.take(id, &mut data)?;
        }
    }
    bad("options without an end")
}

/// The options of version 7: sections that name the place of the next.
pub(super) fn read_options_7<R: BufRead + Seek>(
    cursor: &mut Cursor<R>,
    packing: Packing,
    first: u64,
    file_bytes: u64,
    options: &mut Options,
) -> Result<(), Fault> {
    let (mut place, mut left) = (first, OPTIONS_MAX);
    while place != 0 {
        if place >= file_bytes {
            cursor.seek(place.min(file_bytes))?;
            return Err(Fault::Short);
        }
        let mut section = open_section(cursor, packing, place, OPTION_BYTES_MAX)?;
        place = loop {
            left = left.checked_sub(1).ok_or_else(|| Fault::Bad("options without an end".to_owned()))?;
            let id = section.u16()?;
            let length = section.u32()?;
            let data = section.bytes(u64::from(length), OPTION_BYTES_MAX, "an option")?;
            let mut data = Cursor::new(Memory::new(data), cursor.order);
            match id {
                DONE => break data.u64()?,
                BUFFER => {
                    let buffer = read_buffer(cursor, &mut data)?;
                    if options.buffers.len() >= BUFFERS_MAX {
                        return bad("too many buffers");
                    }
                    options.buffers.push(buffer);
                }
                _ => options.take(id, &mut data)?,
            }
        };
    }
    Ok(())
}

fn read_buffer<R: BufRead + Seek>(cursor: &mut Cursor<R>, data: &mut Cursor<Memory<Vec<u8>>>) -> Result<Buffer, Fault> {
    let place = data.u64()?;
    let (name, clock) = (data.text()?, data.text()?);
    let page_bytes = page_size(data.u32()?)?;
    let count = data.u32()?;
    if count > CPUS_MAX {
        return bad(format!("{count} CPUs"));
    }
    let mut buffer = Buffer { name, clock, page_bytes, ..Buffer::default() };
    for _ in 0..count {
        let cpu = data.u32()?;
        if cpu >= CPUS_MAX {
            return bad(format!("CPU {cpu}"));
        }
        buffer.cpus.push(CpuData { cpu, offset: data.u64()?, bytes: data.u64()? });
    }
    buffer.packed = section_head(cursor, place)?.0;
    Ok(buffer)
}

impl Options {
    /// One option that both versions have.
    fn take(&mut self, id: u16, data: &mut Cursor<Memory<Vec<u8>>>) -> Result<(), Fault> {
        match id {
            CPU_STATS => self.overrun = self.overrun.saturating_add(overrun(&whole_text(data))),
            CLOCK => self.clock = chosen_clock(&whole_text(data)),
            UNAME => self.uname = shown(&whole_text(data)),
            OFFSET => self.offset_ns = self.offset_ns.saturating_add(parse_offset(&whole_text(data))),
            CPU_COUNT => self.cpus = data.u32()?.min(CPUS_MAX),
            VERSION => self.version = shown(&whole_text(data)),
            TSC_TO_NS => {
                let (multiplier, shift, offset_ns) = (data.u32()?, data.u32()?, data.u64()?);
                self.tsc = (multiplier != 0 && shift < 64).then_some(TscToNs { multiplier, shift, offset_ns });
            }
            HEADER => self.sections.header = Some(data.u64()?),
            TRACER_FORMATS => self.sections.tracer_formats = Some(data.u64()?),
            EVENT_FORMATS => self.sections.event_formats = Some(data.u64()?),
            NAMES => self.sections.names = Some(data.u64()?),
            BUFFER_TEXT => self.has_text = true,
            _ => {}
        }
        Ok(())
    }
}

fn whole_text(data: &Cursor<Memory<Vec<u8>>>) -> String {
    let bytes = data.input.get_ref();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(SHOWN_MAX).collect()
}

/// The clock in brackets, of a list of all.
fn chosen_clock(text: &str) -> String {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(clock, _)| clock);
    shown(inner.unwrap_or(text))
}

/// Decimal or with `0x`, with a sign or without.
fn parse_offset(text: &str) -> i64 {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let number = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap_or(0).cast_signed(),
        None => digits.parse().unwrap_or(0),
    };
    number.saturating_mul(sign)
}

/// Records lost by overwriting or for want of room, from the text of `per_cpu/cpu*/stats`.
fn overrun(stats: &str) -> u64 {
    let of = |key: &str| {
        let line = stats.lines().find_map(|line| line.trim().strip_prefix(key));
        line.and_then(|rest| rest.trim_start_matches(':').trim().parse::<u64>().ok()).unwrap_or(0)
    };
    of("overrun").saturating_add(of("dropped events"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_options() {
        assert_eq!(chosen_clock("local global [mono] boot"), "mono");
        assert_eq!(chosen_clock("x86-tsc"), "x86-tsc");
        assert_eq!((parse_offset("-12"), parse_offset("0x10"), parse_offset("?")), (-12, 16, 0));
        assert_eq!(overrun("CPU: 1\nentries: 9\noverrun: 3\ncommit overrun: 5\ndropped events: 4\n"), 7);
    }
}
