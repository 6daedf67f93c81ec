// SPDX-License-Identifier: GPL-2.0-or-later
//! From the file to the machine a run takes place on.

use pelton_model::Machine;
use pelton_model::draws::Draws;
use pelton_model::machine::{Cluster, Costs, Cpu, FreqDomain, IdleState, Opp};

use super::draws::Drawn;
use super::file::{Arch, Domain, EnergyTable, Groups, PlatformFile};
use super::power::{self, DomainPower, PowerSource};
use crate::diagnostic::{Diagnostics, SourceFile, hint_for};
use crate::tree::At;

/// Tick rates of Linux.
pub const HZ_ALLOWED: [u32; 4] = [100, 250, 300, 1000];

/// Choices that a platform file leaves to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformOptions {
    /// Timer interrupts per second: 100, 250, 300 or 1000.
    pub hz: u32,
    /// Costs of scheduler paths instead of the file's.
    pub costs: Option<Costs>,
    /// Name of the energy table that says what the board draws, instead of the file's choice.
    pub energy_table: Option<String>,
    /// Capacity by domain id instead of the file's: kernels disagree about some machines.
    pub capacities: Vec<(String, u32)>,
    /// Kernel profile of the run: decides what depends on the kernel's version.
    pub profile: String,
    /// Frequency invariance instead of the file's.
    pub freq_invariant: Option<bool>,
}

impl PlatformOptions {
    /// Everything as the file says it, under this kernel profile. There is no default profile here: a machine that was
    /// built for another kernel than the policy's would run, and answer for neither.
    #[must_use]
    pub fn new(profile: &str) -> Self {
        PlatformOptions {
            hz: 250,
            costs: None,
            energy_table: None,
            capacities: Vec::new(),
            profile: profile.to_owned(),
            freq_invariant: None,
        }
    }
}

/// A machine with what has to be said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// The machine.
    pub machine: Machine,
    /// Source of the kernel's power figures of each domain: domain id and source.
    pub power: Vec<(String, PowerSource)>,
    /// Their unit: `mW`, or the unit of the named table where the file has nothing else.
    pub power_unit: String,
    /// The table that says what the board draws, when one is named.
    pub drawn: Option<String>,
    /// Unit of what the board draws.
    pub drawn_unit: String,
    /// Facts that the file does not state, and the values taken instead.
    pub assumptions: Vec<String>,
}

impl PlatformFile {
    /// The machine, ready to run.
    pub fn machine(&self, options: &PlatformOptions) -> Result<Machine, Diagnostics> {
        self.build(options).map(|built| built.machine)
    }

    /// The machine, and what its figures rest on.
    pub fn build(&self, options: &PlatformOptions) -> Result<Built, Diagnostics> {
        self.buildable(options)?;
        let table = self.chosen_table(options)?;
        let mut order: Vec<&Domain> = self.domains.iter().collect();
        order.sort_by_key(|d| d.cpus.iter().map(|c| c.value).min());
        let powers = order.iter().map(|d| self.model_power(table, d)).collect::<Vec<_>>();

        let mut machine = Machine {
            name: self.name.value.clone(),
            hz: options.hz,
            costs: self.machine_costs(options),
            smt_throughput_pct: self.topology.smt_throughput.as_ref().map_or(0, |t| (t.value * 100.0).round() as u32),
            defers_timers: self.arch == Arch::X86,
            idle_watches_flag: self.topology.idle_watches_flag.as_ref().map_or(self.arch == Arch::X86, |f| f.value),
            one_clock: self.topology.one_clock.as_ref().is_some_and(|f| f.value),
            rest_uw: self.rest_mw.as_ref().map(|p| power::thousandths(p.value)),
            ..Machine::default()
        };
        machine.cpus = vec![Cpu::default(); order.iter().map(|d| d.cpus.len()).sum()];
        for (domain, power) in order.iter().zip(&powers) {
            self.add_domain(&mut machine, options, domain, power);
        }
        self.add_draws(&mut machine, table, &order, &powers)?;
        self.add_topology(&mut machine, &order, &powers);
        machine.thermal_zones = self.thermal_zones.iter().map(|row| row.zone(&machine)).collect();
        let own_unit = table.filter(|t| !power::in_milliwatts(t)).map(|t| t.unit.clone());
        machine.own_unit = own_unit.is_some();
        let drawn_unit = own_unit.unwrap_or_else(|| "mW".into());
        let is_of_table = |p: &DomainPower| table.is_some_and(|t| p.source == PowerSource::Table(t.name.value.clone()));
        let power_unit = if powers.iter().any(is_of_table) { drawn_unit.clone() } else { "mW".into() };
        let power = order.iter().zip(&powers).map(|(d, p)| (d.id.value.clone(), p.source.clone())).collect::<Vec<_>>();
        let mut assumptions = self.assumptions(options, &power);
        assumptions.extend(order.iter().zip(&powers).filter_map(|(d, p)| below_table(table, d, p)));
        Ok(Built { machine, power, power_unit, drawn: table.map(|t| t.name.value.clone()), drawn_unit, assumptions })
    }

