// SPDX-License-Identifier: GPL-2.0-only
//! Fills the record of a decision from the state of the run.

use pelton_core::{CpuState as Signals, NO_CPU, NO_IDLE_STATE, PlaceTask, PlaceWaker, nr_idle_scan};
use pelton_schema::Sink;

use crate::engine::Engine;
use crate::engine::state::{NO_TASK, Power};
use pelton_model::workload::{CpuSet, SchedPolicy};

impl<S: Sink> Engine<'_, S> {
    /// Everything that a decision about task `t` reads.
    pub(super) fn fill_placement(&mut self, t: u32, exec: u32, flags: u32) {
        for c in 0..self.m.cpus.len() as u32 {
            self.fill_cpu(c, t);
        }
        let (task, waker) = (self.placed_task(t), self.placing_task(t, exec));
        let (overutilized, clamped) = (self.placing.overutilized, self.clamped);
        let record = &mut self.placing.record;
        (record.task, record.waker) = (task, waker);
        (record.this_cpu, record.prev_cpu, record.flags) = (exec, task.cpu, flags);
        record.overutilized = overutilized.into();
        record.uclamp_used = clamped.into();
        record.avg_idle_ns = self.cpus[exec as usize].newidle.avg_idle_ns;
    }

    /// What may have changed of a CPU.
    pub(crate) fn fill_cpu(&mut self, c: u32, t: u32) {
        let cpu = &self.cpus[c as usize];
        let exit_latency_ns = match cpu.power {
            Power::Idle { state } => self.exit_latency_ns(c, state),
            _ => NO_IDLE_STATE,
        };
        let idle_tasks = if cpu.fair.is_idle_only() { cpu.fair.nr_runnable() } else { 0 };
        let delayed = cpu.fair.delayed;
        let curr_idle = cpu.curr == NO_TASK && !self.searches(c);
        let load = self.wake_load(c);
        let pressure = self.pressure(c).now;
        let out = &mut self.placing.record.cpus[c as usize];
        out.state = Signals {
            util_cfs: cpu.rq.cfs.avg.util_avg as u32,
            runnable_cfs: cpu.rq.cfs.avg.runnable_avg as u32,
            util_est: cpu.rq.cfs.util_est,
            util_rt: cpu.rq.rt.util_avg as u32,
            util_dl: cpu.rq.dl.util_avg as u32,
            util_irq: cpu.rq.irq.util_avg as u32,
            bw_dl: pelton_core::cpu_bw_dl(cpu.dl.running_bw_q20),
            rt_nr_running: cpu.rt_nr_running(),
            cfs_nr_running: cpu.fair.nr_runnable(),
            uclamp_used: self.clamped.into(),
            uclamp_min: if self.clamped { cpu.uclamp.value[0] } else { 0 },
            uclamp_max: if self.clamped && !self.clamp_sums { cpu.uclamp.value[1] } else { 1024 },
            ..out.state
        };
        if self.clamp_sums {
            out.util_clamped = cpu.clamp_sum.util(&self.policy, out.state.util_cfs);
            out.est_clamped = cpu.clamp_sum.est;
        }
        out.uclamp_idle = cpu.uclamp.idle;
        out.load = load;
        out.cpu_load.copy_from_slice(&self.balancing.cpu_loads[c as usize].load[..4]);
        out.hw_pressure = cpu.rq.hw.load_avg as u32;
        out.cpufreq_pressure = pressure;
        out.nr_running = cpu.nr_running() + delayed;
        out.h_nr_runnable = cpu.fair.nr_runnable();
        out.h_nr_queued = out.h_nr_runnable + delayed;
        out.h_nr_idle = idle_tasks;
        out.curr_idle = curr_idle.into();
        out.curr_is_task = (cpu.curr == t).into();
        out.exit_latency_ns = exit_latency_ns;
        out.idle_stamp_ns = cpu.idle_since_ns;
    }

    fn exit_latency_ns(&self, c: u32, state: u32) -> u32 {
        let domain = &self.m.domains[self.m.cpus[c as usize].domain as usize];
        domain.idle_states.get(state as usize).map_or(NO_IDLE_STATE, |s| s.wakeup_latency_ns().min(1 << 31) as u32)
    }

    pub(super) fn placed_task(&self, t: u32) -> PlaceTask {
        let task = &self.tasks[t as usize];
        let (queue_update_ns, queue_load, queue_h_load) = self.queue_of(t);
        let (uclamp_min, uclamp_max) = if self.clamped { self.clamps_of(t) } else { (0, 1024) };
        PlaceTask {
            se: task.se,
            allowed: mask(&task.allowed),
            queue_update_ns,
            queue_load,
            queue_h_load,
            cpu: task.cpu,
            on_rq: 0,
            recent_cpu: task.recent_cpu,
            wakee_flips: task.wakee_flips,
            sched_idle: matches!(task.policy, SchedPolicy::Idle).into(),
            uclamp_min,
            uclamp_max,
            numa_cpu: NO_CPU,
            uclamp_value: task.clamp_sum.value,
            reserved: 0,
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
            wakee_flips: waker.wakee_flips,
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
                let avg = &cpu.levels.slots[slot as usize].cfs.avg;
                (avg.last_update_time_ns, avg.load_avg, self.queue_part(c, slot))
            }
        }
    }

    /// With the periodic balance of its lowest domain a CPU works out anew what is left of it for fair tasks, what its groups
    /// have, and how far a search for an idle CPU may go.
    pub(crate) fn refresh_capacity(&mut self, c: u32) {
        if !self.placing.decides && !self.placing.by_energy && !self.balancing.decides {
            return;
        }
        let hw = self.cpus[c as usize].rq.hw.load_avg as u32;
        let pressure = self.pressure(c).now;
        let capacity = self.cpus[c as usize].rq.capacity_of(&self.policy, hw, pressure);
        self.placing.record.cpus[c as usize].capacity = capacity;
        self.refresh_groups();
        self.refresh_scans(c);
    }

    fn refresh_groups(&mut self) {
        let record = &mut self.placing.record;
        for c in 0..record.nr_cpus as usize {
            for level in 0..record.cpus[c].nr_domains as usize {
                let group = if level == 0 { 1 << c } else { record.cpus[c].domains[level - 1].span };
                let members = || (0..record.nr_cpus as usize).filter(|&o| group >> o & 1 == 1);
                let sum = members().map(|o| record.cpus[o].capacity).sum();
                let max = members().map(|o| record.cpus[o].capacity).max().unwrap_or(0);
                let min = members().map(|o| record.cpus[o].capacity).min().unwrap_or(0);
                let domain = &mut record.cpus[c].domains[level];
                (domain.group_capacity, domain.group_max_capacity, domain.group_min_capacity) = (sum, max, min);
            }
        }
    }

    fn refresh_scans(&mut self, c: u32) {
        let sums = |engine: &Self, cpus: u64| -> u64 {
            let members = engine.cpus.iter().enumerate().filter(|(o, _)| cpus >> o & 1 == 1);
            members.map(|(_, cpu)| u64::from(Signals::fill(&cpu.rq, 0, 0, 0).cpu_util(&engine.policy, false))).sum()
        };
        let own = self.placing.record.cpus[c as usize];
        for (at, llc) in [(own.llc_domain, true), (own.asym_domain, false)] {
            let Some(domain) = own.domains[..own.nr_domains as usize].get(at as usize) else { continue };
            let scan = nr_idle_scan(sums(self, domain.span), domain.span.count_ones(), domain.imbalance_pct);
            for o in (0..self.m.cpus.len()).filter(|o| domain.span >> o & 1 == 1) {
                let out = &mut self.placing.record.cpus[o];
                *(if llc { &mut out.nr_idle_scan_llc } else { &mut out.nr_idle_scan_asym }) = scan;
            }
        }
    }

    /// CPU `c` went idle: with its other threads its core may be.
    pub(crate) fn note_idle_core(&mut self, c: u32) {
        let threads = &self.m.cpus[c as usize].smt;
        if self.placing.decides && threads.len() > 1 && threads.iter().all(|&s| self.cpus[s as usize].is_idle()) {
            self.placing.note_idle_cores(c, true);
        }
    }
}

/// CPUs below 64, one bit each.
pub(crate) fn mask(cpus: &CpuSet) -> u64 {
    cpus.iter().filter(|&c| c < 64).fold(0, |mask, c| mask | 1 << c)
}
