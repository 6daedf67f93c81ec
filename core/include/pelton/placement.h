/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a placement reads: the machine, its CPUs, the task and the task that wakes it, all at one moment. A host fills
 * one record; every rule of select.h, feec.h, select_idle.h and select_group.h reads nothing else.
 *
 *   record                    what it holds
 *   pelton_sched_domain       a scheduling domain as one CPU sees it, and the sums of that CPU's group in it
 *   pelton_place_cpu          a CPU: its domains smallest first, its signals, what runs there
 *   pelton_perf_domain        CPUs of one energy model, and where its states are
 *   pelton_place_task         the task that is placed
 *   pelton_place_waker        the running task of the CPU that executes the placement
 *   pelton_place_set          more than 64 CPUs: a set of them, and sums over it
 *   pelton_lb_kept            the same: what balances keep of groups
 *   pelton_placement          all of them
 *   pelton_machine            its rows, where a host decides for several CPUs at a time: they are kept once, and a
 *                             pelton_placement without them holds a question
 *   pelton_placed             the answer and how it came about
 *
 *   domains of CPU 0          MC {0..5}            groups are the spans of the domains below:
 *                             CLS {0..3}           {0..3} and {4,5}; in CLS every CPU alone
 *
 * Groups are not stored: the group of a CPU in a domain is the span of its largest domain that is smaller.
 *
 *   quantity              unit       range
 *   capacity, util        capacity   0 .. 1024
 *   load                  weight     0 .. 88761 * tasks
 *   exit_latency_ns       ns         PELTON_NO_IDLE_STATE: not in an idle state
 *   nr_idle_scan          CPUs       PELTON_NO_LIMIT: this domain keeps no such number
 *
 * Up to 6.9 `cpufreq_pressure` is the thermal pressure of the moment, and `hw_pressure` its average.
 *
 * Source: Linux 7.2 kernel/sched/fair.c, kernel/sched/topology.c (build_sched_domains, build_sched_groups),
 * include/linux/ sched/sd_flags.h. Deviations: at most PELTON_PLACE_CPUS_MAX CPUs, 6 domains for each, 16 performance
 * domains, 512 states. Where that is more than 64, sets of several CPUs are rows of `sets` (cpus.h).
 */
#ifndef PELTON_PLACEMENT_H
#define PELTON_PLACEMENT_H

#include "bounds.h"
#include "cpus.h"
#include "energy.h"
#include "util_est.h"

#define PELTON_NO_IDLE_STATE 0xffffffffu
#define PELTON_NO_LIMIT 0xffffffffu
#define PELTON_NO_DOMAIN 0xffffffffu

/* Flags of a domain, as the kernel numbers them. */
#define PELTON_SD_BALANCE_EXEC 0x2u
#define PELTON_SD_BALANCE_FORK 0x4u
#define PELTON_SD_BALANCE_WAKE 0x8u
#define PELTON_SD_WAKE_AFFINE 0x10u
#define PELTON_SD_ASYM_CPUCAPACITY 0x20u
#define PELTON_SD_ASYM_CPUCAPACITY_FULL 0x40u
#define PELTON_SD_SHARE_CPUCAPACITY 0x80u
#define PELTON_SD_CLUSTER 0x100u
#define PELTON_SD_SHARE_LLC 0x200u
#define PELTON_SD_PREFER_SIBLING 0x1000u
#define PELTON_SD_NUMA 0x2000u

/* Reasons for which a task is placed, as the kernel numbers them. */
#define PELTON_WF_EXEC 0x2u
#define PELTON_WF_FORK 0x4u
#define PELTON_WF_TTWU 0x8u
#define PELTON_WF_SYNC 0x10u
#define PELTON_WF_CURRENT_CPU 0x40u
#define PELTON_WF_KIND (PELTON_WF_EXEC | PELTON_WF_FORK | PELTON_WF_TTWU)

struct pelton_sched_domain {
	pelton_span span;
	u32 flags;
	u32 imbalance_pct;
	u32 imb_numa_nr;        /* tasks that may differ between nodes */
	u32 has_shared;         /* keeps the number of CPUs to scan */
	u32 group_capacity;     /* sum over this CPU's group, as last computed */
	u32 group_max_capacity; /* of a CPU of the group */
	u32 group_imbalance;    /* pinned tasks kept a balance below from succeeding */
	u32 group_min_capacity; /* as group_max_capacity */
};