    /// Refuses what can be shown but not simulated, and options that make no sense.
    fn buildable(&self, options: &PlatformOptions) -> Result<(), Diagnostics> {
        let mut found = Diagnostics::new();
        for domain in &self.domains {
            let lacks = |what: &str| {
                self.source.error(
                    domain.span.clone(),
                    format!("domain `{}` has no {what}: this machine can be shown, not simulated", domain.id.value),
                )
            };
            if domain.opps.is_empty() && domain.khz_min.is_none() {
                found.push(lacks("operating points").help("copy the file and add `opps = [{ khz = ... }, ...]`"));
            }
            if domain.capacity.is_none() {
                found.push(
                    lacks("capacity")
                        .allowed("1..=1024")
                        .help("copy the file and add `capacity = ...` to every domain"),
                );
            }
        }
        let argument = |name: &str, value: &str| SourceFile::new(name, value);
        if !HZ_ALLOWED.contains(&options.hz) {
            let value = options.hz.to_string();
            let at = argument("--hz", &value).error(0..value.len(), "the tick rate is none that Linux has");
            found.push(at.allowed("100, 250, 300 or 1000 Hz"));
        }
        let ids = || self.domains.iter().map(|d| d.id.value.as_str());
        for (id, capacity) in &options.capacities {
            let given = format!("{id}={capacity}");
            let at = argument("--capacity", &given);
            if !ids().any(|known| known == id) {
                found.push(at.error(0..id.len(), format!("no domain is called `{id}`")).help(hint_for(id, ids())));
            } else if !(1..=1024).contains(capacity) {
                found.push(at.error(id.len() + 1..given.len(), "the capacity is out of range").allowed("1..=1024"));
            }
        }
        found.or(())
    }

    fn chosen_table(&self, options: &PlatformOptions) -> Result<Option<&EnergyTable>, Diagnostics> {
        let Some(name) = options.energy_table.as_ref().or(self.energy_table.as_ref().map(|t| &t.value)) else {
            return Ok(None);
        };
        let names = self.energy_tables.iter().map(|t| t.name.value.as_str());
        match self.energy_tables.iter().find(|t| &t.name.value == name) {
            Some(table) => Ok(Some(table)),
            None => {
                let at = SourceFile::new("--energy-table", name)
                    .error(0..name.len(), format!("`{}` has no energy table `{name}`", self.name.value));
                Err(at.help(hint_for(name, names.collect::<Vec<_>>())).into())
            }
        }
    }

    /// Power of busy CPUs as the kernel believes: the file's figures, and a named table only where it has none.
    fn model_power(&self, table: Option<&EnergyTable>, domain: &Domain) -> DomainPower {
        let khz = frequencies(domain);
        let own = power::of_domain(self, domain, &khz);
        let of_table = || power::of_table(table?, domain, &khz).ok();
        if own.source == PowerSource::Unknown { of_table().unwrap_or(own) } else { own }
    }

    /// Adds the power that the board draws, where the file states more than the operating points do.
    fn add_draws(
        &self,
        machine: &mut Machine,
        table: Option<&EnergyTable>,
        order: &[&Domain],
        powers: &[DomainPower],
    ) -> Result<(), Diagnostics> {
        let policies = |d: &Domain| if d.per_cpu_policy { d.cpus.len() } else { 1 };
        let number = |id: &str| {
            let at = order.iter().position(|d| d.is_called(id))?;
            let before: usize = order[..at].iter().map(|d| policies(d)).sum();
            Some((before as u32, order[at]))
        };
        let mut next = 0;
        for (domain, power) in order.iter().zip(powers) {
            let drawn = Drawn::new(self, table, domain, power);
            let of_domain = next..next + policies(domain);
            next = of_domain.end;
            if drawn.is_said() {
                let draws = drawn.draws(&number).map_err(|khz| self.not_in_table(table, domain, khz))?;
                machine.domains[of_domain].iter_mut().for_each(|d| d.draws = draws.clone());
            }
        }
        Ok(())
    }

