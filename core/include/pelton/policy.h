/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every policy switch, its value in each kernel profile and one paragraph of why.
 *
 * A profile is nothing but a row of defaults. A published experiment is a profile plus one changed switch. Switches
 * combine freely; pelton_policy_check() (policy_table.h) names the two that contradict each other.
 *
 * A row:  X(field, "value names in order", 4.12, 4.16, 4.19, 5.4, 5.10, 6.1, 6.6, 6.12, 6.18, 7.2, "why")
 *
 * A new switch is one row here, one enum below, one page or paragraph in docs/signals.
 *
 * Source: behaviour of Linux 5.10, 6.1, 6.12 and 7.2 was read; what is said about other versions and is marked
 * "recollection" was not. 6.6 and 6.18 follow from the versions around them.
 */
#ifndef PELTON_POLICY_H
#define PELTON_POLICY_H

#include "types.h"

#define PELTON_PROFILE_COUNT 10u
#define PELTON_PROFILES(X) \
	X("4.12") X("4.16") X("4.19") X("5.4") X("5.10") X("6.1") X("6.6") X("6.12") X("6.18") X("7.2")

enum { PELTON_OFF, PELTON_ON };
enum { PELTON_INVARIANCE_CONTRIBUTION, PELTON_INVARIANCE_CLOCK };
enum { PELTON_DIVISOR_CONSTANT, PELTON_DIVISOR_MOVING };
enum { PELTON_SUM_FLOOR_OFF, PELTON_SUM_FLOOR_ON, PELTON_SUM_FLOOR_WRAPS };
enum { PELTON_INIT_UTIL_SCALE, PELTON_INIT_UTIL_CAPACITY };
enum { PELTON_UTIL_EST_OFF, PELTON_UTIL_EST_U1, PELTON_UTIL_EST_U2, PELTON_UTIL_EST_U3, PELTON_UTIL_EST_U4 };
enum {
	PELTON_RT_RULE_FLAG_MAX,
	PELTON_RT_RULE_RUNNABLE_MAX,
	PELTON_RT_RULE_RUNNABLE_MAX_UNLESS_UCLAMP,
	PELTON_RT_RULE_NONE
};
enum { PELTON_DL_RULE_FLAG_MAX, PELTON_DL_RULE_BW_ON_TOP, PELTON_DL_RULE_BW_FLOOR };
enum { PELTON_PERF_FLAGS, PELTON_PERF_BW, PELTON_PERF_RT_SUM, PELTON_PERF_CLAMP_THEN_SUM, PELTON_PERF_SUM_THEN_CLAMP };
enum { PELTON_HEADROOM_FREQUENCY, PELTON_HEADROOM_UTILIZATION, PELTON_HEADROOM_BEFORE_CLAMPS };
enum {
	PELTON_GATE_R0A,
	PELTON_GATE_R0B,
	PELTON_GATE_R1_TRAILING,
	PELTON_GATE_R1_SLIDING,
	PELTON_GATE_R1_ASYM,
	PELTON_GATE_R2_LINEAR,
	PELTON_GATE_R2_HYPERBOLIC,
	PELTON_GATE_UP_DOWN
};
enum { PELTON_GATE_ASYMMETRY_OFF, PELTON_GATE_ASYMMETRY_ON, PELTON_GATE_ASYMMETRY_FALLS };
enum { PELTON_GATE_BYPASS_OFF, PELTON_GATE_BYPASS_R3A, PELTON_GATE_BYPASS_R3B };
enum { PELTON_RATE_LATENCY_X1000, PELTON_RATE_CAPPED_10MS, PELTON_RATE_CAPPED_2MS, PELTON_RATE_ONE_AND_HALF };
enum { PELTON_IOWAIT_OFF, PELTON_IOWAIT_JUMP, PELTON_IOWAIT_FREQUENCY, PELTON_IOWAIT_CAPACITY };
enum { PELTON_DL_BYPASS_OFF, PELTON_DL_BYPASS_BANDWIDTH, PELTON_DL_BYPASS_FLOOR };
enum { PELTON_HOLD_OFF, PELTON_HOLD_DROP_CACHE, PELTON_HOLD_RESTORE_CACHE, PELTON_HOLD_RESTORE_UNLESS_CAPPED };
enum { PELTON_STALE_SKIP, PELTON_STALE_COUNT };
enum { PELTON_BUSY_REFUSE, PELTON_BUSY_OVERWRITE };
enum { PELTON_REMOTE_LOCAL_ONLY, PELTON_REMOTE_FAST_ONLY, PELTON_REMOTE_ALL };
enum { PELTON_WORKER_FIFO50, PELTON_WORKER_DEADLINE };
enum { PELTON_HOOK_DECAY_OFF, PELTON_HOOK_DECAY_LOCAL, PELTON_HOOK_DECAY_REMOTE };
enum { PELTON_HOOK_RT_ACCOUNTING, PELTON_HOOK_RT_ENQUEUE, PELTON_HOOK_RT_OFF };
enum { PELTON_HOOK_DL_ACCOUNTING, PELTON_HOOK_DL_BANDWIDTH, PELTON_HOOK_DL_OFF };
enum { PELTON_HOOK_BLOCKED_OFF, PELTON_HOOK_BLOCKED_PER_CFS_RQ, PELTON_HOOK_BLOCKED_ONCE };
enum {
	PELTON_HOOK_FILTER_H0,
	PELTON_HOOK_FILTER_H1,
	PELTON_HOOK_FILTER_H2,
	PELTON_HOOK_FILTER_H3,
	PELTON_HOOK_FILTER_H4,
	PELTON_HOOK_FILTER_COMPOSITE
};
enum { PELTON_FAIR_CFS, PELTON_FAIR_EEVDF };
enum { PELTON_RT_LIMIT_THROTTLE, PELTON_RT_LIMIT_FAIR_SERVER };
enum { PELTON_UCLAMP_OFF, PELTON_UCLAMP_MAX };
enum { PELTON_IDLE_MENU, PELTON_IDLE_TEO, PELTON_IDLE_NEXT_TIMER };
enum { PELTON_IDLE_TICK_STOPS, PELTON_IDLE_TICK_GOVERNOR };
enum { PELTON_WAKE_QUEUE_FAR, PELTON_WAKE_QUEUE_FAR_OR_IDLE };
enum { PELTON_WAKE_AFFINE_RUNNABLE_LOAD, PELTON_WAKE_AFFINE_IDLE_FIRST };

