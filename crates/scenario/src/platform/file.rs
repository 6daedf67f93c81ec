// SPDX-License-Identifier: GPL-2.0-or-later
//! A platform file as it was written: typed, with places, nothing filled in.

use std::ops::Range;

use super::keys::PLATFORM;
use super::rules;
use super::thermal::{self, ZoneRow};
use crate::diagnostic::{Diagnostics, SourceFile};
use crate::tree::{At, Reader, check, parse};

/// Instruction set, as far as conventions depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch {
    /// 32- or 64-bit Arm.
    Arm,
    /// x86.
    X86,
}

/// A checked platform file.
#[derive(Clone, Debug)]
pub struct PlatformFile {
    /// The text.
    pub source: SourceFile,
    /// Short name.
    pub name: At<String>,
    /// One line for people.
    pub title: String,
    /// The chip.
    pub soc: String,
    /// Sort of device.
    pub kind: String,
    /// Instruction set.
    pub arch: Arch,
    /// Sources that hold for the whole file.
    pub provenance: Vec<(String, String)>,
    /// Remarks.
    pub notes: Vec<(String, String)>,
    /// The frequency driver.
    pub cpufreq: Cpufreq,
    /// Hardware that CPUs share.
    pub topology: Topology,
    /// Name and ns of each cost given.
    pub costs: Vec<(&'static str, At<u64>)>,
    /// Table to take power from, when one is named.
    pub energy_table: Option<At<String>>,
    /// Power of a cluster that is awake, mW.
    pub cluster_active_mw: Option<At<f64>>,
    /// Power of what else the board's meter sees, mW.
    pub rest_mw: Option<At<f64>>,
    /// Domains in the order of the file.
    pub domains: Vec<Domain>,
    /// Published tables.
    pub energy_tables: Vec<EnergyTable>,
    /// Thermal zones.
    pub thermal_zones: Vec<ZoneRow>,
    /// Entries that are suspicious without being wrong.
    pub warnings: Diagnostics,
}

/// `[cpufreq]`.
#[derive(Clone, Debug, Default)]
pub struct Cpufreq {
    /// Name of the driver.
    pub driver: Option<At<String>>,
    /// See the reference page for all of these.
    pub fast_switch: Option<At<bool>>,
    /// Reported latency.
    pub transition_latency_ns: Option<At<u64>>,
    /// Spacing the driver asks for.
    pub transition_delay_us: Option<At<u64>>,
    /// Real time of a driver call.
    pub switch_time_us: Option<At<f64>>,
    /// Time between two looks of the firmware.
    pub firmware_poll_us: Option<At<u64>>,
    /// Time from a tick to such a look.
    pub firmware_after_tick_us: Option<At<u64>>,
    /// Time from such a look until the clock rises.
    pub firmware_raise_us: Option<At<u64>>,
    /// The driver call waits asleep.
    pub driver_sleeps: Option<At<bool>>,
    /// Rate limit of the device's user space.
    pub rate_limit_us: Option<At<u64>>,
    /// The driver may be called on any CPU.
    pub dvfs_from_any_cpu: Option<At<bool>>,
    /// The scheduler knows the frequency.
    pub freq_invariant: Option<At<bool>>,
    /// Kernel version from which it is.
    pub freq_invariant_since: Option<At<String>>,
    /// The driver has a list of frequencies.
    pub frequency_table: Option<At<bool>>,
    /// The driver wants every change of limits.
    pub every_limit_change: Option<At<bool>>,
    /// Nothing is behind the frequencies.
    pub emulated: Option<At<bool>>,
}

/// Groups of CPU numbers with their place.
pub type Groups = Vec<At<Vec<At<u32>>>>;

/// `[topology]`.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Threads of one core.
    pub smt: Groups,
    /// Work of the busy threads of a core, relative to one.
    pub smt_throughput: Option<At<f64>>,
    /// Waking an idle CPU takes no interrupt.
    pub idle_watches_flag: Option<At<bool>>,
    /// All CPUs of a cluster run at the highest of their requests.
    pub one_clock: Option<At<bool>>,
    /// CPUs execute one after another.
    pub one_at_a_time: Option<At<bool>>,
    /// Power-down clusters.
    pub clusters: Groups,
    /// Last-level caches.
    pub llc: Groups,
    /// Memory nodes.
    pub nodes: Groups,
    /// Distances between them, a row each.
    pub node_distances: Groups,
}

