// SPDX-License-Identifier: GPL-2.0-only
//! A run as a value: everything it depends on, and a number that names it.

use std::fmt::{Debug, Write};

use pelton_core::Policy;
use pelton_sim::{Machine, RunConfig, Workload};

/// All inputs of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The machine.
    pub machine: Machine,
    /// The tasks.
    pub workload: Workload,
    /// The rules.
    pub policy: Policy,
    /// Seed, length and overrides.
    pub config: RunConfig,
    /// Names the inputs: equal for equal inputs, on any machine. Logs carry it.
    pub hash: u64,
}

impl Plan {
    /// A plan of checked inputs.
    pub fn new(machine: Machine, workload: Workload, policy: Policy, config: RunConfig) -> Self {
        let mut plan = Plan { machine, workload, policy, config, hash: 0 };
        plan.rehash();
        plan
    }

    /// The same plan with another configuration: another seed, another length.
    #[must_use]
    pub fn with_config(mut self, config: RunConfig) -> Self {
        self.config = config;
        self.rehash();
        self
    }

    fn rehash(&mut self) {
        let mut hash = Fnv1a::default();
        hash.add(&self.machine);
        hash.add(&self.workload);
        hash.add(&self.policy);
        hash.add(&self.config);
        self.hash = hash.0;
    }
}

/// FNV-1a, 64 bits. The standard library's hasher may change between its versions; this number is kept in files.
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// Adds a value by its field names and contents, which are whole numbers and text throughout.
    fn add(&mut self, value: &impl Debug) {
        // Writing into a hash cannot fail.
        let _ = write!(self, "{value:?};");
    }
}

impl Write for Fnv1a {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        let mut hash = Fnv1a::default();
        hash.write_str("foobar").unwrap();
        assert_eq!(hash.0, 0x8594_4171_f739_67e8, "the published test vector");
    }

    #[test]
    fn equal_inputs_have_equal_hashes_and_any_change_shows() {
        let plan = |name: &str, seed| {
            let machine = Machine { name: name.into(), ..Machine::default() };
            let config = RunConfig { seed, ..RunConfig::default() };
            Plan::new(machine, Workload::default(), Policy::profile("7.2").unwrap(), config)
        };
        assert_eq!(plan("a", 1).hash, plan("a", 1).hash);
        assert_ne!(plan("a", 1).hash, plan("b", 1).hash);
        assert_ne!(plan("a", 1).hash, plan("a", 2).hash);
        let other = RunConfig { seed: 2, ..RunConfig::default() };
        assert_eq!(plan("a", 1).with_config(other).hash, plan("a", 2).hash);
        let mut policy = Policy::profile("7.2").unwrap();
        policy.set("util_est", "off").unwrap();
        let changed = Plan::new(
            Machine { name: "a".into(), ..Machine::default() },
            Workload::default(),
            policy,
            RunConfig { seed: 1, ..RunConfig::default() },
        );
        assert_ne!(changed.hash, plan("a", 1).hash);
    }
}
