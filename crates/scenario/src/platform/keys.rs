// SPDX-License-Identifier: GPL-2.0-or-later
//! Every key of a platform file: the one place that knows names, units, ranges and meanings.

use super::thermal::{HYSTERESIS_C_MAX, PASSIVE_MS_MAX, POLLING_MS_MAX, SUSTAINABLE_MW_MAX, TEMPERATURE_C};
use crate::tree::{Key, Kind, Spec};
use pelton_core::TRIPS_MAX;

/// Most CPUs of a machine.
pub const CPUS_MAX: usize = 1024;
/// Most operating points of a domain.
pub const OPPS_MAX: usize = 512;
/// Most idle states below the one every CPU has; the kernel allows ten in all.
pub const IDLE_STATES_MAX: usize = 9;
/// The file format this program reads.
pub const SCHEMA: i64 = 1;

const CPU_LAST: i64 = CPUS_MAX as i64 - 1;
const CAPACITY: Kind = Kind::Int(1, 1024);
const KHZ: Kind = Kind::Int(1_000, 20_000_000);
const POWER_MW: Kind = Kind::Real(0.0, 1_000_000.0);
const COLUMN: Kind = Kind::Real(0.0, 1e12);
/// Longest time that a path of the scheduler takes, ns.
pub const COST_NS_MAX: u64 = 100_000_000;
const COST_NS: Kind = Kind::Int(0, COST_NS_MAX as i64);
/// Longest call of a driver, us.
pub const SWITCH_TIME_US_MAX: u64 = 1_000_000;
const LATENCY_US: Kind = Kind::Int(0, 10_000_000);

/// The top level.
pub static PLATFORM: Spec = Spec {
    title: "",
    doc: "One file describes one machine.",
    open: false,
    keys: &[
        Key::new("schema", Kind::Int(SCHEMA, SCHEMA), "", "version of this format").required(),
        Key::new("name", Kind::Text, "", "short name: lower case, digits, `-`").required(),
        Key::new("title", Kind::Text, "", "one line"),
        Key::new("soc", Kind::Text, "", "the chip"),
        Key::new("kind", Kind::Text, "", "sort of device"),
        Key::new(
            "arch",
            Kind::Choice(&["arm", "arm64", "x86"]),
            "",
            "absent: by the driver. Decides idle state 0: `WFI` (exit latency and residency 1 us) on Arm, `POLL` (0) on x86",
        ),
        Key::new("provenance", Kind::Table(&PROVENANCE), "", "sources of the whole file"),
        Key::new("cpufreq", Kind::Table(&CPUFREQ), "", "the frequency driver"),
        Key::new("topology", Kind::Table(&TOPOLOGY), "", "what CPUs share beside a frequency"),
        Key::new("costs", Kind::Table(&COSTS), "", "time of the scheduler's own paths; absent: none"),
        Key::new("power", Kind::Table(&POWER), "", "which power figures to use"),
        Key::new("perf_domain", Kind::Tables(&PERF_DOMAIN, CPUS_MAX), "", "CPUs of one kind that share a frequency")
            .required(),
        Key::new("energy_table", Kind::Tables(&ENERGY_TABLE, 64), "", "published or measured tables, as printed"),
        Key::new(
            "thermal_zone",
            Kind::Tables(&THERMAL_ZONE, 16),
            "",
            "what gets hot, and the trips; read where a policy cools (`thermal`)",
        ),
        Key::new("reference_measurements", Kind::Any, "", "not read"),
        Key::new("note", Kind::Table(&NOTE), "", "remarks"),
    ],
};

static PROVENANCE: Spec = Spec { title: "[provenance]", doc: "Sources and licences.", open: true, keys: &[] };

static NOTE: Spec = Spec { title: "[note]", doc: "Remarks for people.", open: true, keys: &[] };

