// SPDX-License-Identifier: GPL-2.0-or-later
//! Rules between the figures of a platform file, beyond each figure's own range.

use std::collections::{BTreeMap, BTreeSet};

use super::file::{Arch, Domain, EnergyTable, Groups, IdleRow, PlatformFile};
use super::keys::OPPS_MAX;
use super::machine::kernel_version;
use super::{draw_rules, nodes, plausible, power, thermal};
use crate::diagnostic::{Diagnostics, SourceFile, hint_for};

/// Everything that is wrong or suspicious between the figures of a file.
pub(super) fn check(file: &PlatformFile) -> Diagnostics {
    let mut rules = Rules { source: &file.source, found: Diagnostics::new() };
    rules.name(file);
    rules.ids(file);
    rules.cpu_numbers(file);
    rules.invariance(file);
    rules.firmware(file);
    rules.capacities(file);
    for domain in &file.domains {
        rules.frequencies(domain);
        rules.powers(domain);
        plausible::powers(&file.source, domain, &mut rules.found);
        rules.turbo(domain);
        if file.arch == Arch::Arm {
            rules.points_never_asked_for(domain);
        }
        rules.idle_states(&domain.idle_states);
    }
    let cpus = file.domains.iter().flat_map(|d| &d.cpus).map(|c| c.value).collect::<BTreeSet<_>>().len();
    rules.groups("smt", &file.topology.smt, cpus, false);
    rules.groups("clusters", &file.topology.clusters, cpus, true);
    rules.groups("llc", &file.topology.llc, cpus, true);
    rules.groups("nodes", &file.topology.nodes, cpus, true);
    nodes::check(file, &mut rules.found);
    thermal::check(file, &mut rules.found);
    rules.energy_tables(file);
    draw_rules::check(file, &mut rules.found);
    rules.found.sort();
    rules.found
}

struct Rules<'f> {
    source: &'f SourceFile,
    found: Diagnostics,
}

