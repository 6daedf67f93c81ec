// SPDX-License-Identifier: GPL-2.0-or-later
//! Workload from a recorded trace: what every task computed, when and by whom it was woken, as tasks that the simulator
//! can run under another policy, profile or platform.

mod compare;
mod energy;
mod exits;
mod fit;
mod follow;
mod groups;
mod habits;
mod histogram;
mod model;
mod quantity;
mod read;
mod record;
mod rtapp;
mod speed;
mod synthesis;
mod totals;

pub use compare::{Row, Side, Subject, TOLERANCES, Tolerance, Verdict, Worst, check, compare};
pub use energy::energy_gaps;
pub use exits::{ExitTime, IdleStates};
pub use fit::misfits;
pub use groups::Groups;
pub use habits::{Habit, Habits};
pub use histogram::Histogram;
pub use quantity::{QUANTITIES, Quantity};
pub use read::{GAP_NS_MAX, Jump, ReadError, ReadOptions, Recorded, Watch, read, read_idle_states};
pub use record::{
    Attributes, First, Gaps, NOBODY, Pulls, RecordedTask, Recorder, Recording, STEPS_MAX, Step, TASKS_MAX,
};
pub use rtapp::{WriteOptions, write as write_rtapp};
pub use synthesis::{Pin, Synthesis, SynthesisOptions, synthesise};
pub use totals::{AtFrequency, CPUS_MAX, CpuTotals, TaskTotals, Totals};
