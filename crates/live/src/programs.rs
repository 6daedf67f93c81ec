// SPDX-License-Identifier: GPL-2.0-or-later
//! Every program of the recorder: its hook, and the sets of events that need it.

use libbpf_rs::btf::types::{Func, FuncProto, Int, Ptr, Typedef};
use libbpf_rs::btf::{Btf, BtfType};

/// A set of events that `--events` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventSet {
    /// Switches, wake-ups, migrations, forks and exits.
    Sched,
    /// Frequencies, their limits, capacities.
    Freq,
    /// Idle states.
    Idle,
    /// Load tracking, estimates, runnable tasks.
    Pelt,
    /// Interrupts and soft interrupts.
    Irq,
    /// Energies of placements.
    Energy,
}

/// Every set, and the name it has on the command line.
pub const SETS: [(&str, EventSet); 6] = [
    ("sched", EventSet::Sched),
    ("freq", EventSet::Freq),
    ("idle", EventSet::Idle),
    ("pelt", EventSet::Pelt),
    ("irq", EventSet::Irq),
    ("energy", EventSet::Energy),
];

/// Hook of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// A tracepoint.
    Tracepoint(&'static str),
    /// A function; only in a complete recording.
    Function(&'static str),
}

/// One program of `bpf/recorder.bpf.c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramInfo {
    pub name: &'static str,
    pub hook: Hook,
    pub set: EventSet,
}

const fn at(name: &'static str, tracepoint: &'static str, set: EventSet) -> ProgramInfo {
    ProgramInfo { name, hook: Hook::Tracepoint(tracepoint), set }
}

const fn on(name: &'static str, function: &'static str) -> ProgramInfo {
    ProgramInfo { name, hook: Hook::Function(function), set: EventSet::Pelt }
}

/// Every program. The three of `sched_switch` differ in where the argument `prev_state` is.
pub(crate) const PROGRAMS: &[ProgramInfo] = &[
    at("switch_last", "sched_switch", EventSet::Sched),
    at("switch_second", "sched_switch", EventSet::Sched),
    at("switch_without", "sched_switch", EventSet::Sched),
    at("waking", "sched_waking", EventSet::Sched),
    at("wakeup", "sched_wakeup", EventSet::Sched),
    at("wakeup_new", "sched_wakeup_new", EventSet::Sched),
    at("migrate", "sched_migrate_task", EventSet::Sched),
    at("task_fork", "sched_process_fork", EventSet::Sched),
    at("task_exit", "sched_process_exit", EventSet::Sched),
    at("task_exec", "sched_process_exec", EventSet::Sched),
    at("frequency", "cpu_frequency", EventSet::Freq),
    at("limits", "cpu_frequency_limits", EventSet::Freq),
    at("capacity", "sched_cpu_capacity_tp", EventSet::Freq),
    at("overutilized", "sched_overutilized_tp", EventSet::Freq),
    at("idle", "cpu_idle", EventSet::Idle),
    at("irq_entry", "irq_handler_entry", EventSet::Irq),
    at("irq_exit", "irq_handler_exit", EventSet::Irq),
    at("softirq_entry", "softirq_entry", EventSet::Irq),
    at("softirq_exit", "softirq_exit", EventSet::Irq),
    at("tick", "hrtimer_expire_exit", EventSet::Pelt),
    at("balance", "softirq_exit", EventSet::Pelt),
    at("pelt_se", "pelt_se_tp", EventSet::Pelt),
    at("pelt_cfs", "pelt_cfs_tp", EventSet::Pelt),
    at("pelt_rt", "pelt_rt_tp", EventSet::Pelt),
    at("pelt_dl", "pelt_dl_tp", EventSet::Pelt),
    at("pelt_irq", "pelt_irq_tp", EventSet::Pelt),
    at("pelt_hw", "pelt_hw_tp", EventSet::Pelt),
    at("pelt_thermal", "pelt_thermal_tp", EventSet::Pelt),
    at("estimate_se", "sched_util_est_se_tp", EventSet::Pelt),
    at("estimate_cfs", "sched_util_est_cfs_tp", EventSet::Pelt),
    at("nr_running", "sched_update_nr_running_tp", EventSet::Pelt),
    at("energy", "sched_compute_energy_tp", EventSet::Energy),
    on("call_se_in", "__update_load_avg_se"),
    on("call_se", "__update_load_avg_se"),
    on("call_blocked_in", "__update_load_avg_blocked_se"),
    on("call_blocked_in_again", "__update_load_avg_blocked_se"),
    on("call_blocked", "__update_load_avg_blocked_se"),
    on("call_blocked_again", "__update_load_avg_blocked_se"),
    on("call_cfs_in", "__update_load_avg_cfs_rq"),
    on("call_cfs", "__update_load_avg_cfs_rq"),
    on("call_reweight", "reweight_entity"),
    on("call_rt_in", "update_rt_rq_load_avg"),
    on("call_rt", "update_rt_rq_load_avg"),
    on("call_dl_in", "update_dl_rq_load_avg"),
    on("call_dl", "update_dl_rq_load_avg"),
    on("call_clock_in", "update_rq_clock"),
    on("call_clock", "update_rq_clock"),
    on("call_next_freq", "get_next_freq"),
    on("call_effective_perf", "sugov_effective_cpu_perf"),
];

