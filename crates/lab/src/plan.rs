// SPDX-License-Identifier: GPL-2.0-or-later
//! From what a person names - platform, workloads, policy - to a checked plan.

pub mod gate;

use crate::kernel::{PREFIX, image, switches};
use crate::measure::quantity;
use crate::number::human_ns;
use pelton_core::{Policy, governor_votes, value};
use pelton_model::Plan;
use pelton_model::groups::{THROTTLE_DEFAULT, into_group};
use pelton_model::machine::IdleState;
use pelton_model::workload::{GroupChange, Start};
use pelton_model::{KernelImage, Machine, RunConfig, Workload};
use pelton_scenario::bench::original::Original;
use pelton_scenario::platform::{self, Built, COST_NS_MAX, PlatformOptions, SWITCH_TIME_US_MAX};
use pelton_scenario::policy::{self, PolicyChoice, RATE_LIMIT_US_MAX};
use pelton_scenario::rtapp::{Loaded, RtAppOptions};
use pelton_scenario::{Diagnostics, SourceFile, fit, workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// A plan, and what people should know about how it came about.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Everything a run depends on.
    pub plan: Plan,
    /// The policy with its profile and the switches that were set.
    pub policy: PolicyChoice,
    /// Warnings about the workload: suspicious, but not wrong.
    pub warnings: Diagnostics,
    /// Choices that were made where the workload leaves them open.
    pub notes: Vec<String>,
    /// Notes on the policy on this machine.
    pub policy_notes: Vec<String>,
    /// Programs of the workload whose own output can be printed.
    pub originals: Vec<Original>,
    /// Values of template words of the workload.
    pub defines: BTreeMap<String, String>,
    /// Task group that holds everything.
    pub group: Option<String>,
    /// Sources of power.
    pub power: PowerWords,
}

/// Two sorts of power, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PowerWords {
    /// Source of the kernel's Energy Model, which decides where tasks are placed by energy.
    pub model: String,
    /// Source of the power that the board is charged, and whose power it is: it decides nothing.
    pub drawn: String,
}

impl PowerWords {
    /// Of a machine.
    pub fn of(built: &Built) -> PowerWords {
        PowerWords { model: built.model_in_words(), drawn: built.drawn_in_words() }
    }
}

/// Platform, workload and machine options.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Platform name or file.
    pub platform: String,
    /// The platform's text, where it is no file: a recording carries its machine.
    pub platform_text: Option<String>,
    /// Workload specification: files and models, joined by `+`.
    pub workload: String,
    /// Text of the rt-app file that `workload` then only names, where it is no file.
    pub workload_text: Option<String>,
    /// Seed.
    pub seed: u64,
    /// Length, ns; `None` = what the workload asks for.
    pub duration_ns: Option<u64>,
    /// Timer interrupts per second; `None` = the platform module's default.
    pub hz: Option<u32>,
    /// Rate limit of every domain, us.
    pub rate_limit_us: Option<u64>,
    /// Random start phases.
    pub random_phase: bool,
    /// Changes to the platform.
    pub machine: MachineChanges,
    /// Task group that holds the whole workload; `None` = the root.
    pub group: Option<String>,
    /// Tasks that start later: name (before the number of the thread) and delay, ns.
    pub delays_ns: Vec<(String, u64)>,
    /// Values of template words in rt-app files: name and text.
    pub defines: BTreeMap<String, String>,
}

/// Largest change of a time that a platform file states, percent of it.
const CHANGE_PERCENT_MAX: u64 = 100_000;

