// SPDX-License-Identifier: GPL-2.0-or-later
//! Replays the known-answer tables on a build: sets up a state, makes the calls, reads fields by name.

use pelton_core::Policy;
use pelton_reference::pelt::Avg;
use pelton_reference::rq::Removed;
use pelton_reference::rules::PROFILES;

use super::builds::Core;
use super::domain::OPPS;
use super::ops::{Call, Op};
use super::suite::field;
use super::world::{CPUS, Slot, World, address};

/// Wall time of the replayed states.
const START_NS: u64 = 1 << 40;
const FULL_SPEED: u64 = 1024 << 32 | 1024;
const TICK_NS: u64 = 4_000_000;

/// One row on its way through a build.
struct Row<'a, C: Core> {
    core: &'a mut C,
    world: World,
    words: Vec<u64>,
}

impl<'a, C: Core> Row<'a, C> {
    fn new(core: &'a mut C, policy: &Policy) -> Self {
        Self { core, world: World::new(policy, START_NS, [1024; CPUS]), words: Vec::new() }
    }

    /// Loads the prepared state, makes the calls; what the last one answered.
    fn make(&mut self, calls: &[Call]) -> Result<u64, String> {
        self.core.load(&self.world.encode())?;
        let answers = self.core.run(calls)?;
        self.words = self.core.dump()?;
        Ok(answers.last().map_or(0, |answer| answer[0]))
    }

    /// Fields after the calls, by name.
    fn read(&self, prefix: &str, names: &[&str]) -> Vec<u64> {
        let all = self.world.names();
        let find = |name: &str| all.iter().find(|row| row.0 == format!("{prefix}{name}"));
        names.iter().map(|name| find(name).map_or(u64::MAX, |row| field(&self.words, row.1, row.2))).collect()
    }
}

fn profile(index: u64) -> Policy {
    Policy::profile(PROFILES[index as usize]).expect("both sides have the same profiles")
}

fn newest() -> Policy {
    profile(PROFILES.len() as u64 - 1)
}

/// Outputs of a build for one row of a table.
pub fn run(core: &mut impl Core, table: &str, i: &[u64]) -> Result<Vec<u64>, String> {
    match table {
        "decay" => Ok(vec![Row::new(core, &newest()).make(&[Call::new(Op::Decay, i)])?]),
        "ramp-from" => Ok(vec![Row::new(core, &newest()).make(&[Call::new(Op::Ramp, i)])?]),
        "periods-to-util" => Ok(vec![Row::new(core, &newest()).make(&[Call::new(Op::TimeTo, i)])?]),
        "rate-limit" => Ok(vec![Row::new(core, &profile(i[0])).make(&[Call::new(Op::RateLimit, &i[1..])])?]),
        "one-update" => scratch(core, 1024 * i[0], 1, 1, &["util_avg", "util_sum", "period_contrib"]),
        "ramp-ms" => scratch(core, 1_000_000, i[0], 1, &["util_avg"]),
        "ramp-state" => scratch(core, i[0], i[1], 1, &["util_avg", "util_sum", "period_contrib"]),
        "decay-from-full" => scratch(core, 1 << 20, i[0], 0, &["util_avg"]),
        "any-update" => any_update(core, i),
        "removed" | "attach" | "propagate" | "shares" | "first-placement" => membership(core, table, i),
        "util-est" => estimate(core, i),
        "clock" | "lost-idle" | "capacity-of" => cpu(core, table, i),
        "irq-scaling" | "perf-target" | "perf-request" => request(core, table, i),
        "frequency" => frequency(core, i),
        "iowait" => io_story(core, i),
        "newidle-dice" => dice(core, i),
        "uclamp-effective" | "uclamp-buckets" => clamps(core, table, i),
        _ => Err(format!("no replay for table {table}")),
    }
}

/// Updates of the loose record every `step_ns`, running or idle. Idle starts from full utilization.
fn scratch(core: &mut impl Core, step_ns: u64, n: u64, on: u64, names: &[&str]) -> Result<Vec<u64>, String> {
    let mut row = Row::new(core, &newest());
    if on == 0 {
        row.world.scratch = Avg { util_avg: 1024, util_sum: 1024 * 46718, ..Avg::default() };
    }
    let update = |k| Call::new(Op::Accumulate, &[address(Slot::Scratch), k * step_ns, on, on, on, FULL_SPEED]);
    let calls: Vec<Call> = (1..=n).map(update).collect();
    row.make(&calls)?;
    Ok(row.read("scratch.", names))
}

