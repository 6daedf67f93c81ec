// SPDX-License-Identifier: GPL-2.0-only
//! Tables of one row per event, as recorders and notebooks write them.

mod activation;
mod columns;
mod decision;
mod pelt;
mod series;

pub use activation::ActivationCsv;
pub use decision::DecisionCsv;
pub use pelt::PeltCsv;
pub use series::SeriesCsv;

use crate::import::Format;
use columns::Row;

/// The kind of table that begins with these bytes.
pub(crate) fn sniff(first_bytes: &[u8]) -> Option<Format> {
    let mut lines = first_bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let header = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"))?;
    let row = Row::split(header);
    let all = |names: &[&str]| names.iter().all(|name| row.fields().any(|field| field == name.as_bytes()));
    [
        (Format::PeltCsv, pelt::NEEDED),
        (Format::DecisionCsv, decision::NEEDED),
        (Format::SeriesCsv, series::NEEDED),
        (Format::ActivationCsv, activation::NEEDED),
    ]
    .into_iter()
    .find(|(_, needed)| all(needed))
    .map(|(format, _)| format)
    .or_else(|| decision::is_row(&row).then_some(Format::DecisionCsv))
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
