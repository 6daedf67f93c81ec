/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frequency that was decided, as the target that sched_ext takes. The kernel's schedutil adds its headroom of a
 * quarter to a target, and what real-time, deadline and interrupts need, and chooses the lowest operating point that
 * serves it.
 *
 *   followed   the decision is the raw frequency's operating point:   the least that leads to the raw frequency
 *   held       a gate, a filter or a forced maximum chose another:    4/5 of what that is worth, less 1/32 of it
 *
 * Of a held one a part is left out, because with all of it any real-time time would lead to the next operating point.
 *
 *   CPU of 1024, 600 .. 2400 MHz:  raw 1717, decided 1800: 587, and 587 * 5/4 * 2400 / 1024 = 1719.   held 1800: 595
 *
 *   quantity      unit       range
 *   target        capacity   0 .. 1024
 *
 * Source: Linux 7.2 kernel/sched/cpufreq_schedutil.c (sugov_get_util, get_next_freq).
 * Deviations: the mapping is this project's own.
 */
#ifndef PELTON_CPUPERF_H
#define PELTON_CPUPERF_H

#include "schedutil.h"

/* What is left out of a held target: one part of so many. */
#define PELTON_CPUPERF_HELD_PARTS 32u

/* Least target that the kernel makes at least `raw_khz` of, which is floor(ref * (target + target / 4) / cap). */
PELTON_INLINE u32 pelton_cpuperf_reaching(u32 raw_khz, u32 ref_khz, u32 cap_orig)
{
	u64 needs = (u64)raw_khz * cap_orig;
	u32 target = pelton_mul_div_floor(cap_orig * 4u, raw_khz, ref_khz * 5u);

	/* The quarter is rounded down: two steps more at most. */
	if ((u64)ref_khz * (target + target / 4u) < needs)
		target++;
	if ((u64)ref_khz * (target + target / 4u) < needs)
		target++;
	return target;
}

/* Target of a CPU of `cap_orig` for the frequency that `sp` asks for since the decision `d`. */
PELTON_INLINE u32 pelton_cpuperf_target(const struct pelton_sugov_policy *sp, const struct pelton_decision *d,
					u32 cap_orig)
{
	u32 most = pelton_mul_div_floor(cap_orig * 4u, sp->next_freq_khz, sp->ref_khz * 5u);

	if (sp->next_freq_khz == d->resolved_khz && !d->forced_max)
		most = pelton_min_u32(most, pelton_cpuperf_reaching(d->raw_khz, sp->ref_khz, cap_orig));
	else
		most -= most / PELTON_CPUPERF_HELD_PARTS;
	return pelton_min_u32(most, PELTON_CAPACITY_SCALE);
}

/* A target that the kernel's rate limit refused is handed over again: first at each look, later more seldom, ns. */
#define PELTON_CPUPERF_INSIST_NS 64000000u
#define PELTON_CPUPERF_SELDOM_NS 256000000u

/* Is it time to look whether the target of a CPU was followed? */
PELTON_INLINE u32 pelton_cpuperf_looks(u64 now, u64 handed_ns, u64 insisted_ns)
{
	return now - handed_ns <= PELTON_CPUPERF_INSIST_NS || now - insisted_ns >= PELTON_CPUPERF_SELDOM_NS;
}

/*
 * Is a domain at the frequency that the largest request of its CPUs, `most_khz`, leads to? `is`: its speed, `others`:
 * the largest need of real-time and deadline tasks on one of its CPUs, both of 1024. They and their headroom may make
 * it faster.
 */
PELTON_INLINE u32 pelton_cpuperf_is_followed(u32 is, u32 most_khz, u32 ref_khz, u64 others)
{
	u32 wanted = pelton_mul_div_floor(most_khz, PELTON_CAPACITY_SCALE, ref_khz);

	return is + 2u >= wanted && is <= wanted + 2u + 2u * others;
}

#endif
