// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequencies where the core is a scheduler of sched_ext (`host=live`). Each CPU asks by itself, with a record of the
//! governor of its own; a decision becomes a target (`cpuperf.h`), and the kernel's own schedutil makes a frequency of
//! the largest target of a domain: with its own rules, rate limit and headroom, and what real-time and deadline tasks
//! need. The glue in the kernel is `crates/live/src/bpf/live_freq.h`.

use pelton_core::hook::{Outcome, how};
use pelton_core::{
    CpuState as CpuInputs, Decision, NO_LARGEST, PerfTerms, Policy, SugovCpu, SugovPolicy, commit, cpu_bw_dl,
    cpuperf_is_followed, cpuperf_looks, verdict,
};
use pelton_model::machine::FreqDomain;
use pelton_schema::HookSite;

use crate::freq::hook::Call;
use crate::shape::Run;
use crate::state::Engine;

/// Time that a driver is taken to need for a change of frequency, ns, and that of a context switch: as the loader of
/// `pelton live` has them, where no file says more.
const SWITCH_NS: u64 = 10_000;
const CONTEXT_SWITCH_NS: u64 = 2_000;

/// Part of a CPU that asks by itself.
#[derive(Debug, Default)]
pub(crate) struct Asker {
    /// Record of the governor: a domain of its own, as large as the real one.
    sugov: SugovPolicy,
    sc: SugovCpu,
    terms: PerfTerms,
    /// Target that was handed over last, of 1024.
    target: u32,
    handed_ns: u64,
    insisted_ns: u64,
}

impl Asker {
    /// A CPU of a domain that begins with the least; `of`: the kernel's own record of that domain.
    pub(crate) fn new(policy: &Policy, spec: &FreqDomain, of: &SugovPolicy) -> Asker {
        let mut sugov = SugovPolicy {
            nr_cpus: of.nr_cpus,
            min_khz: of.min_khz,
            max_khz: of.max_khz,
            hw_max_khz: spec.ref_khz,
            ref_khz: spec.ref_khz,
            cur_khz: of.min_khz,
            fast_switch: 1,
            remote_ok: 1,
            freq_invariant: 1,
            ..SugovPolicy::default()
        };
        sugov.init(policy, (of.rate_limit_ns / 1000).min(u64::from(u32::MAX)) as u32);
        sugov.init_gate(policy, SWITCH_NS, CONTEXT_SWITCH_NS);
        Asker { sugov, ..Asker::default() }
    }

    /// Record of its governor.
    pub(super) fn own_sugov(&self) -> &SugovPolicy {
        &self.sugov
    }
}

/// Events that the core has of the fair class alone; others are the kernel's own classes'.
fn is_of_core(site: HookSite) -> bool {
    !matches!(site, HookSite::Rt | HookSite::Dl | HookSite::Limits)
}

