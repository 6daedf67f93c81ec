// SPDX-License-Identifier: GPL-2.0-or-later
//! Recording what the scheduler of the running kernel does: switches, wake-ups, frequencies, and the integer state of
//! its load tracking.
//!
//! ```text
//! bpf/*.bpf.c  in the kernel: one program per tracepoint copies what it shows into a buffer of its CPU
//! session.rs   loads and attaches them, drains the buffers
//! merge.rs     one stream in time order, in bounded memory
//! convert.rs   records become declared events; kernel addresses become small numbers
//! machine.rs   what this machine allows, and what a reader must know about it
//! loads.rs     small loads to record
//! tables.rs    what the following have in common: a recording whose records are lines of a table
//! balances.rs  how tasks are balanced between CPUs: counts, and what each search reads, as a table
//! gates.rs     whether a search of a balance takes place, and when domains are balanced, as a table
//! placements.rs  where fair tasks are placed: everything that a decision reads, as a table
//! clamps.rs    what clamps of tasks, groups and the system come to, as a table
//!
//! scheduler/   the policy core as a scheduler of this machine
//! control.rs   requests to a running one, over a socket
//! watch.rs     its state, as JSON and for Prometheus
//! ```
//!
//! Nothing here computes a signal. What a tracepoint cannot show is listed in docs/gaps.md (F-025 to F-029).

mod balances;
mod clamps;
pub mod control;
mod convert;
mod gates;
mod groups;
pub mod loads;
mod machine;
mod merge;
mod placements;
mod programs;
mod record;
mod restore;
pub mod scheduler;
mod session;
mod summary;
mod tables;
pub mod watch;

pub use balances::{BalanceCounts, BalanceSession, BalanceSummary, KINDS, KindCounts};
pub use clamps::ClampSession;
pub use convert::signal_event;
pub use gates::GateSession;
pub use machine::{Capabilities, READER_NICE, buffer_mib_default, drop_privileges, header, set_nice};
pub use placements::PlacementSession;
pub use programs::{EventSet, SETS};
pub use session::{LiveError, Options, Progress, Session};
pub use summary::Summary;
pub use tables::{TableSession, TableSummary};
