// SPDX-License-Identifier: GPL-2.0-only
//! Where a waking task is drawn to: its waker's CPU or its last one.

/// How the two CPUs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeAffine {
    /// To 4.12: by the load of runnable tasks.
    RunnableLoad,
    /// Later: idle CPUs first, then load averages.
    IdleFirst,
}

/// What a wake-up sees.
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
}

/// Half of what is allowed beyond an even load counts for the waking CPU.
fn margin(wake: &Wake) -> u128 {
    let allowed = if wake.siblings { 10 } else { 17 };
    100 + allowed / 2
}

/// What is left on the waking CPU.
fn stays(wake: &Wake) -> u128 {
    if wake.sync { wake.load[0].saturating_sub(wake.waker) } else { wake.load[0] }
}

fn by_runnable_load(wake: &Wake) -> bool {
    let (this, prev) = (margin(wake) * wake.capacity[0], 100 * wake.capacity[1]);
    match stays(wake) {
        0 => prev <= this,
        load => prev * (load + wake.task) <= this * wake.load[1],
    }
}

fn by_load_avg(wake: &Wake) -> bool {
    if wake.sync && wake.waker > wake.load[0] {
        return true;
    }
    let here = 100 * wake.capacity[1] * (stays(wake) + wake.task);
    let there = margin(wake) * wake.capacity[0] * wake.load[1].saturating_sub(wake.task);
    if wake.sync { here <= there } else { here < there }
}

/// Is the task drawn to the waking CPU?
pub fn affine(rule: WakeAffine, wake: &Wake) -> bool {
    match rule {
        WakeAffine::RunnableLoad => by_runnable_load(wake),
        WakeAffine::IdleFirst if wake.this_idle => !wake.prev_idle,
        WakeAffine::IdleFirst if wake.sync && wake.running == 1 => true,
        WakeAffine::IdleFirst if wake.prev_idle => false,
        WakeAffine::IdleFirst => by_load_avg(wake),
    }
}

/// Waker and wakee have so many partners that they should stay apart.
pub fn wide(flips: [u128; 2], llc_size: u128) -> bool {
    let [less, more] = if flips[0] < flips[1] { flips } else { [flips[1], flips[0]] };
    less >= llc_size && more >= less * llc_size
}