/// Properties of the machine that a changed assumption sets instead of the platform file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineChanges {
    /// Length of a driver call, us.
    pub switch_time_us: Option<u64>,
    /// Every cost of a kernel path but the migration's, percent of the platform file's.
    pub path_costs_percent: Option<u64>,
    /// Cost of a migration, ns.
    pub migration_ns: Option<u64>,
    /// Updating a CPU's load, before any of its queues, ns.
    pub blocked_walk_ns: Option<u64>,
    /// Updating each queue of the CPU, ns.
    pub blocked_queue_ns: Option<u64>,
    /// Asking one CPU in an evaluation, ns.
    pub hook_cpu_ns: Option<u64>,
    /// Looking at one CPU in a search for a task, ns.
    pub balance_cpu_ns: Option<u64>,
    /// Looking at one CPU in a search for an idle one, ns.
    pub scan_cpu_ns: Option<u64>,
    /// Ways into and out of idle states really take so many percent of what the platform file says; the governor
    /// believes the file.
    pub idle_latency_percent: Option<u64>,
    /// Frequency-invariant signals: the architecture reports the frequency to the scheduler.
    pub freq_invariant: Option<bool>,
    /// Time in which the signals halve, ms.
    pub half_life_ms: Option<NonZeroU32>,
    /// Power of what else the meter of the posting saw, mW or the energy table's unit.
    pub rest_mw: Option<u32>,
}

impl MachineChanges {
    /// Fills the changes that are not set here from `others`.
    pub fn or(self, others: MachineChanges) -> MachineChanges {
        MachineChanges {
            switch_time_us: self.switch_time_us.or(others.switch_time_us),
            path_costs_percent: self.path_costs_percent.or(others.path_costs_percent),
            migration_ns: self.migration_ns.or(others.migration_ns),
            blocked_walk_ns: self.blocked_walk_ns.or(others.blocked_walk_ns),
            blocked_queue_ns: self.blocked_queue_ns.or(others.blocked_queue_ns),
            hook_cpu_ns: self.hook_cpu_ns.or(others.hook_cpu_ns),
            balance_cpu_ns: self.balance_cpu_ns.or(others.balance_cpu_ns),
            scan_cpu_ns: self.scan_cpu_ns.or(others.scan_cpu_ns),
            idle_latency_percent: self.idle_latency_percent.or(others.idle_latency_percent),
            freq_invariant: self.freq_invariant.or(others.freq_invariant),
            half_life_ms: self.half_life_ms.or(others.half_life_ms),
            rest_mw: self.rest_mw.or(others.rest_mw),
        }
    }

    /// The first number that no machine has, and the largest that one may have.
    pub fn impossible(&self) -> Option<(&'static str, u64)> {
        let cost = |name, ns: Option<u64>| (name, ns, COST_NS_MAX);
        let percent = |name, percent: Option<u64>| (name, percent, CHANGE_PERCENT_MAX);
        let numbers = [
            ("switch_time_us", self.switch_time_us, SWITCH_TIME_US_MAX),
            percent("path_costs_percent", self.path_costs_percent),
            percent("idle_latency_percent", self.idle_latency_percent),
            cost("migration_ns", self.migration_ns),
            cost("blocked_walk_ns", self.blocked_walk_ns),
            cost("blocked_queue_ns", self.blocked_queue_ns),
            cost("hook_cpu_ns", self.hook_cpu_ns),
            cost("balance_cpu_ns", self.balance_cpu_ns),
            cost("scan_cpu_ns", self.scan_cpu_ns),
        ];
        let above =
            |(name, value, most): (_, Option<u64>, u64)| value.filter(|value| *value > most).map(|_| (name, most));
        numbers.into_iter().find_map(above)
    }

