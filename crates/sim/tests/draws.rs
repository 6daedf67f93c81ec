// SPDX-License-Identifier: GPL-2.0-or-later
//! Energy that a board draws, against sums by hand; no decision follows from it.

use crate::common::{MS, busy, config, events_of, machine, on, periodic, profile, run_on, workload};
use pelton_model::draws::{Draws, Rail, Vote};
use pelton_model::machine::Machine;
use pelton_model::workload::{CpuSet, Workload};
use pelton_schema::{Drawn, Event, NullSink, Sink};

/// Three operating points at 0.5, 0.8 and 1 V: squares 25, 64 and 100.
const SQUARES: [u64; 3] = [25, 64, 100];

/// A rail whose idle CPUs and shared part follow the square of the voltage; state 1 switches both off.
fn by_voltage(busy_uw: [u64; 3], wfi_uw: u64, shared_uw: u64) -> Rail {
    let squared = |uw: u64| SQUARES.map(|square| uw * square / 100).to_vec();
    Rail {
        busy_uw: busy_uw.to_vec(),
        idle_uw: vec![squared(wfi_uw), vec![0; 3]],
        shared_uw: squared(shared_uw),
        shared_idle_uw: vec![squared(shared_uw), vec![0; 3]],
    }
}

/// One domain of two CPUs with that rail, at a frequency that nothing changes.
fn alone(opp: usize, rail: Rail) -> Machine {
    let mut m = machine(&[(2, 1024)]);
    m.domains[0].draws = Draws { rails: vec![rail], votes: Vec::new() };
    m.domains[0].initial_khz = m.domains[0].opps[opp].khz;
    m
}

/// A run in which a CPU that goes idle takes the deepest state that pays until its next timer.
fn run_under(m: &Machine, w: &Workload, governor: &str, ms: u64) -> pelton_sim::Report {
    let mut policy = profile("7.2");
    for (switch, value) in [("governor", governor), ("idle_governor", "next_timer")] {
        policy.set(switch, value).expect("a switch of the table");
    }
    pelton_sim::run(m, w, &policy, &config(ms), NullSink).expect("runs")
}

/// A run at the highest frequency in which a CPU that goes idle takes the deepest state that pays until its next timer.
fn held(m: &Machine, w: &Workload, ms: u64) -> pelton_sim::Report {
    run_under(m, w, "performance", ms)
}

/// State 0 alone.
fn without_off(m: &mut Machine) {
    let domain = &mut m.domains[0];
    domain.idle_states.truncate(1);
    domain.draws.rails[0].idle_uw.truncate(1);
    domain.draws.rails[0].shared_idle_uw.truncate(1);
}

/// Energy that was drawn up to each moment: CPUs and shared part, microjoules.
struct SoFar(u64, Vec<(u64, u128, u128)>);

impl Sink for SoFar {
    const DRAWN: bool = true;

    fn event(&mut self, _: u64, _: &Event) {}

    fn drawn_step_ns(&self) -> u64 {
        self.0
    }

    fn drawn(&mut self, time_ns: u64, drawn: &Drawn<'_>) {
        // Each domain in whole microjoules, as reports have them.
        let cpus = drawn.domains_fj.iter().map(|fj| fj / 1_000_000_000).sum();
        self.1.push((time_ns, cpus, drawn.shared_fj / 1_000_000_000));
    }
}

#[test]
fn what_was_drawn_so_far_is_told_in_steps_and_at_the_end() {
    let mut m = alone(2, by_voltage([200_000, 500_000, 900_000], 20_000, 50_000));
    without_off(&mut m);
    let mut policy = profile("7.2");
    policy.set("governor", "performance").expect("a switch");
    let mut told = SoFar(250 * MS, Vec::new());
    let run = workload(vec![on(busy("t"), 0)]);
    pelton_sim::run(&m, &run, &policy, &config(1000), &mut told).expect("runs");
    // 920 mW of CPUs and 50 of what they share.
    let at = |part: u64| (part * 250 * MS, u128::from(part) * 230_000, u128::from(part) * 12_500);
    let steps: Vec<_> = told.1.iter().filter(|(time_ns, ..)| *time_ns < 1000 * MS).copied().collect();
    assert_eq!(steps, [at(1), at(2), at(3)]);
    assert_eq!(told.1.last(), Some(&at(4)));
}

