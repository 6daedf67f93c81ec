// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs of a device tree: bindings `arm/cpus.yaml`, `opp/opp-v2.yaml`, `cpu/idle-states.yaml`, `cpu/cpu-capacity.txt`
//! of Linux. Heat: `thermal.rs`.

use super::cells::{Node, Part, Tree};
use super::draft::{Domain, Draft, Idle, KHZ, Opp, in_order, khz_of, sorted};
use super::leftover::{self, Nodes};
use crate::diagnostic::{Diagnostic, Diagnostics};
use pelton_core::EnergyModel;

/// Makers of Arm CPUs in `arm/cpus.yaml`.
const ARM_MAKERS: [&str; 9] =
    ["arm,", "apple,", "qcom,", "nvidia,", "samsung,", "cavium,", "marvell,", "brcm,", "faraday,"];

/// A CPU with what its node refers to.
struct Cpu<'a> {
    node: &'a Node,
    table: Option<&'a Node>,
    /// Points of the first binding, in the CPU itself; empty when it has none or a table.
    points: Vec<Opp>,
    /// Idle states, and whether each is one of a whole power domain.
    idle: Vec<(&'a Node, bool)>,
    dmips_mhz: Option<u64>,
    coefficient: Option<u64>,
    /// Clock of the driver, where the tree has no table: CPUs with one clock share it.
    clock: Vec<String>,
}

/// CPUs, domains, operating points and idle states.
pub fn draft(tree: &Tree) -> Result<Draft, Diagnostics> {
    let mut all = Vec::new();
    tree.root.walk(&mut all);
    let mut draft = Draft { name: name(tree), ..Draft::default() };
    draft.title = tree.root.text("model").unwrap_or_default().to_owned();
    draft.assumed.extend(tree.notes.iter().cloned());
    let Some(cpus) = tree.root.child("cpus") else { return Ok(draft) };
    let is_cpu = |node: &&Node| node.base() == "cpu" && is_available(node);
    let cpus = cpus.children.iter().filter(is_cpu).map(|node| cpu(tree, &all, node));
    let cpus = cpus.collect::<Result<Vec<_>, _>>().map_err(Diagnostics::from)?;
    // Architectures are distinguished by the vendor of the CPUs.
    let is_arm =
        |cpu: &Cpu<'_>| cpu.node.text("compatible").is_some_and(|c| ARM_MAKERS.iter().any(|m| c.starts_with(m)));
    draft.arch = cpus.iter().all(is_arm).then_some("arm64");
    if draft.arch.is_none() {
        draft.assumed.push("some CPU is none of Arm's: the instruction set is not known".to_owned());
    }
    draft.assumed.push("CPU numbers are the order of the nodes; the frequency driver is not known".to_owned());
    draft.assumed.extend(chip_notes(&cpus));
    draft.clusters = clusters(tree, &all, &cpus).map_err(Diagnostics::from)?;
    draft.domains = domains(tree, &cpus, &mut draft.assumed).map_err(Diagnostics::from)?;
    let latencies = cpus.iter().filter_map(|cpu| cpu.table).flat_map(|table| &table.children);
    let latencies = latencies.map(|opp| tree.number(opp, "clock-latency-ns")).collect::<Result<Vec<_>, _>>();
    draft.transition_latency_ns = latencies.map_err(Diagnostics::from)?.into_iter().flatten().max();
    let costs = cpus.iter().map(|cpu| leftover::capacity_by_costs(tree, &all, cpu.node)).collect::<Vec<_>>();
    let has_costs = cpus.iter().any(|cpu| cpu.node.property("sched-energy-costs").is_some());
    capacities(&mut draft, has_costs.then_some(&costs[..]));
    draft.domains.iter_mut().for_each(passed_over);
    draft.assumed.extend(leftover::list(&of_kinds(tree, &cpus)));
    let nodes: Vec<&Node> = cpus.iter().map(|cpu| cpu.node).collect();
    draft.zones = super::thermal::zones(tree, &nodes, &draft.domains, &mut draft.assumed).map_err(Diagnostics::from)?;
    Ok(draft)
}

