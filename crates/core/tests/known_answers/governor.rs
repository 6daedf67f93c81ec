// SPDX-License-Identifier: GPL-2.0-or-later
//! schedutil: what the tests of its parts share, and the rows that say who calls it.
//!
//! Every file meant here is kernel/sched/cpufreq_schedutil.c unless another one is named.

use pelton_core::hook::how;
use pelton_core::{CpuState, Decision, PerfTerms, Policy, Rq, SugovCpu, SugovPolicy, hook_flag, verdict};

pub(super) const MS: u64 = 1_000_000;
pub(super) const TICK: u64 = 4 * MS;
/// Of the vectors: min 208000, max 1200000.
pub(super) const KHZ: [u32; 5] = [208_000, 432_000, 729_000, 960_000, 1_200_000];

pub(super) fn profile(name: &str) -> Policy {
    Policy::profile(name).expect("profile exists")
}

pub(super) fn with(name: &str, sets: &[(&str, &str)]) -> Policy {
    let mut pol = profile(name);
    for (switch, value) in sets {
        pol.set(switch, value).expect("switch and value exist");
    }
    pol.check().expect("combination has a meaning");
    pol
}

/// A started governor with fast switch; rate limit 10 ms.
pub(super) fn start(pol: &Policy, nr_cpus: u32) -> SugovPolicy {
    let mut sp = SugovPolicy {
        nr_cpus,
        min_khz: KHZ[0],
        max_khz: KHZ[4],
        ref_khz: KHZ[4],
        cur_khz: KHZ[0],
        fast_switch: 1,
        remote_ok: 1,
        freq_invariant: 1,
        ..SugovPolicy::default()
    };
    sp.init(pol, 10_000);
    sp
}

pub(super) fn fair(util: u32) -> CpuState {
    CpuState { cap_orig: 1024, util_cfs: util, uclamp_max: 1024, cfs_nr_running: 1, ..CpuState::default() }
}

/// A domain with its CPUs, and one hook call after the other.
pub(super) struct Domain {
    pub pol: Policy,
    pub sp: SugovPolicy,
    pub sc: Vec<SugovCpu>,
    pub states: Vec<CpuState>,
    pub terms: Vec<PerfTerms>,
    pub last: Decision,
}

impl Domain {
    pub fn new(pol: Policy, states: &[CpuState]) -> Self {
        let sp = start(&pol, states.len() as u32);
        let (sc, terms) = (vec![SugovCpu::default(); states.len()], vec![PerfTerms::default(); states.len()]);
        Self { pol, sp, sc, states: states.to_vec(), terms, last: Decision::default() }
    }

    /// The hook is called for a CPU; the verdict of the gate.
    pub fn hook(&mut self, cpu: usize, now: u64, flags: u32) -> u32 {
        self.sc[cpu].keep_util(&self.pol, &self.states[cpu]);
        let bw_dl = self.states[cpu].bw_dl;
        let verdict = self.sp.begin(&self.pol, &mut self.sc[cpu], bw_dl, now, TICK, flags, true);
        if verdict == verdict::OPEN {
            let (caller, terms) = (cpu as u32, &mut self.terms);
            self.last = self.sp.evaluate(&self.pol, caller, &mut self.sc, &self.states, now, TICK, &KHZ, terms);
        }
        verdict
    }

    /// The hook is called for the only CPU; the frequency requested afterwards.
    pub fn ask(&mut self, now: u64, flags: u32) -> u32 {
        self.hook(0, now, flags);
        self.sp.next_freq_khz
    }
}

/// Is a call made, and with which flags?
fn call(profile_name: &str, kind: u32, how: u32) -> Option<u32> {
    let (pol, mut sc, rq) = (profile(profile_name), SugovCpu::default(), Rq::default());
    let outcome = sc.hook_event(&pol, &start(&pol, 1), &rq, MS, kind, how);
    outcome.delivered.then_some(outcome.flags)
}

