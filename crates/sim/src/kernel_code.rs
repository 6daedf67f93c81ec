// SPDX-License-Identifier: GPL-2.0-or-later
//! A kernel's own code that decides in place of the core, which is asked beside it: each decision that differs is
//! counted, and the first ones are kept with both answers.

use pelton_core::kernel::{KernelCode, KernelWarning, OPERATIONS, Operation};
use pelton_core::{IdleChoice, IdleNow, IdleTable, Menu, NO_CPU, Placed, Placement, Record, SugovPolicy, Teo};

use crate::freq::kernel_hook::Answered;

/// Decisions that differ of which both answers are kept.
const KEPT_MAX: usize = 1000;

/// Kernel code of a run, and what came of asking it.
pub(crate) struct Kernel<'a> {
    pub code: &'a mut dyn KernelCode,
    /// The kernel's clocks at time 0 of the run.
    boot_ns: u64,
    /// Answer of the hook that is being called.
    pub hook: Option<Answered>,
    started: Vec<bool>,
    /// An answer that there is none of.
    pub(crate) failed: Option<String>,
    differ: [u64; OPERATIONS.len()],
    kept: Vec<Difference>,
}

/// A decision in which the kernel's code and the core differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Simulated time, ns.
    pub at_ns: u64,
    /// Name of the operation.
    pub operation: &'static str,
    /// Subject of the decision.
    pub about: String,
    /// Answer of the kernel's code, which counted.
    pub kernel: String,
    /// Answer of the core.
    pub core: String,
}

/// Decisions of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationReport {
    /// Operation.
    pub operation: Operation,
    /// Decisions of the kernel's code; 0: the core decided.
    pub calls: u64,
    /// Decisions that the core would have taken otherwise; `None` where it is not asked beside.
    pub differ: Option<u64>,
}

/// Part of a run that a kernel's own code decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelReport {
    /// All operations.
    pub operations: Vec<OperationReport>,
    /// The first decisions that differ.
    pub differences: Vec<Difference>,
    /// Warnings of the kernel's code.
    pub warnings: Vec<KernelWarning>,
}

