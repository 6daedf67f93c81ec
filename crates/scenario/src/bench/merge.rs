// SPDX-License-Identifier: GPL-2.0-or-later
//! Workloads that run together: their tasks side by side, each with its own mutexes, timers and barriers.

use pelton_model::Workload;
use pelton_model::workload::{Op, Process, TaskSpec, TimerId};

/// Distances by which the indices of one part move when it joins the others.
#[derive(Clone, Copy, Default)]
struct Shift {
    tasks: u32,
    mutexes: u32,
    conds: u32,
    barriers: u32,
    semaphores: u32,
    channels: u32,
    devices: u32,
    timers: u32,
    lists: u32,
    processes: u32,
}

/// One workload out of several; the length is the longest one asked for, and unlimited parts do not shorten it.
pub fn merge(parts: Vec<Workload>) -> Workload {
    let mut parts = parts.into_iter();
    let Some(mut whole) = parts.next() else { return Workload::default() };
    for part in parts {
        append(&mut whole, part);
    }
    whole
}

fn append(whole: &mut Workload, part: Workload) {
    let shift = Shift {
        tasks: whole.tasks.len() as u32,
        mutexes: whole.mutexes,
        conds: whole.conds,
        barriers: whole.barriers.len() as u32,
        semaphores: whole.semaphores.len() as u32,
        channels: whole.channels.len() as u32,
        devices: whole.devices.len() as u32,
        timers: whole.shared_timers,
        lists: whole.lists,
        processes: processes(&whole.tasks),
    };
    whole.name = format!("{} + {}", whole.name, part.name);
    whole.groups.extend(part.groups);
    whole.group_changes.extend(part.group_changes);
    whole.boosts.extend(part.boosts);
    whole.pulses.extend(part.pulses);
    whole.limits.extend(part.limits);
    whole.mutexes += part.mutexes;
    whole.conds += part.conds;
    whole.lists += part.lists;
    whole.shared_timers += part.shared_timers;
    whole.priority_inheritance |= part.priority_inheritance;
    whole.barriers.extend(part.barriers);
    whole.semaphores.extend(part.semaphores);
    whole.channels.extend(part.channels);
    whole.devices.extend(part.devices);
    whole.irqs.extend(part.irqs);
    // The kernel honours the strictest request.
    let strictest = whole.cpu_dma_latency_us.into_iter().chain(part.cpu_dma_latency_us).min();
    whole.cpu_dma_latency_us = strictest;
    whole.duration_ns = whole.duration_ns.max(part.duration_ns);
    let named = part.resource_names.into_iter().map(|(kind, index, name)| shifted_name(shift, kind, index, name));
    whole.resource_names.extend(named);
    whole.tasks.extend(part.tasks.into_iter().map(|task| shifted_task(shift, task)));
}

/// Numbers of processes in use.
fn processes(tasks: &[TaskSpec]) -> u32 {
    let number = |task: &TaskSpec| match task.process {
        Process::Shared(number) => number + 1,
        Process::Own => 0,
    };
    tasks.iter().map(number).max().unwrap_or(0)
}

fn shifted_name(shift: Shift, kind: String, index: u32, name: String) -> (String, u32, String) {
    let by = match kind.as_str() {
        "mutex" => shift.mutexes,
        "cond" | "condition" => shift.conds,
        "barrier" => shift.barriers,
        "semaphore" | "sem" => shift.semaphores,
        "timer" => shift.timers,
        _ => 0,
    };
    (kind, index + by, name)
}

fn shifted_task(shift: Shift, mut task: TaskSpec) -> TaskSpec {
    if let Process::Shared(number) = &mut task.process {
        *number += shift.processes;
    }
    for op in task.phases.iter_mut().flat_map(|phase| &mut phase.ops) {
        shift_op(shift, op);
    }
    task
}

