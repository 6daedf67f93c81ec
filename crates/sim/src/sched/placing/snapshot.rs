// SPDX-License-Identifier: GPL-2.0-or-later
//! Fills the record of a decision from the state of the run.

use pelton_core::{
    CpuState as Signals, Held, NO_CPU, NO_IDLE_STATE, PlaceCpu, PlaceTask, PlaceWaker, Placement, Policy, Record,
    SchedDomain, group_limited, nr_idle_scan, value, wf,
};

use crate::hw::power::Power;
use crate::shape::Run;
use crate::state::{CpuState, Engine, NO_TASK};
use pelton_model::workload::SchedPolicy;

impl<S: Run> Engine<'_, S> {
    /// Everything that a decision about task `t` reads.
    pub(super) fn fill_placement(&mut self, t: u32, exec: u32, flags: u32) {
        self.refresh_read_rows(t, exec, flags);
        self.mark_placed(self.tasks[t as usize].cpu, t);
        if self.uses.limits_groups {
            self.fill_groups(t);
        }
        let (mut task, waker) = (self.placed_task(t), self.placing_task(t, exec));
        // A task that loads a program runs.
        task.on_rq = u32::from(flags & wf::EXEC != 0);
        self.fill_load_avg(flags);
        let (overutilized, clamped) = (self.placing.overutilized, self.uses.clamped);
        let record: &mut Placement = &mut self.placing.record;
        (record.task, record.waker) = (task, waker);
        (record.this_cpu, record.prev_cpu, record.flags) = (exec, task.cpu, flags);
        record.overutilized = overutilized.into();
        record.uclamp_used = clamped.into();
        record.avg_idle_ns = self.cpus[exec as usize].sched.newidle.avg_idle_ns;
        record.avg_scan_cost_ns = self.placing.scan_cost_ns[exec as usize];
        if flags & wf::TTWU != 0 && self.policy.wake_affine == value::WAKE_AFFINE_RUNNABLE_LOAD {
            self.fill_shifts(t, exec);
        }
    }

    /// 4.12: what groups make of loads, once the task's is as `wake_cap()` leaves it.
    fn fill_shifts(&mut self, t: u32, exec: u32) {
        let placing = &mut self.placing;
        let load = placing.record.wake_cap_load(self.policy.get(), &mut placing.placed);
        let (mut task, mut waker) = (placing.record.task, placing.record.waker);
        self.shift_loads(t, exec, load, &mut task, &mut waker);
        let record: &mut Placement = &mut self.placing.record;
        (record.task, record.waker) = (task, waker);
    }

    /// Updates the rows that the decision may read. Where capacities and energy do not count, a wake-up looks
    /// at the caches of the CPU that executes it and of the task's; a small record is updated as a whole.
    fn refresh_read_rows(&mut self, t: u32, exec: u32, flags: u32) {
        let record = &self.placing.record;
        let near = || flags & wf::TTWU != 0 && record.asymmetric == 0 && record.energy_aware == 0;
        if record.narrow().is_some() || !near() {
            return self.refresh_rows(self.placing.all);
        }
        for c in [exec, self.tasks[t as usize].cpu] {
            let own = &self.placing.record.rows()[c as usize];
            match own.domains.get(own.llc_domain as usize) {
                Some(&SchedDomain { span, .. }) => self.refresh_rows(span),
                None => self.refresh_own_row(c),
            }
        }
    }

    /// Loads with sleeping tasks, which only the search through the groups of older releases reads beside runnable
    /// ones. A wake-up comes there on unequal CPUs alone.
    fn fill_load_avg(&mut self, flags: u32) {
        if !self.placing.by_load || (flags & wf::TTWU != 0 && self.placing.record.asymmetric == 0) {
            return;
        }
        for (row, cpu) in self.placing.record.rows_mut().iter_mut().zip(&self.cpus) {
            row.load_avg = cpu.rq.cfs.avg.load_avg;
        }
    }

    /// Task `t` of CPU `c` is placed, which may be running there.
    pub(super) fn mark_placed(&mut self, c: u32, t: u32) {
        let placing = &mut self.placing;
        let rows = placing.record.rows_mut();
        rows[placing.marked as usize].curr_is_task = 0;
        rows[c as usize].curr_is_task = (self.cpus[c as usize].curr == t).into();
        placing.marked = c;
        // Not on large machines, lest what is counted here grow with them.
        debug_assert!(
            placing.record.narrow().is_none()
                || placing
                    .record
                    .rows()
                    .iter()
                    .zip(&self.cpus)
                    .all(|(row, cpu)| row.curr_is_task == u32::from(cpu.curr == t)),
            "no other CPU runs task {t}"
        );
    }

    /// Fills, for each CPU, the utilization of the group of task `t` there and the rest without it.
    fn fill_groups(&mut self, t: u32) {
        let group = self.tasks[t as usize].group;
        for (row, cpu) in self.placing.record.rows_mut().iter_mut().zip(&self.cpus) {
            let groups = cpu.levels.throttled(cpu.levels.slot(group));
            (row.group_util, row.group_rest) = groups.parts(row.state.util_cfs, row.state.cap_orig);
        }
    }

    /// Brings what decisions read of some CPUs, a set of the record, up to now. Debug builds compute what is kept again
    /// and compare.
    pub(crate) fn refresh_rows(&mut self, span: u64) {
        if self.placing.record.narrow().is_none() {
            return self.refresh_words(span);
        }
        let mut stale = span & !self.fresh_rows.word(0);
        while stale != 0 {
            let c = stale.trailing_zeros();
            stale &= stale - 1;
            self.refresh_row::<false>(c);
        }
        if cfg!(debug_assertions) {
            self.placing.record.span_cpus(span).for_each(|c| self.assert_row(c));
        }
    }

    /// Brings the rows of some CPUs of a large record up to now.
    #[inline(never)]
    fn refresh_words(&mut self, span: u64) {
        for at in self.placing.record.span_words(span) {
            let mut stale = self.placing.record.span_word(span, at) & !self.fresh_rows.word(at);
            while stale != 0 {
                let c = at as u32 * 64 + stale.trailing_zeros();
                stale &= stale - 1;
                self.refresh_row::<true>(c);
                self.placing.record.follow(self.policy.get(), c);
            }
        }
        if cfg!(debug_assertions) {
            self.assert_some_rows(span);
        }
    }

    /// A few rows stand for all of a large record, other ones at other times, lest what is counted here grow with the
    /// machine.
    fn assert_some_rows(&self, span: u64) {
        let (cpus, from) = (self.cpus.len() as u64, self.now / 1_000);
        let some = (0..8).map(|i| ((from + i) % cpus) as u32);
        some.filter(|&c| self.placing.record.span_has(span, c)).for_each(|c| self.assert_row(c));
    }

    /// Brings the row of one CPU up to now.
    pub(crate) fn refresh_own_row(&mut self, c: u32) {
        self.refresh_rows(self.placing.record.span_alone(c));
    }

    /// Of a record that is large or not.
    #[inline(always)]
    fn refresh_row<const LARGE: bool>(&mut self, c: u32) {
        let facts = self.row_facts(c);
        let row = match &mut self.placing.record {
            Record::Narrow(place) => &mut place.cpus[c as usize],
            record if LARGE => &mut record.rows_mut()[c as usize],
            Record::Wide(_) => return,
        };
        facts.write(self.policy.get(), &self.cpus[c as usize], row);
        self.balancing.fill_loads(c, row);
        // The end of a search changes the row without a call of `change`.
        self.fresh_rows.set_fresh(c, !self.searches(c));
    }

    fn assert_row(&self, c: u32) {
        if self.balancing.emptied == Some(c) {
            return;
        }
        let kept = self.placing.record.rows()[c as usize];
        let mut now = kept;
        self.row_facts(c).write(self.policy.get(), &self.cpus[c as usize], &mut now);
        self.balancing.fill_loads(c, &mut now);
        debug_assert_eq!(now, kept, "kept row of CPU {c}");
    }

    #[inline(always)]
    fn row_facts(&self, c: u32) -> RowFacts {
        let cpu = &self.cpus[c as usize];
        RowFacts {
            clamped: self.uses.clamped,
            clamp_sums: self.uses.clamp_sums,
            limits_groups: self.uses.limits_groups,
            load: self.wake_load(c),
            pressure: self.pressure(c).now,
            curr_idle: cpu.curr == NO_TASK && !self.searches(c),
            exit_latency_ns: match cpu.power() {
                Power::Idle { state } => self.exit_latency_ns(c, state),
                _ => NO_IDLE_STATE,
            },
        }
    }

    fn exit_latency_ns(&self, c: u32, state: u32) -> u32 {
        let domain = &self.m.domains[self.m.cpus[c as usize].domain as usize];
        domain.idle_states.get(state as usize).map_or(NO_IDLE_STATE, |s| s.wakeup_latency_ns().min(1 << 31) as u32)
    }

    pub(super) fn placed_task(&mut self, t: u32) -> PlaceTask {
        let allowed = self.placing.record.hold(Held::Allowed, self.tasks[t as usize].allowed().words());
        let task = &self.tasks[t as usize];
        let (queue_update_ns, queue_load, queue_h_load) = self.queue_of(t);
        let (uclamp_min, uclamp_max) = if self.uses.clamped { self.clamps_of(t) } else { (0, 1024) };
        PlaceTask {
            se: task.se,
            allowed,
            queue_update_ns,
            queue_load,
            queue_h_load,
            shift_here: 0,
            shift_there: 0,
            cpu: task.cpu,
            on_rq: 0,
            recent_cpu: task.sched.recent_cpu,
            wakee_flips: task.sched.wakee_flips,
            sched_idle: matches!(task.policy(), SchedPolicy::Idle).into(),
            uclamp_min,
            uclamp_max,
            numa_cpu: NO_CPU,
            uclamp_value: task.clamp_sum.value,
            throttle: self.throttle_of(t),
        }
    }

    /// The running task of the executing CPU; its partners are counted already.
    fn placing_task(&self, t: u32, exec: u32) -> PlaceWaker {
        let curr = self.cpus[exec as usize].curr;
        let Some(waker) = self.tasks.get(curr as usize).filter(|_| curr != t) else {
            return PlaceWaker { same_wakee: 1, ..PlaceWaker::default() };
        };
        let (_, queue_load, queue_h_load) = self.queue_of(curr);
        PlaceWaker {
            load: waker.se.avg.load_avg,
            queue_load,
            queue_h_load,
            wakee_flips: waker.sched.wakee_flips,
            same_wakee: 1,
            ..PlaceWaker::default()
        }
    }

    /// Of a task's queue: its last update, its load, and what it counts for at the root.
    fn queue_of(&self, t: u32) -> (u64, u64, u64) {
        let c = self.tasks[t as usize].cpu;
        let cpu = &self.cpus[c as usize];
        match self.task_slot(c, t) {
            None => (cpu.rq.cfs.avg.last_update_time_ns, cpu.rq.cfs.avg.load_avg, cpu.rq.cfs.avg.load_avg),
            Some(slot) => {
                let avg = &cpu.levels.at(slot).load().avg;
                (avg.last_update_time_ns, avg.load_avg, self.queue_part(c, slot))
            }
        }
    }

    /// With the periodic balance of its lowest domain a CPU works out anew what is left of it for fair tasks, what its
    /// groups have, and how far a search for an idle CPU may go.
    pub(crate) fn refresh_capacity(&mut self, c: u32) {
        self.update_cpu_capacity(c);
        self.refresh_scans(c);
    }

    /// Works out what is left of a CPU for fair tasks, and what its groups have.
    pub(crate) fn update_cpu_capacity(&mut self, c: u32) {
        let hw = self.cpus[c as usize].rq.hw.load_avg as u32;
        let pressure = self.pressure(c).now;
        let capacity = self.cpus[c as usize].rq.capacity_of(self.policy.get(), hw, pressure);
        self.placing.set_capacity(self.policy.get(), c, capacity);
        let now = (self.now_ticks(), self.tick_ns);
        self.balancing.capacity_stands(self.policy.get(), c, now);
    }

    /// Works out how far a search for an idle CPU may go in the domains around `c`, from the present load of their
    /// CPUs.
    fn refresh_scans(&mut self, c: u32) {
        let own = &self.placing.record.rows()[c as usize];
        let domains = [(own.llc_domain, true), (own.asym_domain, false)];
        for (at, llc) in domains {
            let own = &self.placing.record.rows()[c as usize];
            let Some(&domain) = own.domains[..own.nr_domains as usize].get(at as usize) else { continue };
            self.refresh_rows(domain.span);
            let mut sum = 0;
            for at in self.placing.record.span_words(domain.span) {
                let mut left = self.placing.record.span_word(domain.span, at);
                let rows = &self.placing.record.rows().as_chunks::<64>().0[at];
                while left != 0 {
                    let row = &rows[left.trailing_zeros() as usize];
                    sum += u64::from(row.state.cpu_util(self.policy.get(), false));
                    left &= left - 1;
                }
            }
            let scan = nr_idle_scan(sum, self.placing.record.span_weight(domain.span), domain.imbalance_pct);
            for at in self.placing.record.span_words(domain.span) {
                let mut left = self.placing.record.span_word(domain.span, at);
                let rows = &mut self.placing.record.rows_mut().as_chunks_mut::<64>().0[at];
                while left != 0 {
                    let row = &mut rows[left.trailing_zeros() as usize];
                    *(if llc { &mut row.nr_idle_scan_llc } else { &mut row.nr_idle_scan_asym }) = scan;
                    left &= left - 1;
                }
            }
        }
    }

    /// CPU `c` went idle: with its other threads its core may be.
    pub(crate) fn note_idle_core(&mut self, c: u32) {
        let threads = &self.m.cpus[c as usize].smt;
        if threads.len() > 1 && threads.iter().all(|&s| self.cpus[s as usize].idle_cpu()) {
            self.placing.note_idle_cores(c, true);
        }
    }
}

