// SPDX-License-Identifier: GPL-2.0-or-later
//! Opening a trace of any known kind.

use std::path::Path;

use super::compressed::{Fault, FromPacked, Input};
use super::csv::{ActivationCsv, DecisionCsv, PeltCsv, SeriesCsv};
use super::dat::{self, DatSource};
use super::log::LogSource;
use super::perfetto::{self, PerfettoSource};
use super::stop::{Stop, Stopping};
use super::text::{TextSource, sniff_text};
use super::{Format, ImportError, Source};
use crate::log::MAGIC;

/// Options for opening a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// Kind of the file; recognised by its content when not given.
    pub format: Option<Format>,
    /// Set it and reading ends with an error ([`ImportError::is_stop`]), within 50 ms where nothing comes.
    pub stop: Stop,
}

/// Opens the trace `path` (`-`: standard input). What it is, and whether it is packed (gzip, xz, zstd), is recognised
/// by its content; its name does not matter.
///
/// # Errors
/// When there is no such file, or it is no trace of a known kind, or its beginning is damaged.
///
/// ```
/// use pelton_schema::{Event, Sink};
/// use pelton_trace::import::{OpenOptions, open};
///
/// let path = std::env::temp_dir().join(format!("pelton-doc-{}.plog", std::process::id()));
/// let mut log = pelton_trace::PeltonLog::new(std::fs::File::create(&path).unwrap(), &Default::default());
/// log.event(7, &Event::CpuIdle { cpu: 1, state: 0 });
/// log.finish().unwrap();
///
/// let mut source = open(&path, &OpenOptions::default()).unwrap();
/// assert_eq!(source.next().unwrap().unwrap().time_ns, 7);
/// assert!(source.next().unwrap().is_none() && source.info().is_complete());
/// # std::fs::remove_file(&path).unwrap();
/// ```
pub fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn Source>, ImportError> {
    let source = open_unwatched(path, options)?;
    Ok(Stopping::over(source, path, options.stop))
}

fn open_unwatched(path: &Path, options: &OpenOptions) -> Result<Box<dyn Source>, ImportError> {
    let input = Input::open(path, options.stop)?;
    let format = match options.format.or_else(|| sniff(&input.head)) {
        Some(format) => format,
        None => return Err(unknown(path, &input.head)),
    };
    match format {
        Format::Perfetto => Ok(Box::new(PerfettoSource::new(input.into_whole(path)?, path)?)),
        Format::TraceDat => Ok(Box::new(DatSource::new(input.into_whole(path)?, path)?)),
        _ => in_order(input, format, path),
    }
}

/// Kinds that are read from their beginning to their end.
fn in_order(input: Input, format: Format, path: &Path) -> Result<Box<dyn Source>, ImportError> {
    let is_ours = format == Format::PeltonLog;
    let (stream, fault) = if is_ours { input.into_checked_stream() } else { input.into_stream() };
    match format {
        Format::PeltCsv => from_packed(PeltCsv::new(stream, path), fault),
        Format::DecisionCsv => from_packed(DecisionCsv::new(stream, path), fault),
        Format::SeriesCsv => from_packed(SeriesCsv::new(stream, path), fault),
        Format::ActivationCsv => from_packed(ActivationCsv::new(stream, path), fault),
        Format::PeltonLog => from_packed(LogSource::new(stream, path)?, fault),
        _ => from_packed(TextSource::new(stream, path, format), fault),
    }
}

fn from_packed(source: impl Source + 'static, fault: Fault) -> Result<Box<dyn Source>, ImportError> {
    Ok(Box::new(FromPacked::new(source, fault)))
}

/// Format that the first bytes of a file announce.
fn sniff(head: &[u8]) -> Option<Format> {
    if head.starts_with(&MAGIC) {
        return Some(Format::PeltonLog);
    }
    if head.starts_with(dat::MAGIC) {
        return Some(Format::TraceDat);
    }
    if perfetto::sniff(head) {
        return Some(Format::Perfetto);
    }
    sniff_text(head)
}

