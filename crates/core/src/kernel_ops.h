/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an image of a kernel's own compiled code offers to a program that has it loaded, and what it asks of that
 * program.
 * Records are the core's. The image is compiled for one kernel tree (crates/kernel/image), the program is not. An
 * operation that is not there, because the tree's function has another form, is a null pointer.
 *
 * Domains and CPUs have the numbers that they have in the simulated machine; `place` is the place of a CPU among those
 * of its domain, ascending. Times are ns, frequencies kHz.
 */
#ifndef PELTON_KERNEL_OPS_H
#define PELTON_KERNEL_OPS_H

#include "pelton/pelton.h"

/* Changes with this file: program and image must agree. */
#define PELTON_KERNEL_OPS_VERSION 3u
/* Rooms of an image. */
#define PELTON_KERNEL_DOMAINS 64
#define PELTON_KERNEL_CPUS 64
#define PELTON_KERNEL_OPPS 64
/* Ticks per second that images are compiled for. */
#define PELTON_KERNEL_HZ 250u

/* What a call of the governor's hook came to. */
struct pelton_kernel_hook {
	u32 drove;   /* the driver was called (fast switch) */
	u32 kicked;  /* its worker was asked for (slow switch) */
	u32 khz;     /* what the driver was given */
	u32 pending; /* the worker was pending before */
};

/* What select_task_rq_fair() came to. */
struct pelton_kernel_select {
	u32 cpu;
	u32 recent_cpu;
	u32 waker_flips;
	u32 waker_recent;
	u64 idle_cores; /* CPUs whose cache group is still said to have an idle core */
	struct pelton_se se;
};

/* What a search of a balance for a CPU to take tasks from came to. */
struct pelton_kernel_src {
	u64 group;        /* CPUs of the group; 0: the domain is balanced */
	s64 imbalance;    /* in what `migration` says */
	u32 migration;    /* PELTON_MIGRATE_* */
	u32 src_cpu;      /* PELTON_NO_CPU: none */
	u32 overloaded;   /* as the root domain has it from then on */
	u32 overutilized; /* the same */
};

/* What the program offers. */
struct pelton_kernel_host {
	/* Kernel code called a function that is not there. Does not return. */
	void (*missing)(const char *name);
	/* A warning of the kernel's that is a call (from 6.19); others are an instruction, see `bug`. */
	void (*warned)(const char *file, u32 line);
};

struct pelton_kernel_ops {
	u32 version;      /* PELTON_KERNEL_OPS_VERSION */
	u32 size;         /* of this struct */
	u32 cpus;         /* CPUs that the image has room for */
	u32 release;      /* 6.12.118 = 612: version * 100 + patch level, as the drivers count */
	const char *name; /* UTS_RELEASE */
	/* Pages that kernel code must not touch, one for each symbol, and the symbols. */
	char *poison_start;
	char *poison_end;
	const char *const *poison_names;
	/* Is the instruction at `ip` a warning (2) or a BUG (1), and of which line? 0: neither. */
	u32 (*bug)(u64 ip, const char **file, u32 *line);
	/* The kernel's clocks read `now` from here on. */
	void (*at)(u64 now);

	/*
	 * schedutil. The kernel's structures of a domain live in the image from sugov_start() on, which leaves them as
	 * the kernel's own function does. `khz`: ascending, with PELTON_KHZ_INEFFICIENT; without a table `opps` is 0.
	 */
	void (*sugov_start)(u32 domain, u64 cpus, const struct pelton_sugov_policy *sp, const u32 *khz, u32 opps);
	/*
	 * The registered hook of the CPU at `place`, called on CPU `exec_cpu`. `cs`: all CPUs of the domain. `sp` is
	 * read (limits, present frequency) and brought up to what the kernel's structures say, as are the records `sc`.
	 */
	void (*sugov_hook)(u32 domain, u32 place, u32 exec_cpu, u64 now, u32 flags, const struct pelton_cpu_state *cs,
			   struct pelton_sugov_policy *sp, struct pelton_sugov_cpu *sc, struct pelton_kernel_hook *out);
	/* The worker runs: what it asks the driver for. */
	u32 (*sugov_work)(u32 domain, struct pelton_sugov_policy *sp);
	void (*sugov_limits)(u32 domain, struct pelton_sugov_policy *sp);

	/* Placement on the machine of the record, executed by its CPU `this_cpu`. */
	void (*select_task_rq_fair)(const struct pelton_placement *s, struct pelton_kernel_select *out);
	s32 (*util_fits_cpu)(const struct pelton_placement *s, u32 util, u32 min, u32 max, u32 cpu);
	u32 (*cpu_overutilized)(const struct pelton_placement *s, u32 cpu);
	u64 (*misfit_load)(const struct pelton_placement *s, u32 cpu, u32 biggest);

	/* The balance of a domain of CPU env->dst_cpu. A task that is looked at is on CPU env->src_cpu. */
	u32 (*should_we_balance)(const struct pelton_placement *s, const struct pelton_lb_env *env);
	void (*find_src)(const struct pelton_placement *s, const struct pelton_lb_env *env,
			 struct pelton_kernel_src *out);
	u32 (*need_active_balance)(const struct pelton_placement *s, const struct pelton_lb_env *env, u32 migration);
	u32 (*can_migrate_task)(const struct pelton_placement *s, struct pelton_lb_env *env,
				const struct pelton_lb_task *t, u32 migration);

	/* Idle governors. */
	void (*menu_select)(struct pelton_menu *m, const struct pelton_idle_table *t, const struct pelton_idle_now *now,
			    struct pelton_idle_choice *out);
	void (*teo_select)(struct pelton_teo *m, const struct pelton_idle_table *t, const struct pelton_idle_now *now,
			   struct pelton_idle_choice *out);

	/* Load tracking, from inside of the core. */
	void (*util_est_update)(struct pelton_se *se, u32 cap_orig, u32 sleeps);
	u32 (*update_load_sum)(u64 now, struct pelton_avg *avg, u64 load, u64 runnable, u64 running);
	void (*update_load_avg)(struct pelton_avg *avg, u64 load);
	u32 (*pelt_divider)(u32 period_contrib);
};

/* The image's entry point; null: the program is not one that it can work with. */
typedef const struct pelton_kernel_ops *pelton_kernel_entry(const struct pelton_kernel_host *host);

#endif
