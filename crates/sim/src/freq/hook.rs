// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequency: from a hook call to the new operating point. The decision is the core's; this file gathers its inputs,
//! reports what it decided and carries it out, by register write or through the worker thread.

use pelton_core::hook::{Outcome, class, how};
use pelton_core::{Decision, PerfTerms, SugovPolicy, commit, cpu_bw_dl, value, verdict};
use pelton_schema::{Event, GateVerdict, HookSite};

use crate::class::Class;
use crate::cpu::progress::Step;
use crate::engine::Wakeup;
use crate::engine::queue::Ev;
use crate::freq::live::Asker;
use crate::shape::Run;
use crate::state::Engine;

/// A call of the governor.
pub(super) struct Call {
    pub cpu: u32,
    pub domain: u32,
    pub site: HookSite,
    pub marks: u32,
}

impl<S: Run> Engine<'_, S> {
    /// Something happened on CPU `c` that may call the governor.
    pub(crate) fn hook_event(&mut self, c: u32, site: HookSite, how: u32) {
        if !self.is_by_schedutil() || self.is_given(c) {
            return self.target_event(c, site, how);
        }
        let remote = if c == self.exec { 0 } else { how::REMOTE };
        let now = self.boot_ns + self.now;
        let cpu = &mut self.cpus[c as usize];
        let sugov = &self.domains[self.targets.domain(c) as usize].freq.sugov;
        let outcome = cpu.freq.sugov.hook_event(self.policy.get(), sugov, &cpu.rq, now, site as u32, how | remote);
        self.hook_outcome(c, site, outcome);
    }

    /// CPU `c` switched, from a task of class `prev` to task `next`.
    pub(crate) fn hook_switch(&mut self, c: u32, prev: Option<Class>, next: u32) {
        if !self.hooks_switches() || !self.is_by_schedutil() || self.is_given(c) {
            return;
        }
        let task = &self.tasks[next as usize];
        let how = how::SAME_CLAMP | if task.sleep.in_iowait() { how::IOWAIT } else { 0 };
        let (prev, next) = (switch_class(prev), switch_class(Some(task.class())));
        let outcome = self.cpus[c as usize].freq.sugov.hook_switch(self.policy.get(), prev, next, how);
        self.hook_outcome(c, HookSite::Switch, outcome);
    }

    /// A fair task was enqueued on CPU `c`; an event when it is the second one to run.
    pub(crate) fn hook_second_task(&mut self, c: u32) {
        if self.hooks_switches() && self.cpus[c as usize].nr_runnable() == 2 {
            self.hook_event(c, HookSite::Enqueue, self.freq.hooks.long_tick);
        }
    }

    fn hook_outcome(&mut self, c: u32, site: HookSite, outcome: Outcome) {
        self.cpus[c as usize].report.hooks_offered += u64::from(outcome.offered);
        if outcome.delivered {
            return self.hook(c, site, outcome.flags);
        }
        if self.is_observed(site, outcome.offered) {
            self.observe_event(c);
        }
        if outcome.offered && S::ACTIVE {
            let d = self.m.cpus[c as usize].domain;
            self.explain_refusal(&Call { cpu: c, domain: d, site, marks: 0 }, GateVerdict::Dropped as u32);
        }
    }

    /// Calls the governor because a signal of CPU `c` changed.
    fn hook(&mut self, c: u32, site: HookSite, flags: u32) {
        self.charge_hook(self.m.costs.hook_ns);
        let d = self.targets.domain(c);
        let call = Call { cpu: c, domain: d, site, marks: flags };
        let local = c == self.exec || self.targets.domain(self.exec) == d;
        if self.policy.stale_cpu != value::STALE_CPU_COUNT {
            let inputs = self.inputs(c);
            self.cpus[c as usize].freq.sugov.keep_util(self.policy.get(), &inputs);
            if S::REQUESTS {
                let queues = self.queues(c);
                self.sink.called(self.now, c, &queues, &inputs);
            }
        }
        let cpu = &mut self.cpus[c as usize];
        cpu.report.hook_calls[site as usize] += u64::from(self.now >= self.freq.counted_from_ns);
        let bw_dl = cpu_bw_dl(cpu.dl.running_bw_q20());
        let sugov = &mut self.domains[d as usize].freq.sugov;
        let boosted = cpu.freq.sugov.iowait_boost;
        let before = self.kernel.is_some().then_some(*sugov);
        let gate = sugov.begin(
            self.policy.get(),
            &mut cpu.freq.sugov,
            bw_dl,
            self.boot_ns + self.now,
            self.tick_ns,
            flags,
            local,
        );
        // Of all that a call brings only a boost counts in the request.
        if boosted | cpu.freq.sugov.iowait_boost != 0 {
            self.request_changes(c);
        }
        let gate = before.map_or(gate, |before| self.ask_kernel_hook(c, flags, gate, &before));
        if gate == verdict::OPEN {
            self.evaluate(&call);
            return;
        }
        self.domains[d as usize].report.gated += 1;
        self.observe_event(c);
        if S::ACTIVE {
            self.explain_refusal(&call, gate);
        }
    }

    /// The governor works on the CPU that executes.
    pub(super) fn charge_hook(&mut self, cost_ns: u64) {
        let wall_ns = self.charge_cost(self.exec, cost_ns);
        self.cpus[self.exec as usize].report.hook_ns += wall_ns;
    }

    fn evaluate(&mut self, call: &Call) {
        let (c, d) = (call.cpu, call.domain);
        let cpus = self.targets.terms(d).len() as u64;
        self.charge_hook(self.m.costs.hook_cpu_ns * cpus);
        if self.asks_packed() {
            if self.evaluate_packed(c, d) {
                self.drive(d);
            }
            return;
        }
        self.ask(c, d, true);
        self.inputs_of_caller(c, d);
        let chosen = self.chosen_elsewhere(d);
        let (now, caller) = (self.boot_ns + self.now, self.targets.place(c));
        let (kept, domain) = (self.targets.kept(d), &mut self.domains[d as usize]);
        domain.report.evaluations += 1;
        let prev_khz = domain.freq.sugov.requested_khz();
        let (sc, made_of) = (&mut self.cpus[c as usize].freq.sugov, kept.made_of(caller));
        let requests = match &chosen {
            None => (kept.terms(), kept.largest()),
            Some(terms) => (&terms[..], 0),
        };
        let (sugov, table) = domain.governor();
        let before = (*sugov, *sc);
        let decision = sugov.decide(self.policy.get(), (caller, sc, made_of), now, requests, table);
        if chosen.is_none() && self.kernel.is_none() {
            self.assert_short_way(c, d, before, decision.commit);
        }
        let decision = match chosen {
            None if self.kernel.is_some() => self.kernel_decision(d, decision),
            _ => decision,
        };
        let domain = &mut self.domains[d as usize];
        domain.report.held += u64::from(domain.freq.sugov.gate.verdict != verdict::OPEN);
        let set = domain.settable_khz(decision.resolved_khz);
        self.observe_need(d, set);
        if S::REQUESTS {
            let asked = self.asked(d);
            self.sink.requests(self.now, d, &asked);
        }
        if S::ACTIVE {
            let event = self.decision(call, &decision, prev_khz);
            self.emit(event);
        }
        if decision.commit == commit::DRIVE {
            self.drive(d);
        }
    }

    /// Requests that come to the frequency which the sink chooses, where it does; every CPU asks for that.
    fn chosen_elsewhere(&mut self, d: u32) -> Option<Vec<PerfTerms>> {
        if !S::REQUESTS {
            return None;
        }
        let asked = self.asked(d);
        let khz = self.sink.choose(self.now, d, &asked)?;
        let scale = self.domains[d as usize].freq.sugov.raw_freq(self.policy.get(), 1, 1, false);
        let mut terms = self.targets.kept(d).terms().to_vec();
        terms.iter_mut().for_each(|terms| {
            (terms.request, terms.scale, terms.forced_max) = (khz, scale.max(1), 0);
        });
        Some(terms)
    }

    pub(super) fn explain_refusal(&mut self, call: &Call, gate: u32) {
        let khz = self.governor_of(call).requested_khz();
        let cap_orig = self.m.cpus[call.cpu as usize].capacity;
        let most = (call.cpu, cap_orig, &PerfTerms::default());
        let mut event = self.decision_event(call, most, [0, khz, khz], false);
        if let Event::FreqDecision { gate: g, .. } = &mut event {
            *g = gate;
        }
        self.emit(event);
    }

    /// Hands an accepted request to the driver.
    pub(super) fn drive(&mut self, d: u32) {
        if self.m.domains[d as usize].fast_switch {
            let domain = &mut self.domains[d as usize];
            let khz = domain.driver_khz(domain.freq.sugov.next_freq_khz);
            // A driver without table looks first whether there is anything to write.
            if domain.governor_table().is_empty() && khz == domain.freq.sugov.cur_khz {
                return;
            }
            domain.report.driver_calls += 1;
            // At the speed the CPU still has.
            let write_ns = self.charge_cost(self.exec, self.m.costs.register_write_ns);
            self.set_frequency(d, khz);
            let stall_ns = self.m.domains[d as usize].switch_time_ns;
            self.charge_wall(self.exec, stall_ns);
            self.cpus[self.exec as usize].report.hook_ns += write_ns + stall_ns;
        } else {
            let cpu = self.exec;
            self.queue.push(self.now, Ev::WorkerKick { domain: d, cpu });
        }
    }

    /// The interrupt work that wakes the worker thread.
    pub(crate) fn worker_kick(&mut self, d: u32, cpu: u32) -> Option<Wakeup> {
        self.exec = cpu;
        self.charge_cost(cpu, self.m.costs.ipi_ns);
        self.domains[d as usize].freq.kick_pending = false;
        self.domains[d as usize].freq.kicked = true;
        // A worker that sleeps in the driver notices when that returns.
        let task = self.domains[d as usize].freq.worker_task.filter(|_| !self.domains[d as usize].freq.in_driver)?;
        Some(Wakeup { task, exec: cpu })
    }

    /// Next step of the worker thread; `None` = wait for the next kick.
    pub(crate) fn worker_next(&mut self, d: u32) -> Option<Step> {
        if self.domains[d as usize].freq.in_driver && !self.m.domains[d as usize].driver_sleeps {
            self.finish_driver_call(d);
        }
        loop {
            let domain = &mut self.domains[d as usize];
            if domain.freq.in_driver || !std::mem::take(&mut domain.freq.kicked) {
                return None;
            }
            let khz = self.worker_khz(d);
            let domain = &mut self.domains[d as usize];
            domain.freq.setting_khz = domain.driver_khz(khz);
            if domain.freq.setting_khz == domain.freq.sugov.cur_khz {
                domain.freq.sugov.work_done(self.policy.get());
                continue;
            }
            domain.freq.in_driver = true;
            domain.report.driver_calls += 1;
            let spec = &self.m.domains[d as usize];
            if !spec.driver_sleeps {
                self.cpus[self.exec as usize].report.hook_ns += spec.switch_time_ns;
                return Some(Step::Wall(spec.switch_time_ns));
            }
            self.queue.push(self.now + spec.switch_time_ns, Ev::DriverDone { domain: d });
        }
    }

    /// The frequency that the worker must set.
    fn worker_khz(&mut self, d: u32) -> u32 {
        if pelton_core::governor_votes(self.policy.get()) {
            self.voted_khz(d)
        } else if self.samples(d) {
            self.sampled_khz(d)
        } else if self.has_timers(self.m.domains[d as usize].cpus[0]) {
            self.adjusted_khz(d)
        } else {
            let khz = self.domains[d as usize].freq.sugov.work_start(self.policy.get());
            self.kernel_work(d, khz)
        }
    }

    /// A sleeping driver call returns: the frequency changes and the worker looks for more work.
    pub(crate) fn driver_done(&mut self, d: u32) -> Option<Wakeup> {
        self.finish_driver_call(d);
        let task = self.domains[d as usize].freq.worker_task?;
        self.exec = self.tasks[task as usize].cpu;
        Some(Wakeup { task, exec: self.exec })
    }

    fn finish_driver_call(&mut self, d: u32) {
        self.domains[d as usize].freq.in_driver = false;
        let khz = self.domains[d as usize].freq.setting_khz;
        self.set_frequency(d, khz);
        let now = self.boot_ns + self.now;
        self.domains[d as usize].freq.sugov.work_done(self.policy.get());
        self.domains[d as usize].freq.sd.done(khz, now);
        self.apply_late_limits(d);
    }

    /// Event that reports an evaluation and its result.
    fn decision(&self, call: &Call, decision: &Decision, prev_khz: u32) -> Event {
        let cpu = self.m.domains[call.domain as usize].cpus[decision.cpu as usize];
        let terms = &self.targets.terms(call.domain)[decision.cpu as usize];
        let khz = [decision.raw_khz, decision.resolved_khz, prev_khz];
        let most = (cpu, self.cpus[cpu as usize].rq.cap_orig, terms);
        self.decision_event(call, most, khz, decision.commit != commit::NONE)
    }

    /// Governor that a call is for: of the domain, or of a CPU that asks by itself.
    fn governor_of(&self, call: &Call) -> &SugovPolicy {
        let asker = self.cpus[call.cpu as usize].freq.asker.as_deref();
        asker.map_or(&self.domains[call.domain as usize].freq.sugov, Asker::own_sugov)
    }

    /// Event that reports a call and its result; `most`: the CPU with the largest request, its capacity and the
    /// request; `khz`: before the table, after it, and requested before.
    pub(super) fn decision_event(
        &self,
        call: &Call,
        most: (u32, u32, &PerfTerms),
        khz: [u32; 3],
        changed: bool,
    ) -> Event {
        let (max_cpu, cap_orig, t) = most;
        let sugov = self.governor_of(call);
        let gate = &sugov.gate;
        let [raw_khz, resolved_khz, prev_khz] = khz;
        Event::FreqDecision {
            cpu: call.cpu,
            executing_cpu: self.exec,
            domain: call.domain,
            site: call.site as u32,
            gate: gate.verdict,
            max_cpu,
            cfs: t.cfs,
            rt: t.rt,
            dl: t.dl,
            irq: t.irq,
            effective: t.effective,
            iowait: t.iowait,
            min: t.min,
            max: t.max,
            perf: t.perf,
            forced_max: t.forced_max,
            cap_orig,
            raw_khz,
            resolved_khz,
            prev_khz,
            request_khz: sugov.requested_khz(),
            changed: u32::from(changed),
            error: gate.error,
            peak_khz: gate.maximum_khz,
            until_ns: gate.until_ns.saturating_sub(self.boot_ns),
            next_allowed_ns: sugov.next_allowed_ns(self.policy.get()).saturating_sub(self.boot_ns),
            flags: call.marks,
        }
    }

    /// The RT class's own frequency request at enqueue, dequeue and accounting.
    pub(crate) fn hook_rt(&mut self, c: u32) {
        self.hook_event(c, HookSite::Rt, 0);
    }
}

fn switch_class(class: Option<Class>) -> u32 {
    match class {
        Some(Class::Fair) => class::FAIR,
        Some(Class::Realtime) => class::RT,
        Some(Class::Deadline) => class::DL,
        Some(Class::Worker) => class::WORKER,
        None => class::IDLE,
    }
}
