// SPDX-License-Identifier: GPL-2.0-or-later
//! The published table's runs once more, rule by rule: what each costs elsewhere, and what calls wait for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pelton_lab::measure::latencies;
use pelton_lab::measure::quantity;
use pelton_lab::measure::stats::{mean, mean_ci95};
use pelton_lab::run::run_one;
use pelton_schema::{Balance, Event, Gate, Sink};
use pelton_sim::Report;
use pelton_sim::report::CallParts;

pub const COST: &str = "<!-- cost, computed by tests/tests/blocked_guide.rs -->\n";
pub const CALLS: &str = "<!-- calls, computed by tests/tests/blocked_guide.rs -->\n";
pub const GATES: &str = "<!-- gates, computed by tests/tests/blocked_guide.rs -->\n";
/// As many as the published table has.
const RUNS: u64 = 60;
const HZ: u32 = 1000;
const GROUPS: u32 = 12;
/// Names and switches, as in `scenarios/published/blocked-load.toml`.
const RULES: [(&str, &str); 7] = [
    ("once a tick", "blocked_update=scan"),
    ("HZ/20", "blocked_update=interval,blocked_update_us=50000"),
    ("5.13", "blocked_update=own,idle_walk=entry"),
    ("5.16", "blocked_update=own,idle_walk=entry,newidle=domain_cost,newidle_own=counted"),
    ("7.2", "blocked_update=own,idle_walk=entry,newidle=at_switch,newidle_own=counted,newidle_dice=rate"),
    ("lazy", "blocked_update=lazy,idle_walk=entry"),
    // No rule, but a world in which no worker waits behind another one (F-166).
    ("once a tick, wake_cap=off", "blocked_update=scan,wake_cap=off"),
];
/// The rule whose runs are those of the one before, to the last count ([`holds`]): left out where that shows.
const AS_BEFORE: &str = "5.16";
/// Rules of which the page shows what calls wait for.
const OF_CALLS: [&str; 4] = ["once a tick", "HZ/20", "7.2", "once a tick, wake_cap=off"];
/// Percentiles between which calls are one band.
const BANDS: [(f64, f64); 5] = [(0.0, 50.0), (50.0, 75.0), (75.0, 95.0), (95.0, 99.0), (99.0, 100.0)];
/// Below this mean idle time a CPU does not look for a task, to 5.15.
const MIGRATION_COST_NS: u64 = 500_000;

/// Facts about a run beside its report.
#[derive(Default)]
struct Told {
    /// CPU of each task, by tid.
    cpu_of: BTreeMap<u32, u32>,
    wakeups: u64,
    elsewhere: u64,
    gates: u64,
    overloaded: u64,
    searched: u64,
    avg_idle_ns: Option<u64>,
    cost_ns: u64,
    looks: u64,
}

impl Sink for Told {
    const BALANCES: bool = true;

    fn event(&mut self, _: u64, event: &Event) {
        match *event {
            Event::SchedWaking { tid, target_cpu, .. } => {
                self.wakeups += 1;
                let before = self.cpu_of.insert(tid, target_cpu);
                self.elsewhere += u64::from(before.is_some_and(|cpu| cpu != target_cpu));
            }
            Event::SchedMigrateTask { tid, dest_cpu, .. } => {
                self.cpu_of.insert(tid, dest_cpu);
            }
            Event::SchedSwitch { cpu, next_tid, .. } if next_tid != 0 => {
                self.cpu_of.insert(next_tid, cpu);
            }
            _ => {}
        }
    }

    fn gate(&mut self, _: u64, gate: &Gate) {
        self.gates += 1;
        self.overloaded += u64::from(gate.overloaded);
        self.searched += u64::from(gate.searched != 0);
        if gate.overloaded {
            self.avg_idle_ns = Some(self.avg_idle_ns.map_or(gate.avg_idle_ns, |least| least.min(gate.avg_idle_ns)));
            self.cost_ns = self.cost_ns.max(gate.cost_ns);
        }
    }

