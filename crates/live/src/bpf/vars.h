/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How programs read variables of the kernel that it may not have. */
#ifndef PELTON_LIVE_VARS_H
#define PELTON_LIVE_VARS_H

extern const struct rq runqueues __ksym;
extern const unsigned long cpu_scale __ksym __weak;
extern const void uclamp_default __ksym __weak;
extern const void sched_uclamp_used __ksym __weak;

/* A CPU's variable, read as plain memory; `otherwise` where the kernel has none. */
#define OF_CPU(type, var, cpu, otherwise) \
	({ \
		type value_ = (type)(otherwise); \
		const void *at_ = &(var) ? bpf_per_cpu_ptr(&(var), cpu) : 0; \
		if (at_) \
			bpf_probe_read_kernel(&value_, sizeof(value_), at_); \
		value_; \
	})

/*
 * The limit behind this one. An index in the expression that is read would count twice: once as the address, once in
 * the offset that is looked up.
 */
static __always_inline const struct uclamp_se *next_limit(const struct uclamp_se *limit)
{
	const struct uclamp_se *next = limit + 1;

	asm volatile("" : "+r"(next));
	return next;
}

/* Is a static key on? 0 where the kernel has none. */
#define KEY(name) \
	({ \
		int value_ = 0; \
		if (&(name)) \
			bpf_probe_read_kernel(&value_, sizeof(value_), &(name)); \
		(u64)(value_ > 0); \
	})

#endif
