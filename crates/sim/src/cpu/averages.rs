// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports of the averages of a CPU's own fair queue to the sink.

use pelton_schema::Event;

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// Emits the present averages of the fair queue of CPU `c`.
    pub(crate) fn emit_cfs(&mut self, c: u32) {
        let cfs = &self.cpus[c as usize].rq.cfs;
        let event = Event::PeltCfs {
            cpu: c,
            util_avg: cfs.avg.util_avg as u32,
            runnable_avg: cfs.avg.runnable_util(self.policy.get()),
            load_avg: cfs.avg.load_avg,
            util_est: cfs.util_est,
        };
        self.emit(event);
    }
}
