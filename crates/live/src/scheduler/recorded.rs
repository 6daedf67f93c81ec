// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions that programs hand out with all that they were made of, and the lines that they become.

use std::sync::mpsc::{Receiver, Sender, channel};

use libbpf_rs::{MapCore, Object, RingBuffer, RingBufferBuilder};
use pelton_core::{Placement, Policy};
use pelton_trace::decided::{self, DecidedTable, Program, Record, line};

use super::Records;
use super::given::thinned;
use super::machine::Machine;
use crate::session::{LiveError, refused};

/// Records of all programs that were loaded.
pub(super) struct Recorded {
    programs: Vec<Policy>,
    rings: Vec<RingBuffer<'static>>,
    sender: Sender<(u32, Vec<u8>)>,
    incoming: Receiver<(u32, Vec<u8>)>,
    /// Records that had no room in programs that are gone.
    lost: u64,
}

impl Recorded {
    pub fn new() -> Recorded {
        let (sender, incoming) = channel();
        Recorded { programs: Vec::new(), rings: Vec::new(), sender, incoming, lost: 0 }
    }

    /// A program with this policy is loaded; `records`: it hands out.
    pub fn follow(&mut self, object: &Object, policy: Policy, records: bool) -> Result<(), LiveError> {
        let program = self.programs.len() as u32;
        self.programs.push(policy);
        if !records {
            return Ok(());
        }
        let maps: Vec<_> = object.maps().filter(|map| map.name() == "recorded").collect();
        let mut builder = RingBufferBuilder::new();
        for map in &maps {
            let sender = self.sender.clone();
            let take = move |bytes: &[u8]| {
                // The receiver lives as long as the buffer.
                let _ = sender.send((program, bytes.to_vec()));
                0
            };
            builder.add(map, take).map_err(|e| refused("share a buffer", e))?;
        }
        self.rings.push(builder.build().map_err(|e| refused("share a buffer", e))?);
        Ok(())
    }

    pub fn programs(&self) -> &[Policy] {
        &self.programs
    }

    /// Passes on what there is.
    pub fn take(&self, put: &mut dyn FnMut(u32, &[u8])) {
        for ring in &self.rings {
            // An error is a signal that came: the rest is there at the next look.
            let _ = ring.consume();
        }
        while let Ok((program, bytes)) = self.incoming.try_recv() {
            put(program, &bytes);
        }
    }

    /// A program goes; `counts` are its last ones.
    pub fn leave(&mut self, counts: &[(&'static str, u64)]) {
        self.lost += lost(counts);
    }

    /// Records that had no room, these counts of the running program included.
    pub fn lost(&self, counts: &[(&'static str, u64)]) -> u64 {
        self.lost + lost(counts)
    }
}

fn lost(counts: &[(&'static str, u64)]) -> u64 {
    counts.iter().find(|(name, _)| *name == "unrecorded").map_or(0, |(_, count)| *count)
}

/// A recording of a scheduler, or of an observer, as the lines and the file of [`pelton_trace::decided`].
pub struct DecisionLog {
    profile: String,
    machine: decided::Machine,
    question: Box<Placement>,
    /// Calls of the governor so far.
    pub decisions: u64,
    /// Placements so far.
    pub placements: u64,
    /// Records that are none of this version's.
    unread: u64,
}

impl DecisionLog {
    /// A recording on this machine of policies of this profile, in which nothing is yet.
    #[must_use]
    pub fn new(machine: &Machine, profile: &str) -> DecisionLog {
        let question = question(machine);
        let khz = machine.cpus.iter().map(|cpu| thinned(&cpu.khz)).collect();
        let domains = machine.cpus.iter().map(|cpu| cpu.domain).collect();
        let machine = decided::Machine::new(&machine.release, machine.tick_ns, khz, domains, &question);
        DecisionLog { profile: profile.to_owned(), machine, question, decisions: 0, placements: 0, unread: 0 }
    }

    /// The first line of a table.
    #[must_use]
    pub fn header(&self, table: DecidedTable) -> String {
        table.header(self.machine.cpus())
    }

    /// Passes `put` a line for everything that was decided since the last look.
    pub fn follow(&mut self, host: &mut dyn Records, put: &mut dyn FnMut(DecidedTable, &str)) {
        for policy in &host.programs()[self.machine.programs.len()..] {
            self.machine.programs.push(Program::of(&self.profile, policy));
        }
        host.recorded(&mut |program, bytes| match Record::of_bytes(program, bytes, &self.question) {
            Some(Record::Call(call)) => {
                self.decisions += 1;
                put(DecidedTable::Frequencies, &line(&*call));
            }
            Some(Record::Place(place)) => {
                self.placements += 1;
                put(DecidedTable::Placements, &line(&place));
            }
            None => self.unread += 1,
        });
    }

    /// Records that are missing: those that had no room, and those that came cut off.
    #[must_use]
    pub fn lost(&self, host: &dyn Records) -> u64 {
        host.unrecorded() + self.unread
    }

    /// The file with the machine, at the end: `lost` records are missing.
    pub fn machine(&mut self, lost: u64) -> String {
        self.machine.lost = Some(lost);
        self.machine.text()
    }
}

/// A machine as a question of a placement has it.
fn question(machine: &Machine) -> Box<Placement> {
    let mut question = Box::<Placement>::default();
    let (domains, states) = machine.perf_domains();
    let nr = domains.len().min(question.perf_domains.len());
    question.perf_domains[..nr].copy_from_slice(&domains[..nr]);
    let nr_states = states.len().min(question.states.len());
    question.states[..nr_states].copy_from_slice(&states[..nr_states]);
    let nr_cpus = machine.cpus.len().min(question.cpus.len());
    (0..nr_cpus).for_each(|cpu| question.cpus[cpu] = machine.row(cpu));
    (question.nr_cpus, question.nr_perf_domains) = (nr_cpus as u32, nr as u32);
    question
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::words::List;

    #[test]
    fn counts_name_what_had_no_room() {
        assert!(List::new("LIVE_COUNTS").names.contains(&"unrecorded"));
        let mut recorded = Recorded::new();
        recorded.leave(&[("events", 9), ("unrecorded", 2)]);
        assert_eq!((recorded.lost(&[("unrecorded", 3)]), recorded.lost(&[])), (5, 2));
    }
}