/// `[[perf_domain]]`.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Place of the table in the file.
    pub span: Range<usize>,
    /// Name.
    pub id: At<String>,
    /// CPUs.
    pub cpus: Vec<At<u32>>,
    /// Kind of CPU.
    pub core: String,
    /// Capacity at the highest frequency.
    pub capacity: Option<At<u32>>,
    /// Device tree figure behind the capacity.
    pub capacity_dmips_mhz: Option<At<u64>>,
    /// Device tree figure behind the power.
    pub dynamic_power_coefficient: Option<At<u64>>,
    /// Each CPU has its own frequency.
    pub per_cpu_policy: bool,
    /// Operating points, and where the list is.
    pub opps: Vec<OppRow>,
    /// Place of the list in the file.
    pub opps_span: Option<Range<usize>>,
    /// Grid: lowest, guaranteed and highest frequency, step.
    pub khz_min: Option<At<u32>>,
    /// Guaranteed frequency.
    pub khz_base: Option<At<u32>>,
    /// Highest frequency.
    pub khz_max_turbo: Option<At<u32>>,
    /// Step.
    pub khz_step: Option<At<u32>>,
    /// Highest frequency by number of active cores.
    pub turbo_khz: Vec<At<u32>>,
    /// Frequency at which invariant signals reach 1024.
    pub scale_khz: Option<At<u32>>,
    /// Power as a formula.
    pub power_model: Option<At<PowerModel>>,
    /// Quality of the power figures.
    pub quality: Option<At<String>>,
    /// Power of what is idle while its rail stays on.
    pub idle_power: Option<IdlePower>,
    /// Idle states below state 0.
    pub idle_states: Vec<IdleRow>,
}

/// One row of `opps`.
#[derive(Clone, Debug)]
pub struct OppRow {
    /// Frequency.
    pub khz: At<u32>,
    /// Voltage.
    pub uv: Option<At<u32>>,
    /// Power of one busy CPU.
    pub power_mw: Option<At<f64>>,
    /// Power of the cluster's shared part.
    pub cluster_power: Option<At<f64>>,
    /// Published capacity.
    pub capacity: Option<At<u32>>,
    /// The kernel's Energy Model passes over it.
    pub inefficient: Option<At<bool>>,
}

/// `[perf_domain.power_model]`.
#[derive(Clone, Debug)]
pub struct PowerModel {
    /// Power of one busy CPU at `khz`.
    pub busy_mw: f64,
    /// Frequency of the above.
    pub khz: u32,
    /// Voltage at `khz`.
    pub uv: u32,
    /// Lower frequency.
    pub khz_low: At<u32>,
    /// Voltage there.
    pub uv_low: u32,
}

/// `[perf_domain.idle_power]`.
#[derive(Clone, Debug)]
pub struct IdlePower {
    /// One CPU in state 0.
    pub wfi_mw: f64,
    /// The part that the CPUs share, while it is on.
    pub cluster_mw: Option<At<f64>>,
    /// Operating point at which both hold.
    pub khz: At<u32>,
    /// Degree to which the figures can be trusted.
    pub quality: String,
    /// Source of the figures.
    pub source: String,
}

/// Parts that an idle state switches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// Nothing: the rail stays on.
    Nothing,
    /// The CPU.
    Cpu,
    /// The CPU, and what the cluster shares when all of its CPUs are in such states.
    Cluster,
}

/// `[[perf_domain.idle_state]]`.
#[derive(Clone, Debug)]
pub struct IdleRow {
    /// Place of the table in the file.
    pub span: Range<usize>,
    /// Name.
    pub name: At<String>,
    /// Time to enter.
    pub entry_latency_us: u64,
    /// Time to leave.
    pub exit_latency_us: At<u64>,
    /// Time to leave that grows with the frequency.
    pub exit_ns_per_ghz: u64,
    /// Worst time from event to execution.
    pub wakeup_latency_us: Option<At<u64>>,
    /// Shortest stay that pays.
    pub min_residency_us: At<u64>,
    /// Power of one CPU.
    pub power_mw: Option<At<f64>>,
    /// Only all CPUs of a cluster together can be in it.
    pub shared: bool,
    /// Parts that the state switches off.
    pub off: Off,
}

