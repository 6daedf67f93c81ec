// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of one row per event, as recorders and notebooks write them.

mod activation;
mod columns;
mod decision;
mod pelt;
mod pelt_columns;
mod series;
mod table;

/// Runs of tasks on CPUs.
pub type ActivationCsv = CsvSource<activation::Activations>;
/// Frequency and placement decisions.
pub type DecisionCsv = CsvSource<decision::Decisions>;
/// Load-tracking calls, tracepoints and snapshots.
pub type PeltCsv = CsvSource<pelt::PeltTable>;
/// One signal of one CPU.
pub type SeriesCsv = CsvSource<series::Series>;

use crate::import::Format;
use columns::Row;
use table::{CsvSource, Table};

/// The kind of table that begins with these bytes.
pub(crate) fn sniff(first_bytes: &[u8]) -> Option<Format> {
    let mut lines = first_bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let header = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"))?;
    let row = Row::split(header);
    let all = |names: &[&str]| names.iter().all(|name| row.fields().any(|field| field == name.as_bytes()));
    [
        kind::<pelt::PeltTable>(),
        kind::<decision::Decisions>(),
        kind::<series::Series>(),
        kind::<activation::Activations>(),
    ]
    .into_iter()
    .find(|(_, needed)| all(needed))
    .map(|(format, _)| format)
    .or_else(|| decision::Decisions::is_row(&row).then_some(Format::DecisionCsv))
}

/// Format of a kind of table, and the columns it needs.
fn kind<T: Table>() -> (Format, &'static [&'static str]) {
    (T::FORMAT, T::NEEDED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_known_by_their_columns() {
        assert_eq!(sniff(b"seq,ts,cpu,type,why\n"), Some(Format::PeltCsv));
        assert_eq!(sniff(b"type,cpu,ts"), Some(Format::PeltCsv));
        assert_eq!(sniff(b"4744007472,cpu_util,4,0,,4,1024,51,1024,1024,0,0\n"), Some(Format::DecisionCsv));
        assert_eq!(sniff(b"# cpu=5 signal=util_avg unit=x\ntime_s,value\n1,2"), Some(Format::SeriesCsv));
        assert_eq!(sniff(b"start_s,duration_s,cpu,pid,comm,duty_cycle\n"), Some(Format::ActivationCsv));
        assert_eq!(sniff(b"cpu,task,runtime_s\n"), None);
        assert_eq!(sniff(b""), None);
    }
}
