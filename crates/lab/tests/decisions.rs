// SPDX-License-Identifier: GPL-2.0-or-later
//! Random machines, workloads and policies: explained decisions have the terms that were in force, and what is printed
//! follows from what is printed beside it.

use crate::common::MS;
use crate::common::random::{Dice, random_groups, random_machine, random_workload};
use pelton_core::{Placed, Policy, Record, hook_flag, profiles};
use pelton_lab::explain::frequency::{Context, Explanation, explain};
use pelton_lab::explain::placement::{self, Explanation as Placement, PlacementSink};
use pelton_lab::explain::{Call, Decision, Moment, Requests};
use pelton_lab::plan::gate::GateTimes;
use pelton_model::{Plan, RunConfig, Workload};
use pelton_schema::{Asked, Event, Sink};

const SEEDS: u64 = 60;

/// Switches on top of a profile; those that contradict it are left out.
const SETS: [&[(&str, &str)]; 9] = [
    &[],
    &[],
    &[("util_est", "off")],
    &[("uclamp", "sum")],
    &[("uclamp", "debt")],
    &[("margins", "scaled")],
    &[("rt_rule", "none")],
    &[("dl_rule", "bw_floor")],
    &[("cfs_if_queued", "on")],
];

struct World {
    plan: Plan,
    what: String,
}

fn world(seed: u64) -> World {
    let mut d = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 11);
    let machine = random_machine(&mut d);
    let mut workload = random_workload(&mut d, machine.cpus.len() as u32);
    random_groups(&mut d, &mut workload);
    clamp(&mut d, &mut workload);
    let profile = profiles()[d.below(profiles().len() as u64) as usize];
    let mut policy = Policy::profile(profile).expect("a profile");
    let set = SETS[d.below(9) as usize];
    let mut changed = policy;
    let fits = set.iter().all(|(switch, value)| changed.set(switch, value).is_ok()) && changed.check().is_ok();
    if fits {
        policy = changed;
    }
    let config = RunConfig { seed, duration_ns: 150 * MS, ..RunConfig::default() };
    World {
        plan: Plan { machine, workload, policy, config, hash: 0 },
        what: format!("seed {seed}, {profile} {set:?} ({fits})"),
    }
}

fn clamp(d: &mut Dice, w: &mut Workload) {
    let any = [0, 1, 30, 120, 200, 383, 600, 1023, 1024];
    for task in &mut w.tasks {
        let (a, b) = (any[d.below(9) as usize], any[d.below(9) as usize]);
        task.uclamp = (d.below(3) > 0).then_some((a.min(b), a.max(b)));
    }
}

/// Every decision with what was asked for it.
#[derive(Default)]
struct Every {
    called: Vec<Option<Call>>,
    asked: Option<Requests>,
    moments: Vec<Moment>,
}

impl Sink for Every {
    const REQUESTS: bool = true;

    fn event(&mut self, time_ns: u64, event: &Event) {
        let Some(decision) = Decision::of(time_ns, event) else { return };
        let requests = self.asked.take();
        assert_eq!(requests.is_some(), decision.was_evaluated(), "CPUs are asked where something is evaluated");
        if decision.was_evaluated() {
            self.moments.push(Moment { decision, requests, khz: vec![0; self.called.len()], ..Moment::default() });
        }
    }

    fn called(&mut self, time_ns: u64, cpu: u32, queues: &pelton_core::CpuState, passed: &pelton_core::CpuState) {
        self.called[cpu as usize] = Some(Call { time_ns, queues: *queues, passed: *passed });
    }

    fn requests(&mut self, time_ns: u64, _: u32, asked: &[Asked]) {
        let rows = asked.iter().map(|asked| (*asked, self.called[asked.cpu as usize])).collect();
        self.asked = Some(Requests { time_ns, rows });
    }
}

fn decisions(world: &World) -> Vec<Moment> {
    let Plan { machine, workload, policy, config, .. } = &world.plan;
    let mut every = Every { called: vec![None; machine.cpus.len()], ..Every::default() };
    pelton_sim::run(machine, workload, policy, config, &mut every).expect("runs");
    every.moments
}

fn explained<'a>(world: &'a World, moments: &'a [Moment]) -> impl Iterator<Item = (&'a Moment, Explanation, String)> {
    moments.iter().map(|moment| {
        let told = explain(moment, Context { plan: &world.plan, times: GateTimes::default() });
        let what = format!("{} at {} ns", world.what, told.time_ns);
        (moment, told, what)
    })
}

#[test]
fn the_row_of_the_deciding_cpu_is_the_event() {
    let mut seen = 0;
    for world in (0..SEEDS).map(world) {
        let moments = decisions(&world);
        for (_, told, what) in explained(&world, &moments) {
            let row = told.requests.iter().find(|row| row.wins).expect(&what);
            assert_eq!((row.cpu, row.terms), (told.decision.max_cpu, Some(told.decision.terms)), "{what}");
            assert_eq!(told.requests_ns, Some(told.time_ns), "{what}");
            seen += 1;
        }
    }
    assert!(seen > 10_000, "{seen} decisions");
}

