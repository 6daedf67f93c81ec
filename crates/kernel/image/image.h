/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the drivers of an image share with its entry. An operation whose code does not compile with a tree is left out
 * by WITHOUT_ and its name (build.sh): its symbol is weak, and its row of the table null.
 */
#ifndef PELTON_IMAGE_H
#define PELTON_IMAGE_H

#include "kernel_ops.h"

struct task_struct;

/* Kernel code is executed by CPU `cpu` from now on. */
void k_image_on(u32 cpu);
void k_image_current(u32 cpu, struct task_struct *p);
/* There are at least so many CPUs. */
void k_image_cpus_at_least(u32 count);
void k_image_boot(void);
void k_image_at(u64 now);

#define MAYBE extern __attribute__((weak))

MAYBE void k_image_sugov_start(u32 domain, u64 cpus, const struct pelton_sugov_policy *sp, const u32 *khz, u32 opps);
MAYBE void k_image_sugov_hook(u32 domain, u32 place, u32 exec_cpu, u64 now, u32 flags,
			      const struct pelton_cpu_state *cs, struct pelton_sugov_policy *sp,
			      struct pelton_sugov_cpu *sc, struct pelton_kernel_hook *out);
MAYBE u32 k_image_sugov_work(u32 domain, struct pelton_sugov_policy *sp);
MAYBE void k_image_sugov_limits(u32 domain, struct pelton_sugov_policy *sp);

MAYBE void k_image_select(const struct pelton_placement *s, struct pelton_kernel_select *out);
MAYBE s32 k_image_util_fits_cpu(const struct pelton_placement *s, u32 util, u32 min, u32 max, u32 cpu);
MAYBE u32 k_image_cpu_overutilized(const struct pelton_placement *s, u32 cpu);
MAYBE u64 k_image_misfit_load(const struct pelton_placement *s, u32 cpu, u32 biggest);

MAYBE u32 k_image_should_we_balance(const struct pelton_placement *s, const struct pelton_lb_env *e);
MAYBE void k_image_find_src(const struct pelton_placement *s, const struct pelton_lb_env *e,
			    struct pelton_kernel_src *out);
MAYBE u32 k_image_need_active_balance(const struct pelton_placement *s, const struct pelton_lb_env *e, u32 migration);
MAYBE u32 k_image_can_migrate_task(const struct pelton_placement *s, struct pelton_lb_env *e,
				   const struct pelton_lb_task *t, u32 migration);

MAYBE u32 k_image_update_load_sum(u64 now, struct pelton_avg *avg, u64 load, u64 runnable, u64 running);
MAYBE void k_image_update_load_avg(struct pelton_avg *avg, u64 load);
MAYBE u32 k_image_pelt_divider(u32 period_contrib);

#endif
