// SPDX-License-Identifier: GPL-2.0-or-later
//! The state that both sides change: two CPUs, a tree of task groups, some tasks, one record to try things on.

use std::sync::OnceLock;

use pelton_core::Policy;
use pelton_reference::clock::{Clock, Rq};
use pelton_reference::group::TaskGroup;
use pelton_reference::idle;
use pelton_reference::pelt::Avg;
use pelton_reference::perf::CpuState;
use pelton_reference::pressure::RtShare;
use pelton_reference::rq::{CfsRq, Se};
use pelton_reference::rules::{Numbers, Rules};
use pelton_reference::teo;

use super::domain::{Domain, idle_state};
use super::layout::{Fields, Names, Record, Words, words_of};
use super::ops::CALL_WORDS;

/// CPUs of the world.
pub const CPUS: usize = 2;
/// Task groups.
pub const GROUPS: usize = 7;
/// The group that each lies in: six levels, and a second branch.
const ABOVE: [Option<usize>; GROUPS] = [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(0)];
/// Tasks.
pub const TASKS: usize = 7;
/// Distance of the task clock from the wall clock at the start.
const CLOCK_ORIGIN_NS: u64 = 1 << 30;

/// A record of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A CPU.
    Rq(usize),
    /// A CPU's root queue, inside its record.
    Root(usize),
    /// Queue of a group on a CPU: group, CPU.
    Cfs(usize, usize),
    /// Entity of a group on a CPU: group, CPU.
    GroupSe(usize, usize),
    /// A task.
    Task(usize),
    /// Common record of a group's queues.
    Group(usize),
    /// The loose record.
    Scratch,
    /// Inputs of a CPU's evaluation.
    State(usize),
    /// A domain's governor: the first holds both CPUs, the second only the first.
    Policy(usize),
    /// Governor state of a CPU in a domain: domain, position.
    Cpu(usize, usize),
    /// Terms and outcome of a domain's evaluation.
    Evaluation(usize),
    /// The idle states.
    IdleTable,
    /// Idle governor menu of a CPU.
    Menu(usize),
    /// Idle governor teo of a CPU.
    Teo(usize),
}

/// Queue above a group's entity on a CPU.
pub fn queue_above(group: usize, cpu: usize) -> Slot {
    ABOVE[group].map_or(Slot::Root(cpu), |above| Slot::Cfs(above, cpu))
}

/// A group, given by its number, and those that it lies in, up to the root.
pub fn groups_from(group: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(group), |&group| ABOVE[group])
}

/// All records, and the rules they live under.
#[derive(Clone, Debug)]
pub struct World {
    /// The reference's reading of the policy.
    pub rules: Rules,
    /// The reference's reading of its numbers.
    pub numbers: Numbers,
    /// The core's policy: one value per switch, then one per parameter.
    pub policy: Vec<u32>,
    /// CPUs.
    pub rq: [Rq; CPUS],
    /// Queues of the groups.
    pub cfs: [[CfsRq; CPUS]; GROUPS],
    /// Entities of the groups.
    pub group_se: [[Se; CPUS]; GROUPS],
    /// Tasks.
    pub tasks: [Se; TASKS],
    /// Shared parts of the groups.
    pub groups: [TaskGroup; GROUPS],
    /// The loose record.
    pub scratch: Avg,
    /// Inputs of the evaluations.
    pub states: [CpuState; CPUS],
    /// Frequency domains.
    pub domains: [Domain; 2],
    /// Idle states of both CPUs.
    pub idle_table: idle::Table,
    /// Idle governors.
    pub menu: [idle::Menu; CPUS],
    /// The other idle governor, on the same events.
    pub teo: [teo::Teo; CPUS],
}

/// The reference's reading of a policy.
pub fn rules_of(policy: &Policy) -> Result<Rules, String> {
    let (switches, values) = (pelton_core::switches(), policy.values());
    Rules::from_names(|name| {
        let at = switches.iter().position(|switch| switch.name == name);
        at.map_or("?", |at| switches[at].values[values[at] as usize])
    })
}

