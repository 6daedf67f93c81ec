// SPDX-License-Identifier: GPL-2.0-only
//! Objects of a workload: each that an operation names exists, and has a size that can be used.

use crate::SimError;
use crate::workload::{ChannelSpec, Op, Start, TaskSpec, TimerId, Workload};

/// Sizes of channels that can be used.
const CHANNEL_ALLOWED: &str = "a pipe has 1 to 1048576 pages, a socket a send buffer of 4608 to 1073741824 bytes";

/// Checks the sizes of the channels.
pub(crate) fn check_channels(w: &Workload) -> Result<(), SimError> {
    match w.channels.iter().find(|ch| !channel_in_order(ch)) {
        Some(channel) => Err(SimError::Plan(format!("{channel:?}: {CHANNEL_ALLOWED}"))),
        None => Ok(()),
    }
}

fn channel_in_order(channel: &ChannelSpec) -> bool {
    match *channel {
        ChannelSpec::Pipe { pages } => (1..=1 << 20).contains(&pages),
        ChannelSpec::Stream { send_buffer_bytes } => (4608..=1 << 30).contains(&send_buffer_bytes),
    }
}

/// True when a workload's operation needs an object that does not exist (a plan error, found before the run).
pub(crate) fn dangling(w: &Workload) -> Option<String> {
    let timer_exists = |t: &TaskSpec, timer| match timer {
        TimerId::Own(i) => i < t.own_timers,
        TimerId::Shared(i) => i < w.shared_timers,
    };
    let ok = |t: &TaskSpec, op: &Op| match *op {
        Op::Lock(m) | Op::Unlock(m) => m < w.mutexes,
        Op::Wait { cond, mutex } | Op::Sync { cond, mutex } => cond < w.conds && mutex < w.mutexes,
        Op::Signal(c) | Op::Broadcast(c) | Op::Suspend(c) | Op::Resume(c) => c < w.conds,
        Op::Barrier(b) => (b as usize) < w.barriers.len(),
        Op::SemPost(s) | Op::SemWait(s) | Op::SemDrain(s) => (s as usize) < w.semaphores.len(),
        Op::Enlist(l) | Op::CallAll(l) => l < w.lists,
        Op::Fork { task } => (task as usize) < w.tasks.len(),
        Op::Spawn { task } => w.tasks.get(task as usize).is_some_and(|t| t.start == Start::OnFork),
        Op::Write { channel, .. } | Op::Read { channel, .. } | Op::Poll { channel } => {
            (channel as usize) < w.channels.len()
        }
        Op::Timer { timer, .. } | Op::TimerLatency(timer) => timer_exists(t, timer),
        _ => true,
    };
    let bad = |t: &&TaskSpec| t.phases.iter().flat_map(|p| &p.ops).any(|op| !ok(t, op));
    w.tasks.iter().find(bad).map(|t| t.name.clone())
}
