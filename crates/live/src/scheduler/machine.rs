// SPDX-License-Identifier: GPL-2.0-or-later
//! This machine as a scheduler needs it: CPUs, frequencies, energy model, caches.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::time::{ClockId, clock_getres};
use pelton_core::{CpuState, EmState, NO_DOMAIN, NO_IDLE_STATE, PerfDomain, PlaceCpu, SchedDomain};

use crate::placements::{MachineWords, PERF_STATES_MAX, are_hidden, attach, domain_bits, domain_flags, globals, load};
use crate::session::{LiveError, refused};

/// CPUs that a scheduler knows: one bit each in a word.
pub(super) use pelton_core::PLACE_CPUS_MAX as CPUS_MAX;
/// Frequencies of a CPU that the kernel's side takes; of more, evenly spread ones.
pub const OPPS_MAX: usize = 64;

/// Looks for the kernel's description, and the time between two.
const DESCRIBE_LOOKS: u32 = 200;
const DESCRIBE_EVERY: Duration = Duration::from_millis(5);
/// Flag of a state of the energy model that a faster one makes needless (`EM_PERF_STATE_INEFFICIENT`).
const STATE_INEFFICIENT: u64 = 1;

/// A CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineCpu {
    /// Capacity, of 1024.
    pub capacity: u32,
    /// Frequencies, kHz, ascending; none: its driver takes any.
    pub khz: Vec<u32>,
    /// Lowest and highest that the hardware has, kHz; 0: it has no cpufreq. The kernel keeps targets within the limits
    /// of its policy by itself.
    pub limits_khz: (u32, u32),
    /// Rate limit of the kernel's schedutil, us.
    pub rate_limit_us: Option<u32>,
    /// Governor and driver.
    pub governor: Option<String>,
    /// Name of the driver.
    pub driver: Option<String>,
    /// CPUs of its frequency domain, one bit each.
    pub domain: u64,
    /// Threads of its core, one bit each.
    pub threads: u64,
    /// Its scheduling domains.
    pub domains: Domains,
}

/// CPUs that share an energy model, as the kernel places by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnergyDomain {
    /// CPUs, one bit each.
    pub cpus: u64,
    /// Performance, of 1024, and cost of each state, ascending.
    pub states: Vec<(u64, u64)>,
    /// States that a faster one makes needless, by number.
    pub inefficient: Vec<bool>,
    /// First and last state that limits allow.
    pub allowed: (u32, u32),
}

/// Scheduling domains of a CPU as the kernel built them, smallest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domains {
    /// Span, flags, `imbalance_pct`, `imb_numa_nr`, and whether it keeps what CPUs share.
    pub levels: Vec<[u64; 5]>,
    /// CPUs with the same number share a cache, or the nearest resource.
    pub llc: u32,
    /// CPUs of the cache.
    pub llc_size: u32,
    /// Number of the cluster.
    pub cluster: u32,
    /// Level of the cache, and the smallest one with CPUs of every size.
    pub llc_level: Option<u32>,
    /// The smallest level with CPUs of every size.
    pub asym_level: Option<u32>,
}

/// This machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Release of the kernel.
    pub release: String,
    /// CPUs by number.
    pub cpus: Vec<MachineCpu>,
    /// Energy model, in the kernel's order.
    pub energy: Vec<EnergyDomain>,
    /// The kernel places by energy.
    pub places_by_energy: bool,
    /// Some cores have several threads.
    pub has_threads: bool,
    /// Some caches have clusters below them.
    pub has_clusters: bool,
    /// The kernel knows how fast CPUs run compared with their highest frequency.
    pub is_invariant: bool,
    /// CPUs that are online, one bit each; 0: the kernel does not say.
    pub online: u64,
    /// The kernel has clamps of utilization.
    pub has_clamps: bool,
    /// The kernel has sched_ext.
    pub has_sched_ext: bool,
    /// A scheduler that is loaded.
    pub loaded: Option<String>,
    /// Time between two ticks, ns.
    pub tick_ns: u64,
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn number<T: std::str::FromStr>(path: impl AsRef<Path>) -> Option<T> {
    read(path)?.parse().ok()
}

/// Bits of a list of CPUs like `0-3,5` or `0 1`; CPUs beyond the largest are left out.
pub(super) fn bits(list: &str) -> u64 {
    let mut all = 0;
    for part in list.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            (first..=last.min(CPUS_MAX - 1)).for_each(|cpu| all |= 1 << cpu);
        }
    }
    all
}

