// SPDX-License-Identifier: GPL-2.0-or-later
//! Declared events and columns: the one place that declares what a run reports, in which unit.
//!
//! Everything that leaves the simulator, a recorder or a replay is one of these events. Names are the kernel's
//! tracepoint names where the meaning is the kernel's. Columns carry a unit and a sentence; file formats, exporters and
//! reference pages are derived from [`EVENTS`].

mod codes;
mod declare;
mod events;
mod group_files;
mod placed;
mod reference;
mod sink;
mod unknown;

pub use codes::*;
pub use declare::{Column, EventInfo, Unit};
pub use events::*;
pub use group_files::{FileChange, group_changes};
pub use pelton_core::{Placed, Record as PlacementRecord};
pub use placed::{GroupWords, PlacedWords, placed_words};
pub use reference::render_reference;
pub use sink::{
    Asked, Balance, BalanceEnd, CountSink, Drawn, Gate, NullSink, Sink, TeeSink, Walk, WalkWhy, cpu_list, end_words,
    idle_words, migration_words, walk_words,
};