/// The numbers of a policy.
pub fn numbers_of(policy: &Policy) -> Numbers {
    let (parameters, values) = (pelton_core::parameters(), policy.values());
    let first = values.len() - parameters.len();
    Numbers::from_values(|name| {
        let at = parameters.iter().position(|parameter| parameter.name == name).expect("the core knows the number");
        u64::from(values[first + at])
    })
}

impl World {
    /// Two idle CPUs at `now`; nothing has run yet.
    pub fn new(policy: &Policy, now: u64, cap_orig: [u64; CPUS]) -> Self {
        let numbers = numbers_of(policy);
        let mut rules = rules_of(policy).expect("the reference knows every value of its switches");
        (rules.headroom_pct, rules.capacity_margin) = (numbers.headroom_pct, numbers.capacity_margin);
        let mut entity = Se { full_weight: 1024 * 1024, ..Se::default() };
        entity.avg.load_avg = 0;
        Self {
            rules,
            numbers,
            policy: policy.values(),
            rq: cap_orig.map(|cap| idle_cpu(now, cap)),
            cfs: [[queue(now + CLOCK_ORIGIN_NS); CPUS]; GROUPS],
            group_se: [[entity; CPUS]; GROUPS],
            tasks: [Se::default(); TASKS],
            groups: [TaskGroup { load_avg: 0, shares: 1024 }; GROUPS],
            scratch: Avg::default(),
            states: cap_orig.map(idle_state),
            domains: [Domain::new(CPUS), Domain::new(1)],
            idle_table: idle::Table::default(),
            menu: [idle::Menu::default(); CPUS],
            teo: [teo::Teo::default(); CPUS],
        }
    }

    /// Visits every record in the order of the buffer.
    fn visit(&self, mut each: impl Visit) {
        for (cpu, rq) in self.rq.iter().enumerate() {
            each.record(Slot::Rq(cpu), format_args!("cpu{cpu}"), rq);
        }
        for group in 0..GROUPS {
            for cpu in 0..CPUS {
                each.record(Slot::Cfs(group, cpu), format_args!("group{group}.cpu{cpu}.cfs"), &self.cfs[group][cpu]);
                let se = &self.group_se[group][cpu];
                each.record(Slot::GroupSe(group, cpu), format_args!("group{group}.cpu{cpu}.se"), se);
            }
            each.record(Slot::Group(group), format_args!("group{group}"), &self.groups[group]);
        }
        for (task, se) in self.tasks.iter().enumerate() {
            each.record(Slot::Task(task), format_args!("task{task}"), se);
        }
        each.record(Slot::Scratch, format_args!("scratch"), &self.scratch);
        self.visit_governor(&mut each);
        each.record(Slot::IdleTable, format_args!("idle_table"), &self.idle_table);
        for cpu in 0..CPUS {
            each.record(Slot::Menu(cpu), format_args!("menu{cpu}"), &self.menu[cpu]);
            each.record(Slot::Teo(cpu), format_args!("teo{cpu}"), &self.teo[cpu]);
        }
    }

    fn visit_governor(&self, each: &mut impl Visit) {
        for (cpu, state) in self.states.iter().enumerate() {
            each.record(Slot::State(cpu), format_args!("state{cpu}"), state);
        }
        for (d, domain) in self.domains.iter().enumerate() {
            each.record(Slot::Policy(d), format_args!("domain{d}"), &domain.policy);
            for (cpu, sc) in domain.cpus.iter().enumerate() {
                each.record(Slot::Cpu(d, cpu), format_args!("domain{d}.cpu{cpu}"), sc);
            }
            each.record(Slot::Evaluation(d), format_args!("domain{d}"), &domain.evaluation);
        }
    }

    /// The whole buffer; the words of the call are 0.
    pub fn encode(&self) -> Vec<u64> {
        let mut words = Words::default();
        words.list.reserve(1024);
        words.list.resize(CALL_WORDS, 0);
        for &value in &self.policy {
            words.half("policy", value.into());
        }
        if self.policy.len() % 2 == 1 {
            words.half("padding", 0);
        }
        self.visit(Encoder(&mut words));
        words.list
    }