/// The files of a system, which a test keeps elsewhere.
struct Files {
    root: PathBuf,
}

impl Files {
    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn cpu(&self, cpu: usize, file: &str) -> PathBuf {
        self.at(&format!("sys/devices/system/cpu/cpu{cpu}/{file}"))
    }

    fn list(&self, cpu: usize, file: &str) -> u64 {
        read(self.cpu(cpu, file)).map_or(0, |list| bits(&list))
    }

    fn frequencies(&self, cpu: usize) -> Vec<u32> {
        let words = |file: &str| {
            let list = read(self.cpu(cpu, file)).unwrap_or_default();
            list.split_whitespace().filter_map(|khz| khz.parse().ok()).collect::<Vec<u32>>()
        };
        let mut khz = words("cpufreq/scaling_available_frequencies");
        khz.sort_unstable();
        khz.dedup();
        khz
    }

    fn machine_cpu(&self, cpu: usize) -> MachineCpu {
        let own = 1u64.checked_shl(cpu as u32).unwrap_or(0);
        let khz = self.frequencies(cpu);
        let limit =
            |file: &str, otherwise: Option<&u32>| number(self.cpu(cpu, file)).or(otherwise.copied()).unwrap_or(0);
        MachineCpu {
            capacity: number(self.cpu(cpu, "cpu_capacity")).unwrap_or(1024),
            limits_khz: (limit("cpufreq/cpuinfo_min_freq", khz.first()), limit("cpufreq/cpuinfo_max_freq", khz.last())),
            khz,
            rate_limit_us: number(self.cpu(cpu, "cpufreq/schedutil/rate_limit_us"))
                .or_else(|| number(self.at("sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us"))),
            governor: read(self.cpu(cpu, "cpufreq/scaling_governor")),
            driver: read(self.cpu(cpu, "cpufreq/scaling_driver")),
            domain: self.list(cpu, "cpufreq/affected_cpus") | own,
            threads: self.list(cpu, "topology/thread_siblings_list") | own,
            domains: Domains::default(),
        }
    }
}

/// Frequency invariance: most architectures know it from their drivers, x86 from counters of its own.
fn is_invariant(files: &Files, has_frequencies: bool) -> bool {
    match std::env::consts::ARCH {
        "x86" | "x86_64" => {
            let info = read(files.at("proc/cpuinfo")).unwrap_or_default();
            info.lines().any(|line| line.starts_with("flags") && line.split_whitespace().any(|f| f == "aperfmperf"))
        }
        _ => has_frequencies,
    }
}

impl Machine {
    /// The machine that this runs on, without what only the kernel's memory has.
    pub fn here() -> Machine {
        Machine::at(Path::new("/"))
    }

    /// The machine with scheduling domains and energy model, which the kernel is asked for.
    ///
    /// # Errors
    /// The kernel does not show them.
    pub fn described(mut self) -> Result<Machine, LiveError> {
        if are_hidden(&std::fs::read_to_string("/proc/kallsyms").unwrap_or_default()) {
            return Err(LiveError::Missing(vec![
                "the addresses of kernel symbols, without which energy and threads would be taken for absent: write 1 \
                 into /proc/sys/kernel/kptr_restrict, or give CAP_SYSLOG"
                    .to_owned(),
            ]));
        }
        let words = kernel_words(self.cpus.len() as u32)?;
        self.take(&words, &domain_bits()?)?;
        Ok(self)
    }

    /// Takes the kernel's description, as `struct place_machine` of `bpf/place.h` has it.
    fn take(&mut self, all: &[u64], bits: &[Option<u32>]) -> Result<(), LiveError> {
        let told = MachineWords::of(all)?;
        (self.has_threads, self.has_clusters, self.places_by_energy) = (told.smt, told.clusters, told.energy_aware);
        for (cpu, words) in self.cpus.iter_mut().zip(&told.cpus) {
            let level = |word: u64| u32::try_from(word).ok().filter(|level| u64::from(*level) < words[5]);
            let levels = words[6..].chunks_exact(5).take(words[5] as usize);
            cpu.domains = Domains {
                levels: levels.map(|l| [l[0], domain_flags(l[1], bits), l[2], l[3], l[4]]).collect(),
                llc: words[0] as u32,
                llc_size: words[1] as u32,
                cluster: words[2] as u32,
                asym_level: level(words[3]),
                llc_level: level(words[4]),
            };
        }
        self.energy = told.energy.iter().map(|words| EnergyDomain::of(words)).collect();
        Ok(())
    }