    fn balance(&mut self, _: u64, balance: &Balance<'_>) {
        self.looks += u64::from(balance.env.idle != pelton_core::balance_idle::NEWLY_IDLE);
    }
}

/// All runs of a rule.
pub struct Rule {
    name: &'static str,
    runs: Vec<(Report, Told)>,
}

pub fn all() -> Vec<Rule> {
    let run = |set: &str, seed| {
        let mut told = Told::default();
        let plan = super::plan_of(&format!("5.4,{set}"), HZ, GROUPS, seed);
        let report = run_one(&plan, seed, &mut told, Default::default()).expect("runs");
        (report, told)
    };
    RULES.iter().map(|&(name, set)| Rule { name, runs: (1..=RUNS).map(|seed| run(set, seed)).collect() }).collect()
}

impl Rule {
    /// Mean over the runs and half of its 95 % confidence interval.
    fn cell(&self, digits: usize, of: impl Fn(&Report, &Told) -> f64) -> String {
        let samples: Vec<f64> = self.runs.iter().map(|(report, told)| of(report, told)).collect();
        let (from, to) = mean_ci95(&samples).expect("many runs");
        format!("{:.digits$} ± {:.digits$}", mean(&samples).expect("runs"), (to - from) / 2.0)
    }

    fn quantity(&self, digits: usize, name: &str, of: Option<&str>) -> String {
        let read = |report: &Report| quantity::find(name).and_then(|q| q.read(report, of)).expect("a number");
        self.cell(digits, |report, _| read(report))
    }

    fn calls(&self) -> Vec<CallParts> {
        latencies::calls(self.runs.iter().map(|(report, _)| report))
    }
}

/// Part of the run in which a domain is above its lowest frequency, percent.
fn raised_pct(report: &Report, domain: usize) -> f64 {
    let domain = &report.domains[domain];
    let low_ns = domain.time_in_state_ns.first().copied().unwrap_or(0);
    100.0 * (1.0 - low_ns as f64 / report.duration_ns as f64)
}

/// Costs of a rule beside the refreshes: the CPUs that tasks go to, and the time that frequencies stay high.
pub fn cost(all: &[Rule]) -> String {
    let domains: Vec<&str> = all[0].runs[0].0.domains.iter().map(|domain| domain.name.as_str()).collect();
    let mut text = String::from("\n| rule | migrations | wake-ups to another CPU, % |");
    domains.iter().for_each(|name| write!(text, " busy time in {name}, % |").expect("a string"));
    domains.iter().for_each(|name| write!(text, " {name} above its lowest frequency, % |").expect("a string"));
    text += " above the need, ms | error, MHz s |\n";
    writeln!(text, "|---|{}", "---|".repeat(4 + 2 * domains.len())).expect("a string");
    for rule in all.iter().take(RULES.len() - 1).filter(|rule| rule.name != AS_BEFORE) {
        let elsewhere = |_: &Report, told: &Told| 100.0 * told.elsewhere as f64 / told.wakeups as f64;
        let mut cells = vec![rule.quantity(0, "migrations_all", None), rule.cell(1, elsewhere)];
        cells.extend(domains.iter().map(|name| rule.quantity(1, "domain_busy_pct", Some(name))));
        cells.extend((0..domains.len()).map(|domain| rule.cell(1, |report, _| raised_pct(report, domain))));
        cells.extend([rule.quantity(0, "over_ms", None), rule.quantity(1, "frequency_error_mhz_s", None)]);
        writeln!(text, "| {} | {} |", rule.name, cells.join(" | ")).expect("a string");
    }
    text
}