#define PELTON_SWITCHES(X) \
	X(invariance, "contribution|clock", 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, \
	  "How speed enters the signals. contribution: each slice of time is multiplied by frequency and capacity, so an " \
	  "always running task converges to the speed it ran at (before 5.1). clock: time itself runs slower on a slow " \
	  "CPU and jumps ahead when it goes idle, so an always running task converges to 1024 everywhere.") \
	X(divisor, "constant|moving", 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "What a sum is divided by. constant: 47742, the average of a busy task swings between 1002 and 1024. moving: " \
	  "the largest sum possible at this position in the period (4.13 and later, recollection).") \
	X(sum_floor, "off|on|wraps", 0, 0, 0, 1, 1, 2, 2, 2, 2, 1, \
	  "Keep every sum at least average * 46718 after something was subtracted, so that a sum cannot reach zero before " \
	  "its average and freeze it. Read in 5.10 and later; in 5.4 a stable back-port (recollection). wraps: the " \
	  "comparison is made with 32 bits, and a load sum beyond them loses what is above (recorded in 6.1, 6.12 and " \
	  "6.18; no longer in 7.2).") \
	X(init_util, "scale|capacity", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "Half of what a new task's utilization may be at most: of 1024, or of the capacity left on its CPU (recollection " \
	  "for the versions before 5.10).") \
	X(migration_lag, "off|on", 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, \
	  "A task that leaves an idle CPU in its sleep is decayed by the time that CPU did not account (5.19/6.0).") \
	X(tg_limit, "off|on", 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, \
	  "Refresh the load total of a task group at most once per ms and queue (6.7): the shared counter was a hot spot.") \
	X(shares_keep_empty, "off|on", 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, \
	  "An empty group queue keeps the last weight of its entity instead of computing a new one.") \
	X(shares_set_same, "off|on", 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, \
	  "A group's entity gets its weight again when that is the same. Its load average then follows the sum, which may " \
	  "move it by one. Recorded in 6.1; not in 6.12 and later (6.6: recollection).") \
	X(rt_signal, "off|on", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "A load-tracking record for the time real-time tasks run (4.19). Without it that time is invisible to the sum.") \
	X(dl_signal, "off|on", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "A load-tracking record for the time deadline tasks run (4.19). It decides saturation, and from 6.8 it is part of " \
	  "the sum.") \
	X(irq_signal, "off|on", 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, \
	  "A load-tracking record for time in interrupts or stolen by a hypervisor (4.20, recollection). What is left of " \
	  "the CPU is what the classes share.") \
	X(hw_signal, "off|on", 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, \
	  "Time-weighted capacity lost to the hardware: thermal pressure from 5.7, hardware pressure from 6.10.") \
	X(util_est, "off|u1|u2|u3|u4", 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, \
	  "Memory of what a task reached before it slept. u1: filter with equal weight both ways (4.17). u2: rises at " \
	  "once (5.5). u3: a single field, not lowered for a task that was kept waiting (6.8). u4: u3 without the " \
	  "capacity test, taken inside the entity update (7.2).") \
	X(util_est_stale, "off|on", 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, \
	  "The estimate is sampled before the entity is brought up to now and so sees a value up to one tick old. Read in " \
	  "6.12; earlier and 7.2 sample afterwards.") \
	X(runnable_signal, "off|on", 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, \
	  "An unweighted average of time on the queue (5.7). Before, only weighted forms existed; no frequency rule used " \
	  "them.") \
	X(runnable_boost, "off|on", 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, \
	  "Frequency follows the larger of utilization and runnable average (6.5): waiting tasks are demand as well.") \
	X(rt_rule, "flag_max|runnable_max|runnable_max_unless_uclamp|none", 0, 0, 1, 2, 2, 2, 2, 2, 2, 2, \
	  "What a real-time task asks for. flag_max: maximum for the hook calls that carry its flag (to 4.16). " \
	  "runnable_max: maximum while one is runnable (4.17). runnable_max_unless_uclamp: the same only while nobody on " \
	  "the system uses clamps (5.3). none: only its share of the sum.") \
	X(rt_in_sum, "off|on", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "Add real-time utilization to the fair request (4.19): without it every real-time slice lowers the fair " \
	  "utilization and with it the frequency, and the end of the slice starts a slide down.") \
	X(dl_rule, "flag_max|bw_on_top|bw_floor", 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, \
	  "What deadline tasks ask for. flag_max: maximum by flag (to 4.16). bw_on_top: reserved bandwidth added to the " \
	  "sum, headroom included (4.17). bw_floor: reserved bandwidth is a floor without headroom (6.8).") \
	X(perf_form, "flags|bw|rt_sum|clamp_then_sum|sum_then_clamp", 0, 0, 2, 3, 3, 3, 3, 4, 4, 4, \
	  "Order of summation, clamps and interrupt scaling. flags: fair utilization alone (4.12-4.16). bw: plus deadline " \
	  "bandwidth (4.17). rt_sum: plus real-time and interrupts (4.19). clamp_then_sum: clamps on fair and real-time " \
	  "(5.3). sum_then_clamp: sum first, minimum and maximum returned beside it (6.8).") \
	X(headroom, "frequency|utilization|before_clamps", 0, 0, 0, 0, 0, 1, 1, 2, 2, 2, \
	  "Where the quarter is added: on the reference frequency (to 5.10), on the utilization (5.11), or on the " \
	  "utilization before it is clamped (6.8), so that a clamp is an exact limit.") \
	X(gate, "r0a|r0b|r1_trailing|r1_sliding|r1_asym|r2_linear|r2_hyperbolic|up_down", 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  1, \
	  "When the frequency may change. r0a, r0b: rate limit, restarted by every evaluation (to 4.12, recollection) or by " \
	  "a changed request. r1_*: window from the cost of a transition, with the maximum wanted in it. r2_*: the larger " \
	  "the error, the sooner. up_down: one limit per direction (vendor kernels).") \
	X(gate_bypass, "off|r3a|r3b", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
	  "The RT and deadline classes raise the frequency whatever the window says. r3a restarts the window, r3b leaves it " \
	  "to the fair class (proposed in 2017, not merged for RT).") \
	X(gate_peak, "off|on", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
	  "Lower the frequency only to the maximum wanted within the cost window, so that a short burst is not lost.") \
	X(gate_asymmetry, "off|on|falls", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
	  "The error-proportional gates (r2_*) wait twice as long before they lower the frequency (on), or wait, and leave " \
	  "out small errors, for decreases only: what is more is set at once (falls).") \
	X(rate_limit_default, "latency_x1000|capped_10ms|capped_2ms|one_and_half", 0, 1, 1, 1, 1, 1, 1, 3, 3, 3, \
	  "Default rate limit from the driver's latency: a thousand times it, the same capped at 10 ms (4.14) or 2 ms " \
	  "(6.9, recollection), or one and a half times it (6.11/6.12).") \
	X(iowait_boost, "off|jump|frequency|capacity", 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, \
	  "Boost for tasks that wake from I/O. jump: to the maximum at once (to 4.12). frequency: doubles from the lowest " \
	  "frequency (4.13). capacity: doubles from 128 of 1024 (5.1).") \
	X(dl_bypass, "off|bandwidth|floor", 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, \
	  "A raised deadline reservation ignores the rate limit (4.17, recollection). bandwidth: compared with the last " \
	  "bandwidth. floor: compared with the last minimum, which contains it (6.8).") \
	X(hold, "off|drop_cache|restore_cache|restore_unless_capped", 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, \
	  "A single-CPU domain does not go down while its CPU never went idle (4.12). After holding, the cached raw " \
	  "request is dropped (recollection: to 5.9) or restored; a CPU at its uclamp maximum is not held (5.17).") \
	X(stale_cpu, "skip|count", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "A CPU of a shared domain whose last hook call is older than a tick: left out (to 4.16), or counted with its " \
	  "blocked utilization, which then needs somebody to decay it.") \
	X(while_busy, "refuse|overwrite", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "While the slow-path worker is pending, refuse requests (to 4.17) or replace the frequency it will set.") \
	X(remote, "local_only|fast_only|all", 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, \
	  "Who may drive a domain from outside. local_only: nobody (to 4.13). fast_only: fast-switch domains need a driver " \
	  "that can, slow ones always work (4.14). all: the driver must be able to. The version of the last change is " \
	  "recollection.") \
	X(worker, "fifo50|deadline", 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "Class of the slow-path worker: FIFO priority 50 (to 4.15), or deadline with a fake reservation that is never " \
	  "accounted and never loses (4.16).") \
	X(hook_decay, "off|local|remote", 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, \
	  "Call the governor when the root average decayed. local: only on the CPU concerned (to 4.13). off: update-hooks " \
	  "proposal of 2017.") \
	X(hook_in_average, "off|on", 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, \
	  "The decay call sits inside the average update (to 5.4): it precedes attach and detach instead of being replaced " \
	  "by them, and a mere propagation does not cause it. Recollection for the exact versions.") \
	X(hook_attach, "off|on", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "Call the governor when an entity is attached to or detached from the root queue.") \
	X(hook_tick, "off|on", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
	  "Call the governor at every fair tick, decayed or not. Part of the update-hooks proposal; the kernel gets there " \
	  "indirectly, because a tick nearly always decays.") \
	X(hook_rt, "accounting|enqueue|off", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "When the real-time class calls: each time run time is accounted, with a flag (to 4.16), or at every enqueue and " \
	  "dequeue at the top level (4.17).") \
	X(hook_dl, "accounting|bandwidth|off", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "When the deadline class calls: accounting, with a flag, or a change of the running bandwidth (4.17).") \
	X(hook_blocked, "off|per_cfs_rq|once", 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, \
	  "The walk that decays blocked load: a call from each average update inside it, or one at the end if anything " \
	  "decayed (5.5).") \
	X(hook_iowait, "off|on", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "Call the governor when a task is enqueued that slept in I/O wait.") \
	X(hook_filter, "h0|h1|h2|h3|h4|composite", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
	  "Which of the events above reach the governor. h0: all (mainline). h1: attach, detach, every fair tick and the " \
	  "other classes (update-hooks proposal of 2017). h2: all but changes smaller than hook_epsilon. h3: one call per " \
	  "context switch (postings of 2024). h4: the fair tick alone. composite: h0 without small changes between ticks.") \
	X(fair_class, "cfs|eevdf", 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, \
	  "How the fair class picks: smallest virtual run time, or earliest eligible virtual deadline (6.6).") \
	X(delayed_dequeue, "off|on", 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, \
	  "A task that sleeps with negative lag stays queued, not runnable, until it is eligible (6.12).") \
	X(rt_limit, "throttle|fair_server", 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, \
	  "What keeps real-time tasks from starving the fair class. throttle: 950 ms of every second, whether or not a " \
	  "fair task waits. fair_server: only while one does (6.8 has the server, 6.12 is the first profile with it).") \
	X(uclamp, "off|max", 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, \
	  "Utilization clamps: none, or the largest clamp of the runnable tasks (5.3).") \
	X(idle_governor, "menu|teo|next_timer", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
	  "Who chooses idle states. menu: from the last eight stays and the next timer; what a kernel with several " \
	  "governors picks. teo: from where between the states' residencies earlier stays ended. next_timer: the deepest " \
	  "state that pays until the next timer, nothing learnt; the tick always stops. Both kernel forms are those of " \
	  "7.2 in every profile.") \
	X(idle_tick, "stops|governor", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "The tick of an idle CPU: stopped before the governor is asked (to 4.16), or kept when the governor expects the " \
	  "CPU back within it (4.17). Only idle periods without tick count as idle for the hold filter.") \
	X(wake_queue, "far|far_or_idle", 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, \
	  "Which wake-ups are handed over and executed by the CPU that gets the task: those to another cache, or also " \
	  "those to an idle CPU (6.0, recollection). It pays for enqueueing and for the governor then.") \
	X(wake_affine, "runnable_load|idle_first", 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
	  "Whether the search for an idle CPU starts at the waker's or at the wakee's last one. runnable_load: by the load of " \
	  "runnable tasks alone (to 4.12). idle_first: idle CPUs first, then load averages with sleepers in them (4.16, " \
	  "the version of each step is recollection). With it, the CPU before the last one is tried as well.")

