// SPDX-License-Identifier: GPL-2.0-or-later
//! One line per event, for people and for `diff`.

use std::io::{self, Write};

use pelton_schema::{Event, EventInfo, Sink, unpack_name};

use crate::header::RunHeader;
use crate::output::Output;
use crate::shown::one_line;

/// Writes a run as text: the header as `#` lines, then `seconds event column=value ...`.
///
/// ```
/// use pelton_schema::{Event, Sink};
/// let mut text = Vec::new();
/// let mut dump = pelton_trace::TextDump::new(&mut text);
/// dump.event(1_500, &Event::CpuFrequency { cpu: 2, freq_khz: 600_000 });
/// dump.finish().unwrap();
/// assert_eq!(text, b"0.000001500 cpu_frequency cpu=2 freq_khz=600000\n");
/// ```
pub struct TextDump<W: Write> {
    output: Output<W>,
}

impl<W: Write> TextDump<W> {
    /// A dump of events only.
    pub fn new(out: W) -> Self {
        TextDump { output: Output::new(out) }
    }

    /// A dump that starts with the header.
    pub fn with_header(out: W, run: &RunHeader) -> Self {
        let mut dump = TextDump::new(out);
        dump.output.append(|text| write_header(text, run));
        dump
    }

    /// Writes what is buffered; returns the length of the text or the first error.
    pub fn finish(self) -> io::Result<u64> {
        self.output.finish()
    }
}

impl<W: Write> Sink for TextDump<W> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.event_known(time_ns, event, u64::MAX);
    }

    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        self.output.append(|text| write_known(text, time_ns, event, known));
    }
}

/// Writes one event as one line.
pub fn write_event_line(out: &mut impl Write, time_ns: u64, event: &Event) -> io::Result<()> {
    write_known(out, time_ns, event, u64::MAX)
}

/// [`write_event_line`] with `?` for what is not known.
fn write_known(out: &mut impl Write, time_ns: u64, event: &Event, known: u64) -> io::Result<()> {
    write!(out, "{}.{:09}", time_ns / 1_000_000_000, time_ns % 1_000_000_000)?;
    let Some(info) = EventInfo::of_code(event.code()) else { return writeln!(out, " event-{}", event.code()) };
    write!(out, " {}", info.name)?;
    let mut result = Ok(());
    each_cell(info, event, known, |column, cell| {
        if result.is_ok() {
            result = match cell {
                Cell::Unknown => write!(out, " {column}=?"),
                Cell::Number(number) => write!(out, " {column}={number}"),
                Cell::Name(name) => write!(out, " {column}={}", one_line(&name)),
            };
        }
    });
    result?;
    writeln!(out)
}

/// A column's value as a number with the sign it was declared with.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    Unsigned(u64),
    Signed(i64),
}

impl Number {
    /// The 64 bits that the schema stores.
    pub(crate) fn bits(self) -> u64 {
        match self {
            Number::Unsigned(value) => value,
            Number::Signed(value) => value.cast_unsigned(),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Unsigned(value) => value.fmt(f),
            Number::Signed(value) => value.fmt(f),
        }
    }
}

/// Calls `f` with name and value of every column.
pub(crate) fn each_column(info: &EventInfo, event: &Event, mut f: impl FnMut(&'static str, Number)) {
    let mut columns = info.columns.iter();
    event.each_value(|stored| {
        let Some(column) = columns.next() else { return };
        let number = if column.signed { Number::Signed(stored.cast_signed()) } else { Number::Unsigned(stored) };
        f(column.name, number);
    });
}

/// [`each_column`] until `f` fails.
pub(crate) fn try_each_column(
    info: &EventInfo,
    event: &Event,
    mut f: impl FnMut(&'static str, Number) -> io::Result<()>,
) -> io::Result<()> {
    let mut result = Ok(());
    each_column(info, event, |name, number| {
        if result.is_ok() {
            result = f(name, number);
        }
    });
    result
}

/// A value as people and tables have it.
pub(crate) enum Cell {
    Number(Number),
    Name(String),
    /// Value that the trace does not contain.
    Unknown,
}

/// Columns of an event that hold the two halves of a name.
pub(crate) const NAME_FIRST: &str = "name_0";
pub(crate) const NAME_REST: &str = "name_8";

/// [`each_column`], with a name as one text instead of the two numbers that an event carries it in. `known` has a bit
/// for each column whose value is known.
pub(crate) fn each_cell(info: &EventInfo, event: &Event, known: u64, mut f: impl FnMut(&'static str, Cell)) {
    let (mut first, mut left) = (0, known & !event.unknown());
    each_column(info, event, |name, number| {
        let is_known = left & 1 == 1;
        left >>= 1;
        match (name, number) {
            (NAME_FIRST, Number::Unsigned(half)) => first = half,
            (NAME_REST, Number::Unsigned(half)) => f("name", Cell::Name(unpack_name(first, half))),
            _ => f(name, if is_known { Cell::Number(number) } else { Cell::Unknown }),
        }
    });
}

fn write_header(out: &mut Vec<u8>, run: &RunHeader) -> io::Result<()> {
    writeln!(out, "# pelton {} scenario {:016x} core {:016x}", run.tool_version, run.scenario_hash, run.core_hash)?;
    writeln!(out, "# seed {} duration_ns {} profile {}", run.seed, run.duration_ns, run.profile)?;
    writeln!(out, "# platform {} workload {}", one_line(&run.platform), one_line(&run.workload))?;
    run.policy.lines().try_for_each(|line| writeln!(out, "# policy {}", one_line(line)))?;
    for (domain, layout) in run.domains.iter().enumerate() {
        writeln!(out, "# domain {domain} {} opps_khz {:?}", one_line(&layout.name), layout.opps_khz)?;
    }
    for (cpu, layout) in run.cpus.iter().enumerate() {
        writeln!(out, "# cpu {cpu} capacity {} domain {}", layout.capacity, layout.domain)?;
    }
    run.tasks.iter().enumerate().try_for_each(|(tid, name)| writeln!(out, "# task {tid} {}", one_line(name)))?;
    if !run.kernel.is_empty() {
        writeln!(out, "# kernel {}", one_line(&run.kernel))?;
    }
    run.remarks.iter().try_for_each(|remark| writeln!(out, "# remark {}", one_line(remark)))?;
    run.groups.iter().enumerate().try_for_each(|(group, path)| writeln!(out, "# group {group} {}", one_line(path)))
}
