// SPDX-License-Identifier: GPL-2.0-or-later
//! Boost groups against brute force: a million random wake-ups, sleeps, moves between CPUs and groups, and writes.
//! Brute force keeps nothing but the list of tasks and counts it anew each time.

use pelton_core::{BoostCpu, Policy, boost_group_limit};

const OPERATIONS: usize = 1_000_000;
const CPUS: usize = 2;
/// Tasks, so few that groups often have one on a CPU or none.
const TASKS: usize = 12;
const HOLD_NS: u64 = 50_000_000;

#[derive(Clone, Copy, Default)]
struct Task {
    group: usize,
    /// CPU on which it runs or waits.
    cpu: Option<usize>,
}

/// The core's record of each CPU, and everything that brute force knows.
struct World {
    policy: Policy,
    form: &'static str,
    groups: usize,
    cpus: [BoostCpu; CPUS],
    tasks: [Task; TASKS],
    boosts: Vec<i32>,
    /// hold: when a task last came that is stamped.
    stamps: [Vec<u64>; CPUS],
    /// The root's boost was written while it had no task there, which rfc and hold see at the next look: the most it
    /// was.
    unseen: [Option<i32>; CPUS],
    now: u64,
    draw: u64,
}

fn form(name: &str) -> Policy {
    let mut policy = Policy::profile("4.12").expect("a profile");
    policy.set("boost_form", name).expect("a form");
    policy
}

impl World {
    fn new(form_name: &'static str) -> World {
        let policy = form(form_name);
        let groups = boost_group_limit(&policy) as usize;
        World {
            policy,
            form: form_name,
            groups,
            cpus: [BoostCpu::default(); CPUS],
            tasks: [Task::default(); TASKS],
            boosts: vec![0; groups],
            stamps: [vec![0; groups], vec![0; groups]],
            unseen: [None; CPUS],
            now: 1 << 40,
            draw: 1,
        }
    }

    fn below(&mut self, n: usize) -> usize {
        self.draw = self.draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.draw >> 33) as usize % n
    }

    fn runnable(&self, cpu: usize, group: usize) -> usize {
        self.tasks.iter().filter(|t| t.cpu == Some(cpu) && t.group == group).count()
    }

    fn comes(&mut self, t: usize, cpu: usize) {
        let (group, stamps) = (self.tasks[t].group, self.below(4) == 0);
        self.tasks[t].cpu = Some(cpu);
        if stamps {
            self.stamps[cpu][group] = self.now;
        }
        self.cpus[cpu].count(&self.policy, group as u32, true, stamps, self.now);
        self.looked(cpu, group, true);
    }

    fn leaves(&mut self, t: usize, cpu: usize) {
        let group = self.tasks[t].group;
        self.tasks[t].cpu = None;
        self.cpus[cpu].count(&self.policy, group as u32, false, false, self.now);
        self.looked(cpu, group, false);
    }

    /// A count of 0 or 1 makes the kernel look; hold's only when the first task comes.
    fn looked(&mut self, cpu: usize, group: usize, comes: bool) {
        if self.runnable(cpu, group) < 2 && (comes || !self.is("hold")) {
            self.unseen[cpu] = None;
        }
    }

    fn regroup(&mut self, t: usize, to: usize) {
        let Task { group, cpu } = self.tasks[t];
        // The posting loses count of a runnable task that changes its group: it has to sleep here.
        if cpu.is_some() && self.is("rfc") {
            return;
        }
        self.tasks[t].group = to;
        let Some(cpu) = cpu.filter(|_| to != group) else { return };
        self.stamps[cpu][to] = self.now;
        self.cpus[cpu].relocate(&self.policy, group as u32, to as u32, self.now);
    }

    fn write(&mut self, group: usize, boost: i32) {
        let old = std::mem::replace(&mut self.boosts[group], boost);
        for cpu in 0..CPUS {
            if group == 0 && !self.is("later") && self.runnable(cpu, 0) == 0 {
                self.unseen[cpu] = self.unseen[cpu].max(Some(old));
            }
            self.cpus[cpu].write(&self.policy, group as u32, boost, self.now);
        }
    }

    fn is(&self, name: &str) -> bool {
        self.form == name
    }

    fn step(&mut self) {
        self.now += self.below(8_000_000) as u64;
        let (t, to, cpu) = (self.below(TASKS), self.below(self.groups), self.below(CPUS));
        match (self.below(8), self.tasks[t].cpu) {
            (0, _) => {
                let boost = self.below(101) as i32;
                self.write(to, if self.is("later") { 2 * boost - 100 } else { boost });
            }
            (1, _) => self.regroup(t, to),
            (2 | 3, Some(from)) => {
                self.leaves(t, from);
                self.comes(t, cpu);
            }
            (_, Some(from)) => self.leaves(t, from),
            (_, None) => self.comes(t, cpu),
        }
    }

    fn is_held(&self, cpu: usize, group: usize) -> bool {
        self.is("hold") && self.now - self.stamps[cpu][group] <= HOLD_NS
    }

    /// The largest boost of the groups that `count`; the least that a form has where none does.
    fn largest(&self, count: impl Fn(usize) -> bool) -> i32 {
        let largest = (0..self.groups).filter(|&g| count(g)).map(|g| self.boosts[g]).max().unwrap_or(0);
        if self.is("hold") { largest.max(0) } else { largest }
    }

    /// Least and largest boost that the CPU may have now.
    fn allowed(&self, cpu: usize) -> (i32, i32) {
        let has_tasks = |g: usize| self.runnable(cpu, g) > 0;
        let root_counts = |g: usize| g == 0 && !self.is("later");
        let least = |g: usize| has_tasks(g) || (root_counts(g) && self.unseen[cpu].is_none());
        let most = |g: usize| has_tasks(g) || root_counts(g) || self.is_held(cpu, g);
        (self.largest(least), self.largest(most).max(self.unseen[cpu].unwrap_or(i32::MIN)))
    }

    /// The first difference from brute force now.
    fn wrong(&mut self) -> Option<String> {
        for cpu in 0..CPUS {
            let boost = self.cpus[cpu].boost(&self.policy, self.now);
            let (least, most) = self.allowed(cpu);
            let counted = |g: usize| self.cpus[cpu].group[g].tasks as usize;
            if let Some(g) = (0..self.groups).find(|&g| counted(g) != self.runnable(cpu, g)) {
                return Some(format!("CPU {cpu}: group {g} has {}, not {}", counted(g), self.runnable(cpu, g)));
            }
            if !(least..=most).contains(&boost) {
                return Some(format!("CPU {cpu}: a boost of {boost}, not {least} to {most}"));
            }
        }
        None
    }
}

