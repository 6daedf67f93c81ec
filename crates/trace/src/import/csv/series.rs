// SPDX-License-Identifier: GPL-2.0-or-later
//! One signal of one CPU as time and value, the first line naming CPU, signal and unit.

use pelton_schema::{EVENTS, Event};

use super::columns::{Columns, Values, columns_enum};
use super::table::Table;
use crate::import::Format;
use crate::import::text::number::{CPU_RANGE, cpu_number, decimal, seconds};
use crate::import::text::source::{Bad, Output, bad};

columns_enum! { Col, NAMES { Time "time_s", Value "value" } }

/// Quantity of a series.
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

/// CPU and signal; or the name of a signal that has no meaning here.
type Subject = (u32, Result<Signal, String>);

/// One series.
#[derive(Default)]
pub struct Series {
    /// From the comment.
    of: Option<Subject>,
}

impl Table for Series {
    const FORMAT: Format = Format::SeriesCsv;
    const NAMES: &'static [&'static str] = NAMES;
    const NEEDED: &'static [&'static str] = NAMES;
    const HELP: &'static str =
        "a series begins with a line like `# cpu=5 signal=util_avg unit=...`, then `time_s,value`, then samples";

    fn comment(&mut self, comment: &[u8], out: &mut Output) -> Result<(), Bad> {
        if self.of.is_none() {
            self.of = comment_names(comment, out)?;
        }
        Ok(())
    }

    fn header(&mut self, _columns: &Columns, _out: &mut Output) -> Result<(), Bad> {
        if self.of.is_some() { Ok(()) } else { bad(0, "no line above it names CPU and signal") }
    }

    fn row(&mut self, row: &Values<'_>, out: &mut Output) -> Result<(), Bad> {
        match &self.of {
            Some((cpu, Ok(signal))) => sample(*cpu, *signal, row, out)?,
            Some((_, Err(name))) => out.notes.info.skip(name),
            None => {}
        }
        Ok(())
    }
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
        ["cpu", column].into_iter().for_each(|column| out.notes.info.has_column(event, column));
    }
    if signal == Ok(Signal::FairClamped) {
        out.notes
            .info
            .remarks
            .push("utilization of the fair class after its clamps; other classes are not in it".to_owned());
    }
    out.cpu(cpu);
    Ok(Some((cpu, signal)))
}

fn sample(cpu: u32, signal: Signal, row: &Values<'_>, out: &mut Output) -> Result<(), Bad> {
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
