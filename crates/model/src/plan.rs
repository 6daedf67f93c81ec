// SPDX-License-Identifier: GPL-2.0-or-later
//! A run as a value: everything it depends on, and a number that names it.

use std::io::{self, Write};

use pelton_core::Policy;
use serde::Serialize;

use crate::{Machine, RunConfig, Workload};

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

    /// This plan with another configuration: another seed, another length.
    #[must_use]
    pub fn with_config(mut self, config: RunConfig) -> Self {
        self.config = config;
        self.rehash();
        self
    }

    fn rehash(&mut self) {
        let mut hash = Fnv1a::default();
        // Neither a hash nor a list of numbers and texts refuses to be written.
        serde_json::to_writer(&mut hash, &self.inputs()).expect("values without maps are JSON");
        self.hash = hash.0;
    }

    fn inputs(&self) -> Inputs<'_> {
        Inputs { machine: &self.machine, workload: &self.workload, policy: self.policy.written(), config: &self.config }
    }
}

/// Text that names a plan: every field by its name, numbers in decimal, choices by their names, in the order of their
/// declaration, as JSON without spaces. A field that was added later and is not used leaves the text as it was.
#[derive(Serialize)]
struct Inputs<'a> {
    machine: &'a Machine,
    workload: &'a Workload,
    policy: Vec<(&'static str, String)>,
    config: &'a RunConfig,
}

/// FNV-1a, 64 bits. The standard library's hasher may change between its versions; this number is kept in files.
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Fnv1a {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{CpuSet, TaskSpec};

    #[test]
    fn the_hash_is_fnv_1a() {
        let mut hash = Fnv1a::default();
        hash.write_all(b"foobar").expect("a hash takes everything");
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

    #[test]
    fn the_text_that_is_hashed_is_names_and_values() {
        let cpus = CpuSet::of([70, 1]);
        let tasks = vec![TaskSpec { name: "t".into(), cpus: Some(cpus), ..TaskSpec::default() }];
        let workload = Workload { tasks, ..Workload::default() };
        let watched = RunConfig { demand: true, ..RunConfig::default() };
        let plan = Plan::new(Machine::default(), workload, Policy::profile("7.2").unwrap(), watched.clone());
        let text = serde_json::to_string(&plan.inputs()).unwrap();
        assert!(text.starts_with(r#"{"machine":{"name":"","cpus":[],"domains":[]"#), "{text}");
        assert!(
            text.contains(r#""policy":{"Normal":{"nice":0,"slice_ns":0}},"cpus":[1,70],"start":"AtStart""#),
            "{text}"
        );
        assert!(text.contains(r#"["util_est","u"#), "{text}");
        let config = r#""config":{"seed":0,"duration_ns":0,"rate_limit_us":null,"start_phase_random":false}}"#;
        assert!(text.ends_with(config), "who watches is no part of a run: {text}");
        assert!(!text.contains("limits\":[]") && text.contains(r#""irqs":[]"#));
        let unwatched = plan.clone().with_config(RunConfig::default());
        assert_eq!(unwatched.hash, plan.hash);
        let mut removed = CpuSet::of([1, 70, 500]);
        removed.remove(500);
        assert_eq!(serde_json::to_string(&removed).unwrap(), "[1,70]", "words without a CPU do not show");
    }
}
