// SPDX-License-Identifier: GPL-2.0-or-later
//! Nominal speeds of CPUs. On an emulated board capacities and frequencies are numbers that the kernel keeps, and
//! nothing runs slower anywhere; a load that goes by them takes the time that it would take if they were true.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::own_time::OwnTime;
use crate::machine::cpus_possible;

/// Time for which a speed is taken to hold.
const PIECE: Duration = Duration::from_micros(200);
/// The capacity of the fastest CPU at its highest frequency.
const CAPACITY: u64 = 1024;

/// Nominal capacity and frequencies of one CPU.
#[derive(Debug)]
struct Cpu {
    capacity: u64,
    khz_max: u64,
    /// File that holds the frequency of now, kHz.
    frequency: File,
}

/// Nominal speeds of all CPUs.
#[derive(Debug)]
pub struct Speeds(Vec<Cpu>);

impl Speeds {
    /// Speeds of this machine.
    ///
    /// # Errors
    /// When the kernel shows no capacities or frequencies.
    pub fn here() -> io::Result<Speeds> {
        (0..cpus_possible()).map(Cpu::here).collect::<io::Result<_>>().map(Speeds)
    }

    /// Time that this CPU takes now for so much work, ns at the fastest speed.
    fn time(&self, work_ns: u64) -> u64 {
        let cpu = nix::sched::sched_getcpu().ok().and_then(|cpu| self.0.get(cpu));
        let speed = cpu.and_then(|cpu| Some((cpu.capacity, cpu.khz()?, cpu.khz_max)));
        speed.map_or(work_ns, |(capacity, khz, khz_max)| time(work_ns, capacity, khz, khz_max))
    }

    /// Computes until so much is done.
    pub(super) fn work(&self, work: Duration, own: &OwnTime) {
        own.spend_at(work, |work_ns| self.time(work_ns), PIECE);
    }
}

/// Time for work at the speed that a capacity and a frequency come to.
fn time(work_ns: u64, capacity: u64, khz: u64, khz_max: u64) -> u64 {
    let slower = u128::from(work_ns) * u128::from(CAPACITY) * u128::from(khz_max);
    (slower / u128::from((capacity * khz).max(1))) as u64
}

impl Cpu {
    fn here(cpu: u32) -> io::Result<Cpu> {
        let path = |file: &str| format!("/sys/devices/system/cpu/cpu{cpu}/{file}");
        let number = |file: &str| {
            let text = std::fs::read_to_string(path(file)).map_err(|e| told(&path(file), &e.to_string()))?;
            text.trim().parse().map_err(|_| told(&path(file), text.trim()))
        };
        Ok(Cpu {
            capacity: number("cpu_capacity")?,
            khz_max: number("cpufreq/cpuinfo_max_freq")?,
            frequency: File::open(path("cpufreq/scaling_cur_freq"))?,
        })
    }

    fn khz(&self) -> Option<u64> {
        let mut text = [0; 20];
        let n = self.frequency.read_at(&mut text, 0).ok()?;
        std::str::from_utf8(&text[..n]).ok()?.trim().parse().ok()
    }
}

fn told(path: &str, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("{path}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::super::cpu_time;
    use super::*;

    #[test]
    fn work_takes_longer_where_capacity_or_frequency_is_less() {
        assert_eq!(time(1000, 1024, 2_400_000, 2_400_000), 1000);
        assert_eq!(time(1000, 512, 400_000, 1_600_000), 8000);
    }

    #[test]
    fn work_is_done_in_pieces_and_ends() {
        let file = tempfile::tempfile().expect("a file");
        std::io::Write::write_all(&mut &file, b"500000\n").expect("room");
        let cpu = || Cpu { capacity: 1024, khz_max: 1_000_000, frequency: file.try_clone().expect("a file") };
        let speeds = Speeds((0..cpus_possible()).map(|_| cpu()).collect());
        let before = cpu_time();
        speeds.work(Duration::from_micros(700), &OwnTime::here());
        let took = cpu_time() - before;
        assert!(took >= Duration::from_micros(1399) && took < Duration::from_millis(15), "{took:?}");
    }
}