    fn not_in_table(&self, table: Option<&EnergyTable>, domain: &Domain, khz: u32) -> Diagnostics {
        let (name, span) = table.map_or(("", 0..0), |t| (t.name.value.as_str(), t.name.span.clone()));
        let what = format!("energy table `{name}` has no figure for domain `{}` at {khz} kHz", domain.id.value);
        let at = self.source.error(span, what);
        at.help("choose a table that covers all operating points of all domains").into()
    }

    fn machine_costs(&self, options: &PlatformOptions) -> Costs {
        let of = |name: &str| self.costs.iter().find(|(n, _)| *n == name).map_or(0, |(_, ns)| ns.value);
        options.costs.unwrap_or_else(|| Costs {
            context_switch_ns: of("context_switch_ns"),
            wakeup_ns: of("wakeup_ns"),
            tick_ns: of("tick_ns"),
            hook_ns: of("hook_ns"),
            vote_ns: of("vote_ns"),
            boost_ns: of("boost_ns"),
            register_write_ns: of("register_write_ns"),
            migration_ns: of("migration_ns"),
            ipi_ns: of("ipi_ns"),
            idle_entry_ns: of("idle_entry_ns"),
            idle_exit_ns: of("idle_exit_ns"),
            blocked_walk_ns: of("blocked_walk_ns"),
            blocked_queue_ns: of("blocked_queue_ns"),
            hook_cpu_ns: of("hook_cpu_ns"),
            balance_cpu_ns: of("balance_cpu_ns"),
            place_energy_ns: of("place_energy_ns"),
            scan_cpu_ns: of("scan_cpu_ns"),
            at_any_speed: self.cpufreq.emulated.as_ref().is_some_and(|f| f.value),
            one_at_a_time: self.topology.one_at_a_time.as_ref().is_some_and(|f| f.value),
        })
    }

    fn add_domain(&self, machine: &mut Machine, options: &PlatformOptions, domain: &Domain, power: &DomainPower) {
        let cpus: Vec<u32> = domain.cpus.iter().map(|c| c.value).collect();
        let written = domain.capacity.as_ref().map_or(1024, |c| c.value);
        let capacity = options.capacities.iter().find(|(id, _)| *id == domain.id.value).map_or(written, |&(_, c)| c);
        let policies: Vec<Vec<u32>> =
            if domain.per_cpu_policy { cpus.iter().map(|&c| vec![c]).collect() } else { vec![cpus] };
        for mut cpus in policies {
            cpus.sort_unstable();
            for &cpu in &cpus {
                machine.cpus[cpu as usize] =
                    Cpu { capacity, domain: machine.domains.len() as u32, cluster: 0, smt: vec![cpu] };
            }
            let name =
                if domain.per_cpu_policy { format!("{}{}", domain.id.value, cpus[0]) } else { domain.id.value.clone() };
            machine.domains.push(self.freq_domain(options, domain, power, name, cpus));
        }
    }

    fn freq_domain(
        &self,
        options: &PlatformOptions,
        domain: &Domain,
        power: &DomainPower,
        name: String,
        cpus: Vec<u32>,
    ) -> FreqDomain {
        let khz = frequencies(domain);
        let uv = |i: usize| domain.opps.get(i).and_then(|o| o.uv.as_ref()).map_or(0, |uv| uv.value);
        let drv = &self.cpufreq;
        let latency = drv.transition_latency_ns.as_ref().map_or(0, |l| l.value);
        FreqDomain {
            name,
            cpus,
            ref_khz: khz.last().copied().unwrap_or(0),
            opps: khz
                .iter()
                .zip(&power.busy)
                .enumerate()
                .map(|(i, (&khz, &power_uw))| Opp { khz, uv: uv(i), power_uw })
                .collect(),
            fast_switch: drv.fast_switch.as_ref().is_some_and(|f| f.value),
            dvfs_from_any_cpu: drv.dvfs_from_any_cpu.as_ref().map_or(self.arch == Arch::Arm, |f| f.value),
            transition_latency_ns: latency,
            transition_delay_us: drv.transition_delay_us.as_ref().map(|d| d.value),
            switch_time_ns: drv.switch_time_us.as_ref().map_or(latency, |t| (t.value * 1000.0).round() as u64),
            firmware_poll_ns: drv.firmware_poll_us.as_ref().map_or(0, |us| us.value * 1000),
            firmware_raise_ns: drv.firmware_raise_us.as_ref().map_or(0, |us| us.value * 1000),
            firmware_after_tick_ns: drv.firmware_after_tick_us.as_ref().map(|us| us.value * 1000),
            driver_sleeps: drv.driver_sleeps.as_ref().is_some_and(|s| s.value),
            rate_limit_us: drv.rate_limit_us.as_ref().map(|r| r.value),
            initial_khz: 0,
            idle_states: self.idle_states(domain, power),
            polling: self.arch == Arch::X86,
            freq_invariant: options.freq_invariant.unwrap_or_else(|| self.freq_invariant(options)),
            no_table: drv.frequency_table.as_ref().is_some_and(|f| !f.value),
            every_limit_change: drv.every_limit_change.as_ref().is_some_and(|f| f.value),
            scale_khz: domain.scale_khz.as_ref().map_or(0, |s| s.value),
            freq_ref: self.arch == Arch::Arm,
            turbo_khz: domain.turbo_khz.iter().map(|k| k.value).collect(),
            energy_model_uw: power::energy_model_uw(domain),
            draws: Draws::default(),
            inefficient: inefficient(domain),
        }
    }

