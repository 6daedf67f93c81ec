// SPDX-License-Identifier: GPL-2.0-or-later
//! Policy, settings and machine as the kernel's side takes them before it is loaded.

use libbpf_rs::OpenObject;
use pelton_core::{EmState, PERF_DOMAINS_MAX, PLACE_STATES_MAX, PerfDomain, Policy, SCX_BALANCE_TICKS, switches};

use super::machine::{CPUS_MAX, Machine, OPPS_MAX};
use super::words::{List, bytes};
use super::{Options, Placing};

/// Byte of `struct pelton_machine` at which its CPUs begin, behind performance domains and their states.
pub(super) const CPUS_AT: usize = PERF_DOMAINS_MAX * size_of::<PerfDomain>() + PLACE_STATES_MAX * size_of::<EmState>();
/// Time that a driver is taken to need for a change of frequency, ns, where no file has it.
const SWITCH_NS: u64 = 10_000;
/// Rate limit where the kernel shows none, us.
const RATE_LIMIT_US: u32 = 1000;

/// Buffer of a recording: some ten thousand decisions between two looks.
const RECORDED_BYTES: u32 = 32 << 20;

pub(super) fn plain<T: Copy>(record: &T) -> &[u8] {
    // SAFETY: rows, states and policies are integers without gaps.
    unsafe { std::slice::from_raw_parts((&raw const *record).cast::<u8>(), size_of::<T>()) }
}

/// Has a policy these switches? Numbers come behind them.
pub(super) fn has_switches(policy: &Policy, compiled: &[u8]) -> bool {
    let length = size_of::<u32>() * switches().len();
    compiled.len() >= length && compiled[..length] == plain(policy)[..length]
}

/// The policy with what only a running machine knows: no number is left to a platform.
pub(super) fn policy_here(policy: &Policy, machine: &Machine) -> Policy {
    let rate_limit_us = machine.cpus.first().and_then(|cpu| cpu.rate_limit_us).unwrap_or(RATE_LIMIT_US);
    let mut policy = *policy;
    for name in ["up_rate_limit_us", "down_rate_limit_us"] {
        if policy.text(name).as_deref() == Some("platform") {
            // A number within the range of rate limits.
            let _ = policy.set(name, &rate_limit_us.to_string());
        }
    }
    policy
}

/// Settings of the whole run, as `LIVE_SETTINGS` has them.
fn settings(machine: &Machine, options: &Options) -> Vec<u64> {
    let core = match options.placing {
        Placing::Auto => machine.is_energy_aware(),
        Placing::Core => true,
        Placing::Kernel => false,
    };
    List::new("LIVE_SETTINGS").filled(&[
        ("nr_cpus", machine.cpus.len() as u64),
        ("tick_ns", machine.tick_ns),
        ("frequencies", u64::from(options.frequencies)),
        ("placing", u64::from(core)),
        ("own_clamps", u64::from(options.own_clamps)),
        ("energy_aware", u64::from(core && machine.is_energy_aware())),
        ("asymmetric", u64::from(machine.is_asymmetric())),
        ("smt", u64::from(machine.has_threads)),
        ("smt_threads", u64::from(machine.max_threads())),
        ("clusters", u64::from(machine.has_clusters)),
        ("nr_perf_domains", machine.energy.len() as u64),
        ("uclamp", u64::from(machine.has_clamps)),
        ("invariant", u64::from(machine.is_invariant)),
        ("balance_ns", u64::from(SCX_BALANCE_TICKS) * machine.tick_ns),
        ("record", u64::from(options.record)),
    ])
}

/// At most as many frequencies as the kernel's side takes, the highest among them.
pub(super) fn thinned(khz: &[u32]) -> Vec<u32> {
    if khz.len() <= OPPS_MAX {
        return khz.to_vec();
    }
    (1..=OPPS_MAX).map(|nth| khz[nth * khz.len() / OPPS_MAX - 1]).collect()
}

/// Every CPU as `struct live_setup` has it.
fn setups(machine: &Machine) -> Vec<u64> {
    let list = List::new("LIVE_SETUP");
    let mut all = Vec::new();
    for (number, cpu) in machine.cpus.iter().enumerate() {
        let khz = thinned(&cpu.khz);
        let most = khz.last().copied().unwrap_or(cpu.limits_khz.1).max(1);
        all.extend(list.filled(&[
            ("capacity", u64::from(cpu.capacity)),
            ("ref_khz", u64::from(most)),
            ("min_khz", u64::from(cpu.limits_khz.0)),
            ("max_khz", u64::from(cpu.limits_khz.1.min(most))),
            ("rate_limit_us", u64::from(cpu.rate_limit_us.unwrap_or(RATE_LIMIT_US))),
            ("nr_domain_cpus", u64::from(cpu.domain.count_ones())),
            ("llc", machine.cache_of(number)),
            ("domain", cpu.domain),
            ("nr_khz", khz.len() as u64),
            ("switch_ns", SWITCH_NS),
            ("now_khz", u64::from(Machine::khz_now(number).unwrap_or(0))),
        ]));
        all.extend(khz.iter().map(|khz| u64::from(*khz)));
        all.resize(all.len() + OPPS_MAX - khz.len(), 0);
    }
    all.resize(CPUS_MAX * (list.names.len() + OPPS_MAX), 0);
    all
}

/// `struct pelton_machine`: performance domains, their states, rows of CPUs.
fn rows(machine: &Machine, size: usize) -> Vec<u8> {
    let (domains, states) = machine.perf_domains();
    let mut out = Vec::with_capacity(size);
    domains.iter().take(PERF_DOMAINS_MAX).for_each(|domain| out.extend_from_slice(plain(domain)));
    out.resize(PERF_DOMAINS_MAX * size_of::<PerfDomain>(), 0);
    states.iter().take(PLACE_STATES_MAX).for_each(|state| out.extend_from_slice(plain(state)));
    out.resize(CPUS_AT, 0);
    (0..machine.cpus.len()).for_each(|cpu| out.extend_from_slice(plain(&machine.row(cpu))));
    out.resize(size, 0);
    out
}

/// Gives a program that is not loaded yet everything about the machine.
pub(super) fn set_up(open: &mut OpenObject, machine: &Machine, options: &Options) -> libbpf_rs::Result<()> {
    let policy = policy_here(&options.policy, machine);
    for mut map in open.maps_mut() {
        let size = map.initial_value().map_or(0, |value| value.len());
        match map.name().to_string_lossy().as_ref() {
            ".rodata.policy" => map.set_initial_value(plain(&policy))?,
            ".rodata.settings" => map.set_initial_value(&bytes(&settings(machine, options)))?,
            ".rodata.setup" => map.set_initial_value(&bytes(&setups(machine)))?,
            ".bss.machine" => map.set_initial_value(&rows(machine, size))?,
            "recorded" if options.record => map.set_max_entries(RECORDED_BYTES)?,
            // One of each CPU, and of the copy to work on.
            "deciding" if options.record => map.set_max_entries(2 * CPUS_MAX as u32)?,
            "placing" if options.record => map.set_max_entries(CPUS_MAX as u32)?,
            _ => {}
        }
    }
    Ok(())
}
