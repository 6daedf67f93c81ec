// SPDX-License-Identifier: GPL-2.0-or-later
//! The number of a claim, out of what was observed: or the reason why there is none.

use super::observe::{Activation, Observed, Stretch};
use super::placing::{Need, Placing};
use pelton_core::{EnergyModel, KHZ_INEFFICIENT, Policy};
use pelton_model::Machine;
use pelton_scenario::behaviour::{Behaviour, Claim, Class, Classes, Measure, Sized, SizedTask};
use pelton_scenario::policy::DEFAULT_PROFILE;
use std::collections::BTreeMap;

/// Run time whose frequency is not known, percent, above which no claim about frequencies is judged.
const UNKNOWN_PCT_MAX: f64 = 1.0;

/// A board and the tasks on it.
pub struct Board<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Its classes of CPUs.
    pub classes: Classes,
    /// The tasks.
    pub sized: &'a Sized,
    /// Energies of placements; `None` = powers are not known.
    pub placing: Option<Placing>,
}

impl<'a> Board<'a> {
    /// Of a machine.
    pub fn new(machine: &'a Machine, sized: &'a Sized) -> Board<'a> {
        Board { machine, classes: Classes::of(machine), sized, placing: Placing::of(machine) }
    }
}

/// Kinds of events that a trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Switches.
    pub switches: bool,
    /// States of tasks at switches.
    pub states: bool,
    /// Wake-ups before the CPU is chosen, or behind.
    pub wakings: bool,
    /// CPUs of wake-ups.
    pub targets: bool,
    /// Changes of frequency.
    pub frequencies: bool,
}

impl Carried {
    /// Everything, as a run has it.
    pub const ALL: Carried = Carried { switches: true, states: true, wakings: true, targets: true, frequencies: true };
}

/// Sources of the number of a claim.
pub struct Reading<'a> {
    /// Claims and tasks.
    pub behaviour: &'a Behaviour,
    /// Board.
    pub board: &'a Board<'a>,
    /// Doings of the threads.
    pub seen: &'a Observed,
    /// Events that there are.
    pub carried: Carried,
}

/// A number, or why there is none.
pub type Measured = Result<f64, String>;

