// SPDX-License-Identifier: GPL-2.0-only
//! A slow twin of the policy core, meant to be checked by eye.
//!
//! Every module here answers to one header in `core/include/pelton/` and to one section of the specification, and was
//! written from the specification alone. It favours plain structs, 128-bit arithmetic and one rule per function over
//! speed; nothing outside the tests may use it. Where the two disagree, one of them is wrong: the conformance suite in
//! `tests/` finds the first such event and prints both states.
//!
//! | module | header | rules |
//! |---|---|---|
//! | [`rules`] | `policy.h` | A.19, B.5, B.13: what changes between kernels |
//! | [`pelt`] | `pelt.h` | A.1-A.5: decay, sums, averages |
//! | [`rq`] | `pelt_rq.h` | A.6, A.8-A.10, A.13: queues and entities |
//! | [`event`] | `rq_event.h` | A.9, A.13, B.15: what happens per scheduler event |
//! | [`group`] | `pelt_group.h` | A.11, A.12: propagation and shares |
//! | [`clock`] | `pelt_clock.h` | A.7: clocks and both invariance models |
//! | [`pressure`] | `pressure.h` | A.7.4, F: RT, DL, IRQ, hardware pressure |
//! | [`util_est`] | `util_est.h` | A.15: U1-U4 |
//! | [`perf`] | `perf.h` | A.17, B.4-B.6: utilization to performance |
//! | [`iowait`] | `perf.h` | B.7: boost of tasks that wait for I/O |
//! | [`schedutil`] | `schedutil.h` | B.1-B.12: the governor |
//! | [`hook`] | `hook.h` | B.13, C.1, C.6, C.10: which events call it |
//! | [`gate`] | `gate.h` | B.3, C.2-C.5, C.7, C.10: when it may act |
//! | [`thermal`] | `thermal.h` | thermal zones |
//! | [`limits`] | `limits.h` | limits of a frequency domain |
//! | [`energy`] | `energy.h` | H.1: energy of a domain |
//! | [`fair`] | `fair.h`, `fair_cfs.h`, `fair_eevdf.h`, `fair_reweight.h`, `fair_weight.h` | J.2: the fair class |
//! | [`idle`] | `idle.h`, `idle_menu.h` | J.5: menu |
//! | [`teo`] | `idle_teo.h` and the files it includes | J.5: teo |
//! | [`balance`] | `rt_limit.h`, `newidle.h`, `idle_walk.h` | the real-time limit; CPUs that go idle or are |
//! | [`dice`] | `balance.h` | dice before a search of a CPU that goes idle |
//! | [`cache`] | `cache_aware.h`, `balance_llc.h` | caches that tasks prefer |
//! | [`cfs_bandwidth`] | `cfs_bandwidth.h` | quotas of task groups |
//! | [`deadline`] | `deadline.h` | the deadline class: its server and admission |
//! | [`place`] | `place.h` | where a waking task is drawn to |
//! | [`uclamp_max`] | `uclamp_max.h` | G.1: clamps by maximum |
//! | [`uclamp_sum`] | `uclamp_sum.h`, `group_throttle.h` | G.4, G.6, G.7, G.9: clamps that add up, groups that are limited |
//! | [`boost`] | `boost.h`, `boost_filter.h`, `prefer_idle.h` | E: SchedTune |
//! | [`governors`] | `sched_dvfs.h`, `ondemand.h`, `governor.h` | D: governors beside schedutil |
//! | [`interactive`] | `interactive.h` | Android's governor of that name |
//! | [`vectors`] | | M.1: known-answer tables |

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