type Part = (&'static str, fn(&CallParts) -> u64);
const PARTS: [Part; 7] = [
    ("all", CallParts::sum_ns),
    ("queued", |p| p.queued_ns),
    ("search or walk", |p| p.search_ns),
    ("idle exit", |p| p.idle_exit_ns),
    ("not heard of", |p| p.unheard_ns),
    ("kernel's path", |p| p.path_ns),
    ("slower", |p| p.slow_ns),
];

/// Waiting times of calls, from the shortest half to the longest hundredth.
pub fn calls(all: &[Rule]) -> String {
    let names: Vec<&str> = PARTS.iter().map(|part| part.0).collect();
    let mut text =
        format!("\n| rule | percentiles | {} |\n|---|---|{}\n", names.join(" | "), "---|".repeat(PARTS.len()));
    for rule in all.iter().filter(|rule| OF_CALLS.contains(&rule.name)) {
        let calls = rule.calls();
        for (from, to) in BANDS {
            let cell = |part: &Part| format!("{:.0}", latencies::band_us(&calls, from, to, part.1).expect("calls"));
            let cells: Vec<String> = PARTS.iter().map(cell).collect();
            writeln!(text, "| {} | {from:.0} to {to:.0} | {} |", rule.name, cells.join(" | ")).expect("a string");
        }
    }
    text
}

/// Rate at which a CPU that runs out of tasks looks for one, and the conditions that could keep it from that.
pub fn gates(all: &[Rule]) -> String {
    let mut text = String::from(
        "\n| rule | runs out of tasks, 1/s | while a CPU has two tasks | looks, 1/s | least mean idle time, us | dearest look remembered, us |\n\
         |---|---|---|---|---|---|\n",
    );
    for rule in all.iter().take(RULES.len() - 1) {
        let per_s = |count: u64| count as f64 / super::SECONDS as f64;
        let told = || rule.runs.iter().map(|(_, told)| told);
        let (least, most) = (told().filter_map(|t| t.avg_idle_ns).min(), told().map(|t| t.cost_ns).max());
        let cells = [
            rule.cell(0, |_, told| per_s(told.gates)),
            rule.cell(0, |_, told| per_s(told.overloaded)),
            rule.cell(0, |_, told| per_s(told.searched)),
            format!("{:.0}", least.unwrap_or(0) as f64 / 1e3),
            format!("{:.0}", most.unwrap_or(0) as f64 / 1e3),
        ];
        writeln!(text, "| {} | {} |", rule.name, cells.join(" | ")).expect("a string");
    }
    text
}

/// Asserts the page's statements about these figures.
pub fn holds(all: &[Rule]) {
    let [series, counted] = [&all[2], &all[3]];
    let same = series.runs.iter().zip(&counted.runs).all(|((a, _), (b, _))| a == b);
    assert!(same, "5.13 and 5.16 are no longer the same");
    for (_, told) in series.runs.iter().chain(&counted.runs) {
        let least_ns = told.avg_idle_ns.expect("a CPU that runs out of tasks while another has two");
        assert!(least_ns > MIGRATION_COST_NS && least_ns > told.cost_ns, "a look is left out");
    }
    let (without_queues, rules) = all.split_last().expect("rules");
    for rule in rules {
        let slowest = |of: fn(&CallParts) -> u64| latencies::band_us(&rule.calls(), 99.0, 100.0, of).expect("calls");
        assert!(slowest(|p| p.queued_ns) > 0.9 * slowest(CallParts::sum_ns), "{}: the tail is no queue", rule.name);
    }
    let slowest_us = latencies::band_us(&without_queues.calls(), 99.0, 100.0, CallParts::sum_ns).expect("calls");
    assert!(slowest_us < 1000.0, "a tail of {slowest_us} us without queues");
}

/// Looks at a domain by periodic balances and by walks for idle CPUs, 1/s: those whose time is not charged.
pub fn looks_per_s(all: &[Rule]) -> f64 {
    let looks: u64 = all[0].runs.iter().map(|(_, told)| told.looks).sum();
    looks as f64 / (RUNS * super::SECONDS) as f64
}
