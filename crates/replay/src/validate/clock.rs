// SPDX-License-Identifier: GPL-2.0-or-later
//! Steps of the run-queue clocks, and what happens between them.

use std::collections::BTreeMap;

use pelton_core::{Avg, Clock, Policy, Rq};
use pelton_schema::{Event, PeltSignal};

use super::engine::Place;
use super::object::{Objects, key};
use super::report::{Divergence, Field, Report};

/// The scaled clock was set to the task clock when the CPU went idle.
pub const IDLE_SYNC: &str = "idle synchronisation";
/// Idle synchronisation of a saturated CPU, whose debt was noted.
pub const IDLE_SYNC_LOST: &str = "idle synchronisation of a saturated CPU";

/// Clocks after the last step of each CPU.
#[derive(Debug, Default)]
pub struct Clocks {
    last: BTreeMap<u32, Clock>,
    objects: BTreeMap<u32, [u32; 3]>,
}

/// One recorded step.
struct Step {
    cpu: u32,
    idle: bool,
    cap_scale: u32,
    freq_scale: u32,
    before: Clock,
    after: Clock,
}

fn step(event: &Event) -> Option<Step> {
    let Event::RqClockStep {
        cpu,
        idle,
        cap_scale,
        freq_scale,
        clock_before_ns,
        clock_task_before_ns,
        clock_pelt_before_ns,
        clock_ns,
        clock_task_ns,
        clock_pelt_ns,
        lost_idle_ns,
    } = *event
    else {
        return None;
    };
    let clock = |clock_ns, clock_task_ns, clock_pelt_ns| Clock {
        clock_ns,
        clock_task_ns,
        clock_pelt_ns,
        lost_idle_ns,
        ..Clock::default()
    };
    let before = clock(clock_before_ns, clock_task_before_ns, clock_pelt_before_ns);
    Some(Step {
        cpu,
        idle: idle != 0,
        cap_scale,
        freq_scale,
        before,
        after: clock(clock_ns, clock_task_ns, clock_pelt_ns),
    })
}

fn same(a: &Clock, b: &Clock) -> bool {
    (a.clock_ns, a.clock_task_ns, a.clock_pelt_ns) == (b.clock_ns, b.clock_task_ns, b.clock_pelt_ns)
}

fn fields(kernel: &Clock, ours: &Clock) -> Vec<Field> {
    let row = |name, kernel, ours| Field { name, kernel, ours };
    vec![
        row("clock", kernel.clock_ns, ours.clock_ns),
        row("clock_task", kernel.clock_task_ns, ours.clock_task_ns),
        row("clock_pelt", kernel.clock_pelt_ns, ours.clock_pelt_ns),
        row("lost_idle_time", kernel.lost_idle_ns, ours.lost_idle_ns),
    ]
}

impl Clocks {
    /// Notes the objects whose records decide whether a CPU was saturated.
    pub fn record(&mut self, signal: PeltSignal, cpu: u32, object: u32, is_root: bool) {
        let slot = match signal {
            PeltSignal::Queue if is_root => 0,
            PeltSignal::Rt => 1,
            PeltSignal::Dl => 2,
            _ => return,
        };
        self.objects.entry(cpu).or_default()[slot] = object;
    }

    /// Forgets a CPU, or all.
    pub fn forget(&mut self, cpu: Option<u32>) {
        self.last.retain(|c, _| cpu.is_some_and(|cpu| *c != cpu));
    }

    /// A recorded step: it follows from its own before-state, and that from the step before it.
    pub fn step(&mut self, pol: &Policy, objects: &Objects, report: &mut Report, place: Place, event: &Event) {
        let Some(step) = step(event) else { return };
        self.between(pol, objects, report, place, &step);
        let (b, a) = (&step.before, &step.after);
        let mut rq = Rq { clock: *b, cap_orig: step.cap_scale, freq_scale: step.freq_scale, ..Rq::default() };
        let elapsed = a.clock_ns.saturating_sub(b.clock_ns);
        let irq = elapsed.saturating_sub(a.clock_task_ns.saturating_sub(b.clock_task_ns));
        if elapsed > 0 || step.idle {
            rq.clock_update(pol, a.clock_ns, irq, step.idle);
        }
        let untouched = elapsed == 0 && same(a, b);
        if same(&rq.clock, a) || untouched {
            report.agree("rq_clock", "");
        } else {
            report.differ(divergence(place, &step, "rq_clock", "clock step", fields(a, &rq.clock)));
        }
        self.last.insert(step.cpu, *a);
    }

    /// Between two steps the clocks stand still, except that a CPU that goes idle synchronises them.
    fn between(&self, pol: &Policy, objects: &Objects, report: &mut Report, place: Place, step: &Step) {
        let Some(last) = self.last.get(&step.cpu) else { return };
        let still = same(last, &step.before) && last.lost_idle_ns == step.before.lost_idle_ns;
        if still {
            report.agree("rq_clock_chain", "");
            return;
        }
        let synced = |util_sum: u32| {
            let mut rq = Rq { clock: *last, ..Rq::default() };
            rq.cfs.avg.util_sum = util_sum;
            rq.clock_enter_idle(pol);
            rq.clock
        };
        let sum = self.util_sum(objects, step.cpu);
        for (util_sum, class) in [(sum, None), (Some(0), Some(IDLE_SYNC)), (Some(u32::MAX), Some(IDLE_SYNC_LOST))] {
            let Some(util_sum) = util_sum else { continue };
            let ours = synced(util_sum);
            if !same(&ours, &step.before) || ours.lost_idle_ns != step.before.lost_idle_ns {
                continue;
            }
            let lost = ours.lost_idle_ns != last.lost_idle_ns;
            let named = if lost { IDLE_SYNC_LOST } else { IDLE_SYNC };
            if class.is_none() || sum.is_none() {
                report.agree("rq_clock_chain", named);
                if class.is_none() {
                    report.agree("lost_idle", "");
                }
                return;
            }
        }
        let ours = synced(sum.unwrap_or(0));
        report.differ(divergence(place, step, "rq_clock_chain", "between two steps", fields(&step.before, &ours)));
    }

    /// Sum of the running time of all classes of a CPU, when all three records are known.
    fn util_sum(&self, objects: &Objects, cpu: u32) -> Option<u32> {
        let [queue, rt, dl] = *self.objects.get(&cpu)?;
        let sum = |signal, object| objects.get(key(signal, object)).map(|s| -> Avg { s.avg }).map(|avg| avg.util_sum);
        let parts = [(PeltSignal::Queue, queue), (PeltSignal::Rt, rt), (PeltSignal::Dl, dl)];
        parts.into_iter().try_fold(0u32, |total, (signal, object)| Some(total.wrapping_add(sum(signal, object)?)))
    }
}

fn divergence(place: Place, step: &Step, signal: &'static str, what: &'static str, fields: Vec<Field>) -> Divergence {
    Divergence {
        event: place.event,
        time_ns: place.time_ns,
        since_ns: place.time_ns,
        cpu: step.cpu,
        tid: 0,
        object: 0,
        signal,
        what,
        before: vec![
            ("clock", step.before.clock_ns),
            ("clock_task", step.before.clock_task_ns),
            ("clock_pelt", step.before.clock_pelt_ns),
            ("cap_scale", u64::from(step.cap_scale)),
            ("freq_scale", u64::from(step.freq_scale)),
            ("idle", u64::from(step.idle)),
        ],
        fields,
    }
}
