// SPDX-License-Identifier: GPL-2.0-or-later
//! Traces of other tools, and of ours, as one stream of declared events.
//!
//! A reader holds a bounded part of the file, whatever its length. It hands out events in time order, task ids are the
//! kernel's. What it does not understand it counts; what is damaged it says, and goes on where it can:
//! [`TraceInfo`] grows while the stream is read and is complete at its end.

mod compressed;
mod convert;
mod counts;
pub mod csv;
mod dat;
mod decode;
mod error;
mod info;
mod log;
mod marked;
mod open;
mod part;
mod perfetto;
mod place;
mod spelling;
mod state;
mod stop;
pub mod text;

pub use compressed::open_bytes;
pub use convert::{ConvertError, Converted, ExportFormat, convert, copy};
pub use error::ImportError;
pub use info::{Damage, Format, OtherForm, TraceInfo};
pub use open::{OpenOptions, open};
pub use part::{Narrowed, Part};
pub use stop::Stop;

use pelton_schema::Event;

/// An event and when it happened, ns on the trace's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// Time of the event, ns.
    pub time_ns: u64,
    /// The event itself.
    pub event: Event,
}

/// A trace being read.
pub trait Source {
    /// The next event, times never decreasing; `None` at the end of what could be read.
    ///
    /// # Errors
    /// When the file cannot be read on, or is no trace at all. Damage inside it is no error: see [`TraceInfo::damage`].
    fn next(&mut self) -> Result<Option<Timed>, ImportError>;

    /// Facts known about the trace so far.
    fn info(&self) -> &TraceInfo;
}
