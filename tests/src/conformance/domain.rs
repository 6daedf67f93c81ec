// SPDX-License-Identifier: GPL-2.0-or-later
//! Frequency domains of the world: one that holds both CPUs, and one of the first CPU alone.

use pelton_reference::perf::{CpuState, Terms};
use pelton_reference::schedutil::{Decision, SugovCpu, SugovPolicy};

use super::layout::{Fields, Record};

/// Entries of a frequency table.
pub const OPPS: usize = 8;

/// Frequencies every domain offers, ascending, in kHz.
pub const TABLE_KHZ: [u64; OPPS] = [300_000, 574_000, 930_000, 1_197_000, 1_401_000, 1_803_000, 2_252_000, 2_802_000];

/// One domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Governor state of the domain.
    pub policy: SugovPolicy,
    /// Governor state of its CPUs.
    pub cpus: Vec<SugovCpu>,
    /// Terms and outcome of its last evaluation.
    pub evaluation: Evaluation,
}

/// Inputs and results of one evaluation: `struct test_domain`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evaluation {
    /// Terms per CPU.
    pub terms: [Terms; 2],
    /// Outcome.
    pub decision: Decision,
}

impl Record for Evaluation {
    fn fields(&self, to: &mut impl Fields) {
        to.member("table");
        for khz in TABLE_KHZ {
            to.half("khz", khz);
        }
        for (member, terms) in ["terms0", "terms1"].into_iter().zip(&self.terms) {
            to.member(member);
            terms.fields(to);
        }
        to.member("decision");
        self.decision.fields(to);
    }
}

impl Domain {
    /// A domain of so many CPUs that was never evaluated.
    pub fn new(nr_cpus: usize) -> Self {
        let top = TABLE_KHZ[OPPS - 1];
        let policy = SugovPolicy {
            nr_cpus: nr_cpus as u64,
            min_khz: TABLE_KHZ[0],
            max_khz: top,
            ref_khz: top,
            cur_khz: TABLE_KHZ[0],
            freq_invariant: 1,
            ..SugovPolicy::default()
        };
        Self { policy, cpus: vec![SugovCpu::default(); nr_cpus], evaluation: Evaluation::default() }
    }
}

/// A CPU without load or clamps, to begin with.
pub fn idle_state(cap_orig: u64) -> CpuState {
    CpuState { cap_orig, uclamp_max: 1024, ..CpuState::default() }
}
