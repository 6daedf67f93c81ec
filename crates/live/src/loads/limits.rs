// SPDX-License-Identifier: GPL-2.0-or-later
//! The load `limits`: the tasks of `phone` on a machine whose frequencies are limited, by other limits again and again,
//! so that placements read capacity that is not there (`cpufreq_pressure`).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

use super::dice::Dice;
use super::{Running, phone};

/// Folder in which the kernel keeps its policies, one of each frequency domain.
const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
/// Time for which a limit stays.
const LIMIT_STAYS: Duration = Duration::from_millis(60);
/// A domain is not limited in one of so many turns.
const FREE_EVERY: u64 = 4;
/// Limits are chosen in so many steps from the lowest frequency to the highest.
const STEPS: u64 = 8;

/// A frequency domain: the file of its limit, and its lowest and highest frequency, kHz.
struct Domain {
    limit: PathBuf,
    lowest: u64,
    highest: u64,
}

impl Domain {
    /// `None` when a policy cannot be read, or its frequency cannot change.
    fn of(policy: &Path) -> Option<Domain> {
        let khz = |name: &str| std::fs::read_to_string(policy.join(name)).ok()?.trim().parse().ok();
        let (lowest, highest) = (khz("cpuinfo_min_freq")?, khz("cpuinfo_max_freq")?);
        (lowest < highest).then(|| Domain { limit: policy.join("scaling_max_freq"), lowest, highest })
    }

    /// One of its limits, kHz; any of the kernel's frequencies may lie below.
    fn any(&self, dice: &mut Dice) -> u64 {
        if dice.one_of(FREE_EVERY) {
            return self.highest;
        }
        self.lowest + (self.highest - self.lowest) * dice.below(STEPS) / STEPS
    }
}

/// Starts all of them.
///
/// # Errors
/// When no frequency can be limited, or its limit could not be put back.
pub(super) fn start(running: &mut Running) -> io::Result<()> {
    let mut policies: Vec<PathBuf> = std::fs::read_dir(POLICIES)?.flatten().map(|entry| entry.path()).collect();
    policies.sort();
    let domains: Vec<Domain> = policies.iter().filter_map(|policy| Domain::of(policy)).collect();
    if domains.is_empty() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "no frequency of this machine can be limited"));
    }
    for domain in &domains {
        running.restore.write(&domain.limit, &domain.highest.to_string())?;
    }
    phone::start(running);
    running.spawn("limits", move |stop| limits(&domains, stop));
    Ok(())
}

/// Limits one domain after the other.
fn limits(domains: &[Domain], stop: &AtomicBool) {
    let mut dice = Dice(0x9e6c_63d0_876a_46ad);
    for domain in domains.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let _ = std::fs::write(&domain.limit, domain.any(&mut dice).to_string());
        let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::empty(), &LIMIT_STAYS.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_reach_from_the_lowest_frequency_to_none() {
        let domain = Domain { limit: PathBuf::new(), lowest: 400, highest: 1_600 };
        let mut dice = Dice(7);
        let all: Vec<u64> = (0..200).map(|_| domain.any(&mut dice)).collect();
        assert!(all.iter().all(|limit| (400..=1_600).contains(limit)));
        assert!(all.contains(&400) && all.contains(&1_600) && all.iter().any(|limit| (401..1_600).contains(limit)));
    }
}