_Static_assert(sizeof(struct pelton_sched_domain) == 40, "layout");

struct pelton_place_cpu {
	struct pelton_sched_domain domains[PELTON_DOMAINS_MAX];
	struct pelton_cpu_state state;
	u64 load;
	u64 idle_stamp_ns;
	pelton_span threads; /* CPUs of its core */
	u32 capacity;        /* left for the fair class, as last computed */
	u32 hw_pressure;
	u32 cpufreq_pressure;
	u32 nr_running;
	u32 h_nr_queued;
	u32 h_nr_runnable;
	u32 h_nr_idle; /* SCHED_IDLE, and all of idle groups */
	u32 ttwu_pending;
	u32 curr_idle;
	u32 curr_is_task; /* the placed task is its current one */
	u32 uclamp_idle;  /* its clamps are left over from before it went idle */
	u32 exit_latency_ns;
	u32 nr_idle_scan_llc;
	u32 nr_idle_scan_asym;
	u32 has_idle_cores;
	u32 llc;     /* CPUs with the same number share a cache */
	u32 cluster; /* the same for the nearest shared resource */
	u32 llc_size;
	u32 llc_domain; /* position among its domains, or PELTON_NO_DOMAIN */
	u32 asym_domain;
	u32 nr_domains;
	u32 util_clamped; /* where clamps add up or groups are limited: with that */
	u32 est_clamped;
	u32 misfit_load; /* of its running task, when that waits for a bigger CPU */
	u32 group_util;  /* where groups are limited: of the task's group here, and what is left without it */
	s32 group_rest;
	u64 cpu_load[4];         /* to 4.19: cpu_load.h, index 0 to 3 */
	u64 load_avg;            /* to 5.4, where load is that of runnable tasks: with those that sleep */
	u32 nr_pref_dst_llc;     /* 7.2, in a balance: of its tasks, those that prefer the cache of the balancing CPU */
	u32 nr_pref_llc_running; /* 7.2: of its runnable tasks, those that prefer its cache */
	u32 llc_util;            /* 7.2: of its cache, as a balance last summed it up; of many CPUs the set has it */
	u32 llc_capacity;
};

_Static_assert(sizeof(struct pelton_place_cpu) == 488, "layout");

struct pelton_perf_domain {
	pelton_span cpus;
	u32 first_state;
	u32 nr_states;
	u32 min_state; /* lowest and highest that policy limits allow */
	u32 max_state;
};

struct pelton_place_task {
	struct pelton_se se;
	pelton_span allowed;
	u64 queue_update_ns; /* last_update_time of the queue it belongs to */
	u64 queue_load;
	u64 queue_h_load; /* of what its queue counts for at the root, as it stands in this tick */
	s64 shift_here;   /* 4.12: what groups make of its coming to this_cpu, beyond its load (place_group.h) */
	s64 shift_there;  /* the same of its coming, on prev_cpu */
	u32 cpu;
	u32 on_rq;
	u32 recent_cpu;
	u32 wakee_flips;
	u32 sched_idle;
	u32 uclamp_min; /* in force */
	u32 uclamp_max;
	u32 numa_cpu;     /* any CPU of its preferred node, or PELTON_NO_CPU */
	u32 uclamp_value; /* where clamps add up: what its CPU counts, or what sleep left of that */
	u32 throttle;     /* where groups are limited: of its group, or PELTON_NO_GROUP */
};

struct pelton_place_waker {
	u64 load;
	u64 queue_load;
	u64 queue_h_load;
	s64 shift_here;  /* 4.12: what groups make of its sleep, beyond its load */
	s64 shift_there; /* the same on prev_cpu */
	u32 wakee_flips;
	u32 flips_expired; /* a second went by since they were halved */
	u32 same_wakee;    /* its last wake-up was of this task */
	u32 exiting;
	u32 pinned_kthread; /* a kernel thread of this CPU alone, in task context */
	u32 reserved;
};

#if PELTON_PLACE_CPUS_MAX > 64u
/* Sums that balances keep of a CPU, or of all CPUs of a set (balance_kept.h). */
struct pelton_lb_part {
	u64 load;
	u64 util;
	u64 runnable;
	u32 nr_running;
	u32 h_nr_running;
	u32 idle_cpus;
	u32 crowded; /* CPUs with more than one task */
	u32 reduced; /* a lone task where others took capacity: of a CPU a bit for each of its domains, of a set its CPUs */
	u32 reserved;
};