fn any_update(core: &mut impl Core, i: &[u64]) -> Result<Vec<u64>, String> {
    let mut policy = newest();
    policy.invariance = u32::from(i[0] == 0);
    policy.divisor = u32::from(i[0] != 2);
    let mut row = Row::new(core, &policy);
    row.world.scratch = Avg {
        last_update_time_ns: i[1],
        period_contrib: i[2],
        load_sum: i[3],
        runnable_sum: 1024 * i[3],
        util_sum: 1024 * i[3],
        ..Avg::default()
    };
    let args = [address(Slot::Scratch), i[4], i[5], i[6], i[7], i[8] << 32 | i[9]];
    let periods = row.make(&[Call::new(Op::Accumulate, &args)])?;
    let names = ["last_update_time_ns", "period_contrib", "load_sum", "runnable_sum", "util_sum"];
    let averages = ["load_avg", "runnable_avg", "util_avg"];
    Ok([vec![periods], row.read("scratch.", &names), row.read("scratch.", &averages)].concat())
}

const SIX: [&str; 6] = ["load_avg", "runnable_avg", "util_avg", "load_sum", "runnable_sum", "util_sum"];

/// All three averages and sums of a record.
fn set(avg: &mut Avg, value: u64, sum: u64, position: u64) {
    (avg.load_avg, avg.runnable_avg, avg.util_avg) = (value, value, value);
    (avg.load_sum, avg.runnable_sum, avg.util_sum) = (sum, sum, sum);
    avg.period_contrib = position;
}

/// Tables of the first group's queue on the first CPU, the queue above it, and the first task.
fn membership(core: &mut impl Core, table: &str, i: &[u64]) -> Result<Vec<u64>, String> {
    const MIN_DIVIDER: u64 = 46718;
    let policy = if matches!(table, "removed" | "first-placement") { profile(i[0]) } else { newest() };
    let mut row = Row::new(core, &policy);
    let (rq, root, group, se) = (Slot::Rq(0), Slot::Root(0), Slot::Cfs(0, 0), Slot::Task(0));
    let [rq, root, group, se] = [rq, root, group, se].map(address);
    let world = &mut row.world;
    match table {
        "removed" => {
            set(&mut world.cfs[0][0].avg, i[1], i[2], i[3]);
            world.cfs[0][0].removed = Removed { load: i[4], util: i[4], runnable: i[4], nr: 1 };
            let start = world.rq[0].clock.clock_task_ns;
            world.cfs[0][0].avg.last_update_time_ns = start;
            row.make(&[Call::new(Op::UpdateCfsRq, &[rq, group])])?;
            Ok([row.read("group0.cpu0.cfs.", &SIX), row.read("group0.cpu0.cfs.", &["prop_runnable_sum"])].concat())
        }
        "attach" => {
            set(&mut world.cfs[0][0].avg, 100, 100 * MIN_DIVIDER, i[0]);
            let task = &mut world.tasks[0];
            task.full_weight = i[1] * 1024;
            (task.avg.load_avg, task.avg.runnable_avg, task.avg.util_avg) = (i[2], i[3], i[4]);
            row.make(&[Call::new(Op::Attach, &[group, se])])?;
            let entity = ["load_sum", "runnable_sum", "util_sum", "period_contrib"];
            Ok([row.read("task0.avg.", &entity), row.read("group0.cpu0.cfs.", &SIX)].concat())
        }
        "propagate" => {
            propagation(world, i);
            let args = [rq, root, address(Slot::GroupSe(0, 0)), group, 0];
            row.make(&[Call::new(Op::UpdateLoadAvg, &args)])?;
            Ok([row.read("group0.cpu0.se.avg.", &SIX), row.read("cpu0.cfs.", &SIX)].concat())
        }
        "shares" => {
            let owned = &mut world.cfs[0][0];
            (owned.full_load, owned.avg.load_avg, owned.tg_load_avg_contrib) = (i[0] * 1024, i[1], i[2]);
            (world.groups[0].load_avg, world.groups[0].shares) = (i[3], i[4]);
            Ok(vec![row.make(&[Call::new(Op::GroupShares, &[group, address(Slot::Group(0)), 77])])?])
        }
        _ => {
            (world.cfs[0][0].avg.util_avg, world.cfs[0][0].avg.load_avg) = (i[2], i[3]);
            row.make(&[Call::new(Op::SeInit, &[se, i[4]]), Call::new(Op::PostInit, &[group, se, i[1]])])?;
            Ok(row.read("task0.avg.", &["util_avg", "runnable_avg"]))
        }
    }
}