impl<S: Run> Engine<'_, S> {
    /// CPUs ask by themselves from the start on, where the core is a scheduler of sched_ext.
    pub(crate) fn start_askers(&mut self) {
        if self.freq.below.is_none() {
            return;
        }
        for c in 0..self.m.cpus.len() as u32 {
            let d = self.targets.domain(c) as usize;
            let asker = Asker::new(self.policy.get(), &self.m.domains[d], &self.domains[d].freq.sugov);
            self.cpus[c as usize].freq.asker = Some(Box::new(asker));
        }
    }

    /// Something happened on CPU `c` that may change its target, or the frequency that the kernel makes of all. Where
    /// another governor runs, or the frequency is given, nothing follows.
    #[cold]
    pub(super) fn target_event(&mut self, c: u32, site: HookSite, how: u32) {
        if self.freq.below.is_none() || self.is_given(c) {
            return;
        }
        if !is_of_core(site) {
            return self.update_below(c);
        }
        let how = how | if c == self.exec { 0 } else { how::REMOTE };
        let now = self.boot_ns + self.now;
        let cpu = &mut self.cpus[c as usize];
        let Some(asker) = &mut cpu.freq.asker else { return };
        let Outcome { offered, delivered, flags } =
            asker.sc.hook_event(self.policy.get(), &asker.sugov, &cpu.rq, now, site as u32, how);
        cpu.report.hooks_offered += u64::from(offered);
        let call = Call { cpu: c, domain: self.targets.domain(c), site, marks: flags };
        if !delivered {
            if offered && S::ACTIVE {
                self.explain_refusal(&call, pelton_schema::GateVerdict::Dropped as u32);
            }
            return;
        }
        self.charge_hook(self.m.costs.hook_ns);
        let cpu = &mut self.cpus[c as usize];
        cpu.report.hook_calls[site as usize] += u64::from(self.now >= self.freq.counted_from_ns);
        let Some(asker) = &mut cpu.freq.asker else { return };
        let gate = asker.sugov.begin(self.policy.get(), &mut asker.sc, 0, now, self.tick_ns, flags, true);
        if gate == verdict::OPEN {
            return self.evaluate_target(&call);
        }
        self.domains[call.domain as usize].report.gated += 1;
        if S::ACTIVE {
            self.explain_refusal(&call, gate);
        }
    }

    /// Inputs of one CPU, without what the kernel's own classes need there.
    fn inputs_of_core(&self, c: u32) -> CpuInputs {
        let inputs = self.inputs(c);
        CpuInputs { util_rt: 0, util_dl: 0, util_irq: 0, bw_dl: 0, rt_nr_running: 0, ..inputs }
    }

    fn evaluate_target(&mut self, call: &Call) {
        let (c, now, inputs) = (call.cpu, self.boot_ns + self.now, self.inputs_of_core(call.cpu));
        self.charge_hook(self.m.costs.hook_cpu_ns);
        let (cap_orig, domain) = (self.cpus[c as usize].rq.cap_orig, &mut self.domains[call.domain as usize]);
        let Some(asker) = &mut self.cpus[c as usize].freq.asker else { return };
        let (prev_khz, table) = (asker.sugov.requested_khz(), domain.governor_table());
        let Asker { sugov, sc, terms, .. } = &mut **asker;
        let decision = sugov.evaluate_one(self.policy.get(), sc, &inputs, now, self.tick_ns, table, terms);
        let drives = decision.commit == commit::DRIVE;
        if drives {
            sugov.cur_khz = sugov.next_freq_khz;
            (asker.target, asker.handed_ns) = (asker.sugov.cpuperf_target(&decision, cap_orig), now);
        }
        let held = asker.sugov.gate.verdict != verdict::OPEN;
        domain.report.evaluations += 1;
        domain.report.held += u64::from(held);
        let terms = asker.terms;
        if S::ACTIVE {
            let khz = [decision.raw_khz, decision.resolved_khz, prev_khz];
            let event = self.decision_event(call, (c, cap_orig, &terms), khz, drives);
            self.emit(event);
        }
        if drives {
            self.update_below(c);
        }
    }

    /// Calls the kernel's own governor for CPU `c` (`cpufreq_update_util`).
    fn update_below(&mut self, c: u32) {
        let (d, now) = (self.targets.domain(c), self.boot_ns + self.now);
        let local = c == self.exec || self.targets.domain(self.exec) == d;
        let bw_dl = cpu_bw_dl(self.cpus[c as usize].dl.running_bw_q20());
        let Some(below) = &self.freq.below else { return };
        let (sugov, sc) = (&mut self.domains[d as usize].freq.sugov, &mut self.cpus[c as usize].freq.sugov);
        if sugov.begin(below, sc, bw_dl, now, self.tick_ns, 0, local) != verdict::OPEN {
            return;
        }
        if self.decide_below(c, d).commit == commit::DRIVE {
            self.drive(d);
        }
    }

    /// The kernel's own governor chooses a frequency for domain `d`, from the targets of its CPUs.
    fn decide_below(&mut self, c: u32, d: u32) -> Decision {
        let cpus = &self.m.domains[d as usize].cpus;
        let of = |&c: &u32| {
            let queues = self.queues(c);
            let util_cfs = self.cpus[c as usize].freq.asker.as_ref().map_or(0, |asker| asker.target);
            CpuInputs { util_cfs, runnable_cfs: 0, util_est: 0, cfs_nr_running: 0, ..queues }
        };
        let inputs: Vec<CpuInputs> = cpus.iter().map(of).collect();
        let mut states: Vec<SugovCpu> = cpus.iter().map(|&c| self.cpus[c as usize].freq.sugov).collect();
        let mut terms = vec![PerfTerms::default(); cpus.len()];
        let (now, caller) = (self.boot_ns + self.now, self.targets.place(c));
        let Some(below) = &self.freq.below else { return Decision::default() };
        let (sugov, table) = self.domains[d as usize].governor();
        sugov.ask_all(below, Some(caller), &mut states, &inputs, now, self.tick_ns, &mut terms);
        let (state, own) = (&mut states[caller as usize], &inputs[caller as usize]);
        let decision = sugov.decide(below, (caller, state, own), now, (&terms, NO_LARGEST), table);
        cpus.iter().zip(states).for_each(|(&c, state)| self.cpus[c as usize].freq.sugov = state);
        decision
    }

    /// CPU `c` asks for more than the least.
    pub(crate) fn asks_for_more(&self, c: u32) -> bool {
        let asker = self.cpus[c as usize].freq.asker.as_deref();
        asker.is_some_and(|asker| asker.sugov.next_freq_khz > asker.sugov.min_khz)
    }

    /// Hands the targets over again that the kernel's rate limit refused.
    pub(crate) fn insist(&mut self) {
        for c in 0..self.m.cpus.len() as u32 {
            if self.is_refused(c) {
                let now = self.boot_ns + self.now;
                if let Some(asker) = &mut self.cpus[c as usize].freq.asker {
                    asker.insisted_ns = now;
                }
                self.update_below(c);
            }
        }
    }

    /// The domain of CPU `c` is elsewhere than its CPUs ask for.
    fn is_refused(&self, c: u32) -> bool {
        let (d, now) = (self.targets.domain(c) as usize, self.boot_ns + self.now);
        let asker = |c: u32| self.cpus[c as usize].freq.asker.as_deref();
        let Some(own) = asker(c).filter(|own| cpuperf_looks(now, own.handed_ns, own.insisted_ns)) else { return false };
        let all = || self.m.domains[d].cpus.iter().copied();
        let most = all().filter_map(asker).map(|other| other.sugov.next_freq_khz).max().unwrap_or(0);
        let need = |c: u32| self.cpus[c as usize].rq.rt.util_avg + self.cpus[c as usize].rq.dl.util_avg;
        let others = all().map(need).max().unwrap_or(0);
        let is = self.cpus[c as usize].rq.freq_scale;
        !cpuperf_is_followed(is, most.max(own.sugov.min_khz), own.sugov.ref_khz, others)
    }
}