/// Nodes that say something about these CPUs.
fn of_kinds<'a>(tree: &'a Tree, cpus: &[Cpu<'a>]) -> Nodes<'a> {
    Nodes {
        root: tree.root.child("cpus").unwrap_or(&tree.root),
        cpus: cpus.iter().map(|cpu| cpu.node).collect(),
        tables: cpus.iter().filter_map(|cpu| cpu.table).collect(),
        states: cpus.iter().flat_map(|cpu| &cpu.idle).map(|&(node, _)| node).collect(),
    }
}

/// Most states that the kernel's model has here.
const EM_STATES_MAX: usize = 256;

/// Points whose `opp-microwatt` makes the kernel pass over them: its Energy Model has that power (`_get_dt_power`).
fn passed_over(domain: &mut Domain) {
    let points: Option<Vec<(u32, u64)>> =
        domain.opps.iter().map(|opp| Some((opp.khz, (opp.power_mw? * 1000.0).round() as u64))).collect();
    let (Some(points), Some(capacity)) = (points, domain.capacity) else { return };
    // Every point needs a performance of its own.
    let (Some(low), Some(top)) = (points.first(), points.last()) else { return };
    if points.len() > EM_STATES_MAX || u64::from(capacity) * u64::from(low.0) < u64::from(top.0) {
        return;
    }
    let model = EnergyModel::new(&points, capacity);
    if model.states().iter().any(|state| state.inefficient != 0) {
        let marks = domain.opps.iter_mut().zip(model.states());
        marks.for_each(|(opp, state)| opp.inefficient = Some(state.inefficient != 0));
    }
}

/// True unless the status is disabled or failed. `for_each_available_child_of_node` of Linux leaves out others, too.
fn is_available(node: &Node) -> bool {
    node.text("status").is_none_or(|s| s != "disabled" && !s.starts_with("fail"))
}

fn name(tree: &Tree) -> String {
    let compatible = tree.root.text("compatible").unwrap_or("imported");
    compatible.rsplit(',').next().unwrap_or(compatible).to_owned()
}

fn cpu<'a>(tree: &'a Tree, all: &[&'a Node], node: &'a Node) -> Result<Cpu<'a>, Diagnostic> {
    let table = tree.referred(all, node, "operating-points-v2")?.first().copied();
    Ok(Cpu {
        node,
        table,
        points: if table.is_some() { Vec::new() } else { first_binding(tree, node)? },
        idle: idle_states(tree, all, node)?,
        dmips_mhz: tree.number(node, "capacity-dmips-mhz")?,
        coefficient: tree.number(node, "dynamic-power-coefficient")?,
        clock: clock(node),
    })
}

/// `operating-points = <kHz uV ...>` (`opp/opp-v1.yaml`, `_of_add_opp_table_v1` of Linux).
fn first_binding(tree: &Tree, node: &Node) -> Result<Vec<Opp>, Diagnostic> {
    let wrong = |what: &str| tree.error(&node.place, what);
    let numbers = tree.numbers(node, "operating-points")?;
    let (pairs, rest) = numbers.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(wrong("`operating-points` are pairs of kHz and uV"));
    }
    let point = |&[khz, uv]: &[u64; 2]| {
        let khz = khz_of(khz).ok_or_else(|| wrong("`operating-points` has no frequency of a CPU").allowed(KHZ))?;
        Ok(Opp { khz, uv: uv_of(uv), ..Opp::default() })
    };
    pairs.iter().map(point).collect()
}

fn uv_of(uv: u64) -> Option<u32> {
    u32::try_from(uv).ok().filter(|&uv| uv >= 100_000)
}

/// Source of the CPU's frequency, in words that are equal for CPUs of one clock; empty where the tree does not state
/// it.
fn clock(node: &Node) -> Vec<String> {
    let has_perf = node
        .property("power-domain-names")
        .is_some_and(|names| names.parts.iter().any(|(part, _)| matches!(part, Part::Text(text) if text == "perf")));
    let named = ["qcom,freq-domain", "performance-domains", "clocks"].into_iter().find_map(|name| node.property(name));
    let parts = match named {
        Some(property) => &property.parts[..],
        // The CPU's own idle domain comes first.
        None if has_perf => {
            let domains = node.property("power-domains").map_or(&[][..], |p| &p.parts);
            &domains[domains.len().saturating_sub(1)..]
        }
        None => &[],
    };
    let word = |(part, _): &(Part, _)| match part {
        Part::Number(number) => number.to_string(),
        Part::Label(word) | Part::Text(word) | Part::Word(word) => word.clone(),
    };
    parts.iter().map(word).collect()
}

/// Most power domains above a CPU.
const POWER_DOMAINS_MAX: usize = 4;

/// Idle states of a CPU: those it names, or those of its power domain and of the domains above
/// (`power/power-domain.yaml`).
fn idle_states<'a>(tree: &'a Tree, all: &[&'a Node], node: &Node) -> Result<Vec<(&'a Node, bool)>, Diagnostic> {
    let mut states: Vec<(&Node, bool)> = Vec::new();
    states.extend(tree.referred(all, node, "cpu-idle-states")?.into_iter().map(|state| (state, false)));
    let mut domain = tree.referred_first(all, node, "power-domains");
    for level in 0..POWER_DOMAINS_MAX {
        let Some(at) = domain else { break };
        states.extend(tree.referred(all, at, "domain-idle-states")?.into_iter().map(|state| (state, level > 0)));
        domain = tree.referred_first(all, at, "power-domains");
    }
    Ok(states)
}