/// Pending changes of the first group; nothing ages, because no time passes.
fn propagation(world: &mut World, i: &[u64]) {
    const MIN_DIVIDER: u64 = 46718;
    let now = world.rq[0].clock.clock_task_ns;
    set(&mut world.rq[0].cfs.avg, 500, 500 * MIN_DIVIDER, i[0]);
    let owned = &mut world.cfs[0][0];
    set(&mut owned.avg, i[1], i[1] * MIN_DIVIDER, 7);
    (owned.propagate, owned.full_load, owned.prop_runnable_sum) = (1, i[2] * 1024, i[3] as i64);
    let se = &mut world.group_se[0][0];
    set(&mut se.avg, 300, 300 * MIN_DIVIDER, i[0]);
    (se.avg.load_sum, se.full_weight, se.avg.last_update_time_ns) = (20_000, 512 * 1024, now);
}

fn estimate(core: &mut impl Core, i: &[u64]) -> Result<Vec<u64>, String> {
    let mut policy = newest();
    policy.util_est = i[0] as u32;
    let mut row = Row::new(core, &policy);
    let avg = &mut row.world.tasks[0].avg;
    (avg.util_est_enqueued, avg.util_est_ewma) = (i[1], i[2]);
    (avg.util_avg, avg.runnable_avg) = (i[3], i[4]);
    row.make(&[Call::new(Op::UtilEstUpdate, &[address(Slot::Task(0)), i[5], 1])])?;
    Ok(row.read("task0.avg.", &["util_est_enqueued", "util_est_ewma"]))
}

fn cpu(core: &mut impl Core, table: &str, i: &[u64]) -> Result<Vec<u64>, String> {
    let mut row = Row::new(core, &newest());
    let rq = &mut row.world.rq[0];
    (rq.clock.clock_ns, rq.clock.clock_task_ns, rq.clock.clock_pelt_ns) = (1_000_000_000, 900_000_000, 400_000_000);
    (rq.clock.clock_idle_ns, rq.clock.clock_pelt_idle_ns) = (0, 0);
    let word = address(Slot::Rq(0));
    match table {
        "clock" => {
            (rq.cap_orig, rq.freq_scale) = (i[0], i[1]);
            row.make(&[Call::new(Op::ClockUpdate, &[word, i[2], i[3], i[4]])])?;
        }
        "lost-idle" => {
            (rq.cfs.avg.util_sum, rq.rt.util_sum, rq.dl.util_sum) = (i[0], i[1], i[2]);
            row.make(&[Call::new(Op::ClockEnterIdle, &[word])])?;
        }
        _ => {
            rq.cap_orig = i[0];
            (rq.rt.util_avg, rq.dl.util_avg, rq.irq.util_avg) = (i[3], i[4], i[5]);
            return Ok(vec![row.make(&[Call::new(Op::CapacityOf, &[word, i[1], i[2]])])?]);
        }
    }
    let names = ["clock_ns", "clock_task_ns", "clock_pelt_ns", "lost_idle_ns", "clock_idle_ns", "clock_pelt_idle_ns"];
    Ok(row.read("cpu0.clock.", &names))
}

