// SPDX-License-Identifier: GPL-2.0-or-later
//! Capabilities of this machine, and the facts about it that the reader of a recording must know.

use std::path::{Path, PathBuf};

use pelton_trace::{CpuLayout, DomainLayout, RunHeader};

/// File in which the kernel keeps its type information.
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// Bits of the effective capability set.
const CAP_SYS_ADMIN: u64 = 1 << 21;
const CAP_PERFMON: u64 = 1 << 38;
const CAP_BPF: u64 = 1 << 39;

/// Facts about this machine that decide whether it can record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Kernel release.
    pub release: String,
    /// Effective capabilities of this process.
    pub effective: u64,
    /// The kernel's type information.
    pub btf: PathBuf,
}

impl Capabilities {
    /// Those of this process on this machine; `btf` replaces the place of the type information (for tests).
    pub fn here(btf: Option<&Path>) -> Capabilities {
        let status = read("/proc/self/status");
        let set = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap_or("0");
        Capabilities {
            release: read(RELEASE),
            effective: u64::from_str_radix(set.trim(), 16).unwrap_or(0),
            btf: btf.map_or_else(|| PathBuf::from(BTF), Path::to_path_buf),
        }
    }

    /// Requirements that are not met and how to meet them, one sentence each; empty when a recording can be tried.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let may_load =
            self.effective & CAP_SYS_ADMIN != 0 || self.effective & (CAP_BPF | CAP_PERFMON) == CAP_BPF | CAP_PERFMON;
        if !may_load {
            missing.push(
                "the right to load BPF programs: run as root, or give this program CAP_BPF and CAP_PERFMON \
                 (setcap cap_bpf,cap_perfmon=ep)"
                    .to_owned(),
            );
        }
        if std::fs::File::open(&self.btf).is_err() {
            missing.push(format!(
                "the kernel's type information {}: use a kernel built with CONFIG_DEBUG_INFO_BTF=y (those of current \
                 distributions are)",
                self.btf.display()
            ));
        }
        missing
    }
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// Number of CPUs that the kernel can have; buffers are numbered by CPU.
pub(crate) fn cpus_possible() -> u32 {
    let list = read("/sys/devices/system/cpu/possible");
    let last = list.rsplit([',', '-']).next().and_then(|n| n.parse::<u32>().ok());
    last.map_or(1, |last| last.min(8191) + 1)
}

/// Memory for the buffers of all CPUs when nothing else is asked for, MiB.
const BUFFERS_MIB: u32 = 512;

/// Buffer of each CPU unless another one is asked for, MiB.
pub fn buffer_mib_default() -> u32 {
    (BUFFERS_MIB / cpus_possible()).clamp(4, 32)
}

/// Nice value of the thread that empties the buffers of a recording.
pub const READER_NICE: i32 = -20;

/// Sets the nice value of the calling thread.
///
/// # Errors
/// When the kernel does not allow it.
pub fn set_nice(nice: i32) -> std::io::Result<()> {
    // SAFETY: no memory is passed; 0 is the calling thread.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } == 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error())
}

/// Capabilities of the calling thread, as `capset` takes them (`struct __user_cap_data_struct`, twice).
#[repr(C)]
struct CapabilitySets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Gives up every capability of the calling thread but those that load programs and raise its priority.
///
/// # Errors
/// When the kernel refuses.
pub fn drop_privileges() -> std::io::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    const CAP_SYS_NICE: u64 = 1 << 23;
    let keep = (CAP_BPF | CAP_PERFMON | CAP_SYS_NICE) & Capabilities::here(None).effective;
    let half = |shift: u32| {
        let word = (keep >> shift) as u32;
        CapabilitySets { effective: word, permitted: word, inheritable: 0 }
    };
    let (header, sets) = ([VERSION_3, 0], [half(0), half(32)]);
    // SAFETY: header and sets are as version 3 has them, and live during the call; 0 is the calling thread.
    let code = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) };
    if code == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// File that holds the release of the kernel.
const RELEASE: &str = "/proc/sys/kernel/osrelease";

/// Release of the running kernel.
pub(crate) fn release() -> String {
    read(RELEASE)
}

/// Header of a recording's files: machine and kernel.
pub fn header(tool_version: &str, workload: &str) -> RunHeader {
    let (cpus, domains) = layout(cpus_possible());
    RunHeader {
        tool_version: tool_version.to_owned(),
        platform: format!("{} with {} CPUs", std::env::consts::ARCH, cpus.len()),
        workload: workload.to_owned(),
        kernel: release(),
        tasks: vec!["swapper".to_owned()],
        cpus,
        domains,
        remarks: remarks(),
        ..RunHeader::default()
    }
}