    fn freq_invariant(&self, options: &PlatformOptions) -> bool {
        let drv = &self.cpufreq;
        let since = match (&drv.freq_invariant_since, &drv.freq_invariant) {
            (Some(since), _) => kernel_version(&since.value),
            (None, Some(flag)) => return flag.value,
            (None, None) if self.arch == Arch::Arm => return true,
            (None, None) => Some(X86_INVARIANT_SINCE),
        };
        kernel_version(&options.profile).is_some_and(|kernel| since.is_some_and(|since| kernel >= since))
    }

    /// Assumptions that were made with the file and stand in its comments (`# ASSUMED: ...`), as imports write them.
    fn assumed_in_comments(&self) -> impl Iterator<Item = String> {
        self.source.text().lines().filter_map(|line| Some(line.strip_prefix("# ASSUMED: ")?.to_owned()))
    }

    /// State 0 by convention of the kernel, then those of the file.
    fn idle_states(&self, domain: &Domain, power: &DomainPower) -> Vec<IdleState> {
        let (name, us) = if self.arch == Arch::Arm { ("WFI", 1) } else { ("POLL", 0) };
        let power_of = |i: usize| power.idle.get(i).copied().flatten();
        let first = IdleState {
            name: name.into(),
            entry_latency_ns: 0,
            exit_latency_ns: us * 1000,
            exit_ns_per_ghz: 0,
            reported_latency_ns: 0,
            min_residency_ns: us * 1000,
            power_uw: power_of(0),
            shared: false,
        };
        let deeper = domain.idle_states.iter().enumerate().map(|(i, s)| IdleState {
            name: s.name.value.clone(),
            entry_latency_ns: s.entry_latency_us * 1000,
            exit_latency_ns: s.exit_latency_us.value * 1000,
            exit_ns_per_ghz: s.exit_ns_per_ghz,
            reported_latency_ns: s.wakeup_latency_us.as_ref().map_or(0, |l| l.value * 1000),
            min_residency_ns: s.min_residency_us.value * 1000,
            power_uw: power_of(i + 1),
            shared: s.shared,
        });
        std::iter::once(first).chain(deeper).collect()
    }

    fn add_topology(&self, machine: &mut Machine, order: &[&Domain], powers: &[DomainPower]) {
        let plain = |groups: &Groups| -> Vec<Vec<u32>> {
            groups.iter().map(|g| sorted(g.value.iter().map(|c| c.value))).collect()
        };
        for group in plain(&self.topology.smt) {
            for &cpu in &group {
                machine.cpus[cpu as usize].smt.clone_from(&group);
            }
        }
        let by_domain = || order.iter().map(|d| sorted(d.cpus.iter().map(|c| c.value))).collect();
        let clusters = if self.topology.clusters.is_empty() { by_domain() } else { plain(&self.topology.clusters) };
        for (i, cpus) in clusters.iter().enumerate() {
            for &cpu in cpus {
                machine.cpus[cpu as usize].cluster = i as u32;
            }
            // A shared rail can be given a power by operating point only when one domain sets its frequency.
            let owner = order.iter().position(|d| cpus.iter().all(|cpu| d.cpus.iter().any(|c| c.value == *cpu)));
            let name = match owner {
                Some(d) if order[d].cpus.len() == cpus.len() => order[d].id.value.clone(),
                _ => format!("cluster{i}"),
            };
            // What draws is said of the domain, then.
            let says = |&cpu: &u32| !machine.domains[machine.cpus[cpu as usize].domain as usize].draws.is_empty();
            let plain = owner.filter(|_| !cpus.iter().any(says));
            let active_power_uw = plain.map_or_else(Vec::new, |d| powers[d].cluster.clone());
            machine.clusters.push(Cluster { name, cpus: cpus.clone(), active_power_uw, idle_power_uw: Vec::new() });
        }
        machine.llcs = if self.topology.llc.is_empty() { clusters } else { plain(&self.topology.llc) };
        machine.nodes = plain(&self.topology.nodes);
        let row = |row: &At<Vec<At<u32>>>| row.value.iter().map(|distance| distance.value).collect();
        machine.node_distances = self.topology.node_distances.iter().map(row).collect();
    }

