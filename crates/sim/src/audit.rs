// SPDX-License-Identifier: GPL-2.0-only
//! The engine's books, checked after every event of random runs: each task in one place, each sum the sum of its parts.

use pelton_core::value;
use pelton_schema::{NullSink, Sink};

use crate::class::Class;
use crate::common::random::{Dice, random_machine, random_workload};
use crate::common::{MS, profile};
use crate::engine::Engine;
use crate::state::{Life, NO_TASK, Power};
use crate::{Machine, RunConfig, Workload};

/// A fair task may wait beside an idle CPU until a tick notices (two grids), the CPU is up and its cache is cold.
const WAIT_NS_MAX: u64 = 25 * MS;

impl<S: Sink> Engine<'_, S> {
    /// What is wrong now, if anything.
    pub(crate) fn audit(&self) -> Result<(), String> {
        (0..self.tasks.len() as u32).try_for_each(|t| self.audit_task(t))?;
        (0..self.cpus.len() as u32).try_for_each(|c| self.audit_cpu(c))?;
        (0..self.cpus.len() as u32).try_for_each(|c| self.audit_signals(c))
    }

    /// Places a task is in: (running, queued).
    fn places(&self, t: u32) -> (usize, usize) {
        let count = |f: &dyn Fn(&crate::state::CpuState) -> usize| self.cpus.iter().map(f).sum::<usize>();
        let running = count(&|c| usize::from(c.curr == t));
        let fair = count(&|c| c.fair.queue.iter().filter(|&&q| q == t).count());
        let rt = count(&|c| c.rt.waiting().filter(|&(_, q)| q == t).count());
        let dl = count(&|c| c.dl.waiting().filter(|&(_, q)| q == t).count());
        let workers = count(&|c| c.workers.iter().filter(|&&q| q == t).count());
        (running, fair + rt + dl + workers)
    }

    fn audit_task(&self, t: u32) -> Result<(), String> {
        let task = &self.tasks[t as usize];
        let (running, queued) = self.places(t);
        let cpu = &self.cpus[task.cpu as usize];
        let pending = running == 1 && cpu.curr == t && cpu.irq_depth > 0 && cpu.need_resched;
        let throttled = task.class == Class::Deadline && task.dl.throttled;
        let wanted = match task.life {
            Life::Runnable if throttled => 0,
            Life::Runnable => 1,
            Life::Sleeping => usize::from(task.fair.delayed),
            _ => 0,
        };
        if !pending && running + queued != wanted {
            return Err(format!(
                "{} ({:?}, {:?}) runs {running} times, is queued {queued} times",
                task.name, task.life, task.class
            ));
        }
        let here = cpu.curr == t
            || cpu.fair.queue.contains(&t)
            || cpu.rt.waiting().chain(cpu.dl.waiting().map(|(_, q)| (0, q))).any(|(_, q)| q == t)
            || cpu.workers.contains(&t);
        if wanted == 1 && !here {
            return Err(format!("{} is not where it says, on CPU {}", task.name, task.cpu));
        }
        if wanted == 1 && !pending && task.life == Life::Runnable && !task.allowed.contains(task.cpu) {
            return Err(format!("{} is on CPU {}, which it may not use", task.name, task.cpu));
        }
        if task.class != Class::Deadline && (task.dl.active || task.dl.throttled) {
            return Err(format!("{} left the deadline class and still holds bandwidth", task.name));
        }
        if wanted == 1 && queued == 1 && task.life == Life::Runnable {
            self.audit_waiting(t)?;
        }
        Ok(())
    }

    fn audit_waiting(&self, t: u32) -> Result<(), String> {
        let task = &self.tasks[t as usize];
        let limit = match task.class {
            Class::Realtime if self.cpus[task.cpu as usize].rt_throttled => return Ok(()),
            Class::Worker => return Ok(()),
            _ => WAIT_NS_MAX,
        };
        let idle =
            |c: &u32| self.cpus[*c as usize].is_idle() && matches!(self.cpus[*c as usize].power, Power::Idle { .. });
        let free = task
            .allowed
            .iter()
            .filter(idle)
            .find(|&c| !(self.cpus[c as usize].rt_throttled && task.class == Class::Realtime));
        match free {
            Some(c) if self.now > task.waiting_since_ns + limit => Err(format!(
                "{} waits on CPU {} since {} while CPU {c} idles",
                task.name, task.cpu, task.waiting_since_ns
            )),
            _ => Ok(()),
        }
    }

    fn audit_cpu(&self, c: u32) -> Result<(), String> {
        let cpu = &self.cpus[c as usize];
        let bw: u64 = (0..self.tasks.len() as u32)
            .filter(|&t| self.tasks[t as usize].dl.active && self.tasks[t as usize].cpu == c)
            .map(|t| self.bw_q20(t))
            .sum();
        if cpu.dl.running_bw_q20 != bw {
            return Err(format!("CPU {c}: running_bw {} is not the sum {bw}", cpu.dl.running_bw_q20));
        }
        let settled = cpu.power == Power::Awake && cpu.irq_depth == 0;
        if settled && cpu.need_resched {
            return Err(format!("CPU {c}: a reschedule is pending for ever"));
        }
        if cpu.need_resched && matches!(cpu.power, Power::Idle { .. }) {
            return Err(format!("CPU {c}: idle with need_resched"));
        }
        if matches!(cpu.power, Power::Idle { .. }) && cpu.nr_running() > 0 {
            return Err(format!("CPU {c}: idle with {} tasks", cpu.nr_running()));
        }
        if settled && cpu.curr != NO_TASK {
            let weaker = |k: Class| cpu.class.is_some_and(|own| own > k);
            let rt = cpu.rt.len() > 0 && !cpu.rt_throttled && weaker(Class::Realtime);
            let dl = cpu.dl.len() > 0 && weaker(Class::Deadline);
            let worker = !cpu.workers.is_empty() && weaker(Class::Worker);
            if rt || dl || worker {
                return Err(format!("CPU {c}: runs {:?} while something stronger waits", cpu.class));
            }
        }
        self.audit_sets(c)
    }

    fn audit_sets(&self, c: u32) -> Result<(), String> {
        let cpu = &self.cpus[c as usize];
        if (cpu.rt.len() > 0, cpu.dl.len() > 0) != (self.rt_waiting.contains(c), self.dl_waiting.contains(c)) {
            return Err(format!(
                "CPU {c}: {} RT and {} deadline tasks wait, the sets differ",
                cpu.rt.len(),
                cpu.dl.len()
            ));
        }
        if (cpu.is_overloaded(), cpu.is_idle()) != (self.overloaded.contains(c), self.idle.contains(c)) {
            return Err(format!(
                "CPU {c}: overloaded {}, idle {}, the sets differ",
                cpu.is_overloaded(),
                cpu.is_idle()
            ));
        }
        Ok(())
    }

    fn audit_signals(&self, c: u32) -> Result<(), String> {
        let cpu = &self.cpus[c as usize];
        let cfs = &cpu.rq.cfs;
        let queued = || cpu.fair.queue.iter().copied().chain((cpu.fair.curr != NO_TASK).then_some(cpu.fair.curr));
        let weight: u64 = queued().map(|t| self.tasks[t as usize].se.weight).sum();
        if (cfs.h_nr_runnable, cfs.nr_queued) != (cpu.fair.nr_runnable(), cpu.fair.nr_queued()) {
            return Err(format!(
                "CPU {c}: counts {} {}, not {} {}",
                cfs.h_nr_runnable,
                cfs.nr_queued,
                cpu.fair.nr_runnable(),
                cpu.fair.nr_queued()
            ));
        }
        if cfs.load_weight != weight {
            return Err(format!("CPU {c}: load weight {} is not {weight}", cfs.load_weight));
        }
        if cpu.fair.nr_runnable() == 0 && cfs.util_est != 0 {
            return Err(format!("CPU {c}: estimate {} of an empty queue", cfs.util_est));
        }
        self.audit_attached(c)
    }

    /// The root queue's utilization is that of the tasks attached to it.
    fn audit_attached(&self, c: u32) -> Result<(), String> {
        let cpu = &self.cpus[c as usize];
        let cfs = &cpu.rq.cfs;
        let mut ctx = cpu.rq.ctx(&self.policy, cfs);
        ctx.now = cfs.avg.last_update_time_ns;
        let (mut util, mut attached) = (0, 0);
        for task in self
            .tasks
            .iter()
            .filter(|t| t.cpu == c && t.class == Class::Fair && t.life != Life::Unborn && t.life != Life::Dead)
        {
            let mut se = task.se;
            if se.avg.last_update_time_ns == 0 {
                continue;
            }
            if se.on_rq != 0 {
                se.update(&ctx)
            } else {
                se.update_blocked(&ctx)
            };
            util += se.avg.util_avg;
            attached += 1;
        }
        util += cfs.removed_util;
        // Subtractions round. With scaled contributions task and queue may be updated on different sides of a frequency change.
        let scaled = self.policy.invariance == value::INVARIANCE_CONTRIBUTION;
        let slack = 24 + 8 * attached + if scaled { 64 } else { 0 };
        if cfs.avg.util_avg.abs_diff(util) > slack {
            return Err(format!(
                "CPU {c}: root utilization {} is not the sum {util} of {attached} tasks",
                cfs.avg.util_avg
            ));
        }
        if self.tasks.iter().any(|t| t.se.avg.util_avg > 1025) {
            return Err("a task's utilization is above 1025".into());
        }
        Ok(())
    }
}