/// Capacities and frequency domains as the kernel shows them; without cpufreq one domain without frequencies.
fn layout(count: u32) -> (Vec<CpuLayout>, Vec<DomainLayout>) {
    let mut cpus = Vec::new();
    let mut domains: Vec<DomainLayout> = Vec::new();
    for cpu in 0..count {
        let folder = PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}"));
        let capacity = read(folder.join("cpu_capacity")).parse().unwrap_or(1024);
        let policy = std::fs::canonicalize(folder.join("cpufreq")).ok();
        let name = policy.as_deref().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| "none".to_owned());
        let domain = domains.iter().position(|d| d.name == name).unwrap_or_else(|| {
            domains.push(DomainLayout { name, opps_khz: policy.map(|p| frequencies(&p)).unwrap_or_default() });
            domains.len() - 1
        });
        cpus.push(CpuLayout { capacity, domain: domain as u32 });
    }
    (cpus, domains)
}

/// Number of CPUs in the frequency domain of each CPU; 0 without cpufreq.
pub(crate) fn domain_cpus() -> Vec<u32> {
    let (cpus, domains) = layout(cpus_possible());
    let has_cpufreq = |domain: u32| domains.get(domain as usize).is_some_and(|d| !d.opps_khz.is_empty());
    let size = |domain: u32| cpus.iter().filter(|cpu| cpu.domain == domain).count() as u32;
    cpus.iter().map(|cpu| if has_cpufreq(cpu.domain) { size(cpu.domain) } else { 0 }).collect()
}

fn frequencies(policy: &Path) -> Vec<u32> {
    let list = read(policy.join("scaling_available_frequencies"));
    let mut khz: Vec<u32> = list.split_whitespace().filter_map(|f| f.parse().ok()).collect();
    if khz.is_empty() {
        let limits = ["cpuinfo_min_freq", "cpuinfo_max_freq"].map(|name| read(policy.join(name)).parse::<u32>());
        khz.extend(limits.into_iter().flatten());
    }
    khz.sort_unstable();
    khz.dedup();
    khz
}

/// Facts that no event holds, as `name: value`.
fn remarks() -> Vec<String> {
    let mut remarks =
        vec![format!("kernel build: {}", read("/proc/sys/kernel/version")), "clock: CLOCK_MONOTONIC".to_owned()];
    remarks.extend(hz().map(|hz| format!("HZ: {hz}")));
    remarks.extend(hardware(Path::new("/sys/devices/system/cpu/cpu0")));
    for name in ["sched_autogroup_enabled", "sched_rt_runtime_us", "sched_rt_period_us"] {
        let value = read(Path::new("/proc/sys/kernel").join(name));
        if !value.is_empty() {
            remarks.push(format!("{name}: {value}"));
        }
    }
    remarks
}

/// Driver and idle states of a CPU, as far as the kernel shows them.
fn hardware(cpu: &Path) -> Vec<String> {
    let mut remarks = Vec::new();
    let facts = [
        ("driver", "scaling_driver"),
        ("governor", "scaling_governor"),
        ("transition latency ns", "cpuinfo_transition_latency"),
    ];
    for (name, file) in facts {
        let value = read(cpu.join("cpufreq").join(file));
        if !value.is_empty() {
            remarks.push(format!("cpufreq {name}: {value}"));
        }
    }
    for state in (0..16).map(|i| cpu.join(format!("cpuidle/state{i}"))).take_while(|state| state.is_dir()) {
        let [name, exit_us, residency_us] = ["name", "latency", "residency"].map(|file| read(state.join(file)));
        remarks.push(format!("idle state: {name}, exit {exit_us} us, residency {residency_us} us"));
    }
    remarks
}

/// Timer interrupts per second, where the kernel's configuration can be read as text.
fn hz() -> Option<u32> {
    let config = read(format!("/boot/config-{}", read(RELEASE)));
    config.lines().find_map(|line| line.strip_prefix("CONFIG_HZ=")).and_then(|hz| hz.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_rights_and_type_information_both_are_named() {
        let none = Capabilities { release: "x".into(), effective: 0, btf: "/nonexistent/btf".into() };
        let missing = none.missing();
        assert_eq!(missing.len(), 2, "{missing:?}");
        assert!(missing[0].contains("CAP_BPF") && missing[1].contains("CONFIG_DEBUG_INFO_BTF"), "{missing:?}");
    }

    #[test]
    fn two_capabilities_or_one_large_one_are_enough() {
        let with = |effective| Capabilities { release: "x".into(), effective, btf: "Cargo.toml".into() }.missing();
        assert!(with(CAP_SYS_ADMIN).is_empty());
        assert!(with(CAP_BPF | CAP_PERFMON).is_empty());
        assert_eq!(with(CAP_BPF).len(), 1);
    }

    #[test]
    fn the_layout_of_this_machine_is_consistent() {
        let header = header("0", "test");
        assert!(!header.cpus.is_empty());
        assert!(header.cpus.iter().all(|c| (c.domain as usize) < header.domains.len() && c.capacity <= 1024));
    }
}
