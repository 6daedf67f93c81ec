// SPDX-License-Identifier: GPL-2.0-only
//! Where fair tasks run from 5.10 on: the host's side of the core's `select.h`. Fills the record that a decision reads,
//! keeps what the kernel keeps between decisions, and moves tasks that have become too big for their CPU.

mod domains;
mod misfit;
mod snapshot;

use pelton_core::{NO_CPU, Placed, Placement, Policy, value};
use pelton_schema::Sink;

use crate::engine::Engine;
use crate::machine::Machine;
use crate::state::Task;

/// State of placement.
pub(crate) struct Placing {
    /// What decisions read; the machine's part is filled once.
    record: Box<Placement>,
    placed: Box<Placed>,
    /// The core decides about wake-ups and new tasks.
    pub decides: bool,
    /// Tasks are placed by energy while nothing is over-utilized.
    pub by_energy: bool,
    /// Some CPU had more to do than it could when that was last looked at.
    pub overutilized: bool,
    /// Since when.
    pub overutilized_since_ns: u64,
    /// Until then, ns in all.
    overutilized_ns: u64,
    /// CPUs whose running task waits for a bigger one.
    misfit: Vec<bool>,
    /// When each CPU last looked at all CPUs.
    looked_ns: Vec<u64>,
}

impl Placing {
    pub(crate) fn new(m: &Machine, policy: &Policy) -> Placing {
        let record = domains::record(m, policy);
        let fits = record.is_some();
        let record = Box::new(record.unwrap_or_default());
        Placing {
            decides: fits && policy.dst_group != value::DST_GROUP_LOAD,
            by_energy: record.energy_aware != 0,
            overutilized: false,
            overutilized_since_ns: 0,
            overutilized_ns: 0,
            misfit: vec![false; m.cpus.len()],
            looked_ns: vec![0; m.cpus.len()],
            record,
            placed: Box::default(),
        }
    }

    /// Nothing is moved for the sake of balance: energy decides where tasks run.
    pub(crate) fn holds_balance(&self) -> bool {
        self.by_energy && !self.overutilized
    }

    /// Some running task waits for a bigger CPU.
    pub(crate) fn has_misfit(&self) -> bool {
        self.misfit.contains(&true)
    }

    /// A search found no idle core near a CPU, or a core there went idle.
    fn note_idle_cores(&mut self, cpu: u32, any: bool) {
        let llc = self.record.cpus[cpu as usize].llc;
        let cpus = self.record.nr_cpus as usize;
        self.record.cpus[..cpus].iter_mut().filter(|c| c.llc == llc).for_each(|c| c.has_idle_cores = any.into());
    }
}

impl<S: Sink> Engine<'_, S> {
    /// The CPU for a fair task that wakes (`flags`: bits of `pelton_core::wf`); `exec` executes the placement.
    pub(crate) fn place_fair(&mut self, t: u32, exec: u32, flags: u32) -> u32 {
        let prev = self.tasks[t as usize].cpu;
        if self.tasks[t as usize].allowed.len() == 1 {
            return self.allowed_or_first(t, prev);
        }
        self.fill_placement(t, exec, flags);
        let placing = &mut self.placing;
        let target = placing.record.select(&self.policy, &mut placing.placed);
        if S::PLACEMENTS {
            self.sink.placement(self.now, Task::tid(t), &placing.record, &placing.placed);
        }
        let cleared = placing.placed.no_idle_core;
        if cleared != NO_CPU {
            placing.note_idle_cores(cleared, false);
        }
        if self.placing.placed.waker_recent != 0
            && let Some(waker) = self.tasks.get_mut(self.cpus[exec as usize].curr as usize)
        {
            waker.recent_cpu = exec;
        }
        let task = &mut self.tasks[t as usize];
        task.se = self.placing.placed.se;
        task.clamp_sum.value = self.placing.placed.uclamp_value;
        task.recent_cpu = self.placing.placed.recent_cpu;
        self.allowed_or_first(t, target)
    }

    /// The same for releases whose other rules the core does not have: by energy, or `None` when energy cannot decide.
    pub(crate) fn place_by_energy(&mut self, t: u32, exec: u32, flags: u32) -> Option<u32> {
        if !self.placing.holds_balance() {
            return None;
        }
        self.fill_placement(t, exec, flags);
        let placing = &mut self.placing;
        let target = placing.record.find_energy_efficient_cpu(&self.policy, &mut placing.placed)?;
        if S::PLACEMENTS {
            self.sink.placement(self.now, Task::tid(t), &placing.record, &placing.placed);
        }
        let task = &mut self.tasks[t as usize];
        (task.se, task.clamp_sum.value) = (self.placing.placed.se, self.placing.placed.uclamp_value);
        Some(target)
    }
}