const DECAY: u32 = 0;
const ATTACH: u32 = 1;
const DETACH: u32 = 2;
const IOWAIT: u32 = 3;
const FAIR_TICK: u32 = 4;
const RT: u32 = 5;
const DL: u32 = 6;
const BLOCKED: u32 = 7;

/// 4.12 fair.c cfs_rq_util_change: only for the queue of the CPU that executes; 4.16 fair.c: for any CPU's.
#[test]
fn averages_call_on_their_own_cpu_in_4_12_and_on_any_since() {
    assert_eq!(call("4.12", DECAY, 0), Some(0));
    assert_eq!(call("4.12", DECAY, how::REMOTE), None);
    for name in ["4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        assert_eq!(call(name, DECAY, how::REMOTE), Some(0), "{name}");
    }
}

/// 4.12 to 5.4 fair.c update_cfs_rq_load_avg calls before attach_entity_load_avg does; 5.10 fair.c update_load_avg
/// calls only when no attach does, and after propagate_entity_load_avg.
#[test]
fn the_call_moved_out_of_the_average_update_in_5_10() {
    for name in ["4.12", "4.16", "4.19", "5.4"] {
        assert_eq!(call(name, DECAY, how::ATTACHES), Some(0), "{name}");
        assert_eq!(call(name, DECAY, how::PROPAGATED), None, "{name}");
    }
    for name in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        assert_eq!(call(name, DECAY, how::ATTACHES), None, "{name}");
        assert_eq!(call(name, DECAY, how::PROPAGATED), Some(0), "{name}");
    }
}

/// fair.c attach_entity_load_avg, detach_entity_load_avg (all), enqueue_task_fair (SCHED_CPUFREQ_IOWAIT, all);
/// task_tick_fair has no call of its own in any.
#[test]
fn attach_detach_and_io_waiters_call_in_every_release_and_the_tick_in_none() {
    for name in pelton_core::profiles() {
        assert_eq!((call(name, ATTACH, 0), call(name, DETACH, 0)), (Some(0), Some(hook_flag::DETACH)), "{name}");
        assert_eq!(call(name, IOWAIT, 0), Some(hook_flag::IOWAIT), "{name}");
        assert_eq!(call(name, FAIR_TICK, 0), None, "{name}");
        assert_eq!(call(name, BLOCKED, 0), Some(0), "{name}");
    }
}

/// 4.12 and 4.16 rt.c update_curr_rt (SCHED_CPUFREQ_RT); 4.17 and later rt.c enqueue_top_rt_rq, dequeue_top_rt_rq
/// (flags 0).
#[test]
fn the_real_time_class_calls_when_it_accounts_to_4_16_and_when_it_queues_since() {
    for name in ["4.12", "4.16"] {
        assert_eq!(call(name, RT, how::ACCOUNTING), Some(hook_flag::CLASS | hook_flag::RT), "{name}");
        assert_eq!(call(name, RT, 0), None, "{name}");
    }
    for name in ["4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        assert_eq!(call(name, RT, how::ACCOUNTING), None, "{name}");
        assert_eq!(call(name, RT, 0), Some(hook_flag::CLASS), "{name}");
    }
}

/// 4.12 deadline.c update_curr_dl (SCHED_CPUFREQ_DL); 4.16 and later deadline.c __add_running_bw, __sub_running_bw.
#[test]
fn the_deadline_class_calls_when_it_accounts_in_4_12_and_when_its_bandwidth_changes_since() {
    assert_eq!(call("4.12", DL, how::ACCOUNTING), Some(hook_flag::CLASS | hook_flag::DL));
    assert_eq!(call("4.12", DL, 0), None);
    for name in ["4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        assert_eq!(call(name, DL, how::ACCOUNTING), None, "{name}");
        assert_eq!(call(name, DL, 0), Some(hook_flag::CLASS), "{name}");
    }
}

