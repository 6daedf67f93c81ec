// SPDX-License-Identifier: GPL-2.0-or-later
//! Reasons why no scheduler can be started here, one sentence each, with a way out.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, FuncProto};
use pelton_core::Policy;

use super::machine::{CPUS_MAX, Machine};
use super::{Options, Placing};
use crate::machine::Capabilities;

/// Reasons against a start with these options; none: it can be tried.
pub fn refusals(machine: &Machine, options: &Options) -> Vec<String> {
    let mut reasons = Capabilities::here(None).missing();
    if reasons.is_empty() && machine.has_sched_ext {
        reasons.extend(Btf::from_vmlinux().ok().and_then(|types| of_types(|name| arguments(&types, name))));
    }
    reasons.extend(of_machine(machine, options));
    reasons.extend(of_policy(&options.policy));
    reasons
}

/// Number of arguments of a function of the kernel, by its type information.
fn arguments(types: &Btf<'_>, name: &str) -> Option<usize> {
    let function: Func<'_> = types.type_by_name(name)?;
    Some(FuncProto::try_from(function.next_type()?).ok()?.len())
}

/// Functions that the scheduler calls and their arguments, as `bpf/kernel_ext.h` declares them; those that it can do
/// without are left out.
fn declared() -> impl Iterator<Item = (&'static str, usize)> {
    let lines = include_str!("../bpf/kernel_ext.h").lines();
    lines.filter(|line| line.starts_with("extern ") && line.ends_with(" __ksym;")).filter_map(|line| {
        let (head, arguments) = line.split_once('(')?;
        let name = head.rsplit([' ', '*']).next()?;
        let none = arguments.starts_with("void)");
        Some((name, if none { 0 } else { arguments.matches(',').count() + 1 }))
    })
}

/// A kernel whose type information has no such function, or one with a hidden argument, takes no program that calls it.
fn of_types(arguments: impl Fn(&str) -> Option<usize>) -> Option<String> {
    let wrong = |(name, expected): &(&str, usize)| arguments(name) != Some(*expected);
    let (name, _) = declared().find(wrong)?;
    Some(match arguments(name) {
        None => format!("the function {name} of sched_ext: use Linux 6.14 or later"),
        Some(_) => format!(
            "type information that fits the function {name} of sched_ext: this kernel's was made with mistakes (Debian's \
             7.2 for amd64 is so); use another flavour or release"
        ),
    })
}

/// Reasons that lie in the machine.
fn of_machine(machine: &Machine, options: &Options) -> Vec<String> {
    let mut reasons = Vec::new();
    if !machine.has_sched_ext {
        reasons.push(format!(
            "sched_ext: Linux {} was built without it; use a kernel with CONFIG_SCHED_CLASS_EXT=y (Debian's from 6.14 \
             on), or --observe, which needs none",
            machine.release
        ));
    }
    if let Some(other) = &machine.loaded {
        reasons.push(format!("a place for a scheduler: `{other}` is loaded; end it first"));
    }
    if machine.cpus.len() > CPUS_MAX {
        reasons.push(format!("at most {CPUS_MAX} CPUs: this machine can have {}", machine.cpus.len()));
    }
    if options.placing == Placing::Core && machine.max_threads() > 2 && machine.is_asymmetric() {
        reasons.push(
            "a machine that the core can place on: CPUs of different size have threads; --placement kernel".to_owned(),
        );
    }
    if let Some(why) = machine.without_targets().filter(|_| options.frequencies) {
        reasons.push(format!("a governor that takes targets: {why}; --no-frequencies leaves them to the kernel"));
    }
    reasons
}

/// Rules that need what no callback of sched_ext shows.
fn of_policy(policy: &Policy) -> Vec<String> {
    let needs = [
        ("delayed_dequeue", "off", "a task that sleeps leaves its CPU at once"),
        ("invariance", "clock", "load is tracked by the kernel's own clock"),
    ];
    let differs = |(name, value, why): &(&str, &str, &str)| {
        (policy.get(name) != Ok(value)).then(|| format!("a policy with {name}={value}: {why}"))
    };
    needs.iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        let mut policy = Policy::profile("7.2").expect("a profile");
        policy.set("delayed_dequeue", "off").expect("a switch");
        Options {
            policy,
            frequencies: true,
            placing: Placing::Auto,
            own_clamps: false,
            record: false,
            stall_after: None,
        }
    }

    #[test]
    fn a_machine_that_has_everything_is_not_refused() {
        let machine = Machine { has_sched_ext: true, cpus: vec![Default::default()], ..Machine::default() };
        let reasons = of_machine(&machine, &Options { frequencies: false, ..options() });
        assert!(reasons.is_empty() && of_policy(&options().policy).is_empty(), "{reasons:?}");
    }

    #[test]
    fn functions_that_are_absent_or_have_a_hidden_argument_are_refused() {
        let right = |name: &str| declared().find(|(known, _)| *known == name).map(|(_, n)| n);
        assert!(declared().count() > 15 && right("scx_bpf_now") == Some(0) && right("scx_bpf_kick_cpu") == Some(2));
        assert_eq!(of_types(right), None);
        let hidden = of_types(|name| right(name).map(|n| n + usize::from(name == "scx_bpf_kick_cpu")));
        assert!(hidden.is_some_and(|why| why.contains("scx_bpf_kick_cpu") && why.contains("another flavour")));
        let absent = of_types(|name| right(name).filter(|_| name != "scx_bpf_now"));
        assert!(absent.is_some_and(|why| why.contains("6.14")));
    }

    #[test]
    fn each_reason_has_a_sentence() {
        let machine =
            Machine { loaded: Some("other".into()), cpus: vec![Default::default(); 65], ..Machine::default() };
        let reasons = of_machine(&machine, &options()).join("\n");
        for word in ["sched_ext", "`other` is loaded", "64 CPUs", "no cpufreq"] {
            assert!(reasons.contains(word), "{word}: {reasons}");
        }
        assert_eq!(of_policy(&Policy::profile("4.12").expect("a profile")).len(), 1);
        assert_eq!(of_policy(&Policy::profile("7.2").expect("a profile")).len(), 1);
    }
}
