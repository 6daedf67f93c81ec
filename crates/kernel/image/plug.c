// SPDX-License-Identifier: GPL-2.0-or-later
/* The entry of an image, linked to a fixed place without any library. */
#include <stddef.h>

#include "state.h"
#include "image.h"

extern char k_poison_start[], k_poison_end[];
extern const char *const k_poison_names[];

static const struct pelton_kernel_host *host;

/* Kernel code keeps the stack aligned to 8 bytes only. */
#define FROM_KERNEL __attribute__((force_align_arg_pointer))

FROM_KERNEL __attribute__((noreturn)) void oracle_missing(const char *name);
void oracle_missing(const char *name)
{
	host->missing(name);
	__builtin_trap();
}

FROM_KERNEL void oracle_warned(const char *file, u32 line);
void oracle_warned(const char *file, u32 line)
{
	host->warned(file, line);
}

/* What compilers expect of any environment. */
void *memset(void *to, int c, size_t n);
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);

void *memset(void *to, int c, size_t n)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(c) : "memory");
	return to;
}

void *memcpy(void *to, const void *from, size_t n)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(n)::"memory");
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	if (t <= f || t >= f + n)
		return memcpy(to, from, n);
	while (n--)
		t[n] = f[n];
	return to;
}

/* Whole words first: records of machines are compared with it. */
int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n >= 8 && *(const u64 *)x == *(const u64 *)y; n -= 8, x += 8, y += 8)
		;
	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n && *a && *a == *b; a++, b++, n--)
		;
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return 0;
	return (char *)(size_t)s;
}

/* No timer at all: clocksources allow no longer a sleep. */
static void moment_in(struct oracle_state *s, const struct pelton_idle_table *t, const struct pelton_idle_now *now)
{
	s->table = *t;
	s->idle_now = *now;
	s->idle_now.sleep_ns = pelton_min_u64(now->sleep_ns, PELTON_IDLE_SLEEP_NS_MAX);
	s->idle_now.event_ns = pelton_min_u64(now->event_ns, PELTON_IDLE_SLEEP_NS_MAX);
}

static void menu_select(struct pelton_menu *m, const struct pelton_idle_table *t, const struct pelton_idle_now *now,
			struct pelton_idle_choice *out)
{
	static struct oracle_state s;
	u32 i;

	moment_in(&s, t, now);
	s.menu = *m;
	/* As menu_enable_device() leaves it; the core's record begins with nothing. */
	for (i = 0; i < PELTON_MENU_FACTORS; i++)
		s.menu.factor[i] = m->factor[i] ? m->factor[i] : PELTON_MENU_UNITY;
	k_menu(&s);
	*m = s.menu;
	*out = s.choice;
}

static void teo_select(struct pelton_teo *m, const struct pelton_idle_table *t, const struct pelton_idle_now *now,
		       struct pelton_idle_choice *out)
{
	static struct oracle_state s;

	moment_in(&s, t, now);
	s.teo = *m;
	k_teo(&s);
	*m = s.teo;
	*out = s.choice;
}

static void util_est_update(struct pelton_se *se, u32 cap_orig, u32 sleeps)
{
	static struct oracle_state s;

	s.cap = cap_orig;
	s.sleeps = sleeps;
	s.se = *se;
	k_util_est_update(&s);
	*se = s.se;
}

static struct pelton_kernel_ops ops = {
	.version = PELTON_KERNEL_OPS_VERSION,
	.size = sizeof(ops),
	.cpus = PELTON_KERNEL_CPUS,
	.release = IMAGE_RELEASE,
	.poison_start = k_poison_start,
	.poison_end = k_poison_end,
	.poison_names = k_poison_names,
	.bug = k_bug,
	.at = k_image_at,
	.sugov_start = k_image_sugov_start,
	.sugov_hook = k_image_sugov_hook,
	.sugov_work = k_image_sugov_work,
	.sugov_limits = k_image_sugov_limits,
	.select_task_rq_fair = k_image_select,
	.util_fits_cpu = k_image_util_fits_cpu,
	.cpu_overutilized = k_image_cpu_overutilized,
	.misfit_load = k_image_misfit_load,
	.should_we_balance = k_image_should_we_balance,
	.find_src = k_image_find_src,
	.need_active_balance = k_image_need_active_balance,
	.can_migrate_task = k_image_can_migrate_task,
	.update_load_sum = k_image_update_load_sum,
	.update_load_avg = k_image_update_load_avg,
	.pelt_divider = k_image_pelt_divider,
};

pelton_kernel_entry image_entry;

const struct pelton_kernel_ops *image_entry(const struct pelton_kernel_host *program)
{
	host = program;
	k_image_boot();
	/* They share the structures of a domain: all of them, or none. */
	if (!ops.sugov_start || !ops.sugov_hook || !ops.sugov_work || !ops.sugov_limits) {
		ops.sugov_start = 0;
		ops.sugov_hook = 0;
		ops.sugov_work = 0;
		ops.sugov_limits = 0;
	}
	ops.name = k_release();
	ops.menu_select = k_menu ? menu_select : 0;
	ops.teo_select = k_teo ? teo_select : 0;
	ops.util_est_update = k_util_est_update ? util_est_update : 0;
	return &ops;
}