    fn apply(self, machine: &mut Machine) {
        for domain in &mut machine.domains {
            domain.freq_invariant = self.freq_invariant.unwrap_or(domain.freq_invariant);
            if let Some(percent) = self.idle_latency_percent {
                domain.idle_states.iter_mut().for_each(|state| shorten(state, percent));
            }
            domain.switch_time_ns = self.switch_time_us.map_or(domain.switch_time_ns, |us| us.saturating_mul(1000));
        }
        machine.rest_uw = self.rest_mw.map(|mw| u64::from(mw) * 1000).or(machine.rest_uw);
        let costs = &mut machine.costs;
        costs.migration_ns = self.migration_ns.unwrap_or(costs.migration_ns);
        costs.blocked_walk_ns = self.blocked_walk_ns.unwrap_or(costs.blocked_walk_ns);
        costs.blocked_queue_ns = self.blocked_queue_ns.unwrap_or(costs.blocked_queue_ns);
        costs.hook_cpu_ns = self.hook_cpu_ns.unwrap_or(costs.hook_cpu_ns);
        costs.balance_cpu_ns = self.balance_cpu_ns.unwrap_or(costs.balance_cpu_ns);
        costs.scan_cpu_ns = self.scan_cpu_ns.unwrap_or(costs.scan_cpu_ns);
        let percent = self.path_costs_percent.unwrap_or(100);
        let paths = [
            &mut costs.context_switch_ns,
            &mut costs.wakeup_ns,
            &mut costs.tick_ns,
            &mut costs.hook_ns,
            &mut costs.vote_ns,
            &mut costs.boost_ns,
            &mut costs.register_write_ns,
            &mut costs.ipi_ns,
            &mut costs.idle_entry_ns,
            &mut costs.idle_exit_ns,
            &mut costs.blocked_walk_ns,
            &mut costs.blocked_queue_ns,
            &mut costs.hook_cpu_ns,
            &mut costs.balance_cpu_ns,
            &mut costs.place_energy_ns,
            &mut costs.scan_cpu_ns,
        ];
        for ns in paths {
            *ns = ns.saturating_mul(percent) / 100;
        }
    }
}

/// The way into an idle state and out of it takes so many percent; the governor does not know.
fn shorten(state: &mut IdleState, percent: u64) {
    state.reported_latency_ns = state.wakeup_latency_ns();
    state.entry_latency_ns = state.entry_latency_ns.saturating_mul(percent) / 100;
    state.exit_latency_ns = state.exit_latency_ns.saturating_mul(percent) / 100;
}

/// A policy as a person names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicySpec {
    /// Policy file.
    pub file: Option<PathBuf>,
    /// Kernel profile.
    pub profile: Option<String>,
    /// Switches, `name=value`.
    pub sets: Vec<String>,
    /// Text typed after `--policy`, for messages.
    pub typed: Option<String>,
    /// Name of an image of a kernel's own code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

/// Length of a run when neither the caller nor the workload says one, ns.
pub const DURATION_NS_DEFAULT: u64 = 10_000_000_000;

/// Longest run, ns: 30 days, far from the end of 64 bits.
pub const DURATION_NS_MAX: u64 = 30 * 24 * 3_600 * 1_000_000_000;

impl PolicySpec {
    /// A file name, `-` for standard input, or a profile, a policy known by name and switches, each where wanted:
    /// `4.16,rt_signal=on`. A kernel's own code stands in place of the profile: `kernel:NAME`.
    ///
    /// ```
    /// use pelton_lab::plan::PolicySpec;
    /// let spec = PolicySpec::parse("4.16,rt_signal=on");
    /// assert_eq!((spec.profile.as_deref(), spec.sets.len()), (Some("4.16"), 1));
    /// assert!(PolicySpec::parse("./mine.toml").file.is_some());
    /// assert!(PolicySpec::parse("composite,hook_epsilon=8").profile.is_none());
    /// ```
    pub fn parse(text: &str) -> PolicySpec {
        if text.contains('/') || text.ends_with(".toml") || text == "-" {
            return PolicySpec { file: Some(text.into()), ..PolicySpec::default() };
        }
        let mut parts = text.split(',').map(str::trim).peekable();
        let is_known = |part: &str| policy::BUILT_IN.iter().any(|(name, _)| *name == part);
        let kernel = parts.next_if(|first| first.starts_with(PREFIX)).map(|first| first[PREFIX.len()..].to_owned());
        let profile = parts.next_if(|first| kernel.is_none() && !first.contains('=') && !is_known(first));
        let file = parts.next_if(|part| is_known(part)).map(PathBuf::from);
        let (profile, sets) = (profile.map(str::to_owned), parts.map(str::to_owned).collect());
        PolicySpec { file, profile, sets, typed: Some(text.to_owned()), kernel }
    }
}

