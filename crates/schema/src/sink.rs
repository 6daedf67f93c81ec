// SPDX-License-Identifier: GPL-2.0-only
//! Where events go. A run is generic over its sink, so a sink that is off costs nothing.

use pelton_core::{Placed, Placement};

use crate::Event;

/// Receives the events of a run in time order (equal times in order of happening).
pub trait Sink {
    /// False lets the caller skip building events at all.
    const ACTIVE: bool = true;

    /// True asks for what decisions about places of fair tasks read and gave, too.
    const PLACEMENTS: bool = false;

    /// One event at `time_ns` since the start of the run.
    fn event(&mut self, time_ns: u64, event: &Event);

    /// A fair task was placed: what the decision read, and how it came about.
    fn placement(&mut self, _time_ns: u64, _tid: u32, _read: &Placement, _placed: &Placed) {}
}

/// Drops everything.
#[derive(Default, Debug, Clone, Copy)]
pub struct NullSink;

impl Sink for NullSink {
    const ACTIVE: bool = false;
    fn event(&mut self, _: u64, _: &Event) {}
}

/// Counts events by code.
#[derive(Debug, Clone)]
pub struct CountSink {
    /// Number of events per code.
    pub counts: [u64; 256],
}

impl Default for CountSink {
    fn default() -> Self {
        CountSink { counts: [0; 256] }
    }
}

impl Sink for CountSink {
    fn event(&mut self, _: u64, event: &Event) {
        self.counts[usize::from(event.code())] += 1;
    }
}

/// Sends each event to two sinks.
#[derive(Debug, Default)]
pub struct TeeSink<A, B>(pub A, pub B);

impl<A: Sink, B: Sink> Sink for TeeSink<A, B> {
    const ACTIVE: bool = A::ACTIVE || B::ACTIVE;
    const PLACEMENTS: bool = A::PLACEMENTS || B::PLACEMENTS;
    fn event(&mut self, time_ns: u64, event: &Event) {
        if A::ACTIVE {
            self.0.event(time_ns, event);
        }
        if B::ACTIVE {
            self.1.event(time_ns, event);
        }
    }

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Placement, placed: &Placed) {
        self.0.placement(time_ns, tid, read, placed);
        self.1.placement(time_ns, tid, read, placed);
    }
}

impl<S: Sink> Sink for &mut S {
    const ACTIVE: bool = S::ACTIVE;
    const PLACEMENTS: bool = S::PLACEMENTS;
    fn event(&mut self, time_ns: u64, event: &Event) {
        (**self).event(time_ns, event);
    }

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Placement, placed: &Placed) {
        (**self).placement(time_ns, tid, read, placed);
    }
}
