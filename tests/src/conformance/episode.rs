// SPDX-License-Identifier: GPL-2.0-or-later
//! A recorded run of the reference: calls, what each answered, and a hash of the state after it.

use pelton_core::Policy;
use rand_core::Rng;
use rand_pcg::Pcg32;

use super::ops::{CALL_WORDS, Call, Op};
use super::world::{CPUS, World};

/// Answer of one call, and a hash of the state afterwards.
pub type Answer = [u64; 2];

/// Hash of the state, without the call; the same as in `host.c`.
pub fn state_hash(words: &[u64]) -> u64 {
    let step = |hash: u64, word: &u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    words[CALL_WORDS..].iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Calls from one initial state under one policy.
#[derive(Debug)]
pub struct Episode {
    /// Seed that makes it repeatable.
    pub seed: u64,
    /// Its policy, in words.
    pub policy: String,
    /// State before the first call.
    pub start: World,
    /// State after the last call.
    pub world: World,
    /// Calls that were made.
    pub calls: Vec<Call>,
    /// Answers of the reference.
    pub answers: Vec<Answer>,
}

impl Episode {
    /// An episode without calls.
    pub fn new(seed: u64, policy: &Policy, now: u64, cap_orig: [u64; CPUS]) -> Self {
        let world = World::new(policy, now, cap_orig);
        let policy = policy_text(policy);
        Self { seed, policy, start: world.clone(), world, calls: Vec::new(), answers: Vec::new() }
    }

    /// Executes a call on the reference and records it.
    pub fn call(&mut self, op: Op, args: &[u64]) -> u64 {
        let call = Call::new(op, args);
        let result = self.world.execute(&call);
        self.answers.push([result, state_hash(&self.world.encode())]);
        self.calls.push(call);
        result
    }
}

/// The newest profile and where the policy differs from it.
fn policy_text(policy: &Policy) -> String {
    let newest = Policy::profile("7.2").expect("the newest profile exists").values();
    let values = policy.values();
    let switches = pelton_core::switches();
    let differs = switches.iter().enumerate().filter(|(i, _)| values[*i] != newest[*i]);
    let words = differs.map(|(i, switch)| format!("{}={}", switch.name, switch.values[values[i] as usize]));
    let numbers = pelton_core::parameters();
    let first = switches.len();
    let differs = numbers.iter().enumerate().filter(|(i, _)| values[first + *i] != newest[first + *i]);
    let words: Vec<String> =
        words.chain(differs.map(|(i, n)| format!("{}={}", n.name, n.text(values[first + i])))).collect();
    if words.is_empty() { "7.2".into() } else { format!("7.2 with {}", words.join(" ")) }
}

/// A profile, with a few switches changed in every second case.
pub fn random_policy(rng: &mut Pcg32) -> Policy {
    let profiles = pelton_core::profiles();
    let pick = |rng: &mut Pcg32, n: usize| rng.next_u32() as usize % n;
    let profile = profiles[pick(rng, profiles.len())];
    let base = Policy::profile(profile).expect("the profile is in the list");
    if pick(rng, 2) == 0 {
        return base;
    }
    let switches = pelton_core::switches();
    let mut policy = base;
    for _ in 0..4 {
        let switch = &switches[pick(rng, switches.len())];
        let mut changed = policy;
        changed.set(switch.name, switch.values[pick(rng, switch.values.len())]).expect("the value is in the list");
        if changed.check().is_ok() {
            policy = changed;
        }
    }
    for parameter in pelton_core::parameters() {
        let mut changed = policy;
        let span = u64::from(parameter.max - parameter.min) + 1;
        let value = parameter.min + (u64::from(rng.next_u32()) % span) as u32;
        if pick(rng, 2) == 0 && changed.set(parameter.name, &value.to_string()).is_ok() && changed.check().is_ok() {
            policy = changed;
        }
    }
    policy
}
