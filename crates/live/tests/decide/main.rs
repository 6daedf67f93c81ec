// SPDX-License-Identifier: GPL-2.0-or-later
//! The core's placement as a program that the running kernel has verified, against the core here. `make test-kernel`
//! asks for it, and `make test-live` runs it in guests; without that, and where it is not possible, it says that
//! nothing was measured.

mod kernel;
mod records;

use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use kernel::Kernel;
use libbpf_rs::ErrorKind;
use pelton_core::{Placed, Placement, Policy, profiles};
use records::{Dice, KINDS, Kind, record};

/// Records of each profile.
const RECORDS: usize = 2_400;
/// The oldest kernel whose verifier is known to accept the program.
const OLDEST: (u32, u32) = (6, 1);

/// Release of the running kernel.
fn release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

fn is_older(release: &str) -> bool {
    let mut numbers = release.split('.').map_while(|word| word.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST
}

/// The program in the kernel when that was asked for and is possible; says so otherwise.
fn loaded() -> Option<Kernel> {
    if std::env::var_os("PELTON_TEST_KERNEL").is_none() {
        println!("not measured: placement in the running kernel (make test-kernel asks for it)");
        return None;
    }
    match Kernel::load() {
        Ok(kernel) => Some(kernel),
        Err(error) if error.kind() == ErrorKind::PermissionDenied && !is_root() => {
            println!("not measured: placement in the running kernel: only root may load programs");
            None
        }
        Err(error) if is_older(&release()) => {
            println!("not measured: placement in the running kernel: Linux {} refuses it: {error}", release());
            None
        }
        Err(error) => panic!("Linux {} refuses the placement: {error:?}", release()),
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn here(policy: &Policy, record: &Placement) -> Placed {
    let mut placed = Placed::default();
    record.select(policy, &mut placed);
    placed
}

/// Results of the kernel that differ from those of the core here. Both may be given different policies.
fn different(kernel: &Kernel, profile: &str, there: &Policy, own: &Policy, kinds: &[Kind]) -> usize {
    let mut dice = Dice(profile.len() as u64 * 31 + 7);
    kernel.set_policy(there);
    let differs = |at: &usize| {
        let record = record(&mut dice, kinds[at % kinds.len()], own);
        let (found, expected) = (kernel.place(&record, 1).0, here(own, &record));
        if found != expected && there == own {
            println!("{profile}, record {at}, {:?}: {found:?} instead of {expected:?}", kinds[at % kinds.len()]);
        }
        found != expected
    };
    (0..RECORDS).filter(differs).count()
}

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("a profile")
}

/// Mean time of a placement in the kernel and here, of `records` records of a kind.
fn times(kernel: &Kernel, kind: Kind, records: u32, repeat: u32) -> (Duration, Duration) {
    let (policy, mut dice) = (policy("7.2"), Dice(99));
    kernel.set_policy(&policy);
    let (mut there, mut own) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..records {
        let record = record(&mut dice, kind, &policy);
        there += kernel.place(&record, repeat).1;
        let start = Instant::now();
        for _ in 0..repeat {
            std::hint::black_box(here(&policy, std::hint::black_box(&record)));
        }
        own += start.elapsed() / repeat;
    }
    (there / records, own / records)
}

#[test]
fn the_kernel_places_as_the_core_does() {
    let Some(kernel) = loaded() else { return };
    let figures = kernel.figures();
    println!(
        "place: Linux {}: {} instructions verified of 1000000, {} bytes of bytecode, {} of machine code",
        release(),
        figures.verified,
        figures.bytecode,
        figures.machine_code
    );
    let mut differences = 0;
    for profile in profiles() {
        let policy = policy(profile);
        differences += different(&kernel, profile, &policy, &policy, &KINDS);
    }
    println!("place: {differences} of {} results differ", RECORDS * profiles().len());
    assert_eq!(differences, 0);
    for kind in [Kind::Equal(0), Kind::Equal(5), Kind::Equal(11), Kind::New, Kind::Energy, Kind::Unequal] {
        let (there, own) = times(&kernel, kind, 10, 1_000);
        println!("place: {kind:?}: {} ns in the kernel, {} ns here", there.as_nanos(), own.as_nanos());
    }
}

#[test]
fn rules_of_another_release_are_noticed() {
    let Some(kernel) = loaded() else { return };
    for (there, own) in [("5.10", "7.2"), ("6.1", "6.12"), ("6.12", "7.2")] {
        let count = different(&kernel, own, &policy(there), &policy(own), &KINDS);
        println!("place: with the policy of {there} {count} of {RECORDS} results of {own} differ");
        assert!(count > 0, "{there} places as {own} does");
    }
}

/// The verifier has proved that no record leads outside: counts beyond the arrays give some result, the core's own.
#[test]
fn counts_beyond_the_arrays_harm_nobody() {
    let Some(kernel) = loaded() else { return };
    let newest = policy("7.2");
    assert_eq!(different(&kernel, "7.2", &newest, &newest, &[Kind::Torn, Kind::Any]), 0);
    println!("place: {RECORDS} records with counts beyond the arrays: the results are the core's");
}