    /// The machine whose files are below `root`.
    pub fn at(root: &Path) -> Machine {
        let files = Files { root: root.to_owned() };
        let count = read(files.at("sys/devices/system/cpu/present"))
            .and_then(|list| list.rsplit([',', '-']).next().and_then(|last| last.parse::<usize>().ok()));
        let cpus: Vec<MachineCpu> = (0..=count.unwrap_or(0).min(8191)).map(|cpu| files.machine_cpu(cpu)).collect();
        let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE);
        let tick_ns = tick.ok().and_then(|time| u64::try_from(time.tv_nsec()).ok()).filter(|ns| *ns > 0);
        Machine {
            release: read(files.at("proc/sys/kernel/osrelease")).unwrap_or_default(),
            energy: Vec::new(),
            places_by_energy: false,
            has_threads: false,
            has_clusters: false,
            is_invariant: is_invariant(&files, cpus.iter().any(|cpu| cpu.limits_khz.1 > 0)),
            has_clamps: files.at("proc/sys/kernel/sched_util_clamp_min").exists(),
            online: read(files.at("sys/devices/system/cpu/online")).map_or(0, |list| bits(&list)),
            has_sched_ext: files.at("sys/kernel/sched_ext").is_dir(),
            loaded: read(files.at("sys/kernel/sched_ext/root/ops")),
            tick_ns: tick_ns.unwrap_or(4_000_000),
            cpus,
        }
    }

    /// Frequency of a CPU of the machine that this runs on, kHz, where the kernel shows one.
    pub(crate) fn khz_now(cpu: usize) -> Option<u32> {
        number(format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"))
    }

    /// Is a CPU online, as far as the kernel says?
    fn is_online(&self, cpu: usize) -> bool {
        self.online == 0 || cpu >= CPUS_MAX || self.online >> cpu & 1 == 1
    }

    /// CPUs of different size?
    pub fn is_asymmetric(&self) -> bool {
        let mut online =
            self.cpus.iter().enumerate().filter(|(cpu, _)| self.is_online(*cpu)).map(|(_, of)| of.capacity);
        let first = online.next();
        online.any(|capacity| Some(capacity) != first)
    }

    /// Does the kernel place by energy, by a model that it shows?
    pub fn is_energy_aware(&self) -> bool {
        self.places_by_energy && self.energy.len() > 1
    }

    /// Most threads of a core.
    pub fn max_threads(&self) -> u32 {
        self.cpus.iter().map(|cpu| cpu.threads.count_ones()).max().unwrap_or(1)
    }

    /// A reason for which targets of schedutil have no effect on some CPU.
    pub fn without_targets(&self) -> Option<String> {
        let online = || self.cpus.iter().enumerate().filter(|(cpu, _)| self.is_online(*cpu));
        if let Some((cpu, _)) = online().find(|(_, of)| of.limits_khz.1 == 0) {
            return Some(format!("CPU {cpu} has no cpufreq"));
        }
        let other = online().find(|(_, cpu)| cpu.governor.as_deref() != Some("schedutil"));
        if let Some((cpu, of)) = other {
            let governor = of.governor.as_deref().unwrap_or("none");
            return Some(format!("the governor of CPU {cpu} is {governor}, and only schedutil takes targets"));
        }
        (!self.is_invariant).then(|| "this machine does not know how fast its CPUs run".to_owned())
    }

    /// A domain as the core has it, with the sums of the CPU's group in it.
    fn domain(&self, cpu: usize, level: usize) -> SchedDomain {
        let levels = &self.cpus[cpu].domains.levels;
        let [span, flags, pct, imb_numa, shared] = levels[level];
        let group = if level == 0 { 1 << cpu } else { levels[level - 1][0] };
        let capacities = || self.cpus.iter().enumerate().filter(|(k, _)| group >> k & 1 == 1).map(|(_, c)| c.capacity);
        SchedDomain {
            span,
            flags: flags as u32,
            imbalance_pct: pct as u32,
            imb_numa_nr: imb_numa as u32,
            has_shared: shared as u32,
            group_capacity: capacities().sum(),
            group_max_capacity: capacities().max().unwrap_or(0),
            group_min_capacity: capacities().min().unwrap_or(0),
            ..SchedDomain::default()
        }
    }

    /// The row of a CPU in placements.
    pub(crate) fn row(&self, cpu: usize) -> PlaceCpu {
        let of = &self.cpus[cpu];
        let mut row = PlaceCpu {
            state: CpuState { cap_orig: of.capacity, uclamp_max: 1024, ..CpuState::default() },
            capacity: of.capacity,
            threads: of.threads,
            llc: of.domains.llc,
            llc_size: of.domains.llc_size,
            cluster: of.domains.cluster,
            llc_domain: of.domains.llc_level.unwrap_or(NO_DOMAIN),
            asym_domain: of.domains.asym_level.unwrap_or(NO_DOMAIN),
            exit_latency_ns: NO_IDLE_STATE,
            nr_idle_scan_llc: of.domains.llc_size,
            nr_idle_scan_asym: self.cpus.len() as u32,
            ..PlaceCpu::default()
        };
        for level in 0..of.domains.levels.len().min(row.domains.len()) {
            row.domains[level] = self.domain(cpu, level);
            row.nr_domains += 1;
        }
        row
    }

    /// CPUs of a CPU's cache, one bit each.
    pub(crate) fn cache_of(&self, cpu: usize) -> u64 {
        let own = self.cpus[cpu].domains.llc;
        let same = |(_, of): &(usize, &MachineCpu)| of.domains.llc == own;
        self.cpus.iter().enumerate().filter(same).fold(0, |all, (at, _)| all | 1 << at)
    }

    /// Performance domains, and their states one after the other.
    pub(crate) fn perf_domains(&self) -> (Vec<PerfDomain>, Vec<EmState>) {
        let (mut domains, mut states) = (Vec::new(), Vec::new());
        for domain in &self.energy {
            let (first_state, nr_states) = (states.len() as u32, domain.states.len() as u32);
            let (min_state, max_state) = domain.allowed;
            domains.push(PerfDomain { cpus: domain.cpus, first_state, nr_states, min_state, max_state });
            // The kernel makes a state of each frequency.
            let khz = self.cpus.get(domain.cpus.trailing_zeros() as usize).map(|cpu| &cpu.khz);
            let khz = khz.filter(|khz| khz.len() == domain.states.len());
            let state = |(at, ((performance, cost), inefficient)): (usize, (&(u64, u64), &bool))| EmState {
                performance: *performance,
                cost: *cost,
                inefficient: u32::from(*inefficient),
                freq_khz: khz.map_or(0, |khz| khz[at]),
                ..EmState::default()
            };
            states.extend(domain.states.iter().zip(&domain.inefficient).enumerate().map(state));
        }
        (domains, states)
    }
}