fn unknown(path: &Path, head: &[u8]) -> ImportError {
    let what = match head {
        [b'P', b'K', 3, 4, ..] => "is a zip archive, not a trace",
        [b'P', b'E', b'R', b'F', b'I', b'L', b'E', ..] => "is a perf.data file, which is not read directly",
        _ => "is not one of the traces that can be read",
    };
    let first: String = head.iter().take(8).flat_map(|byte| byte.escape_ascii()).map(char::from).collect();
    let error = ImportError::content(path, format!("{what}; the file begins with \"{first}\""));
    match head {
        [b'P', b'K', 3, 4, ..] => error.help("unpack it and give the trace in it"),
        [b'P', b'E', b'R', b'F', b'I', b'L', b'E', ..] => error.help("give the output of `perf script`"),
        _ => error.help(KNOWN_KINDS),
    }
}

const KNOWN_KINDS: &str = "these can be read: ftrace text (tracefs `trace`, `trace-cmd report`), systrace pages, `perf script` \
                           output, trace.dat of trace-cmd, Perfetto traces, CSV tables of signals, logs of pelton; \
                           each also packed with gzip, xz or zstd";

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(content: &[u8], format: Option<Format>) -> String {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), content).expect("room");
        let mut source = match open(file.path(), &OpenOptions { format, ..OpenOptions::default() }) {
            Ok(source) => source,
            Err(error) => return error.to_string(),
        };
        source.next().expect_err("no trace").to_string()
    }

    #[test]
    fn what_is_no_trace_says_what_it_is_instead_and_what_to_do() {
        let text = b"# tracer: nop\na-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n";
        for (content, format, words) in [
            (
                &b"\xff\xd8\xff\xe0\0\x10JFIF"[..],
                None,
                ["begins with \"\\xff\\xd8\\xff\\xe0\\x00\\x10JF\"", "help: these can be read"],
            ),
            (b"PK\x03\x04rest of it", None, ["is a zip archive", "help: unpack it"]),
            (b"PERFILE2........", None, ["perf.data", "help: give the output of `perf script`"]),
            (text, Some(Format::TraceDat), ["first bytes are not those of trace-cmd", "help: "]),
            (text, Some(Format::Perfetto), ["is no Perfetto trace", "help: leave --input-format out"]),
            (text, Some(Format::PeltonLog), ["not a pelton log", "help: "]),
            (
                text,
                Some(Format::PeltCsv),
                [":2:1: no line of it is understood: no column `ts`", "help: a table of load-tracking"],
            ),
            (text, Some(Format::SystraceHtml), ["no events in it", "help: give a page of systrace"]),
        ] {
            let shown = refused(content, format);
            words.iter().for_each(|word| assert!(shown.contains(word), "{word} is not in {shown}"));
        }
    }

    #[test]
    fn a_byte_order_mark_changes_nothing() {
        let texts = [
            "# made by a program\nstart_s,duration_s,cpu,pid,comm,duty_cycle\n1.0,0.5,0,7,a,0.5\n",
            "# tracer: nop\n a-7 [001] d..1 1.000001: cpu_idle: state=1 cpu_id=1\n",
            " a-7 [001] d..1 1.000001: cpu_idle: state=1 cpu_id=1\n",
            "cpus=2\n a-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n",
        ];
        let read = |bytes: &[u8]| {
            let file = tempfile::NamedTempFile::new().expect("a temporary file");
            std::fs::write(file.path(), bytes).expect("room");
            let mut source = open(file.path(), &OpenOptions::default()).expect("a trace");
            let events: Vec<_> = std::iter::from_fn(|| source.next().expect("reads")).collect();
            assert!(!events.is_empty() && source.info().is_complete());
            (events, source.info().format)
        };
        for text in texts {
            let marked = format!("\u{feff}{text}");
            let packed = zstd::encode_all(marked.as_bytes(), 1).expect("room");
            assert_eq!(read(marked.as_bytes()), read(text.as_bytes()));
            assert_eq!(read(&packed), read(text.as_bytes()));
        }
    }

    #[test]
    fn a_line_of_a_million_columns_is_refused_with_its_length() {
        let shown = refused(&[&b"ts,cpu,type"[..], &b",x".repeat(1_000_000), b"\n"].concat(), None);
        assert!(shown.contains(":1:200: no line of it is understood: a line of more than 65536 bytes"), "{shown}");
    }
}
