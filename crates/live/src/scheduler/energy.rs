// SPDX-License-Identifier: GPL-2.0-or-later
//! Energy of what CPUs did, beside that of the same work at the frequencies that the core would have asked for.
//!
//! Of a stretch of `length` in which a CPU was busy for `busy` at the kernel's frequency `is`:
//!
//! ```text
//! kernel   busy * P(is)
//! core     t * P(would)            t = busy * is / would, at most length; what does not fit is work left
//! ```
//!
//! P is the power of one busy CPU at an operating point; a frequency between two points has that of the upper one, as
//! the kernel takes states. Idle CPUs are not counted, on either side.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use libbpf_rs::{MapCore, Object, RingBuffer, RingBufferBuilder};

use super::machine::Machine;
use super::words::section;
use crate::session::{LiveError, refused};

/// Folder in which kernels show their energy model.
const MODEL: &str = "sys/kernel/debug/energy_model";
/// Flags of a domain of the energy model: power in microwatts, and in a unit of its own.
const MICROWATTS: u64 = 1;
const ARTIFICIAL: u64 = 4;
/// Kernels that show no flags have power in milliwatts.
const MILLI: u64 = 1000;
/// Words of `struct live_meter`, and the one that counts what was lost.
const METER_WORDS: usize = 16;
const METER_LOST: usize = 8;

/// Power of the operating points of every CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Powers {
    /// Points of each CPU: kHz, ascending, and power of a busy CPU in microwatts, or in thousandths of a unit of its
    /// own; none = not known.
    pub cpus: Vec<Vec<(u32, u64)>>,
    /// Power is in a unit of its own.
    pub own_unit: bool,
}

/// A stretch of a CPU without a change of frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// CPU.
    pub cpu: usize,
    /// Length, ns.
    pub length_ns: u64,
    /// Time in it that the CPU was busy, ns.
    pub busy_ns: u64,
    /// The kernel's frequency, kHz; 0: not known.
    pub is_khz: u32,
    /// The frequency that the core would have had, kHz; 0: not known.
    pub would_khz: u32,
}

/// Energy on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Energy {
    /// Energy of the CPUs at the kernel's frequencies, power times ns.
    pub kernel: u128,
    /// Energy of the same work at the core's, as far as there was time for it.
    pub core: u128,
    /// Busy time that was counted, ns.
    pub busy_ns: u64,
    /// Busy time of which a frequency or its power is not known, ns.
    pub unknown_ns: u64,
    /// Work that did not fit at the core's frequencies, kHz times ns.
    pub left: u128,
    /// All work that was counted, kHz times ns.
    pub work: u128,
    /// Stretches that were lost.
    pub lost: u64,
}

/// Energy of an observer, in words of people.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Consumed {
    /// Energy is in a unit of its own times seconds, not in joules.
    pub own_unit: bool,
    /// At the kernel's frequencies.
    pub kernel: f64,
    /// Of the same work at the core's, as far as there was time for it.
    pub core: f64,
    /// Busy time that was counted, s.
    pub busy_s: f64,
    /// Busy time of which a frequency or its power is not known, s.
    pub unknown_s: f64,
    /// Part of the work that did not fit at the core's frequencies, percent.
    pub left_percent: f64,
    /// Stretches that were lost.
    pub lost: u64,
}

impl Energy {
    /// In joules, or in a unit of its own times seconds; `None`: nothing was counted.
    #[must_use]
    pub fn consumed(&self, own_unit: bool) -> Option<Consumed> {
        let scale = if own_unit { 1e-12 } else { 1e-15 };
        (self.busy_ns > 0).then(|| Consumed {
            own_unit,
            kernel: self.kernel as f64 * scale,
            core: self.core as f64 * scale,
            busy_s: self.busy_ns as f64 / 1e9,
            unknown_s: self.unknown_ns as f64 / 1e9,
            left_percent: 100.0 * self.left as f64 / self.work as f64,
            lost: self.lost,
        })
    }
}

/// Power at a frequency: that of the lowest point that reaches it.
fn power(points: &[(u32, u64)], khz: u32) -> Option<u64> {
    let reaches = points.iter().find(|(of, _)| *of >= khz).or(points.last());
    reaches.map(|(_, power)| *power).filter(|_| khz > 0)
}