/* "Take what the platform says": its driver's cost, or the rate limit. */
#define PELTON_FROM_PLATFORM 0xffffffffu

/* Numbers of a policy:  X(field, "unit", smallest, largest, default of every profile, "why") */
#define PELTON_PARAMETERS(X) \
	X(hook_epsilon, "of 1024", 0, 1024, 16, \
	  "Smallest change of fair utilization since the last evaluation that hook_filter=h2 and composite report.") \
	X(gate_cost_ns, "ns", 0, 1000000000, PELTON_FROM_PLATFORM, \
	  "Cost of one transition, from which r1, r2 and gate_peak work out their windows. From the platform: the time of " \
	  "the driver, and on the slow path two context switches.") \
	X(gate_kappa, "1", 1, 10000, 100, \
	  "Transitions may take one part in this many of the time: the cost window is the cost times it.") \
	X(gate_window_min_us, "us", 0, 4000000, 0, \
	  "Shortest cost window, for drivers that are cheap but must not be called often.") \
	X(gate_window_max_us, "us", 0, 4000000, 10000, \
	  "Longest cost window, for drivers so slow that their window would make the governor blind.") \
	X(gate_spacing_min_us, "us", 0, 10000000, PELTON_FROM_PLATFORM, \
	  "D_min of r2: time between changes when the error is large. From the platform: a quarter of the cost window.") \
	X(gate_spacing_max_us, "us", 0, 10000000, PELTON_FROM_PLATFORM, \
	  "D_max of r2: time between changes when the error is small. From the platform: the rate limit.") \
	X(gate_error_low, "of 1024", 0, 1280, 0, \
	  "E0 of r2: errors below it change nothing. 0: only what ends at the same operating point is ignored.") \
	X(gate_error_high, "of 1024", 1, 1280, 256, \
	  "E1 of r2_linear: errors from here on wait D_min only. On a small CPU choose less than its capacity.") \
	X(up_rate_limit_us, "us", 0, 10000000, PELTON_FROM_PLATFORM, \
	  "Limit of increases with gate=up_down. From the platform: the rate limit. Vendor kernels use about 500.") \
	X(down_rate_limit_us, "us", 0, 10000000, PELTON_FROM_PLATFORM, \
	  "Limit of decreases with gate=up_down. From the platform: the rate limit. Vendor kernels use about 20000.")

/* One u32 per switch and then one per parameter, in the order of the tables. */
struct pelton_policy {
#define PELTON_FIELD(field, values, a, b, c, d, e, f, g, h, i, j, why) u32 field;
	PELTON_SWITCHES(PELTON_FIELD)
#undef PELTON_FIELD
#define PELTON_NUMBER(field, unit, min, max, preset, why) u32 field;
	PELTON_PARAMETERS(PELTON_NUMBER)
#undef PELTON_NUMBER
};

#define PELTON_COUNT_ONE(field, values, a, b, c, d, e, f, g, h, i, j, why) +1u
#define PELTON_SWITCH_COUNT (0u PELTON_SWITCHES(PELTON_COUNT_ONE))

#define PELTON_COUNT_NUMBER(field, unit, min, max, preset, why) +1u
#define PELTON_PARAMETER_COUNT (0u PELTON_PARAMETERS(PELTON_COUNT_NUMBER))

_Static_assert(sizeof(struct pelton_policy) == 4u * (PELTON_SWITCH_COUNT + PELTON_PARAMETER_COUNT),
	       "a policy is an array of u32");

#endif
