// SPDX-License-Identifier: GPL-2.0-or-later
//! schedutil by a kernel's own code, beside the core's: the kernel's answer counts, and the core's explains it.

use pelton_core::kernel::{HookCall, KernelHook, Operation};
use pelton_core::{CpuState as CpuInputs, Decision, PerfTerms, SugovCpu, SugovPolicy, commit, verdict};

use crate::kernel_code::Difference;
use crate::shape::Run;
use crate::state::Engine;

/// Answer of the kernel's hook to a call that the core answers too.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    sugov: SugovPolicy,
    cpus: Vec<SugovCpu>,
    commit: u32,
}

impl Answered {
    /// Request to the driver that the kernel came to.
    fn commit(outcome: &KernelHook, before_khz: u32, after_khz: u32) -> u32 {
        if outcome.drove | outcome.kicked != 0 {
            commit::DRIVE
        } else if outcome.pending != 0 && after_khz != before_khz {
            commit::PENDING
        } else {
            commit::NONE
        }
    }
}

/// Takes over the fields that the kernel's structures have of the governor's record.
fn adopt_policy(own: &mut SugovPolicy, kernel: &SugovPolicy) {
    own.last_ns = kernel.last_ns;
    own.next_freq_khz = kernel.next_freq_khz;
    own.cached_raw_khz = kernel.cached_raw_khz;
    own.work_in_progress = kernel.work_in_progress;
    own.limits_changed = kernel.limits_changed;
    own.need_update = kernel.need_update;
}

fn adopt_cpu(own: &mut SugovCpu, kernel: &SugovCpu) {
    own.last_update_ns = kernel.last_update_ns;
    own.saved_idle_calls = kernel.saved_idle_calls;
    own.iowait_boost = kernel.iowait_boost;
    own.iowait_pending = kernel.iowait_pending;
    own.bw_min = kernel.bw_min;
    own.util = kernel.util;
}

