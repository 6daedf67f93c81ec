// SPDX-License-Identifier: GPL-2.0-or-later
//! The policy core as the scheduler of the running kernel, or beside it.

#[cfg(feature = "record")]
mod ask;
#[cfg(feature = "record")]
mod observed;
#[cfg(feature = "record")]
mod recording;
#[cfg(feature = "record")]
mod run;

use crate::plan::PolicySpec;
use crate::results::live::LiveStatus;
use crate::run::LabError;
#[cfg(feature = "record")]
pub use ask::{Answer, ask};
#[cfg(feature = "record")]
pub use pelton_live::control::Request as Ask;
use pelton_trace::decided::DecidedTable;
#[cfg(feature = "record")]
pub use run::{live, observe};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Control socket where none is named.
pub const SOCKET: &str = "/run/pelton/live.sock";

/// Policy where none is named: the newest profile with clamps that add up, and without queues of tasks that sleep,
/// which no scheduler of sched_ext can keep.
pub const POLICY: &str = "7.2,uclamp=debt,delayed_dequeue=off";

/// Source of the CPU that a task is placed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The core's where the machine has an energy model and CPUs of unequal size, else the kernel's.
    #[default]
    Auto,
    /// The core's.
    Core,
    /// The kernel's search for an idle CPU.
    Kernel,
}

/// Request: a scheduler and how long it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LiveRequest {
    /// Policy.
    pub policy: PolicySpec,
    /// Ask for frequencies; without, they are left to the kernel.
    pub frequencies: bool,
    /// Source of the CPU that a task is placed on.
    pub placement: Placement,
    /// Only clamps that cgroups are given here count, not what tasks asked the kernel for.
    pub own_clamps: bool,
    /// Folder for every decision with all that it was made of; none = nothing is recorded.
    pub record: Option<PathBuf>,
    /// Length, ns; none = until it is asked to end.
    pub duration_ns: Option<u64>,
    /// Time between two states that are shown, ns; none = no state is shown.
    pub every_ns: Option<u64>,
    /// Control socket; none = [`SOCKET`], and of an observer none at all.
    pub socket: Option<PathBuf>,
    /// Platform, by name or file, that says what the operating points of this machine draw, for an observer; none = the
    /// kernel's energy model says it, or nothing.
    pub platform: Option<String>,
    /// Stop dispatching so long after the start, ns: for tests of the kernel's watchdog.
    pub stall_after_ns: Option<u64>,
}

impl Default for LiveRequest {
    fn default() -> Self {
        LiveRequest {
            policy: PolicySpec::parse(POLICY),
            frequencies: true,
            placement: Placement::default(),
            own_clamps: false,
            record: None,
            duration_ns: None,
            every_ns: None,
            socket: None,
            platform: None,
            stall_after_ns: None,
        }
    }
}

/// Takes what a running scheduler has to show.
pub trait LiveShow {
    /// Takes the machine, before anything is started.
    ///
    /// # Errors
    /// When it cannot be shown: nothing is started.
    fn machine(&mut self, machine: &str) -> Result<(), LabError>;

    /// The scheduler runs; `verified` is how many instructions the kernel's verifier looked at, as far as it says.
    fn begins(&mut self, verified: Option<u32>);

    /// Takes the state, as often as the request says.
    ///
    /// # Errors
    /// When it cannot be shown: the scheduler ends.
    fn status(&mut self, status: &LiveStatus) -> Result<(), LabError>;

    /// Serves others meanwhile, several times a second; `metrics` makes the state as text for Prometheus.
    fn serve(&mut self, metrics: &dyn Fn() -> String);
}

/// Takes the files of a recording. What was in the folder before stays until everything is there.
pub trait LiveFiles {
    /// Opens a table; its first line comes next.
    ///
    /// # Errors
    /// When nothing can be written there.
    fn open(&mut self, table: DecidedTable) -> Result<(), LabError>;

    /// Takes a line, its end included.
    fn line(&mut self, table: DecidedTable, line: &str);

    /// True if the output could not be written: the scheduler ends.
    fn have_failed(&self) -> bool;

    /// Everything is there; `machine` is what the tables need beside them, JSON. Names of the files.
    ///
    /// # Errors
    /// When it could not be written.
    fn end(&mut self, machine: &str) -> Result<Vec<String>, LabError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use pelton_scenario::policy::DEFAULT_PROFILE;

    #[test]
    fn the_policy_where_none_is_named_is_the_newest_with_clamps_that_add_up() {
        let choice = plan::policy(&LiveRequest::default().policy).expect("a policy");
        assert_eq!(choice.profile, DEFAULT_PROFILE);
        assert_eq!(pelton_core::profiles().last(), Some(&DEFAULT_PROFILE));
        let value = |name| choice.policy.get(name);
        assert_eq!((value("uclamp"), value("delayed_dequeue")), (Ok("debt"), Ok("off")));
    }
}