/// `[[energy_table]]`.
#[derive(Clone, Debug)]
pub struct EnergyTable {
    /// Name.
    pub name: At<String>,
    /// Quality of its figures.
    pub quality: String,
    /// Publication that printed the table.
    pub source: String,
    /// Unit of the column `power`.
    pub unit: String,
    /// Remarks.
    pub note: String,
    /// Rows.
    pub rows: Vec<EnergyRow>,
}

/// One row of an energy table.
#[derive(Clone, Debug)]
pub struct EnergyRow {
    /// Place of the row in the file.
    pub span: Range<usize>,
    /// Domain it is about.
    pub domain: Option<At<String>>,
    /// The shared part of the cluster rather than one CPU.
    pub cluster_level: bool,
    /// Frequency.
    pub khz: Option<At<u32>>,
    /// Idle state by name.
    pub idle: Option<At<String>>,
    /// True when the row says what it is about in another way (`idle_index`, `idle_costs`).
    pub other_subject: bool,
    /// Busy CPUs.
    pub busy_cpus: u32,
    /// Power of one CPU (or of the shared part) in microwatts, when a column has that unit.
    pub power_uw: Option<f64>,
    /// Power of one CPU (or of the shared part) in the table's unit.
    pub power_own: Option<f64>,
    /// Power of the shared part in the table's unit, when the row has both.
    pub cluster_own: Option<f64>,
    /// Power of one CPU in idle state 0, uW.
    pub idle0: Option<f64>,
    /// In deeper ones.
    pub idle1: Option<f64>,
    /// Power of what the CPUs share while it is on, uW.
    pub static_uw: Option<f64>,
    /// Other domain on the supply.
    pub other: Option<At<String>>,
    /// Its frequency.
    pub other_khz: Option<At<u32>>,
    /// Operating point at which the figure of an idle state holds.
    pub at_khz: Option<At<u32>>,
}

impl EnergyRow {
    /// Thousandths of the figure, whatever its unit.
    fn own_uw(&self) -> Option<f64> {
        self.power_uw.or(self.power_own.map(|p| p * 1000.0))
    }

    /// Power of one CPU, in microwatts or thousandths of the table's unit.
    pub(super) fn core_uw(&self) -> Option<f64> {
        if self.cluster_level { None } else { self.own_uw() }
    }

    /// Power of the shared part.
    pub(super) fn shared_uw(&self) -> Option<f64> {
        if self.cluster_level { self.own_uw() } else { self.static_uw.or(self.cluster_own.map(|p| p * 1000.0)) }
    }

    /// Power of one CPU in idle state 0.
    pub(super) fn idle0_uw(&self) -> Option<f64> {
        self.idle0
    }

    /// Power of one CPU in deeper states.
    pub(super) fn idle1_uw(&self) -> Option<f64> {
        self.idle1
    }
}

impl Domain {
    /// True when a table's row about `name` is about this domain: the same id, or the id without its number
    /// (`big` speaks of `big0` and `big1`).
    pub fn is_called(&self, name: &str) -> bool {
        self.id.value == name
            || (!name.is_empty() && self.id.value.trim_end_matches(|c: char| c.is_ascii_digit()) == name)
    }
}

impl PlatformFile {
    /// Reads a platform from text.
    pub fn parse(source: &SourceFile) -> Result<Self, Diagnostics> {
        let document = parse(source)?;
        let form = check(&document, &PLATFORM);
        if form.has_errors() {
            return Err(form);
        }
        let mut file = read(source, Reader::new(document.root.get_ref()));
        let found = rules::check(&file);
        file.warnings = found.clone();
        found.or(file)
    }
}

