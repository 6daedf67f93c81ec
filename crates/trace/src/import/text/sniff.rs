// SPDX-License-Identifier: GPL-2.0-or-later
//! Kind of a text file, from its first bytes.

use super::head::{Head, NO_CPU};
use crate::import::Format;
use crate::import::csv;

/// The kind of text that begins with these bytes; `None` when it is none that can be read.
///
/// ```
/// use pelton_trace::import::{Format, text::sniff_text};
/// assert_eq!(sniff_text(b"start_s,duration_s,cpu,pid,comm,duty_cycle\n"), Some(Format::ActivationCsv));
/// assert_eq!(sniff_text(b"\x7fELF"), None);
/// ```
pub fn sniff_text(first_bytes: &[u8]) -> Option<Format> {
    let text = first_bytes.trim_ascii_start();
    let start = text[..text.len().min(15)].to_ascii_lowercase();
    if start.starts_with(b"<!doctype html") || start.starts_with(b"<html") {
        return Some(Format::SystraceHtml);
    }
    // A file that is no text has zeros near its start; the last line may be cut.
    if text.iter().take(1024).any(|&byte| byte == 0) {
        return None;
    }
    let mut lines = text.split(|&byte| byte == b'\n').take(200).map(<[u8]>::trim_ascii_end);
    let ftrace = |line: &[u8]| {
        let starts: [&[u8]; 5] = [b"# tracer:", b"# TRACE:", b"version = ", b"cpus=", b"trace-cmd "];
        starts.iter().any(|start| line.starts_with(start))
    };
    lines
        .find_map(|line| match Head::parse(line) {
            Ok(head) => Some(if head.perf { Format::PerfScript } else { Format::FtraceText }),
            Err(bad) if bad.what == NO_CPU => Some(Format::PerfScript),
            Err(_) if ftrace(line) => Some(Format::FtraceText),
            Err(_) => None,
        })
        .or_else(|| csv::sniff(first_bytes))
}