impl Energy {
    /// Adds a stretch.
    pub fn add(&mut self, powers: &Powers, stretch: &Stretch) {
        let points = powers.cpus.get(stretch.cpu).map(Vec::as_slice).unwrap_or_default();
        let (Some(is), Some(would)) = (power(points, stretch.is_khz), power(points, stretch.would_khz)) else {
            self.unknown_ns += stretch.busy_ns;
            return;
        };
        let work = u128::from(stretch.busy_ns) * u128::from(stretch.is_khz);
        let needed_ns = work / u128::from(stretch.would_khz);
        let ns = needed_ns.min(u128::from(stretch.length_ns));
        self.kernel += u128::from(stretch.busy_ns) * u128::from(is);
        self.core += ns * u128::from(would);
        self.left += (needed_ns - ns) * u128::from(stretch.would_khz);
        self.work += work;
        self.busy_ns += stretch.busy_ns;
    }
}

/// A number as files of the kernel have it, decimal or with 0x.
fn number(path: &Path) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok())
}

/// Points of a domain: a folder for each, `ps:KHZ`.
fn points(domain: &Path, scale: u64) -> Vec<(u32, u64)> {
    let states = fs::read_dir(domain).into_iter().flatten().flatten().map(|entry| entry.path());
    let point = |state: std::path::PathBuf| {
        let khz = number(&state.join("frequency")).and_then(|khz| u32::try_from(khz).ok())?;
        Some((khz, number(&state.join("power"))?.checked_mul(scale)?))
    };
    let mut points: Vec<(u32, u64)> = states.filter_map(point).collect();
    points.sort_unstable();
    points
}

impl Powers {
    /// Power as the kernel of the system below `root` shows it, where it does.
    #[must_use]
    pub fn at(root: &Path, cpus: usize) -> Powers {
        let mut powers = Powers { cpus: vec![Vec::new(); cpus], own_unit: false };
        let domains = fs::read_dir(root.join(MODEL)).into_iter().flatten().flatten().map(|entry| entry.path());
        for domain in domains {
            let Ok(list) = fs::read_to_string(domain.join("cpus")) else { continue };
            let flags = number(&domain.join("flags")).unwrap_or(0);
            powers.own_unit |= flags & ARTIFICIAL != 0;
            let points = points(&domain, if flags & MICROWATTS != 0 { 1 } else { MILLI });
            let bits = super::machine::bits(list.trim());
            let of = powers.cpus.iter_mut().take(64).enumerate().filter(|(cpu, _)| bits >> cpu & 1 == 1);
            of.for_each(|(_, own)| own.clone_from(&points));
        }
        powers
    }

    /// Power as the running kernel shows it; files of debugfs are for root alone.
    #[must_use]
    pub fn here(machine: &Machine) -> Powers {
        Powers::at(Path::new("/"), machine.cpus.len())
    }
}

/// Stretches as they come, added up.
pub(super) struct Meter {
    powers: Powers,
    ring: RingBuffer<'static>,
    incoming: Receiver<Stretch>,
    so_far: Energy,
}

/// A record of `bpf/metered.h`.
fn stretch(bytes: &[u8]) -> Option<Stretch> {
    let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let half = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    Some(Stretch {
        length_ns: word(0)?,
        busy_ns: word(8)?,
        cpu: half(16)? as usize,
        is_khz: half(20)?,
        would_khz: half(24)?,
    })
}

impl Meter {
    pub fn new(object: &Object, powers: Powers) -> Result<Meter, LiveError> {
        let wrong = |e| refused("share a buffer", e);
        let (sender, incoming) = channel();
        let maps: Vec<_> = object.maps().filter(|map| map.name() == "stretches").collect();
        let mut builder = RingBufferBuilder::new();
        for map in &maps {
            let sender = sender.clone();
            let take = move |bytes: &[u8]| {
                // The receiver lives as long as the buffer.
                let _ = stretch(bytes).map(|stretch| sender.send(stretch));
                0
            };
            builder.add(map, take).map_err(wrong)?;
        }
        Ok(Meter { powers, ring: builder.build().map_err(wrong)?, incoming, so_far: Energy::default() })
    }

    /// Takes what there is.
    pub fn follow(&mut self) {
        // An error is a signal that came: the rest is there at the next look.
        let _ = self.ring.consume();
        while let Ok(stretch) = self.incoming.try_recv() {
            self.so_far.add(&self.powers, &stretch);
        }
    }