    /// Name, first half word and width of every field.
    pub fn names(&self) -> Vec<(String, usize, usize)> {
        let mut names = Names::default();
        names.skip_words(state_word(self.policy.len()));
        self.visit(Namer(&mut names));
        names.list
    }
}

fn idle_cpu(now: u64, cap_orig: u64) -> Rq {
    let task = now + CLOCK_ORIGIN_NS;
    let at = |time| Avg { last_update_time_ns: time, ..Avg::default() };
    let clock = Clock {
        clock_ns: now,
        clock_task_ns: task,
        clock_pelt_ns: task,
        lost_idle_ns: 0,
        clock_idle_ns: now,
        clock_pelt_idle_ns: task,
    };
    let rt_share = RtShare { sum: 0, age_stamp_ns: now, counted_to_ns: task };
    let (cfs, rt, dl, irq, hw) = (queue(task), at(task), at(task), at(now), at(task));
    Rq { clock, cfs, rt, dl, irq, hw, rt_share, cap_orig, freq_scale: 1024 }
}

fn queue(now: u64) -> CfsRq {
    CfsRq { avg: Avg { last_update_time_ns: now, ..Avg::default() }, ..CfsRq::default() }
}

/// First word after call and policy.
fn state_word(switches: usize) -> usize {
    CALL_WORDS + switches.div_ceil(2)
}

trait Visit {
    fn record(&mut self, slot: Slot, name: std::fmt::Arguments, record: &impl Record);
}

struct Encoder<'a>(&'a mut Words);

impl Visit for Encoder<'_> {
    fn record(&mut self, _slot: Slot, _name: std::fmt::Arguments, record: &impl Record) {
        record.fields(self.0);
    }
}

struct Namer<'a>(&'a mut Names);

impl Visit for Namer<'_> {
    fn record(&mut self, _slot: Slot, name: std::fmt::Arguments, record: &impl Record) {
        self.0.begin(name.to_string());
        record.fields(self.0);
    }
}

/// First word of every record.
struct Addresses {
    next: usize,
    list: Vec<(Slot, usize)>,
}

impl Visit for &mut Addresses {
    fn record(&mut self, slot: Slot, _name: std::fmt::Arguments, record: &impl Record) {
        let mut words = Words::default();
        record.fields(&mut words);
        self.list.push((slot, self.next));
        if let Slot::Rq(cpu) = slot {
            self.list.push((Slot::Root(cpu), self.next + words_of::<Clock>()));
        }
        self.next += words.list.len();
    }
}

fn addresses() -> &'static [(Slot, usize)] {
    static LIST: OnceLock<Vec<(Slot, usize)>> = OnceLock::new();
    LIST.get_or_init(|| {
        let newest = Policy::profile("7.2").expect("the newest profile exists");
        let world = World::new(&newest, 0, [1024; CPUS]);
        let mut all = Addresses { next: state_word(world.policy.len()), list: Vec::new() };
        world.visit(&mut all);
        all.list
    })
}

/// Index of a record's first word.
pub fn address(slot: Slot) -> u64 {
    addresses().iter().find(|(s, _)| *s == slot).expect("every slot has an address").1 as u64
}

/// The record that begins at a word; none for 0.
pub fn slot_at(word: u64) -> Option<Slot> {
    addresses().iter().find(|(_, at)| *at as u64 == word).map(|(slot, _)| *slot)
}

/// Name of the value a policy gives to a switch.
pub fn value_of(policy: &[u32], name: &str) -> &'static str {
    let at = switch_list().iter().position(|switch| switch.name == name).expect("the switch exists");
    switch_list()[at].values[policy[at] as usize]
}

fn switch_list() -> &'static [pelton_core::Switch] {
    static LIST: OnceLock<Vec<pelton_core::Switch>> = OnceLock::new();
    LIST.get_or_init(pelton_core::switches)
}