static CPUFREQ: Spec = Spec {
    title: "[cpufreq]",
    doc: "Facts about the driver that changes the frequency.",
    open: false,
    keys: &[
        Key::new("driver", Kind::Text, "", "name of the Linux driver"),
        Key::new("fast_switch", Kind::Flag, "", "the driver can switch from scheduler context; absent: no"),
        Key::new(
            "transition_latency_ns",
            Kind::Int(0, 1_000_000_000),
            "ns",
            "what the driver reports; absent: unknown",
        ),
        Key::new(
            "transition_delay_us",
            Kind::Int(1, 1_000_000),
            "us",
            "the governor's default rate limit, by the driver",
        ),
        Key::new(
            "switch_time_us",
            Kind::Real(0.0, SWITCH_TIME_US_MAX as f64),
            "us",
            "length of a call of the driver; absent: the transition latency",
        ),
        Key::new(
            "firmware_poll_us",
            Kind::Int(1, 1_000_000),
            "us",
            "firmware looks so often for a frequency that a fast switch wrote into shared memory, and the clock follows then; \
             absent: at once",
        ),
        Key::new(
            "firmware_raise_us",
            Kind::Int(0, 1_000_000),
            "us",
            "time from such a look until the clock rises, at most from one look to the next; it falls at once; absent: 0",
        ),
        Key::new(
            "firmware_after_tick_us",
            Kind::Int(0, 1_000_000),
            "us",
            "time from a tick of the kernel to such a look; absent: any",
        ),
        Key::new("driver_sleeps", Kind::Flag, "", "the call waits asleep (mailbox, I2C); absent: no"),
        Key::new(
            "rate_limit_us",
            Kind::Int(0, 10_000_000),
            "us",
            "rate limit of the device's user space; absent: the profile's",
        ),
        Key::new(
            "dvfs_from_any_cpu",
            Kind::Flag,
            "",
            "the driver may be called on a CPU outside the domain; absent: yes on Arm, no on x86",
        ),
        Key::new(
            "freq_invariant",
            Kind::Flag,
            "",
            "signals follow the frequency; absent: yes on Arm, on x86 from 5.7 on",
        ),
        Key::new(
            "freq_invariant_since",
            Kind::Text,
            "",
            "instead: kernel version from which they do, on x86 `\"5.7\"` (Intel) or `\"5.11\"` (AMD with acpi_cppc); decided by the profile of the run",
        ),
        Key::new(
            "frequency_table",
            Kind::Flag,
            "",
            "the driver has a list of frequencies; `false`: any kHz (intel_pstate and amd-pstate in passive mode); absent: yes",
        ),
        Key::new(
            "every_limit_change",
            Kind::Flag,
            "",
            "the driver wants a call after every change of limits, also when the frequency stays (intel_pstate with HWP); \
             absent: no",
        ),
        Key::new(
            "emulated",
            Kind::Flag,
            "",
            "an emulated machine: `[costs]` are the same at any frequency and on every CPU; absent: no",
        ),
    ],
};

static TOPOLOGY: Spec = Spec {
    title: "[topology]",
    doc: "Groups of CPU numbers. Every CPU of the machine must be in exactly one group of `clusters`, of `llc` and of `nodes`.",
    open: false,
    keys: &[
        Key::new(
            "smt",
            Kind::Groups(0, CPU_LAST, CPUS_MAX),
            "",
            "hardware threads of one core; absent: one thread per core",
        ),
        Key::new(
            "smt_throughput",
            Kind::Real(1.0, 8.0),
            "",
            "work that the busy threads of a core do together, relative to one of them alone; absent: as much as separate cores would",
        ),
        Key::new(
            "idle_watches_flag",
            Kind::Flag,
            "",
            "an idle CPU watches its need-resched flag (`mwait`) and needs no interrupt; absent: yes on x86, no on Arm",
        ),
        Key::new(
            "one_clock",
            Kind::Flag,
            "",
            "all CPUs of a cluster run at the highest request, idle ones' included; absent: no",
        ),
        Key::new("one_at_a_time", Kind::Flag, "", "CPUs execute one after another, as in an emulator; absent: no"),
        Key::new(
            "clusters",
            Kind::Groups(0, CPU_LAST, CPUS_MAX),
            "",
            "CPUs that share a power-down cluster; absent: the performance domains",
        ),
        Key::new(
            "llc",
            Kind::Groups(0, CPU_LAST, CPUS_MAX),
            "",
            "CPUs that share the last cache; absent: the clusters",
        ),
        Key::new(
            "nodes",
            Kind::Groups(0, CPU_LAST, CPUS_MAX),
            "",
            "CPUs of each memory node, in order; no cache is shared between nodes. Absent: one node",
        ),
        Key::new(
            "node_distances",
            Kind::Groups(10, 254, CPUS_MAX),
            "",
            "a row for each node: distance to every node as the firmware states it (`/sys/devices/system/node/node0/distance`), \
             10 = the node itself; absent: 20 between any two",
        ),
    ],
};