/// The policy alone.
pub fn policy(spec: &PolicySpec) -> Result<PolicyChoice, Diagnostics> {
    let mut choice = chosen(spec).map_err(|found| match &spec.typed {
        Some(typed) => as_typed(&found, typed),
        None => found,
    })?;
    if let Some(typed) = &spec.typed {
        choice.warnings = as_typed(&choice.warnings, typed);
        choice.origins.iter_mut().filter(|(switch, _)| typed.contains(*switch)).for_each(|(_, place)| {
            *place = format!("--policy {typed}");
        });
    }
    Ok(choice)
}

/// The policy of what has the core alone.
pub fn core_policy(spec: &PolicySpec) -> Result<PolicyChoice, Diagnostics> {
    match (&spec.kernel, &spec.typed) {
        (Some(_), Some(typed)) => {
            let found =
                SourceFile::new("--policy", typed).error(0..typed.len(), "a kernel's own code decides in runs only");
            Err(found.help("name a profile and its switches").into())
        }
        _ => policy(spec),
    }
}

/// Messages about a part of what was typed after `--policy` show all of it.
fn as_typed(found: &Diagnostics, typed: &str) -> Diagnostics {
    let whole = SourceFile::new("--policy", typed);
    let mut moved = Diagnostics::new();
    for one in found.iter() {
        let part = one.source();
        let at = typed.find(part.text()).filter(|_| ["--set", "--profile"].contains(&part.name()));
        let span = at.zip(one.span()).map(|(at, span)| at + span.start..at + span.end);
        moved.push(if span.is_some() { one.moved_to(whole.clone(), span) } else { one.clone() });
    }
    moved
}

fn chosen(spec: &PolicySpec) -> Result<PolicyChoice, Diagnostics> {
    let Some(name) = &spec.kernel else {
        return policy::choose(spec.profile.as_deref(), spec.file.as_slice(), &spec.sets);
    };
    if let Some(other) = &spec.profile {
        let typed = spec.typed.as_deref().unwrap_or(name);
        let found =
            SourceFile::new("--policy", typed).error(0..typed.len(), format!("profile {other} beside kernel code"));
        return Err(found.help("the profile of an image is the nearest to its kernel: leave out --profile").into());
    }
    let (image, profile) = image::find(name, spec.typed.as_deref().unwrap_or(name))?;
    let choice = policy::choose(Some(&profile), spec.file.as_slice(), &spec.sets)?;
    match choice.set.iter().find(|(switch, _)| switches::is_overruled(switch)) {
        Some((switch, value)) => Err(overruled(spec, switch, value, &profile)),
        None => Ok(PolicyChoice { kernel: Some(image), ..choice }),
    }
}

/// A switch of the core's that says nothing about a kernel's own code.
fn overruled(spec: &PolicySpec, switch: &str, value: &str, profile: &str) -> Diagnostics {
    let typed = spec.typed.as_deref().unwrap_or(switch);
    let at = typed.find(switch).map_or(0..typed.len(), |at| at..at + switch.len());
    let found = SourceFile::new("--policy", typed).error(at, format!("`{switch}` is decided by the kernel's own code"));
    found.help(format!("leave it out, or ask the core for it: {profile},{switch}={value}")).into()
}

/// The platform alone as this kernel profile sees it, with what is changed in it.
pub fn machine(inputs: &Inputs, profile: &str) -> Result<Built, Diagnostics> {
    let default = PlatformOptions::new(profile);
    let options = PlatformOptions { hz: inputs.hz.unwrap_or(default.hz), ..default };
    let file = match &inputs.platform_text {
        Some(text) => platform::parse(&SourceFile::new(&inputs.platform, text)),
        None => platform::load(&inputs.platform),
    };
    let mut built = file?.build(&options)?;
    inputs.machine.apply(&mut built.machine);
    Ok(built)
}

