// SPDX-License-Identifier: GPL-2.0-only
//! One signal of one CPU as time and value, the first line naming CPU, signal and unit.

use std::io::BufRead;
use std::path::Path;

use pelton_schema::{EVENTS, Event};

use super::columns::{Columns, Row, Values, columns_enum};
use crate::import::text::number::{CPU_RANGE, cpu_number, decimal, seconds};
use crate::import::text::source::{Bad, Output, Parser, Seen, TextLines, bad};
use crate::import::{Format, ImportError, Source, Timed, TraceInfo};

/// Columns without which it is no such table.
pub(super) const NEEDED: &[&str] = &["time_s", "value"];

columns_enum! { Col, NAMES, COUNT { Time "time_s", Value "value" } }

/// What a series is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Fair,
    FairClamped,
    Rt,
    /// kHz per unit of the file.
    Frequency(u64),
}

impl Signal {
    /// The event of a sample and its columns.
    fn event(self) -> (&'static str, &'static str) {
        match self {
            Signal::Fair => ("pelt_cfs", "util_avg"),
            Signal::FairClamped => ("effective_cpu_util", "util"),
            Signal::Rt => ("pelt_rt", "util_avg"),
            Signal::Frequency(_) => ("cpu_frequency", "freq_khz"),
        }
    }
}

/// A series as a trace.
pub struct SeriesCsv(TextLines<Series>);

impl SeriesCsv {
    /// Reads the table; the path is for messages.
    pub fn new(reader: impl BufRead + 'static, path: &Path) -> SeriesCsv {
        SeriesCsv(TextLines::new(Box::new(reader), path, Format::SeriesCsv, Series::default()))
    }

    /// Bytes of memory held for lines and events.
    pub fn buffered_bytes(&self) -> usize {
        self.0.buffered_bytes()
    }
}

impl Source for SeriesCsv {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        self.0.next()
    }

    fn info(&self) -> &TraceInfo {
        self.0.info()
    }
}

/// CPU and signal; or the name of a signal that has no meaning here.
type Subject = (u32, Result<Signal, String>);

#[derive(Default)]
struct Series {
    /// From the comment.
    of: Option<Subject>,
    columns: Option<Columns<COUNT>>,
}

impl Parser for Series {
    fn line(&mut self, line: &[u8], out: &mut Output) -> Result<Seen, Bad> {
        if line.trim_ascii().is_empty() {
            return Ok(Seen::Passed);
        }
        if let Some(comment) = line.strip_prefix(b"#") {
            if self.of.is_none() {
                self.of = comment_names(comment, out)?;
            }
            return Ok(Seen::Passed);
        }
        let Some((cpu, signal)) = &self.of else {
            return bad(0, "no line above it names CPU and signal");
        };
        let Some(columns) = &self.columns else {
            self.columns = Some(header(line)?);
            return Ok(Seen::Understood);
        };
        let row = columns.row(line)?;
        let row = Values { columns, row: &row, names: &NAMES };
        match signal {
            Ok(signal) => sample(*cpu, *signal, &row, out)?,
            Err(name) => out.info.skip(name),
        }
        Ok(Seen::Understood)
    }

    fn help(&self) -> &'static str {
        "a series begins with a line like `# cpu=5 signal=util_avg unit=...`, then `time_s,value`, then samples"
    }
}

fn header(line: &[u8]) -> Result<Columns<COUNT>, Bad> {
    let columns = Columns::of_header(&Row::split(line), &NAMES);
    let missing = [Col::Time, Col::Value].into_iter().find(|&column| !columns.has(column));
    missing.map_or(Ok(columns), |column| bad(0, format!("no column `{}`", NAMES[column as usize])))
}

/// The text behind `key=` up to the next blank.
fn value<'a>(comment: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    comment.split(|&byte| byte == b' ').find_map(|word| word.strip_prefix(key)).map(|text| {
        let end = text.iter().position(|&byte| byte == b';').unwrap_or(text.len());
        &text[..end]
    })
}

/// CPU and signal of a comment that names them.
fn comment_names(comment: &[u8], out: &mut Output) -> Result<Option<Subject>, Bad> {
    let (Some(cpu), Some(name)) = (value(comment, b"cpu="), value(comment, b"signal=")) else { return Ok(None) };
    let Some(cpu) = decimal(cpu).and_then(cpu_number) else { return bad(1, format!("`cpu` {CPU_RANGE}")) };
    let per_unit_khz = match value(comment, b"unit=") {
        Some(b"GHz") => Some(1_000_000),
        Some(b"MHz") => Some(1000),
        Some(b"kHz") => Some(1),
        _ => None,
    };
    let signal = match (name, per_unit_khz) {
        (b"util_avg" | b"cfs_util_avg", _) => Ok(Signal::Fair),
        (b"root_cfs_util_uclamp", _) => Ok(Signal::FairClamped),
        (b"rt_util_avg", _) => Ok(Signal::Rt),
        (b"cpu_frequency", Some(khz)) => Ok(Signal::Frequency(khz)),
        (b"cpu_frequency", None) => return bad(0, "the unit of a frequency is GHz, MHz or kHz"),
        (unknown, _) => Err(String::from_utf8_lossy(&unknown[..unknown.len().min(64)]).into_owned()),
    };
    if let Ok(signal) = signal {
        let (event, column) = signal.event();
        let event = EVENTS.iter().find(|info| info.name == event).expect("a declared event");
        ["cpu", column].into_iter().for_each(|column| out.info.has_column(event, column));
    }
    if signal == Ok(Signal::FairClamped) {
        out.info.remarks.push("utilization of the fair class after its clamps; other classes are not in it".to_owned());
    }
    out.cpu(cpu);
    Ok(Some((cpu, signal)))
}

fn sample(cpu: u32, signal: Signal, row: &Values<'_, COUNT>, out: &mut Output) -> Result<(), Bad> {
    let (time_ns, step_ns) = row.seconds(Col::Time)?;
    let Some((value_e9, _)) = seconds(row.text(Col::Value)) else { return row.bad(Col::Value, "is no number") };
    let of_unit = |per_unit: u64| u128::from(value_e9) * u128::from(per_unit) / 1_000_000_000;
    let Ok(value) = u32::try_from(of_unit(if let Signal::Frequency(khz) = signal { khz } else { 1 })) else {
        return row.bad(Col::Value, "is no number of 32 bits");
    };
    out.resolution(step_ns);
    out.event(
        time_ns,
        match signal {
            Signal::Fair => Event::PeltCfs { cpu, util_avg: value, runnable_avg: 0, load_avg: 0, util_est: 0 },
            Signal::FairClamped => Event::EffectiveUtil { cpu, util_cfs: 0, min: 0, max: 0, util: value },
            Signal::Rt => Event::PeltRt { cpu, util_avg: value },
            Signal::Frequency(_) => Event::CpuFrequency { cpu, freq_khz: value },
        },
    );
    Ok(())
}
