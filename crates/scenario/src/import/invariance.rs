// SPDX-License-Identifier: GPL-2.0-or-later
//! From which kernel on a machine's signals are frequency-invariant (docs/rules/clock.md#frequency-invariance).

use super::draft::{Draft, Invariance};
use super::files::Files;

/// `X86_FEATURE_APERFMPERF` as `modalias` prints it.
const APERFMPERF: &str = "007C";

/// Frequency drivers that x86 alone has, by their beginning.
const X86_DRIVERS: [&str; 8] =
    ["intel", "amd", "acpi-cpufreq", "pcc-cpufreq", "powernow", "p4-clockmod", "speedstep", "longrun"];

/// Instruction sets as far as they matter here.
fn kind(files: &Files, cpus: &[u32]) -> Option<&'static str> {
    let modalias = files.value("cpu/modalias").unwrap_or_default();
    let first = cpus.first().copied().unwrap_or(0);
    let has = |name: &str| files.has(&format!("cpu/cpu{first}/{name}"));
    let driver = files.value(&format!("cpu/cpu{first}/cpufreq/scaling_driver"));
    let driver =
        driver.or_else(|| files.value(&format!("cpu/cpufreq/policy{first}/scaling_driver"))).unwrap_or_default();
    match () {
        () if modalias.contains("type:x86") => Some("x86"),
        () if modalias.contains("type:aarch64") => Some("arm64"),
        () if driver.starts_with("powernv") || has("purr") || has("dscr") || files.has("cpu/dscr_default") => {
            Some("POWER")
        }
        () if has("polarization") || files.has("cpu/dispatching") => Some("s390"),
        () if X86_DRIVERS.iter().any(|name| driver.starts_with(name)) => Some("x86"),
        () if files.has("cpu/microcode") || files.has("cpu/intel_pstate") || files.has("cpu/amd_pstate") => Some("x86"),
        () => None,
    }
}

/// Name of the instruction set in a platform file.
pub fn arch(files: &Files, cpus: &[u32]) -> Option<&'static str> {
    kind(files, cpus).filter(|kind| ["x86", "arm64"].contains(kind))
}

/// Fills when the machine is invariant, and says what that rests on.
pub fn read(files: &Files, cpus: &[u32], draft: &mut Draft) {
    match kind(files, cpus) {
        Some("x86") => x86(files, cpus, draft),
        Some(kind @ ("POWER" | "s390")) => {
            draft.freq_invariant = Some(Invariance::Never);
            draft.assume(format!(
                "{kind}: the kernel never tells its scheduler the frequency there (no arch_scale_freq_capacity)"
            ));
        }
        _ => {}
    }
}

/// Maker of an x86 CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    Intel,
    Amd,
    Other,
    Unknown,
}

fn maker(files: &Files, draft: &Draft) -> Maker {
    let modalias = files.value("cpu/modalias").unwrap_or_default();
    // `X86_VENDOR_INTEL` is 0, `X86_VENDOR_AMD` 2.
    match modalias.split_once("ven").map(|(_, rest)| rest.get(..4).unwrap_or(rest)) {
        Some("0000") => return Maker::Intel,
        Some("0002") => return Maker::Amd,
        Some(_) => return Maker::Other,
        None => {}
    }
    let driver = draft.driver.as_deref().unwrap_or("");
    let has_cpb = draft.domains.iter().filter_map(|domain| domain.cpus.first());
    let has_cpb = has_cpb.into_iter().any(|cpu| {
        files.has(&format!("cpu/cpu{cpu}/cpufreq/cpb")) || files.has(&format!("cpu/cpufreq/policy{cpu}/cpb"))
    });
    if driver.starts_with("intel") || driver.starts_with("speedstep") || files.has("cpu/intel_pstate") {
        Maker::Intel
    } else if driver.starts_with("amd") || driver.starts_with("powernow") || files.has("cpu/amd_pstate") || has_cpb {
        Maker::Amd
    } else {
        Maker::Unknown
    }
}

fn x86(files: &Files, cpus: &[u32], draft: &mut Draft) {
    let modalias = files.value("cpu/modalias").unwrap_or_default();
    let lacks_counters =
        modalias.split_once("feature:").is_some_and(|(_, all)| !all.split(',').any(|f| f == APERFMPERF));
    let has_cppc = cpus.iter().any(|cpu| files.has_folder(&format!("cpu/cpu{cpu}/acpi_cppc")))
        || draft.driver.as_deref().is_some_and(|driver| driver.starts_with("amd"));
    let (when, why) = match maker(files, draft) {
        _ if lacks_counters => (Invariance::Never, "its CPUs do not count APERF and MPERF (modalias)"),
        Maker::Intel => (Invariance::Since("5.7"), "Intel's CPUs are from 5.7 on"),
        Maker::Amd if has_cppc => (Invariance::Since("5.11"), "AMD's CPUs with acpi_cppc are from 5.11 on"),
        Maker::Amd => (Invariance::Never, "AMD's CPUs without acpi_cppc are in no kernel"),
        Maker::Other => (Invariance::Never, "its CPUs are neither Intel's nor AMD's"),
        Maker::Unknown => (
            Invariance::Since("5.7"),
            "the CPUs' maker is not in this source, Intel is assumed: from 5.7 on. AMD's are from 5.11 on with acpi_cppc, else never",
        ),
    };
    draft.freq_invariant = Some(when);
    draft.assume(format!("frequency invariance: {why} ({})", when.words()));
    draft.assume(
        "the frequency at which signals are 1024 (turbo of several cores) is not in sysfs: the highest is taken",
    );
}