fn read(source: &SourceFile, root: Reader<'_>) -> PlatformFile {
    let text = |key: &str| root.text(key).map_or_else(String::new, |t| t.value);
    let notes = |key: &str| root.table(key).map_or_else(Vec::new, |t| t.notes());
    let cpufreq = root.table("cpufreq").map(cpufreq).unwrap_or_default();
    let power = root.table("power");
    PlatformFile {
        source: source.clone(),
        name: root.text("name").unwrap_or(At { value: String::new(), span: 0..0 }),
        title: text("title"),
        soc: text("soc"),
        kind: text("kind"),
        arch: arch(&text("arch"), &cpufreq),
        provenance: notes("provenance"),
        notes: notes("note"),
        topology: root.table("topology").map(topology).unwrap_or_default(),
        costs: root.table("costs").map(costs).unwrap_or_default(),
        energy_table: power.and_then(|p| p.text("energy_table")),
        cluster_active_mw: power.and_then(|p| p.real("cluster_active_mw")),
        rest_mw: power.and_then(|p| p.real("rest_mw")),
        domains: root.tables("perf_domain").into_iter().filter_map(domain).collect(),
        energy_tables: root.tables("energy_table").into_iter().filter_map(|t| energy_table(t.value)).collect(),
        thermal_zones: root.tables("thermal_zone").into_iter().filter_map(thermal::zone).collect(),
        cpufreq,
        warnings: Diagnostics::new(),
    }
}

fn arch(word: &str, cpufreq: &Cpufreq) -> Arch {
    let driver = cpufreq.driver.as_ref().map_or("", |d| &d.value);
    match word {
        "x86" => Arch::X86,
        "" if ["intel", "amd", "acpi"].iter().any(|vendor| driver.starts_with(vendor)) => Arch::X86,
        _ => Arch::Arm,
    }
}

fn cpufreq(table: Reader<'_>) -> Cpufreq {
    Cpufreq {
        driver: table.text("driver"),
        fast_switch: table.flag("fast_switch"),
        transition_latency_ns: table.int("transition_latency_ns"),
        transition_delay_us: table.int("transition_delay_us"),
        switch_time_us: table.real("switch_time_us"),
        firmware_poll_us: table.int("firmware_poll_us"),
        firmware_after_tick_us: table.int("firmware_after_tick_us"),
        firmware_raise_us: table.int("firmware_raise_us"),
        driver_sleeps: table.flag("driver_sleeps"),
        rate_limit_us: table.int("rate_limit_us"),
        dvfs_from_any_cpu: table.flag("dvfs_from_any_cpu"),
        freq_invariant: table.flag("freq_invariant"),
        freq_invariant_since: table.text("freq_invariant_since"),
        frequency_table: table.flag("frequency_table"),
        every_limit_change: table.flag("every_limit_change"),
        emulated: table.flag("emulated"),
    }
}

fn topology(table: Reader<'_>) -> Topology {
    Topology {
        smt: table.groups("smt"),
        smt_throughput: table.real("smt_throughput"),
        idle_watches_flag: table.flag("idle_watches_flag"),
        one_clock: table.flag("one_clock"),
        one_at_a_time: table.flag("one_at_a_time"),
        clusters: table.groups("clusters"),
        llc: table.groups("llc"),
        nodes: table.groups("nodes"),
        node_distances: table.groups("node_distances"),
    }
}

fn costs(table: Reader<'_>) -> Vec<(&'static str, At<u64>)> {
    let names = [
        "context_switch_ns",
        "wakeup_ns",
        "tick_ns",
        "hook_ns",
        "vote_ns",
        "boost_ns",
        "register_write_ns",
        "migration_ns",
        "ipi_ns",
        "idle_entry_ns",
        "idle_exit_ns",
        "blocked_walk_ns",
        "blocked_queue_ns",
        "hook_cpu_ns",
        "balance_cpu_ns",
        "place_energy_ns",
        "scan_cpu_ns",
    ];
    names.into_iter().filter_map(|name| Some((name, table.int(name)?))).collect()
}

fn domain(at: At<Reader<'_>>) -> Option<Domain> {
    let table = at.value;
    Some(Domain {
        span: at.span,
        id: table.text("id")?,
        cpus: table.ints("cpus"),
        core: table.text("core").map_or_else(String::new, |t| t.value),
        capacity: table.int("capacity"),
        capacity_dmips_mhz: table.int("capacity_dmips_mhz"),
        dynamic_power_coefficient: table.int("dynamic_power_coefficient"),
        per_cpu_policy: table.flag("per_cpu_policy").is_some_and(|f| f.value),
        opps: table.tables("opps").into_iter().filter_map(|row| opp(row.value)).collect(),
        opps_span: table.key_span("opps"),
        khz_min: table.int("khz_min"),
        khz_base: table.int("khz_base"),
        khz_max_turbo: table.int("khz_max_turbo"),
        khz_step: table.int("khz_step"),
        turbo_khz: table.ints("turbo_khz_by_active_cores"),
        scale_khz: table.int("scale_khz"),
        power_model: table.table("power_model").and_then(power_model),
        quality: table.text("quality"),
        idle_power: table.table("idle_power").and_then(idle_power),
        idle_states: table.tables("idle_state").into_iter().filter_map(idle_state).collect(),
    })
}