static COSTS: Spec = Spec {
    title: "[costs]",
    doc: "Time on a CPU of capacity 1024 at its highest frequency; slower CPUs take longer in proportion.",
    open: false,
    keys: &[
        Key::new("context_switch_ns", COST_NS, "ns", "switching to a task"),
        Key::new("wakeup_ns", COST_NS, "ns", "waking a task, on the waking CPU"),
        Key::new("tick_ns", COST_NS, "ns", "the periodic tick"),
        Key::new("hook_ns", COST_NS, "ns", "one call of the governor's hook, on the CPU that executes it"),
        Key::new("vote_ns", COST_NS, "ns", "a vote of sched-DVFS that its window refuses"),
        Key::new("boost_ns", COST_NS, "ns", "counting a task in its boost group (SchedTune)"),
        Key::new(
            "register_write_ns",
            COST_NS,
            "ns",
            "programming a frequency from there (fast switch); `switch_time_us` comes on top",
        ),
        Key::new(
            "migration_ns",
            COST_NS,
            "ns",
            "refilling caches after a change of CPU, when the task first runs there",
        ),
        Key::new("ipi_ns", COST_NS, "ns", "taking an interrupt of another CPU, or of deferred work"),
        Key::new("idle_entry_ns", COST_NS, "ns", "the kernel's way into an idle state: idle task, idle governor, tick"),
        Key::new("idle_exit_ns", COST_NS, "ns", "the kernel's way out of it"),
        Key::new("blocked_walk_ns", COST_NS, "ns", "updating a CPU's load for others, before any of its queues"),
        Key::new("blocked_queue_ns", COST_NS, "ns", "the same for each queue with load, the root's too"),
        Key::new("hook_cpu_ns", COST_NS, "ns", "asking one CPU of the domain when the governor evaluates"),
        Key::new("balance_cpu_ns", COST_NS, "ns", "looking at one CPU in a search for a task"),
        Key::new("place_energy_ns", COST_NS, "ns", "choosing a CPU by energy for a task that wakes or is new"),
        Key::new("scan_cpu_ns", COST_NS, "ns", "looking at one CPU in a search for an idle one"),
    ],
};

static POWER: Spec = Spec {
    title: "[power]",
    doc: "What the kernel believes: the power of an operating point is its `power_mw`; else coefficient x V^2 x f; else the domain's `power_model`; \
          else a table with a column in milliwatts or microwatts; else 0 = unknown. What the board draws is the same, or another table. Units are \
          never mixed.",
    open: false,
    keys: &[
        Key::new(
            "energy_table",
            Kind::Text,
            "",
            "name of the `[[energy_table]]` that says what the board draws, in its own unit",
        ),
        Key::new(
            "cluster_active_mw",
            POWER_MW,
            "mW",
            "power of each cluster with a CPU awake; absent: left out of energies",
        ),
        Key::new(
            "rest_mw",
            POWER_MW,
            "mW",
            "constant power of what else the board's meter sees, in the unit of `energy_table`; in `energy_meter_mj` alone",
        ),
    ],
};