/// Notes on facts that only the chip itself knows.
fn chip_notes(cpus: &[Cpu<'_>]) -> Vec<String> {
    let points = || cpus.iter().filter_map(|cpu| cpu.table).flat_map(|table| &table.children);
    let has = |name: &str| points().any(|point| point.property(name).is_some());
    let by_bin = |point: &Node| point.properties.iter().any(|p| p.name.starts_with("opp-microvolt-"));
    let mut notes = Vec::new();
    if has("opp-supported-hw") {
        notes.push("a chip's operating points are fixed by its fuses (opp-supported-hw): all are here".to_owned());
    }
    if points().any(by_bin) {
        notes.push(
            "voltages by speed bin (opp-microvolt-NAME) are not taken: which bin a chip is of is not here".to_owned(),
        );
    }
    notes
}

/// CPUs that share a table that is shared, or a clock, are one domain.
fn domains(tree: &Tree, cpus: &[Cpu<'_>], assumed: &mut Vec<String>) -> Result<Vec<Domain>, Diagnostic> {
    let mut domains: Vec<(usize, Domain)> = Vec::new();
    for (number, cpu) in cpus.iter().enumerate() {
        let with = |&(first, _): &(usize, Domain)| is_together(&cpus[first], cpu);
        if let Some(at) = domains.iter().position(with) {
            domains[at].1.cpus.push(number as u32);
            continue;
        }
        let mut domain = domain(tree, cpu)?;
        domain.cpus = vec![number as u32];
        if domain.opps.is_empty() {
            assumed.push(format!("CPU {number} has no table of operating points here: its frequencies are not known"));
        }
        domains.push((number, domain));
    }
    Ok(domains.into_iter().map(|(_, domain)| domain).collect())
}

fn is_together(a: &Cpu<'_>, b: &Cpu<'_>) -> bool {
    match (a.table, b.table) {
        (Some(x), Some(y)) => std::ptr::eq(x, y),
        (None, None) => {
            let alike = a.node.text("compatible") == b.node.text("compatible") && a.dmips_mhz == b.dmips_mhz;
            // Older trees name the clock in the first CPU alone.
            let clocked = b.clock.is_empty() || a.clock == b.clock;
            alike && if a.points.is_empty() { clocked } else { is_shared(a, b) }
        }
        _ => false,
    }
}

/// True if two CPUs share a clock by their points. The first binding cannot state that: the kernel's generic driver
/// takes all CPUs (`cpufreq_dt`).
fn is_shared(a: &Cpu<'_>, b: &Cpu<'_>) -> bool {
    let same = |(a, b): (&Opp, &Opp)| (a.khz, a.uv) == (b.khz, b.uv);
    b.points.is_empty() || (a.points.len() == b.points.len() && a.points.iter().zip(&b.points).all(same))
}

fn domain(tree: &Tree, cpu: &Cpu<'_>) -> Result<Domain, Diagnostic> {
    let points = cpu.table.map_or(&[][..], |table| &table.children).iter().filter(|node| is_available(node));
    let mut opps = points.filter_map(|node| opp(tree, node).transpose()).collect::<Result<Vec<_>, _>>()?;
    opps.extend(cpu.points.iter().cloned());
    Ok(Domain {
        core: core(cpu.node),
        dmips_mhz: cpu.dmips_mhz,
        coefficient: cpu.coefficient,
        per_cpu: cpu.table.is_some_and(|table| table.property("opp-shared").is_none()),
        opps: sorted(opps),
        idle: in_order(cpu.idle.iter().map(|&(node, shared)| idle(tree, node, shared)).collect::<Result<_, _>>()?),
        source: "device tree".to_owned(),
        ..Domain::default()
    })
}

/// `arm,cortex-a53` is a Cortex-A53.
fn core(node: &Node) -> String {
    let word = node.text("compatible").unwrap_or("").rsplit(',').next().unwrap_or("");
    match word.split_once('-') {
        Some(("cortex", model)) => format!("Cortex-{}", model.to_ascii_uppercase()),
        _ => word.to_owned(),
    }
}

/// An operating point; `None` for what is none (a node without `opp-hz`, or one that is for turbo only).
fn opp(tree: &Tree, node: &Node) -> Result<Option<Opp>, Diagnostic> {
    // A source writes 64 bits as one number (/bits/ 64) or as two cells.
    let hz = match tree.numbers(node, "opp-hz")?[..] {
        [] => return Ok(None),
        [hz] => hz,
        [high, low, ..] => (high << 32) | (low & 0xffff_ffff),
    };
    let wrong = || tree.error(&node.place, "`opp-hz` is no frequency of a CPU").allowed("1000000..=20000000000 Hz");
    let khz = khz_of(hz / 1000).ok_or_else(wrong)?;
    // <target> or <target min max>.
    let uv = tree.number(node, "opp-microvolt")?.and_then(uv_of);
    let power_mw = tree.number(node, "opp-microwatt")?.map(|uw| uw as f64 / 1000.0);
    Ok(node.property("turbo-mode").is_none().then_some(Opp { khz, uv, power_mw, ..Opp::default() }))
}

fn idle(tree: &Tree, node: &Node, shared: bool) -> Result<Idle, Diagnostic> {
    let us = |name: &str| tree.number(node, &format!("{name}-us"));
    Ok(Idle {
        name: node.text("idle-state-name").unwrap_or(node.base()).to_owned(),
        entry_us: us("entry-latency")?.unwrap_or(0),
        exit_us: us("exit-latency")?.unwrap_or(0),
        residency_us: us("min-residency")?.unwrap_or(0),
        wakeup_us: us("wakeup-latency")?,
        shared,
    })
}

/// `cpu-map`: CPUs by cluster, when every CPU is in one.
fn clusters(tree: &Tree, all: &[&Node], cpus: &[Cpu<'_>]) -> Result<Vec<Vec<u32>>, Diagnostic> {
    let Some(map) = tree.root.child("cpus").and_then(|cpus| cpus.child("cpu-map")) else { return Ok(Vec::new()) };
    let mut clusters = Vec::new();
    let sockets = map.children.iter().filter(|c| c.name.starts_with("socket"));
    let top = map.children.iter().chain(sockets.flat_map(|socket| &socket.children));
    for cluster in top.filter(|c| c.name.starts_with("cluster")) {
        let mut below = Vec::new();
        cluster.walk(&mut below);
        let mut group = Vec::new();
        for node in below.into_iter().filter(|node| node.property("cpu").is_some()) {
            for cpu in tree.referred(all, node, "cpu")? {
                group.extend(cpus.iter().position(|c| std::ptr::eq(c.node, cpu)).map(|at| at as u32));
            }
        }
        group.sort_unstable();
        clusters.push(group);
    }
    let told: usize = clusters.iter().map(Vec::len).sum();
    Ok(if told == cpus.len() { clusters } else { Vec::new() })
}

/// Fills in capacities as `topology_normalize_cpu_scale` of Linux does: capacity-dmips-mhz times the highest frequency,
/// the largest is 1024. Kernels of phones before it have `sched-energy-costs`.
fn capacities(draft: &mut Draft, costs: Option<&[Option<u32>]>) {
    let by_costs = |domain: &Domain| costs?.get(*domain.cpus.first()? as usize).copied().flatten();
    let is_old = draft.domains.iter().all(|domain| domain.dmips_mhz.is_none() && by_costs(domain).is_some());
    if is_old {
        draft.assume("capacities are the largest of sched-energy-costs; its energies have no unit and are not used");
        draft.domains.iter_mut().for_each(|domain| domain.capacity = by_costs(domain));
        return;
    }
    if costs.is_some() {
        draft
            .assume("not used: sched-energy-costs (beside capacity-dmips-mhz, not of all CPUs, or without capacities)");
    }
    let raw = |d: &Domain| Some(u128::from(d.dmips_mhz?) * u128::from(d.opps.last()?.khz));
    let largest = draft.domains.iter().map(raw).collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
    if draft.domains.iter().all(|d| d.dmips_mhz.is_none()) {
        draft.assumed.push("no capacity-dmips-mhz: the kernel treats all CPUs alike, capacity 1024".to_owned());
        draft.domains.iter_mut().for_each(|d| d.capacity = Some(1024));
    } else if let Some(largest) = largest.filter(|&largest| largest > 0) {
        draft.assumed.push("capacities are computed: capacity-dmips-mhz times the highest frequency here".to_owned());
        let scaled = |d: &Domain| Some((raw(d)? * 1024 / largest) as u32);
        draft.domains.iter_mut().for_each(|d| d.capacity = scaled(d));
    } else {
        draft.assumed.push("some CPU lacks a frequency or capacity-dmips-mhz: capacities are not known".to_owned());
    }
}
