// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequency at which the hardware of a domain runs: given by a recording, or set by a driver.

use pelton_schema::Event;

use crate::engine::queue::Ev;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// The frequency of CPU `c` is given: no governor is there to be called.
    pub(crate) fn is_given(&self, c: u32) -> bool {
        let given = |d: u32| self.freq.frequencies.get(d as usize).is_some_and(|all| !all.is_empty());
        !self.freq.frequencies.is_empty() && given(self.m.cpus[c as usize].domain)
    }

    /// The first frequency of each domain for which some are given comes at its time.
    pub(crate) fn start_given(&mut self) {
        for domain in 0..self.freq.frequencies.len().min(self.domains.len()) as u32 {
            if let Some(first) = self.freq.frequencies[domain as usize].first() {
                self.queue.push(first.at_ns, Ev::GivenFrequency { domain, index: 0 });
            }
        }
    }

    /// A frequency that is given begins to hold.
    pub(crate) fn given_frequency(&mut self, d: u32, index: u32) {
        let all = &self.freq.frequencies[d as usize];
        let Some(&now) = all.get(index as usize) else { return };
        if let Some(next) = all.get(index as usize + 1) {
            self.queue.push(next.at_ns.max(self.now), Ev::GivenFrequency { domain: d, index: index + 1 });
        }
        self.exec = self.m.domains[d as usize].cpus.first().copied().unwrap_or(self.exec);
        self.set_frequency(d, now.khz);
    }

    /// The hardware now runs at `khz`.
    pub(crate) fn set_frequency(&mut self, d: u32, khz: u32) {
        if self.domains[d as usize].freq.sugov.cur_khz == khz {
            return;
        }
        self.note_old_frequency(d, khz);
        let spec = &self.m.domains[d as usize];
        for &c in &spec.cpus {
            self.account(c);
            self.cluster_power_changes(c);
        }
        let domain = &mut self.domains[d as usize];
        domain.hw.is_set(khz);
        domain.freq.sugov.cur_khz = khz;
        domain.freq.sd.cur_khz = khz;
        domain.freq.dbs.cur_khz = khz;
        domain.report.transitions += 1;
        self.targets.khz_changes(d);
        self.observe_frequency(d);
        let polled = spec.firmware_poll_ns > 0;
        for &c in &spec.cpus {
            if polled {
                self.see_frequency(c, khz);
            } else {
                self.apply_speed(c, khz);
            }
            self.emit(Event::CpuFrequency { cpu: c, freq_khz: khz });
            self.arm_segment(c);
        }
        self.vote_changes(d);
        if polled {
            return self.await_firmware(d);
        }
        self.emit_power(d);
    }

    /// The frequency is in memory that firmware reads; when it looks next, the clock follows.
    fn await_firmware(&mut self, d: u32) {
        let poll_ns = self.m.domains[d as usize].firmware_poll_ns;
        let (phase_ns, awaited) = self.domains[d as usize].freq.limits.firmware;
        if awaited {
            return;
        }
        self.domains[d as usize].freq.limits.firmware.1 = true;
        let since_ns = (self.now + poll_ns - phase_ns) % poll_ns;
        self.queue.push(self.now + (poll_ns - since_ns) % poll_ns, Ev::FirmwareLooks { domain: d });
    }

    /// Firmware finds the frequency that was written last. A rise waits for the voltage.
    pub(crate) fn firmware_looks(&mut self, d: u32) {
        let spec = &self.m.domains[d as usize];
        let clock_khz = spec.cpus.first().map_or(0, |&c| self.clock_khz(c));
        let freq = &mut self.domains[d as usize].freq;
        freq.limits.firmware.1 = false;
        let khz = freq.sugov.cur_khz;
        if spec.firmware_raise_ns > 0 && khz > clock_khz {
            freq.limits.raising_khz = khz;
            self.queue.push(self.now + spec.firmware_raise_ns, Ev::FirmwareRaises { domain: d });
            return;
        }
        self.set_clock(d, khz);
    }

    /// The voltage has risen, and the clock may.
    pub(crate) fn firmware_raises(&mut self, d: u32) {
        let khz = std::mem::take(&mut self.domains[d as usize].freq.limits.raising_khz);
        self.set_clock(d, khz);
    }

    fn set_clock(&mut self, d: u32, khz: u32) {
        for &c in &self.m.domains[d as usize].cpus {
            self.account(c);
            self.cluster_power_changes(c);
            self.apply_speed(c, khz);
            self.arm_segment(c);
        }
        self.emit_power(d);
    }
}