fn shift_op(shift: Shift, op: &mut Op) {
    match op {
        Op::Lock(m) | Op::Unlock(m) => *m += shift.mutexes,
        Op::Wait { cond, mutex } | Op::Sync { cond, mutex } => {
            *cond += shift.conds;
            *mutex += shift.mutexes;
        }
        Op::Signal(c) | Op::Broadcast(c) | Op::Suspend(c) | Op::Resume(c) => *c += shift.conds,
        Op::Barrier(b) => *b += shift.barriers,
        Op::Fork { task } | Op::Spawn { task } => *task += shift.tasks,
        Op::SemPost(s) | Op::SemWait(s) | Op::SemDrain(s) => *s += shift.semaphores,
        Op::Write { channel, .. } | Op::Read { channel, .. } | Op::Poll { channel } => *channel += shift.channels,
        Op::Timer { timer: TimerId::Shared(t), .. } | Op::TimerLatency(TimerId::Shared(t)) => *t += shift.timers,
        Op::Timer { timer: TimerId::Own(_), .. } | Op::TimerLatency(TimerId::Own(_)) => {}
        Op::Io { device } => *device += shift.devices,
        Op::Enlist(l) | Op::CallAll(l) => *l += shift.lists,
        Op::AwaitCall => {}
        Op::MoveAsleep { .. } | Op::Exec | Op::Yield | Op::EndActivation | Op::Lap { .. } | Op::Records(_) => {}
        Op::Run { .. }
        | Op::RunParts { .. }
        | Op::Runtime { .. }
        | Op::Spin { .. }
        | Op::Sleep { .. }
        | Op::SleepUniform { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_model::workload::{ChannelSpec, DeviceSpec, Phase, TimerMode};

    fn part(name: &str) -> Workload {
        let timer = Op::Timer { timer: TimerId::Shared(0), period_ns: 1, mode: TimerMode::Relative };
        let ops = vec![
            Op::Lock(0),
            Op::Wait { cond: 0, mutex: 0 },
            Op::Barrier(0),
            Op::Fork { task: 0 },
            Op::SemPost(0),
            Op::Poll { channel: 0 },
            Op::Io { device: 0 },
            timer,
        ];
        let task =
            TaskSpec { name: name.into(), phases: vec![Phase { ops, ..Default::default() }], ..Default::default() };
        Workload {
            name: name.into(),
            tasks: vec![task],
            mutexes: 1,
            conds: 1,
            barriers: vec![2],
            semaphores: vec![0],
            channels: vec![ChannelSpec::PIPE],
            devices: vec![DeviceSpec { service_ns: 1, jitter_ns: 0, depth: 1, irq_ns: 0 }],
            shared_timers: 1,
            resource_names: vec![("mutex".into(), 0, "m".into())],
            duration_ns: Some(name.len() as u64),
            ..Default::default()
        }
    }

    #[test]
    fn parts_keep_their_own_objects() {
        let whole = merge(vec![part("a"), part("bc")]);
        assert_eq!(whole.name, "a + bc");
        assert_eq!((whole.mutexes, whole.conds, whole.shared_timers), (2, 2, 2));
        assert_eq!((whole.barriers.len(), whole.semaphores.len()), (2, 2));
        assert_eq!(whole.duration_ns, Some(2));
        let timer = Op::Timer { timer: TimerId::Shared(1), period_ns: 1, mode: TimerMode::Relative };
        let moved = [
            Op::Lock(1),
            Op::Wait { cond: 1, mutex: 1 },
            Op::Barrier(1),
            Op::Fork { task: 1 },
            Op::SemPost(1),
            Op::Poll { channel: 1 },
            Op::Io { device: 1 },
            timer,
        ];
        assert_eq!(whole.tasks[1].phases[0].ops, moved);
        assert_eq!(whole.tasks[0], part("a").tasks[0]);
        assert_eq!(whole.resource_names[1], ("mutex".into(), 1, "m".into()));
    }

    #[test]
    fn one_part_is_itself() {
        assert_eq!(merge(vec![part("a")]), part("a"));
        assert_eq!(merge(Vec::new()), Workload::default());
    }
}