/// The plan, or everything that is wrong with the first input that cannot be used.
pub fn build(inputs: &Inputs, spec: &PolicySpec) -> Result<Prepared, Diagnostics> {
    in_range("duration_ns", inputs.duration_ns, 1, DURATION_NS_MAX)?;
    in_range("rate_limit_us", inputs.rate_limit_us, 0, RATE_LIMIT_US_MAX)?;
    let policy = policy(spec)?;
    let built = machine(inputs, &policy.profile)?;
    let options = RtAppOptions { defines: inputs.defines.clone(), ..RtAppOptions::default() };
    let mut loaded = match &inputs.workload_text {
        Some(text) => workload::load_text(&SourceFile::new(&inputs.workload, text), &built.machine, &options)?,
        None => workload::load_full(&inputs.workload, &built.machine, &options)?,
    };
    loaded.warnings.extend(fit::check(&inputs.workload, &built.machine, &loaded.workload, &policy)?);
    Ok(assemble(inputs, built, policy, loaded))
}

/// Refuses a number of a request that is out of its range; the command line has its own message for it.
fn in_range(name: &str, value: Option<u64>, least: u64, most: u64) -> Result<(), Diagnostics> {
    let Some(value) = value.filter(|value| !(least..=most).contains(value)) else { return Ok(()) };
    let text = value.to_string();
    let at = SourceFile::new(name, &text).error(0..text.len(), format!("`{name}` is out of range"));
    Err(at.allowed(format!("{least}..={most}")).into())
}

/// The plan of a machine and a workload that exist already.
pub fn assemble(inputs: &Inputs, built: Built, policy: PolicyChoice, mut loaded: Loaded) -> Prepared {
    delay(&mut loaded.workload, &inputs.delays_ns);
    if let Some(path) = &inputs.group {
        into_group(&mut loaded.workload, path);
    }
    let power = PowerWords::of(&built);
    if built.drawn_unit != "mW" {
        let unit = &built.drawn_unit;
        loaded
            .notes
            .push(format!("power of this platform is in {unit}: read mJ as thousandths of that unit times seconds"));
    }
    loaded.notes.extend(not_in_force(&loaded.workload, &policy.policy));
    let mut built = built;
    loaded.notes.extend(cooled(&mut built.machine, &policy.policy));
    loaded.notes.extend(unheard_boosts(&loaded.workload, &policy.policy));
    loaded.notes.extend(missing_timer(&built.machine, &policy));
    let mut policy = policy;
    if let Some(unread) = policy.rate_limit_unread(inputs.rate_limit_us) {
        policy.warnings.push(unread);
    }
    let config = RunConfig {
        seed: inputs.seed,
        duration_ns: inputs.duration_ns.or(loaded.workload.duration_ns).unwrap_or(DURATION_NS_DEFAULT),
        rate_limit_us: policy.rate_limit_us.or(inputs.rate_limit_us),
        start_phase_random: inputs.random_phase,
        counted_from_ns: inputs.delays_ns.iter().map(|(_, ns)| *ns).max().unwrap_or(0),
        half_life_ms: inputs.machine.half_life_ms,
        kernel: policy.kernel.clone(),
        ..RunConfig::default()
    };
    let plan = Plan::new(built.machine, std::mem::take(&mut loaded.workload), policy.policy, config);
    let Loaded { warnings, notes, originals, .. } = loaded;
    let policy_notes = waits_alike(&plan).into_iter().collect();
    Prepared {
        plan,
        policy,
        warnings,
        notes,
        policy_notes,
        originals,
        defines: inputs.defines.clone(),
        group: inputs.group.clone(),
        power,
    }
}