/// Steps until one goes wrong, and how often brute force allowed one value alone.
fn live(form: &'static str, changes: fn(&mut World)) -> (Result<(), String>, usize) {
    let (mut world, mut exact) = (World::new(form), 0);
    for step in 0..OPERATIONS {
        world.step();
        changes(&mut world);
        if let Some(wrong) = world.wrong() {
            return (Err(format!("operation {step}: {wrong}")), exact);
        }
        exact += (0..CPUS).filter(|&cpu| world.allowed(cpu).0 == world.allowed(cpu).1).count();
    }
    (Ok(()), exact)
}

/// later has no rest: each of its values is exact. rfc sees a boost of an empty root late, hold keeps boosts for a
/// while.
#[test]
fn counts_and_boosts_are_those_of_brute_force_after_a_million_operations() {
    for (name, exact_min) in [("rfc", 0.5), ("later", 1.0), ("hold", 0.3)] {
        let (result, exact) = live(name, |_| {});
        assert_eq!(result, Ok(()), "{name}");
        let share = exact as f64 / (OPERATIONS * CPUS) as f64;
        println!("{name}: {OPERATIONS} operations, one value possible in {:.1} %", 100.0 * share);
        assert!(share >= exact_min, "{name}: {share}");
    }
}

/// Faults that the comparison must notice: a lost task, a boost that was written past the core, a root that counts
/// without tasks.
#[test]
fn faults_are_noticed() {
    let lost: fn(&mut World) = |w| w.cpus[0].group[1].tasks = w.cpus[0].group[1].tasks.saturating_sub(1);
    let untold: fn(&mut World) = |w| w.boosts[2] = 17;
    let wrong_root: fn(&mut World) = |w| w.cpus[0].refresh(&form("rfc"), w.now);
    let faults = [("rfc", lost), ("later", lost), ("hold", lost), ("later", untold), ("later", wrong_root)];
    for (name, fault) in faults {
        assert!(live(name, fault).0.is_err(), "{name}");
    }
}