/* A set of CPUs that a pelton_span names, what is asked of it often, and as a group of a domain what it has. */
struct pelton_place_set {
	pelton_cpus cpus;
	struct pelton_sched_domain group; /* its group_ fields */
	struct pelton_lb_part kept;       /* of its CPUs */
	u32 weight;
	u32 cores; /* among them */
	u32 first;
	u32 last;
	u32 first_rank; /* as a domain: of its groups, in the order of their CPUs */
	u32 nr_ranks;   /* 0: they are not kept */
	u32 llc_util;   /* 7.2: as a cache, as a balance last summed it up */
	u32 llc_capacity;
};

/* Ranks of the groups of each domain, from which the busiest is found, as far as they are kept. */
struct pelton_lb_kept {
	struct pelton_lb_part parts[PELTON_PLACE_CPUS_MAX]; /* as they are in the sums of sets */
	u64 ranks[PELTON_RANKS_MAX];
	u64 stale[PELTON_RANKS_MAX / 64u];                      /* a bit for each: it is to be made anew */
	u32 cpus[PELTON_RANKS_MAX];                             /* a CPU of the group */
	u32 rank_of[PELTON_PLACE_CPUS_MAX][PELTON_DOMAINS_MAX]; /* of the group of a CPU in one of its domains */
	pelton_cpus prefers;                                    /* CPUs whose nr_pref_dst_llc is not 0 */
	u32 any_prefers;
	u32 reserved;
};
#endif

struct pelton_placement {
	struct pelton_place_task task;
	struct pelton_place_waker waker;
	u32 this_cpu; /* executes the placement */
	u32 prev_cpu;
	u32 flags; /* PELTON_WF_* */
	u32 nr_cpus;
	u32 energy_aware; /* the kernel is */
	u32 overutilized;
	u32 asymmetric; /* some CPUs have less capacity */
	u32 clusters;   /* there are domains below the cache's */
	u32 smt;
	u32 uclamp_used;
	u32 nr_perf_domains;
	u32 groups_limited;   /* some group is, to a part of each CPU */
	u32 cache_aware;      /* some cache has others beside it */
	u32 smt_threads;      /* most threads of a core; 0 counts as 1 */
	u64 avg_idle_ns;      /* of the executing CPU */
	u64 avg_scan_cost_ns; /* of its cache group */
#ifndef PELTON_MACHINE
	struct pelton_perf_domain perf_domains[PELTON_PERF_DOMAINS_MAX]; /* in the kernel's order */
	struct pelton_em_state states[PELTON_PLACE_STATES_MAX];
	struct pelton_place_cpu cpus[PELTON_PLACE_CPUS_MAX];
#endif
#if PELTON_PLACE_CPUS_MAX > 64u
	struct pelton_place_set sets[PELTON_PLACE_SETS_MAX];
	struct pelton_lb_kept kept;
#endif
};

#ifdef PELTON_MACHINE
/* The rows of all questions: PELTON_MACHINE is the host's name for the one it has. At most 64 CPUs. */
struct pelton_machine {
	struct pelton_perf_domain perf_domains[PELTON_PERF_DOMAINS_MAX];
	struct pelton_em_state states[PELTON_PLACE_STATES_MAX];
	struct pelton_place_cpu cpus[PELTON_PLACE_CPUS_MAX];
};

extern struct pelton_machine PELTON_MACHINE;
#define pelton_rows(s) (&PELTON_MACHINE)
#else
#define pelton_rows(s) (s)
#endif

/* Rules that decide. */
enum {
	PELTON_HOW_NONE,
	PELTON_HOW_CURRENT_CPU,
	PELTON_HOW_ENERGY,
	PELTON_HOW_ENERGY_NO_UTIL,
	PELTON_HOW_ENERGY_FELL,
	PELTON_HOW_FORK,
	PELTON_HOW_EXEC,
	PELTON_HOW_TARGET,
	PELTON_HOW_PREV,
	PELTON_HOW_KTHREAD,
	PELTON_HOW_RECENT,
	PELTON_HOW_CAPACITY,
	PELTON_HOW_CAPACITY_NONE,
	PELTON_HOW_NO_LLC,
	PELTON_HOW_THREAD,
	PELTON_HOW_SCAN,
	PELTON_HOW_CLUSTER_PREV,
	PELTON_HOW_CLUSTER_RECENT,
	PELTON_HOW_NOTHING_IDLE,
	PELTON_HOW_WAKE /* to 5.4: the search for new tasks, of one that wakes */
};

