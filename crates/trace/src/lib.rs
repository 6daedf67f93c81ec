// SPDX-License-Identifier: GPL-2.0-or-later
//! The events of a run as files: our own log, Perfetto traces, and text for people and tables.
//!
//! Every writer is a [`pelton_schema::Sink`] over any [`std::io::Write`], holds a bounded buffer, and gives equal bytes
//! for equal runs. A sink cannot fail in the middle of a run: the first error is kept and returned by `finish`.
//!
//! | type | file | for |
//! |---|---|---|
//! | [`PeltonLog`], [`LogReader`] | `.plog` | the complete record of a run: comparing, replaying, converting |
//! | [`PerfettoTrace`], [`perfetto::read`] | `.pftrace` | looking at a run in the Perfetto UI, SQL through its trace processor |
//! | [`FtraceText`] | text as tracefs has it | LISA and other readers of ftrace |
//! | [`TextDump`] | one line per event | people and `diff` |
//! | [`EventTable`], [`LongTable`] | CSV, JSON lines, Parquet | pandas, polars, DuckDB |
//! | [`JsonLines`] | one object per event | scripts |
//!
//! [`import`] reads traces, ours and others', and turns them into any of these.

pub mod decided;
mod event_table;
mod ftrace_text;
mod header;
pub mod import;
pub mod log;
mod output;
pub mod parquet;
pub mod perfetto;
mod shown;
mod table;
mod text;
mod varint;

pub use event_table::{EventTable, LongTable, TableForm, column_name};
pub use ftrace_text::FtraceText;
pub use header::{CpuLayout, DomainLayout, RunHeader};
pub use log::{LogError, LogReader, LogSummary, PeltonLog};
pub use perfetto::{PerfettoSummary, PerfettoTrace};
pub use shown::{lines, one_line};
pub use table::{EventSelection, JsonLines, UnknownEvent};
pub use text::{TextDump, write_event_line};