/// Inputs of a row that come from elsewhere than its CPU.
struct RowFacts {
    clamped: bool,
    clamp_sums: bool,
    limits_groups: bool,
    load: u64,
    pressure: u32,
    curr_idle: bool,
    exit_latency_ns: u32,
}

impl RowFacts {
    /// Writes what may have changed of a CPU.
    #[inline(always)]
    fn write(&self, policy: &Policy, cpu: &CpuState, out: &mut PlaceCpu) {
        let runnable = cpu.fair.nr_runnable();
        out.state = Signals {
            util_cfs: cpu.rq.cfs.avg.util_avg as u32,
            runnable_cfs: cpu.rq.cfs.avg.runnable_util(policy),
            util_est: cpu.rq.cfs.util_est,
            util_rt: cpu.rq.rt.util_avg as u32,
            util_dl: cpu.rq.dl.util_avg as u32,
            util_irq: cpu.rq.irq.util_avg as u32,
            bw_dl: pelton_core::cpu_bw_dl(cpu.dl.running_bw_q20()),
            rt_nr_running: cpu.rt_nr_running(),
            cfs_nr_running: runnable,
            uclamp_used: self.clamped.into(),
            uclamp_min: if self.clamped { cpu.uclamp.value[0] } else { 0 },
            uclamp_max: if self.clamped && !self.clamp_sums { cpu.uclamp.value[1] } else { 1024 },
            ..out.state
        };
        if self.clamp_sums {
            out.util_clamped = cpu.clamp_sum.util(policy, out.state.util_cfs);
            out.est_clamped = cpu.clamp_sum.est;
        }
        if self.limits_groups {
            let groups = cpu.levels.throttled(None);
            out.util_clamped = group_limited(out.state.util_cfs, groups.list(), out.state.cap_orig);
            out.est_clamped = cpu.clamp_sum.est;
        }
        out.uclamp_idle = cpu.uclamp.idle;
        out.load = self.load;
        out.hw_pressure = cpu.rq.hw.load_avg as u32;
        out.cpufreq_pressure = self.pressure;
        out.nr_running = cpu.nr_running();
        out.h_nr_runnable = runnable;
        out.h_nr_queued = cpu.fair.h_nr_queued();
        out.h_nr_idle = cpu.fair.nr_idle_tasks();
        out.ttwu_pending = cpu.wake_list.is_pending().into();
        out.curr_idle = self.curr_idle.into();
        out.exit_latency_ns = self.exit_latency_ns;
        out.idle_stamp_ns = cpu.line.idle_since_ns();
    }
}