impl EnergyDomain {
    /// A domain as `struct place_perf_domain` has it.
    fn of(words: &[u64]) -> EnergyDomain {
        let n = (words[1] as usize).min(PERF_STATES_MAX);
        let list = |at: usize| &words[5 + at * PERF_STATES_MAX..][..n];
        EnergyDomain {
            cpus: words[0],
            states: list(0).iter().copied().zip(list(1).iter().copied()).collect(),
            inefficient: list(2).iter().map(|flags| flags & STATE_INEFFICIENT != 0).collect(),
            allowed: (words[2] as u32, words[3] as u32),
        }
    }
}

/// Has the kernel describe its domains and its energy model, at the next switch of a task.
fn kernel_words(cpus: u32) -> Result<Vec<u64>, LiveError> {
    let object = load(cpus, &|name| name == "place_describe")?;
    let links = attach(&object)?;
    for _ in 0..DESCRIBE_LOOKS {
        std::thread::park_timeout(DESCRIBE_EVERY);
        let (_, words) = globals(&object)?;
        if words.first().is_some_and(|cpus| *cpus > 0) {
            drop(links);
            return Ok(words);
        }
    }
    Err(refused("describe its scheduling domains", "no task was switched to"))
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Linux {}, {} CPUs, tick {} us", self.release, self.cpus.len(), self.tick_ns / 1000)?;
        let mut seen = 0u64;
        for (cpu, of) in self.cpus.iter().take(CPUS_MAX).enumerate() {
            if seen >> cpu & 1 == 1 {
                continue;
            }
            let group = if of.limits_khz.1 == 0 { 1 << cpu } else { of.domain };
            seen |= group;
            write!(f, "  CPU {}: capacity {}", numbers(group), of.capacity)?;
            match of.limits_khz {
                (least, most) if most > 0 => writeln!(
                    f,
                    ", {} to {} MHz{}, {} by {}",
                    least / 1000,
                    most / 1000,
                    if of.khz.is_empty() { String::new() } else { format!(" in {} steps", of.khz.len()) },
                    of.governor.as_deref().unwrap_or("?"),
                    of.driver.as_deref().unwrap_or("?")
                )?,
                _ => writeln!(f, ", no cpufreq")?,
            }
        }
        let energy = if self.is_energy_aware() { "yes" } else { "no" };
        writeln!(
            f,
            "  placement by energy: {energy}; the kernel's clamps: {}",
            if self.has_clamps { "yes" } else { "no" }
        )
    }
}