    /// Energy until the last change of each CPU; `None`: no busy time is known with both frequencies and their power.
    pub fn consumed(&self, object: &Object) -> Option<Consumed> {
        let lost = section(object, ".bss.meters").chunks_exact(METER_WORDS).map(|meter| meter[METER_LOST]).sum();
        Energy { lost, ..self.so_far }.consumed(self.powers.own_unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn powers() -> Powers {
        Powers { cpus: vec![vec![(500_000, 40_000), (1_000_000, 120_000)], Vec::new()], own_unit: false }
    }

    fn stretch(length_ns: u64, busy_ns: u64, is_khz: u32, would_khz: u32) -> Stretch {
        Stretch { cpu: 0, length_ns, busy_ns, is_khz, would_khz }
    }

    fn of(stretches: &[Stretch]) -> Energy {
        let mut energy = Energy::default();
        stretches.iter().for_each(|stretch| energy.add(&powers(), stretch));
        energy
    }

    #[test]
    fn the_same_work_takes_longer_at_less_power() {
        let energy = of(&[stretch(10_000, 4000, 1_000_000, 500_000)]);
        assert_eq!((energy.kernel, energy.core), (4000 * 120_000, 8000 * 40_000));
        assert_eq!((energy.left, energy.busy_ns, energy.unknown_ns), (0, 4000, 0));
        let faster = of(&[stretch(10_000, 4000, 500_000, 1_000_000)]);
        assert_eq!((faster.kernel, faster.core), (4000 * 40_000, 2000 * 120_000));
    }

    #[test]
    fn work_that_does_not_fit_is_left_and_not_hidden() {
        let energy = of(&[stretch(10_000, 8000, 1_000_000, 500_000)]);
        assert_eq!((energy.core, energy.left), (10_000 * 40_000, 6000 * 500_000));
        assert_eq!(energy.work, 8000 * 1_000_000);
        let consumed = energy.consumed(false).expect("counted");
        assert_eq!((consumed.left_percent, consumed.busy_s), (37.5, 8e-6));
        assert!((consumed.kernel - 8e-6 * 0.12).abs() < 1e-15 && (consumed.core - 1e-5 * 0.04).abs() < 1e-15);
    }

    #[test]
    fn frequencies_between_points_have_the_power_of_the_upper_one() {
        let energy = of(&[stretch(1000, 1000, 700_000, 700_000)]);
        assert_eq!((energy.kernel, energy.core), (1000 * 120_000, 1000 * 120_000));
        assert_eq!(of(&[stretch(10, 10, 1_200_000, 1_200_000)]).kernel, 10 * 120_000);
    }

    #[test]
    fn what_is_not_known_is_counted_as_that() {
        let other = Stretch { cpu: 1, ..stretch(1000, 700, 500_000, 500_000) };
        let energy = of(&[stretch(1000, 500, 0, 500_000), stretch(1000, 600, 500_000, 0), other]);
        assert_eq!((energy.unknown_ns, energy.busy_ns, energy.kernel), (1800, 0, 0));
        assert_eq!(energy.consumed(false), None);
    }

    #[test]
    fn the_kernels_model_is_read_in_its_unit() {
        let root = tempfile::tempdir().expect("a folder");
        let put = |path: &str, text: &str| {
            let path = root.path().join(MODEL).join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        put("cpu0/cpus", "0-1\n");
        put("cpu0/flags", "0x3\n");
        put("cpu0/ps:600000/frequency", "600000\n");
        put("cpu0/ps:600000/power", "90000\n");
        put("cpu0/ps:300000/frequency", "300000\n");
        put("cpu0/ps:300000/power", "30000\n");
        put("cpu2/cpus", "2\n");
        put("cpu2/ps:300000/frequency", "300000\n");
        put("cpu2/ps:300000/power", "50\n");
        let powers = Powers::at(root.path(), 4);
        assert_eq!(powers.cpus[1], [(300_000, 30_000), (600_000, 90_000)]);
        assert_eq!((powers.cpus[2].as_slice(), powers.cpus[3].len()), ([(300_000, 50_000)].as_slice(), 0));
        assert!(!powers.own_unit && Powers::at(&root.path().join("none"), 2).cpus.iter().all(Vec::is_empty));
    }
}