/* Ways in which the search's starting point is chosen. */
enum {
	PELTON_AFFINE_NOT_ASKED,
	PELTON_AFFINE_IDLE_HERE,
	PELTON_AFFINE_SYNC,
	PELTON_AFFINE_IDLE_PREV,
	PELTON_AFFINE_WEIGHT
};

/* Results of comparing the loads of this CPU and of prev. */
enum {
	PELTON_WEIGHED_NOT,    /* not asked */
	PELTON_WEIGHED_LOADS,  /* the smaller one won */
	PELTON_WEIGHED_EMPTIED /* this CPU has no load but that of the waker, which is about to sleep */
};

/* Limits of the search for an idle CPU. */
enum {
	PELTON_SCAN_NONE,        /* there was no search */
	PELTON_SCAN_UTILIZATION, /* SIS_UTIL: how much the domain's CPUs are utilized */
	PELTON_SCAN_PROPORTION,  /* SIS_PROP: the mean idle time and the mean cost of a search */
	PELTON_SCAN_CORES,       /* whole cores are looked for, without a limit */
	PELTON_SCAN_ALL          /* nothing */
};

/* Reasons for the choice between the own group and the best other one. */
enum {
	PELTON_DST_NONE, /* groups were not compared */
	PELTON_DST_NO_OTHER,
	PELTON_DST_NO_OWN, /* the task may use no CPU of its own group */
	PELTON_DST_TYPE,
	PELTON_DST_LOAD,
	PELTON_DST_CAPACITY, /* of the largest CPU */
	PELTON_DST_IDLE_CPUS,
	PELTON_DST_NODES,  /* how many tasks or CPUs nodes may differ by */
	PELTON_DST_EQUALS, /* both of a type that is not compared further */
	PELTON_DST_ROOM    /* to 5.4: of the CPU with most */
};

/* One comparison of the energy-aware choice. */
struct pelton_place_energy {
	u64 energy; /* of the domain, as energy.h counts it */
	u32 cpu;    /* with the task here, PELTON_NO_CPU: nowhere */
	u32 perf_domain;
	u32 max_util;
	u32 busy;
};

#define PELTON_PLACE_ENERGIES_MAX (3u * PELTON_PERF_DOMAINS_MAX)

/* Sums of a group of CPUs, without the task. */
struct pelton_group_sums {
	pelton_span cpus;
	u64 load;
	u64 util;
	u64 runnable;
	u64 avg_load;
	u64 max_spare; /* to 5.4: room of the CPU with most; load and runnable are relative to the capacity there */
	u32 capacity;
	u32 max_capacity;
	u32 weight;
	u32 nr_running;
	u32 idle_cpus;
	u32 type;
};

struct pelton_placed {
	struct pelton_se se; /* the task's signals, updated where a rule did so */
	u32 cpu;
	u32 how;
	u32 affine;
	u32 wide;         /* waker and wakee talk to too many to be pulled together */
	u32 small;        /* to 5.4: this CPU or prev is too small for the task */
	u32 target;       /* CPU that a wake-up starts from; PELTON_NO_CPU: there was none, or energy decided */
	u32 recent_cpu;   /* to be remembered */
	u32 waker_flips;  /* to be remembered */
	u32 no_idle_core; /* this CPU's cache group has none: to be remembered; PELTON_NO_CPU: nothing new */
	u32 waker_recent; /* 4.16 to 5.10: the waker remembers the executing CPU as its recent one */
	u32 uclamp_value; /* the task's, updated with its signals */
	u32 nr_energies;
	u64 this_eff; /* what wake_affine made of this CPU's load, and of prev's; signed */
	u64 prev_eff;
	u32 weighed;    /* PELTON_WEIGHED_* */
	u32 scan_rule;  /* PELTON_SCAN_* */
	u32 scan_limit; /* CPUs that could be looked at; PELTON_NO_LIMIT */
	u32 scan_seen;  /* CPUs that were, and cores of several CPUs */
	u32 scan_timed; /* to 5.10: those whose time counts for the next search; PELTON_NO_LIMIT: none does */
	u32 dst_why;    /* PELTON_DST_*, of the last comparison of groups */
	u32 dst_level;  /* domain of this CPU in which groups were compared first; PELTON_NO_DOMAIN: none */
	u32 reserved;
	struct pelton_place_energy energies[PELTON_PLACE_ENERGIES_MAX];
	struct pelton_group_sums local;
	struct pelton_group_sums idlest;
	struct pelton_group_sums group;
};