#[test]
fn what_was_drawn_at_the_end_is_what_the_report_says() {
    let m = machine(&[(2, 512), (2, 1024)]);
    let tasks = (0..5).map(|at| periodic(&format!("t{at}"), 1700 + 900 * at, 7000 + 3000 * at)).collect();
    let run = workload(tasks);
    for step_ns in [999_983, 7 * MS + 3, 5000 * MS] {
        let mut told = SoFar(step_ns, Vec::new());
        let report = pelton_sim::run(&m, &run, &profile("7.2"), &config(300), &mut told).expect("runs");
        let (_, cpus, shared) = *told.1.last().expect("one at the end");
        assert_eq!(u128::from(report.energy_uj().expect("power is known")), cpus + shared);
        assert!(told.1.is_sorted_by(|a, b| a.1 <= b.1 && a.2 <= b.2), "energy only grows");
    }
}

#[test]
fn a_busy_cpu_and_one_in_wfi_draw_their_curves() {
    // CPU 0 runs at 2 GHz all the time; CPU 1 has state 0 alone.
    let mut m = alone(2, by_voltage([200_000, 500_000, 900_000], 20_000, 50_000));
    without_off(&mut m);
    let r = held(&m, &workload(vec![on(busy("t"), 0)]), 1000);
    assert_eq!(r.cpus[0].energy_active_uj, 900_000, "900 mW for a second");
    assert_eq!(r.cpus[1].energy_idle_uj, 20_000, "20 mW");
    assert_eq!(r.cluster_energy_uj, [50_000], "what they share: 50 mW");
    assert_eq!(r.energy_uj(), Some(970_000));
    assert_eq!(r.model_energy_uj(), Some(1_000_000), "the kernel has 1 W for a busy CPU, and nothing else");
}

#[test]
fn idle_power_follows_the_square_of_the_voltage_until_the_rail_is_off() {
    // A task that starts when the run is over keeps it going.
    let mut later = busy("later");
    later.start = pelton_model::workload::Start::After(2000 * MS);
    let nothing = workload(vec![later]);
    for (opp, square) in SQUARES.into_iter().enumerate() {
        let mut m = alone(opp, by_voltage([100_000; 3], 20_000, 50_000));
        m.domains[0].idle_states[1].min_residency_ns = 0;
        let off = run_under(&m, &nothing, "schedutil", 1000);
        assert_eq!((off.energy_uj(), off.cluster_energy_uj), (Some(0), vec![0]), "off from the start");
        without_off(&mut m);
        let on = run_under(&m, &nothing, "schedutil", 1000);
        let idle: Vec<u64> = on.cpus.iter().map(|c| c.energy_idle_uj).collect();
        assert_eq!((idle, on.cluster_energy_uj), (vec![200 * square; 2], vec![500 * square]), "point {opp}");
    }
}

/// Two domains; the first is on the supply of the second, whose points ask for these rails.
fn shared_supply(levels: [u32; 3]) -> Machine {
    let mut m = machine(&[(1, 512), (1, 1024)]);
    let rail = |factor: u64| Rail {
        busy_uw: vec![100_000 * factor; 3],
        idle_uw: vec![vec![1_000 * factor; 3], vec![0; 3]],
        shared_uw: vec![10_000 * factor; 3],
        shared_idle_uw: vec![vec![10_000 * factor; 3], vec![0; 3]],
    };
    let votes = vec![Vote { domain: 1, off_from: 1, rails: levels.to_vec() }];
    m.domains[0].draws = Draws { rails: vec![rail(1), rail(2), rail(4)], votes };
    m
}

#[test]
fn a_domain_pays_for_the_voltage_that_another_asks_for() {
    let m = shared_supply([0, 1, 2]);
    // CPU 0 is busy for a second; CPU 1, at 2 GHz, from 400 ms on and to the end.
    let mut second = on(busy("late"), 1);
    second.start = pelton_model::workload::Start::After(400 * MS);
    let r = held(&m, &workload(vec![on(busy("first"), 0), second]), 1000);
    // The second domain is off for 400 ms, in which the quiet rail holds; then rail 2.
    assert_eq!(r.cpus[0].energy_active_uj, 100 * 400 + 400 * 600);
    assert_eq!(r.cluster_energy_uj[0], 10 * 400 + 40 * 600);
    // Its task is charged the same.
    assert_eq!(r.tasks[0].energy_uj, Some(r.cpus[0].energy_active_uj));
    let same = held(&shared_supply([0, 0, 0]), &workload(vec![on(busy("first"), 0)]), 1000);
    assert_eq!(same.cpus[0].energy_active_uj, 100_000, "nobody asks for more");
}

fn lively() -> Workload {
    let mut tasks = vec![periodic("a", 3_000, 10_000), periodic("b", 700, 7_000), periodic("c", 5_100, 16_000)];
    tasks.push(on(periodic("d", 400, 3_000), 1));
    tasks[2].cpus = Some(CpuSet::of([0, 1]));
    workload(tasks)
}