/// Notes on what a workload asks for and a policy has not.
fn not_in_force(workload: &Workload, policy: &Policy) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(whose) = unread_clamps(workload, policy) {
        notes.push(format!("utilization clamps ({whose}) are not in force: this policy has none (uclamp=off)"));
    }
    let throttled = workload.groups.iter().find(|group| group.throttle < THROTTLE_DEFAULT);
    if let Some(group) = throttled.filter(|_| policy.uclamp != pelton_core::value::UCLAMP_GROUP_THROTTLE) {
        let path = &group.path;
        notes.push(format!("limits of groups (task group `{path}`) are not in force: uclamp=group_throttle has them"));
    }
    let limited = workload.groups.iter().find(|group| group.bandwidth.is_some());
    if let Some(group) = limited.filter(|_| policy.bandwidth == pelton_core::value::BANDWIDTH_OFF) {
        let path = &group.path;
        notes.push(format!("quotas (task group `{path}`) are not in force: this policy has none (bandwidth=off)"));
    }
    if let Some(group) = workload.idle_group().filter(|_| !pelton_core::has_idle_groups(policy)) {
        notes.push(format!(
            "cpu.idle (task group `{group}`) is not in force: this policy has no idle groups (group_idle=off)"
        ));
    }
    notes
}

/// Removes the zones of a plan whose policy cools nothing; notes what is assumed of zones that are cooled.
fn cooled(machine: &mut Machine, policy: &Policy) -> Vec<String> {
    if policy.thermal == pelton_core::value::THERMAL_OFF {
        machine.thermal_zones.clear();
    }
    let assumed = machine.thermal_zones.iter().filter(|zone| zone.assumed);
    let note = |zone: &pelton_model::thermal::ThermalZone| {
        format!(
            "how fast zone `{}` heats is ASSUMED, not measured: temperatures and their times are an example, the governor's \
             answers to them are the kernel's",
            zone.name
        )
    };
    assumed.map(note).collect()
}

/// A task or group whose clamps the policy does not read.
fn unread_clamps(workload: &Workload, policy: &Policy) -> Option<String> {
    if policy.uclamp != pelton_core::value::UCLAMP_OFF {
        return None;
    }
    let binds = |clamps: Option<(u32, u32)>| clamps.is_some_and(|c| c != (0, 1024));
    let clamped = |t: &&pelton_model::workload::TaskSpec| {
        binds(t.uclamp) || t.frame_floor.is_some() || t.phases.iter().any(|p| binds(p.uclamp))
    };
    let task = workload.tasks.iter().find(clamped).map(|task| format!("task `{}`", task.name));
    let now = workload.groups.iter().find(|group| binds(Some(group.clamps))).map(|group| &group.path);
    let written = |c: &&GroupChange| c.clamp_min.is_some() || c.clamp_max.is_some();
    let group = || now.or_else(|| workload.group_changes.iter().find(written).map(|change| &change.path));
    task.or_else(|| group().map(|path| format!("task group `{path}`")))
}

/// Note on boosts that the governor does not read.
fn unheard_boosts(workload: &Workload, policy: &Policy) -> Option<String> {
    let boosted = policy.boost != 0 || workload.boosts.iter().any(|spec| spec.boosts.iter().any(|b| b.1 != 0));
    let heard = policy.governor == value::GOVERNOR_SCHEDUTIL || governor_votes(policy);
    let note = "boosts change no frequency: this governor hears of none (schedutil, sched_dvfs and sched_dvfs_v7 do)";
    (boosted && !heard).then(|| note.to_owned())
}

/// A gate that is to wait less the larger the error is, and waits the same time always: D_min is not below D_max.
fn waits_alike(plan: &Plan) -> Option<String> {
    let gate = plan.policy.gate;
    if gate != value::GATE_R2_LINEAR && gate != value::GATE_R2_HYPERBOLIC {
        return None;
    }
    let times = (0..plan.machine.domains.len() as u32).map(|domain| gate::gate_times(plan, domain));
    let alike = times.filter(|times| times.spacing_ns >= times.window_ns).max_by_key(|times| times.spacing_ns)?;
    Some(format!(
        "the r2 gates wait one time whatever the error is: D_min, {}, is not below D_max, {}; set gate_spacing_min_us and \
         gate_spacing_max_us",
        human_ns(alike.spacing_ns),
        human_ns(alike.window_ns)
    ))
}