/// Programs that are there twice, so that one of the two runs in any case.
pub(crate) const TWICE: [&str; 4] = ["call_blocked_in", "call_blocked_in_again", "call_blocked", "call_blocked_again"];

/// Tracepoints that have another name in other kernels, or that only some machines have: not worth a remark when
/// absent.
const RENAMED: [&str; 1] = ["pelt_thermal_tp"];

/// Programs to load, and those that the kernel has no hook for.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub wanted: Vec<&'static str>,
    pub missing: Vec<&'static str>,
}

/// Chooses the programs for these sets on the kernel that `btf` describes.
pub(crate) fn choose(btf: &Btf<'_>, sets: &[EventSet], full: bool) -> Choice {
    let mut choice = Choice::default();
    let switch = switch_program(btf);
    for program in PROGRAMS.iter().filter(|p| sets.contains(&p.set)) {
        let (name, present) = match program.hook {
            Hook::Tracepoint(name) => (name, tracepoint(btf, name).is_some()),
            Hook::Function(_) if !full => continue,
            Hook::Function(name) => (name, btf.type_by_name::<Func<'_>>(name).is_some()),
        };
        if name == "sched_switch" && program.name != switch {
            continue;
        }
        if present {
            choice.wanted.push(program.name);
        } else if !RENAMED.contains(&name) && !choice.missing.contains(&name) {
            choice.missing.push(name);
        }
    }
    choice
}

/// The arguments of a tracepoint, as the kernel's type information has them.
pub(crate) fn tracepoint<'b>(btf: &'b Btf<'_>, name: &str) -> Option<FuncProto<'b>> {
    let typedef: Typedef<'_> = btf.type_by_name(&format!("btf_trace_{name}"))?;
    let pointer = Ptr::try_from(typedef.next_type()?).ok()?;
    FuncProto::try_from(pointer.next_type()?).ok()
}

/// Selects the one of the three programs that fits this kernel's `sched_switch(data, preempt, ...)`.
fn switch_program(btf: &Btf<'_>) -> &'static str {
    let Some(arguments) = tracepoint(btf, "sched_switch") else { return "switch_last" };
    let is_integer = |index: usize| {
        let argument = arguments.get(index).and_then(|a| btf.type_by_id::<BtfType<'_>>(a.ty));
        argument.is_some_and(|ty| Int::try_from(ty.skip_mods_and_typedefs()).is_ok())
    };
    match arguments.len() {
        0..=4 => "switch_without",
        _ if is_integer(2) => "switch_second",
        _ => "switch_last",
    }
}