/// 4.12 to 5.4 fair.c update_blocked_averages calls from update_cfs_rq_load_avg; 5.10 and later call once at its end.
#[test]
fn the_blocked_walk_calls_once_from_5_10() {
    for name in pelton_core::profiles() {
        let each = ["4.12", "4.16", "4.19", "5.4"].contains(&name);
        assert_eq!(profile(name).get("hook_blocked"), Ok(if each { "per_cfs_rq" } else { "once" }), "{name}");
    }
}

/// The proposals: off in every profile, and what they do when switched on.
#[test]
fn proposals_are_off_in_every_profile() {
    for name in pelton_core::profiles() {
        let pol = profile(name);
        for switch in ["gate_bypass", "gate_peak", "gate_asymmetry", "hook_tick", "cfs_if_queued"] {
            assert_eq!(pol.get(switch), Ok("off"), "{switch} in {name}");
        }
        assert_eq!(pol.get("hook_filter"), Ok("h0"), "{name}");
        assert_eq!(pol.get("margins"), Ok("fixed"), "{name}");
        assert_eq!(pol.get("host"), Ok("kernel"), "{name}");
    }
    let pol = with("4.12", &[("hook_tick", "on")]);
    let mut sc = SugovCpu::default();
    assert!(sc.hook_event(&pol, &start(&pol, 1), &Rq::default(), MS, FAIR_TICK, 0).delivered);
}

/// sugov_kthread_create: 4.12.0 SCHED_FIFO with MAX_USER_RT_PRIO / 2 = 50; 4.16 and later SCHED_DEADLINE with
/// SCHED_FLAG_SUGOV.
#[test]
fn the_worker_of_each_release() {
    for name in pelton_core::profiles() {
        assert_eq!(profile(name).get("worker"), Ok(if name == "4.12" { "fifo50" } else { "deadline" }), "{name}");
    }
}

/// kernel/sched/idle.c: 4.12 and 4.16 do_idle stops the tick before cpuidle_idle_call; 4.17 and later cpuidle_idle_call
/// asks the governor first (tick_nohz_idle_stop_tick, tick_nohz_idle_retain_tick). 5.10.262, 6.1.192, 6.12.118, 7.2.12
/// cpuidle_idle_call asks none where there is no second state: do_idle passes it whether a tick came
/// (tick_nohz_idle_got_tick).
#[test]
fn the_idle_tick_of_each_release() {
    for name in pelton_core::profiles() {
        let word = match name {
            "4.12" | "4.16" => "stops",
            "5.10" | "5.15" | "6.1" | "6.12" | "7.2" => "after_tick",
            _ => "governor",
        };
        assert_eq!(profile(name).get("idle_tick"), Ok(word), "{name}");
        let alone = [0, 1, 2, 3].map(|states| pelton_core::idle_single(&profile(name), states));
        assert_eq!(alone, [word == "after_tick", word == "after_tick", false, false], "{name}");
    }
}

/// kernel/time/tick-sched.c tick_setup_sched_timer (4.12 to 7.2): half a tick, divided by the number of CPUs, times the
/// CPU's number.
#[test]
fn skewed_ticks_are_spread_over_half_a_tick() {
    for name in pelton_core::profiles() {
        let mut pol = profile(name);
        assert_eq!(pelton_core::hook::tick_skew_ns(&pol, 4 * MS, 3, 8), 0, "{name}: off unless asked for");
        pol.set("skew_tick", "on").expect("a switch of the table");
        let skews = [0, 3, 7].map(|cpu| pelton_core::hook::tick_skew_ns(&pol, 4 * MS, cpu, 8));
        assert_eq!(skews, [0, 750_000, 1_750_000], "{name}");
        assert_eq!(pelton_core::hook::tick_skew_ns(&pol, 1_000_000, 2, 3), 333_332, "{name}: divided first");
    }
}
