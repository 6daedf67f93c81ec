// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of a kernel's own compiled code in place of the core's. The code is in an image that another crate loads
//! (`kernel_ops.h`); a run has one for itself.

use crate::sys::{
    Avg, CpuState, IdleChoice, IdleNow, IdleTable, LbEnv, LbTask, Menu, Placement, Se, SugovCpu, SugovPolicy, Teo,
};

/// Outcome of a call of the governor's hook: a mirror of `struct pelton_kernel_hook`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelHook {
    /// The driver was called (fast switch).
    pub drove: u32,
    /// The worker of the driver was asked for (slow switch).
    pub kicked: u32,
    /// Frequency that the driver was given, kHz.
    pub khz: u32,
    /// The worker was asked for before, and has not run.
    pub pending: u32,
}

/// Outcome of `select_task_rq_fair()`: a mirror of `struct pelton_kernel_select`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KernelSelect {
    /// CPU for the task.
    pub cpu: u32,
    /// CPU that the task remembers.
    pub recent_cpu: u32,
    /// Flips of the waker.
    pub waker_flips: u32,
    /// CPU that the waker remembers.
    pub waker_recent: u32,
    /// CPUs whose cache group is still said to have an idle core, a set.
    pub idle_cores: u64,
    /// Signals of the task.
    pub se: Se,
}

/// Outcome of a balance's search for a CPU to take tasks from: a mirror of `struct pelton_kernel_src`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelSrc {
    /// CPUs of the group, a set; 0: the domain is balanced.
    pub group: u64,
    /// Amount to be moved, in the unit of [`KernelSrc::migration`].
    pub imbalance: i64,
    /// Number of [`crate::migrate`].
    pub migration: u32,
    /// CPU to take from, or [`crate::NO_CPU`].
    pub src_cpu: u32,
    /// Mark of the root domain from then on: some CPU has two tasks, or one that is too big for it.
    pub overloaded: u32,
    /// Mark of the root domain from then on: some CPU has more to do than it can.
    pub overutilized: u32,
}

/// A call of the governor's hook.
#[derive(Debug)]
pub struct HookCall<'a> {
    /// Number of the domain.
    pub domain: u32,
    /// Place of the CPU among those of its domain.
    pub place: u32,
    /// CPU that executes it.
    pub exec_cpu: u32,
    /// Time, ns.
    pub now: u64,
    /// Bits of [`crate::hook_flag`].
    pub flags: u32,
    /// Signals of the CPUs of the domain.
    pub states: &'a [CpuState],
}

/// Makes [`Operation`] of its rows: what it is, its name in the table of operations, the kernel's function.
macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $function:literal;)*) => {
        /// Function of the kernel that may decide.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Operation { $($(#[$doc])* $variant,)* }

        /// Operations in the order of their numbers.
        pub const OPERATIONS: [Operation; [$($name,)*].len()] = [$(Operation::$variant,)*];

        impl Operation {
            /// Name of the kernel's function.
            #[must_use]
            pub fn function(self) -> &'static str {
                [$($function,)*][self as usize]
            }

            /// Name in the table of operations (`kernel_ops.h`).
            #[must_use]
            pub fn name(self) -> &'static str {
                [$($name,)*][self as usize]
            }
        }
    };
}

operations! {
    /// schedutil's hook.
    SugovHook, "sugov_hook", "sugov_update_shared, sugov_update_single_freq";
    /// schedutil's worker.
    SugovWork, "sugov_work", "sugov_work";
    /// `sugov_limits()`.
    SugovLimits, "sugov_limits", "sugov_limits";
    /// `select_task_rq_fair()`.
    SelectTaskRqFair, "select_task_rq_fair", "select_task_rq_fair";
    /// `util_fits_cpu()`.
    UtilFitsCpu, "util_fits_cpu", "util_fits_cpu";
    /// `cpu_overutilized()`.
    CpuOverutilized, "cpu_overutilized", "cpu_overutilized";
    /// `update_misfit_status()`.
    MisfitLoad, "misfit_load", "update_misfit_status";
    /// `menu_select()`.
    MenuSelect, "menu_select", "menu_select";
    /// `teo_select()`.
    TeoSelect, "teo_select", "teo_select";
    /// `should_we_balance()`.
    ShouldWeBalance, "should_we_balance", "should_we_balance";
    /// `find_busiest_group()`, later `sched_balance_find_src_group()`, and the search for a queue in the group.
    FindSrc, "find_src", "find_busiest_group, find_busiest_queue";
    /// `need_active_balance()`.
    NeedActiveBalance, "need_active_balance", "need_active_balance";
    /// `can_migrate_task()`.
    CanMigrateTask, "can_migrate_task", "can_migrate_task";
    /// `util_est_update()`.
    UtilEstUpdate, "util_est_update", "util_est_update";
    /// `___update_load_sum()`.
    UpdateLoadSum, "update_load_sum", "___update_load_sum";
    /// `___update_load_avg()`.
    UpdateLoadAvg, "update_load_avg", "___update_load_avg";
    /// `get_pelt_divider()`.
    PeltDivider, "pelt_divider", "get_pelt_divider";
}