impl<'a> Kernel<'a> {
    pub(crate) fn new(code: &'a mut dyn KernelCode, domains: usize, boot_ns: u64) -> Kernel<'a> {
        code.track_load();
        Kernel {
            code,
            boot_ns,
            hook: None,
            started: vec![false; domains],
            failed: None,
            differ: [0; OPERATIONS.len()],
            kept: Vec::new(),
        }
    }

    /// Time of what is asked from now on.
    pub(crate) fn at(&mut self, now: u64) {
        self.code.at(now, self.boot_ns + now);
    }

    pub(crate) fn has_started(&self, d: u32) -> bool {
        self.started[d as usize]
    }

    /// The kernel's governor starts with the first call for a domain.
    pub(crate) fn start_domain(&mut self, now: u64, d: u32, cpus: &[u32], sugov: &SugovPolicy, khz: &[u32]) {
        self.at(now);
        if !std::mem::replace(&mut self.started[d as usize], true) {
            let set = cpus.iter().fold(0, |set, &cpu| set | 1 << cpu);
            self.code.sugov_start(d, set, sugov, khz);
        }
    }

    /// A decision that differs.
    pub(crate) fn differs(&mut self, operation: Operation, described: impl FnOnce() -> Difference) {
        self.differ[operation as usize] += 1;
        if self.kept.len() < KEPT_MAX {
            self.kept.push(described());
        }
    }

    /// Two answers of a number each: the one that counts.
    pub(crate) fn answer<T: PartialEq + Copy + std::fmt::Display>(
        &mut self,
        now: u64,
        operation: Operation,
        about: impl FnOnce() -> String,
        (kernel, core): (Option<T>, T),
    ) -> T {
        let Some(own) = kernel else { return core };
        if own != core {
            self.differs(operation, || Difference {
                at_ns: now,
                operation: operation.name(),
                about: about(),
                kernel: own.to_string(),
                core: core.to_string(),
            });
        }
        own
    }

    /// The placement of a task: the kernel's CPU, and what is remembered of it, in `placed`.
    pub(crate) fn select(&mut self, now: u64, tid: u32, s: &Placement, placed: &mut Placed, core: u32) -> u32 {
        self.at(now);
        let Some(own) = self.code.select_task_rq_fair(s) else { return core };
        if own.cpu >= s.nr_cpus {
            self.failed = Some(format!("select_task_rq_fair answered CPU {}, of {}", own.cpu.cast_signed(), s.nr_cpus));
            return core;
        }
        let about = || format!("task {tid} of utilization {}, before on CPU {}", s.task.se.avg.util_avg, s.prev_cpu);
        let cpu = self.answer(now, Operation::SelectTaskRqFair, about, (Some(own.cpu), core));
        placed.cpu = cpu;
        placed.recent_cpu = own.recent_cpu;
        placed.waker_recent = own.waker_recent;
        placed.se = own.se;
        placed.no_idle_core = without_idle_core(s, own.idle_cores);
        cpu
    }

    pub(crate) fn util_fits_cpu(
        &mut self,
        now: u64,
        s: &Placement,
        util: u32,
        (min, max): (u32, u32),
        cpu: u32,
        core: i32,
    ) -> i32 {
        self.at(now);
        let own = self.code.util_fits_cpu(s, util, (min, max), cpu);
        let about = || format!("utilization {util} within {min} .. {max} on CPU {cpu}");
        self.answer(now, Operation::UtilFitsCpu, about, (own, core))
    }

    pub(crate) fn cpu_overutilized(&mut self, now: u64, s: &Placement, cpu: u32, core: bool) -> bool {
        self.at(now);
        let own = self.code.cpu_overutilized(s, cpu);
        self.answer(now, Operation::CpuOverutilized, || format!("CPU {cpu}"), (own, core))
    }

    pub(crate) fn misfit_load(&mut self, now: u64, s: &Placement, cpu: u32, biggest: u32, core: u64) -> u64 {
        self.at(now);
        let own = self.code.misfit_load(s, cpu, biggest);
        let about = || format!("task of utilization {} on CPU {cpu}", s.task.se.avg.util_avg);
        self.answer(now, Operation::MisfitLoad, about, (own, core))
    }

    /// The choice of an idle governor for CPU `cpu`; `own`: the record as it was, and what the kernel's code makes of
    /// it.
    fn idle(
        &mut self,
        (now, cpu): (u64, u32),
        operation: Operation,
        (idle, states): (&IdleNow, u32),
        (own, core): (IdleChoice, IdleChoice),
    ) -> IdleChoice {
        if own.state >= states {
            let (name, state) = (operation.name(), own.state.cast_signed());
            self.failed = Some(format!("{name} answered state {state}, of {states}"));
            return core;
        }
        let timer = || match idle.sleep_ns {
            u64::MAX => "no timer".to_owned(),
            ns => format!("next timer in {ns} ns"),
        };
        let about = || format!("idle state of CPU {cpu}, {}", timer());
        self.answer(now, operation, about, (Some(own.state), core.state));
        // The answer is not read while the tick is stopped already.
        let stop_tick = if idle.tick_stopped == 0 { own.stop_tick } else { core.stop_tick };
        if stop_tick != core.stop_tick && own.state == core.state {
            self.differs(operation, || Difference {
                at_ns: now,
                operation: operation.name(),
                about: format!("tick of CPU {cpu} stops"),
                kernel: stop_tick.to_string(),
                core: core.stop_tick.to_string(),
            });
        }
        IdleChoice { state: own.state, stop_tick }
    }

    pub(crate) fn menu_select(
        &mut self,
        at: (u64, u32),
        (before, after): (Menu, &mut Menu),
        table: &IdleTable,
        idle: &IdleNow,
        core: IdleChoice,
    ) -> IdleChoice {
        let mut record = before;
        self.at(at.0);
        let Some(own) = self.code.menu_select(&mut record, table, idle) else { return core };
        *after = record;
        self.idle(at, Operation::MenuSelect, (idle, table.count), (own, core))
    }

    pub(crate) fn teo_select(
        &mut self,
        at: (u64, u32),
        (before, after): (Teo, &mut Teo),
        table: &IdleTable,
        idle: &IdleNow,
        core: IdleChoice,
    ) -> IdleChoice {
        let mut record = before;
        self.at(at.0);
        let Some(own) = self.code.teo_select(&mut record, table, idle) else { return core };
        *after = record;
        self.idle(at, Operation::TeoSelect, (idle, table.count), (own, core))
    }

    /// Reason why the run cannot go on.
    pub(crate) fn failure(&self) -> Option<String> {
        self.code.failure().or_else(|| self.failed.clone())
    }

    pub(crate) fn report(&self) -> KernelReport {
        let one = |operation: Operation| OperationReport {
            operation,
            calls: self.code.calls(operation),
            differ: has_core_beside(operation).then_some(self.differ[operation as usize]),
        };
        KernelReport {
            operations: OPERATIONS.into_iter().map(one).collect(),
            differences: self.kept.clone(),
            warnings: self.code.warnings(),
        }
    }
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        self.code.release();
    }
}

/// Inside of load tracking only one of the two computes.
fn has_core_beside(operation: Operation) -> bool {
    operation < Operation::UtilEstUpdate && operation != Operation::SugovLimits
}

/// A CPU near which the search found no idle core, though one was said to be there.
fn without_idle_core(s: &Placement, idle_cores: u64) -> u32 {
    let was = |cpu: usize| s.cpus[cpu].has_idle_cores != 0;
    let lost = |&cpu: &u32| was(cpu as usize) && idle_cores >> cpu & 1 == 0;
    (0..s.nr_cpus.min(64)).find(lost).unwrap_or(NO_CPU)
}

/// A record that kernel code can read: one of at most 64 CPUs.
pub(crate) fn readable(record: &Record) -> Option<&Placement> {
    record.narrow()
}