/// Numbers of CPUs, ranges written as such.
fn numbers(cpus: u64) -> String {
    let mut parts = Vec::new();
    let mut cpu = 0;
    while cpu < 64 {
        if cpus >> cpu & 1 == 0 {
            cpu += 1;
            continue;
        }
        let first = cpu;
        while cpu + 1 < 64 && cpus >> (cpu + 1) & 1 == 1 {
            cpu += 1;
        }
        parts.push(if first == cpu { format!("{cpu}") } else { format!("{first}-{cpu}") });
        cpu += 1;
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    /// Four small and two large CPUs.
    fn board(root: &Path) -> Machine {
        put(root, "sys/devices/system/cpu/present", "0-5\n");
        for cpu in 0..6 {
            let (cpus, capacity, khz) =
                if cpu < 4 { ("0 1 2 3", 446, "800000 400000") } else { ("4 5", 1024, "600000") };
            let at = |file: &str| format!("sys/devices/system/cpu/cpu{cpu}/{file}");
            put(root, &at("cpu_capacity"), &capacity.to_string());
            put(root, &at("cpufreq/scaling_available_frequencies"), khz);
            put(root, &at("cpufreq/affected_cpus"), cpus);
            put(root, &at("cpufreq/scaling_governor"), "schedutil\n");
            put(root, &at("topology/thread_siblings_list"), &cpu.to_string());
        }
        Machine::at(root)
    }

    /// The board as its kernel describes it: a cluster each, and one cache.
    fn told() -> Vec<u64> {
        let mut words = vec![0; MachineWords::LENGTH];
        words[..6].copy_from_slice(&[6, 1, 0, 0, 1, 2]);
        for cpu in 0..6 {
            let own = if cpu < 4 { 0xf } else { 0x30 };
            let domains = [0, 6, 0, 1, 1, 2, own, 0x1200, 117, 0, 0, 0x3f, 0x60, 117, 0, 1];
            words[6 + cpu * 36..][..domains.len()].copy_from_slice(&domains);
        }
        let energy = 6 + 64 * 36;
        words[energy..energy + 7].copy_from_slice(&[0xf, 2, 0, 1, 0, 223, 446]);
        words[energy + 37..energy + 39].copy_from_slice(&[100, 200]);
        words[energy + 69] = 1;
        words[energy + 101..energy + 107].copy_from_slice(&[0x30, 1, 0, 0, 0, 1024]);
        words
    }

    #[test]
    fn a_board_is_read_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let machine = board(folder.path());
        assert!(machine.is_asymmetric() && !machine.is_energy_aware() && !machine.has_sched_ext);
        assert_eq!((machine.cpus[5].domain, machine.cpus[1].domain), (0x30, 0xf));
        assert_eq!(machine.cpus[2].khz, [400_000, 800_000]);
        let text = machine.to_string();
        assert!(text.contains("CPU 0-3: capacity 446, 400 to 800 MHz in 2 steps"), "{text}");
    }

    #[test]
    fn domains_and_energy_are_the_kernels() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut machine = board(folder.path());
        machine.take(&told(), &[]).expect("whole");
        let row = machine.row(4);
        assert_eq!((row.nr_domains, row.domains[0].span, row.domains[1].span), (2, 0x30, 0x3f));
        assert_eq!((row.llc_domain, row.asym_domain, machine.cache_of(4)), (1, 1, 0x3f));
        assert_eq!((row.domains[1].group_capacity, row.domains[0].group_capacity), (2048, 1024));
        let (domains, states) = machine.perf_domains();
        assert!(machine.is_energy_aware() && domains[1].first_state == 2 && states.len() == 3);
        assert_eq!((states[0].cost, states[0].inefficient, states[1].performance), (100, 1, 446));
        assert!(machine.take(&told()[..100], &[]).is_err(), "cut off");
    }

    #[test]
    fn a_machine_without_files_has_one_cpu_and_takes_no_targets() {
        let folder = tempfile::tempdir().expect("a folder");
        let machine = Machine::at(folder.path());
        assert_eq!((machine.cpus.len(), machine.energy.len()), (1, 0));
        assert!(machine.without_targets().expect("a reason").contains("no cpufreq"));
        assert_eq!(bits("0-2,5 9-99999999"), 0x27 | (u64::MAX << 9));
    }
}