fn request(core: &mut impl Core, table: &str, i: &[u64]) -> Result<Vec<u64>, String> {
    let policy = if table == "perf-request" { profile(i[0]) } else { newest() };
    let mut row = Row::new(core, &policy);
    let state = &mut row.world.states[0];
    let (boost, names): (u64, &[&str]) = match table {
        "irq-scaling" => {
            (state.util_cfs, state.util_irq) = (i[0], i[1]);
            (0, &["effective"])
        }
        "perf-target" => {
            (state.util_cfs, state.uclamp_used) = (i[0], 1);
            (state.uclamp_min, state.uclamp_max) = (i[1], i[2]);
            (0, &["perf"])
        }
        _ => {
            (state.cap_orig, state.util_cfs, state.runnable_cfs, state.util_est) = (i[1], i[2], i[3], i[4]);
            (state.util_rt, state.util_dl, state.util_irq, state.bw_dl) = (i[5], i[6], i[7], i[8]);
            (state.rt_nr_running, state.uclamp_used) = (i[9], i[10]);
            (state.uclamp_min, state.uclamp_max) = (i[11], i[12]);
            (i[13], &["cfs", "effective", "iowait", "min", "max", "perf"])
        }
    };
    row.make(&[Call::new(Op::PerfEval, &[address(Slot::State(0)), boost, address(Slot::Evaluation(0))])])?;
    Ok(row.read("domain0.terms0.", names))
}

/// The domain of one CPU evaluates once.
fn frequency(core: &mut impl Core, i: &[u64]) -> Result<Vec<u64>, String> {
    let mut row = Row::new(core, &profile(i[0]));
    row.world.states[0].util_cfs = i[1];
    let words = [Slot::Policy(1), Slot::Cpu(1, 0), Slot::State(0), Slot::Evaluation(1)].map(address);
    let args = [&words[..], &[START_NS, TICK_NS, OPPS as u64]].concat();
    row.make(&[Call::new(Op::SugovEvaluate, &args)])?;
    Ok(row.read("domain1.decision.", &["perf", "raw_khz", "resolved_khz"]))
}

/// Clamps by maximum: of one request, or of a CPU after a script.
fn clamps(core: &mut impl Core, table: &str, i: &[u64]) -> Result<Vec<u64>, String> {
    let mut row = Row::new(core, &profile(i[0]));
    if table == "uclamp-buckets" {
        let word = row.make(&[Call::new(Op::ClampScript, &i[1..])])?;
        return Ok(vec![word & 0xffff, word >> 16 & 0xffff, word >> 32]);
    }
    let asks = i[1] | i[2] << 16 | i[3] << 32 | i[4] << 33 | i[7] << 34;
    let limits = i[5] | i[6] << 16 | i[8] << 32 | i[9] << 48;
    let word = row.make(&[Call::new(Op::ClampEffective, &[asks, limits])])?;
    Ok(vec![word & 0xffff, word >> 16])
}

/// A call is counted; four questions about what is known then.
fn dice(core: &mut impl Core, i: &[u64]) -> Result<Vec<u64>, String> {
    let policy = Policy { newidle_dice: i[0] as u32, ..newest() };
    let ask = |asked| {
        let args = [&i[1..], &[asked]].concat();
        Row::new(core, &policy).make(&[Call::new(Op::NewidleCount, &args)])
    };
    (0..4).map(ask).collect()
}

/// Hook calls of a CPU of the domain of two, the other one stays idle; the value is what the last evaluation used.
fn io_story(core: &mut impl Core, i: &[u64]) -> Result<Vec<u64>, String> {
    let mut row = Row::new(core, &profile(i[0]));
    row.world.states[0].cap_orig = 512;
    let [policy, sc, state, evaluation] =
        [Slot::Policy(0), Slot::Cpu(0, 0), Slot::State(0), Slot::Evaluation(0)].map(address);
    let (mut now, mut calls) = (START_NS, Vec::new());
    for step in 0..8 {
        let kind = i[1] >> (2 * step) & 3;
        now += if kind == 3 { TICK_NS + 1 } else { TICK_NS / 2 };
        let asks = u64::from(kind == 1 || kind == 2);
        calls.push(Call::new(Op::SugovBegin, &[policy, sc, 0, now, TICK_NS, asks, 1]));
        if kind != 2 {
            calls.push(Call::new(Op::SugovEvaluate, &[policy, sc, state, evaluation, now, TICK_NS, OPPS as u64]));
        }
    }
    row.make(&calls)?;
    let value = row.read("domain0.terms0.", &["iowait"]);
    Ok([value, row.read("domain0.cpu0.", &["iowait_boost", "iowait_pending"])].concat())
}