impl<S: Run> Engine<'_, S> {
    /// Asks the kernel's hook for a call of CPU `c` at whose gate the core came to `gate`, with the governor's record
    /// as it was `before`. Returns the gate's verdict: open where the kernel did something.
    pub(crate) fn ask_kernel_hook(&mut self, c: u32, flags: u32, gate: u32, before: &SugovPolicy) -> u32 {
        let d = self.targets.domain(c);
        let now = self.boot_ns + self.now;
        let cpus = &self.m.domains[d as usize].cpus;
        let states: Vec<CpuInputs> = cpus.iter().map(|&j| self.inputs(j)).collect();
        let mut sc: Vec<SugovCpu> = cpus.iter().map(|&j| self.cpus[j as usize].freq.sugov).collect();
        let mut sugov = *before;
        let place = self.targets.place(c);
        let table = self.domains[d as usize].governor_table();
        let Some(kernel) = self.kernel.as_mut() else { return gate };
        kernel.start_domain(self.now, d, cpus, &sugov, table);
        let call = HookCall { domain: d, place, exec_cpu: self.exec, now, flags, states: &states };
        let Some(outcome) = kernel.code.sugov_hook(&call, &mut sugov, &mut sc) else { return gate };
        let commit = Answered::commit(&outcome, before.next_freq_khz, sugov.next_freq_khz);
        let acted = commit != commit::NONE || sugov.last_ns != before.last_ns;
        kernel.hook = Some(Answered { sugov, cpus: sc, commit });
        if gate == verdict::OPEN {
            return gate;
        }
        if acted {
            self.note_open_gate(d, sugov.next_freq_khz);
            return verdict::OPEN;
        }
        self.adopt_kernel_hook(d);
        gate
    }

    /// The kernel's governor did something that the core's would have refused.
    fn note_open_gate(&mut self, d: u32, khz: u32) {
        let at_ns = self.now;
        let Some(kernel) = self.kernel.as_mut() else { return };
        kernel.differs(Operation::SugovHook, || Difference {
            at_ns,
            operation: Operation::SugovHook.name(),
            about: format!("domain {d}"),
            kernel: format!("{khz} kHz"),
            core: "refuses the call".to_owned(),
        });
    }

    /// The governor's records become what the kernel's structures say.
    fn adopt_kernel_hook(&mut self, d: u32) -> Option<Answered> {
        let answered = self.kernel.as_mut()?.hook.take()?;
        adopt_policy(&mut self.domains[d as usize].freq.sugov, &answered.sugov);
        for (&j, kernel) in self.m.domains[d as usize].cpus.iter().zip(&answered.cpus) {
            adopt_cpu(&mut self.cpus[j as usize].freq.sugov, kernel);
        }
        Some(answered)
    }

    /// The decision of the call that [`Engine::ask_kernel_hook`] asked for, beside the core's.
    pub(crate) fn kernel_decision(&mut self, d: u32, core: Decision) -> Decision {
        let (core_khz, core_last_ns) =
            (self.domains[d as usize].freq.sugov.next_freq_khz, self.domains[d as usize].freq.sugov.last_ns);
        let Some(answered) = self.adopt_kernel_hook(d) else { return core };
        let kernel_khz = answered.sugov.next_freq_khz;
        if kernel_khz != core_khz || answered.commit != core.commit || answered.sugov.last_ns != core_last_ns {
            self.note_other_frequency(d, &answered, (core_khz, &core));
        }
        self.as_the_kernel_decided(d, core, core_khz, &answered)
    }

    fn note_other_frequency(&mut self, d: u32, answered: &Answered, (core_khz, core): (u32, &Decision)) {
        let at_ns = self.now;
        let asked = |khz: u32, commit: u32| match commit {
            commit::NONE => format!("stays at {khz} kHz"),
            commit::PENDING => format!("{khz} kHz, for the worker that waits"),
            _ => format!("{khz} kHz"),
        };
        let cpu = self.m.domains[d as usize].cpus[core.cpu as usize];
        let Some(kernel) = self.kernel.as_mut() else { return };
        kernel.differs(Operation::SugovHook, || Difference {
            at_ns,
            operation: Operation::SugovHook.name(),
            about: format!("domain {d}, largest request of CPU {cpu}"),
            kernel: asked(answered.sugov.next_freq_khz, answered.commit),
            core: asked(core_khz, core.commit),
        });
    }

    /// Terms of the core's explanation that the kernel's structures have otherwise are the kernel's.
    fn as_the_kernel_decided(&mut self, d: u32, core: Decision, core_khz: u32, answered: &Answered) -> Decision {
        let mut decision = Decision { commit: answered.commit, ..core };
        let kernel = &answered.sugov;
        if kernel.next_freq_khz != core_khz {
            decision.resolved_khz = kernel.next_freq_khz;
        }
        let evaluated = kernel.last_ns == self.boot_ns + self.now;
        let mut changed = false;
        let terms: &mut [PerfTerms] = self.targets.asked(d).terms_mut();
        for (own, kernel) in terms.iter_mut().zip(&answered.cpus) {
            if kernel.iowait_boost == 0 {
                own.iowait = 0;
            }
            if evaluated && kernel.util != 0 && kernel.util != own.perf {
                own.perf = kernel.util;
                changed = true;
            }
        }
        decision.perf = terms.get(core.cpu as usize).map_or(core.perf, |own| own.perf);
        if (changed || kernel.next_freq_khz != core_khz) && kernel.cached_raw_khz != 0 {
            decision.raw_khz = kernel.cached_raw_khz;
        }
        decision
    }

    /// The worker's request: the kernel's where its code is asked.
    pub(crate) fn kernel_work(&mut self, d: u32, core_khz: u32) -> u32 {
        let at_ns = self.now;
        let Some(kernel) = self.kernel.as_mut() else { return core_khz };
        let sugov = &mut self.domains[d as usize].freq.sugov;
        let mut own = *sugov;
        kernel.at(at_ns);
        let Some(khz) = kernel.code.sugov_work(d, &mut own) else { return core_khz };
        adopt_policy(sugov, &own);
        if khz != core_khz {
            kernel.differs(Operation::SugovWork, || Difference {
                at_ns,
                operation: Operation::SugovWork.name(),
                about: format!("worker of domain {d}"),
                kernel: format!("{khz} kHz"),
                core: format!("{core_khz} kHz"),
            });
        }
        khz
    }

    /// New limits of domain `d`, which the governor's record has.
    pub(crate) fn kernel_limits(&mut self, d: u32) {
        let Some(kernel) = self.kernel.as_mut() else { return };
        if kernel.has_started(d) {
            let sugov = &mut self.domains[d as usize].freq.sugov;
            let mut own = *sugov;
            kernel.at(self.now);
            kernel.code.sugov_limits(d, &mut own);
            adopt_policy(sugov, &own);
        }
    }
}