static PERF_DOMAIN: Spec = Spec {
    title: "[[perf_domain]]",
    doc: "CPUs of one kind at one frequency (a cpufreq policy and a domain of the Energy Model).",
    open: false,
    keys: &[
        Key::new("id", Kind::Text, "", "name of the domain, unique in the file").required(),
        Key::new("cpus", Kind::Ints(0, CPU_LAST, CPUS_MAX), "", "CPU numbers; over all domains 0..n without gap")
            .required(),
        Key::new("core", Kind::Text, "", "kind of CPU"),
        Key::new(
            "capacity",
            CAPACITY,
            "",
            "capacity at the highest frequency; the biggest CPU of the machine has 1024. A machine without it can be shown, not simulated",
        ),
        Key::new("capacity_dmips_mhz", Kind::Int(1, 100_000), "", "device tree: capacity-dmips-mhz"),
        Key::new(
            "dynamic_power_coefficient",
            Kind::Int(1, 100_000),
            "uW/MHz/V^2",
            "device tree: dynamic-power-coefficient",
        ),
        Key::new(
            "opps",
            Kind::Tables(&OPP, OPPS_MAX),
            "",
            "operating points, ascending. Without them, or a range, a machine can be shown, not simulated",
        ),
        Key::new("per_cpu_policy", Kind::Flag, "", "each CPU has its own frequency; absent: all CPUs share one"),
        Key::new("khz_min", KHZ, "kHz", "instead of `opps`: lowest frequency of a regular grid"),
        Key::new("khz_base", KHZ, "kHz", "instead of `opps`: guaranteed frequency"),
        Key::new("khz_max_turbo", KHZ, "kHz", "instead of `opps`: highest frequency of the grid"),
        Key::new("khz_step", Kind::Int(100, 10_000_000), "kHz", "instead of `opps`: step of the grid; absent: 100000"),
        Key::new(
            "turbo_khz_by_active_cores",
            Kind::Ints(1_000, 20_000_000, CPUS_MAX),
            "kHz",
            "highest frequency with one active core of the cluster, two, three...; the last holds for more",
        ),
        Key::new(
            "scale_khz",
            KHZ,
            "kHz",
            "frequency at which frequency-invariant signals reach 1024; absent: the highest one. On Arm from 6.8 on schedutil \
             asks for no more either",
        ),
        Key::new("power_model", Kind::Table(&POWER_MODEL), "", "power as a formula"),
        Key::new("idle_power", Kind::Table(&IDLE_POWER), "", "power of what is idle"),
        Key::new("idle_state", Kind::Tables(&IDLE_STATE, IDLE_STATES_MAX), "", "from state 1 on, shallow to deep"),
        Key::new(
            "em_states",
            Kind::Tables(&EM_STATE, 64),
            "",
            "an artificial Energy Model (x86): orders CPU kinds, carries no watts",
        ),
        Key::new("hwp_highest_perf", Kind::Int(1, 255), "", "hardware performance levels (x86), for people"),
        Key::new("hwp_nominal_perf", Kind::Int(1, 255), "", "see above"),
        Key::new("hwp_lowest_nonlinear_perf", Kind::Int(1, 255), "", "see above"),
        Key::new("quality", Kind::Text, "", "quality of its power figures"),
        Key::new("formula", Kind::Text, "", "how the figures were derived"),
        Key::new("fit", Kind::Text, "", "what they were fitted to"),
        Key::new("check", Kind::Text, "", "how far off they are"),
    ],
};

static OPP: Spec = Spec {
    title: "[[perf_domain.opps]]",
    doc: "One operating point, usually written inline: `{ khz = 450000, uv = 820000, power_mw = 42.361 }`.",
    open: false,
    keys: &[
        Key::new("khz", KHZ, "kHz", "frequency; each higher than the one before").required(),
        Key::new("uv", Kind::Int(100_000, 3_000_000), "uV", "supply voltage"),
        Key::new("power_mw", POWER_MW, "mW", "power of one fully busy CPU"),
        Key::new("cluster_power", POWER_MW, "mW", "power of the shared part of the cluster, in the unit of `power_mw`"),
        Key::new("capacity", CAPACITY, "", "published capacity at this point, for people"),
        Key::new(
            "inefficient",
            Kind::Flag,
            "",
            "the kernel passes over this point, from 6.1 on; absent at all points of a domain: from coefficient and voltages",
        ),
    ],
};

