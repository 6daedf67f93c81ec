// SPDX-License-Identifier: GPL-2.0-or-later
//! The numbers that `pelton run` prints, and the log that it writes, over random boards, loads, profiles, switches and
//! parameters: sums are sums, means lie between extremes, nothing is negative or no number, names are unique.
//!
//! `PELTON_PRINTED_SEED` is the first seed, `PELTON_PRINTED_COUNT` how many follow. A failure prints the command that
//! repeats it, and the same run as a `pelton run`.

use pelton_lab::measure::summary::{header, summarise};
use pelton_lab::plan::{PolicySpec, Prepared, build};
use pelton_lab::run::{Control, run_one};
use pelton_scenario::platform;
use pelton_schema::Event;
use pelton_tests::random_runs::{Scenario, scenario};
use pelton_trace::{LogReader, PeltonLog, RunHeader};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Scenarios tried without being asked for another number: about half a minute of one CPU.
const COUNT: u64 = 2000;
/// Rounding of printed numbers to six decimals, for each that is added up.
const ROUNDING: f64 = 1e-6;
/// Quantities that may be below 0.
const SIGNED: [&str; 3] = ["perf_index", "perf_index_points_mean_over_tasks", "energy_model_diff_pct"];

/// Everything that is wrong with one scenario's numbers.
struct Faults(Vec<String>);

impl Faults {
    fn unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(what());
        }
    }

    fn near(&mut self, what: &str, a: f64, b: f64, parts: usize) {
        let room = ROUNDING * (parts + 1) as f64 + a.abs().max(b.abs()) * 1e-12;
        self.unless((a - b).abs() <= room, || format!("{what}: {a} is not {b}"));
    }
}

/// The printed rows by scope, name and quantity.
struct Printed {
    json: Value,
    rows: BTreeMap<(String, String, String), Option<f64>>,
}

impl Printed {
    fn new(json: Value, faults: &mut Faults) -> Printed {
        let mut rows = BTreeMap::new();
        for row in json["rows"].as_array().expect("rows") {
            let text = |key: &str| row[key].as_str().expect("text").to_owned();
            let key = (text("scope"), text("of"), text("quantity"));
            let value = row["value"].as_f64();
            let known = value.is_none_or(|v| v.is_finite() && (v >= 0.0 || SIGNED.contains(&key.2.as_str())));
            faults.unless(known, || format!("{key:?} is {value:?}"));
            faults.unless(rows.insert(key.clone(), value).is_none(), || format!("{key:?} is there twice"));
        }
        Printed { json, rows }
    }

    fn value(&self, scope: &str, of: &str, quantity: &str) -> Option<f64> {
        *self.rows.get(&(scope.to_owned(), of.to_owned(), quantity.to_owned()))?
    }

    /// Values of a quantity of every domain or task; `None` when one is not known.
    fn all(&self, scope: &str, quantity: &str) -> Option<Vec<f64>> {
        self.rows.iter().filter(|((s, _, q), _)| s == scope && q == quantity).map(|(_, value)| *value).collect()
    }

    fn names(&self, scope: &str) -> BTreeSet<String> {
        self.rows.keys().filter(|key| key.0 == scope).map(|key| key.1.clone()).collect()
    }
}