#[test]
fn what_is_drawn_decides_nothing() {
    let (plain, supply) = (machine(&[(1, 512), (1, 1024)]), shared_supply([0, 1, 2]));
    let kept = |m: &Machine| {
        let (report, events) = events_of(m, &lively(), "7.2", &config(2000));
        let decided = events.into_iter().filter(|(_, event)| !matches!(event, Event::DomainPower { .. }));
        (report, decided.collect::<Vec<_>>())
    };
    let ((before, plain), (after, supplied)) = (kept(&plain), kept(&supply));
    assert!(plain == supplied, "the same events");
    assert_eq!(before.model_energy_uj(), after.model_energy_uj(), "the kernel believes the same");
    assert_ne!(before.energy_uj(), after.energy_uj());
    assert_eq!(before.tasks[0].work_ns, after.tasks[0].work_ns);
}

#[test]
fn who_decides_does_not_change_what_is_drawn() {
    let (mut m, w) = (shared_supply([0, 1, 2]), lively());
    m.domains[1].draws =
        Draws { rails: vec![by_voltage([150_000, 350_000, 800_000], 9_000, 4_000)], votes: Vec::new() };
    let before = run_on(&m, &w, "7.2", 2000);
    // Twice as much at every point is no other decision.
    m.domains.iter_mut().flat_map(|d| &mut d.opps).for_each(|opp| opp.power_uw *= 2);
    let after = run_on(&m, &w, "7.2", 2000);
    assert_eq!(before.energy_uj(), after.energy_uj());
    let twice = after.model_energy_uj().zip(before.model_energy_uj()).map(|(after, before)| after.abs_diff(2 * before));
    assert!(twice.is_some_and(|diff| diff <= 4), "{twice:?}");
}

#[test]
fn the_rest_of_the_board_is_at_the_meter_and_nowhere_else() {
    let (mut m, w) = (shared_supply([0, 1, 2]), lively());
    let before = run_on(&m, &w, "7.2", 100);
    assert_eq!((before.rest_energy_uj, before.meter_uj()), (None, None), "not known");
    m.rest_uw = Some(250_000);
    let after = run_on(&m, &w, "7.2", 100);
    assert_eq!(after.rest_energy_uj, Some(25_000), "250 mW for 100 ms");
    assert_eq!(after.meter_uj(), before.energy_uj().map(|uj| uj + 25_000));
    assert_eq!(pelton_sim::Report { rest_energy_uj: None, ..after }, before);
}

#[test]
fn energy_of_parts_of_a_run_adds_up_to_that_of_the_whole() {
    let mut m = shared_supply([0, 1, 2]);
    m.domains[1].draws =
        Draws { rails: vec![by_voltage([150_000, 350_000, 800_000], 9_000, 4_000)], votes: Vec::new() };
    let w = lively();
    let until = |ms: u64| run_on(&m, &w, "7.2", ms);
    let mut last = [0u64; 2];
    for ms in (50..=1000).step_by(50) {
        let r = until(ms);
        let parts: u64 = r.cpus.iter().map(|c| c.energy_active_uj + c.energy_idle_uj).sum();
        let all = r.energy_uj().expect("known");
        assert!(all.abs_diff(parts + r.cluster_energy_uj.iter().sum::<u64>()) <= 4, "{ms} ms");
        let active: u64 = r.cpus.iter().map(|c| c.energy_active_uj).sum();
        let tasks: u64 = r.tasks.iter().filter_map(|t| t.energy_uj).sum();
        assert!(active.abs_diff(tasks) <= 8, "{ms} ms: tasks have all that is drawn while something runs");
        // What was drawn stays drawn, and no interval draws more than everything at its highest.
        let now = [all, r.model_energy_uj().expect("known")];
        assert!(now.iter().zip(last).all(|(now, last)| *now >= last), "{ms} ms: {now:?} after {last:?}");
        assert!(now[0] - last[0] <= 50 * (400 + 40 + 800 + 4), "{ms} ms: {now:?} after {last:?}");
        last = now;
    }
}

#[test]
fn figures_that_do_not_fit_the_machine_are_refused() {
    let refused = |change: fn(&mut Machine)| {
        let mut m = shared_supply([0, 1, 2]);
        change(&mut m);
        pelton_model::check(&m, &workload(vec![busy("t")])).is_err()
    };
    assert!(!refused(|_| ()));
    assert!(refused(|m| m.domains[0].draws.rails[0].busy_uw.truncate(2)));
    assert!(refused(|m| m.domains[0].draws.rails[1].idle_uw.truncate(1)));
    assert!(refused(|m| m.domains[0].draws.rails[2].shared_idle_uw[0].truncate(1)));
    assert!(refused(|m| m.domains[0].draws.votes[0].domain = 2));
    assert!(refused(|m| m.domains[0].draws.votes[0].rails[2] = 3));
}