fn opp(row: Reader<'_>) -> Option<OppRow> {
    Some(OppRow {
        khz: row.int("khz")?,
        uv: row.int("uv"),
        power_mw: row.real("power_mw"),
        cluster_power: row.real("cluster_power"),
        capacity: row.int("capacity"),
        inefficient: row.flag("inefficient"),
    })
}

fn power_model(table: Reader<'_>) -> Option<At<PowerModel>> {
    let busy = table.real("busy_mw")?;
    let value = PowerModel {
        busy_mw: busy.value,
        khz: table.int("khz")?.value,
        uv: table.int("uv")?.value,
        khz_low: table.int("khz_low")?,
        uv_low: table.int("uv_low")?.value,
    };
    Some(At { value, span: busy.span })
}

fn idle_power(table: Reader<'_>) -> Option<IdlePower> {
    let text = |key: &str| table.text(key).map_or_else(String::new, |t| t.value);
    Some(IdlePower {
        wfi_mw: table.real("wfi_mw")?.value,
        cluster_mw: table.real("cluster_mw"),
        khz: table.int("khz")?,
        quality: text("quality"),
        source: text("source"),
    })
}

fn off(word: &str) -> Off {
    match word {
        "nothing" => Off::Nothing,
        "cluster" => Off::Cluster,
        _ => Off::Cpu,
    }
}

fn idle_state(at: At<Reader<'_>>) -> Option<IdleRow> {
    let table = at.value;
    Some(IdleRow {
        span: at.span,
        name: table.text("name")?,
        entry_latency_us: table.int("entry_latency_us").map_or(0, |l| l.value),
        exit_latency_us: table.int("exit_latency_us")?,
        exit_ns_per_ghz: table.int("exit_ns_per_ghz").map_or(0, |l| l.value),
        wakeup_latency_us: table.int("wakeup_latency_us"),
        min_residency_us: table.int("min_residency_us")?,
        power_mw: table.real("power_mw"),
        shared: table.text("scope").is_some_and(|scope| scope.value == "power-domain"),
        off: off(table.text("off").as_ref().map_or("", |off| &off.value)),
    })
}

fn energy_table(table: Reader<'_>) -> Option<EnergyTable> {
    let text = |key: &str| table.text(key).map_or_else(String::new, |t| t.value);
    Some(EnergyTable {
        name: table.text("name")?,
        quality: text("quality"),
        source: text("source"),
        unit: text("unit"),
        note: text("note"),
        rows: table.tables("rows").into_iter().map(energy_row).collect(),
    })
}

fn energy_row(at: At<Reader<'_>>) -> EnergyRow {
    let row = at.value;
    let real = |key: &str| row.real(key).map(|r| r.value);
    let milliwatts = real("power_mw").or_else(|| real("active_mw"));
    let shared_mw = real("static_mw").map(|mw| mw + real("interconnect_mw").unwrap_or(0.0));
    EnergyRow {
        span: at.span,
        domain: row.text("domain"),
        cluster_level: row.text("level").is_some_and(|l| l.value == "cluster"),
        khz: row.int("khz"),
        idle: row.text("idle"),
        other_subject: row.key_span("idle_index").or_else(|| row.key_span("idle_costs")).is_some(),
        busy_cpus: row.int("busy_cpus").map_or(1, |n| n.value),
        power_uw: real("power_uw").or_else(|| milliwatts.map(|mw| mw * 1000.0)),
        power_own: real("power").or_else(|| real("core")),
        cluster_own: real("cluster"),
        idle0: real("idle0_mw").map(|mw| mw * 1000.0),
        idle1: real("idle1_mw").map(|mw| mw * 1000.0),
        static_uw: shared_mw.map(|mw| mw * 1000.0),
        other: row.text("other"),
        other_khz: row.int("other_khz"),
        at_khz: row.int("at_khz"),
    }
}