impl Reading<'_> {
    /// The number of a claim.
    ///
    /// # Errors
    /// The reason why it is not measured.
    pub fn number(&self, claim: &Claim) -> Measured {
        let start_ns = self.seen.start_ns.ok_or("no thread of these tasks was seen")?;
        let ns = |ms: u32| start_ns + u64::from(ms) * 1_000_000;
        let window = Window { from_ns: ns(claim.from_ms), to_ns: ns(claim.to_ms), reading: self, claim };
        self.has_events(claim.measure)?;
        self.is_covered(&window)?;
        if claim.measure.has_class() {
            self.has_class(claim)?;
        }
        match claim.measure {
            Measure::Residency => window.residency(),
            Measure::Placed => window.placed(),
            Measure::Capacity => window.capacity(),
            Measure::AboveClamp => window.beyond_clamp(|khz, clamp_khz| khz > clamp_khz, |task| task.clamps.1),
            Measure::BelowClamp => window.beyond_clamp(|khz, clamp_khz| khz < clamp_khz, |task| task.clamps.0),
            Measure::Late => window.late(),
            Measure::FirstOn => window.first_on(),
            Measure::EnergyOverBest => window.energy_over_best(),
        }
    }

    fn has_events(&self, measure: Measure) -> Result<(), String> {
        let has = self.carried;
        let frequencies = matches!(measure, Measure::Capacity | Measure::AboveClamp | Measure::BelowClamp);
        let needs = [
            (measure != Measure::Placed && !has.switches, "sched_switch"),
            (measure == Measure::Placed && !has.targets, "sched_wakeup with the CPU"),
            (measure == Measure::Late && !has.wakings, "sched_waking or sched_wakeup"),
            (measure == Measure::Late && !has.states, "states of tasks in sched_switch"),
            (frequencies && !has.frequencies, "cpu_frequency"),
        ];
        match needs.into_iter().find(|(is_missing, _)| *is_missing) {
            Some((_, what)) => Err(format!("the trace has no {what}")),
            None => Ok(()),
        }
    }

    /// A recording that ends before the window, or the tasks, says nothing about the rest.
    fn is_covered(&self, window: &Window<'_>) -> Result<(), String> {
        let start_ns = self.seen.start_ns.unwrap_or(0);
        let tasks = &self.board.sized.tasks;
        let period_ns = tasks.iter().map(|task| task.period_ns).max().unwrap_or(0);
        let last_ns = tasks.iter().filter_map(|task| task.changes_ns().last()).max().unwrap_or(0);
        if self.seen.end_ns + period_ns >= window.to_ns.min(start_ns + last_ns) {
            return Ok(());
        }
        let ms = |ns: u64| ns.saturating_sub(start_ns) / 1_000_000;
        let (end_ms, to_ms) = (ms(self.seen.end_ns), ms(window.to_ns));
        Err(format!("the trace ends {end_ms} ms after the tasks appear, the window {to_ms} ms"))
    }

    /// A class with all CPUs, or none, is no question.
    fn has_class(&self, claim: &Claim) -> Result<(), String> {
        let (classes, class) = (&self.board.classes, claim.on.unwrap_or(Class::Smallest));
        let count = classes.count(class, self.clamps(claim));
        let word = class.word();
        match count {
            _ if count == self.board.machine.cpus.len() => Err(format!("all CPUs of this board are `{word}`")),
            0 => Err(format!("no CPU of this board is `{word}`")),
            _ => Ok(()),
        }
    }

    /// Clamps of the task that a claim names.
    fn clamps(&self, claim: &Claim) -> (u32, u32) {
        claim.task.and_then(|task| self.board.sized.tasks.get(task)).map_or((0, 1024), SizedTask::clamps_in_force)
    }

    fn task_of(&self, thread: usize) -> Option<&SizedTask> {
        self.board.sized.tasks.get(*self.seen.tasks.get(thread)?)
    }
}

/// The part of what was observed that a claim is about.
struct Window<'a> {
    from_ns: u64,
    to_ns: u64,
    reading: &'a Reading<'a>,
    claim: &'a Claim,
}

