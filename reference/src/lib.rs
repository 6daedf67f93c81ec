// SPDX-License-Identifier: GPL-2.0-or-later
//! A slow twin of the policy core, meant to be checked by eye.
//!
//! Every module here answers to one header in `core/include/pelton/` and to one page of rules (docs/rules), and was
//! written from the rules alone, without the header. It favours plain structs, 128-bit arithmetic and one rule per
//! function over speed; nothing outside the tests may use it. Where the two disagree, one of them is wrong: the
//! conformance suite in `tests/` finds the first such event and prints both states.
//!
//! | module | header | what |
//! |---|---|---|
//! | [`rules`] | `policy.h` | what changes between kernels |
//! | [`pelt`] | `pelt.h` | decay, sums, averages |
//! | [`rq`] | `pelt_rq.h` | queues and entities |
//! | [`event`] | `rq_event.h` | what happens per scheduler event |
//! | [`group`] | `pelt_group.h` | propagation and shares |
//! | [`clock`] | `pelt_clock.h` | clocks and both invariance models |
//! | [`pressure`] | `pressure.h` | RT, DL, IRQ, hardware pressure |
//! | [`util_est`] | `util_est.h` | U1-U4 |
//! | [`perf`] | `perf.h` | utilization to performance |
//! | [`iowait`] | `perf.h` | boost of tasks that wait for I/O |
//! | [`schedutil`] | `schedutil.h` | the governor |
//! | [`hook`] | `hook.h` | which events call it |
//! | [`gate`] | `gate.h` | when it may act |
//! | [`thermal`] | `thermal.h` | thermal zones |
//! | [`limits`] | `limits.h` | limits of a frequency domain |
//! | [`energy`] | `energy.h` | energy of a domain |
//! | [`fair`] | `fair.h`, `fair_cfs.h`, `fair_eevdf.h`, `fair_reweight.h`, `fair_weight.h` | the fair class |
//! | [`idle`] | `idle.h`, `idle_menu.h` | menu |
//! | [`teo`] | `idle_teo.h` and the files it includes | teo |
//! | [`balance`] | `rt_limit.h`, `newidle.h`, `idle_walk.h` | the real-time limit; CPUs that go idle or are |
//! | [`dice`] | `balance.h` | dice before a search of a CPU that goes idle |
//! | [`cache`] | `cache_aware.h`, `balance_llc.h` | caches that tasks prefer |
//! | [`scx_balance`] | `scx_balance.h`, `cpuperf.h` | balance under sched_ext, targets that were not followed |
//! | [`cfs_bandwidth`] | `cfs_bandwidth.h` | quotas of task groups |
//! | [`deadline`] | `deadline.h` | the deadline class: its server and admission |
//! | [`place`] | `place.h` | where a waking task is drawn to |
//! | [`uclamp_max`] | `uclamp_max.h` | clamps by maximum |
//! | [`uclamp_sum`] | `uclamp_sum.h`, `group_throttle.h` | clamps that add up, groups that are limited |
//! | [`boost`] | `boost.h`, `boost_filter.h`, `prefer_idle.h` | SchedTune |
//! | [`governors`] | `sched_dvfs.h`, `ondemand.h`, `governor.h` | governors beside schedutil |
//! | [`interactive`] | `interactive.h` | Android's governor of that name |
//! | [`vectors`] | | known-answer tables |

pub mod balance;
pub mod boost;
pub mod cache;
pub mod cfs_bandwidth;
pub mod clock;
pub mod deadline;
pub mod dice;
pub mod dl_server;
pub mod energy;
pub mod event;
pub mod fair;
pub mod gate;
pub mod governors;
pub mod group;
pub mod hook;
pub mod idle;
pub mod interactive;
pub mod iowait;
pub mod limits;
pub mod pelt;
pub mod perf;
pub mod place;
pub mod pressure;
pub mod rq;
pub mod rules;
pub mod runnable_load;
pub mod schedutil;
pub mod scx_balance;
pub mod select_class;
pub mod teo;
pub mod thermal;
pub mod uclamp_max;
pub mod uclamp_sum;
pub mod util_est;
pub mod vectors;

/// Capacity and utilization scale: 1024 is "all of the biggest CPU at its highest frequency".
pub const SCALE: u64 = 1024;

/// `(v * s) / 1024`, truncating.
pub fn cap_scale(value: u64, scale: u64) -> u64 {
    (u128::from(value) * u128::from(scale) / u128::from(SCALE)) as u64
}
