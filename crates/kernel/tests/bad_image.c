// SPDX-License-Identifier: GPL-2.0-or-later
/* An image without a kernel in it, whose functions do what a bad patch may do: each operation is one of them. */
#include "kernel_ops.h"

/* Relocations of every sort are followed: through a table, and from one function to another. */
static u32 nine(void);
static u32 (*const table[])(void) = { nine };
static u32 last = 9;

static u32 nine(void)
{
	return last;
}

static const struct pelton_kernel_host *host;
static char poison[8192] __attribute__((aligned(4096)));
static const char *const poison_names[] = { "cpuset_mems_enabled", "?" };
extern const char image_warning[];

/* In place of the table of a kernel's warnings and bugs. */
static u32 bug(u64 ip, const char **file, u32 *line)
{
	u64 warning = (u64)image_warning;

	*file = "kernel/sched/fair.c";
	*line = ip == warning ? 11 : 22;
	return ip == warning ? 2 : 1;
}

static void sugov_hook(u32 domain, u32 place, u32 exec_cpu, u64 now, u32 flags, const struct pelton_cpu_state *cs,
		       struct pelton_sugov_policy *sp, struct pelton_sugov_cpu *sc, struct pelton_kernel_hook *out)
{
	__asm__ volatile(".globl image_warning\nimage_warning: ud2");
	host->warned("kernel/sched/core.c", 33);
	out->khz = table[0]();
}

static u32 sugov_work(u32 domain, struct pelton_sugov_policy *sp)
{
	__asm__ volatile("ud2");
	return 0;
}

static s32 util_fits_cpu(const struct pelton_placement *s, u32 util, u32 min, u32 max, u32 cpu)
{
	*(volatile u32 *)0x10 = util;
	return 0;
}

static u32 cpu_overutilized(const struct pelton_placement *s, u32 cpu)
{
	volatile u32 none = 0;

	return cpu / none;
}

static u64 misfit_load(const struct pelton_placement *s, u32 cpu, u32 biggest)
{
	for (;;)
		__asm__ volatile("");
}

static void menu_select(struct pelton_menu *m, const struct pelton_idle_table *t, const struct pelton_idle_now *now,
			struct pelton_idle_choice *out)
{
	host->missing("ktime_get_real_seconds");
}

static void teo_select(struct pelton_teo *m, const struct pelton_idle_table *t, const struct pelton_idle_now *now,
		       struct pelton_idle_choice *out)
{
	out->state = ((volatile char *)poison)[8];
}

static void sugov_limits(u32 domain, struct pelton_sugov_policy *sp)
{
	void (*volatile nowhere)(void) = 0;

	nowhere();
}

static u32 pelt_divider(u32 period_contrib)
{
	volatile u32 none = 0;

	return period_contrib / none;
}

static const struct pelton_kernel_ops ops = {
	.version = PELTON_KERNEL_OPS_VERSION,
	.size = sizeof(ops),
	.cpus = 8,
	.release = 612,
	.name = "6.12.0-none",
	.poison_start = poison,
	.poison_end = poison + sizeof(poison),
	.poison_names = poison_names,
	.bug = bug,
	.sugov_hook = sugov_hook,
	.sugov_work = sugov_work,
	.sugov_limits = sugov_limits,
	.util_fits_cpu = util_fits_cpu,
	.cpu_overutilized = cpu_overutilized,
	.misfit_load = misfit_load,
	.menu_select = menu_select,
	.teo_select = teo_select,
	.pelt_divider = pelt_divider,
};

const struct pelton_kernel_ops *image_entry(const struct pelton_kernel_host *h);

const struct pelton_kernel_ops *image_entry(const struct pelton_kernel_host *h)
{
	host = h;
	return &ops;
}