impl Window<'_> {
    fn is_of_task(&self, thread: usize) -> bool {
        self.claim.task.is_none_or(|task| self.reading.seen.tasks.get(thread) == Some(&task))
    }

    fn is_on(&self, cpu: u32) -> bool {
        let class = self.claim.on.unwrap_or(Class::Smallest);
        self.reading.board.classes.has(class, cpu, self.reading.clamps(self.claim))
    }

    /// Run time in the window, cut at its ends.
    fn stretches(&self) -> impl Iterator<Item = (&Stretch, f64)> {
        let inside = |s: &Stretch| s.to_ns.min(self.to_ns).saturating_sub(s.from_ns.max(self.from_ns));
        let all = self.reading.seen.stretches.iter().filter(|s| self.is_of_task(s.thread));
        all.map(move |s| (s, inside(s) as f64)).filter(|(_, ns)| *ns > 0.0)
    }

    /// Run time for which something holds, of all of it, percent.
    fn share(&self, holds: impl Fn(&Stretch) -> bool) -> Measured {
        let (mut some, mut all) = (0.0, 0.0);
        for (stretch, ns) in self.stretches() {
            all += ns;
            some += if holds(stretch) { ns } else { 0.0 };
        }
        if all > 0.0 { Ok(some / all * 100.0) } else { Err("the tasks do not run in the window".to_owned()) }
    }

    fn residency(&self) -> Measured {
        self.share(|stretch| self.is_on(stretch.cpu))
    }

    fn placed(&self) -> Measured {
        let inside = |at_ns: u64| (self.from_ns..self.to_ns).contains(&at_ns);
        let wakes = self.reading.seen.wakes.iter().filter(|w| inside(w.at_ns) && self.is_of_task(w.thread));
        let (mut on, mut all) = (0.0, 0.0);
        for wake in wakes {
            all += 1.0;
            on += if self.is_on(wake.cpu) { 1.0 } else { 0.0 };
        }
        if all > 0.0 { Ok(on / all * 100.0) } else { Err("the tasks do not wake up in the window".to_owned()) }
    }

    /// Frequencies are known for all run time but a little.
    fn knows_frequency(&self) -> Result<(), String> {
        let unknown_pct = self.share(|stretch| stretch.khz == 0)?;
        if unknown_pct <= UNKNOWN_PCT_MAX {
            return Ok(());
        }
        Err(format!("{unknown_pct:.0} % of the run time is before the first cpu_frequency of its CPU"))
    }

    fn capacity(&self) -> Measured {
        self.knows_frequency()?;
        let machine = self.reading.board.machine;
        let (mut sum, mut all) = (0.0, 0.0);
        for (stretch, ns) in self.stretches().filter(|(stretch, _)| stretch.khz > 0) {
            let cpu = &machine.cpus[stretch.cpu as usize];
            let ref_khz = machine.domains[cpu.domain as usize].ref_khz.max(1);
            sum += ns * f64::from(cpu.capacity) * f64::from(stretch.khz) / f64::from(ref_khz);
            all += ns;
        }
        Ok(sum / all / f64::from(self.reading.board.classes.greatest().max(1)) * 100.0)
    }

    /// Run time at a frequency that is beyond the one of a clamp of the task.
    fn beyond_clamp(&self, is_beyond: fn(u32, u32) -> bool, clamp: fn(&SizedTask) -> Option<u32>) -> Measured {
        self.knows_frequency()?;
        let clamp = |thread| self.reading.task_of(thread).and_then(clamp);
        let beyond = |stretch: &Stretch| {
            let clamp_khz =
                clamp(stretch.thread).map(|clamp| clamp_khz(self.reading.board.machine, stretch.cpu, clamp));
            stretch.khz > 0 && clamp_khz.is_some_and(|clamp_khz| is_beyond(stretch.khz, clamp_khz))
        };
        self.share(beyond)
    }

    /// A late activation stands for as many as should have been in its time: one that never ends is not one of many.
    fn late(&self) -> Measured {
        let (mut late, mut all) = (0.0, 0.0);
        for activation in self.reading.seen.activations.iter().filter(|a| self.is_of_task(a.thread)) {
            let period_ns = self.reading.task_of(activation.thread).map_or(u64::MAX, |task| task.period_ns);
            let Activation { from_ns, to_ns, is_over, .. } = *activation;
            if to_ns - from_ns > period_ns {
                let inside_ns = to_ns.min(self.to_ns).saturating_sub(from_ns.max(self.from_ns));
                let missed = inside_ns.div_ceil(period_ns) as f64;
                (late, all) = (late + missed, all + missed);
            } else if is_over && (self.from_ns..self.to_ns).contains(&from_ns) {
                all += 1.0;
            }
        }
        if all > 0.0 { Ok(late / all * 100.0) } else { Err("no activation is in the window".to_owned()) }
    }

    /// The last of the threads counts; one that never is there takes all of the window.
    fn first_on(&self) -> Measured {
        let mut first: BTreeMap<usize, u64> = BTreeMap::new();
        for (stretch, _) in self.stretches() {
            let at_ns = first.entry(stretch.thread).or_insert(self.to_ns);
            if self.is_on(stretch.cpu) {
                *at_ns = (*at_ns).min(stretch.from_ns.max(self.from_ns));
            }
        }
        let last_ns = first.values().max().ok_or("the tasks do not run in the window")?;
        Ok((last_ns - self.from_ns) as f64 / 1e6)
    }

    /// Energy of where the threads are, beyond that of the best places for them, over the window.
    fn energy_over_best(&self) -> Measured {
        let placing = self.reading.board.placing.as_ref().ok_or("the board has no Energy Model")?;
        let mut places: Vec<Option<u32>> = vec![None; self.reading.seen.tasks.len()];
        let mut best: BTreeMap<Vec<Need>, u64> = BTreeMap::new();
        let (mut spent, mut least) = (0.0, 0.0);
        let mut at_ns = self.from_ns;
        for (time_ns, moved) in self.moves() {
            if time_ns > at_ns {
                let until_ns = time_ns.min(self.to_ns);
                let threads = self.threads_at(&places, at_ns);
                let needs: Vec<Need> = threads.iter().map(|(_, need)| *need).collect();
                let lowest = match best.get(&needs) {
                    Some(lowest) => *lowest,
                    None => *best.entry(needs.clone()).or_insert(placing.best(&needs)?),
                };
                let ns = (until_ns - at_ns) as f64;
                spent += placing.energy(threads.into_iter()) as f64 * ns;
                least += lowest as f64 * ns;
                at_ns = until_ns;
            }
            if let Some((thread, cpu)) = moved {
                places[thread] = Some(cpu);
            }
            if time_ns >= self.to_ns {
                break;
            }
        }
        if least > 0.0 {
            Ok((spent / least - 1.0) * 100.0)
        } else {
            Err("the tasks do not run in the window".to_owned())
        }
    }

    /// Times at which a thread is put on a CPU or its work changes, to the end of the window.
    fn moves(&self) -> Vec<(u64, Option<(usize, u32)>)> {
        let seen = self.reading.seen;
        let start_ns = seen.start_ns.unwrap_or(0);
        let runs = seen.stretches.iter().map(|s| (s.from_ns, Some((s.thread, s.cpu))));
        let wakes = seen.wakes.iter().map(|w| (w.at_ns, Some((w.thread, w.cpu))));
        let changes = self.reading.board.sized.tasks.iter().flat_map(SizedTask::changes_ns);
        let changes = changes.map(|ns| (start_ns + ns, None));
        let mut all: Vec<_> = runs.chain(wakes).chain(changes).chain([(self.to_ns, None)]).collect();
        all.sort_by_key(|(time_ns, _)| *time_ns);
        all
    }

    /// CPU and needs of each thread that has been seen.
    fn threads_at(&self, places: &[Option<u32>], time_ns: u64) -> Vec<(u32, Need)> {
        let since_ns = time_ns.saturating_sub(self.reading.seen.start_ns.unwrap_or(0));
        let whole = |util: f64| (util.round() as u64).max(1);
        let need = |thread| {
            let task = self.reading.task_of(thread)?;
            let phase = task.phase_at(since_ns)?;
            Some(Need { peak: whole(task.peak(phase)), mean: whole(phase.util) })
        };
        let placed = places.iter().enumerate().filter_map(|(thread, cpu)| Some((thread, (*cpu)?)));
        placed.filter_map(|(thread, cpu)| Some((cpu, need(thread)?))).collect()
    }
}