/// Runs and checks the books after every event.
pub(crate) fn audited(m: &Machine, w: &Workload, profile_name: &str, cfg: &RunConfig) -> Result<u64, String> {
    let mut engine = Engine::new(m, w, &profile(profile_name), cfg, NullSink).map_err(|e| e.to_string())?;
    while let Some((time_ns, ev)) = engine.queue.pop() {
        if time_ns > engine.end_ns || engine.living == 0 {
            break;
        }
        let told = format!("{ev:?} at {time_ns}");
        engine.step(time_ns, ev).map_err(|e| e.to_string())?;
        engine.audit().map_err(|e| format!("after {told}: {e}"))?;
    }
    Ok(engine.sim_events)
}

#[test]
fn the_books_are_right_after_every_event() {
    const PROFILES: [&str; 10] = ["4.12", "4.16", "4.19", "5.4", "5.10", "6.1", "6.6", "6.12", "6.18", "7.2"];
    let mut wrong = Vec::new();
    for seed in 0..200u64 {
        let mut d = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let m = random_machine(&mut d);
        let w = random_workload(&mut d, m.cpus.len() as u32);
        let p = PROFILES[d.below(10) as usize];
        let cfg =
            RunConfig { seed, start_phase_random: d.below(2) == 0, duration_ns: 400 * MS, ..RunConfig::default() };
        if let Err(e) = audited(&m, &w, p, &cfg) {
            wrong.push(format!("seed {seed}, {p}: {e}"));
        }
    }
    assert!(wrong.is_empty(), "{} runs:\n{}", wrong.len(), wrong.join("\n"));
}