static POWER_MODEL: Spec = Spec {
    title: "[perf_domain.power_model]",
    doc: "Power of one busy CPU: `busy_mw` x f/`khz` x (V(f)/V(`khz`))^2, V linear between the two voltages given.",
    open: false,
    keys: &[
        Key::new("busy_mw", POWER_MW, "mW", "power of one busy CPU at `khz`").required(),
        Key::new("khz", KHZ, "kHz", "frequency of `busy_mw` and `uv`").required(),
        Key::new("uv", Kind::Int(100_000, 3_000_000), "uV", "voltage at `khz`").required(),
        Key::new("khz_low", KHZ, "kHz", "frequency of `uv_low`, below `khz`").required(),
        Key::new("uv_low", Kind::Int(100_000, 3_000_000), "uV", "voltage at `khz_low`").required(),
    ],
};

static IDLE_POWER: Spec = Spec {
    title: "[perf_domain.idle_power]",
    doc: "What idle CPUs, and what they share, draw while the rail stays on: the figures hold at `khz`, and at another operating point times the \
          square of its voltage over that of `khz`. In states that switch it off (`off`) it is 0. Where a named table has figures, those count. \
          Without voltages their squares are taken from what a busy CPU draws in a cycle.",
    open: false,
    keys: &[
        Key::new("wfi_mw", POWER_MW, "mW", "power of one CPU in state 0 (`WFI`)").required(),
        Key::new(
            "cluster_mw",
            POWER_MW,
            "mW",
            "power of what the CPUs share, busy or not, while it is on; absent: not known",
        ),
        Key::new("khz", KHZ, "kHz", "operating point at which both hold").required(),
        Key::new("quality", Kind::Text, "", "quality of both figures").required(),
        Key::new("source", Kind::Text, "", "where they are from, or what they were estimated from").required(),
    ],
};

static IDLE_STATE: Spec = Spec {
    title: "[[perf_domain.idle_state]]",
    doc: "One idle state. State 0 (`WFI` or `POLL`) is added by convention of the kernel and not written.",
    open: false,
    keys: &[
        Key::new("name", Kind::Text, "", "name, as the kernel shows it").required(),
        Key::new("label", Kind::Text, "", "other name"),
        Key::new("entry_latency_us", LATENCY_US, "us", "time to enter; absent: 0"),
        Key::new("exit_latency_us", LATENCY_US, "us", "time to leave").required(),
        Key::new(
            "exit_ns_per_ghz",
            Kind::Int(0, 1_000_000),
            "ns/GHz",
            "time to leave that grows with the frequency the CPU leaves for; absent: 0",
        ),
        Key::new("min_residency_us", LATENCY_US, "us", "shortest stay that pays; not below that of the state before")
            .required(),
        Key::new(
            "wakeup_latency_us",
            LATENCY_US,
            "us",
            "worst time from event to execution, for the idle governor. Absent: entry and exit latency",
        ),
        Key::new("power_mw", POWER_MW, "mW", "power of one CPU in it; absent: left out of energies"),
        Key::new("local_timer_stop", Kind::Flag, "", "the CPU's timer stops; for people"),
        Key::new(
            "scope",
            Kind::Choice(&["cpu", "power-domain"]),
            "",
            "each CPU alone enters it, or all of a cluster together; beside others that are awake a CPU is in the state before. Absent: cpu",
        ),
        Key::new(
            "off",
            Kind::Choice(&["nothing", "cpu", "cluster"]),
            "",
            "what has no power in it: nothing (the rail stays on), the CPU, or also what the cluster shares once all of its CPUs are in such \
             states. Absent: cpu",
        ),
    ],
};