fn check_printed(printed: &Printed, cluster_mj: f64, faults: &mut Faults) {
    let duration_ms = printed.json["run"]["duration_ns"].as_f64().expect("a length") / 1e6;
    check_residency(printed, duration_ms, faults);
    let sums = [
        ("transitions", "domain", "domain_transitions", 0.0),
        ("evaluations", "domain", "domain_evaluations", 0.0),
        ("energy_mj", "domain", "domain_energy_mj", cluster_mj),
        ("busy_ms", "task", "run_ms", 0.0),
    ];
    for (whole, scope, part, beside) in sums {
        let (whole_is, parts) = (printed.value("run", "", whole), printed.all(scope, part));
        if let (Some(whole_is), Some(parts)) = (whole_is, parts) {
            faults.near(whole, whole_is, parts.iter().sum::<f64>() + beside, parts.len());
        }
    }
    if let (Some(energy), Some(tasks)) = (printed.value("run", "", "energy_mj"), printed.all("task", "task_energy_mj"))
    {
        let of_tasks = tasks.iter().sum::<f64>();
        let room = 0.002 * (tasks.len() + 8) as f64;
        faults.unless(of_tasks <= energy + room, || format!("tasks took {of_tasks} mJ of {energy}"));
    }
    for task in printed.names("task") {
        let value = |quantity| printed.value("task", &task, quantity);
        let (run, wait) = (value("run_ms").unwrap_or(0.0), value("wait_ms").unwrap_or(0.0));
        faults.unless(run + wait <= duration_ms + 3.0 * ROUNDING, || {
            format!("{task}: {run} + {wait} of {duration_ms} ms")
        });
        ordered(faults, &task, &[value("latency_ms_min"), value("latency_ms_avg"), value("latency_ms_max")]);
        ordered(faults, &task, &[value("wakeup_latency_us_avg"), value("wakeup_latency_us_max")]);
        // The percentile is read off sysbench's scale, whose steps are 1 to 2 % wide.
        let wide = |share: f64, v: Option<f64>| v.map(|v| v * share + ROUNDING);
        ordered(
            faults,
            &task,
            &[wide(0.97, value("latency_ms_min")), value("latency_ms_p95"), wide(1.03, value("latency_ms_max"))],
        );
    }
    let of_run = |quantity| printed.value("run", "", quantity);
    ordered(faults, "reactions", &[of_run("reaction_ms_avg"), of_run("reaction_ms_max")]);
    ordered(faults, "reactions", &[of_run("reaction_ms_p99"), of_run("reaction_ms_max")]);
    ordered(faults, "steps", &[of_run("step_latency_ms_avg"), of_run("step_latency_ms_max")]);
}

fn ordered(faults: &mut Faults, of: &str, values: &[Option<f64>]) {
    let known: Option<Vec<f64>> = values.iter().copied().collect();
    let rises = |values: &Vec<f64>| values.windows(2).all(|pair| pair[0] <= pair[1] + ROUNDING);
    faults.unless(known.as_ref().is_none_or(rises), || format!("{of}: {known:?} does not rise"));
}

fn check_residency(printed: &Printed, duration_ms: f64, faults: &mut Faults) {
    let mut of_domain = BTreeMap::<String, (f64, f64, usize)>::new();
    for row in printed.json["residency"].as_array().expect("residency") {
        let sum = of_domain.entry(row["domain"].as_str().expect("a name").to_owned()).or_default();
        let (ms, pct) = (row["ms"].as_f64().expect("a number"), row["pct"].as_f64().expect("a number"));
        faults.unless(ms >= 0.0 && (0.0..=100.0).contains(&pct), || format!("{row}"));
        *sum = (sum.0 + ms, sum.1 + pct, sum.2 + 1);
    }
    for (domain, (ms, pct, parts)) in of_domain {
        faults.near(&format!("residency of {domain}"), ms, duration_ms, parts);
        faults.near(&format!("percent of {domain}"), pct, 100.0, parts);
    }
}

/// Time on a CPU by task, from the switches of a log, ms; checks their chain on the way.
fn check_log(log: &[u8], cpus: usize, faults: &mut Faults) -> BTreeMap<u32, f64> {
    let mut running = vec![(0u32, 0u64); cpus];
    let mut on_cpu = BTreeMap::<u32, u64>::new();
    let mut last_ns = 0;
    let mut reader = LogReader::open(log).expect("a log");
    for event in reader.by_ref() {
        let (time_ns, event) = event.expect("a whole log");
        faults.unless(time_ns >= last_ns, || format!("time falls at {time_ns}"));
        last_ns = time_ns;
        if let Event::SchedSwitch { cpu, prev_tid, next_tid, .. } = event {
            let (now, since_ns) = running[cpu as usize];
            faults.unless(prev_tid == now, || format!("CPU {cpu} at {time_ns}: {prev_tid} stops, {now} ran"));
            let twice = next_tid != 0 && running.iter().enumerate().any(|(c, r)| c != cpu as usize && r.0 == next_tid);
            faults.unless(!twice, || format!("task {next_tid} runs on two CPUs at {time_ns}"));
            *on_cpu.entry(now).or_default() += time_ns - since_ns;
            running[cpu as usize] = (next_tid, time_ns);
        }
    }
    faults.unless(reader.is_complete(), || "the log has no end".to_owned());
    for (tid, since_ns) in running {
        *on_cpu.entry(tid).or_default() += reader.header().duration_ns.saturating_sub(since_ns);
    }
    on_cpu.into_iter().map(|(tid, ns)| (tid, ns as f64 / 1e6)).collect()
}