/// Timers that were asked for, on a machine that has none.
fn missing_timer(machine: &Machine, choice: &PolicyChoice) -> Option<String> {
    let timer = |(name, value): &&(String, String)| {
        matches!((name.as_str(), value.as_str()), ("hrtick", "on") | ("dl_enforcement", "timer"))
    };
    let (name, value) = choice.set.iter().find(timer).filter(|_| !machine.defers_timers)?;
    Some(format!(
        "{name}={value} is not in force: only machines that defer the programming of timers have it (x86, not arm64)"
    ))
}

fn delay(workload: &mut Workload, delays_ns: &[(String, u64)]) {
    for task in &mut workload.tasks {
        let delayed =
            delays_ns.iter().find(|(name, _)| task.name == *name || quantity::instance_base(&task.name) == name);
        if let Some(&(_, ns)) = delayed {
            let own_ns = if let Start::After(own_ns) = task.start { own_ns } else { 0 };
            task.start = Start::After(ns.saturating_add(own_ns));
        }
    }
}

impl Prepared {
    /// Profile and switches in a line: `4.16, rt_signal=on`.
    pub fn policy_in_words(&self) -> String {
        self.policy.in_words()
    }

    /// The kernel's own code that decides, if some does, and the switches that were set, in a line.
    pub fn kernel_and_changes(&self) -> String {
        let named = |kernel: &KernelImage| format!("{PREFIX}{} {} {}", kernel.name, kernel.release, kernel.hash);
        let words = [self.policy.kernel.as_ref().map(named), Some(self.changes()).filter(|words| !words.is_empty())];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The switches that were set, in a line.
    pub fn changes(&self) -> String {
        self.policy.changes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_holds_every_part() {
        let workload = "periodic:run_us=9000,period_us=24390,policy=fifo,priority=10,duration_s=15 + busy".to_owned();
        let inputs = Inputs { platform: "hikey-6220".into(), workload, seed: 3, ..Inputs::default() };
        let prepared = build(&inputs, &PolicySpec::parse("4.16,rt_signal=on,rt_in_sum=on")).expect("good inputs");
        let plan = &prepared.plan;
        assert_eq!((plan.machine.cpus.len(), plan.workload.tasks.len()), (8, 2));
        assert_eq!((plan.config.duration_ns, plan.config.seed), (15_000_000_000, 3));
        assert_eq!(prepared.policy_in_words(), "4.16, rt_signal=on, rt_in_sum=on");
    }

    #[test]
    fn a_policy_known_by_name_may_follow_a_profile() {
        for (text, in_words) in [("composite", "7.2"), ("4.12,composite,hook_epsilon=8", "4.12")] {
            let choice = policy(&PolicySpec::parse(text)).expect("a known policy");
            assert_eq!(choice.profile, in_words);
            assert!(choice.set.iter().any(|(switch, value)| switch == "hook_filter" && value == "composite"));
        }
        assert!(policy(&PolicySpec::parse("composit")).is_err());
        assert!(policy(&PolicySpec::parse("composite,composite")).is_err());
    }

    #[test]
    fn the_machine_is_that_of_the_policy_s_kernel() {
        let inputs = Inputs { platform: "intel-i7-6700".into(), workload: "busy".into(), ..Inputs::default() };
        let invariant = |policy: &str| {
            let prepared = build(&inputs, &PolicySpec::parse(policy)).expect("good inputs");
            prepared.plan.machine.domains.iter().all(|d| d.freq_invariant)
        };
        for (policy, expected) in [("4.12", false), ("5.4", false), ("5.10", true), ("composite", true)] {
            assert_eq!(invariant(policy), expected, "{policy}");
        }
    }

    #[test]
    fn boosts_that_the_governor_does_not_hear_of_are_said() {
        let notes = |boost: &str, policy: &str| {
            let workload = format!("periodic:run_us=100,period_us=1000,name=ui + {boost}");
            let inputs = Inputs { platform: "hikey-6220".into(), workload, ..Inputs::default() };
            build(&inputs, &PolicySpec::parse(policy)).expect("good inputs").notes.join("\n")
        };
        for (boost, policy) in [("boost:of=ui|other,percent=9", "7.2"), ("boost:percent=9", "4.12,governor=sched_dvfs")]
        {
            assert!(!notes(boost, policy).contains("boost"), "{boost} {policy}");
        }
        for (boost, policy) in
            [("boost:of=ui,percent=9", "7.2,governor=ondemand"), ("busy", "7.2,governor=interactive,boost=3")]
        {
            assert!(notes(boost, policy).contains("this governor hears of none"), "{boost} {policy}");
        }
        assert!(!notes("boost:of=ui,percent=0", "7.2,governor=ondemand").contains("hears"));
    }

    #[test]
    fn timers_that_a_machine_does_not_have_are_said() {
        let notes = |platform: &str, policy: &str| {
            let inputs = Inputs { platform: platform.into(), workload: "busy".into(), ..Inputs::default() };
            build(&inputs, &PolicySpec::parse(policy)).expect("good inputs").notes.join("\n")
        };
        for asked in ["7.2,hrtick=on", "6.18,dl_enforcement=timer"] {
            assert!(notes("juno-r2", asked).contains("is not in force: only machines"), "{asked}");
            assert!(!notes("intel-i7-6700", asked).contains("not in force"), "{asked}");
        }
        assert!(!notes("juno-r2", "7.2").contains("not in force"), "the profile's own value needs no word");
    }

    #[test]
    fn a_gate_that_waits_the_same_time_always_is_said() {
        let notes = |policy: &str| {
            let inputs = Inputs { platform: "pixel6-gs101".into(), workload: "busy".into(), ..Inputs::default() };
            build(&inputs, &PolicySpec::parse(policy)).expect("good inputs").policy_notes.join("\n")
        };
        let narrow = "7.2,gate=r2_linear,gate_spacing_min_us=8000,gate_spacing_max_us=4000";
        assert!(notes(narrow).contains("D_min, 8 ms, is not below D_max, 8 ms"), "{}", notes(narrow));
        assert_eq!(notes("7.2,gate=r2_hyperbolic,gate_spacing_min_us=1000,gate_spacing_max_us=4000"), "");
        assert_eq!(notes("7.2"), "");
    }

    #[test]
    fn mistakes_come_back_as_messages() {
        for (platform, workload) in [("hikey", "busy"), ("hikey-6220", "bsy"), ("hikey-6220", "./no.json")] {
            let wrong = Inputs { platform: platform.into(), workload: workload.into(), ..Inputs::default() };
            assert!(build(&wrong, &PolicySpec::default()).is_err(), "{platform} {workload}");
        }
    }

    #[test]
    fn clamps_and_limits_that_a_policy_does_not_read_are_said() {
        let notes = |workload: &str, policy: &str| {
            let inputs = Inputs { platform: "juno-r2".into(), workload: workload.into(), ..Inputs::default() };
            build(&inputs, &PolicySpec::parse(policy)).expect("good inputs").notes.join("\n")
        };
        let (task, group) = ("busy:util_max=100", "busy:group=/a + group:path=/a,cpu.uclamp.max=20");
        for policy in ["7.2,uclamp=off", "4.19"] {
            assert!(notes(task, policy).contains("clamps (task `busy-0`) are not in force"), "{policy}");
            assert!(notes(group, policy).contains("clamps (task group `/a`) are not in force"), "{policy}");
            assert!(!notes("busy:util_max=1024", policy).contains("clamps"), "(0, 1024) limits no task");
        }
        let limited = "busy:group=/a + group:path=/a,group_throttle=300";
        for (policy, said) in [("7.2", true), ("7.2,uclamp=sum", true), ("7.2,uclamp=group_throttle", false)] {
            assert_eq!(notes(limited, policy).contains("limits of groups (task group `/a`)"), said, "{policy}");
            assert!(!notes(task, policy).contains("clamps"), "{policy}");
        }
    }
}