static EM_STATE: Spec = Spec {
    title: "[[perf_domain.em_states]]",
    doc: "One state of an artificial Energy Model.",
    open: false,
    keys: &[
        Key::new("level", Kind::Int(0, 1_000), "", "the model's stand-in for a frequency").required(),
        Key::new("capacity_pct", Kind::Int(0, 100), "%", "share of the capacity").required(),
        Key::new("cost", COLUMN, "", "abstract cost").required(),
    ],
};

static ENERGY_TABLE: Spec = Spec {
    title: "[[energy_table]]",
    doc: "A table as its source printed it. A table whose unit is not milliwatts is used only when `[power] energy_table` (or the command line) names it.",
    open: false,
    keys: &[
        Key::new("name", Kind::Text, "", "name, unique in the file").required(),
        Key::new("quality", Kind::Text, "", "quality of all its figures").required(),
        Key::new("source", Kind::Text, "", "where it was printed").required(),
        Key::new("unit", Kind::Text, "", "unit of the column `power`").required(),
        Key::new("note", Kind::Text, "", "remarks"),
        Key::new("rows", Kind::Tables(&ENERGY_ROW, 8_192), "", "the rows").required(),
    ],
};

static ENERGY_ROW: Spec = Spec {
    title: "[[energy_table.rows]]",
    doc: "One row: what it is about, then the columns of its source. Rows of one domain, level and number of busy CPUs ascend by frequency.",
    open: false,
    keys: &[
        Key::new("domain", Kind::Text, "", "a `[[perf_domain]]`; `big` is also `big0` and `big1`"),
        Key::new("level", Kind::Choice(&["core", "cluster"]), "", "one CPU or the shared part; absent: core"),
        Key::new("khz", KHZ, "kHz", "frequency, of an operating point or not"),
        Key::new("idle", Kind::Text, "", "or: name of an idle state"),
        Key::new("idle_index", Kind::Int(0, 15), "", "or: its number"),
        Key::new("busy_cpus", Kind::Int(1, CPUS_MAX as i64), "", "number of busy CPUs; absent: 1"),
        Key::new("power", COLUMN, "", "power in the table's unit"),
        Key::new("power_mw", POWER_MW, "mW", "power"),
        Key::new("power_uw", Kind::Real(0.0, 1e9), "uW", "power"),
        Key::new("active_mw", POWER_MW, "mW", "power of a busy CPU"),
        Key::new("idle0_mw", POWER_MW, "mW", "power in idle state 0"),
        Key::new("idle1_mw", POWER_MW, "mW", "power in deeper ones"),
        Key::new("static_mw", POWER_MW, "mW", "power of what the CPUs share"),
        Key::new("interconnect_mw", POWER_MW, "mW", "power of what connects them, with it"),
        Key::new("other", Kind::Text, "", "the row holds while this domain on the same supply asks for"),
        Key::new("other_khz", KHZ, "kHz", "this frequency"),
        Key::new(
            "at_khz",
            KHZ,
            "kHz",
            "of an idle state: operating point at which its power holds; what is above the deepest state's follows the square of the voltage. Absent: all",
        ),
        Key::new("core", COLUMN, "", "power of one CPU in the table's unit"),
        Key::new("cluster", COLUMN, "", "power of the shared part in the table's unit"),
        Key::new("idle_costs", Kind::Text, "", "idle powers, shallow to deep"),
        Key::new("capacity", Kind::Int(0, 1024), "", "capacity as published"),
        Key::new("cost", COLUMN, "", "cost as the kernel prints it"),
        Key::new("energy", COLUMN, "", "energy in the table's unit"),
        Key::new("perf", COLUMN, "", "work done"),
        Key::new("coremark_per_s", COLUMN, "1/s", "CoreMark score"),
        Key::new("current_ma", COLUMN, "mA", "battery current"),
        Key::new("cpus_1", COLUMN, "", "value with one CPU"),
        Key::new("cpus_2", COLUMN, "", "value with two CPUs"),
        Key::new("cpus_3", COLUMN, "", "value with three CPUs"),
        Key::new("cpus_4", COLUMN, "", "value with four CPUs"),
        Key::new("exit_latency_us", LATENCY_US, "us", "as the kernel printed it"),
        Key::new("min_residency_us", LATENCY_US, "us", "as the kernel printed it"),
    ],
};

