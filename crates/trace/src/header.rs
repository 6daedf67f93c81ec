// SPDX-License-Identifier: GPL-2.0-or-later
//! Facts that a reader must know about a run besides its events.

/// The run an event file belongs to. Equal runs have equal headers: no dates, no host names, no paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunHeader {
    /// Version of the tool that wrote the file.
    pub tool_version: String,
    /// Hash of the checked plan (platform, workload, policy).
    pub scenario_hash: u64,
    /// Hash of the policy core's headers.
    pub core_hash: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Planned length of the run.
    pub duration_ns: u64,
    /// Platform name.
    pub platform: String,
    /// Workload name.
    pub workload: String,
    /// Kernel profile, such as `7.2`.
    pub profile: String,
    /// The policy as text: what differs from the profile.
    pub policy: String,
    /// Task names by task id; entry 0 is the idle task.
    pub tasks: Vec<String>,
    /// CPUs by number.
    pub cpus: Vec<CpuLayout>,
    /// Frequency domains by number.
    pub domains: Vec<DomainLayout>,
    /// Release of the recorded kernel, as `uname -r` says it; empty for simulations, and where nothing names it.
    pub kernel: String,
    /// Facts about a recording of a real machine, as `name: value`: clock, hardware, what is missing. Empty for
    /// simulations.
    pub remarks: Vec<String>,
    /// Paths of the task groups by the numbers in events, the root first; of a recording as far as they were known at
    /// its start.
    pub groups: Vec<String>,
}

impl RunHeader {
    /// True for a run of the simulator, false for a recording.
    pub fn is_simulated(&self) -> bool {
        self.kernel.is_empty() && self.remarks.is_empty()
    }
}

/// One CPU of the run's machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuLayout {
    /// Capacity at the highest frequency, 1..=1024.
    pub capacity: u32,
    /// Frequency domain.
    pub domain: u32,
}

/// One frequency domain of the run's machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainLayout {
    /// Name.
    pub name: String,
    /// Frequencies, ascending.
    pub opps_khz: Vec<u32>,
}

impl RunHeader {
    /// Name of a task; tasks forked during the run have none in the header and are called by their id.
    ///
    /// ```
    /// let header = pelton_trace::RunHeader { tasks: vec!["idle".into(), "ui".into()], ..Default::default() };
    /// assert_eq!(header.task_name(1), "ui");
    /// assert_eq!(header.task_name(7), "task-7");
    /// ```
    pub fn task_name(&self, tid: u32) -> String {
        self.tasks.get(tid as usize).cloned().unwrap_or_else(|| unnamed_task(tid))
    }

    /// Path of a task group; `group-` and the number when the header has no path of it.
    pub fn group_path(&self, group: u32) -> String {
        self.groups.get(group as usize).cloned().unwrap_or_else(|| format!("group-{group}"))
    }

    /// Name of a frequency domain.
    pub fn domain_name(&self, domain: u32) -> String {
        self.domains.get(domain as usize).map(|d| d.name.clone()).unwrap_or_else(|| format!("domain-{domain}"))
    }
}

/// Name of a task that has none in the header.
pub(crate) fn unnamed_task(tid: u32) -> String {
    format!("task-{tid}")
}