/// Faults of a scenario; `None` when it is refused.
fn faults(scenario: &Scenario) -> Option<Vec<String>> {
    let prepared: Prepared = build(&scenario.inputs, &scenario.policy).ok()?;
    let plan = &prepared.plan;
    let run = RunHeader { duration_ns: plan.config.duration_ns, ..RunHeader::default() };
    let mut file = Vec::new();
    let mut log = PeltonLog::new(&mut file, &run);
    let report = run_one(plan, plan.config.seed, &mut log, Control::default()).ok()?;
    log.finish().expect("a vector takes everything");
    let mut faults = Faults(Vec::new());
    let json =
        serde_json::to_value(summarise(header(&prepared, report.duration_ns), &plan.machine, &report)).expect("JSON");
    let printed = Printed::new(json, &mut faults);
    let cluster_uj: u64 = report.cluster_energy_uj.iter().sum();
    check_printed(&printed, cluster_uj as f64 / 1e3, &mut faults);
    let on_cpu = check_log(&file, plan.machine.cpus.len(), &mut faults);
    for (tid, task) in (1u32..).zip(&report.tasks) {
        let (ran, had) = (task.run_ns as f64 / 1e6, on_cpu.get(&tid).copied().unwrap_or(0.0));
        faults.unless(ran <= had + ROUNDING, || format!("{} ran {ran} ms and had a CPU for {had}", task.name));
    }
    Some(faults.0)
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
}

#[test]
fn printed_numbers_and_logs_agree_with_themselves() {
    let platforms: Vec<String> = platform::list().into_iter().filter(|p| p.simulated).map(|p| p.name).collect();
    let (first, count) = (from_environment("PELTON_PRINTED_SEED", 1), from_environment("PELTON_PRINTED_COUNT", COUNT));
    let (mut ran, mut wrong) = (0, Vec::new());
    for seed in (0..count).map(|i| first.wrapping_add(i)) {
        let scenario = scenario(seed, &platforms);
        let Some(found) = faults(&scenario) else { continue };
        ran += 1;
        if !found.is_empty() {
            let again =
                format!("PELTON_PRINTED_SEED={seed} PELTON_PRINTED_COUNT=1 cargo test --test across printed_numbers::");
            wrong.push(format!("{}\n  {}\n  {again}", found.join("\n"), scenario.command()));
        }
    }
    println!("{ran} of {count} scenarios ran, {} were refused", count - ran);
    assert!(wrong.is_empty(), "{} of {ran} scenarios:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
    assert!(count < 100 || ran * 3 > count, "most are refused: {ran} of {count}");
}

/// Quantities that a check reads.
const QUANTITIES: [&str; 7] =
    ["energy_mj", "transitions", "busy_ms", "run_ms", "latency_ms_min", "latency_ms_p95", "wakeup_latency_us_avg"];

/// The checks see what they look for.
#[test]
fn each_check_can_fail() {
    let told = |seed| {
        let scenario = scenario(seed, &["juno-r0".to_owned()]);
        let prepared = build(&scenario.inputs, &PolicySpec::default()).expect("good inputs");
        let report = run_one(&prepared.plan, 1, pelton_schema::NullSink, Control::default()).expect("runs");
        let summary = summarise(header(&prepared, report.duration_ns), &prepared.plan.machine, &report);
        let cluster_uj: u64 = report.cluster_energy_uj.iter().sum();
        (serde_json::to_value(summary).expect("JSON"), cluster_uj as f64 / 1e3)
    };
    let is = |row: &Value, quantity: &str| row["quantity"] == quantity && row["value"].is_number();
    let has_all = |json: &Value| {
        let rows = json["rows"].as_array().expect("rows");
        QUANTITIES.iter().all(|quantity| rows.iter().any(|row| is(row, quantity)))
    };
    let (good, cluster_mj) = (1..50).map(told).find(|told| has_all(&told.0)).expect("one in fifty has them all");
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut json = good.clone();
        change(&mut json);
        let mut faults = Faults(Vec::new());
        check_printed(&Printed::new(json, &mut faults), cluster_mj, &mut faults);
        faults.0.len()
    };
    assert_eq!(broken(&|_| {}), 0);
    assert!(broken(&|json| json["residency"][0]["ms"] = (-1.0).into()) > 0);
    for quantity in QUANTITIES {
        let change = |json: &mut Value| {
            let rows = json["rows"].as_array_mut().expect("rows");
            rows.iter_mut().find(|row| is(row, quantity)).expect("it has them all")["value"] = 1e9.into();
        };
        assert!(broken(&change) > 0, "{quantity}");
    }
    assert!(broken(&|json| json["rows"][0] = json["rows"][1].clone()) > 0, "a name twice");
}