/* A CPU's record; `cpu` beyond the last is the last. */
PELTON_INLINE const struct pelton_place_cpu *pelton_place_cpu_of(const struct pelton_placement *s, u32 cpu)
{
	return &pelton_rows(s)->cpus[cpu & (PELTON_PLACE_CPUS_MAX - 1u)];
}

PELTON_INLINE const struct pelton_sched_domain *pelton_place_domain(const struct pelton_placement *s, u32 cpu,
								    u32 level)
{
	return &pelton_place_cpu_of(s, cpu)->domains[pelton_min_u32(level, PELTON_DOMAINS_MAX - 1u)];
}

/* Number of domains of a CPU. */
PELTON_INLINE u32 pelton_place_levels(const struct pelton_placement *s, u32 cpu)
{
	return pelton_min_u32(pelton_place_cpu_of(s, cpu)->nr_domains, PELTON_DOMAINS_MAX);
}

#include "span.h"

PELTON_INLINE u32 pelton_place_allowed(const struct pelton_placement *s, u32 cpu)
{
	return pelton_span_has(s, s->task.allowed, cpu);
}

/* Does a CPU do nothing, and has nothing on its way? */
PELTON_INLINE u32 pelton_available_idle_cpu(const struct pelton_placement *s, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	return c->curr_idle && !c->nr_running && !c->ttwu_pending;
}

/* Does a CPU run only tasks of SCHED_IDLE, and may this task push them aside? */
PELTON_INLINE u32 pelton_choose_sched_idle(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	if (pol->sched_idle_cpu == PELTON_SCHED_IDLE_CPU_OFF ||
	    (pol->sched_idle_cpu == PELTON_SCHED_IDLE_CPU_YIELDS && s->task.sched_idle))
		return 0;
	return c->nr_running && c->nr_running == c->h_nr_idle;
}

/* Would the task run there at once? */
PELTON_INLINE u32 pelton_choose_idle_cpu(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu)
{
	return pelton_available_idle_cpu(s, cpu) || pelton_choose_sched_idle(pol, s, cpu);
}

PELTON_INLINE u32 pelton_cpus_share_cache(const struct pelton_placement *s, u32 a, u32 b)
{
	return a == b || pelton_place_cpu_of(s, a)->llc == pelton_place_cpu_of(s, b)->llc;
}

PELTON_INLINE u32 pelton_cpus_share_resources(const struct pelton_placement *s, u32 a, u32 b)
{
	return a == b || pelton_place_cpu_of(s, a)->cluster == pelton_place_cpu_of(s, b)->cluster;
}

/* The larger of a capacity and a CPU's. */
PELTON_INLINE u32 pelton_place_larger(const struct pelton_placement *s, u32 capacity, u32 cpu)
{
	return pelton_max_u32(capacity, pelton_place_cpu_of(s, cpu)->state.cap_orig);
}

/* Are all other threads of the CPU's core idle? */
PELTON_INLINE u32 pelton_is_core_idle(const struct pelton_placement *s, u32 cpu)
{
	pelton_members m = pelton_members_without(s, pelton_place_cpu_of(s, cpu)->threads, cpu);

	for (; pelton_members_more(&m); pelton_members_step(&m))
		if (!pelton_available_idle_cpu(s, pelton_members_at(&m)))
			return 0;
	return 1;
}

/* The task's share of its CPU's load. */
PELTON_INLINE u64 pelton_place_h_load(const struct pelton_placement *s, const struct pelton_placed *out)
{
	return pelton_div_floor(out->se.avg.load_avg * s->task.queue_h_load, s->task.queue_load + 1);
}

#endif
