/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a fair task goes, on the machine of the caller's record. Included by k_fair.c. */
#include "image.h"

#if !defined(WITHOUT_SELECT_TASK_RQ_FAIR) || !defined(WITHOUT_UTIL_FITS_CPU) || !defined(WITHOUT_CPU_OVERUTILIZED) || \
	!defined(WITHOUT_MISFIT_LOAD)
#include "fair_select.h"
#define IMAGE_MACHINE

/* Nothing of another task's is left: a field that a patch adds is 0 at each call. */
static void image_fresh(struct task_struct *p)
{
	memset(p, 0, sizeof(*p));
	p->prio = p->static_prio = p->normal_prio = DEFAULT_PRIO;
	p->sched_class = &fair_sched_class;
}

static void image_machine_in(const struct pelton_placement *s)
{
	o_record = s;
	k_image_cpus_at_least(s->nr_cpus);
	machine_in();
}
#endif

#ifndef WITHOUT_SELECT_TASK_RQ_FAIR
void k_image_select(const struct pelton_placement *s, struct pelton_kernel_select *out)
{
	struct task_struct *placing;
	u32 cpu;

	image_machine_in(s);
	image_fresh(&o_task);
	image_fresh(&o_waker);
	placed_task_in();
	placing = placing_task_in(s->this_cpu, -1);
	k_image_current(s->this_cpu, placing);
	k_image_on(s->this_cpu);
	out->cpu = call_select(s->flags);
	k_image_on(0);
	k_image_current(s->this_cpu, &init_task);
	out->recent_cpu = o_task.recent_used_cpu;
	out->waker_flips = placing == &o_task ? 0 : placing->wakee_flips;
	out->waker_recent = placing != &o_task && placing->recent_used_cpu != -1;
	out->idle_cores = 0;
	for (cpu = 0; cpu < s->nr_cpus; cpu++)
		out->idle_cores |= (u64)idle_cores_of(cpu) << cpu;
	out->se = s->task.se;
	se_out(&o_task.se, &out->se);
	machine_out();
}
#endif

#ifndef WITHOUT_UTIL_FITS_CPU
s32 k_image_util_fits_cpu(const struct pelton_placement *s, u32 util, u32 min, u32 max, u32 cpu)
{
	s32 ret;

	image_machine_in(s);
	ret = util_fits_cpu(util, min, max, cpu);
	machine_out();
	return ret;
}
#endif

#ifndef WITHOUT_CPU_OVERUTILIZED
u32 k_image_cpu_overutilized(const struct pelton_placement *s, u32 cpu)
{
	u32 ret;

	image_machine_in(s);
	ret = cpu_overutilized(cpu) != 0;
	machine_out();
	return ret;
}
#endif

#ifndef WITHOUT_MISFIT_LOAD
/* `biggest`: capacity of the biggest CPU that the task may use. */
u64 k_image_misfit_load(const struct pelton_placement *s, u32 cpu, u32 biggest)
{
	struct rq *rq = cpu_rq(cpu);
	u64 ret;

	image_machine_in(s);
	image_fresh(&o_task);
	placed_task_in();
#if ORACLE_VERSION >= 612
	o_task.max_allowed_capacity = biggest;
#endif
	update_misfit_status(&o_task, rq);
	ret = rq->misfit_task_load;
	rq->misfit_task_load = 0;
	machine_out();
	return ret;
}
#endif
