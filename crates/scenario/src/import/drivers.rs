// SPDX-License-Identifier: GPL-2.0-or-later
//! Properties of frequency drivers, by name: a list of frequencies, switches from the scheduler's own context, spacing
//! of changes. Read in drivers/cpufreq of Linux: `fast_switch_possible`, `freq_table` and `transition_delay_us` of each
//! driver's `init`, and its `struct cpufreq_driver`.

/// Switches from the scheduler's own context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fast {
    /// In every machine.
    Yes,
    /// In none.
    No,
    /// In machines where each CPU has a policy of its own.
    Alone,
    /// In some, by a fact that is not in sysfs.
    Unknown(&'static str),
}

/// A driver.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    /// Name in `scaling_driver`.
    pub name: &'static str,
    /// Has a list of frequencies.
    pub table: bool,
    /// See [`Fast`].
    pub fast: Fast,
    /// Step of the grid of frequencies that it takes without a list, kHz.
    pub step_khz: u32,
}

const fn listed(name: &'static str, fast: Fast) -> Driver {
    Driver { name, table: true, fast, step_khz: 100_000 }
}

/// Multiples of the bus clock, as Intel's ratios are.
const RATIO_KHZ: u32 = 100_000;
/// Step for drivers whose performance levels are known by nothing else.
const LEVEL_KHZ: u32 = 10_000;

/// Drivers that are known.
const DRIVERS: [Driver; 22] = [
    Driver { name: "intel_cpufreq", table: false, fast: Fast::Yes, step_khz: RATIO_KHZ },
    Driver { name: "intel_pstate", table: false, fast: Fast::Yes, step_khz: RATIO_KHZ },
    Driver { name: "amd-pstate", table: false, fast: AMD, step_khz: LEVEL_KHZ },
    Driver { name: "amd-pstate-epp", table: false, fast: AMD, step_khz: LEVEL_KHZ },
    Driver { name: "amd_pstate", table: false, fast: AMD, step_khz: LEVEL_KHZ },
    Driver { name: "amd_pstate_epp", table: false, fast: AMD, step_khz: LEVEL_KHZ },
    Driver { name: "cppc_cpufreq", table: false, fast: CPPC, step_khz: LEVEL_KHZ },
    listed("acpi-cpufreq", Fast::Alone),
    listed("apple-cpufreq", Fast::Yes),
    listed("mtk-cpufreq-hw", Fast::Yes),
    listed("powernv-cpufreq", Fast::Yes),
    listed("virtual-cpufreq", Fast::Yes),
    listed("qcom-cpufreq-hw", Fast::Unknown("it does where the device tree has no operating points")),
    listed("scmi", Fast::Unknown("it does where the firmware has fast channels")),
    listed("cpufreq-dt", Fast::No),
    listed("scpi-cpufreq", Fast::No),
    listed("vexpress-spc", Fast::No),
    listed("mtk-cpufreq", Fast::No),
    listed("imx6q-cpufreq", Fast::No),
    listed("powernow-k8", Fast::No),
    Driver { name: "pcc-cpufreq", table: false, fast: Fast::No, step_khz: LEVEL_KHZ },
    listed("tegra194", Fast::No),
];

const AMD: Fast = Fast::Unknown("it does where CPUs have registers for performance levels (CPPC)");
const CPPC: Fast = Fast::Unknown("it does from 5.18 on where the firmware's registers are memory");

/// The driver of a name.
pub fn by_name(name: &str) -> Option<Driver> {
    DRIVERS.into_iter().find(|driver| driver.name == name)
}

/// `INTEL_CPUFREQ_TRANSITION_LATENCY`.
pub const INTEL_LATENCY_NS: u64 = 20_000;
/// `INTEL_CPUFREQ_TRANSITION_DELAY_HWP`, `INTEL_CPUFREQ_TRANSITION_DELAY`.
pub const INTEL_DELAY_US: [u64; 2] = [5_000, 500];
/// `AMD_PSTATE_TRANSITION_LATENCY`.
pub const AMD_LATENCY_NS: u64 = 20_000;
/// `AMD_PSTATE_TRANSITION_DELAY`.
pub const AMD_DELAY_US: u64 = 1_000;
