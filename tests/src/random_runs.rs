// SPDX-License-Identifier: GPL-2.0-or-later
//! Random runs: boards, loads, profiles, switches and parameters. One seed is one run, on every machine.

use pelton_core::{parameters, profiles, switches};
use pelton_lab::plan::{Inputs, PolicySpec};

/// splitmix64: every seed is another scenario.
pub struct Dice(pub u64);

impl Dice {
    /// The next 64 bits.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `n` - 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.roll() % n.max(1) as u64) as usize
    }

    /// `low` to `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.roll() % (high - low + 1)
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// True in so many of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.roll() % 100 < percent
    }
}

/// Board, load and policy to run.
pub struct Scenario {
    /// Board, load, length.
    pub inputs: Inputs,
    /// Profile and settings.
    pub policy: PolicySpec,
}

impl Scenario {
    /// Arguments of `pelton` for the scenario.
    pub fn arguments(&self) -> Vec<String> {
        let i = &self.inputs;
        let given: [(&str, Option<String>); 8] = [
            ("--platform", Some(i.platform.clone())),
            ("--workload", Some(i.workload.clone())),
            ("--seed", Some(i.seed.to_string())),
            ("--duration", i.duration_ns.map(|ns| format!("{ns}ns"))),
            ("--hz", i.hz.map(|hz| hz.to_string())),
            ("--rate-limit-us", i.rate_limit_us.map(|us| us.to_string())),
            ("--group", i.group.clone()),
            ("--profile", self.policy.profile.clone()),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
        let sets = self.policy.sets.iter().map(|set| ["--set".to_owned(), set.clone()]);
        let phase = (!i.random_phase).then(|| "--same-phase".to_owned());
        std::iter::once("run".to_owned()).chain(given.chain(sets).flatten()).chain(phase).collect()
    }

    /// Shell command for the scenario.
    pub fn command(&self) -> String {
        let quoted = |word: &String| if word.contains(' ') { format!("'{word}'") } else { word.clone() };
        format!("pelton {}", self.arguments().iter().map(quoted).collect::<Vec<_>>().join(" "))
    }
}

fn load(dice: &mut Dice, number: usize) -> String {
    let period_us = dice.between(500, 40_000);
    let run_us = dice.between(1, period_us);
    let name = ["", ",name=twin", &format!(",name=t{number}")][dice.below(3)].to_owned();
    match dice.below(10) {
        0 => format!("busy:threads={},nice={}{name}", dice.between(1, 4), dice.between(0, 39) as i64 - 20),
        1 => format!("busy:policy=batch{name}"),
        2 => format!("sysbench-cpu:threads={},event_us={}", dice.between(1, 4), dice.between(50, 5000)),
        3 => format!("cyclictest:threads={},interval_us={}", dice.between(1, 4), dice.between(200, 5000)),
        4 => format!("hackbench:groups=1,fds={},loops={}", dice.between(1, 5), dice.between(1, 20)),
        5 => format!("periodic:run_us={run_us},period_us={period_us},policy=deadline,budget_us={run_us}{name}"),
        6 => format!("periodic:run_us={run_us},period_us={period_us},policy=fifo,priority=10{name}"),
        7 => {
            let (min, max) = (dice.between(0, 512), dice.between(512, 1024));
            format!("periodic:run_us={run_us},period_us={period_us},util_min={min},util_max={max}{name}")
        }
        8 => {
            let (depth, irq_us, threads) = (dice.between(1, 4), dice.between(0, 9), dice.between(1, 4));
            format!("io:run_us={run_us},service_us={period_us},depth={depth},irq_us={irq_us},threads={threads}{name}")
        }
        _ => format!("periodic:run_us={run_us},period_us={period_us},threads={}{name}", dice.between(1, 8)),
    }
}

/// A switch or a number with a value, wrong combinations included: those are refused.
fn setting(dice: &mut Dice) -> String {
    let (switches, parameters) = (switches(), parameters());
    if dice.chance(70) {
        let switch = dice.pick(&switches);
        return format!("{}={}", switch.name, dice.pick(&switch.values));
    }
    let parameter = dice.pick(&parameters);
    let value = match dice.below(3) {
        0 => parameter.min,
        1 => parameter.max,
        _ => dice.between(u64::from(parameter.min), u64::from(parameter.max)) as u32,
    };
    format!("{}={value}", parameter.name)
}

/// Groups that tasks are in: two on one level, and one below a group.
const GROUPS: [&str; 4] = ["/a", "/a/b", "/c", "/a/b/d"];

/// Programs of several tasks beside each other, each perhaps in a group.
fn program(dice: &mut Dice, number: usize) -> String {
    let threads = dice.between(1, 4);
    let model = match dice.below(8) {
        0 => format!(
            "schbench:message_threads={},threads={threads},cputime_us=2000,sleeptime_us=3000",
            dice.between(1, 2)
        ),
        1 => {
            let (run_us, gap_us) = (dice.between(1_000, 50_000), dice.between(1_000, 50_000));
            format!("sections:threads={threads},run_us={run_us},pieces={},gap_us={gap_us}", dice.between(1, 16))
        }
        2 => format!("ui-frames:rate_hz={}", dice.pick(&[30, 60, 120])),
        3 => format!("sched-pipe:loops={}", dice.between(10, 5_000)),
        4 => {
            format!("bursts:run_us={},sleep_us={},threads={threads}", dice.between(50, 5_000), dice.between(50, 9_000))
        }
        _ => load(dice, number),
    };
    let group = if dice.chance(75) { format!("group={}", dice.pick(&GROUPS)) } else { String::new() };
    match (group.is_empty(), model.contains(':')) {
        (true, _) => model,
        (false, true) => format!("{model},{group}"),
        (false, false) => format!("{model}:{group}"),
    }
}

/// Values of a group's file, from the start or from a moment on.
fn group(dice: &mut Dice) -> String {
    let what = match dice.below(6) {
        0 => {
            let period_us = dice.between(5_000, 100_000);
            format!("cpu.max={} {period_us}", dice.between(1_000, 2 * period_us))
        }
        1 => "cpu.idle=1".to_owned(),
        2 => format!("cpu.uclamp.max={},cpu.uclamp.min={}", dice.between(10, 100), dice.between(0, 60)),
        _ => format!("cpu.weight={}", dice.between(1, 10_000)),
    };
    let from = if dice.chance(60) { format!(",from_ms={}", dice.between(1, 400)) } else { String::new() };
    format!("group:path={},{what}{from}", dice.pick(&GROUPS))
}

/// Programs in groups, and the groups' weights, quotas and clamps.
fn groups(dice: &mut Dice) -> Vec<String> {
    let programs: Vec<String> = (0..dice.between(1, 4) as usize).map(|number| program(dice, number)).collect();
    let groups: Vec<String> = (0..dice.below(4)).map(|_| group(dice)).collect();
    programs.into_iter().chain(groups).collect()
}

/// The run of a seed on one of these platforms.
pub fn scenario(seed: u64, platforms: &[String]) -> Scenario {
    let mut dice = Dice(seed);
    let loads: Vec<String> = (0..dice.between(1, 4) as usize).map(|number| load(&mut dice, number)).collect();
    drawn(seed, &mut dice, &loads, platforms)
}

/// Scenario of this seed with tasks in groups.
pub fn grouped_scenario(seed: u64, platforms: &[String]) -> Scenario {
    let mut dice = Dice(seed ^ 0x6772_6f75_7073);
    let loads = groups(&mut dice);
    drawn(seed, &mut dice, &loads, platforms)
}

fn drawn(seed: u64, dice: &mut Dice, loads: &[String], platforms: &[String]) -> Scenario {
    let known = profiles();
    let sets = (0..dice.below(9)).map(|_| setting(dice)).collect();
    let inputs = Inputs {
        platform: dice.pick(platforms).clone(),
        workload: loads.join(" + "),
        seed: *dice.pick(&[seed, 0, 1 << 32, u64::MAX]),
        duration_ns: Some(dice.between(1_000_000, 60_000_000)),
        hz: dice.chance(50).then(|| *dice.pick(&[100, 250, 300, 1000])),
        rate_limit_us: dice.chance(30).then(|| dice.between(0, 20_000)),
        random_phase: dice.chance(50),
        group: dice.chance(20).then(|| "/a/b".to_owned()),
        ..Inputs::default()
    };
    Scenario {
        inputs,
        policy: PolicySpec { profile: Some((*dice.pick(&known)).to_owned()), sets, ..PolicySpec::default() },
    }
}