#[test]
fn no_cpu_asks_for_more_than_the_largest() {
    let (mut rows, mut unknown) = (0, 0);
    for world in (0..SEEDS).map(world) {
        let moments = decisions(&world);
        for (moment, told, what) in explained(&world, &moments) {
            let exact = moment.requests.as_ref().expect(&what);
            let most = exact.rows.iter().find(|(asked, _)| asked.cpu == told.decision.max_cpu);
            let most = most.and_then(|(asked, _)| asked.terms).expect(&what);
            for (row, (asked, _)) in told.requests.iter().zip(&exact.rows) {
                let Some(terms) = row.terms else {
                    assert!(!row.recorded && row.decided_by.is_none() && asked.terms.is_none_or(|t| t.stale != 0));
                    unknown += 1;
                    continue;
                };
                assert!(told.decision.terms.forced_max || terms.perf <= told.decision.terms.perf, "{what}");
                let asks = asked.terms.expect(&what);
                let shares = [(asks, most), (most, asks)].map(|(a, b)| u64::from(a.request) * u64::from(b.scale));
                assert!(most.forced_max != 0 || shares[0] <= shares[1], "{what}");
                rows += 1;
            }
        }
    }
    assert!(rows > 20_000 && unknown > 100, "{rows} rows, {unknown} unknown");
}

/// Kernels up to 4.16 ask no further CPU when one has the maximum already; which flags mean that differs.
#[test]
fn a_cpu_that_is_not_asked_has_no_terms() {
    let mut unasked = 0;
    for seed in 0..20 {
        let mut world = world(seed);
        world.plan.policy = Policy::profile("4.12").expect("a profile");
        let moments = decisions(&world);
        for (moment, told, what) in explained(&world, &moments) {
            let alone = told.decision.flags & (hook_flag::RT | hook_flag::DL) != 0;
            let rows = moment.requests.as_ref().expect(&what);
            let others = rows.rows.iter().filter(|(asked, _)| asked.cpu != told.decision.cpu);
            for (asked, _) in others.filter(|_| alone) {
                assert_eq!(asked.terms, None, "{what}");
                unasked += 1;
            }
        }
    }
    assert!(unasked > 100, "{unasked}");
}

/// Words and numbers of a step, in order.
fn words(text: &str) -> Vec<String> {
    text.split([' ', ',', ';', ':', '(', ')']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn numbers(text: &str) -> Vec<u64> {
    words(text).iter().filter_map(|word| word.parse().ok()).collect()
}

/// Follows a printed sum and returns what it comes to.
fn follow(text: &str, cap: u64) -> u64 {
    let words = words(text.split_once(": ").expect("who it is about").1);
    let mut value = 0;
    for pair in words.windows(2) {
        match (pair[0].as_str(), pair[1].parse::<u64>().ok()) {
            ("fair" | "RT" | "DL", Some(n)) => value += n,
            ("=", Some(n)) => assert_eq!(value, n, "{text}"),
            ("IRQ", Some(n)) => value = value * (cap - n) / cap + n,
            ("uclamp_min" | "floor" | "boost", Some(n)) => {
                assert!(n > value, "{text}");
                value = n;
            }
            ("uclamp_max" | "has", Some(n)) => {
                assert!(n < value, "{text}");
                value = n;
            }
            ("time", Some(n)) => value += n,
            ("CPU", Some(n)) => {
                assert!(value >= n && n == cap, "{text}");
                value = n;
            }
            _ => {}
        }
    }
    value
}

#[test]
fn printed_terms_add_up_as_printed() {
    let mut deciders = std::collections::BTreeMap::new();
    for world in (0..SEEDS).map(world) {
        let moments = decisions(&world);
        for (moment, told, what) in explained(&world, &moments) {
            let step = |name: &str| &told.steps.iter().find(|step| step.name == name).expect(&what).text;
            let (row, t) = (told.requests.iter().find(|row| row.wins).expect(&what), told.decision.terms);
            let by = row.decided_by.expect(&what);
            *deciders.entry(by).or_insert(0) += 1;
            if t.forced_max {
                assert!(step("request").contains("the maximum"), "{what}");
                continue;
            }
            let made_of = moment.requests.as_ref().expect(&what).rows.iter().find(|(asked, _)| asked.cpu == row.cpu);
            let cap = u64::from(made_of.expect(&what).0.made_of.cap_orig);
            // Two of the words take the place of the sum; they say so.
            let sum = step("request").split("; clamped").next().unwrap_or_default();
            if !sum.contains("asks for all") && !sum.contains("take all") {
                assert_eq!(follow(sum, cap), u64::from(t.effective.max(t.iowait)), "{what}");
            }
            headroom(step("headroom"), u64::from(t.perf), &what);
            fair(step("fair utilization"), u64::from(t.cfs), &what);
        }
    }
    let seen = ["sum", "uclamp_min", "uclamp_max", "capacity", "RT task", "flag of the call", "iowait boost"];
    assert!(seen.iter().all(|by| deciders.contains_key(by)), "{deciders:?}");
}

fn headroom(text: &str, perf: u64, what: &str) {
    let n = numbers(&text.replace('/', " / "));
    match text {
        _ if text.contains("stays") => assert_eq!(n[0], perf, "{what}"),
        _ if text.contains("margins=") => assert!(n.len() > 1, "{what}"),
        _ => assert!(n[0] == n[1] && n[2] == 4 && n[0] + n[0] / 4 == n[3], "{what}"),
    }
    let Some((_, limits)) = text.split_once("within ") else { return assert_eq!(n.last(), Some(&perf), "{what}") };
    let wanted = if text.contains("margins=") { n[1] } else { n[3] };
    let [low, high, last] = numbers(limits)[..] else { panic!("{what}") };
    assert_eq!((wanted.min(high).max(low), last), (last, perf), "{what}");
}

/// The candidate that is named has the term, and none that counts is larger.
fn fair(text: &str, term: u64, what: &str) {
    let about = text.split_once(": ").expect(what).1;
    let n = numbers(about.split(" is the largest of").next().unwrap_or_default());
    assert!(n[0] == term || about.contains("silent"), "{what}");
    if let Some((head, rest)) = about.split_once(" is the largest of ") {
        let counted = rest.split(['(', ';']).next().unwrap_or_default();
        let name = head.rsplit(' ').next().unwrap_or_default();
        let list = words(counted);
        let at = list.iter().position(|word| word == name).expect(what);
        let largest = numbers(counted).into_iter().max().unwrap_or(0);
        assert_eq!(list[at + 1].parse::<u64>().ok(), Some(largest), "{what}");
        assert!(largest == term || (rest.contains("has no more") && largest > term), "{what}");
    }
}

/// Every placement, explained.
struct Placements<'a> {
    policy: &'a Policy,
    told: Vec<Placement>,
}

impl Sink for Placements<'_> {
    const PLACEMENTS: bool = true;

    fn event(&mut self, _: u64, _: &Event) {}

    fn placement(&mut self, time_ns: u64, tid: u32, read: &Record, placed: &Placed) {
        if placed.energies().is_empty() {
            return;
        }
        let mut one = PlacementSink::of(None, self.policy);
        one.placement(time_ns, tid, read, placed);
        let kept = one.finish().0.expect("it was kept");
        self.told.push(placement::explain(&kept, self.policy, |tid| format!("task {tid}")));
    }
}