impl Rules<'_> {
    fn name(&mut self, file: &PlatformFile) {
        let name = &file.name;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.value.len() > 64 || !name.value.chars().all(fits) {
            let at = self.source.error(name.span.clone(), "`name` is not a short name");
            self.found.push(at.allowed("1 to 64 lower-case letters, digits and `-`"));
        }
    }

    fn ids(&mut self, file: &PlatformFile) {
        let mut seen = BTreeMap::new();
        for domain in &file.domains {
            if let Some(first) = seen.insert(&domain.id.value, domain.id.span.start) {
                let line = self.source.line_of(first);
                let at =
                    self.source.error(domain.id.span.clone(), format!("two domains are called `{}`", domain.id.value));
                self.found.push(at.label(format!("first on line {line}")).help("give each [[perf_domain]] its own id"));
            }
        }
    }

    fn invariance(&mut self, file: &PlatformFile) {
        let Some(since) = &file.cpufreq.freq_invariant_since else { return };
        let at = self.source.error(since.span.clone(), "`freq_invariant_since` is not a kernel version");
        if kernel_version(&since.value).is_none() {
            self.found.push(at.allowed("major.minor, as in \"5.7\""));
        } else if let Some(flag) = &file.cpufreq.freq_invariant {
            let at = self.source.error(flag.span.clone(), "both `freq_invariant` and `freq_invariant_since`");
            self.found.push(at.help("keep one of them"));
        }
    }

    /// Firmware that looks for frequencies needs a driver that only writes them, and CPUs whose speed is their own.
    fn firmware(&mut self, file: &PlatformFile) {
        let Some(poll) = &file.cpufreq.firmware_poll_us else {
            let after = ("firmware_after_tick_us", &file.cpufreq.firmware_after_tick_us);
            for (key, value) in [after, ("firmware_raise_us", &file.cpufreq.firmware_raise_us)] {
                let Some(value) = value else { continue };
                let at = self.source.error(value.span.clone(), format!("`{key}` without `firmware_poll_us`"));
                self.found.push(at.help("say how often firmware looks, or leave this out"));
            }
            return;
        };
        if let Some(raise) = file.cpufreq.firmware_raise_us.as_ref().filter(|raise| raise.value > poll.value) {
            let at = self.source.error(raise.span.clone(), "`firmware_raise_us` is longer than from look to look");
            self.found.push(at.allowed(format!("0..={} us (`firmware_poll_us`)", poll.value)));
        }
        if !file.cpufreq.fast_switch.as_ref().is_some_and(|fast| fast.value) {
            let at = self.source.error(poll.span.clone(), "`firmware_poll_us` without `fast_switch = true`");
            self.found.push(at.help("a driver that waits for firmware knows when the clock changed: `switch_time_us`"));
        }
        for domain in file.domains.iter().filter(|domain| !domain.turbo_khz.is_empty()) {
            let at = self.source.error(domain.turbo_khz[0].span.clone(), "turbo limits beside firmware that polls");
            self.found.push(at.help("not modelled together: leave one of them out"));
        }
    }

    /// Each CPU in one domain, numbers without a gap.
    fn cpu_numbers(&mut self, file: &PlatformFile) {
        let mut owner: BTreeMap<u32, &Domain> = BTreeMap::new();
        for domain in &file.domains {
            for cpu in &domain.cpus {
                if let Some(first) = owner.insert(cpu.value, domain) {
                    self.found.push_with(|| {
                        let line = self.source.line_of(first.id.span.start);
                        let at = self.source.error(cpu.span.clone(), format!("CPU {} is listed twice", cpu.value));
                        at.label(format!("also in domain `{}` (line {line})", first.id.value))
                            .help("a CPU belongs to exactly one domain")
                    });
                }
            }
        }
        let missing = (0..).zip(owner.keys()).find(|&(expected, &cpu)| expected != cpu);
        if let Some((expected, &cpu)) = missing
            && let Some(at) = owner[&cpu].cpus.iter().find(|c| c.value == cpu)
        {
            let d = self.source.error(at.span.clone(), format!("CPU {expected} is missing: it is in no domain"));
            let d = d.label("the next one there is");
            self.found.push(
                d.allowed(format!("0..={}, each number once", owner.len() - 1))
                    .help("CPU numbers start at 0 and have no gap; renumber them or add the domain"),
            );
        }
    }

    fn capacities(&mut self, file: &PlatformFile) {
        let given: Vec<_> = file.domains.iter().filter_map(|d| d.capacity.as_ref()).collect();
        let Some(biggest) = given.iter().max_by_key(|c| c.value) else { return };
        if biggest.value != 1024 {
            let at = self
                .source
                .error(biggest.span.clone(), format!("the biggest CPU has capacity {}, not 1024", biggest.value));
            self.found.push(
                at.allowed("1024 for the biggest CPU of the machine")
                    .help("scale all capacities so that the biggest is 1024"),
            );
        }
        for domain in file.domains.iter().filter(|d| d.capacity.is_none()) {
            let at = self
                .source
                .error(domain.id.span.clone(), format!("domain `{}` has no capacity, others have", domain.id.value));
            self.found.push(
                at.allowed("1..=1024")
                    .help("add `capacity = ...`: capacity relative to the biggest CPU, at the highest frequency"),
            );
        }
        self.capacity_formula(file);
    }

    /// capacity-dmips-mhz x highest frequency, scaled to 1024 (docs/rules/placement.md#energy-model): a figure that
    /// disagrees is suspicious.
    fn capacity_formula(&mut self, file: &PlatformFile) {
        let raw = |d: &Domain| Some(d.capacity_dmips_mhz.as_ref()?.value * u64::from(d.opps.last()?.khz.value));
        let Some(biggest) = file.domains.iter().filter_map(raw).max() else { return };
        for domain in &file.domains {
            if let (Some(raw), Some(capacity)) = (raw(domain), &domain.capacity) {
                let computed = raw * 1024 / biggest;
                if computed.abs_diff(u64::from(capacity.value)) > 1 {
                    let at = self.source.error(
                        capacity.span.clone(),
                        format!("`capacity` disagrees with the device tree figure: {computed}"),
                    );
                    self.found.push(
                        at.label("capacity_dmips_mhz x highest kHz, scaled")
                            .help("keep it if it was measured; say so in a comment")
                            .warning(),
                    );
                }
            }
        }
    }

    fn frequencies(&mut self, domain: &Domain) {
        self.grid(domain);
        for pair in domain.opps.windows(2) {
            let (low, high) = (&pair[0].khz, &pair[1].khz);
            if high.value <= low.value {
                self.found.push_with(|| {
                    let what = if high.value == low.value { "is listed twice" } else { "is out of order" };
                    let at = self.source.error(high.span.clone(), format!("operating point {} kHz {what}", high.value));
                    at.label(format!("after {} kHz", low.value))
                        .allowed(format!("more than {} kHz", low.value))
                        .help("list operating points ascending by frequency, each once")
                });
            }
        }
    }

    /// Turbo limits and the reference of invariant signals are operating points; more active cores allow no more.
    fn turbo(&mut self, domain: &Domain) {
        let khz = super::machine::frequencies(domain);
        for limit in domain.turbo_khz.iter().chain(&domain.scale_khz) {
            if !khz.contains(&limit.value) {
                let at = self.source.error(limit.span.clone(), format!("{} kHz is no operating point", limit.value));
                self.found.push(at.help("name a frequency of the domain's list or grid"));
            }
        }
        for pair in domain.turbo_khz.windows(2) {
            if pair[1].value > pair[0].value {
                let at = self.source.error(pair[1].span.clone(), "the turbo limit grows with the number of cores");
                let at = at.label(format!("after {} kHz", pair[0].value));
                self.found.push(at.allowed(format!("at most {} kHz", pair[0].value)));
            }
        }
    }

    /// On Arm the governor multiplies by what signals are scaled to from 6.8 on, so that points above it are left out.
    fn points_never_asked_for(&mut self, domain: &Domain) {
        let (Some(scale), khz) = (&domain.scale_khz, super::machine::frequencies(domain)) else { return };
        let above: Vec<String> = khz.iter().filter(|&&khz| khz > scale.value).map(u32::to_string).collect();
        if above.is_empty() || !khz.contains(&scale.value) {
            return;
        }
        let text = format!("schedutil never asks for {} kHz from 6.8 on", above.join(", "));
        let at = self.source.error(scale.span.clone(), text).label("a request of 1024 asks for this frequency");
        let help = "right for points that were enabled after the kernel started (boost); where they were there from the start, \
                    drop the key";
        self.found.push(at.help(help).warning());
    }

    fn grid(&mut self, domain: &Domain) {
        let (min, max) = (&domain.khz_min, &domain.khz_max_turbo);
        match (min, max) {
            (Some(any), _) | (_, Some(any)) if !domain.opps.is_empty() => {
                let at = self.source.error(any.span.clone(), "both a list of operating points and a grid");
                self.found
                    .push(at.label("the grid").help("keep either `opps` or `khz_min`, `khz_max_turbo`, `khz_step`"));
            }
            (Some(min), Some(max)) => {
                let step = domain.khz_step.as_ref().map_or(100_000, |s| s.value);
                let points = max.value.saturating_sub(min.value) / step;
                if max.value <= min.value || points as usize >= OPPS_MAX {
                    let at = self.source.error(max.span.clone(), "no usable grid of frequencies");
                    let label = format!("from {} kHz in steps of {step} kHz", min.value);
                    self.found.push(at.label(label).allowed(format!("more than khz_min, at most {OPPS_MAX} points")));
                }
            }
            (Some(one), None) | (None, Some(one)) => {
                let at = self.source.error(one.span.clone(), "half a grid of frequencies");
                self.found.push(at.help("give both `khz_min` and `khz_max_turbo`"));
            }
            (None, None) => {}
        }
    }

    fn powers(&mut self, domain: &Domain) {
        let with = domain.opps.iter().filter(|o| o.power_mw.is_some()).count();
        if let Some(without) = domain.opps.iter().find(|o| o.power_mw.is_none() && with > 0) {
            let at = self.source.error(without.khz.span.clone(), "this operating point has no `power_mw`, others have");
            self.found.push(at.help("give the power of all operating points of a domain or of none"));
        }
        if let Some(model) = &domain.power_model
            && model.value.khz_low.value >= model.value.khz
        {
            let at = self.source.error(model.value.khz_low.span.clone(), "`khz_low` is not below `khz`");
            self.found.push(at.allowed(format!("less than {} kHz", model.value.khz)));
        }
        self.power_formula(domain);
    }

    /// A written power that the file's own coefficient and voltage contradict by more than 1 % is suspicious.
    fn power_formula(&mut self, domain: &Domain) {
        let Some(coefficient) = &domain.dynamic_power_coefficient else { return };
        for opp in &domain.opps {
            if let (Some(uv), Some(written)) = (&opp.uv, &opp.power_mw) {
                let computed = power::dynamic_uw(coefficient.value, uv.value, opp.khz.value) as f64 / 1000.0;
                if (computed - written.value).abs() > 0.01 * computed + 0.001 {
                    self.found.push_with(|| {
                        let at = self.source.error(
                            written.span.clone(),
                            format!("`power_mw` disagrees with the coefficient: {computed:.3} mW"),
                        );
                        at.label("dynamic_power_coefficient x V^2 x f")
                            .help("keep it if it was measured; say so in a comment")
                            .warning()
                    });
                }
            }
        }
    }

    fn idle_states(&mut self, states: &[IdleRow]) {
        let mut names = BTreeSet::new();
        for state in states {
            if !names.insert(&state.name.value) {
                let at = self
                    .source
                    .error(state.name.span.clone(), format!("two idle states are called `{}`", state.name.value));
                self.found.push(at.help("give each idle state of a domain its own name"));
            }
        }
        for pair in states.windows(2) {
            let (shallow, deep) = (&pair[0], &pair[1]);
            if deep.min_residency_us.value < shallow.min_residency_us.value {
                let at = self
                    .source
                    .error(deep.min_residency_us.span.clone(), "idle states are not ordered shallow to deep");
                let at =
                    at.label(format!("`{}` before it has {} us", shallow.name.value, shallow.min_residency_us.value));
                self.found.push(
                    at.allowed(format!("at least {} us", shallow.min_residency_us.value))
                        .help("a deeper state needs a longer stay to pay"),
                );
            }
        }
    }

    /// Groups are disjoint, name existing CPUs, and (when `complete`) cover all of them.
    fn groups(&mut self, key: &str, groups: &Groups, cpus: usize, complete: bool) {
        let mut seen = BTreeSet::new();
        for cpu in groups.iter().flat_map(|g| &g.value) {
            let what = if cpu.value as usize >= cpus {
                format!("`{key}` names CPU {}, which does not exist", cpu.value)
            } else if !seen.insert(cpu.value) {
                format!("`{key}` names CPU {} twice", cpu.value)
            } else {
                continue;
            };
            let allowed = format!("0..={}, each number once", cpus.saturating_sub(1));
            self.found.push_with(|| self.source.error(cpu.span.clone(), what).allowed(allowed));
        }
        let missing = (0..cpus as u32).find(|cpu| !seen.contains(cpu));
        if let (true, Some(missing), Some(last)) = (complete, missing, groups.last()) {
            let at = self.source.error(last.span.clone(), format!("`{key}` leaves out CPU {missing}"));
            self.found.push(at.allowed("every CPU of the machine in exactly one group"));
        }
    }

    fn energy_tables(&mut self, file: &PlatformFile) {
        let mut names = BTreeSet::new();
        for table in &file.energy_tables {
            if !names.insert(table.name.value.as_str()) {
                let at = self
                    .source
                    .error(table.name.span.clone(), format!("two energy tables are called `{}`", table.name.value));
                self.found.push(at.help("give each [[energy_table]] its own name"));
            }
            self.energy_rows(file, table);
        }
        if let Some(wanted) = &file.energy_table
            && !names.contains(wanted.value.as_str())
        {
            let at = self.source.error(wanted.span.clone(), format!("no energy table is called `{}`", wanted.value));
            self.found.push(at.help(hint_for(&wanted.value, names)));
        }
    }

    fn energy_rows(&mut self, file: &PlatformFile, table: &EnergyTable) {
        let ids: Vec<&str> = file.domains.iter().map(|d| d.id.value.as_str()).collect();
        let mut last_khz = BTreeMap::new();
        let mut unknown = BTreeSet::new();
        for row in &table.rows {
            let domain = row.domain.as_ref().map_or("", |d| d.value.as_str());
            let known = |name: &str| file.domains.iter().any(|d| d.is_called(name));
            if let Some(name) = row.domain.as_ref().filter(|d| !known(&d.value) && unknown.insert(d.value.clone())) {
                self.found.push_with(|| {
                    let at = self.source.error(name.span.clone(), format!("no domain is called `{domain}`"));
                    at.help(hint_for(domain, ids.iter().copied()))
                });
            }
            let Some(khz) = &row.khz else {
                if row.idle.is_none() && !row.other_subject {
                    let at = || self.source.error(row.span.clone(), "the row does not say what it is about");
                    self.found.push_with(|| at().help("give `khz` or `idle`"));
                }
                continue;
            };
            let other = (row.other.as_ref().map(|o| &o.value), row.other_khz.as_ref().map(|k| k.value));
            let before = last_khz.insert((domain, row.cluster_level, row.busy_cpus, other), khz.value);
            if let Some(before) = before.filter(|&before| before >= khz.value) {
                self.found.push_with(|| {
                    let at = self.source.error(khz.span.clone(), format!("row for {} kHz is out of order", khz.value));
                    at.label(format!("after {before} kHz"))
                        .help("list the rows of one domain ascending by frequency, each once")
                });
            }
        }
    }
}