/// Ticks per second that kernel code is compiled for (`PELTON_KERNEL_HZ`).
pub const KERNEL_HZ: u32 = 250;
/// Operating points of a domain that it has room for (`PELTON_KERNEL_OPPS`).
pub const KERNEL_OPPS: usize = 64;

/// Kernel code that a run asks. `None`: the operation is not in the image, or the code has failed; the core decides.
pub trait KernelCode {
    /// Time of what is asked from now on, ns: that of the run, for messages, and that of the kernel's clocks.
    fn at(&mut self, now: u64, clock: u64);
    /// Reason why the run cannot go on: the code crashed, or did not return.
    fn failure(&self) -> Option<String>;
    /// CPUs that there is room for.
    fn cpus(&self) -> u32;
    /// `sugov_start()` for a domain of these CPUs, a set.
    fn sugov_start(&mut self, domain: u32, cpus: u64, sp: &SugovPolicy, khz: &[u32]);
    /// The registered hook. Brings the governor's records up to what the kernel's structures say.
    fn sugov_hook(&mut self, call: &HookCall<'_>, sp: &mut SugovPolicy, sc: &mut [SugovCpu]) -> Option<KernelHook>;
    /// The worker's request, kHz.
    fn sugov_work(&mut self, domain: u32, sp: &mut SugovPolicy) -> Option<u32>;
    /// New limits, which `sp` has already.
    fn sugov_limits(&mut self, domain: u32, sp: &mut SugovPolicy);
    /// See [`Placement::select`].
    fn select_task_rq_fair(&mut self, s: &Placement) -> Option<KernelSelect>;
    /// See [`Placement::util_fits_cpu`].
    fn util_fits_cpu(&mut self, s: &Placement, util: u32, clamps: (u32, u32), cpu: u32) -> Option<i32>;
    /// See [`Placement::cpu_overutilized`].
    fn cpu_overutilized(&mut self, s: &Placement, cpu: u32) -> Option<bool>;
    /// See [`Placement::misfit_load`].
    fn misfit_load(&mut self, s: &Placement, cpu: u32, biggest: u32) -> Option<u64>;
    /// See [`LbEnv::should_we_balance`].
    fn should_we_balance(&mut self, s: &Placement, env: &LbEnv) -> Option<bool>;
    /// See [`LbEnv::find_src_group`] and [`LbEnv::find_src_rq`].
    fn find_src(&mut self, s: &Placement, env: &LbEnv) -> Option<KernelSrc>;
    /// See [`LbEnv::need_active_balance`].
    fn need_active_balance(&mut self, s: &Placement, env: &LbEnv, migration: u32) -> Option<bool>;
    /// See [`LbEnv::can_migrate_task`].
    fn can_migrate_task(&mut self, s: &Placement, env: &mut LbEnv, task: &LbTask, migration: u32) -> Option<bool>;
    /// See [`Menu::select`].
    fn menu_select(&mut self, m: &mut Menu, table: &IdleTable, now: &IdleNow) -> Option<IdleChoice>;
    /// See [`Teo::select`].
    fn teo_select(&mut self, m: &mut Teo, table: &IdleTable, now: &IdleNow) -> Option<IdleChoice>;
    /// Load tracking of this thread is the code's until [`KernelCode::release`].
    fn track_load(&mut self);
    /// Load tracking is the core's again.
    fn release(&mut self);
    /// Calls of an operation that the code answered.
    fn calls(&self, operation: Operation) -> u64;
    /// Warnings of the kernel's code, each place once: place, operation, simulated time of the first, number.
    fn warnings(&self) -> Vec<KernelWarning>;
}

/// A `WARN_ON` of the kernel's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelWarning {
    /// File of the kernel's tree and line.
    pub place: String,
    /// Operation that was asked for.
    pub operation: &'static str,
    /// Simulated time of the first, ns.
    pub first_ns: u64,
    /// Number of them.
    pub count: u64,
}

/// Functions that load tracking asks, absent where the core computes: a mirror of `struct pelton_asked`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadTracking {
    /// In place of the core's divisor.
    pub divider: Option<unsafe extern "C" fn(u32) -> u32>,
    /// In place of aging sums.
    pub load_sum: Option<unsafe extern "C" fn(u64, *mut Avg, u64, u64, u64) -> u32>,
    /// In place of averages of sums.
    pub load_avg: Option<unsafe extern "C" fn(*mut Avg, u64)>,
    /// In place of sampling an estimate.
    pub util_est: Option<unsafe extern "C" fn(*mut Se, u32, u32)>,
}

#[cfg(not(target_family = "wasm"))]
unsafe extern "C" {
    fn pelton_ask(asked: *const LoadTracking);
}

/// Lets the core's load tracking ask these functions in this thread; `None` ends that.
///
/// # Safety
/// The functions are called until then, with pointers to records of the core, and must not unwind.
#[cfg(not(target_family = "wasm"))]
pub unsafe fn ask_load_tracking(asked: Option<&'static LoadTracking>) {
    // SAFETY: the pointer is kept in a variable of this thread, and what it points to stays.
    unsafe { pelton_ask(asked.map_or(std::ptr::null(), std::ptr::from_ref)) };
}