#[test]
fn printed_energies_follow_from_printed_figures() {
    let mut seen = [0; 2];
    for world in (0..SEEDS).map(world) {
        let Plan { machine, workload, policy, config, .. } = &world.plan;
        let mut all = Placements { policy, told: Vec::new() };
        pelton_sim::run(machine, workload, policy, config, &mut all).expect("runs");
        for told in &all.told {
            let what = format!("{} at {} ns", world.what, told.time_ns);
            for (at, e) in told.energies.iter().enumerate() {
                assert_eq!(
                    u128::from(e.energy),
                    u128::from(e.cost) * u128::from(e.sum) / u128::from(e.divisor),
                    "{what}"
                );
                let opps = machine.domains.iter().flat_map(|d| &d.opps);
                assert!(opps.map(|opp| opp.khz).any(|khz| khz == e.freq_khz), "{what}");
                let rows = told.candidates.iter().filter(|c| e.cpus.contains(&c.cpu));
                let rows: Vec<_> = rows.map(|c| (c.cpu, c.energy.expect(&what))).collect();
                assert_eq!(rows.len(), e.cpus.len(), "{what}");
                let here = |cpu: u32| e.task_on == Some(cpu);
                let asks = rows.iter().map(|(cpu, of)| if here(*cpu) { of.asks_with_task } else { of.asks }).max();
                assert_eq!(asks.map(|asks| asks.min(e.allowed)), Some(e.largest), "{what}");
                let most = u64::from(e.allowed) * rows.len() as u64;
                let sum = match told.task_busy {
                    Some(task) => {
                        let busy = rows.iter().map(|(_, of)| u64::from(of.busy)).sum::<u64>().min(most);
                        if e.task_on.is_some() { (busy + task).min(most) } else { busy }
                    }
                    None => rows
                        .iter()
                        .map(|(cpu, of)| u64::from(if here(*cpu) { of.busy_with_task.expect(&what) } else { of.busy }))
                        .sum(),
                };
                assert_eq!(sum, u64::from(e.sum), "{what}");
                let base = told.energies[..at].iter().rfind(|base| base.cpus == e.cpus && base.task_on.is_none());
                let added = base.map(|base| i128::from(e.energy) - i128::from(base.energy));
                assert_eq!(e.added, added.filter(|_| e.task_on.is_some()), "{what}");
                seen[usize::from(told.task_busy.is_none())] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}