    fn assumptions(&self, options: &PlatformOptions, power: &[(String, PowerSource)]) -> Vec<String> {
        let drv = &self.cpufreq;
        let mut said = Vec::new();
        let mut say = |when: bool, text: String| said.extend(when.then_some(text));
        for (id, source) in power {
            say(*source == PowerSource::Unknown, format!("domain `{id}`: no power figures; its energy is not known"));
        }
        say(drv.fast_switch.is_none(), "fast_switch is not stated: the slow path (a worker thread) is taken".into());
        say(
            drv.transition_latency_ns.is_none() && drv.transition_delay_us.is_none(),
            "transition latency is not stated: the default rate limit is that of an unknown latency (1 ms)".into(),
        );
        say(
            drv.transition_latency_ns.is_none() && drv.switch_time_us.is_none(),
            "switch time is not stated: frequency changes take no time".into(),
        );
        say(
            self.costs.is_empty() && options.costs.is_none(),
            "costs are not stated: scheduler paths take no time".into(),
        );
        say(
            self.domains.iter().all(|d| d.idle_states.is_empty()),
            "no idle states are stated: only state 0 exists".into(),
        );
        let is_silent = drv.freq_invariant.is_none() && drv.freq_invariant_since.is_none();
        say(
            self.arch == Arch::X86 && is_silent,
            "freq_invariant is not stated: from 5.7 on, as Intel's CPUs (AMD's: from 5.11 on with acpi_cppc, else never)"
                .into(),
        );
        said.extend(self.assumed_in_comments());
        said
    }
}

/// Assumption on frequencies below those of the table from which a domain's power comes.
fn below_table(table: Option<&EnergyTable>, domain: &Domain, power: &DomainPower) -> Option<String> {
    let low = power.below_khz.or_else(|| power::below(table?, domain, &frequencies(domain)))?;
    Some(format!(
        "domain `{}`: its table has no figure below {low} kHz; power there is taken in proportion to frequency",
        domain.id.value
    ))
}

/// Release from which x86 is frequency-invariant where a file says nothing (docs/rules/clock.md#frequency-invariance).
const X86_INVARIANT_SINCE: (u32, u32) = (5, 7);

/// Points that the kernel said it passes over; nothing where it said nothing of any.
fn inefficient(domain: &Domain) -> Vec<bool> {
    let told = |opp: &super::file::OppRow| opp.inefficient.as_ref().map(|flag| flag.value);
    if domain.opps.iter().all(|opp| told(opp).is_none()) {
        return Vec::new();
    }
    domain.opps.iter().map(|opp| told(opp).unwrap_or(false)).collect()
}

/// Major and minor number of a kernel version: `5.7`, `v6.12.3`.
pub(crate) fn kernel_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim_start_matches('v').split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

/// Frequencies of a domain, ascending: its operating points or its grid, which always contains the highest frequency.
pub(super) fn frequencies(domain: &Domain) -> Vec<u32> {
    let (Some(min), Some(max)) = (&domain.khz_min, &domain.khz_max_turbo) else {
        return domain.opps.iter().map(|o| o.khz.value).collect();
    };
    let step = domain.khz_step.as_ref().map_or(100_000, |s| s.value);
    let mut khz: Vec<u32> = (min.value..max.value).step_by(step as usize).collect();
    khz.push(max.value);
    khz
}

fn sorted(cpus: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut cpus: Vec<u32> = cpus.collect();
    cpus.sort_unstable();
    cpus
}
