// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of a balance by a kernel's own code, beside the core's: the kernel's answer counts.

use pelton_core::kernel::{KernelSrc, Operation};
use pelton_core::{Lb, LbEnv, LbTask, NO_CPU, Placement};

use crate::kernel_code::{Difference, Kernel, readable};
use crate::shape::Run;
use crate::state::Engine;

/// Subject of a decision about a domain.
fn about_balance(env: &LbEnv) -> String {
    format!("domain {} of CPU {}", env.level, env.dst_cpu)
}

fn describe(found: &KernelSrc) -> String {
    match (found.group, found.src_cpu) {
        (0, _) => "balanced".to_owned(),
        (group, NO_CPU) => format!("group {group:#x}, no CPU"),
        (group, cpu) => {
            format!("group {group:#x}, CPU {cpu}, {} of migration type {}", found.imbalance, found.migration)
        }
    }
}

impl Kernel<'_> {
    fn should_we_balance(&mut self, now: u64, s: &Placement, env: &LbEnv, core: bool) -> bool {
        self.at(now);
        let own = self.code.should_we_balance(s, env);
        self.answer(now, Operation::ShouldWeBalance, || about_balance(env), (own, core))
    }

    /// Finding of the search for a CPU to take tasks from; `core`: the core's.
    fn find_src(&mut self, now: u64, s: &Placement, env: &LbEnv, core: KernelSrc) -> KernelSrc {
        self.at(now);
        let Some(mut own) = self.code.find_src(s, env) else { return core };
        if s.energy_aware == 0 {
            own.overutilized = core.overutilized; // read by placement by energy alone
        }
        if own.group != 0 && own.src_cpu != NO_CPU && own.src_cpu >= s.nr_cpus {
            let name = Operation::FindSrc.function();
            self.failed = Some(format!("{name} answered CPU {}, of {}", own.src_cpu.cast_signed(), s.nr_cpus));
            return core;
        }
        if own != core {
            self.differs(Operation::FindSrc, || Difference {
                at_ns: now,
                operation: Operation::FindSrc.name(),
                about: about_balance(env),
                kernel: describe(&own),
                core: describe(&core),
            });
        }
        own
    }

    fn need_active_balance(&mut self, now: u64, s: &Placement, (env, migration): (&LbEnv, u32), core: bool) -> bool {
        self.at(now);
        let own = self.code.need_active_balance(s, env, migration);
        let about = || format!("running task of CPU {}, for CPU {}", env.src_cpu, env.dst_cpu);
        self.answer(now, Operation::NeedActiveBalance, about, (own, core))
    }

    /// May a task move? `env` becomes what the kernel makes of it, where its code is asked.
    fn can_migrate_task(
        &mut self,
        now: u64,
        s: &Placement,
        (before, env): (LbEnv, &mut LbEnv),
        (task, migration): (&LbTask, u32),
        core: bool,
    ) -> bool {
        let mut by_kernel = before;
        self.at(now);
        let Some(own) = self.code.can_migrate_task(s, &mut by_kernel, task, migration) else { return core };
        *env = by_kernel;
        let about = || format!("task of CPU {}, for CPU {}", before.src_cpu, before.dst_cpu);
        self.answer(now, Operation::CanMigrateTask, about, (Some(own), core))
    }
}

/// The core's finding in the kernel's words. A mark that a search may not make stays as it was.
fn core_found(s: &Placement, root: bool, lb: &Lb, (group, src): (u64, Option<u32>)) -> KernelSrc {
    let over = if root { lb.overutilized } else { lb.overutilized | s.overutilized };
    KernelSrc {
        group,
        imbalance: if group == 0 { 0 } else { lb.imbalance },
        migration: if group == 0 { 0 } else { lb.migration },
        src_cpu: src.unwrap_or(NO_CPU),
        overloaded: u32::from(root) & lb.overloaded,
        overutilized: over,
    }
}

impl<S: Run> Engine<'_, S> {
    /// Is it up to a CPU to balance its domain?
    pub(super) fn should_we_balance(&mut self, env: &LbEnv) -> bool {
        let core = env.should_we_balance(self.policy.get(), self.placing.record());
        match (self.kernel.as_mut(), readable(self.placing.record())) {
            (Some(kernel), Some(s)) => kernel.should_we_balance(self.now, s, env, core),
            _ => core,
        }
    }

    /// CPUs of the group to take from (0: balanced) and the CPU, after the core's search; what is to be moved, and
    /// marks of the machine, are in `lb`.
    pub(super) fn kernel_src(&mut self, env: &LbEnv, root: bool, core: (u64, Option<u32>)) -> (u64, Option<u32>) {
        let (Some(kernel), Some(s)) = (self.kernel.as_mut(), readable(self.placing.record())) else { return core };
        let lb = &mut *self.balancing.lb;
        let beside = core_found(s, root, lb, core);
        let own = kernel.find_src(self.now, s, env, beside);
        if own.group != 0 {
            (lb.imbalance, lb.migration) = (own.imbalance, own.migration);
        }
        if own.overutilized != beside.overutilized {
            lb.overutilized = own.overutilized;
        }
        if root {
            lb.overloaded = own.overloaded;
        }
        (own.group, (own.src_cpu != NO_CPU).then_some(own.src_cpu))
    }

    /// Is the running task of the other CPU to be moved? The kernel's code is not asked where tasks prefer caches.
    pub(super) fn need_active_balance(&mut self, env: &LbEnv, migration: u32) -> bool {
        let core = env.need_active_balance(self.policy.get(), self.placing.record(), migration);
        match (self.kernel.as_mut(), readable(self.placing.record())) {
            (Some(kernel), Some(s)) if s.cache_aware == 0 => {
                kernel.need_active_balance(self.now, s, (env, migration), core)
            }
            _ => core,
        }
    }

    /// May a task be moved? The kernel's code is not asked where tasks prefer caches.
    pub(super) fn can_migrate_task(&mut self, env: &mut LbEnv, task: &LbTask, migration: u32) -> bool {
        let before = *env;
        let core = env.can_migrate_task(self.policy.get(), self.placing.record(), task, migration);
        match (self.kernel.as_mut(), readable(self.placing.record())) {
            (Some(kernel), Some(s)) if s.cache_aware == 0 => {
                kernel.can_migrate_task(self.now, s, (before, env), (task, migration), core)
            }
            _ => core,
        }
    }

    /// Does a task go? Then less remains to be moved.
    pub(super) fn detach_task(&mut self, env: &mut LbEnv, task: &LbTask) -> bool {
        if self.kernel.is_none() {
            return env.detach_task(self.policy.get(), self.placing.record(), &mut self.balancing.lb, task);
        }
        let migration = self.balancing.lb.migration;
        self.can_migrate_task(env, task, migration) && env.takes(self.policy.get(), &mut self.balancing.lb, task)
    }
}
