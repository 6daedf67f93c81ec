// SPDX-License-Identifier: GPL-2.0-or-later
//! Values that the kernel worked out on its way to a decision, and the same from what it read.

use pelton_core::{CpuState, Placed, Placement, Policy};

use super::table::Said;

/// Columns that make a CPU's utilization.
const SIGNALS: [&str; 3] = ["util", "runnable", "util_est"];
/// Kinds of values that are worked out again.
const UTIL: i64 = 1;
const EFFECTIVE: i64 = 2;
const ENERGY: i64 = 4;

/// One energy that the kernel computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelEnergy {
    /// With the task on this CPU; `u32::MAX`: on none.
    pub cpu: u32,
    /// Energy.
    pub energy: u64,
    /// Request of the busiest CPU, capacity.
    pub max_util: u64,
    /// Utilization of all CPUs.
    pub busy: u64,
}

/// One call of `cpu_util`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelUtil {
    /// CPU whose utilization was computed.
    pub cpu: u32,
    /// CPU that the task counts on; `u32::MAX`: none.
    pub dst: u32,
    /// Waiting tasks count as demand.
    pub boost: bool,
    /// True when the task counts in it; else the CPU as it stands.
    pub of_task: bool,
    /// Result, capacity.
    pub util: u64,
}

/// One call of `effective_cpu_util`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelEffective {
    /// CPU whose request was computed.
    pub cpu: u32,
    /// Utilization of the fair class on it, capacity.
    pub util: u32,
    /// Result, capacity.
    pub effective: u64,
    /// The bounds that it gave beside that, capacity; `None`: they were not asked for.
    pub bounds: Option<(u64, u64)>,
}

/// Intermediate values recorded on the way to one decision, each kind in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inner {
    /// Energies.
    pub energies: Vec<KernelEnergy>,
    /// Utilizations.
    pub utils: Vec<KernelUtil>,
    /// Requests of CPUs.
    pub effective: Vec<KernelEffective>,
}

impl Inner {
    /// Reads values, `kind:cpu:dst:boost:a:b:c` each, of a machine with so many CPUs; the first that is none is the
    /// error.
    pub(super) fn read(text: &str, cpus: u32) -> Result<Inner, &str> {
        let mut inner = Inner::default();
        for value in text.split_ascii_whitespace() {
            let kind = value.split(':').next().and_then(|kind| kind.parse().ok());
            if !kind.is_some_and(|kind| [UTIL, EFFECTIVE, ENERGY].contains(&kind)) {
                continue;
            }
            let numbers: Option<Vec<i64>> = value.split(':').map(|part| part.parse().ok()).collect();
            let Some(&[kind, cpu, dst, boost, a, b, c]) = numbers.as_deref() else { return Err(value) };
            if kind != ENERGY && !(0..i64::from(cpus)).contains(&cpu) {
                return Err(value);
            }
            inner.add(kind, (cpu as u32, dst as u32, boost as u32), [a, b, c].map(|n| n as u64));
        }
        Ok(inner)
    }

    fn add(&mut self, kind: i64, (cpu, dst, boost): (u32, u32, u32), [a, b, c]: [u64; 3]) {
        match kind {
            UTIL => self.utils.push(KernelUtil { cpu, dst, boost: boost != 0, of_task: b != 0, util: a }),
            EFFECTIVE => {
                let bounds = (dst != 0).then_some((b, c));
                self.effective.push(KernelEffective { cpu, util: boost, effective: a, bounds });
            }
            ENERGY => self.energies.push(KernelEnergy { cpu: dst, energy: a, max_util: b, busy: c }),
            _ => {}
        }
    }
}

impl KernelUtil {
    /// Was what it reads another value afterwards? Then it may have read either.
    pub(super) fn is_moving(&self, said: &Said) -> bool {
        let is_own = |name: &str, signal| name.strip_prefix(signal).is_some_and(|cpu| cpu.parse() == Ok(self.cpu));
        let changed = |name| SIGNALS.iter().any(|signal| is_own(name, signal));
        self.of_task && said.queue_moved || said.changed.split_ascii_whitespace().any(changed)
    }

    /// Computes the value from the record, with the task as it is in `placed`.
    pub(super) fn again(&self, record: &Placement, policy: &Policy, placed: &Placed) -> u64 {
        let Self { cpu, dst, boost, of_task, .. } = *self;
        let util = if of_task {
            record.util_with_task_on(policy, placed, cpu, dst, boost)
        } else {
            record.cpus[cpu as usize].state.cpu_util(policy, boost)
        };
        util.into()
    }
}

impl KernelEffective {
    /// Computes the call from the record.
    pub(super) fn again(&self, record: &Placement, policy: &Policy) -> KernelEffective {
        let state = CpuState {
            util_cfs: self.util,
            runnable_cfs: 0,
            util_est: 0,
            uclamp_used: record.uclamp_used,
            ..record.cpus[self.cpu as usize].state
        };
        let (effective, terms) = state.effective_util(policy);
        let bounds = self.bounds.map(|_| (terms.min.into(), terms.max.into()));
        KernelEffective { effective: effective.into(), bounds, ..*self }
    }
}