/// The operating point of a CPU that serves a clamp, or its highest; one that the newest release passes over is none.
fn clamp_khz(machine: &Machine, cpu: u32, clamp: u32) -> u32 {
    let cpu = &machine.cpus[cpu as usize];
    let domain = &machine.domains[cpu.domain as usize];
    let need_khz = u64::from(clamp) * u64::from(domain.ref_khz) / u64::from(cpu.capacity.max(1));
    let khz: Vec<u32> = domain.opps.iter().map(|opp| opp.khz).collect();
    let marked = match Policy::profile(DEFAULT_PROFILE) {
        Ok(policy) => EnergyModel::told_khz(&policy, &khz, &domain.inefficient, &domain.energy_model_uw, cpu.capacity),
        Err(_) => khz.clone(),
    };
    let efficient = marked.into_iter().filter(|khz| khz & KHZ_INEFFICIENT == 0);
    let highest = khz.last().copied().unwrap_or(0);
    efficient.into_iter().find(|khz| u64::from(*khz) >= need_khz).unwrap_or(highest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::observe::Wake;
    use crate::plan::{Inputs, machine};
    use pelton_scenario::SourceFile;

    const FILE: &str = "schema = 1\nname = \"mine\"\nquestion = \"?\"\nboards = [\"juno-r0\"]\nduration_ms = 1000\n\
        [[task]]\nname = \"a\"\nutil_pct = 20\nperiod_ms = 10\nutil_min_pct = 30\nutil_max_pct = 50\n\
        [[claim]]\nid = \"c\"\ntext = \"c\"\nmax = 1\ntask = \"a\"\n";

    /// The number of a measure over what was seen on juno-r0, whose CPUs 1 and 2 are large.
    fn number(claim: &str, seen: &Observed, carried: Carried) -> Measured {
        let file = SourceFile::new("mine.toml", format!("{FILE}{claim}\n"));
        let behaviour = Behaviour::parse(&file).expect("a good file");
        let machine = machine(&Inputs { platform: "juno-r0".into(), ..Inputs::default() }, "7.2").expect("built in");
        let sized = behaviour.sized(&machine.machine).expect("it fits");
        let board = Board::new(&machine.machine, &sized);
        Reading { behaviour: &behaviour, board: &board, seen, carried }.number(&behaviour.claims[0])
    }

    fn ms(ms: u64) -> u64 {
        ms * 1_000_000
    }

    fn seen() -> Observed {
        let stretch = |cpu, khz, from, to| Stretch { thread: 0, cpu, khz, from_ns: ms(from), to_ns: ms(to) };
        let activation = |from, to, is_over| Activation { thread: 0, from_ns: ms(from), to_ns: ms(to), is_over };
        Observed {
            tasks: vec![0],
            start_ns: Some(ms(100)),
            end_ns: ms(1200),
            stretches: vec![stretch(0, 450_000, 100, 130), stretch(1, 1_100_000, 130, 140)],
            wakes: vec![Wake { thread: 0, cpu: 0, at_ns: ms(100) }, Wake { thread: 0, cpu: 1, at_ns: ms(200) }],
            activations: vec![activation(100, 140, true), activation(200, 205, true), activation(1195, 1200, false)],
            cpus: 2,
        }
    }

    #[test]
    fn shares_are_of_time_and_of_wake_ups() {
        let of = |claim| number(claim, &seen(), Carried::ALL);
        assert_eq!(of("measure = \"residency_pct\"\non = \"smallest\""), Ok(75.0));
        assert_eq!(of("measure = \"residency_pct\"\non = \"smallest\"\nto_ms = 20"), Ok(100.0));
        assert_eq!(of("measure = \"placed_pct\"\non = \"largest\""), Ok(50.0));
        assert_eq!(of("measure = \"first_on_ms\"\non = \"largest\""), Ok(30.0));
        assert_eq!(of("measure = \"above_clamp_pct\""), Ok(25.0), "only the large CPU is above half of a large one");
        assert_eq!(of("measure = \"below_clamp_pct\""), Ok(75.0));
    }

    #[test]
    fn a_long_activation_stands_for_those_that_it_took_the_time_of() {
        assert_eq!(number("measure = \"late_pct\"", &seen(), Carried::ALL), Ok(80.0), "four of 10 ms, and one");
        let never = Activation { thread: 0, from_ns: ms(90), to_ns: ms(1200), is_over: false };
        let stuck = Observed { activations: vec![never], ..seen() };
        assert_eq!(number("measure = \"late_pct\"", &stuck, Carried::ALL), Ok(100.0));
    }

    #[test]
    fn nothing_is_made_up_where_something_is_missing() {
        let reason = |claim, seen: &Observed, carried| number(claim, seen, carried).expect_err("not measured");
        let without = Carried { frequencies: false, ..Carried::ALL };
        assert!(reason("measure = \"above_clamp_pct\"", &seen(), without).contains("no cpu_frequency"));
        let mut unknown = seen();
        unknown.stretches[0].khz = 0;
        assert!(reason("measure = \"capacity_pct\"", &unknown, Carried::ALL).contains("75 % of the run time"));
        let cut = Observed { end_ns: ms(900), ..seen() };
        assert!(reason("measure = \"late_pct\"", &cut, Carried::ALL).contains("the trace ends 800 ms after"));
        let none = Observed::default();
        assert!(reason("measure = \"late_pct\"", &none, Carried::ALL).contains("no thread of these tasks"));
        assert!(
            reason("measure = \"residency_pct\"\non = \"smallest\"\nfrom_ms = 500", &seen(), Carried::ALL)
                .contains("do not run in the window")
        );
    }
}
