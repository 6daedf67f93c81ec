// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs to which a waking task is drawn: its waker's or its last one.

/// Comparison of the two CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeAffine {
    /// 4.12: by the load of runnable tasks.
    RunnableLoad,
    /// 4.16: is the waking CPU idle? Then the same load, and equal loads favour the waker.
    RunnableEven,
    /// 4.17 to 5.4: equal loads favour the waker if it sleeps next.
    RunnableLess,
    /// 5.10: load averages.
    LoadAvg,
    /// 6.1 and later: an idle last CPU comes before load averages.
    IdleFirst,
}

impl WakeAffine {
    /// The rule of a name.
    pub fn of(name: &str) -> Option<WakeAffine> {
        Some(match name {
            "runnable_load" => WakeAffine::RunnableLoad,
            "runnable_even" => WakeAffine::RunnableEven,
            "runnable_less" => WakeAffine::RunnableLess,
            "load_avg" => WakeAffine::LoadAvg,
            "idle_first" => WakeAffine::IdleFirst,
            _ => return None,
        })
    }
}

/// Facts that a wake-up sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Load of the waking CPU and of the last one.
    pub load: [u128; 2],
    /// Their capacities.
    pub capacity: [u128; 2],
    /// Load of the woken task.
    pub task: u128,
    /// Load of the waker.
    pub waker: u128,
    /// Both CPUs are threads of one core.
    pub siblings: bool,
    /// The waker is about to sleep.
    pub sync: bool,
    /// The waking CPU is idle and shares its cache with the last one.
    pub this_idle: bool,
    /// The last CPU is idle.
    pub prev_idle: bool,
    /// Runnable tasks of the waking CPU.
    pub running: u128,
    /// The CPUs have no cache in common.
    pub far: bool,
}

/// Half of what is allowed beyond an even load counts for the waking CPU.
fn margin(rule: WakeAffine, wake: &Wake) -> u128 {
    let allowed = match rule {
        _ if wake.siblings => 10,
        WakeAffine::LoadAvg | WakeAffine::IdleFirst => 17,
        _ if wake.far => 25,
        _ => 17,
    };
    100 + allowed / 2
}

/// Load that is left on the waking CPU.
fn stays(wake: &Wake) -> u128 {
    if wake.sync { wake.load[0].saturating_sub(wake.waker) } else { wake.load[0] }
}

fn by_runnable_load(wake: &Wake) -> bool {
    let (this, prev) = (margin(WakeAffine::RunnableLoad, wake) * wake.capacity[0], 100 * wake.capacity[1]);
    match stays(wake) {
        0 => prev <= this,
        load => prev * (load + wake.task) <= this * wake.load[1],
    }
}

fn by_weight(rule: WakeAffine, wake: &Wake) -> bool {
    if wake.sync && wake.waker > wake.load[0] {
        return true;
    }
    let here = 100 * wake.capacity[1] * (stays(wake) + wake.task);
    let there = margin(rule, wake) * wake.capacity[0] * wake.load[1].saturating_sub(wake.task);
    let even_goes = wake.sync || rule == WakeAffine::RunnableEven;
    here < there || here == there && even_goes
}

/// Is the task drawn to the waking CPU?
pub fn affine(rule: WakeAffine, wake: &Wake) -> bool {
    match rule {
        WakeAffine::RunnableLoad => by_runnable_load(wake),
        _ if wake.this_idle => !wake.prev_idle,
        _ if wake.sync && wake.running == 1 => true,
        WakeAffine::IdleFirst if wake.prev_idle => false,
        _ => by_weight(rule, wake),
    }
}

/// Waker and wakee have so many partners that they should stay apart.
pub fn wide(flips: [u128; 2], llc_size: u128) -> bool {
    let [less, more] = if flips[0] < flips[1] { flips } else { [flips[1], flips[0]] };
    less >= llc_size && more >= less * llc_size
}

/// A group's queue on one CPU, as the load of a wake-up sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupLoad {
    /// Load average of the queue.
    pub queue: i128,
    /// Contribution of the queue to the group's total.
    pub contrib: i128,
    /// The group's total.
    pub total: i128,
    /// The group's shares.
    pub shares: i128,
    /// Load average of its entity.
    pub entity: i128,
}

/// Shift of the entity's load when its queue gets `own` more and its group `all` more (to 4.12).
pub fn effective_load(group: &GroupLoad, own: i128, all: i128) -> i128 {
    let whole = all + (group.total - group.contrib).max(0) + group.queue;
    let part = group.queue + own;
    let weight = if whole > 0 && part < whole { group.shares * part / whole } else { group.shares };
    weight.max(2) - group.entity
}

/// Share in `part` of something with `load` on a queue with the load `queue`.
pub fn h_load(part: u128, load: u128, queue: u128) -> u128 {
    part * load / (queue + 1)
}

/// A wake-up whose waker and wakee are in groups: `[here, there]` shifts of the one's sleep and of the other's coming.
pub fn in_groups(wake: &Wake, waker: [i128; 2], task: [i128; 2]) -> Wake {
    let shifted = |load: u128, by: i128, least: i128| (load as i128 + by).max(least) as u128;
    let mut load = wake.load;
    if wake.sync {
        load = [shifted(load[0], waker[0], 0), shifted(load[1], waker[1], 0)];
    }
    load[1] = shifted(load[1], task[1], 0);
    if task[0] < 0 && load[0] > 0 {
        load[0] = shifted(load[0], task[0], 1);
    }
    Wake { load, task: task[0].max(0) as u128, waker: 0, ..*wake }
}