const CELSIUS: Kind = Kind::Real(*TEMPERATURE_C.start(), *TEMPERATURE_C.end());

static THERMAL_ZONE: Spec = Spec {
    title: "[[thermal_zone]]",
    doc: "A sensor, the CPUs that heat it, and its passive trips, as in a device tree. A device tree has no way of heat: `stage` is.",
    open: false,
    keys: &[
        Key::new("id", Kind::Text, "", "name of the zone, unique in the file").required(),
        Key::new("source", Kind::Text, "", "where they are from").required(),
        Key::new(
            "cpus",
            Kind::Ints(0, CPU_LAST, CPUS_MAX),
            "",
            "CPUs that heat it: whole performance domains, each in at most one zone",
        )
        .required(),
        Key::new(
            "weights",
            Kind::Ints(0, 1 << 20, 16),
            "",
            "weight of each domain (`contribution`), for power_allocator; absent: alike",
        ),
        Key::new(
            "passive_ms",
            Kind::Int(1, PASSIVE_MS_MAX as i64),
            "ms",
            "time between readings while it is cooled (`polling-delay-passive`)",
        )
        .required(),
        Key::new(
            "polling_ms",
            Kind::Int(0, POLLING_MS_MAX as i64),
            "ms",
            "time between readings otherwise (`polling-delay`); absent or 0: the sensor interrupts",
        ),
        Key::new(
            "sustainable_mw",
            Kind::Int(1, SUSTAINABLE_MW_MAX as i64),
            "mW",
            "power that it can stand at its last trip (`sustainable-power`); absent: estimated",
        ),
        Key::new("ambient_c", CELSIUS, "C", "temperature around it; absent: 25"),
        Key::new("start_c", CELSIUS, "C", "temperature at the start of a run; absent: as around it"),
        Key::new("other_mw", POWER_MW, "mW", "other power that heats it; absent: 0"),
        Key::new("trip", Kind::Tables(&TRIP, TRIPS_MAX), "", "passive trips, coolest first").required(),
        Key::new(
            "stage",
            Kind::Tables(&STAGE, 4),
            "",
            "way of heat to the surroundings. Without it a zone is not cooled",
        ),
        Key::new("stage_quality", Kind::Choice(&["measured", "published", "assumed"]), "", "how `stage` is known"),
        Key::new("stage_source", Kind::Text, "", "where `stage` is from"),
    ],
};

static TRIP: Spec = Spec {
    title: "[[thermal_zone.trip]]",
    doc: "A passive trip.",
    open: false,
    keys: &[
        Key::new("temperature_c", CELSIUS, "C", "temperature").required(),
        Key::new("hysteresis_c", Kind::Real(0.0, HYSTERESIS_C_MAX), "C", "hysteresis; absent: 0"),
        Key::new("cools", Kind::Ints(0, CPU_LAST, CPUS_MAX), "", "CPUs whose domains it slows; absent: all"),
        Key::new("only_switches_on", Kind::Flag, "", "it cools nothing: power_allocator begins there; absent: no"),
    ],
};

static STAGE: Spec = Spec {
    title: "[[thermal_zone.stage]]",
    doc: "A resistance and a capacity. The temperature is the ambient one plus the rise of all stages.",
    open: false,
    keys: &[
        Key::new("k_per_w", Kind::Real(0.001, 1_000.0), "K/W", "resistance").required(),
        Key::new("j_per_k", Kind::Real(0.001, 1_000_000.0), "J/K", "capacity").required(),
    ],
};
